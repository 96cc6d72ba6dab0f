/*
 * on_sqlite.h - SQLite as the benchmarks use it. Whatever fails ends them.
 */
#ifndef BENCH_ON_SQLITE_H
#define BENCH_ON_SQLITE_H

#include <sqlite3.h>

/* The library that sqlite_open loads; must be set. */
extern const char *sqlite_extension;

void sqlite_check(int ok, sqlite3 *db, const char *what);
/* Opens a file with the extension loaded; sqlite_plain without. */
sqlite3 *sqlite_open(const char *file);
sqlite3 *sqlite_plain(const char *file);
sqlite3_stmt *sqlite_prepare(sqlite3 *db, const char *sql);
void sqlite_run(sqlite3 *db, const char *sql);
/* The first value of the answer, an integer. */
long sqlite_ask(sqlite3 *db, const char *sql);
/* Steps through a statement's rows, reading every column as a client would. */
void sqlite_drain(sqlite3 *db, sqlite3_stmt *statement);
/* Stores the first so many events of events.h, under the names that `stored`
 * gives them; NULL: their own. */
void sqlite_store_events(sqlite3 *db, long events, const char *(*stored)(const char *event));
/* Removes a database and what lies beside it. */
void sqlite_remove(const char *file);

#endif
