/*
 * init.c - alineo_init: makes the schema and brings what 0.2 wrote up to date.
 * docs/reference.md, "alineo_init".
 */
#include "migration.h"
#include "schema.h"

ALINEO_SQL_FUNCTION(alineo_sql_init);

Datum alineo_sql_init(PG_FUNCTION_ARGS)
{
    alineo_call call;

    alineo_call_begin(&call, fcinfo, "alineo_init");
    alineo_schema_ensure(&call);
    uint64 rewritten = alineo_migrate(&call);
    alineo_call_end(&call);
    PG_RETURN_INT64((int64)rewritten);
}
