/*
 * concurrency.c - how appends on PostgreSQL scale with the number of writers, and
 * what readers cost them. Usage: concurrency
 *
 * Writers each have a session of their own, and each append is a transaction.
 * alineo_append is held against INSERT ... RETURNING id of the same rows, as a
 * prepared statement. The two take short turns at each number of writers, round
 * by round, so that what else the machine does meets both; a ratio is the median
 * of the rounds. Then two readers replay sessions of 1,000 events all the while,
 * or read the same by a plain SELECT.
 */
#include "engine.h"
#include "events.h"
#include "measure.h"
#include "on_postgres.h"
#include "writers.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 16, ROUNDS = 13, READERS = 2 };
static const int counts[] = {1, 2, 4, 8, 16};
enum { COUNTS = sizeof counts / sizeof counts[0] };
static const double turn_seconds = 0.3;

#define DATABASE "alineo_bench" /* engine_postgres.c makes it */

static const char *const settings[] = {"SET synchronous_commit = on",
                                       "SET synchronous_commit = off"};

static writer writers[MOST];

static void open_writers(const char *setting)
{
    for (int i = 0; i < MOST; i++)
        writer_open(&writers[i], DATABASE, setting);
}

static void close_writers(void)
{
    for (int i = 0; i < MOST; i++)
        writer_close(&writers[i]);
}

static const char *target(double ratio)
{
    return ratio >= 0.95 ? "0.95: met" : "0.95: **missed**";
}

/* --- writers alone ------------------------------------------------------------------- */

static void bench_writers(const char *setting)
{
    series plain[COUNTS] = {0}, ours[COUNTS] = {0};
    double alone = 0;

    open_writers(setting);
    for (int round = -1; round < ROUNDS; round++)
        for (int k = 0; k < COUNTS; k++) {
            double rates[2];
            for (int turn = 0; turn < 2; turn++) {
                int append = (round + k + turn) & 1;
                rates[append] =
                    writers_rate(writers, counts[k], append ? APPEND : RETURNING, turn_seconds);
            }
            if (round < 0)
                continue;
            note(&plain[k], rates[0]);
            note(&ours[k], rates[1]);
        }
    close_writers();
    printf("appends a second, %s\n\n"
           "| writers | INSERT RETURNING | alineo_append | ratio | lowest to highest |"
           " scaling, as a share of INSERT's | target |\n"
           "| ---: | ---: | ---: | ---: | --- | ---: | --- |\n",
           setting + strlen("SET "));
    for (int k = 0; k < COUNTS; k++) {
        spread ratio = ratio_of(&ours[k], &plain[k]);
        alone = k == 0 ? ratio.middle : alone;
        double scaling = ratio.middle / alone;
        printf("| %d | %.0f | %.0f | %.2f | %.2f to %.2f | %.2f | %s |\n", counts[k],
               median(&plain[k]), median(&ours[k]), ratio.middle, ratio.low, ratio.high, scaling,
               target(scaling));
        forget(&plain[k]);
        forget(&ours[k]);
    }
    printf("\n");
    fflush(stdout);
}

/* --- with readers ---------------------------------------------------------------------- */

typedef enum reading { SELECT, REPLAY, READINGS } reading;

static const char *const reading_sql[READINGS] = {
    "SELECT id, sandbox_id, name, step_idx, branch, event, payload, error, ts FROM alineo_events"
    " WHERE name = $1 AND sandbox_id = $2 ORDER BY ts, id",
    "SELECT * FROM alineo_replay($1, $2)",
};

typedef struct reader {
    pthread_t thread;
    PGconn *db;
    reading how;
    atomic_bool *stop;
    long read;
} reader;

static reader readers[READERS];

static void *read_sessions(void *argument)
{
    reader *r = argument;

    for (r->read = 0; !*r->stop; r->read++) {
        session s = small_session(r->read * 7 % SMALLS);
        const char *const values[] = {s.name, s.sandbox};
        PGresult *result =
            PQexecPrepared(r->db, r->how == REPLAY ? "replay" : "select", 2, values, NULL, NULL, 0);
        postgres_check(PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == SMALL,
                       r->db, reading_sql[r->how]);
        PQclear(result);
    }
    return NULL;
}

/* Appends a second beside readers, and how many sessions a second those read. */
static double rate_beside(int count, reading how, double *read)
{
    atomic_bool stop = false;
    double begin = seconds();

    *read = 0;
    for (int i = 0; i < READERS; i++) {
        readers[i].how = how;
        readers[i].stop = &stop;
        if (pthread_create(&readers[i].thread, NULL, read_sessions, &readers[i]) != 0)
            fail("readers", "cannot start a thread");
    }
    double rate = writers_rate(writers, count, APPEND, turn_seconds);
    stop = true;
    for (int i = 0; i < READERS; i++) {
        pthread_join(readers[i].thread, NULL);
        *read += (double)readers[i].read;
    }
    *read /= seconds() - begin;
    return rate;
}

static void bench_readers(const char *setting)
{
    series rates[COUNTS][READINGS] = {0}, reads[COUNTS][READINGS] = {0};

    open_writers(setting);
    for (int round = -1; round < ROUNDS; round++)
        for (int k = 0; k < COUNTS; k++)
            for (int turn = 0; turn < READINGS; turn++) {
                int how = (round + k + turn) & 1;
                double read;
                double rate = rate_beside(counts[k], (reading)how, &read);
                if (round < 0)
                    continue;
                note(&rates[k][how], rate);
                note(&reads[k][how], read);
            }
    close_writers();
    printf("alineo_append a second beside %d readers of sessions of 1,000 events, %s\n\n"
           "| writers | beside SELECT | beside alineo_replay | ratio | lowest to highest | target |"
           " sessions read by SELECT | by alineo_replay |\n"
           "| ---: | ---: | ---: | ---: | --- | --- | ---: | ---: |\n",
           READERS, setting + strlen("SET "));
    for (int k = 0; k < COUNTS; k++) {
        spread ratio = ratio_of(&rates[k][REPLAY], &rates[k][SELECT]);
        printf("| %d | %.0f | %.0f | %.2f | %.2f to %.2f | %s | %.0f | %.0f |\n", counts[k],
               median(&rates[k][SELECT]), median(&rates[k][REPLAY]), ratio.middle, ratio.low,
               ratio.high, target(ratio.middle), median(&reads[k][SELECT]),
               median(&reads[k][REPLAY]));
        for (int how = 0; how < READINGS; how++) {
            forget(&rates[k][how]);
            forget(&reads[k][how]);
        }
    }
    printf("\n");
    fflush(stdout);
}

int main(void)
{
    engine_postgres.create();
    engine_postgres.load(CYCLE);
    for (int i = 0; i < READERS; i++) {
        readers[i].db = postgres_open(DATABASE);
        postgres_prepare(readers[i].db, "select", reading_sql[SELECT]);
        postgres_prepare(readers[i].db, "replay", reading_sql[REPLAY]);
    }
    for (int i = 0; i < 2; i++)
        bench_writers(settings[i]);
    for (int i = 0; i < 2; i++)
        bench_readers(settings[i]);
    for (int i = 0; i < READERS; i++)
        PQfinish(readers[i].db);
    engine_postgres.drop();
    return 0;
}
