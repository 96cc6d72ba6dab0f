/*
 * json_write.c - the JSON writer. See json_write.h.
 */
#include "json_write.h"
#include "swar.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_escaped(const char *at, const char *end)
{
    unsigned char c = (unsigned char)*at;

    return c < 0x20 || c == '"' || c == '\\' || (c == 0xED && alineo_surrogate_at(at, end) != 0);
}

static const char *next_escaped(const char *at, const char *end)
{
    while ((at = alineo_swar_skip(at, end)) < end && !is_escaped(at, end))
        at++;
    return at;
}

/* Appends the escape for what stands at `at`; returns the bytes it stands for. */
static size_t put_escape(alineo_buffer *out, const char *at, const char *end)
{
    uint32_t surrogate = alineo_surrogate_at(at, end);

    switch (*at) {
    case '"': alineo_buffer_put(out, "\\\"", 2); return 1;
    case '\\': alineo_buffer_put(out, "\\\\", 2); return 1;
    case '\b': alineo_buffer_put(out, "\\b", 2); return 1;
    case '\f': alineo_buffer_put(out, "\\f", 2); return 1;
    case '\n': alineo_buffer_put(out, "\\n", 2); return 1;
    case '\r': alineo_buffer_put(out, "\\r", 2); return 1;
    case '\t': alineo_buffer_put(out, "\\t", 2); return 1;
    default: break;
    }
    alineo_buffer_put(out, "\\u", 2);
    alineo_text_hex4(out, surrogate != 0 ? surrogate : (unsigned char)*at);
    return surrogate != 0 ? 3 : 1;
}

void alineo_json_string(alineo_buffer *out, alineo_span text)
{
    const char *at = text.at;
    const char *end = alineo_span_end(text);

    alineo_buffer_byte(out, '"');
    while (at < end) {
        const char *next = next_escaped(at, end);
        alineo_buffer_put(out, at, (size_t)(next - at));
        if (next == end)
            break;
        at = next + put_escape(out, next, end);
    }
    alineo_buffer_byte(out, '"');
}

void alineo_json_integer(alineo_buffer *out, int64_t value)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRId64, value);

    alineo_buffer_put(out, digits, (size_t)len);
}
