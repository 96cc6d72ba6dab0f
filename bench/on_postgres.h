/*
 * on_postgres.h - PostgreSQL as the benchmarks use it: the server that libpq's
 * environment names. Whatever fails ends them.
 */
#ifndef BENCH_ON_POSTGRES_H
#define BENCH_ON_POSTGRES_H

#include <libpq-fe.h>

void postgres_check(int ok, PGconn *db, const char *what);
PGconn *postgres_open(const char *database);
/* Makes a database anew, or drops it. */
void postgres_create(const char *database);
void postgres_drop(const char *database);
/* Ends a command; what it returned is freed. */
void postgres_done(PGconn *db, PGresult *result, const char *what);
void postgres_run(PGconn *db, const char *sql);
/* The first value of the answer, an integer. */
long postgres_ask(PGconn *db, const char *sql);
void postgres_prepare(PGconn *db, const char *name, const char *sql);
/* COPY: begin, data as often as needed, end. */
void postgres_copy_begin(PGconn *db, const char *sql);
void postgres_copy_data(PGconn *db, const char *bytes, size_t len);
void postgres_copy_end(PGconn *db);
/* Prints the server's version and the settings that matter. */
void postgres_report_settings(PGconn *db);

#endif
