/*
 * vocabulary.c - events and payload fields by name. See vocabulary.h.
 */
#include "vocabulary.h"

#include <string.h>

typedef struct event_name {
    alineo_event event;
    const char *name;   /* as stored */
    const char *legacy; /* in 0.2; NULL where there was none */
} event_name;

/* The most frequent first: most of a ledger is output. */
static const event_name events[] = {
    {ALINEO_EXEC_OUTPUT, "exec.output", "exec_event"},
    {ALINEO_EXEC_STARTED, "exec.started", "exec_start"},
    {ALINEO_EXEC_COMPLETED, "exec.completed", "exec_complete"},
    {ALINEO_SANDBOX_CREATED, "sandbox.created", "sandbox_created"},
    {ALINEO_SANDBOX_CLOSED, "sandbox.closed", "sandbox_closed"},
    {ALINEO_CHECKPOINT_CREATED, "sandbox.checkpoint_created", "checkpoint_created"},
    {ALINEO_CHECKPOINT_CREATED, "sandbox.checkpoint_created", "snapshot"},
    {ALINEO_EGRESS_ADDED, "egress.rule_added", "egress_rule_added"},
    {ALINEO_EGRESS_REMOVED, "egress.rule_removed", "egress_rule_removed"},
    {ALINEO_CREDENTIAL_BOUND, "credential.bound", "credential_bound"},
    {ALINEO_CREDENTIAL_REVOKED, "credential.revoked", "credential_revoked"},
    {ALINEO_EVENT_OTHER, "sandbox.paused", "sandbox_paused"},
    {ALINEO_EVENT_OTHER, "sandbox.resumed", "sandbox_resumed"},
    {ALINEO_EVENT_OTHER, "permission.requested", "permission_requested"},
    {ALINEO_EVENT_OTHER, "permission.requested", "permission_request"},
    {ALINEO_EVENT_OTHER, "permission.resolved", "permission_resolved"},
    {ALINEO_EVENT_OTHER, "workflow.started", "run_started"},
    {ALINEO_EVENT_OTHER, "workflow.completed", "workflow_complete"},
    {ALINEO_EVENT_OTHER, "workflow.failed", "workflow_failed"},
    {ALINEO_EVENT_OTHER, "step.started", "step_start"},
    {ALINEO_EVENT_OTHER, "step.completed", "step_complete"},
    {ALINEO_EVENT_OTHER, "step.failed", "step_failed"},
    {ALINEO_EVENT_OTHER, "step.rolled_back", "step_rolled_back"},
    {ALINEO_EVENT_OTHER, "step.checkpointed", "checkpoint"},
};

enum { EVENT_COUNT = sizeof events / sizeof events[0] };

static const char *const fields[ALINEO_FIELD_COUNT] = {
    [ALINEO_FIELD_SEQ] = "seq",
    [ALINEO_FIELD_TYPE] = "type",
    [ALINEO_FIELD_TEXT] = "text",
    [ALINEO_FIELD_CMD] = "cmd",
    [ALINEO_FIELD_COMMAND] = "command",
    [ALINEO_FIELD_CODE] = "code",
    [ALINEO_FIELD_INTERACTIVE] = "interactive",
    [ALINEO_FIELD_CWD] = "cwd",
    [ALINEO_FIELD_ENV] = "env",
    [ALINEO_FIELD_EXIT_CODE] = "exitCode",
    [ALINEO_FIELD_STDOUT] = "stdout",
    [ALINEO_FIELD_STDERR] = "stderr",
    [ALINEO_FIELD_RUN_ID] = "runId",
    [ALINEO_FIELD_RESOURCE_ID] = "resourceId",
    [ALINEO_FIELD_TEAM_ID] = "teamId",
    [ALINEO_FIELD_PARENT] = "parentSandboxId",
    [ALINEO_FIELD_RESUMED_FROM] = "resumedFrom",
    [ALINEO_FIELD_SNAPSHOT_ID] = "snapshotId",
    [ALINEO_FIELD_RESOURCES] = "resources",
    [ALINEO_FIELD_NETWORK_POLICY] = "networkPolicy",
    [ALINEO_FIELD_CREDENTIAL_PROXY] = "credentialProxy",
    [ALINEO_FIELD_TAG] = "tag",
    [ALINEO_FIELD_NAME] = "name",
    [ALINEO_FIELD_RULES] = "rules",
    [ALINEO_FIELD_TARGETS] = "targets",
    [ALINEO_FIELD_TARGET] = "target",
    [ALINEO_FIELD_BINDING] = "binding",
    [ALINEO_FIELD_SOURCE] = "source",
};

static bool is(alineo_span name, const char *text)
{
    size_t len = strlen(text);

    return name.len == len && memcmp(name.at, text, len) == 0;
}

static alineo_span span_of(const char *text)
{
    return (alineo_span){text, strlen(text)};
}

alineo_event alineo_event_of(alineo_span name)
{
    for (size_t i = 0; i < EVENT_COUNT; i++)
        if (is(name, events[i].name) || is(name, events[i].legacy))
            return events[i].event;
    return ALINEO_EVENT_OTHER;
}

alineo_span alineo_event_current(alineo_span name)
{
    /* Legacy names have no dot; most stored names do, and end the search here. */
    if (name.len > 0 && memchr(name.at, '.', name.len) != NULL)
        return name;
    for (size_t i = 0; i < EVENT_COUNT; i++)
        if (is(name, events[i].legacy))
            return span_of(events[i].name);
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
    *legacy = span_of(events[i].legacy);
    *current = span_of(events[i].name);
    return true;
}

alineo_field alineo_field_of(alineo_span key)
{
    int field = 0;

    while (field < ALINEO_FIELD_COUNT && !is(key, fields[field]))
        field++;
    return (alineo_field)field;
}

const char *alineo_field_key(alineo_field field)
{
    return fields[field];
}
