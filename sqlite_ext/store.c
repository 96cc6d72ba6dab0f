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

    (void)error; /* it is the call's */
    s->query = query;
    if (!ledger_has(s->call->ledger, "alineo_events"))
        return ALINEO_OK;
    alineo_code code = call_take(s->call, statement_of(query), &s->statement);
    if (code != ALINEO_OK)
        return code;
    bind_text(s->statement, 1, name);
    bind_text(s->statement, 2, sandbox_id);
    if (query == ALINEO_QUERY_EVENTS || query == ALINEO_QUERY_EVENTS_BY_ID)
        bind_bound(s->statement, 3, before);
    return ALINEO_OK;
}

alineo_code store_row(call *c, alineo_fields_reader *reader, sqlite3_stmt *statement, bool execs,
                      alineo_row *row)
{
    row->id = sqlite3_column_int64(statement, 0);
    row->ts = sqlite3_column_int64(statement, 1);
    row->step_idx = sqlite3_column_int64(statement, 2);
    row->event = alineo_event_of(column_text(statement, 3));
    if (execs && row->event != ALINEO_EXEC_OUTPUT && row->event != ALINEO_EXEC_STARTED &&
        row->event != ALINEO_EXEC_COMPLETED) {
        alineo_fields_clear(&row->fields);
        return ALINEO_OK;
    }
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
    return store_row(s->call, &s->reader, s->statement,
                     s->query == ALINEO_QUERY_EVENTS || s->query == ALINEO_QUERY_EVENTS_BY_ID, row);
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
    s->core = (alineo_store){s, store_open, store_next, store_close};
    s->call = c;
    alineo_fields_reader_init(&s->reader, &ledger_memory);
}

void store_free(store *s)
{
    alineo_fields_reader_free(&s->reader);
}
