/*
 * checkpoints.c - alineo_list_checkpoints. docs/reference.md.
 */
#include "row.h"
#include "tables.h"

enum { SNAPSHOT_ID, TAG, CREATED_AT, COLUMN_COUNT };

typedef struct checkpoints_cursor {
    statement_cursor base;
    alineo_fields_reader reader;
    alineo_buffer text;
    alineo_row row;
    bool open; /* reader and text have been made */
} checkpoints_cursor;

static alineo_code start(table_cursor *base)
{
    checkpoints_cursor *cursor = (checkpoints_cursor *)base;
    alineo_span name, sandbox_id;
    alineo_code code = table_session(base, &name, &sandbox_id);

    if (code == ALINEO_OK)
        code = statement_start(&cursor->base, "alineo_events", SQL_LIST_CHECKPOINTS);
    if (code != ALINEO_OK || base->done)
        return code;
    alineo_fields_reader_init(&cursor->reader, &ledger_memory);
    alineo_buffer_init(&cursor->text, &ledger_memory);
    cursor->open = true;
    call_bind(&base->call, cursor->base.statement, 1, name);
    call_bind(&base->call, cursor->base.statement, 2, sandbox_id);
    return ALINEO_OK;
}

static alineo_code next(table_cursor *base)
{
    checkpoints_cursor *cursor = (checkpoints_cursor *)base;
    alineo_code code = statement_next(base);

    if (code != ALINEO_OK || base->done)
        return code;
    cursor->row.ts = sqlite3_column_int64(cursor->base.statement, 1);
    return alineo_row_listed(&cursor->row, &cursor->reader, column_text(cursor->base.statement, 4),
                             &base->call.error);
}

static void column(table_cursor *base, sqlite3_context *context, int column)
{
    checkpoints_cursor *cursor = (checkpoints_cursor *)base;
    const alineo_fields *fields = &cursor->row.fields;

    if (column == CREATED_AT) {
        sqlite3_result_int64(context, cursor->row.ts);
        return;
    }
    const alineo_value *value = column == TAG
                                    ? alineo_row_tag(fields)
                                    : alineo_fields_string(fields, ALINEO_FIELD_SNAPSHOT_ID);
    result_text(context, alineo_row_text(value, &cursor->text));
    if (cursor->text.failed)
        sqlite3_result_error_nomem(context);
}

static void stop(table_cursor *base)
{
    checkpoints_cursor *cursor = (checkpoints_cursor *)base;

    statement_stop(base);
    if (!cursor->open)
        return;
    alineo_fields_reader_free(&cursor->reader);
    alineo_buffer_free(&cursor->text);
    cursor->open = false;
}

const table_function list_checkpoints_table = {
    .name = "alineo_list_checkpoints",
    .columns = "snapshot_id TEXT, tag TEXT, created_at INTEGER",
    .column_count = COLUMN_COUNT,
    .arguments = {"name", "sandbox_id"},
    .required = 2,
    .cursor_size = sizeof(checkpoints_cursor),
    .start = start,
    .next = next,
    .column = column,
    .rowid = statement_rowid,
    .stop = stop,
};
