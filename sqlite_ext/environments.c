/*
 * environments.c - snapshots kept by name. docs/reference.md, "Environments".
 */
#include "environments.h"
#include "schema.h"
#include "tables.h"

enum { NAME, SNAPSHOT_ID, IMAGE, BUILT_AT, COLUMN_COUNT };

#define ENVIRONMENT_COLUMNS "name TEXT, snapshot_id TEXT, image TEXT, built_at INTEGER"

typedef struct environment {
    alineo_span name, snapshot_id, image;
    alineo_integer built_at;
    int changed;
} environment;

static alineo_code save(call *c, sqlite3_stmt *statement, void *detail)
{
    environment *e = detail;

    call_bind(c, statement, 1, e->name);
    call_bind(c, statement, 2, e->snapshot_id);
    call_bind(c, statement, 3, e->image);
    (void)sqlite3_bind_int64(statement, 4, e->built_at.given ? e->built_at.value : now_ms());
    return call_run(c, statement);
}

static alineo_code check_text(call *c, const char *argument, sqlite3_value *value, size_t most,
                              alineo_span *text)
{
    alineo_code code = call_text(c, argument, value, text);

    return code == ALINEO_OK ? alineo_check_text(&c->error, argument, *text, most) : code;
}

void save_environment_function(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    environment e = {0};
    call c;

    call_init(&c, sqlite3_user_data(context), "alineo_save_environment");
    e.built_at = integer_of(argument(argc, argv, 3));
    alineo_code code = check_text(&c, "name", argv[0], ALINEO_NAME_BYTES, &e.name);
    if (code == ALINEO_OK)
        code = check_text(&c, "snapshot_id", argv[1], 0, &e.snapshot_id);
    if (code == ALINEO_OK)
        code = check_text(&c, "image", argv[2], 0, &e.image);
    if (code == ALINEO_OK)
        code = alineo_check_integer(&c.error, "built_at", e.built_at, 0, INT64_MAX);
    /* The answer is given first: where that lacks memory SQLite runs nothing
     * more, and once the row is stored nothing may fail. */
    if (code == ALINEO_OK) {
        result_text(context, e.name);
        code = schema_run(&c, SQL_SAVE_ENVIRONMENT, save, &e);
    }
    if (code != ALINEO_OK)
        call_report(&c, context);
}

static alineo_code delete (call *c, sqlite3_stmt *statement, void *detail)
{
    environment *e = detail;

    call_bind(c, statement, 1, e->name);
    alineo_code code = call_run(c, statement);
    e->changed = sqlite3_changes(c->ledger->db);
    return code;
}

void delete_environment_function(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    environment e = {0};
    call c;

    (void)argc;
    call_init(&c, sqlite3_user_data(context), "alineo_delete_environment");
    alineo_code code = check_text(&c, "name", argv[0], ALINEO_NAME_BYTES, &e.name);
    if (code == ALINEO_OK)
        code = schema_run(&c, SQL_DELETE_ENVIRONMENT, delete, &e);
    if (code == ALINEO_OK)
        sqlite3_result_int(context, e.changed);
    else
        call_report(&c, context);
}

static alineo_code get_start(table_cursor *base)
{
    statement_cursor *cursor = (statement_cursor *)base;
    alineo_span name;
    alineo_code code = table_text(base, 0, &name);

    if (code == ALINEO_OK)
        code = statement_start(cursor, "alineo_environments", SQL_GET_ENVIRONMENT);
    if (code == ALINEO_OK && !base->done)
        call_bind(&base->call, cursor->statement, 1, name);
    return code;
}

static alineo_code list_start(table_cursor *base)
{
    return statement_start((statement_cursor *)base, "alineo_environments", SQL_LIST_ENVIRONMENTS);
}

static void column(table_cursor *base, sqlite3_context *context, int column)
{
    sqlite3_stmt *statement = ((statement_cursor *)base)->statement;

    sqlite3_result_value(context, sqlite3_column_value(statement, column));
}

/* The name tells a row from others, and is text; so is its hash. */
static sqlite3_int64 rowid(table_cursor *base)
{
    sqlite3_stmt *statement = ((statement_cursor *)base)->statement;
    alineo_span name = column_text(statement, NAME);
    uint64_t hash = 0;

    for (size_t i = 0; i < name.len; i++)
        hash = (hash ^ (unsigned char)name.at[i]) * UINT64_C(0x100000001B3);
    return (sqlite3_int64)hash;
}

const table_function get_environment_table = {
    .name = "alineo_get_environment",
    .columns = ENVIRONMENT_COLUMNS,
    .column_count = COLUMN_COUNT,
    .arguments = {"name"},
    .required = 1,
    .cursor_size = sizeof(statement_cursor),
    .start = get_start,
    .next = statement_next,
    .column = column,
    .rowid = rowid,
    .stop = statement_stop,
};

const table_function list_environments_table = {
    .name = "alineo_list_environments",
    .columns = ENVIRONMENT_COLUMNS,
    .column_count = COLUMN_COUNT,
    .arguments = {NULL},
    .order = {BUILT_AT + 1},
    .descending = true,
    .cursor_size = sizeof(statement_cursor),
    .start = list_start,
    .next = statement_next,
    .column = column,
    .rowid = rowid,
    .stop = statement_stop,
};
