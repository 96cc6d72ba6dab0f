/*
 * canonical.h - the one text of a JSON value that both engines agree on.
 *
 * Members stand as JSONB orders them (shorter stored key first, then bytewise)
 * and only the last of equal keys stays; no white space; numbers as numeric
 * prints them; strings as json_write.h writes them. docs/reference.md,
 * "Canonical form".
 */
#ifndef ALINEO_CANONICAL_H
#define ALINEO_CANONICAL_H

#include "json_scan.h"

/* Appends the canonical form of valid JSON text. Memory for the members being
 * sorted comes from out's allocator, which it must have. */
void alineo_canonical(alineo_buffer *out, alineo_span json);

#endif
