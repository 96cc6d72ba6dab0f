/*
 * test_replay.c - alineo_replay: its streaming, and comparisons on ts and id that it
 * takes over from SQLite, which must change no answer.
 */
#include "support.h"

#include <string.h>

/* Sessions with ties, gaps, and ts in another order than the ids. */
static void fill(sqlite3 *db)
{
    run(db, "SELECT alineo_init();"
            "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 60)"
            " INSERT INTO alineo_events(sandbox_id, name, step_idx, event, ts)"
            " SELECT 'sb-1', 'ci', -1, 'x', (i * 7) % 20 FROM n;"
            "DELETE FROM alineo_events WHERE id % 9 = 0;"
            "INSERT INTO alineo_events(id, sandbox_id, name, step_idx, event, ts)"
            " VALUES (9223372036854775807, 'sb-1', 'ci', -1, 'last', 9223372036854775807),"
            " (-5, 'sb-1', 'ci', -1, 'first', -3)");
}

static const char *const values[] = {
    "0",
    "7",
    "-3",
    "-1",
    "19",
    "20",
    "59",
    "61",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775806",
    "7.0",
    "7.5",
    "-0.5",
    "1e300",
    "-1e300",
    "9.3e18",
    "NULL",
    "'7'",
    "'7.5'",
    "'x'",
    "x'37'",
    "(SELECT 7)",
    "abs(-7)",
};

static const char *const operators[] = {"=", "<", "<=", ">", ">=", "==", "IS", "<>", "IS NOT"};

/* The same WHERE over the function and over the table itself. */
static void assert_same(sqlite3 *db, const char *where)
{
    char *plain = rows_of(db, sqlf("SELECT id, ts FROM alineo_events WHERE name = 'ci' AND"
                                   " sandbox_id = 'sb-1' AND (%s) ORDER BY ts, id",
                                   where));

    assert_rows(db, sqlf("SELECT id, ts FROM alineo_replay('ci', 'sb-1') WHERE (%s)", where),
                plain);
    sqlite3_free(plain);
}

static void a_comparison_of_ts_or_id_gives_the_rows_it_gives_on_the_table(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    for (size_t o = 0; o < COUNT_OF(operators); o++)
        for (size_t v = 0; v < COUNT_OF(values); v++) {
            assert_same(db, sqlf("ts %s %s", operators[o], values[v]));
            assert_same(db, sqlf("id %s %s", operators[o], values[v]));
            assert_same(db, sqlf("%s %s ts", values[v], operators[o]));
        }
}

static void several_comparisons_give_the_rows_they_give_on_the_table(void **state)
{
    static const char *const wheres[] = {
        "ts > 3 AND ts < 9",
        "ts >= 3 AND ts <= 3",
        "ts = 3 AND id > 20",
        "id > 10 AND id <= 30",
        "ts BETWEEN 5 AND 8",
        "ts BETWEEN 8 AND 5",
        "ts > 5 AND ts < 6",
        "ts = 4 AND ts = 5",
        "ts > 9223372036854775807",
        "ts < -9223372036854775808",
        "id >= 9223372036854775807",
        "ts IN (3, 4, 19)",
        "ts NOT IN (3, 4, 19)",
        "id IN (1, 1, 2)",
        "ts IN (SELECT 3)",
        "ts = 3 OR ts = 4",
        "ts < 2 OR id > 50",
        "NOT ts < 5",
        "ts > 3 AND event = 'x'",
        "ts + 0 = 7",
        "ts < 7 AND ts < 9 AND ts <= 6 AND ts > 1 AND ts >= 2",
        "(ts, id) > (5, 30)",
        "(ts, id) <= (5, 30)",
        "(ts, id) = (7, 1)",
        "ts > 2.5 AND ts < 4.5",
        "ts IS NULL",
        "ts IS NOT NULL",
        "ts < id",
        "ts LIKE '1%'",
        "id = ts",
    };
    sqlite3 *db = db_of(state);

    fill(db);
    for (size_t i = 0; i < COUNT_OF(wheres); i++)
        assert_same(db, wheres[i]);
}

static void every_order_by_gives_the_order_it_gives_on_the_table(void **state)
{
    static const char *const orders[] = {
        "ts, id",  "ts DESC, id DESC", "ts, id DESC", "ts DESC, id",   "id",
        "id DESC", "event, id",        "ts % 5, id",  "ts, id, event", "-ts, id",
    };
    static const char *const limits[] = {
        "", "LIMIT 0", "LIMIT 3", "LIMIT 3 OFFSET 2", "LIMIT -1 OFFSET 50", "LIMIT 1000 OFFSET 52",
    };
    sqlite3 *db = db_of(state);

    fill(db);
    for (size_t o = 0; o < COUNT_OF(orders); o++)
        for (size_t l = 0; l < COUNT_OF(limits); l++) {
            const char *rest = sqlf("WHERE ts > 1 ORDER BY %s %s", orders[o], limits[l]);
            char *plain = rows_of(db, sqlf("SELECT id, ts FROM alineo_events %s", rest));
            assert_rows(db, sqlf("SELECT id, ts FROM alineo_replay('ci', 'sb-1') %s", rest), plain);
            sqlite3_free(plain);
        }
}

static void aggregates_and_distinct_are_those_of_the_table(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    assert_rows(db,
                "SELECT (SELECT count(*) FROM alineo_replay('ci', 'sb-1')) ="
                " (SELECT count(*) FROM alineo_events)",
                "1");
    assert_rows(db, "SELECT min(ts), max(ts), min(id) FROM alineo_replay('ci', 'sb-1')",
                "-3|9223372036854775807|-5");
    assert_rows(db, "SELECT count(DISTINCT ts) FROM alineo_replay('ci', 'sb-1') WHERE ts >= 0",
                "21");
    assert_rows(db,
                "SELECT ts, count(*) FROM alineo_replay('ci', 'sb-1') WHERE ts IN (-3, 0, 7)"
                " GROUP BY ts ORDER BY ts",
                "-3|1\n0|3\n7|3");
}

enum { MANY = 200000 };

static void fill_many(sqlite3 *db, const char *payload)
{
    run(db, sqlf("SELECT alineo_init(); BEGIN;"
                 "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
                 " INSERT INTO alineo_events(sandbox_id, name, step_idx, event, payload, ts)"
                 " SELECT 'sb-1', 'ci', 1, 'exec.output', %Q, i FROM n; COMMIT",
                 MANY, json(payload)));
}

static void memory_does_not_grow_with_the_rows_replayed(void **state)
{
    sqlite3 *db = open_ledger(path_of(state), 0);
    sqlite3_int64 early = 0, late = 0;

    fill_many(db_of(state), "{'seq':1,'type':'stdout','text':'a line of what a program printed'}");
    run(db, "PRAGMA cache_size = 50");
    sqlite3_stmt *statement = prepare(db, "SELECT * FROM alineo_replay('ci', 'sb-1')");
    int rows = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        rows++;
        assert_non_null(sqlite3_column_text(statement, 6));
        sqlite3_int64 used = sqlite3_memory_used();
        if (rows <= 2000 && used > early)
            early = used;
        if (rows > 2000 && used > late)
            late = used;
    }
    assert_int_equal(rows, MANY);
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    assert_true(late <= early + 16 * 1024);
    close_ledger(db);
}

/* How much work a query was, in steps of SQLite's virtual machine. */
static int steps_of(sqlite3 *db, const char *sql)
{
    int steps = 0;

    for (sqlite3_stmt *s = sqlite3_next_stmt(db, NULL); s != NULL; s = sqlite3_next_stmt(db, s))
        (void)sqlite3_stmt_status(s, SQLITE_STMTSTATUS_VM_STEP, 1);
    sqlite3_stmt *statement = prepare(db, sql);
    while (sqlite3_step(statement) == SQLITE_ROW)
        ;
    steps = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 0);
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    for (sqlite3_stmt *s = sqlite3_next_stmt(db, NULL); s != NULL; s = sqlite3_next_stmt(db, s))
        steps += sqlite3_stmt_status(s, SQLITE_STMTSTATUS_VM_STEP, 0);
    return steps;
}

static void limit_and_bounds_read_only_the_rows_they_ask_for(void **state)
{
    sqlite3 *db = db_of(state);
    static const char *const queries[] = {
        "SELECT * FROM alineo_replay('ci', 'sb-1') LIMIT 5",
        "SELECT * FROM alineo_replay('ci', 'sb-1') ORDER BY ts, id LIMIT 5",
        "SELECT * FROM alineo_replay('ci', 'sb-1') WHERE ts > 199990",
        "SELECT * FROM alineo_replay('ci', 'sb-1') WHERE ts = 5",
        "SELECT * FROM alineo_replay('ci', 'sb-1') WHERE ts > 3 AND ts < 7",
        "SELECT * FROM alineo_replay('ci', 'sb-1') WHERE ts >= 100 LIMIT 3",
    };
    fill_many(db, "{}");
    for (size_t i = 0; i < COUNT_OF(queries); i++)
        assert_true(steps_of(db, queries[i]) < 1000);
    assert_true(steps_of(db, "SELECT * FROM alineo_replay('ci', 'sb-1')") > MANY);
}

/* A client that reads on from the last id and ts it has seen. */
static void a_reader_can_go_on_behind_the_last_row_it_has_seen(void **state)
{
    sqlite3 *db = db_of(state);
    sqlite3_stmt *statement =
        prepare(db, "SELECT id FROM alineo_replay('ci', 'sb-1') WHERE id > ?1 ORDER BY id LIMIT 7");
    sqlite3_int64 last = INT64_MIN;
    int rows = 0, page;

    fill(db);
    do {
        assert_int_equal(sqlite3_bind_int64(statement, 1, last), SQLITE_OK);
        for (page = 0; sqlite3_step(statement) == SQLITE_ROW; page++) {
            assert_true(sqlite3_column_int64(statement, 0) > last);
            last = sqlite3_column_int64(statement, 0);
        }
        assert_int_equal(sqlite3_reset(statement), SQLITE_OK);
        rows += page;
    } while (page > 0);
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    assert_int_equal(rows, integer(db, "SELECT count(*) FROM alineo_events"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(a_comparison_of_ts_or_id_gives_the_rows_it_gives_on_the_table),
        MEMORY_TEST(several_comparisons_give_the_rows_they_give_on_the_table),
        MEMORY_TEST(every_order_by_gives_the_order_it_gives_on_the_table),
        MEMORY_TEST(aggregates_and_distinct_are_those_of_the_table),
        FILE_TEST(memory_does_not_grow_with_the_rows_replayed),
        MEMORY_TEST(limit_and_bounds_read_only_the_rows_they_ask_for),
        MEMORY_TEST(a_reader_can_go_on_behind_the_last_row_it_has_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
