/*
 * test_json_number.c - which numbers fit PostgreSQL's numeric, how it prints
 * them, and which are integers.
 */
#include "support.h"
#include "json_number.h"
#include "json_scan.h"

#include <string.h>

static bool fits(const char *number)
{
    alineo_span copy = exact_copy(span_of(number));
    bool result = alineo_number_fits(copy);

    exact_free(copy);
    return result;
}

static bool accepted(alineo_span number)
{
    alineo_scan scan;

    alineo_scan_init(&scan, number);
    return alineo_scan_document(&scan);
}

static void exponents_fit_up_to_what_numeric_holds(void **state)
{
    static const struct {
        const char *number;
        bool fits;
    } cases[] = {
        {"0", true},
        {"-0", true},
        {"1e400", true},
        {"1e200000", false},
        {"1e131071", true}, /* 131,072 digits before the point */
        {"1e131072", false},
        {"-9.99e131071", true},
        {"-9.99e131072", false},
        {"0.1e131072", true}, /* the leading zero is no digit */
        {"0.1e131073", false},
        {"0.001e131074", true},
        {"0.001e131075", false},
        {"10e131070", true},
        {"10e131071", false},
        {"1e-16383", true}, /* 16,383 digits behind the point */
        {"1e-16384", false},
        {"10e-16383", true},
        {"10e-16384", false}, /* a zero at the end is kept */
        {"0.1e-16382", true},
        {"0.1e-16383", false},
        {"0e-16383", true},
        {"0e-16384", false},
        {"-0.0e-16382", true},
        {"-0.0e-16383", false},
        {"0e131073", true},     /* zero has no digits before the point */
        {"0e1073741822", true}, /* just below INT_MAX / 2 */
        {"0e1073741823", false},
        {"0e-1073741823", false},
        {"0e99999999999999999999999999", false},
        {"1e-99999999999999999999999999", false},
        {"1e+00000000000000000000000000002", true},
        {"1E-00000000000000000000000000002", true},
        {"123456789012345678901234567890", true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        if (fits(cases[i].number) != cases[i].fits)
            fail_msg("%s: fits is not %d", cases[i].number, cases[i].fits);
        if (accepted(span_of(cases[i].number)) != cases[i].fits)
            fail_msg("%s: accepted is not %d", cases[i].number, cases[i].fits);
    }
}

static void digits_fit_up_to_what_numeric_holds(void **state)
{
    static const struct {
        const char *before;
        size_t digits;
        const char *after;
        bool fits;
    } cases[] = {
        {"", 131072, "", true},     {"", 131073, "", false},   {"-", 131072, ".5", true},
        {"-", 131073, ".5", false}, {"", 131073, "e-1", true}, {"", 131074, "e-1", false},
        {"0.", 16383, "", true},    {"0.", 16384, "", false},  {"0.", 16383, "e-1", false},
        {"0.", 16384, "e1", true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        alineo_span number = repeated(cases[i].before, '7', cases[i].digits, cases[i].after);
        if (alineo_number_fits(number) != cases[i].fits || accepted(number) != cases[i].fits)
            fail_msg("%s, %zu digits, %s", cases[i].before, cases[i].digits, cases[i].after);
        exact_free(number);
    }
}

static void zeros_behind_the_point_count_as_digits(void **state)
{
    alineo_span most = repeated("1.", '0', 16383, "");
    alineo_span more = repeated("1.", '0', 16384, "");

    (void)state;
    assert_true(accepted(most));
    assert_false(accepted(more));
    exact_free(most);
    exact_free(more);
}

static void numbers_print_as_numeric_prints_them(void **state)
{
    static const char *const cases[][2] = {
        {"0", "0"},
        {"-0", "0"},
        {"-0.0", "0.0"},
        {"-0.00e1", "0.0"},
        {"0e5", "0"},
        {"0.000", "0.000"},
        {"0e-3", "0.000"},
        {"1", "1"},
        {"-1", "-1"},
        {"1e2", "100"},
        {"1E+2", "100"},
        {"-12e3", "-12000"},
        {"1.50", "1.50"},
        {"1.0", "1.0"},
        {"1.50e1", "15.0"},
        {"1.50e2", "150"},
        {"1.50e3", "1500"},
        {"0.5e-1", "0.05"},
        {"0.5e1", "5"},
        {"0.50e1", "5.0"},
        {"0.05e1", "0.5"},
        {"0.001e1", "0.01"},
        {"0.001e2", "0.1"},
        {"0.001e3", "1"},
        {"0.001e5", "100"},
        {"5e-1", "0.5"},
        {"5e-3", "0.005"},
        {"12e-1", "1.2"},
        {"12e-4", "0.0012"},
        {"-12.30e-1", "-1.230"},
        {"100e-2", "1.00"},
        {"10e-1", "1.0"},
        {"1e0", "1"},
        {"9007199254740993", "9007199254740993"},
        {"9223372036854775808", "9223372036854775808"},
        {"-9223372036854775809", "-9223372036854775809"},
        {"123456789012345678901234567890.123456789", "123456789012345678901234567890.123456789"},
        {"1e40", "10000000000000000000000000000000000000000"},
        {"1e-40", "0.0000000000000000000000000000000000000001"},
    };
    test_heap heap;

    (void)state;
    heap_init(&heap);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        alineo_span number = exact_copy(span_of(cases[i][0]));
        alineo_buffer out, counting;
        alineo_buffer_init(&out, &heap.memory);
        alineo_buffer_init(&counting, NULL);
        alineo_number_canonical(&out, number);
        alineo_number_canonical(&counting, number);
        assert_text(alineo_buffer_span(&out), span_of(cases[i][1]));
        assert_int_equal(counting.len, strlen(cases[i][1]));
        alineo_buffer_free(&out);
        exact_free(number);
    }
    heap_check(&heap);
}

static void the_largest_numbers_print_to_the_last_digit(void **state)
{
    static const struct {
        const char *number, *before;
        size_t zeros;
        const char *after;
    } cases[] = {
        {"1e131071", "1", 131071, ""},
        {"-1.5e131071", "-15", 131070, ""},
        {"1e-16383", "0.", 16382, "1"},
        {"0e-16383", "0.", 16383, ""},
    };
    test_heap heap;

    (void)state;
    heap_init(&heap);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        alineo_span expected = repeated(cases[i].before, '0', cases[i].zeros, cases[i].after);
        alineo_buffer out;
        alineo_buffer_init(&out, &heap.memory);
        alineo_number_canonical(&out, span_of(cases[i].number));
        assert_text(alineo_buffer_span(&out), expected);
        assert_true(accepted(alineo_buffer_span(&out)));
        alineo_buffer_free(&out);
        exact_free(expected);
    }
    heap_check(&heap);
}

static void a_number_with_an_integer_value_is_an_integer(void **state)
{
    static const struct {
        const char *number;
        int64_t value;
    } cases[] = {
        {"0", 0},
        {"-0", 0},
        {"0.000", 0},
        {"0e99", 0},
        {"0e-99", 0},
        {"1", 1},
        {"1.0", 1},
        {"1e0", 1},
        {"10e-1", 1},
        {"0.001e3", 1},
        {"1000.000e-3", 1},
        {"-1.50e1", -15},
        {"1e18", INT64_C(1000000000000000000)},
        {"9007199254740993", INT64_C(9007199254740993)},
        {"999999999999999999", INT64_C(999999999999999999)},
        {"1000000000000000001", INT64_C(1000000000000000001)},
        {"-999999999999999999", INT64_C(-999999999999999999)},
        {"9223372036854775807", INT64_MAX},
        {"9223372036854775807.0", INT64_MAX},
        {"92233720368547758070e-1", INT64_MAX},
        {"9.223372036854775807e18", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"-0.9223372036854775808e19", INT64_MIN},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        alineo_span number = exact_copy(span_of(cases[i].number));
        int64_t value = 77;
        if (!alineo_number_integer(number, &value) || value != cases[i].value)
            fail_msg("%s is %lld", cases[i].number, (long long)value);
        exact_free(number);
    }
}

static void a_number_without_a_64_bit_integer_value_is_none(void **state)
{
    static const char *const cases[] = {
        "0.5",
        "1.5",
        "1e-1",
        "15e-1",
        "1.00001",
        "0.1e0",
        "-0.0001",
        "9223372036854775808",
        "9223372036854775807.5",
        "-9223372036854775809",
        "9223372036854775810",
        "10000000000000000000",
        "99999999999999999999",
        "18446744073709551616",
        "18446744073709551617",
        "1e19",
        "1e100",
        "1e-100",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int64_t value;
        if (alineo_number_integer(span_of(cases[i]), &value))
            fail_msg("%s is %lld", cases[i], (long long)value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponents_fit_up_to_what_numeric_holds),
        cmocka_unit_test(digits_fit_up_to_what_numeric_holds),
        cmocka_unit_test(zeros_behind_the_point_count_as_digits),
        cmocka_unit_test(numbers_print_as_numeric_prints_them),
        cmocka_unit_test(the_largest_numbers_print_to_the_last_digit),
        cmocka_unit_test(a_number_with_an_integer_value_is_an_integer),
        cmocka_unit_test(a_number_without_a_64_bit_integer_value_is_none),
    };

    return cmocka_run_group_tests_name("json_number", tests, NULL, NULL);
}
