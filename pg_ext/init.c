/*
 * init.c - alineo_init: makes the schema and brings what 0.2 wrote up to date.
 * docs/reference.md.
 *
 * Rows with a legacy event name, or with a payload that was encoded twice, are
 * read once and rewritten by one UPDATE that joins them with their new values,
 * a tuplestore it knows by name (see append_batch.c).
 */
#include "cursor.h"
#include "jsonb_fields.h"
#include "schema.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/queryenvironment.h"
#include "utils/tuplestore.h"

#include "../shared/vocabulary.h"

ALINEO_SQL_FUNCTION(alineo_sql_init);

/* Columns of ALINEO_MIGRATION_ROWS, and of the tuplestore. */
enum { STORED_ID, STORED_SANDBOX_ID, STORED_EVENT, STORED_PAYLOAD };
enum { ID, SANDBOX_ID, EVENT, PAYLOAD, UNWRAPPED, COLUMNS };

typedef struct migration {
    TupleDesc type;
    Tuplestorestate *rows;
    int64 count;
    alineo_jsonb_reader reader;
    MemoryContext row;
} migration;

static TupleDesc row_type(void)
{
    TupleDesc type = CreateTemplateTupleDesc(COLUMNS);

    TupleDescInitEntry(type, ID + 1, "id", INT8OID, -1, 0);
    TupleDescInitEntry(type, SANDBOX_ID + 1, "sandbox_id", TEXTOID, -1, 0);
    TupleDescInitEntry(type, EVENT + 1, "event", TEXTOID, -1, 0);
    TupleDescInitEntry(type, PAYLOAD + 1, "payload", JSONBOID, -1, 0);
    TupleDescInitEntry(type, UNWRAPPED + 1, "unwrapped", BOOLOID, -1, 0);
    return type;
}

static Datum legacy_names(void)
{
    alineo_span legacy, current;
    ArrayBuildState *names = initArrayResult(TEXTOID, CurrentMemoryContext, false);

    for (size_t i = 0; alineo_event_legacy(i, &legacy, &current); i++)
        (void)accumArrayResult(names, alineo_text_datum(legacy), false, TEXTOID,
                               CurrentMemoryContext);
    return makeArrayResult(names, CurrentMemoryContext);
}

static void on_row(void *context, TupleTableSlot *slot)
{
    migration *m = context;
    bool nulls[COLUMNS] = {[PAYLOAD] = true};
    Jsonb *inner = NULL;

    slot_getallattrs(slot);
    MemoryContext before = MemoryContextSwitchTo(m->row);
    alineo_span stored = alineo_text_span(slot->tts_values[STORED_EVENT]);
    alineo_span current = alineo_event_current(stored);
    if (!slot->tts_isnull[STORED_PAYLOAD] &&
        alineo_jsonb_is_string(slot->tts_values[STORED_PAYLOAD]))
        inner = alineo_jsonb_unwrap(&m->reader,
                                    &DatumGetJsonbP(slot->tts_values[STORED_PAYLOAD])->root);
    if (inner != NULL || current.at != stored.at) {
        Datum values[COLUMNS] = {
            [ID] = slot->tts_values[STORED_ID],
            [SANDBOX_ID] = slot->tts_values[STORED_SANDBOX_ID],
            [EVENT] = alineo_text_datum(current),
            [PAYLOAD] = PointerGetDatum(inner),
            [UNWRAPPED] = BoolGetDatum(inner != NULL),
        };
        nulls[PAYLOAD] = inner == NULL;
        tuplestore_putvalues(m->rows, m->type, values, nulls);
        m->count++;
    }
    MemoryContextSwitchTo(before);
    MemoryContextReset(m->row);
}

static uint64 rewrite(alineo_call *call, migration *m)
{
    EphemeralNamedRelationData relation = {
        .md = {.name = pstrdup(ALINEO_MIGRATION_NAME),
               .reliddesc = InvalidOid,
               .tupdesc = m->type,
               .enrtype = ENR_NAMED_TUPLESTORE,
               .enrtuples = (double)m->count},
        .reldata = m->rows,
    };

    if (SPI_register_relation(&relation) != SPI_OK_REL_REGISTER)
        elog(ERROR, "could not register a relation");
    uint64 rewritten = alineo_ledger_write(call->ledger, ALINEO_MIGRATE, NULL, NULL);
    (void)SPI_unregister_relation(ALINEO_MIGRATION_NAME);
    return rewritten;
}

Datum alineo_sql_init(PG_FUNCTION_ARGS)
{
    alineo_call call;
    migration m = {.count = 0};
    uint64 rewritten = 0;

    alineo_call_begin(&call, fcinfo, "alineo_init");
    alineo_schema_ensure(&call);
    MemoryContext before = MemoryContextSwitchTo(call.context);
    Datum values[] = {legacy_names()};
    m.type = row_type();
    m.rows = tuplestore_begin_heap(false, false, work_mem);
    m.row = AllocSetContextCreate(call.context, "alineo row", ALLOCSET_DEFAULT_SIZES);
    alineo_jsonb_reader_init(&m.reader, &call.memory, call.context);
    alineo_cursor_all(call.ledger, ALINEO_MIGRATION_ROWS, values, NULL, false, on_row, &m);
    if (m.count > 0)
        rewritten = rewrite(&call, &m);
    tuplestore_end(m.rows);
    MemoryContextSwitchTo(before);
    alineo_call_end(&call);
    PG_RETURN_INT64((int64)rewritten);
}
