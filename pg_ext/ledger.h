/*
 * ledger.h - one ledger: the schema its tables are in, and the statements
 * prepared for it in this session.
 */
#ifndef ALINEO_LEDGER_H
#define ALINEO_LEDGER_H

#include "pg.h"
#include "executor/spi.h"

#include "statements.h"

typedef struct alineo_ledger {
    struct alineo_ledger *next;
    Oid schema;
    const char *schema_name;
    const char *quoted; /* the same as SQL spells it */
    SPIPlanPtr plans[ALINEO_STATEMENT_COUNT];
} alineo_ledger;

/* The ledger of the function being called: its schema is the function's own,
 * whatever the caller's search_path. */
alineo_ledger *alineo_ledger_of(FunctionCallInfo fcinfo);

/* The OID of a table or index of ours, InvalidOid where there is none. */
Oid alineo_ledger_relation(const alineo_ledger *ledger, const char *name);
/* Whether a table of ours is there, and then to the end of the transaction: it
 * is locked as for reading, and one that is being dropped waited for. */
bool alineo_ledger_has(const alineo_ledger *ledger, const char *table);

/* The plan of a statement. Needs SPI. */
SPIPlanPtr alineo_ledger_plan(alineo_ledger *ledger, alineo_statement statement);

/* Runs a statement that writes; returns how many rows it wrote. */
uint64 alineo_ledger_write(alineo_ledger *ledger, alineo_statement statement, Datum *values,
                           const char *nulls);
/* Asks for one integer; false where there is none. */
bool alineo_ledger_ask(alineo_ledger *ledger, alineo_statement statement, Datum *values,
                       const char *nulls, bool read_only, int64 *answer);

#endif
