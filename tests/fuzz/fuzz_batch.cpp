/*
 * fuzz_batch.cpp - the entries of a batch: the same ones whether they come as an
 * array, as JSON Lines or one by one, all that the model (entry_model.hpp) makes
 * of them, and an error that names the first one at fault, with nothing handed
 * out behind it. docs/reference.md, "alineo_append_batch".
 */
#include "harness.hpp"
#include "entry_model.hpp"

#include <map>

static const char FUNCTION[] = "alineo_append_batch";

/* The clock and the table a batch's times depend on, the same for all forms. */
struct times {
    uint8_t seed;
    int64_t now(long long entry) const
    {
        return 1000 + (seed * (entry + 7)) % 97;
    }
    /* The latest ts of a session in the table; INT64_MIN: none. */
    int64_t stored(std::string_view session) const
    {
        size_t pick = (session.size() * 31 + seed) % 3;
        return pick == 0 ? INT64_MIN : pick == 1 ? 1040 : 2000;
    }
};

struct asking {
    const times &clock;
    std::map<std::string, int> asked;
};

static std::string session_of(const alineo_entry &entry)
{
    return std::string(view(entry.name)) + '\0' + std::string(view(entry.sandbox_id));
}

static alineo_code ask(void *context, const alineo_entry *entry, int64_t *latest, alineo_error *)
{
    asking *a = static_cast<asking *>(context);
    const std::string session = session_of(*entry);

    CHECK(++a->asked[session] == 1);
    CHECK(!entry->ts.given);
    if (a->clock.stored(session) != INT64_MIN)
        *latest = a->clock.stored(session);
    return ALINEO_OK;
}

/* An entry as handed out, and as wanted, in one text. */
static std::string shown(const alineo_entry &e)
{
    std::string text = std::string(view(e.name)) + "|" + std::string(view(e.sandbox_id)) + "|" +
                       std::string(view(e.event)) + "|" + std::to_string(e.step_idx.value) + "|";

    CHECK(e.step_idx.given && e.step_idx.exact && e.ts.given);
    text += (e.branch.given ? std::to_string(e.branch.value) : "-") + "|";
    text += (e.error.at != nullptr ? "=" + std::string(view(e.error)) : "-") + "|";
    text += std::to_string(e.ts.value) + "|";
    if (e.payload.at == nullptr)
        return text + "-";
    exact payload(view(e.payload));
    return text + (e.special ? "!" : "=") +
           written_by([&](alineo_buffer *out) { alineo_canonical(out, payload); }, false);
}

static std::string shown(const entry_model &m, int64_t ts)
{
    return m.name + "|" + m.sandbox_id + "|" + m.event + "|" + std::to_string(m.step_idx) + "|" +
           (m.branch ? std::to_string(*m.branch) : "-") + "|" + (m.error ? "=" + *m.error : "-") +
           "|" + std::to_string(ts) + "|" +
           (m.payload ? (m.special ? "!" : "=") + *m.payload : "-");
}

/* What a batch gives: a text an entry, and the error that ended it. */
struct outcome {
    std::vector<std::string> entries;
    std::string error;
    alineo_code code = ALINEO_OK;
};

static outcome read(const std::string &text, const times &clock)
{
    exact entries(text);
    alineo_batch batch;
    alineo_entry entry;
    alineo_error error;
    asking a = {clock, {}};
    outcome o;

    alineo_error_init(&error, FUNCTION);
    alineo_batch_init(&batch, &fuzz_memory, entries);
    while (alineo_batch_next(&batch, &entry, &error)) {
        CHECK(alineo_batch_ts(&batch, &entry, clock.now((long long)o.entries.size()), ask, &a,
                              &error) == ALINEO_OK);
        o.entries.push_back(shown(entry));
        CHECK(size_t(batch.count) == o.entries.size());
    }
    o.code = error.code;
    o.error = error.text;
    if (o.code != ALINEO_OK) {
        const std::string front =
            std::string(FUNCTION) + ": entry " + std::to_string(o.entries.size()) + ": ";
        CHECK(o.error.compare(0, front.size(), front) == 0);
        CHECK(is_utf8(o.error));
        o.error.erase(0, front.size());
        CHECK((o.code == ALINEO_BAD_JSON) == (o.error.compare(0, 14, "not valid JSON") == 0));
    }
    alineo_batch_free(&batch);
    return o;
}

/* What the model expects of these entries. */
static outcome expect(const std::vector<oracle::value> &entries, const times &clock)
{
    std::map<std::string, int64_t> latest, table;
    outcome o;

    for (const oracle::value &entry : entries) {
        entry_model m = model_of(entry);
        if (!m.refusal.empty()) {
            o.error = m.refusal;
            o.code = ALINEO_BAD_ARGUMENT;
            break;
        }
        std::string session = m.name + '\0' + m.sandbox_id;
        int64_t ts = clock.now((long long)o.entries.size());
        if (latest.count(session) != 0)
            ts = std::max(ts, latest[session]);
        if (!m.ts)
            ts = std::max(ts, clock.stored(session));
        if (m.ts)
            ts = *m.ts;
        /* What the table has counts from the first time that it was asked. */
        int64_t known = latest.count(session) != 0 ? latest[session] : INT64_MIN;
        latest[session] = std::max(known, ts);
        o.entries.push_back(shown(m, ts));
    }
    return o;
}

static void check_same(const outcome &got, const outcome &want, const std::string &text)
{
    size_t count = got.entries.size();

    for (size_t i = 0; i < count && i < want.entries.size(); i++)
        CHECK_TEXT(got.entries[i], want.entries[i]);
    if (got.error != want.error || got.code != want.code || count != want.entries.size())
        finding(__FILE__, __LINE__, text.c_str(), std::to_string(count) + " then " + got.error,
                std::to_string(want.entries.size()) + " then " + want.error);
}

static std::string text_value(choices &in)
{
    static const char *const texts[] = {
        "\"ci\"",         "\"sb-1\"",   "\"sb-2\"",  "\"exec.started\"",
        "\"exec_event\"", "\"exec.x\"", "\"exec.\"", "\"snapshot\"",
        "\"x\"",          "\"\"",       "\"a\\/b\"", "\"\\u0063i\""};
    unsigned kind = in.below(16);

    if (kind == 0)
        return json_string(in.units(8));
    if (kind == 1)
        return "\"" + std::string(998 + in.below(4), 'n') + "\"";
    return in.one_of(texts);
}

static std::string number_value(choices &in)
{
    static const char *const numbers[] = {
        "0",
        "1",
        "2",
        "-1",
        "-2",
        "1.0",
        "1e3",
        "1050",
        "2147483647",
        "2147483648",
        "1.5",
        "\"1\"",
        "-0",
        "10E-1",
        "4294967297",
        "1e0",
        "1e400",
        "1e-20",
        "false",
        "[]",
        "9223372036854775807",
        "99999999999999999999",
    };
    return in.one_of(numbers);
}

static std::string payload_value(choices &in)
{
    switch (in.below(8)) {
    case 0: return json_string(in.units(12));
    case 1: return "{\"seq\":" + number_value(in) + "}";
    case 2:
        return "{\"a\":1, \"seq\" : " + number_value(in) + ",\"s\\u0065q\":" + number_value(in) +
               "}";
    case 3: return "\"{\\\"seq\\\":" + std::to_string(in.below(9)) + "}\"";
    case 4: return "{" + json_string(in.units(4)) + ":[" + json_string(in.units(4)) + ",{}]}";
    case 5: return "[" + number_value(in) + "\n, {} ]";
    case 6:
        if (in.below(32) != 0)
            return "[null]";
        return std::string(in.below(2) + 999, '[') + std::string(in.below(2) + 999, ']');
    default: return "{}";
    }
}

static std::string entry_text(choices &in)
{
    static const char *const texts[] = {"name",  "sandboxId", "sandbox_id",
                                        "event", "error",     "\\u006eame"};
    static const char *const numbers[] = {"ts", "stepIndex", "step_idx", "branch", "t\\u0073"};
    static const char *const others[] = {"id", "", "payload", "constructor", "\\ud83d"};
    static const char *const values[] = {"null", "true", "1", "\"x\"", "{}", "[\"\\u0000\"]"};
    std::string text;

    for (unsigned count = in.below(8); count > 0; count--) {
        std::string value;
        switch (in.below(4)) {
        case 0:
            text += std::string(",\"") + in.one_of(texts) + "\":";
            value = text_value(in);
            break;
        case 1:
            text += std::string(",\"") + in.one_of(numbers) + "\":";
            value = number_value(in);
            break;
        case 2:
            text += ", \"payload\": ";
            value = payload_value(in);
            break;
        default:
            text += std::string(",\"") + in.one_of(others) + "\" :";
            value = payload_value(in);
            break;
        }
        text += in.below(8) == 0 ? std::string(in.one_of(values)) : value;
    }
    unsigned base = in.below(16);
    if (base == 1 && !text.empty())
        return "{" + text.substr(1) + "}";
    if (base == 2)
        return payload_value(in);
    return "{\"name\":\"ci\",\"sandboxId\":" + std::string(base < 8 ? "\"sb-1\"" : "\"sb-2\"") +
           ",\"event\":\"exec.output\"" + text + "}";
}

/* Two entries with no line break between them are an error of the second. */
static void on_one_line(const std::string &entry, const times &clock)
{
    outcome o = read(entry + " \t" + entry, clock);

    if (o.entries.size() == 1) /* the first one is right */
        CHECK(o.error.find(": unexpected text behind the value") != std::string::npos);
    else
        CHECK(o.entries.empty() && o.code != ALINEO_OK);
}

/* Entries made here: in all three forms, each as the model has it. */
static void made(choices &in)
{
    static const char *const commas[] = {",", " ,", ",\n", "\t,\r\n "};
    static const char *const breaks[] = {"\n", "\r\n", "\n\n \t\n", " \n"};
    const times clock = {in.byte()};
    std::string array, lines;
    std::vector<oracle::value> entries;
    bool array_first = false;

    for (unsigned count = in.below(6); count > 0; count--) {
        const std::string text = entry_text(in);
        oracle::value entry;
        if (!oracle::parse(text, entry, 1001))
            continue;
        if (entry.of(oracle::kind::object))
            on_one_line(text, clock);
        check_same(
            read(text, clock),
            expect(entry.of(oracle::kind::array) ? entry.items : std::vector<oracle::value>{entry},
                   clock),
            text);
        array_first = array_first || (entries.empty() && entry.of(oracle::kind::array));
        array += (entries.empty() ? "" : in.one_of(commas)) + text;
        lines += (entries.empty() ? "" : in.one_of(breaks)) + text;
        entries.push_back(std::move(entry));
    }
    const outcome want = expect(entries, clock);
    array = " [" + array + "]\n";
    check_same(read(array, clock), want, array);
    if (!array_first)
        check_same(read(lines + "\n", clock), want, lines);
}

/* Any bytes: where they are one JSON value, what the model makes of it; else
 * an error that is not before the last entry handed out. */
static void any(const std::string &text, uint8_t seed)
{
    const times clock = {seed};
    oracle::value value;
    outcome got = read(text, clock);

    if (!oracle::parse(text, value, 1002))
        return; /* JSON Lines, or none; read() has checked what comes of it */
    if (value.of(oracle::kind::array))
        check_same(got, expect(value.items, clock), text);
    else if (oracle::parse(text, value, 1001))
        check_same(got, expect({value}, clock), text);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices in(data, size);

    if (size > 0 && data[0] >= 0x20 && data[0] < 0x80) {
        any(in.rest(), uint8_t(size));
    } else {
        (void)in.byte();
        made(in);
    }
    check_blocks();
    return 0;
}
