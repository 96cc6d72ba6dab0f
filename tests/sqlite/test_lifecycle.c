/*
 * test_lifecycle.c - loading, closing, and what is left open: the statements the
 * extension keeps never show and never keep a connection from closing.
 */
#include "support.h"

#include <string.h>

/* Every function and row function, once each, over a ledger of some rows. */
static const char *const calls[] = {
    "SELECT alineo_version()",
    "SELECT alineo_init()",
    "SELECT alineo_append('ci', 'sb-1', 'sandbox.created')",
    "SELECT alineo_append('ci', 'sb-1', 'exec.started', '{\"seq\":1}', 1, 0, 'e', 5)",
    "SELECT alineo_append('ci', 'sb-1', 'snapshot', '{\"snapshotId\":\"s\",\"tag\":\"t\"}')",
    "SELECT alineo_append_batch('[{\"name\":\"ci\",\"sandboxId\":\"sb-2\",\"event\":\"x\"}]')",
    "SELECT * FROM alineo_replay('ci', 'sb-1')",
    "SELECT * FROM alineo_replay_cache('ci', 'sb-1')",
    "SELECT * FROM alineo_replay_cache('ci', 'sb-1', 't')",
    "SELECT * FROM alineo_execs('ci', 'sb-1')",
    "SELECT alineo_resume('sb-1')",
    "SELECT alineo_resume('sb-1', 't')",
    "SELECT alineo_output('ci', 'sb-1', 1)",
    "SELECT * FROM alineo_last_checkpoint('ci', 'sb-1')",
    "SELECT * FROM alineo_list_checkpoints('ci', 'sb-1')",
    "SELECT * FROM alineo_list_sandboxes()",
    "SELECT * FROM alineo_get_sandbox('ci', 'sb-1')",
    "SELECT alineo_save_environment('py', 's', 'i')",
    "SELECT * FROM alineo_get_environment('py')",
    "SELECT * FROM alineo_list_environments()",
    "SELECT alineo_delete_environment('py')",
    "SELECT alineo_delete_sandbox('ci', 'sb-2')",
    "SELECT alineo_guard(1)",
};

static const char *const failing_calls[] = {
    "SELECT alineo_append('ci', 'sb-1', '')",
    "SELECT alineo_append('ci', 'sb-1', 'x', '{')",
    "SELECT alineo_append_batch('[{}]')",
    "SELECT alineo_resume('nobody')",
    "SELECT alineo_output('ci', 'sb-1', 'one')",
    "SELECT * FROM alineo_replay()",
    "SELECT * FROM alineo_list_sandboxes(NULL, 'lost')",
    "SELECT alineo_delete_sandbox('ci', NULL)",
    "SELECT alineo_guard(NULL)",
};

static void fill(sqlite3 *db)
{
    for (int i = 1; i <= 3; i++) {
        (void)append(db, "sb-1", "sandbox.created", "{}", i);
        (void)append(db, "sb-1", "exec.started",
                     i == 1   ? "{'seq':1}"
                     : i == 2 ? "{'seq':2}"
                              : "{'seq':3}",
                     i);
        (void)append(db, "sb-1", "exec.completed",
                     i == 1   ? "{'seq':1,'exitCode':0}"
                     : i == 2 ? "{'seq':2,'exitCode':0}"
                              : "{'seq':3,'exitCode':0}",
                     i);
        (void)append(db, sqlf("sb-%d0", i), "sandbox.created", "{}", i);
        (void)append(db, "sb-1", "snapshot", "{'snapshotId':'s','tag':'t'}", i);
        run(db, sqlf("SELECT alineo_save_environment('env-%d', 's', 'i', %d)", i, i));
    }
}

static void a_connection_closes_after_each_kind_of_call(void **state)
{
    for (size_t i = 0; i < COUNT_OF(calls); i++) {
        sqlite3 *db = open_ledger(path_of(state), 0);
        run(db, calls[i]);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
    }
    sqlite3 *db = open_ledger(path_of(state), 0);
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < COUNT_OF(calls); i++)
            run(db, calls[i]);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void a_connection_closes_after_each_kind_of_failure(void **state)
{
    for (size_t i = 0; i < COUNT_OF(failing_calls); i++) {
        sqlite3 *db = open_ledger(path_of(state), 0);
        run(db, "SELECT alineo_init()");
        assert_int_equal(sqlite3_exec(db, failing_calls[i], NULL, NULL, NULL), SQLITE_ERROR);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
    }
}

static void a_connection_closes_in_the_middle_of_a_transaction(void **state)
{
    sqlite3 *db = open_ledger(path_of(state), 0);

    run(db, "SELECT alineo_init(); BEGIN; SELECT alineo_append('ci', 'sb-1', 'x')");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_rows(db_of(state), "SELECT count(*) FROM alineo_events", "0");
}

static const char *const row_functions[] = {
    "SELECT * FROM alineo_replay('ci', 'sb-1')",
    "SELECT * FROM alineo_replay_cache('ci', 'sb-1')",
    "SELECT * FROM alineo_execs('ci', 'sb-1')",
    "SELECT * FROM alineo_list_checkpoints('ci', 'sb-1')",
    "SELECT * FROM alineo_list_sandboxes()",
    "SELECT * FROM alineo_list_environments()",
};

static void close_waits_for_an_unfinished_row_function_and_for_no_more(void **state)
{
    fill(db_of(state));
    for (size_t i = 0; i < COUNT_OF(row_functions); i++) {
        sqlite3 *db = open_ledger(path_of(state), 0);
        sqlite3_stmt *statement = prepare(db, row_functions[i]);
        run(db, "SELECT alineo_append('ci', 'sb-9', 'x')");
        assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
        assert_int_equal(sqlite3_close(db), SQLITE_BUSY);
        /* The connection goes on as it was, the statement too. */
        assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
        run(db, "SELECT alineo_append('ci', 'sb-9', 'y')");
        run(db, row_functions[i]);
        assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
    }
    assert_rows(db_of(state), "SELECT count(*) FROM alineo_replay('ci', 'sb-9')", "12");
}

static void close_v2_under_an_unfinished_row_function_lets_it_finish(void **state)
{
    fill(db_of(state));
    for (size_t i = 0; i < COUNT_OF(row_functions); i++) {
        sqlite3 *db = open_ledger(path_of(state), 0);
        sqlite3_stmt *statement = prepare(db, row_functions[i]);
        run(db, row_functions[i]);
        assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
        assert_int_equal(sqlite3_close_v2(db), SQLITE_OK);
        assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
        assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
        /* Closes the connection for good; valgrind sees that all is freed. */
        assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    }
}

static void the_file_is_let_go_when_the_last_statement_is(void **state)
{
    sqlite3 *db = open_ledger(path_of(state), 0);
    sqlite3 *other = open_plain(path_of(state), 0);

    fill(db);
    sqlite3_stmt *statement = prepare(db, row_functions[0]);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_int_equal(sqlite3_close_v2(db), SQLITE_OK);
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    close_ledger(db_of(state));
    ((fixture *)*state)->db = NULL;
    /* The mode changes only where no other connection has the file open. */
    assert_rows(other, "PRAGMA journal_mode = delete", "delete");
    close_ledger(other);
}

/* What a host sees that looks for statements it forgot. */
static void the_statements_kept_are_few_and_go_on_close_alone(void **state)
{
    sqlite3 *db = open_ledger(path_of(state), 0);
    size_t kept[3];

    fill(db);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < COUNT_OF(calls); i++)
            run(db, calls[i]);
        kept[round] = 0;
        for (sqlite3_stmt *s = sqlite3_next_stmt(db, NULL); s != NULL;
             s = sqlite3_next_stmt(db, s)) {
            assert_false(sqlite3_stmt_busy(s));
            kept[round]++;
        }
    }
    assert_int_equal(kept[1], kept[0]);
    assert_int_equal(kept[2], kept[0]);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void a_host_that_finalizes_nothing_of_ours_sees_no_open_cursor(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    sqlite3_stmt *statement = prepare(db, "SELECT * FROM alineo_replay('ci', 'sb-1') LIMIT 1");
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_int_equal(sqlite3_reset(statement), SQLITE_OK);
    /* Nothing reads any more: the schema may change, the mode too. */
    run(db, "DROP TABLE alineo_environments");
    assert_rows(db, "PRAGMA journal_mode = delete", "delete");
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
}

static void loading_twice_in_one_connection_changes_nothing(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    char *before = rows_of(db, "SELECT * FROM alineo_replay('ci', 'sb-1')");
    load(db);
    assert_rows(db, "SELECT * FROM alineo_replay('ci', 'sb-1')", before);
    assert_int_equal(append(db, "sb-1", "x", NULL, 9), 16);
    load(db);
    load(db);
    assert_int_equal(append(db, "sb-1", "x", NULL, 9), 17);
    assert_rows(db, "SELECT count(*) FROM pragma_module_list WHERE name LIKE 'alineo%'", "12");
    sqlite3_free(before);
}

static void loading_under_an_unfinished_row_function_is_refused_or_harmless(void **state)
{
    sqlite3 *db = db_of(state);
    char *message = NULL;

    fill(db);
    sqlite3_stmt *statement = prepare(db, row_functions[0]);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    (void)sqlite3_load_extension(db, extension_path(), NULL, &message);
    sqlite3_free(message);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    assert_int_equal(append(db, "sb-1", "x", NULL, 9), 16);
    assert_rows(db, "SELECT count(*) FROM alineo_replay('ci', 'sb-1')", "13");
}

static void two_connections_of_one_thread_keep_their_statements_apart(void **state)
{
    sqlite3 *a = db_of(state);
    sqlite3 *b = open_ledger(":memory:", 0);

    (void)append(a, "sb-1", "a", NULL, 1);
    (void)append(b, "sb-1", "b", NULL, 1);
    assert_int_equal(append(a, "sb-1", "a", NULL, 2), 2);
    close_ledger(b);
    assert_int_equal(append(a, "sb-1", "a", NULL, 3), 3);
    assert_rows(a, "SELECT group_concat(event) FROM alineo_replay('ci', 'sb-1')", "a,a,a");
}

static void the_entry_point_is_found_from_the_name_of_the_file(void **state)
{
    const char *path = extension_path();
    size_t len = strlen(path);

    (void)state;
    assert_string_equal(path + len - 3, ".so");
    /* SQLite adds the suffix, and makes sqlite3_alineo_init of "alineo". */
    sqlite3 *db = open_plain(":memory:", 0);
    assert_int_equal(sqlite3_enable_load_extension(db, 1), SQLITE_OK);
    assert_int_equal(sqlite3_load_extension(db, sqlf("%.*s", (int)len - 3, path), NULL, NULL),
                     SQLITE_OK);
    run(db, "SELECT alineo_version()");
    close_ledger(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(a_connection_closes_after_each_kind_of_call),
        FILE_TEST(a_connection_closes_after_each_kind_of_failure),
        FILE_TEST(a_connection_closes_in_the_middle_of_a_transaction),
        FILE_TEST(close_waits_for_an_unfinished_row_function_and_for_no_more),
        FILE_TEST(close_v2_under_an_unfinished_row_function_lets_it_finish),
        FILE_TEST(the_file_is_let_go_when_the_last_statement_is),
        FILE_TEST(the_statements_kept_are_few_and_go_on_close_alone),
        FILE_TEST(a_host_that_finalizes_nothing_of_ours_sees_no_open_cursor),
        FILE_TEST(loading_twice_in_one_connection_changes_nothing),
        FILE_TEST(loading_under_an_unfinished_row_function_is_refused_or_harmless),
        FILE_TEST(two_connections_of_one_thread_keep_their_statements_apart),
        MEMORY_TEST(the_entry_point_is_found_from_the_name_of_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
