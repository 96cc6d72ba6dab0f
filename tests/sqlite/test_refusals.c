/*
 * test_refusals.c - what the writing functions refuse, in which words, and that
 * the ledger then stays as it was.
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

static void assert_all_refused(void **state, const char *function, const refusal *refusals,
                               size_t count)
{
    sqlite3 *db = filled(state);

    for (size_t i = 0; i < count; i++)
        assert_refused(db, sqlf("SELECT %s(%s)", function, refusals[i].call),
                       sqlf("%s: %s", function, refusals[i].text));
}

#define LONG_TEXT "printf('%.1001c', 'x')"
#define NOT_UTF8  "CAST(x'61ff' AS TEXT)"

static void append_refuses_names_that_are_none(void **state)
{
    static const refusal refusals[] = {
        {"NULL, 'sb-1', 'x'", "name must not be NULL"},
        {"'', 'sb-1', 'x'", "name must not be empty"},
        {LONG_TEXT ", 'sb-1', 'x'", "name must be at most 1000 bytes"},
        {"char(97, 0, 98), 'sb-1', 'x'", "name must not contain NUL"},
        {"char(0), 'sb-1', 'x'", "name must not contain NUL"},
        {NOT_UTF8 ", 'sb-1', 'x'", "name must be valid UTF-8"},
        {"x'6369', 'sb-1', 'x'", "name must be text"},
        {"'ci', NULL, 'x'", "sandbox_id must not be NULL"},
        {"'ci', '', 'x'", "sandbox_id must not be empty"},
        {"'ci', " LONG_TEXT ", 'x'", "sandbox_id must be at most 1000 bytes"},
        {"'ci', char(97, 0), 'x'", "sandbox_id must not contain NUL"},
        {"'ci', " NOT_UTF8 ", 'x'", "sandbox_id must be valid UTF-8"},
        {"'ci', x'00', 'x'", "sandbox_id must be text"},
        {"'ci', 'sb-1', NULL", "event must not be NULL"},
        {"'ci', 'sb-1', ''", "event must not be empty"},
        {"'ci', 'sb-1', " LONG_TEXT, "event must be at most 1000 bytes"},
        {"'ci', 'sb-1', char(97, 0)", "event must not contain NUL"},
        {"'ci', 'sb-1', " NOT_UTF8, "event must be valid UTF-8"},
        {"'ci', 'sb-1', x'78'", "event must be text"},
    };
    assert_all_refused(state, "alineo_append", refusals, COUNT_OF(refusals));
}

static void append_refuses_integers_out_of_range(void **state)
{
#define STEP   "step_idx must be an integer from -1 to 2147483647"
#define BRANCH "branch must be an integer from 0 to 2147483647"
#define TS     "ts must be an integer of at least 0"
    static const refusal refusals[] = {
        {"'ci', 'sb-1', 'x', NULL, -2", STEP},
        {"'ci', 'sb-1', 'x', NULL, 2147483648", STEP},
        {"'ci', 'sb-1', 'x', NULL, -9223372036854775807 - 1", STEP},
        {"'ci', 'sb-1', 'x', NULL, 1.5", STEP},
        {"'ci', 'sb-1', 'x', NULL, 1e300", STEP},
        {"'ci', 'sb-1', 'x', NULL, 'one'", STEP},
        {"'ci', 'sb-1', 'x', NULL, x'31'", STEP},
        {"'ci', 'sb-1', 'x', NULL, NULL, -1", BRANCH},
        {"'ci', 'sb-1', 'x', NULL, NULL, 2147483648", BRANCH},
        {"'ci', 'sb-1', 'x', NULL, NULL, 0.5", BRANCH},
        {"'ci', 'sb-1', 'x', NULL, NULL, 'two'", BRANCH},
        {"'ci', 'sb-1', 'x', NULL, NULL, NULL, NULL, -1", TS},
        {"'ci', 'sb-1', 'x', NULL, NULL, NULL, NULL, 1.5", TS},
        {"'ci', 'sb-1', 'x', NULL, NULL, NULL, NULL, 9223372036854775808", TS},
        {"'ci', 'sb-1', 'x', NULL, NULL, NULL, NULL, -1e300", TS},
        {"'ci', 'sb-1', 'x', NULL, NULL, NULL, NULL, 'now'", TS},
    };
    assert_all_refused(state, "alineo_append", refusals, COUNT_OF(refusals));
}

static void append_refuses_a_payload_that_is_not_json_and_says_where(void **state)
{
    static const refusal refusals[] = {
        {"'ci', 'sb-1', 'x', ''", "payload is not valid JSON at byte 0: unexpected end"},
        {"'ci', 'sb-1', 'x', '{'", "payload is not valid JSON at byte 1: unexpected end"},
        {"'ci', 'sb-1', 'x', '{a:1}'", "payload is not valid JSON at byte 1: expected a key"},
        {"'ci', 'sb-1', 'x', '[1 2]'", "payload is not valid JSON at byte 3: expected ',' or ']'"},
        {"'ci', 'sb-1', 'x', '[1]x'",
         "payload is not valid JSON at byte 3: unexpected text behind the value"},
        {"'ci', 'sb-1', 'x', '[01]'", "payload is not valid JSON at byte 1: invalid number"},
        {"'ci', 'sb-1', 'x', '[1e200000]'",
         "payload is not valid JSON at byte 1: number out of range"},
        {"'ci', 'sb-1', 'x', '[nil]'", "payload is not valid JSON at byte 1: unexpected character"},
        {"'ci', 'sb-1', 'x', '[\"\\x\"]'", "payload is not valid JSON at byte 2: invalid escape"},
        {"'ci', 'sb-1', 'x', '[\"' || char(10) || '\"]'",
         "payload is not valid JSON at byte 2: unescaped control character in a string"},
        {"'ci', 'sb-1', 'x', CAST(x'5b22ff225d' AS TEXT)",
         "payload is not valid JSON at byte 2: invalid UTF-8"},
        {"'ci', 'sb-1', 'x', '{}' || char(0)",
         "payload is not valid JSON at byte 2: unexpected text behind the value"},
        {"'ci', 'sb-1', 'x', printf('%.*c', 1001, '[') || printf('%.*c', 1001, ']')",
         "payload is not valid JSON at byte 1000: nested deeper than 1000 levels"},
        {"'ci', 'sb-1', 'x', x'7b7d'", "payload must be text"},
        /* The same where the seq is looked for. */
        {"'ci', 'sb-1', 'exec.started', '{\"seq\":1'",
         "payload is not valid JSON at byte 8: unexpected end"},
    };
    assert_all_refused(state, "alineo_append", refusals, COUNT_OF(refusals));
}

static void append_refuses_an_error_that_is_no_text(void **state)
{
    static const refusal refusals[] = {
        {"'ci', 'sb-1', 'x', NULL, NULL, NULL, x'78'", "error must be text"},
        {"'ci', 'sb-1', 'x', NULL, NULL, NULL, " NOT_UTF8, "error must be valid UTF-8"},
    };
    assert_all_refused(state, "alineo_append", refusals, COUNT_OF(refusals));
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
    sqlite3 *db = filled(state);

    assert_refused(db, "SELECT alineo_append('ci', 'sb-1', 'x', '{')",
                   "alineo_append: payload is not valid JSON at byte 1: unexpected end");
    assert_int_equal(append(db, "sb-1", "x", NULL, 3), 3);
}

static void a_refused_append_in_a_transaction_leaves_the_transaction_open(void **state)
{
    sqlite3 *db = filled(state);

    run(db, "BEGIN; SELECT alineo_append('ci', 'sb-1', 'a', NULL, NULL, NULL, NULL, 3)");
    assert_refused(db, "SELECT alineo_append('ci', 'sb-1', '')",
                   "alineo_append: event must not be empty");
    run(db, "SELECT alineo_append('ci', 'sb-1', 'b', NULL, NULL, NULL, NULL, 4); COMMIT");
    assert_rows(db, "SELECT event FROM alineo_events WHERE ts >= 3 ORDER BY id", "a\nb");
}

static void delete_sandbox_refuses_a_session_that_is_none(void **state)
{
    static const refusal refusals[] = {
        {"NULL, 'sb-1'", "name must not be NULL"},
        {"'', 'sb-1'", "name must not be empty"},
        {LONG_TEXT ", 'sb-1'", "name must be at most 1000 bytes"},
        {"char(0), 'sb-1'", "name must not contain NUL"},
        {"x'6369', 'sb-1'", "name must be text"},
        {"'ci', NULL", "sandbox_id must not be NULL"},
        {"'ci', ''", "sandbox_id must not be empty"},
        {"'ci', " NOT_UTF8, "sandbox_id must be valid UTF-8"},
        {"'ci', x'00'", "sandbox_id must be text"},
    };
    assert_all_refused(state, "alineo_delete_sandbox", refusals, COUNT_OF(refusals));
}

static void save_environment_refuses_what_is_missing(void **state)
{
    static const refusal refusals[] = {
        {"NULL, 's', 'i'", "name must not be NULL"},
        {"'', 's', 'i'", "name must not be empty"},
        {LONG_TEXT ", 's', 'i'", "name must be at most 1000 bytes"},
        {"'py', NULL, 'i'", "snapshot_id must not be NULL"},
        {"'py', '', 'i'", "snapshot_id must not be empty"},
        {"'py', 's', NULL", "image must not be NULL"},
        {"'py', 's', ''", "image must not be empty"},
        {"'py', 's', char(0)", "image must not contain NUL"},
        {"'py', x'00', 'i'", "snapshot_id must be text"},
        {"'py', 's', 'i', -1", "built_at must be an integer of at least 0"},
        {"'py', 's', 'i', 'now'", "built_at must be an integer of at least 0"},
    };
    assert_all_refused(state, "alineo_save_environment", refusals, COUNT_OF(refusals));
}

static void delete_environment_refuses_a_name_that_is_none(void **state)
{
    static const refusal refusals[] = {
        {"NULL", "name must not be NULL"},
        {"''", "name must not be empty"},
        {"char(0)", "name must not contain NUL"},
        {"x'7079'", "name must be text"},
    };
    assert_all_refused(state, "alineo_delete_environment", refusals, COUNT_OF(refusals));
}

static void the_reading_functions_refuse_what_they_cannot_look_for(void **state)
{
    sqlite3 *db = filled(state);

    assert_refused(db, "SELECT alineo_resume(NULL)", "alineo_resume: sandbox_id must not be NULL");
    assert_refused(db, "SELECT alineo_resume('')", "alineo_resume: sandbox_id must not be empty");
    assert_refused(db, "SELECT alineo_resume(x'00')", "alineo_resume: sandbox_id must be text");
    assert_refused(db, "SELECT alineo_output('ci', 'sb-1', 1, 'stdlog')",
                   "alineo_output: stream must be 'stdout', 'stderr' or 'stdin'");
    assert_refused(db, "SELECT alineo_output('ci', 'sb-1', 'one')",
                   "alineo_output: seq must be an integer");
    assert_refused(db, "SELECT alineo_output('ci', 'sb-1', 1.5)",
                   "alineo_output: seq must be an integer");
    assert_refused(db, "SELECT * FROM alineo_replay(x'00', 'sb-1')",
                   "alineo_replay: name must be text");
}

static void names_of_a_thousand_bytes_are_taken(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_append(printf('%.1000c', 'n'), printf('%.1000c', 's'),"
            " printf('%.1000c', 'e'))");
    assert_rows(db, "SELECT length(name), length(sandbox_id), length(event) FROM alineo_events",
                "1000|1000|1000");
}

static void a_payload_a_thousand_levels_deep_is_taken(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_append('ci', 'sb-1', 'x',"
            " printf('%.*c', 1000, '[') || printf('%.*c', 1000, ']'))");
    assert_rows(db, "SELECT length(payload) FROM alineo_events", "2000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(append_refuses_names_that_are_none),
        MEMORY_TEST(append_refuses_integers_out_of_range),
        MEMORY_TEST(append_refuses_a_payload_that_is_not_json_and_says_where),
        MEMORY_TEST(append_refuses_an_error_that_is_no_text),
        FILE_TEST(a_refused_append_does_not_create_the_ledger),
        MEMORY_TEST(a_refused_append_uses_up_no_id),
        MEMORY_TEST(a_refused_append_in_a_transaction_leaves_the_transaction_open),
        MEMORY_TEST(delete_sandbox_refuses_a_session_that_is_none),
        MEMORY_TEST(save_environment_refuses_what_is_missing),
        MEMORY_TEST(delete_environment_refuses_a_name_that_is_none),
        MEMORY_TEST(the_reading_functions_refuse_what_they_cannot_look_for),
        MEMORY_TEST(names_of_a_thousand_bytes_are_taken),
        MEMORY_TEST(a_payload_a_thousand_levels_deep_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
