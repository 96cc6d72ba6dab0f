/*
 * batch.c - entries from JSON, one at a time. See batch.h.
 */
#include "batch.h"
#include "json_number.h"

#include <string.h>

/* What a key of an entry sets. The SDK's keys and the column names both count. */
typedef enum slot {
    SLOT_NAME,
    SLOT_SANDBOX_ID,
    SLOT_EVENT,
    SLOT_ERROR,
    SLOT_STEP_IDX,
    SLOT_BRANCH,
    SLOT_TS,
    SLOT_PAYLOAD,
    SLOT_NONE
} slot;

static const struct {
    const char *key;
    slot slot;
} keys[] = {
    {"ts", SLOT_TS},
    {"name", SLOT_NAME},
    {"sandboxId", SLOT_SANDBOX_ID},
    {"sandbox_id", SLOT_SANDBOX_ID},
    {"stepIndex", SLOT_STEP_IDX},
    {"step_idx", SLOT_STEP_IDX},
    {"branch", SLOT_BRANCH},
    {"event", SLOT_EVENT},
    {"payload", SLOT_PAYLOAD},
    {"error", SLOT_ERROR},
};

typedef struct session_ts {
    int64_t latest; /* in this batch, and in the table where */
    bool asked;     /* that was asked for it */
} session_ts;

static const char *const text_names[] = {
    [SLOT_NAME] = "name",
    [SLOT_SANDBOX_ID] = "sandboxId",
    [SLOT_EVENT] = "event",
    [SLOT_ERROR] = "error",
};

static void start_scan(alineo_batch *batch, alineo_span text)
{
    alineo_scan_init(&batch->scan, text);
    batch->scan.depth_limit = ALINEO_JSON_DEPTH + 1; /* an entry around its payload */
}

void alineo_batch_init(alineo_batch *batch, const alineo_memory *memory, alineo_span entries)
{
    start_scan(batch, entries);
    alineo_entry_reader_init(&batch->reader, memory);
    for (int i = 0; i < 4; i++)
        alineo_buffer_init(&batch->texts[i], memory);
    alineo_map_init(&batch->sessions, memory);
    alineo_buffer_init(&batch->latest, memory);
    alineo_buffer_init(&batch->session, memory);
    batch->last = 0;
    batch->count = 0;
    batch->array = false;
}

void alineo_batch_free(alineo_batch *batch)
{
    alineo_entry_reader_free(&batch->reader);
    for (int i = 0; i < 4; i++)
        alineo_buffer_free(&batch->texts[i]);
    alineo_map_free(&batch->sessions);
    alineo_buffer_free(&batch->latest);
    alineo_buffer_free(&batch->session);
}

void alineo_batch_give(alineo_batch *batch, alineo_span entry)
{
    start_scan(batch, entry);
    batch->array = true; /* as an element it cannot open the batch's own array */
}

/* Whether the session asked for last is this entry's: batches come in runs. */
static bool is_last_session(const alineo_batch *batch, const alineo_entry *entry)
{
    const alineo_buffer *last = &batch->session;

    /* The key has the name, a NUL, which none can hold, and the sandbox_id. */
    return batch->latest.len > 0 && last->len == entry->name.len + 1 + entry->sandbox_id.len &&
           memcmp(last->at, entry->name.at, entry->name.len) == 0 &&
           last->at[entry->name.len] == '\0' &&
           memcmp(last->at + entry->name.len + 1, entry->sandbox_id.at, entry->sandbox_id.len) == 0;
}

/* What is known of an entry's session, made where this is its first; NULL where
 * memory ran out. */
static session_ts *session_of(alineo_batch *batch, const alineo_entry *entry)
{
    const session_ts fresh = {INT64_MIN, false};

    if (!is_last_session(batch, entry)) {
        batch->session.len = 0;
        alineo_buffer_put(&batch->session, entry->name.at, entry->name.len);
        alineo_buffer_byte(&batch->session, '\0');
        alineo_buffer_put(&batch->session, entry->sandbox_id.at, entry->sandbox_id.len);
        if (batch->session.failed)
            return NULL;
        size_t *place = alineo_map_at(&batch->sessions, alineo_buffer_span(&batch->session));
        if (place == NULL)
            return NULL;
        if (*place == 0) {
            alineo_buffer_put(&batch->latest, (const char *)&fresh, sizeof fresh);
            if (batch->latest.failed)
                return NULL;
            *place = batch->latest.len / sizeof fresh;
        }
        batch->last = *place - 1;
    }
    return (session_ts *)(void *)batch->latest.at + batch->last;
}

alineo_code alineo_batch_ts(alineo_batch *batch, alineo_entry *entry, int64_t now,
                            alineo_ask_latest ask, void *context, alineo_error *error)
{
    session_ts *session = session_of(batch, entry);

    if (session == NULL)
        return alineo_fail_memory(error);
    if (!entry->ts.given) {
        int64_t stored = INT64_MIN;
        alineo_code code = session->asked ? ALINEO_OK : ask(context, entry, &stored, error);
        if (code != ALINEO_OK)
            return code;
        session->asked = true;
        session->latest = stored > session->latest ? stored : session->latest;
        entry->ts = (alineo_integer){true, true, alineo_entry_ts(now, session->latest)};
    }
    if (entry->ts.value > session->latest)
        session->latest = entry->ts.value;
    return ALINEO_OK;
}

static slot slot_of(alineo_span text, bool escaped)
{
    char plain[ALINEO_WORD_BYTES];
    alineo_span key;

    if (!alineo_scan_word(text, escaped, plain, &key))
        return SLOT_NONE;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (alineo_span_equal(key, (alineo_span){keys[i].key, strlen(keys[i].key)}))
            return keys[i].slot;
    return SLOT_NONE;
}

static alineo_code not_json(alineo_batch *batch, alineo_error *error)
{
    return alineo_fail(error, ALINEO_BAD_JSON, "not valid JSON at byte %zu: %s", batch->scan.offset,
                       batch->scan.reason);
}

/* Sets a text, or its bit in `wrong` where the value is none: of equal keys the
 * last counts, and may be one. */
static alineo_code set_text(alineo_batch *batch, slot slot, const alineo_value *value,
                            alineo_span *text, unsigned *wrong, alineo_error *error)
{
    alineo_buffer *decoded = &batch->texts[slot];

    *text = (alineo_span){NULL, 0};
    *wrong &= ~(1u << slot);
    if (value->kind == ALINEO_NULL)
        return ALINEO_OK;
    if (value->kind != ALINEO_STRING) {
        *wrong |= 1u << slot;
        return ALINEO_OK;
    }
    *text = value->text;
    if (value->form == ALINEO_PLAIN)
        return ALINEO_OK;
    decoded->len = 0;
    alineo_text_append(decoded, value->text, value->form);
    *text = alineo_buffer_span(decoded);
    return decoded->failed ? alineo_fail_memory(error) : ALINEO_OK;
}

static alineo_integer integer_of(const alineo_value *value)
{
    alineo_integer result = {.given = value->kind != ALINEO_NULL};

    result.exact =
        value->kind == ALINEO_NUMBER && alineo_number_integer(value->text, &result.value);
    return result;
}

static alineo_code set_slot(alineo_batch *batch, alineo_entry *entry, slot slot,
                            const alineo_value *value, unsigned *wrong, alineo_error *error)
{
    switch (slot) {
    case SLOT_NAME: return set_text(batch, slot, value, &entry->name, wrong, error);
    case SLOT_SANDBOX_ID: return set_text(batch, slot, value, &entry->sandbox_id, wrong, error);
    case SLOT_EVENT: return set_text(batch, slot, value, &entry->event, wrong, error);
    case SLOT_ERROR: return set_text(batch, slot, value, &entry->error, wrong, error);
    case SLOT_STEP_IDX: entry->step_idx = integer_of(value); break;
    case SLOT_BRANCH: entry->branch = integer_of(value); break;
    case SLOT_TS: entry->ts = integer_of(value); break;
    case SLOT_PAYLOAD:
        /* The value as it came, but for a string's quotes, which it keeps. */
        entry->payload = value->text;
        if (value->kind == ALINEO_STRING)
            entry->payload = (alineo_span){value->text.at - 1, value->text.len + 2};
        else if (value->kind == ALINEO_NULL)
            entry->payload = (alineo_span){NULL, 0};
        entry->special = batch->scan.special;
        break;
    case SLOT_NONE: break;
    }
    return ALINEO_OK;
}

/* Reads the members of an entry whose opening brace was the last token. */
static alineo_code read_entry(alineo_batch *batch, alineo_entry *entry, alineo_error *error)
{
    alineo_value value;
    alineo_span key;
    bool escaped;
    unsigned wrong = 0; /* a bit for each text that is none */

    memset(entry, 0, sizeof *entry);
    batch->scan.special = false;
    while (alineo_scan_member(&batch->scan, &key, &escaped, &value)) {
        alineo_code code = set_slot(batch, entry, slot_of(key, escaped), &value, &wrong, error);
        if (code != ALINEO_OK)
            return code;
        batch->scan.special = false;
    }
    if (batch->scan.reason != NULL)
        return not_json(batch, error);
    for (slot slot = SLOT_NAME; slot <= SLOT_ERROR; slot++)
        if (wrong & 1u << slot)
            return alineo_fail(error, ALINEO_BAD_ARGUMENT, "%s must be a string", text_names[slot]);
    return alineo_entry_check(&batch->reader, entry, &alineo_entry_keys, true, error);
}

/* Moves to the next line that holds something; false at the end of the text
 * and where the entry before is not followed by a line break. */
static bool next_line(alineo_batch *batch)
{
    alineo_scan *scan = &batch->scan;
    bool broken = batch->count == 0;

    for (; scan->at < scan->end && strchr(" \t\r\n", *scan->at) != NULL && *scan->at != 0;
         scan->at++)
        broken |= *scan->at == '\n';
    if (scan->at == scan->end)
        return false;
    if (broken)
        alineo_scan_again(scan);
    return true;
}

/* The token an entry starts with; ALINEO_END where there is none left. */
static alineo_token start_of_entry(alineo_batch *batch)
{
    if (!batch->array) {
        if (!next_line(batch))
            return ALINEO_END;
        alineo_token token = alineo_scan_token(&batch->scan);
        if (batch->count > 0 || token != ALINEO_ARRAY)
            return token;
        batch->array = true;
        batch->scan.depth_limit = ALINEO_JSON_DEPTH_BATCH;
    }
    alineo_token token = alineo_scan_token(&batch->scan);
    return token == ALINEO_ARRAY_END ? alineo_scan_token(&batch->scan) : token;
}

bool alineo_batch_next(alineo_batch *batch, alineo_entry *entry, alineo_error *error)
{
    alineo_token token = start_of_entry(batch);

    error->entry = batch->count;
    if (token == ALINEO_OBJECT) {
        if (read_entry(batch, entry, error) != ALINEO_OK)
            return false;
        batch->count++;
        return true;
    }
    if (token == ALINEO_FAULT)
        (void)not_json(batch, error);
    else if (token != ALINEO_END)
        (void)alineo_fail(error, ALINEO_BAD_ARGUMENT, "must be an object");
    error->entry = -1;
    return false;
}
