/*
 * test_json_value.c - values, members and words read by the scanner.
 */
#include "support.h"
#include "json_scan.h"

static void a_value_is_read_whole(void **state)
{
    alineo_span text = json_copy("[ {'a':[1,{}]} ,'x\\ty','plain', 7 ,[]]");
    alineo_scan scan;
    alineo_value value;

    (void)state;
    alineo_scan_init(&scan, text);
    assert_int_equal(alineo_scan_token(&scan), ALINEO_ARRAY);
    assert_true(alineo_scan_value(&scan, &value));
    assert_int_equal(value.kind, ALINEO_OBJECT);
    assert_json(value.text, "{'a':[1,{}]}");
    assert_true(alineo_scan_value(&scan, &value));
    assert_int_equal(value.kind, ALINEO_STRING);
    assert_int_equal(value.form, ALINEO_ESCAPED);
    assert_json(value.text, "x\\ty");
    assert_true(alineo_scan_value(&scan, &value));
    assert_int_equal(value.kind, ALINEO_STRING);
    assert_int_equal(value.form, ALINEO_PLAIN);
    assert_json(value.text, "plain");
    assert_true(alineo_scan_value(&scan, &value));
    assert_int_equal(value.kind, ALINEO_NUMBER);
    assert_json(value.text, "7");
    assert_true(alineo_scan_value(&scan, &value));
    assert_int_equal(value.kind, ALINEO_ARRAY);
    assert_json(value.text, "[]");
    assert_false(alineo_scan_value(&scan, &value));
    assert_null(scan.reason);
    assert_int_equal(alineo_scan_token(&scan), ALINEO_END);
    exact_free(text);
}

static void a_fault_within_a_value_is_no_value(void **state)
{
    alineo_scan scan;
    alineo_value value;

    (void)state;
    alineo_scan_init(&scan, S("[[1,[2}]]"));
    assert_int_equal(alineo_scan_token(&scan), ALINEO_ARRAY);
    assert_false(alineo_scan_value(&scan, &value));
    assert_string_equal(scan.reason, "expected ',' or ']'");
    assert_int_equal(scan.offset, 6);
}

static void another_value_may_follow_where_the_caller_lets_it(void **state)
{
    alineo_scan scan;

    (void)state;
    alineo_scan_init(&scan, S("1 [2]"));
    assert_int_equal(alineo_scan_token(&scan), ALINEO_NUMBER);
    alineo_scan_again(&scan);
    assert_int_equal(alineo_scan_token(&scan), ALINEO_ARRAY);
    assert_true(alineo_scan_rest(&scan));
    assert_int_equal(alineo_scan_token(&scan), ALINEO_END);
}

static void a_member_is_read_with_its_key(void **state)
{
    static const struct {
        const char *key;
        bool escaped;
        alineo_token kind;
        alineo_form form;
        const char *text;
    } expected[] = {
        {"a", false, ALINEO_NUMBER, ALINEO_ESCAPED, "1"},
        {"b\\n", true, ALINEO_STRING, ALINEO_PLAIN, "x"},
        {"", false, ALINEO_STRING, ALINEO_ESCAPED, "\\t"},
        {"c", false, ALINEO_OBJECT, ALINEO_ESCAPED, "{ 'd' : '\\n' }"},
        {"e", false, ALINEO_NULL, ALINEO_ESCAPED, "null"},
    };
    alineo_span text =
        json_copy("[ { 'a' : 1 ,'b\\n':'x' , '' :\n'\\t','c': { 'd' : '\\n' } ,'e':null } , {}]");
    alineo_scan scan;
    alineo_span key;
    alineo_value value;
    bool escaped;

    (void)state;
    alineo_scan_init(&scan, text);
    assert_int_equal(alineo_scan_token(&scan), ALINEO_ARRAY);
    assert_int_equal(alineo_scan_token(&scan), ALINEO_OBJECT);
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_true(alineo_scan_member(&scan, &key, &escaped, &value));
        assert_text(key, span_of(expected[i].key));
        assert_int_equal(escaped, expected[i].escaped);
        assert_int_equal(value.kind, expected[i].kind);
        assert_int_equal(value.form, expected[i].form);
        assert_json(value.text, expected[i].text);
    }
    assert_false(alineo_scan_member(&scan, &key, &escaped, &value));
    assert_null(scan.reason);
    assert_int_equal(alineo_scan_token(&scan), ALINEO_OBJECT);
    assert_false(alineo_scan_member(&scan, &key, &escaped, &value));
    assert_null(scan.reason);
    assert_int_equal(alineo_scan_token(&scan), ALINEO_ARRAY_END);
    assert_int_equal(alineo_scan_token(&scan), ALINEO_END);
    exact_free(text);
}

static void a_fault_within_a_member_is_no_member(void **state)
{
    static const struct {
        const char *text, *reason;
        size_t offset;
    } cases[] = {
        {"{", "unexpected end", 1},
        {"{1", "expected a key", 1},
        {"{'a'", "unexpected end", 4},
        {"{'a':", "unexpected end", 5},
        {"{'a': }", "unexpected character", 6},
        {"{'a':[1}", "expected ',' or ']'", 7},
        {"{'a':'\\x'}", "invalid escape", 6},
        {"{'a':1", "unexpected end", 6},
        {"{'a':1]", "expected ',' or '}'", 6},
        {"{'a':1,}", "expected a key", 7},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        alineo_span text = json_copy(cases[i].text);
        alineo_scan scan;
        alineo_span key;
        alineo_value value;
        bool escaped;
        alineo_scan_init(&scan, text);
        assert_int_equal(alineo_scan_token(&scan), ALINEO_OBJECT);
        while (alineo_scan_member(&scan, &key, &escaped, &value))
            continue;
        assert_non_null(scan.reason);
        assert_string_equal(scan.reason, cases[i].reason);
        assert_int_equal(scan.offset, cases[i].offset);
        exact_free(text);
    }
}

static void a_word_with_escapes_is_decoded_if_it_may_be_one_of_ours(void **state)
{
    static const struct {
        const char *text;
        alineo_span word; /* `at` NULL: it is in no list of ours */
    } cases[] = {
        {"s\\u0065q", SPAN("seq")}, {"\\u0073\\u0065\\u0071", SPAN("seq")},
        {"\\u0000", SPAN("\0")},    {"a\\nb", {NULL, 0}},
        {"a\\\\b", {NULL, 0}},      {"\\u00e9", {NULL, 0}},
        {"\\ud83d", {NULL, 0}},     {"\\u0061234567890123456789012345678901234567", {NULL, 0}},
    };
    char plain[ALINEO_WORD_BYTES];
    alineo_span word;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        alineo_span text = exact_copy(span_of(cases[i].text));
        bool found = alineo_scan_word(text, true, plain, &word);
        assert_int_equal(found, cases[i].word.at != NULL);
        if (found)
            assert_text(word, cases[i].word);
        exact_free(text);
    }
    assert_true(alineo_scan_word(S("seq"), false, plain, &word));
    assert_text(word, S("seq"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_is_read_whole),
        cmocka_unit_test(a_fault_within_a_value_is_no_value),
        cmocka_unit_test(another_value_may_follow_where_the_caller_lets_it),
        cmocka_unit_test(a_member_is_read_with_its_key),
        cmocka_unit_test(a_fault_within_a_member_is_no_member),
        cmocka_unit_test(a_word_with_escapes_is_decoded_if_it_may_be_one_of_ours),
    };

    return cmocka_run_group_tests_name("json_value", tests, NULL, NULL);
}
