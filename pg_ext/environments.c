/*
 * environments.c - the four functions over alineo_environments.
 * docs/reference.md.
 */
#include "rows.h"
#include "schema.h"

#include "utils/fmgrprotos.h"

ALINEO_SQL_FUNCTION(alineo_sql_save_environment);
ALINEO_SQL_FUNCTION(alineo_sql_delete_environment);
ALINEO_SQL_FUNCTION(alineo_sql_get_environment);
ALINEO_SQL_FUNCTION(alineo_sql_list_environments);

Datum alineo_sql_save_environment(PG_FUNCTION_ARGS)
{
    static const char *const names[] = {"name", "snapshot_id", "image"};
    alineo_call call;
    alineo_integer built_at = alineo_arg_integer(fcinfo, 3);

    alineo_call_begin(&call, fcinfo, "alineo_save_environment");
    for (int i = 0; i < 3; i++)
        alineo_require(&call.error,
                       alineo_check_text(&call.error, names[i], alineo_arg_text(fcinfo, i),
                                         ALINEO_NAME_BYTES));
    alineo_require(&call.error,
                   alineo_check_integer(&call.error, "built_at", built_at, 0, PG_INT64_MAX));
    alineo_schema_need(&call, ALINEO_ENVIRONMENTS_TABLE);
    Datum values[] = {PG_GETARG_DATUM(0), PG_GETARG_DATUM(1), PG_GETARG_DATUM(2),
                      Int64GetDatum(built_at.given ? built_at.value : alineo_now())};
    (void)alineo_ledger_write(call.ledger, ALINEO_SAVE_ENVIRONMENT, values, NULL);
    alineo_call_end(&call);
    PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

Datum alineo_sql_delete_environment(PG_FUNCTION_ARGS)
{
    alineo_call call;
    uint64 deleted = 0;

    alineo_call_begin(&call, fcinfo, "alineo_delete_environment");
    alineo_require(&call.error, alineo_check_text(&call.error, "name", alineo_arg_text(fcinfo, 0),
                                                  ALINEO_NAME_BYTES));
    if (alineo_schema_has(&call, ALINEO_ENVIRONMENTS_TABLE)) {
        Datum values[] = {PG_GETARG_DATUM(0)};
        deleted = alineo_ledger_write(call.ledger, ALINEO_DELETE_ENVIRONMENT, values, NULL);
    }
    alineo_call_end(&call);
    PG_RETURN_INT64((int64)deleted);
}

static Datum environments(FunctionCallInfo fcinfo, const char *name, alineo_statement statement)
{
    alineo_call call;
    alineo_rows rows;
    Datum values[] = {PG_NARGS() > 0 ? PG_GETARG_DATUM(0) : (Datum)0};

    alineo_call_begin(&call, fcinfo, name);
    alineo_rows_begin(&rows, fcinfo);
    if (alineo_schema_has(&call, ALINEO_ENVIRONMENTS_TABLE))
        alineo_cursor_all(call.ledger, statement, values, NULL, true, alineo_rows_copy, &rows);
    alineo_call_end(&call);
    return (Datum)0;
}

Datum alineo_sql_get_environment(PG_FUNCTION_ARGS)
{
    return environments(fcinfo, "alineo_get_environment", ALINEO_GET_ENVIRONMENT);
}

Datum alineo_sql_list_environments(PG_FUNCTION_ARGS)
{
    return environments(fcinfo, "alineo_list_environments", ALINEO_LIST_ENVIRONMENTS);
}
