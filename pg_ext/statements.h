/*
 * statements.h - every statement the extension runs on the ledger's tables.
 */
#ifndef ALINEO_STATEMENTS_H
#define ALINEO_STATEMENTS_H

#include "pg.h"

typedef enum alineo_statement {
    ALINEO_APPEND,
    ALINEO_APPEND_NOW, /* where ts is left to us */
    ALINEO_APPEND_ROWS,
    ALINEO_LATEST_TS,
    ALINEO_DELETE_SANDBOX,
    ALINEO_MIGRATE,
    ALINEO_MIGRATE_NAMES,
    ALINEO_FIND_OUTDATED,
    ALINEO_FIND_OUTDATED_NAME,
    ALINEO_SELECT_SANDBOX, /* these six in the order of alineo_query */
    ALINEO_SELECT_CREATED,
    ALINEO_SELECT_CHECKPOINTS,
    ALINEO_SELECT_SETTINGS,
    ALINEO_SELECT_EVENTS,
    ALINEO_SELECT_EVENTS_BY_ID,
    ALINEO_REPLAY,
    ALINEO_LAST_CHECKPOINT,
    ALINEO_LIST_CHECKPOINTS,
    ALINEO_LIST_SANDBOXES,
    ALINEO_LIST_BEFORE,
    ALINEO_FEW_OF_NAME,
    ALINEO_LIST_OF_NAME,
    ALINEO_GET_SANDBOX,
    ALINEO_COUNT_EXECS,
    ALINEO_SAVE_ENVIRONMENT,
    ALINEO_DELETE_ENVIRONMENT,
    ALINEO_GET_ENVIRONMENT,
    ALINEO_LIST_ENVIRONMENTS,
    ALINEO_STATEMENT_COUNT
} alineo_statement;

enum { ALINEO_STATEMENT_PARAMETERS = 8 };

typedef struct alineo_statement_text {
    const char *sql; /* a format: %1$s is the quoted schema */
    int parameters;
    int options;
    Oid types[ALINEO_STATEMENT_PARAMETERS];
} alineo_statement_text;

extern const alineo_statement_text alineo_statements[ALINEO_STATEMENT_COUNT];

/* Columns of every statement that reads events. */
enum {
    ALINEO_COLUMN_ID,
    ALINEO_COLUMN_SANDBOX_ID,
    ALINEO_COLUMN_NAME,
    ALINEO_COLUMN_STEP_IDX,
    ALINEO_COLUMN_BRANCH,
    ALINEO_COLUMN_EVENT,
    ALINEO_COLUMN_PAYLOAD,
    ALINEO_COLUMN_ERROR,
    ALINEO_COLUMN_TS,
    ALINEO_COLUMNS
};

/* The rows that ALINEO_APPEND_ROWS reads: a tuplestore that the caller registers
 * with SPI under this name. */
#define ALINEO_ENTRIES_NAME "alineo_entries"

#endif
