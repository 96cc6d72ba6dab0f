/*
 * test_history.c - how a store's events reach the fold: clocks that step back,
 * one exec alone, a session's whole history, a store that fails.
 */
#include "support.h"
#include "resume.h"

#define EVENT(id, ts, sandbox, event, payload)                                                     \
    {                                                                                              \
        id, ts, -1, "ci", sandbox, event, payload                                                  \
    }

/* The clock steps back within exec 1 of the parent: replay order is not the
 * order it was recorded in. */
static const test_event stepped_back[] = {
    EVENT(1, 10, "p", "sandbox.created", NULL),
    EVENT(2, 100, "p", "exec.started", "{'seq':1,'cmd':'a'}"),
    EVENT(3, 110, "p", "exec.output", "{'seq':1,'type':'stdout','text':'one '}"),
    EVENT(4, 50, "p", "exec.output", "{'seq':1,'type':'stdout','text':'two '}"),
    EVENT(5, 40, "p", "exec.output", "{'seq':1,'type':'stdout','text':'three'}"),
    EVENT(6, 60, "p", "exec.completed", "{'seq':1,'exitCode':0}"),
    EVENT(7, 70, "p", "sandbox.checkpoint_created", "{'snapshotId':'x'}"),
    EVENT(8, 30, "p", "exec.completed", "{'seq':2,'exitCode':0}"),
    EVENT(9, 80, "c", "sandbox.created", "{'resumedFrom':'p','snapshotId':'x'}"),
    EVENT(10, 90, "c", "exec.started", "{'seq':2,'cmd':'b'}"),
    EVENT(11, 95, "c", "exec.completed", "{'seq':2,'exitCode':1}"),
    EVENT(12, 99, "c", "sandbox.checkpoint_created", "{'snapshotId':'y'}"),
};

static const test_event in_order[] = {
    EVENT(1, 10, "p", "sandbox.created", NULL),
    EVENT(2, 20, "p", "exec.started", "{'seq':1,'cmd':'a'}"),
    EVENT(3, 20, "p", "exec.output", "{'seq':1,'type':'stdout','text':'x'}"),
    EVENT(4, 20, "p", "sandbox.checkpoint_created", "{'snapshotId':'x'}"),
    EVENT(5, 20, "p", "exec.started", "{'seq':1,'cmd':'again'}"),
    EVENT(6, 30, "p", "exec.started", "{'seq':0,'cmd':'first'}"),
    EVENT(7, 40, "p", "exec.completed", "{'seq':0,'exitCode':0}"),
};

static void chunks_are_joined_as_recorded_where_the_clock_stepped_back(void **state)
{
    (void)state;
    for (int scans = 0; scans < 2; scans++) {
        alineo_buffer document;
        alineo_error error;
        test_store store;
        test_heap heap;
        heap_init(&heap);
        store_init(&store, stepped_back, COUNT_OF(stepped_back));
        if (scans == 1)
            store_scans(&store);
        (void)resume_document(&store, &heap, "c", NULL, &document, &error);
        assert_string_equal(error.text, "");
        assert_json(member_of(alineo_buffer_span(&document), "replayCache"),
                    "[{'seq':1,'command':'a','stdout':'one two three','stderr':'','exitCode':0},"
                    "{'seq':2,'command':'b','stdout':'','stderr':'','exitCode':1}]");
        /* Both generations are read again. */
        assert_int_equal(store.queries[ALINEO_QUERY_EVENTS_BY_ID], 2);
        alineo_buffer_free(&document);
        store_free(&store);
        heap_check(&heap);
    }
}

static void events_are_read_once_where_no_clock_stepped_back(void **state)
{
    alineo_buffer document;
    alineo_error error;
    test_store store;
    test_heap heap;

    (void)state;
    heap_init(&heap);
    store_init(&store, in_order, COUNT_OF(in_order));
    (void)resume_document(&store, &heap, "p", NULL, &document, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(store.queries[ALINEO_QUERY_EVENTS], 1);
    assert_int_equal(store.queries[ALINEO_QUERY_EVENTS_BY_ID], 0);
    alineo_buffer_free(&document);
    store_free(&store);
    heap_check(&heap);
}

/* What is asked of a resume, to be described: a cache or a whole history. */
typedef struct request {
    const test_event *events;
    size_t count;
    const char *sandbox_id, *tag;
    bool history, only;
    int64_t seq;
    int64_t damaged_id; /* the event with a column that cannot be read */
    unsigned damaged;   /* which */
} request;

static void assert_folds(request r, alineo_code code, const char *expected)
{
    alineo_span tag = r.tag == NULL ? (alineo_span){NULL, 0} : span_of(r.tag);
    alineo_resume resume;
    alineo_error error;
    alineo_buffer out;
    test_store store;
    test_heap heap;

    heap_init(&heap);
    store_init(&store, r.events, r.count);
    store.damaged_id = r.damaged_id;
    store.damaged = r.damaged;
    alineo_buffer_init(&out, &heap.memory);
    alineo_error_init(&error, "alineo_replay_cache");
    alineo_resume_init(&resume, &heap.memory, &store.store);
    if (r.only)
        alineo_fold_only(&resume.fold, r.seq);
    if (r.history)
        assert_int_equal(alineo_resume_history(&resume, S("ci"), span_of(r.sandbox_id), &error),
                         code);
    else
        assert_int_equal(alineo_resume_cache(&resume, S("ci"), span_of(r.sandbox_id), tag, &error),
                         code);
    if (code == ALINEO_OK && r.history)
        describe_latest(&out, &resume.fold);
    else if (code == ALINEO_OK)
        describe_settled(&out, &resume.fold);
    if (code == ALINEO_OK)
        assert_json(alineo_buffer_span(&out), expected);
    else
        assert_string_equal(error.text, expected);
    alineo_resume_free(&resume);
    alineo_buffer_free(&out);
    store_free(&store);
    heap_check(&heap);
}

static void the_history_has_every_exec_in_its_latest_attempt(void **state)
{
    (void)state;
    assert_folds((request){in_order, COUNT_OF(in_order), "p", NULL, true, false, 0, 0, 0},
                 ALINEO_OK,
                 "0 'first' out '' err '' exit 0 at 30..40\n"
                 "1 'again' out '' err '' exit - at 20..-\n");
    /* By itself: the parent's execs are not in it. */
    assert_folds((request){stepped_back, COUNT_OF(stepped_back), "c", NULL, true, false, 0, 0, 0},
                 ALINEO_OK, "2 'b' out '' err '' exit 1 at 90..95\n");
    assert_folds((request){in_order, COUNT_OF(in_order), "none", NULL, true, false, 0, 0, 0},
                 ALINEO_OK, "");
}

static void the_history_is_in_append_order_where_the_clock_stepped_back(void **state)
{
    (void)state;
    assert_folds((request){stepped_back, COUNT_OF(stepped_back), "p", NULL, true, false, 0, 0, 0},
                 ALINEO_OK,
                 "1 'a' out 'one two three' err '' exit 0 at 100..60\n"
                 "2 - out '' err '' exit 0 at -..30\n");
}

static void one_exec_alone_may_be_asked_for(void **state)
{
    (void)state;
    /* Also after the fold had to start again. */
    assert_folds((request){stepped_back, COUNT_OF(stepped_back), "p", NULL, true, true, 2, 0, 0},
                 ALINEO_OK, "2 - out '' err '' exit 0 at -..30\n");
    assert_folds((request){stepped_back, COUNT_OF(stepped_back), "c", NULL, false, true, 1, 0, 0},
                 ALINEO_OK, "1 'a' out 'one two three' err '' exit 0 at 100..60\n");
    assert_folds((request){in_order, COUNT_OF(in_order), "p", NULL, true, true, 9, 0, 0}, ALINEO_OK,
                 "");
}

static void the_cache_of_a_session_ends_at_its_checkpoint(void **state)
{
    (void)state;
    assert_folds((request){stepped_back, COUNT_OF(stepped_back), "c", NULL, false, false, 0, 0, 0},
                 ALINEO_OK,
                 "1 'a' out 'one two three' err '' exit 0 at 100..60\n"
                 "2 'b' out '' err '' exit 1 at 90..95\n");
    assert_folds((request){in_order, COUNT_OF(in_order), "p", NULL, false, false, 0, 0, 0},
                 ALINEO_OK, "");
}

static void a_session_that_was_never_created_has_a_cache_too(void **state)
{
    static const test_event events[] = {
        EVENT(1, 10, "sb", "exec.started", "{'seq':1,'cmd':'a'}"),
        EVENT(2, 20, "sb", "exec.completed", "{'seq':1,'exitCode':0}"),
        EVENT(3, 30, "sb", "sandbox.checkpoint_created", "{'snapshotId':'x','tag':'t'}"),
        EVENT(4, 40, "sb", "exec.completed", "{'seq':2,'exitCode':0}"),
    };
    request r = {events, COUNT_OF(events), "sb", NULL, false, false, 0, 0, 0};

    (void)state;
    assert_folds(r, ALINEO_OK, "1 'a' out '' err '' exit 0 at 10..20\n");
    r.tag = "t";
    assert_folds(r, ALINEO_OK, "1 'a' out '' err '' exit 0 at 10..20\n");
    r.tag = "u";
    assert_folds(r, ALINEO_NOT_FOUND,
                 "alineo_replay_cache: sandbox_id 'sb' has no checkpoint with tag 'u'");
    r = (request){events, COUNT_OF(events), "none", NULL, false, false, 0, 0, 0};
    assert_folds(r, ALINEO_NOT_FOUND, "alineo_replay_cache: sandbox_id 'none' has no checkpoint");
}

static void a_damaged_payload_is_an_error_that_names_the_event(void **state)
{
    static const test_event events[] = {
        EVENT(1, 10, "sb", "sandbox.created", NULL),
        EVENT(2, 20, "sb", "exec.started", "{'seq':1"),
        EVENT(3, 30, "sb", "sandbox.checkpoint_created", "{'snapshotId':'x'}"),
    };

    (void)state;
    assert_folds(
        (request){events, COUNT_OF(events), "sb", NULL, false, false, 0, 0, 0}, ALINEO_DAMAGED,
        "alineo_replay_cache: payload of event 2 is not valid JSON at byte 8: unexpected end");
}

/* Folds one exec whose row `id` has a damaged column, and a checkpoint after it. */
static void check_damaged(int64_t id, unsigned damaged, const char *payload, alineo_code code,
                          const char *expected)
{
    test_event events[] = {
        EVENT(1, 10, "sb", "sandbox.created", NULL),
        EVENT(2, 20, "sb", "exec.started", payload),
        EVENT(3, 30, "sb", "exec.output", "{'seq':1,'type':'stdout','text':'x'}"),
        EVENT(4, 40, "sb", "exec.completed", "{'seq':1,'exitCode':0}"),
        EVENT(5, 50, "sb", "sandbox.checkpoint_created", "{'snapshotId':'x'}"),
    };

    events[1].step_idx = 1;
    assert_folds((request){events, COUNT_OF(events), "sb", NULL, false, false, 0, id, damaged},
                 code, expected);
}

static void a_damaged_column_is_an_error_where_it_is_needed(void **state)
{
    static const char *const seq = "{'seq':1,'cmd':'a'}";
    static const char answer[] = "1 'a' out 'x' err '' exit 0 at 20..40\n";

    (void)state;
    check_damaged(2, ALINEO_COLUMN_BIT_TS, seq, ALINEO_DAMAGED,
                  "alineo_replay_cache: ts of event 2 is not an integer");
    check_damaged(4, ALINEO_COLUMN_BIT_TS, seq, ALINEO_DAMAGED,
                  "alineo_replay_cache: ts of event 4 is not an integer");
    check_damaged(5, ALINEO_COLUMN_BIT_TS, seq, ALINEO_DAMAGED,
                  "alineo_replay_cache: ts of event 5 is not an integer");
    check_damaged(3, ALINEO_COLUMN_BIT_EVENT, seq, ALINEO_DAMAGED,
                  "alineo_replay_cache: event of event 3 is not text");
    check_damaged(3, ALINEO_COLUMN_BIT_ID, seq, ALINEO_DAMAGED,
                  "alineo_replay_cache: the id of an event is not an integer");
    check_damaged(2, ALINEO_COLUMN_BIT_STEP_IDX, "{'cmd':'a'}", ALINEO_DAMAGED,
                  "alineo_replay_cache: step_idx of event 2 is not an integer");
    /* Where it is not needed it changes nothing. */
    check_damaged(3, ALINEO_COLUMN_BIT_TS, seq, ALINEO_OK, answer);
    check_damaged(2, ALINEO_COLUMN_BIT_STEP_IDX, seq, ALINEO_OK, answer);
    check_damaged(1, ALINEO_COLUMN_BIT_TS, seq, ALINEO_OK, answer);
}

static void an_id_that_is_there_twice_is_an_error(void **state)
{
    static const test_event events[] = {
        EVENT(1, 10, "sb", "sandbox.created", NULL),
        EVENT(2, 20, "sb", "exec.started", "{'seq':1,'cmd':'a'}"),
        EVENT(2, 30, "sb", "exec.completed", "{'seq':1,'exitCode':0}"),
        EVENT(3, 40, "sb", "sandbox.checkpoint_created", "{'snapshotId':'x'}"),
    };

    (void)state;
    for (int history = 0; history < 2; history++)
        assert_folds((request){events, COUNT_OF(events), "sb", NULL, history == 1, false, 0, 0, 0},
                     ALINEO_DAMAGED, "alineo_replay_cache: 2 is the id of more than one event");
}

static void a_failure_of_the_engine_ends_the_resume_at_any_point(void **state)
{
    (void)state;
    for (int scans = 0; scans < 2; scans++) {
        bool done = false;
        size_t failures = 0;
        for (size_t at = 1; !done; at++) {
            alineo_buffer document;
            alineo_error error;
            test_store store;
            test_heap heap;
            heap_init(&heap);
            store_init(&store, stepped_back, COUNT_OF(stepped_back));
            if (scans == 1)
                store_scans(&store);
            store.fail_at = at;
            alineo_code code = resume_document(&store, &heap, "c", NULL, &document, &error);
            done = store.calls < at;
            assert_int_equal(code, done ? ALINEO_OK : ALINEO_ENGINE);
            assert_string_equal(error.text, done ? "" : "alineo_resume: the engine failed");
            failures += !done;
            alineo_buffer_free(&document);
            store_free(&store);
            heap_check(&heap);
        }
        assert_true(failures > 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_are_joined_as_recorded_where_the_clock_stepped_back),
        cmocka_unit_test(events_are_read_once_where_no_clock_stepped_back),
        cmocka_unit_test(the_history_has_every_exec_in_its_latest_attempt),
        cmocka_unit_test(the_history_is_in_append_order_where_the_clock_stepped_back),
        cmocka_unit_test(one_exec_alone_may_be_asked_for),
        cmocka_unit_test(the_cache_of_a_session_ends_at_its_checkpoint),
        cmocka_unit_test(a_session_that_was_never_created_has_a_cache_too),
        cmocka_unit_test(a_damaged_payload_is_an_error_that_names_the_event),
        cmocka_unit_test(a_damaged_column_is_an_error_where_it_is_needed),
        cmocka_unit_test(an_id_that_is_there_twice_is_an_error),
        cmocka_unit_test(a_failure_of_the_engine_ends_the_resume_at_any_point),
    };

    return cmocka_run_group_tests_name("history", tests, NULL, NULL);
}
