/*
 * tail.c - the ledger's end as left by the last append. See tail.h.
 */
#include "ledger.h"
#include "tail.h"

bool tail_holds(const tail *t, sqlite3 *db)
{
    return t->known && t->changes == sqlite3_total_changes64(db);
}

static bool same_session(const tail *t, alineo_span name, alineo_span sandbox_id)
{
    return t->len == name.len + 1 + sandbox_id.len && memcmp(t->session, name.at, name.len) == 0 &&
           t->session[name.len] == '\0' &&
           memcmp(t->session + name.len + 1, sandbox_id.at, sandbox_id.len) == 0;
}

bool tail_allows(const tail *t, alineo_span name, alineo_span sandbox_id, int64_t now)
{
    return t->latest_known && now >= t->latest && same_session(t, name, sandbox_id);
}

alineo_code tail_join(call *c)
{
    tail *t = &c->ledger->tail;
    sqlite3 *db = c->ledger->db;
    sqlite3_stmt *statement = NULL;
    alineo_code code = ALINEO_OK;

    t->known = false;
    if (t->joined)
        return ALINEO_OK;
    /* Never kept: a statement over the cache's own table would hold the table,
     * and the table the statement, past the end of the connection. */
    int rc = sqlite3_prepare_v2(db, statement_sql[SQL_JOIN_TRANSACTION], -1, &statement, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    /* Alone it was a transaction of its own, and that has ended. */
    t->joined = rc == SQLITE_DONE && sqlite3_txn_state(db, "main") == SQLITE_TXN_WRITE;
    /* SQLite has waited for the lock; the write itself would only wait again.
     * Whatever else fails here, the write says better or does without. */
    if ((rc & 0xFF) == SQLITE_BUSY)
        code = call_failed(c, rc);
    (void)sqlite3_finalize(statement);
    return code;
}

void tail_note(call *c, bool held, bool latest, alineo_span name, alineo_span sandbox_id,
               sqlite3_int64 id, int64_t ts)
{
    tail *t = &c->ledger->tail;
    bool same = held && t->latest_known && same_session(t, name, sandbox_id);

    t->known = held || (t->joined && sqlite3_txn_state(c->ledger->db, "main") == SQLITE_TXN_WRITE);
    t->changes = sqlite3_total_changes64(c->ledger->db);
    t->id = id;
    t->latest_known = same || latest;
    if (same) {
        t->latest = ts > t->latest ? ts : t->latest;
    } else if (latest) {
        t->latest = ts;
        t->len = name.len + 1 + sandbox_id.len;
        memcpy(t->session, name.at, name.len);
        t->session[name.len] = '\0';
        memcpy(t->session + name.len + 1, sandbox_id.at, sandbox_id.len);
    }
}
