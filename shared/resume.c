/*
 * resume.c - finds what a resume starts from and folds it. See resume.h.
 *
 * alineo_resume_load works in this order: the session, its checkpoint, the
 * ancestors up to the root, then the fold from the root down to the session,
 * then the session's egress rules and credentials (settings.c). The document
 * is written by resume_write.c.
 */
#include "resume.h"
#include "resume_private.h"
#include "json_write.h"

#include <string.h>

static const alineo_field setting_fields[ALINEO_SETTING_COUNT] = {
    ALINEO_FIELD_RUN_ID,    ALINEO_FIELD_RESOURCE_ID,    ALINEO_FIELD_TEAM_ID,
    ALINEO_FIELD_RESOURCES, ALINEO_FIELD_NETWORK_POLICY, ALINEO_FIELD_CREDENTIAL_PROXY,
};

static const alineo_span none = {NULL, 0};

void alineo_resume_init(alineo_resume *resume, const alineo_memory *memory,
                        const alineo_store *store)
{
    memset(resume, 0, sizeof *resume);
    resume->memory = memory;
    resume->store = store;
    alineo_fold_init(&resume->fold, memory);
    alineo_buffer *const buffers[] = ALINEO_RESUME_BUFFERS(resume);
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        alineo_buffer_init(buffers[i], memory);
    for (int i = 0; i < ALINEO_SETTING_COUNT; i++)
        alineo_buffer_init(&resume->settings[i], memory);
}

void alineo_resume_free(alineo_resume *resume)
{
    alineo_fold_free(&resume->fold);
    alineo_buffer *const buffers[] = ALINEO_RESUME_BUFFERS(resume);
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        alineo_buffer_free(buffers[i]);
    for (int i = 0; i < ALINEO_SETTING_COUNT; i++)
        alineo_buffer_free(&resume->settings[i]);
}

/* Whether any buffer of the resume ran out of memory. */
static bool out_of_memory(alineo_resume *resume)
{
    alineo_buffer *const buffers[] = ALINEO_RESUME_BUFFERS(resume);
    bool failed = false;

    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        failed |= buffers[i]->failed;
    for (int i = 0; i < ALINEO_SETTING_COUNT; i++)
        failed |= resume->settings[i].failed;
    return failed;
}

alineo_span alineo_resume_text(const alineo_resume *resume, alineo_place place)
{
    return (alineo_span){resume->texts.at + place.offset, place.len};
}

static alineo_place keep(alineo_resume *resume, alineo_span text, alineo_form form)
{
    alineo_place place = {resume->texts.len, 0};

    /* A zero byte between texts keeps halves of different texts apart. */
    alineo_buffer_byte(&resume->texts, '\0');
    place.offset = resume->texts.len;
    alineo_text_append(&resume->texts, text, form);
    place.len = resume->texts.len - place.offset;
    return place;
}

/* Reads the first row of a query into resume->row, if there is one. The row
 * lives until alineo_store.close, which is left to the caller. */
static alineo_code first_row(alineo_resume *resume, alineo_query query, alineo_span name,
                             alineo_span sandbox_id, bool *found, alineo_error *error)
{
    const alineo_store *store = resume->store;
    alineo_code code = store->open(store->context, query, name, sandbox_id, INT64_MAX, error);

    *found = false;
    return code == ALINEO_OK ? store->next(store->context, &resume->row, found, error) : code;
}

/* Takes what the created event in resume->row tells of a generation. */
static void read_created(alineo_resume *resume, alineo_generation *generation)
{
    const alineo_fields *fields = &resume->row.fields;
    const alineo_value *parent = alineo_fields_string(fields, ALINEO_FIELD_RESUMED_FROM);
    const alineo_value *snapshot = alineo_fields_string(fields, ALINEO_FIELD_SNAPSHOT_ID);

    if (parent != NULL && parent->text.len > 0) {
        generation->resumed = true;
        generation->parent = keep(resume, parent->text, parent->form);
        if (snapshot != NULL)
            generation->snapshot = keep(resume, snapshot->text, snapshot->form);
    }
    for (int i = 0; i < ALINEO_SETTING_COUNT; i++) {
        const alineo_value *value = alineo_fields_any(fields, setting_fields[i]);
        if (value != NULL && resume->settings[i].len == 0)
            alineo_value_json(&resume->settings[i], value);
    }
}

/* Looks a session up by its created event. */
static alineo_code find_session(alineo_resume *resume, alineo_span name, alineo_span sandbox_id,
                                alineo_generation *generation, bool *found, alineo_error *error)
{
    alineo_code code = first_row(resume, ALINEO_QUERY_CREATED, name, sandbox_id, found, error);

    if (code == ALINEO_OK && *found) {
        generation->name = keep(resume, name, ALINEO_PLAIN);
        generation->sandbox_id = keep(resume, sandbox_id, ALINEO_PLAIN);
        read_created(resume, generation);
    }
    resume->store->close(resume->store->context);
    return code;
}

/* The name of the session created last under a sandbox_id. */
static alineo_code find_name(alineo_resume *resume, alineo_span sandbox_id, alineo_place *name,
                             bool *found, alineo_error *error)
{
    alineo_code code = first_row(resume, ALINEO_QUERY_SANDBOX, none, sandbox_id, found, error);

    if (code == ALINEO_OK && *found && !alineo_utf8_valid(resume->row.name))
        resume->row.damaged |= ALINEO_COLUMN_BIT_NAME; /* no document could hold it */
    if (code == ALINEO_OK && *found)
        code = alineo_row_sound(&resume->row, ALINEO_COLUMN_BIT_ID | ALINEO_COLUMN_BIT_NAME, error);
    if (code == ALINEO_OK && *found)
        *name = keep(resume, resume->row.name, ALINEO_PLAIN);
    resume->store->close(resume->store->context);
    return code;
}

/* Copies a text out of resume->texts, which grows and moves. */
static alineo_span hold(alineo_buffer *to, alineo_span text)
{
    to->len = 0;
    alineo_buffer_put(to, text.at, text.len);
    return alineo_buffer_span(to);
}

/* The parent of a generation: the session of the same name, else the one
 * created last under that sandbox_id. */
static alineo_code find_parent(alineo_resume *resume, const alineo_generation *child,
                               alineo_generation *parent, bool *found, alineo_error *error)
{
    alineo_span id = hold(&resume->parent_id, alineo_resume_text(resume, child->parent));
    alineo_span name = hold(&resume->parent_name, alineo_resume_text(resume, child->name));
    alineo_place other = {0, 0};
    alineo_code code = find_session(resume, name, id, parent, found, error);

    if (code != ALINEO_OK || *found)
        return code;
    code = find_name(resume, id, &other, found, error);
    if (code != ALINEO_OK || !*found || resume->texts.failed)
        return code;
    name = hold(&resume->parent_name, alineo_resume_text(resume, other));
    return find_session(resume, name, id, parent, found, error);
}

static void put_string(alineo_buffer *out, const alineo_value *value)
{
    out->len = 0;
    if (value != NULL)
        alineo_value_json(out, value);
}

/* Notes the checkpoint in resume->row as the one resumed from. */
static void note_checkpoint(alineo_resume *resume, alineo_span sandbox_id)
{
    put_string(&resume->snapshot,
               alineo_fields_string(&resume->row.fields, ALINEO_FIELD_SNAPSHOT_ID));
    put_string(&resume->tag, alineo_row_tag(&resume->row.fields));
    resume->checkpoint_at = resume->row.ts;
    resume->has_checkpoint_at = true;
    resume->checkpoint_sandbox.len = 0;
    alineo_json_string(&resume->checkpoint_sandbox, sandbox_id);
}

/* What a checkpoint is looked for by; all `at` NULL: the latest. */
typedef struct wanted {
    alineo_span tag, snapshot;
} wanted;

static bool is_wanted(alineo_resume *resume, wanted want)
{
    const alineo_fields *fields = &resume->row.fields;

    if (want.tag.at != NULL)
        return alineo_value_is(alineo_row_tag(fields), want.tag, &resume->scratch);
    if (want.snapshot.at != NULL)
        return alineo_value_is(alineo_fields_string(fields, ALINEO_FIELD_SNAPSHOT_ID),
                               want.snapshot, &resume->scratch);
    return true;
}

/* Finds the latest wanted checkpoint of a session: sets *before to its id, and
 * notes it where `note`. */
static alineo_code find_checkpoint(alineo_resume *resume, alineo_span name, alineo_span sandbox_id,
                                   wanted want, bool note, int64_t *before, bool *found,
                                   alineo_error *error)
{
    const alineo_store *store = resume->store;
    alineo_code code = first_row(resume, ALINEO_QUERY_CHECKPOINTS, name, sandbox_id, found, error);

    while (code == ALINEO_OK && *found && !is_wanted(resume, want))
        code = store->next(store->context, &resume->row, found, error);
    if (code == ALINEO_OK && *found)
        code = alineo_row_sound(&resume->row,
                                ALINEO_COLUMN_BIT_ID | (note ? ALINEO_COLUMN_BIT_TS : 0), error);
    if (code == ALINEO_OK && *found) {
        *before = resume->row.id;
        if (note)
            note_checkpoint(resume, sandbox_id);
    }
    store->close(store->context);
    return code;
}

static alineo_generation *generation_at(const alineo_resume *resume, size_t index)
{
    return alineo_resume_generation(resume, index);
}

/* Walks from the session, the first generation, up to the root. Brent's
 * algorithm finds a cycle with one generation to compare with, which moves up
 * each time the steps since then have doubled. */
static alineo_code climb(alineo_resume *resume, bool noted, alineo_error *error)
{
    size_t anchor = 0, steps = 0, limit = 1;

    for (size_t i = 0; generation_at(resume, i)->resumed; i++) {
        alineo_generation child = *generation_at(resume, i);
        alineo_generation parent = {.before = INT64_MIN};
        bool found;
        alineo_code code = find_parent(resume, &child, &parent, &found, error);
        if (code != ALINEO_OK || !found || out_of_memory(resume))
            return code;
        /* An ancestor without the checkpoint has nothing of its own in it: a
         * session resumed before it made one passes its own origin on. */
        alineo_span name = alineo_resume_text(resume, parent.name);
        alineo_span id = alineo_resume_text(resume, parent.sandbox_id);
        if (child.snapshot.len > 0) {
            wanted want = {none, alineo_resume_text(resume, child.snapshot)};
            /* Only the snapshot that the session started from is its checkpoint. */
            alineo_span origin = alineo_resume_text(resume, generation_at(resume, 0)->snapshot);
            bool note = !noted && alineo_span_equal(want.snapshot, origin);
            code = find_checkpoint(resume, name, id, want, note, &parent.before, &found, error);
            if (code != ALINEO_OK)
                return code;
            noted |= note && found;
        }
        const alineo_generation *seen = generation_at(resume, anchor);
        if (alineo_span_equal(id, alineo_resume_text(resume, seen->sandbox_id)) &&
            alineo_span_equal(name, alineo_resume_text(resume, seen->name)))
            return alineo_fail(error, ALINEO_BAD_ARGUMENT,
                               "the lineage of sandbox_id '%.*s' is a cycle",
                               ALINEO_QUOTED(alineo_buffer_span(&resume->sandbox_id)));
        alineo_buffer_put(&resume->lineage, (const char *)&parent, sizeof parent);
        if (resume->lineage.failed)
            return ALINEO_OK; /* seen by the caller */
        if (++steps == limit) {
            anchor = i + 1;
            limit *= 2;
            steps = 0;
        }
    }
    return ALINEO_OK;
}

/* The fold being fed, and why feeding stopped. */
typedef struct feeding {
    alineo_fold *fold;
    alineo_fold_result result;
    int64_t id;       /* of the event fed last */
    unsigned damaged; /* likewise */
} feeding;

static bool feed(void *argument, const alineo_row *row)
{
    feeding *f = argument;

    f->result = alineo_fold_event(f->fold, row);
    f->id = row->id;
    f->damaged = row->damaged;
    return f->result == ALINEO_FOLD_OK;
}

/* alineo_store.each for a store without one. */
static alineo_code each_row(alineo_resume *resume, alineo_query query, alineo_span name,
                            alineo_span sandbox_id, int64_t before, alineo_visit visit,
                            void *argument, alineo_error *error)
{
    const alineo_store *store = resume->store;
    alineo_code code = store->open(store->context, query, name, sandbox_id, before, error);
    bool found = true;

    while (code == ALINEO_OK) {
        code = store->next(store->context, &resume->row, &found, error);
        if (code != ALINEO_OK || !found || !visit(argument, &resume->row))
            break;
    }
    store->close(store->context);
    return code;
}

/* Feeds the events of one generation. */
static alineo_code fold_events(alineo_resume *resume, alineo_query query, alineo_span name,
                               alineo_span sandbox_id, int64_t before, bool *disorder,
                               alineo_error *error)
{
    const alineo_store *store = resume->store;
    feeding f = {&resume->fold, ALINEO_FOLD_OK, 0, 0};
    alineo_code code =
        store->each != NULL
            ? store->each(store->context, query, name, sandbox_id, before, feed, &f, error)
            : each_row(resume, query, name, sandbox_id, before, feed, &f, error);

    *disorder = f.result == ALINEO_FOLD_DISORDER;
    if (f.result == ALINEO_FOLD_NO_MEMORY)
        return alineo_fail_memory(error);
    if (f.result == ALINEO_FOLD_DAMAGED)
        return alineo_row_sound(&(alineo_row){.id = f.id, .damaged = f.damaged}, ~0u, error);
    /* In order of ids only an id that is there twice is out of order. */
    if (*disorder && query == ALINEO_QUERY_EVENTS_BY_ID)
        return alineo_fail(error, ALINEO_DAMAGED, "%lld is the id of more than one event",
                           (long long)f.id);
    return code;
}

/* One pass over all generations, root first. */
static alineo_code fold_generations(alineo_resume *resume, alineo_query query, bool *disorder,
                                    alineo_error *error)
{
    size_t i = alineo_resume_generations(resume);

    while (i-- > 0 && !*disorder) {
        const alineo_generation *generation = generation_at(resume, i);
        alineo_code code = ALINEO_OK;
        if (generation->before != INT64_MIN)
            code = fold_events(resume, query, alineo_resume_text(resume, generation->name),
                               alineo_resume_text(resume, generation->sandbox_id),
                               generation->before, disorder, error);
        if (code != ALINEO_OK)
            return code;
        if (!*disorder && !alineo_fold_settle(&resume->fold))
            return alineo_fail_memory(error);
    }
    return ALINEO_OK;
}

/* Forgets what was folded, but not which seq is wanted. */
static void fold_again(alineo_resume *resume)
{
    bool only = resume->fold.only;
    int64_t seq = resume->fold.only_seq;

    alineo_fold_free(&resume->fold);
    if (only)
        alineo_fold_only(&resume->fold, seq);
}

static alineo_code fold_lineage(alineo_resume *resume, alineo_error *error)
{
    bool disorder = false;
    alineo_code code = fold_generations(resume, ALINEO_QUERY_EVENTS, &disorder, error);

    if (disorder) {
        disorder = false;
        fold_again(resume);
        code = fold_generations(resume, ALINEO_QUERY_EVENTS_BY_ID, &disorder, error);
    }
    alineo_fold_sort(&resume->fold);
    return code;
}

static alineo_code no_checkpoint(const alineo_resume *resume, alineo_span tag, alineo_error *error)
{
    alineo_span id = alineo_buffer_span(&resume->sandbox_id);

    if (tag.at == NULL)
        return alineo_fail(error, ALINEO_NOT_FOUND, "sandbox_id '%.*s' has no checkpoint",
                           ALINEO_QUOTED(id));
    return alineo_fail(error, ALINEO_NOT_FOUND,
                       "sandbox_id '%.*s' has no checkpoint with tag '%.*s'", ALINEO_QUOTED(id),
                       ALINEO_QUOTED(tag));
}

alineo_code alineo_resume_cache(alineo_resume *resume, alineo_span name, alineo_span sandbox_id,
                                alineo_span tag, alineo_error *error)
{
    alineo_generation session = {.before = INT64_MIN};
    bool created, found;

    (void)hold(&resume->name, name);
    (void)hold(&resume->sandbox_id, sandbox_id);
    alineo_code code = find_session(resume, name, sandbox_id, &session, &created, error);
    if (code != ALINEO_OK)
        return code;
    if (!created) {
        session.name = keep(resume, name, ALINEO_PLAIN);
        session.sandbox_id = keep(resume, sandbox_id, ALINEO_PLAIN);
    }
    code = find_checkpoint(resume, name, sandbox_id, (wanted){tag, none}, true, &session.before,
                           &found, error);
    if (code != ALINEO_OK)
        return code;
    /* Before what could not be read is taken for what is not there. */
    if (out_of_memory(resume))
        return alineo_fail_memory(error);
    if (!found && (tag.at != NULL || session.snapshot.len == 0))
        return no_checkpoint(resume, tag, error);
    if (!found) {
        /* Resumed and not yet checkpointed: it starts where its parent's
         * snapshot is, known by its id even where the parent is gone. */
        alineo_json_string(&resume->snapshot, alineo_resume_text(resume, session.snapshot));
        alineo_json_string(&resume->checkpoint_sandbox, alineo_resume_text(resume, session.parent));
    }
    alineo_buffer_put(&resume->lineage, (const char *)&session, sizeof session);
    if (out_of_memory(resume))
        return alineo_fail_memory(error);
    code = climb(resume, found, error);
    if (code == ALINEO_OK && out_of_memory(resume))
        return alineo_fail_memory(error);
    return code == ALINEO_OK ? fold_lineage(resume, error) : code;
}

alineo_code alineo_resume_load(alineo_resume *resume, alineo_span sandbox_id, alineo_span tag,
                               alineo_error *error)
{
    alineo_place place = {0, 0};
    bool found;
    alineo_code code = find_name(resume, sandbox_id, &place, &found, error);

    if (code != ALINEO_OK)
        return code;
    if (!found)
        return alineo_fail(error, ALINEO_NOT_FOUND, "no session has sandbox_id '%.*s'",
                           ALINEO_QUOTED(sandbox_id));
    if (out_of_memory(resume))
        return alineo_fail_memory(error);
    alineo_span name = hold(&resume->parent_name, alineo_resume_text(resume, place));
    code = alineo_resume_cache(resume, name, sandbox_id, tag, error);
    if (code == ALINEO_OK)
        code = alineo_resume_settings(resume, error);
    if (code == ALINEO_OK && out_of_memory(resume))
        return alineo_fail_memory(error);
    return code;
}

alineo_code alineo_resume_history(alineo_resume *resume, alineo_span name, alineo_span sandbox_id,
                                  alineo_error *error)
{
    bool disorder = false;
    alineo_code code =
        fold_events(resume, ALINEO_QUERY_EVENTS, name, sandbox_id, INT64_MAX, &disorder, error);

    if (disorder) {
        disorder = false;
        fold_again(resume);
        code = fold_events(resume, ALINEO_QUERY_EVENTS_BY_ID, name, sandbox_id, INT64_MAX,
                           &disorder, error);
    }
    alineo_fold_sort(&resume->fold);
    return code;
}
