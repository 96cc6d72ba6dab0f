/*
 * test_resume.c - which checkpoint a session resumes from and what it goes on
 * with: its own execs and those of its lineage.
 */
#include "support.h"
#include "resume.h"

#include <stdio.h>
#include <string.h>

#define EVENT(id, sandbox, event, payload)                                                         \
    {                                                                                              \
        id, (id)*10, -1, "ci", sandbox, event, payload                                             \
    }
#define CREATED(id, sandbox, payload) EVENT(id, sandbox, "sandbox.created", payload)
#define RESUMED(id, sandbox, parent, snapshot)                                                     \
    CREATED(id, sandbox, "{'resumedFrom':'" parent "','snapshotId':'" snapshot "'}")
#define CHECKPOINT(id, sandbox, snapshot)                                                          \
    EVENT(id, sandbox, "sandbox.checkpoint_created", "{'snapshotId':'" snapshot "'}")
#define TAGGED(id, sandbox, snapshot, tag)                                                         \
    EVENT(id, sandbox, "sandbox.checkpoint_created",                                               \
          "{'snapshotId':'" snapshot "','tag':'" tag "'}")
#define STARTED(id, sandbox, payload) EVENT(id, sandbox, "exec.started", payload)
#define TYPED(id, sandbox, seq, text)                                                              \
    EVENT(id, sandbox, "exec.output", "{'seq':" #seq ",'type':'stdin','text':'" text "'}")
#define COMPLETED(id, sandbox, payload) EVENT(id, sandbox, "exec.completed", payload)
/* An exec from start to end, two events; and how the document shows it. */
#define RAN(id, sandbox, seq, cmd)                                                                 \
    STARTED(id, sandbox, "{'seq':" #seq ",'cmd':'" cmd "'}"),                                      \
        COMPLETED((id) + 1, sandbox, "{'seq':" #seq ",'exitCode':0}")
#define CACHED(seq, cmd) "{'seq':" #seq ",'command':'" cmd "','stdout':'','stderr':'','exitCode':0}"
#define SHELL(id, sandbox, seq, cmd)                                                               \
    STARTED(id, sandbox, "{'seq':" #seq ",'cmd':'" cmd "','interactive':true}")

/* Asserts members of the document, each with its expected text, up to NULL. */
#define assert_resumes(events, id, tag, ...)                                                       \
    check_resume(events, COUNT_OF(events), id, tag, (const char *const[]){__VA_ARGS__, NULL},      \
                 __LINE__)
#define assert_fails(events, id, tag, code, text)                                                  \
    check_failure(events, COUNT_OF(events), id, tag, code, text)

static void check_resume(const test_event *events, size_t count, const char *id, const char *tag,
                         const char *const *members, int line)
{
    for (int scans = 0; scans < 2; scans++) {
        alineo_buffer document;
        alineo_error error;
        test_store store;
        test_heap heap;
        heap_init(&heap);
        store_init(&store, events, count);
        if (scans == 1)
            store_scans(&store);
        (void)resume_document(&store, &heap, id, tag, &document, &error);
        check_text(span_of(error.text), S(""), __FILE__, line);
        for (const char *const *m = members; *m != NULL; m += 2)
            check_json(member_of(alineo_buffer_span(&document), m[0]), m[1], __FILE__, line);
        alineo_buffer_free(&document);
        store_free(&store);
        heap_check(&heap);
    }
}

static void check_failure(const test_event *events, size_t count, const char *id, const char *tag,
                          alineo_code code, const char *text)
{
    alineo_buffer document;
    alineo_error error;
    test_store store;
    test_heap heap;

    heap_init(&heap);
    store_init(&store, events, count);
    assert_int_equal(resume_document(&store, &heap, id, tag, &document, &error), code);
    assert_string_equal(error.text, text);
    alineo_buffer_free(&document);
    store_free(&store);
    heap_check(&heap);
}

static void the_cache_ends_at_the_latest_checkpoint(void **state)
{
    static const test_event events[] = {
        CREATED(1, "sb", NULL),
        RAN(2, "sb", 1, "a"),
        CHECKPOINT(4, "sb", "x1"),
        RAN(5, "sb", 2, "b"),
        STARTED(7, "sb", "{'seq':3,'cmd':'c'}"),
        CHECKPOINT(8, "sb", "x2"),
        COMPLETED(9, "sb", "{'seq':3,'exitCode':0}"),
        RAN(10, "sb", 4, "d"),
    };

    (void)state;
    assert_resumes(events, "sb", NULL, "checkpoint",
                   "{'snapshotId':'x2','createdAt':80,'sandboxId':'sb'}", "replayCache",
                   "[" CACHED(1, "a") "," CACHED(2, "b") "]");
}

static void which_checkpoint_is_latest_does_not_depend_on_the_clock(void **state)
{
    static const test_event events[] = {
        CREATED(1, "sb", NULL),
        {2, 900, -1, "ci", "sb", "sandbox.checkpoint_created", "{'snapshotId':'x1'}"},
        RAN(3, "sb", 1, "a"),
        {5, 20, -1, "ci", "sb", "snapshot", "{'snapshotId':'x2'}"},
        {6, 15, -1, "ci", "sb", "exec.completed", "{'seq':2,'exitCode':0}"},
    };

    (void)state;
    assert_resumes(events, "sb", NULL, "checkpoint",
                   "{'snapshotId':'x2','createdAt':20,'sandboxId':'sb'}", "replayCache",
                   "[" CACHED(1, "a") "]");
}

static void a_tag_chooses_the_latest_checkpoint_that_bears_it(void **state)
{
    static const test_event events[] = {
        CREATED(1, "sb", NULL),           TAGGED(2, "sb", "x1", "t"), RAN(3, "sb", 1, "a"),
        TAGGED(5, "sb", "x2", "\\u0074"), RAN(6, "sb", 2, "b"),       TAGGED(8, "sb", "x3", "u"),
        CHECKPOINT(9, "sb", "x4"),
    };

    (void)state;
    assert_resumes(events, "sb", "t", "checkpoint",
                   "{'snapshotId':'x2','tag':'t','createdAt':50,'sandboxId':'sb'}", "replayCache",
                   "[" CACHED(1, "a") "]");
    assert_resumes(events, "sb", NULL, "checkpoint",
                   "{'snapshotId':'x4','createdAt':90,'sandboxId':'sb'}");
}

static void a_tag_of_0_2_is_its_name_and_tag_wins_over_name(void **state)
{
    static const test_event events[] = {
        CREATED(1, "sb", NULL),
        EVENT(2, "sb", "checkpoint_created", "{'snapshotId':'x1','name':'old'}"),
        EVENT(3, "sb", "snapshot", "{'snapshotId':'x2','name':'old','tag':'new'}"),
    };

    (void)state;
    assert_resumes(events, "sb", "old", "checkpoint",
                   "{'snapshotId':'x1','tag':'old','createdAt':20,'sandboxId':'sb'}");
    assert_resumes(events, "sb", "new", "checkpoint",
                   "{'snapshotId':'x2','tag':'new','createdAt':30,'sandboxId':'sb'}");
}

static void what_does_not_exist_is_an_error_that_names_it(void **state)
{
    static const test_event events[] = {
        CREATED(1, "sb", NULL),
        TAGGED(2, "sb", "x1", "t"),
        CREATED(3, "bare", NULL),
        CHECKPOINT(4, "uncreated", "x9"),
    };

    (void)state;
    assert_fails(events, "none", NULL, ALINEO_NOT_FOUND,
                 "alineo_resume: no session has sandbox_id 'none'");
    assert_fails(events, "uncreated", NULL, ALINEO_NOT_FOUND,
                 "alineo_resume: no session has sandbox_id 'uncreated'");
    assert_fails(events, "bare", NULL, ALINEO_NOT_FOUND,
                 "alineo_resume: sandbox_id 'bare' has no checkpoint");
    assert_fails(events, "bare", "t", ALINEO_NOT_FOUND,
                 "alineo_resume: sandbox_id 'bare' has no checkpoint with tag 't'");
    assert_fails(events, "sb", "T", ALINEO_NOT_FOUND,
                 "alineo_resume: sandbox_id 'sb' has no checkpoint with tag 'T'");
    assert_fails(events, "sb", "", ALINEO_NOT_FOUND,
                 "alineo_resume: sandbox_id 'sb' has no checkpoint with tag ''");
}

static void an_id_or_tag_that_is_long_is_cut_at_a_character_in_an_error(void **state)
{
    static const test_event events[] = {CREATED(1, "sb", NULL)};
    char id[1100], shown[1001], text[1200];

    (void)state;
    /* A character of three bytes whose first two are the 999th and the 1,000th. */
    memset(id, 'i', sizeof id);
    memcpy(id + 998, "\xE2\x82\xAC", 3);
    id[sizeof id - 1] = '\0';
    memset(shown, 'i', 998);
    shown[998] = '\0';
    snprintf(text, sizeof text, "alineo_resume: no session has sandbox_id '%s'", shown);
    assert_fails(events, id, NULL, ALINEO_NOT_FOUND, text);
    snprintf(text, sizeof text, "alineo_resume: sandbox_id 'sb' has no checkpoint with tag '%s'",
             shown);
    assert_fails(events, "sb", id, ALINEO_NOT_FOUND, text);
    /* And where the character ends there, all of it stays. */
    memmove(id + 997, "\xE2\x82\xACi", 4);
    memcpy(shown + 997, "\xE2\x82\xAC", 4);
    snprintf(text, sizeof text, "alineo_resume: no session has sandbox_id '%s'", shown);
    assert_fails(events, id, NULL, ALINEO_NOT_FOUND, text);
}

static const test_event three_generations[] = {
    CREATED(1, "g", NULL),     RAN(2, "g", 1, "g1"),        RAN(4, "g", 2, "g2"),
    CHECKPOINT(6, "g", "x1"),  RAN(7, "g", 3, "late"),      RESUMED(9, "p", "g", "x1"),
    RAN(10, "p", 2, "p2"),     RAN(12, "p", 4, "p4"),       CHECKPOINT(14, "p", "x2"),
    RAN(15, "p", 5, "late"),   RESUMED(17, "c", "p", "x2"), RAN(18, "c", 6, "c6"),
    CHECKPOINT(20, "c", "x3"),
};

static void execs_are_inherited_from_every_generation_as_of_its_snapshot(void **state)
{
    (void)state;
    assert_resumes(
        three_generations, "c", NULL, "lineage", "['g','p','c']", "checkpoint",
        "{'snapshotId':'x3','createdAt':200,'sandboxId':'c'}", "replayCache",
        "[" CACHED(1, "g1") "," CACHED(2, "p2") "," CACHED(4, "p4") "," CACHED(6, "c6") "]");
    assert_resumes(three_generations, "p", NULL, "lineage", "['g','p']", "replayCache",
                   "[" CACHED(1, "g1") "," CACHED(2, "p2") "," CACHED(4, "p4") "]");
    assert_resumes(three_generations, "g", NULL, "lineage", "['g']", "replayCache",
                   "[" CACHED(1, "g1") "," CACHED(2, "g2") "]");
}

static void own_execs_win_and_one_that_still_runs_hides_nothing(void **state)
{
    static const test_event events[] = {
        CREATED(1, "p", NULL),
        RAN(2, "p", 1, "p1"),
        RAN(4, "p", 2, "p2"),
        CHECKPOINT(6, "p", "x1"),
        RESUMED(7, "c", "p", "x1"),
        RAN(8, "c", 1, "c1"),
        STARTED(10, "c", "{'seq':2,'cmd':'c2'}"),
        CHECKPOINT(11, "c", "x2"),
    };

    (void)state;
    assert_resumes(events, "c", NULL, "replayCache", "[" CACHED(1, "c1") "," CACHED(2, "p2") "]");
}

static void output_of_a_resumed_session_is_not_joined_to_the_parents(void **state)
{
    static const test_event events[] = {
        CREATED(1, "p", NULL),
        RAN(2, "p", 1, "p1"),
        CHECKPOINT(4, "p", "x1"),
        RESUMED(5, "c", "p", "x1"),
        EVENT(6, "c", "exec.output", "{'seq':1,'type':'stdout','text':'stray'}"),
        CHECKPOINT(7, "c", "x2"),
    };

    (void)state;
    assert_resumes(events, "c", NULL, "replayCache", "[" CACHED(1, "p1") "]");
}

static void a_pending_exec_not_started_again_stays_as_it_was(void **state)
{
    static const test_event events[] = {
        CREATED(1, "p", NULL),    SHELL(2, "p", 1, "sh"),   TYPED(3, "p", 1, "a"),
        CHECKPOINT(4, "p", "x1"), TYPED(5, "p", 1, "late"), RESUMED(6, "c", "p", "x1"),
        RAN(7, "c", 2, "c2"),     CHECKPOINT(9, "c", "x2"),
    };

    (void)state;
    assert_resumes(events, "c", NULL, "pendingInteractive",
                   "[{'seq':1,'cmd':'sh','stdin':['a'],'stdout':''}]", "replayCache",
                   "[" CACHED(2, "c2") "]");
}

static void output_alone_does_not_start_a_pending_exec_again(void **state)
{
    static const test_event events[] = {
        CREATED(1, "p", NULL),    SHELL(2, "p", 1, "sh"),     TYPED(3, "p", 1, "a"),
        CHECKPOINT(4, "p", "x1"), RESUMED(5, "c", "p", "x1"), TYPED(6, "c", 1, "stray"),
        CHECKPOINT(7, "c", "x2"),
    };

    (void)state;
    assert_resumes(events, "c", NULL, "pendingInteractive",
                   "[{'seq':1,'cmd':'sh','stdin':['a'],'stdout':''}]");
}

static void a_pending_exec_started_again_has_the_parents_stdin_in_front(void **state)
{
    static const test_event events[] = {
        CREATED(1, "g", NULL),
        SHELL(2, "g", 1, "g"),
        TYPED(3, "g", 1, "a"),
        TYPED(4, "g", 1, "b"),
        EVENT(5, "g", "exec.output", "{'seq':1,'type':'stdout','text':'gone'}"),
        CHECKPOINT(6, "g", "x1"),
        RESUMED(7, "p", "g", "x1"),
        SHELL(8, "p", 1, "p"),
        TYPED(9, "p", 1, "c"),
        CHECKPOINT(10, "p", "x2"),
        RESUMED(11, "c", "p", "x2"),
        SHELL(12, "c", 1, "c"),
        TYPED(13, "c", 1, "d"),
        EVENT(14, "c", "exec.output", "{'seq':1,'type':'stdout','text':'own'}"),
        CHECKPOINT(15, "c", "x3"),
    };

    (void)state;
    assert_resumes(events, "p", NULL, "pendingInteractive",
                   "[{'seq':1,'cmd':'p','stdin':['a','b','c'],'stdout':''}]");
    assert_resumes(events, "c", NULL, "pendingInteractive",
                   "[{'seq':1,'cmd':'c','stdin':['a','b','c','d'],'stdout':'own'}]");
}

static void a_pending_exec_that_the_child_ended_or_replaced_is_gone(void **state)
{
    static const test_event events[] = {
        CREATED(1, "p", NULL),
        SHELL(2, "p", 1, "sh"),
        SHELL(3, "p", 2, "sh"),
        TYPED(4, "p", 1, "a"),
        CHECKPOINT(5, "p", "x1"),
        RESUMED(6, "c", "p", "x1"),
        SHELL(7, "c", 1, "sh"),
        COMPLETED(8, "c", "{'seq':1,'exitCode':0}"),
        STARTED(9, "c", "{'seq':2,'cmd':'plain'}"),
        CHECKPOINT(10, "c", "x2"),
    };

    (void)state;
    assert_resumes(events, "c", NULL, "pendingInteractive", "[]", "replayCache",
                   "[" CACHED(1, "sh") "]");
}

static void a_session_without_own_checkpoint_resumes_from_its_origin(void **state)
{
    static const test_event events[] = {
        CREATED(1, "p", NULL),    RAN(2, "p", 1, "p1"),       TAGGED(4, "p", "x1", "t"),
        CHECKPOINT(5, "p", "x2"), RESUMED(6, "c", "p", "x1"), RAN(7, "c", 2, "c2"),
        SHELL(9, "c", 3, "sh"),
    };

    (void)state;
    assert_resumes(events, "c", NULL, "lineage", "['p','c']", "checkpoint",
                   "{'snapshotId':'x1','tag':'t','createdAt':40,'sandboxId':'p'}", "replayCache",
                   "[" CACHED(1, "p1") "]", "pendingInteractive", "[]");
    /* A tag is looked for in the session itself alone. */
    assert_fails(events, "c", "t", ALINEO_NOT_FOUND,
                 "alineo_resume: sandbox_id 'c' has no checkpoint with tag 't'");
}

static void an_origin_is_passed_on_by_a_parent_that_made_no_checkpoint(void **state)
{
    static const test_event events[] = {
        CREATED(1, "g", NULL),     RAN(2, "g", 1, "g1"),     CHECKPOINT(4, "g", "x"),
        RESUMED(5, "p", "g", "x"), RAN(6, "p", 2, "lost"),   RESUMED(8, "c", "p", "x"),
        RAN(9, "c", 3, "c3"),      CHECKPOINT(11, "c", "y"), RESUMED(12, "d", "p", "x"),
    };

    (void)state;
    assert_resumes(events, "c", NULL, "lineage", "['g','p','c']", "replayCache",
                   "[" CACHED(1, "g1") "," CACHED(3, "c3") "]");
    assert_resumes(events, "d", NULL, "lineage", "['g','p','d']", "checkpoint",
                   "{'snapshotId':'x','createdAt':40,'sandboxId':'g'}", "replayCache",
                   "[" CACHED(1, "g1") "]");
}

static void a_snapshot_that_is_gone_is_not_replaced_by_another(void **state)
{
    static const test_event events[] = {
        CREATED(1, "g", NULL),     RAN(2, "g", 1, "g1"),      CHECKPOINT(4, "g", "y"),
        RESUMED(5, "p", "g", "y"), RESUMED(6, "c", "p", "x"),
    };

    (void)state;
    assert_resumes(events, "c", NULL, "checkpoint", "{'snapshotId':'x','sandboxId':'p'}");
}

static void the_latest_checkpoint_with_the_snapshot_counts(void **state)
{
    static const test_event events[] = {
        CREATED(1, "p", NULL),   CHECKPOINT(2, "p", "x"),   RAN(3, "p", 1, "p1"),
        CHECKPOINT(5, "p", "x"), RESUMED(6, "c", "p", "x"),
    };

    (void)state;
    assert_resumes(events, "c", NULL, "replayCache", "[" CACHED(1, "p1") "]");
}

static void a_parent_that_was_deleted_ends_the_chain(void **state)
{
    static const test_event events[] = {
        RESUMED(1, "bare", "gone", "x"),
        RESUMED(2, "c", "gone", "x"),
        RAN(3, "c", 1, "c1"),
        CHECKPOINT(5, "c", "y"),
    };

    (void)state;
    assert_resumes(events, "c", NULL, "lineage", "['c']", "replayCache", "[" CACHED(1, "c1") "]");
    assert_resumes(events, "bare", NULL, "lineage", "['bare']", "checkpoint",
                   "{'snapshotId':'x','sandboxId':'gone'}", "replayCache", "[]");
}

static void a_fork_inherits_nothing(void **state)
{
    static const test_event events[] = {
        CREATED(1, "p", "{'teamId':'t'}"),
        RAN(2, "p", 1, "p1"),
        CHECKPOINT(4, "p", "x1"),
        CREATED(5, "f", "{'parentSandboxId':'p','snapshotId':'x1','resumedFrom':null}"),
        CREATED(6, "e", "{'parentSandboxId':'p','snapshotId':'x1','resumedFrom':''}"),
        CHECKPOINT(7, "f", "x2"),
        CHECKPOINT(8, "e", "x3"),
    };

    (void)state;
    assert_resumes(events, "f", NULL, "lineage", "['f']", "replayCache", "[]");
    assert_resumes(events, "e", NULL, "lineage", "['e']", "replayCache", "[]");
}

static void a_cycle_is_an_error(void **state)
{
    static const test_event events[] = {
        RESUMED(1, "self", "self", "x"), CHECKPOINT(2, "self", "x"),   RESUMED(3, "a", "b", "x"),
        RESUMED(4, "b", "a", "y"),       RESUMED(5, "tail", "l", "x"), RESUMED(6, "l", "m", "x"),
        RESUMED(7, "m", "n", "x"),       RESUMED(8, "n", "l", "x"),
    };

    (void)state;
    assert_fails(events, "self", NULL, ALINEO_BAD_ARGUMENT,
                 "alineo_resume: the lineage of sandbox_id 'self' is a cycle");
    assert_fails(events, "a", NULL, ALINEO_BAD_ARGUMENT,
                 "alineo_resume: the lineage of sandbox_id 'a' is a cycle");
    assert_fails(events, "b", NULL, ALINEO_BAD_ARGUMENT,
                 "alineo_resume: the lineage of sandbox_id 'b' is a cycle");
    assert_fails(events, "tail", NULL, ALINEO_BAD_ARGUMENT,
                 "alineo_resume: the lineage of sandbox_id 'tail' is a cycle");
}

static void a_long_lineage_is_no_cycle(void **state)
{
    enum { GENERATIONS = 100 };
    static test_event events[GENERATIONS];
    static char ids[GENERATIONS][8], payloads[GENERATIONS][64], lineage[GENERATIONS * 8];
    size_t len = 0;

    (void)state;
    for (int i = 0; i < GENERATIONS; i++) {
        snprintf(ids[i], sizeof ids[i], "s%d", i);
        snprintf(payloads[i], sizeof payloads[i],
                 i == 0 ? "{}" : "{'resumedFrom':'s%d','snapshotId':'x'}", i - 1);
        events[i] = (test_event)CREATED(i + 1, ids[i], payloads[i]);
        len += (size_t)snprintf(lineage + len, sizeof lineage - len, "%s's%d'%s",
                                i == 0 ? "[" : ",", i, i == GENERATIONS - 1 ? "]" : "");
    }
    assert_resumes(events, "s99", NULL, "lineage", lineage);
}

static void of_several_names_the_session_created_last_is_resumed(void **state)
{
    static const test_event events[] = {
        {1, 90, -1, "late", "sb", "sandbox.created", NULL},
        {2, 20, -1, "early", "sb", "sandbox_created", NULL},
        {3, 30, -1, "early", "sb", "snapshot", "{'snapshotId':'e'}"},
        {4, 40, -1, "late", "sb", "snapshot", "{'snapshotId':'l'}"},
    };

    (void)state;
    assert_resumes(events, "sb", NULL, "name", "'early'", "checkpoint",
                   "{'snapshotId':'e','createdAt':30,'sandboxId':'sb'}");
}

static void the_parent_is_of_the_same_name_if_there_is_one(void **state)
{
    static const test_event events[] = {
        {1, 10, -1, "ci", "p", "sandbox.created", "{'teamId':'same'}"},
        {2, 20, -1, "dev", "p", "sandbox.created", "{'teamId':'other'}"},
        {3, 30, -1, "ci", "c", "sandbox.created", "{'resumedFrom':'p','snapshotId':'x'}"},
        {4, 40, -1, "qa", "d", "sandbox.created", "{'resumedFrom':'p','snapshotId':'x'}"},
    };

    (void)state;
    assert_resumes(events, "c", NULL, "teamId", "'same'", "lineage", "['p','c']");
    assert_resumes(events, "d", NULL, "teamId", "'other'", "lineage", "['p','d']");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cache_ends_at_the_latest_checkpoint),
        cmocka_unit_test(which_checkpoint_is_latest_does_not_depend_on_the_clock),
        cmocka_unit_test(a_tag_chooses_the_latest_checkpoint_that_bears_it),
        cmocka_unit_test(a_tag_of_0_2_is_its_name_and_tag_wins_over_name),
        cmocka_unit_test(what_does_not_exist_is_an_error_that_names_it),
        cmocka_unit_test(an_id_or_tag_that_is_long_is_cut_at_a_character_in_an_error),
        cmocka_unit_test(execs_are_inherited_from_every_generation_as_of_its_snapshot),
        cmocka_unit_test(own_execs_win_and_one_that_still_runs_hides_nothing),
        cmocka_unit_test(output_of_a_resumed_session_is_not_joined_to_the_parents),
        cmocka_unit_test(a_pending_exec_not_started_again_stays_as_it_was),
        cmocka_unit_test(output_alone_does_not_start_a_pending_exec_again),
        cmocka_unit_test(a_pending_exec_started_again_has_the_parents_stdin_in_front),
        cmocka_unit_test(a_pending_exec_that_the_child_ended_or_replaced_is_gone),
        cmocka_unit_test(a_session_without_own_checkpoint_resumes_from_its_origin),
        cmocka_unit_test(an_origin_is_passed_on_by_a_parent_that_made_no_checkpoint),
        cmocka_unit_test(a_snapshot_that_is_gone_is_not_replaced_by_another),
        cmocka_unit_test(the_latest_checkpoint_with_the_snapshot_counts),
        cmocka_unit_test(a_parent_that_was_deleted_ends_the_chain),
        cmocka_unit_test(a_fork_inherits_nothing),
        cmocka_unit_test(a_cycle_is_an_error),
        cmocka_unit_test(a_long_lineage_is_no_cycle),
        cmocka_unit_test(of_several_names_the_session_created_last_is_resumed),
        cmocka_unit_test(the_parent_is_of_the_same_name_if_there_is_one),
    };

    return cmocka_run_group_tests_name("resume", tests, NULL, NULL);
}
