/*
 * append_batch.c - alineo_append_batch. docs/reference.md.
 *
 * Entries are decoded into a tuplestore, and one INSERT ... SELECT at a time
 * takes them from it, some thousands at once. The tuplestore is known to that
 * statement by name only (an ephemeral relation, as a trigger's transition
 * table is). It is all one statement of the caller's: an entry at fault undoes
 * everything before it.
 */
#include "payload.h"
#include "schema.h"

#include "catalog/pg_type.h"
#include "utils/fmgrprotos.h"
#include "utils/queryenvironment.h"
#include "utils/tuplestore.h"

#include "../shared/batch.h"
#include "../shared/map.h"

ALINEO_SQL_FUNCTION(alineo_sql_append_batch);
ALINEO_SQL_FUNCTION(alineo_sql_append_batch_jsonb);

/* Rows are inserted when they are so many, or before the tuplestore would
 * spill to disk. */
enum { CHUNK_ROWS = 10000 };

/* What rows needed is released after so many, or after one that is large. */
enum { ROWS_BETWEEN_RESETS = 64, LARGE_ROW = 8192, ROW_TEXT = 512 };

enum { NAME, SANDBOX_ID, EVENT, PAYLOAD, STEP_IDX, BRANCH, ERROR_TEXT, TS, COLUMNS };

typedef struct append_batch {
    alineo_call *call;
    alineo_batch reader;
    TupleDesc type;
    EphemeralNamedRelationData relation;
    Tuplestorestate *rows;
    uint64 waiting; /* rows in the tuplestore, */
    size_t bytes;   /* and about how large they are */
    int64 appended;
    alineo_buffer scratch;
    MemoryContext row; /* what one row needs */
} append_batch;

static TupleDesc row_type(void)
{
    TupleDesc type = CreateTemplateTupleDesc(COLUMNS);

    TupleDescInitEntry(type, NAME + 1, "name", TEXTOID, -1, 0);
    TupleDescInitEntry(type, SANDBOX_ID + 1, "sandbox_id", TEXTOID, -1, 0);
    TupleDescInitEntry(type, EVENT + 1, "event", TEXTOID, -1, 0);
    TupleDescInitEntry(type, PAYLOAD + 1, "payload", JSONBOID, -1, 0);
    TupleDescInitEntry(type, STEP_IDX + 1, "step_idx", INT4OID, -1, 0);
    TupleDescInitEntry(type, BRANCH + 1, "branch", INT4OID, -1, 0);
    TupleDescInitEntry(type, ERROR_TEXT + 1, "error", TEXTOID, -1, 0);
    TupleDescInitEntry(type, TS + 1, "ts", INT8OID, -1, 0);
    return type;
}

static void start_rows(append_batch *batch)
{
    MemoryContext before = MemoryContextSwitchTo(batch->call->context);

    batch->rows = tuplestore_begin_heap(false, false, work_mem);
    batch->relation.reldata = batch->rows;
    MemoryContextSwitchTo(before);
}

static void start(append_batch *batch, alineo_call *call, alineo_span entries)
{
    MemoryContext before = MemoryContextSwitchTo(call->context);

    memset(batch, 0, sizeof *batch);
    batch->call = call;
    alineo_batch_init(&batch->reader, &call->memory, entries);
    batch->type = row_type();
    start_rows(batch);
    alineo_buffer_init(&batch->scratch, &call->memory);
    batch->row = AllocSetContextCreate(call->context, "alineo row", ALLOCSET_DEFAULT_SIZES);
    batch->relation.md.name = pstrdup(ALINEO_ENTRIES_NAME);
    batch->relation.md.reliddesc = InvalidOid;
    batch->relation.md.tupdesc = batch->type;
    batch->relation.md.enrtype = ENR_NAMED_TUPLESTORE;
    batch->relation.md.enrtuples = CHUNK_ROWS;
    if (SPI_register_relation(&batch->relation) != SPI_OK_REL_REGISTER)
        elog(ERROR, "could not register a relation");
    MemoryContextSwitchTo(before);
}

static void flush(append_batch *batch)
{
    if (batch->waiting == 0)
        return;
    batch->appended +=
        (int64)alineo_ledger_write(batch->call->ledger, ALINEO_APPEND_ROWS, NULL, NULL);
    /* A scan leaves a read position behind, so each chunk has its own store. */
    tuplestore_end(batch->rows);
    start_rows(batch);
    batch->waiting = 0;
    batch->bytes = 0;
}

static alineo_code ask_latest(void *context, const alineo_entry *entry, int64_t *latest,
                              alineo_error *error)
{
    append_batch *batch = context;
    Datum values[] = {alineo_text_datum(entry->name), alineo_text_datum(entry->sandbox_id)};

    (void)error; /* what fails there does not return */
    (void)alineo_ledger_ask(batch->call->ledger, ALINEO_LATEST_TS, values, NULL, false, latest);
    return ALINEO_OK;
}

static void add(append_batch *batch, const alineo_entry *entry)
{
    Datum values[COLUMNS] = {
        [NAME] = alineo_text_datum(entry->name),
        [SANDBOX_ID] = alineo_text_datum(entry->sandbox_id),
        [EVENT] = alineo_text_datum(entry->event),
        [STEP_IDX] = Int32GetDatum((int32)entry->step_idx.value),
        [BRANCH] = Int32GetDatum((int32)entry->branch.value),
    };
    bool nulls[COLUMNS] = {
        [PAYLOAD] = entry->payload.at == NULL,
        [BRANCH] = !entry->branch.given,
        [ERROR_TEXT] = entry->error.at == NULL,
    };

    if (!nulls[ERROR_TEXT])
        values[ERROR_TEXT] = alineo_text_datum(entry->error);
    if (!nulls[PAYLOAD])
        values[PAYLOAD] =
            JsonbPGetDatum(alineo_payload_jsonb(&batch->scratch, entry->payload, entry->special));
    values[TS] = Int64GetDatum(entry->ts.value);
    tuplestore_putvalues(batch->rows, batch->type, values, nulls);
    batch->waiting++;
    batch->bytes += entry->payload.len + entry->error.len + 256;
    if (batch->waiting >= CHUNK_ROWS || batch->bytes >= (size_t)work_mem * 1024 / 2)
        flush(batch);
}

/* Adds the reader's next entry; false where there is none. */
static bool add_next(append_batch *batch)
{
    alineo_call *call = batch->call;
    alineo_entry entry;

    CHECK_FOR_INTERRUPTS();
    if (!alineo_batch_next(&batch->reader, &entry, &call->error)) {
        alineo_require(&call->error, call->error.code);
        return false;
    }
    if (batch->reader.count == 1)
        alineo_schema_need(call, ALINEO_EVENTS_TABLE);
    alineo_require(&call->error,
                   alineo_batch_ts(&batch->reader, &entry, entry.ts.given ? 0 : alineo_now(),
                                   ask_latest, batch, &call->error));
    add(batch, &entry);
    if (batch->reader.count % ROWS_BETWEEN_RESETS == 0 ||
        entry.payload.len + entry.error.len >= LARGE_ROW)
        MemoryContextReset(batch->row);
    return true;
}

/* Adds the elements of an array, or what is none as the only entry. Their texts
 * are made one by one: that of all would be as large as they are. */
static void add_jsonb(append_batch *batch, Jsonb *given)
{
    static const alineo_span no_object = {"0", 1};
    JsonbIterator *iterator = JsonbIteratorInit(&given->root);
    JsonbIteratorToken token;
    JsonbValue value;

    while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE) {
        JsonbContainer *container = NULL;
        alineo_span entry = no_object;
        if (token == WJB_BEGIN_OBJECT)
            container = &given->root;
        else if (token == WJB_ELEM && value.type == jbvBinary)
            container = value.val.binary.data;
        else if (token != WJB_ELEM)
            continue;
        MemoryContext before = MemoryContextSwitchTo(batch->row);
        if (container != NULL) {
            entry.at = JsonbToCString(NULL, container, ROW_TEXT);
            entry.len = strlen(entry.at);
        }
        alineo_batch_give(&batch->reader, entry);
        (void)add_next(batch);
        MemoryContextSwitchTo(before);
        if (token == WJB_BEGIN_OBJECT)
            break;
    }
}

static Datum finish(append_batch *batch)
{
    flush(batch);
    tuplestore_end(batch->rows);
    alineo_call_end(batch->call);
    PG_RETURN_INT64(batch->appended);
}

static void refuse_null(alineo_call *call)
{
    alineo_require(&call->error,
                   alineo_fail(&call->error, ALINEO_BAD_ARGUMENT, "entries must not be NULL"));
}

/* For text and json, which hold the same. */
Datum alineo_sql_append_batch(PG_FUNCTION_ARGS)
{
    alineo_call call;
    append_batch batch;

    alineo_call_begin(&call, fcinfo, "alineo_append_batch");
    if (PG_ARGISNULL(0))
        refuse_null(&call);
    start(&batch, &call, alineo_arg_text(fcinfo, 0));
    MemoryContext before = MemoryContextSwitchTo(batch.row);
    while (add_next(&batch))
        continue;
    MemoryContextSwitchTo(before);
    return finish(&batch);
}

Datum alineo_sql_append_batch_jsonb(PG_FUNCTION_ARGS)
{
    alineo_call call;
    append_batch batch;

    alineo_call_begin(&call, fcinfo, "alineo_append_batch");
    if (PG_ARGISNULL(0))
        refuse_null(&call);
    start(&batch, &call, (alineo_span){NULL, 0});
    add_jsonb(&batch, PG_GETARG_JSONB_P(0));
    return finish(&batch);
}
