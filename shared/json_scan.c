/*
 * json_scan.c - the JSON scanner. See json_scan.h.
 */
#include "json_scan.h"
#include "json_number.h"
#include "swar.h"

#include <string.h>

enum { EXPECT_VALUE, EXPECT_FIRST_MEMBER, EXPECT_FIRST_ELEMENT, EXPECT_MORE, EXPECT_END };

void alineo_scan_init(alineo_scan *scan, alineo_span json)
{
    scan->start = json.at;
    scan->at = json.at;
    scan->end = alineo_span_end(json);
    scan->text = (alineo_span){json.at, 0};
    scan->reason = NULL;
    scan->offset = 0;
    scan->escaped = false;
    scan->special = false;
    scan->depth = 0;
    scan->depth_limit = ALINEO_JSON_DEPTH;
    scan->expect = EXPECT_VALUE;
}

void alineo_scan_again(alineo_scan *scan)
{
    scan->expect = EXPECT_VALUE;
}

static alineo_token fault(alineo_scan *scan, const char *at, const char *reason)
{
    if (scan->reason == NULL) {
        scan->reason = reason;
        scan->offset = (size_t)(at - scan->start);
    }
    return ALINEO_FAULT;
}

static alineo_token unexpected(alineo_scan *scan, const char *reason)
{
    return fault(scan, scan->at, scan->at == scan->end ? "unexpected end" : reason);
}

static inline void skip_space(alineo_scan *scan)
{
    const char *at = scan->at;

    while (at < scan->end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    scan->at = at;
}

static bool in_object(const alineo_scan *scan)
{
    return scan->in_object[scan->depth / 8] >> (scan->depth % 8) & 1;
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* The four hex digits behind "\u" at `at`, or -1. */
static int32_t unicode_escape(const char *at, const char *end)
{
    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++)
        if (!is_hex(at[i]))
            return -1;
    return (int32_t)alineo_hex4(at);
}

/* Reads one escape at a backslash; returns its end, or NULL after a fault. A
 * pair of halves is read as one. */
static const char *scan_escape(alineo_scan *scan, const char *at)
{
    const char *end = scan->end;

    if (end - at < 2) {
        fault(scan, end, "unterminated string");
        return NULL;
    }
    if (at[1] != 'u') {
        if (memchr("\"\\/bfnrt", at[1], 8) != NULL)
            return at + 2;
        fault(scan, at, "invalid escape");
        return NULL;
    }
    int32_t unit = unicode_escape(at + 2, end);
    if (unit < 0) {
        fault(scan, at, "invalid \\u escape");
        return NULL;
    }
    at += 6;
    if (unit >= 0xD800 && unit <= 0xDBFF && end - at >= 2 && at[0] == '\\' && at[1] == 'u') {
        int32_t low = unicode_escape(at + 2, end);
        if (low >= 0xDC00 && low <= 0xDFFF)
            return at + 6;
    }
    if (unit == 0 || unit == 0xFDD0 || (unit >= 0xD800 && unit <= 0xDFFF))
        scan->special = true;
    return at;
}

/* Reads what needs a closer look inside a string, at `at`, and is not a quote;
 * returns its end, or NULL after a fault. */
static const char *scan_special(alineo_scan *scan, const char *at)
{
    const char *end = scan->end;
    unsigned char c = (unsigned char)*at;

    if (c == '\\') {
        scan->escaped = true;
        return scan_escape(scan, at);
    }
    if (c < 0x20) {
        fault(scan, at, "unescaped control character in a string");
        return NULL;
    }
    unsigned len = alineo_utf8_length((const unsigned char *)at, (const unsigned char *)end);
    if (len == 0) {
        fault(scan, at, "invalid UTF-8");
        return NULL;
    }
    if (c == 0xEF && (unsigned char)at[1] == 0xB7 && (unsigned char)at[2] == 0x90)
        scan->special = true;
    return at + len;
}

/* Reads a string whose opening quote is at scan->at. */
static inline alineo_token scan_string(alineo_scan *scan, alineo_token token)
{
    const char *begin = scan->at + 1;
    const char *at = begin;
    const char *end = scan->end;

    scan->escaped = false;
    while ((at = alineo_swar_skip(at, end)) < end && *at != '"') {
        at = scan_special(scan, at);
        if (at == NULL)
            return ALINEO_FAULT;
    }
    if (at == end)
        return fault(scan, end, "unterminated string");
    scan->text = (alineo_span){begin, (size_t)(at - begin)};
    scan->at = at + 1;
    return token;
}

static inline alineo_token scan_key(alineo_scan *scan)
{
    if (scan->at == scan->end || *scan->at != '"')
        return unexpected(scan, "expected a key");
    if (scan_string(scan, ALINEO_KEY) == ALINEO_FAULT)
        return ALINEO_FAULT;
    skip_space(scan);
    if (scan->at == scan->end || *scan->at != ':')
        return unexpected(scan, "expected ':'");
    scan->at++;
    scan->expect = EXPECT_VALUE;
    return ALINEO_KEY;
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

static inline alineo_token scan_number(alineo_scan *scan)
{
    const char *begin = scan->at;
    const char *end = scan->end;
    const char *at = begin + (*begin == '-');
    const char *digits = at;
    bool plain = true;

    at = skip_digits(at, end);
    if (at == digits || (*digits == '0' && at - digits > 1))
        return fault(scan, begin, "invalid number");
    if (at < end && *at == '.') {
        const char *fraction = ++at;
        at = skip_digits(at, end);
        if (at == fraction)
            return fault(scan, begin, "invalid number");
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-'))
            at++;
        const char *exponent = at;
        at = skip_digits(at, end);
        if (at == exponent)
            return fault(scan, begin, "invalid number");
        plain = false;
    }
    scan->text = (alineo_span){begin, (size_t)(at - begin)};
    if ((!plain || scan->text.len > ALINEO_NUMBER_ALWAYS_FITS) && !alineo_number_fits(scan->text))
        return fault(scan, begin, "number out of range");
    scan->at = at;
    return ALINEO_NUMBER;
}

static alineo_token scan_literal(alineo_scan *scan, const char *word, alineo_token token)
{
    size_t len = strlen(word);

    if ((size_t)(scan->end - scan->at) < len || memcmp(scan->at, word, len) != 0)
        return fault(scan, scan->at, "unexpected character");
    scan->text = (alineo_span){scan->at, len};
    scan->at += len;
    return token;
}

static alineo_token open_container(alineo_scan *scan, alineo_token token)
{
    if (scan->depth == scan->depth_limit)
        return fault(scan, scan->at, "nested deeper than 1000 levels");
    scan->depth++;
    uint8_t bit = (uint8_t)(1u << (scan->depth % 8));
    if (token == ALINEO_OBJECT)
        scan->in_object[scan->depth / 8] |= bit;
    else
        scan->in_object[scan->depth / 8] &= (uint8_t)~bit;
    scan->text = (alineo_span){scan->at, 1};
    scan->at++;
    scan->expect = token == ALINEO_OBJECT ? EXPECT_FIRST_MEMBER : EXPECT_FIRST_ELEMENT;
    return token;
}

static alineo_token close_container(alineo_scan *scan)
{
    alineo_token token = in_object(scan) ? ALINEO_OBJECT_END : ALINEO_ARRAY_END;

    scan->text = (alineo_span){scan->at, 1};
    scan->at++;
    scan->depth--;
    scan->expect = scan->depth == 0 ? EXPECT_END : EXPECT_MORE;
    return token;
}

static inline alineo_token scan_any(alineo_scan *scan)
{
    alineo_token token;

    if (scan->at == scan->end)
        return fault(scan, scan->end, "unexpected end");
    switch (*scan->at) {
    case '{': return open_container(scan, ALINEO_OBJECT);
    case '[': return open_container(scan, ALINEO_ARRAY);
    case '"': token = scan_string(scan, ALINEO_STRING); break;
    case 't': token = scan_literal(scan, "true", ALINEO_TRUE); break;
    case 'f': token = scan_literal(scan, "false", ALINEO_FALSE); break;
    case 'n': token = scan_literal(scan, "null", ALINEO_NULL); break;
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9': token = scan_number(scan); break;
    default: return fault(scan, scan->at, "unexpected character");
    }
    scan->expect = scan->depth == 0 ? EXPECT_END : EXPECT_MORE;
    return token;
}

static inline alineo_token next_token(alineo_scan *scan)
{
    if (scan->reason != NULL)
        return ALINEO_FAULT;
    skip_space(scan);
    bool here = scan->at < scan->end;
    switch (scan->expect) {
    case EXPECT_VALUE: return scan_any(scan);
    case EXPECT_FIRST_MEMBER:
        return here && *scan->at == '}' ? close_container(scan) : scan_key(scan);
    case EXPECT_FIRST_ELEMENT:
        return here && *scan->at == ']' ? close_container(scan) : scan_any(scan);
    case EXPECT_MORE:
        if (here && *scan->at == (in_object(scan) ? '}' : ']'))
            return close_container(scan);
        if (!here || *scan->at != ',')
            return unexpected(scan,
                              in_object(scan) ? "expected ',' or '}'" : "expected ',' or ']'");
        scan->at++;
        skip_space(scan);
        return in_object(scan) ? scan_key(scan) : scan_any(scan);
    default: return here ? fault(scan, scan->at, "unexpected text behind the value") : ALINEO_END;
    }
}

/* The token behind a key, which was read up to its colon. */
static inline alineo_token value_of_key(alineo_scan *scan)
{
    skip_space(scan);
    return scan_any(scan);
}

alineo_token alineo_scan_token(alineo_scan *scan)
{
    return next_token(scan);
}

bool alineo_scan_rest(alineo_scan *scan)
{
    unsigned outside = scan->depth - 1;

    while (scan->depth > outside)
        if (alineo_scan_token(scan) == ALINEO_FAULT)
            return false;
    return true;
}

/* The value that `token`, the last one, starts. */
static inline bool finish_value(alineo_scan *scan, alineo_token token, alineo_value *value)
{
    value->kind = token;
    value->form = token == ALINEO_STRING && !scan->escaped ? ALINEO_PLAIN : ALINEO_ESCAPED;
    value->text = scan->text;
    if (token == ALINEO_OBJECT || token == ALINEO_ARRAY) {
        if (!alineo_scan_rest(scan))
            return false;
        value->text.len = (size_t)(scan->at - value->text.at);
        return true;
    }
    return token >= ALINEO_NULL && token <= ALINEO_STRING;
}

bool alineo_scan_value(alineo_scan *scan, alineo_value *value)
{
    return finish_value(scan, next_token(scan), value);
}

bool alineo_scan_member(alineo_scan *scan, alineo_span *key, bool *escaped, alineo_value *value)
{
    if (next_token(scan) != ALINEO_KEY)
        return false;
    *key = scan->text;
    *escaped = scan->escaped;
    return finish_value(scan, value_of_key(scan), value);
}

bool alineo_scan_document(alineo_scan *scan)
{
    alineo_token token;

    do {
        token = next_token(scan);
        if (token == ALINEO_KEY)
            token = value_of_key(scan);
    } while (token != ALINEO_FAULT && token != ALINEO_END);
    return token == ALINEO_END;
}

bool alineo_scan_word(alineo_span text, bool escaped, char plain[ALINEO_WORD_BYTES],
                      alineo_span *word)
{
    size_t len = 0;

    *word = text;
    if (!escaped)
        return true;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (c == '\\') {
            if (text.at[++i] != 'u')
                return false;
            uint32_t unit = alineo_hex4(text.at + i + 1);
            if (unit >= 0x80)
                return false;
            c = (char)unit;
            i += 4;
        }
        if (len == ALINEO_WORD_BYTES)
            return false;
        plain[len++] = c;
    }
    *word = (alineo_span){plain, len};
    return true;
}
