/*
 * guard.h - alineo_guard, and the way past the guard for changes of our own.
 */
#ifndef ALINEO_SQLITE_GUARD_H
#define ALINEO_SQLITE_GUARD_H

#include "ledger.h"

/* A change of events that the guard lets pass: just what is being done. */
typedef struct guard_pass {
    enum { GUARD_DELETING, GUARD_MIGRATING } doing;
    alineo_span name, sandbox_id; /* deleting */
} guard_pass;

/* Runs a statement to its end, past the guard. */
alineo_code guard_run(call *c, sqlite3_stmt *statement, const guard_pass *pass);

void guard_function(sqlite3_context *context, int argc, sqlite3_value **argv);
void guard_deleting_function(sqlite3_context *context, int argc, sqlite3_value **argv);
void guard_updating_function(sqlite3_context *context, int argc, sqlite3_value **argv);

#endif
