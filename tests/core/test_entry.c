/*
 * test_entry.c - what an append refuses, in which words, and what it fills in.
 */
#include "support.h"
#include "entry.h"

#include <string.h>

#define GIVEN(v)                                                                                   \
    {                                                                                              \
        true, true, v                                                                              \
    }
#define INEXACT                                                                                    \
    {                                                                                              \
        true, false, 0                                                                             \
    }

static const alineo_entry good = {
    .name = SPAN("ci"),
    .sandbox_id = SPAN("sb-1"),
    .event = SPAN("exec.started"),
    .payload = SPAN("{\"seq\":3}"),
};

/* Checks an entry; its texts are copied, so that a result may not point beyond. */
static alineo_code check(alineo_entry *entry, const alineo_entry_names *names, alineo_error *error,
                         alineo_span *stored_error)
{
    alineo_entry_reader reader;
    test_heap heap;
    alineo_span payload = entry->payload;
    static char text[4096];

    heap_init(&heap);
    alineo_entry_reader_init(&reader, &heap.memory);
    alineo_error_init(error, "alineo_append");
    if (payload.at != NULL)
        entry->payload = exact_copy(payload);
    alineo_code code = alineo_entry_check(&reader, entry, names, false, error);
    if (payload.at != NULL)
        exact_free(entry->payload);
    entry->payload = payload;
    *stored_error = entry->error;
    if (code == ALINEO_OK && entry->error.at != NULL) {
        assert_true(entry->error.len < sizeof text);
        memcpy(text, entry->error.at, entry->error.len);
        *stored_error = (alineo_span){text, entry->error.len};
    }
    alineo_entry_reader_free(&reader);
    heap_check(&heap);
    return code;
}

static void assert_refused(alineo_entry entry, alineo_code code, const char *text)
{
    alineo_error error;
    alineo_span ignored;

    assert_int_equal(check(&entry, &alineo_entry_arguments, &error, &ignored), code);
    assert_string_equal(error.text, text);
    assert_int_equal(error.code, code);
}

static alineo_entry accepted(alineo_entry entry)
{
    alineo_error error;
    alineo_span stored;

    alineo_code code = check(&entry, &alineo_entry_arguments, &error, &stored);
    assert_string_equal(error.text, "");
    assert_int_equal(code, ALINEO_OK);
    entry.error = stored;
    return entry;
}

static void a_text_that_is_null_empty_or_not_text_is_refused(void **state)
{
    static const struct {
        alineo_span text;
        const char *refusal;
    } cases[] = {
        {{NULL, 0}, "must not be NULL"},        {SPAN(""), "must not be empty"},
        {SPAN("a\0b"), "must not contain NUL"}, {SPAN("\0"), "must not contain NUL"},
        {SPAN("a\xFF"), "must be valid UTF-8"}, {SPAN("\xED\xA0\xBD"), "must be valid UTF-8"},
    };
    static const char *const names[] = {"name", "sandbox_id", "event"};
    char text[128];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        for (int field = 0; field < 3; field++) {
            alineo_entry entry = good;
            *(field == 0   ? &entry.name
              : field == 1 ? &entry.sandbox_id
                           : &entry.event) = cases[i].text;
            strcpy(text, "alineo_append: ");
            strcat(text, names[field]);
            strcat(text, " ");
            strcat(text, cases[i].refusal);
            assert_refused(entry, ALINEO_BAD_ARGUMENT, text);
        }
    }
}

static void a_text_beyond_a_thousand_bytes_is_refused(void **state)
{
    alineo_span longest = repeated("", 'x', 1000, "");
    alineo_span longer = repeated("", 'x', 1001, "");
    alineo_entry entry = good;

    (void)state;
    entry.name = entry.sandbox_id = entry.event = longest;
    (void)accepted(entry);
    entry.event = longer;
    assert_refused(entry, ALINEO_BAD_ARGUMENT, "alineo_append: event must be at most 1000 bytes");
    entry.sandbox_id = longer;
    assert_refused(entry, ALINEO_BAD_ARGUMENT,
                   "alineo_append: sandbox_id must be at most 1000 bytes");
    entry.name = longer;
    assert_refused(entry, ALINEO_BAD_ARGUMENT, "alineo_append: name must be at most 1000 bytes");
    exact_free(longest);
    exact_free(longer);
}

static void a_number_out_of_its_range_is_refused(void **state)
{
    static const struct {
        char field;
        alineo_integer value;
        const char *text; /* NULL: accepted */
    } cases[] = {
        {'s', GIVEN(-1), NULL},
        {'s', GIVEN(0), NULL},
        {'s', GIVEN(INT32_MAX), NULL},
        {'s', GIVEN(-2), "alineo_append: step_idx must be an integer from -1 to 2147483647"},
        {'s', GIVEN(INT64_C(2147483648)),
         "alineo_append: step_idx must be an integer from -1 to 2147483647"},
        {'s', GIVEN(INT64_MIN), "alineo_append: step_idx must be an integer from -1 to 2147483647"},
        {'s', INEXACT, "alineo_append: step_idx must be an integer from -1 to 2147483647"},
        {'b', GIVEN(0), NULL},
        {'b', GIVEN(INT32_MAX), NULL},
        {'b', GIVEN(-1), "alineo_append: branch must be an integer from 0 to 2147483647"},
        {'b', GIVEN(INT64_C(2147483648)),
         "alineo_append: branch must be an integer from 0 to 2147483647"},
        {'b', INEXACT, "alineo_append: branch must be an integer from 0 to 2147483647"},
        {'t', GIVEN(0), NULL},
        {'t', GIVEN(INT64_MAX), NULL},
        {'t', GIVEN(-1), "alineo_append: ts must be an integer of at least 0"},
        {'t', INEXACT, "alineo_append: ts must be an integer of at least 0"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        alineo_entry entry = good;
        *(cases[i].field == 's'   ? &entry.step_idx
          : cases[i].field == 'b' ? &entry.branch
                                  : &entry.ts) = cases[i].value;
        if (cases[i].text == NULL)
            (void)accepted(entry);
        else
            assert_refused(entry, ALINEO_BAD_ARGUMENT, cases[i].text);
    }
}

static void a_payload_that_is_not_json_is_refused_with_offset_and_reason(void **state)
{
    static const struct {
        alineo_span payload;
        const char *text;
    } cases[] = {
        {SPAN(""), "alineo_append: payload is not valid JSON at byte 0: unexpected end"},
        {SPAN("{\"seq\":1,}"),
         "alineo_append: payload is not valid JSON at byte 9: expected a key"},
        {SPAN("{\"seq\":1e131072}"),
         "alineo_append: payload is not valid JSON at byte 7: number out of range"},
        {SPAN("\"\xFF\""), "alineo_append: payload is not valid JSON at byte 1: invalid UTF-8"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        /* With and without a look at its fields. */
        for (int given = 0; given < 2; given++) {
            alineo_entry entry = good;
            entry.payload = cases[i].payload;
            entry.step_idx = (alineo_integer){given == 1, true, 1};
            assert_refused(entry, ALINEO_BAD_JSON, cases[i].text);
        }
    }
}

static void the_names_of_keys_stand_in_an_error_of_a_batch(void **state)
{
    alineo_entry entry = good;
    alineo_error error;
    alineo_span ignored;

    (void)state;
    entry.sandbox_id.len = 0;
    assert_int_equal(check(&entry, &alineo_entry_keys, &error, &ignored), ALINEO_BAD_ARGUMENT);
    assert_string_equal(error.text, "alineo_append: sandboxId must not be empty");
    entry = good;
    entry.step_idx = (alineo_integer)GIVEN(-2);
    assert_int_equal(check(&entry, &alineo_entry_keys, &error, &ignored), ALINEO_BAD_ARGUMENT);
    assert_string_equal(error.text,
                        "alineo_append: stepIndex must be an integer from -1 to 2147483647");
}

static void step_idx_defaults_to_the_seq_of_an_exec_event(void **state)
{
    static const struct {
        const char *event, *payload;
        int64_t step_idx;
    } cases[] = {
        {"exec.started", "{'seq':3}", 3},
        {"exec.output", "{'seq':0,'type':'stdout','text':''}", 0},
        {"exec.completed", "{'seq':2147483647}", INT32_MAX},
        {"exec.paused", "{'seq':4}", 4},
        {"exec_start", "{'seq':5}", 5}, /* under its legacy name too */
        {"exec_event", "{'seq':5}", 5},
        {"exec_complete", "{'seq':5}", 5},
        {"exec.started", "{'seq':1.0}", 1},
        {"exec.started", "{'seq':1e0}", 1},
        {"exec.started", "{'seq':1,'seq':2}", 2},
        {"exec.started", "{'s\\u0065q':6}", 6},
        {"exec.started", "'{\\u0022seq\\u0022:7}'", 7}, /* encoded twice */
        {"exec.started", "{'seq':1.5}", -1},
        {"exec.started", "{'seq':'1'}", -1},
        {"exec.started", "{'seq':null}", -1},
        {"exec.started", "{'seq':[1]}", -1},
        {"exec.started", "{'seq':2147483648}", -1}, /* more than the column holds */
        {"exec.started", "{'seq':-7}", -1},
        {"exec.started", "{}", -1},
        {"exec.started", "[{'seq':1}]", -1},
        {"exec.started", "{'a':{'seq':1}}", -1},
        {"exec.started", "7", -1},
        {"exec.started", NULL, -1},
        {"step.started", "{'seq':3}", -1},
        {"executed", "{'seq':3}", -1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        alineo_entry entry = good;
        alineo_span payload = {NULL, 0};
        if (cases[i].payload != NULL)
            payload = json_copy(cases[i].payload);
        entry.event = span_of(cases[i].event);
        entry.payload = payload;
        entry = accepted(entry);
        assert_true(entry.step_idx.given);
        if (!entry.step_idx.exact || entry.step_idx.value != cases[i].step_idx)
            fail_msg("%s %s: %lld", cases[i].event, cases[i].payload,
                     (long long)entry.step_idx.value);
        exact_free(payload);
    }
}

static void step_idx_that_is_given_stays(void **state)
{
    alineo_entry entry = good;

    (void)state;
    entry.step_idx = (alineo_integer)GIVEN(-1);
    assert_int_equal(accepted(entry).step_idx.value, -1);
    entry.step_idx = (alineo_integer)GIVEN(9);
    assert_int_equal(accepted(entry).step_idx.value, 9);
}

static void what_is_left_off_stays_off(void **state)
{
    alineo_entry entry = good;

    (void)state;
    entry.payload = (alineo_span){NULL, 0};
    entry = accepted(entry);
    assert_null(entry.payload.at);
    assert_null(entry.error.at);
    assert_false(entry.branch.given);
    assert_false(entry.ts.given);
}

static void a_legacy_event_is_stored_under_its_current_name(void **state)
{
    alineo_entry entry = good;

    (void)state;
    entry.event = S("snapshot");
    assert_text(accepted(entry).event, S("sandbox.checkpoint_created"));
    entry.event = S("checkpoint");
    assert_text(accepted(entry).event, S("step.checkpointed"));
    entry.event = S("my.event");
    assert_text(accepted(entry).event, S("my.event"));
}

static void the_error_is_kept_as_a_text_column_can_hold_it(void **state)
{
    static const struct {
        alineo_span given, stored;
    } cases[] = {
        {SPAN("boom"), SPAN("boom")},
        {SPAN(""), SPAN("")},
        {SPAN("a\0b"), SPAN("a\xE2\x90\x80"
                            "b")},
        {SPAN("\xED\xA0\xBD!"), SPAN("\xEF\xBF\xBD!")},
        {SPAN("\xED\xB8\x80\0"), SPAN("\xEF\xBF\xBD\xE2\x90\x80")},
        {SPAN("\xF0\x9F\x98\x80"), SPAN("\xF0\x9F\x98\x80")},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        alineo_entry entry = good;
        entry.error = cases[i].given;
        assert_text(accepted(entry).error, cases[i].stored);
    }
}

static void an_error_that_is_not_utf8_is_refused(void **state)
{
    static const alineo_span texts[] = {
        SPAN("\xFF"),
        SPAN("a\0\xC3"),
        SPAN("\xED\xA0"
             "A"), /* half of a half */
        SPAN("\xED\xA0\xBD\xFF"),
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        alineo_entry entry = good;
        entry.error = texts[i];
        assert_refused(entry, ALINEO_BAD_ARGUMENT, "alineo_append: error must be valid UTF-8");
    }
}

static void an_entry_knows_whether_jsonb_must_escape_its_payload(void **state)
{
    static const struct {
        alineo_span payload;
        bool special;
    } cases[] = {
        {SPAN("{\"seq\":1,\"text\":\"\\u0000\"}"), true},
        {SPAN("{\"seq\":1,\"\\ud83d\":1}"), true},
        {SPAN("{\"seq\":1,\"text\":\"\\n\"}"), false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        for (int given = 0; given < 2; given++) {
            alineo_entry entry = good;
            entry.payload = cases[i].payload;
            entry.step_idx = (alineo_integer){given == 1, true, 1};
            assert_int_equal(accepted(entry).special, cases[i].special);
        }
    }
}

static void ts_is_now_but_never_below_the_latest(void **state)
{
    (void)state;
    assert_int_equal(alineo_entry_ts(100, 50), 100);
    assert_int_equal(alineo_entry_ts(100, 100), 100);
    assert_int_equal(alineo_entry_ts(50, 100), 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_that_is_null_empty_or_not_text_is_refused),
        cmocka_unit_test(a_text_beyond_a_thousand_bytes_is_refused),
        cmocka_unit_test(a_number_out_of_its_range_is_refused),
        cmocka_unit_test(a_payload_that_is_not_json_is_refused_with_offset_and_reason),
        cmocka_unit_test(the_names_of_keys_stand_in_an_error_of_a_batch),
        cmocka_unit_test(step_idx_defaults_to_the_seq_of_an_exec_event),
        cmocka_unit_test(step_idx_that_is_given_stays),
        cmocka_unit_test(what_is_left_off_stays_off),
        cmocka_unit_test(a_legacy_event_is_stored_under_its_current_name),
        cmocka_unit_test(the_error_is_kept_as_a_text_column_can_hold_it),
        cmocka_unit_test(an_error_that_is_not_utf8_is_refused),
        cmocka_unit_test(an_entry_knows_whether_jsonb_must_escape_its_payload),
        cmocka_unit_test(ts_is_now_but_never_below_the_latest),
    };

    return cmocka_run_group_tests_name("entry", tests, NULL, NULL);
}
