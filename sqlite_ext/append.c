/*
 * append.c - alineo_append. docs/reference.md, "alineo_append".
 *
 * Every append is one INSERT. What it needs to know of the ledger it reads in
 * the same statement, under the same lock, unless tail.h still knows it.
 */
#include "append.h"
#include "entry.h"
#include "schema.h"

typedef struct append {
    alineo_entry entry;
    sqlite3_int64 id; /* as stored */
    bool stored;      /* no trigger kept it from that */
    int64_t ts;       /* the one wanted, then as stored */
} append;

alineo_code append_no_id(call *c)
{
    call_init(c, c->ledger, c->error.function);
    return alineo_fail(&c->error, ALINEO_DAMAGED, "no id is left above that of the last event");
}

/* Binds an entry as INSERT_EVENT in statements.c counts its columns. */
static alineo_code insert(call *c, sqlite3_stmt *statement, void *detail)
{
    append *a = detail;
    const alineo_entry *entry = &a->entry;
    bool row;

    call_bind(c, statement, 1, entry->name);
    call_bind(c, statement, 2, entry->sandbox_id);
    call_bind(c, statement, 3, entry->event);
    call_bind(c, statement, 4, entry->payload);
    (void)sqlite3_bind_int64(statement, 5, entry->step_idx.value);
    if (entry->branch.given)
        (void)sqlite3_bind_int64(statement, 6, entry->branch.value);
    call_bind(c, statement, 7, entry->error);
    (void)sqlite3_bind_int64(statement, 8, a->ts);
    alineo_code code = call_step(c, statement, &row);
    if (row) {
        a->ts = sqlite3_column_int64(statement, 0);
        code = call_run(c, statement);
    }
    if (code == ALINEO_ENGINE && (c->rc & 0xFF) == SQLITE_MISMATCH)
        return append_no_id(c); /* FREE_ID in statements.c */
    if (code != ALINEO_OK)
        return code;
    a->stored = sqlite3_changes64(c->ledger->db) > 0;
    a->id = sqlite3_last_insert_rowid(c->ledger->db);
    return ALINEO_OK;
}

/* Moves the new row to the id behind the last append's. */
static alineo_code renumber(call *c, sqlite3_stmt *statement, void *detail)
{
    append *a = detail;
    sqlite3_int64 id = c->ledger->tail.id + 1;

    (void)sqlite3_bind_int64(statement, 1, a->id);
    (void)sqlite3_bind_int64(statement, 2, id);
    alineo_code code = call_run(c, statement);
    a->id = id;
    return code;
}

/* Whether the append is part of a transaction that goes on after it. */
static bool is_inside(sqlite3 *db)
{
    return !sqlite3_get_autocommit(db) || sqlite3_txn_state(db, "main") == SQLITE_TXN_WRITE;
}

static alineo_code store(call *c, append *a)
{
    const alineo_entry *entry = &a->entry;
    tail *t = &c->ledger->tail;
    bool held = tail_holds(t, c->ledger->db) && t->id < INT64_MAX;

    if (!held) {
        t->known = false;
        if (is_inside(c->ledger->db) && tail_join(c) != ALINEO_OK)
            return c->error.code;
    }
    a->ts = entry->ts.given ? entry->ts.value : now_ms();
    bool ts_known =
        entry->ts.given || (held && tail_allows(t, entry->name, entry->sandbox_id, a->ts));
    statement_id id = !ts_known ? SQL_APPEND_NOW : held ? SQL_APPEND_NEXT : SQL_APPEND;
    alineo_code code = schema_run(c, id, insert, a);
    /* Called by a statement that deletes events, and that is still under way,
     * the tail could not know: the id is one given out before. */
    if (code == ALINEO_OK && a->stored && held && a->id <= t->id)
        code = schema_run(c, SQL_RENUMBER, renumber, a);
    if (code == ALINEO_OK && a->stored)
        tail_note(c, held, !entry->ts.given, entry->name, entry->sandbox_id, a->id, a->ts);
    return code;
}

static alineo_code read_entry(call *c, int argc, sqlite3_value **argv, alineo_entry *entry)
{
    alineo_code code = call_text(c, "name", argv[0], &entry->name);

    if (code == ALINEO_OK)
        code = call_text(c, "sandbox_id", argv[1], &entry->sandbox_id);
    if (code == ALINEO_OK)
        code = call_text(c, "event", argv[2], &entry->event);
    if (code == ALINEO_OK)
        code = call_text(c, "payload", argument(argc, argv, 3), &entry->payload);
    if (code == ALINEO_OK)
        code = call_text(c, "error", argument(argc, argv, 6), &entry->error);
    entry->step_idx = integer_of(argument(argc, argv, 4));
    entry->branch = integer_of(argument(argc, argv, 5));
    entry->ts = integer_of(argument(argc, argv, 7));
    return code;
}

void append_function(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    append a = {0};
    alineo_entry_reader reader;
    call c;

    call_init(&c, sqlite3_user_data(context), "alineo_append");
    alineo_entry_reader_init(&reader, &ledger_memory);
    alineo_code code = read_entry(&c, argc, argv, &a.entry);
    if (code == ALINEO_OK)
        code = alineo_entry_check(&reader, &a.entry, &alineo_entry_arguments, false, &c.error);
    if (code == ALINEO_OK)
        code = store(&c, &a);
    if (code != ALINEO_OK)
        call_report(&c, context);
    else if (a.stored)
        sqlite3_result_int64(context, a.id);
    alineo_entry_reader_free(&reader);
}
