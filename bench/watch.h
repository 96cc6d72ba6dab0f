/*
 * watch.h - the highest of a process's own memory while something runs: its
 * anonymous pages, looked at each millisecond, and not less than the highest
 * resident size that the system noted without all shared pages. A backend's
 * shared buffers are not its own.
 */
#ifndef BENCH_WATCH_H
#define BENCH_WATCH_H

#include <pthread.h>
#include <stdatomic.h>

typedef struct watch {
    pthread_t thread;
    long process; /* 0: this one */
    long peak;
    atomic_bool stop;
} watch;

/* The process's own memory now, in KiB. */
long watch_now(long process);
void watch_begin(watch *w, long process);
/* Returns the highest, in KiB. */
long watch_end(watch *w);

#endif
