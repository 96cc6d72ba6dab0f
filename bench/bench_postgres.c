/*
 * bench_postgres.c - the ledger's speed on PostgreSQL, as ratios against plain
 * SQL over the same rows in one run. Usage: bench_postgres [EVENTS [PART]]
 * where PART is appends, batches or reads. It uses the server that libpq's
 * environment names, in a database that it makes and drops.
 *
 * What is compared runs in turn, round by round, so that what else the machine
 * does meets both. A ratio is the median of the rounds; beside it stand the
 * lowest and the highest.
 */
#include "events.h"
#include "measure.h"
#include "on_postgres.h"
#include "writers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENTS = 4, BATCH = 1000 };

/* Single appends are the shortest work, and take the most rounds. */
enum { ROUNDS = 9, APPEND_ROUNDS = 25 };
static const double append_seconds = 0.4;

#define DATABASE "alineo_bench"
#define SESSION  "name = 'bench' AND sandbox_id = 'sb-read'"
#define IN_ORDER "(SELECT payload FROM alineo_events WHERE " SESSION " ORDER BY ts, id) AS e"

/* Empties the ledger, so that each run writes the same indexes. */
static void fresh(PGconn *db)
{
    postgres_run(db, "TRUNCATE alineo_events");
    postgres_run(db, "CHECKPOINT");
}

/* --- single appends ------------------------------------------------------------ */

static void bench_appends_with(PGconn *db, const char *setting)
{
    writer writers[CLIENTS];
    series rates[WAYS] = {0};

    for (int i = 0; i < CLIENTS; i++)
        writer_open(&writers[i], DATABASE, setting);
    for (int round = 0; round < APPEND_ROUNDS; round++) {
        fresh(db);
        for (int turn = 0; turn < WAYS; turn++) {
            int how = (round + turn) % WAYS;
            note(&rates[how], writers_rate(writers, CLIENTS, (way)how, append_seconds));
        }
    }
    printf(
        "single appends, %d clients, each its own transaction, %s (plain INSERT %.0f a second)\n",
        CLIENTS, setting + strlen("SET "), median(&rates[PLAIN]));
    report("alineo_append, all arguments", &rates[APPEND], &rates[PLAIN], "of its rate", 0.95);
    report("alineo_append, ts and step_idx left off", &rates[APPEND_SHORT], &rates[PLAIN],
           "of its rate", 0.95);
    report("for comparison: INSERT RETURNING id", &rates[RETURNING], &rates[PLAIN], "of its rate",
           0);
    report("that, and never below the latest ts", &rates[LATEST], &rates[PLAIN], "of its rate", 0);
    for (int how = 0; how < WAYS; how++)
        forget(&rates[how]);
    for (int i = 0; i < CLIENTS; i++)
        writer_close(&writers[i]);
}

static void bench_appends(PGconn *db)
{
    bench_appends_with(db, "SET synchronous_commit = on");
    bench_appends_with(db, "SET synchronous_commit = off");
}

/* --- batches ------------------------------------------------------------------- */

typedef struct text {
    char *at;
    size_t len;
} text;

/* The i-th event of a session: output, a thousand chunks to an exec. */
static event output(const char *sandbox, long i)
{
    event e = {.name = "bench", .event = "exec.output", .step = 1 + i / 1000, .ts = FIRST_TS + i};

    snprintf(e.sandbox, sizeof e.sandbox, "%s", sandbox);
    e.payload_len = (size_t)output_payload(e.payload, e.step, i);
    return e;
}

/* The events first .. first + count - 1, as lines or as an array of entries. */
static text lines_of(const char *sandbox, long first, long count)
{
    text made = {allocate((size_t)count * ROW_ROOM), 0};

    for (long i = first; i < first + count; i++) {
        event e = output(sandbox, i);
        made.len += event_copy_line(made.at + made.len, &e);
    }
    return made;
}

static text entries_of(long first, long count)
{
    text made = {allocate((size_t)count * ROW_ROOM), 0};

    for (long i = first; i < first + count; i++) {
        event e = output("sb-write", i);
        made.at[made.len++] = i == first ? '[' : ',';
        made.len += event_entry(made.at + made.len, &e);
    }
    made.at[made.len++] = ']';
    made.at[made.len] = '\0';
    return made;
}

static void copy(PGconn *db, text lines)
{
    postgres_copy_begin(db, COPY_INTO);
    postgres_copy_data(db, lines.at, lines.len);
    postgres_copy_end(db);
}

static void append_batch(PGconn *db, text entries)
{
    const char *const values[] = {entries.at};

    postgres_done(db, PQexecPrepared(db, "batch", 1, values, NULL, NULL, 0), "alineo_append_batch");
}

static void bench_batches(PGconn *db, long events)
{
    long calls = events / BATCH;
    text *lines = allocate((size_t)calls * sizeof *lines);
    text *entries = allocate((size_t)calls * sizeof *entries);
    text all = lines_of("sb-write", 0, calls * BATCH);
    series batch = {0}, batches = {0}, copies = {0}, one_copy = {0};

    for (long i = 0; i < calls; i++) {
        lines[i] = lines_of("sb-write", i * BATCH, BATCH);
        entries[i] = entries_of(i * BATCH, BATCH);
    }
    postgres_prepare(db, "batch", "SELECT alineo_append_batch($1::text)");
    for (int round = 0; round < ROUNDS; round++) {
        fresh(db);
        double begin = seconds();
        copy(db, all);
        note(&one_copy, seconds() - begin);

        fresh(db);
        begin = seconds();
        postgres_run(db, "BEGIN");
        for (long i = 0; i < calls; i++)
            append_batch(db, entries[i]);
        postgres_run(db, "COMMIT");
        note(&batches, seconds() - begin);

        fresh(db);
        begin = seconds();
        for (long i = 0; i < calls; i++)
            copy(db, lines[i]);
        note(&copies, seconds() - begin);

        fresh(db);
        begin = seconds();
        for (long i = 0; i < calls; i++)
            append_batch(db, entries[i]);
        note(&batch, seconds() - begin);
    }
    printf("batches, %ld events, %d a call (one COPY %.0f rows a second)\n", calls * BATCH, BATCH,
           (double)(calls * BATCH) / median(&one_copy));
    report("alineo_append_batch, in a transaction", &one_copy, &batches, "of one COPY's rate",
           0.80);
    report("alineo_append_batch, each call its own", &copies, &batch,
           "of the rate of COPYs as large", 0.80);
    for (long i = 0; i < calls; i++) {
        free(lines[i].at);
        free(entries[i].at);
    }
    free(lines);
    free(entries);
    free(all.at);
}

/* --- reads --------------------------------------------------------------------- */

/* All that a read gives is made and looked at in the server; only a number goes
 * to the client, whose own work is not what is measured. */
typedef enum read { SUM, CACHE, RESUME, REPLAY, READS } read;

static const char *const read_sql[READS] = {
    "SELECT sum(pg_column_size(payload)) FROM " IN_ORDER,
    "SELECT sum(pg_column_size(stdout)) FROM alineo_replay_cache('bench', 'sb-read')",
    "SELECT pg_column_size(alineo_resume('sb-read'))",
    "SELECT sum(pg_column_size(payload)) FROM alineo_replay('bench', 'sb-read')",
};

/* A session of so many chunks of output, a thousand to an exec. */
static void fill(PGconn *db, long events)
{
    long part = 100 * BATCH;

    fresh(db);
    postgres_run(db, "SELECT alineo_append('bench', 'sb-read', 'sandbox.created', '{}', ts => 1)");
    for (long i = 0; i < events; i += part) {
        text lines = lines_of("sb-read", i, events - i < part ? events - i : part);
        copy(db, lines);
        free(lines.at);
    }
    postgres_run(db, "INSERT INTO alineo_events (name, sandbox_id, event, payload, step_idx, ts)"
                     " SELECT name, sandbox_id, 'exec.completed',"
                     " jsonb_build_object('seq', step_idx, 'exitCode', 0), step_idx, 1899999999999"
                     " FROM alineo_events WHERE step_idx > 0 GROUP BY name, sandbox_id, step_idx");
    postgres_run(db, "SELECT alineo_append('bench', 'sb-read', 'sandbox.checkpoint_created',"
                     " '{\"snapshotId\":\"x\"}')");
    postgres_run(db, "VACUUM ANALYZE alineo_events");
    postgres_run(db, "CHECKPOINT");
}

/* Prints how much memory of its own the backend takes for a read at its peak. */
static void report_memory(const char *what, read how)
{
    PGconn *db = postgres_open(DATABASE);
    long process = postgres_ask(db, "SELECT pg_backend_pid()");

    (void)postgres_ask(db, read_sql[SUM]); /* maps the shared buffers that it reads */
    long before = process_kb(process, "VmHWM");
    long shared = process_kb(process, "RssShmem");
    (void)postgres_ask(db, read_sql[how]);
    long peak = process_kb(process, "VmHWM") - (process_kb(process, "RssShmem") - shared);
    if (before >= 0 && shared >= 0)
        printf("  %-44s %5ld  MiB more than that sum needs\n", what, (peak - before) / 1024);
    PQfinish(db);
}

static void bench_reads(PGconn *db, long events)
{
    series took[READS] = {0};

    fill(db, events);
    for (int how = 0; how < READS; how++)
        (void)postgres_ask(db, read_sql[how]);
    for (int round = 0; round < ROUNDS; round++)
        for (int how = 0; how < READS; how++) {
            double begin = seconds();
            (void)postgres_ask(db, read_sql[how]);
            note(&took[how], seconds() - begin);
        }
    printf("reads, a session of %ld events, %ld MiB of output, looked at in the server"
           " (sum(pg_column_size(payload)) takes %.0f ms)\n",
           events, postgres_ask(db, read_sql[CACHE]) >> 20, median(&took[SUM]) * 1e3);
    report("alineo_replay_cache", &took[CACHE], &took[SUM], "of its time", 2.0);
    report("alineo_resume", &took[RESUME], &took[SUM], "of its time", 2.5);
    report("alineo_replay", &took[REPLAY], &took[SUM], "of its time", 0);
    report_memory("alineo_replay_cache, peak memory", CACHE);
    report_memory("alineo_resume, peak memory", RESUME);
    report_memory("alineo_replay, peak memory", REPLAY);
}

/* --- all of it ------------------------------------------------------------------- */

int main(int argc, char **argv)
{
    long events = argc > 1 ? atol(argv[1]) : 1000000;
    const char *part = argc > 2 ? argv[2] : "";

    postgres_create(DATABASE);
    PGconn *db = postgres_open(DATABASE);
    postgres_run(db, "CREATE EXTENSION alineo_ledger");
    postgres_run(db, "SELECT alineo_init()");
    /* Neither side of a comparison shall meet it and the other not. */
    postgres_run(db, "ALTER TABLE alineo_events SET (autovacuum_enabled = off)");
    postgres_report_settings(db);
    if (*part == '\0' || strcmp(part, "appends") == 0)
        bench_appends(db);
    if (*part == '\0' || strcmp(part, "batches") == 0)
        bench_batches(db, events / 10);
    if (*part == '\0' || strcmp(part, "reads") == 0)
        bench_reads(db, events);
    PQfinish(db);
    postgres_drop(DATABASE);
    return 0;
}
