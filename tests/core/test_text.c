/*
 * test_text.c - text in its forms: joined halves, what a column shows, bytes.
 */
#include "support.h"
#include "json_scan.h"
#include "json_write.h"
#include "storage_escape.h"
#include "text.h"

#include <string.h>

#define MARK  "\xEF\xB7\x90"     /* U+FDD0 */
#define HIGH  "\xED\xA0\xBD"     /* U+D83D */
#define LOW   "\xED\xB8\x80"     /* U+DE00 */
#define SMILE "\xF0\x9F\x98\x80" /* both, U+1F600 */

typedef struct chunk {
    alineo_span text;
    alineo_form form;
} chunk;

/* Appends chunks up to the first without text; returns the text they make. */
static void assert_joined(const chunk *chunks, alineo_span expected)
{
    alineo_buffer out;
    test_heap heap;

    heap_init(&heap);
    alineo_buffer_init(&out, &heap.memory);
    for (; chunks->text.at != NULL; chunks++) {
        alineo_span copy = exact_copy(chunks->text);
        alineo_text_append(&out, copy, chunks->form);
        exact_free(copy);
    }
    assert_text(alineo_buffer_span(&out), expected);
    alineo_buffer_free(&out);
    heap_check(&heap);
}

static void halves_from_two_chunks_are_joined_whatever_their_form(void **state)
{
    static const alineo_span high[] = {
        [ALINEO_PLAIN] = SPAN("a" HIGH),
        [ALINEO_ESCAPED] = SPAN("a\\ud83d"),
        [ALINEO_STORED] = SPAN("a" MARK "d83d"),
    };
    static const alineo_span low[] = {
        [ALINEO_PLAIN] = SPAN(LOW "b"),
        [ALINEO_ESCAPED] = SPAN("\\ude00b"),
        [ALINEO_STORED] = SPAN(MARK "de00b"),
    };

    (void)state;
    for (int first = 0; first < 3; first++) {
        for (int second = 0; second < 3; second++) {
            const chunk joined[] = {{high[first], (alineo_form)first},
                                    {low[second], (alineo_form)second},
                                    {{NULL, 0}, ALINEO_PLAIN}};
            assert_joined(joined, S("a" SMILE "b"));
            /* In the other order they do not meet. */
            const chunk apart[] = {{low[first], (alineo_form)first},
                                   {high[second], (alineo_form)second},
                                   {{NULL, 0}, ALINEO_PLAIN}};
            assert_joined(apart, S(LOW "ba" HIGH));
        }
    }
}

static void halves_are_joined_only_where_they_meet(void **state)
{
    static const struct {
        chunk chunks[4];
        alineo_span expected;
    } cases[] = {
        {{{SPAN("\\ud83d"), ALINEO_ESCAPED},
          {SPAN(""), ALINEO_ESCAPED},
          {SPAN("\\ude00"), ALINEO_ESCAPED}},
         SPAN(SMILE)},
        {{{SPAN("\\ud83d"), ALINEO_ESCAPED},
          {SPAN("\\n"), ALINEO_ESCAPED},
          {SPAN("\\ude00"), ALINEO_ESCAPED}},
         SPAN(HIGH "\n" LOW)},
        {{{SPAN("\\ud83d\\ud83d"), ALINEO_ESCAPED}, {SPAN("\\ude00\\ude00"), ALINEO_ESCAPED}},
         SPAN(HIGH SMILE LOW)},
        {{{SPAN("\\ud83d\\ud83d"), ALINEO_ESCAPED}}, SPAN(HIGH HIGH)},
        {{{SPAN("\\ude00\\ud83d"), ALINEO_ESCAPED}}, SPAN(LOW HIGH)},
        {{{SPAN("\\ud83d\\ude00"), ALINEO_ESCAPED}, {SPAN("\\ude00"), ALINEO_ESCAPED}},
         SPAN(SMILE LOW)},
        {{{SPAN("\\udbff"), ALINEO_ESCAPED}, {SPAN("\\udfff"), ALINEO_ESCAPED}},
         SPAN("\xF4\x8F\xBF\xBF")},
        {{{SPAN("\\ud800"), ALINEO_ESCAPED}, {SPAN("\\udc00"), ALINEO_ESCAPED}},
         SPAN("\xF0\x90\x80\x80")},
        {{{SPAN("\\ud7ff"), ALINEO_ESCAPED}, {SPAN("\\udc00"), ALINEO_ESCAPED}},
         SPAN("\xED\x9F\xBF\xED\xB0\x80")},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_joined(cases[i].chunks, cases[i].expected);
}

static void escapes_of_json_are_decoded(void **state)
{
    static const struct {
        chunk chunks[2];
        alineo_span expected;
    } cases[] = {
        {{{SPAN("\\\"\\\\\\/\\b\\f\\n\\r\\t"), ALINEO_ESCAPED}}, SPAN("\"\\/\b\f\n\r\t")},
        {{{SPAN("\\u0041\\u00e9\\u20AC"), ALINEO_ESCAPED}}, SPAN("A\xC3\xA9\xE2\x82\xAC")},
        {{{SPAN("\\u0000"), ALINEO_ESCAPED}}, SPAN("\0")},
        {{{SPAN("\\u007f\\u0080\\u07ff\\u0800\\uffff"), ALINEO_ESCAPED}},
         SPAN("\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF")},
        {{{SPAN("\\\\u0041"), ALINEO_ESCAPED}}, SPAN("\\u0041")},
        {{{SPAN("\\u0041"), ALINEO_PLAIN}}, SPAN("\\u0041")},
        {{{SPAN("\\n" MARK "0000"), ALINEO_STORED}}, SPAN("\\n\0")},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_joined(cases[i].chunks, cases[i].expected);
}

/* How a text column shows a text, and its bytes. */
static const struct {
    alineo_span text, display, bytes;
} shown[] = {
    {SPAN(""), SPAN(""), SPAN("")},
    {SPAN("plain\n"), SPAN("plain\n"), SPAN("plain\n")},
    {SPAN("\0"), SPAN("\xE2\x90\x80"), SPAN("\0")},
    {SPAN("a\0b\0"),
     SPAN("a\xE2\x90\x80"
          "b\xE2\x90\x80"),
     SPAN("a\0b\0")},
    {SPAN(HIGH), SPAN("\xEF\xBF\xBD"), SPAN("\xEF\xBF\xBD")},
    {SPAN("a" LOW "b" HIGH),
     SPAN("a\xEF\xBF\xBD"
          "b\xEF\xBF\xBD"),
     SPAN("a\xEF\xBF\xBD"
          "b\xEF\xBF\xBD")},
    {SPAN(LOW "\0" HIGH), SPAN("\xEF\xBF\xBD\xE2\x90\x80\xEF\xBF\xBD"),
     SPAN("\xEF\xBF\xBD\0\xEF\xBF\xBD")},
    {SPAN(SMILE MARK "0000"), SPAN(SMILE MARK "0000"), SPAN(SMILE MARK "0000")},
    {SPAN("\xED\x9F\xBF\xEE\x80\x80"), SPAN("\xED\x9F\xBF\xEE\x80\x80"),
     SPAN("\xED\x9F\xBF\xEE\x80\x80")},
};

static void assert_written(void (*write)(alineo_buffer *, alineo_span), alineo_span text,
                           alineo_span expected)
{
    alineo_span copy = exact_copy(text);
    alineo_buffer out, counting;
    test_heap heap;

    heap_init(&heap);
    alineo_buffer_init(&out, &heap.memory);
    alineo_buffer_init(&counting, NULL);
    write(&out, copy);
    write(&counting, copy);
    assert_text(alineo_buffer_span(&out), expected);
    assert_int_equal(counting.len, expected.len);
    alineo_buffer_free(&out);
    heap_check(&heap);
    exact_free(copy);
}

static void a_column_shows_nul_as_2400_and_a_lone_half_as_fffd(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(shown); i++)
        assert_written(alineo_text_display, shown[i].text, shown[i].display);
}

static void bytes_keep_nul_and_show_a_lone_half_as_fffd(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(shown); i++)
        assert_written(alineo_text_bytes, shown[i].text, shown[i].bytes);
}

static void nul_and_lone_halves_are_found(void **state)
{
    static const struct {
        alineo_span text;
        bool nul, surrogate;
    } cases[] = {
        {SPAN(""), false, false},
        {SPAN("abc"), false, false},
        {SPAN("abc\0"), true, false},
        {SPAN("\0" HIGH), true, true},
        {SPAN("x" LOW), false, true},
        {SPAN("\xED\x9F\xBF" HIGH), false, true},
        {SPAN("\xED\x80\x80\xED\x9F\xBF"), false, false},
        {SPAN(SMILE), false, false},
        {SPAN("\xED"), false, false},
        {SPAN("\xED\xA0"), false, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        alineo_span copy = exact_copy(cases[i].text);
        assert_int_equal(alineo_text_has_nul(copy), cases[i].nul);
        assert_int_equal(alineo_text_has_surrogate(copy), cases[i].surrogate);
        exact_free(copy);
    }
}

static void bytes_that_only_begin_like_a_half_are_none(void **state)
{
    static const alineo_span texts[] = {SPAN("\xED\xA0"
                                             "A"),
                                        SPAN("\xED\xA0\xC3"), SPAN("\xED\xC3\xA9")};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        assert_false(alineo_text_has_surrogate(texts[i]));
        assert_int_equal(alineo_surrogate_at(texts[i].at, texts[i].at + texts[i].len), 0);
    }
}

static void the_surrogate_at_a_place_is_read(void **state)
{
    static const struct {
        alineo_span text;
        uint32_t surrogate;
    } cases[] = {
        {SPAN("\xED\xA0\x80"), 0xD800},
        {SPAN("\xED\xAF\xBF"), 0xDBFF},
        {SPAN("\xED\xB0\x80"), 0xDC00},
        {SPAN("\xED\xBF\xBF"), 0xDFFF},
        {SPAN("\xED\x9F\xBF"), 0},
        {SPAN("\xEE\x80\x80"), 0},
        {SPAN("abc"), 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(alineo_surrogate_at(cases[i].text.at, cases[i].text.at + 3),
                         cases[i].surrogate);
}

static void a_surrogate_is_not_valid_utf8_and_nul_is(void **state)
{
    (void)state;
    assert_true(alineo_utf8_valid(S("")));
    assert_true(alineo_utf8_valid(S("a\0" SMILE MARK)));
    assert_false(alineo_utf8_valid(S("a" HIGH)));
    assert_false(alineo_utf8_valid(S("a" LOW "b")));
    assert_false(alineo_utf8_valid(S("\xF0\x9F\x98")));
}

static void utf8_is_judged_alike_at_every_place(void **state)
{
    (void)state;
    for (size_t before = 0; before <= 20; before++) {
        for (size_t behind = 0; behind <= 10; behind++) {
            char text[40];
            memset(text, 'x', sizeof text);
            memcpy(text + before, "\xC3\xA9", 2);
            alineo_span whole = exact_copy((alineo_span){text, before + 2 + behind});
            alineo_span cut = exact_copy((alineo_span){text, before + 1});
            text[before + 1] = 'x';
            alineo_span wrong = exact_copy((alineo_span){text, before + 2 + behind});
            assert_true(alineo_utf8_valid(whole));
            assert_false(alineo_utf8_valid(cut));
            assert_false(alineo_utf8_valid(wrong));
            exact_free(whole);
            exact_free(cut);
            exact_free(wrong);
        }
    }
}

/* A column that is NULL comes without a place; no sum is made with it. */
static void an_empty_text_may_be_nowhere(void **state)
{
    const alineo_span nowhere = {NULL, 0};
    alineo_buffer out;
    alineo_scan scan;
    test_heap heap;

    (void)state;
    heap_init(&heap);
    alineo_buffer_init(&out, &heap.memory);
    assert_true(alineo_utf8_valid(nowhere));
    assert_false(alineo_text_has_nul(nowhere));
    assert_false(alineo_text_has_surrogate(nowhere));
    assert_false(alineo_storage_needed(nowhere));
    alineo_text_append(&out, nowhere, ALINEO_PLAIN);
    alineo_text_display(&out, nowhere);
    alineo_text_bytes(&out, nowhere);
    alineo_storage_encode(&out, nowhere);
    alineo_storage_decode(&out, nowhere);
    assert_int_equal(out.len, 0);
    alineo_json_string(&out, nowhere);
    assert_text(alineo_buffer_span(&out), S("\"\""));
    alineo_scan_init(&scan, nowhere);
    assert_false(alineo_scan_document(&scan));
    assert_int_equal(scan.offset, 0);
    alineo_buffer_free(&out);
    heap_check(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_from_two_chunks_are_joined_whatever_their_form),
        cmocka_unit_test(halves_are_joined_only_where_they_meet),
        cmocka_unit_test(escapes_of_json_are_decoded),
        cmocka_unit_test(a_column_shows_nul_as_2400_and_a_lone_half_as_fffd),
        cmocka_unit_test(bytes_keep_nul_and_show_a_lone_half_as_fffd),
        cmocka_unit_test(nul_and_lone_halves_are_found),
        cmocka_unit_test(bytes_that_only_begin_like_a_half_are_none),
        cmocka_unit_test(the_surrogate_at_a_place_is_read),
        cmocka_unit_test(a_surrogate_is_not_valid_utf8_and_nul_is),
        cmocka_unit_test(utf8_is_judged_alike_at_every_place),
        cmocka_unit_test(an_empty_text_may_be_nowhere),
    };

    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
