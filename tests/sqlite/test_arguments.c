/*
 * test_arguments.c - arguments as SQLite has them, which has no types of its own
 * for them: BLOBs, real numbers, texts with NUL or bytes that are no UTF-8.
 */
#include "support.h"

typedef struct refusal {
    const char *call, *text;
} refusal;

/* A ledger that holds something to lose. */
static sqlite3 *filled(void **state)
{
    sqlite3 *db = db_of(state);

    (void)append(db, "sb-1", "sandbox.created", "{'runId':'r-1'}", 1);
    (void)append(db, "sb-1", "exec.started", "{'seq':1,'cmd':'ls'}", 2);
    run(db, "SELECT alineo_save_environment('py', 'snap-1', 'python:3', 5)");
    return db;
}

/* Each call as "SELECT function(call)" or "SELECT * FROM function(call)". */
static void assert_all_refused(void **state, const char *select, const char *function,
                               const refusal *refusals, size_t count)
{
    sqlite3 *db = filled(state);

    for (size_t i = 0; i < count; i++)
        assert_refused(db, sqlf("%s %s(%s)", select, function, refusals[i].call),
                       sqlf("%s: %s", function, refusals[i].text));
}

#define NOT_UTF8 "CAST(x'61ff' AS TEXT)"

static void append_refuses_texts_that_are_none(void **state)
{
    static const refusal refusals[] = {
        {"char(97, 0, 98), 'sb-1', 'x'", "name must not contain NUL"},
        {"char(0), 'sb-1', 'x'", "name must not contain NUL"},
        {NOT_UTF8 ", 'sb-1', 'x'", "name must be valid UTF-8"},
        {"x'6369', 'sb-1', 'x'", "name must be text"},
        {"'ci', char(97, 0), 'x'", "sandbox_id must not contain NUL"},
        {"'ci', " NOT_UTF8 ", 'x'", "sandbox_id must be valid UTF-8"},
        {"'ci', x'00', 'x'", "sandbox_id must be text"},
        {"'ci', 'sb-1', char(97, 0)", "event must not contain NUL"},
        {"'ci', 'sb-1', " NOT_UTF8, "event must be valid UTF-8"},
        {"'ci', 'sb-1', x'78'", "event must be text"},
        {"'ci', 'sb-1', 'x', NULL, NULL, NULL, x'78'", "error must be text"},
        {"'ci', 'sb-1', 'x', NULL, NULL, NULL, " NOT_UTF8, "error must be valid UTF-8"},
        {"'ci', 'sb-1', 'x', x'7b7d'", "payload must be text"},
        {"'ci', 'sb-1', 'x', CAST(x'5b22ff225d' AS TEXT)",
         "payload is not valid JSON at byte 2: invalid UTF-8"},
        /* Half a character, as a client leaves it that cuts bytes in two. */
        {"'ci', 'sb-1', 'x', '{\"text\":\"' || CAST(x'e282' AS TEXT) || '\"}'",
         "payload is not valid JSON at byte 9: invalid UTF-8"},
        {"'ci', 'sb-1', 'x', '{}' || char(0)",
         "payload is not valid JSON at byte 2: unexpected text behind the value"},
    };
    assert_all_refused(state, "SELECT", "alineo_append", refusals, COUNT_OF(refusals));
}

static void append_refuses_numbers_that_are_no_integers(void **state)
{
#define STEP   "step_idx must be an integer from -1 to 2147483647"
#define BRANCH "branch must be an integer from 0 to 2147483647"
#define TS     "ts must be an integer of at least 0"
    static const refusal refusals[] = {
        {"'ci', 'sb-1', 'x', NULL, 1.5", STEP},
        {"'ci', 'sb-1', 'x', NULL, 1e300", STEP},
        {"'ci', 'sb-1', 'x', NULL, 'one'", STEP},
        {"'ci', 'sb-1', 'x', NULL, x'31'", STEP},
        {"'ci', 'sb-1', 'x', NULL, NULL, 0.5", BRANCH},
        {"'ci', 'sb-1', 'x', NULL, NULL, 'two'", BRANCH},
        {"'ci', 'sb-1', 'x', NULL, NULL, NULL, NULL, 1.5", TS},
        {"'ci', 'sb-1', 'x', NULL, NULL, NULL, NULL, 9223372036854775808", TS},
        {"'ci', 'sb-1', 'x', NULL, NULL, NULL, NULL, -1e300", TS},
        {"'ci', 'sb-1', 'x', NULL, NULL, NULL, NULL, 'now'", TS},
    };
    assert_all_refused(state, "SELECT", "alineo_append", refusals, COUNT_OF(refusals));
}

static void delete_sandbox_refuses_texts_that_are_none(void **state)
{
    static const refusal refusals[] = {
        {"char(0), 'sb-1'", "name must not contain NUL"},
        {"x'6369', 'sb-1'", "name must be text"},
        {"'ci', " NOT_UTF8, "sandbox_id must be valid UTF-8"},
        {"'ci', x'00'", "sandbox_id must be text"},
    };
    assert_all_refused(state, "SELECT", "alineo_delete_sandbox", refusals, COUNT_OF(refusals));
}

static void save_environment_refuses_what_is_no_text_and_no_integer(void **state)
{
    static const refusal refusals[] = {
        {"'py', 's', char(0)", "image must not contain NUL"},
        {"'py', x'00', 'i'", "snapshot_id must be text"},
        {"'py', 's', 'i', 'now'", "built_at must be an integer of at least 0"},
        {"'py', 's', 'i', 0.5", "built_at must be an integer of at least 0"},
    };
    assert_all_refused(state, "SELECT", "alineo_save_environment", refusals, COUNT_OF(refusals));
}

static void delete_environment_refuses_texts_that_are_none(void **state)
{
    static const refusal refusals[] = {
        {"char(0)", "name must not contain NUL"},
        {"x'7079'", "name must be text"},
    };
    assert_all_refused(state, "SELECT", "alineo_delete_environment", refusals, COUNT_OF(refusals));
}

static void list_sandboxes_refuses_what_is_no_text_and_no_integer(void **state)
{
    static const refusal refusals[] = {
        {"x'00'", "name must be text"},
        {"NULL, x'00'", "status must be text"},
        {"NULL, NULL, x'00'", "run_id must be text"},
        {"NULL, NULL, NULL, 'now'", "before must be an integer"},
        {"NULL, NULL, NULL, 1.5", "before must be an integer"},
        {"NULL, NULL, NULL, NULL, 'all'", "max_rows must be an integer of at least 0"},
        {"NULL, NULL, NULL, NULL, 0.5", "max_rows must be an integer of at least 0"},
    };
    assert_all_refused(state, "SELECT * FROM", "alineo_list_sandboxes", refusals,
                       COUNT_OF(refusals));
}

static void the_other_reading_functions_refuse_what_they_cannot_look_for(void **state)
{
    sqlite3 *db = filled(state);

    assert_refused(db, "SELECT alineo_resume(x'00')", "alineo_resume: sandbox_id must be text");
    assert_refused(db, "SELECT alineo_output('ci', 'sb-1', 'one')",
                   "alineo_output: seq must be an integer");
    assert_refused(db, "SELECT alineo_output('ci', 'sb-1', 1.5)",
                   "alineo_output: seq must be an integer");
    assert_refused(db, "SELECT * FROM alineo_replay(x'00', 'sb-1')",
                   "alineo_replay: name must be text");
}

/* JavaScript clients bind every number as a double. */
static void doubles_with_integral_values_are_taken_as_integers(void **state)
{
    sqlite3 *db = db_of(state);
    sqlite3_stmt *statement =
        prepare(db, "SELECT alineo_append('ci', 'sb-1', 'sandbox.created', NULL, ?1, ?2, NULL,"
                    " ?3)");

    assert_int_equal(sqlite3_bind_double(statement, 1, 3.0), SQLITE_OK);
    assert_int_equal(sqlite3_bind_double(statement, 2, 0.0), SQLITE_OK);
    assert_int_equal(sqlite3_bind_double(statement, 3, 1795959628473.0), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    assert_rows(db, "SELECT step_idx, branch, ts, typeof(step_idx), typeof(ts) FROM alineo_events",
                "3|0|1795959628473|integer|integer");

    run(db, "SELECT alineo_save_environment('a', 's', 'i', 1795950000000.0)");
    assert_rows(db, "SELECT built_at, typeof(built_at) FROM alineo_environments",
                "1795950000000|integer");
    assert_rows(db, "SELECT sandbox_id FROM alineo_list_sandboxes(NULL, NULL, NULL, 1e15, 1.0)",
                "sb-1");
    (void)append(db, "sb-1", "exec.output", "{'seq':1,'type':'stdout','text':'o'}", 1);
    assert_rows(db, "SELECT alineo_output('ci', 'sb-1', 1.0)", "0x6f");
}

static void an_error_text_shows_what_a_text_cannot_hold(void **state)
{
    sqlite3 *db = db_of(state);

    /* NUL, and half a surrogate pair in its three generic bytes. */
    run(db, "SELECT alineo_append('ci', 'sb-1', 'x', NULL, NULL, NULL,"
            " 'a' || char(0) || 'b' || CAST(x'eda0bd' AS TEXT) || '\xc3\xa9')");
    assert_rows(db, "SELECT error FROM alineo_replay('ci', 'sb-1')",
                "a\xe2\x90\x80"
                "b\xef\xbf\xbd\xc3\xa9");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(append_refuses_texts_that_are_none),
        MEMORY_TEST(append_refuses_numbers_that_are_no_integers),
        MEMORY_TEST(delete_sandbox_refuses_texts_that_are_none),
        MEMORY_TEST(save_environment_refuses_what_is_no_text_and_no_integer),
        MEMORY_TEST(delete_environment_refuses_texts_that_are_none),
        MEMORY_TEST(list_sandboxes_refuses_what_is_no_text_and_no_integer),
        MEMORY_TEST(the_other_reading_functions_refuse_what_they_cannot_look_for),
        MEMORY_TEST(doubles_with_integral_values_are_taken_as_integers),
        MEMORY_TEST(an_error_text_shows_what_a_text_cannot_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
