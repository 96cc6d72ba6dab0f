/*
 * engine_sqlite.c - see engine.h.
 */
#include "engine.h"
#include "events.h"
#include "measure.h"
#include "on_sqlite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *file(void)
{
    static char path[4096];
    const char *folder = getenv("TMPDIR");

    snprintf(path, sizeof path, "%s/ledger.db", folder != NULL ? folder : "/tmp");
    return path;
}

static const char *version(void)
{
    return sqlite3_libversion();
}

static void create(void)
{
    sqlite_remove(file());
}

static void drop(void)
{
    sqlite_remove(file());
}

static void *open_connection(void)
{
    sqlite3 *db = sqlite_open(file());

    sqlite_run(db, "PRAGMA synchronous = NORMAL");
    return db;
}

static void close_connection(void *db)
{
    sqlite_check(sqlite3_close(db) == SQLITE_OK, db, "close");
}

static void run(void *db, const char *sql)
{
    sqlite_run(db, sql);
}

static long ask(void *db, const char *sql)
{
    return sqlite_ask(db, sql);
}

static void load(long events)
{
    sqlite3 *db = sqlite_open(file());

    sqlite_run(db, "SELECT alineo_init(); PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                   " PRAGMA cache_size = -262144; BEGIN");
    sqlite_store_events(db, events, NULL);
    sqlite_run(db, "COMMIT; PRAGMA journal_mode = WAL");
    close_connection(db);
}

static long size(void)
{
    struct stat found;

    if (stat(file(), &found) != 0)
        fail(file(), "not there");
    return found.st_size;
}

static long process(void *db)
{
    (void)db;
    return getpid();
}

static void *prepare(void *db, const char *sql, int parameters)
{
    sqlite3_stmt *statement = sqlite_prepare(db, sql);

    sqlite_check(sqlite3_bind_parameter_count(statement) == parameters, NULL, sql);
    return statement;
}

static void bind(sqlite3_stmt *statement, const parameter *values)
{
    for (int i = 0; i < sqlite3_bind_parameter_count(statement); i++) {
        int rc = SQLITE_OK;
        if (values[i].kind == TEXT)
            rc = sqlite3_bind_text64(statement, i + 1, values[i].text, strlen(values[i].text),
                                     SQLITE_STATIC, SQLITE_UTF8);
        else if (values[i].kind == NUMBER)
            rc = sqlite3_bind_int64(statement, i + 1, values[i].number);
        else
            rc = sqlite3_bind_null(statement, i + 1);
        sqlite_check(rc == SQLITE_OK, sqlite3_db_handle(statement), "bind");
    }
}

static answer call(void *prepared, const parameter *values)
{
    sqlite3_stmt *statement = prepared;
    answer got = {0};
    int rc;

    bind(statement, values);
    for (; (rc = sqlite3_step(statement)) == SQLITE_ROW; got.rows++) {
        if (got.rows == 0)
            got.first = (long)sqlite3_column_int64(statement, 0);
        got.sum += (long)sqlite3_column_int64(statement, 0);
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
            (void)sqlite3_column_blob(statement, i);
            got.bytes += (size_t)sqlite3_column_bytes(statement, i);
        }
    }
    sqlite_check(rc == SQLITE_DONE, sqlite3_db_handle(statement), sqlite3_sql(statement));
    sqlite3_reset(statement);
    return got;
}

static void finish(void *statement)
{
    sqlite3_finalize(statement);
}

const engine engine_sqlite = {
    "SQLite",         version, create, drop, load,    size, open_connection,
    close_connection, process, run,    ask,  prepare, call, finish,
};
