/*
 * on_sqlite.c - see on_sqlite.h.
 */
#include "on_sqlite.h"
#include "events.h"
#include "measure.h"

#include <stdio.h>
#include <unistd.h>

const char *sqlite_extension;

void sqlite_check(int ok, sqlite3 *db, const char *what)
{
    if (!ok)
        fail(what, db == NULL ? "failed" : sqlite3_errmsg(db));
}

sqlite3 *sqlite_plain(const char *file)
{
    sqlite3 *db = NULL;

    sqlite_check(sqlite3_open(file, &db) == SQLITE_OK, db, file);
    return db;
}

sqlite3 *sqlite_open(const char *file)
{
    sqlite3 *db = sqlite_plain(file);

    sqlite3_enable_load_extension(db, 1);
    sqlite_check(sqlite3_load_extension(db, sqlite_extension, NULL, NULL) == SQLITE_OK, db,
                 sqlite_extension);
    return db;
}

sqlite3_stmt *sqlite_prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;

    sqlite_check(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, db, sql);
    return statement;
}

void sqlite_run(sqlite3 *db, const char *sql)
{
    sqlite_check(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, db, sql);
}

long sqlite_ask(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = sqlite_prepare(db, sql);

    sqlite_check(sqlite3_step(statement) == SQLITE_ROW, db, sql);
    long answer = (long)sqlite3_column_int64(statement, 0);
    sqlite_check(sqlite3_finalize(statement) == SQLITE_OK, db, sql);
    return answer;
}

void sqlite_drain(sqlite3 *db, sqlite3_stmt *statement)
{
    int rc;

    while ((rc = sqlite3_step(statement)) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
            if (sqlite3_column_type(statement, i) == SQLITE_INTEGER)
                (void)sqlite3_column_int64(statement, i);
            else
                (void)sqlite3_column_text(statement, i);
        }
    sqlite_check(rc == SQLITE_DONE, db, sqlite3_sql(statement));
    sqlite3_reset(statement);
}

void sqlite_store_events(sqlite3 *db, long events, const char *(*stored)(const char *event))
{
    sqlite3_stmt *insert =
        sqlite_prepare(db, "INSERT INTO alineo_events(name, sandbox_id, event, payload, step_idx,"
                           " ts) VALUES (?, ?, ?, ?, ?, ?)");
    for (long i = 0; i < events; i++) {
        event e = event_at(i);
        sqlite3_bind_text(insert, 1, e.name, -1, SQLITE_STATIC);
        sqlite3_bind_text(insert, 2, e.sandbox, -1, SQLITE_STATIC);
        sqlite3_bind_text(insert, 3, stored == NULL ? e.event : stored(e.event), -1, SQLITE_STATIC);
        sqlite3_bind_text(insert, 4, e.payload, (int)e.payload_len, SQLITE_STATIC);
        sqlite3_bind_int64(insert, 5, e.step);
        sqlite3_bind_int64(insert, 6, e.ts);
        sqlite_drain(db, insert);
    }
    sqlite3_finalize(insert);
}

void sqlite_remove(const char *file)
{
    static const char *const beside[] = {"", "-wal", "-shm", "-journal"};
    char path[4096];

    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        snprintf(path, sizeof path, "%s%s", file, beside[i]);
        unlink(path);
    }
}
