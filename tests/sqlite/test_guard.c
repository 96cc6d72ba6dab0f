/*
 * test_guard.c - alineo_guard: what it refuses, whom it lets pass, and that it
 * is whole or not there at all.
 */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UPDATED  "alineo_guard: events must not be updated"
#define DELETED  "alineo_guard: events must not be deleted"
#define REPLACED "alineo_guard: events must not be replaced"

#define TRIGGERS                                                                                   \
    "SELECT name FROM sqlite_schema WHERE name LIKE 'alineo_guard%' AND tbl_name = "               \
    "'alineo_events' ORDER BY name"
#define WHOLE "alineo_guard_delete\nalineo_guard_insert\nalineo_guard_update"

#define INSERT "INTO alineo_events(id, sandbox_id, name, step_idx, event, ts) "
#define ROW    "VALUES (1, 'sb-9', 'ci', -1, 'forged', 9)"

/* Two sessions, the guard on. */
static void fill(sqlite3 *db)
{
    (void)append(db, "sb-1", "sandbox.created", "{}", 1);
    (void)append(db, "sb-1", "sandbox.closed", NULL, 2);
    (void)append(db, "sb-2", "sandbox.created", "{}", 3);
    assert_int_equal(integer(db, "SELECT alineo_guard(TRUE)"), 1);
}

static void assert_on(sqlite3 *db)
{
    assert_rows(db, TRIGGERS, WHOLE);
    assert_error(db, "UPDATE alineo_events SET ts = 0", SQLITE_CONSTRAINT_TRIGGER, UPDATED);
    assert_error(db, "DELETE FROM alineo_events", SQLITE_CONSTRAINT_TRIGGER, DELETED);
}

/* Asserts that a trigger of the guard ends a statement and no event changed. */
static void assert_kept(sqlite3 *db, const char *sql, const char *refusal)
{
    static const char *const events = "SELECT * FROM alineo_events ORDER BY id";
    char *before = rows_of(db, events);

    assert_error(db, sql, SQLITE_CONSTRAINT_TRIGGER, refusal);
    assert_rows(db, events, before);
    sqlite3_free(before);
}

static const struct {
    const char *sql, *refusal;
} changes[] = {
    {"UPDATE alineo_events SET ts = 0", UPDATED},
    {"UPDATE alineo_events SET ts = ts WHERE id = 1", UPDATED},
    {"UPDATE OR REPLACE alineo_events SET id = 1 WHERE id = 2", UPDATED},
    {"UPDATE OR IGNORE alineo_events SET id = 9 WHERE id = 2 RETURNING id", UPDATED},
    {"UPDATE alineo_events SET event = 'x' FROM (SELECT 1 AS one) WHERE id = one", UPDATED},
    {"INSERT " INSERT ROW " ON CONFLICT (id) DO UPDATE SET ts = 0", REPLACED},
    {"DELETE FROM alineo_events", DELETED},
    {"DELETE FROM alineo_events WHERE name = 'ci' AND sandbox_id = 'sb-1'", DELETED},
    {"DELETE FROM alineo_events WHERE id = 1 RETURNING id", DELETED},
    {"REPLACE " INSERT ROW, REPLACED},
    {"INSERT OR REPLACE " INSERT ROW, REPLACED},
    {"INSERT OR IGNORE " INSERT ROW, REPLACED},
    {"REPLACE " INSERT "SELECT id, 'x', name, 0, event, ts FROM alineo_events", REPLACED},
};

static void a_change_of_events_is_refused(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    for (int recursive = 0; recursive < 2; recursive++) {
        run(db, sqlf("PRAGMA recursive_triggers = %d", recursive));
        for (size_t i = 0; i < COUNT_OF(changes); i++)
            assert_kept(db, changes[i].sql, changes[i].refusal);
    }
    run(db,
        "UPDATE alineo_events SET ts = 0 WHERE id = 99; DELETE FROM alineo_events WHERE id = 99");
    assert_int_equal(integer(db, "SELECT alineo_guard(FALSE)"), 0);
    assert_rows(db, TRIGGERS, "");
    run(db, "UPDATE alineo_events SET ts = 0; REPLACE " INSERT ROW "; DELETE FROM alineo_events");
    assert_rows(db, "SELECT count(*) FROM alineo_events", "0");
}

static void what_appends_goes_on(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    for (int i = 0; i < 2; i++) {
        run(db, i == 0 ? "SELECT 1" : "BEGIN");
        assert_rows(db, "SELECT alineo_append('ci', 'sb-3', 'x') > 0", "1");
        assert_rows(db, "SELECT alineo_append('ci', 'sb-3', 'x', NULL, NULL, NULL, NULL, 5) > 0",
                    "1");
        assert_rows(db,
                    "SELECT alineo_append_batch('{\"name\":\"ci\",\"sandboxId\":\"sb-3\","
                    "\"event\":\"x\"}')",
                    "1");
        run(db, "INSERT INTO alineo_events(sandbox_id, name, step_idx, event, ts)"
                " VALUES ('sb-3', 'ci', -1, 'x', 7)");
        run(db, i == 0 ? "SELECT 1" : "COMMIT");
    }
    assert_rows(db, "SELECT group_concat(id) FROM (SELECT id FROM alineo_events ORDER BY id)",
                "1,2,3,4,5,6,7,8,9,10,11");
    assert_on(db);
}

static void deleting_a_session_passes_and_closes_behind_itself(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    assert_rows(db, "SELECT alineo_delete_sandbox('ci', 'sb-1')", "2");
    assert_on(db);
    run(db, "BEGIN");
    assert_rows(db, "SELECT alineo_delete_sandbox('ci', 'sb-2')", "1");
    assert_rows(db, "SELECT alineo_append('ci', 'sb-4', 'x')", "4");
    assert_on(db);
    run(db, "COMMIT");
    assert_rows(db, "SELECT id FROM alineo_events", "4");
}

static void the_migration_passes_and_closes_behind_itself(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    run(db,
        "INSERT INTO alineo_events(sandbox_id, name, step_idx, event, payload, error, ts) VALUES"
        " ('o', 'ci', 1, 'exec_start', '\"{\\\"seq\\\":1}\"', 'e', 5),"
        " ('o', 'ci', 1, 'exec.output', '\"{\\\"seq\\\":1}\"', NULL, 6),"
        " ('o', 'ci', -1, 'run_started', NULL, NULL, 7), ('o', 'ci', -1, 'old', '5', NULL, 8)");
    assert_rows(db, "SELECT alineo_init()", "3");
    assert_rows(db, "SELECT event, payload, error, ts FROM alineo_events WHERE sandbox_id = 'o'",
                "exec.started|{\"seq\":1}|e|5\nexec.output|{\"seq\":1}|NULL|6\n"
                "workflow.started|NULL|NULL|7\nold|5|NULL|8");
    assert_on(db);
}

/* SQLite asks a trigger of INSERT about the id -1 where it is yet to choose one. */
static void an_event_with_the_id_of_no_id_hinders_no_append(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    run(db, "INSERT INTO alineo_events(id, sandbox_id, name, step_idx, event, ts)"
            " VALUES (-1, 'o', 'ci', -1, 'x', 1)");
    assert_int_equal(append(db, "sb-1", "x", NULL, 4), 4);
    run(db, "INSERT INTO alineo_events(sandbox_id, name, step_idx, event, ts)"
            " VALUES ('o', 'ci', -1, 'x', 1)");
    assert_rows(db, "SELECT max(id) FROM alineo_events", "5");
}

static void only_what_is_being_done_passes(void **state)
{
    static const struct {
        const char *trigger, *call, *refusal;
    } cases[] = {
        {"AFTER DELETE ON alineo_events BEGIN DELETE FROM alineo_events WHERE id = 3; END",
         "SELECT alineo_delete_sandbox('ci', 'sb-1')", "alineo_delete_sandbox: " DELETED},
        {"AFTER DELETE ON alineo_events BEGIN DELETE FROM alineo_events WHERE name = 'cd'; END",
         "SELECT alineo_delete_sandbox('ci', 'sb-1')", "alineo_delete_sandbox: " DELETED},
        {"BEFORE DELETE ON alineo_events BEGIN UPDATE alineo_events SET ts = 0 WHERE id = 3; END",
         "SELECT alineo_delete_sandbox('ci', 'sb-1')", "alineo_delete_sandbox: " UPDATED},
        {"AFTER UPDATE ON alineo_events BEGIN DELETE FROM alineo_events WHERE id = 3; END",
         "SELECT alineo_init()", "alineo_init: " DELETED},
        {"AFTER UPDATE ON alineo_events BEGIN UPDATE alineo_events SET ts = 0 WHERE id = 3; END",
         "SELECT alineo_init()", "alineo_init: " UPDATED},
        {"AFTER UPDATE ON alineo_events"
         " BEGIN UPDATE alineo_events SET event = 'x' WHERE id = 3; END",
         "SELECT alineo_init()", "alineo_init: " UPDATED},
        {"AFTER UPDATE ON alineo_events"
         " BEGIN UPDATE alineo_events SET payload = '{\"a\":1}' WHERE id = 3; END",
         "SELECT alineo_init()", "alineo_init: " UPDATED},
        {"AFTER UPDATE ON alineo_events"
         " BEGIN UPDATE alineo_events SET payload = '{\"a\":1}' WHERE id = 2; END",
         "SELECT alineo_init()", "alineo_init: " UPDATED},
        {"AFTER UPDATE ON alineo_events BEGIN UPDATE alineo_events SET id = 7 WHERE id = 3; END",
         "SELECT alineo_init()", "alineo_init: " UPDATED},
    };
    sqlite3 *db = db_of(state);

    fill(db);
    run(db, "INSERT INTO alineo_events(sandbox_id, name, step_idx, event, ts)"
            " VALUES ('o', 'ci', -1, 'run_started', 5), ('sb-1', 'cd', -1, 'x', 6)");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        run(db, sqlf("CREATE TRIGGER other %s", cases[i].trigger));
        assert_kept(db, cases[i].call, cases[i].refusal);
        run(db, "DROP TRIGGER other");
        assert_on(db);
    }
    assert_rows(db, "SELECT alineo_init(), alineo_delete_sandbox('ci', 'sb-1')", "1|2");
}

/* What a host's function is told that writes from inside a deletion. */
static void host_writes(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    static const char *const writes[] = {"SELECT alineo_delete_sandbox('ci', 'sb-2')",
                                         "SELECT alineo_append('ci', 'sb-5', 'late')",
                                         "SELECT alineo_init()", "SELECT alineo_guard(0)"};
    sqlite3 *db = sqlite3_context_db_handle(context);

    (void)argc, (void)argv;
    for (size_t i = 0; i < COUNT_OF(writes); i++) {
        char *message = NULL;
        assert_int_equal(sqlite3_exec(db, writes[i], NULL, NULL, &message), SQLITE_ERROR);
        assert_non_null(strstr(message, ": must not be called by a constraint or trigger"));
        sqlite3_free(message);
    }
    assert_error(db, "DELETE FROM alineo_events WHERE sandbox_id = 'sb-3'",
                 SQLITE_CONSTRAINT_TRIGGER, DELETED);
}

static void nothing_else_is_written_from_inside_a_deletion(void **state)
{
    sqlite3 *db = db_of(state);

    (void)sqlite3_create_function(db, "host", 0, SQLITE_UTF8, NULL, host_writes, NULL, NULL);
    fill(db);
    (void)append(db, "sb-3", "x", NULL, 4);
    run(db, "CREATE TRIGGER once AFTER DELETE ON alineo_events WHEN OLD.id = 1"
            " BEGIN SELECT host(); END");
    assert_rows(db, "SELECT alineo_delete_sandbox('ci', 'sb-1')", "2");
    assert_rows(db, "SELECT sandbox_id FROM alineo_events ORDER BY id", "sb-2\nsb-3");
    assert_on(db);
}

static void a_deletion_that_fails_closes_behind_itself(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    run(db, "CREATE TRIGGER no BEFORE DELETE ON alineo_events WHEN OLD.id = 2"
            " BEGIN SELECT RAISE(ABORT, 'not this one'); END");
    assert_kept(db, "SELECT alineo_delete_sandbox('ci', 'sb-1')",
                "alineo_delete_sandbox: not this one");
    run(db, "DROP TRIGGER no");
    assert_on(db);
}

static void a_name_is_compared_as_the_deletion_compares_it(void **state)
{
    sqlite3 *db = db_of(state);

    /* UTF-16 keeps no U+FFFF, and a column may have a collation of its own. */
    run(db,
        "PRAGMA encoding = 'UTF-16le'; CREATE TABLE alineo_events (id INTEGER PRIMARY KEY,"
        " sandbox_id TEXT NOT NULL, name TEXT NOT NULL COLLATE NOCASE, step_idx INTEGER NOT NULL,"
        " branch INTEGER, event TEXT NOT NULL, payload TEXT, error TEXT, ts INTEGER NOT NULL)");
    (void)append(db, "\xEF\xBF\xBF", "x", NULL, 1);
    (void)append(db, "other", "x", NULL, 1);
    run(db, "SELECT alineo_guard(1)");
    assert_rows(db, "SELECT alineo_delete_sandbox('CI', '\xEF\xBF\xBF')", "1");
    assert_rows(db, "SELECT alineo_delete_sandbox('cI', 'other')", "1");
}

static void it_takes_true_and_false_and_nothing_else(void **state)
{
    static const char *const wrong[] = {"2", "-1", "0.5", "'on'", "'true'", "x'01'", "1e30"};
    sqlite3 *db = db_of(state);

    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        assert_error(db, sqlf("SELECT alineo_guard(%s)", wrong[i]), SQLITE_ERROR,
                     "alineo_guard: on must be true or false");
    assert_error(db, "SELECT alineo_guard(NULL)", SQLITE_ERROR,
                 "alineo_guard: on must not be NULL");
    assert_rows(db, "SELECT count(*) FROM sqlite_schema", "0");
    /* JavaScript binds every number as a real one. */
    assert_rows(db, "SELECT alineo_guard(1.0), alineo_guard('0'), alineo_guard(TRUE)", "1|0|1");
}

static void turned_on_twice_it_is_on_and_the_schema_as_it_was(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    sqlite3_int64 version = integer(db, "PRAGMA schema_version");
    assert_rows(db, "SELECT alineo_guard(1), alineo_guard(1)", "1|1");
    assert_int_equal(integer(db, "PRAGMA schema_version"), version);
    assert_on(db);
    assert_rows(db, "SELECT alineo_guard(0), alineo_guard(0)", "0|0");
    assert_rows(db, TRIGGERS, "");
}

static void it_makes_the_tables_where_there_are_none(void **state)
{
    sqlite3 *db = db_of(state);

    assert_rows(db, "SELECT alineo_guard(1)", "1");
    assert_int_equal(append(db, "sb-1", "x", NULL, 1), 1);
    assert_on(db);
    run(db, "DROP TABLE alineo_events");
    assert_rows(db, "SELECT alineo_guard(1)", "1");
    assert_int_equal(append(db, "sb-1", "x", NULL, 1), 1);
    assert_on(db);
}

static void what_is_missing_or_was_changed_is_put_right(void **state)
{
    static const char *const damage[] = {
        "DROP TRIGGER alineo_guard_delete",
        "DROP TRIGGER alineo_guard_insert",
        "DROP TRIGGER alineo_guard_update",
        "DROP TRIGGER alineo_guard_update; CREATE TRIGGER alineo_guard_update BEFORE UPDATE"
        " ON alineo_events WHEN 0 BEGIN SELECT 1; END",
        "ALTER TABLE alineo_events RENAME TO kept; SELECT alineo_init();"
        " INSERT INTO alineo_events SELECT * FROM kept",
        "ALTER TABLE alineo_events RENAME COLUMN ts TO t;"
        " ALTER TABLE alineo_events RENAME COLUMN t TO ts",
    };
    sqlite3 *db = db_of(state);

    fill(db);
    for (size_t i = 0; i < COUNT_OF(damage); i++) {
        run(db, damage[i]);
        assert_rows(db, "SELECT alineo_guard(1)", "1");
        assert_on(db);
        assert_rows(db, "SELECT count(*) FROM alineo_events", "3");
    }
}

/* Lets a guard's trigger be neither made nor dropped. */
static int deny(void *trigger, int action, const char *name, const char *table,
                const char *database, const char *inner)
{
    (void)table, (void)database, (void)inner;
    return (action == SQLITE_CREATE_TRIGGER || action == SQLITE_DROP_TRIGGER) &&
                   strcmp(name, trigger) == 0
               ? SQLITE_DENY
               : SQLITE_OK;
}

static void it_is_put_up_and_taken_down_whole_or_not_at_all(void **state)
{
    static const char *const ways[][3] = {
        {"SELECT 1", "SELECT alineo_guard(%d)", "SELECT 1"},
        {"BEGIN", "SELECT alineo_guard(%d)", "COMMIT"},
        {"BEGIN", "INSERT INTO t SELECT alineo_guard(%d) FROM t", "COMMIT"},
        {"SELECT 1", "INSERT INTO t SELECT alineo_guard(%d) FROM t", "SELECT 1"},
    };
    sqlite3 *db = db_of(state);

    fill(db);
    run(db, "CREATE TABLE t(a); INSERT INTO t VALUES (7)");
    for (int on = 0; on < 2; on++) {
        for (size_t i = 0; i < COUNT_OF(ways); i++) {
            run(db, sqlf("SELECT alineo_guard(%d)", !on));
            run(db, ways[i][0]);
            char *sql = sqlite3_mprintf(ways[i][1], on);
            (void)sqlite3_set_authorizer(db, deny, "alineo_guard_update");
            assert_error(db, sql, SQLITE_AUTH, "alineo_guard: not authorized");
            (void)sqlite3_set_authorizer(db, NULL, NULL);
            assert_rows(db, TRIGGERS, on ? "" : WHOLE);
            run(db, ways[i][2]);
            assert_int_equal(sqlite3_get_autocommit(db), 1);
            assert_rows(db, TRIGGERS, on ? "" : WHOLE);
            assert_rows(db, "SELECT * FROM t", "7");
            run(db, sql);
            sqlite3_free(sql);
            assert_rows(db, TRIGGERS, on ? WHOLE : "");
            run(db, "DELETE FROM t WHERE a <> 7");
        }
    }
    assert_on(db);
}

static void it_goes_back_with_the_transaction(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    run(db, "BEGIN; SELECT alineo_guard(0); DELETE FROM alineo_events WHERE id = 1; ROLLBACK");
    assert_rows(db, "SELECT count(*) FROM alineo_events", "3");
    assert_on(db);
    run(db, "SELECT alineo_guard(0); BEGIN; SAVEPOINT s; SELECT alineo_guard(1); ROLLBACK TO s;"
            "DELETE FROM alineo_events WHERE id = 1; COMMIT");
    assert_rows(db, TRIGGERS, "");
}

static void a_view_takes_no_guard(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "CREATE VIEW alineo_events AS SELECT 1 AS id, 'sb' AS sandbox_id, 'ci' AS name");
    assert_error(db, "SELECT alineo_guard(1)", SQLITE_ERROR,
                 "alineo_guard: views may not be indexed");
}

static void its_functions_answer_nobody_but_its_triggers(void **state)
{
    sqlite3 *db = db_of(state);

    assert_rows(db,
                "SELECT alineo_guard_deleting('name'), alineo_guard_updating(1, 1, 'run_started',"
                " 'workflow.started', NULL, 1)",
                "NULL|0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(a_change_of_events_is_refused),
        MEMORY_TEST(what_appends_goes_on),
        MEMORY_TEST(deleting_a_session_passes_and_closes_behind_itself),
        MEMORY_TEST(the_migration_passes_and_closes_behind_itself),
        MEMORY_TEST(an_event_with_the_id_of_no_id_hinders_no_append),
        MEMORY_TEST(only_what_is_being_done_passes),
        MEMORY_TEST(nothing_else_is_written_from_inside_a_deletion),
        MEMORY_TEST(a_deletion_that_fails_closes_behind_itself),
        MEMORY_TEST(a_name_is_compared_as_the_deletion_compares_it),
        MEMORY_TEST(it_takes_true_and_false_and_nothing_else),
        MEMORY_TEST(turned_on_twice_it_is_on_and_the_schema_as_it_was),
        MEMORY_TEST(it_makes_the_tables_where_there_are_none),
        MEMORY_TEST(what_is_missing_or_was_changed_is_put_right),
        FILE_TEST(it_is_put_up_and_taken_down_whole_or_not_at_all),
        FILE_TEST(it_goes_back_with_the_transaction),
        MEMORY_TEST(a_view_takes_no_guard),
        MEMORY_TEST(its_functions_answer_nobody_but_its_triggers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
