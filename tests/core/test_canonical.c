/*
 * test_canonical.c - the one text of a JSON value.
 */
#include "support.h"
#include "canonical.h"
#include "json_write.h"

#include <stdio.h>
#include <string.h>

#define MARK "\xEF\xB7\x90" /* U+FDD0 */

static void canonical_of(alineo_buffer *out, test_heap *heap, alineo_span json)
{
    alineo_span copy = exact_copy(json);

    alineo_buffer_init(out, &heap->memory);
    alineo_canonical(out, copy);
    assert_false(out->failed);
    exact_free(copy);
}

/* Pairs of a text and its canonical form, with ' for ". */
static void assert_canonical(const char *const (*pairs)[2], size_t count)
{
    test_heap heap;

    heap_init(&heap);
    for (size_t i = 0; i < count; i++) {
        alineo_span json = json_copy(pairs[i][0]);
        alineo_buffer out;
        canonical_of(&out, &heap, json);
        assert_json(alineo_buffer_span(&out), pairs[i][1]);
        alineo_buffer_free(&out);
        exact_free(json);
    }
    heap_check(&heap);
}

static void members_stand_by_length_of_key_then_by_bytes(void **state)
{
    static const char *const pairs[][2] = {
        {"{'b':1,'a':2}", "{'a':2,'b':1}"},
        {"{'aa':1,'b':2}", "{'b':2,'aa':1}"},
        {"{'a':1,'':2}", "{'':2,'a':1}"},
        {"{'B':1,'a':2,'A':3}", "{'A':3,'B':1,'a':2}"},
        {"{'\xC3\xA9':1,'zz':2,'z':3}", "{'z':3,'zz':2,'\xC3\xA9':1}"},
        {"{'zzz':1,'\xC3\xA9':2}", "{'\xC3\xA9':2,'zzz':1}"},
        {"{'\\u00e9':1,'zzz':2,'zz':3}", "{'zz':3,'\xC3\xA9':1,'zzz':2}"},
        {"[{'b':{'d':1,'c':2},'a':[{'y':0,'x':1}]}]", "[{'a':[{'x':1,'y':0}],'b':{'c':2,'d':1}}]"},
        {"[3,1,2]", "[3,1,2]"},
    };

    (void)state;
    assert_canonical(pairs, COUNT_OF(pairs));
}

static void the_last_of_equal_keys_stays(void **state)
{
    static const char *const pairs[][2] = {
        {"{'a':1,'a':2}", "{'a':2}"},
        {"{'a':1,'b':2,'a':3}", "{'a':3,'b':2}"},
        {"{'a':1,'a':2,'a':3,'a':4}", "{'a':4}"},
        {"{'a':1,'\\u0061':2,'b':0}", "{'a':2,'b':0}"},
        {"{'\\u0061':1,'b':0,'a':2}", "{'a':2,'b':0}"},
        {"{'\\/':1,'/':2}", "{'/':2}"},
        {"{'\xF0\x9F\x98\x80':1,'\\ud83d\\ude00':2}", "{'\xF0\x9F\x98\x80':2}"},
        {"{'\\ud83d':1,'\\uD83D':2}", "{'\\ud83d':2}"},
        {"{'a':{'x':1},'a':{'y':2}}", "{'a':{'y':2}}"},
        {"{'':1,'':[]}", "{'':[]}"},
        {"{'a':1,'a':null}", "{'a':null}"},
    };

    (void)state;
    assert_canonical(pairs, COUNT_OF(pairs));
}

/* U+0000 and halves are stored as U+FDD0 and four digits, seven bytes. */
static void keys_stand_by_their_stored_form(void **state)
{
    static const char *const pairs[][2] = {
        {"{'\\u0000':1,'abcdefg':2,'abcdef':3,'abcdefgh':4}",
         "{'abcdef':3,'abcdefg':2,'\\u0000':1,'abcdefgh':4}"},
        {"{'\\ud83e':1,'\\ud83d':2,'a':3}", "{'a':3,'\\ud83d':2,'\\ud83e':1}"},
        {"{'\\ufdd0':1,'\\ud800':2,'\\u0000':3}", "{'\\u0000':3,'\\ud800':2,'" MARK "':1}"},
        {"{'" MARK "0000':1,'\\u0000':2}", "{'\\u0000':2,'" MARK "0000':1}"},
        {"{'\\ufdd0':1,'abcd':2,'abcdefgh':3}", "{'abcd':2,'" MARK "':1,'abcdefgh':3}"},
        {"{'\\u0000\\u0000':1,'aaaaaaaaaaaaa':2,'aaaaaaaaaaaaaaa':3}",
         "{'aaaaaaaaaaaaa':2,'\\u0000\\u0000':1,'aaaaaaaaaaaaaaa':3}"},
    };

    (void)state;
    assert_canonical(pairs, COUNT_OF(pairs));
}

static void white_space_goes(void **state)
{
    static const char *const pairs[][2] = {
        {" \t\r\n1\n", "1"},
        {"[ 1 , 2\t,\r\n3 ]", "[1,2,3]"},
        {" { 'a' : [ ] , 'b' : { } } ", "{'a':[],'b':{}}"},
        {"[ ]", "[]"},
        {"{\n}", "{}"},
        {"[ 'a  b' ]", "['a  b']"},
    };

    (void)state;
    assert_canonical(pairs, COUNT_OF(pairs));
}

static void values_of_every_kind_have_one_spelling(void **state)
{
    static const char *const pairs[][2] = {
        {"null", "null"},
        {"true", "true"},
        {"false", "false"},
        {"[1e2,1.50,-0,1.50e1,0.5e-1]", "[100,1.50,0,15.0,0.05]"},
        {"9007199254740993", "9007199254740993"},
        {"''", "''"},
        {"'\\u0041\\/'", "'A/'"},
        {"'\\u0008\\u000c\\u000a\\u000d\\u0009'", "'\\b\\f\\n\\r\\t'"},
        {"'\\b\\f\\n\\r\\t\\\\'", "'\\b\\f\\n\\r\\t\\\\'"},
        {"'\\u0022\\u005C'", "'\\\"\\\\'"},
        {"'\\u0000\\u0001\\u001F\\u000B'", "'\\u0000\\u0001\\u001f\\u000b'"},
        {"'\\u007F\\u0080'", "'\x7F\xC2\x80'"},
        {"'\\u20AC\\u2028'", "'\xE2\x82\xAC\xE2\x80\xA8'"},
        {"'\\uD83D\\uDE00'", "'\xF0\x9F\x98\x80'"},
        {"'\\uDBFF\\uDFFF\\uD800\\uDC00'", "'\xF4\x8F\xBF\xBF\xF0\x90\x80\x80'"},
        {"'\\uD83Dx'", "'\\ud83dx'"},
        {"'\\uDE00\\uD83D'", "'\\ude00\\ud83d'"},
        {"'\\uD83D\\uD83D\\uDE00'", "'\\ud83d\xF0\x9F\x98\x80'"},
        {"'\\uFDD0\\uFDD00000'", "'" MARK MARK "0000'"},
    };

    (void)state;
    assert_canonical(pairs, COUNT_OF(pairs));
}

static void nesting_goes_a_thousand_levels_deep(void **state)
{
    static char text[8000];
    test_heap heap;

    (void)state;
    heap_init(&heap);
    for (int object = 0; object < 2; object++) {
        size_t len = 0;
        for (int i = 0; i < 1000; i++, len += object ? 5 : 1)
            memcpy(text + len, object ? "{\"a\":" : "[", object ? 5 : 1);
        text[len++] = '0';
        for (int i = 0; i < 1000; i++)
            text[len++] = object ? '}' : ']';
        alineo_buffer out;
        canonical_of(&out, &heap, (alineo_span){text, len});
        assert_text(alineo_buffer_span(&out), ((alineo_span){text, len}));
        alineo_buffer_free(&out);
    }
    heap_check(&heap);
}

static void many_members_are_sorted(void **state)
{
    enum { MEMBERS = 1000 };
    static char given[MEMBERS * 20], sorted[MEMBERS * 20];
    size_t len = 0, end = 0;
    test_heap heap;
    alineo_buffer out;

    (void)state;
    heap_init(&heap);
    given[len++] = sorted[end++] = '{';
    for (int i = 0; i < MEMBERS; i++) {
        int shuffled = i * 617 % MEMBERS; /* 617 and 1000 share no divisor */
        len +=
            (size_t)snprintf(given + len, 20, "%s\"%d\":%d", i > 0 ? ", " : "", shuffled, shuffled);
        end += (size_t)snprintf(sorted + end, 20, "%s\"%d\":%d", i > 0 ? "," : "", i, i);
    }
    given[len++] = sorted[end++] = '}';
    canonical_of(&out, &heap, (alineo_span){given, len});
    assert_text(alineo_buffer_span(&out), ((alineo_span){sorted, end}));
    alineo_buffer_free(&out);
    heap_check(&heap);
}

static void put_random_space(alineo_buffer *out, uint64_t *seed)
{
    static const char *const spaces[] = {"", "", "", " ", "\n", "\t\r"};

    alineo_buffer_text(out, spaces[random_below(seed, COUNT_OF(spaces))]);
}

static void put_random_string(alineo_buffer *out, uint64_t *seed)
{
    static const char *const pieces[] = {
        "a",    "b",        "\\u0061", "\\n",      "\\\"", "\\\\",    "\\/",     "\\u0000",
        "\x7F", "\xC3\xA9", "\\ud83d", "\\ude00",  MARK,   "\\uFDD0", "\\uD83D", "0000",
        "d83d", "fdd0",     "\\u001f", "abcdefgh", " ",    "'",       "\\ufffd", "\xF0\x9F\x98\x80",
    };

    alineo_buffer_byte(out, '"');
    for (unsigned left = random_below(seed, 5); left > 0; left--)
        alineo_buffer_text(out, pieces[random_below(seed, COUNT_OF(pieces))]);
    alineo_buffer_byte(out, '"');
}

static void put_random_value(alineo_buffer *out, uint64_t *seed, int depth)
{
    static const char *const scalars[] = {
        "null", "true",   "false", "0",     "-0.0",
        "1e2",  "1.50e1", "12e-4", "-0e-3", "12345678901234567890"};
    unsigned kind = random_below(seed, depth > 0 ? 4 : 2);
    unsigned count = kind < 2 ? 0 : random_below(seed, 6);

    if (kind == 0)
        alineo_buffer_text(out, scalars[random_below(seed, COUNT_OF(scalars))]);
    if (kind == 1)
        put_random_string(out, seed);
    if (kind < 2)
        return;
    alineo_buffer_byte(out, kind == 2 ? '[' : '{');
    put_random_space(out, seed);
    for (unsigned i = 0; i < count; i++) {
        if (i > 0)
            alineo_buffer_byte(out, ',');
        put_random_space(out, seed);
        if (kind == 3) {
            put_random_string(out, seed);
            put_random_space(out, seed);
            alineo_buffer_byte(out, ':');
        }
        put_random_value(out, seed, depth - 1);
        put_random_space(out, seed);
    }
    alineo_buffer_byte(out, kind == 2 ? ']' : '}');
}

static void the_canonical_form_of_a_canonical_form_is_itself(void **state)
{
    uint64_t seed = 20240229;
    test_heap heap;

    (void)state;
    heap_init(&heap);
    for (int round = 0; round < 3000; round++) {
        alineo_buffer json, once, twice;
        alineo_scan scan;
        alineo_buffer_init(&json, &heap.memory);
        put_random_value(&json, &seed, 4);
        alineo_scan_init(&scan, alineo_buffer_span(&json));
        assert_true(alineo_scan_document(&scan));
        canonical_of(&once, &heap, alineo_buffer_span(&json));
        alineo_scan_init(&scan, alineo_buffer_span(&once));
        assert_true(alineo_scan_document(&scan));
        canonical_of(&twice, &heap, alineo_buffer_span(&once));
        assert_text(alineo_buffer_span(&twice), alineo_buffer_span(&once));
        alineo_buffer_free(&json);
        alineo_buffer_free(&once);
        alineo_buffer_free(&twice);
    }
    heap_check(&heap);
}

/* The writer looks at eight bytes at once. */
static void a_character_is_escaped_at_every_place_of_a_string(void **state)
{
    static const struct {
        alineo_span text;
        const char *written;
    } pieces[] = {
        {SPAN("\""), "\\\""},
        {SPAN("\\"), "\\\\"},
        {SPAN("\0"), "\\u0000"},
        {SPAN("\x1F"), "\\u001f"},
        {SPAN("\x7F"), "\x7F"},
        {SPAN("\xED\xA0\x80"), "\\ud800"},
        {SPAN("\xED\xBF\xBF"), "\\udfff"},
        {SPAN("\xED\x9F\xBF"), "\xED\x9F\xBF"},
        {SPAN("\xC3\xA9"), "\xC3\xA9"},
    };
    test_heap heap;

    (void)state;
    heap_init(&heap);
    for (size_t before = 0; before <= 16; before++) {
        for (size_t behind = 0; behind <= 9; behind++) {
            for (size_t p = 0; p < COUNT_OF(pieces); p++) {
                alineo_buffer text, expected, out, counting;
                alineo_buffer_init(&text, &heap.memory);
                alineo_buffer_init(&expected, &heap.memory);
                alineo_buffer_init(&out, &heap.memory);
                alineo_buffer_init(&counting, NULL);
                alineo_buffer_put(&text, "xxxxxxxxxxxxxxxx", before);
                alineo_buffer_put(&text, pieces[p].text.at, pieces[p].text.len);
                alineo_buffer_put(&text, "yyyyyyyyy", behind);
                alineo_buffer_byte(&expected, '"');
                alineo_buffer_put(&expected, "xxxxxxxxxxxxxxxx", before);
                alineo_buffer_text(&expected, pieces[p].written);
                alineo_buffer_put(&expected, "yyyyyyyyy", behind);
                alineo_buffer_byte(&expected, '"');
                alineo_span exact = exact_copy(alineo_buffer_span(&text));
                alineo_json_string(&out, exact);
                alineo_json_string(&counting, exact);
                assert_text(alineo_buffer_span(&out), alineo_buffer_span(&expected));
                assert_int_equal(counting.len, expected.len);
                exact_free(exact);
                alineo_buffer_free(&text);
                alineo_buffer_free(&expected);
                alineo_buffer_free(&out);
            }
        }
    }
    heap_check(&heap);
}

static void integers_are_written_to_their_limits(void **state)
{
    test_heap heap;
    alineo_buffer out;

    (void)state;
    heap_init(&heap);
    alineo_buffer_init(&out, &heap.memory);
    alineo_json_integer(&out, INT64_MIN);
    alineo_buffer_byte(&out, ' ');
    alineo_json_integer(&out, 0);
    alineo_buffer_byte(&out, ' ');
    alineo_json_integer(&out, INT64_MAX);
    assert_text(alineo_buffer_span(&out), S("-9223372036854775808 0 9223372036854775807"));
    alineo_buffer_free(&out);
    heap_check(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_stand_by_length_of_key_then_by_bytes),
        cmocka_unit_test(the_last_of_equal_keys_stays),
        cmocka_unit_test(keys_stand_by_their_stored_form),
        cmocka_unit_test(white_space_goes),
        cmocka_unit_test(values_of_every_kind_have_one_spelling),
        cmocka_unit_test(nesting_goes_a_thousand_levels_deep),
        cmocka_unit_test(many_members_are_sorted),
        cmocka_unit_test(the_canonical_form_of_a_canonical_form_is_itself),
        cmocka_unit_test(a_character_is_escaped_at_every_place_of_a_string),
        cmocka_unit_test(integers_are_written_to_their_limits),
    };

    return cmocka_run_group_tests_name("canonical", tests, NULL, NULL);
}
