/*
 * names.hpp - the names of events, as docs/reference.md, "Events", lists them.
 */
#ifndef ALINEO_FUZZ_NAMES_HPP
#define ALINEO_FUZZ_NAMES_HPP

#include <string>

/* The current name of an event, whichever it was given under. */
inline std::string current_name(const std::string &name)
{
    static const char *const legacy[][2] = {
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

    for (const auto &pair : legacy)
        if (name == pair[0])
            return pair[1];
    return name;
}

#endif
