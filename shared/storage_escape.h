/*
 * storage_escape.h - the storage escape: any text inside a JSONB string.
 *
 * A JSONB string can hold neither U+0000 nor an unpaired surrogate. It stores
 * them as U+FDD0, a noncharacter, and four lower-case hex digits, and a
 * literal U+FDD0 as U+FDD0 "fdd0". Reading turns those back and leaves any
 * other U+FDD0 alone. decode(encode(x)) = x for every text x.
 * docs/reference.md, "Storage escape".
 */
#ifndef ALINEO_STORAGE_ESCAPE_H
#define ALINEO_STORAGE_ESCAPE_H

#include "error.h"
#include "text.h"

/* Whether a WTF-8 text must be escaped to be stored. */
bool alineo_storage_needed(alineo_span text);
/* Appends the stored form of a WTF-8 text. */
void alineo_storage_encode(alineo_buffer *out, alineo_span text);
/* Appends a stored text as WTF-8. */
void alineo_storage_decode(alineo_buffer *out, alineo_span stored);

/* Rewrites valid JSON text so that each string and key in it is in stored form
 * and everything between them stays to the byte. A text that needs nothing
 * comes out equal. */
void alineo_storage_encode_json(alineo_buffer *out, alineo_span json);

#endif
