/*
 * test_contention.c - eight processes, eight threads, eight threads on one
 * connection, all writing and reading at once: nothing is lost, nothing twice,
 * ids are unique and grow, readers see whole batches, and SQLite is as busy as
 * for plain INSERTs of the same rows, which run as the control.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "support.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 8, MOST_ROUNDS = 20, BATCH = 5, IDS = 3 * MOST_ROUNDS, ROUNDS_A_CONNECTION = 7 };

static int rounds(void)
{
    return is_slow() ? 2 : MOST_ROUNDS;
}

typedef enum mode { ALONE, IMMEDIATE, DEFERRED, AFTER_READING, MODES } mode;
static const char *const mode_name[MODES] = {"by themselves", "BEGIN IMMEDIATE",
                                             "BEGIN, write first", "BEGIN, read first"};
static const char *const begin[MODES] = {NULL, "BEGIN IMMEDIATE", "BEGIN", "BEGIN"};

/* What one worker has met, in memory that processes share. */
typedef struct tally {
    int busy, snapshot, other; /* answers of SQLite, by their code */
    bool well;                 /* the end of its process */
    bool wrong;                /* a reader saw what should not be */
    char error[200];
    int stored;
    sqlite3_int64 id[IDS]; /* of what was stored for good, in order */
} tally;

typedef struct task {
    const char *path;
    bool plain;
    mode mode;
    sqlite3 *shared; /* the connection, where all have the same */
    tally *all;
} task;

typedef struct worker {
    const task *task;
    int number;
    sqlite3 *db;
    tally *tally;
    int pending;        /* ids of the transaction under way */
    sqlite3_int64 seen; /* events of batches that were seen */
    pthread_t thread;
    bool failed;
} worker;

static bool note(worker *w, const char *sql)
{
    int code = sqlite3_extended_errcode(w->db);

    if (code == SQLITE_BUSY)
        w->tally->busy++;
    else if (code == SQLITE_BUSY_SNAPSHOT)
        w->tally->snapshot++;
    else
        w->tally->other++;
    (void)snprintf(w->tally->error, sizeof w->tally->error, "%d %s: %.100s", code,
                   sqlite3_errmsg(w->db), sql);
    return false;
}

static bool run_one(worker *w, const char *sql)
{
    return sqlite3_exec(w->db, sql, NULL, NULL, NULL) == SQLITE_OK || note(w, sql);
}

#define INTO "INSERT INTO alineo_events(sandbox_id, name, step_idx, event, payload, ts) VALUES "

/* The id is the statement's own answer: other threads may share the connection. */
static bool append_one(worker *w, const char *sandbox, int round)
{
    sqlite3_stmt *statement = NULL;
    char sql[300];

    (void)snprintf(sql, sizeof sql,
                   w->task->plain ? INTO
                       "('%s', 'ci', -1, 'x', '{\"k\":\"%d-%d\"}', 1) RETURNING id"
                                  : "SELECT alineo_append('ci', '%s', 'x', '{\"k\":\"%d-%d\"}')",
                   sandbox, w->number, round);
    bool done = sqlite3_prepare_v2(w->db, sql, -1, &statement, NULL) == SQLITE_OK &&
                sqlite3_step(statement) == SQLITE_ROW;
    if (done)
        w->tally->id[w->tally->stored + w->pending++] = sqlite3_column_int64(statement, 0);
    done = done && sqlite3_step(statement) == SQLITE_DONE;
    if (!done)
        (void)note(w, sql);
    (void)sqlite3_finalize(statement);
    return done;
}

static bool append_batch(worker *w)
{
    sqlite3_str *sql = sqlite3_str_new(NULL);

    sqlite3_str_appendall(sql, w->task->plain ? INTO : "SELECT alineo_append_batch('[");
    for (int i = 0; i < BATCH; i++)
        sqlite3_str_appendf(sql,
                            w->task->plain
                                ? "%s('all', 'ci', -1, 'batch', '{}', 1)"
                                : "%s{\"name\":\"ci\",\"sandboxId\":\"all\",\"event\":\"batch\"}",
                            i == 0 ? "" : ",");
    if (!w->task->plain)
        sqlite3_str_appendall(sql, "]')");
    char *text = sqlite3_str_finish(sql);
    bool done = run_one(w, text);
    sqlite3_free(text);
    return done;
}

/* The session to which all write: in order, whole batches, never less. */
static bool read_all(worker *w)
{
    const char *sql = w->task->plain ? "SELECT ts, id, event FROM alineo_events WHERE name = 'ci'"
                                       " AND sandbox_id = 'all' ORDER BY ts, id"
                                     : "SELECT ts, id, event FROM alineo_replay('ci', 'all')";
    sqlite3_stmt *statement;
    sqlite3_int64 ts = 0, id = 0, batches = 0;
    int rc;

    if (sqlite3_prepare_v2(w->db, sql, -1, &statement, NULL) != SQLITE_OK)
        return note(w, sql);
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
        sqlite3_int64 next_ts = sqlite3_column_int64(statement, 0);
        sqlite3_int64 next_id = sqlite3_column_int64(statement, 1);
        w->tally->wrong |= next_ts < ts || (next_ts == ts && next_id <= id);
        ts = next_ts;
        id = next_id;
        batches += strcmp((const char *)sqlite3_column_text(statement, 2), "batch") == 0;
    }
    w->tally->wrong |= rc == SQLITE_DONE && (batches % BATCH != 0 || batches < w->seen);
    if (rc == SQLITE_DONE)
        w->seen = batches;
    else
        (void)note(w, sql);
    (void)sqlite3_finalize(statement);
    return rc == SQLITE_DONE;
}

static bool delete_session(worker *w, const char *sandbox)
{
    char sql[200];

    (void)snprintf(sql, sizeof sql,
                   w->task->plain
                       ? "DELETE FROM alineo_events WHERE name = 'ci' AND sandbox_id = '%s'"
                       : "SELECT alineo_delete_sandbox('ci', '%s')",
                   sandbox);
    return run_one(w, sql);
}

/* A round's writes; inside a transaction all of them or none. */
static bool write_round(worker *w, int round)
{
    char own[20], scrap[20];
    bool inside = begin[w->task->mode] != NULL, batch_first = round % 2 == 1;

    (void)snprintf(own, sizeof own, "own-%d", w->number);
    (void)snprintf(scrap, sizeof scrap, "scrap-%d", w->number);
    if (inside && !run_one(w, begin[w->task->mode]))
        return false;
    if (w->task->mode == AFTER_READING && !read_all(w))
        return false;
    return (!batch_first || append_batch(w)) && append_one(w, own, round) &&
           append_one(w, "all", round) && (batch_first || append_batch(w)) &&
           append_one(w, scrap, round) && delete_session(w, scrap) &&
           (!inside || run_one(w, "COMMIT"));
}

static bool open_worker(worker *w)
{
    if (w->task->shared != NULL) {
        w->db = w->task->shared;
        return true;
    }
    /* No assertion of cmocka here: it may only fail in the thread of the test. */
    return sqlite3_open(w->task->path, &w->db) == SQLITE_OK &&
           sqlite3_busy_timeout(w->db, 60000) == SQLITE_OK &&
           sqlite3_enable_load_extension(w->db, 1) == SQLITE_OK &&
           sqlite3_load_extension(w->db, extension_path(), NULL, NULL) == SQLITE_OK &&
           sqlite3_exec(w->db, "PRAGMA synchronous = OFF", NULL, NULL, NULL) == SQLITE_OK;
}

static void *work(void *argument)
{
    worker *w = argument;

    w->tally = &w->task->all[w->number];
    w->failed = !open_worker(w);
    for (int round = 0; round < rounds() && !w->failed;) {
        w->pending = 0;
        if (write_round(w, round)) {
            w->tally->stored += w->pending;
            round++;
        } else if (w->task->mode == AFTER_READING) {
            (void)sqlite3_exec(w->db, "ROLLBACK", NULL, NULL, NULL);
            (void)usleep((useconds_t)(500 * (w->number + 1)));
            continue;
        } else {
            w->failed = true;
        }
        w->failed |= !read_all(w);
        if (round % ROUNDS_A_CONNECTION == 0 && w->task->shared == NULL)
            w->failed |= sqlite3_close(w->db) != SQLITE_OK || !open_worker(w);
    }
    if (w->task->shared == NULL)
        w->failed |= sqlite3_close(w->db) != SQLITE_OK;
    return NULL;
}

static void leave(tally *t, bool well)
{
    t->well = well;
    (void)kill(getpid(), SIGKILL); /* valgrind takes what a forked process leaves for leaks */
}

static bool in_processes(const task *t)
{
    pid_t process[WORKERS];
    bool failed = false;
    int status;

    for (int i = 0; i < WORKERS; i++) {
        process[i] = fork();
        assert_true(process[i] >= 0);
        if (process[i] != 0)
            continue;
        worker w = {.task = t, .number = i};
        (void)work(&w);
        leave(&t->all[i], !w.failed);
    }
    for (int i = 0; i < WORKERS; i++) {
        assert_int_equal(waitpid(process[i], &status, 0), process[i]);
        failed |= !t->all[i].well;
    }
    return !failed;
}

static bool in_threads(const task *t)
{
    worker w[WORKERS] = {0};
    bool failed = false;

    for (int i = 0; i < WORKERS; i++) {
        w[i].task = t;
        w[i].number = i;
        assert_int_equal(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++) {
        assert_int_equal(pthread_join(w[i].thread, NULL), 0);
        failed |= w[i].failed;
    }
    return !failed;
}

static int compare_ids(const void *a, const void *b)
{
    sqlite3_int64 x = *(const sqlite3_int64 *)a, y = *(const sqlite3_int64 *)b;

    return (x > y) - (x < y);
}

/* Ids grow for each worker, and none was given to two, deleted ones included. */
static void check_ids(const tally *all)
{
    static sqlite3_int64 ids[WORKERS * IDS];
    size_t count = 0;

    for (int i = 0; i < WORKERS; i++) {
        assert_int_equal(all[i].stored, 3 * rounds());
        for (int j = 0; j < all[i].stored; j++) {
            assert_true(j == 0 || all[i].id[j] > all[i].id[j - 1]);
            ids[count++] = all[i].id[j];
        }
    }
    qsort(ids, count, sizeof ids[0], compare_ids);
    for (size_t i = 1; i < count; i++)
        assert_true(ids[i] > ids[i - 1]);
}

static void check_rows_stored(sqlite3 *db, const tally *all)
{
    int n = WORKERS * rounds();

    assert_rows(db, "SELECT count(*) FROM alineo_events", sqlf("%d", n * (2 + BATCH)));
    assert_rows(db,
                "SELECT count(*), count(DISTINCT payload) FROM alineo_events"
                " WHERE event = 'x' GROUP BY sandbox_id = 'all'",
                sqlf("%d|%d\n%d|%d", n, n, n, n));
    /* Left to the ledger, ts and id are in the same order. */
    assert_rows(db,
                "SELECT count(*) FROM (SELECT ts, lag(ts) OVER (ORDER BY id) AS before"
                " FROM alineo_events WHERE sandbox_id = 'all') WHERE ts < before",
                "0");
    for (int i = 0; i < WORKERS; i++)
        for (int round = 0; round < rounds(); round++)
            for (int j = 0; j < 2; j++)
                assert_rows(
                    db,
                    sqlf("SELECT sandbox_id, payload FROM alineo_events WHERE id = %lld",
                         all[i].id[3 * round + j]),
                    sqlf("%s|{\"k\":\"%d-%d\"}", j == 0 ? sqlf("own-%d", i) : "all", i, round));
    assert_rows(db, "PRAGMA integrity_check", "ok");
}

typedef bool (*runner)(const task *t);
typedef enum place { WAL_MODE, ROLLBACK_MODE, ONE_CONNECTION } place;

enum { TALLIES = WORKERS * sizeof(tally) };

static tally *share_tallies(void)
{
    tally *all = mmap(NULL, TALLIES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    assert_true(all != MAP_FAILED);
    return all;
}

/* One run on a file of its own; how busy SQLite was, all told. */
static tally contend(void **state, bool plain, mode m, runner run_workers, place where)
{
    char path[128];
    tally sum = {0};
    tally *all = share_tallies();

    bool share = where == ONE_CONNECTION;
    (void)snprintf(path, sizeof path, "%s-%d-%d-%d", path_of(state), plain, m, where);
    task t = {.path = path, .plain = plain, .mode = m, .all = all};
    sqlite3 *db = open_ledger(path, 0);
    run(db, "PRAGMA synchronous = OFF");
    if (where == ROLLBACK_MODE)
        run(db, "BEGIN; SELECT alineo_init(); COMMIT");
    else if (plain || m != ALONE) /* else they make the table themselves */
        run(db, "SELECT alineo_init()");
    if (share)
        t.shared = db;
    else
        close_ledger(db);
    bool done = run_workers(&t);
    for (int i = 0; i < WORKERS; i++) {
        sum.busy += all[i].busy;
        sum.snapshot += all[i].snapshot;
        sum.other += all[i].other;
        if (all[i].wrong)
            fail_msg("worker %d read half a batch, or out of order", i);
        if (all[i].other > 0 || !done)
            print_error("worker %d: %s\n", i, all[i].error);
    }
    assert_true(done);
    if (!share)
        db = open_ledger(path, 0);
    if (!plain) {
        check_ids(all);
        check_rows_stored(db, all);
    }
    close_ledger(db);
    (void)munmap(all, TALLIES);
    return sum;
}

static void compare(void **state, mode m, runner run_workers, place where)
{
    tally plain = contend(state, true, m, run_workers, where);
    tally ledger = contend(state, false, m, run_workers, where);

    print_message("%s%s: SQLITE_BUSY %d times (plain %d), SQLITE_BUSY_SNAPSHOT %d (plain %d)\n",
                  where == ROLLBACK_MODE ? "rollback mode, " : "", mode_name[m], ledger.busy,
                  plain.busy, ledger.snapshot, plain.snapshot);
    assert_int_equal(ledger.other, 0);
    assert_int_equal(plain.other, 0);
    if (m == AFTER_READING)
        return; /* how often is a matter of chance; test_busy.c compares step by step */
    assert_int_equal(plain.busy + plain.snapshot, 0);
    assert_int_equal(ledger.busy + ledger.snapshot, 0);
}

static void compare_from(void **state, mode first, runner run_workers, place where)
{
    for (mode m = first; m < MODES; m++)
        if (m == DEFERRED || !is_slow())
            compare(state, m, run_workers, where);
}

static void eight_processes_lose_nothing_and_are_never_busy(void **state)
{
    compare_from(state, ALONE, in_processes, WAL_MODE);
}

/* In transactions only: a first write by itself would turn to WAL. */
static void eight_processes_lose_nothing_in_rollback_mode(void **state)
{
    compare_from(state, IMMEDIATE, in_processes, ROLLBACK_MODE);
}

static void eight_threads_lose_nothing_and_are_never_busy(void **state)
{
    compare_from(state, ALONE, in_threads, WAL_MODE);
}

static void eight_threads_on_one_connection_lose_nothing(void **state)
{
    compare(state, ALONE, in_threads, ONE_CONNECTION);
}

static const char *const first[WORKERS] = {
    "SELECT alineo_append('ci', 'a', 'x')",
    "SELECT alineo_append_batch('{\"name\":\"ci\",\"sandboxId\":\"a\",\"event\":\"x\"}')",
    "SELECT alineo_init()",
    "SELECT alineo_delete_sandbox('ci', 'b')",
    "SELECT alineo_save_environment('e', 's', 'i', 1)",
    "BEGIN; SELECT alineo_append('ci', 'a', 'x'); COMMIT",
    "BEGIN; SELECT alineo_append_batch('{\"name\":\"ci\",\"sandboxId\":\"a\",\"event\":\"x\"}');"
    "COMMIT",
    "BEGIN IMMEDIATE; SELECT alineo_append('ci', 'a', 'x'); COMMIT",
};

static void write_first(const task *t, int number, int ready)
{
    worker w = {.task = t, .number = number, .tally = &t->all[number]};
    char byte;

    bool done = open_worker(&w);
    (void)!read(ready, &byte, 1); /* all start when the pipe is closed */
    done = done && run_one(&w, first[number]);
    if (!done)
        print_error("%s: %s\n", first[number], w.tally->error);
    leave(w.tally, done);
}

/* They race to turn the file to WAL and to make the tables. */
static void eight_processes_write_first_at_once(void **state)
{
    int status, wal = 0;

    for (int round = 0; round < rounds(); round++) {
        char path[128];
        int ready[2];
        pid_t process[WORKERS];
        (void)snprintf(path, sizeof path, "%s-first-%d", path_of(state), round);
        task t = {.path = path, .all = share_tallies()};
        if (round % 4 == 3) {
            sqlite3 *old = open_plain(path, 0);
            run(old, "CREATE TABLE alineo_events (id INTEGER PRIMARY KEY, sandbox_id, name,"
                     " step_idx, branch, event, payload, error, ts)");
            close_ledger(old);
        }
        assert_int_equal(pipe(ready), 0);
        for (int i = 0; i < WORKERS; i++) {
            process[i] = fork();
            assert_true(process[i] >= 0);
            if (process[i] == 0) {
                (void)close(ready[1]);
                write_first(&t, i, ready[0]);
            }
        }
        (void)close(ready[0]);
        (void)close(ready[1]);
        for (int i = 0; i < WORKERS; i++) {
            assert_int_equal(waitpid(process[i], &status, 0), process[i]);
            assert_true(t.all[i].well);
        }
        sqlite3 *db = open_ledger(path, 0);
        assert_rows(db, "SELECT count(*), max(id) FROM alineo_events", "5|5");
        assert_rows(db, "SELECT count(*) FROM sqlite_master WHERE sql NOT NULL", "7");
        assert_rows(db, "PRAGMA integrity_check", "ok");
        char *mode = rows_of(db, "PRAGMA journal_mode");
        wal += strcmp(mode, "wal") == 0;
        (void)munmap(t.all, TALLIES);
        sqlite3_free(mode);
        close_ledger(db);
    }
    print_message("%d of %d were in WAL mode afterwards\n", wal, rounds());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(eight_processes_lose_nothing_and_are_never_busy),
        FILE_TEST(eight_processes_lose_nothing_in_rollback_mode),
        FILE_TEST(eight_threads_lose_nothing_and_are_never_busy),
        FILE_TEST(eight_threads_on_one_connection_lose_nothing),
        FILE_TEST(eight_processes_write_first_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
