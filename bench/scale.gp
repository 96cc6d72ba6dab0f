# Draws what bench/scale.c measured: the time of a call by the size of the
# ledger. Usage: gnuplot -e "data='FILE'; to='FILE.svg'" scale.gp
set terminal svg size 1000,560 dynamic enhanced background rgb 'white' font 'Helvetica,13'
set output to

calls = '"alineo_init on a ledger that is ready" "alineo_replay, 1,000 events" \
"alineo_list_sandboxes, newest 50" "alineo_resume, 1,000 events" \
"opening and a first alineo_append" "alineo_append" "alineo_get_sandbox" "alineo_last_checkpoint"'

# Eight colours that also differ in lightness.
array colour[8] = ['#999999', '#0072b2', '#009e73', '#d55e00', '#cc79a7', '#000000', '#56b4e9', '#e69f00']

set logscale xy
set format x '10^{%L}'
set xlabel 'events in the ledger'
set yrange [1:1e8]
set ytics ('1 µs' 1, '10 µs' 10, '100 µs' 100, '1 ms' 1e3, '10 ms' 1e4, '100 ms' 1e5, '1 s' 1e6, '10 s' 1e7, '100 s' 1e8)
set grid xtics ytics lt 1 lc rgb '#dddddd' lw 0.7, lt 1 lc rgb '#dddddd' lw 0.7
set xrange [*:*]
set offsets graph 0.03, graph 0.03, 0, 0
unset key

part(engine, i) = engine.' '.word(calls, i)
set multiplot
set size 0.5, 0.78
do for [panel = 0:1] {
    engine = panel == 0 ? 'SQLite' : 'PostgreSQL'
    set origin 0.5 * panel, 0.22
    set title engine
    plot for [i = 1:words(calls)] data index part(engine, i) using 1:2 \
        with linespoints lw 2 pt 7 ps 0.5 lc rgb colour[i]
}

# One key for both, below them.
set origin 0, 0
set size 1, 0.22
unset title
unset xlabel
unset tics
unset border
unset grid
unset logscale
set xrange [0:1]
set yrange [0:1]
unset offsets
set key at graph 0.99, graph 1 right top maxrows 4 Left reverse samplen 3 width 2
plot for [i = 1:words(calls)] NaN with linespoints lw 2 pt 7 ps 0.5 lc rgb colour[i] \
    title system("echo '".word(calls, i)."' | sed 's/_/\\\\_/g'")
unset multiplot
