/*
 * jsonb_text.h - JSONB as the JSON text it stands for.
 */
#ifndef ALINEO_JSONB_TEXT_H
#define ALINEO_JSONB_TEXT_H

#include "pg.h"
#include "utils/jsonb.h"

#include "../shared/memory.h"

/* Appends the canonical text of what is stored, the storage escape undone. */
void alineo_jsonb_text(alineo_buffer *out, JsonbContainer *stored);

/* The value of a numeric as numeric_out prints it. Small integers, which most
 * numbers in a ledger are, go into `small`; others are made in the current
 * context. */
enum { ALINEO_SMALL_NUMBER = 16 };
alineo_span alineo_numeric_text(struct NumericData *number, char small[ALINEO_SMALL_NUMBER]);

#endif
