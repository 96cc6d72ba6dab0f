/*
 * module.c - the library as the server loads it, and its version.
 */
#include "pg.h"
#include "utils/builtins.h"

#include "call.h"
#include "../shared/version.h"

#pragma GCC visibility push(default)
#ifdef PG_MODULE_MAGIC_EXT
PG_MODULE_MAGIC_EXT(.name = "alineo_ledger", .version = ALINEO_VERSION);
#else
PG_MODULE_MAGIC;
#endif
void _PG_init(void);
#pragma GCC visibility pop

/* Loaded by CREATE EXTENSION, so that a database it cannot serve refuses it. */
void _PG_init(void)
{
    if (OidIsValid(MyDatabaseId))
        alineo_require_utf8();
}

ALINEO_SQL_FUNCTION(alineo_sql_version);

Datum alineo_sql_version(PG_FUNCTION_ARGS)
{
    (void)fcinfo;
    PG_RETURN_TEXT_P(cstring_to_text(ALINEO_VERSION));
}
