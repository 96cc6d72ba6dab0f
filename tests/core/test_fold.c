/*
 * test_fold.c - recorded exec events become execs and attempts.
 */
#include "support.h"
#include "fold.h"

#define EVENT(id, event, payload)                                                                  \
    {                                                                                              \
        id, (id)*10, -1, "ci", "sb", event, payload                                                \
    }
#define STARTED(id, payload)   EVENT(id, "exec.started", payload)
#define OUTPUT(id, payload)    EVENT(id, "exec.output", payload)
#define COMPLETED(id, payload) EVENT(id, "exec.completed", payload)
/* An event whose row has this step_idx. */
#define AT_STEP(id, step, event, payload)                                                          \
    {                                                                                              \
        id, (id)*10, step, "ci", "sb", event, payload                                              \
    }

/* Asserts what the fold makes of the events: each exec's latest attempt, or
 * what the replay cache holds of a settled session. See describe_latest. */
#define assert_latest(expected, ...)  assert_fold(false, expected, __VA_ARGS__)
#define assert_settled(expected, ...) assert_fold(true, expected, __VA_ARGS__)
#define assert_fold(settled, expected, ...)                                                        \
    check_fold((const test_event[]){__VA_ARGS__}, COUNT_OF(((const test_event[]){__VA_ARGS__})),   \
               settled, expected, __LINE__)

static void check_fold(const test_event *events, size_t count, bool settled, const char *expected,
                       int line)
{
    alineo_fold fold;
    alineo_buffer out;
    test_heap heap;

    heap_init(&heap);
    alineo_fold_init(&fold, &heap.memory);
    alineo_buffer_init(&out, &heap.memory);
    assert_int_equal(feed(&fold, events, count), ALINEO_FOLD_OK);
    if (settled)
        assert_true(alineo_fold_settle(&fold));
    alineo_fold_sort(&fold);
    (settled ? describe_settled : describe_latest)(&out, &fold);
    check_json(alineo_buffer_span(&out), expected, __FILE__, line);
    alineo_buffer_free(&out);
    alineo_fold_free(&fold);
    heap_check(&heap);
}

static void an_exec_has_command_output_exit_code_and_times(void **state)
{
    (void)state;
    assert_latest("1 'ls' out 'a' err 'e' exit 2 at 10..40\n", STARTED(1, "{'seq':1,'cmd':'ls'}"),
                  OUTPUT(2, "{'seq':1,'type':'stdout','text':'a'}"),
                  OUTPUT(3, "{'seq':1,'type':'stderr','text':'e'}"),
                  COMPLETED(4, "{'seq':1,'exitCode':2}"));
}

static void legacy_events_are_folded_alike(void **state)
{
    (void)state;
    assert_latest("1 'ls' out 'a' err '' exit 0 at 10..30\n",
                  EVENT(1, "exec_start", "{'seq':1,'cmd':'ls'}"),
                  EVENT(2, "exec_event", "{'seq':1,'type':'stdout','text':'a'}"),
                  EVENT(3, "exec_complete", "{'seq':1,'exitCode':0}"));
}

static void events_that_are_no_exec_are_passed_over(void **state)
{
    (void)state;
    assert_latest("", EVENT(1, "sandbox.created", "{'seq':1}"),
                  EVENT(2, "step.started", "{'seq':1,'cmd':'ls'}"),
                  EVENT(3, "exec.cancelled", "{'seq':1}"), EVENT(4, "snapshot", NULL));
}

static void command_is_cmd_else_command_else_code(void **state)
{
    (void)state;
    assert_latest("1 'a' out '' err '' exit - at 10..-\n",
                  STARTED(1, "{'seq':1,'code':'c','command':'b','cmd':'a'}"));
    assert_latest("1 'b' out '' err '' exit - at 10..-\n",
                  STARTED(1, "{'seq':1,'code':'c','command':'b','cmd':null}"));
    assert_latest("1 'c' out '' err '' exit - at 10..-\n", STARTED(1, "{'seq':1,'code':'c'}"));
    assert_latest("1 - out '' err '' exit - at 10..-\n", STARTED(1, "{'seq':1}"));
    assert_latest("1 '' out '' err '' exit - at 10..-\n", STARTED(1, "{'seq':1,'cmd':''}"));
}

static void seq_is_a_number_with_an_integer_value(void **state)
{
    (void)state;
    assert_latest("1 'ls' out 'a' err '' exit 0 at 10..30\n", STARTED(1, "{'seq':1,'cmd':'ls'}"),
                  OUTPUT(2, "{'seq':1.0,'type':'stdout','text':'a'}"),
                  COMPLETED(3, "{'seq':1e0,'exitCode':0}"));
    assert_latest("9007199254740993 - out '' err '' exit - at 10..-\n",
                  STARTED(1, "{'seq':9007199254740993}"));
}

static void step_idx_stands_in_where_there_is_no_seq(void **state)
{
    (void)state;
    assert_latest("4 'ls' out 'a' err '' exit 0 at 10..30\n",
                  AT_STEP(1, 4, "exec.started", "{'cmd':'ls'}"),
                  AT_STEP(2, 4, "exec.output", "{'seq':'x','type':'stdout','text':'a'}"),
                  AT_STEP(3, 4, "exec.completed", "{'seq':1.5,'exitCode':0}"));
    assert_latest("0 - out '' err '' exit - at -..10\n", AT_STEP(1, 0, "exec.completed", NULL));
    /* A seq wins over it. */
    assert_latest("2 - out '' err '' exit - at 10..-\n",
                  AT_STEP(1, 7, "exec.started", "{'seq':2}"));
}

static void an_event_with_neither_seq_nor_step_idx_is_ignored(void **state)
{
    (void)state;
    assert_latest("", STARTED(1, "{'cmd':'ls'}"), STARTED(2, NULL), STARTED(3, "[1]"),
                  OUTPUT(4, "{'type':'stdout','text':'a'}"),
                  AT_STEP(5, -2, "exec.completed", "{'exitCode':0}"));
}

static void a_second_start_opens_a_new_attempt(void **state)
{
    (void)state;
    /* While the first one runs, and after it completed. */
    assert_latest("1 'b' out 'y' err '' exit - at 30..-\n", STARTED(1, "{'seq':1,'cmd':'a'}"),
                  OUTPUT(2, "{'seq':1,'type':'stdout','text':'x'}"),
                  STARTED(3, "{'seq':1,'cmd':'b'}"),
                  OUTPUT(4, "{'seq':1,'type':'stdout','text':'y'}"));
    assert_latest("1 'b' out 'y' err '' exit - at 40..-\n", STARTED(1, "{'seq':1,'cmd':'a'}"),
                  OUTPUT(2, "{'seq':1,'type':'stdout','text':'x'}"),
                  COMPLETED(3, "{'seq':1,'exitCode':0}"), STARTED(4, "{'seq':1,'cmd':'b'}"),
                  OUTPUT(5, "{'seq':1,'type':'stdout','text':'y'}"));
}

static void the_cache_holds_the_last_completed_attempt(void **state)
{
    (void)state;
    assert_settled("1 'b' out '' err '' exit 2 at 30..40\n", STARTED(1, "{'seq':1,'cmd':'a'}"),
                   COMPLETED(2, "{'seq':1,'exitCode':1}"), STARTED(3, "{'seq':1,'cmd':'b'}"),
                   COMPLETED(4, "{'seq':1,'exitCode':2}"));
    /* One that runs again does not take its place. */
    assert_settled("1 'a' out 'x' err '' exit 1 at 10..30\n", STARTED(1, "{'seq':1,'cmd':'a'}"),
                   OUTPUT(2, "{'seq':1,'type':'stdout','text':'x'}"),
                   COMPLETED(3, "{'seq':1,'exitCode':1}"), STARTED(4, "{'seq':1,'cmd':'b'}"),
                   OUTPUT(5, "{'seq':1,'type':'stdout','text':'y'}"));
    /* One that was given up is not completed by a later one. */
    assert_settled("1 'b' out 'y' err '' exit 0 at 20..40\n", STARTED(1, "{'seq':1,'cmd':'a'}"),
                   STARTED(2, "{'seq':1,'cmd':'b'}"),
                   OUTPUT(3, "{'seq':1,'type':'stdout','text':'y'}"),
                   COMPLETED(4, "{'seq':1,'exitCode':0}"));
}

static void execs_that_never_completed_are_not_in_the_cache(void **state)
{
    (void)state;
    assert_settled("2 'b' out '' err '' exit 0 at 20..30\n", STARTED(1, "{'seq':1,'cmd':'a'}"),
                   STARTED(2, "{'seq':2,'cmd':'b'}"), COMPLETED(3, "{'seq':2,'exitCode':0}"),
                   OUTPUT(4, "{'seq':3,'type':'stdout','text':'c'}"));
}

static void output_before_its_start_joins_the_attempt(void **state)
{
    (void)state;
    assert_latest(
        "1 'ls' out 'ab' err 'e' exit 0 at 30..50\n",
        OUTPUT(1, "{'seq':1,'type':'stdout','text':'a'}"),
        OUTPUT(2, "{'seq':1,'type':'stderr','text':'e'}"), STARTED(3, "{'seq':1,'cmd':'ls'}"),
        OUTPUT(4, "{'seq':1,'type':'stdout','text':'b'}"), COMPLETED(5, "{'seq':1,'exitCode':0}"));
    /* Only the first start joins it. */
    assert_latest("1 'b' out '' err '' exit - at 30..-\n",
                  OUTPUT(1, "{'seq':1,'type':'stdout','text':'a'}"),
                  STARTED(2, "{'seq':1,'cmd':'a'}"), STARTED(3, "{'seq':1,'cmd':'b'}"));
}

static void a_start_after_the_completion_opens_a_new_attempt(void **state)
{
    (void)state;
    assert_latest("1 'new' out 'b' err '' exit - at 30..-\n",
                  OUTPUT(1, "{'seq':1,'type':'stdout','text':'a'}"),
                  COMPLETED(2, "{'seq':1,'exitCode':0}"), STARTED(3, "{'seq':1,'cmd':'new'}"),
                  OUTPUT(4, "{'seq':1,'type':'stdout','text':'b'}"));
    /* What was completed stays as it is known, without a command. */
    assert_settled("1 - out 'a' err '' exit 0 at -..20\n",
                   OUTPUT(1, "{'seq':1,'type':'stdout','text':'a'}"),
                   COMPLETED(2, "{'seq':1,'exitCode':0}"), STARTED(3, "{'seq':1,'cmd':'new'}"));
}

static void output_with_no_attempt_open_opens_one(void **state)
{
    (void)state;
    assert_latest("1 - out 'a' err '' exit - at -..-\n",
                  OUTPUT(1, "{'seq':1,'type':'stdout','text':'a'}"));
    assert_settled("1 - out 'a' err '' exit 0 at -..20\n",
                   OUTPUT(1, "{'seq':1,'type':'stdout','text':'a'}"),
                   COMPLETED(2, "{'seq':1,'exitCode':0}"));
}

static void output_after_the_completion_is_appended(void **state)
{
    (void)state;
    assert_settled(
        "1 'ls' out 'ab' err 'e' in ['i'] exit 0 at 10..30\n", STARTED(1, "{'seq':1,'cmd':'ls'}"),
        OUTPUT(2, "{'seq':1,'type':'stdout','text':'a'}"), COMPLETED(3, "{'seq':1,'exitCode':0}"),
        OUTPUT(4, "{'seq':1,'type':'stdout','text':'b'}"),
        OUTPUT(5, "{'seq':1,'type':'stderr','text':'e'}"),
        OUTPUT(6, "{'seq':1,'type':'stdin','text':'i'}"));
}

static void a_completion_with_no_attempt_open_opens_one(void **state)
{
    (void)state;
    assert_settled("1 - out 'o' err '' exit 3 at -..10\n",
                   COMPLETED(1, "{'seq':1,'exitCode':3,'stdout':'o'}"));
}

static void whole_output_in_a_completion_replaces_the_chunks(void **state)
{
    (void)state;
    assert_latest("1 'ls' out 'whole' err 'e' exit 0 at 10..40\n",
                  STARTED(1, "{'seq':1,'cmd':'ls'}"),
                  OUTPUT(2, "{'seq':1,'type':'stdout','text':'chunk'}"),
                  OUTPUT(3, "{'seq':1,'type':'stderr','text':'e'}"),
                  COMPLETED(4, "{'seq':1,'exitCode':0,'stdout':'whole'}"));
    assert_latest("1 'ls' out 'chunk' err '' exit 0 at 10..40\n",
                  STARTED(1, "{'seq':1,'cmd':'ls'}"),
                  OUTPUT(2, "{'seq':1,'type':'stdout','text':'chunk'}"),
                  OUTPUT(3, "{'seq':1,'type':'stderr','text':'e'}"),
                  COMPLETED(4, "{'seq':1,'exitCode':0,'stderr':''}"));
    /* What is no string replaces nothing. */
    assert_latest("1 'ls' out 'chunk' err 'e' exit 0 at 10..40\n",
                  STARTED(1, "{'seq':1,'cmd':'ls'}"),
                  OUTPUT(2, "{'seq':1,'type':'stdout','text':'chunk'}"),
                  OUTPUT(3, "{'seq':1,'type':'stderr','text':'e'}"),
                  COMPLETED(4, "{'seq':1,'exitCode':0,'stdout':null,'stderr':7}"));
}

static void an_exit_code_that_is_no_integer_is_null(void **state)
{
    (void)state;
    assert_settled(
        "1 - out '' err '' exit - at -..10\n"
        "2 - out '' err '' exit - at -..20\n"
        "3 - out '' err '' exit - at -..30\n"
        "4 - out '' err '' exit - at -..40\n"
        "5 - out '' err '' exit -1 at -..50\n"
        "6 - out '' err '' exit 137 at -..60\n",
        COMPLETED(1, "{'seq':1}"), COMPLETED(2, "{'seq':2,'exitCode':null}"),
        COMPLETED(3, "{'seq':3,'exitCode':'0'}"), COMPLETED(4, "{'seq':4,'exitCode':0.5}"),
        COMPLETED(5, "{'seq':5,'exitCode':-1}"), COMPLETED(6, "{'seq':6,'exitCode':137.0}"));
}

static void only_text_of_the_three_streams_is_output(void **state)
{
    (void)state;
    assert_latest("1 - out '' err '' exit - at 10..-\n", STARTED(1, "{'seq':1}"),
                  OUTPUT(2, "{'seq':1,'type':'exit','text':'a'}"),
                  OUTPUT(3, "{'seq':1,'type':'STDOUT','text':'a'}"),
                  OUTPUT(4, "{'seq':1,'type':'stdouts','text':'a'}"),
                  OUTPUT(5, "{'seq':1,'text':'a'}"), OUTPUT(6, "{'seq':1,'type':1,'text':'a'}"),
                  OUTPUT(7, "{'seq':1,'type':'stdout'}"),
                  OUTPUT(8, "{'seq':1,'type':'stdout','text':7}"),
                  OUTPUT(9, "{'seq':1,'type':'stdout','text':null}"));
    /* It does not open an attempt either. */
    assert_latest("", OUTPUT(1, "{'seq':1,'type':'exit','text':'a'}"),
                  OUTPUT(2, "{'seq':1,'type':'stdout','text':[]}"));
    assert_latest("1 - out 'a' err '' exit - at -..-\n",
                  OUTPUT(1, "{'seq':1,'type':'std\\u006fut','text':'a'}"));
}

static void an_empty_text_adds_nothing(void **state)
{
    (void)state;
    assert_latest("1 - out 'a' err '' in ['x'] exit - at 10..-\n", STARTED(1, "{'seq':1}"),
                  OUTPUT(2, "{'seq':1,'type':'stdout','text':''}"),
                  OUTPUT(3, "{'seq':1,'type':'stdout','text':'a'}"),
                  OUTPUT(4, "{'seq':1,'type':'stdin','text':''}"),
                  OUTPUT(5, "{'seq':1,'type':'stdin','text':'x'}"),
                  OUTPUT(6, "{'seq':1,'type':'stdin','text':''}"));
}

static void chunks_are_joined_in_order_and_halves_with_them(void **state)
{
    (void)state;
    assert_latest("1 - out '<\xF0\x9F\x98\x80\\u0000>' err '\\ud83d' exit - at 10..-\n",
                  STARTED(1, "{'seq':1}"), OUTPUT(2, "{'seq':1,'type':'stdout','text':'<\\ud83d'}"),
                  OUTPUT(3, "{'seq':1,'type':'stderr','text':'\\ud83d'}"),
                  OUTPUT(4, "{'seq':1,'type':'stdout','text':'\\ude00\\u0000>'}"));
}

static void the_texts_of_stdin_stay_apart_and_join_as_a_stream(void **state)
{
    static const test_event events[] = {
        STARTED(1, "{'seq':1}"),
        OUTPUT(2, "{'seq':1,'type':'stdin','text':'a\\ud83d'}"),
        OUTPUT(3, "{'seq':1,'type':'stdin','text':'\\ude00b'}"),
        OUTPUT(4, "{'seq':1,'type':'stdout','text':'o'}"),
        OUTPUT(5, "{'seq':1,'type':'stderr','text':'e'}"),
    };
    alineo_fold fold;
    alineo_buffer out;
    test_heap heap;

    (void)state;
    heap_init(&heap);
    alineo_fold_init(&fold, &heap.memory);
    alineo_buffer_init(&out, &heap.memory);
    assert_int_equal(feed(&fold, events, COUNT_OF(events)), ALINEO_FOLD_OK);
    describe_latest(&out, &fold);
    assert_json(alineo_buffer_span(&out),
                "1 - out 'o' err 'e' in ['a\\ud83d','\\ude00b'] exit - at 10..-\n");
    out.len = 0;
    alineo_attempt_stream(&out, alineo_fold_exec(&fold, 0)->current, ALINEO_STDIN);
    alineo_attempt_stream(&out, alineo_fold_exec(&fold, 0)->current, ALINEO_STDOUT);
    alineo_attempt_stream(&out, alineo_fold_exec(&fold, 0)->current, ALINEO_STDERR);
    assert_text(alineo_buffer_span(&out), S("a\xF0\x9F\x98\x80"
                                            "boe"));
    alineo_buffer_free(&out);
    alineo_fold_free(&fold);
    heap_check(&heap);
}

static void an_interactive_exec_that_runs_is_pending(void **state)
{
    (void)state;
    assert_settled("pending 1 'sh' out 'o' err 'e' in ['a','b'] cwd '/w' env {'A':'1','BB':'2'}"
                   " exit - at 10..-\n",
                   STARTED(1, "{'seq':1,'cmd':'sh','interactive':true,'cwd':'/w',"
                              "'env':{'BB':'2', 'A':'1'}}"),
                   OUTPUT(2, "{'seq':1,'type':'stdin','text':'a'}"),
                   OUTPUT(3, "{'seq':1,'type':'stdout','text':'o'}"),
                   OUTPUT(4, "{'seq':1,'type':'stdin','text':'b'}"),
                   OUTPUT(5, "{'seq':1,'type':'stderr','text':'e'}"));
}

static void an_exec_is_not_pending_unless_interactive_open_and_uncached(void **state)
{
    (void)state;
    assert_settled("", STARTED(1, "{'seq':1,'cmd':'sh','interactive':'true'}"),
                   STARTED(2, "{'seq':2,'cmd':'sh','interactive':1}"),
                   STARTED(3, "{'seq':3,'cmd':'sh','interactive':false}"),
                   STARTED(4, "{'seq':4,'cmd':'sh'}"),
                   OUTPUT(5, "{'seq':5,'type':'stdin','text':'a'}"));
    assert_settled("1 'sh' out '' err '' exit 0 at 10..20\n",
                   STARTED(1, "{'seq':1,'cmd':'sh','interactive':true}"),
                   COMPLETED(2, "{'seq':1,'exitCode':0}"));
    /* Its seq is in the cache from an earlier attempt. */
    assert_settled("1 'sh' out '' err '' exit 0 at 10..20\n",
                   STARTED(1, "{'seq':1,'cmd':'sh','interactive':true}"),
                   COMPLETED(2, "{'seq':1,'exitCode':0}"),
                   STARTED(3, "{'seq':1,'cmd':'sh','interactive':true}"));
    /* Only the latest attempt counts. */
    assert_settled("", STARTED(1, "{'seq':1,'cmd':'sh','interactive':true}"),
                   STARTED(2, "{'seq':1,'cmd':'sh'}"));
}

static void execs_stand_in_seq_order(void **state)
{
    (void)state;
    assert_latest("-3 - out '' err '' exit - at 40..-\n"
                  "1 - out 'x' err '' exit - at 20..-\n"
                  "2 - out '' err '' exit - at 30..-\n"
                  "10 - out 'y' err '' exit - at 10..-\n",
                  STARTED(1, "{'seq':10}"), STARTED(2, "{'seq':1}"), STARTED(3, "{'seq':2}"),
                  STARTED(4, "{'seq':-3}"), OUTPUT(5, "{'seq':1,'type':'stdout','text':'x'}"),
                  OUTPUT(6, "{'seq':10,'type':'stdout','text':'y'}"));
}

static void an_event_recorded_before_the_last_one_fed_is_disorder(void **state)
{
    static const test_event earlier[] = {STARTED(5, "{'seq':1}"), STARTED(4, "{'seq':2}")};
    static const test_event same[] = {STARTED(5, "{'seq':1}"), STARTED(5, "{'seq':2}")};
    static const test_event other[] = {EVENT(5, "step.started", NULL), STARTED(4, "{'seq':2}")};
    static const test_event lowest[] = {STARTED(INT64_MIN / 10, "{'seq':1}")};
    static const struct {
        const test_event *events;
        size_t count;
        alineo_fold_result result;
    } cases[] = {
        {earlier, 2, ALINEO_FOLD_DISORDER},
        {same, 2, ALINEO_FOLD_DISORDER},
        {other, 2, ALINEO_FOLD_DISORDER},
        {lowest, 1, ALINEO_FOLD_OK},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        alineo_fold fold;
        test_heap heap;
        heap_init(&heap);
        alineo_fold_init(&fold, &heap.memory);
        assert_int_equal(feed(&fold, cases[i].events, cases[i].count), cases[i].result);
        alineo_fold_free(&fold);
        heap_check(&heap);
    }
}

static void a_fold_may_keep_one_exec_only(void **state)
{
    static const test_event events[] = {
        STARTED(1, "{'seq':1,'cmd':'a'}"),
        AT_STEP(2, 2, "exec.started", "{'cmd':'b'}"),
        OUTPUT(3, "{'seq':1,'type':'stdout','text':'x'}"),
        OUTPUT(4, "{'seq':2,'type':'stdout','text':'y'}"),
        COMPLETED(5, "{'seq':2.0,'exitCode':0}"),
    };
    alineo_fold fold;
    alineo_buffer out;
    test_heap heap;

    (void)state;
    heap_init(&heap);
    alineo_fold_init(&fold, &heap.memory);
    alineo_fold_only(&fold, 2);
    alineo_buffer_init(&out, &heap.memory);
    assert_int_equal(feed(&fold, events, COUNT_OF(events)), ALINEO_FOLD_OK);
    describe_latest(&out, &fold);
    assert_json(alineo_buffer_span(&out), "2 'b' out 'y' err '' exit 0 at 20..50\n");
    alineo_buffer_free(&out);
    alineo_fold_free(&fold);
    heap_check(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exec_has_command_output_exit_code_and_times),
        cmocka_unit_test(legacy_events_are_folded_alike),
        cmocka_unit_test(events_that_are_no_exec_are_passed_over),
        cmocka_unit_test(command_is_cmd_else_command_else_code),
        cmocka_unit_test(seq_is_a_number_with_an_integer_value),
        cmocka_unit_test(step_idx_stands_in_where_there_is_no_seq),
        cmocka_unit_test(an_event_with_neither_seq_nor_step_idx_is_ignored),
        cmocka_unit_test(a_second_start_opens_a_new_attempt),
        cmocka_unit_test(the_cache_holds_the_last_completed_attempt),
        cmocka_unit_test(execs_that_never_completed_are_not_in_the_cache),
        cmocka_unit_test(output_before_its_start_joins_the_attempt),
        cmocka_unit_test(a_start_after_the_completion_opens_a_new_attempt),
        cmocka_unit_test(output_with_no_attempt_open_opens_one),
        cmocka_unit_test(output_after_the_completion_is_appended),
        cmocka_unit_test(a_completion_with_no_attempt_open_opens_one),
        cmocka_unit_test(whole_output_in_a_completion_replaces_the_chunks),
        cmocka_unit_test(an_exit_code_that_is_no_integer_is_null),
        cmocka_unit_test(only_text_of_the_three_streams_is_output),
        cmocka_unit_test(an_empty_text_adds_nothing),
        cmocka_unit_test(chunks_are_joined_in_order_and_halves_with_them),
        cmocka_unit_test(the_texts_of_stdin_stay_apart_and_join_as_a_stream),
        cmocka_unit_test(an_interactive_exec_that_runs_is_pending),
        cmocka_unit_test(an_exec_is_not_pending_unless_interactive_open_and_uncached),
        cmocka_unit_test(execs_stand_in_seq_order),
        cmocka_unit_test(an_event_recorded_before_the_last_one_fed_is_disorder),
        cmocka_unit_test(a_fold_may_keep_one_exec_only),
    };

    return cmocka_run_group_tests_name("fold", tests, NULL, NULL);
}
