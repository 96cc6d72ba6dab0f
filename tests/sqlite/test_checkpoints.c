/*
 * test_checkpoints.c - alineo_list_checkpoints and alineo_last_checkpoint. What
 * was recorded last is the latest, whatever its ts.
 */
#include "support.h"

#define LIST "SELECT snapshot_id, tag, created_at FROM alineo_list_checkpoints('ci', 'sb-1')"
#define LAST                                                                                       \
    "SELECT id, event, ts, payload ->> 'snapshotId' FROM alineo_last_checkpoint('ci', 'sb-1')"

static const ledger_case cases[] = {
    {"checkpoints are listed in creation order",
     {CREATED(1, "sb-1", "{}"), CHECKPOINT(2, "sb-1", "s-1"), TAGGED(3, "sb-1", "s-2", "t"),
      CHECKPOINT(4, "sb-1", "s-3")},
     LIST,
     "s-1|NULL|2\ns-2|t|3\ns-3|NULL|4"},
    {"creation order is that of the ids where ts goes back",
     {CHECKPOINT(30, "sb-1", "s-1"), CHECKPOINT(10, "sb-1", "s-2"), CHECKPOINT(20, "sb-1", "s-3")},
     LIST,
     "s-1|NULL|30\ns-2|NULL|10\ns-3|NULL|20"},
    {"creation order is that of the ids where ts is the same",
     {CHECKPOINT(5, "sb-1", "s-2"), CHECKPOINT(5, "sb-1", "s-1")},
     LIST,
     "s-2|NULL|5\ns-1|NULL|5"},
    {"the last checkpoint is the one recorded last, though its ts goes back",
     {CHECKPOINT(30, "sb-1", "s-1"), CHECKPOINT(10, "sb-1", "s-2")},
     LAST,
     "2|sandbox.checkpoint_created|10|s-2"},
    {"the last checkpoint is the one recorded last, though others have its ts",
     {CHECKPOINT(5, "sb-1", "s-1"), CHECKPOINT(5, "sb-1", "s-2"), STARTED(5, "sb-1", 1, "ls")},
     LAST,
     "2|sandbox.checkpoint_created|5|s-2"},
    {"the name of a checkpoint of 0.2 is its tag",
     {{"sb-1", "snapshot", "{'snapshotId':'s-1','name':'old'}", 1},
      {"sb-1", "checkpoint_created", "{'snapshotId':'s-2','name':'old','tag':'new'}", 2}},
     LIST,
     "s-1|old|1\ns-2|new|2"},
    {"checkpoints of other sessions, of steps and of agents are none of this one",
     {CHECKPOINT(1, "sb-2", "s-1"),
      {"sb-1", "step.checkpointed", "{'snapshotId':'s-2'}", 2},
      {"sb-1", "agent.checkpointed", "{'snapshotId':'s-3'}", 3}},
     "SELECT (SELECT count(*) FROM alineo_list_checkpoints('ci', 'sb-1')),"
     " (SELECT count(*) FROM alineo_last_checkpoint('ci', 'sb-1'))",
     "0|0"},
    {"a checkpoint without a payload has neither snapshot nor tag",
     {{"sb-1", "sandbox.checkpoint_created", NULL, 4}},
     LIST,
     "NULL|NULL|4"},
    {"a tag shows NUL and half a surrogate pair as text columns do",
     {{"sb-1", "sandbox.checkpoint_created", "{'snapshotId':'s\\u0000','tag':'\\udc00'}", 4}},
     LIST,
     "s\xe2\x90\x80|\xef\xbf\xbd|4"},
    {"a session without a checkpoint has no last one", {CREATED(1, "sb-1", "{}")}, LAST, ""},
};

/* Rows of a ledger that was never migrated. */
static void stored_legacy_names_are_checkpoints_too(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_init();"
            "INSERT INTO alineo_events(sandbox_id, name, step_idx, event, payload, ts) VALUES"
            " ('sb-1', 'ci', -1, 'snapshot', '{\"snapshotId\":\"s-1\",\"name\":\"a\"}', 1),"
            " ('sb-1', 'ci', -1, 'checkpoint_created', '{\"snapshotId\":\"s-2\"}', 2),"
            " ('sb-1', 'ci', -1, 'checkpoint', '{\"snapshotId\":\"s-3\"}', 3)");
    assert_rows(db, LIST, "s-1|a|1\ns-2|NULL|2");
    assert_rows(db, LAST, "2|sandbox.checkpoint_created|2|s-2");
}

static void a_damaged_checkpoint_is_listed_without_what_it_would_tell(void **state)
{
    sqlite3 *db = db_of(state);

    (void)append(db, "sb-1", "snapshot", "{'snapshotId':'s-1'}", 1);
    (void)append(db, "sb-1", "snapshot", "{'snapshotId':'s-2'}", 2);
    run(db, "UPDATE alineo_events SET payload = '{broken' WHERE id = 1");
    assert_rows(db, LIST, "NULL|NULL|1\ns-2|NULL|2");
}

static void the_last_checkpoint_is_the_whole_event(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_append('ci', 'sb-1', 'sandbox.checkpoint_created',"
            " '{\"snapshotId\":\"s\"}', 4, 2, 'late', 9)");
    assert_json(db, "SELECT * FROM alineo_last_checkpoint('ci', 'sb-1')",
                "1|sb-1|ci|4|2|sandbox.checkpoint_created|{'snapshotId':'s'}|late|9");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(stored_legacy_names_are_checkpoints_too),
        MEMORY_TEST(a_damaged_checkpoint_is_listed_without_what_it_would_tell),
        MEMORY_TEST(the_last_checkpoint_is_the_whole_event),
    };
    int failed = run_cases("checkpoints", cases, COUNT_OF(cases));
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
