/*
 * fuzz_resume.cpp - the replay cache and the resume document of sessions that were resumed from one
 * another, against the model: checkpoints, lineage, inherited and pending execs,
 * settings, egress rules, credentials, and the errors. It must be JSON.
 * docs/reference.md, "Lineage" and "alineo_resume".
 */
#include "attempts.hpp"
#include "store.hpp"

static std::string loaded(const std::vector<event> &events, bool scans, alineo_span sandbox_id,
                          alineo_span tag, alineo_error *error)
{
    memory_store store(events, scans);
    alineo_resume resume;
    std::string document;

    alineo_error_init(error, "alineo_resume");
    alineo_resume_init(&resume, &fuzz_memory, &store.core);
    if (alineo_resume_load(&resume, sandbox_id, tag, error) == ALINEO_OK)
        document = written_by([&](alineo_buffer *out) { alineo_resume_write(&resume, out); });
    alineo_resume_free(&resume);
    return document;
}

/* The replay cache and what is pending, of a session that may not be created. */
static std::string cached(const std::vector<event> &events, bool scans, alineo_span sandbox_id,
                          alineo_span tag, alineo_error *error)
{
    memory_store store(events, scans);
    exact name(session_names[0]);
    alineo_resume resume;
    std::string text;

    alineo_error_init(error, "alineo_resume");
    alineo_resume_init(&resume, &fuzz_memory, &store.core);
    if (alineo_resume_cache(&resume, name, sandbox_id, tag, error) == ALINEO_OK) {
        for (size_t i = 0; i < alineo_fold_count(&resume.fold); i++) {
            const alineo_exec *exec = alineo_fold_exec(&resume.fold, i);
            CHECK(exec->completed == nullptr || exec->pending == nullptr);
            if (exec->completed != nullptr)
                text += shown(exec->seq, *exec->completed);
            if (exec->pending != nullptr)
                text += "pending " + shown(exec->seq, *exec->pending);
        }
    }
    alineo_resume_free(&resume);
    return text;
}

static std::string shown(const model::inheritance &all)
{
    std::map<int64_t, std::string> lines;
    std::string text;

    for (const auto &entry : all.cache)
        lines[entry.first] = shown(entry.first, *entry.second);
    for (const auto &entry : all.pending)
        lines[entry.first] = "pending " + shown(entry.first, *entry.second);
    for (const auto &line : lines)
        text += line.second;
    return text;
}

/* An error names a damaged event by its id. */
static void check_damaged(const std::vector<event> &events, const alineo_error &error)
{
    bool named = false;

    CHECK(error.code == ALINEO_DAMAGED);

    for (const event &e : events) {
        oracle::value payload;
        if (e.payload && !oracle::payload(*e.payload, payload) &&
            std::string(error.text)
                    .find("alineo_resume: payload of event " + std::to_string(e.id) +
                          " is not valid JSON at byte ") == 0)
            named = true;
    }
    CHECK(named);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const tags[] = {"t1", "t2", "", "no"};
    choices in(data, size);
    bool scans = in.below(2) == 0;
    unsigned asked = in.below(16), which = in.below(8);
    exact tag(tags[which % 4]);
    bool tagged = which < 4;
    std::string last;
    const std::vector<event> events = sessions_of(in, last);
    exact sandbox_id(asked < 4 ? sandbox_ids[asked] : last);
    const std::optional<units> wanted =
        tagged ? std::optional<units>(of_utf8(view(tag))) : std::nullopt;
    const alineo_span tag_text = tagged ? tag.span : alineo_span{nullptr, 0};
    alineo_error error;
    std::string refused;
    bool ok;

    model whole(events), cache(events);
    const std::string want = whole.resume(std::string(view(sandbox_id)), wanted, ok);
    const std::string got = loaded(events, scans, sandbox_id, tag_text, &error);
    if (error.code == ALINEO_DAMAGED || whole.needed_damaged) {
        CHECK(whole.needed_damaged);
        check_damaged(events, error);
    } else if (ok) {
        oracle::value document;
        CHECK(error.code == ALINEO_OK);
        CHECK_TEXT(got, want);
        CHECK(oracle::parse(got, document) && document.of(oracle::kind::object));
    } else {
        CHECK_TEXT(error.text, "alineo_resume: " + want);
    }
    const std::string lines =
        shown(cache.inherited(session_names[0], std::string(view(sandbox_id)), wanted, refused));
    const std::string folded = cached(events, scans, sandbox_id, tag_text, &error);
    if (error.code == ALINEO_DAMAGED || cache.needed_damaged) {
        CHECK(cache.needed_damaged);
        check_damaged(events, error);
    } else {
        CHECK_TEXT(error.text, refused.empty() ? "" : "alineo_resume: " + refused);
        CHECK_TEXT(folded, lines);
    }
    check_blocks();
    return 0;
}
