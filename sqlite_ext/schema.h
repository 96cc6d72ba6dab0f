/*
 * schema.h - the ledger's tables in this database.
 */
#ifndef ALINEO_SQLITE_SCHEMA_H
#define ALINEO_SQLITE_SCHEMA_H

#include "ledger.h"

/* Sees to it once per connection that tables and indexes are there, and that a
 * file database is in WAL mode where that is possible. */
alineo_code schema_ensure(call *c);

/* What a write does between taking its statement and giving it back. */
typedef alineo_code (*schema_write)(call *c, sqlite3_stmt *statement, void *detail);

/* Runs one writing statement, with the schema seen to first, and again where
 * it turns out to be gone (dropped, or rolled back with the transaction that
 * created it). */
alineo_code schema_run(call *c, statement_id id, schema_write write, void *detail);

#endif
