/*
 * rows.h - the result of a row function: a tuplestore, which spills to disk
 * beyond work_mem.
 */
#ifndef ALINEO_ROWS_H
#define ALINEO_ROWS_H

#include "call.h"
#include "cursor.h"
#include "jsonb_fields.h"
#include "stored.h"
#include "nodes/execnodes.h"
#include "utils/tuplestore.h"

typedef struct alineo_rows {
    ReturnSetInfo *info; /* what the caller gets */
    Tuplestorestate *store;
    TupleDesc type;
} alineo_rows;

/* Makes the result, empty. */
void alineo_rows_begin(alineo_rows *rows, FunctionCallInfo fcinfo);
/* Lets the result, still empty, stay in memory up to `bytes`: for a function
 * that holds as much already and frees it row by row. */
void alineo_rows_keep(alineo_rows *rows, size_t bytes);
void alineo_rows_put(alineo_rows *rows, Datum *values, bool *nulls);

/* Hands rows of a statement over as they are. */
void alineo_rows_copy(void *rows, TupleTableSlot *slot);

/* The columns of alineo_replay: hands a row over with the event's current name
 * and the payload unwrapped. */
typedef struct alineo_replay_rows {
    alineo_rows rows;
    alineo_call *call;
    alineo_stored stored;
    alineo_jsonb_reader reader;
    MemoryContext row; /* what one row needs */
} alineo_replay_rows;

void alineo_replay_begin(alineo_replay_rows *replay, alineo_call *call, FunctionCallInfo fcinfo);
void alineo_replay_row(void *replay, TupleTableSlot *slot);

#endif
