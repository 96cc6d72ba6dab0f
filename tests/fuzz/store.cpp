/*
 * store.cpp - see store.hpp.
 */
#include "store.hpp"
#include "names.hpp"

#include <algorithm>

memory_store::memory_store(const std::vector<event> &events, bool scans) : all(events)
{
    core = alineo_store{this, open, next, close, scans ? each : nullptr};
    alineo_fields_reader_init(&reader, &fuzz_memory);
}

memory_store::~memory_store()
{
    CHECK(!is_open);
    alineo_fields_reader_free(&reader);
}

static bool is_exec(const std::string &name)
{
    return name == "exec.started" || name == "exec.output" || name == "exec.completed";
}

static bool selects(alineo_query query, const std::string &name)
{
    switch (query) {
    case ALINEO_QUERY_SANDBOX:
    case ALINEO_QUERY_CREATED: return name == "sandbox.created";
    case ALINEO_QUERY_CHECKPOINTS: return name == "sandbox.checkpoint_created";
    case ALINEO_QUERY_SETTINGS:
        return name == "egress.rule_added" || name == "egress.rule_removed" ||
               name == "credential.bound" || name == "credential.revoked";
    default: return is_exec(name);
    }
}

static bool comes_first(alineo_query query, const event *a, const event *b)
{
    if (query == ALINEO_QUERY_SANDBOX || query == ALINEO_QUERY_CHECKPOINTS)
        return a->id > b->id;
    if (query == ALINEO_QUERY_EVENTS && a->ts != b->ts)
        return a->ts < b->ts;
    return a->id < b->id;
}

alineo_code memory_store::open(void *context, alineo_query query, alineo_span name,
                               alineo_span sandbox_id, int64_t before, alineo_error *)
{
    memory_store *s = static_cast<memory_store *>(context);

    CHECK(!s->is_open);
    s->is_open = true;
    s->at = 0;
    s->matches.clear();
    for (const event &e : s->all)
        if (selects(query, current_name(e.event)) && e.sandbox_id == view(sandbox_id) &&
            (query == ALINEO_QUERY_SANDBOX || e.name == view(name)) && e.id < before)
            s->matches.push_back(&e);
    std::sort(s->matches.begin(), s->matches.end(),
              [&](const event *a, const event *b) { return comes_first(query, a, b); });
    return ALINEO_OK;
}

alineo_code memory_store::next(void *context, alineo_row *row, bool *found, alineo_error *error)
{
    memory_store *s = static_cast<memory_store *>(context);

    CHECK(s->is_open);
    s->payload.reset();
    *row = alineo_row();
    *found = s->at < s->matches.size();
    if (!*found)
        return ALINEO_OK;
    const event *e = s->matches[s->at++];
    s->name.reset(new exact(e->name));
    s->sandbox_id.reset(new exact(e->sandbox_id));
    if (e->payload)
        s->payload.reset(new exact(*e->payload));
    exact stored(e->event);
    row->id = e->id;
    row->ts = e->ts;
    row->step_idx = e->step_idx;
    row->event = alineo_event_of(stored);
    row->name = *s->name;
    row->sandbox_id = *s->sandbox_id;
    return alineo_row_payload(row, &s->reader,
                              e->payload ? s->payload->span : alineo_span{nullptr, 0}, error);
}

void memory_store::close(void *context)
{
    memory_store *s = static_cast<memory_store *>(context);

    CHECK(s->is_open);
    s->is_open = false;
    s->payload.reset();
    s->name.reset();
    s->sandbox_id.reset();
}

alineo_code memory_store::each(void *context, alineo_query query, alineo_span name,
                               alineo_span sandbox_id, int64_t before, alineo_visit visit,
                               void *argument, alineo_error *error)
{
    alineo_row row;
    bool found;
    alineo_code code = open(context, query, name, sandbox_id, before, error);

    do
        code = next(context, &row, &found, error);
    while (code == ALINEO_OK && found && visit(argument, &row));
    close(context);
    return code;
}
