/*
 * statements.h - the SQL the extension runs: constant text, values bound.
 */
#ifndef ALINEO_SQLITE_STATEMENTS_H
#define ALINEO_SQLITE_STATEMENTS_H

typedef enum statement_id {
    SQL_APPEND,
    SQL_APPEND_NOW,
    SQL_APPEND_NEXT,
    SQL_RENUMBER,
    SQL_JOIN_TRANSACTION,
    SQL_APPEND_ENTRIES,
    SQL_FREE_ID,
    SQL_LATEST_TS,
    SQL_MIGRATE,
    SQL_DELETE_SANDBOX,
    SQL_GUARD,
    SQL_GUARD_HAS,
    SQL_SANDBOX, /* these in the order of alineo_query */
    SQL_CREATED,
    SQL_CHECKPOINTS,
    SQL_SETTINGS,
    SQL_EVENTS,
    SQL_EVENTS_BY_ID,
    SQL_REPLAY,       /* of any ts */
    SQL_REPLAY_SINCE, /* from a ts on */
    SQL_REPLAY_WITHIN,
    SQL_LAST_CHECKPOINT,
    SQL_LIST_CHECKPOINTS,
    SQL_LIST_SANDBOXES,
    SQL_LIST_BEFORE,
    SQL_FEW_OF_NAME,
    SQL_LIST_OF_NAME,
    SQL_GET_SANDBOX,
    SQL_COUNT_EXECS,
    SQL_SAVE_ENVIRONMENT,
    SQL_DELETE_ENVIRONMENT,
    SQL_GET_ENVIRONMENT,
    SQL_LIST_ENVIRONMENTS,
    SQL_COUNT
} statement_id;

extern const char *const statement_sql[SQL_COUNT];

#endif
