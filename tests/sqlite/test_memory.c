/*
 * test_memory.c - allocations that fail: whichever it is, a call answers right
 * or with SQLITE_NOMEM, stores nothing then, leaks nothing, and the next call
 * works. Each call is tried in each situation, with one allocation that fails
 * and with all from one on. All of them where ALINEO_FAULTS is all.
 */
#include "trial.h"

#include <stdlib.h>
#include <string.h>

static sqlite3_mem_methods real;
static long countdown;  /* allocations up to the one that fails; 0: none does */
static bool ever_after; /* every later one fails too */
static bool fired;
static long injected; /* faults, all told */

static bool fails(void)
{
    if (countdown == 0)
        return false;
    if (countdown > 1) {
        countdown--;
        return false;
    }
    fired = true;
    if (!ever_after)
        countdown = 0;
    return true;
}

static void *failing_malloc(int size)
{
    return fails() ? NULL : real.xMalloc(size);
}

static void *failing_realloc(void *block, int size)
{
    return fails() ? NULL : real.xRealloc(block, size);
}

static void arm(long nth, bool on)
{
    fired = false;
    ever_after = on;
    countdown = nth;
}

static void arm_once(long nth)
{
    arm(nth, false);
}

static void arm_on(long nth)
{
    arm(nth, true);
}

static bool disarm(void)
{
    countdown = 0;
    injected += fired;
    return fired;
}

static bool is_nomem(const answer *got)
{
    return got->rc == SQLITE_NOMEM;
}

/* Which allocations fail where not all are tried; under valgrind fewer. */
static long stride(int most)
{
    return is_slow() ? 3 * most : fault_stride(most);
}

static const char *const encodings[] = {"UTF-8", "UTF-16le"};

static unsigned char *images[COUNT_OF(encodings)];
static sqlite3_int64 image_sizes[COUNT_OF(encodings)];

static int make_images(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(encodings); i++) {
        sqlite3 *db = open_plain(":memory:", 0);
        run(db, sqlf("PRAGMA encoding = '%s'", encodings[i]));
        load(db);
        fill_ledger(db);
        unsigned char *image = sqlite3_serialize(db, "main", &image_sizes[i], 0);
        images[i] = malloc((size_t)image_sizes[i]);
        if (image == NULL || images[i] == NULL)
            return -1;
        memcpy(images[i], image, (size_t)image_sizes[i]);
        sqlite3_free(image);
        close_ledger(db);
    }
    return 0;
}

static int free_images(void **state)
{
    (void)state;
    tell_count("allocations made to fail", injected);
    for (size_t i = 0; i < COUNT_OF(encodings); i++)
        free(images[i]);
    return 0;
}

static sqlite3 *open_image(size_t i)
{
    sqlite3 *db = open_ledger(":memory:", 0);
    unsigned char *copy = sqlite3_malloc64((sqlite3_uint64)image_sizes[i]);

    assert_non_null(copy);
    memcpy(copy, images[i], (size_t)image_sizes[i]);
    assert_int_equal(
        sqlite3_deserialize(db, "main", copy, image_sizes[i], image_sizes[i],
                            SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE),
        SQLITE_OK);
    return db;
}

static const situation first = {.name = "the first call"};
static const situation first_inside = {.name = "the first call, in a transaction", .inside = true};
static const situation later = {.name = "a later call", .cached = true};
static const situation later_inside = {
    .name = "a later call, in a transaction", .cached = true, .inside = true};
static const situation empty = {.name = "the first call, on no ledger", .empty = true};
static const situation empty_inside = {
    .name = "the first call, on no ledger, in a transaction", .empty = true, .inside = true};

static sqlite3 *open_for(const situation *at, size_t image)
{
    if (!at->empty)
        return open_image(image);
    sqlite3 *db = open_ledger(":memory:", 0);
    run(db, sqlf("PRAGMA encoding = '%s'", encodings[image]));
    return db;
}

static void try_call(trial *t, size_t image, long step)
{
    sqlite3_int64 base = sqlite3_memory_used();
    sqlite3 *db = open_for(t->at, image);
    bool struck = true;

    trial_begin(t, db);
    close_ledger(db);
    /* Starting elsewhere for each call, so that the gaps differ. */
    for (long nth = 1 + (t->call - call_cases) % step; struck; nth += step) {
        db = open_for(t->at, image);
        struck = trial_run(t, db, nth);
        trial_look(t, db, nth);
        close_ledger(db);
        assert_int_equal(sqlite3_memory_used(), base);
    }
}

static void try_all(const situation *at, int most)
{
    static trial t;
    static long round;
    long step = stride(most);

    for (int on = 0; on < 2; on++) {
        t = (trial){.at = at,
                    .fault = on ? "every allocation from one on" : "one allocation",
                    .arm = on ? arm_on : arm_once,
                    .disarm = disarm,
                    .is_its_error = is_nomem};
        for (size_t image = 0; image < COUNT_OF(encodings); image++) {
            round++;
            for (size_t i = 0; i < call_count; i++) {
                t.call = &call_cases[i];
                if (takes_turn(i, round) && trial_applies(t.call, at))
                    try_call(&t, image, step);
            }
        }
    }
}

static void the_first_call_of_a_connection_survives_any_failing_allocation(void **state)
{
    (void)state;
    try_all(&first, 29);
}

static void the_first_call_in_a_transaction_survives_any_failing_allocation(void **state)
{
    (void)state;
    try_all(&first_inside, 41);
}

static void a_later_call_survives_any_failing_allocation(void **state)
{
    (void)state;
    try_all(&later, 7);
}

static void a_later_call_in_a_transaction_survives_any_failing_allocation(void **state)
{
    (void)state;
    try_all(&later_inside, 7);
}

static void a_call_that_makes_the_tables_survives_any_failing_allocation(void **state)
{
    (void)state;
    try_all(&empty, 23);
    try_all(&empty_inside, 31);
}

static void loading_survives_any_failing_allocation(void **state)
{
    (void)state;
    for (int on = 0; on < 2; on++) {
        sqlite3_int64 base = sqlite3_memory_used();
        for (long nth = 1;; nth += stride(3)) {
            sqlite3 *db = open_plain(":memory:", 0);
            assert_int_equal(sqlite3_enable_load_extension(db, 1), SQLITE_OK);
            arm(nth, on == 1);
            int rc = sqlite3_load_extension(db, extension_path(), NULL, NULL);
            bool failed = disarm();
            if (rc != SQLITE_OK)
                load(db);
            assert_int_equal(append(db, "sb-1", "x", NULL, 1), 1);
            assert_rows(db, "SELECT event FROM alineo_replay('ci', 'sb-1')", "x");
            close_ledger(db);
            assert_int_equal(sqlite3_memory_used(), base);
            if (!failed)
                break;
        }
    }
}

static void an_error_text_survives_any_failing_allocation(void **state)
{
    static const char *const failing[] = {
        "SELECT alineo_append('ci', 'sb-1', '')",
        "SELECT alineo_append_batch('[{}]')",
        "SELECT alineo_resume('nobody')",
        "SELECT * FROM alineo_replay('ci')",
        "SELECT * FROM alineo_list_sandboxes(NULL, 'lost')",
    };
    static answer got;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(failing); i++) {
        sqlite3 *db = open_image(0);
        ask(db, failing[i], &got);
        assert_int_equal(got.rc, SQLITE_ERROR);
        for (long nth = 1;; nth++) {
            arm(nth, false);
            ask(db, failing[i], &got);
            bool failed = disarm();
            assert_true(got.rc == SQLITE_ERROR || got.rc == SQLITE_NOMEM);
            if (!failed)
                break;
        }
        close_ledger(db);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_call_of_a_connection_survives_any_failing_allocation),
        cmocka_unit_test(the_first_call_in_a_transaction_survives_any_failing_allocation),
        cmocka_unit_test(a_later_call_survives_any_failing_allocation),
        cmocka_unit_test(a_later_call_in_a_transaction_survives_any_failing_allocation),
        cmocka_unit_test(a_call_that_makes_the_tables_survives_any_failing_allocation),
        cmocka_unit_test(loading_survives_any_failing_allocation),
        cmocka_unit_test(an_error_text_survives_any_failing_allocation),
    };
    sqlite3_mem_methods failing;

    /* Before SQLite is first used; without lookaside every allocation counts. */
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real) != SQLITE_OK ||
        sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0) != SQLITE_OK)
        return 1;
    failing = real;
    failing.xMalloc = failing_malloc;
    failing.xRealloc = failing_realloc;
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &failing) != SQLITE_OK)
        return 1;
    return cmocka_run_group_tests(tests, make_images, free_images);
}
