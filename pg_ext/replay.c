/*
 * replay.c - alineo_replay and alineo_last_checkpoint: recorded events as rows.
 * docs/reference.md.
 */
#include "rows.h"
#include "schema.h"

ALINEO_SQL_FUNCTION(alineo_sql_replay);
ALINEO_SQL_FUNCTION(alineo_sql_last_checkpoint);

static Datum replay(FunctionCallInfo fcinfo, const char *name, alineo_statement statement)
{
    alineo_replay_rows rows;
    alineo_call call;

    alineo_call_begin(&call, fcinfo, name);
    alineo_replay_begin(&rows, &call, fcinfo);
    if (alineo_schema_has(&call, ALINEO_EVENTS_TABLE)) {
        Datum values[] = {PG_GETARG_DATUM(0), PG_GETARG_DATUM(1)};
        alineo_cursor_all(call.ledger, statement, values, NULL, true, alineo_replay_row, &rows);
    }
    alineo_call_end(&call);
    return (Datum)0;
}

Datum alineo_sql_replay(PG_FUNCTION_ARGS)
{
    return replay(fcinfo, "alineo_replay", ALINEO_REPLAY);
}

Datum alineo_sql_last_checkpoint(PG_FUNCTION_ARGS)
{
    return replay(fcinfo, "alineo_last_checkpoint", ALINEO_LAST_CHECKPOINT);
}
