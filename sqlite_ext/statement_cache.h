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

/* Whether a statement is kept, so that it lives until ledger->behind is forgotten. */
bool cache_keeps(const ledger *l, const sqlite3_stmt *statement);

#endif
