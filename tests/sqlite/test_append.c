/*
 * test_append.c - what SQLite's table holds after an append: the text to the
 * byte, integers as integers, the time of this machine's clock; and what a
 * refused one leaves alone.
 */
#include "support.h"

#include <time.h>

static sqlite3_int64 clock_ms(void)
{
    struct timespec now;

    assert_int_equal(clock_gettime(CLOCK_REALTIME, &now), 0);
    return (sqlite3_int64)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void ts_is_the_current_time_where_it_is_left_off(void **state)
{
    sqlite3 *db = db_of(state);
    sqlite3_int64 before = clock_ms();

    run(db, "SELECT alineo_append('ci', 'sb-1', 'x')");
    sqlite3_int64 ts = integer(db, "SELECT ts FROM alineo_events");
    assert_in_range(ts, before, clock_ms());
}

static void what_is_stored_has_the_type_of_its_column(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_append('ci', 'sb-1', 'x', '7', 7, 2, '8', 1234)");
    assert_rows(db,
                "SELECT typeof(id), typeof(name), typeof(step_idx), typeof(branch),"
                " typeof(payload), typeof(error), typeof(ts) FROM alineo_events",
                "integer|text|integer|integer|text|text|integer");
}

static const char *const payloads[] = {
    "{\"b\" : 1,\t\"a\":\n[ 1.50, 1e2, -0, 1E+2 ] , \"b\":2}", /* space, order, duplicates */
    "{\"n\":123456789012345678901234567890,\"m\":9007199254740993}",
    "{\"t\":\"\\u0041\\/\\u00e9\xc3\xa9 \\ud83d \\ud83d\\ude00 \\u0000\"}",
    "  \"text\"  ",
    "null",
    "true",
    "[]",
    "0",
    "-1.5e-7",
    "{}",
    "\"\xef\xb7\x90\"", /* U+FDD0 */
};

static void a_payload_is_kept_to_the_byte(void **state)
{
    sqlite3 *db = db_of(state);
    sqlite3_stmt *statement = prepare(db, "SELECT alineo_append('ci', 'sb-1', 'exec.x', ?1)");

    for (size_t i = 0; i < COUNT_OF(payloads); i++) {
        assert_int_equal(sqlite3_bind_text(statement, 1, payloads[i], -1, SQLITE_STATIC),
                         SQLITE_OK);
        assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
        int id = sqlite3_column_int(statement, 0);
        assert_int_equal(sqlite3_reset(statement), SQLITE_OK);
        assert_rows(db, sqlf("SELECT payload FROM alineo_events WHERE id = %d", id), payloads[i]);
        assert_rows(db, sqlf("SELECT payload FROM alineo_replay('ci', 'sb-1') WHERE id = %d", id),
                    payloads[i]);
    }
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
}

static void a_refused_append_does_not_create_the_ledger(void **state)
{
    assert_error(db_of(state), "SELECT alineo_append('ci', 'sb-1', '')", SQLITE_ERROR,
                 "alineo_append: event must not be empty");
    assert_rows(db_of(state), "SELECT count(*) FROM sqlite_master", "0");
    assert_rows(db_of(state), "PRAGMA journal_mode", "delete");
}

static void a_refused_append_uses_up_no_id(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_save_environment('py', 's', 'i')");
    (void)append(db, "sb-1", "x", NULL, 1);
    assert_refused(db, "SELECT alineo_append('ci', 'sb-1', 'x', '{')",
                   "alineo_append: payload is not valid JSON at byte 1: unexpected end");
    assert_int_equal(append(db, "sb-1", "x", NULL, 3), 2);
}

static void a_refused_append_in_a_transaction_leaves_the_transaction_open(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_save_environment('py', 's', 'i'); BEGIN;"
            "SELECT alineo_append('ci', 'sb-1', 'a')");
    assert_refused(db, "SELECT alineo_append('ci', 'sb-1', '')",
                   "alineo_append: event must not be empty");
    run(db, "SELECT alineo_append('ci', 'sb-1', 'b'); COMMIT");
    assert_rows(db, "SELECT event FROM alineo_events ORDER BY id", "a\nb");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(ts_is_the_current_time_where_it_is_left_off),
        MEMORY_TEST(what_is_stored_has_the_type_of_its_column),
        MEMORY_TEST(a_payload_is_kept_to_the_byte),
        FILE_TEST(a_refused_append_does_not_create_the_ledger),
        MEMORY_TEST(a_refused_append_uses_up_no_id),
        MEMORY_TEST(a_refused_append_in_a_transaction_leaves_the_transaction_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
