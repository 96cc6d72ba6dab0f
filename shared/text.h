/*
 * text.h - text as programs print it: the forms it comes in and goes out.
 *
 * Recorded output may hold U+0000 and unpaired surrogates (half an emoji from
 * a JavaScript client). Inside the core a text is WTF-8: UTF-8 in which an
 * unpaired surrogate stands as its three generic bytes (ED A0 80 .. ED BF BF)
 * and U+0000 as a zero byte. Two halves that meet are always joined, so each
 * text has one spelling only. docs/reference.md, "Text".
 */
#ifndef ALINEO_TEXT_H
#define ALINEO_TEXT_H

#include <stdint.h>

#include "memory.h"

typedef enum alineo_form {
    ALINEO_PLAIN,   /* UTF-8 or WTF-8 as it stands */
    ALINEO_ESCAPED, /* the inside of a valid JSON string, escapes and all */
    ALINEO_STORED   /* UTF-8 with the storage escape of storage_escape.h */
} alineo_form;

/* Bytes of the UTF-8 character at `at`, 0 where it is not a valid one. */
unsigned alineo_utf8_length(const unsigned char *at, const unsigned char *end);
/* Whether the text is UTF-8 (a zero byte is a character like others). */
bool alineo_utf8_valid(alineo_span text);

/* Appends one code point or surrogate; a low half joins a high one before it. */
void alineo_text_unit(alineo_buffer *out, uint32_t unit);
/* Decodes `text` and appends it to a WTF-8 text; halves meeting at the seam
 * are joined. `out` must have an allocator. */
void alineo_text_append(alineo_buffer *out, alineo_span text, alineo_form form);

/* Appends a unit below 0x10000 as four lower-case hex digits. */
void alineo_text_hex4(alineo_buffer *out, uint32_t unit);
/* The value of four hex digits; `at` has been checked to hold them. */
uint32_t alineo_hex4(const char *at);
/* The surrogate that stands at `at` in a WTF-8 text, or 0. */
uint32_t alineo_surrogate_at(const char *at, const char *end);

/* Whether a WTF-8 text holds what UTF-8 cannot: an unpaired surrogate. */
bool alineo_text_has_surrogate(alineo_span text);
bool alineo_text_has_nul(alineo_span text);

/* WTF-8 as a text column shows it: U+0000 as U+2400, an unpaired surrogate as
 * U+FFFD. Works on a counting buffer too, as the next one does. */
void alineo_text_display(alineo_buffer *out, alineo_span text);
/* WTF-8 as bytes of UTF-8: an unpaired surrogate as U+FFFD, U+0000 kept. */
void alineo_text_bytes(alineo_buffer *out, alineo_span text);

#endif
