/*
 * indexes.c - what the partial indexes add to an append of exec.output, which is
 * in none of them: only their predicates are evaluated.
 * Usage: indexes EXTENSION ENGINE...
 *
 * Two ledgers, one of them without the indexes, take the same appends in turn,
 * some hundred at a time. What the indexes add is work of the processor, so it is
 * the difference of the processor's time that is given as a share of the time
 * that an append takes without them. The best turn of each counts: what else the
 * machine does only ever makes a turn slower.
 */
#include "measure.h"
#include "on_postgres.h"
#include "on_sqlite.h"
#include "events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEDGERS = 2, ENTRIES = 1000, SESSIONS = 20 };

/* A way to append: how many turns, of how many calls, in how many transactions. */
typedef struct way {
    const char *what;
    bool durable, one_transaction, batch;
    int turns, calls;
} way;

static const way ways[] = {
    {"each append durable", true, false, false, 30, 50},
    {"each its own transaction, not waiting for the disk", false, false, false, 300, 200},
    {"many in one transaction", false, true, false, 300, 500},
    {"`alineo_append_batch` of 1,000", false, false, true, 200, 2},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

/* An engine as far as it is needed here. */
typedef struct side {
    const char *name;
    void (*begin)(void); /* both ledgers, the indexes in the first alone */
    void (*set)(int ledger, const way *w);
    void (*run)(int ledger, const char *sql);
    void (*append)(int ledger, const char *sandbox, const char *payload);
    void (*append_batch)(int ledger, const char *entries);
    long (*count)(int ledger);
    long (*process)(int ledger); /* that does the work, 0: this one */
    void (*end)(void);
} side;

#define APPEND "SELECT alineo_append('bench', $1, 'exec.output', $2)"
#define BATCH  "SELECT alineo_append_batch($1)"
#define COUNT  "SELECT count(*) FROM alineo_events"

/* --- SQLite ------------------------------------------------------------------------ */

#define PARTIAL_SQLITE                                                                             \
    "SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'alineo_events'"       \
    " AND sql LIKE '% WHERE %'"

static struct {
    char file[4096];
    sqlite3 *db;
    sqlite3_stmt *append, *batch;
} files[LEDGERS];

static void drop_sqlite(sqlite3 *db)
{
    while (sqlite_ask(db, PARTIAL_SQLITE) > 0) {
        char *text = NULL;
        sqlite3_stmt *name = sqlite_prepare(
            db, "SELECT 'DROP INDEX ' || name FROM sqlite_schema WHERE type = 'index' AND"
                " tbl_name = 'alineo_events' AND sql LIKE '% WHERE %'");
        sqlite_check(sqlite3_step(name) == SQLITE_ROW, db, "index");
        text = sqlite3_mprintf("%s", sqlite3_column_text(name, 0));
        sqlite3_finalize(name);
        sqlite_run(db, text);
        sqlite3_free(text);
    }
}

static void begin_sqlite(void)
{
    const char *folder = getenv("TMPDIR");

    for (int i = 0; i < LEDGERS; i++) {
        snprintf(files[i].file, sizeof files[i].file, "%s/indexes-%d.db",
                 folder != NULL ? folder : "/tmp", i);
        sqlite_remove(files[i].file);
        files[i].db = sqlite_open(files[i].file);
        sqlite_run(files[i].db, "SELECT alineo_init()");
        if (sqlite_ask(files[i].db, PARTIAL_SQLITE) == 0)
            fail("indexes", "there are none to drop");
        /* This connection has seen to the schema and does not do so again. */
        if (i == 1)
            drop_sqlite(files[i].db);
        files[i].append = sqlite_prepare(files[i].db, APPEND);
        files[i].batch = sqlite_prepare(files[i].db, BATCH);
    }
}

static void set_sqlite(int ledger, const way *w)
{
    sqlite_run(files[ledger].db,
               w->durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = OFF");
}

static void run_sqlite(int ledger, const char *sql)
{
    sqlite_run(files[ledger].db, sql);
}

static void append_sqlite(int ledger, const char *sandbox, const char *payload)
{
    sqlite3_bind_text(files[ledger].append, 1, sandbox, -1, SQLITE_STATIC);
    sqlite3_bind_text(files[ledger].append, 2, payload, -1, SQLITE_STATIC);
    sqlite_drain(files[ledger].db, files[ledger].append);
}

static void append_batch_sqlite(int ledger, const char *entries)
{
    sqlite3_bind_text(files[ledger].batch, 1, entries, -1, SQLITE_STATIC);
    sqlite_drain(files[ledger].db, files[ledger].batch);
}

static long count_sqlite(int ledger)
{
    return sqlite_ask(files[ledger].db, COUNT);
}

static long process_sqlite(int ledger)
{
    (void)ledger;
    return 0;
}

static void end_sqlite(void)
{
    if (sqlite_ask(files[0].db, PARTIAL_SQLITE) == 0 || sqlite_ask(files[1].db, PARTIAL_SQLITE) > 0)
        fail("indexes", "are not where they were");
    for (int i = 0; i < LEDGERS; i++) {
        sqlite3_finalize(files[i].append);
        sqlite3_finalize(files[i].batch);
        sqlite3_close(files[i].db);
        sqlite_remove(files[i].file);
    }
}

/* --- PostgreSQL ---------------------------------------------------------------------- */

#define PARTIAL_POSTGRES                                                                           \
    "SELECT count(*) FROM pg_index WHERE indrelid = 'alineo_events'::regclass"                     \
    " AND indpred IS NOT NULL"

static const char *const databases[LEDGERS] = {"alineo_bench", "alineo_bench_without"};
static PGconn *connections[LEDGERS];

static void begin_postgres(void)
{
    for (int i = 0; i < LEDGERS; i++) {
        postgres_create(databases[i]);
        PGconn *db = connections[i] = postgres_open(databases[i]);
        postgres_run(db, "CREATE EXTENSION alineo_ledger; SELECT alineo_init()");
        postgres_run(db, "ALTER TABLE alineo_events SET (autovacuum_enabled = off)");
        if (postgres_ask(db, PARTIAL_POSTGRES) == 0)
            fail("indexes", "there are none to drop");
        if (i == 1)
            postgres_run(db,
                         "DO $$ DECLARE name text; BEGIN FOR name IN SELECT indexrelid::regclass"
                         " FROM pg_index WHERE indrelid = 'alineo_events'::regclass AND"
                         " indpred IS NOT NULL LOOP EXECUTE 'DROP INDEX ' || name; END LOOP;"
                         " END $$");
        postgres_prepare(db, "append", APPEND);
        postgres_prepare(db, "batch", BATCH);
    }
}

static void set_postgres(int ledger, const way *w)
{
    postgres_run(connections[ledger],
                 w->durable ? "SET synchronous_commit = on" : "SET synchronous_commit = off");
    postgres_run(connections[ledger], "CHECKPOINT");
}

static void run_postgres(int ledger, const char *sql)
{
    postgres_run(connections[ledger], sql);
}

static void append_postgres(int ledger, const char *sandbox, const char *payload)
{
    const char *const values[] = {sandbox, payload};

    postgres_done(connections[ledger],
                  PQexecPrepared(connections[ledger], "append", 2, values, NULL, NULL, 0), APPEND);
}

static void append_batch_postgres(int ledger, const char *entries)
{
    postgres_done(connections[ledger],
                  PQexecPrepared(connections[ledger], "batch", 1, &entries, NULL, NULL, 0), BATCH);
}

static long count_postgres(int ledger)
{
    return postgres_ask(connections[ledger], COUNT);
}

static long process_postgres(int ledger)
{
    return PQbackendPID(connections[ledger]);
}

static void end_postgres(void)
{
    if (postgres_ask(connections[0], PARTIAL_POSTGRES) == 0 ||
        postgres_ask(connections[1], PARTIAL_POSTGRES) > 0)
        fail("indexes", "are not where they were");
    for (int i = 0; i < LEDGERS; i++) {
        PQfinish(connections[i]);
        postgres_drop(databases[i]);
    }
}

/* --- both ------------------------------------------------------------------------------ */

static const side sides[] = {
    {"SQLite", begin_sqlite, set_sqlite, run_sqlite, append_sqlite, append_batch_sqlite,
     count_sqlite, process_sqlite, end_sqlite},
    {"PostgreSQL", begin_postgres, set_postgres, run_postgres, append_postgres,
     append_batch_postgres, count_postgres, process_postgres, end_postgres},
};

static const char *sandbox_of(int turn)
{
    static char text[32];

    snprintf(text, sizeof text, "sb-%d", turn % SESSIONS);
    return text;
}

typedef struct times {
    series took, worked; /* seconds, and those of the processor */
} times;

/* A turn's appends are the same in both ledgers. */
static void take_turn(const side *s, int ledger, const way *w, int turn, const char *entries,
                      times *t)
{
    char payload[PAYLOAD_ROOM];
    double worked = process_seconds(s->process(ledger)), begin = seconds();

    if (w->one_transaction)
        s->run(ledger, "BEGIN");
    for (int i = 0; i < w->calls; i++) {
        if (w->batch) {
            s->append_batch(ledger, entries);
        } else {
            output_payload(payload, 1 + turn / SESSIONS, i);
            s->append(ledger, sandbox_of(turn), payload);
        }
    }
    if (w->one_transaction)
        s->run(ledger, "COMMIT");
    double end = seconds();
    /* The first turn finds pages and plans; it is not counted. */
    if (turn > 0) {
        note(&t->took, end - begin);
        note(&t->worked, process_seconds(s->process(ledger)) - worked);
    }
}

static char *make_entries(void)
{
    char *text = allocate((size_t)ENTRIES * ROW_ROOM), *at = text;

    for (int i = 0; i < ENTRIES; i++) {
        event e = {.name = "bench", .sandbox = "sb-batch", .event = "exec.output", .step = 1};
        e.ts = FIRST_TS + i;
        e.payload_len = (size_t)output_payload(e.payload, e.step, i);
        *at++ = i == 0 ? '[' : ',';
        at += event_entry(at, &e);
    }
    *at++ = ']';
    *at = '\0';
    return text;
}

static void bench(const side *s)
{
    char *entries = make_entries();
    long appended = 0;

    s->begin();
    printf("%s, what the partial indexes add to an append of `exec.output`\n\n"
           "| way | microseconds without | more with the indexes | target |\n"
           "| --- | ---: | ---: | --- |\n",
           s->name);
    for (int k = 0; k < WAYS; k++) {
        const way *w = &ways[k];
        times t[LEDGERS] = {0};
        long events = w->calls * (w->batch ? ENTRIES : 1);
        for (int i = 0; i < LEDGERS; i++)
            s->set(i, w);
        for (int turn = 0; turn <= w->turns; turn++)
            for (int i = 0; i < LEDGERS; i++)
                take_turn(s, (turn + i) % LEDGERS, w, turn, entries, &t[(turn + i) % LEDGERS]);
        appended += events * (w->turns + 1);
        double took = lowest(&t[1].took);
        double more = (lowest(&t[0].worked) - lowest(&t[1].worked)) / took * 100;
        printf("| %s | %.2f | %.1f %% | 5 %%: %s |\n", w->what, took / (double)events * 1e6, more,
               more < 5 ? "met" : "**missed**");
        fflush(stdout);
        for (int i = 0; i < LEDGERS; i++) {
            forget(&t[i].took);
            forget(&t[i].worked);
        }
    }
    for (int i = 0; i < LEDGERS; i++)
        if (s->count(i) != appended)
            fail(s->name, "not all events were appended");
    printf("\n");
    s->end();
    free(entries);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        fail("usage", "indexes EXTENSION sqlite|postgres...");
    sqlite_extension = argv[1];
    for (int i = 2; i < argc; i++)
        bench(&sides[strcmp(argv[i], "postgres") == 0]);
    return 0;
}
