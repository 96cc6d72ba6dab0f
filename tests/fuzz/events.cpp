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
    return in.below(4) != 0 ? std::to_string(1 + in.below(3)) : std::string(in.one_of(numbers));
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
    if (way == 1)
        name = "\\u00" + std::string("67"[key[0] >= 'p'] == '6' ? "6" : "7") +
               "0123456789abcdef"[key[0] & 15] + (key + 1);
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
    return in.below(2) == 0 ? "true" : "false";
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
    if (in.below(2) == 0)
        put(in, object, "interactive", boolean(in));
    if (in.below(3) == 0)
        put(in, object, "cwd", text(in));
    if (in.below(3) == 0)
        put(in, object, "env", any_value(in));
    return object;
}

static std::string output(choices &in)
{
    static const char *const types[] = {"stdout", "stderr", "stdin",        "stdout", "init",
                                        "stdout", "stdin",  "st\\u0064out", ""};
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
    {"exec.output", "exec_event", output, 8, 5},
    {"exec.started", "exec_start", started, 4, 4},
    {"exec.completed", "exec_complete", completed, 3, 2},
    {"sandbox.created", "sandbox_created", created, 0, 3},
    {"sandbox.checkpoint_created", "checkpoint_created", checkpoint, 0, 3},
    {"sandbox.checkpoint_created", "snapshot", checkpoint, 0, 1},
    {"egress.rule_added", "egress_rule_added", rules_added, 0, 1},
    {"egress.rule_removed", "egress_rule_removed", rules_removed, 0, 1},
    {"credential.bound", "credential_bound", credential, 0, 1},
    {"credential.revoked", "credential_revoked", credential, 0, 1},
    {"exec.other", "step_start", no_members, 1, 1},
};

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

std::vector<event> events_of(choices &in, bool lineage)
{
    std::vector<event> events;
    int64_t id = 0, ts = 1000;

    while (in.more() && events.size() < 60) {
        const sort &s = drawn(in, lineage);
        uint8_t about = in.byte();
        event e;
        id += 1 + (about & 1);
        ts += about & 2 ? int64_t(in.below(16)) - 4 : 1;
        e.id = id;
        e.ts = ts;
        e.step_idx = (about & 12) == 0 ? int64_t(in.below(5)) - 1 : -1;
        e.event = (about & 0x30) == 0 ? s.legacy : s.current;
        uint8_t where = lineage ? in.byte() : 4;
        e.name = session_names[where >> 2 & 7 ? 0 : 1];
        e.sandbox_id = sandbox_ids[where & 3];
        e.payload = stored_payload(in, s.payload(in));
        events.push_back(std::move(e));
    }
    return events;
}
