/*
 * memory.c - how much memory the calls take that return or are given much.
 * Usage: memory EXTENSION ENGINE...
 *
 * Each call runs in a process of its own: on SQLite this program's, on
 * PostgreSQL a backend's. What counts is the highest that its memory rose above
 * what it had before the call, after the same call on a small session.
 *
 * What is given counts once as the caller's. PostgreSQL's protocol makes two
 * copies of a parameter before a function sees it, so there what a plain SELECT
 * of the same parameter takes is the base line, plus one copy.
 */
#include "engine.h"
#include "events.h"
#include "measure.h"
#include "on_sqlite.h"
#include "watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNKS = 200000, SHORT = 20000, CHUNK_TEXT = 500, BATCH = 1000 };
static const size_t input_size = 64 << 20;

/* What a call is about: a session by its sandbox_id, or input of a shape. */
typedef enum about { SMALLEST, SHORTER, MANY_EXECS, ONE_EXEC, LINES, ARRAY } about;

static const char *const sandboxes[] = {"sb-smallest", "sb-shorter", "sb-many", "sb-one"};

typedef struct test {
    const char *what;
    const char *sqlite, *postgres; /* $1 is the name or the input, $2 the sandbox_id */
    const char *plain;             /* on PostgreSQL, what is the base line */
    int parameters;
    about about;
    double target; /* times the bytes returned or given; 0: none */
} test;

#define REPLAY "SELECT * FROM alineo_replay($1, $2)"
#define CACHE  "SELECT * FROM alineo_replay_cache($1, $2)"
/* Made and looked at in the server, whose protocol copies what it sends, as an
 * aggregate copies its first row. */
#define CACHE_INSIDE  "SELECT pg_column_size(stdout) FROM alineo_replay_cache($1, $2)"
#define ASKED         " FROM (SELECT CAST($1 AS text) AS name, CAST($2 AS text) AS id) AS asked"
#define RESUME        "SELECT alineo_resume(id)" ASKED
#define RESUME_INSIDE "SELECT pg_column_size(alineo_resume(id))" ASKED
#define OUTPUT        "SELECT alineo_output($1, $2, 1)"
#define OUTPUT_INSIDE "SELECT pg_column_size(alineo_output($1, $2, 1))"
#define APPEND        "SELECT alineo_append_batch($1)"
/* Not known before it runs, so that the plan has a copy of $1 as ours has. */
#define LENGTH "SELECT pg_column_size(CAST($1 AS text))"

/* The first two are held against each other: what is constant does not grow. */
static const test tests[] = {
    {"`alineo_replay`, 10 MB", REPLAY, REPLAY, NULL, 2, SHORTER, 0},
    {"`alineo_replay`, 100 MB", REPLAY, REPLAY, NULL, 2, MANY_EXECS, 0},
    {"`alineo_replay_cache`, 200 execs", CACHE, CACHE_INSIDE, NULL, 2, MANY_EXECS, 2.5},
    {"`alineo_replay_cache`, one exec", CACHE, CACHE_INSIDE, NULL, 2, ONE_EXEC, 2.5},
    {"the same, sent to the client", NULL, CACHE, NULL, 2, ONE_EXEC, 0},
    {"`alineo_resume`, 200 execs", RESUME, RESUME_INSIDE, NULL, 2, MANY_EXECS, 2.5},
    {"`alineo_resume`, one exec", RESUME, RESUME_INSIDE, NULL, 2, ONE_EXEC, 2.5},
    {"the same, sent to the client", NULL, RESUME, NULL, 2, ONE_EXEC, 0},
    {"`alineo_output`", OUTPUT, OUTPUT_INSIDE, NULL, 2, ONE_EXEC, 0},
    {"`alineo_append_batch`, JSON Lines", APPEND, APPEND, LENGTH, 1, LINES, 2},
    {"`alineo_append_batch`, an array", APPEND, APPEND, LENGTH, 1, ARRAY, 2},
};
enum { TESTS = sizeof tests / sizeof tests[0] };

/* --- the events ------------------------------------------------------------------ */

static size_t entry_of(char *to, const char *sandbox, const char *kind, long seq, long i)
{
    char *at = to + sprintf(to,
                            "{\"ts\":%ld,\"name\":\"bench\",\"sandboxId\":\"%s\",\"event\":\"%s\","
                            "\"payload\":{\"seq\":%ld,\"exitCode\":0,\"snapshotId\":\"s\","
                            "\"type\":\"stdout\",\"text\":\"",
                            FIRST_TS + i, sandbox, kind, seq);

    for (int k = 0; k < CHUNK_TEXT - 1; k++)
        *at++ = (char)('a' + (i * 7 + k * k) % 26);
    return (size_t)(at - to) + (size_t)sprintf(at, "\\n\"}}");
}

/* A session of so many chunks of output, divided among so many execs. */
static void build(const engine *e, void *db, const char *sandbox, long chunks, long execs)
{
    void *append = e->prepare(db, APPEND, 1);
    char *text = allocate((size_t)(BATCH + 3) * (ROW_ROOM + CHUNK_TEXT));
    parameter value = text_parameter(text);
    long each = chunks / execs, done = 0;

    for (long i = 0; i < chunks;) {
        char *at = text;
        if (i == 0)
            at += entry_of(at, sandbox, "sandbox.created", 0, 0), *at++ = '\n';
        for (long k = 0; k < BATCH && i < chunks; k++, i++) {
            at += entry_of(at, sandbox, "exec.output", 1 + i / each, i), *at++ = '\n';
            if ((i + 1) % each == 0)
                at += entry_of(at, sandbox, "exec.completed", 1 + i / each, i), *at++ = '\n';
        }
        if (i == chunks)
            at += entry_of(at, sandbox, "sandbox.checkpoint_created", 0, i);
        *at = '\0';
        done += e->call(append, &value).first;
    }
    if (done != chunks + execs + 2)
        fail(sandbox, "not all of its events were appended");
    e->finish(append);
    free(text);
}

static char *make_input(about shape, long *entries)
{
    char *text = allocate(input_size + 2 * ROW_ROOM), *at = text;

    *entries = 0;
    if (shape == ARRAY)
        *at++ = '[';
    while ((size_t)(at - text) < input_size) {
        if (*entries > 0)
            *at++ = shape == ARRAY ? ',' : '\n';
        at += entry_of(at, "sb-batch", "exec.output", 1, (*entries)++);
    }
    if (shape == ARRAY)
        *at++ = ']';
    *at = '\0';
    return text;
}

/* --- one call, in a process of its own ---------------------------------------------- */

static long peak_of(const engine *e, void *db, void *statement, const parameter *values,
                    answer *got)
{
    watch w;

    watch_begin(&w, e->process(db));
    *got = e->call(statement, values);
    return watch_end(&w);
}

static void warm(const engine *e, void *statement, bool writes)
{
    char entry[ROW_ROOM];
    parameter values[2] = {text_parameter("bench"), text_parameter(sandboxes[SMALLEST])};

    entry_of(entry, "sb-warm", "exec.output", 1, 0);
    if (writes)
        values[0] = text_parameter(entry);
    (void)e->call(statement, values);
}

/* Prints the peak in KiB and the bytes returned or given. */
static void run_test(const engine *e, const test *t)
{
    bool writes = t->about >= LINES, plain = writes && e == &engine_postgres;
    void *db = e->open();
    void *statement = e->prepare(db, e == &engine_sqlite ? t->sqlite : t->postgres, t->parameters);
    parameter values[2] = {text_parameter("bench")};
    long entries = 0, base;
    answer got;

    warm(e, statement, writes);
    base = watch_now(e->process(db));
    if (!writes) {
        values[1] = text_parameter(sandboxes[t->about]);
    } else {
        char *input = make_input(t->about, &entries);
        values[0] = text_parameter(input);
        if (plain) {
            void *other = e->open();
            void *length = e->prepare(other, t->plain, 1);
            warm(e, length, true);
            long before = watch_now(e->process(other));
            base += peak_of(e, other, length, values, &got) - before;
            base -= (long)(strlen(input) / 1024);
        }
    }
    long peak = peak_of(e, db, statement, values, &got);
    if (writes && got.first != entries)
        fail(t->what, "not all entries were appended");
    size_t bytes = writes ? strlen(values[0].text) : got.bytes;
    if (!writes && e == &engine_postgres && strstr(t->postgres, "pg_column_size") != NULL)
        bytes = (size_t)got.sum;
    printf("%ld %zu\n", peak - base, bytes);
}

/* --- all of them ------------------------------------------------------------------- */

/* The program again, for a process without a past. */
static void ask_test(const char *program, const char *name, int number, long *kb, size_t *bytes)
{
    char command[4096];

    fflush(stdout);
    snprintf(command, sizeof command, "'%s' '%s' %s %d", program, sqlite_extension, name, number);
    FILE *child = popen(command, "r");
    if (child == NULL || fscanf(child, "%ld %zu", kb, bytes) != 2 || pclose(child) != 0)
        fail(tests[number].what, "could not be measured");
}

static void print_row(const test *t, long kb, size_t bytes, long constant)
{
    double times = (double)kb * 1024 / (double)bytes;

    printf("| %s | %.1f | %.1f |", t->what, (double)bytes / 1e6, (double)kb * 1024 / 1e6);
    if (constant >= 0)
        printf(" | constant: %s |\n", kb <= constant + 2048 ? "met" : "**missed**");
    else if (t->target > 0)
        printf(" %.2f | %.1f: %s |\n", times, t->target, times <= t->target ? "met" : "**missed**");
    else
        printf(" %.2f | |\n", times);
    fflush(stdout);
}

static void bench(const char *program, const char *name, const engine *e)
{
    long kb, constant = -1;
    size_t bytes;

    e->create();
    e->load(0);
    void *db = e->open();
    build(e, db, sandboxes[SMALLEST], 10, 1);
    build(e, db, sandboxes[SHORTER], SHORT, 20);
    build(e, db, sandboxes[MANY_EXECS], CHUNKS, 200);
    build(e, db, sandboxes[ONE_EXEC], CHUNKS, 1);
    if (e == &engine_postgres)
        e->run(db, "VACUUM ANALYZE alineo_events");
    e->close(db);
    printf("%s %s, peak memory\n\n"
           "| call | MB returned or given | MB of memory | times | target |\n"
           "| --- | ---: | ---: | ---: | --- |\n",
           e->name, e->version());
    for (int i = 0; i < TESTS; i++) {
        if ((e == &engine_sqlite ? tests[i].sqlite : tests[i].postgres) == NULL)
            continue;
        ask_test(program, name, i, &kb, &bytes);
        print_row(&tests[i], kb, bytes, i == 1 ? constant : -1);
        if (i == 0)
            constant = kb;
    }
    printf("\n");
    e->drop();
}

int main(int argc, char **argv)
{
    if (argc < 3)
        fail("usage", "memory EXTENSION sqlite|postgres...");
    sqlite_extension = argv[1];
    for (int i = 2; i < argc; i++) {
        const engine *e = engine_of(argv[i]);
        if (e == NULL)
            fail(argv[i], "no such engine");
        if (argc == 4 && strspn(argv[3], "0123456789") > 0) {
            run_test(e, &tests[atoi(argv[3]) % TESTS]);
            return 0;
        }
        bench(argv[0], argv[i], e);
    }
    return 0;
}
