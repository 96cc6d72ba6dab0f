/*
 * statement_cache.h - the virtual table whose object owns the cached statements.
 */
#ifndef ALINEO_SQLITE_STATEMENT_CACHE_H
#define ALINEO_SQLITE_STATEMENT_CACHE_H

#include "ledger.h"

/* The table has no columns of use and no rows. Selecting from it once makes the
 * object; deleting from it makes it part of the transaction, whose end and
 * rollbacks it then hears of (tail.h). Its user data is the ledger. */
extern const sqlite3_module cache_module;

#define CACHE_TABLE "alineo_statements"

/* The first statement of ours that this connection prepared; NULL where none is
 * left of those times. */
sqlite3_stmt *cache_first(const ledger *l);

#endif
