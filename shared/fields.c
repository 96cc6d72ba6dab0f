/*
 * fields.c - payload fields from JSON text. See fields.h.
 */
#include "fields.h"
#include "canonical.h"
#include "json_number.h"
#include "json_write.h"

void alineo_fields_reader_init(alineo_fields_reader *reader, const alineo_memory *memory)
{
    alineo_buffer_init(&reader->scratch, memory);
}

void alineo_fields_reader_free(alineo_fields_reader *reader)
{
    alineo_buffer_free(&reader->scratch);
}

void alineo_fields_clear(alineo_fields *fields)
{
    fields->present = 0;
}

void alineo_fields_set(alineo_fields *fields, alineo_field field, const alineo_value *value)
{
    uint32_t bit = UINT32_C(1) << field;

    if (value->kind == ALINEO_NULL) {
        fields->present &= ~bit;
        return;
    }
    fields->value[field] = *value;
    fields->present |= bit;
}

/* Reads one document into the fields; sets `kind` to what it is. */
static bool read_document(alineo_fields *fields, alineo_scan *scan, alineo_token *kind)
{
    char plain[ALINEO_WORD_BYTES];
    alineo_span key, word;
    alineo_value value;
    bool escaped;

    alineo_fields_clear(fields);
    *kind = alineo_scan_token(scan);
    if (*kind == ALINEO_OBJECT) {
        while (alineo_scan_member(scan, &key, &escaped, &value)) {
            alineo_field field = ALINEO_FIELD_COUNT;
            if (alineo_scan_word(key, escaped, plain, &word))
                field = alineo_field_of(word);
            if (field != ALINEO_FIELD_COUNT)
                alineo_fields_set(fields, field, &value);
        }
    }
    return scan->reason == NULL && alineo_scan_document(scan);
}

bool alineo_fields_unwrap(alineo_fields_reader *reader, alineo_span payload, alineo_span *inner)
{
    alineo_scan scan;
    alineo_value value;
    size_t first_byte = 0;

    /* Hardly any payload is a string, which its first byte tells. */
    while (first_byte < payload.len && memchr(" \t\r\n", payload.at[first_byte], 4) != NULL)
        first_byte++;
    if (first_byte == payload.len || payload.at[first_byte] != '"')
        return false;
    alineo_scan_init(&scan, payload);
    if (!alineo_scan_value(&scan, &value) || value.kind != ALINEO_STRING ||
        !alineo_scan_document(&scan))
        return false;
    reader->scratch.len = 0;
    alineo_text_append(&reader->scratch, value.text, value.form);
    *inner = alineo_buffer_span(&reader->scratch);
    if (reader->scratch.failed)
        return false;
    alineo_scan_init(&scan, *inner);
    alineo_token first = alineo_scan_token(&scan);
    return (first == ALINEO_OBJECT || first == ALINEO_ARRAY) && alineo_scan_document(&scan);
}

alineo_code alineo_fields_read(alineo_fields_reader *reader, alineo_fields *fields,
                               alineo_span payload, alineo_scan *scan)
{
    alineo_token kind;
    alineo_span inner;

    alineo_fields_clear(fields);
    if (payload.at == NULL)
        return ALINEO_OK;
    alineo_scan_init(scan, payload);
    if (!read_document(fields, scan, &kind))
        return ALINEO_BAD_JSON;
    if (kind == ALINEO_STRING && alineo_fields_unwrap(reader, payload, &inner)) {
        alineo_scan again;
        alineo_scan_init(&again, inner);
        (void)read_document(fields, &again, &kind);
    }
    return reader->scratch.failed ? ALINEO_NO_MEMORY : ALINEO_OK;
}

const alineo_value *alineo_fields_any(const alineo_fields *fields, alineo_field field)
{
    return fields->present >> field & 1 ? &fields->value[field] : NULL;
}

const alineo_value *alineo_fields_string(const alineo_fields *fields, alineo_field field)
{
    const alineo_value *value = alineo_fields_any(fields, field);

    return value != NULL && value->kind == ALINEO_STRING ? value : NULL;
}

bool alineo_fields_integer(const alineo_fields *fields, alineo_field field, int64_t *value)
{
    const alineo_value *v = alineo_fields_any(fields, field);

    return v != NULL && v->kind == ALINEO_NUMBER && alineo_number_integer(v->text, value);
}

bool alineo_fields_true(const alineo_fields *fields, alineo_field field)
{
    const alineo_value *value = alineo_fields_any(fields, field);

    return value != NULL && value->kind == ALINEO_TRUE;
}

bool alineo_value_is(const alineo_value *value, alineo_span text, alineo_buffer *scratch)
{
    if (value == NULL || value->kind != ALINEO_STRING)
        return false;
    scratch->len = 0;
    alineo_text_append(scratch, value->text, value->form);
    return !scratch->failed && alineo_span_equal(alineo_buffer_span(scratch), text);
}

void alineo_value_json(alineo_buffer *out, const alineo_value *value)
{
    if (value->kind != ALINEO_STRING) {
        alineo_canonical(out, value->text);
        return;
    }
    alineo_buffer text;
    alineo_buffer_init(&text, out->memory);
    alineo_text_append(&text, value->text, value->form);
    alineo_json_string(out, alineo_buffer_span(&text));
    out->failed |= text.failed;
    alineo_buffer_free(&text);
}
