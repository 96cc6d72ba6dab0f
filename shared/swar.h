/*
 * swar.h - looks at eight bytes at once, for the JSON scanner and writer.
 */
#ifndef ALINEO_SWAR_H
#define ALINEO_SWAR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A word with a top bit set for the eight bytes at `at` that need a closer look
 * inside a JSON string: a quote, a backslash, a control character, not ASCII.
 * Among ASCII bytes each subtraction sets a top bit just where it borrows, and
 * a borrow starts only at a byte that is looked for: a bit behind the first
 * one may be wrong, the first is not, and no bit means none. */
static inline uint64_t alineo_swar_look(const char *at)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t word;

    memcpy(&word, at, sizeof word);
    uint64_t quote = (word ^ ones * '"') - ones;
    uint64_t slash = (word ^ ones * '\\') - ones;
    uint64_t control = word - ones * 0x20;
    return (word | quote | slash | control) & ones * 0x80;
}

/* The first byte at or after `at` that needs a closer look, or `end`. */
static inline const char *alineo_swar_skip(const char *at, const char *end)
{
    while (end - at >= 8) {
        uint64_t look = alineo_swar_look(at);
        if (look != 0) {
#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
            return at + (__builtin_ctzll(look) >> 3);
#else
            break;
#endif
        }
        at += 8;
    }
    while (at < end) {
        unsigned char c = (unsigned char)*at;
        if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\')
            break;
        at++;
    }
    return at;
}

#endif
