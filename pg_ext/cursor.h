/*
 * cursor.h - rows of a statement, straight from the executor.
 */
#ifndef ALINEO_CURSOR_H
#define ALINEO_CURSOR_H

#include "call.h"
#include "executor/tuptable.h"
#include "tcop/dest.h"
#include "utils/portal.h"

/* Called for each row, within a fetch; the slot is valid until it returns. */
typedef void (*alineo_on_row)(void *context, TupleTableSlot *slot);

typedef struct alineo_cursor {
    DestReceiver receiver; /* first: the executor sees only this */
    Portal portal;         /* NULL: closed, or nothing to read */
    alineo_on_row on_row;
    void *context;
    bool stopped;
} alineo_cursor;

/* Rows a fetch asks for: enough to make its cost vanish, few to keep. */
enum { ALINEO_FETCH = 1000 };

void alineo_cursor_open(alineo_cursor *cursor, alineo_ledger *ledger, alineo_statement statement,
                        Datum *values, const char *nulls, bool read_only, alineo_on_row on_row,
                        void *context);
/* Hands up to `count` rows over; returns how many, 0 at the end. */
uint64 alineo_cursor_fetch(alineo_cursor *cursor, long count);
/* Called for a row: ends the fetch with it, and no other may follow. */
void alineo_cursor_stop(alineo_cursor *cursor);
void alineo_cursor_close(alineo_cursor *cursor);

/* Opens, reads to the end and closes. */
void alineo_cursor_all(alineo_ledger *ledger, alineo_statement statement, Datum *values,
                       const char *nulls, bool read_only, alineo_on_row on_row, void *context);

#endif
