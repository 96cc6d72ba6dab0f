/*
 * append.h - the functions that record events.
 */
#ifndef ALINEO_SQLITE_APPEND_H
#define ALINEO_SQLITE_APPEND_H

#include "ledger.h"

void append_function(sqlite3_context *context, int argc, sqlite3_value **argv);
void append_batch_function(sqlite3_context *context, int argc, sqlite3_value **argv);

/* The table-valued side of a batch, for the INSERT ... SELECT of append_batch.c
 * alone: it takes a pointer that only that file can make. */
extern const sqlite3_module entries_module;

/* The error of a ledger whose last event has the highest id there is. */
alineo_code append_no_id(call *c);

#endif
