/*
 * test_json_scan.c - what the scanner accepts, what it refuses, where and why.
 */
#include "support.h"
#include "json_scan.h"

#include <string.h>

typedef struct verdict {
    const char *reason; /* NULL: accepted */
    size_t offset;
    bool special;
} verdict;

static verdict judge(alineo_span text)
{
    alineo_span copy = exact_copy(text);
    alineo_scan scan;

    alineo_scan_init(&scan, copy);
    bool accepted = alineo_scan_document(&scan);
    assert_true(accepted == (scan.reason == NULL));
    exact_free(copy);
    return (verdict){scan.reason, scan.offset, scan.special};
}

typedef struct refused {
    alineo_span text;
    const char *reason;
    size_t offset;
} refused;

static void assert_refused(const refused *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        verdict v = judge(cases[i].text);
        if (v.reason == NULL || strcmp(v.reason, cases[i].reason) != 0 ||
            v.offset != cases[i].offset)
            fail_msg("%.*s: %s at %zu, not %s at %zu", (int)cases[i].text.len, cases[i].text.at,
                     v.reason == NULL ? "accepted" : v.reason, v.offset, cases[i].reason,
                     cases[i].offset);
    }
}

static void a_text_that_ends_early_is_refused_at_its_end(void **state)
{
    static const refused cases[] = {
        {SPAN(""), "unexpected end", 0},           {SPAN(" \n"), "unexpected end", 2},
        {SPAN("["), "unexpected end", 1},          {SPAN("[1"), "unexpected end", 2},
        {SPAN("[1, "), "unexpected end", 4},       {SPAN("{"), "unexpected end", 1},
        {SPAN("{\"a\""), "unexpected end", 4},     {SPAN("{\"a\" "), "unexpected end", 5},
        {SPAN("{\"a\":"), "unexpected end", 5},    {SPAN("{\"a\":1"), "unexpected end", 6},
        {SPAN("{\"a\":1,"), "unexpected end", 7},  {SPAN("\""), "unterminated string", 1},
        {SPAN("\"abc"), "unterminated string", 4}, {SPAN("\"abcdefgh"), "unterminated string", 9},
        {SPAN("\"a\\"), "unterminated string", 3}, {SPAN("\"a\\\""), "unterminated string", 4},
    };

    (void)state;
    assert_refused(cases, COUNT_OF(cases));
}

static void a_structure_fault_is_refused_where_it_stands(void **state)
{
    static const refused cases[] = {
        {SPAN("{1:2}"), "expected a key", 1},
        {SPAN("{\"a\":1,}"), "expected a key", 7},
        {SPAN("{,}"), "expected a key", 1},
        {SPAN("{\"a\" 1}"), "expected ':'", 5},
        {SPAN("{\"a\"}"), "expected ':'", 4},
        {SPAN("{\"a\":}"), "unexpected character", 5},
        {SPAN("{\"a\":1 \"b\":2}"), "expected ',' or '}'", 7},
        {SPAN("{\"a\":1]"), "expected ',' or '}'", 6},
        {SPAN("[1 2]"), "expected ',' or ']'", 3},
        {SPAN("[1}"), "expected ',' or ']'", 2},
        {SPAN("[1,]"), "unexpected character", 3},
        {SPAN("[,1]"), "unexpected character", 1},
        {SPAN("]"), "unexpected character", 0},
        {SPAN("1 2"), "unexpected text behind the value", 2},
        {SPAN("{}}"), "unexpected text behind the value", 2},
        {SPAN("[] ,"), "unexpected text behind the value", 3},
        {SPAN("null\0"), "unexpected text behind the value", 4},
    };

    (void)state;
    assert_refused(cases, COUNT_OF(cases));
}

static void a_word_or_number_that_is_none_is_refused_at_its_start(void **state)
{
    static const refused cases[] = {
        {SPAN("tru"), "unexpected character", 0},
        {SPAN("[falsy]"), "unexpected character", 1},
        {SPAN("nul"), "unexpected character", 0},
        {SPAN("True"), "unexpected character", 0},
        {SPAN("NaN"), "unexpected character", 0},
        {SPAN("nullx"), "unexpected text behind the value", 4},
        {SPAN("'a'"), "unexpected character", 0},
        {SPAN("/**/1"), "unexpected character", 0},
        {SPAN("\v1"), "unexpected character", 0},
        {SPAN("\0"), "unexpected character", 0},
        {SPAN("\xEF\xBB\xBF{}"), "unexpected character", 0},
        {SPAN("+1"), "unexpected character", 0},
        {SPAN(".5"), "unexpected character", 0},
        {SPAN("-"), "invalid number", 0},
        {SPAN(" -a"), "invalid number", 1},
        {SPAN("01"), "invalid number", 0},
        {SPAN("-01"), "invalid number", 0},
        {SPAN("00"), "invalid number", 0},
        {SPAN("[1, 1.]"), "invalid number", 4},
        {SPAN("1.e1"), "invalid number", 0},
        {SPAN("1e"), "invalid number", 0},
        {SPAN("1E+"), "invalid number", 0},
        {SPAN("1e-x"), "invalid number", 0},
        {SPAN("-.5"), "invalid number", 0},
        {SPAN("0x1"), "unexpected text behind the value", 1},
        {SPAN("1e1.5"), "unexpected text behind the value", 3},
        {SPAN("[0, 1e131072]"), "number out of range", 4},
    };

    (void)state;
    assert_refused(cases, COUNT_OF(cases));
}

static void a_fault_inside_a_string_is_refused_at_its_byte(void **state)
{
    static const refused cases[] = {
        {SPAN("\"\\x\""), "invalid escape", 1},
        {SPAN("\"ab\\'\""), "invalid escape", 3},
        {SPAN("\"\\\0\""), "invalid escape", 1},
        {SPAN("\"\\U0041\""), "invalid escape", 1},
        {SPAN("\"\\u12\""), "invalid \\u escape", 1},
        {SPAN("\"a\\u12g4\""), "invalid \\u escape", 2},
        {SPAN("\"\\u"), "invalid \\u escape", 1},
        {SPAN("\"\\u-123\""), "invalid \\u escape", 1},
        {SPAN("\"\\ud83d\\u12\""), "invalid \\u escape", 7},
        {SPAN("\"a\nb\""), "unescaped control character in a string", 2},
        {SPAN("\"\0\""), "unescaped control character in a string", 1},
        {SPAN("\"\x1F\""), "unescaped control character in a string", 1},
        {SPAN("{\"a\tb\":1}"), "unescaped control character in a string", 3},
        {SPAN("\"a\xFF\""), "invalid UTF-8", 2},
        {SPAN("{\"\x80\":1}"), "invalid UTF-8", 2},
    };

    (void)state;
    assert_refused(cases, COUNT_OF(cases));
}

static void utf8_that_is_not_well_formed_is_refused(void **state)
{
    static const alineo_span wrong[] = {
        SPAN("\x80"),             /* a continuation alone */
        SPAN("\xBF"),             /* likewise */
        SPAN("\xC0\x80"),         /* overlong U+0000 */
        SPAN("\xC1\xBF"),         /* overlong U+007F */
        SPAN("\xC2"),             /* cut */
        SPAN("\xC2\xC0"),         /* no continuation */
        SPAN("\xE0\x9F\xBF"),     /* overlong U+07FF */
        SPAN("\xE1\x80"),         /* cut */
        SPAN("\xED\xA0\x80"),     /* U+D800 */
        SPAN("\xED\xBF\xBF"),     /* U+DFFF */
        SPAN("\xF0\x8F\xBF\xBF"), /* overlong U+FFFF */
        SPAN("\xF1\x80\x80"),     /* cut */
        SPAN("\xF4\x90\x80\x80"), /* U+110000 */
        SPAN("\xF5\x80\x80\x80"), /* no lead byte */
        SPAN("\xFE"),             /* likewise */
        SPAN("\xFF"),             /* likewise */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        char text[8] = "\"";
        memcpy(text + 1, wrong[i].at, wrong[i].len);
        text[wrong[i].len + 1] = '"';
        verdict v = judge((alineo_span){text, wrong[i].len + 2});
        assert_non_null(v.reason);
        assert_string_equal(v.reason, "invalid UTF-8");
        assert_int_equal(v.offset, 1);
        /* Cut off by the end of the text, with no byte behind it to look at. */
        v = judge((alineo_span){text, wrong[i].len + 1});
        assert_non_null(v.reason);
        assert_string_equal(v.reason, "invalid UTF-8");
    }
}

static void utf8_at_the_edges_of_each_length_is_accepted(void **state)
{
    static const alineo_span right[] = {
        SPAN("\"\x7F\""),         SPAN("\"\xC2\x80\""),         SPAN("\"\xDF\xBF\""),
        SPAN("\"\xE0\xA0\x80\""), SPAN("\"\xED\x9F\xBF\""),     SPAN("\"\xEE\x80\x80\""),
        SPAN("\"\xEF\xBF\xBF\""), SPAN("\"\xF0\x90\x80\x80\""), SPAN("\"\xF4\x8F\xBF\xBF\""),
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(right); i++)
        assert_null(judge(right[i]).reason);
}

/* The scanner looks at eight bytes at once: every byte at every place in them,
 * in a string that starts at every offset from the text's start. */
static void each_byte_is_judged_alike_at_every_place_of_a_string(void **state)
{
    enum { LENGTH = 20 };
    char text[LENGTH + 2];

    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        for (size_t place = 1; place <= LENGTH; place++) {
            memset(text, 'a', sizeof text);
            text[0] = text[LENGTH + 1] = '"';
            text[place] = (char)byte;
            const char *reason = NULL;
            size_t offset = place;
            if (byte < 0x20)
                reason = "unescaped control character in a string";
            else if (byte >= 0x80)
                reason = "invalid UTF-8";
            else if (byte == '\\')
                reason = place == LENGTH ? "unterminated string" : "invalid escape";
            else if (byte == '"')
                reason = "unexpected text behind the value";
            if (byte == '"')
                offset = place + 1;
            if (byte == '\\' && place == LENGTH)
                offset = LENGTH + 2; /* it escapes the closing quote */
            verdict v = judge((alineo_span){text, sizeof text});
            if (reason == NULL) {
                assert_null(v.reason);
                continue;
            }
            assert_non_null(v.reason);
            assert_string_equal(v.reason, reason);
            assert_int_equal(v.offset, offset);
        }
    }
}

static void a_closing_quote_is_found_at_every_place(void **state)
{
    (void)state;
    for (size_t length = 0; length <= 40; length++) {
        alineo_span text = repeated("\"", 'x', length, "\"");
        alineo_scan scan;
        alineo_scan_init(&scan, text);
        assert_int_equal(alineo_scan_token(&scan), ALINEO_STRING);
        assert_ptr_equal(scan.text.at, text.at + 1);
        assert_int_equal(scan.text.len, length);
        assert_int_equal(alineo_scan_token(&scan), ALINEO_END);
        exact_free(text);
    }
}

static void an_escape_and_a_long_character_are_read_at_every_place(void **state)
{
    static const char *const pieces[] = {"\\n", "\\u0041", "\\\\", "\\\"", "\xF0\x9F\x98\x80"};

    (void)state;
    for (size_t before = 0; before <= 16; before++) {
        for (size_t p = 0; p < COUNT_OF(pieces); p++) {
            char text[64];
            memset(text, 'x', sizeof text);
            text[0] = '"';
            size_t len = strlen(pieces[p]);
            memcpy(text + 1 + before, pieces[p], len);
            text[1 + before + len + 9] = '"';
            alineo_span copy = exact_copy((alineo_span){text, before + len + 11});
            alineo_scan scan;
            alineo_scan_init(&scan, copy);
            assert_int_equal(alineo_scan_token(&scan), ALINEO_STRING);
            assert_int_equal(scan.text.len, before + len + 9);
            exact_free(copy);
        }
    }
}

static void a_thousand_levels_are_accepted_and_one_more_is_refused(void **state)
{
    static const char *const opening[] = {"[", "{\"a\":"};
    static const char *const closing[] = {"]", "}"};
    static char text[8000];

    (void)state;
    for (size_t kind = 0; kind < 2; kind++) {
        for (size_t levels = 1000; levels <= 1001; levels++) {
            size_t len = 0;
            for (size_t i = 0; i < levels; i++, len += strlen(opening[kind]))
                memcpy(text + len, opening[kind], strlen(opening[kind]));
            size_t innermost = len - strlen(opening[kind]);
            text[len++] = '1';
            for (size_t i = 0; i < levels; i++)
                text[len++] = closing[kind][0];
            verdict v = judge((alineo_span){text, len});
            if (levels == 1000) {
                assert_null(v.reason);
                continue;
            }
            assert_non_null(v.reason);
            assert_string_equal(v.reason, "nested deeper than 1000 levels");
            assert_int_equal(v.offset, innermost);
        }
    }
}

static void depth_counts_open_levels_only(void **state)
{
    static char text[6002];
    size_t len = 0;

    (void)state;
    text[len++] = '[';
    for (int i = 0; i < 2000; i++) {
        memcpy(text + len, "[],", 3);
        len += 3;
    }
    text[len - 1] = ']';
    assert_null(judge((alineo_span){text, len}).reason);
}

static void every_escape_and_any_surrogate_is_accepted(void **state)
{
    static const struct {
        alineo_span text;
        bool special;
    } cases[] = {
        {SPAN("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), false},
        {SPAN("\"\\u0041\\u00e9\\uABCD\\uabcd\""), false},
        {SPAN("\"\\ud83d\\ude00\""), false},
        {SPAN("\"\\uD83D\\uDE00\""), false},
        {SPAN("\"\\ud7ff\\ue000\\ufdd1\\ufdcf\""), false},
        {SPAN("\"\\u0000\""), true},
        {SPAN("\"\\ud83d\""), true},
        {SPAN("\"\\udfff\""), true},
        {SPAN("\"\\ud83d\\ud83d\\ude00\""), true},
        {SPAN("\"\\ude00\\ud83d\""), true},
        {SPAN("\"\\ud83dx\\ude00\""), true},
        {SPAN("\"\\ud83d\\n\""), true},
        {SPAN("\"\\ufdd0\""), true},
        {SPAN("\"\\uFDD0\""), true},
        {SPAN("\"\xEF\xB7\x90\""), true},
        {SPAN("\"\xEF\xB7\x91\xEF\xB7\x8F\""), false},
        {SPAN("{\"\\u0000\":1}"), true},
        {SPAN("[\"\\u0000\",\"plain\"]"), true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        verdict v = judge(cases[i].text);
        assert_null(v.reason);
        if (v.special != cases[i].special)
            fail_msg("%s: special is %d", cases[i].text.at, v.special);
    }
}

static void tokens_come_in_reading_order(void **state)
{
    static const struct {
        alineo_token token;
        const char *text;
        unsigned depth;
    } expected[] = {
        {ALINEO_OBJECT, "{", 1},     {ALINEO_KEY, "a\\n", 1},     {ALINEO_ARRAY, "[", 2},
        {ALINEO_NUMBER, "-1.5", 2},  {ALINEO_STRING, "", 2},      {ALINEO_TRUE, "true", 2},
        {ALINEO_OBJECT, "{", 3},     {ALINEO_OBJECT_END, "}", 2}, {ALINEO_FALSE, "false", 2},
        {ALINEO_ARRAY_END, "]", 1},  {ALINEO_KEY, "", 1},         {ALINEO_NULL, "null", 1},
        {ALINEO_OBJECT_END, "}", 0},
    };
    alineo_span text = json_copy("\t{ 'a\\n' :\r\n[-1.5,'',true , {} ,false], '':null } ");
    alineo_scan scan;

    (void)state;
    alineo_scan_init(&scan, text);
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_int_equal(alineo_scan_token(&scan), expected[i].token);
        assert_text(scan.text, span_of(expected[i].text));
        assert_int_equal(scan.depth, expected[i].depth);
    }
    assert_int_equal(alineo_scan_token(&scan), ALINEO_END);
    assert_int_equal(alineo_scan_token(&scan), ALINEO_END);
    exact_free(text);
}

static void the_first_fault_stays(void **state)
{
    alineo_scan scan;

    (void)state;
    alineo_scan_init(&scan, S("[1 2 x]"));
    while (alineo_scan_token(&scan) != ALINEO_FAULT)
        continue;
    assert_int_equal(alineo_scan_token(&scan), ALINEO_FAULT);
    assert_string_equal(scan.reason, "expected ',' or ']'");
    assert_int_equal(scan.offset, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_that_ends_early_is_refused_at_its_end),
        cmocka_unit_test(a_structure_fault_is_refused_where_it_stands),
        cmocka_unit_test(a_word_or_number_that_is_none_is_refused_at_its_start),
        cmocka_unit_test(a_fault_inside_a_string_is_refused_at_its_byte),
        cmocka_unit_test(utf8_that_is_not_well_formed_is_refused),
        cmocka_unit_test(utf8_at_the_edges_of_each_length_is_accepted),
        cmocka_unit_test(each_byte_is_judged_alike_at_every_place_of_a_string),
        cmocka_unit_test(a_closing_quote_is_found_at_every_place),
        cmocka_unit_test(an_escape_and_a_long_character_are_read_at_every_place),
        cmocka_unit_test(a_thousand_levels_are_accepted_and_one_more_is_refused),
        cmocka_unit_test(depth_counts_open_levels_only),
        cmocka_unit_test(every_escape_and_any_surrogate_is_accepted),
        cmocka_unit_test(tokens_come_in_reading_order),
        cmocka_unit_test(the_first_fault_stays),
    };

    return cmocka_run_group_tests_name("json_scan", tests, NULL, NULL);
}
