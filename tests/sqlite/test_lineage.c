/*
 * test_lineage.c - sessions resumed from sessions: what is inherited, from which
 * checkpoint, and where a lineage ends.
 */
#include "support.h"

#define RESUMED(ts, sandbox, parent, snapshot)                                                     \
    CREATED(ts, sandbox, "{'resumedFrom':'" parent "','snapshotId':'" snapshot "'}")
#define RAN(ts, sandbox, seq, cmd) STARTED(ts, sandbox, seq, cmd), COMPLETED(ts, sandbox, seq, 0)
#define SHELL(ts, sandbox, seq)                                                                    \
    {                                                                                              \
        sandbox, "exec.started", "{'seq':" #seq ",'cmd':'bash','interactive':true}", ts            \
    }

#define CACHED(sandbox)                                                                            \
    "SELECT (SELECT group_concat(seq || ' ' || command, ', ') FROM"                                \
    " alineo_replay_cache('ci', '" sandbox "')), alineo_resume('" sandbox "') -> '$.lineage'"
#define PART(sandbox, part) "SELECT alineo_resume('" sandbox "') -> '$." part "'"

static const ledger_case cases[] = {
    {"a third-generation resume caches every exec of every generation",
     {CREATED(1, "sb-1", "{}"), RAN(2, "sb-1", 1, "a"), CHECKPOINT(3, "sb-1", "s-1"),
      RESUMED(4, "sb-2", "sb-1", "s-1"), RAN(5, "sb-2", 2, "b"), CHECKPOINT(6, "sb-2", "s-2"),
      RESUMED(7, "sb-3", "sb-2", "s-2"), RAN(8, "sb-3", 3, "c"), CHECKPOINT(9, "sb-3", "s-3")},
     CACHED("sb-3"),
     "1 a, 2 b, 3 c|['sb-1','sb-2','sb-3']"},
    {"a session inherits what its parent had at the checkpoint it resumed from",
     {CREATED(1, "sb-1", "{}"), RAN(2, "sb-1", 1, "a"), CHECKPOINT(3, "sb-1", "s-1"),
      RAN(4, "sb-1", 2, "b"), CHECKPOINT(5, "sb-1", "s-2"), RESUMED(6, "sb-2", "sb-1", "s-1"),
      CHECKPOINT(7, "sb-2", "s-3")},
     CACHED("sb-2"),
     "1 a|['sb-1','sb-2']"},
    {"what the parent ran after that checkpoint is not inherited, clock or no clock",
     {CREATED(1, "sb-1", "{}"), RAN(50, "sb-1", 1, "a"), CHECKPOINT(40, "sb-1", "s-1"),
      RAN(10, "sb-1", 2, "b"), RESUMED(60, "sb-2", "sb-1", "s-1"), CHECKPOINT(70, "sb-2", "s-3")},
     CACHED("sb-2"),
     "1 a|['sb-1','sb-2']"},
    {"an exec of its own wins over an inherited one of that seq",
     {CREATED(1, "sb-1", "{}"), RAN(2, "sb-1", 1, "a"), RAN(2, "sb-1", 2, "b"),
      CHECKPOINT(3, "sb-1", "s-1"), RESUMED(4, "sb-2", "sb-1", "s-1"), RAN(5, "sb-2", 2, "own"),
      CHECKPOINT(6, "sb-2", "s-2")},
     CACHED("sb-2"),
     "1 a, 2 own|['sb-1','sb-2']"},
    {"output of its own does not mix with that of an inherited exec of that seq",
     {CREATED(1, "sb-1", "{}"), STARTED(2, "sb-1", 1, "a"), OUTPUT(2, "sb-1", 1, "stdout", "old"),
      CHECKPOINT(3, "sb-1", "s-1"), RESUMED(4, "sb-2", "sb-1", "s-1"),
      OUTPUT(5, "sb-2", 1, "stdout", "new"), COMPLETED(6, "sb-2", 1, 0),
      CHECKPOINT(7, "sb-2", "s-2")},
     "SELECT seq, command, stdout FROM alineo_replay_cache('ci', 'sb-2')",
     "1|NULL|new"},
    {"a resumed session without a checkpoint resumes from the one it came from",
     {CREATED(1, "sb-1", "{}"), RAN(2, "sb-1", 1, "a"), TAGGED(3, "sb-1", "s-1", "t"),
      RAN(4, "sb-1", 2, "b"), RESUMED(5, "sb-2", "sb-1", "s-1"), RAN(6, "sb-2", 3, "c")},
     "SELECT d -> '$.checkpoint', d -> '$.lineage', json_array_length(d, '$.replayCache'),"
     " d ->> '$.replayCache[0].command' FROM (SELECT alineo_resume('sb-2') AS d)",
     "{'snapshotId':'s-1','tag':'t','createdAt':3,'sandboxId':'sb-1'}|['sb-1','sb-2']|1|a"},
    {"its replay cache without a checkpoint is the inherited one too",
     {CREATED(1, "sb-1", "{}"), RAN(2, "sb-1", 1, "a"), CHECKPOINT(3, "sb-1", "s-1"),
      RESUMED(5, "sb-2", "sb-1", "s-1"), RAN(6, "sb-2", 3, "c")},
     CACHED("sb-2"),
     "1 a|['sb-1','sb-2']"},
    {"a session resumed before its parent made a checkpoint of its own goes back to the "
     "grandparent",
     {CREATED(1, "sb-1", "{}"), RAN(2, "sb-1", 1, "a"), CHECKPOINT(3, "sb-1", "s-1"),
      RESUMED(4, "sb-2", "sb-1", "s-1"), RAN(5, "sb-2", 2, "b"), RESUMED(6, "sb-3", "sb-2", "s-1"),
      RAN(7, "sb-3", 3, "c"), CHECKPOINT(8, "sb-3", "s-3")},
     CACHED("sb-3"),
     "1 a, 3 c|['sb-1','sb-2','sb-3']"},
    {"a snapshot made twice is inherited from its latest checkpoint",
     {CREATED(1, "sb-1", "{}"), RAN(2, "sb-1", 1, "a"), CHECKPOINT(3, "sb-1", "s-1"),
      RAN(4, "sb-1", 2, "b"), CHECKPOINT(5, "sb-1", "s-1"), RESUMED(6, "sb-2", "sb-1", "s-1"),
      CHECKPOINT(7, "sb-2", "s-2")},
     CACHED("sb-2"),
     "1 a, 2 b|['sb-1','sb-2']"},
    {"a parent that was deleted ends the chain",
     {RESUMED(4, "sb-2", "sb-1", "s-1"), RAN(5, "sb-2", 2, "b"), CHECKPOINT(6, "sb-2", "s-2"),
      RESUMED(7, "sb-3", "sb-2", "s-2"), RAN(8, "sb-3", 3, "c"), CHECKPOINT(9, "sb-3", "s-3")},
     CACHED("sb-3"),
     "2 b, 3 c|['sb-2','sb-3']"},
    {"a session whose parent is gone and that has no checkpoint resumes from the snapshot's id",
     {RESUMED(4, "sb-2", "sb-1", "s-1"), RAN(5, "sb-2", 2, "b")},
     "SELECT d -> '$.checkpoint', d -> '$.lineage', d -> '$.replayCache'"
     " FROM (SELECT alineo_resume('sb-2') AS d)",
     "{'snapshotId':'s-1','sandboxId':'sb-1'}|['sb-2']|[]"},
    {"a fork inherits nothing",
     {CREATED(1, "sb-1", "{}"), RAN(2, "sb-1", 1, "a"), CHECKPOINT(3, "sb-1", "s-1"),
      CREATED(4, "sb-2", "{'parentSandboxId':'sb-1','snapshotId':'s-1'}"), RAN(5, "sb-2", 2, "b"),
      CHECKPOINT(6, "sb-2", "s-2")},
     CACHED("sb-2"),
     "2 b|['sb-2']"},
    {"a tag chooses in the session, and its parent counts as of its own checkpoint",
     {CREATED(1, "sb-1", "{}"), RAN(2, "sb-1", 1, "a"), TAGGED(3, "sb-1", "s-1", "t"),
      RESUMED(4, "sb-2", "sb-1", "s-1"), RAN(5, "sb-2", 2, "b"), TAGGED(6, "sb-2", "s-2", "t"),
      RAN(7, "sb-2", 3, "c"), CHECKPOINT(8, "sb-2", "s-3")},
     "SELECT group_concat(seq || ' ' || command, ', ') FROM"
     " alineo_replay_cache('ci', 'sb-2', 't')",
     "1 a, 2 b"},
    {"the history of a resumed session is its own alone",
     {CREATED(1, "sb-1", "{}"), RAN(2, "sb-1", 1, "a"), CHECKPOINT(3, "sb-1", "s-1"),
      RESUMED(4, "sb-2", "sb-1", "s-1"), RAN(5, "sb-2", 2, "b")},
     "SELECT seq, command, alineo_output('ci', 'sb-2', 1) FROM alineo_execs('ci', 'sb-2')",
     "2|b|NULL"},

    {"settings are its own, else those of the nearest ancestor that has them",
     {CREATED(1, "sb-1",
              "{'runId':'r-1','resourceId':'res-1','teamId':'t-1','resources':{'a':1},"
              "'networkPolicy':{'b':1},'credentialProxy':{'c':1}}"),
      CHECKPOINT(2, "sb-1", "s-1"),
      CREATED(3, "sb-2",
              "{'resumedFrom':'sb-1','snapshotId':'s-1','resourceId':'res-2',"
              "'resources':{'a':2},'teamId':null}"),
      CHECKPOINT(4, "sb-2", "s-2"),
      CREATED(5, "sb-3", "{'resumedFrom':'sb-2','snapshotId':'s-2','networkPolicy':{'b':3}}"),
      CHECKPOINT(6, "sb-3", "s-3")},
     "SELECT d ->> '$.runId', d ->> '$.resourceId', d ->> '$.teamId', d -> '$.resources',"
     " d -> '$.networkPolicy', d -> '$.credentialProxy'"
     " FROM (SELECT alineo_resume('sb-3') AS d)",
     "r-1|res-2|t-1|{'a':2}|{'b':3}|{'c':1}"},
    {"runId falls back to the sandbox_id where no ancestor has one",
     {CREATED(1, "sb-1", "{}"), CHECKPOINT(2, "sb-1", "s-1"), RESUMED(3, "sb-2", "sb-1", "s-1")},
     "SELECT alineo_resume('sb-2') ->> '$.runId'",
     "sb-2"},
    {"egress rules and credentials are those of the session alone",
     {CREATED(1, "sb-1", "{}"),
      {"sb-1", "egress.rule_added", "{'rules':[{'target':'a'}]}", 2},
      {"sb-1", "credential.bound", "{'name':'k'}", 2},
      CHECKPOINT(3, "sb-1", "s-1"),
      RESUMED(4, "sb-2", "sb-1", "s-1"),
      {"sb-2", "egress.rule_added", "{'rules':[{'target':'b'}]}", 5}},
     "SELECT d -> '$.egress', d -> '$.credentials' FROM (SELECT alineo_resume('sb-2') AS d)",
     "{'apply':[{'target':'b'}],'remove':[]}|[]"},

    {"a pending exec that the resumed session has not started again stays as it was",
     {CREATED(1, "sb-1", "{}"), SHELL(2, "sb-1", 1), OUTPUT(3, "sb-1", 1, "stdin", "a"),
      OUTPUT(4, "sb-1", 1, "stdout", "x"), CHECKPOINT(5, "sb-1", "s-1"),
      OUTPUT(6, "sb-1", 1, "stdin", "late"), RESUMED(7, "sb-2", "sb-1", "s-1"),
      RAN(8, "sb-2", 2, "b"), CHECKPOINT(9, "sb-2", "s-2")},
     PART("sb-2", "pendingInteractive"),
     "[{'seq':1,'cmd':'bash','stdin':['a'],'stdout':'x'}]"},
    {"a pending exec started again has the stdin of the parent in front of its own",
     {CREATED(1, "sb-1", "{}"), SHELL(2, "sb-1", 1), OUTPUT(3, "sb-1", 1, "stdin", "a"),
      OUTPUT(4, "sb-1", 1, "stdout", "x"), CHECKPOINT(5, "sb-1", "s-1"),
      RESUMED(6, "sb-2", "sb-1", "s-1"), SHELL(7, "sb-2", 1), OUTPUT(8, "sb-2", 1, "stdin", "b"),
      OUTPUT(9, "sb-2", 1, "stdout", "y"), CHECKPOINT(10, "sb-2", "s-2"),
      RESUMED(11, "sb-3", "sb-2", "s-2"), SHELL(12, "sb-3", 1), OUTPUT(13, "sb-3", 1, "stdin", "c"),
      CHECKPOINT(14, "sb-3", "s-3")},
     PART("sb-3", "pendingInteractive"),
     "[{'seq':1,'cmd':'bash','stdin':['a','b','c'],'stdout':''}]"},
    {"a pending exec that the resumed session completed is cached and no longer pending",
     {CREATED(1, "sb-1", "{}"), SHELL(2, "sb-1", 1), CHECKPOINT(3, "sb-1", "s-1"),
      RESUMED(4, "sb-2", "sb-1", "s-1"), SHELL(5, "sb-2", 1), COMPLETED(6, "sb-2", 1, 0),
      CHECKPOINT(7, "sb-2", "s-2")},
     "SELECT d -> '$.pendingInteractive', d ->> '$.replayCache[0].command'"
     " FROM (SELECT alineo_resume('sb-2') AS d)",
     "[]|bash"},
};

static const ledger_case loops[] = {
    {"a session resumed from itself",
     {RESUMED(1, "sb-1", "sb-1", "s"), CHECKPOINT(2, "sb-1", "s")},
     "sb-1",
     ""},
    {"two sessions resumed from each other",
     {RESUMED(1, "sb-1", "sb-2", "s"), CHECKPOINT(2, "sb-1", "s"), RESUMED(3, "sb-2", "sb-1", "s"),
      CHECKPOINT(4, "sb-2", "s")},
     "sb-2",
     ""},
    {"a cycle above the session",
     {RESUMED(1, "sb-1", "sb-3", "s"), CHECKPOINT(2, "sb-1", "s"), RESUMED(3, "sb-2", "sb-1", "s"),
      CHECKPOINT(4, "sb-2", "s"), RESUMED(5, "sb-3", "sb-2", "s"), CHECKPOINT(6, "sb-3", "s"),
      RESUMED(7, "sb-4", "sb-3", "s"), CHECKPOINT(8, "sb-4", "s")},
     "sb-4",
     ""},
};

static void a_lineage_that_is_a_cycle_is_an_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(loops); i++) {
        sqlite3 *db = open_ledger(":memory:", 0);
        for (size_t e = 0; e < CASE_EVENTS && loops[i].events[e].event != NULL; e++)
            (void)append(db, loops[i].events[e].sandbox_id, loops[i].events[e].event,
                         loops[i].events[e].payload, loops[i].events[e].ts);
        const char *id = loops[i].query;
        assert_error(db, sqlf("SELECT alineo_resume('%s')", id), SQLITE_ERROR,
                     sqlf("alineo_resume: the lineage of sandbox_id '%s' is a cycle", id));
        assert_error(db, sqlf("SELECT * FROM alineo_replay_cache('ci', '%s')", id), SQLITE_ERROR,
                     sqlf("alineo_replay_cache: the lineage of sandbox_id '%s' is a cycle", id));
        close_ledger(db);
    }
}

static void a_tag_is_not_looked_for_in_the_parent(void **state)
{
    sqlite3 *db = db_of(state);

    (void)append(db, "sb-1", "sandbox.created", "{}", 1);
    (void)append(db, "sb-1", "sandbox.checkpoint_created", "{'snapshotId':'s','tag':'t'}", 2);
    (void)append(db, "sb-2", "sandbox.created", "{'resumedFrom':'sb-1','snapshotId':'s'}", 3);
    assert_error(db, "SELECT alineo_resume('sb-2', 't')", SQLITE_ERROR,
                 "alineo_resume: sandbox_id 'sb-2' has no checkpoint with tag 't'");
    assert_rows(db, "SELECT * FROM alineo_replay_cache('ci', 'sb-2', 't')", "");
}

/* A parent under another name is found; one under the child's own comes first. */
static void a_parent_may_bear_another_name(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_append('old', 'sb-1', 'sandbox.created', NULL, NULL, NULL, NULL, 1);"
            "SELECT alineo_append('old', 'sb-1', 'exec.started', '{\"seq\":1,\"cmd\":\"old\"}');"
            "SELECT alineo_append('old', 'sb-1', 'exec.completed', '{\"seq\":1}');"
            "SELECT alineo_append('old', 'sb-1', 'snapshot', '{\"snapshotId\":\"s\"}')");
    (void)append(db, "sb-2", "sandbox.created", "{'resumedFrom':'sb-1','snapshotId':'s'}", 5);
    (void)append(db, "sb-2", "sandbox.checkpoint_created", "{'snapshotId':'s-2'}", 6);
    assert_rows(db, "SELECT command FROM alineo_replay_cache('ci', 'sb-2')", "old");
    (void)append(db, "sb-1", "sandbox.created", "{}", 1);
    (void)append(db, "sb-1", "exec.started", "{'seq':1,'cmd':'own'}", 2);
    (void)append(db, "sb-1", "exec.completed", "{'seq':1}", 3);
    (void)append(db, "sb-1", "sandbox.checkpoint_created", "{'snapshotId':'s'}", 4);
    run(db, "SELECT alineo_append('old', 'sb-1', 'sandbox.created')");
    assert_rows(db, "SELECT command FROM alineo_replay_cache('ci', 'sb-2')", "own");
}

static void a_lineage_of_five_hundred_generations_is_followed_to_its_root(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "BEGIN");
    for (int i = 0; i < 500; i++) {
        (void)append(
            db, sqlf("sb-%d", i), "sandbox.created",
            i == 0 ? "{}" : sqlf("{'resumedFrom':'sb-%d','snapshotId':'s-%d'}", i - 1, i - 1), i);
        (void)append(db, sqlf("sb-%d", i), "exec.completed", sqlf("{'seq':%d,'exitCode':0}", i), i);
        (void)append(db, sqlf("sb-%d", i), "snapshot", sqlf("{'snapshotId':'s-%d'}", i), i);
    }
    run(db, "COMMIT");
    assert_rows(db,
                "SELECT json_array_length(d, '$.lineage'), d ->> '$.lineage[0]',"
                " json_array_length(d, '$.replayCache')"
                " FROM (SELECT alineo_resume('sb-499') AS d)",
                "500|sb-0|500");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(a_lineage_that_is_a_cycle_is_an_error),
        MEMORY_TEST(a_tag_is_not_looked_for_in_the_parent),
        MEMORY_TEST(a_parent_may_bear_another_name),
        MEMORY_TEST(a_lineage_of_five_hundred_generations_is_followed_to_its_root),
    };
    int failed = run_cases("lineage", cases, COUNT_OF(cases));
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
