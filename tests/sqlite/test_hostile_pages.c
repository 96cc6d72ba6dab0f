/*
 * test_hostile_pages.c - database files with damaged pages: bits flipped, bytes
 * overwritten, pages swapped or zeroed, the file cut off. Every call answers or
 * fails with an error; none crashes, and none goes on without end.
 *
 * ALINEO_SEED gives the seed, ALINEO_FAULTS=all makes ten times as many files.
 */
#include "calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAGE = 512 };

static unsigned char *image;
static sqlite3_int64 image_size;
static uint64_t seed, random_state;
static long files, failed_calls, calls_made;

/* xorshift64*: the same numbers on every machine. */
static uint64_t next_random(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * UINT64_C(0x2545F4914F6CDD1D);
}

static size_t below(size_t n)
{
    return (size_t)(next_random() % n);
}

static int make_image(void **state)
{
    const char *given = getenv("ALINEO_SEED");
    sqlite3 *db;

    (void)state;
    seed = given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 2654435761u | 1;
    print_message("ALINEO_SEED=%llu\n", (unsigned long long)seed);
    db = open_plain(":memory:", 0);
    run(db, "PRAGMA page_size = 512");
    load(db);
    fill_ledger(db);
    /* Overflow pages and trees of some depth. */
    run(db, "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)"
            " SELECT alineo_append('ci', 'sb-9', 'exec.output', json_object('seq', 1, 'type',"
            " 'stdout', 'text', printf('%.*c', i * 13, 'x')), NULL, NULL, NULL, 1) FROM n");
    unsigned char *serialized = sqlite3_serialize(db, "main", &image_size, 0);
    image = malloc((size_t)image_size);
    if (serialized == NULL || image == NULL)
        return -1;
    memcpy(image, serialized, (size_t)image_size);
    sqlite3_free(serialized);
    close_ledger(db);
    return 0;
}

static int tell_and_free(void **state)
{
    (void)state;
    tell_count("damaged files read and written", files);
    tell_count("calls that failed on them", failed_calls);
    tell_count("calls on them in all", calls_made);
    free(image);
    return 0;
}

static bool hung;

static int give_up(void *left)
{
    hung = --*(int *)left <= 0;
    return hung;
}

/* What a call may come to on a file that is damaged. What the pages hold may be
 * anything, also rows that are refused and a table that is not there. */
static bool is_allowed(int rc)
{
    switch (rc & 0xff) {
    case SQLITE_OK:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR:
    case SQLITE_CONSTRAINT:
    case SQLITE_FULL:
    case SQLITE_TOOBIG:
    case SQLITE_NOMEM:
    case SQLITE_MISMATCH:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN: return true;
    default: return false;
    }
}

/* More than a call over the unharmed file takes by far, in hundreds of opcodes. */
enum { WORK = 50000 };

static const char *const long_reads[] = {
    "SELECT sum(length(payload)) FROM alineo_replay('ci', 'sb-9')",
    "SELECT length(alineo_output('ci', 'sb-9', 1))",
};

static const char *call_of(size_t i)
{
    i %= call_count + COUNT_OF(long_reads);
    return i < call_count ? call_cases[i].sql : long_reads[i - call_count];
}

static void call_everything(unsigned char *content, sqlite3_int64 size)
{
    static answer got;
    sqlite3 *db = open_ledger(":memory:", 0);
    int left;

    assert_int_equal(
        sqlite3_deserialize(db, "main", content, size, size,
                            SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE),
        SQLITE_OK);
    files++;
    for (size_t i = 0; i < call_count + COUNT_OF(long_reads); i++) {
        const char *sql = call_of(i + (size_t)files);
        left = WORK;
        sqlite3_progress_handler(db, 100, give_up, &left);
        ask(db, sql, &got);
        sqlite3_progress_handler(db, 0, NULL, NULL);
        if (hung || !is_allowed(got.rc))
            fail_msg("seed %llu, file %ld, %s: code %d, %s%s", (unsigned long long)seed, files, sql,
                     got.rc, got.message, hung ? ", without end" : "");
        failed_calls += got.rc != SQLITE_OK;
        calls_made++;
    }
    close_ledger(db);
}

/* A copy for SQLite to free. */
static unsigned char *copy_of_image(sqlite3_int64 size)
{
    unsigned char *copy = sqlite3_malloc64((sqlite3_uint64)size + 1);

    assert_non_null(copy);
    memcpy(copy, image, (size_t)size);
    return copy;
}

static void flip_bits(unsigned char *page)
{
    for (size_t n = 1 + below(8); n > 0; n--)
        page[below(PAGE)] ^= (unsigned char)(1 << below(8));
}

/* The head of a page, with the counts and offsets that all else rests on. */
static void overwrite_head(unsigned char *page)
{
    for (size_t n = 1 + below(4); n > 0; n--)
        page[below(40)] = (unsigned char)next_random();
}

static void overwrite_run(unsigned char *page)
{
    size_t at = below(PAGE), len = 1 + below(PAGE - at);

    for (size_t i = 0; i < len; i++)
        page[at + i] = (unsigned char)next_random();
}

static void zero(unsigned char *page)
{
    memset(page, 0, PAGE);
}

static void take_another(unsigned char *page)
{
    memcpy(page, image + below((size_t)image_size / PAGE) * PAGE, PAGE);
}

/* An integer of four bytes that stands for a page, wherever it may be. */
static void point_elsewhere(unsigned char *page)
{
    unsigned char *at = page + below(PAGE - 3);

    at[0] = at[1] = 0;
    at[2] = (unsigned char)below(2);
    at[3] = (unsigned char)next_random();
}

static void (*const damages[])(unsigned char *page) = {
    flip_bits, overwrite_head, overwrite_run, zero, take_another, point_elsewhere,
};

static void a_damaged_page_crashes_nothing(void **state)
{
    int count = is_slow() ? 5 : fault_stride(10) == 1 ? 3000 : 300;

    (void)state;
    for (int i = 0; i < count; i++) {
        for (size_t d = 0; d < COUNT_OF(damages); d++) {
            random_state = seed + (uint64_t)i * 1000003u + d * 7919u + 1;
            (void)next_random();
            unsigned char *copy = copy_of_image(image_size);
            damages[d](copy + below((size_t)image_size / PAGE) * PAGE);
            call_everything(copy, image_size);
        }
    }
}

static void a_file_cut_off_crashes_nothing(void **state)
{
    int step = is_slow() ? 9973 : fault_stride(10) == 1 ? 31 : 251;

    (void)state;
    for (sqlite3_int64 size = 1; size < image_size; size += step)
        call_everything(copy_of_image(size), size);
}

/* The calls do come through to the functions. */
static void an_unharmed_file_answers_every_reading_call(void **state)
{
    static answer got;
    sqlite3 *db = open_ledger(":memory:", 0);

    (void)state;
    assert_int_equal(sqlite3_deserialize(db, "main", copy_of_image(image_size), image_size,
                                         image_size, SQLITE_DESERIALIZE_FREEONCLOSE),
                     SQLITE_OK);
    for (size_t i = 0; i < call_count; i++) {
        if (call_cases[i].writes)
            continue;
        ask(db, call_cases[i].sql, &got);
        assert_int_equal(got.rc, SQLITE_OK);
        assert_true(got.len > 0);
    }
    close_ledger(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unharmed_file_answers_every_reading_call),
        cmocka_unit_test(a_damaged_page_crashes_nothing),
        cmocka_unit_test(a_file_cut_off_crashes_nothing),
    };

    return cmocka_run_group_tests(tests, make_image, tell_and_free);
}
