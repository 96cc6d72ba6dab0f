/*
 * text.c - UTF-8, WTF-8 and the forms text is handed out in. See text.h.
 */
#include "text.h"
#include "storage_escape.h"

#include <string.h>

unsigned alineo_utf8_length(const unsigned char *at, const unsigned char *end)
{
    size_t left = (size_t)(end - at);
    unsigned char lead = at[0];

    if (lead < 0x80)
        return 1;
    if (lead < 0xC2)
        return 0;
    if (lead < 0xE0)
        return left >= 2 && (at[1] & 0xC0) == 0x80 ? 2 : 0;
    if (lead < 0xF0) {
        if (left < 3 || (at[1] & 0xC0) != 0x80 || (at[2] & 0xC0) != 0x80)
            return 0;
        if ((lead == 0xE0 && at[1] < 0xA0) || (lead == 0xED && at[1] >= 0xA0))
            return 0; /* overlong, surrogate */
        return 3;
    }
    if (lead > 0xF4 || left < 4 || (at[1] & 0xC0) != 0x80 || (at[2] & 0xC0) != 0x80 ||
        (at[3] & 0xC0) != 0x80)
        return 0;
    if ((lead == 0xF0 && at[1] < 0x90) || (lead == 0xF4 && at[1] >= 0x90))
        return 0; /* overlong, beyond U+10FFFF */
    return 4;
}

bool alineo_utf8_valid(alineo_span text)
{
    const unsigned char *at = (const unsigned char *)text.at;
    const unsigned char *end = (const unsigned char *)alineo_span_end(text);

    while (at < end) {
        uint64_t word;
        if (end - at >= (ptrdiff_t)sizeof word) {
            memcpy(&word, at, sizeof word);
            if ((word & UINT64_C(0x8080808080808080)) == 0) {
                at += sizeof word; /* eight of ASCII */
                continue;
            }
        }
        unsigned len = alineo_utf8_length(at, end);
        if (len == 0)
            return false;
        at += len;
    }
    return true;
}

void alineo_text_hex4(alineo_buffer *out, uint32_t unit)
{
    static const char digits[] = "0123456789abcdef";
    char hex[4] = {digits[unit >> 12 & 15], digits[unit >> 8 & 15], digits[unit >> 4 & 15],
                   digits[unit & 15]};

    alineo_buffer_put(out, hex, sizeof hex);
}

uint32_t alineo_hex4(const char *at)
{
    uint32_t value = 0;

    for (int i = 0; i < 4; i++) {
        unsigned char c = (unsigned char)at[i];
        value = value << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
}

uint32_t alineo_surrogate_at(const char *at, const char *end)
{
    const unsigned char *u = (const unsigned char *)at;

    if (end - at < 3 || u[0] != 0xED || (u[1] & 0xE0) != 0xA0 || (u[2] & 0xC0) != 0x80)
        return 0;
    return 0xD000u | (uint32_t)(u[1] & 0x3F) << 6 | (u[2] & 0x3Fu);
}

/* Spells a code point or surrogate in (W)UTF-8; returns the bytes used. */
static size_t spell(char to[4], uint32_t unit)
{
    if (unit < 0x80) {
        to[0] = (char)unit;
        return 1;
    }
    if (unit < 0x800) {
        to[0] = (char)(0xC0 | unit >> 6);
        to[1] = (char)(0x80 | (unit & 0x3F));
        return 2;
    }
    if (unit < 0x10000) {
        to[0] = (char)(0xE0 | unit >> 12);
        to[1] = (char)(0x80 | (unit >> 6 & 0x3F));
        to[2] = (char)(0x80 | (unit & 0x3F));
        return 3;
    }
    to[0] = (char)(0xF0 | unit >> 18);
    to[1] = (char)(0x80 | (unit >> 12 & 0x3F));
    to[2] = (char)(0x80 | (unit >> 6 & 0x3F));
    to[3] = (char)(0x80 | (unit & 0x3F));
    return 4;
}

void alineo_text_unit(alineo_buffer *out, uint32_t unit)
{
    char bytes[4];

    if (unit >= 0xDC00 && unit <= 0xDFFF && out->len >= 3 && !out->failed) {
        const char *end = out->at + out->len;
        uint32_t high = alineo_surrogate_at(end - 3, end);
        if (high >= 0xD800 && high <= 0xDBFF) {
            unit = 0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00);
            out->len -= 3;
        }
    }
    alineo_buffer_put(out, bytes, spell(bytes, unit));
}

/* Appends WTF-8, joining a low half at its start to a high half before it. */
static void append_plain(alineo_buffer *out, const char *at, const char *end)
{
    uint32_t first = alineo_surrogate_at(at, end);

    if (first >= 0xDC00) {
        alineo_text_unit(out, first);
        at += 3;
    }
    alineo_buffer_put(out, at, (size_t)(end - at));
}

static void append_escaped(alineo_buffer *out, const char *at, const char *end)
{
    while (at < end) {
        const char *escape = memchr(at, '\\', (size_t)(end - at));
        if (escape == NULL)
            escape = end;
        alineo_buffer_put(out, at, (size_t)(escape - at));
        if (escape == end)
            return;
        at = escape + 2;
        switch (escape[1]) {
        case 'b': alineo_buffer_byte(out, '\b'); break;
        case 'f': alineo_buffer_byte(out, '\f'); break;
        case 'n': alineo_buffer_byte(out, '\n'); break;
        case 'r': alineo_buffer_byte(out, '\r'); break;
        case 't': alineo_buffer_byte(out, '\t'); break;
        case 'u':
            alineo_text_unit(out, alineo_hex4(at));
            at += 4;
            break;
        default: alineo_buffer_byte(out, escape[1]); break; /* quote, backslash, slash */
        }
    }
}

void alineo_text_append(alineo_buffer *out, alineo_span text, alineo_form form)
{
    if (text.len == 0)
        return;
    switch (form) {
    case ALINEO_PLAIN: append_plain(out, text.at, text.at + text.len); break;
    case ALINEO_ESCAPED: append_escaped(out, text.at, text.at + text.len); break;
    case ALINEO_STORED: alineo_storage_decode(out, text); break;
    }
}

bool alineo_text_has_nul(alineo_span text)
{
    return text.len > 0 && memchr(text.at, 0, text.len) != NULL;
}

/* The next unpaired surrogate at or after `at`, or `end`. */
static const char *next_surrogate(const char *at, const char *end)
{
    while (at < end) {
        at = memchr(at, 0xED, (size_t)(end - at));
        if (at == NULL)
            return end;
        if (alineo_surrogate_at(at, end) != 0)
            return at;
        at++;
    }
    return end;
}

bool alineo_text_has_surrogate(alineo_span text)
{
    return text.len > 0 && next_surrogate(text.at, text.at + text.len) != text.at + text.len;
}

void alineo_text_bytes(alineo_buffer *out, alineo_span text)
{
    const char *at = text.at;
    const char *end = alineo_span_end(text);

    while (at < end) {
        const char *next = next_surrogate(at, end);
        alineo_buffer_put(out, at, (size_t)(next - at));
        if (next == end)
            return;
        alineo_buffer_put(out, "\xEF\xBF\xBD", 3);
        at = next + 3;
    }
}

void alineo_text_display(alineo_buffer *out, alineo_span text)
{
    const char *at = text.at;
    const char *end = alineo_span_end(text);

    while (at < end) {
        const char *nul = memchr(at, 0, (size_t)(end - at));
        if (nul == NULL)
            nul = end;
        alineo_text_bytes(out, (alineo_span){at, (size_t)(nul - at)});
        if (nul == end)
            return;
        alineo_buffer_put(out, "\xE2\x90\x80", 3);
        at = nul + 1;
    }
}
