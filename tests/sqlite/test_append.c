/*
 * test_append.c - what alineo_append stores: the values given, and what it
 * fills in for those left off.
 */
#include "support.h"

#include <time.h>

/* 2100-01-01: later than any clock these tests run under. */
#define FUTURE "4102444800000"

static void all_eight_arguments_are_stored_as_given(void **state)
{
    sqlite3 *db = db_of(state);

    assert_rows(db,
                "SELECT alineo_append('ci', 'sb-1', 'agent.thought', '{\"a\":1}', 7, 2, 'boom',"
                " 1234)",
                "1");
    assert_json(db,
                "SELECT id, sandbox_id, name, step_idx, branch, event, payload, error, ts"
                " FROM alineo_events",
                "1|sb-1|ci|7|2|agent.thought|{'a':1}|boom|1234");
    assert_rows(db,
                "SELECT typeof(id), typeof(step_idx), typeof(branch), typeof(payload), typeof(ts)"
                " FROM alineo_events",
                "integer|integer|integer|text|integer");
}

static void arguments_left_off_and_null_are_the_same(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_append('ci', 'sb-1', 'x');"
            "SELECT alineo_append('ci', 'sb-1', 'x', NULL);"
            "SELECT alineo_append('ci', 'sb-1', 'x', NULL, NULL);"
            "SELECT alineo_append('ci', 'sb-1', 'x', NULL, NULL, NULL);"
            "SELECT alineo_append('ci', 'sb-1', 'x', NULL, NULL, NULL, NULL);"
            "SELECT alineo_append('ci', 'sb-1', 'x', NULL, NULL, NULL, NULL, NULL);");
    assert_rows(db,
                "SELECT DISTINCT step_idx, branch, payload, error, ts > 1700000000000"
                " FROM alineo_events",
                "-1|NULL|NULL|NULL|1");
    assert_rows(db, "SELECT count(*) FROM alineo_events", "6");
}

static void nothing_of_an_append_is_left_for_the_next(void **state)
{
    sqlite3 *db = db_of(state);

    for (int i = 0; i < 2; i++)
        run(db, "SELECT alineo_append('ci', 'sb-1', 'a', '{}', 7, 2, 'boom', 1);"
                "SELECT alineo_append('ci', 'sb-1', 'b', NULL, NULL, NULL, NULL, 1);"
                "SELECT alineo_append('ci', 'sb-1', 'a', '{}', 7, 2, 'boom');"
                "SELECT alineo_append('ci', 'sb-1', 'b')");
    assert_rows(db,
                "SELECT DISTINCT event, payload, step_idx, branch, error FROM alineo_events"
                " ORDER BY event",
                "a|{}|7|2|boom\nb|NULL|-1|NULL|NULL");
}

static const struct {
    const char *event, *payload, *step_idx;
} steps[] = {
    {"exec.started", "{'seq':3}", "3"},
    {"exec.output", "{'seq':0,'type':'stdout','text':''}", "0"},
    {"exec.completed", "{'seq':4.0}", "4"},
    {"exec.completed", "{'seq':5e0}", "5"},
    {"exec.started", "{'seq':1,'seq':2}", "2"},
    {"exec_start", "{'seq':6}", "6"}, /* a legacy name is one of exec.* too */
    {"exec.custom", "{'seq':7}", "7"},
    {"exec.started", "{'seq':2147483647}", "2147483647"},
    {"exec.started", "{'seq':2147483648}", "-1"}, /* more than step_idx may be */
    {"exec.started", "{'seq':1.5}", "-1"},
    {"exec.started", "{'seq':'3'}", "-1"},
    {"exec.started", "{'seq':null}", "-1"},
    {"exec.started", "{'x':{'seq':3}}", "-1"},
    {"exec.started", "[3]", "-1"},
    {"exec.started", NULL, "-1"},
    {"step.started", "{'seq':3}", "-1"},
    {"executive", "{'seq':3}", "-1"},
    {"exec", "{'seq':3}", "-1"},
};

static void step_idx_is_the_seq_of_an_exec_event_where_it_is_left_off(void **state)
{
    sqlite3 *db = db_of(state);

    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        sqlite3_int64 id = append(db, "sb-1", steps[i].event, steps[i].payload, 1);
        assert_rows(db, sqlf("SELECT step_idx FROM alineo_events WHERE id = %lld", id),
                    steps[i].step_idx);
    }
}

static void a_step_idx_given_wins_over_the_seq(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_append('ci', 'sb-1', 'exec.started', '{\"seq\":3}', 9);"
            "SELECT alineo_append('ci', 'sb-1', 'exec.started', '{\"seq\":3}', -1);"
            "SELECT alineo_append('ci', 'sb-1', 'exec.started', '{\"seq\":3}', 2147483647);");
    assert_rows(db, "SELECT step_idx FROM alineo_events ORDER BY id", "9\n-1\n2147483647");
}

static sqlite3_int64 clock_ms(void)
{
    struct timespec now;

    assert_int_equal(clock_gettime(CLOCK_REALTIME, &now), 0);
    return (sqlite3_int64)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void ts_is_the_current_time_where_it_is_left_off(void **state)
{
    sqlite3 *db = db_of(state);
    sqlite3_int64 before = clock_ms();

    run(db, "SELECT alineo_append('ci', 'sb-1', 'x')");
    sqlite3_int64 ts = integer(db, "SELECT ts FROM alineo_events");
    assert_in_range(ts, before, clock_ms());
}

static void ts_left_off_is_never_below_the_latest_of_the_session(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_append('ci', 'sb-1', 'a', NULL, NULL, NULL, NULL, " FUTURE ");"
            "SELECT alineo_append('ci', 'sb-1', 'b', NULL, NULL, NULL, NULL, 5);"
            "SELECT alineo_append('ci', 'sb-1', 'c');"
            "SELECT alineo_append('ci', 'sb-2', 'd');"
            "SELECT alineo_append('other', 'sb-1', 'e');");
    assert_rows(db, "SELECT event, ts = " FUTURE " FROM alineo_events ORDER BY id",
                "a|1\nb|0\nc|1\nd|0\ne|0");
    assert_rows(db, "SELECT event FROM alineo_replay('ci', 'sb-1')", "b\na\nc");
}

static void ts_left_off_in_a_transaction_is_never_below_the_latest_of_the_session(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "BEGIN;"
            "SELECT alineo_append('ci', 'sb-1', 'a');"
            "SELECT alineo_append('ci', 'sb-1', 'b', NULL, NULL, NULL, NULL, " FUTURE ");"
            "SELECT alineo_append('ci', 'sb-1', 'c');"
            "SELECT alineo_append('ci', 'sb-2', 'd');"
            "SELECT alineo_append('ci', 'sb-1', 'e');"
            "UPDATE alineo_events SET ts = ts + 1 WHERE event = 'b';"
            "SELECT alineo_append('ci', 'sb-1', 'f');"
            "INSERT INTO alineo_events(sandbox_id, name, step_idx, event, ts)"
            " VALUES ('sb-1', 'ci', -1, 'g', " FUTURE " + 2);"
            "SELECT alineo_append('ci', 'sb-1', 'h');"
            "COMMIT");
    assert_rows(
        db, "SELECT event, ts - " FUTURE " FROM alineo_events WHERE ts >= " FUTURE " ORDER BY id",
        "b|1\nc|0\ne|0\nf|1\ng|2\nh|2");
}

/* What the connection remembers of its last append is no longer the latest. */
static void ts_left_off_counts_what_other_statements_of_the_transaction_wrote(void **state)
{
    static const char *const writes[] = {
        "INSERT INTO alineo_events(sandbox_id, name, step_idx, event, ts)"
        " VALUES ('sb-1', 'ci', -1, 'x', " FUTURE ")",
        "UPDATE alineo_events SET ts = " FUTURE " WHERE event = 'a'",
        "SELECT alineo_append('ci', 'sb-1', 'x', NULL, NULL, NULL, NULL, " FUTURE ")",
        "SELECT alineo_append_batch(json_object('name', 'ci', 'sandboxId', 'sb-1', 'event', 'x',"
        " 'ts', " FUTURE "))",
    };
    sqlite3 *db = db_of(state);

    for (size_t i = 0; i < COUNT_OF(writes); i++) {
        run(db, sqlf("BEGIN; SELECT alineo_append('ci', 'sb-1', 'a'); %s;"
                     "SELECT alineo_append('ci', 'sb-1', 'b'); COMMIT",
                     writes[i]));
        assert_rows(db, "SELECT ts FROM alineo_events WHERE event = 'b'", FUTURE);
        run(db, "DELETE FROM alineo_events");
    }
}

static void ts_left_off_after_a_rollback_is_the_current_time_again(void **state)
{
    sqlite3 *db = db_of(state);
    sqlite3_int64 before = clock_ms();

    run(db, "SELECT alineo_append('ci', 'sb-1', 'a', NULL, NULL, NULL, NULL, 1);"
            "BEGIN; SELECT alineo_append('ci', 'sb-1', 'b', NULL, NULL, NULL, NULL, " FUTURE ");"
            "SELECT alineo_append('ci', 'sb-1', 'c'); ROLLBACK;"
            "BEGIN IMMEDIATE; SELECT alineo_append('ci', 'sb-1', 'd'); COMMIT");
    assert_in_range(integer(db, "SELECT ts FROM alineo_events WHERE event = 'd'"), before,
                    clock_ms());
}

static const struct {
    const char *legacy, *current;
} names[] = {
    {"sandbox_created", "sandbox.created"},
    {"exec_start", "exec.started"},
    {"exec_event", "exec.output"},
    {"exec_complete", "exec.completed"},
    {"checkpoint_created", "sandbox.checkpoint_created"},
    {"snapshot", "sandbox.checkpoint_created"},
    {"sandbox_paused", "sandbox.paused"},
    {"sandbox_resumed", "sandbox.resumed"},
    {"sandbox_closed", "sandbox.closed"},
    {"egress_rule_added", "egress.rule_added"},
    {"egress_rule_removed", "egress.rule_removed"},
    {"credential_bound", "credential.bound"},
    {"credential_revoked", "credential.revoked"},
    {"permission_requested", "permission.requested"},
    {"permission_request", "permission.requested"},
    {"permission_resolved", "permission.resolved"},
    {"run_started", "workflow.started"},
    {"workflow_complete", "workflow.completed"},
    {"workflow_failed", "workflow.failed"},
    {"step_start", "step.started"},
    {"step_complete", "step.completed"},
    {"step_failed", "step.failed"},
    {"step_rolled_back", "step.rolled_back"},
    {"checkpoint", "step.checkpointed"},
    /* Not ours to rename. */
    {"agent.checkpointed", "agent.checkpointed"},
    {"exec.started", "exec.started"},
    {"Exec_Start", "Exec_Start"},
    {"exec_start ", "exec_start "},
    {"my event", "my event"},
    {"\xc3\xa9v\xc3\xa9nement", "\xc3\xa9v\xc3\xa9nement"},
};

static void a_legacy_name_is_stored_under_its_current_one_and_others_as_they_are(void **state)
{
    sqlite3 *db = db_of(state);

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        sqlite3_int64 id = append(db, "sb-1", names[i].legacy, NULL, 1);
        assert_rows(db, sqlf("SELECT event FROM alineo_events WHERE id = %lld", id),
                    names[i].current);
    }
}

/* A row that an old SDK writes beside us. */
static void a_stored_legacy_name_is_read_as_its_current_one(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_init()");
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        run(db, sqlf("INSERT INTO alineo_events(sandbox_id, name, step_idx, event, ts)"
                     " VALUES ('sb-1', 'ci', -1, %Q, %d)",
                     names[i].legacy, (int)i));
        assert_rows(db, sqlf("SELECT event FROM alineo_replay('ci', 'sb-1') WHERE ts = %d", (int)i),
                    names[i].current);
    }
}

/* JavaScript clients bind every number as a double. */
static void doubles_with_integral_values_are_taken_as_integers(void **state)
{
    sqlite3 *db = db_of(state);
    sqlite3_stmt *statement =
        prepare(db, "SELECT alineo_append('ci', 'sb-1', 'x', NULL, ?1, ?2, NULL, ?3)");

    assert_int_equal(sqlite3_bind_double(statement, 1, 3.0), SQLITE_OK);
    assert_int_equal(sqlite3_bind_double(statement, 2, 0.0), SQLITE_OK);
    assert_int_equal(sqlite3_bind_double(statement, 3, 1795959628473.0), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    assert_rows(db, "SELECT step_idx, branch, ts, typeof(step_idx), typeof(ts) FROM alineo_events",
                "3|0|1795959628473|integer|integer");
}

static const char *const payloads[] = {
    "{\"b\" : 1,\t\"a\":\n[ 1.50, 1e2, -0, 1E+2 ] , \"b\":2}", /* space, order, duplicates */
    "{\"n\":123456789012345678901234567890,\"m\":9007199254740993}",
    "{\"t\":\"\\u0041\\/\\u00e9\xc3\xa9 \\ud83d \\ud83d\\ude00 \\u0000\"}",
    "  \"text\"  ",
    "null",
    "true",
    "[]",
    "0",
    "-1.5e-7",
    "{}",
    "\"\xef\xb7\x90\"", /* U+FDD0 */
};

static void a_payload_is_kept_to_the_byte(void **state)
{
    sqlite3 *db = db_of(state);
    sqlite3_stmt *statement = prepare(db, "SELECT alineo_append('ci', 'sb-1', 'exec.x', ?1)");

    for (size_t i = 0; i < COUNT_OF(payloads); i++) {
        assert_int_equal(sqlite3_bind_text(statement, 1, payloads[i], -1, SQLITE_STATIC),
                         SQLITE_OK);
        assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
        int id = sqlite3_column_int(statement, 0);
        assert_int_equal(sqlite3_reset(statement), SQLITE_OK);
        assert_rows(db, sqlf("SELECT payload FROM alineo_events WHERE id = %d", id), payloads[i]);
        assert_rows(db, sqlf("SELECT payload FROM alineo_replay('ci', 'sb-1') WHERE id = %d", id),
                    payloads[i]);
    }
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
}

static void a_payload_left_off_is_null_and_not_json_null(void **state)
{
    sqlite3 *db = db_of(state);

    (void)append(db, "sb-1", "a", NULL, 1);
    (void)append(db, "sb-1", "b", "null", 2);
    assert_rows(db, "SELECT payload, typeof(payload) FROM alineo_replay('ci', 'sb-1')",
                "NULL|null\nnull|text");
}

static void an_error_text_shows_what_a_text_cannot_hold(void **state)
{
    sqlite3 *db = db_of(state);

    /* NUL, and half a surrogate pair in its three generic bytes. */
    run(db, "SELECT alineo_append('ci', 'sb-1', 'x', NULL, NULL, NULL,"
            " 'a' || char(0) || 'b' || CAST(x'eda0bd' AS TEXT) || '\xc3\xa9')");
    assert_rows(db, "SELECT error FROM alineo_replay('ci', 'sb-1')",
                "a\xe2\x90\x80"
                "b\xef\xbf\xbd\xc3\xa9");
}

static void an_append_for_each_row_of_a_query_stores_one_event_each(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "CREATE TABLE t(a); INSERT INTO t VALUES ('x'), ('y'), ('z')");
    assert_rows(db, "SELECT alineo_append('ci', 'sb-1', a) FROM t ORDER BY a", "1\n2\n3");
    assert_rows(db, "SELECT id, event FROM alineo_replay('ci', 'sb-1')", "1|x\n2|y\n3|z");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(all_eight_arguments_are_stored_as_given),
        MEMORY_TEST(arguments_left_off_and_null_are_the_same),
        MEMORY_TEST(nothing_of_an_append_is_left_for_the_next),
        MEMORY_TEST(step_idx_is_the_seq_of_an_exec_event_where_it_is_left_off),
        MEMORY_TEST(a_step_idx_given_wins_over_the_seq),
        MEMORY_TEST(ts_is_the_current_time_where_it_is_left_off),
        FILE_TEST(ts_left_off_is_never_below_the_latest_of_the_session),
        FILE_TEST(ts_left_off_in_a_transaction_is_never_below_the_latest_of_the_session),
        FILE_TEST(ts_left_off_counts_what_other_statements_of_the_transaction_wrote),
        FILE_TEST(ts_left_off_after_a_rollback_is_the_current_time_again),
        MEMORY_TEST(a_legacy_name_is_stored_under_its_current_one_and_others_as_they_are),
        MEMORY_TEST(a_stored_legacy_name_is_read_as_its_current_one),
        MEMORY_TEST(doubles_with_integral_values_are_taken_as_integers),
        MEMORY_TEST(a_payload_is_kept_to_the_byte),
        MEMORY_TEST(a_payload_left_off_is_null_and_not_json_null),
        MEMORY_TEST(an_error_text_shows_what_a_text_cannot_hold),
        MEMORY_TEST(an_append_for_each_row_of_a_query_stores_one_event_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
