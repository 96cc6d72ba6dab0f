/*
 * statements.c - the text of every statement. See statements.h.
 *
 * Every name is qualified with main, so that a temporary table of the same
 * name captures nothing. The extension's own virtual tables, which belong to no
 * database, are sought in temp: a table of that name in a file captures nothing
 * either. A query over milestones repeats the predicate of the
 * partial index (schema.c) word for word, which is what lets SQLite use it. A
 * unary plus keeps a term from drawing SQLite to an index that is worse: one of
 * 0.2 over the name alone, or one in the order of ts.
 */
#include "statements.h"
#include "vocabulary.h"

#include <stddef.h>

/* SQL is laid out by hand. */
/* clang-format off */

#define EVENTS     "main.alineo_events"
#define MILESTONE  " NOT IN (" ALINEO_SQL_OUTPUT ")"
#define COLUMNS    "id, sandbox_id, name, step_idx, branch, event, payload, error, ts"
#define SESSION    "name = ?1 AND sandbox_id = ?2"
#define CORE       "SELECT id, ts, step_idx, event, payload, name, sandbox_id FROM " EVENTS

/* An id above all that were ever seen, where the highest of them were deleted
 * and SQLite would give them out again; NULL, which lets SQLite choose, else.
 * Behind the last integer SQLite would choose at random: there it is a real
 * number, which no row takes for its id. */
#define FREE_ID                                                                                    \
    "ifnull((SELECT d.last_id + 1 FROM main.alineo_deleted AS d"                                   \
    " WHERE +d.last_id >= ifnull((SELECT max(id) FROM " EVENTS "), 0)),"                           \
    " (SELECT id + 1 FROM " EVENTS " WHERE id = 9223372036854775807))"

#define INSERT_EVENT                                                                               \
    "INSERT INTO " EVENTS "(id, name, sandbox_id, event, payload, step_idx, branch, error, ts) "

#define ENVIRONMENTS                                                                               \
    "SELECT name, snapshot_id, image, built_at FROM main.alineo_environments "

/* What SQLite keeps beside integers in ts sorts behind them, and is no time. */
#define LATEST_TS                                                                                  \
    "SELECT max(ts) FROM " EVENTS " WHERE " SESSION " AND ts <= 9223372036854775807"

/* Checkpoints of a session, read in the order of their ids and never sorted. */
#define CHECKPOINTS(name) CORE " WHERE " SESSION " AND event = " name " AND event" MILESTONE
#define WHOLE_CHECKPOINTS(name)                                                                    \
    "SELECT " COLUMNS " FROM " EVENTS " WHERE " SESSION " AND event = " name " AND event" MILESTONE

/* Events x of one kind in the session of c. */
#define OF_SESSION(c, list)                                                                        \
    EVENTS " AS x WHERE x.sandbox_id = " c ".sandbox_id AND x.name = " c ".name"                   \
    " AND x.event IN (" list ") AND x.event" MILESTONE

/* Sessions, each by its earliest created event c. */
#define SANDBOXES                                                                                  \
    "SELECT c.id, c.name, c.sandbox_id, c.ts,"                                                     \
    " (SELECT max(+x.ts) FROM " OF_SESSION("c", ALINEO_SQL_CLOSED) "),"                            \
    " (SELECT x.payload FROM " OF_SESSION("c", ALINEO_SQL_CREATED) " ORDER BY +x.id LIMIT 1) FROM "

#define IS_EARLIEST                                                                                \
    "c.event IN (" ALINEO_SQL_CREATED ")"                                                          \
    " AND NOT EXISTS (SELECT 1 FROM " OF_SESSION("c", ALINEO_SQL_CREATED)                          \
    "  AND (+x.ts, +x.id) < (c.ts, c.id))"

/* NULL, in a table that allows it, names no session. */
#define IS_NAMED " AND c.name IS NOT NULL AND c.sandbox_id IS NOT NULL"

/* ?3: whether only completed or only running sessions are listed. */
#define LISTED                                                                                     \
    " AND (?3 IS NULL OR ?3 = EXISTS (SELECT 1 FROM " OF_SESSION("c", ALINEO_SQL_CLOSED) "))"      \
    " ORDER BY c.ts DESC, c.id DESC"

/* The sessions with the name ?1, each found from the one before. */
#define OF_NAME                                                                                    \
    "WITH RECURSIVE o(name, sandbox_id) AS ("                                                      \
    "SELECT ?1, min(e.sandbox_id) FROM " BY_SESSION " WHERE e.name = ?1 UNION ALL"                 \
    " SELECT ?1, (SELECT min(e.sandbox_id) FROM " BY_SESSION                                       \
    "  WHERE e.name = ?1 AND e.sandbox_id > o.sandbox_id) FROM o WHERE o.sandbox_id IS NOT NULL"
#define BY_SESSION EVENTS " AS e INDEXED BY alineo_events_name_sandbox_ts"

const char *const statement_sql[SQL_COUNT] = {
    [SQL_APPEND] = INSERT_EVENT "VALUES (" FREE_ID ", ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",

    /* The session's latest ts is read under the lock of the insert. */
    [SQL_APPEND_NOW] = INSERT_EVENT "VALUES (" FREE_ID ", ?1, ?2, ?3, ?4, ?5, ?6, ?7,"
                                    " CAST(max(?8, ifnull((" LATEST_TS "), 0)) AS INTEGER))"
                                    " RETURNING ts",

    [SQL_APPEND_NEXT] = INSERT_EVENT "VALUES (NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",

    [SQL_RENUMBER] = "UPDATE " EVENTS " SET id = ?2 WHERE id = ?1",

    /* The table has no rows: all that happens is that it joins. */
    [SQL_JOIN_TRANSACTION] = "DELETE FROM temp.alineo_statements",

    [SQL_APPEND_ENTRIES] =
        INSERT_EVENT "SELECT id, name, sandbox_id, event, payload, step_idx, branch, error, ts"
                     " FROM temp.alineo_entries(?1)",

    [SQL_FREE_ID] = "SELECT " FREE_ID ", (SELECT max(id) FROM " EVENTS ")",

    [SQL_LATEST_TS] = LATEST_TS,

    [SQL_MIGRATE] =
        "UPDATE " EVENTS " AS e SET (event, payload) ="
        " (SELECT m.event, m.payload FROM temp.alineo_migrated(e.event, e.payload) AS m)"
        " WHERE (e.event NOT GLOB '*.*' OR ltrim(e.payload, ' ' || char(9, 10, 13)) GLOB '\"*')"
        " AND EXISTS (SELECT 1 FROM temp.alineo_migrated(e.event, e.payload))",

    [SQL_DELETE_SANDBOX] = "DELETE FROM " EVENTS " WHERE " SESSION,

    /* Writes nothing. What ?1 stands for happens inside, whole or not at all. */
    [SQL_GUARD] = "INSERT INTO main.alineo_deleted(last_id) SELECT 0 WHERE alineo_guard(?1) IS NULL",

    [SQL_GUARD_HAS] = "SELECT 1 FROM main.sqlite_schema WHERE type = 'trigger'"
                      " AND sql = 'CREATE TRIGGER ' || ?1",

    [SQL_SANDBOX] = CORE " WHERE sandbox_id = ?2 AND event IN (" ALINEO_SQL_CREATED ")"
                         " AND event" MILESTONE " ORDER BY +id DESC",

    [SQL_CREATED] = CORE " WHERE " SESSION " AND event IN (" ALINEO_SQL_CREATED ")"
                         " AND event" MILESTONE " ORDER BY +id",

    [SQL_CHECKPOINTS] = ALINEO_SQL_EACH_CHECKPOINT(CHECKPOINTS) " ORDER BY id DESC",

    [SQL_SETTINGS] = CORE " WHERE " SESSION " AND event IN (" ALINEO_SQL_SETTINGS ")"
                          " AND event" MILESTONE " ORDER BY +id",

    /* alineo_visit takes the rows as they pass, in whatever order is cheapest. */
    [SQL_EVENTS] = "SELECT count(alineo_visit(?4, id, ts, step_idx, event, payload)) FROM " EVENTS
                   " WHERE " SESSION " AND +id < ?3",

    /* Sorts ids alone, then reads the rows in that order. */
    [SQL_EVENTS_BY_ID] =
        "SELECT count(alineo_visit(?4, e.id, e.ts, e.step_idx, e.event, e.payload)) FROM"
        " (SELECT id AS key FROM " EVENTS " WHERE " SESSION " AND +id < ?3 ORDER BY +id LIMIT -1)"
        " CROSS JOIN " EVENTS " AS e ON e.id = key",

    /* Three, because no bound lets through whatever SQLite may have kept in ts. */
    [SQL_REPLAY] = "SELECT " COLUMNS " FROM " EVENTS " WHERE " SESSION
                   " AND +id BETWEEN ?5 AND ?6 ORDER BY ts, id",

    [SQL_REPLAY_SINCE] = "SELECT " COLUMNS " FROM " EVENTS " WHERE " SESSION
                         " AND ts >= ?3 AND +id BETWEEN ?5 AND ?6 ORDER BY ts, id",

    [SQL_REPLAY_WITHIN] = "SELECT " COLUMNS " FROM " EVENTS " WHERE " SESSION
                          " AND ts BETWEEN ?3 AND ?4 AND id BETWEEN ?5 AND ?6 ORDER BY ts, id",

    [SQL_LAST_CHECKPOINT] =
        ALINEO_SQL_EACH_CHECKPOINT(WHOLE_CHECKPOINTS) " ORDER BY id DESC LIMIT 1",

    [SQL_LIST_CHECKPOINTS] = ALINEO_SQL_EACH_CHECKPOINT(CHECKPOINTS) " ORDER BY id",

    /* Two, as no bound lets through whatever SQLite may have kept in ts. */
    [SQL_LIST_SANDBOXES] = SANDBOXES EVENTS " AS c WHERE (?1 IS NULL OR c.name = ?1)" IS_NAMED
                           " AND " IS_EARLIEST LISTED,

    [SQL_LIST_BEFORE] = SANDBOXES EVENTS " AS c WHERE c.ts < ?2 AND (?1 IS NULL OR c.name = ?1)"
                        IS_NAMED " AND " IS_EARLIEST LISTED,

    /* Refused where the index is missing: each step would read the table. */
    [SQL_FEW_OF_NAME] = OF_NAME " LIMIT ?2 + 1) SELECT count(sandbox_id) < ?2 FROM o",

    /* No join with the events: SQLite might read them all for a Bloom filter. */
    [SQL_LIST_OF_NAME] = OF_NAME "), c(name, sandbox_id, id, ts) AS MATERIALIZED ("
                         "SELECT o.name, o.sandbox_id,"
                         " (SELECT x.id FROM " OF_SESSION("o", ALINEO_SQL_CREATED)
                         "  ORDER BY +x.ts, +x.id LIMIT 1),"
                         " (SELECT min(+x.ts) FROM " OF_SESSION("o", ALINEO_SQL_CREATED) ")"
                         " FROM o) " SANDBOXES "c WHERE c.id IS NOT NULL"
                         " AND (?2 IS NULL OR c.ts < ?2)" LISTED,

    [SQL_GET_SANDBOX] = SANDBOXES EVENTS " AS c WHERE c.name = ?1 AND c.sandbox_id = ?2"
                        " AND c.event" MILESTONE " AND " IS_EARLIEST,

    [SQL_COUNT_EXECS] = "SELECT count(*) FROM " EVENTS " WHERE " SESSION
                        " AND event IN (" ALINEO_SQL_COMPLETED ") AND event" MILESTONE,

    [SQL_SAVE_ENVIRONMENT] =
        "INSERT INTO main.alineo_environments(name, snapshot_id, image, built_at)"
        " VALUES (?1, ?2, ?3, ?4) ON CONFLICT (name) DO UPDATE SET"
        " snapshot_id = excluded.snapshot_id, image = excluded.image, built_at = excluded.built_at",

    [SQL_DELETE_ENVIRONMENT] = "DELETE FROM main.alineo_environments WHERE name = ?1",

    [SQL_GET_ENVIRONMENT] = ENVIRONMENTS "WHERE name = ?1",

    [SQL_LIST_ENVIRONMENTS] = ENVIRONMENTS "ORDER BY built_at DESC, name",
};
