/*
 * test_ids.c - ids only grow: an id that was given out is never given to another
 * event, whoever deletes what in between, and in whatever way.
 */
#include "support.h"

static sqlite3_int64 append_one(sqlite3 *db)
{
    return integer(db, "SELECT alineo_append('ci', 'sb-1', 'x')");
}

#define ENTRY     "{\"name\":\"ci\",\"sandboxId\":\"sb-1\",\"event\":\"x\"}"
#define BATCH_TWO "SELECT alineo_append_batch('[" ENTRY "," ENTRY "]')"

static sqlite3 *with_five(void **state)
{
    sqlite3 *db = db_of(state);

    for (int i = 1; i <= 5; i++)
        assert_int_equal(append_one(db), i);
    return db;
}

static void an_append_returns_the_id_and_leaves_it_as_last_insert_rowid(void **state)
{
    sqlite3 *db = with_five(state);

    assert_rows(db, "SELECT id FROM alineo_events ORDER BY id", "1\n2\n3\n4\n5");
    assert_int_equal(sqlite3_last_insert_rowid(db), 5);
    run(db, "CREATE TABLE t(a); INSERT INTO t(rowid, a) VALUES (1000, 1)");
    assert_int_equal(append_one(db), 6);
    assert_int_equal(sqlite3_last_insert_rowid(db), 6);
    run(db, BATCH_TWO);
    assert_int_equal(sqlite3_last_insert_rowid(db), 8);
}

/* What takes the five events, or some with the highest ids, away again. */
static const char *const deletions[] = {
    "DELETE FROM alineo_events WHERE id = 5",
    "DELETE FROM alineo_events WHERE id > 2",
    "DELETE FROM alineo_events",
    "DELETE FROM alineo_events WHERE true",
    "SELECT alineo_delete_sandbox('ci', 'sb-1')",
    "DELETE FROM alineo_events WHERE id = 5; DELETE FROM alineo_events WHERE id = 4",
    "DELETE FROM alineo_events WHERE id = 4; DELETE FROM alineo_events WHERE id = 5",
    "DELETE FROM alineo_events WHERE id < 5; DELETE FROM alineo_events",
    "BEGIN; DELETE FROM alineo_events; COMMIT",
    "SAVEPOINT s; DELETE FROM alineo_events WHERE id > 3; RELEASE s",
};

static void an_id_deleted_is_not_given_to_the_next_append(void **state)
{
    for (size_t i = 0; i < COUNT_OF(deletions); i++) {
        sqlite3 *db = with_five(state);
        run(db, deletions[i]);
        assert_int_equal(append_one(db), 6);
        run(db, "DELETE FROM alineo_events");
        assert_int_equal(append_one(db), 7);
        run(db, "DROP TABLE alineo_events; DROP TABLE alineo_deleted");
    }
}

static void an_id_deleted_is_not_given_to_the_next_batch(void **state)
{
    for (size_t i = 0; i < COUNT_OF(deletions); i++) {
        sqlite3 *db = with_five(state);
        run(db, deletions[i]);
        run(db, BATCH_TWO);
        assert_rows(db, "SELECT id FROM alineo_events WHERE id > 5 ORDER BY id", "6\n7");
        run(db, "DELETE FROM alineo_events WHERE id = 7");
        run(db, BATCH_TWO);
        assert_rows(db, "SELECT id FROM alineo_events WHERE id > 5 ORDER BY id", "6\n8\n9");
        run(db, "DROP TABLE alineo_events; DROP TABLE alineo_deleted");
    }
}

static void an_id_deleted_by_another_connection_is_not_given_out_again(void **state)
{
    for (size_t i = 0; i < COUNT_OF(deletions); i++) {
        sqlite3 *db = with_five(state);
        sqlite3 *other = open_ledger(path_of(state), 0);
        run(other, deletions[i]);
        assert_int_equal(append_one(db), 6);
        close_ledger(other);
        run(db, "DROP TABLE alineo_events; DROP TABLE alineo_deleted");
    }
}

/* The SDK's own adapter deletes too, and has no extension loaded. */
static void an_id_deleted_without_the_extension_is_not_given_out_again(void **state)
{
    sqlite3 *db = with_five(state);
    sqlite3 *plain = open_plain(path_of(state), 0);

    run(plain, "DELETE FROM alineo_events WHERE name = 'ci' AND sandbox_id = 'sb-1'");
    assert_int_equal(append_one(db), 6);
    run(plain, "DELETE FROM alineo_events");
    run(db, BATCH_TWO);
    assert_rows(db, "SELECT id FROM alineo_events ORDER BY id", "7\n8");
    close_ledger(plain);
}

static void an_id_deleted_is_not_given_out_by_the_next_connection(void **state)
{
    run(with_five(state), "SELECT alineo_delete_sandbox('ci', 'sb-1')");

    sqlite3 *next = open_ledger(path_of(state), 0);
    assert_int_equal(append_one(next), 6);
    close_ledger(next);
}

static void an_id_deleted_in_the_same_transaction_is_not_given_out_again(void **state)
{
    sqlite3 *db = with_five(state);

    run(db, "BEGIN");
    assert_int_equal(append_one(db), 6);
    run(db, "DELETE FROM alineo_events WHERE id = 6");
    assert_int_equal(append_one(db), 7);
    assert_int_equal(append_one(db), 8);
    run(db, "SELECT alineo_delete_sandbox('ci', 'sb-1')");
    run(db, BATCH_TWO);
    run(db, "COMMIT");
    assert_rows(db, "SELECT id FROM alineo_events ORDER BY id", "9\n10");
}

/* The append is called from within the statement that deletes its forerunner. */
static void an_id_being_deleted_is_not_given_out_again(void **state)
{
    sqlite3 *db = with_five(state);

    run(db, "BEGIN");
    assert_int_equal(append_one(db), 6);
    run(db, "DELETE FROM alineo_events WHERE id = 6 AND alineo_append('ci', 'sb-2', 'y') = 7;"
            "DELETE FROM alineo_events WHERE id = 7");
    assert_int_equal(append_one(db), 8);
    run(db, "COMMIT; DELETE FROM alineo_events WHERE id = 8 AND"
            " alineo_append('ci', 'sb-2', 'y') = 9");
    assert_int_equal(append_one(db), 10);
    assert_rows(db, "SELECT id FROM alineo_events WHERE id > 5 ORDER BY id", "9\n10");
    run(db, "BEGIN");
    assert_int_equal(append_one(db), 11);
    assert_rows(db,
                "DELETE FROM alineo_events WHERE id = 11"
                " RETURNING alineo_append('ci', 'sb-2', 'y')",
                "12");
    assert_int_equal(append_one(db), 13);
    run(db, "COMMIT");
    assert_rows(db, "SELECT id, sandbox_id FROM alineo_events WHERE id > 10 ORDER BY id",
                "12|sb-2\n13|sb-1");
}

static void an_id_rolled_back_and_the_one_behind_it_are_told_apart(void **state)
{
    sqlite3 *db = with_five(state);

    run(db, "BEGIN");
    assert_int_equal(append_one(db), 6);
    run(db, "SAVEPOINT s; DELETE FROM alineo_events WHERE id = 6");
    assert_int_equal(append_one(db), 7);
    run(db, "ROLLBACK TO s");
    sqlite3_int64 next = append_one(db);
    assert_true(next >= 7);
    run(db, "RELEASE s; ROLLBACK; BEGIN IMMEDIATE");
    next = append_one(db);
    assert_true(next >= 6);
    run(db, "COMMIT");
    assert_rows(db, "SELECT count(*), count(DISTINCT id) FROM alineo_events", "6|6");
}

/* The connection knew its last id; meanwhile others appended and deleted. */
static void an_id_given_out_between_two_transactions_is_not_given_out_again(void **state)
{
    sqlite3 *db = db_of(state);
    sqlite3 *other = open_ledger(path_of(state), 0);

    run(db, "BEGIN");
    assert_int_equal(append_one(db), 1);
    run(db, "COMMIT");
    assert_int_equal(append_one(other), 2);
    run(other, "DELETE FROM alineo_events WHERE id = 2");
    run(db, "BEGIN IMMEDIATE");
    assert_int_equal(append_one(db), 3);
    run(db, "COMMIT");
    close_ledger(other);
}

static void an_id_given_out_through_a_shared_cache_is_not_given_out_again(void **state)
{
    const char *uri = sqlf("file:%s?mode=memory&cache=shared", path_of(state));
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI;
    sqlite3 *db = open_ledger(uri, flags);
    sqlite3 *other = open_ledger(uri, flags);

    run(db, "BEGIN");
    assert_int_equal(append_one(db), 1);
    run(db, "COMMIT");
    assert_int_equal(append_one(other), 2);
    run(other, "DELETE FROM alineo_events WHERE id = 2");
    run(db, "BEGIN IMMEDIATE");
    assert_int_equal(append_one(db), 3);
    run(db, "COMMIT");
    close_ledger(other);
    close_ledger(db);
}

static void a_deletion_rolled_back_leaves_no_gap(void **state)
{
    sqlite3 *db = with_five(state);

    run(db, "BEGIN; DELETE FROM alineo_events WHERE id = 5; ROLLBACK");
    assert_int_equal(append_one(db), 6);
    assert_rows(db, "SELECT count(*), max(id) FROM alineo_events", "6|6");
}

static void an_append_rolled_back_leaves_the_ids_of_others_alone(void **state)
{
    sqlite3 *db = with_five(state);

    run(db, "BEGIN; SAVEPOINT s");
    assert_int_equal(append_one(db), 6);
    run(db, "ROLLBACK TO s");
    assert_true(append_one(db) >= 6);
    run(db, "COMMIT");
    assert_rows(db, "SELECT count(*), min(id), max(id) >= 6 FROM alineo_events", "6|1|1");
}

static void an_id_chosen_by_hand_is_appended_behind(void **state)
{
    sqlite3 *db = with_five(state);
    const char *insert = "INSERT INTO alineo_events(id, sandbox_id, name, step_idx, event, ts)"
                         " VALUES (%d, 'sb-9', 'ci', -1, 'x', 1)";

    run(db, sqlf(insert, 100));
    assert_int_equal(append_one(db), 101);
    run(db, "BEGIN");
    assert_int_equal(append_one(db), 102);
    run(db, sqlf(insert, 103));
    assert_int_equal(append_one(db), 104);
    run(db, sqlf(insert, 50));
    assert_int_equal(append_one(db), 105);
    run(db, "COMMIT; DELETE FROM alineo_events WHERE id = 105");
    run(db, sqlf(insert, 60));
    assert_int_equal(append_one(db), 106);
}

static void a_deletion_in_the_middle_leaves_the_next_id_alone(void **state)
{
    sqlite3 *db = with_five(state);

    run(db, "DELETE FROM alineo_events WHERE id BETWEEN 2 AND 4");
    assert_int_equal(append_one(db), 6);
    run(db, BATCH_TWO);
    assert_rows(db, "SELECT id FROM alineo_events ORDER BY id", "1\n5\n6\n7\n8");
}

static void ids_grow_in_a_table_that_the_old_adapter_made_too(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "CREATE TABLE alineo_events (id INTEGER PRIMARY KEY AUTOINCREMENT,"
            " sandbox_id TEXT NOT NULL, name TEXT NOT NULL, step_idx INTEGER NOT NULL,"
            " branch INTEGER, event TEXT NOT NULL, payload TEXT, error TEXT, ts INTEGER NOT NULL);"
            "INSERT INTO alineo_events(sandbox_id, name, step_idx, event, ts)"
            " VALUES ('sb-1', 'ci', -1, 'x', 1), ('sb-1', 'ci', -1, 'x', 2);"
            "DELETE FROM alineo_events WHERE id = 2");
    assert_int_equal(append_one(db), 3);
    run(db, "DELETE FROM alineo_events");
    run(db, BATCH_TWO);
    assert_rows(db, "SELECT id FROM alineo_events ORDER BY id", "4\n5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(an_append_returns_the_id_and_leaves_it_as_last_insert_rowid),
        MEMORY_TEST(an_id_deleted_is_not_given_to_the_next_append),
        MEMORY_TEST(an_id_deleted_is_not_given_to_the_next_batch),
        FILE_TEST(an_id_deleted_by_another_connection_is_not_given_out_again),
        FILE_TEST(an_id_deleted_without_the_extension_is_not_given_out_again),
        FILE_TEST(an_id_deleted_is_not_given_out_by_the_next_connection),
        FILE_TEST(an_id_deleted_in_the_same_transaction_is_not_given_out_again),
        FILE_TEST(an_id_being_deleted_is_not_given_out_again),
        FILE_TEST(an_id_rolled_back_and_the_one_behind_it_are_told_apart),
        FILE_TEST(an_id_given_out_between_two_transactions_is_not_given_out_again),
        FILE_TEST(an_id_given_out_through_a_shared_cache_is_not_given_out_again),
        MEMORY_TEST(a_deletion_rolled_back_leaves_no_gap),
        FILE_TEST(an_append_rolled_back_leaves_the_ids_of_others_alone),
        MEMORY_TEST(an_id_chosen_by_hand_is_appended_behind),
        MEMORY_TEST(a_deletion_in_the_middle_leaves_the_next_id_alone),
        MEMORY_TEST(ids_grow_in_a_table_that_the_old_adapter_made_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
