/*
 * events.hpp - a ledger of a few sessions made from the bytes of an input: exec
 * events in any order, late chunks, second attempts, legacy names, payloads that
 * are encoded twice or damaged, checkpoints, resumed sessions, cycles.
 */
#ifndef ALINEO_FUZZ_EVENTS_HPP
#define ALINEO_FUZZ_EVENTS_HPP

#include "harness.hpp"

#include <optional>
#include <vector>

struct event {
    int64_t id, ts, step_idx;
    std::string name, sandbox_id, event; /* the event as it is stored */
    std::optional<std::string> payload;
};

/* The names and sandbox ids that are drawn from. */
extern const char *const session_names[2];
extern const char *const sandbox_ids[4];

/* The exec events of session ci/a. */
std::vector<event> events_of(choices &in);

/* Events of several sessions, most of them resumed from the one before; `last` is
 * the sandbox id of the one resumed last. */
std::vector<event> sessions_of(choices &in, std::string &last);

#endif
