/*
 * payload_table.h - for row functions that show fields of an event's payload.
 */
#ifndef ALINEO_SQLITE_PAYLOAD_TABLE_H
#define ALINEO_SQLITE_PAYLOAD_TABLE_H

#include "row.h"
#include "table.h"

typedef struct payload_cursor {
    statement_cursor base;
    alineo_fields_reader reader;
    alineo_buffer text; /* of the column shown last */
    alineo_row row;     /* the event whose fields are shown */
    bool open;          /* reader and text have been made */
} payload_cursor;

/* Takes a statement over the events, and sets done where there are none. */
alineo_code payload_start(payload_cursor *cursor, statement_id id);
/* Moves to the next row and reads its payload, which is in this column. */
alineo_code payload_next(payload_cursor *cursor, int column);
void payload_stop(table_cursor *cursor);
/* Returns a value's text; NULL where there is no value. */
void payload_result(payload_cursor *cursor, sqlite3_context *context, const alineo_value *value);

#endif
