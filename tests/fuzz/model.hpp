/*
 * model.hpp - what docs/reference.md, "Replay and resume", makes of recorded
 * events: simple, slow, and with no code of the core. Texts are UTF-16, payloads
 * are read by the oracle, and nothing is kept from one question to the next.
 */
#ifndef ALINEO_FUZZ_MODEL_HPP
#define ALINEO_FUZZ_MODEL_HPP

#include "events.hpp"
#include "oracle.hpp"

#include <map>
#include <memory>

/* One run of a command. */
struct attempt {
    bool started = false, completed = false, interactive = false;
    std::optional<units> command;
    units out, err;
    std::vector<units> in;
    std::optional<std::string> cwd, env; /* canonical */
    int64_t started_at = 0, completed_at = 0;
    std::optional<int64_t> exit_code;
};

struct exec_model {
    std::shared_ptr<attempt> latest, completed;
};

using execs = std::map<int64_t, exec_model>;

class model
{
  public:
    explicit model(const std::vector<event> &events);

    /* The execs of a session's events below an id. */
    execs history(const std::string &name, const std::string &sandbox_id, int64_t before);
    /* What a session hands on, as of a checkpoint: the replay cache, and what waits
     * for input. `error` is the text of an error without the function, or empty. */
    struct inheritance {
        std::map<int64_t, std::shared_ptr<attempt>> cache, pending;
    };
    inheritance inherited(const std::string &name, const std::string &sandbox_id,
                          const std::optional<units> &tag, std::string &error);
    /* The resume document, or the text of the error without the function. */
    std::string resume(const std::string &sandbox_id, const std::optional<units> &tag, bool &ok);

    /* Whether an answer needed a payload that is no JSON: then there is none. */
    bool needed_damaged = false;

  private:
    struct recorded {
        event e;
        std::string current;
        oracle::value payload;
        bool damaged = false;
    };
    struct generation {
        std::string name, sandbox_id, parent, snapshot;
        int64_t before = INT64_MIN;
        const oracle::value *created = nullptr;
    };
    /* Where a session resumes from: the sessions from itself up to the root, the
     * checkpoint's event, if it is there, and the session that made it. */
    struct origin {
        std::vector<generation> lineage;
        const recorded *from = nullptr;
        std::string made_in;
    };

    const oracle::value &read(const recorded &r);
    const recorded *created_first(const std::string &name, const std::string &sandbox_id);
    const recorded *created_last(const std::string &sandbox_id);
    const recorded *checkpoint(const std::string &name, const std::string &sandbox_id,
                               const std::optional<units> &tag,
                               const std::optional<units> &snapshot);
    generation describe(const std::string &name, const std::string &sandbox_id);
    bool parent_of(const generation &child, generation &parent);
    /* Returns the text of an error, or an empty one. */
    std::string trace(const std::string &name, const std::string &sandbox_id,
                      const std::optional<units> &tag, origin &o);
    inheritance fold(const std::vector<generation> &lineage);
    std::string settings(const std::string &name, const std::string &sandbox_id);

    std::vector<recorded> ledger;
};

#endif
