/*
 * statements.c - the text of every statement. See statements.h.
 *
 * Nothing here resolves through search_path: tables carry the ledger's schema,
 * operators and functions pg_catalog. What an SQL keyword names (bigint,
 * GREATEST, count's star) is safe as it stands.
 *
 * Columns of text, and of other tables than that of events, are cast to the
 * type the C code expects. Where they have that type, as they should, the cast
 * is free; where an adopted table differs, it keeps us from reading bytes as
 * what they are not. An event's integers and payload, whose cast may fail, are
 * taken as they are: stored.c reads them, and names the row.
 *
 * A query over milestones repeats the predicate of the partial index
 * (schema.c), which is what lets the planner use it.
 */
#include "statements.h"

#include "catalog/pg_type.h"
#include "nodes/parsenodes.h"

#include "../shared/vocabulary.h"

/* clang-format off */
#define EVENTS       "%1$s.alineo_events"
#define ENVIRONMENTS "%1$s.alineo_environments"

#define EQ             " OPERATOR(pg_catalog.=) "
#define IN(list)       " OPERATOR(pg_catalog.=) ANY (ARRAY[" list "])"
#define NOT_IN(list)   " OPERATOR(pg_catalog.<>) ALL (ARRAY[" list "])"
#define MILESTONE(e)   e ".event" NOT_IN(ALINEO_SQL_OUTPUT)
#define SESSION        "e.name" EQ "$1 AND e.sandbox_id" EQ "$2"
#define TEXT(column)   "CAST(" column " AS pg_catalog.text)"
#define BIGINT(column) "CAST(" column " AS bigint)"
#define PAYLOAD(e)     "CAST(" e ".payload AS pg_catalog.jsonb)"

/* An event, its columns in the table's own order, which spares the executor
 * to rearrange them. */
#define SELECT                                                                                     \
    "SELECT e.id, " TEXT("e.sandbox_id") ", " TEXT("e.name") ", e.step_idx, e.branch, "            \
    TEXT("e.event") ", e.payload, " TEXT("e.error") ", e.ts"
#define FROM_EVENTS " FROM " EVENTS " AS e WHERE "

#define MILESTONES(list) SESSION " AND e.event" IN(list) " AND " MILESTONE("e")

#define COLUMNS "(name, sandbox_id, event, payload, step_idx, branch, error, ts)"

#define LATEST(condition)                                                                          \
    "SELECT " BIGINT("e.ts") FROM_EVENTS SESSION condition " ORDER BY e.ts DESC LIMIT 1"

#define OUTDATED      "%1$s.alineo_outdated(" TEXT("e.event") ", " PAYLOAD("e") ")"
#define OUTDATED_NAME "%1$s.alineo_outdated(" TEXT("e.event") ", NULL)"

#define EXECS(name)                                                                                \
    "SELECT pg_catalog.count(*)" FROM_EVENTS SESSION " AND e.event" EQ name " AND " MILESTONE("e")

/* Checkpoints of a session, read in the order of their ids and never sorted. */
#define CHECKPOINTS(name) SELECT FROM_EVENTS SESSION " AND e.event" EQ name " AND " MILESTONE("e")

/* Events x of one name in the session of c. One name at a time, as the planner
 * would rather read all milestones of the session than look for two. */
#define OF_SESSION(c, event)                                                                       \
    " FROM " EVENTS " AS x WHERE x.sandbox_id" EQ c ".sandbox_id AND x.name" EQ c ".name"          \
    " AND x.event" EQ event " AND " MILESTONE("x")
#define CREATED_OF_C(event) "SELECT x.id, x.ts, x.payload" OF_SESSION("c", event)
#define CREATED_OF_O(event) "SELECT x.id, x.ts" OF_SESSION("o", event)
#define EARLIEST(created, column)                                                                  \
    "(SELECT y." column " FROM (" ALINEO_SQL_EACH_CREATED(created) ") AS y"                        \
    " ORDER BY y.ts, y.id LIMIT 1)"
#define CLOSED(event) "(SELECT pg_catalog.max(x.ts)" OF_SESSION("c", event) ")"
#define COMPLETED_AT  "GREATEST(" CLOSED("'sandbox.closed'") ", " CLOSED("'sandbox_closed'") ")"

/* Sessions, each once: by its earliest created event c. Scalar subqueries and
 * not EXISTS, of which the planner would make a join; conditions within a CASE,
 * of which it expects that half the rows pass. Both keep the walk over c in its
 * index's order, so that it can stop early. */
#define SANDBOXES                                                                                  \
    "SELECT " TEXT("c.name") ", " TEXT("c.sandbox_id") ", c.ts, " COMPLETED_AT ", "                \
    "(SELECT y.payload FROM (" ALINEO_SQL_EACH_CREATED(CREATED_OF_C) ") AS y"                      \
    " ORDER BY y.id LIMIT 1) FROM "
#define IS_EARLIEST                                                                                \
    "c.event" IN(ALINEO_SQL_CREATED) " AND CASE WHEN c.id" EQ EARLIEST(CREATED_OF_C, "id")         \
    " THEN true END"

/* $3: whether only completed or only running sessions are listed. */
#define BEFORE " AND c.ts OPERATOR(pg_catalog.<=) $2"
#define LISTED                                                                                     \
    " AND CASE WHEN $3 IS NULL THEN true ELSE $3" EQ "(" COMPLETED_AT " IS NOT NULL) END"          \
    " ORDER BY c.ts DESC, c.id DESC"

/* The sessions with the name $1, each found from the one before; by the index
 * over sessions, that is, and in its order. */
#define NEXT_OF_NAME(condition)                                                                    \
    "(SELECT e.sandbox_id" FROM_EVENTS "e.name" EQ "$1" condition                                  \
    " ORDER BY e.name, e.sandbox_id LIMIT 1)"
#define OF_NAME                                                                                    \
    "WITH RECURSIVE o(name, sandbox_id) AS ("                                                      \
    "SELECT CAST($1 AS pg_catalog.text), " NEXT_OF_NAME("") " UNION ALL"                           \
    " SELECT o.name, " NEXT_OF_NAME(" AND e.sandbox_id OPERATOR(pg_catalog.>) o.sandbox_id")       \
    " FROM o WHERE o.sandbox_id IS NOT NULL)"

#define ENVIRONMENT                                                                                \
    "SELECT " TEXT("v.name") ", " TEXT("v.snapshot_id") ", " TEXT("v.image") ", "                  \
    BIGINT("v.built_at") " FROM " ENVIRONMENTS " AS v"

#define SESSION_TYPES TEXTOID, TEXTOID
#define LIST_TYPES    TEXTOID, INT8OID, BOOLOID
#define APPEND_TYPES  TEXTOID, TEXTOID, TEXTOID, JSONBOID, INT4OID, INT4OID, TEXTOID, INT8OID

/* Appends are planned once: a plan for each set of values would cost more than
 * the insert itself. */
enum { ONCE = CURSOR_OPT_GENERIC_PLAN };

const alineo_statement_text alineo_statements[ALINEO_STATEMENT_COUNT] = {
    [ALINEO_APPEND] = {"INSERT INTO " EVENTS COLUMNS
                       " VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING " BIGINT("id"),
                       8, ONCE, {APPEND_TYPES}},

    /* The session's latest ts counts where it is later than now. Asking for
     * just that finds nothing, as a rule, and spares the index to read a page. */
    [ALINEO_APPEND_NOW] = {"INSERT INTO " EVENTS COLUMNS " VALUES ($1, $2, $3, $4, $5, $6, $7,"
                           " GREATEST($8, (" LATEST(" AND e.ts OPERATOR(pg_catalog.>) $8")
                           "))) RETURNING " BIGINT("id"),
                           8, ONCE, {APPEND_TYPES}},

    [ALINEO_APPEND_ROWS] = {"INSERT INTO " EVENTS COLUMNS " SELECT b.name, b.sandbox_id, b.event,"
                            " b.payload, b.step_idx, b.branch, b.error, b.ts"
                            " FROM " ALINEO_ENTRIES_NAME " AS b",
                            0, ONCE, {0}},

    [ALINEO_LATEST_TS] = {LATEST(" AND e.ts IS NOT NULL"), 2, ONCE, {SESSION_TYPES}},

    [ALINEO_DELETE_SANDBOX] = {"DELETE" FROM_EVENTS SESSION, 2, 0, {SESSION_TYPES}},

    /* See migration.c. A payload that stays is not made anew. */
    [ALINEO_MIGRATE] = {"UPDATE " EVENTS " AS e SET"
                        " event = %1$s.alineo_current_event(" TEXT("e.event") "),"
                        " payload = CASE WHEN pg_catalog.jsonb_typeof(" PAYLOAD("e") ")" EQ "'string'"
                        " THEN %1$s.alineo_current_payload(" PAYLOAD("e") ") ELSE e.payload END"
                        " WHERE " OUTDATED,
                        0, 0, {0}},

    /* Where the payload has another type it stays as it is, JSON or not. */
    [ALINEO_MIGRATE_NAMES] = {"UPDATE " EVENTS " AS e SET"
                              " event = %1$s.alineo_current_event(" TEXT("e.event") ")"
                              " WHERE " OUTDATED_NAME,
                              0, 0, {0}},

    [ALINEO_FIND_OUTDATED] = {"SELECT " BIGINT("e.id") FROM_EVENTS OUTDATED " LIMIT 1", 0, 0, {0}},

    [ALINEO_FIND_OUTDATED_NAME] = {"SELECT " BIGINT("e.id") FROM_EVENTS OUTDATED_NAME " LIMIT 1",
                                   0, 0, {0}},

    [ALINEO_SELECT_SANDBOX] = {SELECT FROM_EVENTS "e.sandbox_id" EQ "$2"
                               " AND e.event" IN(ALINEO_SQL_CREATED) " AND " MILESTONE("e")
                               " ORDER BY e.id DESC",
                               3, 0, {SESSION_TYPES, INT8OID}},

    [ALINEO_SELECT_CREATED] = {SELECT FROM_EVENTS MILESTONES(ALINEO_SQL_CREATED) " ORDER BY e.id",
                               3, 0, {SESSION_TYPES, INT8OID}},

    [ALINEO_SELECT_CHECKPOINTS] = {ALINEO_SQL_EACH_CHECKPOINT(CHECKPOINTS) " ORDER BY 1 DESC",
                                   3, 0, {SESSION_TYPES, INT8OID}},

    [ALINEO_SELECT_SETTINGS] = {SELECT FROM_EVENTS MILESTONES(ALINEO_SQL_SETTINGS) " ORDER BY e.id",
                                3, 0, {SESSION_TYPES, INT8OID}},

    /* $3 is left to the reader of the rows, which is cheaper by the row. */
    [ALINEO_SELECT_EVENTS] = {SELECT FROM_EVENTS SESSION " ORDER BY e.ts, e.id",
                              3, 0, {SESSION_TYPES, INT8OID}},

    /* $3 too, where it is the highest there is; the reader leaves it out else. */
    [ALINEO_SELECT_EVENTS_BY_ID] = {SELECT FROM_EVENTS SESSION " AND e.id OPERATOR(pg_catalog.<=) $3"
                                    " ORDER BY e.id",
                                    3, 0, {SESSION_TYPES, INT8OID}},

    [ALINEO_REPLAY] = {SELECT FROM_EVENTS SESSION " ORDER BY e.ts, e.id", 2, 0, {SESSION_TYPES}},

    [ALINEO_LAST_CHECKPOINT] = {ALINEO_SQL_EACH_CHECKPOINT(CHECKPOINTS) " ORDER BY 1 DESC LIMIT 1",
                                2, 0, {SESSION_TYPES}},

    [ALINEO_LIST_CHECKPOINTS] = {ALINEO_SQL_EACH_CHECKPOINT(CHECKPOINTS) " ORDER BY 1",
                                 2, 0, {SESSION_TYPES}},

    [ALINEO_LIST_SANDBOXES] = {SANDBOXES EVENTS " AS c WHERE " IS_EARLIEST
                               " AND ($1 IS NULL OR c.name" EQ "$1)" LISTED,
                               3, 0, {LIST_TYPES}},

    /* Apart, as a ts of NULL is before nothing. */
    [ALINEO_LIST_BEFORE] = {SANDBOXES EVENTS " AS c WHERE " IS_EARLIEST
                            " AND ($1 IS NULL OR c.name" EQ "$1)" BEFORE LISTED,
                            3, 0, {LIST_TYPES}},

    [ALINEO_FEW_OF_NAME] = {OF_NAME " SELECT pg_catalog.count(*) FROM"
                            " (SELECT FROM o WHERE sandbox_id IS NOT NULL LIMIT $2) AS few",
                            2, 0, {TEXTOID, INT8OID}},

    [ALINEO_LIST_OF_NAME] = {OF_NAME ", c AS MATERIALIZED (SELECT o.name, o.sandbox_id, "
                             EARLIEST(CREATED_OF_O, "id") " AS id, "
                             EARLIEST(CREATED_OF_O, "ts") " AS ts FROM o) "
                             SANDBOXES "c WHERE c.id IS NOT NULL AND ($2 IS NULL OR true" BEFORE ")"
                             LISTED,
                             3, 0, {LIST_TYPES}},

    [ALINEO_GET_SANDBOX] = {SANDBOXES EVENTS " AS c WHERE " IS_EARLIEST
                            " AND c.name" EQ "$1 AND c.sandbox_id" EQ "$2 AND " MILESTONE("c"),
                            2, 0, {SESSION_TYPES}},

    [ALINEO_COUNT_EXECS] = {"SELECT (" EXECS("'exec.completed'") ")"
                            " OPERATOR(pg_catalog.+) (" EXECS("'exec_complete'") ")",
                            2, 0, {SESSION_TYPES}},

    [ALINEO_SAVE_ENVIRONMENT] = {"INSERT INTO " ENVIRONMENTS " (name, snapshot_id, image, built_at)"
                                 " VALUES ($1, $2, $3, $4) ON CONFLICT (name) DO UPDATE SET"
                                 " snapshot_id = EXCLUDED.snapshot_id, image = EXCLUDED.image,"
                                 " built_at = EXCLUDED.built_at",
                                 4, 0, {TEXTOID, TEXTOID, TEXTOID, INT8OID}},

    [ALINEO_DELETE_ENVIRONMENT] = {"DELETE FROM " ENVIRONMENTS " AS v WHERE v.name" EQ "$1",
                                   1, 0, {TEXTOID}},

    [ALINEO_GET_ENVIRONMENT] = {ENVIRONMENT " WHERE v.name" EQ "$1", 1, 0, {TEXTOID}},

    [ALINEO_LIST_ENVIRONMENTS] = {ENVIRONMENT " ORDER BY v.built_at DESC,"
                                  " v.name COLLATE pg_catalog.\"C\"",
                                  0, 0, {0}},
};
/* clang-format on */
