/*
 * payload.c - see payload.h.
 *
 * A payload given as JSONB is stored as it is, without being printed and
 * parsed again. Two things in it need the longer way over its text, where the
 * core decides: U+FDD0, which storing escapes, and nesting that is too deep.
 */
#include "payload.h"

#include "jsonb_fields.h"
#include "jsonb_make.h"
#include "../shared/json_scan.h"
#include "../shared/storage_escape.h"

Jsonb *alineo_payload_jsonb(alineo_buffer *scratch, alineo_span json, bool special)
{
    alineo_buffer stored;

    if (!special)
        return alineo_jsonb_make(scratch, json);
    alineo_buffer_init(&stored, scratch->memory);
    alineo_storage_encode_json(&stored, json);
    alineo_require_memory(&stored);
    Jsonb *payload = alineo_jsonb_make(scratch, alineo_buffer_span(&stored));
    alineo_buffer_free(&stored);
    return payload;
}

/* Whether the bytes of U+FDD0 stand anywhere. They may stand across values or
 * in a number too; that only costs the longer way. */
static bool has_mark(const Jsonb *payload)
{
    const char *at = VARDATA(payload);
    const char *end = at + VARSIZE(payload) - VARHDRSZ;

    while (at < end && (at = memchr(at, 0xEF, (size_t)(end - at))) != NULL) {
        if (end - at >= 3 && (unsigned char)at[1] == 0xB7 && (unsigned char)at[2] == 0x90)
            return true;
        at++;
    }
    return false;
}

/* Whether a container nests more than `levels` deep, itself counted. */
static bool deeper_than(JsonbContainer *container, int levels)
{
    size_t count = JsonContainerSize(container);
    size_t entries = JsonContainerIsObject(container) ? 2 * count : count;
    size_t first = JsonContainerIsObject(container) ? count : 0;
    char *base = (char *)(container->children + entries);

    CHECK_FOR_INTERRUPTS();
    if (levels == 0)
        return true;
    for (size_t i = first; i < entries; i++) {
        if (!JBE_ISCONTAINER(container->children[i]))
            continue;
        uint32 offset = getJsonbOffset(container, (int)i);
        if (deeper_than((JsonbContainer *)(void *)(base + INTALIGN(offset)), levels - 1))
            return true;
    }
    return false;
}

/* The part of the payload that decides about step_idx, as JSON text: an object
 * with the seq alone, or everything where the payload is a string. */
static alineo_span seq_json(const alineo_memory *memory, Jsonb *payload, alineo_buffer *text)
{
    JsonbValue found;
    char small[ALINEO_SMALL_NUMBER];

    alineo_buffer_init(text, memory);
    if (JB_ROOT_IS_SCALAR(payload)) {
        char *json = JsonbToCString(NULL, &payload->root, (int)VARSIZE(payload));
        alineo_buffer_text(text, json);
    } else if (JB_ROOT_IS_OBJECT(payload) &&
               getKeyJsonValueFromContainer(&payload->root, "seq", 3, &found) != NULL &&
               found.type == jbvNumeric) {
        alineo_span number = alineo_numeric_text(found.val.numeric, small);
        alineo_buffer_text(text, "{\"seq\":");
        alineo_buffer_put(text, number.at, number.len);
        alineo_buffer_byte(text, '}');
    } else {
        alineo_buffer_text(text, "{}");
    }
    return alineo_buffer_span(text);
}

Jsonb *alineo_payload_check(alineo_call *call, alineo_entry_reader *reader, alineo_entry *entry,
                            Jsonb *given)
{
    alineo_buffer text;

    if (has_mark(given) ||
        deeper_than(&given->root, ALINEO_JSON_DEPTH + JB_ROOT_IS_SCALAR(given))) {
        char *json = JsonbToCString(NULL, &given->root, (int)VARSIZE(given));
        entry->payload = (alineo_span){json, strlen(json)};
        alineo_require(&call->error, alineo_entry_check(reader, entry, &alineo_entry_arguments,
                                                        false, &call->error));
        alineo_buffer_init(&text, &call->memory);
        return alineo_payload_jsonb(&text, entry->payload, entry->special);
    }
    if (!entry->step_idx.given && alineo_event_is_exec(alineo_event_current(entry->event)))
        entry->payload = seq_json(&call->memory, given, &text);
    alineo_require(&call->error,
                   alineo_entry_check(reader, entry, &alineo_entry_arguments, true, &call->error));
    return given;
}
