/*
 * migration_postgres.c - see migration.h.
 */
#include "migration.h"
#include "events.h"
#include "measure.h"
#include "on_postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OLD  "alineo_bench_old"
#define COPY "alineo_bench"

#define SCHEMA                                                                                     \
    "CREATE TABLE alineo_events (id bigserial PRIMARY KEY, sandbox_id text NOT NULL,"              \
    " name text NOT NULL, step_idx integer NOT NULL, branch integer, event text NOT NULL,"         \
    " payload jsonb, error text, ts bigint NOT NULL);"                                             \
    "CREATE TABLE alineo_environments (name text PRIMARY KEY, snapshot_id text NOT NULL,"          \
    " image text NOT NULL, built_at bigint NOT NULL);"                                             \
    "CREATE INDEX alineo_events_sandbox_id ON alineo_events (sandbox_id);"                         \
    "CREATE INDEX alineo_events_name ON alineo_events (name);"

#define INDEXES                                                                                    \
    "SELECT string_agg(indexdef, ';') FROM pg_indexes WHERE tablename = 'alineo_events'"           \
    " AND indexname NOT IN ('alineo_events_pkey', 'alineo_events_sandbox_id',"                     \
    " 'alineo_events_name')"

static PGconn *copy;
static char indexes[4096];
static long notices;

static void on_notice(void *argument, const PGresult *result)
{
    (void)argument, (void)result;
    notices++;
}

static void build(long events)
{
    char line[ROW_ROOM];

    postgres_create(OLD);
    PGconn *db = postgres_open(OLD);
    postgres_run(db, "SET synchronous_commit = off");
    postgres_run(db, "CREATE EXTENSION alineo_ledger");
    postgres_run(db, SCHEMA);
    /* Text, which to_jsonb encodes once more, as the driver of 0.2 did. */
    postgres_run(db, "CREATE TEMPORARY TABLE rows (name text, sandbox_id text, event text,"
                     " payload text, step_idx integer, ts bigint)");
    postgres_copy_begin(db, "COPY rows FROM STDIN");
    for (long i = 0; i < events; i++) {
        event e = event_at(i);
        e.event = legacy_name(e.event);
        postgres_copy_data(db, line, event_copy_line(line, &e));
    }
    postgres_copy_end(db);
    postgres_run(db, "INSERT INTO alineo_events (name, sandbox_id, event, payload, step_idx, ts)"
                     " SELECT name, sandbox_id, event, to_jsonb(payload), step_idx, ts FROM rows"
                     " ORDER BY ts");
    postgres_run(db, "DROP TABLE rows");
    postgres_run(db, "VACUUM ANALYZE alineo_events");
    postgres_run(db, "CHECKPOINT");
    PQfinish(db);
}

static void remove_all(void)
{
    postgres_drop(OLD);
}

static void open_copy(void)
{
    PGconn *server = postgres_open("postgres");

    postgres_drop(COPY);
    postgres_run(server, "CREATE DATABASE " COPY " TEMPLATE " OLD);
    postgres_run(server, "CHECKPOINT");
    PQfinish(server);
    copy = postgres_open(COPY);
    postgres_run(copy, "SET client_min_messages = notice");
    PQsetNoticeReceiver(copy, on_notice, NULL);
    notices = 0;
}

static void close_copy(void)
{
    PQfinish(copy);
    postgres_drop(COPY);
}

static long process(void)
{
    return PQbackendPID(copy);
}

static long init(void)
{
    PGresult *result = PQexec(copy, "SELECT alineo_init()");
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    long rewritten = -1;

    if (PQresultStatus(result) == PGRES_TUPLES_OK)
        rewritten = atol(PQgetvalue(result, 0, 0));
    else
        postgres_check(state != NULL && strcmp(state, "57014") == 0, copy, "alineo_init");
    PQclear(result);
    return rewritten;
}

static void interrupt(void)
{
    char why[256];
    PGcancel *cancel = PQgetCancel(copy);

    if (cancel == NULL || !PQcancel(cancel, why, sizeof why))
        fail("interrupt", "cannot be sent");
    PQfreeCancel(cancel);
}

static long told(void)
{
    return notices;
}

static void note_indexes(void)
{
    PGresult *result = PQexec(copy, INDEXES);

    postgres_check(PQresultStatus(result) == PGRES_TUPLES_OK, copy, INDEXES);
    snprintf(indexes, sizeof indexes, "%s", PQgetvalue(result, 0, 0));
    PQclear(result);
}

static void plain(void)
{
    char sql[2048];

    postgres_run(copy, indexes);
    snprintf(sql, sizeof sql,
             "UPDATE alineo_events SET event = %s, payload = (payload #>> '{}')::jsonb"
             " WHERE event NOT LIKE '%%.%%' OR jsonb_typeof(payload) = 'string'",
             current_name_sql());
    postgres_run(copy, sql);
}

static long count(void)
{
    return postgres_ask(copy, "SELECT count(*) FROM alineo_events");
}

static long stale(void)
{
    return postgres_ask(copy, "SELECT count(*) FROM alineo_events WHERE event NOT LIKE '%.%'"
                              " OR jsonb_typeof(payload) = 'string'");
}

static long sum(void)
{
    return postgres_ask(copy, "SELECT sum(hashtext(id || event || payload::text)::bigint)"
                              " FROM alineo_events");
}

const migration_side migration_postgres = {
    "PostgreSQL", build, remove_all,   open_copy, close_copy, process, init,
    interrupt,    told,  note_indexes, plain,     count,      stale,   sum,
};
