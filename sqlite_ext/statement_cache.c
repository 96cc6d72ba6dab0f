/*
 * statement_cache.c - prepared statements, kept per connection. See ledger.h for whose
 * they are, and statement_cache.h.
 */
#include "statement_cache.h"

#include <string.h>

typedef struct statements {
    sqlite3_vtab base; /* first: SQLite sees only this */
    ledger *ledger;
    sqlite3_stmt *kept[SQL_COUNT];
} statements;

static int cache_connect(sqlite3 *db, void *user, int argc, const char *const *argv,
                         sqlite3_vtab **table, char **message)
{
    ledger *l = user;
    int rc = check_table_name(argv, message);

    (void)argc;
    if (rc == SQLITE_OK)
        rc = sqlite3_declare_vtab(db, "CREATE TABLE x(unused)");
    if (rc != SQLITE_OK)
        return rc;
    statements *s = sqlite3_malloc64(sizeof *s);
    if (s == NULL)
        return SQLITE_NOMEM;
    memset(s, 0, sizeof *s);
    (void)sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
    /* SQLite lets go of the module before it disconnects its table. */
    s->ledger = ledger_hold(l);
    l->cache = s;
    *table = &s->base;
    return SQLITE_OK;
}

static int cache_disconnect(sqlite3_vtab *table)
{
    statements *s = (statements *)table;

    for (int i = 0; i < SQL_COUNT; i++)
        (void)sqlite3_finalize(s->kept[i]);
    if (s->ledger->cache == s)
        s->ledger->cache = NULL;
    s->ledger->behind = NULL;
    s->ledger->tail.known = s->ledger->tail.joined = false;
    ledger_release(s->ledger);
    sqlite3_free(s);
    return SQLITE_OK;
}

static int cache_best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    (void)table, (void)info;
    return SQLITE_OK;
}

static int cache_open(sqlite3_vtab *table, sqlite3_vtab_cursor **cursor)
{
    (void)table;
    *cursor = sqlite3_malloc64(sizeof **cursor);
    return *cursor == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

static int cache_close(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int cache_filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int argc,
                        sqlite3_value **argv)
{
    (void)cursor, (void)plan, (void)text, (void)argc, (void)argv;
    return SQLITE_OK;
}

static int cache_next(sqlite3_vtab_cursor *cursor)
{
    (void)cursor;
    return SQLITE_OK;
}

static int cache_eof(sqlite3_vtab_cursor *cursor)
{
    (void)cursor;
    return 1;
}

static int cache_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
    (void)cursor, (void)column;
    sqlite3_result_null(context);
    return SQLITE_OK;
}

static int cache_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
    (void)cursor;
    *rowid = 0;
    return SQLITE_OK;
}

static int cache_update(sqlite3_vtab *table, int argc, sqlite3_value **argv, sqlite3_int64 *rowid)
{
    (void)argc, (void)argv, (void)rowid;
    table->zErrMsg = sqlite3_mprintf("alineo_statements is the extension's own");
    return SQLITE_READONLY;
}

static int cache_begin(sqlite3_vtab *table)
{
    (void)table;
    return SQLITE_OK;
}

static int cache_end(sqlite3_vtab *table)
{
    tail *t = &((statements *)table)->ledger->tail;

    t->known = t->joined = false;
    return SQLITE_OK;
}

static int cache_savepoint(sqlite3_vtab *table, int savepoint)
{
    (void)table, (void)savepoint;
    return SQLITE_OK;
}

static int cache_rollback_to(sqlite3_vtab *table, int savepoint)
{
    (void)savepoint;
    ((statements *)table)->ledger->tail.known = false;
    return SQLITE_OK;
}

const sqlite3_module cache_module = {
    .iVersion = 2, /* the first with savepoints */
    .xConnect = cache_connect,
    .xBestIndex = cache_best_index,
    .xDisconnect = cache_disconnect,
    .xDestroy = cache_disconnect,
    .xOpen = cache_open,
    .xClose = cache_close,
    .xFilter = cache_filter,
    .xNext = cache_next,
    .xEof = cache_eof,
    .xColumn = cache_column,
    .xRowid = cache_rowid,
    .xUpdate = cache_update,
    .xBegin = cache_begin,
    .xCommit = cache_end,
    .xRollback = cache_end,
    .xSavepoint = cache_savepoint,
    .xRelease = cache_savepoint,
    .xRollbackTo = cache_rollback_to,
};

/* Makes the object that owns the cache. Without one, statements are just not
 * kept, so a failure costs time only. */
static void make_cache(ledger *l)
{
    sqlite3_stmt *statement = NULL;

    (void)sqlite3_prepare_v2(l->db, "SELECT 1 FROM temp." CACHE_TABLE, -1, &statement, NULL);
    (void)sqlite3_finalize(statement);
}

alineo_code call_take(call *c, statement_id id, sqlite3_stmt **statement)
{
    ledger *l = c->ledger;

    if (l->cache == NULL)
        make_cache(l);
    if (l->cache != NULL && l->cache->kept[id] != NULL) {
        *statement = l->cache->kept[id];
        l->cache->kept[id] = NULL;
        return ALINEO_OK;
    }
    int rc = sqlite3_prepare_v3(l->db, statement_sql[id], -1, SQLITE_PREPARE_PERSISTENT, statement,
                                NULL);
    return rc == SQLITE_OK ? ALINEO_OK : call_failed(c, rc);
}

void ledger_give(ledger *l, statement_id id, sqlite3_stmt *statement)
{
    if (statement == NULL)
        return;
    /* Reset on every path: a statement left open blocks every later COMMIT. */
    (void)sqlite3_reset(statement);
    if (l->cache == NULL || l->cache->kept[id] != NULL) {
        if (l->behind == statement)
            l->behind = NULL;
        (void)sqlite3_finalize(statement);
        return;
    }
    (void)sqlite3_clear_bindings(statement);
    l->cache->kept[id] = statement;
}

bool cache_keeps(const ledger *l, const sqlite3_stmt *statement)
{
    for (int i = 0; l->cache != NULL && i < SQL_COUNT; i++)
        if (l->cache->kept[i] == statement)
            return true;
    return false;
}
