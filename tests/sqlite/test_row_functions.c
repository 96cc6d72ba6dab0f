/*
 * test_row_functions.c - row functions as part of SQL: arguments from other
 * tables, missing arguments, subqueries, writes while they are read.
 */
#include "support.h"

static void fill(sqlite3 *db)
{
    static const char *const names[] = {"ci", "cd"};

    for (int n = 0; n < 2; n++)
        for (int s = 1; s <= 3; s++) {
            for (int i = 1; i <= s; i++)
                run(db, sqlf("SELECT alineo_append('%s', 'sb-%d', 'exec.started',"
                             " '{\"seq\":%d,\"cmd\":\"%s %d.%d\"}', NULL, NULL, NULL, %d);"
                             "SELECT alineo_append('%s', 'sb-%d', 'exec.completed',"
                             " '{\"seq\":%d,\"exitCode\":0}', NULL, NULL, NULL, %d)",
                             names[n], s, i, names[n], s, i, i, names[n], s, i, i));
            run(db, sqlf("SELECT alineo_append('%s', 'sb-%d', 'sandbox.checkpoint_created',"
                         " '{\"snapshotId\":\"s\",\"tag\":\"t%d\"}', NULL, NULL, NULL, 9)",
                         names[n], s, s));
        }
    run(db, "CREATE TABLE sessions(n, s); INSERT INTO sessions VALUES"
            " ('ci', 'sb-1'), ('ci', 'sb-3'), ('cd', 'sb-2'), ('ci', 'none'), (NULL, 'sb-1')");
}

#define COMMANDS "cd 2.1\ncd 2.2\nci 1.1\nci 3.1\nci 3.2\nci 3.3"

static void arguments_may_come_from_another_table_in_any_from_order(void **state)
{
    static const char *const queries[] = {
        "SELECT command FROM sessions, alineo_execs(n, s) ORDER BY 1",
        "SELECT command FROM alineo_execs(n, s), sessions ORDER BY 1",
        "SELECT command FROM sessions JOIN alineo_execs(n, s) ORDER BY 1",
        "SELECT command FROM sessions CROSS JOIN alineo_execs(n, s) ORDER BY 1",
        "SELECT e.command FROM sessions AS x, alineo_execs(x.n, x.s) AS e ORDER BY 1",
        "SELECT command FROM sessions, alineo_replay_cache(n, s) ORDER BY 1",
        "SELECT command FROM alineo_replay_cache(n, s), sessions ORDER BY 1",
        "SELECT command FROM sessions, alineo_replay_cache(n, s, 't' || substr(s, 4)) ORDER BY 1",
        "SELECT payload ->> 'cmd' FROM sessions, alineo_replay(n, s)"
        " WHERE event = 'exec.started' ORDER BY 1",
        "SELECT payload ->> 'cmd' FROM alineo_replay(n, s), sessions"
        " WHERE event = 'exec.started' ORDER BY 1",
    };
    sqlite3 *db = db_of(state);

    fill(db);
    for (size_t i = 0; i < COUNT_OF(queries); i++)
        assert_rows(db, queries[i], COMMANDS);
    run(db, "CREATE INDEX by_name ON sessions(n, s); ANALYZE");
    for (size_t i = 0; i < COUNT_OF(queries); i++)
        assert_rows(db, queries[i], COMMANDS);
}

static void an_optional_argument_may_come_from_another_table_in_any_from_order(void **state)
{
    static const char *const queries[] = {
        "SELECT sandbox_id FROM names, alineo_list_sandboxes(n) ORDER BY 1",
        "SELECT sandbox_id FROM alineo_list_sandboxes(n), names ORDER BY 1",
        "SELECT sandbox_id FROM alineo_list_sandboxes(n, NULL, r), names ORDER BY 1",
        "SELECT sandbox_id FROM names JOIN alineo_list_sandboxes(NULL, 'running', r) ORDER BY 1",
    };
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_append('ci', 'sb-1', 'sandbox.created', '{\"runId\":\"r-1\"}');"
            "SELECT alineo_append('cd', 'sb-2', 'sandbox.created', '{\"runId\":\"r-2\"}');"
            "SELECT alineo_append('cx', 'sb-3', 'sandbox.created', '{\"runId\":\"r-3\"}');"
            "CREATE TABLE names(n, r); INSERT INTO names VALUES ('ci', 'r-1'), ('cd', 'r-2')");
    for (size_t i = 0; i < COUNT_OF(queries); i++)
        assert_rows(db, queries[i], "sb-1\nsb-2");
}

static void a_left_join_keeps_the_sessions_without_rows(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    assert_rows(db,
                "SELECT s, command FROM sessions LEFT JOIN alineo_execs(n, s)"
                " WHERE seq IS NULL OR seq = 1 ORDER BY s, 2",
                "none|NULL\nsb-1|NULL\nsb-1|ci 1.1\nsb-2|cd 2.1\nsb-3|ci 3.1");
}

static void the_arguments_have_names_as_hidden_columns(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    assert_rows(db,
                "SELECT command FROM alineo_execs WHERE in_name = 'ci' AND in_sandbox_id = 'sb-1'",
                "ci 1.1");
    assert_rows(db,
                "SELECT command FROM alineo_execs WHERE in_name = 'ci'"
                " AND in_sandbox_id IN ('sb-1', 'sb-2', 'sb-9', NULL) ORDER BY 1",
                "ci 1.1\nci 2.1\nci 2.2");
    assert_rows(db,
                "SELECT command FROM alineo_execs WHERE in_name IN ('ci', 'cd')"
                " AND in_sandbox_id IN (SELECT 'sb-1') ORDER BY 1",
                "cd 1.1\nci 1.1");
    assert_rows(db,
                "SELECT command FROM alineo_execs WHERE in_name = 'ci'"
                " AND (in_sandbox_id = 'sb-1' OR in_sandbox_id = 'sb-2') ORDER BY 1",
                "ci 1.1\nci 2.1\nci 2.2");
    assert_rows(db, "SELECT command FROM alineo_execs('ci', 'sb-1') WHERE in_name = 'cd'", "");
    assert_rows(db, "SELECT in_name, in_sandbox_id FROM alineo_execs('ci', 'sb-1')", "ci|sb-1");
    assert_rows(db,
                "SELECT command FROM alineo_execs WHERE in_sandbox_id IN ('sb-3', 'sb-1')"
                " AND in_name = 'ci' ORDER BY seq, command",
                "ci 1.1\nci 3.1\nci 3.2\nci 3.3");
}

static void a_missing_argument_is_an_error_that_names_it(void **state)
{
    static const struct {
        const char *from, *error;
    } calls[] = {
        {"alineo_replay()", "alineo_replay: name is required"},
        {"alineo_replay('ci')", "alineo_replay: sandbox_id is required"},
        {"alineo_replay", "alineo_replay: name is required"},
        {"alineo_replay_cache('ci')", "alineo_replay_cache: sandbox_id is required"},
        {"alineo_execs()", "alineo_execs: name is required"},
        {"alineo_last_checkpoint('ci')", "alineo_last_checkpoint: sandbox_id is required"},
        {"alineo_list_checkpoints()", "alineo_list_checkpoints: name is required"},
        {"alineo_get_sandbox('ci')", "alineo_get_sandbox: sandbox_id is required"},
        {"alineo_get_environment()", "alineo_get_environment: name is required"},
        {"alineo_replay WHERE in_sandbox_id = 'sb-1'", "alineo_replay: name is required"},
        {"alineo_replay WHERE in_name > 'a' AND in_sandbox_id = 'sb-1'",
         "alineo_replay: name is required"},
    };
    sqlite3 *db = db_of(state);

    fill(db);
    for (size_t i = 0; i < COUNT_OF(calls); i++)
        assert_error(db, sqlf("SELECT * FROM %s", calls[i].from), SQLITE_ERROR, calls[i].error);
}

static void a_seq_asked_for_gives_that_exec_alone(void **state)
{
    static const struct {
        const char *where, *seqs;
    } wheres[] = {
        {"seq = 2", "2"},
        {"seq = 9", "NULL"},
        {"seq > 1", "2,3"},
        {"seq >= 2", "2,3"},
        {"seq < 2", "1"},
        {"seq <= 2", "1,2"},
        {"seq > 1 AND seq < 3", "2"},
        {"seq IN (1, 3)", "1,3"},
        {"seq = 2.0", "2"},
        {"seq = 2.5", "NULL"},
        {"seq = '2'", "2"},
        {"seq = NULL", "NULL"},
        {"seq = 1 AND seq = 2", "NULL"},
        {"seq <> 2", "1,3"},
        {"seq = 1 OR seq = 3", "1,3"},
        {"seq BETWEEN 2 AND 2", "2"},
        {"seq < 2.5", "1,2"},
        {"seq > 9223372036854775807", "NULL"},
    };
    static const char *const tables[] = {"alineo_execs", "alineo_replay_cache"};
    sqlite3 *db = db_of(state);

    fill(db);
    for (size_t t = 0; t < COUNT_OF(tables); t++)
        for (size_t i = 0; i < COUNT_OF(wheres); i++)
            assert_rows(db,
                        sqlf("SELECT group_concat(seq) FROM (SELECT seq FROM %s('ci', 'sb-3')"
                             " WHERE %s ORDER BY seq)",
                             tables[t], wheres[i].where),
                        wheres[i].seqs);
    assert_rows(db, "SELECT seq, command FROM alineo_execs('ci', 'sb-3') WHERE seq = 2",
                "2|ci 3.2");
}

static void rows_come_in_seq_order_and_in_any_other_asked_for(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    assert_rows(db, "SELECT seq FROM alineo_execs('ci', 'sb-3')", "1\n2\n3");
    assert_rows(db, "SELECT seq FROM alineo_execs('ci', 'sb-3') ORDER BY seq", "1\n2\n3");
    assert_rows(db, "SELECT seq FROM alineo_execs('ci', 'sb-3') ORDER BY seq DESC", "3\n2\n1");
    assert_rows(db, "SELECT seq FROM alineo_replay_cache('ci', 'sb-3') ORDER BY command DESC",
                "3\n2\n1");
    assert_rows(db, "SELECT seq FROM alineo_execs('ci', 'sb-3') ORDER BY seq LIMIT 1 OFFSET 1",
                "2");
    assert_rows(db, "SELECT seq FROM alineo_execs('ci', 'sb-3') LIMIT 2", "1\n2");
}

static void where_order_by_and_limit_over_a_list_are_those_of_sql(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_append(n, s, 'sandbox.created', NULL, NULL, NULL, NULL, ts) FROM"
            " (SELECT 'ci' AS n, 'sb-1' AS s, 10 AS ts UNION ALL VALUES ('cd', 'sb-2', 20),"
            " ('ci', 'sb-4', 30), ('ci', 'sb-3', 30), ('cd', 'sb-5', 5), ('ci', 'sb-6', 40));"
            "SELECT alineo_save_environment('b', 's', 'i', 5);"
            "SELECT alineo_save_environment('d', 's', 'i', 9);"
            "SELECT alineo_save_environment('a', 's', 'i', 5);"
            "SELECT alineo_save_environment('c', 's', 'i', 1)");
#define IDS "SELECT group_concat(substr(sandbox_id, 4), ' ') FROM "
    assert_rows(db, IDS "(SELECT * FROM alineo_list_sandboxes() ORDER BY started_at, sandbox_id)",
                "5 1 2 3 4 6");
    assert_rows(db, IDS "(SELECT * FROM alineo_list_sandboxes() ORDER BY started_at DESC LIMIT 3)",
                "6 3 4");
    assert_rows(db, IDS "(SELECT * FROM alineo_list_sandboxes() LIMIT 2 OFFSET 1)", "3 4");
    assert_rows(db,
                IDS "(SELECT * FROM alineo_list_sandboxes(NULL, NULL, NULL, NULL, 3)"
                    " ORDER BY sandbox_id)",
                "3 4 6");
    assert_rows(db,
                IDS "(SELECT * FROM alineo_list_sandboxes() WHERE started_at < 30"
                    " AND name = 'cd')",
                "2 5");
    assert_rows(db, "SELECT name FROM alineo_list_environments() ORDER BY built_at DESC LIMIT 1",
                "d");
    assert_rows(db, "SELECT name FROM alineo_list_environments() ORDER BY built_at, name",
                "c\na\nb\nd");
    assert_rows(db, "SELECT name FROM alineo_list_environments() WHERE built_at < 6 ORDER BY name",
                "a\nb\nc");
}

static void a_correlated_subquery_is_run_for_each_row(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    assert_rows(db,
                "SELECT s, (SELECT count(*) FROM alineo_replay(n, s)),"
                " (SELECT max(seq) FROM alineo_execs(n, s)) FROM sessions ORDER BY rowid",
                "sb-1|3|1\nsb-3|7|3\nsb-2|5|2\nnone|0|NULL\nsb-1|0|NULL");
    assert_rows(db,
                "SELECT s FROM sessions WHERE EXISTS (SELECT 1 FROM alineo_execs(n, s)"
                " WHERE seq = 2) ORDER BY 1",
                "sb-2\nsb-3");
    assert_rows(db,
                "SELECT seq, alineo_output('ci', 'sb-3', seq) FROM alineo_execs('ci', 'sb-3')"
                " WHERE alineo_output('ci', 'sb-3', seq + 1) IS NOT NULL",
                "1|0x\n2|0x");
}

static void a_function_may_stand_twice_in_one_query(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    assert_rows(db,
                "SELECT a.command, b.command FROM alineo_execs('ci', 'sb-2') AS a,"
                " alineo_execs('cd', 'sb-2') AS b ORDER BY a.seq, b.seq",
                "ci 2.1|cd 2.1\nci 2.1|cd 2.2\nci 2.2|cd 2.1\nci 2.2|cd 2.2");
    assert_rows(db,
                "SELECT count(*) FROM alineo_replay('ci', 'sb-3') AS a,"
                " alineo_replay('ci', 'sb-3') AS b WHERE a.id < b.id",
                "21");
    assert_rows(db,
                "SELECT command FROM alineo_execs('ci', 'sb-1') UNION ALL"
                " SELECT command FROM alineo_execs('cd', 'sb-1')",
                "ci 1.1\ncd 1.1");
    assert_rows(
        db, "SELECT count(*) FROM alineo_list_sandboxes() AS a, alineo_list_sandboxes() AS b", "0");
}

/* SQLite runs an OR as several scans and tells their rows apart by rowid or key. */
static void an_or_over_arguments_gives_the_rows_of_both_sides(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    assert_rows(db,
                "SELECT command FROM alineo_execs WHERE"
                " (in_name = 'ci' AND in_sandbox_id = 'sb-1') OR"
                " (in_name = 'cd' AND in_sandbox_id = 'sb-2') ORDER BY 1",
                "cd 2.1\ncd 2.2\nci 1.1");
    assert_rows(db, "SELECT command FROM alineo_execs('ci', 'sb-3') WHERE seq = 1 OR seq > 2",
                "ci 3.1\nci 3.3");
    assert_rows(db,
                "SELECT count(*), count(DISTINCT id) FROM alineo_replay WHERE"
                " (in_name = 'ci' AND in_sandbox_id = 'sb-3') OR"
                " (in_name = 'cd' AND in_sandbox_id = 'sb-3')",
                "14|14");
    assert_rows(db,
                "SELECT tag FROM alineo_list_checkpoints WHERE"
                " (in_name = 'ci' AND in_sandbox_id = 'sb-1') OR"
                " (in_name = 'cd' AND in_sandbox_id = 'sb-2') ORDER BY 1",
                "t1\nt2");
    run(db,
        "SELECT alineo_save_environment('a', 's', 'i'), alineo_save_environment('b', 's', 'i')");
    assert_rows(db,
                "SELECT name FROM alineo_get_environment WHERE in_name = 'a'"
                " OR (in_name = 'b' AND image = 'i') ORDER BY 1",
                "a\nb");
}

/* A subquery keeps the arguments from becoming part of the ON clause. */
#define EXECS "(SELECT * FROM alineo_execs('ci', 'sb-3'))"

static void a_right_or_full_join_gives_each_row_once(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    run(db, "CREATE TABLE wanted(seq, note); INSERT INTO wanted VALUES (2, 'two'), (3, 'three'),"
            " (9, 'nine')");
    assert_rows(db,
                "SELECT e.seq, note FROM wanted AS w RIGHT JOIN " EXECS " AS e"
                " ON e.seq = w.seq ORDER BY 1",
                "1|NULL\n2|two\n3|three");
    assert_rows(db,
                "SELECT e.seq, note FROM wanted AS w FULL JOIN " EXECS " AS e"
                " ON e.seq = w.seq ORDER BY 1, 2",
                "NULL|nine\n1|NULL\n2|two\n3|three");
    run(db, "CREATE TABLE seen(id); INSERT INTO seen SELECT id FROM alineo_replay('ci', 'sb-3')"
            " ORDER BY id LIMIT 2 OFFSET 3");
    assert_rows(db,
                "SELECT count(*), count(s.id) FROM seen AS s RIGHT JOIN"
                " (SELECT * FROM alineo_replay('ci', 'sb-3')) AS r ON r.id = s.id",
                "7|2");
}

static void an_open_statement_is_one_snapshot_and_outlives_writes(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    sqlite3_stmt *statement = prepare(db, "SELECT event FROM alineo_replay('ci', 'sb-3')");
    for (int row = 1; row <= 7; row++) {
        assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
        /* In front of where the scan is, so that it cannot meet them. */
        (void)append(db, "sb-3", "before", NULL, 0);
    }
    assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    assert_rows(db, "SELECT count(*) FROM alineo_replay('ci', 'sb-3')", "14");
}

static void a_deletion_between_steps_does_no_harm(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    sqlite3_stmt *statement = prepare(db, "SELECT seq FROM alineo_execs('ci', 'sb-3')");
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_rows(db, "SELECT alineo_delete_sandbox('ci', 'sb-3')", "7");
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW); /* folded before */
    assert_int_equal(sqlite3_reset(statement), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    statement = prepare(db, "SELECT id FROM alineo_replay('ci', 'sb-2')");
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    run(db, "DELETE FROM alineo_events");
    int rc = sqlite3_step(statement);
    assert_true(rc == SQLITE_ROW || rc == SQLITE_DONE);
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
}

static void a_prepared_call_sees_what_was_appended_since(void **state)
{
    sqlite3 *db = db_of(state);
    sqlite3_stmt *statement = prepare(db, "SELECT count(*) FROM alineo_replay(?1, ?2)");

    assert_int_equal(sqlite3_bind_text(statement, 1, "ci", -1, SQLITE_STATIC), SQLITE_OK);
    assert_int_equal(sqlite3_bind_text(statement, 2, "sb-1", -1, SQLITE_STATIC), SQLITE_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
        assert_int_equal(sqlite3_column_int(statement, 0), i);
        assert_int_equal(sqlite3_reset(statement), SQLITE_OK);
        (void)append(db, "sb-1", "x", NULL, 1);
    }
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
}

static void a_write_for_each_row_read_reads_each_row_once(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    run(db, "CREATE TABLE copies(id); INSERT INTO copies SELECT alineo_append('copy', sandbox_id,"
            " event, payload, step_idx, branch, error, ts) FROM alineo_replay('ci', 'sb-3')");
    assert_rows(db, "SELECT count(*) FROM copies", "7");
    assert_rows(db, "SELECT command FROM alineo_execs('copy', 'sb-3')", "ci 3.1\nci 3.2\nci 3.3");
}

static void a_row_function_cannot_be_written_to(void **state)
{
    sqlite3 *db = db_of(state);

    assert_error(db, "DELETE FROM alineo_replay('ci', 'sb-1')", SQLITE_ERROR,
                 "near \"(\": syntax error");
    assert_error(db, "DELETE FROM alineo_replay", SQLITE_ERROR,
                 "table alineo_replay may not be modified");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(arguments_may_come_from_another_table_in_any_from_order),
        MEMORY_TEST(an_optional_argument_may_come_from_another_table_in_any_from_order),
        MEMORY_TEST(a_left_join_keeps_the_sessions_without_rows),
        MEMORY_TEST(the_arguments_have_names_as_hidden_columns),
        MEMORY_TEST(a_missing_argument_is_an_error_that_names_it),
        MEMORY_TEST(a_seq_asked_for_gives_that_exec_alone),
        MEMORY_TEST(rows_come_in_seq_order_and_in_any_other_asked_for),
        MEMORY_TEST(where_order_by_and_limit_over_a_list_are_those_of_sql),
        MEMORY_TEST(a_correlated_subquery_is_run_for_each_row),
        MEMORY_TEST(a_function_may_stand_twice_in_one_query),
        MEMORY_TEST(an_or_over_arguments_gives_the_rows_of_both_sides),
        MEMORY_TEST(a_right_or_full_join_gives_each_row_once),
        FILE_TEST(an_open_statement_is_one_snapshot_and_outlives_writes),
        FILE_TEST(a_deletion_between_steps_does_no_harm),
        MEMORY_TEST(a_prepared_call_sees_what_was_appended_since),
        MEMORY_TEST(a_write_for_each_row_read_reads_each_row_once),
        MEMORY_TEST(a_row_function_cannot_be_written_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
