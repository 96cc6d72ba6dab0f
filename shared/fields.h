/*
 * fields.h - the payload fields the ledger reads, taken out of one payload.
 *
 * SQLite has payloads as JSON text and calls alineo_fields_read. PostgreSQL
 * fills the same struct from JSONB in place. Both then feed it to the fold.
 */
#ifndef ALINEO_FIELDS_H
#define ALINEO_FIELDS_H

#include "error.h"
#include "json_scan.h"
#include "vocabulary.h"

typedef struct alineo_fields {
    uint32_t present; /* bit f: field f is there and is not null */
    alineo_value value[ALINEO_FIELD_COUNT];
} alineo_fields;

/* The texts in the fields point into the payload, or into `scratch` where the
 * payload was encoded twice; they live until the next read. */
typedef struct alineo_fields_reader {
    alineo_buffer scratch;
} alineo_fields_reader;

void alineo_fields_reader_init(alineo_fields_reader *reader, const alineo_memory *memory);
void alineo_fields_reader_free(alineo_fields_reader *reader);

/* Reads a payload (JSON text; `at` NULL: none). Of equal keys the last counts;
 * a payload that is no object has no fields; a string that holds a JSON object
 * or array is read as that. Returns ALINEO_BAD_JSON with reason and offset in
 * `scan`, or ALINEO_NO_MEMORY. */
alineo_code alineo_fields_read(alineo_fields_reader *reader, alineo_fields *fields,
                               alineo_span payload, alineo_scan *scan);

/* Where the payload is a JSON string that holds a JSON object or array, sets
 * `inner` to that (in the reader's scratch) and returns true. */
bool alineo_fields_unwrap(alineo_fields_reader *reader, alineo_span payload, alineo_span *inner);

/* For whoever fills the struct: forgets all, sets one (null clears it). */
void alineo_fields_clear(alineo_fields *fields);
void alineo_fields_set(alineo_fields *fields, alineo_field field, const alineo_value *value);

/* The field, or NULL where it is not there, is null, or is of another kind. */
const alineo_value *alineo_fields_any(const alineo_fields *fields, alineo_field field);
const alineo_value *alineo_fields_string(const alineo_fields *fields, alineo_field field);
bool alineo_fields_integer(const alineo_fields *fields, alineo_field field, int64_t *value);
bool alineo_fields_true(const alineo_fields *fields, alineo_field field);

/* Whether a string value is `text` (WTF-8); a decoding is made in `scratch`. */
bool alineo_value_is(const alineo_value *value, alineo_span text, alineo_buffer *scratch);
/* Appends a value as canonical JSON. */
void alineo_value_json(alineo_buffer *out, const alineo_value *value);

#endif
