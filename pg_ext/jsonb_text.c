/*
 * jsonb_text.c - see jsonb_text.h. JSONB keeps members in the order and
 * numbers with the digits that the canonical form asks for, so this only walks
 * and writes. The server's iterator keeps its own stack: depth is no matter.
 */
#include "jsonb_text.h"

#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "../shared/json_write.h"

alineo_span alineo_numeric_text(Numeric number, char small[ALINEO_SMALL_NUMBER])
{
    /* An integer below 10^8 is stored as a header without scale and one or two
     * digits of base 10,000: the "short" format of numeric.c, which pg_upgrade
     * has kept since 9.1. Anything else goes through numeric_out. */
    enum { KIND_MASK = 0xDFFF, SHORT = 0x8000, NEGATIVE = 0x2000 };
    const char *data = VARDATA(number);
    size_t size = VARSIZE(number) - VARHDRSZ;
    uint16 header = 0;
    int16 digits[2] = {0, 0};

    if (size >= sizeof header && size <= sizeof header + sizeof digits) {
        memcpy(&header, data, sizeof header);
        memcpy(digits, data + sizeof header, size - sizeof header);
        unsigned weight = (header & KIND_MASK) - SHORT; /* the rest of the header must be 0 */
        size_t count = (size - sizeof header) / sizeof digits[0];
        if (weight <= 1 && count <= weight + 1) {
            int32 value = count == 0 ? 0 : weight == 0 ? digits[0] : digits[0] * 10000 + digits[1];
            int length = pg_ltoa((header & NEGATIVE) != 0 ? -value : value, small);
            return (alineo_span){small, (size_t)length};
        }
    }
    char *text = DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(number)));
    return (alineo_span){text, strlen(text)};
}

static void put_string(alineo_buffer *out, alineo_buffer *plain, const JsonbValue *value)
{
    alineo_span stored = {value->val.string.val, (size_t)value->val.string.len};

    plain->len = 0;
    alineo_text_append(plain, stored, ALINEO_STORED);
    alineo_json_string(out, alineo_buffer_span(plain));
}

static void put_number(alineo_buffer *out, const JsonbValue *value)
{
    char small[ALINEO_SMALL_NUMBER];
    alineo_span text = alineo_numeric_text(value->val.numeric, small);

    alineo_buffer_put(out, text.at, text.len);
    if (text.at != small)
        pfree((char *)text.at);
}

static void put_scalar(alineo_buffer *out, alineo_buffer *plain, const JsonbValue *value)
{
    switch (value->type) {
    case jbvNull: alineo_buffer_text(out, "null"); break;
    case jbvBool: alineo_buffer_text(out, value->val.boolean ? "true" : "false"); break;
    case jbvNumeric: put_number(out, value); break;
    case jbvString: put_string(out, plain, value); break;
    default: elog(ERROR, "unexpected jsonb value of type %d", (int)value->type);
    }
}

void alineo_jsonb_text(alineo_buffer *out, JsonbContainer *stored)
{
    JsonbIterator *iterator = JsonbIteratorInit(stored);
    bool scalar = JsonContainerIsScalar(stored);
    bool first = true; /* nothing stands before the next element */
    alineo_buffer plain;
    JsonbIteratorToken token;
    JsonbValue value;

    alineo_buffer_init(&plain, out->memory);
    while ((token = JsonbIteratorNext(&iterator, &value, false)) != WJB_DONE) {
        bool begins = token == WJB_BEGIN_ARRAY || token == WJB_BEGIN_OBJECT;
        bool ends = token == WJB_END_ARRAY || token == WJB_END_OBJECT;
        if (scalar && (begins || ends))
            continue;
        CHECK_FOR_INTERRUPTS();
        if (!first && !ends && token != WJB_VALUE)
            alineo_buffer_byte(out, ',');
        first = begins || token == WJB_KEY;
        switch (token) {
        case WJB_BEGIN_ARRAY: alineo_buffer_byte(out, '['); break;
        case WJB_BEGIN_OBJECT: alineo_buffer_byte(out, '{'); break;
        case WJB_END_ARRAY: alineo_buffer_byte(out, ']'); break;
        case WJB_END_OBJECT: alineo_buffer_byte(out, '}'); break;
        case WJB_KEY:
            put_string(out, &plain, &value);
            alineo_buffer_byte(out, ':');
            break;
        default: put_scalar(out, &plain, &value); break;
        }
    }
    out->failed |= plain.failed;
    alineo_buffer_free(&plain);
}
