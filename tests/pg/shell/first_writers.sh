#!/bin/sh
# Many sessions that write first at once all succeed, and nothing is made twice.
. "$(dirname "$0")/lib.sh"

for round in 1 2 3; do
    new_database alineo_first
    sql alineo_first "CREATE EXTENSION alineo_ledger"
    waiting=
    for i in 1 2 3 4 5 6 7 8; do
        sql alineo_first "SELECT alineo_append('n', 's', 'e$i')" >/dev/null &
        waiting="$waiting $!"
    done
    for process in $waiting; do
        wait "$process"
    done
    expect "events" "$(sql alineo_first "SELECT count(DISTINCT event) FROM alineo_replay('n', 's')")" 8
done
