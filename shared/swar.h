/*
 * swar.h - looks at many bytes at once, for the JSON scanner and writer:
 * sixteen where the compiler has SSE2, which every x86-64 has, else eight in
 * a word.
 */
#ifndef ALINEO_SWAR_H
#define ALINEO_SWAR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__) && defined(__GNUC__)
#include <emmintrin.h>
#endif

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
#if defined(__SSE2__) && defined(__GNUC__)
    while (end - at >= 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
        __m128i slash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
        /* As signed bytes, what is not ASCII is below a space too. */
        __m128i other = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
        int look = _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, slash), other));
        if (look != 0)
            return at + __builtin_ctz((unsigned)look);
        at += 16;
    }
#endif
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
