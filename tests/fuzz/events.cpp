/*
 * events.cpp - see events.hpp.
 */
#include "events.hpp"
#include "units.hpp"

const char *const session_names[2] = {"ci", "x"};
const char *const sandbox_ids[4] = {"a", "b", "c", "\xF0\x9F\x98\x80\"\\"};

static std::string number(choices &in)
{
    static const char *const numbers[] = {"0",
                                          "1",
                                          "2",
                                          "3",
                                          "-1",
                                          "1.0",
                                          "20e-1",
                                          "1.5",
                                          "1e2",
                                          "1e19",
                                          "-0",
                                          "2147483648",
                                          "9223372036854775807",
                                          "-9223372036854775808"};
    return in.below(8) != 0 ? std::to_string(1 + in.below(2)) : std::string(in.one_of(numbers));
}

static std::string text(choices &in)
{
    const units text = in.units(6);
    std::string out = "\"";
    bool spelled_out = in.below(4) == 0;

    if (!spelled_out)
        return json_string(text);
    for (char16_t unit : text) {
        static const char digits[] = "0123456789ABCDEF";
        out += "\\u";
        for (int shift = 12; shift >= 0; shift -= 4)
            out += digits[unit >> shift & 15];
    }
    return out + "\"";
}

static std::string any_value(choices &in)
{
    static const char *const values[] = {
        "null", "true", "false", "{}",
        "[]",   "1.50", "\"\"",  "{\"b\":1,\"a\":[1e2, null],\"b\":{\"\":\"\\ud83d\"}}"};
    unsigned kind = in.below(12);

    return kind < 8 ? std::string(values[kind]) : kind == 8 ? number(in) : text(in);
}

/* A member: most often of the kind the field has. */
static void put(choices &in, std::string &object, const char *key, const std::string &value)
{
    unsigned way = in.below(24);
    std::string name = key;

    if (way == 0) /* absent */
        return;
    if (way == 1) { /* its first letter as an escape */
        name = std::string("\\u00") + "0123456789abcdef"[key[0] >> 4];
        name += "0123456789abcdef"[key[0] & 15];
        name += key + 1;
    }
    if (way == 2)
        object += ",\"" + name + "\":" + any_value(in);
    object += (object.empty() ? "\"" : ",\"") + name + "\":" + (way == 3 ? any_value(in) : value);
    if (object[0] == ',')
        object.erase(0, 1);
}

static std::string quoted(const char *word)
{
    return "\"" + std::string(word) + "\"";
}

static std::string boolean(choices &in)
{
    return in.below(4) != 0 ? "true" : "false";
}

static const char *const snapshots[] = {"s1", "s2", "", "s3"};
static const char *const tags[] = {"t1", "t2", ""};
static const char *const targets[] = {"h1", "h2", "\\u0000", "h3"};

static std::string started(choices &in)
{
    static const char *const commands[] = {"cmd", "command", "code"};
    std::string object;

    put(in, object, "seq", number(in));
    put(in, object, in.one_of(commands), text(in));
    if (in.below(4) != 0)
        put(in, object, "interactive", boolean(in));
    if (in.below(3) == 0)
        put(in, object, "cwd", text(in));
    if (in.below(3) == 0)
        put(in, object, "env", any_value(in));
    return object;
}

static std::string output(choices &in)
{
    static const char *const types[] = {"stdout", "stdin", "stderr",       "stdin", "stdout",
                                        "init",   "stdin", "st\\u0064out", ""};
    std::string object;

    put(in, object, "seq", number(in));
    put(in, object, "type", quoted(in.one_of(types)));
    put(in, object, "text", text(in));
    return object;
}

static std::string completed(choices &in)
{
    std::string object;

    put(in, object, "seq", number(in));
    put(in, object, "exitCode", number(in));
    if (in.below(4) == 0)
        put(in, object, "stdout", text(in));
    if (in.below(4) == 0)
        put(in, object, "stderr", text(in));
    return object;
}

static std::string created(choices &in)
{
    static const char *const settings[] = {"runId",     "resourceId",    "teamId",
                                           "resources", "networkPolicy", "credentialProxy"};
    std::string object;

    if (in.below(4) != 0) {
        std::string parent = json_string(of_utf8(in.one_of(sandbox_ids)));
        put(in, object, "resumedFrom", in.below(12) == 0 ? "\"\"" : parent);
        put(in, object, "snapshotId", quoted(in.one_of(snapshots)));
    }
    for (unsigned count = in.below(3); count > 0; count--)
        put(in, object, in.one_of(settings), any_value(in));
    return object;
}

static std::string rules(choices &in, bool add)
{
    std::string list, object;

    for (unsigned count = in.below(4); count > 0; count--) {
        std::string target = quoted(in.one_of(targets)), rule;
        if (add) {
            put(in, rule, "target", target);
            put(in, rule, "action", any_value(in));
            target = "{" + rule + "}";
        }
        list += (list.empty() ? "" : ",") + (in.below(16) == 0 ? any_value(in) : target);
    }
    put(in, object, add ? "rules" : "targets", "[" + list + "]");
    return object;
}

static std::string credential(choices &in)
{
    std::string object;

    put(in, object, "name", quoted(in.one_of(targets)));
    put(in, object, "binding", any_value(in));
    put(in, object, "source", text(in));
    return object;
}

static std::string checkpoint(choices &in)
{
    std::string object;

    put(in, object, "snapshotId", quoted(in.one_of(snapshots)));
    if (in.below(2) == 0)
        put(in, object, in.below(2) == 0 ? "tag" : "name", quoted(in.one_of(tags)));
    return object;
}

/* The payload as it is stored: an object, or what else may stand there. */
static std::optional<std::string> stored_payload(choices &in, const std::string &members)
{
    std::string payload = "{" + members + "}";

    switch (in.below(64)) {
    case 0: return std::nullopt;
    case 1: return any_value(in);
    case 2: return " " + json_string(of_utf8(payload)) + "\n";
    case 3: return json_string(of_utf8("[" + payload + "]"));
    case 4: return "\n " + payload + " ";
    case 5: return payload.substr(0, in.below(unsigned(payload.size() % 255 + 1)));
    default: return payload;
    }
}

/* The events by their current and legacy names, and how often they come. */
struct sort {
    const char *current, *legacy;
    std::string (*payload)(choices &);
    unsigned weight, weight_in_lineage;
};

static std::string no_members(choices &)
{
    return "";
}

static std::string rules_added(choices &in)
{
    return rules(in, true);
}

static std::string rules_removed(choices &in)
{
    return rules(in, false);
}

static const sort sorts[] = {
    {"exec.output", "exec_event", output, 8, 9},
    {"exec.started", "exec_start", started, 4, 5},
    {"exec.completed", "exec_complete", completed, 3, 1},
    {"sandbox.created", "sandbox_created", created, 0, 1},
    {"sandbox.checkpoint_created", "checkpoint_created", checkpoint, 0, 1},
    {"sandbox.checkpoint_created", "snapshot", checkpoint, 0, 1},
    {"egress.rule_added", "egress_rule_added", rules_added, 0, 1},
    {"egress.rule_removed", "egress_rule_removed", rules_removed, 0, 1},
    {"credential.bound", "credential_bound", credential, 0, 1},
    {"credential.revoked", "credential_revoked", credential, 0, 1},
    {"exec.other", "step_start", no_members, 1, 1},
};

enum { CREATED = 3, CHECKPOINT = 4 };

static const sort &drawn(choices &in, bool lineage)
{
    unsigned total = 0;

    for (const sort &s : sorts)
        total += lineage ? s.weight_in_lineage : s.weight;
    unsigned left = in.below(total);
    for (const sort &s : sorts) {
        unsigned weight = lineage ? s.weight_in_lineage : s.weight;
        if (left < weight)
            return s;
        left -= weight;
    }
    return sorts[0];
}

/* Records events, with ids that grow and a clock that may step back. */
class recorder
{
  public:
    explicit recorder(choices &from) : in(from)
    {
    }

    void record(const sort &s, const char *name, const char *sandbox_id, const std::string &members)
    {
        uint8_t about = in.byte();
        event e;

        id += 1 + (about & 1);
        ts += about & 2 ? int64_t(in.below(16)) - 4 : 1;
        e.id = id;
        e.ts = ts;
        e.step_idx = (about & 12) == 0 ? int64_t(in.below(5)) - 1 : -1;
        e.event = (about & 0x30) == 0 ? s.legacy : s.current;
        e.name = name;
        e.sandbox_id = sandbox_id;
        e.payload = stored_payload(in, members);
        events.push_back(std::move(e));
    }

    /* A checkpoint of one session, and one that is resumed from it. */
    void resume(unsigned from, unsigned to)
    {
        std::string snapshot = "\"snapshotId\":" + quoted(in.one_of(snapshots));
        std::string parent = json_string(of_utf8(sandbox_ids[from]));

        record(sorts[CHECKPOINT], "ci", sandbox_ids[from],
               snapshot + (in.below(4) == 0 ? ",\"tag\":" + quoted(in.one_of(tags)) : ""));
        record(sorts[CREATED], "ci", sandbox_ids[to], "\"resumedFrom\":" + parent + "," + snapshot);
    }

    std::vector<event> events;

  private:
    choices &in;
    int64_t id = 0, ts = 1000;
};

std::vector<event> events_of(choices &in)
{
    recorder r(in);

    while (in.more() && r.events.size() < 60) {
        const sort &s = drawn(in, false);
        r.record(s, "ci", "a", s.payload(in));
    }
    return r.events;
}

std::vector<event> sessions_of(choices &in, std::string &last)
{
    recorder r(in);
    unsigned current = 0;

    if (in.below(8) != 0)
        r.record(sorts[CREATED], "ci", "a", "");
    while (in.more() && r.events.size() < 60) {
        uint8_t where = in.byte();
        if (where % 8 == 0) { /* most sessions are resumed from the one before */
            unsigned from = current;
            current = (current + 1) % 4;
            r.resume(from, current);
            continue;
        }
        const sort &s = drawn(in, true);
        bool elsewhere = where >= 0xE0;
        r.record(s, session_names[where >= 0xF8], sandbox_ids[elsewhere ? where >> 3 & 3 : current],
                 s.payload(in));
    }
    last = sandbox_ids[current];
    return r.events;
}
