/*
 * test_memory.c - what happens where memory runs out: every allocation fails in
 * turn, alone and with all that follow, and each time the call says so, leaks
 * nothing and does not crash. Also buffers and the map themselves.
 */
#include "support.h"
#include "batch.h"
#include "canonical.h"
#include "map.h"
#include "storage_escape.h"

#include <stdio.h>
#include <string.h>

/* Does something with the heap; false where it reported a lack of memory. It
 * asserts by itself that any other outcome is the right one. */
typedef bool (*work)(test_heap *heap);

/* Asserts that the work fails just where an allocation failed. */
static void assert_survives(work work, size_t least)
{
    for (int fail_on = 0; fail_on < 2; fail_on++) {
        bool failed = true;
        size_t at = 0;
        while (failed) {
            test_heap heap;
            heap_init(&heap);
            heap.fail_at = ++at;
            heap.fail_on = fail_on == 1;
            bool done = work(&heap);
            failed = heap.calls >= at;
            if (done == failed)
                fail_msg("allocation %zu: reported %s", at, done ? "success" : "failure");
            heap_check(&heap);
        }
        /* The work does use memory as it is meant to here. */
        assert_true(at > least);
    }
}

static bool append_batch(test_heap *heap)
{
    alineo_span entries = json_copy(
        "[{'name':'\\u0061','sandboxId':'\\u0062','event':'exec.\\u0073tarted',"
        "'payload':{'seq':1},'error':'\\u0000'},"
        "{'name':'a','sandboxId':'b','event':'exec.output','payload':'{\\u0022seq\\u0022:2}'},"
        "{'name':'a','sandboxId':'b','event':'c','error':'a\\nlonger\\ud83dtext, that makes "
        "the buffer of the first error grow beyond the bytes it was made with'}]");
    alineo_batch batch;
    alineo_entry entry;
    alineo_error error;
    int count = 0;

    alineo_error_init(&error, "f");
    alineo_batch_init(&batch, &heap->memory, entries);
    while (alineo_batch_next(&batch, &entry, &error))
        count++;
    if (error.code == ALINEO_OK)
        assert_int_equal(count, 3);
    else
        assert_int_equal(error.code, ALINEO_NO_MEMORY);
    alineo_batch_free(&batch);
    exact_free(entries);
    return error.code == ALINEO_OK;
}

#define ZEROS "00000000000000000000"

static bool write_canonical(test_heap *heap)
{
    alineo_span json = json_copy("{'bb':[{'x':1,'y':'\\u0000'},[],{}],'a':{'\\ud83d':1e40},"
                                 "'bb':[1,2,[3,'a string that is longer than sixty-four bytes, so "
                                 "that the buffers have to grow \\n']]}");
    alineo_buffer out;

    alineo_buffer_init(&out, &heap->memory);
    alineo_canonical(&out, json);
    bool done = !out.failed;
    if (done)
        assert_json(alineo_buffer_span(&out),
                    "{'a':{'\\ud83d':1" ZEROS ZEROS "},'bb':[1,2,[3,'a string that is longer than "
                    "sixty-four bytes, so that the buffers have to grow \\n']]}");
    alineo_buffer_free(&out);
    exact_free(json);
    return done;
}

static bool write_stored(test_heap *heap)
{
    alineo_span json = json_copy("{'\\u0000':['\\ud83d',1,'plain \\n'],'b':'\\ufdd0'}");
    alineo_buffer out;

    alineo_buffer_init(&out, &heap->memory);
    alineo_storage_encode_json(&out, json);
    bool done = !out.failed;
    if (done)
        assert_json(alineo_buffer_span(&out), "{'\xEF\xB7\x90"
                                              "0000':['\xEF\xB7\x90"
                                              "d83d',1,'plain \\n'],"
                                              "'b':'\xEF\xB7\x90"
                                              "fdd0'}");
    alineo_buffer_free(&out);
    exact_free(json);
    return done;
}

#define EVENT(id, sandbox, event, payload)                                                         \
    {                                                                                              \
        id, 1000 - (id), -1, "ci", sandbox, event, payload                                         \
    }

/* Replay order is the reverse of append order, so that all is read twice. */
static const test_event events[] = {
    EVENT(1, "g", "sandbox.created", "{'runId':'run','resources':{'b':1,'a':[2]}}"),
    EVENT(2, "g", "exec.output", "{'seq':1,'type':'stdout','text':'early'}"),
    EVENT(3, "g", "exec.started",
          "{'seq':1,'cmd':'sh','interactive':true,'cwd':'/w','env':{'B':'2','A':'1'}}"),
    EVENT(4, "g", "exec.output", "{'seq':1,'type':'stdin','text':'\\ud83d'}"),
    EVENT(5, "g", "exec.started", "{'seq':2,'cmd':'ls'}"),
    EVENT(6, "g", "exec.completed", "{'seq':2,'exitCode':0,'stdout':'whole','stderr':'e'}"),
    EVENT(7, "g", "exec.started", "{'seq':2,'cmd':'again'}"),
    EVENT(8, "g", "snapshot", "{'snapshotId':'x\\u0031','tag':'t'}"),
    EVENT(9, "p", "sandbox.created", "{'resumedFrom':'g','snapshotId':'x1','teamId':'t'}"),
    EVENT(10, "p", "exec.started", "{'seq':1,'cmd':'sh','interactive':true}"),
    EVENT(11, "p", "exec.output",
          "{'seq':1,'type':'stdin','text':'b, and more than the stdin that "
          "it is put behind has room for without growing once more'}"),
    EVENT(12, "p", "exec.completed", "{'seq':3,'exitCode':0}"),
    EVENT(13, "p", "snapshot", "{'snapshotId':'x2'}"),
    EVENT(14, "c", "sandbox.created", "{'resumedFrom':'p','snapshotId':'x2'}"),
    EVENT(15, "c", "egress.rule_added", "{'rules':[{'target':'a','x':1},{'target':'b'}]}"),
    EVENT(16, "c", "egress.rule_removed", "{'targets':['a','c']}"),
    EVENT(17, "c", "credential.bound", "{'name':'n','binding':{'k':'v'},'source':'s'}"),
    EVENT(18, "c", "credential.revoked", "{'name':'m'}"),
    EVENT(19, "c", "snapshot", "{'snapshotId':'x3','tag':'\\u0074'}"),
    EVENT(20, "bare", "sandbox.created", "{'resumedFrom':'p','snapshotId':'x2'}"),
};

static bool resume(test_heap *heap, const char *sandbox_id, const char *tag)
{
    alineo_buffer document;
    alineo_error error;
    test_store store;

    store_init(&store, events, COUNT_OF(events));
    alineo_code code = resume_document(&store, heap, sandbox_id, tag, &document, &error);
    if (code == ALINEO_OK)
        assert_json(member_of(alineo_buffer_span(&document), "lineage"),
                    sandbox_id[0] == 'c' ? "['g','p','c']" : "['g','p','bare']");
    else if (code != ALINEO_NO_MEMORY)
        fail_msg("allocation %zu: %s", heap->fail_at, error.text);
    alineo_buffer_free(&document);
    store_free(&store);
    return code == ALINEO_OK;
}

static bool resume_latest(test_heap *heap)
{
    return resume(heap, "c", NULL);
}

static bool resume_tag(test_heap *heap)
{
    return resume(heap, "c", "t");
}

static bool resume_origin(test_heap *heap)
{
    return resume(heap, "bare", NULL);
}

static bool read_history(test_heap *heap)
{
    alineo_resume resume;
    alineo_error error;
    test_store store;

    store_init(&store, events, COUNT_OF(events));
    store_scans(&store);
    alineo_error_init(&error, "f");
    alineo_resume_init(&resume, &heap->memory, &store.store);
    alineo_code code = alineo_resume_history(&resume, S("ci"), S("g"), &error);
    if (code == ALINEO_OK)
        assert_int_equal(alineo_fold_count(&resume.fold), 2);
    else
        assert_int_equal(code, ALINEO_NO_MEMORY);
    alineo_resume_free(&resume);
    store_free(&store);
    return code == ALINEO_OK;
}

static bool fold_events(test_heap *heap)
{
    alineo_fold fold;

    alineo_fold_init(&fold, &heap->memory);
    alineo_fold_result result = feed(&fold, events, 13);
    bool done = result == ALINEO_FOLD_OK && alineo_fold_settle(&fold);
    if (result != ALINEO_FOLD_OK)
        assert_int_equal(result, ALINEO_FOLD_NO_MEMORY);
    alineo_fold_free(&fold);
    return done;
}

static bool show_field(test_heap *heap)
{
    alineo_value value = {ALINEO_STRING, ALINEO_ESCAPED, SPAN("a\\u0000\\ud83d")};
    alineo_buffer out;

    alineo_buffer_init(&out, &heap->memory);
    alineo_span text = alineo_row_text(&value, &out);
    bool done = !out.failed;
    if (done)
        assert_text(text, S("a\xE2\x90\x80\xEF\xBF\xBD"));
    alineo_buffer_free(&out);
    return done;
}

static bool list_row(test_heap *heap)
{
    alineo_span payload = json_copy("'{\\'tag\\':\\'t\\'}'");
    alineo_fields_reader reader;
    alineo_error error;
    alineo_row row = {0};

    alineo_error_init(&error, "f");
    alineo_fields_reader_init(&reader, &heap->memory);
    alineo_code code = alineo_row_listed(&row, &reader, payload, &error);
    if (code == ALINEO_OK)
        assert_text(alineo_row_tag(&row.fields)->text, S("t"));
    else
        assert_string_equal(error.text, "f: out of memory");
    alineo_fields_reader_free(&reader);
    exact_free(payload);
    return code == ALINEO_OK;
}

static void a_batch_survives(void **state)
{
    (void)state;
    assert_survives(append_batch, 5);
}

static void the_canonical_form_survives(void **state)
{
    (void)state;
    assert_survives(write_canonical, 10);
}

static void the_storage_escape_survives(void **state)
{
    (void)state;
    assert_survives(write_stored, 3);
}

static void the_fold_survives(void **state)
{
    (void)state;
    assert_survives(fold_events, 20);
}

static void a_resume_survives(void **state)
{
    (void)state;
    assert_survives(resume_latest, 50);
}

static void a_resume_from_a_tag_survives(void **state)
{
    (void)state;
    assert_survives(resume_tag, 50);
}

static void a_resume_from_an_origin_survives(void **state)
{
    (void)state;
    assert_survives(resume_origin, 50);
}

static void the_history_survives(void **state)
{
    (void)state;
    assert_survives(read_history, 10);
}

static void a_field_that_is_shown_survives(void **state)
{
    (void)state;
    assert_survives(show_field, 2);
}

static void a_row_that_is_listed_survives(void **state)
{
    (void)state;
    assert_survives(list_row, 1);
}

static void a_buffer_that_failed_takes_nothing_more(void **state)
{
    alineo_buffer buffer;
    test_heap heap;

    (void)state;
    heap_init(&heap);
    alineo_buffer_init(&buffer, &heap.memory);
    alineo_buffer_text(&buffer, "kept");
    heap.fail_at = heap.calls + 1;
    assert_null(alineo_buffer_reserve(&buffer, 1000));
    assert_true(buffer.failed);
    alineo_buffer_byte(&buffer, 'x');
    assert_false(alineo_buffer_exact(&buffer, 2000));
    assert_text(alineo_buffer_span(&buffer), S("kept"));
    alineo_buffer_free(&buffer);
    alineo_buffer_text(&buffer, "again");
    assert_false(buffer.failed);
    assert_text(alineo_buffer_span(&buffer), S("again"));
    alineo_buffer_free(&buffer);
    heap_check(&heap);
}

static void a_size_beyond_the_address_space_fails_without_an_allocation(void **state)
{
    alineo_buffer buffer;
    test_heap heap;

    (void)state;
    heap_init(&heap);
    alineo_buffer_init(&buffer, &heap.memory);
    alineo_buffer_byte(&buffer, 'x');
    size_t calls = heap.calls;
    assert_null(alineo_buffer_reserve(&buffer, SIZE_MAX));
    assert_true(buffer.failed);
    assert_int_equal(heap.calls, calls);
    alineo_buffer_free(&buffer);
    heap_check(&heap);
}

static void a_buffer_without_an_allocator_counts(void **state)
{
    alineo_buffer buffer;

    (void)state;
    alineo_buffer_init(&buffer, NULL);
    alineo_buffer_text(&buffer, "four");
    alineo_buffer_byte(&buffer, '!');
    alineo_buffer_put(&buffer, NULL, 0);
    assert_int_equal(buffer.len, 5);
    assert_null(buffer.at);
    assert_false(buffer.failed);
    alineo_buffer_free(&buffer);
    assert_int_equal(buffer.len, 0);
}

static void an_empty_buffer_is_a_present_empty_text(void **state)
{
    alineo_buffer buffer;
    test_heap heap;

    (void)state;
    heap_init(&heap);
    alineo_buffer_init(&buffer, &heap.memory);
    assert_text(alineo_buffer_span(&buffer), S(""));
}

static void appends_grow_a_buffer_few_times(void **state)
{
    alineo_buffer buffer;
    test_heap heap;

    (void)state;
    heap_init(&heap);
    alineo_buffer_init(&buffer, &heap.memory);
    for (int i = 0; i < 100000; i++)
        alineo_buffer_byte(&buffer, (char)('a' + i % 26));
    assert_int_equal(buffer.len, 100000);
    assert_int_equal(buffer.at[99999], 'a' + 99999 % 26);
    assert_true(heap.calls < 40);
    alineo_buffer_free(&buffer);
    heap_check(&heap);
}

static void a_map_finds_each_key_again(void **state)
{
    enum { KEYS = 5000 };
    alineo_map map;
    test_heap heap;
    char text[16];

    (void)state;
    heap_init(&heap);
    alineo_map_init(&map, &heap.memory);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < KEYS; i++) {
            /* The first is empty, the others differ in a zero byte too. */
            size_t len = i == 0 ? 0 : (size_t)snprintf(text, sizeof text, "%zu", i) + i % 2;
            size_t *value = alineo_map_at(&map, (alineo_span){text, len});
            assert_non_null(value);
            assert_int_equal(*value, pass == 0 ? 0 : i + 1);
            *value = i + 1;
        }
    }
    alineo_map_free(&map);
    assert_int_equal(*alineo_map_at(&map, S("1")), 0);
    alineo_map_free(&map);
    heap_check(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_survives),
        cmocka_unit_test(the_canonical_form_survives),
        cmocka_unit_test(the_storage_escape_survives),
        cmocka_unit_test(the_fold_survives),
        cmocka_unit_test(a_resume_survives),
        cmocka_unit_test(a_resume_from_a_tag_survives),
        cmocka_unit_test(a_resume_from_an_origin_survives),
        cmocka_unit_test(the_history_survives),
        cmocka_unit_test(a_field_that_is_shown_survives),
        cmocka_unit_test(a_row_that_is_listed_survives),
        cmocka_unit_test(a_buffer_that_failed_takes_nothing_more),
        cmocka_unit_test(a_size_beyond_the_address_space_fails_without_an_allocation),
        cmocka_unit_test(a_buffer_without_an_allocator_counts),
        cmocka_unit_test(an_empty_buffer_is_a_present_empty_text),
        cmocka_unit_test(appends_grow_a_buffer_few_times),
        cmocka_unit_test(a_map_finds_each_key_again),
    };

    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
