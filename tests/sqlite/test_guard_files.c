/*
 * test_guard_files.c - the guard stays in its file: for connections without the
 * extension, through copies, dumps and changes of the schema.
 */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#define UPDATED  "alineo_guard: events must not be updated"
#define DELETED  "alineo_guard: events must not be deleted"
#define REPLACED "alineo_guard: events must not be replaced"

#define COLUMNS "(sandbox_id, name, step_idx, branch, event, payload, error, ts)"
#define EVENT   "('sb-2', 'ci', -1, NULL, 'x', NULL, NULL, 5)"

static void fill(sqlite3 *db)
{
    (void)append(db, "sb-1", "sandbox.created", "{}", 1);
    (void)append(db, "sb-1", "sandbox.closed", NULL, 2);
    run(db, "SELECT alineo_guard(1)");
}

/* The file at `path`, opened with the extension and without: guarded. */
static void assert_guarded(const char *path)
{
    sqlite3 *db = open_ledger(path, 0);

    assert_error(db, "UPDATE alineo_events SET ts = 0", SQLITE_CONSTRAINT_TRIGGER, UPDATED);
    assert_error(db, "DELETE FROM alineo_events", SQLITE_CONSTRAINT_TRIGGER, DELETED);
    assert_error(db, "REPLACE INTO alineo_events SELECT * FROM alineo_events",
                 SQLITE_CONSTRAINT_TRIGGER, REPLACED);
    close_ledger(db);
    db = open_plain(path, 0);
    assert_error(db, "UPDATE alineo_events SET ts = 0", SQLITE_ERROR,
                 "no such function: alineo_guard_updating");
    assert_error(db, "DELETE FROM alineo_events", SQLITE_ERROR,
                 "no such function: alineo_guard_deleting");
    assert_error(db, "REPLACE INTO alineo_events SELECT * FROM alineo_events",
                 SQLITE_CONSTRAINT_TRIGGER, REPLACED);
    assert_rows(db, "SELECT event, ts FROM alineo_events WHERE id < 3",
                "sandbox.created|1\nsandbox.closed|2");
    close_ledger(db);
}

static void it_stays_when_the_file_is_opened_again(void **state)
{
    sqlite3 *db = open_ledger(path_of(state), 0);

    fill(db);
    close_ledger(db);
    assert_guarded(path_of(state));
    db = open_ledger(path_of(state), 0);
    assert_rows(db, "SELECT alineo_delete_sandbox('ci', 'sb-1')", "2");
    close_ledger(db);
}

static void without_the_extension_events_are_still_appended(void **state)
{
    fill(db_of(state));
    sqlite3 *plain = open_plain(path_of(state), 0);

    run(plain, "INSERT INTO alineo_events" COLUMNS " VALUES " EVENT "; BEGIN;"
               "INSERT OR IGNORE INTO alineo_events" COLUMNS " VALUES " EVENT "," EVENT "; COMMIT;"
               "REPLACE INTO alineo_events" COLUMNS " VALUES " EVENT);
    assert_error(plain,
                 "INSERT INTO alineo_events SELECT * FROM alineo_events WHERE 1"
                 " ON CONFLICT (id) DO UPDATE SET ts = 0",
                 SQLITE_ERROR, "no such function: alineo_guard_updating");
    assert_rows(plain, "SELECT count(*), max(id) FROM alineo_events", "6|6");
    close_ledger(plain);
    assert_int_equal(append(db_of(state), "sb-2", "x", NULL, 6), 7);
    assert_guarded(path_of(state));
}

static void statements_of_other_connections_go_on_as_it_is_switched(void **state)
{
    sqlite3 *db = db_of(state), *other = open_ledger(path_of(state), 0);
    sqlite3 *plain = open_plain(path_of(state), 0);
    sqlite3_stmt *insert, *delete;

    (void)append(db, "sb-1", "x", NULL, 1);
    insert = prepare(plain, "INSERT INTO alineo_events" COLUMNS " VALUES " EVENT);
    delete = prepare(plain, "DELETE FROM alineo_events WHERE ts = 5");
    for (int i = 0; i < 4; i++) {
        assert_int_equal(append(other, "sb-3", "x", NULL, 7), 3 * i + 2);
        run(db, sqlf("SELECT alineo_guard(%d)", i % 2));
        assert_int_equal(sqlite3_step(insert), SQLITE_DONE);
        assert_int_equal(sqlite3_reset(insert), SQLITE_OK);
        assert_int_equal(append(db, "sb-3", "x", NULL, 7), 3 * i + 4);
        assert_int_equal(sqlite3_step(delete), i % 2 ? SQLITE_ERROR : SQLITE_DONE);
        (void)sqlite3_reset(delete);
        assert_int_equal(integer(plain, "SELECT count(*) FROM alineo_events WHERE ts = 5"), i % 2);
    }
    assert_rows(other, "SELECT alineo_delete_sandbox('ci', 'sb-3')", "8");
    (void)sqlite3_finalize(insert);
    (void)sqlite3_finalize(delete);
    close_ledger(plain);
    close_ledger(other);
}

static void it_stays_in_a_vacuumed_file_and_in_a_copy(void **state)
{
    fill(db_of(state));
    const char *copy = sqlf("%s-copy", path_of(state)), *backup = sqlf("%s-backup", path_of(state));
    sqlite3 *plain = open_plain(path_of(state), 0), *target = open_plain(backup, 0);

    run(plain, sqlf("VACUUM INTO '%s'", copy));
    sqlite3_backup *b = sqlite3_backup_init(target, "main", plain, "main");
    assert_int_equal(sqlite3_backup_step(b, -1), SQLITE_DONE);
    assert_int_equal(sqlite3_backup_finish(b), SQLITE_OK);
    close_ledger(target);
    run(plain, "VACUUM");
    close_ledger(plain);
    run(db_of(state), "VACUUM");
    assert_guarded(path_of(state));
    assert_guarded(copy);
    assert_guarded(backup);
}

/* The shell has no extension, neither where it dumps nor where it reads. */
static void it_stays_in_a_dump_that_the_plain_shell_reads(void **state)
{
    fill(db_of(state));
    (void)append(db_of(state), "sb-2", "x", "{'a':1}", 3);
    const char *copy = sqlf("%s-copy", path_of(state));

    assert_int_equal(
        system(sqlf("sqlite3 -bail '%s' .dump | sqlite3 -bail '%s'", path_of(state), copy)), 0);
    assert_guarded(copy);
    sqlite3 *db = open_ledger(copy, 0);
    sqlite3_int64 version = integer(db, "PRAGMA schema_version");
    assert_rows(db, "SELECT alineo_guard(1)", "1");
    assert_int_equal(integer(db, "PRAGMA schema_version"), version);
    assert_rows(db, "SELECT alineo_delete_sandbox('ci', 'sb-1')", "2");
    close_ledger(db);
}

static void the_schema_may_change_around_it(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    run(db, "ALTER TABLE alineo_events ADD COLUMN extra; CREATE TABLE t(a);"
            "ALTER TABLE t RENAME TO u; ALTER TABLE u RENAME COLUMN a TO b;"
            "ALTER TABLE alineo_events DROP COLUMN extra; REINDEX; ANALYZE");
    assert_guarded(path_of(state));
    sqlite3 *plain = open_plain(path_of(state), 0);
    run(plain, "ALTER TABLE alineo_events ADD COLUMN extra; ALTER TABLE u RENAME TO t;"
               "ALTER TABLE t RENAME COLUMN b TO a; ALTER TABLE alineo_events DROP COLUMN extra");
    close_ledger(plain);
    assert_int_equal(append(db, "sb-2", "x", NULL, 3), 3);
    assert_guarded(path_of(state));
}

static void it_works_where_the_schema_is_not_trusted(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    run(db, "PRAGMA trusted_schema = OFF");
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    assert_rows(db, "SELECT alineo_guard(0), alineo_guard(1)", "0|1");
    assert_error(db, "UPDATE alineo_events SET ts = 0", SQLITE_CONSTRAINT_TRIGGER, UPDATED);
    assert_error(db, "DELETE FROM alineo_events", SQLITE_CONSTRAINT_TRIGGER, DELETED);
    run(db, "INSERT INTO alineo_events" COLUMNS
            " VALUES ('sb-2', 'ci', 1, NULL, 'exec_start', '\"{}\"', NULL, 5)");
    assert_rows(db, "SELECT alineo_init(), alineo_delete_sandbox('ci', 'sb-1')", "1|2");
}

static void it_is_put_on_the_ledger_and_on_no_table_that_hides_it(void **state)
{
    sqlite3 *db = db_of(state);

    (void)append(db, "sb-1", "sandbox.created", "{}", 1);
    (void)append(db, "sb-1", "sandbox.closed", NULL, 2);
    run(db,
        "CREATE TEMP TABLE alineo_events(id, ts, event); INSERT INTO temp.alineo_events"
        " VALUES (1, 2, 'x'); ATTACH ':memory:' AS aside; CREATE TABLE aside.alineo_events(id)");
    assert_rows(db, "SELECT alineo_guard(1)", "1");
    run(db, "UPDATE temp.alineo_events SET ts = 0; DELETE FROM temp.alineo_events;"
            "DELETE FROM aside.alineo_events");
    assert_error(db, "DELETE FROM main.alineo_events", SQLITE_CONSTRAINT_TRIGGER, DELETED);
    assert_rows(db, "SELECT alineo_delete_sandbox('ci', 'nobody')", "0");
    assert_guarded(path_of(state));
}

/* docs/reference.md says so: what SQLite tells no trigger. */
static void a_unique_index_of_another_opens_a_way_that_recursive_triggers_close(void **state)
{
    sqlite3 *db = db_of(state);
    const char *replace = "REPLACE INTO alineo_events" COLUMNS
                          " VALUES ('sb-1', 'ci', -1, NULL, 'forged', NULL, NULL, 1)";

    fill(db);
    run(db, "CREATE UNIQUE INDEX other ON alineo_events(sandbox_id, ts);"
            "PRAGMA recursive_triggers = ON");
    assert_error(db, replace, SQLITE_CONSTRAINT_TRIGGER, DELETED);
    assert_guarded(path_of(state));
    run(db, "PRAGMA recursive_triggers = OFF");
    run(db, replace);
    assert_rows(db, "SELECT event FROM alineo_events WHERE ts = 1", "forged");
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    run(db, "DELETE FROM alineo_events");
}

static void it_cannot_be_switched_where_nothing_can_be_written(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    run(db, "PRAGMA query_only = ON");
    assert_error(db, "SELECT alineo_guard(0)", SQLITE_READONLY,
                 "alineo_guard: attempt to write a readonly database");
    run(db, "PRAGMA query_only = OFF; BEGIN IMMEDIATE");
    sqlite3 *other = open_ledger(path_of(state), 0);
    assert_error(other, "SELECT alineo_guard(0)", SQLITE_BUSY, "alineo_guard: database is locked");
    close_ledger(other);
    run(db, "COMMIT");
    assert_guarded(path_of(state));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(it_stays_when_the_file_is_opened_again),
        FILE_TEST(without_the_extension_events_are_still_appended),
        FILE_TEST(statements_of_other_connections_go_on_as_it_is_switched),
        FILE_TEST(it_stays_in_a_vacuumed_file_and_in_a_copy),
        FILE_TEST(it_stays_in_a_dump_that_the_plain_shell_reads),
        FILE_TEST(the_schema_may_change_around_it),
        FILE_TEST(it_works_where_the_schema_is_not_trusted),
        FILE_TEST(it_is_put_on_the_ledger_and_on_no_table_that_hides_it),
        FILE_TEST(a_unique_index_of_another_opens_a_way_that_recursive_triggers_close),
        FILE_TEST(it_cannot_be_switched_where_nothing_can_be_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
