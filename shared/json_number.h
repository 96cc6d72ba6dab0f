/*
 * json_number.h - numbers to the last digit.
 *
 * A JSON number is kept as its digits. It must fit PostgreSQL's numeric
 * (131,072 digits before the point, 16,383 behind it) and its canonical form
 * is what numeric prints. docs/reference.md, "Canonical form".
 * Every function takes the text of a valid JSON number.
 */
#ifndef ALINEO_JSON_NUMBER_H
#define ALINEO_JSON_NUMBER_H

#include <stdint.h>

#include "memory.h"

/* A number without exponent of at most this many bytes always fits. */
enum { ALINEO_NUMBER_ALWAYS_FITS = 16000 };

bool alineo_number_fits(alineo_span number);
/* Whether the value is an integer of 64 bits (1, 1.0 and 1e0 alike), and which. */
bool alineo_number_integer(alineo_span number, int64_t *value);
/* Appends what numeric prints: 1e2 as 100, 1.50 as 1.50, -0 as 0. The number
 * must fit. */
void alineo_number_canonical(alineo_buffer *out, alineo_span number);

#endif
