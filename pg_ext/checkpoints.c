/*
 * checkpoints.c - alineo_list_checkpoints. docs/reference.md.
 */
#include "rows.h"
#include "schema.h"
#include "stored.h"

#include "../shared/row.h"

ALINEO_SQL_FUNCTION(alineo_sql_list_checkpoints);

/* Columns of the result. */
enum { SNAPSHOT_ID, TAG, CREATED_AT, COLUMNS };

typedef struct checkpoints {
    alineo_rows rows;
    alineo_call *call;
    alineo_stored stored;
    alineo_jsonb_reader reader;
    alineo_buffer text;
    MemoryContext row;
} checkpoints;

static void on_row(void *context, TupleTableSlot *slot)
{
    checkpoints *list = context;
    alineo_error *error = &list->call->error;
    alineo_fields fields;
    Datum given[ALINEO_COLUMNS];
    Datum values[COLUMNS];
    bool nulls[COLUMNS] = {false};
    alineo_row row = {.id = 0};

    slot_getallattrs(slot);
    MemoryContext before = MemoryContextSwitchTo(list->row);
    memcpy(given, slot->tts_values, sizeof given);
    alineo_stored_look(&list->stored, slot->tts_tupleDescriptor);
    alineo_stored_columns(&list->stored, given, slot->tts_isnull);
    if (!slot->tts_isnull[ALINEO_COLUMN_ID])
        row.id = DatumGetInt64(given[ALINEO_COLUMN_ID]);
    row.damaged = list->stored.damaged;
    alineo_require(error, alineo_row_sound(&row, ALINEO_COLUMN_BIT_TS, error));
    alineo_fields_clear(&fields);
    if (!slot->tts_isnull[ALINEO_COLUMN_PAYLOAD] && !list->stored.damaged_payload)
        alineo_jsonb_fields(&list->reader,
                            alineo_stored_detoast(given[ALINEO_COLUMN_PAYLOAD], row.id), &fields);
    const alineo_value *const shown[] = {
        [SNAPSHOT_ID] = alineo_fields_string(&fields, ALINEO_FIELD_SNAPSHOT_ID),
        [TAG] = alineo_row_tag(&fields),
    };
    for (int i = SNAPSHOT_ID; i <= TAG; i++) {
        alineo_span text = alineo_row_text(shown[i], &list->text);
        nulls[i] = text.at == NULL;
        if (!nulls[i])
            values[i] = alineo_text_datum(text);
    }
    nulls[CREATED_AT] = slot->tts_isnull[ALINEO_COLUMN_TS];
    values[CREATED_AT] = given[ALINEO_COLUMN_TS];
    alineo_rows_put(&list->rows, values, nulls);
    MemoryContextSwitchTo(before);
    MemoryContextReset(list->row);
}

Datum alineo_sql_list_checkpoints(PG_FUNCTION_ARGS)
{
    alineo_call call;
    checkpoints list;

    alineo_call_begin(&call, fcinfo, "alineo_list_checkpoints");
    alineo_rows_begin(&list.rows, fcinfo);
    if (alineo_schema_has(&call, ALINEO_EVENTS_TABLE)) {
        Datum values[] = {PG_GETARG_DATUM(0), PG_GETARG_DATUM(1)};
        alineo_jsonb_reader_init(&list.reader, &call.memory, call.context);
        list.call = &call;
        alineo_stored_init(&list.stored, &call);
        alineo_buffer_init(&list.text, &call.memory);
        list.row = AllocSetContextCreate(call.context, "alineo row", ALLOCSET_DEFAULT_SIZES);
        alineo_cursor_all(call.ledger, ALINEO_LIST_CHECKPOINTS, values, NULL, true, on_row, &list);
    }
    alineo_call_end(&call);
    return (Datum)0;
}
