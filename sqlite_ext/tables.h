/*
 * tables.h - the row functions, each described in the file named.
 */
#ifndef ALINEO_SQLITE_TABLES_H
#define ALINEO_SQLITE_TABLES_H

#include "table.h"

extern const table_function replay_table;            /* replay.c */
extern const table_function last_checkpoint_table;   /* replay.c */
extern const table_function replay_cache_table;      /* execs.c */
extern const table_function execs_table;             /* execs.c */
extern const table_function list_checkpoints_table;  /* checkpoints.c */
extern const table_function list_sandboxes_table;    /* sandboxes.c */
extern const table_function get_sandbox_table;       /* sandboxes.c */
extern const table_function get_environment_table;   /* environments.c */
extern const table_function list_environments_table; /* environments.c */
extern const table_function migrated_table;          /* init.c */

#endif
