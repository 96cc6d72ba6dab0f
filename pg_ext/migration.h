/*
 * migration.h - what a stored row becomes when it is brought up to date, and
 * how far the migration has come.
 */
#ifndef ALINEO_MIGRATION_H
#define ALINEO_MIGRATION_H

#include "call.h"

/* Rewrites every row that 0.2 left, in one pass and one step; returns how many.
 * Says how far it is in NOTICEs. */
uint64 alineo_migrate(alineo_call *call);

#endif
