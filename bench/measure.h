/*
 * measure.h - what every benchmark measures with: clocks, series of figures,
 * the memory of a process, numbers drawn at random.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

/* Ends the benchmark with a message: a figure of something that failed is none. */
_Noreturn void fail(const char *what, const char *why);

double seconds(void);
void *allocate(size_t size);

/* Figures of one thing, measured again and again. Starts as {0}. */
typedef struct series {
    double *values;
    int count, room;
} series;

void note(series *s, double value);
double median(const series *s);
double lowest(const series *s);
/* Empties the series and releases its memory. */
void forget(series *s);

/* The ratio of two series that were measured in turn, figure by figure. */
typedef struct spread {
    double low, middle, high;
} spread;

spread ratio_of(const series *above, const series *below);

/* Prints such a ratio; target 0: there is none. */
void report(const char *what, const series *above, const series *below, const char *meaning,
            double target);

/* A line of a process's /proc/PID/status, in KiB; -1 where the process is not
 * on this machine or not ours to look at. Process 0: this one. */
long process_kb(long process, const char *word);

/* The seconds that a process's first thread has run on a processor. Process 0:
 * this thread. */
double process_seconds(long process);

/* A number from 0 to count - 1; every run draws the same ones. */
long pick(long count);

#endif
