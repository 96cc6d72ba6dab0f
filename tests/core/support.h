/*
 * support.h - what the tests of the core share: an allocator that counts and
 * fails on demand, texts in blocks of their exact size, readable forms of what
 * the core answers, and a store of events in memory.
 *
 * JSON in C strings is written with ' for ", which no test needs otherwise.
 */
#ifndef ALINEO_TEST_SUPPORT_H
#define ALINEO_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "resume.h"

/* A literal as a span, which may hold NUL: in a table, and in an expression. */
#define SPAN(literal)                                                                              \
    {                                                                                              \
        "" literal "", sizeof(literal) - 1                                                         \
    }
#define S(literal)      ((alineo_span)SPAN(literal))
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* An allocator over malloc. A growth always moves the block, so that a pointer
 * kept across it is seen. */
typedef struct test_heap {
    alineo_memory memory;
    size_t live;    /* blocks not given back */
    size_t calls;   /* allocations and growths asked for */
    size_t fail_at; /* the call that fails, counted from 1; 0: none does */
    bool fail_on;   /* every later call fails too */
} test_heap;

void heap_init(test_heap *heap);
/* Asserts that every block was given back. */
void heap_check(const test_heap *heap);

/* A copy in a block of exactly its size; json_copy also turns ' into ". */
alineo_span exact_copy(alineo_span text);
alineo_span json_copy(const char *quoted);
void exact_free(alineo_span text);
/* `count` times the byte, then the rest; freed with exact_free. */
alineo_span repeated(const char *before, char byte, size_t count, const char *after);

alineo_span span_of(const char *text);

/* Asserts equal texts; the second one also turns ' of the expected into ". */
#define assert_text(actual, expected) check_text(actual, expected, __FILE__, __LINE__)
#define assert_json(actual, quoted)   check_json(actual, quoted, __FILE__, __LINE__)
void check_text(alineo_span actual, alineo_span expected, const char *file, int line);
void check_json(alineo_span actual, const char *quoted, const char *file, int line);

/* A sequence that is the same in every run; the state starts at any number but 0. */
uint64_t random_next(uint64_t *state);
unsigned random_below(uint64_t *state, unsigned limit);

/* A recorded event; the payload with ' for ", NULL for none. */
typedef struct test_event {
    int64_t id, ts, step_idx;
    const char *name, *sandbox_id, *event, *payload;
} test_event;

/* Feeds events one by one, each payload in a block that is gone afterwards.
 * Stops at the first result that is not ALINEO_FOLD_OK. */
alineo_fold_result feed(alineo_fold *fold, const test_event *events, size_t count);

/* Appends a line for each exec: the latest attempts, or what a settled fold
 * keeps (a pending one behind the word pending). The form of a line is
 *   seq command out stdout err stderr [in [stdin, ...]] [cwd ..] [env ..]
 *   exit code at start..end
 * with texts as JSON strings and - for what is absent. */
void describe_latest(alineo_buffer *out, const alineo_fold *fold);
void describe_settled(alineo_buffer *out, const alineo_fold *fold);

/* A ledger in memory. It asserts that one query is open at a time and that
 * each is closed, and it drops a row as soon as it may. */
typedef struct test_store {
    alineo_store store;
    const test_event *events;
    size_t count;
    size_t *matches; /* indexes of the events the open query gives */
    size_t match_count, next;
    bool open;
    size_t queries[ALINEO_QUERY_COUNT]; /* how many of each were opened */
    size_t calls;                       /* of open and next */
    size_t fail_at;                     /* the call that fails, from 1; 0: none does */
    test_heap heap;                     /* the engine's own memory */
    alineo_fields_reader reader;
    alineo_span row_payload, row_name, row_sandbox;
    int64_t damaged_id; /* a row whose columns `damaged` could not be read */
    unsigned damaged;
} test_store;

void store_init(test_store *store, const test_event *events, size_t count);
void store_free(test_store *store);
/* Gives the store a way to scan a whole query, alineo_store.each. */
void store_scans(test_store *store);

/* Loads a session and writes its document, measured first; `document` is
 * started here and stays empty on an error. `tag` may be NULL. */
alineo_code resume_document(test_store *store, test_heap *heap, const char *sandbox_id,
                            const char *tag, alineo_buffer *document, alineo_error *error);
/* The text of a member of a JSON object; `at` NULL where there is none. */
alineo_span member_of(alineo_span object, const char *key);

#endif
