/*
 * test_arguments.c - single arguments, and the texts of errors.
 */
#include "support.h"
#include "arguments.h"

#include <math.h>
#include <string.h>

static void a_double_is_an_integer_where_its_value_is_one(void **state)
{
    static const struct {
        double given;
        int64_t value;
    } exact[] = {
        {0.0, 0},
        {-0.0, 0},
        {1.0, 1},
        {-1.0, -1},
        {9007199254740992.0, INT64_C(9007199254740992)},
        {-0x1p63, INT64_MIN},
        {0x1.fffffffffffffp62, INT64_C(9223372036854774784)}, /* the last one below 2^63 */
    };
    static const double inexact[] = {0.5,
                                     -0.5,
                                     1.5,
                                     0x1p63,
                                     -0x1.0000000000001p63,
                                     1e300,
                                     (double)INFINITY,
                                     -(double)INFINITY,
                                     (double)NAN};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(exact); i++) {
        alineo_integer result = alineo_integer_of_double(exact[i].given);
        assert_true(result.given);
        assert_true(result.exact);
        assert_true(result.value == exact[i].value);
    }
    for (size_t i = 0; i < COUNT_OF(inexact); i++) {
        alineo_integer result = alineo_integer_of_double(inexact[i]);
        assert_true(result.given);
        assert_false(result.exact);
    }
}

static void an_integer_is_checked_against_its_bounds(void **state)
{
    static const struct {
        alineo_integer value;
        int64_t least, most;
        const char *text; /* NULL: accepted */
    } cases[] = {
        {{false, false, 0}, 1, 2, NULL}, /* not given */
        {{true, true, 1}, 1, 2, NULL},
        {{true, true, 2}, 1, 2, NULL},
        {{true, true, 0}, 1, 2, "f: n must be an integer from 1 to 2"},
        {{true, true, 3}, 1, 2, "f: n must be an integer from 1 to 2"},
        {{true, false, 1}, 1, 2, "f: n must be an integer from 1 to 2"},
        {{true, true, -1}, 0, INT64_MAX, "f: n must be an integer of at least 0"},
        {{true, true, INT64_MIN}, INT64_MIN, INT64_MAX, NULL},
        {{true, false, 0}, INT64_MIN, INT64_MAX, "f: n must be an integer"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        alineo_error error;
        alineo_error_init(&error, "f");
        alineo_code code =
            alineo_check_integer(&error, "n", cases[i].value, cases[i].least, cases[i].most);
        assert_int_equal(code, cases[i].text == NULL ? ALINEO_OK : ALINEO_BAD_ARGUMENT);
        assert_string_equal(error.text, cases[i].text == NULL ? "" : cases[i].text);
    }
}

static void a_text_without_a_limit_may_be_long(void **state)
{
    alineo_span text = repeated("", 'x', 5000, "");
    alineo_error error;

    (void)state;
    alineo_error_init(&error, "f");
    assert_int_equal(alineo_check_text(&error, "image", text, 0), ALINEO_OK);
    assert_int_equal(alineo_check_text(&error, "image", text, 4999), ALINEO_BAD_ARGUMENT);
    assert_string_equal(error.text, "f: image must be at most 4999 bytes");
    exact_free(text);
}

static void a_stream_is_one_of_three_and_stdout_where_null(void **state)
{
    static const alineo_span wrong[] = {SPAN(""), SPAN("STDOUT"), SPAN("stdout "), SPAN("stdou"),
                                        SPAN("exit")};
    alineo_error error;
    alineo_stream stream = ALINEO_STDIN;

    (void)state;
    alineo_error_init(&error, "f");
    assert_int_equal(alineo_check_stream(&error, (alineo_span){NULL, 0}, &stream), ALINEO_OK);
    assert_int_equal(stream, ALINEO_STDOUT);
    assert_int_equal(alineo_check_stream(&error, S("stderr"), &stream), ALINEO_OK);
    assert_int_equal(stream, ALINEO_STDERR);
    assert_int_equal(alineo_check_stream(&error, S("stdin"), &stream), ALINEO_OK);
    assert_int_equal(stream, ALINEO_STDIN);
    assert_int_equal(alineo_check_stream(&error, S("stdout"), &stream), ALINEO_OK);
    assert_int_equal(stream, ALINEO_STDOUT);
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        assert_int_equal(alineo_check_stream(&error, wrong[i], &stream), ALINEO_BAD_ARGUMENT);
        assert_string_equal(error.text, "f: stream must be 'stdout', 'stderr' or 'stdin'");
    }
}

static void a_status_is_running_or_completed_and_any_where_null(void **state)
{
    alineo_error error;
    alineo_status status = ALINEO_RUNNING;

    (void)state;
    alineo_error_init(&error, "f");
    assert_int_equal(alineo_check_status(&error, (alineo_span){NULL, 0}, &status), ALINEO_OK);
    assert_int_equal(status, ALINEO_ANY);
    assert_int_equal(alineo_check_status(&error, S("running"), &status), ALINEO_OK);
    assert_int_equal(status, ALINEO_RUNNING);
    assert_string_equal(alineo_status_text(status), "running");
    assert_int_equal(alineo_check_status(&error, S("completed"), &status), ALINEO_OK);
    assert_int_equal(status, ALINEO_COMPLETED);
    assert_string_equal(alineo_status_text(status), "completed");
    assert_int_equal(alineo_check_status(&error, S(""), &status), ALINEO_BAD_ARGUMENT);
    assert_string_equal(error.text, "f: status must be 'running' or 'completed'");
}

static void a_switch_is_zero_or_one(void **state)
{
    static const struct {
        alineo_integer value;
        int on;
        const char *text;
    } cases[] = {
        {{true, true, 1}, 1, ""},
        {{true, true, 0}, 0, ""},
        {{true, true, 2}, -1, "f: on must be true or false"},
        {{true, true, -1}, -1, "f: on must be true or false"},
        {{true, false, 1}, -1, "f: on must be true or false"},
        {{false, false, 0}, -1, "f: on must not be NULL"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        bool on = cases[i].on == 0;
        alineo_error error;
        alineo_error_init(&error, "f");
        assert_int_equal(alineo_check_switch(&error, "on", cases[i].value, &on),
                         cases[i].on < 0 ? ALINEO_BAD_ARGUMENT : ALINEO_OK);
        assert_string_equal(error.text, cases[i].text);
        if (cases[i].on >= 0)
            assert_int_equal(on, cases[i].on);
    }
}

static void an_error_names_its_function_and_entry(void **state)
{
    alineo_error error;

    (void)state;
    alineo_error_init(&error, "alineo_append");
    assert_int_equal(error.code, ALINEO_OK);
    assert_string_equal(error.text, "");
    assert_int_equal(alineo_fail(&error, ALINEO_NOT_FOUND, "no %s", "x"), ALINEO_NOT_FOUND);
    assert_int_equal(error.code, ALINEO_NOT_FOUND);
    assert_string_equal(error.text, "alineo_append: no x");
    error.entry = 0;
    assert_int_equal(alineo_fail_memory(&error), ALINEO_NO_MEMORY);
    assert_string_equal(error.text, "alineo_append: entry 0: out of memory");
}

static void an_error_that_is_too_long_is_cut_at_a_character(void **state)
{
    static const char *const characters[] = {"x", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
    static char text[4096];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(characters); i++) {
        size_t len = strlen(characters[i]);
        /* Every place of the cut within a character. */
        for (size_t shift = 0; shift < len; shift++) {
            alineo_error error;
            size_t used = shift;
            memset(text, '.', shift);
            while (used + len < sizeof text) {
                memcpy(text + used, characters[i], len);
                used += len;
            }
            text[used] = '\0';
            alineo_error_init(&error, "f");
            (void)alineo_fail(&error, ALINEO_ENGINE, "%s", text);
            size_t kept = strlen(error.text);
            assert_true(alineo_span_equal((alineo_span){error.text + 3, kept - 3},
                                          (alineo_span){text, kept - 3}));
            assert_int_equal((kept - 3 - shift) % len, 0);
            assert_true(kept > ALINEO_ERROR_SIZE - 1 - len);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_double_is_an_integer_where_its_value_is_one),
        cmocka_unit_test(an_integer_is_checked_against_its_bounds),
        cmocka_unit_test(a_text_without_a_limit_may_be_long),
        cmocka_unit_test(a_stream_is_one_of_three_and_stdout_where_null),
        cmocka_unit_test(a_status_is_running_or_completed_and_any_where_null),
        cmocka_unit_test(a_switch_is_zero_or_one),
        cmocka_unit_test(an_error_names_its_function_and_entry),
        cmocka_unit_test(an_error_that_is_too_long_is_cut_at_a_character),
    };

    return cmocka_run_group_tests_name("arguments", tests, NULL, NULL);
}
