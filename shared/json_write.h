/*
 * json_write.h - writes JSON strings and numbers in canonical form.
 * Every function also works on a counting buffer. docs/reference.md,
 * "Canonical form".
 */
#ifndef ALINEO_JSON_WRITE_H
#define ALINEO_JSON_WRITE_H

#include <stdint.h>

#include "text.h"

/* Appends a WTF-8 text as a JSON string with its quotes. */
void alineo_json_string(alineo_buffer *out, alineo_span text);
void alineo_json_integer(alineo_buffer *out, int64_t value);

#endif
