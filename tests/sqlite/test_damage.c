/*
 * test_damage.c - stored payloads that are no JSON, which SQLite's table can
 * hold: what lists shows them, what folds names them.
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(replay_shows_a_damaged_payload_as_it_is),
        MEMORY_TEST(a_damaged_exec_event_is_named_by_its_id),
        MEMORY_TEST(a_damaged_created_event_is_listed_without_what_it_would_tell),
        MEMORY_TEST(a_damaged_checkpoint_is_listed_without_what_it_would_tell),
        MEMORY_TEST(a_payload_that_cannot_be_read_does_not_stop_the_migration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
