/*
 * model.cpp - the fold, the lineage and the checkpoints. See model.hpp.
 */
#include "model.hpp"
#include "names.hpp"

#include <set>

using oracle::kind;
using oracle::value;

model::model(const std::vector<event> &events)
{
    for (const event &e : events) {
        recorded r = {e, current_name(e.event), value(), false};
        if (e.payload)
            r.damaged = !oracle::payload(*e.payload, r.payload);
        ledger.push_back(std::move(r));
    }
}

const value &model::read(const recorded &r)
{
    needed_damaged = needed_damaged || r.damaged;
    return r.payload;
}

static std::optional<units> string_at(const value &payload, const char *key)
{
    const value &v = payload.at(key);

    return v.of(kind::string) ? std::optional<units>(v.text) : std::nullopt;
}

static std::optional<std::string> json_at(const value &payload, const char *key)
{
    const value &v = payload.at(key);

    return v.of(kind::none) ? std::nullopt : std::optional<std::string>(oracle::canonical(v));
}

static void start(exec_model &x, const value &payload, int64_t ts)
{
    if (!x.latest || x.latest->started || x.latest->completed)
        x.latest = std::make_shared<attempt>();
    attempt &a = *x.latest;
    a.started = true;
    a.started_at = ts;
    a.interactive = payload.at("interactive").of(kind::yes);
    for (const char *key : {"code", "command", "cmd"})
        if (string_at(payload, key))
            a.command = string_at(payload, key);
    a.cwd = json_at(payload, "cwd");
    a.env = json_at(payload, "env");
}

static void print(exec_model &x, const units &type, const units &text)
{
    if (!x.latest)
        x.latest = std::make_shared<attempt>();
    if (type == u"stdout")
        x.latest->out += text;
    else if (type == u"stderr")
        x.latest->err += text;
    else if (!text.empty())
        x.latest->in.push_back(text);
}

static void complete(exec_model &x, const value &payload, int64_t ts)
{
    int64_t code;

    if (!x.latest)
        x.latest = std::make_shared<attempt>();
    x.completed = x.latest;
    attempt &a = *x.latest;
    a.completed = true;
    a.completed_at = ts;
    a.exit_code =
        oracle::integer(payload.at("exitCode"), code) ? std::optional<int64_t>(code) : std::nullopt;
    a.out = string_at(payload, "stdout").value_or(a.out);
    a.err = string_at(payload, "stderr").value_or(a.err);
}

execs model::history(const std::string &name, const std::string &sandbox_id, int64_t before)
{
    execs all;

    for (const recorded &r : ledger) {
        bool exec = r.current == "exec.started" || r.current == "exec.output" ||
                    r.current == "exec.completed";
        if (r.e.name != name || r.e.sandbox_id != sandbox_id || r.e.id >= before || !exec)
            continue;
        const value &payload = read(r);
        int64_t seq;
        if (!oracle::integer(payload.at("seq"), seq)) {
            if (r.e.step_idx < 0)
                continue;
            seq = r.e.step_idx;
        }
        if (r.current == "exec.started") {
            start(all[seq], payload, r.e.ts);
        } else if (r.current == "exec.completed") {
            complete(all[seq], payload, r.e.ts);
        } else {
            auto type = string_at(payload, "type"), text = string_at(payload, "text");
            if (type && text && (*type == u"stdout" || *type == u"stderr" || *type == u"stdin"))
                print(all[seq], *type, *text);
        }
    }
    return all;
}

const model::recorded *model::created_first(const std::string &name, const std::string &sandbox_id)
{
    for (const recorded &r : ledger)
        if (r.current == "sandbox.created" && r.e.name == name && r.e.sandbox_id == sandbox_id)
            return &r;
    return nullptr;
}

const model::recorded *model::created_last(const std::string &sandbox_id)
{
    const recorded *last = nullptr;

    for (const recorded &r : ledger)
        if (r.current == "sandbox.created" && r.e.sandbox_id == sandbox_id)
            last = &r;
    if (last != nullptr)
        (void)read(*last);
    return last;
}

static std::optional<units> tag_of(const value &payload)
{
    auto tag = string_at(payload, "tag");

    return tag ? tag : string_at(payload, "name");
}

const model::recorded *model::checkpoint(const std::string &name, const std::string &sandbox_id,
                                         const std::optional<units> &tag,
                                         const std::optional<units> &snapshot)
{
    for (size_t i = ledger.size(); i-- > 0;) {
        const recorded &r = ledger[i];
        if (r.current != "sandbox.checkpoint_created" || r.e.name != name ||
            r.e.sandbox_id != sandbox_id)
            continue;
        const value &payload = read(r);
        if ((!tag || tag_of(payload) == tag) &&
            (!snapshot || string_at(payload, "snapshotId") == snapshot))
            return &r;
    }
    return nullptr;
}

/* A session as its created event tells of it; without one only its name. */
model::generation model::describe(const std::string &name, const std::string &sandbox_id)
{
    generation g;
    const recorded *created = created_first(name, sandbox_id);

    g.name = name;
    g.sandbox_id = sandbox_id;
    if (created == nullptr)
        return g;
    g.created = &read(*created);
    g.parent = wtf8(string_at(*g.created, "resumedFrom").value_or(u""));
    if (!g.parent.empty())
        g.snapshot = wtf8(string_at(*g.created, "snapshotId").value_or(u""));
    return g;
}

bool model::parent_of(const generation &child, generation &parent)
{
    if (child.parent.empty())
        return false;
    parent = describe(child.name, child.parent);
    if (parent.created != nullptr)
        return true;
    const recorded *other = created_last(child.parent);
    if (other == nullptr)
        return false;
    parent = describe(other->e.name, child.parent);
    return true;
}

/* From the root, which stands last, to the session itself. */
model::inheritance model::fold(const std::vector<generation> &lineage)
{
    inheritance all;

    for (size_t i = lineage.size(); i-- > 0;) {
        const generation &g = lineage[i];
        execs own = history(g.name, g.sandbox_id, g.before);
        for (auto &entry : own)
            if (entry.second.completed)
                all.cache[entry.first] = entry.second.completed;
        for (auto &entry : own) {
            std::shared_ptr<attempt> latest = entry.second.latest;
            auto before = all.pending.find(entry.first);
            if (!latest->started)
                continue;
            bool waits = latest->interactive && !latest->completed;
            if (waits && before != all.pending.end())
                latest->in.insert(latest->in.begin(), before->second->in.begin(),
                                  before->second->in.end());
            all.pending.erase(entry.first);
            if (waits)
                all.pending[entry.first] = latest;
        }
        for (const auto &entry : all.cache)
            all.pending.erase(entry.first);
    }
    return all;
}

static std::string member(const char *key, const std::optional<std::string> &json)
{
    return json ? ",\"" + std::string(key) + "\":" + *json : "";
}

static std::optional<std::string> quoted(const std::optional<units> &text)
{
    return text ? std::optional<std::string>(json_string(*text)) : std::nullopt;
}

static std::string cached(int64_t seq, const attempt &a)
{
    return "{\"seq\":" + std::to_string(seq) + member("command", quoted(a.command)) +
           member("stdout", json_string(a.out)) + member("stderr", json_string(a.err)) +
           (a.exit_code ? ",\"exitCode\":" + std::to_string(*a.exit_code) : "") + "}";
}

static std::string waiting(int64_t seq, const attempt &a)
{
    std::string in;

    for (const units &text : a.in)
        in += (in.empty() ? "" : ",") + json_string(text);
    return "{\"seq\":" + std::to_string(seq) + member("cmd", quoted(a.command)) +
           member("cwd", a.cwd) + member("env", a.env) + member("stdin", "[" + in + "]") +
           member("stdout", json_string(a.out)) + "}";
}

std::string model::trace(const std::string &name, const std::string &sandbox_id,
                         const std::optional<units> &tag, origin &o)
{
    std::set<std::pair<std::string, std::string>> seen = {{name, sandbox_id}};

    o.lineage = {describe(name, sandbox_id)};
    o.from = checkpoint(name, sandbox_id, tag, std::nullopt);
    if (o.from == nullptr && (tag || o.lineage[0].snapshot.empty()))
        return "sandbox_id '" + sandbox_id + "' has no checkpoint" +
               (tag ? " with tag '" + wtf8(*tag) + "'" : "");
    o.made_in = o.from != nullptr ? sandbox_id : o.lineage[0].parent;
    if (o.from != nullptr)
        o.lineage[0].before = o.from->e.id;
    for (generation parent; parent_of(o.lineage.back(), parent);) {
        const std::string wanted = o.lineage.back().snapshot;
        if (!wanted.empty()) {
            const recorded *point =
                checkpoint(parent.name, parent.sandbox_id, std::nullopt, of_utf8(wanted));
            if (point != nullptr)
                parent.before = point->e.id;
            if (point != nullptr && o.from == nullptr && wanted == o.lineage[0].snapshot) {
                o.from = point;
                o.made_in = parent.sandbox_id;
            }
        }
        if (!seen.insert({parent.name, parent.sandbox_id}).second)
            return "the lineage of sandbox_id '" + sandbox_id + "' is a cycle";
        o.lineage.push_back(parent);
    }
    return "";
}

model::inheritance model::inherited(const std::string &name, const std::string &sandbox_id,
                                    const std::optional<units> &tag, std::string &error)
{
    origin o;

    error = trace(name, sandbox_id, tag, o);
    return error.empty() ? fold(o.lineage) : inheritance();
}

std::string model::resume(const std::string &sandbox_id, const std::optional<units> &tag, bool &ok)
{
    const recorded *last = created_last(sandbox_id);
    origin o;

    ok = false;
    if (last == nullptr)
        return "no session has sandbox_id '" + sandbox_id + "'";
    const std::string name = last->e.name;
    const std::string error = trace(name, sandbox_id, tag, o);
    if (!error.empty())
        return error;
    const std::vector<generation> &lineage = o.lineage;
    const recorded *from = o.from;
    std::string ids, cache, pending;
    for (const generation &g : lineage)
        ids = json_string(of_utf8(g.sandbox_id)) + (ids.empty() ? "" : ",") + ids;
    auto setting = [&](const char *key) {
        for (const generation &g : lineage)
            if (g.created != nullptr && json_at(*g.created, key))
                return json_at(*g.created, key);
        return std::optional<std::string>();
    };
    inheritance all = fold(lineage);
    for (const auto &entry : all.cache)
        cache += (cache.empty() ? "" : ",") + cached(entry.first, *entry.second);
    for (const auto &entry : all.pending)
        pending += (pending.empty() ? "" : ",") + waiting(entry.first, *entry.second);
    std::string point = from != nullptr
                            ? member("snapshotId", quoted(string_at(read(*from), "snapshotId"))) +
                                  member("tag", quoted(tag_of(read(*from)))) +
                                  ",\"createdAt\":" + std::to_string(from->e.ts)
                            : member("snapshotId", json_string(of_utf8(lineage[0].snapshot)));
    point += member("sandboxId", json_string(of_utf8(o.made_in)));
    const std::string id = json_string(of_utf8(sandbox_id));
    ok = true;
    return "{\"name\":" + json_string(of_utf8(name)) + member("sandboxId", id) +
           member("runId", setting("runId").value_or(id)) +
           member("resourceId", setting("resourceId")) + member("teamId", setting("teamId")) +
           ",\"checkpoint\":{" + point.substr(1) + "}" + member("lineage", "[" + ids + "]") +
           member("resources", setting("resources")) +
           member("networkPolicy", setting("networkPolicy")) +
           member("credentialProxy", setting("credentialProxy")) +
           member("replayCache", "[" + cache + "]") +
           member("pendingInteractive", "[" + pending + "]") + settings(name, sandbox_id) + "}";
}

/* What a JavaScript Map holds: in the order in which keys were set first. */
using js_map = std::vector<std::pair<units, std::string>>;

static void drop(js_map &map, const units &key)
{
    for (size_t i = map.size(); i-- > 0;)
        if (map[i].first == key)
            map.erase(map.begin() + long(i));
}

static void set(js_map &map, const units &key, const std::string &json)
{
    for (auto &entry : map) {
        if (entry.first == key) {
            entry.second = json;
            return;
        }
    }
    map.emplace_back(key, json);
}

static std::string listed(const js_map &map)
{
    std::string list;

    for (const auto &entry : map)
        list += (list.empty() ? "" : ",") + entry.second;
    return "[" + list + "]";
}

std::string model::settings(const std::string &name, const std::string &sandbox_id)
{
    js_map apply, remove, credentials;

    for (const recorded &r : ledger) {
        bool egress = r.current.compare(0, 7, "egress.") == 0;
        bool credential = r.current.compare(0, 11, "credential.") == 0;
        if (r.e.name != name || r.e.sandbox_id != sandbox_id || (!egress && !credential))
            continue;
        const value &payload = read(r);
        for (const value &rule : payload.at("rules").items) {
            auto target = string_at(rule, "target");
            if (r.current != "egress.rule_added" || !target)
                continue;
            set(apply, *target, oracle::canonical(rule));
            drop(remove, *target);
        }
        for (const value &target : payload.at("targets").items) {
            if (r.current != "egress.rule_removed" || !target.of(kind::string))
                continue;
            drop(apply, target.text);
            set(remove, target.text, json_string(target.text));
        }
        auto bound = string_at(payload, "name");
        if (r.current == "credential.bound" && bound)
            set(credentials, *bound,
                "{\"name\":" + json_string(*bound) +
                    member("binding", json_at(payload, "binding")) +
                    member("source", json_at(payload, "source")) + "}");
        if (r.current == "credential.revoked" && bound)
            drop(credentials, *bound);
    }
    return ",\"egress\":{\"apply\":" + listed(apply) + ",\"remove\":" + listed(remove) + "}" +
           member("credentials", listed(credentials));
}
