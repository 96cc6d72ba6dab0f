/*
 * sandboxes.c - alineo_list_sandboxes, alineo_get_sandbox and
 * alineo_delete_sandbox. docs/reference.md.
 *
 * The query walks the sessions, newest first. What a payload decides (run_id)
 * is filtered here, with what the core reads of it; only for a row that stays
 * are its execs counted, and the walk ends with the last row wanted. A name that
 * only few sessions have would mean a long walk past all others: these are found
 * by their name, and sorted.
 */
#include "guard.h"
#include "rows.h"
#include "schema.h"
#include "stored.h"

#include "catalog/pg_type.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "../shared/row.h"

ALINEO_SQL_FUNCTION(alineo_sql_list_sandboxes);
ALINEO_SQL_FUNCTION(alineo_sql_get_sandbox);
ALINEO_SQL_FUNCTION(alineo_sql_delete_sandbox);

/* Columns of SANDBOXES in statements.c, and of the result. */
enum { GIVEN_NAME, GIVEN_ID, GIVEN_STARTED, GIVEN_COMPLETED, GIVEN_PAYLOAD };
enum {
    NAME,
    SANDBOX_ID,
    STATUS,
    STARTED_AT,
    COMPLETED_AT,
    EXEC_COUNT,
    RUN_ID,
    RESOURCE_ID,
    TEAM_ID,
    PARENT,
    RESUMED_FROM,
    COLUMNS
};

static const struct {
    int column;
    alineo_field field;
} from_payload[] = {
    {RUN_ID, ALINEO_FIELD_RUN_ID},
    {RESOURCE_ID, ALINEO_FIELD_RESOURCE_ID},
    {TEAM_ID, ALINEO_FIELD_TEAM_ID},
    {PARENT, ALINEO_FIELD_PARENT},
    {RESUMED_FROM, ALINEO_FIELD_RESUMED_FROM},
};

typedef struct sandboxes {
    alineo_call *call;
    alineo_rows rows;
    alineo_span run_id; /* what is listed, `at` NULL for any */
    int64 left;         /* rows still wanted */
    alineo_jsonb_reader reader;
    alineo_buffer text;
    MemoryContext row;
} sandboxes;

static void name_session(void *slot)
{
    alineo_span id = alineo_text_span(((TupleTableSlot *)slot)->tts_values[GIVEN_ID]);

    errcontext("payload of the first sandbox.created of sandbox_id '%.*s'",
               (int)Min(id.len, ALINEO_NAME_BYTES), id.at);
}

/* The payload as JSONB, whatever its type; NULL where it is damaged. Where it is
 * lost, the server's error names the session. */
static Jsonb *payload_of(sandboxes *list, TupleTableSlot *slot)
{
    Oid type = TupleDescAttr(slot->tts_tupleDescriptor, GIVEN_PAYLOAD)->atttypid;
    ErrorContextCallback context = {error_context_stack, name_session, slot};
    Jsonb *payload;
    alineo_scan scan;

    error_context_stack = &context;
    if (getBaseType(type) == JSONBOID)
        payload = DatumGetJsonbP(slot->tts_values[GIVEN_PAYLOAD]);
    else
        payload = alineo_stored_payload(list->call, slot->tts_values[GIVEN_PAYLOAD], type, &scan);
    error_context_stack = context.previous;
    return payload;
}

static void read_payload(sandboxes *list, TupleTableSlot *slot, Datum *values, bool *nulls)
{
    Jsonb *payload = slot->tts_isnull[GIVEN_PAYLOAD] ? NULL : payload_of(list, slot);
    alineo_fields fields;

    alineo_fields_clear(&fields);
    if (payload != NULL)
        alineo_jsonb_fields(&list->reader, payload, &fields);
    for (size_t i = 0; i < lengthof(from_payload); i++) {
        alineo_span text =
            alineo_row_text(alineo_fields_any(&fields, from_payload[i].field), &list->text);
        nulls[from_payload[i].column] = text.at == NULL;
        if (text.at != NULL)
            values[from_payload[i].column] = alineo_text_datum(text);
    }
    if (nulls[RUN_ID])
        values[RUN_ID] = values[SANDBOX_ID];
    nulls[RUN_ID] = false;
}

/* A time as bigint, whatever the table has. */
static Datum time_of(sandboxes *list, TupleTableSlot *slot, int column)
{
    Oid type = TupleDescAttr(slot->tts_tupleDescriptor, column)->atttypid;
    alineo_error *error = &list->call->error;
    int64 time = 0;

    if (slot->tts_isnull[column] || type == INT8OID)
        return slot->tts_values[column];
    if (!alineo_stored_integer(slot->tts_values[column], type, &time)) {
        alineo_span id = alineo_text_span(slot->tts_values[GIVEN_ID]);
        alineo_require(error, alineo_fail(error, ALINEO_DAMAGED,
                                          "ts of an event of sandbox_id '%.*s' is not an integer",
                                          (int)Min(id.len, ALINEO_NAME_BYTES), id.at));
    }
    return Int64GetDatum(time);
}

static void put(sandboxes *list, TupleTableSlot *slot)
{
    bool completed = !slot->tts_isnull[GIVEN_COMPLETED];
    alineo_status status = completed ? ALINEO_COMPLETED : ALINEO_RUNNING;
    Datum values[COLUMNS];
    bool nulls[COLUMNS] = {
        [COMPLETED_AT] = !completed, [STARTED_AT] = slot->tts_isnull[GIVEN_STARTED]};
    int64 execs = 0;

    values[NAME] = slot->tts_values[GIVEN_NAME];
    values[SANDBOX_ID] = slot->tts_values[GIVEN_ID];
    values[STARTED_AT] = time_of(list, slot, GIVEN_STARTED);
    values[COMPLETED_AT] = time_of(list, slot, GIVEN_COMPLETED);
    read_payload(list, slot, values, nulls);
    if (list->run_id.at != NULL &&
        !alineo_span_equal(list->run_id, alineo_text_span(values[RUN_ID])))
        return;
    const char *word = alineo_status_text(status);
    values[STATUS] = alineo_text_datum((alineo_span){word, strlen(word)});
    (void)alineo_ledger_ask(list->call->ledger, ALINEO_COUNT_EXECS, values, NULL, true, &execs);
    values[EXEC_COUNT] = Int64GetDatum(execs);
    alineo_rows_put(&list->rows, values, nulls);
    list->left--;
}

static void on_row(void *context, TupleTableSlot *slot)
{
    sandboxes *list = context;

    if (list->left == 0)
        return;
    slot_getallattrs(slot);
    MemoryContext before = MemoryContextSwitchTo(list->row);
    put(list, slot);
    MemoryContextSwitchTo(before);
    MemoryContextReset(list->row);
}

static void begin(sandboxes *list, alineo_call *call, FunctionCallInfo fcinfo)
{
    memset(list, 0, sizeof *list);
    list->call = call;
    list->left = PG_INT64_MAX;
    alineo_rows_begin(&list->rows, fcinfo);
    alineo_jsonb_reader_init(&list->reader, &call->memory, call->context);
    alineo_buffer_init(&list->text, &call->memory);
    list->row = AllocSetContextCreate(call->context, "alineo row", ALLOCSET_DEFAULT_SIZES);
}

/* The last started_at that is listed, where `before` bounds it or is NULL. */
static int64 last_started(sandboxes *list, FunctionCallInfo fcinfo, int before)
{
    if (PG_ARGISNULL(before))
        return PG_INT64_MAX;
    if (PG_GETARG_INT64(before) > PG_INT64_MIN)
        return PG_GETARG_INT64(before) - 1;
    list->left = 0;
    return PG_INT64_MIN;
}

/* Reads until the rows or the sessions end. Sessions are fetched few at first:
 * a page is what is mostly asked for. */
static void run(sandboxes *list, alineo_statement statement, Datum *values, const char *nulls)
{
    alineo_cursor cursor;
    long fetch = 16;

    if (!alineo_schema_has(list->call, ALINEO_EVENTS_TABLE))
        return;
    alineo_cursor_open(&cursor, list->call->ledger, statement, values, nulls, true, on_row, list);
    while (list->left > 0 && alineo_cursor_fetch(&cursor, Min(fetch, list->left)) > 0)
        if (fetch < ALINEO_FETCH)
            fetch *= 2;
    alineo_cursor_close(&cursor);
}

/* Whether the name is of few sessions only; false too where that would be as
 * long a search as the list itself. */
static bool is_of_few(sandboxes *list, Datum name)
{
    alineo_ledger *ledger = list->call->ledger;
    Datum values[] = {name, Int64GetDatum(ALINEO_FEW_SESSIONS)};
    int64 found = 0;

    return OidIsValid(alineo_ledger_relation(ledger, ALINEO_SESSION_INDEX)) &&
           alineo_ledger_ask(ledger, ALINEO_FEW_OF_NAME, values, NULL, true, &found) &&
           found < ALINEO_FEW_SESSIONS;
}

Datum alineo_sql_list_sandboxes(PG_FUNCTION_ARGS)
{
    enum { NAME_GIVEN, STATUS_GIVEN, RUN_ID_GIVEN, BEFORE, MAX_ROWS };
    alineo_call call;
    sandboxes list;
    alineo_status status = ALINEO_ANY;
    alineo_integer max_rows = alineo_arg_integer(fcinfo, MAX_ROWS);
    char nulls[] = "   ";

    alineo_call_begin(&call, fcinfo, "alineo_list_sandboxes");
    begin(&list, &call, fcinfo);
    alineo_require(&call.error, alineo_check_status(
                                    &call.error, alineo_arg_text(fcinfo, STATUS_GIVEN), &status));
    alineo_require(&call.error,
                   alineo_check_integer(&call.error, "max_rows", max_rows, 0, PG_INT64_MAX));
    list.run_id = alineo_arg_text(fcinfo, RUN_ID_GIVEN);
    if (max_rows.given)
        list.left = max_rows.value;
    Datum values[] = {PG_ARGISNULL(NAME_GIVEN) ? (Datum)0 : PG_GETARG_DATUM(NAME_GIVEN),
                      Int64GetDatum(last_started(&list, fcinfo, BEFORE)),
                      BoolGetDatum(status == ALINEO_COMPLETED)};
    nulls[0] = PG_ARGISNULL(NAME_GIVEN) ? 'n' : ' ';
    nulls[1] = PG_ARGISNULL(BEFORE) ? 'n' : ' ';
    nulls[2] = status == ALINEO_ANY ? 'n' : ' ';
    bool few = !PG_ARGISNULL(NAME_GIVEN) && is_of_few(&list, values[0]);
    run(&list,
        few                    ? ALINEO_LIST_OF_NAME
        : PG_ARGISNULL(BEFORE) ? ALINEO_LIST_SANDBOXES
                               : ALINEO_LIST_BEFORE,
        values, nulls);
    alineo_call_end(&call);
    return (Datum)0;
}

Datum alineo_sql_get_sandbox(PG_FUNCTION_ARGS)
{
    alineo_call call;
    sandboxes list;
    Datum values[] = {PG_GETARG_DATUM(0), PG_GETARG_DATUM(1)};

    alineo_call_begin(&call, fcinfo, "alineo_get_sandbox");
    begin(&list, &call, fcinfo);
    run(&list, ALINEO_GET_SANDBOX, values, NULL);
    alineo_call_end(&call);
    return (Datum)0;
}

Datum alineo_sql_delete_sandbox(PG_FUNCTION_ARGS)
{
    alineo_call call;
    uint64 deleted = 0;

    alineo_call_begin(&call, fcinfo, "alineo_delete_sandbox");
    alineo_require(&call.error, alineo_check_text(&call.error, "name", alineo_arg_text(fcinfo, 0),
                                                  ALINEO_NAME_BYTES));
    alineo_require(&call.error, alineo_check_text(&call.error, "sandbox_id",
                                                  alineo_arg_text(fcinfo, 1), ALINEO_NAME_BYTES));
    if (alineo_schema_has(&call, ALINEO_EVENTS_TABLE)) {
        Datum values[] = {PG_GETARG_DATUM(0), PG_GETARG_DATUM(1)};
        deleted = alineo_guard_write(call.ledger, ALINEO_DELETE_SANDBOX, values, NULL);
    }
    alineo_call_end(&call);
    PG_RETURN_INT64((int64)deleted);
}
