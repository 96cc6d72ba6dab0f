/*
 * entry_model.hpp - what docs/reference.md, "alineo_append_batch", makes of one
 * entry: a simple model over what the oracle reads, with no code of the core.
 */
#ifndef ALINEO_FUZZ_ENTRY_MODEL_HPP
#define ALINEO_FUZZ_ENTRY_MODEL_HPP

#include "oracle.hpp"

#include <optional>

struct entry_model {
    std::string refusal; /* empty: the entry is accepted */
    std::string name, sandbox_id, event;
    std::optional<std::string> payload; /* canonical */
    std::optional<std::string> error;
    int64_t step_idx = -1;
    std::optional<int64_t> branch, ts;
    bool special = false; /* JSONB must escape text of the payload */
};

entry_model model_of(const oracle::value &entry);

#endif
