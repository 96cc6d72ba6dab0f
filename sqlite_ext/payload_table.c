/*
 * payload_table.c - cursors over events and their fields. See payload_table.h.
 */
#include "payload_table.h"

alineo_code payload_start(payload_cursor *cursor, statement_id id)
{
    alineo_code code = statement_start(&cursor->base, "alineo_events", id);

    if (code != ALINEO_OK || cursor->base.base.done)
        return code;
    alineo_fields_reader_init(&cursor->reader, &ledger_memory);
    alineo_buffer_init(&cursor->text, &ledger_memory);
    cursor->open = true;
    return ALINEO_OK;
}

alineo_code payload_next(payload_cursor *cursor, int column)
{
    table_cursor *base = &cursor->base.base;
    alineo_code code = statement_next(base);

    if (code != ALINEO_OK || base->done)
        return code;
    return alineo_row_listed(&cursor->row, &cursor->reader,
                             column_text(cursor->base.statement, column), &base->call.error);
}

void payload_stop(table_cursor *base)
{
    payload_cursor *cursor = (payload_cursor *)base;

    statement_stop(base);
    if (!cursor->open)
        return;
    alineo_fields_reader_free(&cursor->reader);
    alineo_buffer_free(&cursor->text);
    cursor->open = false;
}

void payload_result(payload_cursor *cursor, sqlite3_context *context, const alineo_value *value)
{
    alineo_span text = alineo_row_text(value, &cursor->text);

    if (cursor->text.failed)
        sqlite3_result_error_nomem(context);
    else
        result_text(context, text);
}
