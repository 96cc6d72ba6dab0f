/*
 * test_hostile.c - a database file made to do harm to whoever opens it with the
 * extension loaded: whatever its schema calls, nothing is written that the user
 * did not ask for, and every call comes to an end.
 */
#include "calls.h"

#include <stdio.h>
#include <string.h>

/* Each would change the ledger. */
static const char *const evil[] = {
    "alineo_append('evil', 'evil', 'evil')",
    "alineo_append('evil', 'evil', 'evil', NULL, NULL, NULL, NULL, 5)",
    "alineo_append_batch('{\"name\":\"evil\",\"sandboxId\":\"evil\",\"event\":\"evil\"}')",
    "alineo_delete_sandbox('ci', 'sb-1')",
    "alineo_save_environment('evil', 's', 'i', 1)",
    "alineo_delete_environment('py')",
    "alineo_init()",
};

#define APPEND     "SELECT alineo_append('ci', 'sb-2', 'x', NULL, NULL, NULL, NULL, 1)"
#define APPEND_NOW "SELECT alineo_append('ci', 'sb-2', 'x')"
#define BATCH                                                                                      \
    "SELECT alineo_append_batch('{\"name\":\"ci\",\"sandboxId\":\"sb-2\",\"event\":\"x\"}')"
#define SAVE        "SELECT alineo_save_environment('py', 's', 'i', 1)"
#define DELETE_LAST "SELECT alineo_delete_sandbox('ci', 'sb-3')"
#define INIT        "SELECT alineo_init()"

/* Something that a file can hold, with %s for what it calls; and a statement of
 * the user's, who suspects nothing, which makes SQLite evaluate it. */
static const struct {
    const char *schema;
    const char *statement;
} traps[] = {
    {"CREATE TRIGGER g AFTER INSERT ON alineo_events BEGIN SELECT %s; END", APPEND},
    {"CREATE TRIGGER g AFTER INSERT ON alineo_events BEGIN SELECT %s; END", APPEND_NOW},
    {"CREATE TRIGGER g BEFORE INSERT ON alineo_events BEGIN SELECT %s; END", BATCH},
    {"CREATE TRIGGER g AFTER INSERT ON alineo_events WHEN %s > 0 BEGIN SELECT 1; END", APPEND},
    {"CREATE TRIGGER g AFTER UPDATE ON alineo_events BEGIN SELECT %s; END", INIT},
    {"CREATE TRIGGER g BEFORE DELETE ON alineo_events BEGIN SELECT %s; END", DELETE_LAST},
    {"CREATE TRIGGER g AFTER INSERT ON alineo_deleted BEGIN SELECT %s; END", DELETE_LAST},
    {"DROP TRIGGER alineo_events_deleted; CREATE TRIGGER alineo_events_deleted AFTER DELETE"
     " ON alineo_events BEGIN SELECT %s; END",
     DELETE_LAST},
    {"CREATE TRIGGER g AFTER UPDATE ON alineo_environments BEGIN SELECT %s; END", SAVE},
    {"CREATE TRIGGER g AFTER INSERT ON marks BEGIN SELECT %s; END", "INSERT INTO marks VALUES (1)"},
    {"CREATE VIEW v AS SELECT %s AS a", "SELECT a FROM v"},
    {"CREATE VIEW v AS SELECT 1 AS a; CREATE TRIGGER g INSTEAD OF INSERT ON v BEGIN SELECT %s; END",
     "INSERT INTO v VALUES (1)"},
    /* The rest as only a crafted file has it. */
    {"REPLACE alineo_events 'error TEXT' 'error TEXT CHECK (%s > 0)'", APPEND},
    {"REPLACE alineo_events 'error TEXT' 'error TEXT CHECK (%s > 0)'", BATCH},
    {"REPLACE alineo_events 'error TEXT' 'error TEXT CHECK (name = ''evil'' OR %s > 0)'", APPEND},
    {"REPLACE alineo_events 'error TEXT' 'error TEXT CHECK (name = ''evil'' OR %s > 0)'", BATCH},
    {"REPLACE alineo_deleted 'PRIMARY KEY' 'PRIMARY KEY CHECK (%s > 0)'", DELETE_LAST},
    {"REPLACE alineo_environments 'image TEXT' 'image TEXT CHECK (%s > 0)'", SAVE},
    {"REPLACE marks 'n' 'n CHECK (%s > 0)'", "INSERT INTO marks VALUES (1)"},
    {"REPLACE marks 'n' 'n CHECK (%s > 0)'", "INSERT INTO marks VALUES (1), (2) RETURNING n"},
    {"REPLACE marks 'n' 'n CHECK (%s > 0)'", "INSERT INTO marks SELECT alineo_version()"},
    {"REPLACE marks 'n' 'n, m DEFAULT (%s)'", "INSERT INTO marks(n) VALUES (1)"},
    {"REPLACE alineo_events 'ts INTEGER NOT NULL' 'ts INTEGER NOT NULL, more DEFAULT (%s)'",
     APPEND},
    {"REPLACE alineo_events 'ts INTEGER NOT NULL' 'ts INTEGER NOT NULL, more AS (%s)'", APPEND},
    {"CREATE INDEX i ON alineo_events(abs(ts)); REPLACE i 'abs(ts)' '%s'", APPEND},
    {"CREATE INDEX i ON alineo_events(ts) WHERE ts > 0; REPLACE i 'ts > 0' '%s > 0'", APPEND},
};

/* Writes the schema of a trap. REPLACE table 'this' 'by this' stands for what
 * writable_schema does. */
static void craft(sqlite3 *db, const char *schema, const char *what)
{
    char *text = sqlite3_mprintf(schema, what);
    char *replace = strstr(text, "REPLACE ");
    char name[32], from[32];
    int used = 0;

    if (replace != NULL) {
        *replace = '\0';
        assert_int_equal(sscanf(replace + 8, "%31s '%31[^']' '%n", name, from, &used), 2);
        char *to = replace + 8 + used;
        to[strlen(to) - 1] = '\0';
        run(db, text);
        run(db, "PRAGMA writable_schema = on");
        /* Doubled quotes are those of the trap, not of the call in it. */
        char *quotes = strstr(to, "''evil''");
        if (quotes != NULL)
            memcpy(quotes, " 'evil' ", 8);
        run(db, sqlf("UPDATE sqlite_schema SET sql = replace(sql, %Q, %Q) WHERE name = %Q", from,
                     to, name));
        assert_int_equal(sqlite3_changes(db), 1);
    } else {
        run(db, text);
    }
    sqlite3_free(text);
}

static void start_afresh(void **state)
{
    fixture *f = *state;

    if (f->db != NULL)
        close_ledger(f->db);
    (void)remove(f->path);
    f->db = open_ledger(f->path, 0);
    run(f->db, "PRAGMA synchronous = off; BEGIN");
    fill_ledger(f->db);
    run(f->db, "COMMIT");
    close_ledger(f->db);
    f->db = NULL;
}

static const struct {
    const char *name;
    int trusted, defensive;
} openings[] = {{"as usual", 1, 0}, {"with care", 0, 1}};

static sqlite3 *open_victim(void **state, size_t opening)
{
    fixture *f = *state;

    f->db = open_ledger(f->path, 0);
    assert_int_equal(
        sqlite3_db_config(f->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, openings[opening].trusted, NULL),
        SQLITE_OK);
    assert_int_equal(
        sqlite3_db_config(f->db, SQLITE_DBCONFIG_DEFENSIVE, openings[opening].defensive, NULL),
        SQLITE_OK);
    return f->db;
}

/* The words of SQLite or of ours for a call that has no business there. */
static bool is_refusal(const char *message)
{
    return strstr(message, "unsafe use of alineo_") != NULL ||
           strstr(message, "must not be called by a constraint or trigger") != NULL ||
           strstr(message, "prohibited in") != NULL;
}

/* The rows as the file has them, read without the extension and its schema. */
static void read_rows(void **state, answer *a)
{
    sqlite3 *db = open_plain(path_of(state), 0);

    run(db, "PRAGMA synchronous = off; PRAGMA writable_schema = on");
    dump(db, a);
    close_ledger(db);
}

static void a_file_cannot_make_its_reader_write(void **state)
{
    static answer got, before, after;

    for (size_t t = 0; t < COUNT_OF(traps); t++) {
        for (size_t e = 0; e < COUNT_OF(evil); e++) {
            for (size_t o = 0; o < COUNT_OF(openings); o++) {
                if (!takes_turn(2 * e + o, (long)t))
                    continue;
                start_afresh(state);
                sqlite3 *db = open_ledger(path_of(state), 0);
                run(db, "PRAGMA synchronous = off");
                dump(db, &before);
                craft(db, traps[t].schema, evil[e]);
                close_ledger(db);
                db = open_victim(state, o);
                ask(db, traps[t].statement, &got);
                if (got.rc == SQLITE_OK || !is_refusal(got.message))
                    fail_msg("%s\n%s\n%s: code %d, %s", sqlf(traps[t].schema, evil[e]),
                             traps[t].statement, openings[o].name, got.rc, got.message);
                close_ledger(db);
                ((fixture *)*state)->db = NULL;
                read_rows(state, &after);
                if (after.rc == SQLITE_OK && !same_answer(&before, &after))
                    fail_msg("%s\n%s: changed the ledger to\n%s", sqlf(traps[t].schema, evil[e]),
                             traps[t].statement, after.text);
            }
        }
    }
}

static void the_users_own_statements_may_write(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "CREATE TABLE t(a); SELECT ALINEO_APPEND('ci', 'sb', 'a');"
            "INSERT INTO t SELECT \"alineo_append\"('ci', 'sb', 'b');"
            "UPDATE t SET a = alineo_append('ci', 'sb', 'c');"
            "DELETE FROM t WHERE alineo_append('ci', 'sb', 'd') > 0;"
            "WITH n AS (SELECT alineo_append('ci', 'sb', 'e')) SELECT * FROM n");
    assert_rows(db, "SELECT group_concat(event, '') FROM alineo_replay('ci', 'sb')", "abcde");
}

/* Limits the work of a connection, so that what never ends is seen to. */
static bool hung;

static int give_up(void *left)
{
    hung = --*(int *)left <= 0;
    return hung;
}

#define ROW_OF(event)                                                                              \
    "SELECT 1 AS id, 'sb-1' AS sandbox_id, 'ci' AS name, 1 AS step_idx, NULL AS branch,"           \
    " '" event "' AS event, %z AS payload, NULL AS error, 1 AS ts"

/* A view in the place of the events, each row of which calls the function. */
static const char *posing_view(const call_case *c)
{
    const char *value = call_gives_rows(c) ? "(SELECT count(*) FROM (%s))" : "(%s)";
    char *calls[4];

    for (size_t i = 0; i < COUNT_OF(calls); i++)
        calls[i] = sqlite3_mprintf(value, c->sql);
    return sqlf(
        "DROP VIEW IF EXISTS alineo_events;"
        "CREATE VIEW alineo_events AS " ROW_OF("exec.output") " UNION ALL " ROW_OF(
            "sandbox.created") " UNION ALL " ROW_OF("snapshot") " UNION ALL " ROW_OF("exec."
                                                                                     "started"),
        calls[0], calls[1], calls[2], calls[3]);
}

static bool reads_events(const call_case *c)
{
    return !c->writes && strstr(c->sql, "version") == NULL && strstr(c->sql, "environment") == NULL;
}

static void a_function_over_a_view_that_calls_it_comes_to_an_end(void **state)
{
    sqlite3 *db = db_of(state);
    static answer got;
    int ends_deep = 0;

    for (size_t v = 0; v < call_count; v++) {
        if (!reads_events(&call_cases[v]))
            continue;
        run(db, posing_view(&call_cases[v]));
        for (size_t i = 0; i < call_count; i++) {
            int left = 100000;
            if (!reads_events(&call_cases[i]) || !takes_turn(i, (long)v))
                continue;
            sqlite3_progress_handler(db, 100, give_up, &left);
            ask(db, call_cases[i].sql, &got);
            sqlite3_progress_handler(db, 0, NULL, NULL);
            if (hung)
                fail_msg("%s\nover a view of\n%s\nnever ends", call_cases[i].sql,
                         call_cases[v].sql);
            ends_deep += strstr(got.message, "the tables of the ledger call its functions") != NULL;
        }
    }
    assert_true(ends_deep > (is_slow() ? 3 : 100));
    size_t replay = 0;
    while (strncmp(call_cases[replay].sql, "SELECT * FROM alineo_replay(", 28) != 0)
        replay++;
    run(db, posing_view(&call_cases[replay]));
    assert_error(db, "SELECT * FROM alineo_replay('ci', 'sb-1')", SQLITE_ERROR,
                 "alineo_replay: the tables of the ledger call its functions");
}

static void a_temporary_trigger_that_appends_is_refused(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_init(); CREATE TEMP TRIGGER g AFTER INSERT ON main.alineo_events"
            " BEGIN SELECT alineo_append('ci', 'sb', 'again'); END");
    assert_refused(db, "SELECT alineo_append('ci', 'sb', 'x')",
                   "alineo_append: must not be called by a constraint or trigger");
    run(db, "DROP TRIGGER g; CREATE TABLE t(a); CREATE TEMP TRIGGER g AFTER INSERT ON main.t"
            " BEGIN SELECT alineo_append('ci', 'sb', 'again'); END");
    assert_refused(db, "INSERT INTO t VALUES (1)",
                   "alineo_append: must not be called by a constraint or trigger");
    run(db, "DROP TRIGGER g; SELECT alineo_append('ci', 'sb', 'x')");
    assert_rows(db, "SELECT event FROM alineo_events", "x");
}

/* Names of the extension's own tables, which a file may give to its own. */
static void a_table_named_like_one_of_the_extensions_captures_nothing(void **state)
{
    sqlite3 *db = db_of(state);
    static answer got;

    fill_ledger(db);
    run(db, "CREATE TABLE log(a);"
            "CREATE TABLE alineo_statements(a); INSERT INTO alineo_statements VALUES (1);"
            "CREATE TRIGGER g BEFORE DELETE ON alineo_statements"
            " BEGIN INSERT INTO log VALUES (1); END;"
            "CREATE VIRTUAL TABLE alineo_entries USING fts5(id, name, sandbox_id, event, payload,"
            " step_idx, branch, error, ts);"
            "INSERT INTO alineo_entries VALUES (NULL, 'evil', 'e', 'e', NULL, 1, NULL, NULL, 1);"
            "CREATE VIRTUAL TABLE alineo_migrated USING fts5(event, payload);"
            "INSERT INTO alineo_migrated VALUES ('evil', '{}')");
    for (size_t i = 0; i < call_count; i++) {
        run(db, "BEGIN");
        if (call_cases[i].before != NULL)
            run(db, call_cases[i].before);
        ask(db, call_cases[i].sql, &got);
        if (!answers(&got, call_cases[i].answer))
            fail_msg("%s: %s %s", call_cases[i].sql, got.text, got.message);
        run(db, "ROLLBACK");
    }
    /* The transaction that was rolled back is forgotten. */
    run(db, "BEGIN; " APPEND_NOW "; ROLLBACK; BEGIN");
    assert_rows(db, APPEND_NOW, "18");
    run(db, "COMMIT");
    assert_rows(db, "SELECT count(*) FROM log; SELECT count(*) FROM alineo_statements", "0\n1");
}

static void a_file_makes_no_tables_of_the_extensions_functions(void **state)
{
    static const char *const modules[] = {"alineo_replay", "alineo_entries", "alineo_statements"};

    for (size_t i = 0; i < COUNT_OF(modules); i++) {
        start_afresh(state);
        sqlite3 *db = open_plain(path_of(state), 0);
        run(db, "PRAGMA writable_schema = on");
        run(db, sqlf("UPDATE sqlite_schema SET rootpage = 0, sql = 'CREATE VIRTUAL TABLE"
                     " alineo_environments USING %s' WHERE name = 'alineo_environments';"
                     "DELETE FROM sqlite_schema WHERE type = 'index'",
                     modules[i]));
        close_ledger(db);
        db = open_victim(state, 0);
        assert_error(
            db, "SELECT * FROM alineo_list_environments()", SQLITE_ERROR,
            sqlf("alineo_list_environments: %s is a function and makes no tables", modules[i]));
        close_ledger(db);
        ((fixture *)*state)->db = NULL;
    }
}

static void every_call_works_defensively_and_without_trust_in_the_schema(void **state)
{
    static answer got;

    start_afresh(state);
    sqlite3 *db = open_victim(state, 1);
    for (size_t i = 0; i < call_count; i++) {
        run(db, "BEGIN");
        if (call_cases[i].before != NULL)
            run(db, call_cases[i].before);
        ask(db, call_cases[i].sql, &got);
        if (!answers(&got, call_cases[i].answer))
            fail_msg("%s: %s %s", call_cases[i].sql, got.text, got.message);
        run(db, "ROLLBACK");
    }
    run(db, "DROP TABLE alineo_events; DROP TABLE alineo_environments; DROP TABLE alineo_deleted");
    assert_rows(db, APPEND, "1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(a_file_cannot_make_its_reader_write),
        MEMORY_TEST(the_users_own_statements_may_write),
        MEMORY_TEST(a_function_over_a_view_that_calls_it_comes_to_an_end),
        MEMORY_TEST(a_temporary_trigger_that_appends_is_refused),
        MEMORY_TEST(a_table_named_like_one_of_the_extensions_captures_nothing),
        FILE_TEST(a_file_makes_no_tables_of_the_extensions_functions),
        FILE_TEST(every_call_works_defensively_and_without_trust_in_the_schema),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
