/*
 * migration.c - bringing a large ledger of 0.2 up to date with alineo_init.
 * Usage: migration EXTENSION ENGINE...; how many events is in
 * ALINEO_MIGRATION_EVENTS, a multiple of 100,000, else a million.
 *
 * The ledger has the tables and indexes of the 0.2 adapters and legacy event
 * names; on PostgreSQL each payload is a string with the JSON in it. It is
 * migrated three times, each time from a copy: by alineo_init, watched for its
 * memory; by plain SQL, which makes the same indexes and then changes the same
 * rows by one UPDATE; and by an alineo_init that is interrupted in the middle
 * and then called again. All three have to leave the same rows.
 */
#include "migration.h"
#include "events.h"
#include "measure.h"
#include "on_sqlite.h"
#include "watch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct {
    const char *current, *legacy;
} names[] = {
    {"sandbox.created", "sandbox_created"}, {"sandbox.closed", "sandbox_closed"},
    {"exec.started", "exec_start"},         {"exec.output", "exec_event"},
    {"exec.completed", "exec_complete"},    {"sandbox.checkpoint_created", "checkpoint_created"},
};

const char *legacy_name(const char *current)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].current, current) == 0)
            return names[i].legacy;
    return current;
}

const char *current_name_sql(void)
{
    static char sql[1024];
    char *at = sql + sprintf(sql, "CASE event");

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        at += sprintf(at, " WHEN '%s' THEN '%s'", names[i].legacy, names[i].current);
    sprintf(at, " ELSE event END");
    return sql;
}

static long events_wanted(void)
{
    const char *text = getenv("ALINEO_MIGRATION_EVENTS");
    long events = text != NULL ? atol(text) : 1000000;

    if (events <= 0 || events % CYCLE != 0)
        fail("ALINEO_MIGRATION_EVENTS", "must be a multiple of 100000");
    return events;
}

typedef struct interruption {
    const migration_side *side;
    double after;
} interruption;

static void *interrupt_later(void *argument)
{
    const interruption *i = argument;
    struct timespec wait = {(time_t)i->after, (long)((i->after - (double)(time_t)i->after) * 1e9)};

    nanosleep(&wait, NULL);
    i->side->interrupt();
    return NULL;
}

static double init(const migration_side *s, long expected)
{
    double begin = seconds();
    long rewritten = s->init();

    if (rewritten != expected)
        fail(s->name,
             rewritten < 0 ? "alineo_init was interrupted" : "not all rows were rewritten");
    return seconds() - begin;
}

static void check_done(const migration_side *s, long events, long sum)
{
    if (s->stale() != 0 || s->count() != events || (sum != 0 && s->sum() != sum))
        fail(s->name, "the migration left other rows than the plain UPDATE");
}

static void bench(const migration_side *s, long events)
{
    watch w;
    pthread_t thread;

    s->build(events);
    s->open_copy();
    long stale = s->stale();
    long before = watch_now(s->process());
    watch_begin(&w, s->process());
    double took = init(s, stale);
    long peak = watch_end(&w) - before;
    long told = s->told();
    check_done(s, events, 0);
    long sum = s->sum();
    s->note_indexes();
    s->close_copy();

    s->open_copy();
    before = watch_now(s->process());
    watch_begin(&w, s->process());
    double begin = seconds();
    s->plain();
    double plain = seconds() - begin;
    long plain_peak = watch_end(&w) - before;
    check_done(s, events, sum);
    s->close_copy();

    s->open_copy();
    interruption i = {s, took / 2};
    if (pthread_create(&thread, NULL, interrupt_later, &i) != 0)
        fail("migration", "cannot start a thread");
    begin = seconds();
    if (s->init() >= 0)
        fail(s->name, "alineo_init ended before it was interrupted");
    double stopped = seconds() - begin;
    pthread_join(thread, NULL);
    long left = s->stale();
    double again = init(s, left);
    check_done(s, events, sum);
    s->close_copy();
    s->remove();

    printf("| %s | %ld | %.1f | %.1f | %.2f | %.0f | %.0f | %ld | %.1f after %.1f | %ld | %.1f |\n",
           s->name, stale, plain, took, took / plain, (double)plain_peak * 1024 / 1e6,
           (double)peak * 1024 / 1e6, told, stopped - took / 2, took / 2, stale - left, again);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    long events = events_wanted();

    if (argc < 3)
        fail("usage", "migration EXTENSION sqlite|postgres...");
    sqlite_extension = argv[1];
    printf("migration of a ledger of 0.2 with %ld events, seconds\n\n"
           "| engine | rows rewritten | plain SQL | `alineo_init` | times | MB of memory, plain |"
           " `alineo_init` | notices | interrupted: ended | rows kept | called again |\n"
           "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: |\n",
           events);
    for (int i = 2; i < argc; i++)
        bench(strcmp(argv[i], "postgres") == 0 ? &migration_postgres : &migration_sqlite, events);
    printf("\n");
    return 0;
}
