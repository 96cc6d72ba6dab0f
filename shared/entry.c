/*
 * entry.c - validation of one entry. See entry.h.
 */
#include "entry.h"

const alineo_entry_names alineo_entry_arguments = {"sandbox_id", "step_idx"};
const alineo_entry_names alineo_entry_keys = {"sandboxId", "stepIndex"};

void alineo_entry_reader_init(alineo_entry_reader *reader, const alineo_memory *memory)
{
    alineo_fields_reader_init(&reader->payload, memory);
    alineo_buffer_init(&reader->error, memory);
}

void alineo_entry_reader_free(alineo_entry_reader *reader)
{
    alineo_fields_reader_free(&reader->payload);
    alineo_buffer_free(&reader->error);
}

/* step_idx where the caller left it off: an exec event's seq that the column
 * can hold, else -1. */
static int64_t default_step(const alineo_fields *fields)
{
    int64_t seq;

    if (alineo_fields_integer(fields, ALINEO_FIELD_SEQ, &seq) && seq >= 0 && seq <= INT32_MAX)
        return seq;
    return -1;
}

static alineo_code check_payload(alineo_entry_reader *reader, alineo_entry *entry, bool valid,
                                 alineo_error *error)
{
    bool wants_seq = !entry->step_idx.given && alineo_event_is_exec(entry->event);
    alineo_fields fields;
    alineo_scan scan;
    alineo_code code = ALINEO_OK;

    alineo_fields_clear(&fields);
    if (entry->payload.at != NULL && (wants_seq || !valid)) {
        if (wants_seq) {
            code = alineo_fields_read(&reader->payload, &fields, entry->payload, &scan);
        } else {
            alineo_scan_init(&scan, entry->payload);
            code = alineo_scan_document(&scan) ? ALINEO_OK : ALINEO_BAD_JSON;
        }
        entry->special = scan.special;
    }
    if (code == ALINEO_BAD_JSON)
        return alineo_fail(error, code, "payload is not valid JSON at byte %zu: %s", scan.offset,
                           scan.reason);
    if (code != ALINEO_OK)
        return alineo_fail_memory(error);
    if (!entry->step_idx.given)
        entry->step_idx = (alineo_integer){true, true, default_step(&fields)};
    return ALINEO_OK;
}

/* A text column can hold neither NUL nor half a surrogate pair. */
static alineo_code check_error_text(alineo_entry_reader *reader, alineo_entry *entry,
                                    alineo_error *error)
{
    if (entry->error.at == NULL)
        return ALINEO_OK;
    if (alineo_text_has_nul(entry->error) || alineo_text_has_surrogate(entry->error)) {
        reader->error.len = 0;
        alineo_text_display(&reader->error, entry->error);
        if (reader->error.failed)
            return alineo_fail_memory(error);
        entry->error = alineo_buffer_span(&reader->error);
    }
    if (!alineo_utf8_valid(entry->error))
        return alineo_fail(error, ALINEO_BAD_ARGUMENT, "error must be valid UTF-8");
    return ALINEO_OK;
}

alineo_code alineo_entry_check(alineo_entry_reader *reader, alineo_entry *entry,
                               const alineo_entry_names *names, bool payload_valid,
                               alineo_error *error)
{
    alineo_code code = alineo_check_text(error, "name", entry->name, ALINEO_NAME_BYTES);

    if (code == ALINEO_OK)
        code = alineo_check_text(error, names->sandbox_id, entry->sandbox_id, ALINEO_NAME_BYTES);
    if (code == ALINEO_OK)
        code = alineo_check_text(error, "event", entry->event, ALINEO_NAME_BYTES);
    if (code != ALINEO_OK)
        return code;
    entry->event = alineo_event_current(entry->event);
    code = alineo_check_integer(error, names->step_idx, entry->step_idx, -1, INT32_MAX);
    if (code == ALINEO_OK)
        code = alineo_check_integer(error, "branch", entry->branch, 0, INT32_MAX);
    if (code == ALINEO_OK)
        code = alineo_check_integer(error, "ts", entry->ts, 0, INT64_MAX);
    if (code == ALINEO_OK)
        code = check_error_text(reader, entry, error);
    if (code == ALINEO_OK)
        code = check_payload(reader, entry, payload_valid, error);
    return code;
}

int64_t alineo_entry_ts(int64_t now, int64_t latest)
{
    return now > latest ? now : latest;
}
