/*
 * tail.h - what this connection still knows of the ledger's end.
 *
 * An append has two questions: is the id SQLite would choose a new one (the
 * highest rows may have been deleted), and what is the session's latest ts.
 * Asked by SQL they cost a third of the append. Inside a write transaction
 * nobody else can change the answers, so the connection keeps them from one
 * append to the next while it changes nothing else. The cache's virtual table
 * joins the transaction, and so hears when that ends or is rolled back in part.
 */
#ifndef ALINEO_SQLITE_TAIL_H
#define ALINEO_SQLITE_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3ext.h>

#include "arguments.h"
#include "error.h"

typedef struct tail {
    bool joined;           /* the cache's table is part of the transaction */
    bool known;            /* the last append left what follows */
    sqlite3_int64 changes; /* this connection's, all told, right after it */
    sqlite3_int64 id;      /* of that append: the highest there is */
    bool latest_known;
    int64_t latest; /* ts of the session below */
    size_t len;
    char session[2 * ALINEO_NAME_BYTES + 1]; /* name, NUL, sandbox_id */
} tail;

struct call;

/* Whether no id was given out or deleted since the append that tail->id is of. */
bool tail_holds(const tail *t, sqlite3 *db);
/* Whether `now` is no less than the session's latest ts, given that the tail
 * holds. */
bool tail_allows(const tail *t, alineo_span name, alineo_span sandbox_id, int64_t now);
/* Has the cache's table join the transaction that the next write is part of.
 * This takes the lock to write, and fails only where another holds that. */
alineo_code tail_join(struct call *c);
/* Notes an append that was stored. `held`: the tail held before it; `latest`:
 * its ts is the session's latest. */
void tail_note(struct call *c, bool held, bool latest, alineo_span name, alineo_span sandbox_id,
               sqlite3_int64 id, int64_t ts);

#endif
