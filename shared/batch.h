/*
 * batch.h - the entries of one alineo_append_batch: a JSON array of entries,
 * one entry, or JSON Lines. docs/reference.md, "alineo_append_batch".
 */
#ifndef ALINEO_BATCH_H
#define ALINEO_BATCH_H

#include "entry.h"

typedef struct alineo_batch {
    alineo_scan scan;
    alineo_entry_reader reader;
    alineo_buffer texts[4]; /* decoded name, sandboxId, event and error */
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

#endif
