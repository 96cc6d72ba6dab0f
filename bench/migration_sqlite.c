/*
 * migration_sqlite.c - see migration.h.
 */
#include "migration.h"
#include "events.h"
#include "measure.h"
#include "on_sqlite.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SCHEMA                                                                                     \
    "CREATE TABLE alineo_events (id INTEGER PRIMARY KEY AUTOINCREMENT, sandbox_id TEXT NOT NULL,"  \
    " name TEXT NOT NULL, step_idx INTEGER NOT NULL, branch INTEGER, event TEXT NOT NULL,"         \
    " payload TEXT, error TEXT, ts INTEGER NOT NULL);"                                             \
    "CREATE TABLE alineo_environments (name TEXT PRIMARY KEY, snapshot_id TEXT NOT NULL,"          \
    " image TEXT NOT NULL, built_at INTEGER NOT NULL);"                                            \
    "CREATE INDEX alineo_events_sandbox_id ON alineo_events(sandbox_id);"                          \
    "CREATE INDEX alineo_events_name ON alineo_events(name);"

#define INDEXES                                                                                    \
    "SELECT group_concat(sql, ';') FROM sqlite_schema WHERE type = 'index'"                        \
    " AND tbl_name = 'alineo_events' AND name NOT IN ('alineo_events_sandbox_id',"                 \
    " 'alineo_events_name')"

static sqlite3 *copy;
static char *indexes;

static const char *path(const char *name)
{
    static char text[2][4096];
    static int turn;
    const char *folder = getenv("TMPDIR");

    turn = 1 - turn;
    snprintf(text[turn], sizeof text[turn], "%s/%s", folder != NULL ? folder : "/tmp", name);
    return text[turn];
}

static void build(long events)
{
    sqlite_remove(path("old.db"));
    sqlite3 *db = sqlite_plain(path("old.db"));

    sqlite_run(db, SCHEMA "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
    sqlite_store_events(db, events, legacy_name);
    sqlite_run(db, "COMMIT; PRAGMA journal_mode = WAL");
    sqlite3_close(db);
}

static void remove_all(void)
{
    sqlite_remove(path("old.db"));
    sqlite3_free(indexes);
    indexes = NULL;
}

static void open_copy(void)
{
    char sql[8192];
    sqlite3 *db = sqlite_plain(path("old.db"));

    sqlite_remove(path("copy.db"));
    snprintf(sql, sizeof sql, "VACUUM INTO '%s'", path("copy.db"));
    sqlite_run(db, sql);
    sqlite3_close(db);
    copy = sqlite_open(path("copy.db"));
    sqlite_run(copy, "PRAGMA journal_mode = WAL");
}

static void close_copy(void)
{
    sqlite_check(sqlite3_close(copy) == SQLITE_OK, copy, "close");
    sqlite_remove(path("copy.db"));
}

static long process(void)
{
    return 0;
}

static long init(void)
{
    sqlite3_stmt *statement = sqlite_prepare(copy, "SELECT alineo_init()");
    long rewritten = -1;
    int rc = sqlite3_step(statement);

    if (rc == SQLITE_ROW)
        rewritten = (long)sqlite3_column_int64(statement, 0);
    else
        sqlite_check((sqlite3_errcode(copy) & 0xFF) == SQLITE_INTERRUPT, copy, "alineo_init");
    sqlite3_finalize(statement);
    return rewritten;
}

static void interrupt(void)
{
    sqlite3_interrupt(copy);
}

static long told(void)
{
    return 0; /* the result alone says what was done */
}

static void note_indexes(void)
{
    sqlite3_stmt *statement = sqlite_prepare(copy, INDEXES);

    sqlite_check(sqlite3_step(statement) == SQLITE_ROW, copy, INDEXES);
    indexes = sqlite3_mprintf("%s", sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
}

static void plain(void)
{
    char sql[2048];

    sqlite_run(copy, indexes);
    snprintf(sql, sizeof sql, "UPDATE alineo_events SET event = %s WHERE event NOT GLOB '*.*'",
             current_name_sql());
    sqlite_run(copy, sql);
}

static long count(void)
{
    return sqlite_ask(copy, "SELECT count(*) FROM alineo_events");
}

static long stale(void)
{
    return sqlite_ask(copy, "SELECT count(*) FROM alineo_events WHERE event NOT GLOB '*.*'");
}

static long sum(void)
{
    return sqlite_ask(copy, "SELECT sum(id % 1009 * (length(event) + unicode(event) +"
                            " unicode(substr(event, -1)) + length(payload))) FROM alineo_events");
}

const migration_side migration_sqlite = {
    "SQLite",  build, remove_all,   open_copy, close_copy, process, init,
    interrupt, told,  note_indexes, plain,     count,      stale,   sum,
};
