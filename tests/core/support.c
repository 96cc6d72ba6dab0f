/*
 * support.c - see support.h.
 */
#include "support.h"
#include "json_scan.h"
#include "json_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In front of each block, for its size; keeps the block aligned. */
enum { HEADER = 16 };

static void heap_release(void *context, void *block)
{
    test_heap *heap = context;

    if (block == NULL)
        return;
    heap->live--;
    free((char *)block - HEADER);
}

static void *heap_resize(void *context, void *block, size_t size)
{
    test_heap *heap = context;

    heap->calls++;
    if (heap->fail_at != 0 &&
        (heap->calls == heap->fail_at || (heap->fail_on && heap->calls > heap->fail_at)))
        return NULL;
    assert_true(size > 0);
    char *fresh = malloc(HEADER + size);
    assert_non_null(fresh);
    memcpy(fresh, &size, sizeof size);
    if (block != NULL) {
        size_t old;
        memcpy(&old, (char *)block - HEADER, sizeof old);
        memcpy(fresh + HEADER, block, old < size ? old : size);
        heap_release(heap, block);
    }
    heap->live++;
    return fresh + HEADER;
}

void heap_init(test_heap *heap)
{
    memset(heap, 0, sizeof *heap);
    heap->memory = (alineo_memory){heap, heap_resize, heap_release};
}

void heap_check(const test_heap *heap)
{
    assert_int_equal(heap->live, 0);
}

alineo_span exact_copy(alineo_span text)
{
    char *block = malloc(HEADER + text.len);

    assert_non_null(block);
    if (text.len > 0)
        memcpy(block + HEADER, text.at, text.len);
    return (alineo_span){block + HEADER, text.len};
}

alineo_span json_copy(const char *quoted)
{
    alineo_span copy = exact_copy(span_of(quoted));

    for (size_t i = 0; i < copy.len; i++)
        if (copy.at[i] == '\'')
            ((char *)copy.at)[i] = '"';
    return copy;
}

void exact_free(alineo_span text)
{
    if (text.at != NULL)
        free((char *)text.at - HEADER);
}

alineo_span repeated(const char *before, char byte, size_t count, const char *after)
{
    size_t front = strlen(before), back = strlen(after);
    char *block = malloc(HEADER + front + count + back);

    assert_non_null(block);
    memcpy(block + HEADER, before, front);
    memset(block + HEADER + front, byte, count);
    memcpy(block + HEADER + front + count, after, back);
    return (alineo_span){block + HEADER, front + count + back};
}

alineo_span span_of(const char *text)
{
    return (alineo_span){text, strlen(text)};
}

static void show(const char *what, alineo_span text)
{
    print_error("%s (%zu bytes): ", what, text.len);
    for (size_t i = 0; i < text.len && i < 2000; i++) {
        unsigned char c = (unsigned char)text.at[i];
        print_error(c < 0x20 || c > 0x7E ? "\\x%02x" : "%c", c);
    }
    print_error("\n");
}

void check_text(alineo_span actual, alineo_span expected, const char *file, int line)
{
    if (actual.at != NULL && alineo_span_equal(actual, expected))
        return;
    show("expected", expected);
    if (actual.at == NULL)
        print_error("got NULL\n");
    else
        show("got     ", actual);
    _fail(file, line);
}

void check_json(alineo_span actual, const char *quoted, const char *file, int line)
{
    alineo_span expected = json_copy(quoted);

    check_text(actual, expected, file, line);
    exact_free(expected);
}

uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

unsigned random_below(uint64_t *state, unsigned limit)
{
    return (unsigned)(random_next(state) >> 16) % limit;
}

/* Reads an event as an engine would; the texts are released by the caller. */
static alineo_code read_event(const test_event *event, alineo_row *row,
                              alineo_fields_reader *reader, alineo_span *payload,
                              alineo_error *error)
{
    *payload = (alineo_span){NULL, 0};
    if (event->payload != NULL)
        *payload = json_copy(event->payload);
    row->id = event->id;
    row->ts = event->ts;
    row->step_idx = event->step_idx;
    row->damaged = 0;
    row->event = alineo_event_of(span_of(event->event));
    return alineo_row_payload(row, reader, *payload, error);
}

alineo_fold_result feed(alineo_fold *fold, const test_event *events, size_t count)
{
    alineo_fold_result result = ALINEO_FOLD_OK;
    alineo_fields_reader reader;
    alineo_error error;
    alineo_row row;
    test_heap heap;

    heap_init(&heap);
    alineo_fields_reader_init(&reader, &heap.memory);
    alineo_error_init(&error, "feed");
    for (size_t i = 0; i < count && result == ALINEO_FOLD_OK; i++) {
        alineo_span payload;
        assert_int_equal(read_event(&events[i], &row, &reader, &payload, &error), ALINEO_OK);
        result = alineo_fold_event(fold, &row);
        exact_free(payload);
    }
    alineo_fields_reader_free(&reader);
    heap_check(&heap);
    return result;
}

static void describe_integer(alineo_buffer *out, bool there, int64_t value)
{
    if (there)
        alineo_json_integer(out, value);
    else
        alineo_buffer_text(out, "-");
}

static void describe_stdin(alineo_buffer *out, const alineo_attempt *attempt)
{
    size_t begin = 0;

    for (size_t i = 0; i < attempt->in_ends.len / sizeof(size_t); i++) {
        size_t end;
        memcpy(&end, attempt->in_ends.at + i * sizeof end, sizeof end);
        alineo_buffer_text(out, i == 0 ? " in [" : ",");
        alineo_json_string(out, (alineo_span){attempt->in.at + begin, end - begin});
        begin = end;
    }
    if (attempt->in_ends.len > 0)
        alineo_buffer_text(out, "]");
}

static void describe_attempt(alineo_buffer *out, int64_t seq, const alineo_attempt *attempt)
{
    alineo_json_integer(out, seq);
    alineo_buffer_text(out, " ");
    if (attempt->has_command)
        alineo_json_string(out, alineo_buffer_span(&attempt->command));
    else
        alineo_buffer_text(out, "-");
    alineo_buffer_text(out, " out ");
    alineo_json_string(out, alineo_buffer_span(&attempt->out));
    alineo_buffer_text(out, " err ");
    alineo_json_string(out, alineo_buffer_span(&attempt->err));
    describe_stdin(out, attempt);
    if (attempt->cwd.len > 0) {
        alineo_buffer_text(out, " cwd ");
        alineo_buffer_put(out, attempt->cwd.at, attempt->cwd.len);
    }
    if (attempt->env.len > 0) {
        alineo_buffer_text(out, " env ");
        alineo_buffer_put(out, attempt->env.at, attempt->env.len);
    }
    alineo_buffer_text(out, " exit ");
    describe_integer(out, attempt->completed && attempt->has_exit_code, attempt->exit_code);
    alineo_buffer_text(out, " at ");
    describe_integer(out, attempt->started, attempt->started_at);
    alineo_buffer_text(out, "..");
    describe_integer(out, attempt->completed, attempt->completed_at);
    alineo_buffer_text(out, "\n");
}

void describe_latest(alineo_buffer *out, const alineo_fold *fold)
{
    for (size_t i = 0; i < alineo_fold_count(fold); i++) {
        const alineo_exec *exec = alineo_fold_exec(fold, i);
        assert_non_null(exec->current);
        describe_attempt(out, exec->seq, exec->current);
    }
}

void describe_settled(alineo_buffer *out, const alineo_fold *fold)
{
    for (size_t i = 0; i < alineo_fold_count(fold); i++) {
        const alineo_exec *exec = alineo_fold_exec(fold, i);
        assert_null(exec->current);
        if (exec->completed != NULL)
            describe_attempt(out, exec->seq, exec->completed);
        if (exec->pending != NULL) {
            alineo_buffer_text(out, "pending ");
            describe_attempt(out, exec->seq, exec->pending);
        }
    }
}

static bool is_setting(alineo_event event)
{
    return event == ALINEO_EGRESS_ADDED || event == ALINEO_EGRESS_REMOVED ||
           event == ALINEO_CREDENTIAL_BOUND || event == ALINEO_CREDENTIAL_REVOKED;
}

static bool matches(const test_event *event, alineo_query query, alineo_span name,
                    alineo_span sandbox_id, int64_t before)
{
    alineo_event kind = alineo_event_of(span_of(event->event));

    if (!alineo_span_equal(span_of(event->sandbox_id), sandbox_id))
        return false;
    if (query == ALINEO_QUERY_SANDBOX)
        return kind == ALINEO_SANDBOX_CREATED;
    if (!alineo_span_equal(span_of(event->name), name))
        return false;
    switch (query) {
    case ALINEO_QUERY_CREATED: return kind == ALINEO_SANDBOX_CREATED;
    case ALINEO_QUERY_CHECKPOINTS: return kind == ALINEO_CHECKPOINT_CREATED;
    case ALINEO_QUERY_SETTINGS: return is_setting(kind);
    default: return event->id < before;
    }
}

/* Whether event a comes before event b in the order of a query. */
static bool comes_before(const test_event *a, const test_event *b, alineo_query query)
{
    if (query == ALINEO_QUERY_SANDBOX || query == ALINEO_QUERY_CHECKPOINTS)
        return a->id > b->id;
    if (query == ALINEO_QUERY_EVENTS && a->ts != b->ts)
        return a->ts < b->ts;
    return a->id < b->id;
}

static bool call_fails(test_store *store, alineo_error *error)
{
    if (++store->calls != store->fail_at)
        return false;
    (void)alineo_fail(error, ALINEO_ENGINE, "the engine failed");
    return true;
}

static void drop_row(test_store *store)
{
    exact_free(store->row_payload);
    exact_free(store->row_name);
    exact_free(store->row_sandbox);
    store->row_payload = store->row_name = store->row_sandbox = (alineo_span){NULL, 0};
}

static alineo_code store_open(void *context, alineo_query query, alineo_span name,
                              alineo_span sandbox_id, int64_t before, alineo_error *error)
{
    test_store *store = context;

    assert_false(store->open);
    store->open = true;
    store->queries[query]++;
    store->match_count = store->next = 0;
    if (call_fails(store, error))
        return ALINEO_ENGINE;
    for (size_t i = 0; i < store->count; i++) {
        const test_event *event = &store->events[i];
        if (!matches(event, query, name, sandbox_id, before))
            continue;
        size_t at = store->match_count++;
        for (; at > 0 && comes_before(event, &store->events[store->matches[at - 1]], query); at--)
            store->matches[at] = store->matches[at - 1];
        store->matches[at] = i;
    }
    return ALINEO_OK;
}

static alineo_code store_next(void *context, alineo_row *row, bool *found, alineo_error *error)
{
    test_store *store = context;

    assert_true(store->open);
    drop_row(store);
    *found = false;
    if (call_fails(store, error))
        return ALINEO_ENGINE;
    if (store->next == store->match_count)
        return ALINEO_OK;
    const test_event *event = &store->events[store->matches[store->next++]];
    row->name = store->row_name = exact_copy(span_of(event->name));
    row->sandbox_id = store->row_sandbox = exact_copy(span_of(event->sandbox_id));
    *found = true;
    alineo_code code = read_event(event, row, &store->reader, &store->row_payload, error);
    row->damaged = event->id == store->damaged_id ? store->damaged : 0;
    return code;
}

static void store_close(void *context)
{
    test_store *store = context;

    assert_true(store->open);
    store->open = false;
    drop_row(store);
}

static alineo_code store_each(void *context, alineo_query query, alineo_span name,
                              alineo_span sandbox_id, int64_t before, alineo_visit visit,
                              void *argument, alineo_error *error)
{
    alineo_code code = store_open(context, query, name, sandbox_id, before, error);
    alineo_row row;
    bool found = true;

    while (code == ALINEO_OK) {
        code = store_next(context, &row, &found, error);
        if (code != ALINEO_OK || !found || !visit(argument, &row))
            break;
    }
    store_close(context);
    return code;
}

void store_scans(test_store *store)
{
    store->store.each = store_each;
}

void store_init(test_store *store, const test_event *events, size_t count)
{
    memset(store, 0, sizeof *store);
    store->store = (alineo_store){store, store_open, store_next, store_close, NULL};
    store->events = events;
    store->count = count;
    store->matches = malloc((count + 1) * sizeof *store->matches);
    assert_non_null(store->matches);
    heap_init(&store->heap);
    alineo_fields_reader_init(&store->reader, &store->heap.memory);
}

void store_free(test_store *store)
{
    assert_false(store->open);
    free(store->matches);
    alineo_fields_reader_free(&store->reader);
    heap_check(&store->heap);
}

alineo_code resume_document(test_store *store, test_heap *heap, const char *sandbox_id,
                            const char *tag, alineo_buffer *document, alineo_error *error)
{
    alineo_resume resume;
    alineo_buffer measure;
    alineo_span wanted = tag == NULL ? (alineo_span){NULL, 0} : exact_copy(span_of(tag));
    alineo_span id = exact_copy(span_of(sandbox_id));

    alineo_buffer_init(document, &heap->memory);
    alineo_buffer_init(&measure, NULL);
    alineo_error_init(error, "alineo_resume");
    alineo_resume_init(&resume, &heap->memory, &store->store);
    alineo_code code = alineo_resume_load(&resume, id, wanted, error);
    if (code == ALINEO_OK) {
        alineo_resume_write(&resume, &measure);
        if (alineo_buffer_exact(document, measure.len)) {
            alineo_resume_write(&resume, document);
            assert_int_equal(document->len, measure.len);
            assert_int_equal(document->room, measure.len);
        }
        code = document->failed ? alineo_fail_memory(error) : ALINEO_OK;
    }
    assert_int_equal(error->code, code);
    alineo_resume_free(&resume);
    exact_free(wanted);
    exact_free(id);
    return code;
}

alineo_span member_of(alineo_span object, const char *key)
{
    alineo_scan scan;
    alineo_value value;

    alineo_scan_init(&scan, object);
    assert_int_equal(alineo_scan_token(&scan), ALINEO_OBJECT);
    while (alineo_scan_token(&scan) == ALINEO_KEY) {
        bool wanted = alineo_span_equal(scan.text, span_of(key));
        assert_true(alineo_scan_value(&scan, &value));
        if (!wanted)
            continue;
        if (value.kind == ALINEO_STRING)
            return (alineo_span){value.text.at - 1, value.text.len + 2};
        return value.text;
    }
    return (alineo_span){NULL, 0};
}
