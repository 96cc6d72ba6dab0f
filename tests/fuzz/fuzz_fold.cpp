/*
 * fuzz_fold.cpp - the fold of one session's history against the model: attempts,
 * late chunks, completions that replace output, legacy names; fed through a store
 * in replay order, so that steps back of the clock are found; whole, and one exec
 * at a time. docs/reference.md, "The fold".
 */
#include "attempts.hpp"
#include "store.hpp"

static std::string stream(const alineo_attempt *a, alineo_stream which)
{
    return written_by([&](alineo_buffer *out) { alineo_attempt_stream(out, a, which); }, false);
}

/* Reads the history of session ci/a; `only` folds that exec alone. */
static std::string folded(const std::vector<event> &events, bool scans, const int64_t *only,
                          alineo_error *error)
{
    exact name("ci"), sandbox_id("a");
    memory_store store(events, scans);
    alineo_resume resume;
    std::string text;

    alineo_error_init(error, "alineo_execs");
    alineo_resume_init(&resume, &fuzz_memory, &store.core);
    if (only != nullptr)
        alineo_fold_only(&resume.fold, *only);
    if (alineo_resume_history(&resume, name, sandbox_id, error) == ALINEO_OK) {
        for (size_t i = 0; i < alineo_fold_count(&resume.fold); i++) {
            const alineo_exec *exec = alineo_fold_exec(&resume.fold, i);
            CHECK(exec->current != nullptr);
            text += shown(exec->seq, *exec->current);
            if (exec->completed != nullptr && exec->completed != exec->current)
                text += "before " + shown(exec->seq, *exec->completed);
            text += stream(exec->current, ALINEO_STDIN) + "\n";
            CHECK_TEXT(stream(exec->current, ALINEO_STDOUT), text_of(exec->current->out));
        }
    }
    alineo_resume_free(&resume);
    return text;
}

static std::string wanted(const execs &all, const int64_t *only)
{
    std::string text;

    for (const auto &entry : all) {
        if (only != nullptr && entry.first != *only)
            continue;
        const exec_model &x = entry.second;
        units in;
        text += shown(entry.first, *x.latest);
        if (x.completed && x.completed != x.latest)
            text += "before " + shown(entry.first, *x.completed);
        for (const units &piece : x.latest->in)
            in += piece;
        text += wtf8(in) + "\n";
    }
    return text;
}

/* A damaged event is named by its id. */
static void check_damaged(const std::vector<event> &events, const alineo_error &error)
{
    const std::string text = error.text;
    bool named = false;

    CHECK(error.code == ALINEO_DAMAGED);
    for (const event &e : events) {
        oracle::value payload;
        if (e.payload && !oracle::payload(*e.payload, payload) &&
            text.find("alineo_execs: payload of event " + std::to_string(e.id) +
                      " is not valid JSON at byte ") == 0)
            named = true;
    }
    CHECK(named);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices in(data, size);
    bool scans = in.below(2) == 0;
    int64_t only = in.below(4);
    const std::vector<event> events = events_of(in);
    model m(events);
    alineo_error error;
    const execs all = m.history("ci", "a", INT64_MAX);
    const std::string got = folded(events, scans, nullptr, &error);

    if (m.needed_damaged) {
        check_damaged(events, error);
    } else {
        CHECK(error.code == ALINEO_OK);
        CHECK_TEXT(got, wanted(all, nullptr));
        CHECK_TEXT(folded(events, scans, &only, &error), wanted(all, &only));
    }
    check_blocks();
    return 0;
}
