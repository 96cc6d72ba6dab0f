/*
 * append.c - alineo_append: one event, through the executor like any INSERT.
 * docs/reference.md.
 */
#include "later.h"
#include "payload.h"
#include "schema.h"

#include "utils/fmgrprotos.h"

ALINEO_SQL_FUNCTION(alineo_sql_append);
ALINEO_SQL_FUNCTION(alineo_sql_append_jsonb);

enum { NAME, SANDBOX_ID, EVENT, PAYLOAD, STEP_IDX, BRANCH, ERROR_TEXT, TS, COUNT };

static void read_arguments(FunctionCallInfo fcinfo, alineo_entry *entry)
{
    memset(entry, 0, sizeof *entry);
    entry->name = alineo_arg_text(fcinfo, NAME);
    entry->sandbox_id = alineo_arg_text(fcinfo, SANDBOX_ID);
    entry->event = alineo_arg_text(fcinfo, EVENT);
    entry->step_idx = alineo_arg_integer(fcinfo, STEP_IDX);
    entry->branch = alineo_arg_integer(fcinfo, BRANCH);
    entry->error = alineo_arg_text(fcinfo, ERROR_TEXT);
    entry->ts = alineo_arg_integer(fcinfo, TS);
}

/* The argument as it came, unless the check gave another text. */
static Datum text_value(FunctionCallInfo fcinfo, int argument, alineo_span checked)
{
    if (checked.at == NULL)
        return (Datum)0;
    if (checked.at == alineo_arg_text(fcinfo, argument).at)
        return PG_GETARG_DATUM(argument);
    return alineo_text_datum(checked);
}

/* Stores a checked entry and returns its id. */
static Datum store(FunctionCallInfo fcinfo, alineo_call *call, const alineo_entry *entry,
                   const Jsonb *payload)
{
    char nulls[COUNT + 1] = "        ";
    int64 ts = entry->ts.given ? entry->ts.value : alineo_now();
    int64 id;
    Datum values[COUNT] = {
        [NAME] = PG_GETARG_DATUM(NAME),
        [SANDBOX_ID] = PG_GETARG_DATUM(SANDBOX_ID),
        [EVENT] = text_value(fcinfo, EVENT, entry->event),
        [PAYLOAD] = PointerGetDatum(payload),
        [STEP_IDX] = Int32GetDatum((int32)entry->step_idx.value),
        [BRANCH] = Int32GetDatum((int32)entry->branch.value),
        [ERROR_TEXT] = text_value(fcinfo, ERROR_TEXT, entry->error),
        [TS] = Int64GetDatum(ts),
    };

    nulls[PAYLOAD] = payload == NULL ? 'n' : ' ';
    nulls[BRANCH] = entry->branch.given ? ' ' : 'n';
    nulls[ERROR_TEXT] = entry->error.at == NULL ? 'n' : ' ';
    alineo_schema_need(call, ALINEO_EVENTS_TABLE);
    bool look =
        !entry->ts.given && alineo_later_possible(call, values[NAME], values[SANDBOX_ID], ts);
    bool stored = alineo_ledger_ask(call->ledger, look ? ALINEO_APPEND_NOW : ALINEO_APPEND, values,
                                    nulls, false, &id);
    alineo_call_end(call);
    /* A trigger may have kept the row from being stored. */
    if (!stored)
        PG_RETURN_NULL();
    PG_RETURN_INT64(id);
}

/* For text and json, which hold the same. */
Datum alineo_sql_append(PG_FUNCTION_ARGS)
{
    alineo_call call;
    alineo_entry entry;
    alineo_entry_reader reader;
    alineo_buffer scratch;
    Jsonb *payload = NULL;

    alineo_call_begin(&call, fcinfo, "alineo_append");
    read_arguments(fcinfo, &entry);
    entry.payload = alineo_arg_text(fcinfo, PAYLOAD);
    alineo_entry_reader_init(&reader, &call.memory);
    alineo_require(&call.error, alineo_entry_check(&reader, &entry, &alineo_entry_arguments, false,
                                                   &call.error));
    if (entry.payload.at != NULL) {
        alineo_buffer_init(&scratch, &call.memory);
        payload = alineo_payload_jsonb(&scratch, entry.payload, entry.special);
    }
    return store(fcinfo, &call, &entry, payload);
}

Datum alineo_sql_append_jsonb(PG_FUNCTION_ARGS)
{
    alineo_call call;
    alineo_entry entry;
    alineo_entry_reader reader;
    Jsonb *payload = NULL;

    alineo_call_begin(&call, fcinfo, "alineo_append");
    read_arguments(fcinfo, &entry);
    alineo_entry_reader_init(&reader, &call.memory);
    if (PG_ARGISNULL(PAYLOAD))
        alineo_require(&call.error, alineo_entry_check(&reader, &entry, &alineo_entry_arguments,
                                                       false, &call.error));
    else
        payload = alineo_payload_check(&call, &reader, &entry, PG_GETARG_JSONB_P(PAYLOAD));
    return store(fcinfo, &call, &entry, payload);
}
