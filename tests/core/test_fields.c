/*
 * test_fields.c - the fields taken out of a payload, and what a row shows.
 */
#include "support.h"
#include "row.h"

#include <string.h>

typedef struct payload {
    alineo_span text;
    alineo_fields_reader reader;
    alineo_fields fields;
    alineo_scan scan;
    test_heap heap;
} payload;

static alineo_code read_payload(payload *p, const char *quoted)
{
    heap_init(&p->heap);
    alineo_fields_reader_init(&p->reader, &p->heap.memory);
    p->text = json_copy(quoted);
    return alineo_fields_read(&p->reader, &p->fields, p->text, &p->scan);
}

static void drop_payload(payload *p)
{
    alineo_fields_reader_free(&p->reader);
    exact_free(p->text);
    heap_check(&p->heap);
}

/* Asserts that the payload's cmd, as canonical JSON, is this; "" for absent. */
static void assert_cmd(const char *quoted, const char *expected)
{
    payload p;
    alineo_buffer out;

    assert_int_equal(read_payload(&p, quoted), ALINEO_OK);
    alineo_buffer_init(&out, &p.heap.memory);
    const alineo_value *value = alineo_fields_any(&p.fields, ALINEO_FIELD_CMD);
    if (value != NULL)
        alineo_value_json(&out, value);
    assert_json(alineo_buffer_span(&out), expected);
    alineo_buffer_free(&out);
    drop_payload(&p);
}

static void a_field_is_read_whatever_its_place_and_spelling(void **state)
{
    (void)state;
    assert_cmd("{'cmd':'ls'}", "'ls'");
    assert_cmd(" { 'a' : [1] , 'cmd' : 'ls' , 'b' : {} } ", "'ls'");
    assert_cmd("{'\\u0063\\u006d\\u0064':'l\\u0073'}", "'ls'");
    assert_cmd("{'cmd':{'b':1e2,'a':[]}}", "{'a':[],'b':100}");
    assert_cmd("{'cmd':false}", "false");
    assert_cmd("{'CMD':'ls','cmd\\u0000':'ls','x':{'cmd':'ls'}}", "");
    assert_cmd("{'cmd\\n':1,'\\u00e9':1,'':1}", "");
}

static void the_last_of_equal_keys_counts_and_null_is_absent(void **state)
{
    (void)state;
    assert_cmd("{'cmd':1,'cmd':2}", "2");
    assert_cmd("{'cmd':1,'c\\u006dd':2}", "2");
    assert_cmd("{'cmd':1,'cmd':null}", "");
    assert_cmd("{'cmd':null,'cmd':1}", "1");
}

static void a_payload_that_is_no_object_has_no_fields(void **state)
{
    (void)state;
    assert_cmd("[{'cmd':1}]", "");
    assert_cmd("'cmd'", "");
    assert_cmd("7", "");
    assert_cmd("null", "");
    assert_cmd("{}", "");
}

static void a_payload_encoded_twice_is_read_as_what_it_holds(void **state)
{
    (void)state;
    assert_cmd("'{\\'cmd\\':\\'a\\\\n\\\\ud83d\\'}'", "'a\\n\\ud83d'");
    assert_cmd("' {\\'cmd\\':1} '", "1");
    /* Not what only looks like it, and not what was encoded three times. */
    assert_cmd("'{\\'cmd\\':1'", "");
    assert_cmd("'{\\'cmd\\':1} x'", "");
    assert_cmd("'[{\\'cmd\\':1}]'", "");
    assert_cmd("'\\'{\\\\\\'cmd\\\\\\':1}\\''", "");
    assert_cmd("{'x':'{\\'cmd\\':1}'}", "");
}

static void only_objects_and_arrays_are_unwrapped(void **state)
{
    static const struct {
        const char *payload, *inner; /* NULL: it stays as it is */
    } cases[] = {
        {"'{\\'a\\': 1}'", "{'a': 1}"},
        {"'[1, 2]'", "[1, 2]"},
        {"'7'", NULL},
        {"'\\'a\\''", NULL},
        {"'null'", NULL},
        {"''", NULL},
        {"'[1'", NULL},
        {"'[1]", NULL},
        {"'[1]' x", NULL},
        {"{'a':1}", NULL},
        {"[1]", NULL},
        {"not json", NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        payload p;
        alineo_span inner;
        (void)read_payload(&p, cases[i].payload);
        bool unwrapped = alineo_fields_unwrap(&p.reader, p.text, &inner);
        assert_int_equal(unwrapped, cases[i].inner != NULL);
        if (unwrapped)
            assert_json(inner, cases[i].inner);
        drop_payload(&p);
    }
}

static void a_payload_that_is_not_json_is_refused(void **state)
{
    static const struct {
        const char *payload, *reason;
        size_t offset;
    } cases[] = {
        {"", "unexpected end", 0},
        {"{'cmd':1", "unexpected end", 8},
        {"{'cmd':1}x", "unexpected text behind the value", 9},
        {"{'cmd':[1}", "expected ',' or ']'", 9},
        {"[1,]", "unexpected character", 3},
        {"'a", "unterminated string", 2},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        payload p;
        assert_int_equal(read_payload(&p, cases[i].payload), ALINEO_BAD_JSON);
        assert_string_equal(p.scan.reason, cases[i].reason);
        assert_int_equal(p.scan.offset, cases[i].offset);
        drop_payload(&p);
    }
}

static void a_field_of_another_kind_is_not_there(void **state)
{
    payload p;
    int64_t value;

    (void)state;
    assert_int_equal(read_payload(&p, "{'cmd':'ls','seq':2.0,'exitCode':1.5,'interactive':true,"
                                      "'code':7,'tag':false}"),
                     ALINEO_OK);
    assert_non_null(alineo_fields_string(&p.fields, ALINEO_FIELD_CMD));
    assert_null(alineo_fields_string(&p.fields, ALINEO_FIELD_CODE));
    assert_null(alineo_fields_string(&p.fields, ALINEO_FIELD_COMMAND));
    assert_true(alineo_fields_integer(&p.fields, ALINEO_FIELD_SEQ, &value));
    assert_int_equal(value, 2);
    assert_false(alineo_fields_integer(&p.fields, ALINEO_FIELD_EXIT_CODE, &value));
    assert_false(alineo_fields_integer(&p.fields, ALINEO_FIELD_CMD, &value));
    assert_false(alineo_fields_integer(&p.fields, ALINEO_FIELD_TEXT, &value));
    assert_true(alineo_fields_true(&p.fields, ALINEO_FIELD_INTERACTIVE));
    assert_false(alineo_fields_true(&p.fields, ALINEO_FIELD_TAG));
    assert_false(alineo_fields_true(&p.fields, ALINEO_FIELD_SEQ));
    drop_payload(&p);
}

static void a_string_is_compared_as_decoded(void **state)
{
    static const alineo_value escaped = {ALINEO_STRING, ALINEO_ESCAPED, SPAN("a\\u0000\\/")};
    static const alineo_value stored = {ALINEO_STRING, ALINEO_STORED,
                                        SPAN("a\xEF\xB7\x90"
                                             "0000/")};
    static const alineo_value number = {ALINEO_NUMBER, ALINEO_ESCAPED, SPAN("1")};
    alineo_buffer scratch;
    test_heap heap;

    (void)state;
    heap_init(&heap);
    alineo_buffer_init(&scratch, &heap.memory);
    assert_true(alineo_value_is(&escaped, S("a\0/"), &scratch));
    assert_true(alineo_value_is(&stored, S("a\0/"), &scratch));
    assert_false(alineo_value_is(&escaped, S("a\\u0000\\/"), &scratch));
    assert_false(alineo_value_is(&escaped, S("a"), &scratch));
    assert_false(alineo_value_is(&number, S("1"), &scratch));
    assert_false(alineo_value_is(NULL, S(""), &scratch));
    alineo_buffer_free(&scratch);
    heap_check(&heap);
}

static void a_column_shows_a_string_as_text_and_other_values_as_json(void **state)
{
    static const struct {
        alineo_value value;
        alineo_span shown;
    } cases[] = {
        {{ALINEO_STRING, ALINEO_ESCAPED, SPAN("a\\u0000\\ud83d\\n")},
         SPAN("a\xE2\x90\x80\xEF\xBF\xBD\n")},
        {{ALINEO_STRING, ALINEO_STORED,
          SPAN("\xEF\xB7\x90"
               "0000")},
         SPAN("\xE2\x90\x80")},
        {{ALINEO_STRING, ALINEO_PLAIN, SPAN("")}, SPAN("")},
        {{ALINEO_NUMBER, ALINEO_ESCAPED, SPAN("1e2")}, SPAN("100")},
        {{ALINEO_OBJECT, ALINEO_ESCAPED, SPAN("{ \"b\":1, \"a\":\"\\u0041\" }")},
         SPAN("{\"a\":\"A\",\"b\":1}")},
        {{ALINEO_TRUE, ALINEO_ESCAPED, SPAN("true")}, SPAN("true")},
    };
    alineo_buffer text;
    test_heap heap;

    (void)state;
    heap_init(&heap);
    alineo_buffer_init(&text, &heap.memory);
    assert_null(alineo_row_text(NULL, &text).at);
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_text(alineo_row_text(&cases[i].value, &text), cases[i].shown);
    alineo_buffer_free(&text);
    heap_check(&heap);
}

static void a_damaged_row_names_its_event(void **state)
{
    alineo_row row = {.id = 42};
    alineo_error error;
    payload p;

    (void)state;
    (void)read_payload(&p, "{'cmd'}");
    alineo_error_init(&error, "alineo_execs");
    assert_int_equal(alineo_row_payload(&row, &p.reader, p.text, &error), ALINEO_DAMAGED);
    assert_string_equal(
        error.text, "alineo_execs: payload of event 42 is not valid JSON at byte 6: expected ':'");
    assert_int_equal(alineo_row_payload(&row, &p.reader, (alineo_span){NULL, 0}, &error),
                     ALINEO_OK);
    assert_int_equal(row.fields.present, 0);
    drop_payload(&p);
}

static void a_tag_and_a_command_are_strings(void **state)
{
    payload p;

    (void)state;
    assert_int_equal(read_payload(&p, "{'tag':7,'name':'n','cmd':['ls'],'command':{},'code':'c'}"),
                     ALINEO_OK);
    assert_text(alineo_row_tag(&p.fields)->text, S("n"));
    assert_text(alineo_row_command(&p.fields)->text, S("c"));
    drop_payload(&p);
    assert_int_equal(read_payload(&p, "{'tag':null,'code':7}"), ALINEO_OK);
    assert_null(alineo_row_tag(&p.fields));
    assert_null(alineo_row_command(&p.fields));
    drop_payload(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_field_is_read_whatever_its_place_and_spelling),
        cmocka_unit_test(the_last_of_equal_keys_counts_and_null_is_absent),
        cmocka_unit_test(a_payload_that_is_no_object_has_no_fields),
        cmocka_unit_test(a_payload_encoded_twice_is_read_as_what_it_holds),
        cmocka_unit_test(only_objects_and_arrays_are_unwrapped),
        cmocka_unit_test(a_payload_that_is_not_json_is_refused),
        cmocka_unit_test(a_field_of_another_kind_is_not_there),
        cmocka_unit_test(a_string_is_compared_as_decoded),
        cmocka_unit_test(a_column_shows_a_string_as_text_and_other_values_as_json),
        cmocka_unit_test(a_damaged_row_names_its_event),
        cmocka_unit_test(a_tag_and_a_command_are_strings),
    };

    return cmocka_run_group_tests_name("fields", tests, NULL, NULL);
}
