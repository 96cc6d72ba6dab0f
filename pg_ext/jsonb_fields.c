/*
 * jsonb_fields.c - see jsonb_fields.h.
 *
 * An object in JSONB is a list of entries (all keys, then all values) that
 * hold a length or an offset each, and the bytes behind it in the same order.
 * Events of one kind have the same keys, and come in runs: which key is which
 * field is looked up once for as long as the keys stay the same.
 */
#include "jsonb_fields.h"

#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#include "payload.h"

void alineo_jsonb_reader_init(alineo_jsonb_reader *reader, const alineo_memory *memory,
                              MemoryContext context)
{
    alineo_fields_reader_init(&reader->texts, memory);
    alineo_buffer_init(&reader->json, memory);
    reader->values = AllocSetContextCreate(context, "alineo values", ALLOCSET_SMALL_SIZES);
    reader->dirty = false;
    reader->shape.count = 0;
    memset(reader->numbers, 0, sizeof reader->numbers);
}

static void start_reading(alineo_jsonb_reader *reader)
{
    if (reader->dirty)
        MemoryContextReset(reader->values);
    reader->dirty = false;
}

static alineo_span container_text(alineo_jsonb_reader *reader, JsonbContainer *container)
{
    alineo_memory memory = alineo_memory_in(reader->values);
    MemoryContext before = MemoryContextSwitchTo(reader->values);
    alineo_buffer text;

    reader->dirty = true;
    alineo_buffer_init(&text, &memory);
    alineo_jsonb_text(&text, container);
    alineo_require_memory(&text);
    MemoryContextSwitchTo(before);
    return alineo_buffer_span(&text);
}

/* The chunks of an exec all bear its seq, so that a number mostly is the one
 * its field held before. */
static alineo_span number_text(alineo_jsonb_reader *reader, Numeric number, alineo_field field)
{
    alineo_jsonb_number *last = &reader->numbers[field];
    size_t size = VARSIZE(number) - VARHDRSZ;
    uint64 stored = 0;

    if (size < sizeof stored) {
        memcpy(&stored, VARDATA(number), size);
        stored |= (uint64)size << 56;
        if (stored == last->stored)
            return (alineo_span){last->text, last->length};
    }
    MemoryContext before = MemoryContextSwitchTo(reader->values);
    alineo_span text = alineo_numeric_text(number, last->text);
    bool small = text.at == last->text;
    last->stored = small ? stored : 0;
    last->length = text.len;
    reader->dirty |= !small;
    MemoryContextSwitchTo(before);
    return text;
}

/* Sets a field to the value that an entry describes; a null sets none. */
static void set_field(alineo_jsonb_reader *reader, alineo_fields *fields, alineo_field field,
                      JEntry entry, char *base, uint32 offset, uint32 length)
{
    alineo_value *value = &fields->value[field];

    if (JBE_ISNULL(entry))
        return;
    fields->present |= UINT32_C(1) << field;
    value->form = ALINEO_STORED;
    if (JBE_ISSTRING(entry)) {
        value->kind = ALINEO_STRING;
        value->text = (alineo_span){base + offset, length};
    } else if (JBE_ISNUMERIC(entry)) {
        value->kind = ALINEO_NUMBER;
        value->text = number_text(reader, (Numeric)(void *)(base + INTALIGN(offset)), field);
    } else if (JBE_ISCONTAINER(entry)) {
        JsonbContainer *container = (JsonbContainer *)(void *)(base + INTALIGN(offset));
        value->kind = JsonContainerIsObject(container) ? ALINEO_OBJECT : ALINEO_ARRAY;
        value->text = container_text(reader, container);
    } else {
        value->kind = JBE_ISBOOL_TRUE(entry) ? ALINEO_TRUE : ALINEO_FALSE;
        value->text = JBE_ISBOOL_TRUE(entry) ? (alineo_span){"true", 4} : (alineo_span){"false", 5};
    }
}

/* Sets the shape to that of an object, if it is small enough. */
static void learn_shape(alineo_jsonb_shape *shape, const JEntry *entries, uint32 count,
                        const char *keys, uint32 length)
{
    uint32 begin = 0;

    shape->count = 0;
    if (count > lengthof(shape->entries) || length > sizeof shape->keys)
        return;
    for (uint32 i = 0; i < count; i++) {
        uint32 end = begin;
        JBE_ADVANCE_OFFSET(end, entries[i]);
        shape->fields[i] = (uint8)alineo_field_of((alineo_span){keys + begin, end - begin});
        begin = end;
    }
    memcpy(shape->entries, entries, count * sizeof entries[0]);
    memcpy(shape->keys, keys, length);
    shape->count = count;
    shape->length = length;
}

/* memcmp for a few bytes, inline: it is asked twice for each event. */
static inline bool same_bytes(const char *a, const char *b, uint32 length)
{
    uint64 x, y;

    if (length < sizeof x)
        return memcmp(a, b, length) == 0;
    for (uint32 at = 0; at + sizeof x < length; at += sizeof x) {
        memcpy(&x, a + at, sizeof x);
        memcpy(&y, b + at, sizeof y);
        if (x != y)
            return false;
    }
    memcpy(&x, a + length - sizeof x, sizeof x);
    memcpy(&y, b + length - sizeof y, sizeof y);
    return x == y;
}

/* Whether this is an object with the keys of the shape, which were checked when
 * it was learnt. */
static bool has_shape(const alineo_jsonb_shape *shape, const Jsonb *stored)
{
    const JsonbContainer *object = &stored->root;
    uint32 count = shape->count;
    size_t least = offsetof(Jsonb, root) + offsetof(JsonbContainer, children) +
                   2 * (size_t)count * sizeof(JEntry) + shape->length;

    /* Equal entries say that the keys are equally long. */
    return count > 0 && VARSIZE(stored) >= least && object->header == (count | JB_FOBJECT) &&
           same_bytes((const char *)shape->entries, (const char *)object->children,
                      count * sizeof(JEntry)) &&
           same_bytes(shape->keys, (const char *)(object->children + 2 * (size_t)count),
                      shape->length);
}

/* Checks and reads the values of such an object in one pass. */
static void read_shaped(alineo_jsonb_reader *reader, Jsonb *stored, alineo_fields *fields)
{
    const alineo_jsonb_shape *shape = &reader->shape;
    const JEntry *entries = stored->root.children + shape->count;
    char *base = (char *)(entries + shape->count);
    size_t room = VARSIZE(stored) - (size_t)(base - (char *)stored);
    size_t end = shape->length;

    for (uint32 i = 0; i < shape->count && reader->state == ALINEO_JSONB_SOUND; i++) {
        size_t begin = end;
        end = (JBE_HAS_OFF(entries[i]) ? 0 : begin) + JBE_OFFLENFLD(entries[i]);
        reader->state = end < begin || end > room
                            ? ALINEO_JSONB_BROKEN
                            : alineo_jsonb_check_value(base, entries[i], begin, end);
        if (reader->state == ALINEO_JSONB_SOUND && shape->fields[i] != ALINEO_FIELD_COUNT)
            set_field(reader, fields, (alineo_field)shape->fields[i], entries[i], base,
                      (uint32)begin, (uint32)(end - begin));
    }
}

static void read_object(alineo_jsonb_reader *reader, JsonbContainer *object, alineo_fields *fields)
{
    uint32 count = JsonContainerSize(object);
    const JEntry *entries = object->children;
    char *base = (char *)(object->children + 2 * (size_t)count);
    uint32 value = getJsonbOffset(object, (int)count);
    uint32 key = 0;

    learn_shape(&reader->shape, entries, count, base, value);
    for (uint32 i = 0; i < count; i++) {
        uint32 key_end = key;
        uint32 value_end = value;
        JBE_ADVANCE_OFFSET(value_end, entries[count + i]);
        JBE_ADVANCE_OFFSET(key_end, entries[i]);
        alineo_field field = alineo_field_of((alineo_span){base + key, key_end - key});
        key = key_end;
        if (field != ALINEO_FIELD_COUNT)
            set_field(reader, fields, field, entries[count + i], base, value, value_end - value);
        value = value_end;
    }
}

/* The JSON text of a payload that is a string: what the core unwraps. */
static alineo_span string_json(alineo_jsonb_reader *reader, JsonbContainer *payload)
{
    reader->json.len = 0;
    alineo_jsonb_text(&reader->json, payload);
    alineo_require_memory(&reader->json);
    return alineo_buffer_span(&reader->json);
}

void alineo_jsonb_fields(alineo_jsonb_reader *reader, Jsonb *stored, alineo_fields *fields)
{
    JsonbContainer *payload = &stored->root;

    start_reading(reader);
    alineo_fields_clear(fields);
    if (has_shape(&reader->shape, stored)) {
        reader->state = ALINEO_JSONB_SOUND;
        read_shaped(reader, stored, fields);
        return;
    }
    reader->state = alineo_jsonb_check(stored);
    if (reader->state != ALINEO_JSONB_SOUND)
        return;
    if (JsonContainerIsObject(payload)) {
        read_object(reader, payload, fields);
    } else if (JsonContainerIsScalar(payload)) {
        alineo_scan scan;
        (void)alineo_fields_read(&reader->texts, fields, string_json(reader, payload), &scan);
        alineo_require_memory(&reader->texts.scratch);
    }
}

static bool unwrap(alineo_jsonb_reader *reader, Jsonb *payload, alineo_span *inner)
{
    return alineo_jsonb_check(payload) == ALINEO_JSONB_SOUND && JB_ROOT_IS_SCALAR(payload) &&
           alineo_fields_unwrap(&reader->texts, string_json(reader, &payload->root), inner);
}

bool alineo_jsonb_wraps(alineo_jsonb_reader *reader, Jsonb *payload)
{
    alineo_span inner;

    return unwrap(reader, payload, &inner);
}

Jsonb *alineo_jsonb_unwrap(alineo_jsonb_reader *reader, Jsonb *payload)
{
    alineo_span inner;

    return unwrap(reader, payload, &inner) ? alineo_payload_jsonb(&reader->json, inner, true)
                                           : NULL;
}

bool alineo_jsonb_is_string(Datum payload)
{
    struct varlena *value = (struct varlena *)DatumGetPointer(payload);
    struct {
        uint32 header;
        JEntry entry;
    } head;
    struct varlena *slice = NULL;

    if (VARATT_IS_EXTERNAL(value) || VARATT_IS_COMPRESSED(value))
        value = slice = PG_DETOAST_DATUM_SLICE(payload, 0, sizeof head);
    if (VARSIZE_ANY_EXHDR(value) < sizeof head)
        return false;
    memcpy(&head, VARDATA_ANY(value), sizeof head);
    if (slice != NULL)
        pfree(slice);
    return (head.header & JB_FSCALAR) != 0 && JBE_ISSTRING(head.entry);
}
