/*
 * init.c - alineo_init: the schema, and the names of 0.2 made current.
 * docs/reference.md, "alineo_init".
 *
 * The migration is one UPDATE, so it happens whole or not at all. What a row
 * becomes is the core's to say; the UPDATE asks it through alineo_migrated, a
 * table of no or one row: the row's event and payload, if they change.
 */
#include "init.h"
#include "fields.h"
#include "guard.h"
#include "schema.h"
#include "tables.h"
#include "vocabulary.h"

enum { EVENT, PAYLOAD, COLUMN_COUNT };

typedef struct migrated_cursor {
    table_cursor base;
    alineo_span event;
    sqlite3_value *payload; /* as it is, or NULL where `inner` replaces it */
    alineo_span inner;
    alineo_fields_reader reader;
    bool open; /* reader has been made */
    bool given;
} migrated_cursor;

static alineo_code start(table_cursor *base)
{
    migrated_cursor *cursor = (migrated_cursor *)base;
    alineo_span stored, payload;

    if (sqlite3_value_type(base->arguments[EVENT]) == SQLITE_BLOB) {
        base->done = true; /* no event of ours */
        return ALINEO_OK;
    }
    alineo_code code = table_text(base, EVENT, &stored);

    if (code != ALINEO_OK)
        return code;
    alineo_fields_reader_init(&cursor->reader, &ledger_memory);
    cursor->open = true;
    cursor->given = false;
    cursor->event = alineo_event_current(stored);
    cursor->payload = base->arguments[PAYLOAD];
    if (cursor->payload != NULL && sqlite3_value_type(cursor->payload) == SQLITE_TEXT) {
        code = table_text(base, PAYLOAD, &payload);
        if (code == ALINEO_OK && alineo_fields_unwrap(&cursor->reader, payload, &cursor->inner))
            cursor->payload = NULL;
    }
    if (cursor->reader.scratch.failed)
        return alineo_fail_memory(&base->call.error);
    base->done = cursor->payload != NULL && alineo_span_equal(cursor->event, stored);
    return code;
}

static alineo_code next(table_cursor *base)
{
    migrated_cursor *cursor = (migrated_cursor *)base;

    base->done = cursor->given;
    cursor->given = true;
    return ALINEO_OK;
}

static void column(table_cursor *base, sqlite3_context *context, int column)
{
    migrated_cursor *cursor = (migrated_cursor *)base;

    if (column == EVENT)
        result_text(context, cursor->event);
    else if (cursor->payload != NULL)
        sqlite3_result_value(context, cursor->payload);
    else
        result_text(context, cursor->inner);
}

static sqlite3_int64 rowid(table_cursor *base)
{
    return table_hash(base, 0);
}

static void stop(table_cursor *base)
{
    migrated_cursor *cursor = (migrated_cursor *)base;

    if (cursor->open)
        alineo_fields_reader_free(&cursor->reader);
    cursor->open = false;
}

const table_function migrated_table = {
    .name = "alineo_migrated",
    .columns = "event TEXT, payload TEXT",
    .column_count = COLUMN_COUNT,
    .arguments = {"event", "payload"},
    .required = 1,
    .cursor_size = sizeof(migrated_cursor),
    .start = start,
    .next = next,
    .column = column,
    .rowid = rowid,
    .stop = stop,
};

static alineo_code migrate(call *c, sqlite3_stmt *statement, void *detail)
{
    sqlite3_int64 *rewritten = detail;
    alineo_code code = guard_run(c, statement, &(guard_pass){.doing = GUARD_MIGRATING});

    *rewritten = sqlite3_changes64(c->ledger->db);
    return code;
}

void init_function(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    sqlite3_int64 rewritten = 0;
    call c;

    (void)argc, (void)argv;
    call_init(&c, sqlite3_user_data(context), "alineo_init");
    /* Asked for by name, so looked at again. */
    c.ledger->ready = false;
    if (schema_run(&c, SQL_MIGRATE, migrate, &rewritten) == ALINEO_OK)
        sqlite3_result_int64(context, rewritten);
    else
        call_report(&c, context);
}
