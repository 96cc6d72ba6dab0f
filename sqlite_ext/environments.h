/*
 * environments.h - the functions that write environments.
 */
#ifndef ALINEO_SQLITE_ENVIRONMENTS_H
#define ALINEO_SQLITE_ENVIRONMENTS_H

#include "ledger.h"

void save_environment_function(sqlite3_context *context, int argc, sqlite3_value **argv);
void delete_environment_function(sqlite3_context *context, int argc, sqlite3_value **argv);

#endif
