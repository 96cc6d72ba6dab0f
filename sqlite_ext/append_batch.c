/*
 * append_batch.c - alineo_append_batch. docs/reference.md, "alineo_append_batch".
 *
 * A function can open neither a transaction nor a savepoint inside a writing
 * statement. What makes a batch atomic is that it is one statement: INSERT ...
 * SELECT from alineo_entries, a table that decodes an entry a row. An entry at
 * fault ends the SELECT with an error, and SQLite undoes the whole INSERT.
 */
#include "append.h"
#include "batch.h"
#include "schema.h"

#include <string.h>

#define POINTER_TYPE "alineo_batch"

typedef struct append_batch {
    call *call;
    alineo_span text;
    alineo_batch batch;
    sqlite3_int64 appended;
} append_batch;

typedef struct entries_cursor {
    sqlite3_vtab_cursor base;
    append_batch *append;
    alineo_entry entry;
    int64_t free_id; /* the first row's id, 0: as SQLite chooses */
    int64_t left;    /* entries that there are ids for */
    bool done;
} entries_cursor;

/* In the order of the declaration below. */
enum { ID, NAME, SANDBOX_ID, EVENT, PAYLOAD, STEP_IDX, BRANCH, ERROR, TS, BATCH };

static int entries_connect(sqlite3 *db, void *user, int argc, const char *const *argv,
                           sqlite3_vtab **table, char **message)
{
    int rc = check_table_name(argv, message);

    (void)user, (void)argc;
    if (rc == SQLITE_OK)
        rc = sqlite3_declare_vtab(db, "CREATE TABLE x(id INTEGER, name TEXT, sandbox_id TEXT,"
                                      " event TEXT, payload TEXT, step_idx INTEGER, branch INTEGER,"
                                      " error TEXT, ts INTEGER, batch HIDDEN)");
    if (rc != SQLITE_OK)
        return rc;
    *table = sqlite3_malloc64(sizeof **table);
    if (*table == NULL)
        return SQLITE_NOMEM;
    memset(*table, 0, sizeof **table);
    (void)sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
    return SQLITE_OK;
}

static int entries_disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

static int entries_best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    (void)table;
    for (int i = 0; i < info->nConstraint; i++) {
        if (info->aConstraint[i].iColumn != BATCH ||
            info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        if (!info->aConstraint[i].usable)
            return SQLITE_CONSTRAINT;
        info->aConstraintUsage[i].argvIndex = 1;
        info->aConstraintUsage[i].omit = 1;
        break;
    }
    return SQLITE_OK;
}

static int entries_open(sqlite3_vtab *table, sqlite3_vtab_cursor **cursor)
{
    entries_cursor *e = sqlite3_malloc64(sizeof *e);

    (void)table;
    if (e == NULL)
        return SQLITE_NOMEM;
    memset(e, 0, sizeof *e);
    e->done = true;
    *cursor = &e->base;
    return SQLITE_OK;
}

static int entries_close(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

/* *latest stays where the session has no event. */
static alineo_code ask_latest(void *context, const alineo_entry *entry, int64_t *latest,
                              alineo_error *error)
{
    call *c = context;
    sqlite3_stmt *statement = NULL;
    bool row = false;
    alineo_code code = call_take(c, SQL_LATEST_TS, &statement);

    (void)error; /* it is the call's */
    if (code == ALINEO_OK) {
        call_bind(c, statement, 1, entry->name);
        call_bind(c, statement, 2, entry->sandbox_id);
        code = call_step(c, statement, &row);
    }
    if (row && sqlite3_column_type(statement, 0) != SQLITE_NULL)
        *latest = sqlite3_column_int64(statement, 0);
    ledger_give(c->ledger, SQL_LATEST_TS, statement);
    return code;
}

/* Which id comes first, and how many there are. */
static alineo_code ask_ids(call *c, entries_cursor *e)
{
    sqlite3_stmt *statement = NULL;
    bool row = false;
    alineo_code code = call_take(c, SQL_FREE_ID, &statement);

    if (code == ALINEO_OK)
        code = call_step(c, statement, &row);
    if (row) {
        bool none = sqlite3_column_type(statement, 0) == SQLITE_FLOAT;
        e->free_id = none ? 0 : sqlite3_column_int64(statement, 0);
        int64_t last = e->free_id != 0 ? e->free_id - 1 : sqlite3_column_int64(statement, 1);
        e->left = none ? 0 : INT64_MAX - (last > 0 ? last : 0);
    }
    ledger_give(c->ledger, SQL_FREE_ID, statement);
    return code;
}

static int entries_next(sqlite3_vtab_cursor *cursor)
{
    entries_cursor *e = (entries_cursor *)cursor;
    call *c = e->append->call;

    e->done = !alineo_batch_next(&e->append->batch, &e->entry, &c->error);
    if (e->append->batch.count > 1)
        e->free_id = 0;
    if (!e->done && e->left-- == 0)
        (void)append_no_id(c);
    else if (!e->done)
        (void)alineo_batch_ts(&e->append->batch, &e->entry, e->entry.ts.given ? 0 : now_ms(),
                              ask_latest, c, &c->error);
    return c->error.code == ALINEO_OK ? SQLITE_OK : call_report_table(c, cursor->pVtab);
}

static int entries_filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int argc,
                          sqlite3_value **argv)
{
    entries_cursor *e = (entries_cursor *)cursor;

    (void)plan, (void)text;
    e->append = argc == 1 ? sqlite3_value_pointer(argv[0], POINTER_TYPE) : NULL;
    if (e->append == NULL)
        return SQLITE_OK; /* called by hand: no rows */
    /* The INSERT holds the write lock by now, so no other can take this id. */
    if (ask_ids(e->append->call, e) != ALINEO_OK)
        return call_report_table(e->append->call, cursor->pVtab);
    return entries_next(cursor);
}

static int entries_eof(sqlite3_vtab_cursor *cursor)
{
    return ((entries_cursor *)cursor)->done;
}

/* The text outlives the row's insertion, which copies it into its record. */
static void row_text(sqlite3_context *context, alineo_span text)
{
    if (text.at != NULL)
        sqlite3_result_text64(context, text.at, text.len, SQLITE_STATIC, SQLITE_UTF8);
}

static void row_integer(sqlite3_context *context, alineo_integer integer)
{
    if (integer.given)
        sqlite3_result_int64(context, integer.value);
}

static int entries_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
    entries_cursor *e = (entries_cursor *)cursor;

    switch (column) {
    case ID: row_integer(context, (alineo_integer){e->free_id != 0, true, e->free_id}); break;
    case NAME: row_text(context, e->entry.name); break;
    case SANDBOX_ID: row_text(context, e->entry.sandbox_id); break;
    case EVENT: row_text(context, e->entry.event); break;
    case PAYLOAD: row_text(context, e->entry.payload); break;
    case STEP_IDX: row_integer(context, e->entry.step_idx); break;
    case BRANCH: row_integer(context, e->entry.branch); break;
    case ERROR: row_text(context, e->entry.error); break;
    case TS: row_integer(context, e->entry.ts); break;
    default: break;
    }
    return SQLITE_OK;
}

static int entries_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
    entries_cursor *e = (entries_cursor *)cursor;

    *rowid = e->append == NULL ? 0 : e->append->batch.count;
    return SQLITE_OK;
}

const sqlite3_module entries_module = {
    .xConnect = entries_connect,
    .xBestIndex = entries_best_index,
    .xDisconnect = entries_disconnect,
    .xDestroy = entries_disconnect,
    .xOpen = entries_open,
    .xClose = entries_close,
    .xFilter = entries_filter,
    .xNext = entries_next,
    .xEof = entries_eof,
    .xColumn = entries_column,
    .xRowid = entries_rowid,
};

static alineo_code insert(call *c, sqlite3_stmt *statement, void *detail)
{
    append_batch *a = detail;

    alineo_batch_init(&a->batch, &ledger_memory, a->text);
    (void)sqlite3_bind_pointer(statement, 1, a, POINTER_TYPE, NULL);
    /* An entry at fault has said so itself, in words of ours, which stay. */
    alineo_code code = call_run(c, statement);
    a->appended = sqlite3_changes64(c->ledger->db); /* less what triggers kept out */
    alineo_batch_free(&a->batch);
    return code;
}

void append_batch_function(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    append_batch a = {0};
    call c;

    (void)argc;
    call_init(&c, sqlite3_user_data(context), "alineo_append_batch");
    a.call = &c;
    alineo_code code = ALINEO_OK;
    /* readfile() gives a blob: its bytes are taken for text, and checked. */
    if (sqlite3_value_type(argv[0]) == SQLITE_BLOB)
        a.text = (alineo_span){sqlite3_value_blob(argv[0]), (size_t)sqlite3_value_bytes(argv[0])};
    else
        code = call_text(&c, "entries", argv[0], &a.text);
    if (code == ALINEO_OK && a.text.at == NULL && sqlite3_value_type(argv[0]) != SQLITE_NULL)
        a.text.at = "";
    if (code == ALINEO_OK && a.text.at == NULL)
        code = alineo_fail(&c.error, ALINEO_BAD_ARGUMENT, "entries must not be NULL");
    if (code == ALINEO_OK)
        code = schema_run(&c, SQL_APPEND_ENTRIES, insert, &a);
    if (code == ALINEO_OK)
        sqlite3_result_int64(context, a.appended);
    else
        call_report(&c, context);
}
