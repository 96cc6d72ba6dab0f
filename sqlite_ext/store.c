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
    if (!ledger_has(s->call->ledger, "alineo_events"))
        return ALINEO_OK;
    alineo_code code = call_take(s->call, statement_of(query), &s->statement);
    if (code != ALINEO_OK)
        return code;
    bind_text(s->statement, 1, name);
    bind_text(s->statement, 2, sandbox_id);
    return ALINEO_OK;
}

alineo_code store_row(call *c, alineo_fields_reader *reader, sqlite3_stmt *statement,
                      alineo_row *row)
{
    row->id = sqlite3_column_int64(statement, 0);
    row->ts = sqlite3_column_int64(statement, 1);
    row->step_idx = sqlite3_column_int64(statement, 2);
    row->event = alineo_event_of(column_text(statement, 3));
    return alineo_row_payload(row, reader, column_text(statement, 4), &c->error);
}

static alineo_code store_next(void *context, alineo_row *row, bool *found, alineo_error *error)
{
    store *s = context;
    int rc = s->statement == NULL ? SQLITE_DONE : sqlite3_step(s->statement);

    (void)error;
    *found = rc == SQLITE_ROW;
    if (rc == SQLITE_DONE)
        return ALINEO_OK;
    if (rc != SQLITE_ROW)
        return call_failed(s->call, rc);
    row->name = column_text(s->statement, 5);
    row->sandbox_id = column_text(s->statement, 6);
    return store_row(s->call, &s->reader, s->statement, row);
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

static alineo_span value_text(sqlite3_value *value)
{
    const char *at = (const char *)sqlite3_value_text(value);

    return (alineo_span){at, (size_t)sqlite3_value_bytes(value)};
}

void visit_function(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    scan *s = sqlite3_value_pointer(argv[0], POINTER_TYPE);
    alineo_row *row;

    (void)argc;
    if (s == NULL)
        return; /* called by hand: nothing happens */
    row = &s->row;
    row->event = alineo_event_of(value_text(argv[4]));
    row->id = sqlite3_value_int64(argv[1]);
    row->ts = sqlite3_value_int64(argv[2]);
    row->step_idx = sqlite3_value_int64(argv[3]);
    alineo_fields_clear(&row->fields);
    if (row->event == ALINEO_EXEC_OUTPUT || row->event == ALINEO_EXEC_STARTED ||
        row->event == ALINEO_EXEC_COMPLETED)
        (void)alineo_row_payload(row, &s->store->reader, value_text(argv[5]),
                                 &s->store->call->error);
    if (s->store->call->error.code == ALINEO_OK)
        s->stopped = !s->visit(s->argument, row);
    if (s->stopped || s->store->call->error.code != ALINEO_OK)
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
        int rc = sqlite3_step(s->statement);
        if (rc != SQLITE_ROW && !passing.stopped)
            code = error->code != ALINEO_OK ? error->code : call_failed(s->call, rc);
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
