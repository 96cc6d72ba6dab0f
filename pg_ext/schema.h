/*
 * schema.h - the ledger's tables, made where they are missing.
 */
#ifndef ALINEO_SCHEMA_H
#define ALINEO_SCHEMA_H

#include "call.h"

#define ALINEO_EVENTS_TABLE       "alineo_events"
#define ALINEO_ENVIRONMENTS_TABLE "alineo_environments"
#define ALINEO_SESSION_INDEX      "alineo_events_name_sandbox_ts"

/* Whether a read has anything to look at. */
static inline bool alineo_schema_has(const alineo_call *call, const char *table)
{
    return alineo_ledger_has(call->ledger, table);
}

/* Whether the caller has the rights of a table's owner. */
bool alineo_schema_owns(Oid relation);
/* Makes what is missing, where `table` is; for the first write. */
void alineo_schema_need(alineo_call *call, const char *table);
/* Makes what is missing, indexes of an adopted ledger included. */
void alineo_schema_ensure(alineo_call *call);

#endif
