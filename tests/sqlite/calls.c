/*
 * calls.c - see calls.h.
 */
#include "calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ENTRY "{\"name\":\"c\\u0069\",\"sandboxId\":\"sb-2\",\"event\":\"x\"}"
#define SECOND_ENTRY                                                                               \
    "{\"name\":\"ci\",\"sandboxId\":\"sb-2\",\"event\":\"y\",\"ts\":1,\"error\":\"\\u0000\"}"
#define APPEND_FIRST "SELECT alineo_append('ci', 'sb-2', 'x', NULL, NULL, NULL, NULL, 50)"

const call_case call_cases[] = {
    {.sql = "SELECT alineo_append('ci', 'sb-2', 'exec.started', '{\"seq\":7}', 7, 0, 'e', 99)",
     .answer = "18",
     .empty = "1",
     .writes = true},
    {.sql = "SELECT alineo_append('ci', 'sb-2', 'exec_start', '\"{\\\"seq\\\":7}\"')",
     .answer = "18",
     .empty = "1",
     .writes = true},
    /* After another append, of which the connection may know the id and ts. */
    {.sql = "SELECT alineo_append('ci', 'sb-2', 'x', NULL, NULL, NULL, 'a' || char(0))",
     .before = APPEND_FIRST,
     .answer = "19",
     .writes = true},
    {.sql = "SELECT alineo_append('ci', 'sb-2', 'x', NULL, NULL, NULL, NULL, 60)",
     .before = APPEND_FIRST,
     .answer = "19",
     .writes = true},
    /* After a deletion, which the id has to be above. */
    {.sql = "SELECT alineo_append('ci', 'sb-2', 'x')",
     .before = "DELETE FROM alineo_events WHERE id > 15",
     .answer = "18",
     .writes = true},
    {.sql = "SELECT alineo_append_batch('[" FIRST_ENTRY "," SECOND_ENTRY "]')",
     .answer = "2",
     .empty = "2",
     .writes = true},
    {.sql = "SELECT alineo_append_batch('" SECOND_ENTRY "')",
     .before = "DELETE FROM alineo_events WHERE id > 15",
     .answer = "1",
     .writes = true},
    {.sql = "SELECT alineo_delete_sandbox('ci', 'sb-2')",
     .answer = "8",
     .empty = "0",
     .writes = true},
    {.sql = "SELECT alineo_delete_sandbox('ci', 'sb-3')",
     .answer = "1",
     .empty = "0",
     .writes = true},
    /* Reading a text as UTF-8 may lack memory too, when the call is over. */
    {.sql = "SELECT alineo_save_environment('py', 's-2', 'i', 6) = 'py'",
     .answer = "1",
     .empty = "1",
     .writes = true},
    {.sql = "SELECT alineo_delete_environment('py')", .answer = "1", .empty = "0", .writes = true},
    {.sql = "SELECT alineo_init()", .answer = "1", .empty = "0", .writes = true},
    {.sql = "SELECT alineo_guard(1)", .answer = "1", .empty = "1", .writes = true},
    {.sql = "SELECT alineo_guard(0)",
     .before = "SELECT alineo_guard(1)",
     .answer = "0",
     .writes = true},
    {.sql = "SELECT alineo_delete_sandbox('ci', 'sb-2')",
     .before = "SELECT alineo_guard(1)",
     .answer = "8",
     .writes = true},
    {.sql = "SELECT alineo_init()",
     .before = "SELECT alineo_guard(1)",
     .answer = "1",
     .writes = true},
    {.sql = "SELECT alineo_append('ci', 'sb-2', 'x')",
     .before = "SELECT alineo_guard(1)",
     .answer = "18",
     .writes = true},
    {.sql = "SELECT alineo_version()", .answer = "1.0.0", .empty = "1.0.0"},
    {.sql = "SELECT * FROM alineo_replay('ci', 'sb-1')",
     .answer = "1|sb-1|ci|-1|NULL|sandbox.created|{'runId':'r\\u0000é','resources':{'b':1,"
               "'a':2}}|NULL|1\n"
               "2|sb-1|ci|1|NULL|exec.started|{'seq':1,'cmd':'ls é'}|NULL|2\n"
               "3|sb-1|ci|1|NULL|exec.output|{'seq':1,'type':'stdout','text':'a\\ud83d'}|NULL|3\n"
               "4|sb-1|ci|1|NULL|exec.output|{'seq':1,'type':'stdout',"
               "'text':'\\ude00b\\u0000'}|NULL|4\n"
               "5|sb-1|ci|1|NULL|exec.completed|{'seq':1,'exitCode':0}|NULL|5\n"
               "6|sb-1|ci|2|NULL|exec.started|{'seq':2,'cmd':'sh','interactive':true,'cwd':'/',"
               "'env':{'A':'1'}}|NULL|6\n"
               "7|sb-1|ci|2|NULL|exec.output|{'seq':2,'type':'stdin','text':'x'}|NULL|6\n"
               "8|sb-1|ci|-1|NULL|sandbox.checkpoint_created|{'snapshotId':'s-1',"
               "'tag':'t\\u00e9'}|NULL|7",
     .empty = ""},
    {.sql = "SELECT * FROM alineo_replay('ci', 'sb-3')",
     .answer = "17|sb-3|ci|1|NULL|exec.started|{'seq':1,'cmd':'ls'}|a␀|1",
     .empty = ""},
    {.sql = "SELECT * FROM alineo_replay('ci', 'sb-1') WHERE ts > 2 AND id < 5 ORDER BY ts, id",
     .answer = "3|sb-1|ci|1|NULL|exec.output|{'seq':1,'type':'stdout','text':'a\\ud83d'}|NULL|3\n"
               "4|sb-1|ci|1|NULL|exec.output|{'seq':1,'type':'stdout',"
               "'text':'\\ude00b\\u0000'}|NULL|4",
     .empty = ""},
    {.sql = "SELECT * FROM alineo_replay_cache('ci', 'sb-2')",
     .answer = "1|ls é|a😀b␀||0|2|5",
     .empty = ""},
    {.sql = "SELECT * FROM alineo_replay_cache('ci', 'sb-1', 't\xc3\xa9')",
     .answer = "1|ls é|a😀b␀||0|2|5",
     .empty = ""},
    {.sql = "SELECT * FROM alineo_execs('ci', 'sb-1')",
     .answer = "1|ls é|a😀b␀||0|2|5\n"
               "2|sh|||NULL|6|NULL",
     .empty = ""},
    {.sql = "SELECT * FROM alineo_execs('ci', 'sb-3') WHERE seq = 1",
     .answer = "1|ls|||NULL|1|NULL",
     .empty = ""},
    {.sql = "SELECT alineo_resume('sb-2')",
     .answer = "{'name':'ci','sandboxId':'sb-2','runId':'r\\u0000é',"
               "'checkpoint':{'snapshotId':'s-2','createdAt':4,'sandboxId':'sb-2'},"
               "'lineage':['sb-1','sb-2'],'resources':{'a':2,'b':1},'replayCache':[{'seq':1,"
               "'command':'ls é','stdout':'a😀b\\u0000','stderr':'','exitCode':0}],"
               "'pendingInteractive':[{'seq':2,'cmd':'sh','stdin':['x','y'],'stdout':''}],"
               "'egress':{'apply':[{'target':'b'}],'remove':['a','c']},'credentials':[{'name':'k',"
               "'binding':{'h':1}}]}"},
    {.sql = "SELECT alineo_resume('sb-1', 't\xc3\xa9')",
     .answer = "{'name':'ci','sandboxId':'sb-1','runId':'r\\u0000é',"
               "'checkpoint':{'snapshotId':'s-1','tag':'té','createdAt':7,'sandboxId':'sb-1'},"
               "'lineage':['sb-1'],'resources':{'a':2,'b':1},'replayCache':[{'seq':1,"
               "'command':'ls é','stdout':'a😀b\\u0000','stderr':'','exitCode':0}],"
               "'pendingInteractive':[{'seq':2,'cmd':'sh','cwd':'/','env':{'A':'1'},'stdin':['x'],"
               "'stdout':''}],'egress':{'apply':[],'remove':[]},'credentials':[]}"},
    {.sql = "SELECT alineo_output('ci', 'sb-1', 1)", .answer = "0x61f09f98806200", .empty = "NULL"},
    {.sql = "SELECT alineo_output('ci', 'sb-1', 2, 'stdin')", .answer = "0x78", .empty = "NULL"},
    {.sql = "SELECT * FROM alineo_last_checkpoint('ci', 'sb-1')",
     .answer = "8|sb-1|ci|-1|NULL|sandbox.checkpoint_created|{'snapshotId':'s-1',"
               "'tag':'t\\u00e9'}|NULL|7",
     .empty = ""},
    {.sql = "SELECT * FROM alineo_list_checkpoints('ci', 'sb-1')",
     .answer = "s-1|té|7",
     .empty = ""},
    {.sql = "SELECT * FROM alineo_list_sandboxes()",
     .answer = "ci|sb-2|completed|8|9|0|sb-2|NULL|NULL|NULL|sb-1\n"
               "ci|sb-1|running|1|NULL|1|r␀é|NULL|NULL|NULL|NULL",
     .empty = ""},
    {.sql = "SELECT * FROM alineo_list_sandboxes('ci', 'completed', 'sb-2', 99, 5)",
     .answer = "ci|sb-2|completed|8|9|0|sb-2|NULL|NULL|NULL|sb-1",
     .empty = ""},
    {.sql = "SELECT * FROM alineo_get_sandbox('ci', 'sb-1')",
     .answer = "ci|sb-1|running|1|NULL|1|r␀é|NULL|NULL|NULL|NULL",
     .empty = ""},
    {.sql = "SELECT * FROM alineo_get_environment('py')", .answer = "py|s|i|5", .empty = ""},
    {.sql = "SELECT * FROM alineo_list_environments()", .answer = "py|s|i|5", .empty = ""},
};

const size_t call_count = COUNT_OF(call_cases);

const char *call_function(const call_case *c, int *len)
{
    const char *name = strstr(c->sql, "alineo_");

    *len = (int)strcspn(name, "(");
    return name;
}

bool call_gives_rows(const call_case *c)
{
    return strstr(c->sql, "FROM alineo_") != NULL;
}

void fill_ledger(sqlite3 *db)
{
    (void)append(db, "sb-1", "sandbox.created",
                 "{'runId':'r\\u0000\xc3\xa9','resources':{'b':1,'a':2}}", 1);
    (void)append(db, "sb-1", "exec.started", "{'seq':1,'cmd':'ls \xc3\xa9'}", 2);
    (void)append(db, "sb-1", "exec.output", "{'seq':1,'type':'stdout','text':'a\\ud83d'}", 3);
    (void)append(db, "sb-1", "exec.output", "{'seq':1,'type':'stdout','text':'\\ude00b\\u0000'}",
                 4);
    (void)append(db, "sb-1", "exec.completed", "{'seq':1,'exitCode':0}", 5);
    (void)append(db, "sb-1", "exec.started",
                 "{'seq':2,'cmd':'sh','interactive':true,'cwd':'/','env':{'A':'1'}}", 6);
    (void)append(db, "sb-1", "exec.output", "{'seq':2,'type':'stdin','text':'x'}", 6);
    (void)append(db, "sb-1", "snapshot", "{'snapshotId':'s-1','tag':'t\\u00e9'}", 7);
    (void)append(db, "sb-2", "sandbox.created", "{'resumedFrom':'sb-1','snapshotId':'s-1'}", 8);
    (void)append(db, "sb-2", "exec.started", "{'seq':2,'cmd':'sh','interactive':true}", 9);
    (void)append(db, "sb-2", "exec.output", "{'seq':2,'type':'stdin','text':'y'}", 9);
    (void)append(db, "sb-2", "egress.rule_added", "{'rules':[{'target':'a'},{'target':'b'}]}", 9);
    (void)append(db, "sb-2", "egress.rule_removed", "{'targets':['a','c']}", 9);
    (void)append(db, "sb-2", "credential.bound", "{'name':'k','binding':{'h':1}}", 9);
    (void)append(db, "sb-2", "snapshot", "{'snapshotId':'s-2'}", 4);
    (void)append(db, "sb-2", "sandbox.closed", NULL, 9);
    run(db, "INSERT INTO alineo_events(sandbox_id, name, step_idx, event, payload, error, ts)"
            " VALUES ('sb-3', 'ci', 1, 'exec_start', '\"{\\\"seq\\\":1,\\\"cmd\\\":\\\"ls\\\"}\"',"
            " 'a' || char(0), 1);"
            "SELECT alineo_save_environment('py', 's', 'i', 5);"
            "CREATE TABLE marks(n)");
}

static void put(answer *a, const void *at, size_t len)
{
    a->cut |= a->len + len >= sizeof a->text;
    if (a->cut)
        return;
    memcpy(a->text + a->len, at, len);
    a->len += len;
    a->text[a->len] = '\0';
}

static void put_bytes(answer *a, const unsigned char *at, int len, bool blob)
{
    char hexadecimal[3];

    for (int i = 0; i < len; i++) {
        (void)snprintf(hexadecimal, sizeof hexadecimal, "%02x", at[i]);
        if (blob)
            put(a, hexadecimal, 2);
        else if (at[i] == '\0')
            put(a, "\\0", 2);
        else
            put(a, at + i, 1);
    }
}

/* Converting a number to text may be SQLite's own allocation; this needs none. */
static void put_value(answer *a, sqlite3_stmt *statement, int column)
{
    int type = sqlite3_column_type(statement, column);
    char digits[24];

    if (type == SQLITE_NULL) {
        put(a, "NULL", 4);
    } else if (type == SQLITE_INTEGER) {
        int len = snprintf(digits, sizeof digits, "%lld", sqlite3_column_int64(statement, column));
        put(a, digits, (size_t)len);
    } else if (type == SQLITE_BLOB) {
        put(a, "0x", 2);
        put_bytes(a, sqlite3_column_blob(statement, column),
                  sqlite3_column_bytes(statement, column), true);
    } else {
        /* In a database that is UTF-16 this converts. */
        const unsigned char *at = sqlite3_column_text(statement, column);
        if (at == NULL)
            a->rc = SQLITE_NOMEM;
        else
            put_bytes(a, at, sqlite3_column_bytes(statement, column), false);
    }
}

static void put_row(answer *a, sqlite3_stmt *statement)
{
    if (a->len > 0)
        put(a, "\n", 1);
    for (int i = 0; i < sqlite3_column_count(statement); i++) {
        if (i > 0)
            put(a, "|", 1);
        put_value(a, statement, i);
    }
}

static void add_rows(sqlite3 *db, const char *sql, answer *a)
{
    sqlite3_stmt *statement = NULL;

    a->rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    while (a->rc == SQLITE_OK) {
        int rc = sqlite3_step(statement);
        if (rc != SQLITE_ROW) {
            a->rc = rc == SQLITE_DONE ? SQLITE_OK : rc;
            break;
        }
        put_row(a, statement);
    }
    if (a->rc != SQLITE_OK && (sqlite3_extended_errcode(db) & 0xff) == (a->rc & 0xff))
        a->rc = sqlite3_extended_errcode(db);
    (void)snprintf(a->message, sizeof a->message, "%s",
                   a->rc == SQLITE_OK ? "" : sqlite3_errmsg(db));
    (void)sqlite3_finalize(statement);
}

static void clear(answer *a)
{
    a->len = 0;
    a->cut = false;
    a->text[0] = '\0';
}

void ask(sqlite3 *db, const char *sql, answer *a)
{
    clear(a);
    add_rows(db, sql, a);
}

/* Above every ts that a test gives, below every clock. */
#define LONG_AGO "1000000000000"

void dump(sqlite3 *db, answer *a)
{
    static const char *const tables[] = {
        "SELECT 'event', id, sandbox_id, name, step_idx, branch, event, payload, error,"
        " CASE WHEN ts > " LONG_AGO " THEN 'now' ELSE ts END FROM main.alineo_events ORDER BY id",
        "SELECT 'environment', name, snapshot_id, image, built_at FROM main.alineo_environments"
        " ORDER BY name",
        "SELECT 'deleted', last_id FROM main.alineo_deleted",
        "SELECT 'mark', n FROM main.marks ORDER BY n",
        "SELECT 'guard', name FROM main.sqlite_schema WHERE name LIKE 'alineo_guard%' ORDER BY 2",
    };

    clear(a);
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        add_rows(db, tables[i], a);
        if (a->rc == SQLITE_ERROR && strncmp(a->message, "no such table", 13) == 0)
            a->rc = SQLITE_OK; /* a table without rows is as good */
        if (a->rc != SQLITE_OK)
            return;
    }
}

bool same_answer(const answer *a, const answer *b)
{
    assert_false(a->cut || b->cut);
    return a->rc == b->rc && a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

bool answers(const answer *a, const char *rows)
{
    return a->rc == SQLITE_OK && !a->cut && strcmp(a->text, json(rows)) == 0;
}

int fault_stride(int most)
{
    const char *faults = getenv("ALINEO_FAULTS");

    return faults != NULL && strcmp(faults, "all") == 0 ? 1 : most;
}

bool takes_turn(size_t i, long round)
{
    return !is_slow() || ((long)i + round) % 13 == 0;
}

void tell_count(const char *what, long count)
{
    print_message("counted: %ld %s\n", count, what);
}
