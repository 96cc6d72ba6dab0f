/*
 * jsonb_check.h - whether the bytes of a stored JSONB are one.
 *
 * The server trusts what it stored. A payload is read in place here, so that a
 * page that was damaged on disk, or a cast that a superuser made, must not lead
 * a reader astray: the whole value is looked at before any of it is used.
 */
#ifndef ALINEO_JSONB_CHECK_H
#define ALINEO_JSONB_CHECK_H

#include "pg.h"
#include "utils/jsonb.h"

typedef enum alineo_jsonb_state {
    ALINEO_JSONB_SOUND,
    ALINEO_JSONB_TOO_DEEP, /* nests deeper than JSON of ours may */
    ALINEO_JSONB_BROKEN
} alineo_jsonb_state;

alineo_jsonb_state alineo_jsonb_check(const Jsonb *value);

/* The same of one value in an object, whose bytes lie between two offsets behind
 * `base`. */
alineo_jsonb_state alineo_jsonb_check_value(const char *base, JEntry entry, size_t begin,
                                            size_t end);

#endif
