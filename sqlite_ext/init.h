/*
 * init.h - alineo_init, which also brings a 0.2 ledger up to date.
 */
#ifndef ALINEO_SQLITE_INIT_H
#define ALINEO_SQLITE_INIT_H

#include "ledger.h"

void init_function(sqlite3_context *context, int argc, sqlite3_value **argv);

#endif
