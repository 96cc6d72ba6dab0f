/*
 * script.h - the calls during which tests kill a writer, or cut its power. Each
 * includes this once.
 */
#ifndef ALINEO_SQLITE_TEST_SCRIPT_H
#define ALINEO_SQLITE_TEST_SCRIPT_H

#include "support.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* One entry a call, or a transaction of several. All name their ts, so that
 * every run stores the same. */
#define APPEND(sandbox, event)                                                                     \
    "SELECT alineo_append('ci', '" sandbox "', '" event "', '{\"seq\":1}', NULL, NULL, NULL, 1);"
#define ENTRY(event, text)                                                                         \
    "{\"name\":\"ci\",\"sandboxId\":\"sb-1\",\"event\":\"" event                                   \
    "\",\"ts\":2,\"payload\":{\"text\":\"" text "\"}}"
#define LONG "0123456789012345678901234567890123456789012345678901234567890123456789"
#define FOUR                                                                                       \
    ENTRY("a", LONG LONG) "," ENTRY("b", LONG) "," ENTRY("exec_event", LONG) "," ENTRY("c", "")
#define BATCH "SELECT alineo_append_batch('[" FOUR "," FOUR "," FOUR "]');"
#define OLD                                                                                        \
    "INSERT INTO alineo_events(sandbox_id, name, step_idx, event, payload, ts) VALUES"             \
    " ('sb-1', 'ci', 1, 'exec_start', '{\"seq\":1}', 3),"                                          \
    " ('sb-1', 'ci', 1, 'snapshot', '\"{\\\"snapshotId\\\":\\\"x\\\"}\"', 3);"
#define DELETE "SELECT alineo_delete_sandbox('ci', 'sb-2');"

static const char *const script[] = {
    "BEGIN;" APPEND("sb-1", "sandbox.created") "COMMIT",
    BATCH,
    OLD,
    "BEGIN; SELECT alineo_init(); COMMIT",
    APPEND("sb-2", "x"),
    "BEGIN;" APPEND("sb-2", "y") "SAVEPOINT s;" APPEND("sb-2", "z") BATCH
    "ROLLBACK TO s;" APPEND("sb-2", "exec_complete") "COMMIT",
    DELETE,
    APPEND("sb-1", "x"),
    "SELECT alineo_save_environment('py', 's', 'i', 1)",
    "BEGIN IMMEDIATE;" APPEND("sb-2", "x") BATCH DELETE OLD
    "SELECT alineo_init();" APPEND("sb-1", "y") "COMMIT",
    APPEND("sb-2", "x"),
    DELETE,
    "SELECT alineo_delete_environment('py')",
    APPEND("sb-1", "z"),
};

enum { CALLS = COUNT_OF(script) };

static sqlite3 *open_small(const char *path, const char *mode, const char *synchronous)
{
    sqlite3 *db = open_ledger(path, 0);

    /* Pages so small and few that a transaction writes before it commits. */
    run(db, sqlf("PRAGMA page_size = 512; PRAGMA journal_mode = %s; PRAGMA cache_size = 4;"
                 "PRAGMA wal_autocheckpoint = 8; PRAGMA synchronous = %s",
                 mode, synchronous));
    return db;
}

static char *dump(sqlite3 *db)
{
    /* Made last of what is shown. */
    if (sqlite3_table_column_metadata(db, "main", "alineo_deleted", NULL, NULL, NULL, NULL, NULL,
                                      NULL) != SQLITE_OK)
        return sqlite3_mprintf("");
    return rows_of(db,
                   "SELECT id, name, sandbox_id, step_idx, event, payload, ts FROM alineo_events"
                   " ORDER BY id; SELECT * FROM alineo_environments;"
                   " SELECT * FROM alineo_deleted");
}

/* What the ledger holds before the first call and after each. */
static void dump_each(const char *path, const char *mode, char **dumps)
{
    sqlite3 *db = open_small(path, mode, "OFF");

    dumps[0] = sqlite3_mprintf("");
    for (int i = 0; i < CALLS; i++) {
        run(db, script[i]);
        dumps[i + 1] = dump(db);
    }
    close_ledger(db);
}

/* The calls that are left, after which all must be as if nothing had happened. */
static void go_on(sqlite3 *db, int calls, char **dumps)
{
    for (int i = calls; i < CALLS; i++)
        run(db, script[i]);
    char *end = dump(db);
    if (strcmp(end, dumps[CALLS]) != 0)
        fail_msg("gone on after %d calls, the ledger holds\n%s", calls, end);
    sqlite3_free(end);
    assert_rows(db, "PRAGMA integrity_check", "ok");
}

/* How many points are passed over, and where to begin; all are tried where
 * ALINEO_EVERY_POINT is set. */
static int stride(void)
{
    return getenv("ALINEO_EVERY_POINT") != NULL ? 1 : is_slow() ? 101 : 13;
}

static int first_point(void)
{
    return 1 + (int)(time(NULL) % stride());
}

static void remove_ledger(const char *path)
{
    (void)unlink(path);
    (void)unlink(sqlf("%s-wal", path));
    (void)unlink(sqlf("%s-shm", path));
    (void)unlink(sqlf("%s-journal", path));
}

#endif
