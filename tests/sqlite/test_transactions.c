/*
 * test_transactions.c - what is stored when: alone, in a transaction, in a
 * savepoint, before a crash, beside another writer.
 */
#include "support.h"

#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define APPEND "SELECT alineo_append('ci', 'sb-1', 'x', NULL, NULL, NULL, NULL, 1)"
#define COUNT  "SELECT count(*) FROM alineo_events"

static void an_append_in_autocommit_is_there_for_others_when_it_returns(void **state)
{
    sqlite3 *db = db_of(state);
    sqlite3 *other = open_plain(path_of(state), 0);

    for (int i = 1; i <= 3; i++) {
        assert_int_equal(append(db, "sb-1", "x", NULL, i), i);
        assert_true(sqlite3_get_autocommit(db));
        assert_int_equal(integer(other, COUNT), i);
    }
    close_ledger(other);
}

static void an_append_is_there_for_others_while_its_statement_is_open(void **state)
{
    sqlite3 *db = db_of(state);
    sqlite3_stmt *statement = prepare(db, APPEND);
    sqlite3 *other = open_plain(path_of(state), 0);

    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_int_equal(integer(other, COUNT), 1);
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    close_ledger(other);
}

static void every_writing_function_is_durable_in_autocommit(void **state)
{
    sqlite3 *db = db_of(state);
    sqlite3 *other = open_plain(path_of(state), 0);

    run(db, "SELECT alineo_append_batch('{\"name\":\"ci\",\"sandboxId\":\"s\",\"event\":\"x\"}')");
    assert_rows(other, COUNT, "1");
    run(db, "SELECT alineo_save_environment('py', 's', 'i', 1)");
    assert_rows(other, "SELECT name FROM alineo_environments", "py");
    run(db, "SELECT alineo_delete_environment('py')");
    assert_rows(other, "SELECT name FROM alineo_environments", "");
    run(db, "SELECT alineo_delete_sandbox('ci', 's')");
    assert_rows(other, COUNT, "0");
    run(other, "INSERT INTO alineo_events(sandbox_id, name, step_idx, event, ts)"
               " VALUES ('s', 'ci', -1, 'exec_start', 1)");
    run(db, "SELECT alineo_init()");
    assert_rows(other, "SELECT event FROM alineo_events", "exec.started");
    close_ledger(other);
}

/* A process that appends and tells each id on, until it is killed. */
static void append_until_killed(const char *path, int to)
{
    sqlite3 *db = open_ledger(path, 0);

    for (;;) {
        sqlite3_int64 id = integer(db, APPEND);
        if (write(to, &id, sizeof id) != sizeof id)
            _exit(1);
    }
}

static void an_append_that_has_returned_survives_kill_9(void **state)
{
    sqlite3_int64 id = 0, last = 0;
    int ends[2], status;

    for (int round = 1; round <= 5; round++) {
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
            (void)close(ends[0]);
            append_until_killed(path_of(state), ends[1]);
        }
        (void)close(ends[1]);
        for (int i = 0; i < 20 * round; i++)
            assert_int_equal(read(ends[0], &id, sizeof id), sizeof id);
        assert_int_equal(kill(child, SIGKILL), 0);
        while (read(ends[0], &id, sizeof id) == sizeof id)
            ;
        (void)close(ends[0]);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        /* At most one more was stored whose id did not come through. */
        assert_in_range(integer(db_of(state), COUNT), id, id + 1);
        assert_rows(db_of(state), "SELECT count(*) = max(id) FROM alineo_events", "1");
        assert_true(id > last);
        last = id;
    }
    assert_rows(db_of(state), "PRAGMA integrity_check", "ok");
}

static void an_append_is_gone_after_rollback(void **state)
{
    sqlite3 *db = db_of(state);

    (void)append(db, "sb-1", "kept", NULL, 1);
    run(db, "BEGIN; " APPEND "; " APPEND "; ROLLBACK");
    assert_rows(db, "SELECT event FROM alineo_events", "kept");
}

static void an_environment_rolls_back_with_its_transaction(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_save_environment('py', 's-1', 'i', 5); BEGIN;"
            "SELECT alineo_save_environment('py', 's-2', 'i', 6);"
            "SELECT alineo_save_environment('node', 's-3', 'i', 7); ROLLBACK");
    assert_rows(db, "SELECT name, snapshot_id FROM alineo_list_environments()", "py|s-1");
}

static void an_append_in_a_transaction_is_there_for_others_only_after_commit(void **state)
{
    sqlite3 *db = db_of(state);
    sqlite3 *other = open_plain(path_of(state), 0);

    run(db, "SELECT alineo_init(); BEGIN; " APPEND);
    assert_rows(db, COUNT, "1");
    assert_rows(other, COUNT, "0");
    run(db, "COMMIT");
    assert_rows(other, COUNT, "1");
    close_ledger(other);
}

static void rollback_to_a_savepoint_takes_back_what_came_after_it(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "BEGIN");
    (void)append(db, "sb-1", "a", NULL, 1);
    run(db, "SAVEPOINT s");
    (void)append(db, "sb-1", "b", NULL, 2);
    run(db, "SAVEPOINT t");
    (void)append(db, "sb-1", "c", NULL, 3);
    run(db, "ROLLBACK TO s");
    (void)append(db, "sb-1", "d", NULL, 4);
    run(db, "COMMIT");
    assert_rows(db, "SELECT event FROM alineo_events ORDER BY id", "a\nd");
}

static const char *const writers[] = {
    APPEND,
    "SELECT alineo_append('ci', 'sb-1', 'x')",
    "SELECT alineo_append_batch('{\"name\":\"ci\",\"sandboxId\":\"s\",\"event\":\"x\",\"ts\":1}')",
    "SELECT alineo_append_batch('{\"name\":\"ci\",\"sandboxId\":\"s\",\"event\":\"x\"}')",
    "SELECT alineo_delete_sandbox('ci', 'sb-1')",
    "SELECT alineo_save_environment('py', 's', 'i', 1)",
    "SELECT alineo_delete_environment('py')",
    "SELECT alineo_init()",
};

#define TABLES                                                                                     \
    "SELECT count(*) FROM sqlite_master WHERE name IN ('alineo_events', 'alineo_environments')"

static void a_schema_created_in_a_rolled_back_transaction_is_created_again(void **state)
{
    sqlite3 *db = db_of(state);

    for (size_t i = 0; i < COUNT_OF(writers); i++) {
        for (size_t j = 0; j < COUNT_OF(writers); j++) {
            run(db, sqlf("BEGIN; %s; ROLLBACK", writers[i]));
            assert_rows(db, TABLES, "0");
            run(db, sqlf("%s; SELECT alineo_append('ci', 'sb-9', 'x')", writers[j]));
            assert_rows(db, TABLES, "2");
            run(db, "DROP TABLE alineo_events; DROP TABLE alineo_environments;"
                    "DROP TABLE IF EXISTS alineo_deleted");
        }
    }
}

static void a_dropped_ledger_is_created_again_by_every_writing_function(void **state)
{
    sqlite3 *db = db_of(state);

    for (size_t i = 0; i < COUNT_OF(writers); i++) {
        run(db, writers[i]); /* known to this connection, and its statement cached */
        run(db, "DROP TABLE alineo_events; DROP TABLE alineo_environments");
        run(db, writers[i]);
        assert_rows(db, TABLES, "2");
    }
    run(db, "DROP TABLE alineo_events; BEGIN; " APPEND "; COMMIT");
    assert_rows(db, COUNT, "1");
}

static void busy_comes_through_with_its_code(void **state)
{
    sqlite3 *db = db_of(state);
    sqlite3 *other = open_plain(path_of(state), 0);

    run(db, "SELECT alineo_init()");
    for (size_t i = 0; i < COUNT_OF(writers); i++)
        run(db, writers[i]);
    run(other, "BEGIN IMMEDIATE");
    for (size_t i = 0; i < COUNT_OF(writers); i++) {
        char *count = rows_of(db, COUNT);
        const char *name = writers[i] + 7;
        int len = 0;
        while (name[len] != '(')
            len++;
        assert_error(db, writers[i], SQLITE_BUSY, sqlf("%.*s: database is locked", len, name));
        assert_rows(db, COUNT, count);
        sqlite3_free(count);
    }
    run(other, "COMMIT");
    for (size_t i = 0; i < COUNT_OF(writers); i++)
        run(db, writers[i]);
    close_ledger(other);
}

static void a_snapshot_too_old_to_write_comes_through_as_busy_snapshot(void **state)
{
    sqlite3 *db = db_of(state);
    sqlite3 *other = open_ledger(path_of(state), 0);

    run(db, APPEND);
    run(db, "BEGIN; " COUNT);
    run(other, APPEND);
    assert_error(db, APPEND, SQLITE_BUSY_SNAPSHOT, "alineo_append: database is locked");
    assert_error(db, writers[2], SQLITE_BUSY_SNAPSHOT, "alineo_append_batch: database is locked");
    run(db, "COMMIT; " APPEND);
    assert_rows(db, COUNT, "3");
    close_ledger(other);
}

static void a_refused_or_busy_append_never_blocks_a_later_commit(void **state)
{
    sqlite3 *db = db_of(state);
    sqlite3 *other = open_plain(path_of(state), 0);

    run(db, APPEND);
    run(other, "BEGIN IMMEDIATE");
    run(db, "BEGIN");
    assert_error(db, APPEND, SQLITE_BUSY, "alineo_append: database is locked");
    run(other, "COMMIT");
    run(db, APPEND "; COMMIT");
    assert_rows(other, COUNT, "2");
    close_ledger(other);
}

static void an_append_inside_a_writing_statement_is_one_with_it(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "CREATE TABLE t(id UNIQUE); CREATE TABLE names(n);"
            "INSERT INTO names VALUES ('a'), ('b'), ('')");
    run(db, "INSERT INTO t SELECT alineo_append('ci', 'sb-1', n) FROM names WHERE n <> ''");
    assert_rows(db, "SELECT t.id, event FROM t JOIN alineo_events USING (id) ORDER BY 1",
                "1|a\n2|b");
    assert_error(db, "INSERT INTO t SELECT alineo_append('ci', 'sb-1', n) FROM names", SQLITE_ERROR,
                 "alineo_append: event must not be empty");
    assert_rows(db, "SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM alineo_events)", "2|2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(an_append_in_autocommit_is_there_for_others_when_it_returns),
        FILE_TEST(an_append_is_there_for_others_while_its_statement_is_open),
        FILE_TEST(every_writing_function_is_durable_in_autocommit),
        FILE_TEST(an_append_that_has_returned_survives_kill_9),
        FILE_TEST(an_append_is_gone_after_rollback),
        FILE_TEST(an_environment_rolls_back_with_its_transaction),
        FILE_TEST(an_append_in_a_transaction_is_there_for_others_only_after_commit),
        FILE_TEST(rollback_to_a_savepoint_takes_back_what_came_after_it),
        FILE_TEST(a_schema_created_in_a_rolled_back_transaction_is_created_again),
        FILE_TEST(a_dropped_ledger_is_created_again_by_every_writing_function),
        FILE_TEST(busy_comes_through_with_its_code),
        FILE_TEST(a_snapshot_too_old_to_write_comes_through_as_busy_snapshot),
        FILE_TEST(a_refused_or_busy_append_never_blocks_a_later_commit),
        FILE_TEST(an_append_inside_a_writing_statement_is_one_with_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
