/*
 * test_batch.c - entries from an array, a single object, or JSON Lines.
 */
#include "support.h"
#include "batch.h"
#include "json_write.h"

#include <string.h>

/* The shortest entry, 40 bytes once quoted. */
#define SHORT "{'name':'a','sandboxId':'b','event':'c'}"
#define LINE  "a b c -1 - - - -\n" /* what comes of it */

static void put_text(alineo_buffer *out, alineo_span text)
{
    if (text.at == NULL)
        alineo_buffer_text(out, "-");
    else
        alineo_buffer_put(out, text.at, text.len);
}

static void put_integer(alineo_buffer *out, alineo_integer value)
{
    if (value.given)
        alineo_json_integer(out, value.value);
    else
        alineo_buffer_text(out, "-");
}

/* A line for each entry: name sandbox_id event step_idx branch ts payload
 * error, - for what is not given; then "! " and the error, if there is one. */
static void describe(alineo_buffer *out, test_heap *heap, alineo_span entries, alineo_error *error)
{
    alineo_span copy = exact_copy(entries);
    alineo_batch batch;
    alineo_entry entry;
    long long count = 0;

    alineo_buffer_init(out, &heap->memory);
    alineo_error_init(error, "alineo_append_batch");
    alineo_batch_init(&batch, &heap->memory, copy);
    while (alineo_batch_next(&batch, &entry, error)) {
        assert_int_equal(error->entry, count); /* for what the engine finds wrong with it */
        const alineo_span texts[] = {entry.name, entry.sandbox_id, entry.event};
        const alineo_integer integers[] = {entry.step_idx, entry.branch, entry.ts};
        for (int i = 0; i < 3; i++, alineo_buffer_byte(out, ' '))
            put_text(out, texts[i]);
        for (int i = 0; i < 3; i++, alineo_buffer_byte(out, ' '))
            put_integer(out, integers[i]);
        put_text(out, entry.payload);
        alineo_buffer_byte(out, ' ');
        put_text(out, entry.error);
        alineo_buffer_byte(out, '\n');
        count++;
    }
    assert_int_equal(batch.count, count);
    assert_int_equal(error->code == ALINEO_OK, error->text[0] == '\0');
    if (error->code != ALINEO_OK) {
        alineo_buffer_text(out, "! ");
        alineo_buffer_text(out, error->text);
    }
    alineo_batch_free(&batch);
    exact_free(copy);
}

typedef struct expectation {
    const char *entries, *read; /* with ' for " */
    alineo_code code;
} expectation;

static void assert_read(const expectation *cases, size_t count)
{
    test_heap heap;

    heap_init(&heap);
    for (size_t i = 0; i < count; i++) {
        alineo_span entries = json_copy(cases[i].entries);
        alineo_buffer out;
        alineo_error error;
        describe(&out, &heap, entries, &error);
        assert_json(alineo_buffer_span(&out), cases[i].read);
        assert_int_equal(error.code, cases[i].code);
        alineo_buffer_free(&out);
        exact_free(entries);
    }
    heap_check(&heap);
}

static void an_entry_may_hold_every_field_under_either_spelling(void **state)
{
    static const expectation cases[] = {
        {"{'ts':5,'name':'ci','sandboxId':'sb','stepIndex':1,'branch':0,'event':'exec.started',"
         "'payload':{'seq':9},'error':'e'}",
         "ci sb exec.started 1 0 5 {'seq':9} e\n", ALINEO_OK},
        {"{'ts':5,'name':'ci','sandbox_id':'sb','step_idx':1,'branch':0,'event':'exec.started',"
         "'payload':{'seq':9},'error':'e'}",
         "ci sb exec.started 1 0 5 {'seq':9} e\n", ALINEO_OK},
        {"{'n\\u0061me':'a','s\\u0061ndboxId':'b','event':'c'}", LINE, ALINEO_OK},
        {"{'name':'\\u0061','sandboxId':'b\\/','event':'c\\\\'}", "a b/ c\\ -1 - - - -\n",
         ALINEO_OK},
        {"{'error':null,'payload':null,'ts':null,'branch':null,'stepIndex':null,"
         "'name':'a','sandboxId':'b','event':'c'}",
         LINE, ALINEO_OK},
        {"{'name':'a','sandboxId':'b','event':'c','other':{'name':'x'},'payload2':[1]}", LINE,
         ALINEO_OK},
        {"{'name':'x','name':'a','sandboxId':'y','sandbox_id':'b','event':'c'}", LINE, ALINEO_OK},
        {"{'name':'a','sandboxId':'b','event':'c','error':'\\u0000\\ud83d'}",
         "a b c -1 - - - \xE2\x90\x80\xEF\xBF\xBD\n", ALINEO_OK},
        {"{'name':'a','sandboxId':'b','event':'c','ts':1e3,'stepIndex':2.0,'branch':30e-1}",
         "a b c 2 3 1000 - -\n", ALINEO_OK},
    };

    (void)state;
    assert_read(cases, COUNT_OF(cases));
}

static void an_entry_is_completed_as_an_append_would(void **state)
{
    static const expectation cases[] = {
        {"{'name':'a','sandboxId':'b','event':'exec_start','payload':{'seq':4}}",
         "a b exec.started 4 - - {'seq':4} -\n", ALINEO_OK},
        {"{'name':'a','sandboxId':'b','event':'snapshot','payload':{'seq':4}}",
         "a b sandbox.checkpoint_created -1 - - {'seq':4} -\n", ALINEO_OK},
    };

    (void)state;
    assert_read(cases, COUNT_OF(cases));
}

static void entries_come_as_an_array_an_object_or_lines(void **state)
{
    static const expectation cases[] = {
        {SHORT, LINE, ALINEO_OK},
        {" \n" SHORT " \n", LINE, ALINEO_OK},
        {"[" SHORT "]", LINE, ALINEO_OK},
        {"\n [ " SHORT " ,\n" SHORT "]\n ", LINE LINE, ALINEO_OK},
        {SHORT "\n" SHORT, LINE LINE, ALINEO_OK},
        {SHORT "\n" SHORT "\n", LINE LINE, ALINEO_OK},
        {SHORT "\r\n" SHORT "\r\n", LINE LINE, ALINEO_OK},
        {"\r\n\n" SHORT "\n \t\n\n" SHORT "\n\r\n" SHORT, LINE LINE LINE, ALINEO_OK},
        {SHORT " \n  " SHORT, LINE LINE, ALINEO_OK},
        /* An entry may take several lines. */
        {"{'name':'a',\n'sandboxId':'b',\n'event':'c'\n}\n" SHORT, LINE LINE, ALINEO_OK},
        {"{'name':'1','sandboxId':'b','event':'c'}\n{'name':'2','sandboxId':'b','event':'c'}",
         "1 b c -1 - - - -\n2 b c -1 - - - -\n", ALINEO_OK},
    };

    (void)state;
    assert_read(cases, COUNT_OF(cases));
}

static void an_empty_batch_has_no_entry(void **state)
{
    static const expectation cases[] = {
        {"", "", ALINEO_OK},   {" ", "", ALINEO_OK},       {"\r\n\t\n", "", ALINEO_OK},
        {"[]", "", ALINEO_OK}, {" [ ] \n", "", ALINEO_OK},
    };

    (void)state;
    assert_read(cases, COUNT_OF(cases));
}

static void entries_that_no_line_break_parts_are_refused(void **state)
{
    static const expectation cases[] = {
        {SHORT SHORT,
         LINE "! alineo_append_batch: entry 1: not valid JSON at byte 40: unexpected text behind "
              "the value",
         ALINEO_BAD_JSON},
        {SHORT " \t" SHORT,
         LINE "! alineo_append_batch: entry 1: not valid JSON at byte 42: unexpected text behind "
              "the value",
         ALINEO_BAD_JSON},
        {SHORT "\r" SHORT,
         LINE "! alineo_append_batch: entry 1: not valid JSON at byte 41: unexpected text behind "
              "the value",
         ALINEO_BAD_JSON},
        {SHORT "," SHORT,
         LINE "! alineo_append_batch: entry 1: not valid JSON at byte 40: unexpected text behind "
              "the value",
         ALINEO_BAD_JSON},
        {SHORT "\n,",
         LINE "! alineo_append_batch: entry 1: not valid JSON at byte 41: unexpected character",
         ALINEO_BAD_JSON},
    };

    (void)state;
    assert_read(cases, COUNT_OF(cases));
}

static void text_that_is_not_json_is_refused_with_entry_offset_and_reason(void **state)
{
    static const expectation cases[] = {
        {"{", "! alineo_append_batch: entry 0: not valid JSON at byte 1: unexpected end",
         ALINEO_BAD_JSON},
        {"[", "! alineo_append_batch: entry 0: not valid JSON at byte 1: unexpected end",
         ALINEO_BAD_JSON},
        {"[" SHORT,
         LINE "! alineo_append_batch: entry 1: not valid JSON at byte 41: unexpected end",
         ALINEO_BAD_JSON},
        {"[" SHORT ",]",
         LINE "! alineo_append_batch: entry 1: not valid JSON at byte 42: unexpected character",
         ALINEO_BAD_JSON},
        {"{'name':'\\x'}",
         "! alineo_append_batch: entry 0: not valid JSON at byte 9: invalid escape",
         ALINEO_BAD_JSON},
        {SHORT "\n{'payload':{'a':01}}",
         LINE "! alineo_append_batch: entry 1: not valid JSON at byte 57: invalid number",
         ALINEO_BAD_JSON},
        {SHORT "\n\xEF\xBB\xBF" SHORT,
         LINE "! alineo_append_batch: entry 1: not valid JSON at byte 41: unexpected character",
         ALINEO_BAD_JSON},
    };

    (void)state;
    assert_read(cases, COUNT_OF(cases));
}

static void text_behind_an_array_is_refused(void **state)
{
    static const expectation cases[] = {
        {"[] x",
         "! alineo_append_batch: entry 0: not valid JSON at byte 3: unexpected text behind "
         "the value",
         ALINEO_BAD_JSON},
        {"[" SHORT "]\n" SHORT,
         LINE "! alineo_append_batch: entry 1: not valid JSON at byte 43: unexpected text behind "
              "the value",
         ALINEO_BAD_JSON},
    };

    (void)state;
    assert_read(cases, COUNT_OF(cases));
}

static void an_entry_must_be_an_object(void **state)
{
    static const expectation cases[] = {
        {"1", "! alineo_append_batch: entry 0: must be an object", ALINEO_BAD_ARGUMENT},
        {"null", "! alineo_append_batch: entry 0: must be an object", ALINEO_BAD_ARGUMENT},
        {"[" SHORT ",'x']", LINE "! alineo_append_batch: entry 1: must be an object",
         ALINEO_BAD_ARGUMENT},
        {"[[" SHORT "]]", "! alineo_append_batch: entry 0: must be an object", ALINEO_BAD_ARGUMENT},
        {SHORT "\n[" SHORT "]", LINE "! alineo_append_batch: entry 1: must be an object",
         ALINEO_BAD_ARGUMENT},
    };

    (void)state;
    assert_read(cases, COUNT_OF(cases));
}

static void an_error_names_the_entry_and_the_field(void **state)
{
    static const struct {
        const char *members, *refusal;
    } cases[] = {
        {"'sandboxId':'b','event':'c'", "name must not be NULL"},
        {"'name':null,'sandboxId':'b','event':'c'", "name must not be NULL"},
        {"'name':7,'sandboxId':'b','event':'c'", "name must be a string"},
        {"'name':'','sandboxId':'b','event':'c'", "name must not be empty"},
        {"'name':'\\u0000','sandboxId':'b','event':'c'", "name must not contain NUL"},
        {"'name':'\\ud83d','sandboxId':'b','event':'c'", "name must be valid UTF-8"},
        {"'name':'a','event':'c'", "sandboxId must not be NULL"},
        {"'name':'a','sandbox_id':['b'],'event':'c'", "sandboxId must be a string"},
        {"'name':'a','sandboxId':'','event':'c'", "sandboxId must not be empty"},
        {"'name':'a','sandboxId':'b'", "event must not be NULL"},
        {"'name':'a','sandboxId':'b','event':''", "event must not be empty"},
        {"'name':'a','sandboxId':'b','event':true", "event must be a string"},
        {"'name':'a','sandboxId':'b','event':'c','error':{}", "error must be a string"},
        {"'name':'a','sandboxId':'b','event':'c','stepIndex':1.5",
         "stepIndex must be an integer from -1 to 2147483647"},
        {"'name':'a','sandboxId':'b','event':'c','step_idx':-2",
         "stepIndex must be an integer from -1 to 2147483647"},
        {"'name':'a','sandboxId':'b','event':'c','stepIndex':'1'",
         "stepIndex must be an integer from -1 to 2147483647"},
        {"'name':'a','sandboxId':'b','event':'c','branch':-1",
         "branch must be an integer from 0 to 2147483647"},
        {"'name':'a','sandboxId':'b','event':'c','branch':2147483648",
         "branch must be an integer from 0 to 2147483647"},
        {"'name':'a','sandboxId':'b','event':'c','ts':-1", "ts must be an integer of at least 0"},
        {"'name':'a','sandboxId':'b','event':'c','ts':9223372036854775808",
         "ts must be an integer of at least 0"},
        {"'name':'a','sandboxId':'b','event':'c','ts':true", "ts must be an integer of at least 0"},
    };
    char entries[256], read[256];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        strcpy(entries, SHORT "\n{");
        strcat(entries, cases[i].members);
        strcat(entries, "}");
        strcpy(read, LINE "! alineo_append_batch: entry 1: ");
        strcat(read, cases[i].refusal);
        const expectation expected = {entries, read, ALINEO_BAD_ARGUMENT};
        assert_read(&expected, 1);
    }
}

/* Also in what kind they have: one that is none of a field's is not read. */
static void of_equal_keys_of_an_entry_the_last_counts(void **state)
{
    static const expectation cases[] = {
        {"{'name':7,'sandbox_id':[],'event':{},'error':true,'ts':'x','name':'n','sandboxId':'s',"
         "'event':'e','error':null,'ts':1}",
         "n s e -1 - 1 - -\n", ALINEO_OK},
        {"{'name':'n','sandboxId':'s','event':'e','name':7}",
         "! alineo_append_batch: entry 0: name must be a string", ALINEO_BAD_ARGUMENT},
        {"{'name':7,'sandboxId':'s','event':'e','name':null}",
         "! alineo_append_batch: entry 0: name must not be NULL", ALINEO_BAD_ARGUMENT},
    };

    (void)state;
    assert_read(cases, COUNT_OF(cases));
}

static void a_payload_is_kept_to_the_byte(void **state)
{
    static const char *const payloads[] = {
        "{ 'b' : 1e2,\t'a':'\\u0041\\/', 'a':-0 }",
        "[ 1 , 1.50,12345678901234567890123 ]",
        "'text \\n with \\' in it'",
        "''",
        "12.50e-1",
        "true",
        "{}",
    };
    char entries[256], read[256];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(payloads); i++) {
        strcpy(entries, "[{'payload': ");
        strcat(entries, payloads[i]);
        strcat(entries, " ,'name':'a','sandboxId':'b','event':'c'}]");
        strcpy(read, "a b c -1 - - ");
        strcat(read, payloads[i]);
        strcat(read, " -\n");
        const expectation expected = {entries, read, ALINEO_OK};
        assert_read(&expected, 1);
    }
}

/* A table that has one session, up to ts 100; counts how often it is asked. */
static alineo_code ask_table(void *context, const alineo_entry *entry, int64_t *latest,
                             alineo_error *error)
{
    (void)error;
    ++*(int *)context;
    if (entry->sandbox_id.at[0] == 't')
        *latest = 100;
    return ALINEO_OK;
}

static void an_entry_without_a_ts_comes_no_earlier_than_its_session(void **state)
{
    static const struct {
        const char *session;
        int64_t given; /* -1: none */
        int64_t ts;
        int asked; /* so far */
    } cases[] = {
        {"a", 70, 70, 0},  {"a", -1, 70, 1}, {"a", 90, 90, 1},   {"a", 20, 20, 1},
        {"a", -1, 90, 1},  {"b", -1, 50, 2}, {"t", 60, 60, 2},   {"t", -1, 100, 3},
        {"t", -1, 100, 3}, {"a", -1, 90, 3}, {"t", 120, 120, 3}, {"b", -1, 50, 3},
        {"t", -1, 120, 3},
    };
    alineo_batch batch;
    alineo_error error;
    test_heap heap;
    int asked = 0;

    (void)state;
    heap_init(&heap);
    alineo_error_init(&error, "alineo_append_batch");
    alineo_batch_init(&batch, &heap.memory, (alineo_span){"", 0});
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        alineo_entry entry = {.name = {"ci", 2}, .sandbox_id = {cases[i].session, 1}};
        if (cases[i].given >= 0)
            entry.ts = (alineo_integer){true, true, cases[i].given};
        assert_int_equal(alineo_batch_ts(&batch, &entry, 50, ask_table, &asked, &error), ALINEO_OK);
        assert_int_equal(entry.ts.value, cases[i].ts);
        assert_int_equal(asked, cases[i].asked);
    }
    alineo_batch_free(&batch);
    heap_check(&heap);
}

/* Reads one entry whose payload nests `levels` deep, in an array or alone. */
static alineo_code read_nested(unsigned levels, bool array)
{
    alineo_buffer text;
    alineo_batch batch;
    alineo_entry entry;
    alineo_error error;
    test_heap heap;

    heap_init(&heap);
    alineo_buffer_init(&text, &heap.memory);
    alineo_buffer_text(&text, array ? "[" : "");
    alineo_buffer_text(&text, "{\"name\":\"a\",\"sandboxId\":\"b\",\"event\":\"c\",\"payload\":");
    for (unsigned i = 0; i < levels; i++)
        alineo_buffer_byte(&text, '[');
    for (unsigned i = 0; i < levels; i++)
        alineo_buffer_byte(&text, ']');
    alineo_buffer_text(&text, array ? "}]" : "}");
    alineo_error_init(&error, "alineo_append_batch");
    alineo_batch_init(&batch, &heap.memory, alineo_buffer_span(&text));
    bool read = alineo_batch_next(&batch, &entry, &error);
    assert_int_equal(read, error.code == ALINEO_OK);
    alineo_batch_free(&batch);
    alineo_buffer_free(&text);
    heap_check(&heap);
    return error.code;
}

static void a_payload_may_nest_as_deep_in_a_batch_as_alone(void **state)
{
    (void)state;
    assert_int_equal(read_nested(1000, true), ALINEO_OK);
    assert_int_equal(read_nested(1001, true), ALINEO_BAD_JSON);
    assert_int_equal(read_nested(1000, false), ALINEO_OK);
    assert_int_equal(read_nested(1001, false), ALINEO_BAD_JSON);
}

static void special_tells_of_this_payload_alone(void **state)
{
    alineo_span entries = json_copy(
        "[{'name':'a','sandboxId':'b','event':'c','error':'\\u0000','payload':{'x':'y'}},"
        "{'name':'a','sandboxId':'b','event':'c','payload':{'x':'\\u0000'},'error':'e'},"
        "{'name':'a','sandboxId':'b','event':'exec.started','payload':{'seq':1,'x':'\\ud83d'}},"
        "{'name':'a','sandboxId':'b','event':'c','\\ud83d':1,'payload':{'x':'y'}},"
        "{'name':'a','sandboxId':'b','event':'c'}]");
    static const bool special[] = {false, true, true, false, false};
    alineo_batch batch;
    alineo_entry entry;
    alineo_error error;
    test_heap heap;

    (void)state;
    heap_init(&heap);
    alineo_error_init(&error, "f");
    alineo_batch_init(&batch, &heap.memory, entries);
    for (size_t i = 0; i < COUNT_OF(special); i++) {
        assert_true(alineo_batch_next(&batch, &entry, &error));
        assert_int_equal(entry.special, special[i]);
    }
    assert_false(alineo_batch_next(&batch, &entry, &error));
    assert_int_equal(error.code, ALINEO_OK);
    alineo_batch_free(&batch);
    heap_check(&heap);
    exact_free(entries);
}

static void entries_given_apart_are_read_as_elements(void **state)
{
    alineo_span entry = json_copy(SHORT);
    alineo_span array = json_copy("[" SHORT "]");
    alineo_batch batch;
    alineo_entry read;
    alineo_error error;
    test_heap heap;

    (void)state;
    heap_init(&heap);
    alineo_error_init(&error, "f");
    alineo_batch_init(&batch, &heap.memory, (alineo_span){NULL, 0});
    for (int i = 0; i < 3; i++) {
        alineo_batch_give(&batch, entry);
        assert_true(alineo_batch_next(&batch, &read, &error));
        assert_int_equal(error.entry, i);
        assert_true(alineo_span_equal(read.name, (alineo_span){"a", 1}));
    }
    alineo_batch_give(&batch, array);
    assert_false(alineo_batch_next(&batch, &read, &error));
    assert_string_equal(error.text, "f: entry 3: must be an object");
    alineo_batch_free(&batch);

    /* Nor is the first one taken for the batch itself. */
    alineo_error_init(&error, "f");
    alineo_batch_init(&batch, &heap.memory, (alineo_span){NULL, 0});
    alineo_batch_give(&batch, array);
    assert_false(alineo_batch_next(&batch, &read, &error));
    assert_string_equal(error.text, "f: entry 0: must be an object");
    alineo_batch_free(&batch);
    heap_check(&heap);
    exact_free(entry);
    exact_free(array);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_may_hold_every_field_under_either_spelling),
        cmocka_unit_test(an_entry_is_completed_as_an_append_would),
        cmocka_unit_test(entries_come_as_an_array_an_object_or_lines),
        cmocka_unit_test(an_empty_batch_has_no_entry),
        cmocka_unit_test(entries_that_no_line_break_parts_are_refused),
        cmocka_unit_test(text_that_is_not_json_is_refused_with_entry_offset_and_reason),
        cmocka_unit_test(text_behind_an_array_is_refused),
        cmocka_unit_test(an_entry_must_be_an_object),
        cmocka_unit_test(an_error_names_the_entry_and_the_field),
        cmocka_unit_test(of_equal_keys_of_an_entry_the_last_counts),
        cmocka_unit_test(a_payload_is_kept_to_the_byte),
        cmocka_unit_test(an_entry_without_a_ts_comes_no_earlier_than_its_session),
        cmocka_unit_test(a_payload_may_nest_as_deep_in_a_batch_as_alone),
        cmocka_unit_test(special_tells_of_this_payload_alone),
        cmocka_unit_test(entries_given_apart_are_read_as_elements),
    };

    return cmocka_run_group_tests_name("batch", tests, NULL, NULL);
}
