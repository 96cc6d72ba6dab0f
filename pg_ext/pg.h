/*
 * pg.h - what every file here starts with: the server's headers, and how an
 * entry point is declared. All other symbols of the library stay hidden.
 */
#ifndef ALINEO_PG_H
#define ALINEO_PG_H

#include "postgres.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* Declares the C function behind an SQL function and exports it. The names
 * are part of released scripts: none is ever removed. */
#define ALINEO_EXPORT __attribute__((visibility("default")))
#define ALINEO_SQL_FUNCTION(name)                                                                  \
    extern ALINEO_EXPORT Datum name(PG_FUNCTION_ARGS);                                             \
    extern ALINEO_EXPORT const Pg_finfo_record *pg_finfo_##name(void);                             \
    PG_FUNCTION_INFO_V1(name)

#endif
