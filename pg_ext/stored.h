/*
 * stored.h - the columns of a stored event, whatever the table made of them.
 *
 * An adopted table may have columns of other types (numeric, text, json) and
 * allow NULL; a payload kept out of line may be lost. What cannot be read is
 * told of by row, and not by an error of a cast that names none.
 */
#ifndef ALINEO_STORED_H
#define ALINEO_STORED_H

#include "call.h"
#include "statements.h"

#include "access/tupdesc.h"
#include "utils/jsonb.h"

#include "../shared/json_scan.h"
#include "../shared/row.h"

typedef struct alineo_stored {
    const alineo_call *call;
    bool looked;               /* at the types of the columns */
    bool plain;                /* they are all the ledger's own */
    Oid types[ALINEO_COLUMNS]; /* of those that differ, else InvalidOid */
    /* of the row read last: */
    unsigned damaged; /* bits of row.h */
    bool damaged_branch;
    bool damaged_payload; /* not JSON, in a column of another type: `scan` says why */
    alineo_scan scan;
} alineo_stored;

void alineo_stored_init(alineo_stored *stored, const alineo_call *call);
/* Looks at the types of a result, once. */
void alineo_stored_look(alineo_stored *stored, TupleDesc type);

/* Brings the columns of a row to the ledger's types, in place and in the
 * current context, and notes what is damaged. A damaged integer is 0, a damaged
 * payload the JSON string of what is stored. */
void alineo_stored_columns(alineo_stored *stored, Datum *values, const bool *nulls);
/* Only notes, of a row whose columns are plain. */
static inline void alineo_stored_plain(alineo_stored *stored, const bool *nulls)
{
    stored->damaged = (nulls[ALINEO_COLUMN_ID] ? ALINEO_COLUMN_BIT_ID : 0) |
                      (nulls[ALINEO_COLUMN_EVENT] ? ALINEO_COLUMN_BIT_EVENT : 0);
}

/* An integer of any type; false where it is none. */
bool alineo_stored_integer(Datum value, Oid type, int64 *integer);

/* A payload of any type as JSONB; NULL where it is not JSON, and *scan says why. */
Jsonb *alineo_stored_payload(const alineo_call *call, Datum payload, Oid type, alineo_scan *scan);

/* Detoasts a payload; the server's error, where it is lost, names the event. */
Jsonb *alineo_stored_detoast(Datum payload, int64 id);
/* Whether it is a JSON string, likewise. */
bool alineo_stored_is_string(Datum payload, int64 id);

#endif
