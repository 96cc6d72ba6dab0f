/*
 * scale.h - the calls that bench/scale.c measures, and what they ask about.
 */
#ifndef BENCH_SCALE_H
#define BENCH_SCALE_H

#include "engine.h"
#include "events.h"

enum { SAMPLE = 20, BATCH = 1000, ENVIRONMENTS = 20, ANY = -1 };

/* A ledger of one size, and the connection that it is asked by. */
typedef struct site {
    const engine *engine;
    void *db;
    long events;
    session sample[SAMPLE];
    session large;
    char *batches[SAMPLE]; /* a thousand entries for each of them */
} site;

/* Chooses the sessions, reads each once, and saves some environments. */
void site_begin(site *s);
void site_end(site *s);

typedef struct expected {
    long rows, first; /* first may be ANY */
    size_t bytes;     /* at least */
} expected;

typedef struct call {
    const char *what, *sql;
    int parameters;
    void (*choose)(const site *s, parameter *values, expected *want);
    enum { ON_ITS_OWN, UNDONE, OPENING } how; /* UNDONE: in a transaction, rolled back */
    double target;                            /* growth at most, 0: no target */
} call;

/* Those that add events to the sessions come last. */
extern const call scale_calls[];
extern const int scale_call_count;

#endif
