/*
 * test_adoption.c - a ledger that the SDK's 0.2 adapter wrote: read as it
 * stands, migrated in place, and used by that adapter's SQL afterwards.
 */
#include "support.h"

#include <stdio.h>

/* A copy of the recorded ledger in the place of the test's database. */
static const char *copied(void **state)
{
    sqlite3_int64 size;
    char *content = read_file(data_path("alineo-0.2-sqlite.db"), &size);
    FILE *copy;

    close_ledger(db_of(state));
    ((fixture *)*state)->db = NULL;
    copy = fopen(path_of(state), "wb");
    assert_non_null(copy);
    assert_int_equal(fwrite(content, 1, (size_t)size, copy), size);
    assert_int_equal(fclose(copy), 0);
    sqlite3_free(content);
    return path_of(state);
}

#define LEGACY "SELECT count(*) FROM alineo_events WHERE event NOT LIKE '%.%'"

static const struct {
    const char *sql, *rows;
} answers[] = {
    {"SELECT name, sandbox_id, status, started_at, completed_at, exec_count, run_id, resumed_from"
     " FROM alineo_list_sandboxes()",
     "fork-parallel-sb-11073|sb-11073-10|completed|1795959628752|1795959628759|1|run-parallel|"
     "NULL\n"
     "parallel|sb-11073-7|completed|1795959628670|1795959628760|3|run-parallel|NULL\n"
     "binary-output|sb-11073-6|completed|1795959628623|1795959628668|4|"
     "ecee0510-84de-432f-9922-ec5b95ceb1a5|NULL\n"
     "ci-build|sb-11073-4|completed|1795959628607|1795959628621|1|"
     "23925793-dfa7-4d81-ba7b-5ef2facfc81f|sb-11073-1\n"
     "ci-build|sb-11073-1|running|1795959628473|NULL|5|"
     "23925793-dfa7-4d81-ba7b-5ef2facfc81f|NULL"},
    {"SELECT event, count(*) FROM alineo_replay('ci-build', 'sb-11073-1') GROUP BY event",
     "exec.completed|5\nexec.output|17\nexec.started|5\nsandbox.checkpoint_created|2\n"
     "sandbox.created|1"},
    {"SELECT group_concat(id) FROM alineo_replay('fork-parallel-sb-11073', 'sb-11073-10')",
     "92,93,94,95,96,97,98"},
    {"SELECT seq, length(command), length(stdout), length(stderr), exit_code, started_at,"
     " completed_at FROM alineo_replay_cache('ci-build', 'sb-11073-1')",
     "1|204|191|0|0|1795959628477|1795959628496\n"
     "2|54|2|0|0|1795959628496|1795959628578\n"
     "3|123|40|17|3|1795959628578|1795959628585\n"
     "4|39|1505|0|0|1795959628589|1795959628596"},
    {"SELECT group_concat(seq) FROM alineo_replay_cache('ci-build', 'sb-11073-1', 'built')",
     "1,2,3"},
    /* Resumed from the session above: its exec 5 is its own, not its parent's. */
    {"SELECT seq, length(stdout), exit_code FROM alineo_replay_cache('ci-build', 'sb-11073-4')",
     "1|191|0\n2|2|0\n3|40|3\n4|1505|0\n5|89|0"},
    {"SELECT d -> '$.lineage', d -> '$.checkpoint', d ->> '$.replayCache[4].command',"
     " d ->> '$.resources.cpu' FROM (SELECT alineo_resume('sb-11073-4') AS d)",
     "[\"sb-11073-1\",\"sb-11073-4\"]|{\"snapshotId\":\"snap-11073-5\",\"tag\":\"second\","
     "\"createdAt\":1795959628620,\"sandboxId\":\"sb-11073-4\"}|./app && cat src/main.c|500m"},
    {"SELECT alineo_output('binary-output', 'sb-11073-6', 1),"
     " alineo_output('binary-output', 'sb-11073-6', 2),"
     " length(alineo_output('binary-output', 'sb-11073-6', 4))",
     "0x6100620a|0xefbfbdefbfbd206e6f74207574663820f09f988020656d6f6a690a|200001"},
    {"SELECT seq, exit_code, stdout, stderr FROM alineo_execs('parallel', 'sb-11073-7')"
     " WHERE seq = 3",
     "3|7||c1\nc2\nc3\n"},
    {"SELECT snapshot_id, tag FROM alineo_list_checkpoints('parallel', 'sb-11073-7')",
     "snap-11073-8|par\nsnap-11073-9|forked"},
    {"SELECT id, event, payload ->> 'snapshotId' FROM"
     " alineo_last_checkpoint('ci-build', 'sb-11073-1')",
     "25|sandbox.checkpoint_created|snap-11073-3"},
    {"SELECT * FROM alineo_list_environments()",
     "node|snap-env-2|node:22|1795950001000\npy|snap-env-1|python:3.12|1795950000000"},
};

static void assert_answers(sqlite3 *db)
{
    for (size_t i = 0; i < COUNT_OF(answers); i++)
        assert_rows(db, answers[i].sql, answers[i].rows);
}

static void an_unmigrated_ledger_opened_read_only_lists_replays_and_resumes(void **state)
{
    sqlite3 *db = open_ledger(copied(state), SQLITE_OPEN_READONLY);

    assert_rows(db, LEGACY, "99");
    assert_answers(db);
    assert_rows(db, LEGACY, "99");
    assert_rows(db, "PRAGMA journal_mode", "delete");
    close_ledger(db);
}

static void a_read_of_an_unmigrated_ledger_that_may_be_written_changes_no_byte(void **state)
{
    sqlite3_int64 before, after;
    char *was = read_file(data_path("alineo-0.2-sqlite.db"), &before);
    sqlite3 *db = open_ledger(copied(state), 0);

    assert_answers(db);
    close_ledger(db);
    char *is = read_file(path_of(state), &after);
    assert_int_equal(after, before);
    assert_memory_equal(is, was, (size_t)before);
    sqlite3_free(was);
    sqlite3_free(is);
}

static void an_append_to_an_unmigrated_ledger_goes_behind_its_rows(void **state)
{
    sqlite3 *db = open_ledger(copied(state), 0);

    assert_int_equal(append(db, "sb-new", "exec.started", "{'seq':1}", 1), 100);
    assert_rows(db, LEGACY, "99");
    assert_answers(db);
    close_ledger(db);
}

static void init_migrates_every_legacy_row_once(void **state)
{
    sqlite3 *db = open_ledger(copied(state), 0);

    assert_rows(db, LEGACY, "99");
    char *payloads = rows_of(db, "SELECT id, payload, ts FROM alineo_events ORDER BY id");
    assert_rows(db, "SELECT alineo_init()", "99");
    assert_rows(db, LEGACY, "0");
    assert_rows(db, "SELECT alineo_init()", "0");
    assert_rows(db, "SELECT id, payload, ts FROM alineo_events ORDER BY id", payloads);
    assert_answers(db);
    sqlite3_free(payloads);
    close_ledger(db);
}

static void a_migration_rolls_back_with_its_transaction(void **state)
{
    sqlite3 *db = open_ledger(copied(state), 0);

    run(db, "BEGIN");
    assert_rows(db, "SELECT alineo_init()", "99");
    run(db, "ROLLBACK");
    assert_rows(db, LEGACY, "99");
    assert_rows(db, "SELECT alineo_init()", "99");
    close_ledger(db);
}

/* The statements of the 0.2 adapter, through a connection without the extension. */
static void the_sql_of_the_old_adapter_goes_on_working_on_a_migrated_ledger(void **state)
{
    const char *path = copied(state);
    sqlite3 *db = open_ledger(path, 0);
    sqlite3 *old = open_plain(path, 0);

    run(db, "SELECT alineo_init()");
    run(old, "CREATE TABLE IF NOT EXISTS alineo_events (id INTEGER PRIMARY KEY AUTOINCREMENT);"
             "CREATE INDEX IF NOT EXISTS alineo_events_name ON alineo_events(name)");
    run(old, "INSERT INTO alineo_events (sandbox_id, name, step_idx, branch, event, payload,"
             " error, ts) VALUES"
             " ('old-1', 'ci', -1, NULL, 'sandbox_created', '{\"runId\":\"r\"}', NULL, 1),"
             " ('old-1', 'ci', 1, NULL, 'exec_start', '{\"seq\":1,\"cmd\":\"ls\"}', NULL, 2),"
             " ('old-1', 'ci', 1, NULL, 'exec_complete', '{\"seq\":1,\"exitCode\":0}', NULL, 3),"
             " ('old-1', 'ci', -1, NULL, 'snapshot', '{\"snapshotId\":\"s\"}', NULL, 4)");
    assert_rows(old,
                "SELECT event FROM alineo_events WHERE name = 'ci' AND sandbox_id = 'old-1'"
                " ORDER BY ts ASC, id ASC",
                "sandbox_created\nexec_start\nexec_complete\nsnapshot");
    assert_rows(db, "SELECT run_id FROM alineo_get_sandbox('ci', 'old-1')", "r");
    assert_rows(db, "SELECT command, exit_code FROM alineo_replay_cache('ci', 'old-1')", "ls|0");
    assert_rows(old, "SELECT max(id) FROM alineo_events", "103");
    run(old, "INSERT INTO alineo_environments (name, snapshot_id, image, built_at)"
             " VALUES ('py', 's-2', 'i', 9) ON CONFLICT(name) DO UPDATE SET"
             " snapshot_id = excluded.snapshot_id, image = excluded.image,"
             " built_at = excluded.built_at");
    assert_rows(db, "SELECT snapshot_id FROM alineo_get_environment('py')", "s-2");
    run(old, "DELETE FROM alineo_events WHERE name = 'ci' AND sandbox_id = 'old-1'");
    assert_int_equal(append(db, "sb-new", "x", NULL, 1), 104);
    assert_rows(db, "SELECT alineo_init()", "0");
    close_ledger(old);
    close_ledger(db);
}

static void the_old_adapter_and_the_extension_can_share_an_unmigrated_ledger(void **state)
{
    const char *path = copied(state);
    sqlite3 *db = open_ledger(path, 0);
    sqlite3 *old = open_plain(path, 0);

    for (int i = 0; i < 5; i++) {
        (void)append(db, "sb-11073-4", "exec.output", "{'seq':9,'type':'stdout','text':'n'}", i);
        run(old, "INSERT INTO alineo_events (sandbox_id, name, step_idx, event, payload, ts) VALUES"
                 " ('sb-11073-4', 'ci', 9, 'exec_event',"
                 " '{\"seq\":9,\"type\":\"stdout\",\"text\":\"o\"}', 1)");
    }
    assert_rows(db, "SELECT stdout FROM alineo_execs('ci', 'sb-11073-4')", "nonononono");
    assert_rows(db, "SELECT count(*), max(id) FROM alineo_events", "109|109");
    close_ledger(old);
    close_ledger(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(an_unmigrated_ledger_opened_read_only_lists_replays_and_resumes),
        FILE_TEST(a_read_of_an_unmigrated_ledger_that_may_be_written_changes_no_byte),
        FILE_TEST(an_append_to_an_unmigrated_ledger_goes_behind_its_rows),
        FILE_TEST(init_migrates_every_legacy_row_once),
        FILE_TEST(a_migration_rolls_back_with_its_transaction),
        FILE_TEST(the_sql_of_the_old_adapter_goes_on_working_on_a_migrated_ledger),
        FILE_TEST(the_old_adapter_and_the_extension_can_share_an_unmigrated_ledger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
