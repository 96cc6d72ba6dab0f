/*
 * vocabulary.h - the names the ledger knows: events, with their names in 0.2,
 * and the payload fields it reads. docs/reference.md, "Events".
 */
#ifndef ALINEO_VOCABULARY_H
#define ALINEO_VOCABULARY_H

#include "memory.h"

/* What an event means to the ledger; most names only have to be kept. */
typedef enum alineo_event {
    ALINEO_EVENT_OTHER,
    ALINEO_EXEC_OUTPUT,
    ALINEO_EXEC_STARTED,
    ALINEO_EXEC_COMPLETED,
    ALINEO_SANDBOX_CREATED,
    ALINEO_SANDBOX_CLOSED,
    ALINEO_CHECKPOINT_CREATED,
    ALINEO_EGRESS_ADDED,
    ALINEO_EGRESS_REMOVED,
    ALINEO_CREDENTIAL_BOUND,
    ALINEO_CREDENTIAL_REVOKED
} alineo_event;

/* The same names as lists in SQL, for predicates and partial indexes, which
 * must spell them out. A test holds them against the table in vocabulary.c. */
#define ALINEO_SQL_OUTPUT      "'exec.output','exec_event'"
#define ALINEO_SQL_STARTED     "'exec.started','exec_start'"
#define ALINEO_SQL_COMPLETED   "'exec.completed','exec_complete'"
#define ALINEO_SQL_CREATED     "'sandbox.created','sandbox_created'"
#define ALINEO_SQL_CLOSED      "'sandbox.closed','sandbox_closed'"
#define ALINEO_SQL_CHECKPOINTS "'sandbox.checkpoint_created','checkpoint_created','snapshot'"
#define ALINEO_SQL_SETTINGS                                                                        \
    "'egress.rule_added','egress_rule_added','egress.rule_removed','egress_rule_removed',"         \
    "'credential.bound','credential_bound','credential.revoked','credential_revoked'"

/* A query for each name of a list, made by the macro `query`, as one. In an index
 * each name has its range, so that each query alone is in the order of ids. */
#define ALINEO_SQL_EACH_CREATED(query)                                                             \
    query("'sandbox.created'") " UNION ALL " query("'sandbox_created'")
#define ALINEO_SQL_EACH_CHECKPOINT(query)                                                          \
    query("'sandbox.checkpoint_created'") " UNION ALL " query("'checkpoint_created'")              \
        " UNION ALL " query("'snapshot'")

/* What the stored name `name` means, current or legacy. */
alineo_event alineo_event_of(alineo_span name);
/* The current name of a legacy one; any other name comes back as it is. */
alineo_span alineo_event_current(alineo_span name);
/* Whether the current name is one of exec.*. */
bool alineo_event_is_exec(alineo_span name);
/* The i-th pair of legacy and current name; false beyond the last. */
bool alineo_event_legacy(size_t i, alineo_span *legacy, alineo_span *current);

/* Payload fields, named as in JSON. */
typedef enum alineo_field {
    ALINEO_FIELD_SEQ,
    ALINEO_FIELD_TYPE,
    ALINEO_FIELD_TEXT,
    ALINEO_FIELD_CMD,
    ALINEO_FIELD_COMMAND,
    ALINEO_FIELD_CODE,
    ALINEO_FIELD_INTERACTIVE,
    ALINEO_FIELD_CWD,
    ALINEO_FIELD_ENV,
    ALINEO_FIELD_EXIT_CODE,
    ALINEO_FIELD_STDOUT,
    ALINEO_FIELD_STDERR,
    ALINEO_FIELD_RUN_ID,
    ALINEO_FIELD_RESOURCE_ID,
    ALINEO_FIELD_TEAM_ID,
    ALINEO_FIELD_PARENT,
    ALINEO_FIELD_RESUMED_FROM,
    ALINEO_FIELD_SNAPSHOT_ID,
    ALINEO_FIELD_RESOURCES,
    ALINEO_FIELD_NETWORK_POLICY,
    ALINEO_FIELD_CREDENTIAL_PROXY,
    ALINEO_FIELD_TAG,
    ALINEO_FIELD_NAME,
    ALINEO_FIELD_RULES,
    ALINEO_FIELD_TARGETS,
    ALINEO_FIELD_TARGET,
    ALINEO_FIELD_BINDING,
    ALINEO_FIELD_SOURCE,
    ALINEO_FIELD_COUNT
} alineo_field;

/* The field a key names, or ALINEO_FIELD_COUNT. */
alineo_field alineo_field_of(alineo_span key);
/* A field's key; ends in NUL. */
const char *alineo_field_key(alineo_field field);

#endif
