/*
 * fuzz_resume.cpp - the resume document of sessions that were resumed from one
 * another, against the model: checkpoints, lineage, inherited and pending execs,
 * settings, egress rules, credentials, and the errors. It must be JSON.
 * docs/reference.md, "Lineage" and "alineo_resume".
 */
#include "model.hpp"
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

static void check_error(const std::vector<event> &events, const alineo_error &error)
{
    bool named = false;

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
    model m(events);
    alineo_error error;
    bool ok;

    const std::string want =
        m.resume(std::string(view(sandbox_id)),
                 tagged ? std::optional<units>(of_utf8(view(tag))) : std::nullopt, ok);
    const std::string got =
        loaded(events, scans, sandbox_id, tagged ? tag.span : alineo_span{nullptr, 0}, &error);
    if (error.code == ALINEO_DAMAGED || m.needed_damaged) {
        CHECK(error.code == ALINEO_DAMAGED && m.needed_damaged);
        check_error(events, error);
    } else if (ok) {
        oracle::value document;
        CHECK(error.code == ALINEO_OK);
        CHECK_TEXT(got, want);
        CHECK(oracle::parse(got, document) && document.of(oracle::kind::object));
    } else {
        CHECK_TEXT(error.text, "alineo_resume: " + want);
    }
    check_blocks();
    return 0;
}
