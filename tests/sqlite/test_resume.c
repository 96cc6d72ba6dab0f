/*
 * test_resume.c - the document of alineo_resume for a session by itself: its
 * keys, its checkpoint, pending interactive execs, egress rules, credentials.
 */
#include "support.h"

#define SB         "sb-1"
#define DOCUMENT   "SELECT alineo_resume('sb-1')"
#define PART(part) "SELECT alineo_resume('sb-1') -> '$." part "'"
#define ADDED(ts, rules)                                                                           \
    {                                                                                              \
        SB, "egress.rule_added", "{'rules':" rules "}", ts                                         \
    }
#define REMOVED(ts, targets)                                                                       \
    {                                                                                              \
        SB, "egress.rule_removed", "{'targets':" targets "}", ts                                   \
    }
#define BOUND(ts, payload)                                                                         \
    {                                                                                              \
        SB, "credential.bound", payload, ts                                                        \
    }
#define REVOKED(ts, name)                                                                          \
    {                                                                                              \
        SB, "credential.revoked", "{'name':'" name "'}", ts                                        \
    }
#define SHELL(ts, seq)                                                                             \
    {                                                                                              \
        SB, "exec.started", "{'seq':" #seq ",'cmd':'bash','interactive':true}", ts                 \
    }
#define START CREATED(1, SB, "{}")

static const ledger_case cases[] = {
    {"the least document has no more than it must",
     {START, CHECKPOINT(5, SB, "s")},
     DOCUMENT,
     "{'name':'ci','sandboxId':'sb-1','runId':'sb-1',"
     "'checkpoint':{'snapshotId':'s','createdAt':5,'sandboxId':'sb-1'},'lineage':['sb-1'],"
     "'replayCache':[],'pendingInteractive':[],'egress':{'apply':[],'remove':[]},"
     "'credentials':[]}"},
    {"the whole document has its keys in their order",
     {CREATED(1, SB,
              "{'teamId':'t','credentialProxy':{'port':8080},'networkPolicy':{'mode':'deny'},"
              "'resources':{'memory':'256Mi','cpu':'500m'},'resourceId':'res','runId':'r'}"),
      STARTED(2, SB, 1, "ls"),
      OUTPUT(3, SB, 1, "stdout", "a\\n"),
      OUTPUT(3, SB, 1, "stderr", "b"),
      COMPLETED(4, SB, 1, 0),
      {SB, "exec.started",
       "{'seq':2,'cmd':'bash','interactive':true,'cwd':'/w','env':{'LANG':'C','A':'1'}}", 5},
      OUTPUT(6, SB, 2, "stdin", "ls\\n"),
      OUTPUT(7, SB, 2, "stdout", "$ "),
      ADDED(8, "[{'target':'a.com','action':'allow'}]"),
      REMOVED(9, "['b.com']"),
      BOUND(10, "{'name':'k','source':{'env':'K'},'binding':{'host':'h'},'x':1}"),
      TAGGED(11, SB, "s", "t1")},
     DOCUMENT,
     "{'name':'ci','sandboxId':'sb-1','runId':'r','resourceId':'res','teamId':'t',"
     "'checkpoint':{'snapshotId':'s','tag':'t1','createdAt':11,'sandboxId':'sb-1'},"
     "'lineage':['sb-1'],'resources':{'cpu':'500m','memory':'256Mi'},"
     "'networkPolicy':{'mode':'deny'},'credentialProxy':{'port':8080},"
     "'replayCache':[{'seq':1,'command':'ls','stdout':'a\\n','stderr':'b','exitCode':0}],"
     "'pendingInteractive':[{'seq':2,'cmd':'bash','cwd':'/w','env':{'A':'1','LANG':'C'},"
     "'stdin':['ls\\n'],'stdout':'$ '}],"
     "'egress':{'apply':[{'action':'allow','target':'a.com'}],'remove':['b.com']},"
     "'credentials':[{'name':'k','binding':{'host':'h'},'source':{'env':'K'}}]}"},
    {"an exec leaves out what is not known of it",
     {START,
      OUTPUT(2, SB, 1, "stdout", "x"),
      {SB, "exec.completed", "{'seq':1}", 3},
      CHECKPOINT(4, SB, "s")},
     PART("replayCache"),
     "[{'seq':1,'stdout':'x','stderr':''}]"},
    {"without a tag the checkpoint is the one recorded last",
     {START, TAGGED(30, SB, "s-1", "t"), CHECKPOINT(10, SB, "s-2")},
     PART("checkpoint"),
     "{'snapshotId':'s-2','createdAt':10,'sandboxId':'sb-1'}"},
    {"with a tag the checkpoint is the latest that bears it",
     {START, TAGGED(30, SB, "s-1", "t"), TAGGED(10, SB, "s-2", "t"), CHECKPOINT(40, SB, "s-3")},
     "SELECT alineo_resume('sb-1', 't') -> '$.checkpoint'",
     "{'snapshotId':'s-2','tag':'t','createdAt':10,'sandboxId':'sb-1'}"},
    {"a tag compares as text, however it is escaped",
     {START, TAGGED(2, SB, "s-1", "\\u0074\\u00e9"), TAGGED(3, SB, "s-2", "T\\u00e9")},
     "SELECT alineo_resume('sb-1', 't\xc3\xa9') ->> '$.checkpoint.snapshotId'",
     "s-1"},
    {"the name of a checkpoint of 0.2 is its tag",
     {START, {SB, "snapshot", "{'snapshotId':'s-1','name':'old'}", 2}, CHECKPOINT(3, SB, "s-2")},
     "SELECT alineo_resume('sb-1', 'old') -> '$.checkpoint'",
     "{'snapshotId':'s-1','tag':'old','createdAt':2,'sandboxId':'sb-1'}"},
    {"where several names share a sandbox_id the one created last is resumed",
     {START, CHECKPOINT(2, SB, "s")},
     "SELECT alineo_append('other', 'sb-1', 'sandbox.created', NULL, NULL, NULL, NULL, 0) > 0,"
     " alineo_append('other', 'sb-1', 'snapshot', NULL, NULL, NULL, NULL, 0) > 0,"
     " alineo_resume('sb-1') ->> '$.name'",
     "1|1|other"},

    {"an interactive exec that is not completed is pending",
     {START, SHELL(2, 1), OUTPUT(3, SB, 1, "stdin", "a"), OUTPUT(4, SB, 1, "stdout", "x"),
      OUTPUT(5, SB, 1, "stdin", ""), OUTPUT(6, SB, 1, "stdin", "b"),
      OUTPUT(7, SB, 1, "stdout", "y"), CHECKPOINT(8, SB, "s")},
     PART("pendingInteractive"),
     "[{'seq':1,'cmd':'bash','stdin':['a','b'],'stdout':'xy'}]"},
    {"an exec that is not interactive, or only says so in words, is not pending",
     {START,
      STARTED(2, SB, 1, "ls"),
      {SB, "exec.started", "{'seq':2,'cmd':'b','interactive':false}", 3},
      {SB, "exec.started", "{'seq':3,'cmd':'b','interactive':'true'}", 3},
      {SB, "exec.started", "{'seq':4,'cmd':'b','interactive':1}", 3},
      CHECKPOINT(4, SB, "s")},
     PART("pendingInteractive"),
     "[]"},
    {"an interactive exec that is completed is cached and not pending",
     {START, SHELL(2, 1), COMPLETED(3, SB, 1, 0), CHECKPOINT(4, SB, "s")},
     "SELECT d -> '$.pendingInteractive', d ->> '$.replayCache[0].seq'"
     " FROM (SELECT alineo_resume('sb-1') AS d)",
     "[]|1"},
    {"an interactive exec completed behind the checkpoint is pending as of it",
     {START, SHELL(2, 1), CHECKPOINT(3, SB, "s"), OUTPUT(4, SB, 1, "stdin", "late"),
      COMPLETED(5, SB, 1, 0)},
     PART("pendingInteractive"),
     "[{'seq':1,'cmd':'bash','stdin':[],'stdout':''}]"},
    {"an interactive exec whose seq is in the cache is not pending",
     {START, STARTED(2, SB, 1, "ls"), COMPLETED(3, SB, 1, 0), SHELL(4, 1), CHECKPOINT(5, SB, "s")},
     "SELECT d -> '$.pendingInteractive', d ->> '$.replayCache[0].command'"
     " FROM (SELECT alineo_resume('sb-1') AS d)",
     "[]|ls"},

    {"a rule added for a target wins over earlier ones",
     {START, ADDED(2, "[{'target':'a','action':'allow'},{'target':'b','action':'allow'}]"),
      ADDED(3, "[{'target':'a','action':'deny','port':443}]"), CHECKPOINT(4, SB, "s")},
     PART("egress"),
     "{'apply':[{'port':443,'action':'deny','target':'a'},{'action':'allow','target':'b'}],"
     "'remove':[]}"},
    {"a removal drops the target and lists it",
     {START, ADDED(2, "[{'target':'a','action':'allow'},{'target':'b','action':'allow'}]"),
      REMOVED(3, "['a','c']"), CHECKPOINT(4, SB, "s")},
     PART("egress"),
     "{'apply':[{'action':'allow','target':'b'}],'remove':['a','c']}"},
    {"adding a target again takes it off remove",
     {START, ADDED(2, "[{'target':'a','action':'allow'}]"), REMOVED(3, "['a']"),
      ADDED(4, "[{'target':'a','action':'deny'}]"), CHECKPOINT(5, SB, "s")},
     PART("egress"),
     "{'apply':[{'action':'deny','target':'a'}],'remove':[]}"},
    {"egress rules count over the whole history, also behind the checkpoint",
     {START, CHECKPOINT(2, SB, "s"), ADDED(3, "[{'target':'a','action':'allow'}]")},
     PART("egress.apply"),
     "[{'action':'allow','target':'a'}]"},
    {"egress rules count in append order, not in that of ts",
     {START, ADDED(9, "[{'target':'a','action':'allow'}]"), REMOVED(5, "['a']"),
      CHECKPOINT(10, SB, "s")},
     PART("egress"),
     "{'apply':[],'remove':['a']}"},
    {"rules without a target and targets that are no strings are passed over",
     {START,
      ADDED(2, "[{'action':'allow'},7,{'target':8},{'target':'a'}]"),
      REMOVED(3, "[9,null,'b']"),
      {SB, "egress.rule_added", "{'rules':'a'}", 4},
      {SB, "egress.rule_removed", NULL, 5},
      CHECKPOINT(6, SB, "s")},
     PART("egress"),
     "{'apply':[{'target':'a'}],'remove':['b']}"},

    {"a credential is its latest binding",
     {START, BOUND(2, "{'name':'k','binding':'old','source':'a'}"),
      BOUND(3, "{'name':'l','binding':'x'}"), BOUND(4, "{'name':'k','binding':'new'}"),
      CHECKPOINT(5, SB, "s")},
     PART("credentials"),
     "[{'name':'k','binding':'new'},{'name':'l','binding':'x'}]"},
    {"a credential revoked is gone",
     {START, BOUND(2, "{'name':'k','binding':'a'}"), BOUND(3, "{'name':'l','binding':'b'}"),
      REVOKED(4, "k"), REVOKED(5, "nobody"), CHECKPOINT(6, SB, "s")},
     PART("credentials"),
     "[{'name':'l','binding':'b'}]"},
    {"a credential bound again after it was revoked is there",
     {START, BOUND(2, "{'name':'k','binding':'a'}"), REVOKED(3, "k"),
      BOUND(1, "{'name':'k','binding':'b'}"), CHECKPOINT(4, SB, "s")},
     PART("credentials"),
     "[{'name':'k','binding':'b'}]"},
    {"credentials count over the whole history, also behind the checkpoint",
     {START, BOUND(2, "{'name':'k','binding':'a'}"), CHECKPOINT(3, SB, "s"), REVOKED(4, "k"),
      BOUND(5, "{'name':'l'}")},
     PART("credentials"),
     "[{'name':'l'}]"},
    {"numbers of settings are as PostgreSQL prints them, to the last digit",
     {CREATED(1, SB, "{'resources':{'a':1e2,'b':1.50,'c':-0,'d':123456789012345678901234567890}}"),
      CHECKPOINT(2, SB, "s")},
     "SELECT instr(alineo_resume('sb-1'),"
     " replace('\\resources\\:{\\a\\:100,\\b\\:1.50,\\c\\:0,"
     "\\d\\:123456789012345678901234567890}', '\\', char(34))) > 0",
     "1"},
};

static void what_cannot_be_resumed_is_an_error_that_names_it(void **state)
{
    sqlite3 *db = db_of(state);

    (void)append(db, "sb-1", "sandbox.created", "{}", 1);
    (void)append(db, "sb-2", "sandbox.created", "{}", 1);
    (void)append(db, "sb-2", "sandbox.checkpoint_created", "{'snapshotId':'s','tag':'t'}", 2);
    (void)append(db, "sb-3", "sandbox.checkpoint_created", "{'snapshotId':'s','tag':'t'}", 2);
    run(db, "SELECT alineo_save_environment('py', 's', 'i')");
    assert_refused(db, "SELECT alineo_resume('nobody')",
                   "alineo_resume: no session has sandbox_id 'nobody'");
    assert_refused(db, "SELECT alineo_resume('sb-3')", /* never created */
                   "alineo_resume: no session has sandbox_id 'sb-3'");
    assert_refused(db, "SELECT alineo_resume('sb-1')",
                   "alineo_resume: sandbox_id 'sb-1' has no checkpoint");
    assert_refused(db, "SELECT alineo_resume('sb-1', 't')",
                   "alineo_resume: sandbox_id 'sb-1' has no checkpoint with tag 't'");
    assert_refused(db, "SELECT alineo_resume('sb-2', 'u')",
                   "alineo_resume: sandbox_id 'sb-2' has no checkpoint with tag 'u'");
    assert_refused(db, "SELECT alineo_resume('sb-2', '')",
                   "alineo_resume: sandbox_id 'sb-2' has no checkpoint with tag ''");
}

static void a_document_longer_than_the_limit_is_too_big(void **state)
{
    sqlite3 *db = db_of(state);

    (void)append(db, "sb-1", "sandbox.created", "{}", 1);
    (void)append(db, "sb-1", "exec.completed", "{'seq':1,'exitCode':0}", 1);
    (void)append(db, "sb-1", "snapshot", "{'snapshotId':'s'}", 1);
    int len = (int)integer(db, "SELECT length(alineo_resume('sb-1'))");
    int before = sqlite3_limit(db, SQLITE_LIMIT_LENGTH, len - 1);
    assert_error(
        db, "SELECT alineo_resume('sb-1')", SQLITE_TOOBIG,
        sqlf("alineo_resume: the document is %d bytes long, the limit is %d", len, len - 1));
    (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, before);
    assert_rows(db, "SELECT length(alineo_resume('sb-1'))", sqlf("%d", len));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(what_cannot_be_resumed_is_an_error_that_names_it),
        MEMORY_TEST(a_document_longer_than_the_limit_is_too_big),
    };
    int failed = run_cases("resume", cases, COUNT_OF(cases));
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
