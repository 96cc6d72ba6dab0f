/*
 * checkpoints.c - alineo_list_checkpoints. docs/reference.md.
 */
#include "payload_table.h"
#include "tables.h"

enum { SNAPSHOT_ID, TAG, CREATED_AT, COLUMN_COUNT };

/* Columns of the statement (CORE in statements.c). */
enum { GOT_TS = 1, GOT_PAYLOAD = 4 };

static alineo_code start(table_cursor *base)
{
    payload_cursor *cursor = (payload_cursor *)base;
    alineo_span name, sandbox_id;
    alineo_code code = table_session(base, &name, &sandbox_id);

    if (code == ALINEO_OK)
        code = payload_start(cursor, SQL_LIST_CHECKPOINTS);
    if (code != ALINEO_OK || base->done)
        return code;
    call_bind(&base->call, cursor->base.statement, 1, name);
    call_bind(&base->call, cursor->base.statement, 2, sandbox_id);
    return ALINEO_OK;
}

static alineo_code next(table_cursor *base)
{
    return payload_next((payload_cursor *)base, GOT_PAYLOAD);
}

static void column(table_cursor *base, sqlite3_context *context, int column)
{
    payload_cursor *cursor = (payload_cursor *)base;
    const alineo_fields *fields = &cursor->row.fields;

    switch (column) {
    case SNAPSHOT_ID:
        payload_result(cursor, context, alineo_fields_string(fields, ALINEO_FIELD_SNAPSHOT_ID));
        break;
    case TAG: payload_result(cursor, context, alineo_row_tag(fields)); break;
    case CREATED_AT:
        sqlite3_result_value(context, sqlite3_column_value(cursor->base.statement, GOT_TS));
        break;
    default: break;
    }
}

const table_function list_checkpoints_table = {
    .name = "alineo_list_checkpoints",
    .columns = "snapshot_id TEXT, tag TEXT, created_at INTEGER",
    .column_count = COLUMN_COUNT,
    .arguments = {"name", "sandbox_id"},
    .required = 2,
    .cursor_size = sizeof(payload_cursor),
    .start = start,
    .next = next,
    .column = column,
    .rowid = statement_rowid,
    .stop = payload_stop,
};
