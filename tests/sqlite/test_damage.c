/*
 * test_damage.c - rows that hold what no append stores, which SQLite's table
 * can: what lists shows them, what folds names them. tests/corruption tries all
 * of it; here are the rules.
 */
#include "support.h"

static void replay_shows_a_damaged_payload_as_it_is(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_init();"
            "INSERT INTO alineo_events(sandbox_id, name, step_idx, event, payload, ts)"
            " VALUES ('sb-1', 'ci', -1, 'x', '{broken', 1), ('sb-1', 'ci', -1, 'x', x'00ff', 2),"
            " ('sb-1', 'ci', -1, 'x', 7, 3), ('sb-1', 'ci', -1, 'x', '', 4)");
    assert_rows(db, "SELECT payload FROM alineo_replay('ci', 'sb-1')", "{broken\n0x00ff\n7\n");
}

static void a_damaged_exec_event_is_named_by_its_id(void **state)
{
    sqlite3 *db = db_of(state);

    (void)append(db, "sb-1", "exec.started", "{'seq':1,'cmd':'ls'}", 1);
    run(db, "UPDATE alineo_events SET payload = '{' WHERE id = 1;"
            "SELECT alineo_save_environment('py', 's', 'i')");
    assert_refused(db, "SELECT * FROM alineo_execs('ci', 'sb-1')",
                   "alineo_execs: payload of event 1 is not valid JSON at byte 1: unexpected end");
    assert_refused(db, "SELECT alineo_output('ci', 'sb-1', 1)",
                   "alineo_output: payload of event 1 is not valid JSON at byte 1: unexpected end");
}

static void a_damaged_created_event_is_listed_without_what_it_would_tell(void **state)
{
    sqlite3 *db = db_of(state);

    (void)append(db, "sb-1", "sandbox.created", "{'runId':'r'}", 1);
    (void)append(db, "sb-2", "sandbox.created", "{'runId':'r'}", 2);
    (void)append(db, "sb-1", "sandbox.closed", NULL, 3);
    run(db, "UPDATE alineo_events SET payload = '{broken' WHERE id = 1");
    assert_rows(db, "SELECT sandbox_id FROM alineo_list_sandboxes()", "sb-2\nsb-1");
    assert_rows(db, "SELECT * FROM alineo_get_sandbox('ci', 'sb-1')",
                "ci|sb-1|completed|1|3|0|sb-1|NULL|NULL|NULL|NULL");
    assert_rows(db, "SELECT sandbox_id FROM alineo_list_sandboxes(NULL, NULL, 'r')", "sb-2");
}

static void a_damaged_checkpoint_is_listed_without_what_it_would_tell(void **state)
{
    sqlite3 *db = db_of(state);

    (void)append(db, "sb-1", "snapshot", "{'snapshotId':'s-1'}", 1);
    (void)append(db, "sb-1", "snapshot", "{'snapshotId':'s-2'}", 2);
    run(db, "UPDATE alineo_events SET payload = '{broken' WHERE id = 1");
    assert_rows(db, "SELECT * FROM alineo_list_checkpoints('ci', 'sb-1')",
                "NULL|NULL|1\ns-2|NULL|2");
}

static void a_payload_that_cannot_be_read_does_not_stop_the_migration(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_init();"
            "INSERT INTO alineo_events(sandbox_id, name, step_idx, event, payload, ts) VALUES"
            " ('sb-1', 'ci', -1, 'exec_start', '{broken', 1),"
            " ('sb-1', 'ci', -1, 'exec_start', x'00ff', 2),"
            " ('sb-1', 'ci', -1, 'exec_start', 7, 3), ('sb-1', 'ci', -1, 'exec_start', NULL, 4)");
    assert_rows(db, "SELECT alineo_init()", "4");
    assert_rows(db, "SELECT event, payload FROM alineo_events ORDER BY id",
                "exec.started|{broken\nexec.started|0x00ff\nexec.started|7\nexec.started|NULL");
}

static void a_damaged_payload_is_only_text_to_json_functions(void **state)
{
    sqlite3 *db = db_of(state);

    (void)append(db, "sb-1", "x", "{'a':1}", 1);
    (void)append(db, "sb-1", "x", "{'a':1}", 2);
    (void)append(db, "sb-1", "x", "{'a':1}", 3);
    run(db, "UPDATE alineo_events SET payload = '{broken' WHERE id = 2;"
            "UPDATE alineo_events SET payload = '\"{\\\"b\\\":2}\"' WHERE id = 3");
    assert_rows(db, "SELECT json_array(payload) FROM alineo_replay('ci', 'sb-1')",
                "[{\"a\":1}]\n[\"{broken\"]\n[{\"b\":2}]");
}

/* Values of ts that SQLite keeps as they are; NULL only in another's table. */
static void a_row_is_shown_whatever_stands_in_ts(void **state)
{
    sqlite3 *db = db_of(state);

    run(db,
        "CREATE TABLE alineo_events(id INTEGER PRIMARY KEY, sandbox_id, name, step_idx, branch,"
        " event, payload, error, ts);"
        "INSERT INTO alineo_events(sandbox_id, name, step_idx, event, ts) VALUES"
        " ('sb-1', 'ci', -1, 'sandbox.created', x'ff'), ('sb-1', 'ci', -1, 'x', 'abc'),"
        " ('sb-1', 'ci', -1, 'x', 1.5), ('sb-1', 'ci', -1, 'x', 7), ('sb-1', 'ci', -1, 'x', NULL),"
        " ('sb-1', 'ci', -1, 'x', 1e300), ('sb-1', 'ci', -1, 'x', -1e300)");
    assert_rows(db, "SELECT id, ts FROM alineo_replay('ci', 'sb-1')",
                "5|NULL\n7|-1.0e+300\n3|1.5\n4|7\n6|1.0e+300\n2|abc\n1|0xff");
    assert_rows(db, "SELECT id FROM alineo_replay('ci', 'sb-1') WHERE ts >= 7", "4\n6\n2\n1");
    assert_rows(db, "SELECT id FROM alineo_replay('ci', 'sb-1') WHERE ts <= 7", "7\n3\n4");
    assert_rows(db, "SELECT id FROM alineo_replay('ci', 'sb-1') WHERE ts > -5 AND ts < 9", "3\n4");
    assert_rows(db, "SELECT id FROM alineo_replay('ci', 'sb-1') WHERE id = 5", "5");
    assert_rows(db, "SELECT sandbox_id, started_at FROM alineo_list_sandboxes()", "sb-1|0xff");
    assert_rows(db, "SELECT sandbox_id, started_at FROM alineo_list_sandboxes('ci')", "sb-1|0xff");
}

static void an_append_takes_its_ts_from_integers_alone(void **state)
{
    sqlite3 *db = db_of(state);

    (void)append(db, "sb-1", "x", NULL, 3000000000000);
    run(db, "INSERT INTO alineo_events(sandbox_id, name, step_idx, event, ts) VALUES"
            " ('sb-1', 'ci', -1, 'x', 'abc'), ('sb-1', 'ci', -1, 'x', x'ff'),"
            " ('sb-1', 'ci', -1, 'x', 1e300), ('sb-1', 'ci', -1, 'x', 3000000000000.5)");
    run(db,
        "SELECT alineo_append('ci', 'sb-1', 'y');"
        "SELECT alineo_append_batch('{\"name\":\"ci\",\"sandboxId\":\"sb-1\",\"event\":\"y\"}')");
    assert_rows(db, "SELECT typeof(ts), ts FROM alineo_events WHERE event = 'y'",
                "integer|3000000000000\ninteger|3000000000000");
}

static void a_column_that_cannot_be_read_is_named(void **state)
{
    static const struct {
        const char *damage, *error;
    } cases[] = {
        {"ts = 'abc' WHERE id = 2", "ts of event 2 is not an integer"},
        {"ts = 1.5 WHERE id = 3", "ts of event 3 is not an integer"},
        {"ts = x'ff' WHERE id = 4", "ts of event 4 is not an integer"},
        {"event = x'ff' WHERE id = 2", "event of event 2 is not text"},
        {"step_idx = 'abc', payload = '{}' WHERE id = 3", "step_idx of event 3 is not an integer"},
        {"name = x'6369' WHERE id = 1", "name of event 1 is not text"},
        {"name = CAST(x'ff' AS TEXT) WHERE id = 1", "name of event 1 is not text"},
    };
    sqlite3 *db = db_of(state);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run(db, "SELECT alineo_delete_sandbox('ci', 'sb-1');"
                "DELETE FROM alineo_events; DELETE FROM alineo_deleted");
        (void)append(db, "sb-1", "sandbox.created", NULL, 1);
        (void)append(db, "sb-1", "exec.started", "{'seq':1}", 2);
        (void)append(db, "sb-1", "exec.completed", "{'seq':1}", 3);
        (void)append(db, "sb-1", "snapshot", "{'snapshotId':'s'}", 4);
        char *sql = sqlite3_mprintf("UPDATE alineo_events SET %s", cases[i].damage);
        char *error = sqlite3_mprintf("alineo_resume: %s", cases[i].error);
        run(db, sql);
        assert_refused(db, "SELECT alineo_resume('sb-1')", error);
        assert_rows(db, "SELECT count(*) FROM alineo_replay('ci', 'sb-1')",
                    cases[i].error[0] == 'n' ? "3" : "4");
        sqlite3_free(sql);
        sqlite3_free(error);
    }
}

static void what_is_damaged_and_not_needed_changes_nothing(void **state)
{
    sqlite3 *db = db_of(state);

    (void)append(db, "sb-1", "exec.started", "{'seq':1,'cmd':'a'}", 1);
    (void)append(db, "sb-1", "exec.output", "{'seq':1,'type':'stdout','text':'x'}", 2);
    (void)append(db, "sb-1", "mine", "{}", 3);
    run(db, "UPDATE alineo_events SET step_idx = 'abc', branch = x'00', error = x'00';"
            "UPDATE alineo_events SET ts = 'abc' WHERE id > 1;"
            "UPDATE alineo_events SET payload = '{broken' WHERE id = 3");
    assert_rows(db, "SELECT seq, command, stdout FROM alineo_execs('ci', 'sb-1')", "1|a|x");
}

/* A record that ends early, as if the rest of the row had been cut off. */
static void a_truncated_row_is_shown_and_named(void **state)
{
    sqlite3 *db = db_of(state);

    run(db,
        "CREATE TABLE alineo_events(id INTEGER PRIMARY KEY, sandbox_id TEXT NOT NULL,"
        " name TEXT NOT NULL, step_idx INTEGER NOT NULL, branch INTEGER, event TEXT NOT NULL);"
        "INSERT INTO alineo_events VALUES (1, 'sb-1', 'ci', 1, NULL, 'exec.started'),"
        " (2, 'sb-1', 'ci', -1, NULL, 'sandbox.created'), (3, 'sb-1', 'ci', -1, NULL, 'snapshot');"
        "PRAGMA writable_schema = on;"
        "UPDATE sqlite_schema SET sql = 'CREATE TABLE alineo_events(id INTEGER PRIMARY KEY,"
        " sandbox_id TEXT NOT NULL, name TEXT NOT NULL, step_idx INTEGER NOT NULL, branch INTEGER,"
        " event TEXT NOT NULL, payload TEXT, error TEXT, ts INTEGER NOT NULL)';"
        "PRAGMA writable_schema = reset; SELECT alineo_init()");
    assert_rows(db, "SELECT id, event, ts FROM alineo_replay('ci', 'sb-1')",
                "1|exec.started|NULL\n2|sandbox.created|NULL\n3|sandbox.checkpoint_created|NULL");
    assert_rows(db, "SELECT sandbox_id, started_at FROM alineo_list_sandboxes()", "sb-1|NULL");
    assert_rows(db, "SELECT * FROM alineo_list_checkpoints('ci', 'sb-1')", "NULL|NULL|NULL");
    assert_refused(db, "SELECT * FROM alineo_execs('ci', 'sb-1')",
                   "alineo_execs: ts of event 1 is not an integer");
    assert_refused(db, "SELECT alineo_resume('sb-1')",
                   "alineo_resume: ts of event 3 is not an integer");
    run(db, "SELECT alineo_append('ci', 'sb-1', 'x')");
    assert_rows(db, "SELECT count(*) FROM alineo_replay('ci', 'sb-1') WHERE ts > 0", "1");
}

static void behind_the_last_id_nothing_is_appended(void **state)
{
    static const char *const full = "no id is left above that of the last event";
    static const char *const appends[] = {
        "SELECT alineo_append('ci', 'sb-1', 'x')",
        "SELECT alineo_append('ci', 'sb-1', 'x', NULL, 1, 1, 'e', 1)",
        "SELECT alineo_append_batch('{\"name\":\"ci\",\"sandboxId\":\"sb-1\",\"event\":\"x\"}')"};
    sqlite3 *db = db_of(state);

    run(db,
        "SELECT alineo_init(); INSERT INTO alineo_events(id, sandbox_id, name, step_idx, event, ts)"
        " VALUES (9223372036854775806, 'sb-1', 'ci', -1, 'x', 1); BEGIN");
    /* One is left, for a batch of two there is none. */
    assert_refused(
        db,
        "SELECT alineo_append_batch('[{\"name\":\"ci\",\"sandboxId\":\"sb-1\",\"event\":\"x\"},"
        "{\"name\":\"ci\",\"sandboxId\":\"sb-1\",\"event\":\"x\"}]')",
        "alineo_append_batch: no id is left above that of the last event");
    assert_rows(db, appends[0], "9223372036854775807");
    for (int deleted = 0; deleted < 2; deleted++) {
        for (size_t i = 0; i < sizeof appends / sizeof appends[0]; i++) {
            char *error =
                sqlite3_mprintf("%s: %s", i < 2 ? "alineo_append" : "alineo_append_batch", full);
            assert_refused(db, appends[i], error);
            sqlite3_free(error);
        }
        if (deleted == 0)
            run(db, "COMMIT; DELETE FROM alineo_events");
    }
}

static void an_event_that_is_no_text_does_not_stop_the_migration(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_init();"
            "INSERT INTO alineo_events(sandbox_id, name, step_idx, event, ts) VALUES"
            " ('sb-1', 'ci', -1, x'00ff', 1), ('sb-1', 'ci', -1, 'exec_start', 2)");
    assert_rows(db, "SELECT alineo_init()", "1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(replay_shows_a_damaged_payload_as_it_is),
        MEMORY_TEST(a_damaged_exec_event_is_named_by_its_id),
        MEMORY_TEST(a_damaged_created_event_is_listed_without_what_it_would_tell),
        MEMORY_TEST(a_damaged_checkpoint_is_listed_without_what_it_would_tell),
        MEMORY_TEST(a_payload_that_cannot_be_read_does_not_stop_the_migration),
        MEMORY_TEST(a_damaged_payload_is_only_text_to_json_functions),
        MEMORY_TEST(a_row_is_shown_whatever_stands_in_ts),
        MEMORY_TEST(an_append_takes_its_ts_from_integers_alone),
        MEMORY_TEST(a_column_that_cannot_be_read_is_named),
        MEMORY_TEST(what_is_damaged_and_not_needed_changes_nothing),
        MEMORY_TEST(a_truncated_row_is_shown_and_named),
        MEMORY_TEST(behind_the_last_id_nothing_is_appended),
        MEMORY_TEST(an_event_that_is_no_text_does_not_stop_the_migration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
