/*
 * jsonb_make.h - JSON text as JSONB.
 */
#ifndef ALINEO_JSONB_MAKE_H
#define ALINEO_JSONB_MAKE_H

#include "pg.h"
#include "utils/jsonb.h"

#include "../shared/memory.h"

/* Makes what jsonb_in makes of valid JSON text without U+0000 and unpaired
 * surrogates, in the current context. `texts` is overwritten. */
Jsonb *alineo_jsonb_make(alineo_buffer *texts, alineo_span json);

#endif
