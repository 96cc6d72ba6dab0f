/*
 * store.c - the queries of a resume. See store.h and the core's resume.h.
 */
#include "store.h"

#include <string.h>

static statement_id statement_of(alineo_query query)
{
    return (statement_id)(SQL_SANDBOX + (int)query);
}

static alineo_code store_open(void *context, alineo_query query, alineo_span name,
                              alineo_span sandbox_id, int64_t before, alineo_error *error)
{
    store *s = context;

    (void)before, (void)error; /* the error is the call's */
    s->query = query;
    alineo_code code = call_take(s->call, statement_of(query), &s->statement);
    if (code != ALINEO_OK)
        return call_lacks(s->call, "alineo_events") ? ALINEO_OK : code;
    call_bind(s->call, s->statement, 1, name);
    call_bind(s->call, s->statement, 2, sandbox_id);
    return ALINEO_OK;
}

static unsigned damage(bool sound, unsigned column)
{
    return sound ? 0 : column;
}

/* A step_idx that is not there stands for none. */
static unsigned step_damage(alineo_row *row, bool sound, int type)
{
    if (type == SQLITE_NULL)
        row->step_idx = -1;
    return damage(sound || type == SQLITE_NULL, ALINEO_COLUMN_BIT_STEP_IDX);
}

/* Reads the columns of CORE in statements.c, of a query that has found the
 * event by its text. */
static alineo_code read_columns(store *s, alineo_row *row)
{
    sqlite3_stmt *statement = s->statement;
    alineo_span event = column_text(statement, 3);
    alineo_span payload = column_text(statement, 4);

    row->damaged = damage(column_integer(statement, 0, &row->id), ALINEO_COLUMN_BIT_ID) |
                   damage(column_integer(statement, 1, &row->ts), ALINEO_COLUMN_BIT_TS) |
                   damage(sqlite3_column_type(statement, 5) == SQLITE_TEXT, ALINEO_COLUMN_BIT_NAME);
    row->damaged |= step_damage(row, column_integer(statement, 2, &row->step_idx),
                                sqlite3_column_type(statement, 2));
    row->name = column_text(statement, 5);
    row->sandbox_id = column_text(statement, 6);
    if (event.at == NULL || row->sandbox_id.at == NULL ||
        (row->name.at == NULL && sqlite3_column_type(statement, 5) != SQLITE_NULL) ||
        (payload.at == NULL && sqlite3_column_type(statement, 4) != SQLITE_NULL))
        return alineo_fail_memory(&s->call->error);
    row->event = alineo_event_of(event);
    return alineo_row_payload(row, &s->reader, payload, &s->call->error);
}

static alineo_code store_next(void *context, alineo_row *row, bool *found, alineo_error *error)
{
    store *s = context;

    (void)error;
    *found = false;
    if (s->statement == NULL)
        return ALINEO_OK;
    alineo_code code = call_step(s->call, s->statement, found);
    if (code != ALINEO_OK)
        return call_lacks(s->call, "alineo_events") ? ALINEO_OK : code;
    return *found ? read_columns(s, row) : ALINEO_OK;
}

/* One run of a query whose rows pass through alineo_visit. */
typedef struct scan {
    store *store;
    alineo_visit visit;
    void *argument;
    bool stopped; /* by the visitor */
    alineo_row row;
} scan;

#define POINTER_TYPE "alineo_scan"

/* Reads the arguments of alineo_visit into the scan's row. */
static alineo_code read_row(scan *s, sqlite3_value **argv)
{
    alineo_row *row = &s->row;
    call *c = s->store->call;

    row->damaged = damage(value_integer(argv[1], &row->id), ALINEO_COLUMN_BIT_ID) |
                   damage(sqlite3_value_type(argv[4]) == SQLITE_TEXT, ALINEO_COLUMN_BIT_EVENT);
    alineo_fields_clear(&row->fields);
    row->event = ALINEO_EVENT_OTHER;
    if (row->damaged != 0)
        return ALINEO_OK;
    alineo_span event = value_text(argv[4]);
    if (event.at == NULL)
        return alineo_fail_memory(&c->error);
    row->event = alineo_event_of(event);
    if (row->event != ALINEO_EXEC_OUTPUT && row->event != ALINEO_EXEC_STARTED &&
        row->event != ALINEO_EXEC_COMPLETED)
        return ALINEO_OK;
    row->damaged |= damage(value_integer(argv[2], &row->ts), ALINEO_COLUMN_BIT_TS);
    row->damaged |=
        step_damage(row, value_integer(argv[3], &row->step_idx), sqlite3_value_type(argv[3]));
    alineo_span payload = value_text(argv[5]);
    if (payload.at == NULL && sqlite3_value_type(argv[5]) != SQLITE_NULL)
        return alineo_fail_memory(&c->error);
    return alineo_row_payload(row, &s->store->reader, payload, &c->error);
}

void visit_function(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    scan *s = sqlite3_value_pointer(argv[0], POINTER_TYPE);

    (void)argc;
    if (s == NULL)
        return; /* called by hand: nothing happens */
    alineo_code code = read_row(s, argv);
    if (code == ALINEO_OK)
        s->stopped = !s->visit(s->argument, &s->row);
    if (s->stopped || code != ALINEO_OK)
        sqlite3_result_error(context, "stopped", -1);
}

/* The rows pass through a function instead of leaving the statement one by
 * one, which spares a step and its columns for each. */
static alineo_code store_each(void *context, alineo_query query, alineo_span name,
                              alineo_span sandbox_id, int64_t before, alineo_visit visit,
                              void *argument, alineo_error *error)
{
    store *s = context;
    scan passing = {.store = s, .visit = visit, .argument = argument};
    alineo_code code = s->core.open(s, query, name, sandbox_id, before, error);

    if (code == ALINEO_OK && s->statement != NULL) {
        bind_bound(s->statement, 3, before);
        (void)sqlite3_bind_pointer(s->statement, 4, &passing, POINTER_TYPE, NULL);
        bool row;
        code = call_step(s->call, s->statement, &row);
        if (passing.stopped)
            call_init(s->call, s->call->ledger, error->function); /* no fault of the call */
        if (passing.stopped || (code != ALINEO_OK && call_lacks(s->call, "alineo_events")))
            code = ALINEO_OK;
    }
    s->core.close(s);
    return code;
}

static void store_close(void *context)
{
    store *s = context;

    ledger_give(s->call->ledger, statement_of(s->query), s->statement);
    s->statement = NULL;
}

void store_init(store *s, call *c)
{
    memset(s, 0, sizeof *s);
    s->core = (alineo_store){s, store_open, store_next, store_close, store_each};
    s->call = c;
    alineo_fields_reader_init(&s->reader, &ledger_memory);
}

void store_free(store *s)
{
    alineo_fields_reader_free(&s->reader);
}
