/*
 * engine.c - see engine.h.
 */
#include "engine.h"

#include <string.h>

const engine *engine_of(const char *name)
{
    if (strcmp(name, "sqlite") == 0)
        return &engine_sqlite;
    return strcmp(name, "postgres") == 0 ? &engine_postgres : NULL;
}
