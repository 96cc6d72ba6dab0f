/*
 * batch.h - the entries of one alineo_append_batch: a JSON array of entries,
 * one entry, or JSON Lines. docs/reference.md, "alineo_append_batch".
 */
#ifndef ALINEO_BATCH_H
#define ALINEO_BATCH_H

#include "entry.h"
#include "map.h"

typedef struct alineo_batch {
    alineo_scan scan;
    alineo_entry_reader reader;
    alineo_buffer texts[4]; /* decoded name, sandboxId, event and error */
    alineo_map sessions;    /* index into latest plus 1, by name and sandbox_id */
    alineo_buffer latest;   /* of session_ts (batch.c), for each of them */
    alineo_buffer session;  /* the key of the session asked for last */
    size_t last;            /* and its index */
    long long count;        /* entries read so far */
    bool array;             /* else one entry a line */
} alineo_batch;

/* `entries` must stay as long as the batch does. */
void alineo_batch_init(alineo_batch *batch, const alineo_memory *memory, alineo_span entries);
void alineo_batch_free(alineo_batch *batch);

/* For a caller that has the entries of an array apart: gives the next one, as
 * JSON, which alineo_batch_next is then called for once. */
void alineo_batch_give(alineo_batch *batch, alineo_span entry);

/* Reads the next entry and checks it; false at the end and on an error, which
 * `error` tells apart (its code) and which names the entry, counted from 0.
 * The entry lives until the next call. */
bool alineo_batch_next(alineo_batch *batch, alineo_entry *entry, alineo_error *error);

/* Asks the engine for the latest ts that the table has of an entry's session;
 * *latest stays where it has none. May not return. */
typedef alineo_code (*alineo_ask_latest)(void *context, const alineo_entry *entry, int64_t *latest,
                                         alineo_error *error);

/* Gives an entry without a ts one: `now`, but not below the latest of its
 * session, be that in the table or earlier in this batch, whose rows the table
 * may not show yet. Every entry passes here, in order; the table is asked once
 * for a session, and only if an entry of it has no ts. */
alineo_code alineo_batch_ts(alineo_batch *batch, alineo_entry *entry, int64_t now,
                            alineo_ask_latest ask, void *context, alineo_error *error);

#endif
