/*
 * bench_sqlite.c - the ledger's speed on SQLite, as ratios against plain SQL
 * over the same rows in one run. Usage: bench_sqlite EXTENSION [EVENTS]
 *
 * Each pair is run several times in turn, and the best of each counts: what
 * else the machine does only ever makes a run slower.
 */
#include "events.h"
#include "measure.h"
#include "on_sqlite.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 5, BATCH = 1000 };

static double time_query(sqlite3 *db, const char *sql)
{
    double best = 1e9;

    for (int i = 0; i < ROUNDS; i++) {
        sqlite3_stmt *statement = sqlite_prepare(db, sql);
        double begin = seconds();
        sqlite_drain(db, statement);
        double took = seconds() - begin;
        best = took < best ? took : best;
        sqlite3_finalize(statement);
    }
    return best;
}

typedef enum way { PLAIN, APPEND, APPEND_SHORT } way;

static const char *const way_sql[] = {
    "INSERT INTO alineo_events(name, sandbox_id, event, payload, step_idx, branch, error, ts)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    "SELECT alineo_append(?, ?, ?, ?, ?, ?, ?, ?)",
    "SELECT alineo_append(?, ?, ?, ?)",
};

/* Appends events one by one in a transaction; returns the seconds it took. */
static double append_events(sqlite3 *db, way how, long count, const char *sandbox)
{
    sqlite3_stmt *statement = sqlite_prepare(db, way_sql[how]);
    char payload[PAYLOAD_ROOM];
    double begin = seconds();

    sqlite_run(db, "BEGIN");
    for (long i = 0; i < count; i++) {
        int len = output_payload(payload, 1 + i / 1000, i);
        sqlite3_bind_text(statement, 1, "bench", -1, SQLITE_STATIC);
        sqlite3_bind_text(statement, 2, sandbox, -1, SQLITE_STATIC);
        sqlite3_bind_text(statement, 3, "exec.output", -1, SQLITE_STATIC);
        sqlite3_bind_text(statement, 4, payload, len, SQLITE_STATIC);
        if (how != APPEND_SHORT) {
            sqlite3_bind_int64(statement, 5, 1 + i / 1000);
            sqlite3_bind_int64(statement, 8, 1795959628473L + i);
        }
        sqlite_drain(db, statement);
    }
    sqlite_run(db, "COMMIT");
    sqlite3_finalize(statement);
    return seconds() - begin;
}

/* The same events as JSON arrays of BATCH entries, in one call each. */
static double append_batches(sqlite3 *db, long count, const char *sandbox)
{
    sqlite3_stmt *statement = sqlite_prepare(db, "SELECT alineo_append_batch(?)");
    char *text = allocate((size_t)BATCH * ROW_ROOM);
    char payload[PAYLOAD_ROOM];
    double took = 0;

    for (long i = 0; i < count;) {
        char *at = text;
        for (int k = 0; k < BATCH; k++, i++) {
            output_payload(payload, 1 + i / 1000, i);
            at += sprintf(at,
                          "%c{\"ts\":%ld,\"name\":\"bench\",\"sandboxId\":\"%s\",\"stepIndex\":%ld,"
                          "\"event\":\"exec.output\",\"payload\":%s}",
                          k == 0 ? '[' : ',', 1795959628473L + i, sandbox, 1 + i / 1000, payload);
        }
        *at++ = ']';
        double begin = seconds();
        if (i == BATCH)
            sqlite_run(db, "BEGIN");
        sqlite3_bind_text(statement, 1, text, (int)(at - text), SQLITE_STATIC);
        sqlite_drain(db, statement);
        if (i == count)
            sqlite_run(db, "COMMIT");
        took += seconds() - begin;
    }
    free(text);
    sqlite3_finalize(statement);
    return took;
}

static void report_ratio(const char *what, double ratio, const char *meaning, double target)
{
    printf("  %-44s %5.2f  %s (target %.2f)\n", what, ratio, meaning, target);
}

/* A new ledger with its schema, so that both sides write the same indexes. */
static sqlite3 *fresh(const char *file)
{
    sqlite_remove(file);
    sqlite3 *db = sqlite_open(file);
    sqlite_run(db, "SELECT alineo_init()");
    return db;
}

static void bench_writes(const char *file, long count)
{
    double best[4] = {1e9, 1e9, 1e9, 1e9};

    for (int round = 0; round < ROUNDS; round++)
        for (int how = 0; how < 4; how++) {
            sqlite3 *db = fresh(file);
            double took = how < 3 ? append_events(db, (way)how, count, "sb-write")
                                  : append_batches(db, count, "sb-write");
            best[how] = took < best[how] ? took : best[how];
            sqlite3_close(db);
        }
    printf("writes, %ld events in a transaction (plain INSERT %.2f us an event)\n", count,
           best[PLAIN] / (double)count * 1e6);
    report_ratio("alineo_append, all arguments", best[PLAIN] / best[APPEND], "of its rate", 0.80);
    report_ratio("alineo_append, ts and step_idx left off", best[PLAIN] / best[APPEND_SHORT],
                 "of its rate", 0.80);
    report_ratio("alineo_append_batch, 1000 entries a call", best[PLAIN] / best[3], "of its rate",
                 0.90);
}

static void bench_reads(const char *file, long count)
{
    sqlite3 *db = fresh(file);

    sqlite_run(
        db,
        "SELECT alineo_append('bench', 'sb-read', 'sandbox.created', '{}', NULL, NULL, NULL, 1)");
    append_events(db, PLAIN, count, "sb-read");
    sqlite_run(
        db,
        "INSERT INTO alineo_events(name, sandbox_id, event, payload, step_idx, ts)"
        " SELECT name, sandbox_id, 'exec.completed', json_object('seq', step_idx, 'exitCode', 0),"
        " step_idx, 1899999999999 FROM alineo_events WHERE step_idx > 0 GROUP BY step_idx");
    sqlite_run(db, "SELECT alineo_append('bench', 'sb-read', 'sandbox.checkpoint_created',"
                   " '{\"snapshotId\":\"x\"}')");
    sqlite3_close(db);

    db = sqlite_open(file);
    const char *sum = "SELECT sum(length(payload)) FROM (SELECT payload FROM alineo_events WHERE"
                      " name = 'bench' AND sandbox_id = 'sb-read' ORDER BY ts, id)";
    long before = process_kb(0, "VmHWM");
    time_query(db, "SELECT id, payload FROM alineo_replay('bench', 'sb-read')");
    long streamed = process_kb(0, "VmHWM") - before;
    double plain = time_query(db, sum);
    double replay = time_query(db, "SELECT * FROM alineo_replay('bench', 'sb-read')");
    double cache = time_query(db, "SELECT * FROM alineo_replay_cache('bench', 'sb-read')");
    double resume = time_query(db, "SELECT alineo_resume('sb-read')");
    printf("reads, a session of %ld events (sum(length(payload)) takes %.0f ms)\n", count,
           plain * 1e3);
    report_ratio("alineo_replay_cache", cache / plain, "of its time", 1.5);
    report_ratio("alineo_resume", resume / plain, "of its time", 2.0);
    printf("  %-44s %5.2f  of its time\n", "alineo_replay, all columns", replay / plain);
    printf("  %-44s %5ld  KiB more than at the start\n", "alineo_replay, peak memory", streamed);
    sqlite3_close(db);
}

int main(int argc, char **argv)
{
    long events = argc > 2 ? atol(argv[2]) : 1000000;
    char file[] = "/tmp/alineo-bench-XXXXXX";

    sqlite_extension = argc > 1 ? argv[1] : "./alineo.so";
    int handle = mkstemp(file);
    sqlite_check(handle >= 0, NULL, "mkstemp");
    close(handle);
    printf("SQLite %s\n", sqlite3_libversion());
    bench_writes(file, events / 5);
    bench_reads(file, events);
    sqlite_remove(file);
    return 0;
}
