/*
 * test_environments.c - environments: saved, replaced, listed, deleted.
 */
#include "support.h"

#include <time.h>

static void save_returns_the_name_and_get_gives_the_row(void **state)
{
    sqlite3 *db = db_of(state);

    assert_rows(db, "SELECT alineo_save_environment('py', 'snap-1', 'python:3.12', 7)", "py");
    assert_rows(db, "SELECT name, snapshot_id, image, built_at FROM alineo_get_environment('py')",
                "py|snap-1|python:3.12|7");
    assert_rows(db, "SELECT * FROM alineo_get_environment('Py')", "");
}

static void save_replaces_what_has_that_name(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_save_environment('py', 'snap-1', 'python:3.11', 7);"
            "SELECT alineo_save_environment('node', 'snap-2', 'node:22', 8)");
    assert_rows(db, "SELECT alineo_save_environment('py', 'snap-3', 'python:3.12', 5)", "py");
    assert_rows(db, "SELECT * FROM alineo_list_environments()",
                "node|snap-2|node:22|8\npy|snap-3|python:3.12|5");
}

static void built_at_left_off_is_the_current_time(void **state)
{
    sqlite3 *db = db_of(state);
    struct timespec now;

    assert_int_equal(clock_gettime(CLOCK_REALTIME, &now), 0);
    sqlite3_int64 before = (sqlite3_int64)now.tv_sec * 1000;
    run(db, "SELECT alineo_save_environment('a', 's', 'i');"
            "SELECT alineo_save_environment('b', 's', 'i', NULL)");
    assert_rows(db,
                sqlf("SELECT count(*) FROM alineo_list_environments()"
                     " WHERE built_at BETWEEN %lld AND %lld AND typeof(built_at) = 'integer'",
                     before, before + 60000),
                "2");
}

static void a_double_with_an_integral_value_is_taken_as_built_at(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_save_environment('a', 's', 'i', 1795950000000.0)");
    assert_rows(db, "SELECT built_at, typeof(built_at) FROM alineo_environments",
                "1795950000000|integer");
}

static void environments_are_listed_newest_first(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_save_environment('b', 's', 'i', 5);"
            "SELECT alineo_save_environment('d', 's', 'i', 9);"
            "SELECT alineo_save_environment('a', 's', 'i', 5);"
            "SELECT alineo_save_environment('c', 's', 'i', 1)");
    assert_rows(db, "SELECT name, built_at FROM alineo_list_environments()", "d|9\na|5\nb|5\nc|1");
    assert_rows(db, "SELECT name FROM alineo_list_environments() ORDER BY built_at DESC LIMIT 1",
                "d");
    assert_rows(db, "SELECT name FROM alineo_list_environments() ORDER BY built_at, name",
                "c\na\nb\nd");
    assert_rows(db, "SELECT name FROM alineo_list_environments() WHERE built_at < 6 ORDER BY name",
                "a\nb\nc");
}

static void delete_counts_what_it_deleted(void **state)
{
    sqlite3 *db = db_of(state);

    assert_rows(db, "SELECT alineo_delete_environment('py')", "0");
    run(db, "SELECT alineo_save_environment('py', 's', 'i', 5);"
            "SELECT alineo_save_environment('node', 's', 'i', 6)");
    assert_rows(db, "SELECT alineo_delete_environment('py')", "1");
    assert_rows(db, "SELECT alineo_delete_environment('py')", "0");
    assert_rows(db, "SELECT name FROM alineo_list_environments()", "node");
    assert_rows(db, "SELECT * FROM alineo_get_environment('py')", "");
}

static void an_environment_is_no_event_and_a_session_none(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_save_environment('ci', 's', 'i', 5)");
    (void)append(db, "sb-1", "sandbox.created", "{}", 1);
    assert_rows(db, "SELECT count(*) FROM alineo_events", "1");
    assert_rows(db, "SELECT alineo_delete_sandbox('ci', 'sb-1')", "1");
    assert_rows(db, "SELECT name FROM alineo_list_environments()", "ci");
}

static void an_environment_rolls_back_with_its_transaction(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_save_environment('py', 's-1', 'i', 5); BEGIN;"
            "SELECT alineo_save_environment('py', 's-2', 'i', 6);"
            "SELECT alineo_save_environment('node', 's-3', 'i', 7); ROLLBACK");
    assert_rows(db, "SELECT name, snapshot_id FROM alineo_list_environments()", "py|s-1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(save_returns_the_name_and_get_gives_the_row),
        MEMORY_TEST(save_replaces_what_has_that_name),
        MEMORY_TEST(built_at_left_off_is_the_current_time),
        MEMORY_TEST(a_double_with_an_integral_value_is_taken_as_built_at),
        MEMORY_TEST(environments_are_listed_newest_first),
        MEMORY_TEST(delete_counts_what_it_deleted),
        MEMORY_TEST(an_environment_is_no_event_and_a_session_none),
        FILE_TEST(an_environment_rolls_back_with_its_transaction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
