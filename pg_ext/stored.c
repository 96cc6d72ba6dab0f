/*
 * stored.c - see stored.h.
 */
#include "stored.h"

#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

#include "jsonb_fields.h"
#include "payload.h"
#include "../shared/json_number.h"

void alineo_stored_init(alineo_stored *stored, const alineo_call *call)
{
    memset(stored, 0, sizeof *stored);
    stored->call = call;
}

/* The ledger's own type of a column that is read without a cast. */
static Oid own_type(int column)
{
    switch (column) {
    case ALINEO_COLUMN_ID:
    case ALINEO_COLUMN_TS: return INT8OID;
    case ALINEO_COLUMN_STEP_IDX:
    case ALINEO_COLUMN_BRANCH: return INT4OID;
    case ALINEO_COLUMN_PAYLOAD: return JSONBOID;
    default: return TEXTOID;
    }
}

void alineo_stored_look(alineo_stored *stored, TupleDesc type)
{
    if (stored->looked)
        return;
    stored->looked = stored->plain = true;
    for (int i = 0; i < ALINEO_COLUMNS; i++) {
        Oid column = getBaseType(TupleDescAttr(type, i)->atttypid);
        if (column == own_type(i))
            continue;
        stored->plain = false;
        stored->types[i] = column;
    }
}

static char *text_of(Datum value, Oid type)
{
    Oid output;
    bool varlena;

    getTypeOutputInfo(type, &output, &varlena);
    return OidOutputFunctionCall(output, value);
}

bool alineo_stored_integer(Datum value, Oid type, int64 *integer)
{
    alineo_integer real;

    switch (getBaseType(type)) {
    case FLOAT8OID:
        real = alineo_integer_of_double(DatumGetFloat8(value));
        *integer = real.value;
        return real.exact;
    case INT2OID: *integer = DatumGetInt16(value); break;
    case INT4OID: *integer = DatumGetInt32(value); break;
    case INT8OID: *integer = DatumGetInt64(value); break;
    default: {
        char *text = text_of(value, type);
        alineo_scan scan;
        /* numeric has NaN and Infinity too, and text anything. */
        alineo_scan_init(&scan, (alineo_span){text, strlen(text)});
        if (alineo_scan_token(&scan) != ALINEO_NUMBER || scan.text.len != strlen(text) ||
            !alineo_number_integer(scan.text, integer))
            return false;
    }
    }
    return true;
}

static void note(alineo_stored *stored, int column)
{
    switch (column) {
    case ALINEO_COLUMN_ID: stored->damaged |= ALINEO_COLUMN_BIT_ID; break;
    case ALINEO_COLUMN_TS: stored->damaged |= ALINEO_COLUMN_BIT_TS; break;
    case ALINEO_COLUMN_STEP_IDX: stored->damaged |= ALINEO_COLUMN_BIT_STEP_IDX; break;
    default: stored->damaged_branch = true; break;
    }
}

static Datum convert_integer(alineo_stored *stored, int column, Datum value)
{
    int64 integer = 0;

    if (!alineo_stored_integer(value, stored->types[column], &integer) ||
        (own_type(column) == INT4OID && (integer < PG_INT32_MIN || integer > PG_INT32_MAX))) {
        note(stored, column);
        integer = 0;
    }
    return own_type(column) == INT8OID ? Int64GetDatum(integer) : Int32GetDatum((int32)integer);
}

/* A text that JSON of ours is not read from, as a JSON string. */
static Jsonb *json_string(alineo_span text)
{
    JsonbValue value = {.type = jbvString};

    value.val.string.val = (char *)text.at;
    value.val.string.len = (int)text.len;
    return JsonbValueToJsonb(&value);
}

static Datum convert_payload(alineo_stored *stored, Datum value)
{
    Oid type = stored->types[ALINEO_COLUMN_PAYLOAD];
    Jsonb *payload = alineo_stored_payload(stored->call, value, type, &stored->scan);

    if (payload != NULL)
        return JsonbPGetDatum(payload);
    stored->damaged_payload = true;
    char *text = text_of(value, type);
    return JsonbPGetDatum(json_string((alineo_span){text, strlen(text)}));
}

void alineo_stored_columns(alineo_stored *stored, Datum *values, const bool *nulls)
{
    alineo_stored_plain(stored, nulls);
    stored->damaged_branch = stored->damaged_payload = false;
    for (int i = 0; i < ALINEO_COLUMNS; i++) {
        if (nulls[i] || stored->types[i] == InvalidOid)
            continue;
        if (i == ALINEO_COLUMN_PAYLOAD)
            values[i] = convert_payload(stored, values[i]);
        else
            values[i] = convert_integer(stored, i, values[i]);
    }
}

/* Whether JSON text has escapes that JSONB cannot hold. What an append of ours
 * left in a column of text has none: it went through JSONB. */
static bool needs_escape(alineo_span json)
{
    const char *at = json.at;
    const char *end = at + json.len;

    while ((at = memchr(at, '\\', (size_t)(end - at))) != NULL) {
        uint32 unit = at[1] == 'u' ? alineo_hex4(at + 2) : ' ';
        if (unit == 0 || (unit >= 0xD800 && unit <= 0xDFFF))
            return true;
        at += 2;
    }
    return false;
}

Jsonb *alineo_stored_payload(const alineo_call *call, Datum payload, Oid type, alineo_scan *scan)
{
    alineo_buffer scratch;
    char *text = text_of(payload, type);
    alineo_span json = {text, strlen(text)};
    alineo_scan_init(scan, json);
    if (!alineo_scan_document(scan))
        return NULL;
    alineo_buffer_init(&scratch, &call->memory);
    Jsonb *made = alineo_payload_jsonb(&scratch, json, needs_escape(json));
    alineo_buffer_free(&scratch);
    return made;
}

static void name_event(void *id)
{
    errcontext("payload of event " INT64_FORMAT, *(const int64 *)id);
}

Jsonb *alineo_stored_detoast(Datum payload, int64 id)
{
    ErrorContextCallback context = {error_context_stack, name_event, &id};

    error_context_stack = &context;
    Jsonb *value = DatumGetJsonbP(payload);
    error_context_stack = context.previous;
    return value;
}

bool alineo_stored_is_string(Datum payload, int64 id)
{
    ErrorContextCallback context = {error_context_stack, name_event, &id};

    error_context_stack = &context;
    bool string = alineo_jsonb_is_string(payload);
    error_context_stack = context.previous;
    return string;
}
