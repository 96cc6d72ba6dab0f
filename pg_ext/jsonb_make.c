/*
 * jsonb_make.c - see jsonb_make.h.
 *
 * The server's own parser would read the text a second time, and copy each key
 * and string. Here the core's scanner gives the tokens, and a string without
 * escapes stays where it is in the text until the server puts the JSONB
 * together.
 */
#include "jsonb_make.h"

#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "call.h"
#include "../shared/json_scan.h"

/* A run of digits that int8 holds whatever they are. */
enum { INT8_DIGITS = 18 };

static Numeric make_number(alineo_span text)
{
    bool negative = text.at[0] == '-';
    int64 value = 0;
    size_t i = negative;

    while (text.len <= INT8_DIGITS && i < text.len && text.at[i] >= '0' && text.at[i] <= '9')
        value = value * 10 + (text.at[i++] - '0');
    if (i == text.len)
        return DatumGetNumeric(
            DirectFunctionCall1(int8_numeric, Int64GetDatum(negative ? -value : value)));
    return DatumGetNumeric(DirectFunctionCall3(numeric_in,
                                               CStringGetDatum(pnstrdup(text.at, text.len)),
                                               ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
}

static void set_string(JsonbValue *value, alineo_buffer *texts, const alineo_scan *scan)
{
    alineo_span text = scan->text;

    if (scan->escaped) {
        size_t begin = texts->len;
        /* Decoding makes nothing longer: with room for all that is left of the
         * text, the buffer stays where earlier strings point to. */
        if (begin == 0)
            (void)alineo_buffer_reserve(texts, (size_t)(scan->end - text.at));
        alineo_text_append(texts, text, ALINEO_ESCAPED);
        alineo_require_memory(texts);
        text = (alineo_span){texts->at + begin, texts->len - begin};
    }
    if (text.len > JENTRY_OFFLENMASK)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("string too long to represent as jsonb string"),
                        errdetail("Due to an implementation restriction, jsonb strings cannot"
                                  " exceed %d bytes.",
                                  JENTRY_OFFLENMASK)));
    value->type = jbvString;
    value->val.string.val = (char *)text.at;
    value->val.string.len = (int)text.len;
}

static void set_scalar(JsonbValue *value, alineo_buffer *texts, const alineo_scan *scan,
                       alineo_token token)
{
    switch (token) {
    case ALINEO_NULL: value->type = jbvNull; break;
    case ALINEO_FALSE:
    case ALINEO_TRUE:
        value->type = jbvBool;
        value->val.boolean = token == ALINEO_TRUE;
        break;
    case ALINEO_NUMBER:
        value->type = jbvNumeric;
        value->val.numeric = make_number(scan->text);
        break;
    case ALINEO_STRING: set_string(value, texts, scan); break;
    default: elog(ERROR, "invalid JSON at byte %zu", scan->offset);
    }
}

/* Refuses one more element or pair where the server's list of them, which it
 * doubles from four on, would be too large to allocate: its own limit is
 * higher, and what it says below that is no error of the caller's. */
static void check_room(const JsonbParseState *open, bool key)
{
    bool object = open != NULL && open->contVal.type == jbvObject;

    if (open == NULL || object != key)
        return;
    Size count = (Size)(object ? open->contVal.val.object.nPairs : open->contVal.val.array.nElems);
    Size size = object ? sizeof(JsonbPair) : sizeof(JsonbValue);
    if (count >= 4 && (count & (count - 1)) == 0 && !AllocSizeIsValid(2 * count * size))
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("number of jsonb %s exceeds the maximum allowed (%zu)",
                               object ? "object pairs" : "array elements", count)));
}

Jsonb *alineo_jsonb_make(alineo_buffer *texts, alineo_span json)
{
    JsonbParseState *open = NULL; /* the containers being read */
    JsonbValue *whole = NULL;
    JsonbValue value;
    alineo_scan scan;
    alineo_token token;

    texts->len = 0;
    alineo_scan_init(&scan, json);
    while ((token = alineo_scan_token(&scan)) != ALINEO_END) {
        CHECK_FOR_INTERRUPTS();
        if (token != ALINEO_OBJECT_END && token != ALINEO_ARRAY_END)
            check_room(open, token == ALINEO_KEY);
        switch (token) {
        case ALINEO_OBJECT: (void)pushJsonbValue(&open, WJB_BEGIN_OBJECT, NULL); break;
        case ALINEO_OBJECT_END: whole = pushJsonbValue(&open, WJB_END_OBJECT, NULL); break;
        case ALINEO_ARRAY: (void)pushJsonbValue(&open, WJB_BEGIN_ARRAY, NULL); break;
        case ALINEO_ARRAY_END: whole = pushJsonbValue(&open, WJB_END_ARRAY, NULL); break;
        case ALINEO_KEY:
            set_string(&value, texts, &scan);
            (void)pushJsonbValue(&open, WJB_KEY, &value);
            break;
        default:
            set_scalar(&value, texts, &scan, token);
            if (open == NULL)
                whole = &value;
            else
                (void)pushJsonbValue(&open, open->contVal.type == jbvObject ? WJB_VALUE : WJB_ELEM,
                                     &value);
        }
    }
    return JsonbValueToJsonb(whole);
}
