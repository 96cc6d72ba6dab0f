/*
 * row.c - readings of a recorded event. See row.h.
 */
#include "row.h"

alineo_code alineo_row_damaged_payload(const alineo_row *row, const alineo_scan *scan,
                                       alineo_error *error)
{
    return alineo_fail(error, ALINEO_DAMAGED,
                       "payload of event %lld is not valid JSON at byte %zu: %s",
                       (long long)row->id, scan->offset, scan->reason);
}

alineo_code alineo_row_payload(alineo_row *row, alineo_fields_reader *reader, alineo_span payload,
                               alineo_error *error)
{
    alineo_scan scan;
    alineo_code code = alineo_fields_read(reader, &row->fields, payload, &scan);

    if (code == ALINEO_BAD_JSON)
        return alineo_row_damaged_payload(row, &scan, error);
    return code == ALINEO_OK ? ALINEO_OK : alineo_fail_memory(error);
}

alineo_code alineo_row_listed(alineo_row *row, alineo_fields_reader *reader, alineo_span payload,
                              alineo_error *error)
{
    alineo_scan scan;
    alineo_code code = alineo_fields_read(reader, &row->fields, payload, &scan);

    if (code == ALINEO_NO_MEMORY)
        return alineo_fail_memory(error);
    if (code == ALINEO_BAD_JSON)
        alineo_fields_clear(&row->fields);
    return ALINEO_OK;
}

alineo_code alineo_row_sound(const alineo_row *row, unsigned needed, alineo_error *error)
{
    static const struct {
        unsigned bit;
        const char *column, *kind;
    } columns[] = {
        {ALINEO_COLUMN_BIT_NAME, "name", "text"},
        {ALINEO_COLUMN_BIT_EVENT, "event", "text"},
        {ALINEO_COLUMN_BIT_TS, "ts", "an integer"},
        {ALINEO_COLUMN_BIT_STEP_IDX, "step_idx", "an integer"},
    };

    if (row->damaged & needed & ALINEO_COLUMN_BIT_ID)
        return alineo_fail(error, ALINEO_DAMAGED, "the id of an event is not an integer");
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        if (row->damaged & needed & columns[i].bit)
            return alineo_fail(error, ALINEO_DAMAGED, "%s of event %lld is not %s",
                               columns[i].column, (long long)row->id, columns[i].kind);
    return ALINEO_OK;
}

const alineo_value *alineo_row_tag(const alineo_fields *fields)
{
    const alineo_value *tag = alineo_fields_string(fields, ALINEO_FIELD_TAG);

    return tag != NULL ? tag : alineo_fields_string(fields, ALINEO_FIELD_NAME);
}

const alineo_value *alineo_row_command(const alineo_fields *fields)
{
    const alineo_value *command = alineo_fields_string(fields, ALINEO_FIELD_CMD);

    if (command == NULL)
        command = alineo_fields_string(fields, ALINEO_FIELD_COMMAND);
    return command != NULL ? command : alineo_fields_string(fields, ALINEO_FIELD_CODE);
}

alineo_span alineo_row_text(const alineo_value *value, alineo_buffer *text)
{
    alineo_buffer plain;

    if (value == NULL)
        return (alineo_span){NULL, 0};
    text->len = 0;
    if (value->kind != ALINEO_STRING) {
        alineo_value_json(text, value);
        return alineo_buffer_span(text);
    }
    alineo_buffer_init(&plain, text->memory);
    alineo_text_append(&plain, value->text, value->form);
    alineo_text_display(text, alineo_buffer_span(&plain));
    text->failed |= plain.failed;
    alineo_buffer_free(&plain);
    return alineo_buffer_span(text);
}
