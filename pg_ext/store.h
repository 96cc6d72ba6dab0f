/*
 * store.h - the core's store (resume.h) over the ledger's tables.
 */
#ifndef ALINEO_STORE_H
#define ALINEO_STORE_H

#include "cursor.h"
#include "jsonb_fields.h"
#include "stored.h"

#include "../shared/resume.h"

typedef struct alineo_pg_store {
    alineo_store store; /* what the core is given */
    alineo_call *call;
    alineo_cursor cursor;
    alineo_jsonb_reader reader;
    alineo_stored stored;
    alineo_buffer aligned; /* a payload that was not stored aligned */
    alineo_row row;        /* the one being visited */
    alineo_visit visit;
    void *argument;
    int64 before;       /* events with a lower id count; PG_INT64_MAX: all */
    alineo_buffer rows; /* of HeapTuple: what next has fetched */
    size_t next;
    MemoryContext kept;       /* those tuples */
    MemoryContext parameters; /* of the open query */
    TupleDesc type;           /* of those tuples */
} alineo_pg_store;

/* `call` must outlive the store. */
void alineo_store_init(alineo_pg_store *store, alineo_call *call);

#endif
