/*
 * guard.h - the way past the guard for changes of our own. See guard.c.
 */
#ifndef ALINEO_GUARD_H
#define ALINEO_GUARD_H

#include "ledger.h"

/* As alineo_ledger_write, and the guard lets the statement's rows pass. */
uint64 alineo_guard_write(alineo_ledger *ledger, alineo_statement statement, Datum *values,
                          const char *nulls);

#endif
