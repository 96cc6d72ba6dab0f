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
#include "vocabulary.h"

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
    c->ledger->ready = true;
    return ALINEO_OK;
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

alineo_code schema_run(call *c, statement_id id, schema_write write, void *detail)
{
    bool known = c->ledger->ready;
    alineo_code code = run_once(c, id, write, detail);

    /* A missing table is an SQLITE_ERROR without more; then nothing was stored. */
    if (known && code == ALINEO_ENGINE && c->rc == SQLITE_ERROR) {
        c->ledger->ready = false;
        call_init(c, c->ledger, c->error.function);
        code = run_once(c, id, write, detail);
    }
    return code;
}
