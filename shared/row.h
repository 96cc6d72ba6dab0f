/*
 * row.h - one recorded event as the core reads it.
 */
#ifndef ALINEO_ROW_H
#define ALINEO_ROW_H

#include "fields.h"

/* Columns of a row that may hold what no append stores: SQLite keeps anything
 * anywhere, and a table that was adopted may allow NULL. */
enum {
    ALINEO_COLUMN_BIT_ID = 1,
    ALINEO_COLUMN_BIT_NAME = 2,
    ALINEO_COLUMN_BIT_EVENT = 4,
    ALINEO_COLUMN_BIT_TS = 8,
    ALINEO_COLUMN_BIT_STEP_IDX = 16
};

typedef struct alineo_row {
    int64_t id, ts, step_idx;
    unsigned damaged; /* bits of the columns that could not be read */
    alineo_event event;
    alineo_span name, sandbox_id; /* the session; only where a query asks for it */
    alineo_fields fields;
} alineo_row;

/* Reads the payload text of row->id into its fields. A payload that is not
 * JSON is ALINEO_DAMAGED, with an error that names the event's id. */
alineo_code alineo_row_payload(alineo_row *row, alineo_fields_reader *reader, alineo_span payload,
                               alineo_error *error);

/* The same for a function that only lists: a damaged payload has no fields, and
 * hides no other row. Only ALINEO_NO_MEMORY is an error. */
alineo_code alineo_row_listed(alineo_row *row, alineo_fields_reader *reader, alineo_span payload,
                              alineo_error *error);

/* The error of a damaged payload that the engine has scanned itself. */
alineo_code alineo_row_damaged_payload(const alineo_row *row, const alineo_scan *scan,
                                       alineo_error *error);

/* ALINEO_DAMAGED, with an error that names the event's id, where one of the
 * columns in `needed` (bits) is damaged. */
alineo_code alineo_row_sound(const alineo_row *row, unsigned needed, alineo_error *error);

/* The tag of a checkpoint event (0.2 called it name), or NULL. */
const alineo_value *alineo_row_tag(const alineo_fields *fields);
/* The command of an exec.started: cmd, else command, else code; or NULL. */
const alineo_value *alineo_row_command(const alineo_fields *fields);

/* The text a column shows for a field: a string's text as alineo_text_display
 * writes it, any other value as canonical JSON. `at` NULL where the field is
 * not there. The bytes are in `text`, which is overwritten. */
alineo_span alineo_row_text(const alineo_value *value, alineo_buffer *text);

/* A name of fewer sessions is listed by looking at each of them; with more it is
 * found soon enough on the way through all sessions, newest first. */
enum { ALINEO_FEW_SESSIONS = 64 };

#endif
