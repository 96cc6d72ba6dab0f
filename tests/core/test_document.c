/*
 * test_document.c - the resume document: its members, their order and text;
 * the settings it inherits; egress rules and credentials.
 */
#include "support.h"
#include "resume.h"

#include <string.h>

#define EVENT(id, sandbox, event, payload)                                                         \
    {                                                                                              \
        id, (id)*10, -1, "ci", sandbox, event, payload                                             \
    }
#define CREATED(id, sandbox, payload) EVENT(id, sandbox, "sandbox.created", payload)
#define CHECKPOINT(id, sandbox)       EVENT(id, sandbox, "snapshot", "{'snapshotId':'x'}")
#define ADDED(id, rules)              EVENT(id, "sb", "egress.rule_added", "{'rules':" rules "}")
#define REMOVED(id, targets)          EVENT(id, "sb", "egress.rule_removed", "{'targets':" targets "}")
#define BOUND(id, payload)            EVENT(id, "sb", "credential.bound", payload)
#define REVOKED(id, payload)          EVENT(id, "sb", "credential.revoked", payload)

/* Asserts the whole document (key NULL) or the text of a member, "" for none. */
#define assert_document(events, id, key, expected)                                                 \
    check_document(events, COUNT_OF(events), id, key, expected, __LINE__)
/* The same of session sb with these events, created and checkpointed first. */
#define assert_member(key, expected, ...)                                                          \
    do {                                                                                           \
        static const test_event session[] = {CREATED(1, "sb", NULL), CHECKPOINT(2, "sb"),          \
                                             __VA_ARGS__};                                         \
        check_document(session, COUNT_OF(session), "sb", key, expected, __LINE__);                 \
    } while (0)

static void check_document(const test_event *events, size_t count, const char *id, const char *key,
                           const char *expected, int line)
{
    alineo_buffer document;
    alineo_error error;
    test_store store;
    test_heap heap;

    heap_init(&heap);
    store_init(&store, events, count);
    (void)resume_document(&store, &heap, id, NULL, &document, &error);
    check_text(span_of(error.text), S(""), __FILE__, line);
    alineo_span text = alineo_buffer_span(&document);
    if (key != NULL)
        text = member_of(text, key);
    if (text.at == NULL)
        text = S("");
    check_json(text, expected, __FILE__, line);
    alineo_buffer_free(&document);
    store_free(&store);
    heap_check(&heap);
}

static const test_event whole[] = {
    CREATED(1, "g",
            "{'runId':'run','resourceId':'res','teamId':'team','resources':{'mem':1e3,'cpu':2},"
            "'networkPolicy':{'deny':['*']},'credentialProxy':true}"),
    EVENT(2, "g", "exec.started", "{'seq':1,'cmd':'ls'}"),
    EVENT(3, "g", "exec.output", "{'seq':1,'type':'stdout','text':'o'}"),
    EVENT(4, "g", "exec.output", "{'seq':1,'type':'stderr','text':'e'}"),
    EVENT(5, "g", "exec.completed", "{'seq':1,'exitCode':0}"),
    EVENT(6, "g", "exec.completed", "{'seq':2}"),
    EVENT(7, "g", "sandbox.checkpoint_created", "{'snapshotId':'x1','tag':'t1'}"),
    CREATED(8, "p", "{'resumedFrom':'g','snapshotId':'x1'}"),
    EVENT(9, "p", "exec.started",
          "{'seq':3,'cmd':'sh','interactive':true,'cwd':'/w','env':{'B':'2','A':'1'}}"),
    EVENT(10, "p", "exec.output", "{'seq':3,'type':'stdin','text':'in'}"),
    EVENT(11, "p", "exec.output", "{'seq':3,'type':'stdout','text':'out'}"),
    EVENT(12, "p", "exec.started", "{'seq':4,'interactive':true}"),
    EVENT(13, "p", "egress.rule_added", "{'rules':[{'target':'a.com','action':'allow'}]}"),
    EVENT(14, "p", "egress.rule_removed", "{'targets':['b.com']}"),
    EVENT(15, "p", "credential.bound",
          "{'source':'vault','binding':{'env':'T'},'name':'gh','more':1}"),
    EVENT(16, "p", "sandbox.checkpoint_created", "{'snapshotId':'x2','tag':'t2'}"),
};

static void the_document_has_its_members_in_order(void **state)
{
    (void)state;
    assert_document(
        whole, "p", NULL,
        "{'name':'ci','sandboxId':'p','runId':'run','resourceId':'res','teamId':'team',"
        "'checkpoint':{'snapshotId':'x2','tag':'t2','createdAt':160,'sandboxId':'p'},"
        "'lineage':['g','p'],"
        "'resources':{'cpu':2,'mem':1000},'networkPolicy':{'deny':['*']},'credentialProxy':true,"
        "'replayCache':[{'seq':1,'command':'ls','stdout':'o','stderr':'e','exitCode':0},"
        "{'seq':2,'stdout':'','stderr':''}],"
        "'pendingInteractive':[{'seq':3,'cmd':'sh','cwd':'/w','env':{'A':'1','B':'2'},"
        "'stdin':['in'],'stdout':'out'},{'seq':4,'stdin':[],'stdout':''}],"
        "'egress':{'apply':[{'action':'allow','target':'a.com'}],'remove':['b.com']},"
        "'credentials':[{'name':'gh','binding':{'env':'T'},'source':'vault'}]}");
}

static void what_is_absent_is_left_out(void **state)
{
    static const test_event events[] = {
        CREATED(1, "sb", NULL),
        EVENT(2, "sb", "sandbox.checkpoint_created", NULL),
    };

    (void)state;
    assert_document(events, "sb", NULL,
                    "{'name':'ci','sandboxId':'sb','runId':'sb',"
                    "'checkpoint':{'createdAt':20,'sandboxId':'sb'},'lineage':['sb'],"
                    "'replayCache':[],'pendingInteractive':[],"
                    "'egress':{'apply':[],'remove':[]},'credentials':[]}");
}

static void a_setting_comes_from_the_nearest_that_has_it(void **state)
{
    static const test_event events[] = {
        CREATED(1, "g",
                "{'runId':'g','resourceId':'g','teamId':'g','resources':1,"
                "'networkPolicy':'g'}"),
        CHECKPOINT(2, "g"),
        CREATED(3, "p",
                "{'resumedFrom':'g','snapshotId':'x','runId':'p','resourceId':'p',"
                "'teamId':null,'credentialProxy':{'p':true}}"),
        CHECKPOINT(4, "p"),
        CREATED(5, "c", "{'resumedFrom':'p','snapshotId':'x','runId':'c','resources':false}"),
        CHECKPOINT(6, "c"),
    };
    static const char *const expected[][2] = {
        {"runId", "'c'"},       {"resourceId", "'p'"},    {"teamId", "'g'"},
        {"resources", "false"}, {"networkPolicy", "'g'"}, {"credentialProxy", "{'p':true}"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        assert_document(events, "c", expected[i][0], expected[i][1]);
}

static void run_id_falls_back_to_the_session_and_not_to_its_parent(void **state)
{
    static const test_event events[] = {
        CREATED(1, "p", NULL),
        CHECKPOINT(2, "p"),
        CREATED(3, "c", "{'resumedFrom':'p','snapshotId':'x'}"),
    };

    (void)state;
    assert_document(events, "c", "runId", "'c'");
}

/* Further up than a generation that was resumed from another snapshot. */
static void the_checkpoint_resumed_from_is_known_wherever_it_was_made(void **state)
{
    static const test_event events[] = {
        CREATED(1, "a", NULL),
        CHECKPOINT(2, "a"),
        CREATED(3, "b", "{'resumedFrom':'a','snapshotId':'x'}"),
        EVENT(4, "b", "snapshot", "{'snapshotId':'y'}"),
        CREATED(5, "c", "{'resumedFrom':'b','snapshotId':'y'}"),
        CREATED(6, "d", "{'resumedFrom':'c','snapshotId':'x'}"),
    };

    (void)state;
    assert_document(events, "d", "checkpoint", "{'snapshotId':'x','createdAt':20,'sandboxId':'a'}");
}

static void a_fork_takes_no_setting_of_its_parent(void **state)
{
    static const test_event events[] = {
        CREATED(1, "p", "{'runId':'run','teamId':'t'}"),
        CHECKPOINT(2, "p"),
        CREATED(3, "f", "{'parentSandboxId':'p','snapshotId':'x'}"),
        CHECKPOINT(4, "f"),
    };

    (void)state;
    assert_document(events, "f", "teamId", "");
    assert_document(events, "f", "runId", "'f'");
}

static void text_of_any_kind_is_held_exactly(void **state)
{
    static const test_event events[] = {
        {1, 10, -1, "c\"i\\\n", "s\xC3\xA9\x7F", "sandbox.created", "{'runId':'\\ud83d'}"},
        {2, 20, -1, "c\"i\\\n", "s\xC3\xA9\x7F", "exec.started",
         "{'seq':1,'cmd':'\\u0041\\/\\u0000'}"},
        {3, 30, -1, "c\"i\\\n", "s\xC3\xA9\x7F", "exec.output",
         "{'seq':1,'type':'stdout','text':'\\u001b[1m\\ud83d'}"},
        {4, 40, -1, "c\"i\\\n", "s\xC3\xA9\x7F", "exec.output",
         "{'seq':1,'type':'stdout','text':'\\ude00\\ude00'}"},
        {5, 50, -1, "c\"i\\\n", "s\xC3\xA9\x7F", "exec.completed", "{'seq':1,'stderr':'\\ufdd0'}"},
        {6, 60, -1, "c\"i\\\n", "s\xC3\xA9\x7F", "snapshot",
         "{'snapshotId':'\\u2028','tag':'\\b\\t\\\\'}"},
    };

    (void)state;
    assert_document(events, "s\xC3\xA9\x7F", NULL,
                    "{'name':'c\\\"i\\\\\\n','sandboxId':'s\xC3\xA9\x7F','runId':'\\ud83d',"
                    "'checkpoint':{'snapshotId':'\xE2\x80\xA8','tag':'\\b\\t\\\\','createdAt':60,"
                    "'sandboxId':'s\xC3\xA9\x7F'},'lineage':['s\xC3\xA9\x7F'],"
                    "'replayCache':[{'seq':1,'command':'A/\\u0000',"
                    "'stdout':'\\u001b[1m\xF0\x9F\x98\x80\\ude00','stderr':'\xEF\xB7\x90'}],"
                    "'pendingInteractive':[],'egress':{'apply':[],'remove':[]},'credentials':[]}");
}

static void the_latest_rule_for_a_target_wins_in_its_first_place(void **state)
{
    (void)state;
    assert_member("egress",
                  "{'apply':[{'action':'deny','target':'a'},{'action':'allow','target':'b'}],"
                  "'remove':[]}",
                  ADDED(3, "[{'target':'a','action':'allow'},{'target':'b','action':'allow'}]"),
                  ADDED(4, "[{'target':'a','action':'deny'}]"));
}

static void a_removed_target_is_dropped_and_listed(void **state)
{
    (void)state;
    assert_member("egress", "{'apply':[{'target':'b'}],'remove':['a','c']}",
                  ADDED(3, "[{'target':'a'},{'target':'b'}]"), REMOVED(4, "['a','c']"),
                  REMOVED(5, "['a']"));
}

static void a_target_added_again_is_off_remove_and_comes_last(void **state)
{
    (void)state;
    assert_member("egress", "{'apply':[{'target':'b'},{'target':'a'}],'remove':[]}",
                  ADDED(3, "[{'target':'a'},{'target':'b'}]"), REMOVED(4, "['a']"),
                  ADDED(5, "[{'target':'a'}]"));
    assert_member("egress", "{'apply':[],'remove':['b','a']}", REMOVED(3, "['a','b']"),
                  ADDED(4, "[{'target':'a'}]"), REMOVED(5, "['a']"));
}

static void egress_and_credentials_are_of_the_whole_history_in_append_order(void **state)
{
    static const test_event events[] = {
        CREATED(1, "sb", NULL),
        CHECKPOINT(2, "sb"),
        {3, 900, -1, "ci", "sb", "egress_rule_added", "{'rules':[{'target':'a'}]}"},
        {4, 30, -1, "ci", "sb", "egress_rule_removed", "{'targets':['a']}"},
        {5, 900, -1, "ci", "sb", "credential_revoked", "{'name':'k'}"},
        {6, 30, -1, "ci", "sb", "credential_bound", "{'name':'k'}"},
    };

    (void)state;
    assert_document(events, "sb", "egress", "{'apply':[],'remove':['a']}");
    assert_document(events, "sb", "credentials", "[{'name':'k'}]");
}

static void rules_and_targets_of_another_shape_are_passed_over(void **state)
{
    (void)state;
    assert_member("egress", "{'apply':[{'target':''},{'target':'\\u0000'}],'remove':['b']}",
                  ADDED(3, "[1,null,'a',['a'],{},{'target':1},{'target':''},{'target':'\\u0000'}]"),
                  ADDED(4, "{'target':'a'}"), EVENT(5, "sb", "egress.rule_added", NULL),
                  REMOVED(6, "[1,null,['a'],{'target':'a'},'b']"), REMOVED(7, "'c'"));
}

static void targets_are_compared_as_decoded(void **state)
{
    (void)state;
    assert_member("egress", "{'apply':[{'n':100,'target':'a'}],'remove':[]}",
                  ADDED(3, "[{'target':'\\u0061','n':1}]"), REMOVED(4, "['a']"),
                  ADDED(5, "[{'target':'a' ,'n':1e2}]"));
}

static void many_targets_keep_their_order(void **state)
{
    enum { TARGETS = 300 };
    static char rules[TARGETS * 24 + 16], expected[TARGETS * 24 + 64];
    static test_event events[] = {CREATED(1, "sb", NULL), CHECKPOINT(2, "sb"),
                                  EVENT(3, "sb", "egress.rule_added", rules)};

    (void)state;
    strcpy(rules, "{'rules':[");
    strcpy(expected, "{'apply':[");
    for (int i = 0; i < TARGETS; i++) {
        int n = i * 7 % TARGETS; /* 7 and 300 share no divisor */
        char rule[] = ",{'target':'000'}";
        rule[12] = (char)('0' + n / 100);
        rule[13] = (char)('0' + n / 10 % 10);
        rule[14] = (char)('0' + n % 10);
        strcat(rules, i == 0 ? rule + 1 : rule);
        strcat(expected, i == 0 ? rule + 1 : rule);
    }
    strcat(rules, "]}");
    strcat(expected, "],'remove':[]}");
    assert_document(events, "sb", "egress", expected);
}

static void the_latest_binding_that_was_not_revoked_after_counts(void **state)
{
    (void)state;
    assert_member("credentials",
                  "[{'name':'a','binding':2},{'name':'c','source':'s'},{'name':'b','binding':3}]",
                  BOUND(3, "{'name':'a','binding':1,'source':'s'}"),
                  BOUND(4, "{'name':'b','binding':1}"), BOUND(5, "{'name':'c','source':'s'}"),
                  BOUND(6, "{'name':'d','binding':1}"), BOUND(7, "{'name':'a','binding':2}"),
                  REVOKED(8, "{'name':'b'}"), BOUND(9, "{'name':'b','binding':3}"),
                  REVOKED(10, "{'name':'d'}"), REVOKED(11, "{'name':'never'}"));
}

static void a_credential_without_a_name_is_passed_over(void **state)
{
    (void)state;
    assert_member("credentials", "[{'name':'a'}]", BOUND(3, "{'name':'a','source':null}"),
                  BOUND(4, "{'binding':1}"), BOUND(5, "{'name':7}"), REVOKED(6, "{}"),
                  REVOKED(7, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_document_has_its_members_in_order),
        cmocka_unit_test(what_is_absent_is_left_out),
        cmocka_unit_test(a_setting_comes_from_the_nearest_that_has_it),
        cmocka_unit_test(run_id_falls_back_to_the_session_and_not_to_its_parent),
        cmocka_unit_test(the_checkpoint_resumed_from_is_known_wherever_it_was_made),
        cmocka_unit_test(a_fork_takes_no_setting_of_its_parent),
        cmocka_unit_test(text_of_any_kind_is_held_exactly),
        cmocka_unit_test(the_latest_rule_for_a_target_wins_in_its_first_place),
        cmocka_unit_test(a_removed_target_is_dropped_and_listed),
        cmocka_unit_test(a_target_added_again_is_off_remove_and_comes_last),
        cmocka_unit_test(egress_and_credentials_are_of_the_whole_history_in_append_order),
        cmocka_unit_test(rules_and_targets_of_another_shape_are_passed_over),
        cmocka_unit_test(targets_are_compared_as_decoded),
        cmocka_unit_test(many_targets_keep_their_order),
        cmocka_unit_test(the_latest_binding_that_was_not_revoked_after_counts),
        cmocka_unit_test(a_credential_without_a_name_is_passed_over),
    };

    return cmocka_run_group_tests_name("document", tests, NULL, NULL);
}
