/*
 * swar.h - looks at eight bytes at once, for the JSON scanner and writer.
 */
#ifndef ALINEO_SWAR_H
#define ALINEO_SWAR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Whether one of the eight bytes at `at` is a quote, a backslash, a control
 * character or not ASCII, that is, needs a closer look inside a JSON string.
 * Among ASCII bytes each subtraction sets a top bit just where it borrows, and
 * a borrow starts only at a byte that is looked for. */
static inline bool alineo_swar_look(const char *at)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t word;

    memcpy(&word, at, sizeof word);
    uint64_t quote = (word ^ ones * '"') - ones;
    uint64_t slash = (word ^ ones * '\\') - ones;
    uint64_t control = word - ones * 0x20;
    return ((word | quote | slash | control) & ones * 0x80) != 0;
}

#endif
