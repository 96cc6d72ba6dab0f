/*
 * pg.h - what every file here starts with: the server's headers, and how an
 * entry point is declared. All other symbols of the library stay hidden.
 */
#ifndef ALINEO_PG_H
#define ALINEO_PG_H

#include "postgres.h"
#include "fmgr.h"
#include "miscadmin.h"

/* Declares the C function behind an SQL function and exports it. The names
 * are part of released scripts: none is ever removed. */
#define ALINEO_SQL_FUNCTION(name)                                                                  \
    _Pragma("GCC visibility push(default)") PG_FUNCTION_INFO_V1(name);                             \
    Datum name(PG_FUNCTION_ARGS);                                                                  \
    _Pragma("GCC visibility pop") extern int alineo_pg_unused

#endif
