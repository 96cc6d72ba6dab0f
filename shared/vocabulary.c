/*
 * vocabulary.c - events and payload fields by name. See vocabulary.h.
 */
#include "vocabulary.h"

#include <string.h>

typedef struct event_name {
    alineo_event event;
    alineo_span name;   /* as stored */
    alineo_span legacy; /* in 0.2 */
} event_name;

/* A literal with its length. */
#define TEXT(literal)                                                                              \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

/* The most frequent first: most of a ledger is output. */
static const event_name events[] = {
    {ALINEO_EXEC_OUTPUT, TEXT("exec.output"), TEXT("exec_event")},
    {ALINEO_EXEC_STARTED, TEXT("exec.started"), TEXT("exec_start")},
    {ALINEO_EXEC_COMPLETED, TEXT("exec.completed"), TEXT("exec_complete")},
    {ALINEO_SANDBOX_CREATED, TEXT("sandbox.created"), TEXT("sandbox_created")},
    {ALINEO_SANDBOX_CLOSED, TEXT("sandbox.closed"), TEXT("sandbox_closed")},
    {ALINEO_CHECKPOINT_CREATED, TEXT("sandbox.checkpoint_created"), TEXT("checkpoint_created")},
    {ALINEO_CHECKPOINT_CREATED, TEXT("sandbox.checkpoint_created"), TEXT("snapshot")},
    {ALINEO_EGRESS_ADDED, TEXT("egress.rule_added"), TEXT("egress_rule_added")},
    {ALINEO_EGRESS_REMOVED, TEXT("egress.rule_removed"), TEXT("egress_rule_removed")},
    {ALINEO_CREDENTIAL_BOUND, TEXT("credential.bound"), TEXT("credential_bound")},
    {ALINEO_CREDENTIAL_REVOKED, TEXT("credential.revoked"), TEXT("credential_revoked")},
    {ALINEO_EVENT_OTHER, TEXT("sandbox.paused"), TEXT("sandbox_paused")},
    {ALINEO_EVENT_OTHER, TEXT("sandbox.resumed"), TEXT("sandbox_resumed")},
    {ALINEO_EVENT_OTHER, TEXT("permission.requested"), TEXT("permission_requested")},
    {ALINEO_EVENT_OTHER, TEXT("permission.requested"), TEXT("permission_request")},
    {ALINEO_EVENT_OTHER, TEXT("permission.resolved"), TEXT("permission_resolved")},
    {ALINEO_EVENT_OTHER, TEXT("workflow.started"), TEXT("run_started")},
    {ALINEO_EVENT_OTHER, TEXT("workflow.completed"), TEXT("workflow_complete")},
    {ALINEO_EVENT_OTHER, TEXT("workflow.failed"), TEXT("workflow_failed")},
    {ALINEO_EVENT_OTHER, TEXT("step.started"), TEXT("step_start")},
    {ALINEO_EVENT_OTHER, TEXT("step.completed"), TEXT("step_complete")},
    {ALINEO_EVENT_OTHER, TEXT("step.failed"), TEXT("step_failed")},
    {ALINEO_EVENT_OTHER, TEXT("step.rolled_back"), TEXT("step_rolled_back")},
    {ALINEO_EVENT_OTHER, TEXT("step.checkpointed"), TEXT("checkpoint")},
};

enum { EVENT_COUNT = sizeof events / sizeof events[0] };

static const alineo_span fields[ALINEO_FIELD_COUNT] = {
    [ALINEO_FIELD_SEQ] = TEXT("seq"),
    [ALINEO_FIELD_TYPE] = TEXT("type"),
    [ALINEO_FIELD_TEXT] = TEXT("text"),
    [ALINEO_FIELD_CMD] = TEXT("cmd"),
    [ALINEO_FIELD_COMMAND] = TEXT("command"),
    [ALINEO_FIELD_CODE] = TEXT("code"),
    [ALINEO_FIELD_INTERACTIVE] = TEXT("interactive"),
    [ALINEO_FIELD_CWD] = TEXT("cwd"),
    [ALINEO_FIELD_ENV] = TEXT("env"),
    [ALINEO_FIELD_EXIT_CODE] = TEXT("exitCode"),
    [ALINEO_FIELD_STDOUT] = TEXT("stdout"),
    [ALINEO_FIELD_STDERR] = TEXT("stderr"),
    [ALINEO_FIELD_RUN_ID] = TEXT("runId"),
    [ALINEO_FIELD_RESOURCE_ID] = TEXT("resourceId"),
    [ALINEO_FIELD_TEAM_ID] = TEXT("teamId"),
    [ALINEO_FIELD_PARENT] = TEXT("parentSandboxId"),
    [ALINEO_FIELD_RESUMED_FROM] = TEXT("resumedFrom"),
    [ALINEO_FIELD_SNAPSHOT_ID] = TEXT("snapshotId"),
    [ALINEO_FIELD_RESOURCES] = TEXT("resources"),
    [ALINEO_FIELD_NETWORK_POLICY] = TEXT("networkPolicy"),
    [ALINEO_FIELD_CREDENTIAL_PROXY] = TEXT("credentialProxy"),
    [ALINEO_FIELD_TAG] = TEXT("tag"),
    [ALINEO_FIELD_NAME] = TEXT("name"),
    [ALINEO_FIELD_RULES] = TEXT("rules"),
    [ALINEO_FIELD_TARGETS] = TEXT("targets"),
    [ALINEO_FIELD_TARGET] = TEXT("target"),
    [ALINEO_FIELD_BINDING] = TEXT("binding"),
    [ALINEO_FIELD_SOURCE] = TEXT("source"),
};

alineo_event alineo_event_of(alineo_span name)
{
    for (size_t i = 0; i < EVENT_COUNT; i++)
        if (alineo_span_equal(name, events[i].name) || alineo_span_equal(name, events[i].legacy))
            return events[i].event;
    return ALINEO_EVENT_OTHER;
}

alineo_span alineo_event_current(alineo_span name)
{
    /* Legacy names have no dot; most stored names do, and end the search here. */
    if (name.len > 0 && memchr(name.at, '.', name.len) != NULL)
        return name;
    for (size_t i = 0; i < EVENT_COUNT; i++)
        if (alineo_span_equal(name, events[i].legacy))
            return events[i].name;
    return name;
}

bool alineo_event_is_exec(alineo_span name)
{
    return name.len > 5 && memcmp(name.at, "exec.", 5) == 0;
}

bool alineo_event_legacy(size_t i, alineo_span *legacy, alineo_span *current)
{
    if (i >= EVENT_COUNT)
        return false;
    *legacy = events[i].legacy;
    *current = events[i].name;
    return true;
}

alineo_field alineo_field_of(alineo_span key)
{
    int field = 0;

    while (field < ALINEO_FIELD_COUNT && !alineo_span_equal(key, fields[field]))
        field++;
    return (alineo_field)field;
}

const char *alineo_field_key(alineo_field field)
{
    return fields[field].at;
}
