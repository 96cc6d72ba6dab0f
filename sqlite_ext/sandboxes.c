/*
 * sandboxes.c - alineo_list_sandboxes, alineo_get_sandbox and
 * alineo_delete_sandbox. docs/reference.md.
 *
 * Listing walks the created events, newest first, and stops when no more rows
 * are asked for; each row looks its session's milestones up by index. A name
 * that only few sessions have would mean a long walk past all others: these are
 * found by their name, and sorted.
 */
#include "sandboxes.h"
#include "guard.h"
#include "payload_table.h"
#include "schema.h"
#include "tables.h"

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
    PARENT_SANDBOX_ID,
    RESUMED_FROM,
    COLUMN_COUNT
};

/* What the statements of statements.c (SANDBOXES) return. */
enum { GOT_ID, GOT_NAME, GOT_SANDBOX_ID, GOT_STARTED, GOT_COMPLETED, GOT_PAYLOAD };

/* Arguments of alineo_list_sandboxes. */
enum { ARG_NAME, ARG_STATUS, ARG_RUN_ID, ARG_BEFORE, ARG_MAX_ROWS };

#define SANDBOX_COLUMNS                                                                            \
    "name TEXT, sandbox_id TEXT, status TEXT, started_at INTEGER, completed_at INTEGER,"           \
    " exec_count INTEGER, run_id TEXT, resource_id TEXT, team_id TEXT, parent_sandbox_id TEXT,"    \
    " resumed_from TEXT"

typedef struct sandboxes_cursor {
    payload_cursor base;
    sqlite3_stmt *execs; /* counts those of a session */
    alineo_span run_id;  /* what is listed, `at` NULL for any */
    int64_t left;        /* rows that may still be given */
} sandboxes_cursor;

static sqlite3_stmt *statement_of(const sandboxes_cursor *cursor)
{
    return cursor->base.base.statement;
}

/* Whether the name is of few sessions only; false too where that would be as
 * long a search as the list itself. */
static alineo_code ask_few(call *c, alineo_span name, bool *few)
{
    sqlite3_stmt *statement = NULL;
    bool row = false;
    alineo_code code = call_take(c, SQL_FEW_OF_NAME, &statement);

    *few = false;
    if (code == ALINEO_OK) {
        call_bind(c, statement, 1, name);
        (void)sqlite3_bind_int(statement, 2, ALINEO_FEW_SESSIONS);
        code = call_step(c, statement, &row);
        *few = row && sqlite3_column_int(statement, 0) != 0;
    } else if (c->error.code == ALINEO_ENGINE && (c->rc & 0xFF) == SQLITE_ERROR) {
        /* No such index, or no table yet. */
        call_init(c, c->ledger, c->error.function);
        code = ALINEO_OK;
    }
    ledger_give(c->ledger, SQL_FEW_OF_NAME, statement);
    return code;
}

/* Takes the statements, and sets done where there is no ledger. */
static alineo_code start(sandboxes_cursor *cursor, statement_id id)
{
    alineo_code code = payload_start(&cursor->base, id);

    /* Here, since a connection that is being closed prepares no more. */
    if (code == ALINEO_OK && !cursor->base.base.base.done)
        code = call_take(&cursor->base.base.base.call, SQL_COUNT_EXECS, &cursor->execs);
    return code;
}

static void stop(table_cursor *base)
{
    sandboxes_cursor *cursor = (sandboxes_cursor *)base;

    ledger_give(base->call.ledger, SQL_COUNT_EXECS, cursor->execs);
    cursor->execs = NULL;
    payload_stop(base);
}

static alineo_code list_start(table_cursor *base)
{
    sandboxes_cursor *cursor = (sandboxes_cursor *)base;
    alineo_error *error = &base->call.error;
    alineo_integer before = table_integer(base, ARG_BEFORE);
    alineo_integer max_rows = table_integer(base, ARG_MAX_ROWS);
    alineo_span name, status_text, run_id;
    alineo_status status = ALINEO_ANY;
    bool few = false;
    alineo_code code = table_text(base, ARG_NAME, &name);

    if (code == ALINEO_OK)
        code = table_text(base, ARG_STATUS, &status_text);
    if (code == ALINEO_OK)
        code = alineo_check_status(error, status_text, &status);
    if (code == ALINEO_OK)
        code = table_text(base, ARG_RUN_ID, &run_id);
    if (code == ALINEO_OK)
        code = alineo_check_integer(error, "before", before, INT64_MIN, INT64_MAX);
    if (code == ALINEO_OK)
        code = alineo_check_integer(error, "max_rows", max_rows, 0, INT64_MAX);
    if (code == ALINEO_OK && name.at != NULL)
        code = ask_few(&base->call, name, &few);
    if (code == ALINEO_OK)
        code = start(cursor, few            ? SQL_LIST_OF_NAME
                             : before.given ? SQL_LIST_BEFORE
                                            : SQL_LIST_SANDBOXES);
    if (code != ALINEO_OK || base->done)
        return code;
    cursor->run_id = run_id;
    cursor->left = max_rows.given ? max_rows.value : INT64_MAX;
    call_bind(&base->call, statement_of(cursor), 1, name);
    if (before.given)
        (void)sqlite3_bind_int64(statement_of(cursor), 2, before.value);
    if (status != ALINEO_ANY)
        (void)sqlite3_bind_int(statement_of(cursor), 3, status == ALINEO_COMPLETED);
    return ALINEO_OK;
}

static alineo_code get_start(table_cursor *base)
{
    sandboxes_cursor *cursor = (sandboxes_cursor *)base;
    alineo_span name, sandbox_id;
    alineo_code code = table_session(base, &name, &sandbox_id);

    if (code == ALINEO_OK)
        code = start(cursor, SQL_GET_SANDBOX);
    if (code != ALINEO_OK || base->done)
        return code;
    cursor->run_id = (alineo_span){NULL, 0};
    cursor->left = 1;
    call_bind(&base->call, statement_of(cursor), 1, name);
    call_bind(&base->call, statement_of(cursor), 2, sandbox_id);
    return ALINEO_OK;
}

static bool is_completed(const sandboxes_cursor *cursor)
{
    return sqlite3_column_type(statement_of(cursor), GOT_COMPLETED) != SQLITE_NULL;
}

/* The run_id column: the payload's, else the sandbox_id. */
static alineo_span run_id_of(sandboxes_cursor *cursor)
{
    const alineo_value *value = alineo_fields_any(&cursor->base.row.fields, ALINEO_FIELD_RUN_ID);

    if (value == NULL)
        return column_text(statement_of(cursor), GOT_SANDBOX_ID);
    return alineo_row_text(value, &cursor->base.text);
}

static bool is_listed(sandboxes_cursor *cursor)
{
    return cursor->run_id.at == NULL || alineo_span_equal(cursor->run_id, run_id_of(cursor));
}

static alineo_code next(table_cursor *base)
{
    sandboxes_cursor *cursor = (sandboxes_cursor *)base;

    base->done = cursor->left-- == 0;
    while (!base->done) {
        alineo_code code = payload_next(&cursor->base, GOT_PAYLOAD);
        if (code != ALINEO_OK || base->done)
            return code;
        bool listed = is_listed(cursor);
        if (cursor->base.text.failed)
            return alineo_fail_memory(&base->call.error);
        if (listed)
            break;
    }
    return ALINEO_OK;
}

static void field_column(sandboxes_cursor *cursor, sqlite3_context *context, alineo_field field)
{
    payload_result(&cursor->base, context, alineo_fields_any(&cursor->base.row.fields, field));
}

static void got_column(sandboxes_cursor *cursor, sqlite3_context *context, int got)
{
    sqlite3_result_value(context, sqlite3_column_value(statement_of(cursor), got));
}

/* Counted only where the column is asked for. */
static void exec_count_column(sandboxes_cursor *cursor, sqlite3_context *context)
{
    call *c = &cursor->base.base.base.call;
    alineo_code code = ALINEO_OK;
    bool row;

    for (int i = 0; code == ALINEO_OK && i < 2; i++) {
        int rc = sqlite3_bind_value(cursor->execs, i + 1,
                                    sqlite3_column_value(statement_of(cursor), GOT_NAME + i));
        if (rc != SQLITE_OK)
            code = call_failed(c, rc);
    }
    if (code == ALINEO_OK)
        code = call_step(c, cursor->execs, &row);
    if (code == ALINEO_OK)
        sqlite3_result_int64(context, sqlite3_column_int64(cursor->execs, 0));
    else
        call_report(c, context);
    (void)sqlite3_reset(cursor->execs);
}

static void column(table_cursor *base, sqlite3_context *context, int column)
{
    sandboxes_cursor *cursor = (sandboxes_cursor *)base;

    switch (column) {
    case NAME: got_column(cursor, context, GOT_NAME); break;
    case SANDBOX_ID: got_column(cursor, context, GOT_SANDBOX_ID); break;
    case STATUS:
        sqlite3_result_text(
            context, alineo_status_text(is_completed(cursor) ? ALINEO_COMPLETED : ALINEO_RUNNING),
            -1, SQLITE_STATIC);
        break;
    case STARTED_AT: got_column(cursor, context, GOT_STARTED); break;
    case COMPLETED_AT: got_column(cursor, context, GOT_COMPLETED); break;
    case EXEC_COUNT: exec_count_column(cursor, context); break;
    case RUN_ID:
        result_text(context, run_id_of(cursor));
        if (cursor->base.text.failed)
            sqlite3_result_error_nomem(context);
        break;
    case RESOURCE_ID: field_column(cursor, context, ALINEO_FIELD_RESOURCE_ID); break;
    case TEAM_ID: field_column(cursor, context, ALINEO_FIELD_TEAM_ID); break;
    case PARENT_SANDBOX_ID: field_column(cursor, context, ALINEO_FIELD_PARENT); break;
    case RESUMED_FROM: field_column(cursor, context, ALINEO_FIELD_RESUMED_FROM); break;
    default: break;
    }
}

const table_function list_sandboxes_table = {
    .name = "alineo_list_sandboxes",
    .columns = SANDBOX_COLUMNS,
    .column_count = COLUMN_COUNT,
    .arguments = {"name", "status", "run_id", "before", "max_rows"},
    .order = {STARTED_AT + 1},
    .descending = true,
    .cursor_size = sizeof(sandboxes_cursor),
    .start = list_start,
    .next = next,
    .column = column,
    .rowid = statement_rowid,
    .stop = stop,
};

const table_function get_sandbox_table = {
    .name = "alineo_get_sandbox",
    .columns = SANDBOX_COLUMNS,
    .column_count = COLUMN_COUNT,
    .arguments = {"name", "sandbox_id"},
    .required = 2,
    .cursor_size = sizeof(sandboxes_cursor),
    .start = get_start,
    .next = next,
    .column = column,
    .rowid = statement_rowid,
    .stop = stop,
};

typedef struct deletion {
    alineo_span name, sandbox_id;
    sqlite3_int64 deleted;
} deletion;

static alineo_code delete_events(call *c, sqlite3_stmt *statement, void *detail)
{
    deletion *d = detail;

    call_bind(c, statement, 1, d->name);
    call_bind(c, statement, 2, d->sandbox_id);
    alineo_code code = guard_run(
        c, statement,
        &(guard_pass){.doing = GUARD_DELETING, .name = d->name, .sandbox_id = d->sandbox_id});
    d->deleted = sqlite3_changes64(c->ledger->db);
    return code;
}

void delete_sandbox_function(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    deletion d = {0};
    call c;

    (void)argc;
    call_init(&c, sqlite3_user_data(context), "alineo_delete_sandbox");
    alineo_code code = call_text(&c, "name", argv[0], &d.name);
    if (code == ALINEO_OK)
        code = call_text(&c, "sandbox_id", argv[1], &d.sandbox_id);
    if (code == ALINEO_OK)
        code = alineo_check_text(&c.error, "name", d.name, ALINEO_NAME_BYTES);
    if (code == ALINEO_OK)
        code = alineo_check_text(&c.error, "sandbox_id", d.sandbox_id, ALINEO_NAME_BYTES);
    if (code == ALINEO_OK)
        code = schema_run(&c, SQL_DELETE_SANDBOX, delete_events, &d);
    if (code == ALINEO_OK)
        sqlite3_result_int64(context, d.deleted);
    else
        call_report(&c, context);
}
