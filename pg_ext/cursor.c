/*
 * cursor.c - see cursor.h.
 *
 * SPI's own fetch copies each row into a table of tuples first. This runs the
 * same portal with a receiver of ours instead, so that a row that is only
 * looked at is never copied. Everything before the receiver, with planner,
 * executor and their hooks, is as in any query.
 */
#include "cursor.h"

#include "tcop/pquery.h"
#include "utils/guc.h"

static bool receive(TupleTableSlot *slot, DestReceiver *receiver)
{
    alineo_cursor *cursor = (alineo_cursor *)receiver;

    cursor->on_row(cursor->context, slot);
    return !cursor->stopped;
}

static void startup(DestReceiver *receiver, int operation, TupleDesc type)
{
    (void)receiver, (void)operation, (void)type;
}

static void nothing(DestReceiver *receiver)
{
    (void)receiver;
}

void alineo_cursor_open(alineo_cursor *cursor, alineo_ledger *ledger, alineo_statement statement,
                        Datum *values, const char *nulls, bool read_only, alineo_on_row on_row,
                        void *context)
{
    MemoryContext before = CurrentMemoryContext;

    memset(cursor, 0, sizeof *cursor);
    cursor->receiver.receiveSlot = receive;
    cursor->receiver.rStartup = startup;
    cursor->receiver.rShutdown = nothing;
    cursor->receiver.rDestroy = nothing;
    cursor->receiver.mydest = DestTuplestore;
    cursor->on_row = on_row;
    cursor->context = context;
    /* Rows are taken apart here and not by expressions of the query: compiling
     * those costs more than it gains. */
    int guc_level = NewGUCNestLevel();
    (void)set_config_option("jit", "off", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
                            false);
    cursor->portal =
        SPI_cursor_open(NULL, alineo_ledger_plan(ledger, statement), values, nulls, read_only);
    if (cursor->portal == NULL)
        elog(ERROR, "could not open a cursor: %s", SPI_result_code_string(SPI_result));
    AtEOXact_GUC(true, guc_level);
    MemoryContextSwitchTo(before);
}

uint64 alineo_cursor_fetch(alineo_cursor *cursor, long count)
{
    CHECK_FOR_INTERRUPTS();
    return PortalRunFetch(cursor->portal, FETCH_FORWARD, count, &cursor->receiver);
}

void alineo_cursor_stop(alineo_cursor *cursor)
{
    cursor->stopped = true;
}

void alineo_cursor_close(alineo_cursor *cursor)
{
    if (cursor->portal != NULL)
        SPI_cursor_close(cursor->portal);
    cursor->portal = NULL;
}

void alineo_cursor_all(alineo_ledger *ledger, alineo_statement statement, Datum *values,
                       const char *nulls, bool read_only, alineo_on_row on_row, void *context)
{
    alineo_cursor cursor;

    alineo_cursor_open(&cursor, ledger, statement, values, nulls, read_only, on_row, context);
    while (alineo_cursor_fetch(&cursor, ALINEO_FETCH) > 0)
        continue;
    alineo_cursor_close(&cursor);
}
