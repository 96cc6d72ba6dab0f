/*
 * test_vocabulary.c - names of events, current and legacy, and of fields.
 */
#include "support.h"
#include "vocabulary.h"

#include <string.h>

/* Every legacy name of 0.2 and the current one it stands for. */
static const char *const legacy_names[][2] = {
    {"sandbox_created", "sandbox.created"},
    {"exec_start", "exec.started"},
    {"exec_event", "exec.output"},
    {"exec_complete", "exec.completed"},
    {"checkpoint_created", "sandbox.checkpoint_created"},
    {"snapshot", "sandbox.checkpoint_created"},
    {"sandbox_paused", "sandbox.paused"},
    {"sandbox_resumed", "sandbox.resumed"},
    {"sandbox_closed", "sandbox.closed"},
    {"egress_rule_added", "egress.rule_added"},
    {"egress_rule_removed", "egress.rule_removed"},
    {"credential_bound", "credential.bound"},
    {"credential_revoked", "credential.revoked"},
    {"permission_requested", "permission.requested"},
    {"permission_request", "permission.requested"},
    {"permission_resolved", "permission.resolved"},
    {"run_started", "workflow.started"},
    {"workflow_complete", "workflow.completed"},
    {"workflow_failed", "workflow.failed"},
    {"step_start", "step.started"},
    {"step_complete", "step.completed"},
    {"step_failed", "step.failed"},
    {"step_rolled_back", "step.rolled_back"},
    {"checkpoint", "step.checkpointed"},
};

/* What the ledger makes something of; any other name is kept only. */
static const struct {
    const char *name;
    alineo_event event;
} meanings[] = {
    {"exec.output", ALINEO_EXEC_OUTPUT},
    {"exec_event", ALINEO_EXEC_OUTPUT},
    {"exec.started", ALINEO_EXEC_STARTED},
    {"exec_start", ALINEO_EXEC_STARTED},
    {"exec.completed", ALINEO_EXEC_COMPLETED},
    {"exec_complete", ALINEO_EXEC_COMPLETED},
    {"sandbox.created", ALINEO_SANDBOX_CREATED},
    {"sandbox_created", ALINEO_SANDBOX_CREATED},
    {"sandbox.closed", ALINEO_SANDBOX_CLOSED},
    {"sandbox_closed", ALINEO_SANDBOX_CLOSED},
    {"sandbox.checkpoint_created", ALINEO_CHECKPOINT_CREATED},
    {"checkpoint_created", ALINEO_CHECKPOINT_CREATED},
    {"snapshot", ALINEO_CHECKPOINT_CREATED},
    {"egress.rule_added", ALINEO_EGRESS_ADDED},
    {"egress_rule_added", ALINEO_EGRESS_ADDED},
    {"egress.rule_removed", ALINEO_EGRESS_REMOVED},
    {"egress_rule_removed", ALINEO_EGRESS_REMOVED},
    {"credential.bound", ALINEO_CREDENTIAL_BOUND},
    {"credential_bound", ALINEO_CREDENTIAL_BOUND},
    {"credential.revoked", ALINEO_CREDENTIAL_REVOKED},
    {"credential_revoked", ALINEO_CREDENTIAL_REVOKED},
};

static const char *const kept_names[] = {
    "agent.checkpointed",
    "sandbox.paused",
    "sandbox.resumed",
    "permission.requested",
    "permission.resolved",
    "workflow.started",
    "workflow.completed",
    "workflow.failed",
    "step.started",
    "step.completed",
    "step.failed",
    "step.rolled_back",
    "step.checkpointed",
    "user.event",
    "exec",
    "exec.",
    "exec.other",
    "snapshots",
    "Snapshot",
    "exec_",
    "",
    "exec.output ",
    "x",
    "checkpoint_",
};

static void every_legacy_name_maps_to_its_current_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(legacy_names); i++)
        assert_text(alineo_event_current(span_of(legacy_names[i][0])), span_of(legacy_names[i][1]));
}

static void the_list_of_legacy_names_is_complete_and_has_no_other(void **state)
{
    alineo_span legacy, current;
    size_t count = 0;
    bool seen[COUNT_OF(legacy_names)] = {false};

    (void)state;
    for (; alineo_event_legacy(count, &legacy, &current); count++) {
        size_t i = 0;
        while (i < COUNT_OF(legacy_names) &&
               !alineo_span_equal(legacy, span_of(legacy_names[i][0])))
            i++;
        assert_true(i < COUNT_OF(legacy_names));
        assert_text(current, span_of(legacy_names[i][1]));
        assert_false(seen[i]);
        seen[i] = true;
    }
    assert_int_equal(count, COUNT_OF(legacy_names));
}

static void a_name_that_is_not_legacy_stays(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(legacy_names); i++)
        assert_text(alineo_event_current(span_of(legacy_names[i][1])), span_of(legacy_names[i][1]));
    for (size_t i = 0; i < COUNT_OF(kept_names); i++)
        assert_text(alineo_event_current(span_of(kept_names[i])), span_of(kept_names[i]));
}

static void current_and_legacy_names_mean_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(meanings); i++)
        if (alineo_event_of(span_of(meanings[i].name)) != meanings[i].event)
            fail_msg("%s", meanings[i].name);
    for (size_t i = 0; i < COUNT_OF(legacy_names); i++)
        assert_int_equal(alineo_event_of(span_of(legacy_names[i][0])),
                         alineo_event_of(span_of(legacy_names[i][1])));
    for (size_t i = 0; i < COUNT_OF(kept_names); i++)
        assert_int_equal(alineo_event_of(span_of(kept_names[i])), ALINEO_EVENT_OTHER);
}

static void exec_events_are_told_by_their_current_name(void **state)
{
    (void)state;
    assert_true(alineo_event_is_exec(S("exec.started")));
    assert_true(alineo_event_is_exec(S("exec.output")));
    assert_true(alineo_event_is_exec(S("exec.completed")));
    assert_true(alineo_event_is_exec(S("exec.cancelled")));
    assert_false(alineo_event_is_exec(S("executed")));
    assert_false(alineo_event_is_exec(S("exec")));
    assert_false(alineo_event_is_exec(S("step.started")));
    assert_false(alineo_event_is_exec(S("")));
}

typedef struct sql_list {
    const char *text;
    alineo_event events[4]; /* what its names mean; 0 behind the last */
} sql_list;

static bool means(const sql_list *list, alineo_event event)
{
    for (size_t i = 0; i < COUNT_OF(list->events); i++)
        if (event != ALINEO_EVENT_OTHER && list->events[i] == event)
            return true;
    return false;
}

/* The next name of 'a','b',…; false behind the last. */
static bool next_name(const char **at, alineo_span *name)
{
    if (**at == '\0')
        return false;
    if (**at == ',')
        (*at)++;
    assert_int_equal(**at, '\'');
    name->at = *at + 1;
    const char *end = strchr(name->at, '\'');
    assert_non_null(end);
    name->len = (size_t)(end - name->at);
    *at = end + 1;
    return true;
}

static void the_lists_in_sql_hold_just_the_names_of_their_events(void **state)
{
    static const sql_list lists[] = {
        {ALINEO_SQL_OUTPUT, {ALINEO_EXEC_OUTPUT}},
        {ALINEO_SQL_STARTED, {ALINEO_EXEC_STARTED}},
        {ALINEO_SQL_COMPLETED, {ALINEO_EXEC_COMPLETED}},
        {ALINEO_SQL_CREATED, {ALINEO_SANDBOX_CREATED}},
        {ALINEO_SQL_CLOSED, {ALINEO_SANDBOX_CLOSED}},
        {ALINEO_SQL_CHECKPOINTS, {ALINEO_CHECKPOINT_CREATED}},
        {ALINEO_SQL_SETTINGS,
         {ALINEO_EGRESS_ADDED, ALINEO_EGRESS_REMOVED, ALINEO_CREDENTIAL_BOUND,
          ALINEO_CREDENTIAL_REVOKED}},
    };

    (void)state;
    for (size_t l = 0; l < COUNT_OF(lists); l++) {
        const char *at = lists[l].text;
        size_t listed = 0, known = 0;
        alineo_span name;
        while (next_name(&at, &name)) {
            assert_true(means(&lists[l], alineo_event_of(name)));
            listed++;
        }
        for (size_t i = 0; i < COUNT_OF(meanings); i++) {
            if (!means(&lists[l], meanings[i].event))
                continue;
            known++;
            bool there = false;
            for (at = lists[l].text; next_name(&at, &name);)
                there |= alineo_span_equal(name, span_of(meanings[i].name));
            if (!there)
                fail_msg("%s is not in %s", meanings[i].name, lists[l].text);
        }
        assert_int_equal(listed, known);
    }
}

static void a_field_is_found_by_its_key_and_has_it(void **state)
{
    static const char *const keys[] = {
        "seq",
        "type",
        "text",
        "cmd",
        "command",
        "code",
        "interactive",
        "cwd",
        "env",
        "exitCode",
        "stdout",
        "stderr",
        "runId",
        "resourceId",
        "teamId",
        "parentSandboxId",
        "resumedFrom",
        "snapshotId",
        "resources",
        "networkPolicy",
        "credentialProxy",
        "tag",
        "name",
        "rules",
        "targets",
        "target",
        "binding",
        "source",
    };

    (void)state;
    assert_int_equal(COUNT_OF(keys), ALINEO_FIELD_COUNT);
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        alineo_field field = alineo_field_of(span_of(keys[i]));
        assert_int_not_equal(field, ALINEO_FIELD_COUNT);
        assert_string_equal(alineo_field_key(field), keys[i]);
    }
    assert_int_equal(alineo_field_of(S("sandboxId")), ALINEO_FIELD_COUNT);
    assert_int_equal(alineo_field_of(S("Seq")), ALINEO_FIELD_COUNT);
    assert_int_equal(alineo_field_of(S("")), ALINEO_FIELD_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_legacy_name_maps_to_its_current_one),
        cmocka_unit_test(the_list_of_legacy_names_is_complete_and_has_no_other),
        cmocka_unit_test(a_name_that_is_not_legacy_stays),
        cmocka_unit_test(current_and_legacy_names_mean_the_same),
        cmocka_unit_test(exec_events_are_told_by_their_current_name),
        cmocka_unit_test(the_lists_in_sql_hold_just_the_names_of_their_events),
        cmocka_unit_test(a_field_is_found_by_its_key_and_has_it),
    };

    return cmocka_run_group_tests_name("vocabulary", tests, NULL, NULL);
}
