/*
 * test_fold.c - from events to execs: attempts, order, clocks that step back.
 * A case is a few events of one session, and what a query answers then.
 */
#include "support.h"

#define EXECS                                                                                      \
    "SELECT seq, command, stdout, stderr, exit_code, started_at, completed_at"                     \
    " FROM alineo_execs('ci', 'sb-1')"
#define CACHE                                                                                      \
    "SELECT seq, command, stdout, stderr, exit_code, started_at, completed_at"                     \
    " FROM alineo_replay_cache('ci', 'sb-1')"
#define SB "sb-1"

static const ledger_case cases[] = {
    {"an exec is its command, its output and its exit code",
     {STARTED(1, SB, 1, "ls"), OUTPUT(2, SB, 1, "stdout", "a"), OUTPUT(3, SB, 1, "stderr", "b"),
      OUTPUT(4, SB, 1, "stdout", "c"), COMPLETED(5, SB, 1, 2)},
     EXECS,
     "1|ls|ac|b|2|1|5"},
    {"a running exec has neither exit code nor end",
     {STARTED(1, SB, 1, "ls"), OUTPUT(2, SB, 1, "stdout", "a")},
     EXECS,
     "1|ls|a||NULL|1|NULL"},
    {"execs come in seq order, whatever the order they ran in",
     {STARTED(1, SB, 10, "c"), STARTED(2, SB, 9, "b"), STARTED(3, SB, 2, "a")},
     EXECS,
     "2|a|||NULL|3|NULL\n9|b|||NULL|2|NULL\n10|c|||NULL|1|NULL"},
    {"chunks of execs that run side by side stay apart",
     {STARTED(1, SB, 1, "a"), STARTED(1, SB, 2, "b"), OUTPUT(2, SB, 1, "stdout", "1"),
      OUTPUT(2, SB, 2, "stdout", "2"), OUTPUT(3, SB, 1, "stdout", "3"), COMPLETED(4, SB, 2, 0)},
     EXECS,
     "1|a|13||NULL|1|NULL\n2|b|2||0|1|4"},
    {"chunks of one ts are joined in the order they were recorded",
     {STARTED(5, SB, 1, "ls"), OUTPUT(5, SB, 1, "stdout", "c"), OUTPUT(5, SB, 1, "stdout", "a"),
      OUTPUT(5, SB, 1, "stdout", "b"), COMPLETED(5, SB, 1, 0)},
     EXECS,
     "1|ls|cab||0|5|5"},
    {"a clock that steps back in the middle of an exec reorders nothing",
     {STARTED(100, SB, 1, "ls"), OUTPUT(101, SB, 1, "stdout", "a"),
      OUTPUT(50, SB, 1, "stdout", "b"), OUTPUT(51, SB, 1, "stdout", "c"), COMPLETED(52, SB, 1, 0)},
     EXECS,
     "1|ls|abc||0|100|52"},
    {"a clock that steps back between attempts leaves the later recorded one the latest",
     {STARTED(100, SB, 1, "old"), COMPLETED(101, SB, 1, 1), STARTED(50, SB, 1, "new"),
      COMPLETED(51, SB, 1, 0)},
     EXECS,
     "1|new|||0|50|51"},
    {"a clock that steps back before a checkpoint leaves the execs before it covered",
     {STARTED(100, SB, 1, "a"), COMPLETED(101, SB, 1, 0), CHECKPOINT(50, SB, "s"),
      STARTED(60, SB, 2, "b"), COMPLETED(61, SB, 2, 0)},
     CACHE,
     "1|a|||0|100|101"},
    {"a clock that steps back behind a checkpoint leaves the execs behind it out",
     {STARTED(10, SB, 1, "a"), COMPLETED(11, SB, 1, 0), CHECKPOINT(100, SB, "s"),
      STARTED(50, SB, 2, "b"), COMPLETED(51, SB, 2, 0)},
     CACHE,
     "1|a|||0|10|11"},
    {"events of the ts of the checkpoint count by their ids",
     {STARTED(5, SB, 1, "a"), COMPLETED(5, SB, 1, 0), CHECKPOINT(5, SB, "s"),
      STARTED(5, SB, 2, "b"), COMPLETED(5, SB, 2, 0)},
     CACHE,
     "1|a|||0|5|5"},
    {"the latest checkpoint is the one recorded last, not the one with the highest ts",
     {STARTED(10, SB, 1, "a"), COMPLETED(11, SB, 1, 0), CHECKPOINT(100, SB, "s-1"),
      STARTED(20, SB, 2, "b"), COMPLETED(21, SB, 2, 0), CHECKPOINT(22, SB, "s-2")},
     CACHE,
     "1|a|||0|10|11\n2|b|||0|20|21"},
    {"without a checkpoint there is no replay cache",
     {STARTED(1, SB, 1, "a"), COMPLETED(2, SB, 1, 0)},
     CACHE,
     ""},
    {"the replay cache holds completed execs alone",
     {STARTED(1, SB, 1, "a"), COMPLETED(2, SB, 1, 0), STARTED(3, SB, 2, "b"),
      OUTPUT(4, SB, 2, "stdout", "x"), CHECKPOINT(5, SB, "s"), COMPLETED(6, SB, 2, 0)},
     CACHE,
     "1|a|||0|1|2"},
    {"a seq used again is a new attempt, without the output of the old one",
     {STARTED(1, SB, 1, "old"), OUTPUT(2, SB, 1, "stdout", "x"), COMPLETED(3, SB, 1, 1),
      STARTED(4, SB, 1, "new"), OUTPUT(5, SB, 1, "stdout", "y"), COMPLETED(6, SB, 1, 0)},
     EXECS,
     "1|new|y||0|4|6"},
    {"the history shows the latest attempt also where it is still running",
     {STARTED(1, SB, 1, "old"), COMPLETED(2, SB, 1, 0), STARTED(3, SB, 1, "new")},
     EXECS,
     "1|new|||NULL|3|NULL"},
    {"the cache holds the last completed attempt where the latest is still running",
     {STARTED(1, SB, 1, "old"), OUTPUT(2, SB, 1, "stdout", "x"), COMPLETED(3, SB, 1, 0),
      STARTED(4, SB, 1, "new"), OUTPUT(5, SB, 1, "stdout", "y"), CHECKPOINT(6, SB, "s")},
     CACHE,
     "1|old|x||0|1|3"},
    {"an attempt that was never completed is given up for the next one",
     {STARTED(1, SB, 1, "old"), OUTPUT(2, SB, 1, "stdout", "x"), STARTED(3, SB, 1, "new"),
      COMPLETED(4, SB, 1, 0), CHECKPOINT(5, SB, "s")},
     CACHE,
     "1|new|||0|3|4"},
    {"output before its start belongs to the attempt that then starts",
     {OUTPUT(1, SB, 1, "stdout", "early "), STARTED(2, SB, 1, "ls"),
      OUTPUT(3, SB, 1, "stdout", "late"), COMPLETED(4, SB, 1, 0)},
     EXECS,
     "1|ls|early late||0|2|4"},
    {"output with no start at all is an exec without a command",
     {OUTPUT(1, SB, 1, "stdout", "x")},
     EXECS,
     "1|NULL|x||NULL|NULL|NULL"},
    {"output after its completion still belongs to it",
     {STARTED(1, SB, 1, "ls"), OUTPUT(2, SB, 1, "stdout", "a"), COMPLETED(3, SB, 1, 0),
      OUTPUT(4, SB, 1, "stdout", "b"), CHECKPOINT(5, SB, "s")},
     CACHE,
     "1|ls|ab||0|1|3"},
    {"output after its completion and behind the checkpoint is not in the cache",
     {STARTED(1, SB, 1, "ls"), OUTPUT(2, SB, 1, "stdout", "a"), COMPLETED(3, SB, 1, 0),
      CHECKPOINT(4, SB, "s"), OUTPUT(5, SB, 1, "stdout", "b")},
     CACHE,
     "1|ls|a||0|1|3"},
    {"a completion alone is an exec that ran",
     {COMPLETED(3, SB, 1, 7), CHECKPOINT(4, SB, "s")},
     CACHE,
     "1|NULL|||7|NULL|3"},
    {"stdout and stderr of a completion replace what the chunks gave",
     {STARTED(1, SB, 1, "ls"),
      OUTPUT(2, SB, 1, "stdout", "a"),
      OUTPUT(3, SB, 1, "stderr", "b"),
      {SB, "exec.completed", "{'seq':1,'exitCode':0,'stdout':'whole','stderr':''}", 4}},
     EXECS,
     "1|ls|whole||0|1|4"},
    {"a stdout that is no string replaces nothing",
     {STARTED(1, SB, 1, "ls"),
      OUTPUT(2, SB, 1, "stdout", "a"),
      {SB, "exec.completed", "{'seq':1,'exitCode':0,'stdout':null,'stderr':['b']}", 4}},
     EXECS,
     "1|ls|a||0|1|4"},
    {"an exit code that is no integer is NULL",
     {STARTED(1, SB, 1, "a"),
      {SB, "exec.completed", "{'seq':1,'exitCode':'0'}", 2},
      STARTED(3, SB, 2, "b"),
      {SB, "exec.completed", "{'seq':2,'exitCode':1.5}", 4},
      STARTED(5, SB, 3, "c"),
      {SB, "exec.completed", "{'seq':3}", 6},
      STARTED(7, SB, 4, "d"),
      {SB, "exec.completed", "{'seq':4,'exitCode':-1.0}", 8}},
     EXECS,
     "1|a|||NULL|1|2\n2|b|||NULL|3|4\n3|c|||NULL|5|6\n4|d|||-1|7|8"},
    {"a seq is a number with an integer value, however it is spelled",
     {{SB, "exec.started", "{'seq':1,'cmd':'ls'}", 1},
      {SB, "exec.output", "{'seq':1.0,'type':'stdout','text':'a'}", 2},
      {SB, "exec.output", "{'seq':1e0,'type':'stdout','text':'b'}", 3},
      {SB, "exec.output", "{'seq':10E-1,'type':'stdout','text':'c'}", 4},
      {SB, "exec.completed", "{'seq':0.1e1,'exitCode':0}", 5}},
     EXECS,
     "1|ls|abc||0|1|5"},
    {"an event without a seq that is one is ignored by the fold",
     {STARTED(1, SB, 1, "ls"),
      {SB, "exec.output", "{'type':'stdout','text':'a'}", 2},
      {SB, "exec.output", "{'seq':'1','type':'stdout','text':'b'}", 3},
      {SB, "exec.output", "{'seq':1.5,'type':'stdout','text':'c'}", 4},
      {SB, "exec.output", "{'seq':null,'type':'stdout','text':'d'}", 5},
      {SB, "exec.completed", NULL, 6}},
     EXECS,
     "1|ls|||NULL|1|NULL"},
    {"a seq may be negative and as large as 64 bits",
     {STARTED(1, SB, -7, "a"), STARTED(2, SB, 9223372036854775807, "b"),
      STARTED(3, SB, 9223372036854775808, "c")},
     EXECS,
     "-7|a|||NULL|1|NULL\n9223372036854775807|b|||NULL|2|NULL"},
    {"command is cmd, else command, else code",
     {{SB, "exec.started", "{'seq':1,'code':'c','command':'b','cmd':'a'}", 1},
      {SB, "exec.started", "{'seq':2,'code':'c','command':'b'}", 2},
      {SB, "exec.started", "{'seq':3,'code':'c'}", 3},
      {SB, "exec.started", "{'seq':4}", 4},
      {SB, "exec.started", "{'seq':5,'cmd':null,'command':'b'}", 5}},
     "SELECT seq, command FROM alineo_execs('ci', 'sb-1')",
     "1|a\n2|b\n3|c\n4|NULL\n5|b"},
    {"types other than stdout, stderr and stdin carry no output",
     {STARTED(1, SB, 1, "ls"),
      OUTPUT(2, SB, 1, "init", "a"),
      OUTPUT(3, SB, 1, "Stdout", "b"),
      OUTPUT(4, SB, 1, "execution_complete", "c"),
      {SB, "exec.output", "{'seq':1,'text':'d'}", 5},
      {SB, "exec.output", "{'seq':1,'type':'std\\u006fut','text':'e'}", 6}},
     EXECS,
     "1|ls|e||NULL|1|NULL"},
    {"a text that is no string adds nothing",
     {STARTED(1, SB, 1, "ls"),
      {SB, "exec.output", "{'seq':1,'type':'stdout','text':7}", 2},
      {SB, "exec.output", "{'seq':1,'type':'stdout'}", 3},
      {SB, "exec.output", "{'seq':1,'type':'stdout','text':null}", 4},
      OUTPUT(5, SB, 1, "stdout", "")},
     EXECS,
     "1|ls|||NULL|1|NULL"},
    {"stdin is neither stdout nor stderr",
     {STARTED(1, SB, 1, "cat"), OUTPUT(2, SB, 1, "stdin", "typed")},
     EXECS,
     "1|cat|||NULL|1|NULL"},
    {"a tag chooses the latest checkpoint that bears it",
     {STARTED(1, SB, 1, "a"), COMPLETED(2, SB, 1, 0), TAGGED(3, SB, "s-1", "t"),
      STARTED(4, SB, 2, "b"), COMPLETED(5, SB, 2, 0), TAGGED(6, SB, "s-2", "t"),
      STARTED(7, SB, 3, "c"), COMPLETED(8, SB, 3, 0), TAGGED(9, SB, "s-3", "u")},
     "SELECT (SELECT group_concat(seq) FROM alineo_replay_cache('ci', 'sb-1', 't')),"
     " (SELECT group_concat(seq) FROM alineo_replay_cache('ci', 'sb-1', 'u')),"
     " (SELECT group_concat(seq) FROM alineo_replay_cache('ci', 'sb-1', 'v')),"
     " (SELECT group_concat(seq) FROM alineo_replay_cache('ci', 'sb-1', NULL))",
     "1,2|1,2,3|NULL|1,2,3"},
    {"a session that does not exist has no execs",
     {STARTED(1, SB, 1, "a")},
     "SELECT * FROM alineo_execs('ci', 'sb-2')",
     ""},
};

static void step_idx_stands_in_for_a_seq_that_is_missing(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_append('ci', 'sb-1', 'exec.started', '{\"cmd\":\"ls\"}', 4);"
            "SELECT alineo_append('ci', 'sb-1', 'exec.output',"
            " '{\"seq\":\"4\",\"type\":\"stdout\",\"text\":\"a\"}', 4);"
            "SELECT alineo_append('ci', 'sb-1', 'exec.completed', '{\"exitCode\":0}', 4);"
            "SELECT alineo_append('ci', 'sb-1', 'exec.started', '{\"seq\":5,\"cmd\":\"b\"}', 6);"
            "SELECT alineo_append('ci', 'sb-1', 'exec.started', '{\"cmd\":\"no\"}', -1)");
    assert_rows(db, "SELECT seq, command, stdout, exit_code FROM alineo_execs('ci', 'sb-1')",
                "4|ls|a|0\n5|b||NULL");
}

/* 0.2 rows among current ones, as an old SDK writes them beside us. */
static void legacy_names_and_current_ones_fold_alike(void **state)
{
    sqlite3 *db = db_of(state);

    run(db,
        "SELECT alineo_init();"
        "INSERT INTO alineo_events(sandbox_id, name, step_idx, event, payload, ts) VALUES"
        " ('sb-1', 'ci', 1, 'exec_start', '{\"seq\":1,\"cmd\":\"ls\"}', 1),"
        " ('sb-1', 'ci', 1, 'exec.output', '{\"seq\":1,\"type\":\"stdout\",\"text\":\"a\"}', 2),"
        " ('sb-1', 'ci', 1, 'exec_event', '{\"seq\":1,\"type\":\"stdout\",\"text\":\"b\"}', 3),"
        " ('sb-1', 'ci', 1, 'exec_complete', '{\"seq\":1,\"exitCode\":0}', 4),"
        " ('sb-1', 'ci', -1, 'snapshot', '{\"snapshotId\":\"s\"}', 5)");
    assert_rows(db, CACHE, "1|ls|ab||0|1|4");
}

static void a_damaged_exec_event_is_named_by_its_id(void **state)
{
    sqlite3 *db = db_of(state);

    (void)append(db, SB, "exec.started", "{'seq':1,'cmd':'ls'}", 1);
    run(db, "UPDATE alineo_events SET payload = '{' WHERE id = 1;"
            "SELECT alineo_save_environment('py', 's', 'i')");
    assert_refused(db, EXECS,
                   "alineo_execs: payload of event 1 is not valid JSON at byte 1: unexpected end");
    assert_refused(db, "SELECT alineo_output('ci', 'sb-1', 1)",
                   "alineo_output: payload of event 1 is not valid JSON at byte 1: unexpected end");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(step_idx_stands_in_for_a_seq_that_is_missing),
        MEMORY_TEST(legacy_names_and_current_ones_fold_alike),
        MEMORY_TEST(a_damaged_exec_event_is_named_by_its_id),
    };
    int failed = run_cases("fold", cases, COUNT_OF(cases));
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
