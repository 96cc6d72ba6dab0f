/*
 * store.h - the core's queries over this database.
 */
#ifndef ALINEO_SQLITE_STORE_H
#define ALINEO_SQLITE_STORE_H

#include "ledger.h"
#include "resume.h"

typedef struct store {
    alineo_store core; /* what the core calls; its context is this struct */
    call *call;
    alineo_query query;
    sqlite3_stmt *statement; /* of the open query, or NULL */
    alineo_fields_reader reader;
} store;

/* Errors go to `c`, which must outlive the store. */
void store_init(store *s, call *c);
void store_free(store *s);

/* Reads columns 0 to 4 of a statement (id, ts, step_idx, event, payload) into a
 * row that lives until the next step; only an exec's payload where `execs`. */
alineo_code store_row(call *c, alineo_fields_reader *reader, sqlite3_stmt *statement, bool execs,
                      alineo_row *row);

#endif
