/*
 * rows.c - see rows.h.
 *
 * A function that had to hold its result anyway does not gain from a disk: it
 * hands its memory over, row by row. But a query may call many such functions,
 * and their results all stay until it ends. So what they keep beyond work_mem
 * is counted, and is together no more than the largest of them.
 */
#include "rows.h"

#include "executor/executor.h"
#include "funcapi.h"
#include "utils/guc.h"

#include "../shared/vocabulary.h"

/* Bytes that results of this session may hold beyond work_mem. */
static size_t kept;

typedef struct keeping {
    MemoryContextCallback callback;
    size_t bytes;
} keeping;

static void stop_keeping(void *argument)
{
    kept -= ((keeping *)argument)->bytes;
}

/* Makes an empty store, which spills beyond so many KiB. */
static void make_store(alineo_rows *rows, int kb)
{
    bool random = (rows->info->allowedModes & SFRM_Materialize_Random) != 0;

    rows->store = tuplestore_begin_heap(random, false, kb);
    rows->info->setResult = rows->store;
}

void alineo_rows_begin(alineo_rows *rows, FunctionCallInfo fcinfo)
{
    ReturnSetInfo *info = (ReturnSetInfo *)fcinfo->resultinfo;
    MemoryContext before;

    if (info == NULL || !IsA(info, ReturnSetInfo) || (info->allowedModes & SFRM_Materialize) == 0)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("set-valued function called in context that cannot accept a set")));
    before = MemoryContextSwitchTo(info->econtext->ecxt_per_query_memory);
    if (get_call_result_type(fcinfo, NULL, &rows->type) != TYPEFUNC_COMPOSITE)
        elog(ERROR, "return type must be a row type");
    rows->type = BlessTupleDesc(rows->type);
    rows->info = info;
    make_store(rows, work_mem);
    info->returnMode = SFRM_Materialize;
    info->setDesc = rows->type;
    MemoryContextSwitchTo(before);
}

void alineo_rows_keep(alineo_rows *rows, size_t bytes)
{
    MemoryContext context = rows->info->econtext->ecxt_per_query_memory;

    if (bytes <= kept || (bytes - kept) / 1024 <= (size_t)work_mem ||
        (bytes - kept) / 1024 > MAX_KILOBYTES)
        return;
    keeping *keep = MemoryContextAlloc(context, sizeof *keep);
    keep->bytes = bytes - kept;
    keep->callback = (MemoryContextCallback){.func = stop_keeping, .arg = keep};
    MemoryContextRegisterResetCallback(context, &keep->callback);
    kept += keep->bytes;
    MemoryContext before = MemoryContextSwitchTo(context);
    tuplestore_end(rows->store);
    make_store(rows, (int)(keep->bytes / 1024));
    MemoryContextSwitchTo(before);
}

void alineo_rows_put(alineo_rows *rows, Datum *values, bool *nulls)
{
    CHECK_FOR_INTERRUPTS();
    tuplestore_putvalues(rows->store, rows->type, values, nulls);
}

void alineo_rows_copy(void *rows, TupleTableSlot *slot)
{
    tuplestore_puttupleslot(((alineo_rows *)rows)->store, slot);
}

void alineo_replay_begin(alineo_replay_rows *replay, alineo_call *call, FunctionCallInfo fcinfo)
{
    alineo_rows_begin(&replay->rows, fcinfo);
    replay->call = call;
    alineo_stored_init(&replay->stored, call);
    alineo_jsonb_reader_init(&replay->reader, &call->memory, call->context);
    replay->row = AllocSetContextCreate(call->context, "alineo row", ALLOCSET_DEFAULT_SIZES);
}

/* A bigint cannot show what is no integer: the error names the event. */
static void require_integers(alineo_replay_rows *replay, int64 id, const bool *nulls)
{
    const alineo_stored *stored = &replay->stored;
    alineo_row row = {.id = id, .damaged = stored->damaged};
    alineo_error *error = &replay->call->error;
    unsigned shown = ALINEO_COLUMN_BIT_TS | ALINEO_COLUMN_BIT_STEP_IDX |
                     (nulls[ALINEO_COLUMN_ID] ? 0 : ALINEO_COLUMN_BIT_ID);

    alineo_require(error, alineo_row_sound(&row, shown, error));
    if (stored->damaged_branch)
        alineo_require(error, alineo_fail(error, ALINEO_DAMAGED,
                                          "branch of event %lld is not an integer", (long long)id));
}

void alineo_replay_row(void *context, TupleTableSlot *slot)
{
    alineo_replay_rows *replay = context;
    alineo_stored *stored = &replay->stored;
    Datum values[ALINEO_COLUMNS];

    slot_getallattrs(slot);
    MemoryContext before = MemoryContextSwitchTo(replay->row);
    memcpy(values, slot->tts_values, sizeof values);
    alineo_stored_look(stored, slot->tts_tupleDescriptor);
    bool changed = !stored->plain;
    int64 id = 0;
    if (changed)
        alineo_stored_columns(stored, values, slot->tts_isnull);
    if (!slot->tts_isnull[ALINEO_COLUMN_ID])
        id = DatumGetInt64(values[ALINEO_COLUMN_ID]);
    if (changed)
        require_integers(replay, id, slot->tts_isnull);
    if (!slot->tts_isnull[ALINEO_COLUMN_EVENT]) {
        alineo_span event = alineo_text_span(values[ALINEO_COLUMN_EVENT]);
        alineo_span current = alineo_event_current(event);
        if (current.at != event.at) {
            values[ALINEO_COLUMN_EVENT] = alineo_text_datum(current);
            changed = true;
        }
    }
    if (!slot->tts_isnull[ALINEO_COLUMN_PAYLOAD] && !stored->damaged_payload &&
        alineo_stored_is_string(values[ALINEO_COLUMN_PAYLOAD], id)) {
        Jsonb *payload = alineo_stored_detoast(values[ALINEO_COLUMN_PAYLOAD], id);
        Jsonb *inner = alineo_jsonb_unwrap(&replay->reader, payload);
        if (inner != NULL) {
            values[ALINEO_COLUMN_PAYLOAD] = JsonbPGetDatum(inner);
            changed = true;
        }
    }
    if (changed)
        tuplestore_putvalues(replay->rows.store, replay->rows.type, values, slot->tts_isnull);
    else
        tuplestore_puttupleslot(replay->rows.store, slot);
    MemoryContextSwitchTo(before);
    MemoryContextReset(replay->row);
}
