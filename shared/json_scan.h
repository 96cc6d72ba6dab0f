/*
 * json_scan.h - a strict RFC 8259 scanner that allocates nothing.
 *
 * It reads UTF-8 text token by token, at most ALINEO_JSON_DEPTH levels deep,
 * and says at which byte and why it refuses a text. Numbers must fit
 * PostgreSQL's numeric, so that a text is accepted on both engines or on none.
 * docs/reference.md, "Payloads".
 */
#ifndef ALINEO_JSON_SCAN_H
#define ALINEO_JSON_SCAN_H

#include <stdint.h>

#include "text.h"

/* How deep a payload may nest, and two levels more for the batch around it. */
enum { ALINEO_JSON_DEPTH = 1000, ALINEO_JSON_DEPTH_BATCH = ALINEO_JSON_DEPTH + 2 };

typedef enum alineo_token {
    ALINEO_END,   /* the value is complete and only white space follows it */
    ALINEO_FAULT, /* not JSON: scan.reason and scan.offset say why and where */
    ALINEO_NULL,
    ALINEO_FALSE,
    ALINEO_TRUE,
    ALINEO_NUMBER,
    ALINEO_STRING,
    ALINEO_KEY, /* a member's key; the colon is read too */
    ALINEO_OBJECT,
    ALINEO_OBJECT_END,
    ALINEO_ARRAY,
    ALINEO_ARRAY_END
} alineo_token;

typedef struct alineo_scan {
    const char *start, *at, *end;
    alineo_span text;   /* the last token; of strings and keys the inside */
    const char *reason; /* NULL, or why the text is refused; static text */
    size_t offset;      /* of the byte where it is refused */
    bool escaped;       /* the last string or key holds an escape */
    bool special;       /* a string so far held U+0000, an unpaired surrogate or U+FDD0 */
    unsigned depth;     /* open objects and arrays */
    unsigned depth_limit;
    uint8_t expect;
    uint8_t in_object[ALINEO_JSON_DEPTH_BATCH / 8 + 1]; /* one bit a level */
} alineo_scan;

/* A value: a scalar, or a whole object or array as its text. */
typedef struct alineo_value {
    alineo_token kind; /* ALINEO_NULL .. ALINEO_STRING, ALINEO_OBJECT, ALINEO_ARRAY */
    alineo_form form;  /* of a string's text: ALINEO_PLAIN where it has no escapes */
    alineo_span text;  /* a string's inside, else the value's JSON text */
} alineo_value;

void alineo_scan_init(alineo_scan *scan, alineo_span json);
/* Lets a scan that has read one value read another behind it (JSON Lines). */
void alineo_scan_again(alineo_scan *scan);
alineo_token alineo_scan_token(alineo_scan *scan);
/* Reads the rest of the object or array whose opening token was the last one. */
bool alineo_scan_rest(alineo_scan *scan);
/* Reads one whole value; false where there is none (the end of an array, whose
 * closing token is then read) or on a fault: scan.reason tells them apart. */
bool alineo_scan_value(alineo_scan *scan, alineo_value *value);
/* Reads a member of the object whose opening token or last member was read:
 * its key (`escaped`: with escapes) and value. False at the object's end,
 * which is then read, and on a fault: scan.reason tells them apart. */
bool alineo_scan_member(alineo_scan *scan, alineo_span *key, bool *escaped, alineo_value *value);
/* A string decoded to find it in a list of ours: where it has escapes into
 * `plain`, if it is ASCII and short. False for any other: it is not in a list. */
enum { ALINEO_WORD_BYTES = 32 };
bool alineo_scan_word(alineo_span text, bool escaped, char plain[ALINEO_WORD_BYTES],
                      alineo_span *word);
/* Reads up to the end: whether the whole text is one JSON value. */
bool alineo_scan_document(alineo_scan *scan);

#endif
