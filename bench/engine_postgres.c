/*
 * engine_postgres.c - see engine.h.
 */
#include "engine.h"
#include "events.h"
#include "measure.h"
#include "on_postgres.h"

#include <stdio.h>
#include <stdlib.h>

#define DATABASE "alineo_bench"

typedef struct prepared {
    PGconn *db;
    const char *sql;
    int parameters;
    char name[24];
} prepared;

static const char *version(void)
{
    static char text[64];
    PGconn *db = postgres_open("postgres");

    snprintf(text, sizeof text, "%s", PQparameterStatus(db, "server_version"));
    PQfinish(db);
    return text;
}

static void *open_connection(void)
{
    PGconn *db = postgres_open(DATABASE);

    postgres_run(db, "SET synchronous_commit = off");
    return db;
}

static void close_connection(void *db)
{
    PQfinish(db);
}

static void run(void *db, const char *sql)
{
    postgres_run(db, sql);
}

static long ask(void *db, const char *sql)
{
    return postgres_ask(db, sql);
}

static void create(void)
{
    postgres_create(DATABASE);
    PGconn *db = postgres_open(DATABASE);
    postgres_run(db, "CREATE EXTENSION alineo_ledger");
    PQfinish(db);
}

static void drop(void)
{
    postgres_drop(DATABASE);
}

/* A table that was emptied in the same transaction takes rows without a log. */
static void load(long events)
{
    PGconn *db = open_connection();
    char line[ROW_ROOM];

    /* No vacuum shall come at some time of a run. */
    postgres_run(db, "SELECT alineo_init();"
                     " ALTER TABLE alineo_events SET (autovacuum_enabled = off)");
    postgres_run(db, "BEGIN");
    postgres_run(db, "TRUNCATE alineo_events");
    postgres_copy_begin(db, COPY_INTO);
    for (long i = 0; i < events; i++) {
        event e = event_at(i);
        postgres_copy_data(db, line, event_copy_line(line, &e));
    }
    postgres_copy_end(db);
    postgres_run(db, "COMMIT");
    postgres_run(db, "VACUUM ANALYZE alineo_events");
    postgres_run(db, "CHECKPOINT");
    PQfinish(db);
}

static long size(void)
{
    PGconn *db = open_connection();
    long bytes = postgres_ask(db, "SELECT pg_total_relation_size('alineo_events')");

    PQfinish(db);
    return bytes;
}

static long process(void *db)
{
    return PQbackendPID(db);
}

static void *prepare(void *db, const char *sql, int parameters)
{
    static int count;
    prepared *p = allocate(sizeof *p);

    *p = (prepared){.db = db, .sql = sql, .parameters = parameters};
    snprintf(p->name, sizeof p->name, "s%d", count++);
    postgres_prepare(db, p->name, sql);
    return p;
}

static answer call(void *statement, const parameter *values)
{
    const prepared *p = statement;
    const char *texts[8];
    char numbers[8][24];
    answer got = {0};

    for (int i = 0; i < p->parameters; i++) {
        snprintf(numbers[i], sizeof numbers[i], "%ld", values[i].number);
        texts[i] = values[i].kind == TEXT ? values[i].text : numbers[i];
        if (values[i].kind == NOTHING)
            texts[i] = NULL;
    }
    PGresult *result = PQexecPrepared(p->db, p->name, p->parameters, texts, NULL, NULL, 0);
    postgres_check(PQresultStatus(result) == PGRES_TUPLES_OK, p->db, p->sql);
    got.rows = PQntuples(result);
    if (got.rows > 0)
        got.first = atol(PQgetvalue(result, 0, 0));
    for (int row = 0; row < PQntuples(result); row++) {
        got.sum += atol(PQgetvalue(result, row, 0));
        for (int i = 0; i < PQnfields(result); i++)
            got.bytes += (size_t)PQgetlength(result, row, i);
    }
    PQclear(result);
    return got;
}

static void finish(void *statement)
{
    prepared *p = statement;
    char sql[40];

    snprintf(sql, sizeof sql, "DEALLOCATE %s", p->name);
    postgres_run(p->db, sql);
    free(p);
}

const engine engine_postgres = {
    "PostgreSQL",     version, create, drop, load,    size, open_connection,
    close_connection, process, run,    ask,  prepare, call, finish,
};
