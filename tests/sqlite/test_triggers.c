/*
 * test_triggers.c - triggers that the host puts on the table have their say.
 */
#include "support.h"

/* 2100-01-01: later than any clock these tests run under. */
#define FUTURE "4102444800000"

static void set_up(sqlite3 *db)
{
    run(db, "SELECT alineo_init(); CREATE TABLE audit(id, event);"
            "CREATE TRIGGER keep_out BEFORE INSERT ON alineo_events WHEN NEW.event = 'secret'"
            " BEGIN SELECT RAISE(IGNORE); END;"
            "CREATE TRIGGER refuse BEFORE INSERT ON alineo_events WHEN NEW.event = 'bad'"
            " BEGIN SELECT RAISE(ABORT, 'not this one'); END;"
            "CREATE TRIGGER audit AFTER INSERT ON alineo_events"
            " BEGIN INSERT INTO audit VALUES (NEW.id, NEW.event); END");
}

static void a_row_that_a_trigger_keeps_out_has_no_id_and_is_not_counted(void **state)
{
    sqlite3 *db = db_of(state);

    set_up(db);
    for (int i = 0; i < 2; i++) {
        run(db, i == 1 ? "BEGIN" : "SELECT 1");
        assert_rows(db, "SELECT alineo_append('ci', 'sb', 'a') > 0", "1");
        assert_rows(db, "SELECT alineo_append('ci', 'sb', 'secret')", "NULL");
        assert_rows(db, "SELECT alineo_append('ci', 'sb', 'secret', NULL, NULL, NULL, NULL, 1)",
                    "NULL");
        assert_rows(
            db,
            "SELECT alineo_append_batch('[{\"name\":\"ci\",\"sandboxId\":\"sb\","
            "\"event\":\"secret\"},{\"name\":\"ci\",\"sandboxId\":\"sb\",\"event\":\"b\"}]')",
            "1");
        run(db, i == 1 ? "COMMIT" : "SELECT 1");
    }
    assert_rows(db, "SELECT id, event FROM alineo_events", "1|a\n2|b\n3|a\n4|b");
    assert_rows(db, "SELECT id, event FROM audit", "1|a\n2|b\n3|a\n4|b");
}

static void a_row_that_a_trigger_refuses_is_an_error_and_nothing_is_stored(void **state)
{
    sqlite3 *db = db_of(state);

    set_up(db);
    assert_error(db, "SELECT alineo_append('ci', 'sb', 'bad')", SQLITE_CONSTRAINT_TRIGGER,
                 "alineo_append: not this one");
    assert_error(db,
                 "SELECT alineo_append_batch('[{\"name\":\"ci\",\"sandboxId\":\"sb\",\"event\":"
                 "\"a\"},{\"name\":\"ci\",\"sandboxId\":\"sb\",\"event\":\"bad\"}]')",
                 SQLITE_CONSTRAINT_TRIGGER, "alineo_append_batch: not this one");
    assert_rows(db, "SELECT count(*) FROM alineo_events", "0");
    assert_rows(db, "SELECT count(*) FROM audit", "0");
}

/* With a trigger SQLite reads all rows of an INSERT ... SELECT before it stores
 * the first. */
static void ts_left_off_counts_the_entries_before_it_in_spite_of_a_trigger(void **state)
{
    sqlite3 *db = db_of(state);

    set_up(db);
    assert_int_equal(call_with(db, "SELECT alineo_append_batch(?1)",
                               json("{'name':'ci','sandboxId':'sb','event':'a','ts':" FUTURE "}\n"
                                    "{'name':'ci','sandboxId':'sb','event':'b','ts':5}\n"
                                    "{'name':'ci','sandboxId':'sb','event':'c'}\n"
                                    "{'name':'ci','sandboxId':'other','event':'d'}\n"
                                    "{'name':'ci','sandboxId':'sb','event':'e'}")),
                     5);
    assert_rows(db, "SELECT event, ts = " FUTURE " FROM alineo_events ORDER BY id",
                "a|1\nb|0\nc|1\nd|0\ne|1");
    assert_rows(db, "SELECT id FROM audit ORDER BY rowid", "1\n2\n3\n4\n5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(a_row_that_a_trigger_keeps_out_has_no_id_and_is_not_counted),
        MEMORY_TEST(a_row_that_a_trigger_refuses_is_an_error_and_nothing_is_stored),
        MEMORY_TEST(ts_left_off_counts_the_entries_before_it_in_spite_of_a_trigger),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
