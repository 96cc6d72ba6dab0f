/*
 * test_storage.c - the storage escape.
 */
#include "support.h"
#include "json_scan.h"
#include "storage_escape.h"

#include <string.h>

#define MARK "\xEF\xB7\x90" /* U+FDD0 */

static const struct {
    alineo_span text, stored;
} forms[] = {
    {SPAN(""), SPAN("")},
    {SPAN("plain \xF0\x9F\x98\x80\n"), SPAN("plain \xF0\x9F\x98\x80\n")},
    {SPAN("\0"), SPAN(MARK "0000")},
    {SPAN("a\0b\0"), SPAN("a" MARK "0000b" MARK "0000")},
    {SPAN("\xED\xA0\xBD"), SPAN(MARK "d83d")},
    {SPAN("\xED\xB8\x80x"), SPAN(MARK "de00x")},
    {SPAN("\xED\xA0\x80\xED\xA0\x80"), SPAN(MARK "d800" MARK "d800")},
    {SPAN("\xED\xBF\xBF"), SPAN(MARK "dfff")},
    {SPAN(MARK), SPAN(MARK "fdd0")},
    {SPAN(MARK "0000"), SPAN(MARK "fdd00000")},
    {SPAN(MARK MARK "fdd0"), SPAN(MARK "fdd0" MARK "fdd0fdd0")},
    /* Its neighbours, and what only begins like it. */
    {SPAN("\xEF\xB7\x8F\xEF\xB7\x91"), SPAN("\xEF\xB7\x8F\xEF\xB7\x91")},
    {SPAN("\xED\x9F\xBF\xEE\x80\x80"), SPAN("\xED\x9F\xBF\xEE\x80\x80")},
    {SPAN("\xEF\xBF\xBD"), SPAN("\xEF\xBF\xBD")},
};

static void what_jsonb_cannot_hold_is_stored_as_fdd0_and_four_digits(void **state)
{
    test_heap heap;

    (void)state;
    heap_init(&heap);
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        alineo_buffer out;
        alineo_span text = exact_copy(forms[i].text);
        alineo_buffer_init(&out, &heap.memory);
        alineo_storage_encode(&out, text);
        assert_text(alineo_buffer_span(&out), forms[i].stored);
        alineo_buffer_free(&out);
        exact_free(text);
    }
    heap_check(&heap);
}

static void reading_turns_the_escape_back(void **state)
{
    test_heap heap;

    (void)state;
    heap_init(&heap);
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        alineo_buffer out;
        alineo_span stored = exact_copy(forms[i].stored);
        alineo_buffer_init(&out, &heap.memory);
        alineo_storage_decode(&out, stored);
        assert_text(alineo_buffer_span(&out), forms[i].text);
        alineo_buffer_free(&out);
        exact_free(stored);
    }
    heap_check(&heap);
}

static void a_text_needs_the_escape_just_where_it_changes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(forms); i++)
        assert_int_equal(alineo_storage_needed(forms[i].text),
                         !alineo_span_equal(forms[i].text, forms[i].stored));
}

static void reading_leaves_any_other_fdd0_alone(void **state)
{
    static const alineo_span stored[] = {
        SPAN(MARK),        SPAN(MARK "000"),   SPAN(MARK "0001"),      SPAN(MARK "d7ff"),
        SPAN(MARK "e000"), SPAN(MARK "D83D"),  SPAN(MARK "FDD0"),      SPAN(MARK "fdd1"),
        SPAN(MARK "d83"),  SPAN(MARK "xyz0"),  SPAN(MARK "\xEF\xB7"),  SPAN("\xEF"),
        SPAN(MARK "d83g"), SPAN(MARK "00 00"), SPAN(MARK MARK "0001"), SPAN("a" MARK "b"),
    };
    test_heap heap;

    (void)state;
    heap_init(&heap);
    for (size_t i = 0; i < COUNT_OF(stored); i++) {
        alineo_buffer out;
        alineo_span copy = exact_copy(stored[i]);
        alineo_buffer_init(&out, &heap.memory);
        alineo_storage_decode(&out, copy);
        assert_text(alineo_buffer_span(&out), stored[i]);
        alineo_buffer_free(&out);
        exact_free(copy);
    }
    heap_check(&heap);
}

static void a_mark_behind_a_mark_is_still_read(void **state)
{
    test_heap heap;
    alineo_buffer out;

    (void)state;
    heap_init(&heap);
    alineo_buffer_init(&out, &heap.memory);
    alineo_storage_decode(&out, S(MARK MARK "0000" MARK "zz"));
    assert_text(alineo_buffer_span(&out), S(MARK "\0" MARK "zz"));
    alineo_buffer_free(&out);
    heap_check(&heap);
}

/* A text in WTF-8 full of what the escape is about, halves that meet joined. */
static void put_random_text(alineo_buffer *out, uint64_t *seed)
{
    static const uint32_t units[] = {0,      'a',    '0',    'd',    '8',     '3',
                                     'f',    0xE9,   0x20AC, 0xD7FF, 0xD800,  0xD83D,
                                     0xDBFF, 0xDC00, 0xDFFF, 0xE000, 0xFDD0,  0xFDD0,
                                     0xFDCF, 0xFDD1, 0xFFFD, 0xFFFF, 0x10000, 0x10FFFF};

    for (unsigned left = random_below(seed, 24); left > 0; left--)
        alineo_text_unit(out, units[random_below(seed, COUNT_OF(units))]);
}

static void every_text_comes_back_as_it_was(void **state)
{
    uint64_t seed = 4711;
    test_heap heap;

    (void)state;
    heap_init(&heap);
    for (int round = 0; round < 20000; round++) {
        alineo_buffer text, stored, back;
        alineo_buffer_init(&text, &heap.memory);
        alineo_buffer_init(&stored, &heap.memory);
        alineo_buffer_init(&back, &heap.memory);
        put_random_text(&text, &seed);
        alineo_storage_encode(&stored, alineo_buffer_span(&text));
        assert_true(alineo_utf8_valid(alineo_buffer_span(&stored)));
        assert_false(alineo_text_has_nul(alineo_buffer_span(&stored)));
        alineo_storage_decode(&back, alineo_buffer_span(&stored));
        assert_text(alineo_buffer_span(&back), alineo_buffer_span(&text));
        alineo_buffer_free(&text);
        alineo_buffer_free(&stored);
        alineo_buffer_free(&back);
    }
    heap_check(&heap);
}

static void assert_encoded(alineo_span json, alineo_span expected)
{
    alineo_span copy = exact_copy(json);
    alineo_buffer out;
    test_heap heap;

    heap_init(&heap);
    alineo_buffer_init(&out, &heap.memory);
    alineo_storage_encode_json(&out, copy);
    assert_text(alineo_buffer_span(&out), expected);
    alineo_buffer_free(&out);
    heap_check(&heap);
    exact_free(copy);
}

static void strings_and_keys_of_a_json_text_are_put_in_stored_form(void **state)
{
    static const struct {
        alineo_span json, stored;
    } cases[] = {
        {SPAN("\"\\u0000\""), SPAN("\"" MARK "0000\"")},
        {SPAN("\"\\uD83D\""), SPAN("\"" MARK "d83d\"")},
        {SPAN("\"\\ufdd0\""), SPAN("\"" MARK "fdd0\"")},
        {SPAN("\"" MARK "\""), SPAN("\"" MARK "fdd0\"")},
        {SPAN("{\"a\\u0000\":\"\\ude00b\"}"), SPAN("{\"a" MARK "0000\":\"" MARK "de00b\"}")},
        /* A string that changes is written anew, what needs its escape with it. */
        {SPAN("\"\\\"\\n\\u0001\\\\\\u0000\""), SPAN("\"\\\"\\n\\u0001\\\\" MARK "0000\"")},
        /* All that stands between stays, and a string that needs nothing. */
        {SPAN(" { \"x\" : 1e2 ,\n\"y\":[ \"\\u0041\\/\" , \"\\u0000\" ] } "),
         SPAN(" { \"x\" : 1e2 ,\n\"y\":[ \"\\u0041\\/\" , \"" MARK "0000\" ] } ")},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_encoded(cases[i].json, cases[i].stored);
}

static void a_json_text_that_needs_nothing_stays_to_the_byte(void **state)
{
    static const char *const pieces[] = {"\\n",     "\\u0041", "\\/",      "\\\"",
                                         "\\\\",    "a",       "\xC3\xA9", "\x7F",
                                         "\\u001f", "\\uFFFD", " ",        "\\ud83d\\ude00"};
    uint64_t seed = 99;
    test_heap heap;

    (void)state;
    heap_init(&heap);
    assert_encoded(S(" [1.50, -0 , {\"b\":null,\"a\":true,\"b\":false}]\n"),
                   S(" [1.50, -0 , {\"b\":null,\"a\":true,\"b\":false}]\n"));
    for (int round = 0; round < 2000; round++) {
        alineo_buffer json;
        alineo_buffer_init(&json, &heap.memory);
        alineo_buffer_text(&json, "{ \"");
        for (unsigned left = random_below(&seed, 10); left > 0; left--)
            alineo_buffer_text(&json, pieces[random_below(&seed, COUNT_OF(pieces))]);
        alineo_buffer_text(&json, "\" :[\"");
        for (unsigned left = random_below(&seed, 10); left > 0; left--)
            alineo_buffer_text(&json, pieces[random_below(&seed, COUNT_OF(pieces))]);
        alineo_buffer_text(&json, "\",1e2 ]}");
        assert_encoded(alineo_buffer_span(&json), alineo_buffer_span(&json));
        alineo_buffer_free(&json);
    }
    heap_check(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_jsonb_cannot_hold_is_stored_as_fdd0_and_four_digits),
        cmocka_unit_test(reading_turns_the_escape_back),
        cmocka_unit_test(a_text_needs_the_escape_just_where_it_changes),
        cmocka_unit_test(reading_leaves_any_other_fdd0_alone),
        cmocka_unit_test(a_mark_behind_a_mark_is_still_read),
        cmocka_unit_test(every_text_comes_back_as_it_was),
        cmocka_unit_test(strings_and_keys_of_a_json_text_are_put_in_stored_form),
        cmocka_unit_test(a_json_text_that_needs_nothing_stays_to_the_byte),
    };

    return cmocka_run_group_tests_name("storage", tests, NULL, NULL);
}
