/*
 * replay.c - alineo_replay and alineo_last_checkpoint: events as recorded.
 * docs/reference.md, "alineo_replay".
 *
 * Rows come from the statement as they are asked for, so memory does not grow
 * with the session and a LIMIT ends the scan. A row is shown as it is, whatever
 * it holds: one damaged event does not hide the others.
 */
#include "fields.h"
#include "tables.h"
#include "vocabulary.h"

#include <math.h>

/* In the order of COLUMNS in statements.c, which is that of the table. */
enum { ID, SANDBOX_ID, NAME, STEP_IDX, BRANCH, EVENT, PAYLOAD, ERROR, TS, COLUMN_COUNT };

enum { TS_BOUND, ID_BOUND };

#define EVENT_COLUMNS                                                                              \
    "id INTEGER, sandbox_id TEXT, name TEXT, step_idx INTEGER, branch INTEGER, event TEXT,"        \
    " payload TEXT, error TEXT, ts INTEGER"

static alineo_code start(table_cursor *base, statement_id id)
{
    statement_cursor *cursor = (statement_cursor *)base;
    alineo_span name, sandbox_id;
    alineo_code code = table_session(base, &name, &sandbox_id);

    if (code == ALINEO_OK)
        code = statement_start(cursor, "alineo_events", id);
    if (code != ALINEO_OK || base->done)
        return code;
    call_bind(&base->call, cursor->statement, 1, name);
    call_bind(&base->call, cursor->statement, 2, sandbox_id);
    return ALINEO_OK;
}

static alineo_code replay_start(table_cursor *base)
{
    statement_cursor *cursor = (statement_cursor *)base;
    table_bound ts = base->bounds[TS_BOUND];
    bool lower = ts.least > INT64_MIN;
    bool upper = ts.most < INT64_MAX;
    alineo_code code = start(base, upper   ? SQL_REPLAY_WITHIN
                                   : lower ? SQL_REPLAY_SINCE
                                           : SQL_REPLAY);

    if (code != ALINEO_OK || base->done)
        return code;
    if (lower)
        (void)sqlite3_bind_int64(cursor->statement, 3, ts.least);
    else if (upper)
        (void)sqlite3_bind_double(cursor->statement, 3, -HUGE_VAL);
    if (upper)
        (void)sqlite3_bind_int64(cursor->statement, 4, ts.most);
    (void)sqlite3_bind_int64(cursor->statement, 5, base->bounds[ID_BOUND].least);
    bind_bound(cursor->statement, 6, base->bounds[ID_BOUND].most);
    return ALINEO_OK;
}

static alineo_code last_checkpoint_start(table_cursor *base)
{
    return start(base, SQL_LAST_CHECKPOINT);
}

static bool is_json(alineo_span payload)
{
    alineo_scan scan;

    alineo_scan_init(&scan, payload);
    return alineo_scan_document(&scan);
}

/* The payload as it was stored, but for one that was encoded twice. A damaged
 * one is text and no more: JSON functions put what they are told is JSON into
 * their documents as it is. */
static void payload_column(sqlite3_stmt *statement, sqlite3_context *context)
{
    alineo_fields_reader reader;
    alineo_span payload, inner = {NULL, 0};

    if (sqlite3_column_type(statement, PAYLOAD) != SQLITE_TEXT) {
        sqlite3_result_value(context, sqlite3_column_value(statement, PAYLOAD));
        return;
    }
    payload = column_text(statement, PAYLOAD);
    if (payload.at == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    alineo_fields_reader_init(&reader, &ledger_memory);
    if (alineo_fields_unwrap(&reader, payload, &inner))
        payload = inner;
    result_text(context, payload);
    if (payload.at == inner.at || is_json(payload))
        sqlite3_result_subtype(context, JSON_SUBTYPE);
    if (reader.scratch.failed)
        sqlite3_result_error_nomem(context);
    alineo_fields_reader_free(&reader);
}

static void column(table_cursor *base, sqlite3_context *context, int column)
{
    sqlite3_stmt *statement = ((statement_cursor *)base)->statement;
    alineo_buffer scratch;

    if (column == PAYLOAD) {
        payload_column(statement, context);
    } else if (column == EVENT && sqlite3_column_type(statement, EVENT) == SQLITE_TEXT) {
        result_text(context, alineo_event_current(column_text(statement, EVENT)));
    } else if (column == ERROR && sqlite3_column_type(statement, ERROR) == SQLITE_TEXT) {
        alineo_buffer_init(&scratch, &ledger_memory);
        result_shown(context, column_text(statement, ERROR), &scratch);
        alineo_buffer_free(&scratch);
    } else {
        sqlite3_result_value(context, sqlite3_column_value(statement, column));
    }
}

const table_function replay_table = {
    .name = "alineo_replay",
    .columns = EVENT_COLUMNS,
    .column_count = COLUMN_COUNT,
    .arguments = {"name", "sandbox_id"},
    .required = 2,
    .bounds = {[TS_BOUND] = TS + 1, [ID_BOUND] = ID + 1},
    .order = {TS + 1, ID + 1},
    .cursor_size = sizeof(statement_cursor),
    .start = replay_start,
    .next = statement_next,
    .column = column,
    .rowid = statement_rowid,
    .stop = statement_stop,
};

const table_function last_checkpoint_table = {
    .name = "alineo_last_checkpoint",
    .columns = EVENT_COLUMNS,
    .column_count = COLUMN_COUNT,
    .arguments = {"name", "sandbox_id"},
    .required = 2,
    .cursor_size = sizeof(statement_cursor),
    .start = last_checkpoint_start,
    .next = statement_next,
    .column = column,
    .rowid = statement_rowid,
    .stop = statement_stop,
};
