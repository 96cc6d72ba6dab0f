/*
 * test_listing.c - alineo_list_sandboxes gives the same rows by whichever way
 * it finds them.
 */
#include "support.h"

#define NAMES "(VALUES (1), (62), (63), (64), (65), (100))"

/* Names of 1 to 100 sessions, created in another order than that of their ids,
 * some of them twice, every third closed. */
static void fill(sqlite3 *db)
{
    run(db, "WITH RECURSIVE s(s) AS (SELECT 1 UNION ALL SELECT s + 1 FROM s WHERE s < 100)"
            " SELECT max(alineo_append('many ' || n.column1, 'sb ' || s, e.column1, '{}', NULL,"
            "  NULL, NULL, 1000 * (s * 7919 % 100) + e.column2))"
            " FROM " NAMES " AS n, s, (VALUES ('sandbox.created', 5), ('sandbox.created', 3),"
            "  ('exec.output', 6), ('sandbox.closed', 9)) AS e"
            " WHERE s <= n.column1 AND (e.column1 <> 'sandbox.closed' OR s % 3 = 0)");
}

static void check_every_name(sqlite3 *db)
{
    static const int sessions[] = {0, 1, 62, 63, 64, 65, 100};
    static const char *const filters[] = {
        "NULL, NULL, NULL, NULL", "'running'",    "'completed'",
        "NULL, NULL, 95000",      "NULL, 'sb 1'", "'running', NULL, 50000"};

    for (size_t i = 0; i < COUNT_OF(sessions); i++)
        for (size_t f = 0; f < COUNT_OF(filters); f++) {
            char *wanted = rows_of(
                db, sqlf("SELECT * FROM alineo_list_sandboxes(NULL, %s) WHERE name = 'many %d'",
                         filters[f], sessions[i]));
            assert_rows(
                db,
                sqlf("SELECT * FROM alineo_list_sandboxes('many %d', %s)", sessions[i], filters[f]),
                wanted);
            sqlite3_free(wanted);
        }
    assert_rows(db, "SELECT count(*) FROM alineo_list_sandboxes('many 100')", "100");
    assert_rows(db, "SELECT count(*) FROM alineo_list_sandboxes('many 63')", "63");
}

static void a_name_of_few_sessions_is_listed_as_one_of_many(void **state)
{
    fill(db_of(state));
    check_every_name(db_of(state));
}

static void a_ledger_without_our_indexes_is_listed_the_same(void **state)
{
    fill(db_of(state));
    run(db_of(state), "DROP INDEX alineo_events_name_sandbox_ts;"
                      "DROP INDEX alineo_events_milestones; DROP INDEX alineo_events_created");
    check_every_name(db_of(state));
}

static void a_list_counts_the_execs_of_each_session(void **state)
{
    fill(db_of(state));
    run(db_of(state), "SELECT alineo_append('many 65', 'sb 9', 'exec.completed', '{\"seq\":1}'),"
                      " alineo_append('many 65', 'sb 9', 'exec.completed', '{\"seq\":2}'),"
                      " alineo_append('many 62', 'sb 9', 'exec.completed', '{\"seq\":1}')");
    assert_rows(db_of(state),
                "SELECT name, sandbox_id, exec_count FROM alineo_list_sandboxes()"
                " WHERE exec_count > 0 ORDER BY name",
                "many 62|sb 9|1\nmany 65|sb 9|2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(a_name_of_few_sessions_is_listed_as_one_of_many),
        MEMORY_TEST(a_ledger_without_our_indexes_is_listed_the_same),
        MEMORY_TEST(a_list_counts_the_execs_of_each_session),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
