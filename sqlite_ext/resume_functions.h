/*
 * resume_functions.h - the functions that answer with one value from the fold.
 */
#ifndef ALINEO_SQLITE_RESUME_FUNCTIONS_H
#define ALINEO_SQLITE_RESUME_FUNCTIONS_H

#include "ledger.h"

void resume_function(sqlite3_context *context, int argc, sqlite3_value **argv);
void output_function(sqlite3_context *context, int argc, sqlite3_value **argv);

#endif
