/*
 * test_concurrency.c - several connections at once, in threads and in processes:
 * nothing is lost, and nothing is stored twice.
 */
#include "support.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WRITERS = 4, EACH = 100, THREADS = 8 };

static sqlite3 *open_patient(const char *path)
{
    sqlite3 *db = open_ledger(path, 0);

    assert_int_equal(sqlite3_busy_timeout(db, 30000), SQLITE_OK);
    return db;
}

/* No assertion of cmocka here: it may only fail in the thread of the test. */
static int append_each(sqlite3 *db, int writer)
{
    char sql[128];

    (void)snprintf(sql, sizeof sql, "SELECT alineo_append('ci', 'sb-%d', 'exec.x', '{\"seq\":1}')",
                   writer);
    for (int i = 0; i < EACH; i++)
        if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
            print_error("%s\n", sqlite3_errmsg(db));
            return 1;
        }
    return 0;
}

static void assert_nothing_lost(sqlite3 *db)
{
    assert_rows(db, "SELECT count(*), count(DISTINCT sandbox_id), max(id) FROM alineo_events",
                sqlf("%d|%d|%d", WRITERS * EACH, WRITERS, WRITERS * EACH));
    assert_rows(db, "SELECT DISTINCT count(*) FROM alineo_events GROUP BY sandbox_id",
                sqlf("%d", EACH));
    assert_rows(db, "PRAGMA integrity_check", "ok");
}

/* The ledger does not exist when they start: they also race to create it. */
static void processes_writing_at_once_with_a_busy_timeout_lose_nothing(void **state)
{
    pid_t writers[WRITERS];
    int ready[2], status;
    char byte = 0;

    assert_int_equal(pipe(ready), 0);
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = fork();
        assert_true(writers[i] >= 0);
        if (writers[i] != 0)
            continue;
        sqlite3 *db = open_patient(path_of(state));
        (void)close(ready[1]);
        (void)!read(ready[0], &byte, 1); /* all start when the pipe is closed */
        int rc = append_each(db, i);
        (void)sqlite3_close(db);
        _exit(rc);
    }
    (void)close(ready[0]);
    (void)close(ready[1]);
    for (int i = 0; i < WRITERS; i++) {
        assert_int_equal(waitpid(writers[i], &status, 0), writers[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    assert_nothing_lost(db_of(state));
}

typedef struct worker {
    pthread_t thread;
    sqlite3 *db;
    int number, failed;
    const char *path;
} worker;

static void *append_in_thread(void *argument)
{
    worker *w = argument;

    w->failed = append_each(w->db, w->number);
    return NULL;
}

static void threads_writing_at_once_with_a_busy_timeout_lose_nothing(void **state)
{
    worker workers[WRITERS] = {0};

    for (int i = 0; i < WRITERS; i++) {
        workers[i].number = i;
        workers[i].db = open_patient(path_of(state));
    }
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&workers[i].thread, NULL, append_in_thread, &workers[i]),
                         0);
    for (int i = 0; i < WRITERS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        close_ledger(workers[i].db);
        assert_int_equal(workers[i].failed, 0);
    }
    assert_nothing_lost(db_of(state));
}

/* One connection used by many threads, which SQLite serializes. */
static void threads_sharing_one_connection_lose_nothing(void **state)
{
    worker workers[WRITERS] = {0};

    assert_true(sqlite3_threadsafe());
    for (int i = 0; i < WRITERS; i++) {
        workers[i].number = i;
        workers[i].db = db_of(state);
    }
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&workers[i].thread, NULL, append_in_thread, &workers[i]),
                         0);
    for (int i = 0; i < WRITERS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_int_equal(workers[i].failed, 0);
    }
    assert_nothing_lost(db_of(state));
}

static int load_and_use(void)
{
    sqlite3 *db;
    int rc = sqlite3_open(":memory:", &db);

    if (rc == SQLITE_OK)
        rc = sqlite3_enable_load_extension(db, 1);
    if (rc == SQLITE_OK)
        rc = sqlite3_load_extension(db, extension_path(), NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db,
                          "SELECT alineo_append('ci', 'sb-1', 'sandbox.created');"
                          "SELECT * FROM alineo_list_sandboxes()",
                          NULL, NULL, NULL);
    return rc | sqlite3_close(db);
}

static void *load_in_thread(void *argument)
{
    worker *w = argument;

    for (int i = 0; i < 25; i++)
        w->failed |= load_and_use();
    return NULL;
}

static void eight_threads_load_the_extension_into_connections_of_their_own(void **state)
{
    worker workers[THREADS] = {0};

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&workers[i].thread, NULL, load_in_thread, &workers[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_int_equal(workers[i].failed, 0);
    }
}

/* Readers beside a writer see whole transactions, never half of one. */
static void *read_in_thread(void *argument)
{
    worker *w = argument;
    sqlite3_stmt *statement;

    if (sqlite3_prepare_v2(w->db, "SELECT count(*) FROM alineo_replay('ci', 'sb-1')", -1,
                           &statement, NULL) != SQLITE_OK)
        return NULL;
    w->failed = 0;
    for (int count = 0; count < EACH * 2 && w->failed == 0;) {
        if (sqlite3_step(statement) != SQLITE_ROW)
            w->failed = 1;
        int seen = sqlite3_column_int(statement, 0);
        w->failed |= seen % 2 != 0 || seen < count;
        count = seen;
        (void)sqlite3_reset(statement);
    }
    (void)sqlite3_finalize(statement);
    return NULL;
}

static void a_reader_beside_a_writer_sees_whole_batches_only(void **state)
{
    worker reader = {0};
    const char *entry = "{\"name\":\"ci\",\"sandboxId\":\"sb-1\",\"event\":\"x\"}";
    const char *batch = sqlf("SELECT alineo_append_batch('[%s,%s]')", entry, entry);

    run(db_of(state), "SELECT alineo_init()");
    reader.db = open_patient(path_of(state));
    reader.failed = 1;
    assert_int_equal(pthread_create(&reader.thread, NULL, read_in_thread, &reader), 0);
    for (int i = 0; i < EACH; i++)
        run(db_of(state), batch);
    assert_int_equal(pthread_join(reader.thread, NULL), 0);
    assert_int_equal(reader.failed, 0);
    close_ledger(reader.db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(processes_writing_at_once_with_a_busy_timeout_lose_nothing),
        FILE_TEST(threads_writing_at_once_with_a_busy_timeout_lose_nothing),
        FILE_TEST(threads_sharing_one_connection_lose_nothing),
        FILE_TEST(eight_threads_load_the_extension_into_connections_of_their_own),
        FILE_TEST(a_reader_beside_a_writer_sees_whole_batches_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
