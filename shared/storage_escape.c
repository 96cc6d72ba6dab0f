/*
 * storage_escape.c - the storage escape. See storage_escape.h.
 */
#include "storage_escape.h"
#include "json_scan.h"
#include "json_write.h"

#include <string.h>

#define MARK     "\xEF\xB7\x90" /* U+FDD0 */
#define MARK_LEN 3u

/* The next byte that starts U+0000, a surrogate or U+FDD0, or `end`. */
static const char *next_special(const char *at, const char *end)
{
    for (; at < end; at++) {
        unsigned char c = (unsigned char)*at;
        if (c == 0)
            return at;
        if (c == 0xED && alineo_surrogate_at(at, end) != 0)
            return at;
        if (c == 0xEF && end - at >= 3 && memcmp(at, MARK, MARK_LEN) == 0)
            return at;
    }
    return end;
}

bool alineo_storage_needed(alineo_span text)
{
    return text.len > 0 && next_special(text.at, text.at + text.len) != text.at + text.len;
}

void alineo_storage_encode(alineo_buffer *out, alineo_span text)
{
    const char *at = text.at;
    const char *end = alineo_span_end(text);

    while (at < end) {
        const char *next = next_special(at, end);
        alineo_buffer_put(out, at, (size_t)(next - at));
        if (next == end)
            return;
        uint32_t surrogate = alineo_surrogate_at(next, end);
        uint32_t unit = surrogate != 0 ? surrogate : *next == 0 ? 0 : 0xFDD0;
        alineo_buffer_put(out, MARK, MARK_LEN);
        alineo_text_hex4(out, unit);
        at = next + (unit == 0 ? 1 : 3);
    }
}

/* The unit that a mark at `at` stands for, or -1 where it is a plain U+FDD0. */
static int32_t escaped_unit(const char *at, const char *end)
{
    if (end - at < (ptrdiff_t)MARK_LEN + 4 || memcmp(at, MARK, MARK_LEN) != 0)
        return -1;
    const char *hex = at + MARK_LEN;
    for (int i = 0; i < 4; i++)
        if (!((hex[i] >= '0' && hex[i] <= '9') || (hex[i] >= 'a' && hex[i] <= 'f')))
            return -1;
    uint32_t unit = alineo_hex4(hex);
    if (unit != 0 && unit != 0xFDD0 && (unit < 0xD800 || unit > 0xDFFF))
        return -1;
    return (int32_t)unit;
}

void alineo_storage_decode(alineo_buffer *out, alineo_span stored)
{
    const char *at = stored.at;
    const char *end = alineo_span_end(stored);
    const char *from = at;

    while (at < end && (at = memchr(at, 0xEF, (size_t)(end - at))) != NULL) {
        int32_t unit = escaped_unit(at, end);
        if (unit < 0) {
            at++;
            continue;
        }
        alineo_buffer_put(out, from, (size_t)(at - from));
        alineo_text_unit(out, (uint32_t)unit);
        at += MARK_LEN + 4;
        from = at;
    }
    alineo_buffer_put(out, from, (size_t)(end - from));
}

void alineo_storage_encode_json(alineo_buffer *out, alineo_span json)
{
    alineo_scan scan;
    alineo_token token;
    alineo_buffer plain, stored;
    const char *from = json.at;

    alineo_buffer_init(&plain, out->memory);
    alineo_buffer_init(&stored, out->memory);
    alineo_scan_init(&scan, json);
    while ((token = alineo_scan_token(&scan)) != ALINEO_END && token != ALINEO_FAULT) {
        if (token != ALINEO_STRING && token != ALINEO_KEY)
            continue;
        plain.len = 0;
        alineo_text_append(&plain, scan.text, ALINEO_ESCAPED);
        if (!alineo_storage_needed(alineo_buffer_span(&plain)))
            continue;
        stored.len = 0;
        alineo_storage_encode(&stored, alineo_buffer_span(&plain));
        alineo_buffer_put(out, from, (size_t)(scan.text.at - 1 - from));
        alineo_json_string(out, alineo_buffer_span(&stored));
        from = scan.text.at + scan.text.len + 1;
    }
    alineo_buffer_put(out, from, (size_t)(alineo_span_end(json) - from));
    out->failed |= plain.failed || stored.failed;
    alineo_buffer_free(&plain);
    alineo_buffer_free(&stored);
}
