/*
 * entry_model.cpp - see entry_model.hpp.
 */
#include "entry_model.hpp"
#include "names.hpp"

using oracle::kind;
using oracle::value;

static const value absent;

/* The last of the members with one of two keys; kind none where it is null. */
static const value &last(const value &entry, std::string_view key, std::string_view other)
{
    for (size_t i = entry.members.size(); i-- > 0;) {
        const auto &member = entry.members[i];
        if (member.first == of_utf8(key) || member.first == of_utf8(other))
            return member.second.is == kind::null ? absent : member.second;
    }
    return absent;
}

static bool is_special(const units &text)
{
    return stored(text) != wtf8(text);
}

static bool holds_special(const value &v)
{
    bool found = v.is == kind::string && is_special(v.text);

    for (const value &item : v.items)
        found = found || holds_special(item);
    for (const auto &member : v.members)
        found = found || is_special(member.first) || holds_special(member.second);
    return found;
}

static std::string refused_text(const value &v, const std::string &field)
{
    const std::string text = wtf8(v.text);

    if (v.is == kind::none)
        return field + " must not be NULL";
    if (text.empty())
        return field + " must not be empty";
    if (text.size() > 1000)
        return field + " must be at most 1000 bytes";
    if (text.find('\0') != std::string::npos)
        return field + " must not contain NUL";
    return is_utf8(text) ? "" : field + " must be valid UTF-8";
}

static std::string refused_integer(const value &v, const std::string &field, int64_t least,
                                   int64_t most, std::optional<int64_t> &number)
{
    int64_t got;

    if (v.is == kind::none)
        return "";
    if (oracle::integer(v, got) && got >= least && got <= most) {
        number = got;
        return "";
    }
    return field + " must be an integer " +
           (most == INT64_MAX ? "of at least " + std::to_string(least)
                              : "from " + std::to_string(least) + " to " + std::to_string(most));
}

/* The step_idx of an entry that has none. */
static int64_t step_of(const std::string &event, const value &payload)
{
    value inner = payload;
    int64_t seq;

    if (event.rfind("exec.", 0) != 0 || event == "exec." || payload.is == kind::none ||
        !oracle::payload(oracle::canonical(payload), inner))
        return -1;
    return oracle::integer(inner.at("seq"), seq) && seq >= 0 && seq <= INT32_MAX ? seq : -1;
}

entry_model model_of(const value &entry)
{
    entry_model m;

    if (entry.is != kind::object) {
        m.refusal = "must be an object";
        return m;
    }
    const value &name = last(entry, "name", "name"), &event = last(entry, "event", "event"),
                &sandbox = last(entry, "sandboxId", "sandbox_id"),
                &error = last(entry, "error", "error"),
                &payload = last(entry, "payload", "payload");
    const std::pair<const value *, const char *> texts[] = {
        {&name, "name"}, {&sandbox, "sandboxId"}, {&event, "event"}, {&error, "error"}};
    for (const auto &text : texts)
        if (m.refusal.empty() && text.first->is != kind::none && text.first->is != kind::string)
            m.refusal = std::string(text.second) + " must be a string";
    for (int i = 0; i < 3; i++)
        if (m.refusal.empty())
            m.refusal = refused_text(*texts[i].first, texts[i].second);
    std::optional<int64_t> step;
    if (m.refusal.empty())
        m.refusal =
            refused_integer(last(entry, "stepIndex", "step_idx"), "stepIndex", -1, INT32_MAX, step);
    if (m.refusal.empty())
        m.refusal =
            refused_integer(last(entry, "branch", "branch"), "branch", 0, INT32_MAX, m.branch);
    if (m.refusal.empty())
        m.refusal = refused_integer(last(entry, "ts", "ts"), "ts", 0, INT64_MAX, m.ts);
    m.name = wtf8(name.text);
    m.sandbox_id = wtf8(sandbox.text);
    m.event = current_name(wtf8(event.text));
    if (error.is == kind::string)
        m.error = displayed(error.text);
    if (payload.is != kind::none)
        m.payload = oracle::canonical(payload);
    m.special = holds_special(payload);
    m.step_idx = step ? *step : step_of(m.event, payload);
    return m;
}
