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
    alineo_buffer latest;   /* of int64_t: a ts for each of them */
    alineo_buffer session;  /* the key of the session asked for last */
    size_t last;            /* and its index */
    long long count;        /* entries read so far */
    bool array;             /* else one entry a line */
} alineo_batch;

/* `entries` must stay as long as the batch does. */
void alineo_batch_init(alineo_batch *batch, const alineo_memory *memory, alineo_span entries);
void alineo_batch_free(alineo_batch *batch);

/* Reads the next entry and checks it; false at the end and on an error, which
 * `error` tells apart (its code) and which names the entry, counted from 0.
 * The entry lives until the next call. */
bool alineo_batch_next(alineo_batch *batch, alineo_entry *entry, alineo_error *error);

/* Where the latest ts that this batch gave an entry's session is kept, for the
 * caller to read and to raise; INT64_MIN for a session it has not seen. The
 * table may not show rows of this batch yet when an entry without a ts comes.
 * Valid until the next call; NULL where memory ran out. */
int64_t *alineo_batch_latest(alineo_batch *batch, const alineo_entry *entry);

#endif
