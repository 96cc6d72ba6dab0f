/*
 * later.h - whether a session may hold an event later than a given time.
 */
#ifndef ALINEO_LATER_H
#define ALINEO_LATER_H

#include "call.h"

/* False where the session surely has no event with a ts above `ts`. True means
 * that it may: a query must look. */
bool alineo_later_possible(alineo_call *call, Datum name, Datum sandbox_id, int64 ts);

#endif
