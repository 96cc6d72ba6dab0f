/*
 * test_compiled_in.c - the extension as a part of the program: its sources are
 * compiled with SQLITE_CORE, and call SQLite without a table of pointers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>

int sqlite3_alineo_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);

static int start(void **state)
{
    (void)state;
    return sqlite3_auto_extension((void (*)(void))sqlite3_alineo_init);
}

static int end(void **state)
{
    (void)state;
    sqlite3_reset_auto_extension();
    return 0;
}

static sqlite3_int64 answer(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    sqlite3_int64 value;

    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    value = sqlite3_column_int64(statement, 0);
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    return value;
}

static void every_connection_has_the_ledger_without_loading_it(void **state)
{
    sqlite3 *db[2] = {NULL, NULL};

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sqlite3_open(":memory:", &db[i]), SQLITE_OK);
        assert_int_equal(answer(db[i], "SELECT alineo_append('ci', 'sb', 'x', '{\"seq\":1}')"), 1);
        assert_int_equal(answer(db[i], "SELECT count(*) FROM alineo_replay('ci', 'sb')"), 1);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(sqlite3_close(db[i]), SQLITE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_connection_has_the_ledger_without_loading_it),
    };

    return cmocka_run_group_tests(tests, start, end);
}
