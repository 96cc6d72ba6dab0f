/*
 * store.c - see store.h.
 *
 * A session's events, which may be millions, are visited where the executor
 * has them: on the page, unless a payload is compressed, out of line or not
 * aligned. The few rows of other queries are copied and handed out one by one,
 * because the core stops at the first that it likes.
 */
#include "store.h"

#include "access/htup_details.h"

#include "schema.h"

enum { SMALL_FETCH = 20 };

/* Reads a payload into the row's fields. Returns what must be freed once the
 * fields have been used, or NULL. */
static struct varlena *read_payload(alineo_pg_store *store, Datum datum)
{
    if (store->stored.damaged_payload)
        alineo_require(
            &store->call->error,
            alineo_row_damaged_payload(&store->row, &store->stored.scan, &store->call->error));

    struct varlena *value = (struct varlena *)DatumGetPointer(datum);
    struct varlena *flat = NULL;

    if (VARATT_IS_SHORT(value) && !VARATT_IS_EXTERNAL(value)) {
        size_t size = VARSIZE_SHORT(value) - VARHDRSZ_SHORT;
        store->aligned.len = 0;
        char *to = alineo_buffer_reserve(&store->aligned, VARHDRSZ + size);
        alineo_require_memory(&store->aligned);
        SET_VARSIZE(to, VARHDRSZ + size);
        memcpy(to + VARHDRSZ, VARDATA_SHORT(value), size);
        value = (struct varlena *)(void *)to;
    } else if (VARATT_IS_EXTENDED(value)) {
        value = flat = (struct varlena *)alineo_stored_detoast(datum, store->row.id);
    }
    alineo_jsonb_fields(&store->reader, (Jsonb *)value, &store->row.fields);
    if (store->reader.state != ALINEO_JSONB_SOUND)
        alineo_require(&store->call->error,
                       alineo_fail(&store->call->error, ALINEO_DAMAGED,
                                   "payload of event %lld is %s", (long long)store->row.id,
                                   store->reader.state == ALINEO_JSONB_TOO_DEEP
                                       ? "nested deeper than 1000 levels"
                                       : "no valid JSONB"));
    return flat;
}

/* Only a table that is not ours could have a NULL in ts. */
static void read_ts(alineo_row *row, const Datum *values, const bool *nulls)
{
    row->ts = nulls[ALINEO_COLUMN_TS] ? 0 : DatumGetInt64(values[ALINEO_COLUMN_TS]);
    if (nulls[ALINEO_COLUMN_TS])
        row->damaged |= ALINEO_COLUMN_BIT_TS;
}

/* Reads the columns before the payload; a step_idx that is not there stands for
 * none. */
static void read_row(alineo_pg_store *store, const Datum *values, const bool *nulls)
{
    alineo_row *row = &store->row;

    row->damaged = store->stored.damaged;
    row->id = nulls[ALINEO_COLUMN_ID] ? 0 : DatumGetInt64(values[ALINEO_COLUMN_ID]);
    row->step_idx =
        nulls[ALINEO_COLUMN_STEP_IDX] ? -1 : DatumGetInt32(values[ALINEO_COLUMN_STEP_IDX]);
    row->event = ALINEO_EVENT_OTHER;
    if (!nulls[ALINEO_COLUMN_EVENT])
        row->event = alineo_event_of(alineo_text_span(values[ALINEO_COLUMN_EVENT]));
}

/* Hands the row over; `slot` where ts may not have been taken from it yet. */
static void visit(alineo_pg_store *store, const Datum *values, const bool *nulls,
                  TupleTableSlot *slot)
{
    alineo_row *row = &store->row;
    struct varlena *flat = NULL;

    read_row(store, values, nulls);
    if ((row->damaged & (ALINEO_COLUMN_BIT_ID | ALINEO_COLUMN_BIT_EVENT)) == 0 &&
        ((row->id >= store->before && store->before < PG_INT64_MAX) ||
         (row->event != ALINEO_EXEC_OUTPUT && row->event != ALINEO_EXEC_STARTED &&
          row->event != ALINEO_EXEC_COMPLETED)))
        return;
    row->ts = 0;
    if (row->event != ALINEO_EXEC_OUTPUT) {
        /* The fold asks no output for its time; most events are output, and
         * the last column costs most to get at. */
        slot_getallattrs(slot);
        read_ts(row, values, nulls);
    }
    alineo_fields_clear(&row->fields);
    if (!nulls[ALINEO_COLUMN_PAYLOAD] && row->event != ALINEO_EVENT_OTHER)
        flat = read_payload(store, values[ALINEO_COLUMN_PAYLOAD]);
    if (!store->visit(store->argument, row))
        alineo_cursor_stop(&store->cursor);
    if (flat != NULL)
        pfree(flat);
}

static void visit_row(void *context, TupleTableSlot *slot)
{
    alineo_pg_store *store = context;
    alineo_stored *stored = &store->stored;
    Datum values[ALINEO_COLUMNS];

    alineo_stored_look(stored, slot->tts_tupleDescriptor);
    if (stored->plain) {
        slot_getsomeattrs(slot, ALINEO_COLUMN_PAYLOAD + 1);
        alineo_stored_plain(stored, slot->tts_isnull);
        MemoryContext before = MemoryContextSwitchTo(store->call->context);
        visit(store, slot->tts_values, slot->tts_isnull, slot);
        MemoryContextSwitchTo(before);
        return;
    }
    slot_getallattrs(slot);
    MemoryContext before = MemoryContextSwitchTo(store->kept);
    memcpy(values, slot->tts_values, sizeof values);
    alineo_stored_columns(stored, values, slot->tts_isnull);
    visit(store, values, slot->tts_isnull, slot);
    MemoryContextSwitchTo(before);
    MemoryContextReset(store->kept);
}

static void keep_row(void *context, TupleTableSlot *slot)
{
    alineo_pg_store *store = context;
    MemoryContext before = MemoryContextSwitchTo(store->kept);
    HeapTuple tuple = ExecCopySlotHeapTuple(slot);

    alineo_buffer_put(&store->rows, (const char *)&tuple, sizeof tuple);
    alineo_require_memory(&store->rows);
    if (store->type == NULL)
        store->type = CreateTupleDescCopy(slot->tts_tupleDescriptor);
    MemoryContextSwitchTo(before);
}

static void forget_rows(alineo_pg_store *store)
{
    MemoryContextReset(store->kept);
    store->rows.len = 0;
    store->next = 0;
    store->type = NULL;
}

/* Opens a query; without tables, none is open and there are no rows. */
static void open_query(alineo_pg_store *store, alineo_query query, alineo_span name,
                       alineo_span sandbox_id, int64_t before, alineo_on_row on_row)
{
    alineo_statement statement = (alineo_statement)(ALINEO_SELECT_SANDBOX + (int)query);
    bool any_name = name.at == NULL;

    store->cursor.portal = NULL;
    if (!alineo_schema_has(store->call, ALINEO_EVENTS_TABLE))
        return;
    MemoryContextReset(store->parameters);
    MemoryContext old = MemoryContextSwitchTo(store->parameters);
    Datum values[] = {any_name ? (Datum)0 : alineo_text_datum(name), alineo_text_datum(sandbox_id),
                      Int64GetDatum(before)};
    alineo_cursor_open(&store->cursor, store->call->ledger, statement, values,
                       any_name ? "n  " : "   ", true, on_row, store);
    MemoryContextSwitchTo(old);
}

static alineo_code store_each(void *context, alineo_query query, alineo_span name,
                              alineo_span sandbox_id, int64_t before, alineo_visit visit,
                              void *argument, alineo_error *error)
{
    alineo_pg_store *store = context;

    (void)error;
    store->visit = visit;
    store->argument = argument;
    store->before = before;
    open_query(store, query, name, sandbox_id, before, visit_row);
    while (store->cursor.portal != NULL && !store->cursor.stopped &&
           alineo_cursor_fetch(&store->cursor, ALINEO_FETCH) > 0)
        continue;
    alineo_cursor_close(&store->cursor);
    return ALINEO_OK;
}

static alineo_code store_open(void *context, alineo_query query, alineo_span name,
                              alineo_span sandbox_id, int64_t before, alineo_error *error)
{
    alineo_pg_store *store = context;

    (void)error;
    forget_rows(store);
    open_query(store, query, name, sandbox_id, before, keep_row);
    return ALINEO_OK;
}

static alineo_code store_next(void *context, alineo_row *row, bool *found, alineo_error *error)
{
    alineo_pg_store *store = context;
    Datum values[ALINEO_COLUMNS];
    bool nulls[ALINEO_COLUMNS];

    (void)error;
    *found = false;
    if (store->next == store->rows.len / sizeof(HeapTuple)) {
        forget_rows(store);
        if (store->cursor.portal == NULL || alineo_cursor_fetch(&store->cursor, SMALL_FETCH) == 0)
            return ALINEO_OK;
    }
    *found = true;
    HeapTuple tuple = ((HeapTuple *)(void *)store->rows.at)[store->next++];
    heap_deform_tuple(tuple, store->type, values, nulls);
    /* What is made of the row stays until the rows fetched with it go. */
    MemoryContext before = MemoryContextSwitchTo(store->kept);
    alineo_stored_look(&store->stored, store->type);
    alineo_stored_columns(&store->stored, values, nulls);
    read_row(store, values, nulls);
    read_ts(&store->row, values, nulls);
    alineo_fields_clear(&store->row.fields);
    if (!nulls[ALINEO_COLUMN_PAYLOAD])
        (void)read_payload(store, values[ALINEO_COLUMN_PAYLOAD]);
    store->row.name = store->row.sandbox_id = (alineo_span){NULL, 0};
    if (nulls[ALINEO_COLUMN_NAME])
        store->row.damaged |= ALINEO_COLUMN_BIT_NAME;
    else
        store->row.name = alineo_text_span(values[ALINEO_COLUMN_NAME]);
    if (!nulls[ALINEO_COLUMN_SANDBOX_ID])
        store->row.sandbox_id = alineo_text_span(values[ALINEO_COLUMN_SANDBOX_ID]);
    *row = store->row;
    MemoryContextSwitchTo(before);
    return ALINEO_OK;
}

static void store_close(void *context)
{
    alineo_pg_store *store = context;

    alineo_cursor_close(&store->cursor);
    forget_rows(store);
}

void alineo_store_init(alineo_pg_store *store, alineo_call *call)
{
    memset(store, 0, sizeof *store);
    store->store = (alineo_store){store, store_open, store_next, store_close, store_each};
    store->call = call;
    alineo_jsonb_reader_init(&store->reader, &call->memory, call->context);
    alineo_stored_init(&store->stored, call);
    alineo_buffer_init(&store->aligned, &call->memory);
    alineo_buffer_init(&store->rows, &call->memory);
    store->parameters =
        AllocSetContextCreate(call->context, "alineo parameters", ALLOCSET_SMALL_SIZES);
    store->kept = AllocSetContextCreate(call->context, "alineo rows", ALLOCSET_DEFAULT_SIZES);
}
