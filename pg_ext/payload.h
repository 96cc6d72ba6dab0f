/*
 * payload.h - payloads on their way in: JSON text to what JSONB stores.
 */
#ifndef ALINEO_PAYLOAD_H
#define ALINEO_PAYLOAD_H

#include "call.h"
#include "utils/jsonb.h"

#include "../shared/entry.h"

/* Makes a JSONB of valid JSON text, in the current context. `special` says
 * that the text may need the storage escape. `scratch` is overwritten. */
Jsonb *alineo_payload_jsonb(alineo_buffer *scratch, alineo_span json, bool special);

/* Checks an entry whose payload is given as JSONB, and returns the JSONB to
 * store: the one given, unless it holds a text that must be escaped. */
Jsonb *alineo_payload_check(alineo_call *call, alineo_entry_reader *reader, alineo_entry *entry,
                            Jsonb *given);

#endif
