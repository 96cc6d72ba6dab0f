/*
 * resume_write.c - the resume document. docs/reference.md, "alineo_resume".
 */
#include "resume_private.h"
#include "json_write.h"

/* Appends ,"key":json, or nothing where the value is absent. */
static void put_json(alineo_buffer *out, const char *key, const alineo_buffer *json)
{
    if (json->len == 0)
        return;
    alineo_buffer_text(out, ",\"");
    alineo_buffer_text(out, key);
    alineo_buffer_text(out, "\":");
    alineo_buffer_put(out, json->at, json->len);
}

static void put_text(alineo_buffer *out, const char *before, const alineo_buffer *text)
{
    alineo_buffer_text(out, before);
    alineo_json_string(out, alineo_buffer_span(text));
}

static void put_checkpoint(alineo_buffer *out, const alineo_resume *resume)
{
    size_t begin;

    alineo_buffer_text(out, ",\"checkpoint\":");
    begin = out->len;
    put_json(out, "snapshotId", &resume->snapshot);
    put_json(out, "tag", &resume->tag);
    if (resume->has_checkpoint_at) {
        alineo_buffer_text(out, ",\"createdAt\":");
        alineo_json_integer(out, resume->checkpoint_at);
    }
    put_json(out, "sandboxId", &resume->checkpoint_sandbox);
    /* The sandboxId is always there; its or another's comma opens the object. */
    if (out->at != NULL && !out->failed)
        out->at[begin] = '{';
    alineo_buffer_byte(out, '}');
}

static void put_lineage(alineo_buffer *out, const alineo_resume *resume)
{
    alineo_buffer_text(out, ",\"lineage\":[");
    for (size_t i = alineo_resume_generations(resume); i-- > 0;) {
        const alineo_generation *generation = alineo_resume_generation(resume, i);
        alineo_json_string(out, alineo_resume_text(resume, generation->sandbox_id));
        if (i > 0)
            alineo_buffer_byte(out, ',');
    }
    alineo_buffer_byte(out, ']');
}

static void put_cached(alineo_buffer *out, const alineo_exec *exec)
{
    const alineo_attempt *attempt = exec->completed;

    alineo_buffer_text(out, "{\"seq\":");
    alineo_json_integer(out, exec->seq);
    if (attempt->has_command)
        put_text(out, ",\"command\":", &attempt->command);
    put_text(out, ",\"stdout\":", &attempt->out);
    put_text(out, ",\"stderr\":", &attempt->err);
    if (attempt->has_exit_code) {
        alineo_buffer_text(out, ",\"exitCode\":");
        alineo_json_integer(out, attempt->exit_code);
    }
    alineo_buffer_byte(out, '}');
}

static void put_pending(alineo_buffer *out, const alineo_exec *exec)
{
    const alineo_attempt *attempt = exec->pending;
    const size_t *ends = (const size_t *)(const void *)attempt->in_ends.at;
    size_t begin = 0;

    alineo_buffer_text(out, "{\"seq\":");
    alineo_json_integer(out, exec->seq);
    if (attempt->has_command)
        put_text(out, ",\"cmd\":", &attempt->command);
    put_json(out, "cwd", &attempt->cwd);
    put_json(out, "env", &attempt->env);
    alineo_buffer_text(out, ",\"stdin\":[");
    for (size_t i = 0; i < attempt->in_ends.len / sizeof *ends; i++) {
        if (i > 0)
            alineo_buffer_byte(out, ',');
        alineo_json_string(out, (alineo_span){attempt->in.at + begin, ends[i] - begin});
        begin = ends[i];
    }
    put_text(out, "],\"stdout\":", &attempt->out);
    alineo_buffer_byte(out, '}');
}

/* Appends the execs that are cached, or those that are pending. */
static void put_execs(alineo_buffer *out, const alineo_fold *fold, bool pending)
{
    bool first = true;

    for (size_t i = 0; i < alineo_fold_count(fold); i++) {
        const alineo_exec *exec = alineo_fold_exec(fold, i);
        if ((pending ? exec->pending : exec->completed) == NULL)
            continue;
        if (!first)
            alineo_buffer_byte(out, ',');
        first = false;
        if (pending)
            put_pending(out, exec);
        else
            put_cached(out, exec);
    }
}

void alineo_resume_write(alineo_resume *resume, alineo_buffer *out)
{
    enum { RUN_ID, RESOURCE_ID, TEAM_ID, RESOURCES, NETWORK_POLICY, CREDENTIAL_PROXY };

    put_text(out, "{\"name\":", &resume->name);
    put_text(out, ",\"sandboxId\":", &resume->sandbox_id);
    if (resume->settings[RUN_ID].len > 0)
        put_json(out, "runId", &resume->settings[RUN_ID]);
    else
        put_text(out, ",\"runId\":", &resume->sandbox_id);
    put_json(out, "resourceId", &resume->settings[RESOURCE_ID]);
    put_json(out, "teamId", &resume->settings[TEAM_ID]);
    put_checkpoint(out, resume);
    put_lineage(out, resume);
    put_json(out, "resources", &resume->settings[RESOURCES]);
    put_json(out, "networkPolicy", &resume->settings[NETWORK_POLICY]);
    put_json(out, "credentialProxy", &resume->settings[CREDENTIAL_PROXY]);
    alineo_buffer_text(out, ",\"replayCache\":[");
    put_execs(out, &resume->fold, false);
    alineo_buffer_text(out, "],\"pendingInteractive\":[");
    put_execs(out, &resume->fold, true);
    alineo_buffer_text(out, "],\"egress\":{\"apply\":[");
    alineo_buffer_put(out, resume->apply.at, resume->apply.len);
    alineo_buffer_text(out, "],\"remove\":[");
    alineo_buffer_put(out, resume->remove.at, resume->remove.len);
    alineo_buffer_text(out, "]},\"credentials\":[");
    alineo_buffer_put(out, resume->credentials.at, resume->credentials.len);
    alineo_buffer_text(out, "]}");
}
