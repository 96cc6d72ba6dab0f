/*
 * scale_calls.c - see scale.h.
 */
#include "scale.h"
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>

static const session *any(const site *s)
{
    return &s->sample[pick(SAMPLE)];
}

static void set_session(const session *of, parameter *values)
{
    values[0] = text_parameter(of->name);
    values[1] = text_parameter(of->sandbox);
}

static void replay(const site *s, parameter *values, expected *want)
{
    set_session(any(s), values);
    want->rows = SMALL;
}

static void replay_large(const site *s, parameter *values, expected *want)
{
    set_session(&s->large, values);
    want->rows = LARGE;
}

static void cache(const site *s, parameter *values, expected *want)
{
    const session *of = any(s);

    set_session(of, values);
    want->rows = cached_of(of);
    want->bytes = (size_t)(cached_of(of) * output_of_exec());
}

static void execs(const site *s, parameter *values, expected *want)
{
    const session *of = any(s);

    set_session(of, values);
    want->rows = execs_of(of);
    want->bytes = (size_t)(completed_of(of) * output_of_exec());
}

static void resume(const site *s, parameter *values, expected *want)
{
    const session *of = any(s);

    values[0] = text_parameter(of->sandbox);
    want->bytes = (size_t)(cached_of(of) * output_of_exec());
}

static void resume_tag(const site *s, parameter *values, expected *want)
{
    resume(s, values, want);
    values[1] = text_parameter("tag-1");
    want->bytes = (size_t)(10 * output_of_exec());
}

static void resume_large(const site *s, parameter *values, expected *want)
{
    values[0] = text_parameter(s->large.sandbox);
    want->bytes = (size_t)(cached_of(&s->large) * output_of_exec());
}

static void output(const site *s, parameter *values, expected *want)
{
    const session *of = any(s);

    set_session(of, values);
    values[2] = number_parameter(1 + pick(completed_of(of)));
    want->bytes = (size_t)output_of_exec();
}

static void checkpoints(const site *s, parameter *values, expected *want)
{
    const session *of = any(s);

    set_session(of, values);
    want->rows = checkpoints_of(of);
}

static void one_of_session(const site *s, parameter *values, expected *want)
{
    (void)want;
    set_session(any(s), values);
}

static void details(const site *s, parameter *values, expected *want)
{
    const session *of = any(s);

    set_session(of, values);
    want->first = completed_of(of);
}

static void newest(const site *s, parameter *values, expected *want)
{
    (void)s;
    values[4] = number_parameter(50);
    want->rows = 50;
}

static void newest_common(const site *s, parameter *values, expected *want)
{
    newest(s, values, want);
    values[0] = text_parameter(COMMON_NAME);
}

static void newest_rare(const site *s, parameter *values, expected *want)
{
    newest(s, values, want);
    values[0] = text_parameter(RARE_NAME);
    want->rows = RARE_SESSIONS;
}

static void newest_running(const site *s, parameter *values, expected *want)
{
    (void)s;
    values[1] = text_parameter("running");
    values[4] = number_parameter(5);
    want->rows = 5;
}

static void of_run(const site *s, parameter *values, expected *want)
{
    newest(s, values, want);
    values[2] = text_parameter(any(s)->run);
    want->rows = GROUP;
}

static void before(const site *s, parameter *values, expected *want)
{
    /* One of eight times, all over the ledger, 50 sessions or more after the
     * beginning of a cycle. */
    long place = pick(8);
    long cycle = place * (s->events / CYCLE) / 8;
    newest(s, values, want);
    values[3] = number_parameter(FIRST_TS + cycle * CYCLE + LARGE + (13 + place) * GROUP * SMALL);
}

static void delete_session(const site *s, parameter *values, expected *want)
{
    set_session(any(s), values);
    want->first = SMALL;
}

static void environments(const site *s, parameter *values, expected *want)
{
    (void)s, (void)values;
    want->rows = ENVIRONMENTS;
}

static void environment(const site *s, parameter *values, expected *want)
{
    (void)s, (void)want;
    values[0] = text_parameter("env-7");
}

static void save(const site *s, parameter *values, expected *want)
{
    (void)s, (void)want;
    values[0] = text_parameter("env-7");
    values[1] = text_parameter("snap-7");
    values[2] = text_parameter("image-7");
    values[3] = number_parameter(FIRST_TS);
}

static void delete_environment(const site *s, parameter *values, expected *want)
{
    environment(s, values, want);
    want->first = 1;
}

static void nothing_migrated(const site *s, parameter *values, expected *want)
{
    (void)s, (void)values;
    want->first = 0;
}

static void append(const site *s, parameter *values, expected *want)
{
    static char payload[PAYLOAD_ROOM];

    (void)want;
    set_session(any(s), values);
    output_payload(payload, 19, pick(100000));
    values[2] = text_parameter("exec.output");
    values[3] = text_parameter(payload);
}

static void insert(const site *s, parameter *values, expected *want)
{
    append(s, values, want);
    values[4] = number_parameter(19);
    values[5] = number_parameter(2 * FIRST_TS);
}

static void batch(const site *s, parameter *values, expected *want)
{
    values[0] = text_parameter(s->batches[pick(SAMPLE)]);
    want->first = BATCH;
}

#define APPEND "SELECT alineo_append($1, $2, $3, $4)"
#define INSERT                                                                                     \
    "INSERT INTO alineo_events (name, sandbox_id, event, payload, step_idx, ts)"                   \
    " VALUES ($1, $2, $3, $4, $5, $6) RETURNING id"
#define SELECT                                                                                     \
    "SELECT id, sandbox_id, name, step_idx, branch, event, payload, error, ts FROM alineo_events"  \
    " WHERE name = $1 AND sandbox_id = $2 ORDER BY ts, id"
#define LIST    "SELECT * FROM alineo_list_sandboxes($1, $2, $3, $4, $5)"
#define DETAILS "SELECT s.exec_count, s.* FROM alineo_get_sandbox($1, $2) AS s"

/* clang-format off */
const call scale_calls[] = {
    {"`SELECT 1`, for comparison", "SELECT 1", 0, NULL, ON_ITS_OWN, 0},
    {"`alineo_replay`, 1,000 events", "SELECT * FROM alineo_replay($1, $2)",
     2, replay, ON_ITS_OWN, 0},
    {"the same rows by `SELECT`, for comparison", SELECT, 2, replay, ON_ITS_OWN, 0},
    {"`alineo_replay`, 20,000 events", "SELECT * FROM alineo_replay($1, $2)",
     2, replay_large, ON_ITS_OWN, 0},
    {"`alineo_replay_cache`, 1,000 events", "SELECT * FROM alineo_replay_cache($1, $2)",
     2, cache, ON_ITS_OWN, 0},
    {"`alineo_execs`, 1,000 events", "SELECT * FROM alineo_execs($1, $2)",
     2, execs, ON_ITS_OWN, 0},
    {"`alineo_resume`, 1,000 events", "SELECT alineo_resume($1)",
     1, resume, ON_ITS_OWN, 2},
    {"`alineo_resume` with a tag, 1,000 events", "SELECT alineo_resume($1, $2)",
     2, resume_tag, ON_ITS_OWN, 2},
    {"`alineo_resume`, 20,000 events", "SELECT alineo_resume($1)",
     1, resume_large, ON_ITS_OWN, 0},
    {"`alineo_output` of an exec", "SELECT alineo_output($1, $2, $3)",
     3, output, ON_ITS_OWN, 0},
    {"`alineo_last_checkpoint`", "SELECT * FROM alineo_last_checkpoint($1, $2)",
     2, one_of_session, ON_ITS_OWN, 2},
    {"`alineo_list_checkpoints`", "SELECT * FROM alineo_list_checkpoints($1, $2)",
     2, checkpoints, ON_ITS_OWN, 2},
    {"`alineo_get_sandbox`", DETAILS, 2, details, ON_ITS_OWN, 2},
    {"`alineo_list_sandboxes`, newest 50", LIST, 5, newest, ON_ITS_OWN, 2},
    {"the same, of a common name", LIST, 5, newest_common, ON_ITS_OWN, 2},
    {"the same, of a rare name (3 sessions)", LIST, 5, newest_rare, ON_ITS_OWN, 2},
    {"the same, before a time", LIST, 5, before, ON_ITS_OWN, 2},
    {"newest 5 of status running", LIST, 5, newest_running, ON_ITS_OWN, 2},
    {"newest 50 of a run id (4 sessions)", LIST, 5, of_run, ON_ITS_OWN, 0},
    {"`alineo_get_environment`", "SELECT * FROM alineo_get_environment($1)",
     1, environment, ON_ITS_OWN, 0},
    {"`alineo_list_environments`, 20", "SELECT * FROM alineo_list_environments()",
     0, environments, ON_ITS_OWN, 0},
    {"opening and a first `alineo_get_sandbox`", DETAILS, 2, details, OPENING, 2},
    {"`alineo_init` on a ledger that is ready", "SELECT alineo_init()",
     0, nothing_migrated, ON_ITS_OWN, 0},
    {"`alineo_delete_sandbox`, 1,000 events", "SELECT alineo_delete_sandbox($1, $2)",
     2, delete_session, UNDONE, 0},
    {"`alineo_save_environment`", "SELECT alineo_save_environment($1, $2, $3, $4)",
     4, save, ON_ITS_OWN, 0},
    {"`alineo_delete_environment`", "SELECT alineo_delete_environment($1)",
     1, delete_environment, UNDONE, 0},
    {"`alineo_append`", APPEND, 4, append, ON_ITS_OWN, 0},
    {"the same row by `INSERT`, for comparison", INSERT, 6, insert, ON_ITS_OWN, 0},
    {"opening and a first `alineo_append`", APPEND, 4, append, OPENING, 2},
    {"`alineo_append_batch`, 1,000 events", "SELECT alineo_append_batch($1)",
     1, batch, ON_ITS_OWN, 0},
};
/* clang-format on */
const int scale_call_count = sizeof scale_calls / sizeof scale_calls[0];

/* So many events more of a session, as an array of entries. */
static char *batch_for(const session *of)
{
    char *text = allocate((size_t)BATCH * ROW_ROOM), *at = text;

    for (long i = 0; i < BATCH; i++) {
        event e = {.name = of->name, .event = "exec.output", .step = 19, .ts = FIRST_TS + i};
        snprintf(e.sandbox, sizeof e.sandbox, "%s", of->sandbox);
        e.payload_len = (size_t)output_payload(e.payload, e.step, i);
        *at++ = i == 0 ? '[' : ',';
        at += event_entry(at, &e);
    }
    *at++ = ']';
    *at = '\0';
    return text;
}

void site_begin(site *s)
{
    const engine *e = s->engine;
    long cycles = s->events / CYCLE;
    void *statement = e->prepare(s->db, "SELECT * FROM alineo_replay($1, $2)", 2);
    void *milestones = e->prepare(s->db, DETAILS, 2);
    char sql[128];
    parameter values[2];

    for (long i = 0; i < SAMPLE; i++) {
        /* Each of another group, so that as many pages are read at every size. */
        s->sample[i] = small_session(i * cycles / SAMPLE * SMALLS + i * GROUP + i % GROUP);
        s->batches[i] = batch_for(&s->sample[i]);
        set_session(&s->sample[i], values);
        if (e->call(statement, values).rows != SMALL || e->call(milestones, values).rows != 1)
            fail("ledger", "a session is not as it was built");
    }
    s->large = session_of(cycles / 2 * (SMALLS + 1));
    set_session(&s->large, values);
    if (e->call(statement, values).rows != LARGE)
        fail("ledger", "the large session is not as it was built");
    e->finish(statement);
    e->finish(milestones);
    for (int i = 0; i < ENVIRONMENTS; i++) {
        snprintf(sql, sizeof sql, "SELECT alineo_save_environment('env-%d', 's', 'i', %ld)", i,
                 FIRST_TS + i);
        e->run(s->db, sql);
    }
}

void site_end(site *s)
{
    for (int i = 0; i < SAMPLE; i++)
        free(s->batches[i]);
}
