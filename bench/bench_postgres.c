/*
 * bench_postgres.c - the ledger's speed on PostgreSQL, as ratios against plain
 * SQL over the same rows in one run. Usage: bench_postgres [EVENTS [PART]]
 * where PART is appends, batches or reads. It uses the server that libpq's
 * environment names, in a database that it makes and drops.
 *
 * What is compared runs in turn, round by round, so that what else the machine
 * does meets both. A ratio is the median of the rounds; beside it stand the
 * lowest and the highest.
 */
#include <libpq-fe.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CLIENTS = 4, BATCH = 1000, PAYLOAD_ROOM = 512, ROW_ROOM = 1024 };

/* Single appends are the shortest work, and take the most rounds. */
enum { ROUNDS = 9, APPEND_ROUNDS = 25 };
static const double append_seconds = 0.4;

#define DATABASE  "alineo_bench"
#define FIRST_TS  1795959628473L
#define DROP      "DROP DATABASE IF EXISTS " DATABASE
#define CREATE    "CREATE DATABASE " DATABASE " TEMPLATE template0 ENCODING 'UTF8'"
#define SESSION   "name = 'bench' AND sandbox_id = 'sb-read'"
#define IN_ORDER  "(SELECT payload FROM alineo_events WHERE " SESSION " ORDER BY ts, id) AS e"
#define COPY_INTO "COPY alineo_events (name, sandbox_id, event, payload, step_idx, ts) FROM STDIN"

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void *allocate(size_t size)
{
    void *block = malloc(size);

    if (block == NULL) {
        fprintf(stderr, "bench: out of memory\n");
        exit(1);
    }
    return block;
}

static void check(int ok, PGconn *db, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "bench: %s: %s\n", what, PQerrorMessage(db));
    exit(1);
}

/* Ends a command; what it returned is freed. */
static void done(PGconn *db, PGresult *result, const char *what)
{
    ExecStatusType status = PQresultStatus(result);

    check(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, db, what);
    PQclear(result);
}

static void run(PGconn *db, const char *sql)
{
    done(db, PQexec(db, sql), sql);
}

/* The first value of the answer, an integer. */
static long ask(PGconn *db, const char *sql)
{
    PGresult *result = PQexec(db, sql);

    check(PQresultStatus(result) == PGRES_TUPLES_OK, db, sql);
    long answer = atol(PQgetvalue(result, 0, 0));
    PQclear(result);
    return answer;
}

static PGconn *open_database(const char *database)
{
    const char *const words[] = {"dbname", "client_encoding", "application_name", NULL};
    const char *const values[] = {database, "UTF8", "alineo bench", NULL};
    PGconn *db = PQconnectdbParams(words, values, 0);

    check(PQstatus(db) == CONNECTION_OK, db, "cannot connect");
    run(db, "SET client_min_messages = warning");
    /* The one in which both sides of a comparison are alike, and steady. */
    run(db, "SET max_parallel_workers_per_gather = 0");
    run(db, "SET jit = off");
    return db;
}

static PGconn *open_ledger(void)
{
    return open_database(DATABASE);
}

/* Empties the ledger, so that each run writes the same indexes. */
static void fresh(PGconn *db)
{
    run(db, "TRUNCATE alineo_events");
    run(db, "CHECKPOINT");
}

/* --- ratios ------------------------------------------------------------------ */

typedef struct series {
    double values[APPEND_ROUNDS];
    int count;
} series;

static void note(series *s, double value)
{
    s->values[s->count++] = value;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double median(series *s)
{
    qsort(s->values, (size_t)s->count, sizeof s->values[0], compare);
    return (s->values[(s->count - 1) / 2] + s->values[s->count / 2]) / 2;
}

/* Prints the ratio of two series measured in turn; target 0: there is none. */
static void report(const char *what, const series *above, const series *below, const char *meaning,
                   double target)
{
    series ratios = {.count = 0};
    char aim[32] = "";

    for (int i = 0; i < above->count; i++)
        note(&ratios, above->values[i] / below->values[i]);
    double middle = median(&ratios);
    if (target > 0)
        snprintf(aim, sizeof aim, ", target %.2f", target);
    printf("  %-44s %5.2f  %s (%.2f to %.2f%s)\n", what, middle, meaning, ratios.values[0],
           ratios.values[ratios.count - 1], aim);
    fflush(stdout);
}

static double middle_of(const series *s)
{
    series copy = *s;

    return median(&copy);
}

/* --- events ------------------------------------------------------------------ */

/* The payload of the i-th event: about 83 bytes of output in each. */
static int payload_of(char *to, long i)
{
    return snprintf(
        to, PAYLOAD_ROOM,
        "{\"seq\":%ld,\"type\":\"stdout\",\"text\":\"[%7ld] compiling module %5ld of the "
        "project, nothing out of the ordinary here ok\\n\",\"timestamp\":%ld}",
        1 + i / 1000, i, i % 99991, FIRST_TS + i);
}

/* The same as a line of COPY, whose text format has backslashes doubled. */
static size_t copy_line(char *to, const char *sandbox, long i)
{
    char payload[PAYLOAD_ROOM];
    char *at = to + sprintf(to, "bench\t%s\texec.output\t", sandbox);

    payload_of(payload, i);
    for (const char *from = payload; *from != '\0'; from++) {
        if (*from == '\\')
            *at++ = '\\';
        *at++ = *from;
    }
    at += sprintf(at, "\t%ld\t%ld\n", 1 + i / 1000, FIRST_TS + i);
    return (size_t)(at - to);
}

/* The same as an entry of alineo_append_batch. */
static size_t entry(char *to, const char *sandbox, long i)
{
    char payload[PAYLOAD_ROOM];

    payload_of(payload, i);
    return (size_t)sprintf(to,
                           "{\"ts\":%ld,\"name\":\"bench\",\"sandboxId\":\"%s\",\"stepIndex\":%ld,"
                           "\"event\":\"exec.output\",\"payload\":%s}",
                           FIRST_TS + i, sandbox, 1 + i / 1000, payload);
}

/* --- single appends ------------------------------------------------------------ */

typedef enum way { PLAIN, APPEND, APPEND_SHORT, RETURNING, LATEST, WAYS } way;

#define INSERT                                                                                     \
    "INSERT INTO alineo_events (name, sandbox_id, event, payload, step_idx, branch, error, ts)"    \
    " VALUES ($1, $2, $3, $4, $5, $6, $7, "

/* All write the same rows. Where ts and step_idx are left off, the INSERT that
 * it is held against still has them from its client. The last two do in SQL
 * what the function does beside inserting. */
static const struct {
    const char *name, *sql;
    int parameters;
} ways[WAYS] = {
    [PLAIN] = {"plain", INSERT "$8)", 8},
    [APPEND] = {"append", "SELECT alineo_append($1, $2, $3, $4, $5, $6, $7, $8)", 8},
    [APPEND_SHORT] = {"append_short", "SELECT alineo_append($1, $2, $3, $4)", 4},
    [RETURNING] = {"returning", INSERT "$8) RETURNING id", 8},
    [LATEST] = {"latest",
                INSERT "greatest($8, (SELECT e.ts FROM alineo_events e WHERE e.name = $1"
                       " AND e.sandbox_id = $2 AND e.ts > $8 ORDER BY e.ts DESC LIMIT 1)))"
                       " RETURNING id",
                8},
};

typedef struct client {
    pthread_t thread;
    PGconn *db;
    way how;
    double until;
    char sandbox[32];
    long appended;
} client;

static void *append_events(void *argument)
{
    client *c = argument;
    char payload[PAYLOAD_ROOM], step[24], ts[24];
    const char *const values[] = {"bench", c->sandbox, "exec.output", payload,
                                  step,    NULL,       NULL,          ts};

    for (c->appended = 0; seconds() < c->until; c->appended++) {
        long i = c->appended;
        payload_of(payload, i);
        snprintf(step, sizeof step, "%ld", 1 + i / 1000);
        snprintf(ts, sizeof ts, "%ld", FIRST_TS + i);
        done(c->db,
             PQexecPrepared(c->db, ways[c->how].name, ways[c->how].parameters, values, NULL, NULL,
                            0),
             ways[c->how].sql);
    }
    return NULL;
}

/* Transactions a second of all clients together. */
static double append_rate(client *clients, way how)
{
    double begin = seconds();
    long appended = 0;

    for (int i = 0; i < CLIENTS; i++) {
        clients[i].how = how;
        snprintf(clients[i].sandbox, sizeof clients[i].sandbox, "sb-%d-%s", i, ways[how].name);
        clients[i].until = begin + append_seconds;
        check(pthread_create(&clients[i].thread, NULL, append_events, &clients[i]) == 0,
              clients[i].db, "cannot start a thread");
    }
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i].thread, NULL);
        appended += clients[i].appended;
    }
    return (double)appended / (seconds() - begin);
}

static void bench_appends_with(PGconn *db, const char *setting)
{
    client clients[CLIENTS] = {0};
    series rates[WAYS] = {0};

    for (int i = 0; i < CLIENTS; i++) {
        client *c = &clients[i];
        c->db = open_ledger();
        run(c->db, setting);
        for (int how = 0; how < WAYS; how++)
            done(c->db, PQprepare(c->db, ways[how].name, ways[how].sql, 0, NULL), ways[how].sql);
    }
    for (int round = 0; round < APPEND_ROUNDS; round++) {
        fresh(db);
        for (int turn = 0; turn < WAYS; turn++) {
            int how = (round + turn) % WAYS;
            note(&rates[how], append_rate(clients, (way)how));
        }
    }
    printf(
        "single appends, %d clients, each its own transaction, %s (plain INSERT %.0f a second)\n",
        CLIENTS, setting + strlen("SET "), middle_of(&rates[PLAIN]));
    report("alineo_append, all arguments", &rates[APPEND], &rates[PLAIN], "of its rate", 0.95);
    report("alineo_append, ts and step_idx left off", &rates[APPEND_SHORT], &rates[PLAIN],
           "of its rate", 0.95);
    report("for comparison: INSERT RETURNING id", &rates[RETURNING], &rates[PLAIN], "of its rate",
           0);
    report("that, and never below the latest ts", &rates[LATEST], &rates[PLAIN], "of its rate", 0);
    for (int i = 0; i < CLIENTS; i++)
        PQfinish(clients[i].db);
}

static void bench_appends(PGconn *db)
{
    bench_appends_with(db, "SET synchronous_commit = on");
    bench_appends_with(db, "SET synchronous_commit = off");
}

/* --- batches ------------------------------------------------------------------- */

typedef struct text {
    char *at;
    size_t len;
} text;

/* The events first .. first + count - 1, as lines or as an array of entries. */
static text lines_of(const char *sandbox, long first, long count)
{
    text made = {allocate((size_t)count * ROW_ROOM), 0};

    for (long i = first; i < first + count; i++)
        made.len += copy_line(made.at + made.len, sandbox, i);
    return made;
}

static text entries_of(long first, long count)
{
    text made = {allocate((size_t)count * ROW_ROOM), 0};

    for (long i = first; i < first + count; i++) {
        made.at[made.len++] = i == first ? '[' : ',';
        made.len += entry(made.at + made.len, "sb-write", i);
    }
    made.at[made.len++] = ']';
    made.at[made.len] = '\0';
    return made;
}

static void copy(PGconn *db, text lines)
{
    PGresult *result = PQexec(db, COPY_INTO);

    check(PQresultStatus(result) == PGRES_COPY_IN, db, COPY_INTO);
    PQclear(result);
    for (size_t at = 0; at < lines.len;) {
        size_t part = lines.len - at < 65536 ? lines.len - at : 65536;
        check(PQputCopyData(db, lines.at + at, (int)part) == 1, db, "COPY");
        at += part;
    }
    check(PQputCopyEnd(db, NULL) == 1, db, "COPY");
    done(db, PQgetResult(db), "COPY");
    while ((result = PQgetResult(db)) != NULL)
        PQclear(result);
}

static void append_batch(PGconn *db, text entries)
{
    const char *const values[] = {entries.at};

    done(db, PQexecPrepared(db, "batch", 1, values, NULL, NULL, 0), "alineo_append_batch");
}

static void bench_batches(PGconn *db, long events)
{
    long calls = events / BATCH;
    text *lines = allocate((size_t)calls * sizeof *lines);
    text *entries = allocate((size_t)calls * sizeof *entries);
    text all = lines_of("sb-write", 0, calls * BATCH);
    series batch = {0}, batches = {0}, copies = {0}, one_copy = {0};

    for (long i = 0; i < calls; i++) {
        lines[i] = lines_of("sb-write", i * BATCH, BATCH);
        entries[i] = entries_of(i * BATCH, BATCH);
    }
    done(db, PQprepare(db, "batch", "SELECT alineo_append_batch($1::text)", 0, NULL), "batch");
    for (int round = 0; round < ROUNDS; round++) {
        fresh(db);
        double begin = seconds();
        copy(db, all);
        note(&one_copy, seconds() - begin);

        fresh(db);
        begin = seconds();
        run(db, "BEGIN");
        for (long i = 0; i < calls; i++)
            append_batch(db, entries[i]);
        run(db, "COMMIT");
        note(&batches, seconds() - begin);

        fresh(db);
        begin = seconds();
        for (long i = 0; i < calls; i++)
            copy(db, lines[i]);
        note(&copies, seconds() - begin);

        fresh(db);
        begin = seconds();
        for (long i = 0; i < calls; i++)
            append_batch(db, entries[i]);
        note(&batch, seconds() - begin);
    }
    printf("batches, %ld events, %d a call (one COPY %.0f rows a second)\n", calls * BATCH, BATCH,
           (double)(calls * BATCH) / middle_of(&one_copy));
    report("alineo_append_batch, in a transaction", &one_copy, &batches, "of one COPY's rate",
           0.80);
    report("alineo_append_batch, each call its own", &copies, &batch,
           "of the rate of COPYs as large", 0.80);
    for (long i = 0; i < calls; i++) {
        free(lines[i].at);
        free(entries[i].at);
    }
    free(lines);
    free(entries);
    free(all.at);
}

/* --- reads --------------------------------------------------------------------- */

/* All that a read gives is made and looked at in the server; only a number goes
 * to the client, whose own work is not what is measured. */
typedef enum read { SUM, CACHE, RESUME, REPLAY, READS } read;

static const char *const read_sql[READS] = {
    "SELECT sum(pg_column_size(payload)) FROM " IN_ORDER,
    "SELECT sum(pg_column_size(stdout)) FROM alineo_replay_cache('bench', 'sb-read')",
    "SELECT pg_column_size(alineo_resume('sb-read'))",
    "SELECT sum(pg_column_size(payload)) FROM alineo_replay('bench', 'sb-read')",
};

/* A session of so many chunks of output, a thousand to an exec. */
static void fill(PGconn *db, long events)
{
    long part = 100 * BATCH;

    fresh(db);
    run(db, "SELECT alineo_append('bench', 'sb-read', 'sandbox.created', '{}', ts => 1)");
    for (long i = 0; i < events; i += part) {
        text lines = lines_of("sb-read", i, events - i < part ? events - i : part);
        copy(db, lines);
        free(lines.at);
    }
    run(db, "INSERT INTO alineo_events (name, sandbox_id, event, payload, step_idx, ts)"
            " SELECT name, sandbox_id, 'exec.completed',"
            " jsonb_build_object('seq', step_idx, 'exitCode', 0), step_idx, 1899999999999"
            " FROM alineo_events WHERE step_idx > 0 GROUP BY name, sandbox_id, step_idx");
    run(db, "SELECT alineo_append('bench', 'sb-read', 'sandbox.checkpoint_created',"
            " '{\"snapshotId\":\"x\"}')");
    run(db, "VACUUM ANALYZE alineo_events");
    run(db, "CHECKPOINT");
}

/* A line of a process's status, in KiB; -1 where the server is not on this
 * machine or not ours to look at. */
static long process_kb(long process, const char *word)
{
    char path[64], line[256];
    long kb = -1;

    snprintf(path, sizeof path, "/proc/%ld/status", process);
    FILE *file = fopen(path, "r");
    while (file != NULL && kb < 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, word, strlen(word)) == 0)
            kb = atol(line + strlen(word) + 1);
    if (file != NULL)
        fclose(file);
    return kb;
}

/* Prints how much memory of its own the backend takes for a read at its peak. */
static void report_memory(const char *what, read how)
{
    PGconn *db = open_ledger();
    long process = ask(db, "SELECT pg_backend_pid()");

    (void)ask(db, read_sql[SUM]); /* maps the shared buffers that it reads */
    long before = process_kb(process, "VmHWM");
    long shared = process_kb(process, "RssShmem");
    (void)ask(db, read_sql[how]);
    long peak = process_kb(process, "VmHWM") - (process_kb(process, "RssShmem") - shared);
    if (before >= 0 && shared >= 0)
        printf("  %-44s %5ld  MiB more than that sum needs\n", what, (peak - before) / 1024);
    PQfinish(db);
}

static void bench_reads(PGconn *db, long events)
{
    series took[READS] = {0};

    fill(db, events);
    for (int how = 0; how < READS; how++)
        (void)ask(db, read_sql[how]);
    for (int round = 0; round < ROUNDS; round++)
        for (int how = 0; how < READS; how++) {
            double begin = seconds();
            (void)ask(db, read_sql[how]);
            note(&took[how], seconds() - begin);
        }
    printf("reads, a session of %ld events, %ld MiB of output, looked at in the server"
           " (sum(pg_column_size(payload)) takes %.0f ms)\n",
           events, ask(db, read_sql[CACHE]) >> 20, middle_of(&took[SUM]) * 1e3);
    report("alineo_replay_cache", &took[CACHE], &took[SUM], "of its time", 2.0);
    report("alineo_resume", &took[RESUME], &took[SUM], "of its time", 2.5);
    report("alineo_replay", &took[REPLAY], &took[SUM], "of its time", 0);
    report_memory("alineo_replay_cache, peak memory", CACHE);
    report_memory("alineo_resume, peak memory", RESUME);
    report_memory("alineo_replay, peak memory", REPLAY);
}

/* --- all of it ------------------------------------------------------------------- */

static void report_settings(PGconn *db)
{
    PGresult *result = PQexec(
        db,
        "SELECT string_agg(name || ' = ' || current_setting(name), ', ' ORDER BY name)"
        " FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'jit', 'max_wal_size',"
        " 'max_parallel_workers_per_gather', 'shared_buffers', 'synchronous_commit', 'work_mem')");

    check(PQresultStatus(result) == PGRES_TUPLES_OK, db, "settings");
    printf("PostgreSQL %s; %s\n", PQparameterStatus(db, "server_version"),
           PQgetvalue(result, 0, 0));
    PQclear(result);
}

int main(int argc, char **argv)
{
    long events = argc > 1 ? atol(argv[1]) : 1000000;
    const char *part = argc > 2 ? argv[2] : "";
    PGconn *server = open_database("postgres");

    run(server, DROP);
    run(server, CREATE);
    PGconn *db = open_ledger();
    run(db, "CREATE EXTENSION alineo_ledger");
    run(db, "SELECT alineo_init()");
    /* Neither side of a comparison shall meet it and the other not. */
    run(db, "ALTER TABLE alineo_events SET (autovacuum_enabled = off)");
    report_settings(db);
    if (*part == '\0' || strcmp(part, "appends") == 0)
        bench_appends(db);
    if (*part == '\0' || strcmp(part, "batches") == 0)
        bench_batches(db, events / 10);
    if (*part == '\0' || strcmp(part, "reads") == 0)
        bench_reads(db, events);
    PQfinish(db);
    run(server, DROP);
    PQfinish(server);
    return 0;
}
