/*
 * settings.c - the egress rules and credentials a resumed session starts with.
 * docs/reference.md, "Egress rules" and "Credentials".
 *
 * Targets and names keep the place where they were first set; one that was
 * dropped and set again comes last, as in a JavaScript Map.
 */
#include "resume_private.h"
#include "json_write.h"

/* Texts of JSON by key, in order. */
typedef struct ordered {
    alineo_map places; /* index into items plus 1 */
    alineo_buffer items;
    alineo_buffer json;
} ordered;

typedef struct item {
    alineo_place json;
    bool dropped;
} item;

typedef struct settings {
    ordered apply, remove, credentials;
    alineo_fields_reader reader;
    alineo_fields fields; /* of a rule */
    alineo_buffer key;
    bool failed;
} settings;

static void ordered_init(ordered *o, const alineo_memory *memory)
{
    alineo_map_init(&o->places, memory);
    alineo_buffer_init(&o->items, memory);
    alineo_buffer_init(&o->json, memory);
}

static void ordered_free(ordered *o)
{
    alineo_map_free(&o->places);
    alineo_buffer_free(&o->items);
    alineo_buffer_free(&o->json);
}

static item *item_at(const ordered *o, size_t index)
{
    return (item *)(void *)o->items.at + index;
}

/* Sets a key to the JSON text that was appended to o->json from `offset` on. */
static void ordered_put(settings *s, ordered *o, alineo_span key, size_t offset)
{
    item fresh = {{offset, o->json.len - offset}, false};
    size_t *place = alineo_map_at(&o->places, key);

    if (place == NULL) {
        s->failed = true;
    } else if (*place != 0 && !item_at(o, *place - 1)->dropped) {
        *item_at(o, *place - 1) = fresh;
    } else {
        alineo_buffer_put(&o->items, (const char *)&fresh, sizeof fresh);
        *place = o->items.len / sizeof fresh;
        s->failed |= o->items.failed;
    }
}

static void ordered_drop(settings *s, ordered *o, alineo_span key)
{
    size_t *place = alineo_map_at(&o->places, key);

    if (place == NULL)
        s->failed = true;
    else if (*place != 0)
        item_at(o, *place - 1)->dropped = true;
}

static void ordered_write(const ordered *o, alineo_buffer *out)
{
    size_t count = o->items.len / sizeof(item);

    for (size_t i = 0; i < count && !o->json.failed; i++) {
        const item *it = item_at(o, i);
        if (it->dropped)
            continue;
        if (out->len > 0)
            alineo_buffer_byte(out, ',');
        alineo_buffer_put(out, o->json.at + it->json.offset, it->json.len);
    }
    out->failed |= o->json.failed;
}

/* A string value as a key. */
static alineo_span key_of(settings *s, const alineo_value *value)
{
    s->key.len = 0;
    alineo_text_append(&s->key, value->text, value->form);
    s->failed |= s->key.failed;
    return alineo_buffer_span(&s->key);
}

static void add_rule(settings *s, const alineo_value *rule)
{
    alineo_scan scan;

    if (rule->kind != ALINEO_OBJECT)
        return;
    if (alineo_fields_read(&s->reader, &s->fields, rule->text, &scan) != ALINEO_OK) {
        s->failed = true;
        return;
    }
    const alineo_value *target = alineo_fields_string(&s->fields, ALINEO_FIELD_TARGET);
    if (target == NULL)
        return;
    size_t offset = s->apply.json.len;
    alineo_value_json(&s->apply.json, rule);
    alineo_span key = key_of(s, target);
    ordered_put(s, &s->apply, key, offset);
    ordered_drop(s, &s->remove, key);
}

static void remove_target(settings *s, const alineo_value *target)
{
    if (target->kind != ALINEO_STRING)
        return;
    alineo_span key = key_of(s, target);
    size_t offset = s->remove.json.len;
    alineo_json_string(&s->remove.json, key);
    ordered_drop(s, &s->apply, key);
    ordered_put(s, &s->remove, key, offset);
}

/* Calls `each` for every element of an array field. */
static void each_element(settings *s, const alineo_fields *fields, alineo_field field,
                         void (*each)(settings *, const alineo_value *))
{
    const alineo_value *list = alineo_fields_any(fields, field);
    alineo_value element;
    alineo_scan scan;

    if (list == NULL || list->kind != ALINEO_ARRAY)
        return;
    alineo_scan_init(&scan, list->text);
    (void)alineo_scan_token(&scan);
    while (alineo_scan_value(&scan, &element))
        each(s, &element);
}

static void put_member(alineo_buffer *out, const alineo_fields *fields, alineo_field field)
{
    const alineo_value *value = alineo_fields_any(fields, field);

    if (value == NULL)
        return;
    alineo_buffer_text(out, ",\"");
    alineo_buffer_text(out, alineo_field_key(field));
    alineo_buffer_text(out, "\":");
    alineo_value_json(out, value);
}

static void bind_credential(settings *s, const alineo_fields *fields, bool revoke)
{
    const alineo_value *name = alineo_fields_string(fields, ALINEO_FIELD_NAME);
    alineo_buffer *json = &s->credentials.json;
    size_t offset = json->len;

    if (name == NULL)
        return;
    alineo_span key = key_of(s, name);
    if (revoke) {
        ordered_drop(s, &s->credentials, key);
        return;
    }
    alineo_buffer_text(json, "{\"name\":");
    alineo_json_string(json, key);
    put_member(json, fields, ALINEO_FIELD_BINDING);
    put_member(json, fields, ALINEO_FIELD_SOURCE);
    alineo_buffer_byte(json, '}');
    ordered_put(s, &s->credentials, key, offset);
}

static void apply_event(settings *s, const alineo_row *row)
{
    switch (row->event) {
    case ALINEO_EGRESS_ADDED: each_element(s, &row->fields, ALINEO_FIELD_RULES, add_rule); break;
    case ALINEO_EGRESS_REMOVED:
        each_element(s, &row->fields, ALINEO_FIELD_TARGETS, remove_target);
        break;
    case ALINEO_CREDENTIAL_BOUND: bind_credential(s, &row->fields, false); break;
    case ALINEO_CREDENTIAL_REVOKED: bind_credential(s, &row->fields, true); break;
    default: break;
    }
}

alineo_code alineo_resume_settings(alineo_resume *resume, alineo_error *error)
{
    const alineo_store *store = resume->store;
    settings s = {.failed = false};
    bool found = true;

    ordered_init(&s.apply, resume->memory);
    ordered_init(&s.remove, resume->memory);
    ordered_init(&s.credentials, resume->memory);
    alineo_fields_reader_init(&s.reader, resume->memory);
    alineo_buffer_init(&s.key, resume->memory);
    alineo_code code =
        store->open(store->context, ALINEO_QUERY_SETTINGS, alineo_buffer_span(&resume->name),
                    alineo_buffer_span(&resume->sandbox_id), INT64_MAX, error);
    while (code == ALINEO_OK) {
        code = store->next(store->context, &resume->row, &found, error);
        if (code != ALINEO_OK || !found)
            break;
        apply_event(&s, &resume->row);
        if (s.failed)
            code = alineo_fail_memory(error);
    }
    store->close(store->context);
    ordered_write(&s.apply, &resume->apply);
    ordered_write(&s.remove, &resume->remove);
    ordered_write(&s.credentials, &resume->credentials);
    ordered_free(&s.apply);
    ordered_free(&s.remove);
    ordered_free(&s.credentials);
    alineo_fields_reader_free(&s.reader);
    alineo_buffer_free(&s.key);
    return code;
}
