/*
 * sandboxes.h - the function that deletes a session.
 */
#ifndef ALINEO_SQLITE_SANDBOXES_H
#define ALINEO_SQLITE_SANDBOXES_H

#include "ledger.h"

void delete_sandbox_function(sqlite3_context *context, int argc, sqlite3_value **argv);

#endif
