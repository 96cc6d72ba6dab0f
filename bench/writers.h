/*
 * writers.h - clients of PostgreSQL that append at the same time, each in its
 * own session of the ledger and each append its own transaction.
 */
#ifndef BENCH_WRITERS_H
#define BENCH_WRITERS_H

#include <libpq-fe.h>
#include <pthread.h>

/* All write the same rows. Where ts and step_idx are left off, the INSERT that
 * it is held against still has them from its client. The last two do in SQL
 * what the function does beside inserting. */
typedef enum way { PLAIN, APPEND, APPEND_SHORT, RETURNING, LATEST, WAYS } way;

typedef struct writer {
    pthread_t thread;
    PGconn *db;
    way how;
    double until;
    char sandbox[32];
    long appended;
} writer;

/* `setting` is SQL that the connection runs first. */
void writer_open(writer *w, const char *database, const char *setting);
void writer_close(writer *w);

/* Lets so many writers append for so long; how many a second all together. */
double writers_rate(writer *writers, int count, way how, double duration);

#endif
