/*
 * jsonb_fields.h - the payload fields the core reads, taken from JSONB in
 * place.
 */
#ifndef ALINEO_JSONB_FIELDS_H
#define ALINEO_JSONB_FIELDS_H

#include "jsonb_check.h"
#include "jsonb_text.h"

#include "../shared/fields.h"

/* The keys of the object read last, and which fields they are. */
typedef struct alineo_jsonb_shape {
    uint32 count;  /* 0: none is known */
    uint32 length; /* of the keys */
    JEntry entries[16];
    char keys[128];
    uint8 fields[16]; /* of alineo_field */
} alineo_jsonb_shape;

/* The small number a field held last, as it is stored and as text. */
typedef struct alineo_jsonb_number {
    uint64 stored; /* 0: none is known */
    size_t length;
    char text[ALINEO_SMALL_NUMBER];
} alineo_jsonb_number;

typedef struct alineo_jsonb_reader {
    alineo_jsonb_shape shape;
    alineo_fields_reader texts; /* for a payload that was encoded twice */
    alineo_buffer json;         /* the same, as JSON text */
    MemoryContext values;       /* texts of numbers and containers */
    bool dirty;                 /* there are such */
    alineo_jsonb_state state;   /* of the payload read last */
    alineo_jsonb_number numbers[ALINEO_FIELD_COUNT];
} alineo_jsonb_reader;

/* Both live until the context is deleted. */
void alineo_jsonb_reader_init(alineo_jsonb_reader *reader, const alineo_memory *memory,
                              MemoryContext context);

/* Reads a payload; one that is not sound has no fields, and reader->state tells
 * why. Texts point into the payload or into the
 * reader; both must stay until the fields have been used. */
void alineo_jsonb_fields(alineo_jsonb_reader *reader, Jsonb *stored, alineo_fields *fields);

/* Whether the payload was encoded twice: a string that holds an object or an
 * array. */
bool alineo_jsonb_wraps(alineo_jsonb_reader *reader, Jsonb *payload);

/* The payload that such a string holds, made in the current context; NULL where
 * it was not encoded twice. */
Jsonb *alineo_jsonb_unwrap(alineo_jsonb_reader *reader, Jsonb *payload);

/* The payload of a row, detoasted only as far as needed: whether it is a JSON
 * string, so that it may have to be unwrapped. */
bool alineo_jsonb_is_string(Datum payload);

#endif
