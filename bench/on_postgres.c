/*
 * on_postgres.c - see on_postgres.h.
 */
#include "on_postgres.h"
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>

void postgres_check(int ok, PGconn *db, const char *what)
{
    if (!ok)
        fail(what, PQerrorMessage(db));
}

void postgres_done(PGconn *db, PGresult *result, const char *what)
{
    ExecStatusType status = PQresultStatus(result);

    postgres_check(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, db, what);
    PQclear(result);
}

void postgres_run(PGconn *db, const char *sql)
{
    postgres_done(db, PQexec(db, sql), sql);
}

long postgres_ask(PGconn *db, const char *sql)
{
    PGresult *result = PQexec(db, sql);

    postgres_check(PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) > 0, db, sql);
    long answer = atol(PQgetvalue(result, 0, 0));
    PQclear(result);
    return answer;
}

void postgres_prepare(PGconn *db, const char *name, const char *sql)
{
    postgres_done(db, PQprepare(db, name, sql, 0, NULL), sql);
}

PGconn *postgres_open(const char *database)
{
    const char *const words[] = {"dbname", "client_encoding", "application_name", NULL};
    const char *const values[] = {database, "UTF8", "alineo bench", NULL};
    PGconn *db = PQconnectdbParams(words, values, 0);

    postgres_check(PQstatus(db) == CONNECTION_OK, db, "cannot connect");
    /* The planner in which both sides of a comparison are alike, and steady. */
    postgres_run(db, "SET client_min_messages = warning; SET jit = off;"
                     " SET max_parallel_workers_per_gather = 0");
    return db;
}

static void alone(const char *before, const char *database, const char *after)
{
    char sql[256];
    PGconn *server = postgres_open("postgres");

    snprintf(sql, sizeof sql, "%s %s%s", before, database, after);
    postgres_run(server, sql);
    PQfinish(server);
}

void postgres_drop(const char *database)
{
    alone("DROP DATABASE IF EXISTS", database, "");
}

void postgres_create(const char *database)
{
    postgres_drop(database);
    alone("CREATE DATABASE", database, " TEMPLATE template0 ENCODING 'UTF8'");
}

void postgres_copy_begin(PGconn *db, const char *sql)
{
    PGresult *result = PQexec(db, sql);

    postgres_check(PQresultStatus(result) == PGRES_COPY_IN, db, sql);
    PQclear(result);
}

void postgres_copy_data(PGconn *db, const char *bytes, size_t len)
{
    for (size_t at = 0; at < len;) {
        size_t part = len - at < 65536 ? len - at : 65536;
        postgres_check(PQputCopyData(db, bytes + at, (int)part) == 1, db, "COPY");
        at += part;
    }
}

void postgres_copy_end(PGconn *db)
{
    PGresult *result;

    postgres_check(PQputCopyEnd(db, NULL) == 1, db, "COPY");
    postgres_done(db, PQgetResult(db), "COPY");
    while ((result = PQgetResult(db)) != NULL)
        PQclear(result);
}

void postgres_report_settings(PGconn *db)
{
    PGresult *result = PQexec(
        db,
        "SELECT string_agg(name || ' = ' || current_setting(name), ', ' ORDER BY name)"
        " FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'jit', 'max_wal_size',"
        " 'max_parallel_workers_per_gather', 'shared_buffers', 'synchronous_commit', 'work_mem')");

    postgres_check(PQresultStatus(result) == PGRES_TUPLES_OK, db, "settings");
    printf("PostgreSQL %s; %s\n", PQparameterStatus(db, "server_version"),
           PQgetvalue(result, 0, 0));
    PQclear(result);
}
