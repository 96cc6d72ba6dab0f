/*
 * test_hostile_tables.c - tables that pose as the ledger's: other columns, other
 * keys, views, virtual tables, and values at the ends of their range. Each is a
 * clear error, or is read and written as a plain statement would.
 */
#include "support.h"

#include <string.h>

#define EVENTS                                                                                     \
    "id INTEGER PRIMARY KEY, sandbox_id TEXT NOT NULL, name TEXT NOT NULL,"                        \
    " step_idx INTEGER NOT NULL, branch INTEGER, event TEXT NOT NULL, payload TEXT, error TEXT,"   \
    " ts INTEGER NOT NULL"
#define LOOSE      "sandbox_id, name, step_idx, branch, event, payload, error, ts"
#define POSE(list) "CREATE TABLE alineo_events(" list ")"

#define APPEND "SELECT alineo_append('ci', 'sb', 'x', '{}', NULL, NULL, NULL, 7)"
#define BATCH                                                                                      \
    "SELECT "                                                                                      \
    "alineo_append_batch('{\"name\":\"ci\",\"sandboxId\":\"sb\",\"event\":\"y\",\"ts\":8}')"
#define REPLAY "SELECT id, event, payload, ts FROM alineo_replay('ci', 'sb')"
#define NO_KEY "table alineo_events is not the ledger's: id is not its INTEGER PRIMARY KEY"
#define NO_LAST_ID                                                                                 \
    "table alineo_deleted is not the ledger's: last_id is not its INTEGER PRIMARY KEY"

/* What a file holds, what is called, and the error behind the function's name. */
static const struct {
    const char *schema, *call, *error;
    int code;
} refused[] = {
    {POSE("id, " LOOSE), APPEND, NO_KEY, SQLITE_ERROR},
    {POSE("id, " LOOSE), BATCH, NO_KEY, SQLITE_ERROR},
    {POSE("id, " LOOSE), "SELECT alineo_init()", NO_KEY, SQLITE_ERROR},
    {POSE("id TEXT PRIMARY KEY, " LOOSE), APPEND, NO_KEY, SQLITE_ERROR},
    {POSE("id INT PRIMARY KEY, " LOOSE), APPEND, NO_KEY, SQLITE_ERROR},
    {POSE("id INTEGER PRIMARY KEY DESC, " LOOSE), APPEND, NO_KEY, SQLITE_ERROR},
    {POSE("id INTEGER, " LOOSE ", PRIMARY KEY (id, ts)"), APPEND, NO_KEY, SQLITE_ERROR},
    {POSE("key INTEGER PRIMARY KEY, id INTEGER, " LOOSE), APPEND, NO_KEY, SQLITE_ERROR},
    {POSE(EVENTS) " WITHOUT ROWID", APPEND, NO_KEY, SQLITE_ERROR},
    {POSE(EVENTS) " WITHOUT ROWID", BATCH, NO_KEY, SQLITE_ERROR},

    {"CREATE TABLE alineo_deleted(last_id)", APPEND, NO_LAST_ID, SQLITE_ERROR},
    {"CREATE TABLE alineo_deleted(last_id); INSERT INTO alineo_deleted VALUES ('text')", BATCH,
     NO_LAST_ID, SQLITE_ERROR},
    {"CREATE TABLE alineo_deleted(other INTEGER PRIMARY KEY)", APPEND, NO_LAST_ID, SQLITE_ERROR},
    {"CREATE VIEW alineo_deleted AS SELECT 5 AS last_id", APPEND, NO_LAST_ID, SQLITE_ERROR},
    {"CREATE TABLE log(a); CREATE VIEW alineo_deleted AS SELECT 5 AS last_id;"
     "CREATE TRIGGER g INSTEAD OF INSERT ON alineo_deleted BEGIN INSERT INTO log VALUES (1); END",
     "SELECT alineo_delete_sandbox('ci', 'sb')", NO_LAST_ID, SQLITE_ERROR},

    {POSE("id INTEGER PRIMARY KEY, sandbox_id, name, step_idx, branch, event, payload, error"),
     APPEND, "no such column: ts", SQLITE_ERROR},
    {POSE("id INTEGER PRIMARY KEY, sandbox_id, name, step_idx, branch, event, payload, error"),
     REPLAY, "no such column: ts", SQLITE_ERROR},
    {POSE("id INTEGER PRIMARY KEY, sandbox_id, name, step_idx, event, payload, ts"), APPEND,
     "table main.alineo_events has no column named branch", SQLITE_ERROR},
    {POSE("a"), "SELECT alineo_resume('sb')", "no such column: id", SQLITE_ERROR},
    {POSE("a"), "SELECT alineo_output('ci', 'sb', 1)", "no such column: id", SQLITE_ERROR},
    {POSE("a"), "SELECT * FROM alineo_execs('ci', 'sb')", "no such column: id", SQLITE_ERROR},
    {POSE("a"), "SELECT * FROM alineo_list_sandboxes()", "no such column: c.id", SQLITE_ERROR},
    {POSE(EVENTS ", more NOT NULL"), APPEND, "NOT NULL constraint failed: alineo_events.more",
     SQLITE_CONSTRAINT_NOTNULL},
    {POSE(EVENTS ", more NOT NULL"), BATCH,
     "entry 0: NOT NULL constraint failed: alineo_events.more", SQLITE_CONSTRAINT_NOTNULL},
    {POSE("id INTEGER PRIMARY KEY, sandbox_id, name, step_idx, branch, event, error, ts,"
          " payload AS ('{}')"),
     APPEND, "cannot INSERT into generated column \"payload\"", SQLITE_ERROR},

    {"CREATE VIEW alineo_events AS SELECT 1 AS id, 'sb' AS sandbox_id, 'ci' AS name, 1 AS ts",
     APPEND, "views may not be indexed", SQLITE_ERROR},
    {"CREATE VIEW alineo_events AS SELECT 1 AS id, 'sb' AS sandbox_id, 'ci' AS name, 1 AS ts",
     REPLAY, "no such column: step_idx", SQLITE_ERROR},
    {"CREATE VIEW alineo_events AS SELECT * FROM gone", REPLAY, "no such table: main.gone",
     SQLITE_ERROR},
    {"CREATE VIEW alineo_events AS SELECT * FROM gone", "SELECT alineo_resume('sb')",
     "no such table: main.gone", SQLITE_ERROR},
    {"CREATE VIEW alineo_environments AS SELECT alineo_init() AS name, 1 AS snapshot_id,"
     " 1 AS image, 1 AS built_at",
     "SELECT * FROM alineo_list_environments()", "unsafe use of alineo_init()", SQLITE_ERROR},
    {"CREATE TABLE log(a); CREATE VIEW alineo_environments AS SELECT 'py' AS name,"
     " 's' AS snapshot_id, 'i' AS image, 1 AS built_at; CREATE TRIGGER g INSTEAD OF INSERT"
     " ON alineo_environments BEGIN INSERT INTO log VALUES (1); END",
     "SELECT alineo_save_environment('py', 's', 'i')", "cannot UPSERT a view", SQLITE_ERROR},
    {"CREATE TABLE alineo_environments(name, snapshot_id, image, built_at)",
     "SELECT alineo_save_environment('py', 's', 'i')",
     "ON CONFLICT clause does not match any PRIMARY KEY or UNIQUE constraint", SQLITE_ERROR},
    {"CREATE VIRTUAL TABLE alineo_events USING fts5(id, name, sandbox_id, event, payload,"
     " step_idx, branch, error, ts)",
     APPEND, "virtual tables may not be indexed", SQLITE_ERROR},
};

static void check_call(sqlite3 *db, size_t i)
{
    const char *name = strstr(refused[i].call, "alineo_");

    assert_error(db, refused[i].call, refused[i].code,
                 sqlf("%.*s: %s", (int)strcspn(name, "("), name, refused[i].error));
}

static void a_table_that_poses_as_ours_is_a_clear_error(void **state)
{
    sqlite3 *db = db_of(state);

    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        run(db, sqlf("PRAGMA writable_schema = on; DELETE FROM sqlite_schema;"
                     "PRAGMA writable_schema = reset; VACUUM; %s",
                     refused[i].schema));
        check_call(db, i);
        check_call(db, i); /* the second time too */
        if (strstr(refused[i].schema, "log") != NULL)
            assert_rows(db, "SELECT * FROM log", "");
    }
}

static int no_pragmas(void *answer, int action, const char *a, const char *b, const char *c,
                      const char *d)
{
    (void)a, (void)b, (void)c, (void)d;
    return action == SQLITE_PRAGMA ? *(int *)answer : SQLITE_OK;
}

static void a_host_that_forbids_pragmas_may_append(void **state)
{
    sqlite3 *db = db_of(state);
    int forbidding[] = {SQLITE_DENY, SQLITE_IGNORE};

    for (size_t i = 0; i < COUNT_OF(forbidding); i++) {
        run(db, "DROP TABLE IF EXISTS alineo_events; DROP TABLE IF EXISTS alineo_deleted");
        assert_int_equal(sqlite3_set_authorizer(db, no_pragmas, &forbidding[i]), SQLITE_OK);
        assert_rows(db, "SELECT alineo_init();" APPEND, "0\n1");
        assert_int_equal(sqlite3_set_authorizer(db, NULL, NULL), SQLITE_OK);
    }
}

/* The same rows whatever surrounds them. */
static const char *const accepted[] = {
    POSE("ts INTEGER NOT NULL, error TEXT, payload TEXT, event TEXT NOT NULL, branch INTEGER,"
         " step_idx INTEGER NOT NULL, name TEXT NOT NULL, sandbox_id TEXT NOT NULL,"
         " id INTEGER NOT NULL, PRIMARY KEY (id)"),
    POSE("id integer primary key autoincrement, " LOOSE),
    POSE(EVENTS ", more DEFAULT 'd', even_more AS (upper(event)), UNIQUE (id, ts)"),
    POSE(EVENTS) " STRICT",
    POSE(EVENTS) "; CREATE INDEX alineo_events_milestones ON alineo_events(error);"
                 "CREATE INDEX alineo_events_created ON alineo_events(error)",
    POSE(EVENTS) "; CREATE TABLE alineo_deleted(last_id INTEGER PRIMARY KEY, more)",
};

static void a_table_that_differs_where_it_may_is_used(void **state)
{
    sqlite3 *db = db_of(state);

    for (size_t i = 0; i < COUNT_OF(accepted); i++) {
        run(db, "DROP TABLE IF EXISTS alineo_events; DROP TABLE IF EXISTS alineo_deleted");
        run(db, accepted[i]);
        run(db, "SELECT alineo_init()");
        assert_rows(db, APPEND ";" BATCH ";" REPLAY, "1\n1\n1|x|{}|7\n2|y|NULL|8");
        run(db, "DELETE FROM alineo_events WHERE id = 2");
        assert_rows(db, APPEND, "3");
    }
}

static void a_payload_of_another_type_reads_as_it_is_stored(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, POSE("id INTEGER PRIMARY KEY, sandbox_id, name, step_idx, branch, event,"
                 " payload INTEGER, error, ts"));
    assert_rows(db,
                "SELECT alineo_append('ci', 'sb', 'x', '1e2', NULL, NULL, NULL, 1);"
                "SELECT alineo_append('ci', 'sb', 'x', '{\"a\":1}', NULL, NULL, NULL, 2)",
                "1\n2");
    assert_rows(db, "SELECT payload, typeof(payload) FROM alineo_replay('ci', 'sb')",
                "100|integer\n{\"a\":1}|text");
}

/* A view is read as a SELECT would read it; only to write takes our tables. */
static void a_view_over_another_table_is_read(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "CREATE TABLE t(" EVENTS ");"
            "INSERT INTO t VALUES (3, 'sb', 'ci', 1, NULL, 'exec_start', '{\"seq\":1}', NULL, 4);"
            "CREATE VIEW alineo_events AS SELECT * FROM t");
    assert_rows(db, REPLAY, "3|exec.started|{\"seq\":1}|4");
    assert_rows(db, "SELECT seq FROM alineo_execs('ci', 'sb')", "1");
}

#define LAST            "9223372036854775807"
#define NO_ID(function) function ": no id is left above that of the last event"

static void where_no_id_is_left_nothing_is_appended(void **state)
{
    static const char *const full[] = {
        "INSERT INTO alineo_events VALUES (" LAST ", 'sb', 'ci', -1, NULL, 'x', NULL, NULL, 1)",
        "INSERT INTO alineo_deleted VALUES (" LAST ")",
    };
    sqlite3 *db = db_of(state);

    for (size_t i = 0; i < COUNT_OF(full); i++) {
        run(db, "SELECT alineo_init(); DELETE FROM alineo_events; DELETE FROM alineo_deleted");
        run(db, full[i]);
        char *before = rows_of(db, REPLAY);
        for (int inside = 0; inside < 2; inside++) {
            run(db, inside ? "BEGIN" : "SELECT 1");
            assert_error(db, APPEND, SQLITE_ERROR, NO_ID("alineo_append"));
            assert_error(db, "SELECT alineo_append('ci', 'sb', 'x')", SQLITE_ERROR,
                         NO_ID("alineo_append"));
            assert_error(db, BATCH, SQLITE_ERROR, NO_ID("alineo_append_batch"));
            if (!sqlite3_get_autocommit(db))
                run(db, "COMMIT");
        }
        assert_rows(db, REPLAY, before);
        sqlite3_free(before);
    }
}

static void the_last_ids_are_given_out_in_order(void **state)
{
    sqlite3 *db = db_of(state);

    for (int i = 0; i < 2; i++) {
        run(db, "SELECT alineo_init(); DELETE FROM alineo_events; DELETE FROM alineo_deleted;"
                "INSERT INTO alineo_events VALUES (9223372036854775804, 'sb', 'ci', -1, NULL, 'a',"
                " NULL, NULL, 1)");
        run(db, i == 1 ? "BEGIN" : "SELECT 1");
        assert_rows(db, APPEND, "9223372036854775805");
        assert_error(db,
                     "SELECT alineo_append_batch('"
                     "{\"name\":\"ci\",\"sandboxId\":\"sb\",\"event\":\"b\"}\n"
                     "{\"name\":\"ci\",\"sandboxId\":\"sb\",\"event\":\"c\"}\n"
                     "{\"name\":\"ci\",\"sandboxId\":\"sb\",\"event\":\"d\"}')",
                     SQLITE_ERROR, NO_ID("alineo_append_batch"));
        assert_rows(db, APPEND, "9223372036854775806");
        assert_rows(db, APPEND, LAST);
        assert_error(db, APPEND, SQLITE_ERROR, NO_ID("alineo_append"));
        if (!sqlite3_get_autocommit(db))
            run(db, "COMMIT");
        assert_rows(db, "SELECT count(*), max(id) FROM alineo_events", "4|" LAST);
    }
}

static void a_schema_that_cannot_be_read_is_an_error(void **state)
{
    sqlite3 *db = db_of(state);
    static const char *const calls[] = {
        APPEND,
        BATCH,
        REPLAY,
        "SELECT alineo_init()",
        "SELECT alineo_resume('sb')",
        "SELECT * FROM alineo_list_environments()",
        "SELECT alineo_delete_environment('py')",
    };
    static const char *const garbage[] = {
        "CREATE TABLE alineo_events(",
        "CREATE INDEX i ON alineo_events(nothing)",
        "CREATE",
        "",
        "SELECT alineo_append('evil', 'evil', 'evil')",
        "CREATE TABLE t AS SELECT alineo_init()",
    };

    run(db, "SELECT alineo_init()");
    for (size_t g = 0; g < COUNT_OF(garbage); g++) {
        run(db, sqlf("PRAGMA writable_schema = on; UPDATE sqlite_schema SET sql = %Q"
                     " WHERE name = 'alineo_events_milestones'",
                     garbage[g]));
        (void)sqlite3_exec(db, "PRAGMA writable_schema = reset", NULL, NULL, NULL);
        for (size_t i = 0; i < COUNT_OF(calls); i++)
            assert_int_equal(sqlite3_exec(db, calls[i], NULL, NULL, NULL), SQLITE_CORRUPT);
    }
}

/* An index whose entries are not what its definition says answers as it does for
 * a plain SELECT; integrity_check tells. */
static void an_index_that_lies_crashes_nothing(void **state)
{
    sqlite3 *db = db_of(state);
    static const char *const calls[] = {
        REPLAY,
        APPEND,
        BATCH,
        "SELECT * FROM alineo_list_sandboxes()",
        "SELECT alineo_output('ci', 'sb', 1)",
        "SELECT alineo_delete_sandbox('ci', 'sb')",
        "SELECT alineo_init()",
    };

    run(db,
        POSE(EVENTS) ";"
                     "INSERT INTO alineo_events VALUES (1, 'sb', 'ci', -1, NULL, "
                     "'sandbox.created', '{}',"
                     " NULL, 1);"
                     "CREATE INDEX alineo_events_name_sandbox_ts ON alineo_events(error, payload, "
                     "ts, id);"
                     "CREATE INDEX alineo_events_milestones ON alineo_events(payload);"
                     "CREATE INDEX alineo_events_created ON alineo_events(payload);"
                     "PRAGMA writable_schema = on;"
                     "UPDATE sqlite_schema SET sql = 'CREATE INDEX alineo_events_name_sandbox_ts ON"
                     " alineo_events(name, sandbox_id, ts, id)' WHERE name = "
                     "'alineo_events_name_sandbox_ts';"
                     "UPDATE sqlite_schema SET sql = 'CREATE INDEX alineo_events_milestones ON"
                     " alineo_events(sandbox_id, name, event, id)' WHERE name = "
                     "'alineo_events_milestones';"
                     "PRAGMA writable_schema = reset");
    assert_rows(db, "SELECT event FROM main.alineo_events WHERE name = 'ci' AND sandbox_id = 'sb'",
                "");
    assert_rows(db, REPLAY, "");
    for (size_t i = 0; i < COUNT_OF(calls); i++) {
        int rc = sqlite3_exec(db, calls[i], NULL, NULL, NULL);
        assert_true(rc == SQLITE_OK || rc == SQLITE_CORRUPT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(a_table_that_poses_as_ours_is_a_clear_error),
        MEMORY_TEST(a_host_that_forbids_pragmas_may_append),
        MEMORY_TEST(a_table_that_differs_where_it_may_is_used),
        MEMORY_TEST(a_payload_of_another_type_reads_as_it_is_stored),
        MEMORY_TEST(a_view_over_another_table_is_read),
        MEMORY_TEST(where_no_id_is_left_nothing_is_appended),
        MEMORY_TEST(the_last_ids_are_given_out_in_order),
        MEMORY_TEST(a_schema_that_cannot_be_read_is_an_error),
        MEMORY_TEST(an_index_that_lies_crashes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
