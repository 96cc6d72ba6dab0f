/*
 * tail.c - the ledger's end as left by the last append. See tail.h.
 */
#include "ledger.h"
#include "tail.h"

static unsigned file_version(sqlite3 *db)
{
    unsigned version = 0;

    (void)sqlite3_file_control(db, "main", SQLITE_FCNTL_DATA_VERSION, &version);
    return version;
}

bool tail_holds(const tail *t, sqlite3 *db)
{
    return t->known && t->changes == sqlite3_total_changes64(db) && t->id < INT64_MAX &&
           sqlite3_txn_state(db, "main") == SQLITE_TXN_WRITE && t->version == file_version(db);
}

static bool same_session(const tail *t, alineo_span name, alineo_span sandbox_id)
{
    return t->len == name.len + 1 + sandbox_id.len &&
           memcmp(t->session, name.at, name.len) == 0 && t->session[name.len] == '\0' &&
           memcmp(t->session + name.len + 1, sandbox_id.at, sandbox_id.len) == 0;
}

bool tail_allows(const tail *t, alineo_span name, alineo_span sandbox_id, int64_t now)
{
    return t->latest_known && now >= t->latest && same_session(t, name, sandbox_id);
}

void tail_note(tail *t, sqlite3 *db, bool held, bool latest, alineo_span name,
               alineo_span sandbox_id, sqlite3_int64 id, int64_t ts)
{
    bool same = held && t->latest_known && same_session(t, name, sandbox_id);

    /* What held before holds on: the lock was never let go. Outside a
     * transaction it is gone by now. */
    if (!held) {
        t->known = sqlite3_txn_state(db, "main") == SQLITE_TXN_WRITE;
        if (!t->known)
            return;
        t->version = file_version(db);
    }
    t->changes = sqlite3_total_changes64(db);
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
