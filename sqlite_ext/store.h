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

/* alineo_visit(scan, id, ts, step_idx, event, payload): hands a row that passes
 * through a query of the store to the core. For store.c alone: its first
 * argument is a pointer that only that file can make. */
void visit_function(sqlite3_context *context, int argc, sqlite3_value **argv);

#endif
