/*
 * schema.c - creates tables and indexes on the first write. See schema.h.
 *
 * The two tables and the first index are the SDK's, to the column. Beside them
 * stand two partial indexes over the few events that are not output, and
 * alineo_deleted: the highest id that was deleted while it was the highest of
 * all. Without it SQLite would give that id to the next event. docs/design.md,
 * "Schema".
 */
#include "schema.h"
#include "statement_cache.h"
#include "vocabulary.h"

#include <string.h>

static const char *const schema_sql[] = {
    "CREATE TABLE IF NOT EXISTS main.alineo_events (\n"
    "  id INTEGER PRIMARY KEY, sandbox_id TEXT NOT NULL, name TEXT NOT NULL,"
    " step_idx INTEGER NOT NULL,\n"
    "  branch INTEGER, event TEXT NOT NULL, payload TEXT, error TEXT, ts INTEGER NOT NULL)",

    "CREATE INDEX IF NOT EXISTS main.alineo_events_name_sandbox_ts"
    " ON alineo_events(name, sandbox_id, ts, id)",

    "CREATE INDEX IF NOT EXISTS main.alineo_events_milestones"
    " ON alineo_events(sandbox_id, event, name, id, ts)"
    " WHERE event NOT IN (" ALINEO_SQL_OUTPUT ")",

    "CREATE INDEX IF NOT EXISTS main.alineo_events_created"
    " ON alineo_events(ts, id, name, sandbox_id) WHERE event IN (" ALINEO_SQL_CREATED ")",

    "CREATE TABLE IF NOT EXISTS main.alineo_environments (\n"
    "  name TEXT PRIMARY KEY, snapshot_id TEXT NOT NULL, image TEXT NOT NULL,"
    " built_at INTEGER NOT NULL)",

    "CREATE TABLE IF NOT EXISTS main.alineo_deleted (last_id INTEGER PRIMARY KEY)",

    "CREATE TRIGGER IF NOT EXISTS main.alineo_events_deleted AFTER DELETE ON alineo_events"
    " WHEN OLD.id > ifnull((SELECT max(id) FROM alineo_events), 0)\n"
    "BEGIN\n"
    "  INSERT OR IGNORE INTO alineo_deleted(last_id) VALUES (OLD.id);\n"
    "  DELETE FROM alineo_deleted WHERE last_id < (SELECT max(last_id) FROM alineo_deleted);\n"
    "END",
};

/* The integer a pragma answers with, 0 where it does not. */
static int pragma(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int answer = 0;

    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        answer = sqlite3_column_int(statement, 0);
    (void)sqlite3_finalize(statement);
    return answer;
}

/* WAL lets readers go on beside a writer. Where the mode cannot change (in a
 * transaction, in memory, read-only, in use) the ledger works without it, so
 * nothing here is an error. */
static void prefer_wal(sqlite3 *db)
{
    const char *file = sqlite3_db_filename(db, "main");

    if (file != NULL && file[0] != '\0' && sqlite3_get_autocommit(db) &&
        sqlite3_db_readonly(db, "main") == 0 && pragma(db, "PRAGMA query_only") == 0)
        (void)pragma(db, "PRAGMA main.journal_mode = WAL");
}

/* What pragmas say of a table's primary key. */
typedef struct key {
    const char *column; /* that should be all of it */
    int columns;        /* of the table */
    int parts;          /* columns of the key */
    bool is_rowid;      /* `column` is of the type that makes it the rowid */
    bool has_index;     /* which a rowid needs not */
} key;

static bool is_text(sqlite3_stmt *row, int column, const char *text)
{
    const char *at = (const char *)sqlite3_column_text(row, column);

    return at != NULL && sqlite3_stricmp(at, text) == 0;
}

static void see_column(sqlite3_stmt *row, key *k)
{
    k->columns++;
    if (sqlite3_column_int(row, 5) == 0)
        return;
    k->parts++;
    k->is_rowid |= is_text(row, 1, k->column) && is_text(row, 2, "INTEGER");
}

static void see_index(sqlite3_stmt *row, key *k)
{
    k->has_index |= is_text(row, 3, "pk");
}

static alineo_code see_rows(call *c, const char *sql, void (*see)(sqlite3_stmt *, key *), key *k)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(c->ledger->db, sql, -1, &statement, NULL);

    /* A host may forbid pragmas: then there is nothing to see. */
    if (rc == SQLITE_AUTH)
        return ALINEO_OK;
    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        rc = sqlite3_step(statement);
        if (rc == SQLITE_ROW)
            see(statement, k);
    }
    alineo_code code = rc == SQLITE_DONE ? ALINEO_OK : call_failed(c, rc);
    (void)sqlite3_finalize(statement);
    return code;
}

/* Ids are rowids. In a table of that name whose `column` is something else an
 * append would return what is no id of an event. */
static alineo_code check_rowid(call *c, const char *table, const char *info, const char *indexes,
                               const char *column)
{
    key k = {.column = column};
    alineo_code code = see_rows(c, info, see_column, &k);

    if (code == ALINEO_OK)
        code = see_rows(c, indexes, see_index, &k);
    if (code != ALINEO_OK || k.columns == 0 || (k.is_rowid && k.parts == 1 && !k.has_index))
        return code;
    return alineo_fail(&c->error, ALINEO_DAMAGED,
                       "table %s is not the ledger's: %s is not its INTEGER PRIMARY KEY", table,
                       column);
}

static alineo_code check_tables(call *c)
{
    alineo_code code = check_rowid(c, "alineo_events", "PRAGMA main.table_info(alineo_events)",
                                   "PRAGMA main.index_list(alineo_events)", "id");

    return code == ALINEO_OK
               ? check_rowid(c, "alineo_deleted", "PRAGMA main.table_info(alineo_deleted)",
                             "PRAGMA main.index_list(alineo_deleted)", "last_id")
               : code;
}

alineo_code schema_ensure(call *c)
{
    sqlite3 *db = c->ledger->db;

    if (c->ledger->ready)
        return ALINEO_OK;
    prefer_wal(db);
    /* What is there already is only read. In a transaction that would fix what
     * it sees, so that the write behind it could not wait for another's end. */
    if (tail_join(c) != ALINEO_OK)
        return c->error.code;
    for (size_t i = 0; i < sizeof schema_sql / sizeof schema_sql[0]; i++) {
        int rc = sqlite3_exec(db, schema_sql[i], NULL, NULL, NULL);
        if (rc != SQLITE_OK)
            return call_failed(c, rc);
    }
    alineo_code code = check_tables(c);
    c->ledger->ready = code == ALINEO_OK;
    return code;
}

static alineo_code run_once(call *c, statement_id id, schema_write write, void *detail)
{
    sqlite3_stmt *statement = NULL;
    alineo_code code = schema_ensure(c);

    if (code == ALINEO_OK)
        code = call_take(c, id, &statement);
    if (code == ALINEO_OK)
        code = write(c, statement, detail);
    ledger_give(c->ledger, id, statement);
    return code;
}

/* Whether a statement is under way whose text names the function. */
static bool is_named(const char *name, size_t len, sqlite3_stmt *s)
{
    const char *sql = s == NULL || !sqlite3_stmt_busy(s) ? NULL : sqlite3_sql(s);

    for (; sql != NULL && *sql != '\0'; sql++)
        if ((*sql == 'a' || *sql == 'A') && sqlite3_strnicmp(sql, name, (int)len) == 0)
            return true;
    return false;
}

/* Whether a statement under way names the function that is called. SQLite lists
 * the newest first; where the last caller was found is looked at before all. */
static bool is_asked_for(const call *c)
{
    ledger *l = c->ledger;
    const char *name = c->error.function;
    size_t len = strlen(name);
    sqlite3_stmt *before = NULL;
    sqlite3_stmt *s = sqlite3_next_stmt(l->db, l->behind);

    if (is_named(name, len, s))
        return true;
    while ((s = sqlite3_next_stmt(l->db, before)) != NULL) {
        if (is_named(name, len, s)) {
            l->behind = before != NULL && cache_keeps(l, before) ? before : NULL;
            return true;
        }
        before = s;
    }
    return false;
}

/* A file must not make whoever opens it write to the ledger. DIRECTONLY sees to
 * that, but before SQLite 3.50 not in a CHECK. So a function that is no part of
 * the user's own statement is refused; and one that is called from inside a
 * write of the ledger's, by a trigger or a CHECK on the ledger's tables. */
static alineo_code refuse_hidden(call *c)
{
    if (!c->ledger->writing && is_asked_for(c))
        return ALINEO_OK;
    return alineo_fail(&c->error, ALINEO_BAD_ARGUMENT,
                       "must not be called by a constraint or trigger");
}

alineo_code schema_run(call *c, statement_id id, schema_write write, void *detail)
{
    bool known = c->ledger->ready;
    alineo_code code = refuse_hidden(c);

    if (code != ALINEO_OK)
        return code;
    c->ledger->writing = true;
    code = run_once(c, id, write, detail);

    /* A missing table is an SQLITE_ERROR without more; then nothing was stored. */
    if (known && code == ALINEO_ENGINE && c->rc == SQLITE_ERROR) {
        c->ledger->ready = false;
        call_init(c, c->ledger, c->error.function);
        code = run_once(c, id, write, detail);
    }
    c->ledger->writing = false;
    return code;
}
