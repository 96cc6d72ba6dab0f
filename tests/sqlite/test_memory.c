/*
 * test_memory.c - allocations that fail: whichever it is, a call answers right
 * or with SQLITE_NOMEM, stores nothing then, leaks nothing, and the next call
 * works. Each call is tried as the first on its connection and as a later one.
 */
#include "support.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sqlite3_mem_methods real;
static long countdown;  /* allocations up to the one that fails; 0: none does */
static bool ever_after; /* every later one fails too */
static bool fired;

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

static void disarm(void)
{
    countdown = 0;
}

static const char *const encodings[] = {"UTF-8", "UTF-16le"};

/* Under valgrind not every allocation fails, but one of so many. */
static long stride(long most)
{
    return is_slow() ? most : 1;
}

/* A ledger with something for every path: lineage, clocks that step back,
 * legacy names, payloads encoded twice, text that columns cannot hold. */
static void fill(sqlite3 *db)
{
    (void)append(db, "sb-1", "sandbox.created",
                 "{'runId':'r\\u0000\xc3\xa9','resources':{'b':1,'a':2}}", 1);
    (void)append(db, "sb-1", "exec.started", "{'seq':1,'cmd':'ls \xc3\xa9'}", 2);
    (void)append(db, "sb-1", "exec.output", "{'seq':1,'type':'stdout','text':'a\\ud83d'}", 3);
    (void)append(db, "sb-1", "exec.output", "{'seq':1,'type':'stdout','text':'\\ude00b\\u0000'}",
                 4);
    (void)append(db, "sb-1", "exec.completed", "{'seq':1,'exitCode':0}", 5);
    (void)append(db, "sb-1", "exec.started",
                 "{'seq':2,'cmd':'sh','interactive':true,'cwd':'/','env':{'A':'1'}}", 6);
    (void)append(db, "sb-1", "exec.output", "{'seq':2,'type':'stdin','text':'x'}", 6);
    (void)append(db, "sb-1", "snapshot", "{'snapshotId':'s-1','tag':'t\\u00e9'}", 7);
    (void)append(db, "sb-2", "sandbox.created", "{'resumedFrom':'sb-1','snapshotId':'s-1'}", 8);
    (void)append(db, "sb-2", "exec.started", "{'seq':2,'cmd':'sh','interactive':true}", 9);
    (void)append(db, "sb-2", "exec.output", "{'seq':2,'type':'stdin','text':'y'}", 9);
    (void)append(db, "sb-2", "egress.rule_added", "{'rules':[{'target':'a'},{'target':'b'}]}", 9);
    (void)append(db, "sb-2", "egress.rule_removed", "{'targets':['a','c']}", 9);
    (void)append(db, "sb-2", "credential.bound", "{'name':'k','binding':{'h':1}}", 9);
    (void)append(db, "sb-2", "snapshot", "{'snapshotId':'s-2'}", 4);
    (void)append(db, "sb-2", "sandbox.closed", NULL, 9);
    run(db, "INSERT INTO alineo_events(sandbox_id, name, step_idx, event, payload, error, ts)"
            " VALUES ('sb-3', 'ci', 1, 'exec_start', '\"{\\\"seq\\\":1,\\\"cmd\\\":\\\"ls\\\"}\"',"
            " 'a' || char(0), 1);"
            "SELECT alineo_save_environment('py', 's', 'i', 5)");
}

static unsigned char *images[COUNT_OF(encodings)];
static sqlite3_int64 image_sizes[COUNT_OF(encodings)];

static int make_images(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(encodings); i++) {
        sqlite3 *db = open_plain(":memory:", 0);
        run(db, sqlf("PRAGMA encoding = '%s'", encodings[i]));
        load(db);
        fill(db);
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

#define FIRST_ENTRY "{\"name\":\"c\\u0069\",\"sandboxId\":\"sb-2\",\"event\":\"x\"}"
#define SECOND_ENTRY                                                                               \
    "{\"name\":\"ci\",\"sandboxId\":\"sb-2\",\"event\":\"y\",\"ts\":1,\"error\":\"\\u0000\"}"

static const char *const calls[] = {
    "SELECT alineo_append('ci', 'sb-2', 'exec.started', '{\"seq\":7}', 7, 0, 'e', 99) > 0",
    "SELECT alineo_append('ci', 'sb-2', 'exec_start', '\"{\\\"seq\\\":7}\"') > 0",
    "SELECT alineo_append('ci', 'sb-2', 'x', NULL, NULL, NULL, 'a' || char(0)) > 0",
    "SELECT alineo_append_batch('[" FIRST_ENTRY "," SECOND_ENTRY "]')",
    "SELECT alineo_delete_sandbox('ci', 'sb-2')",
    "SELECT alineo_save_environment('py', 's-2', 'i', 6) IS NULL",
    "SELECT alineo_delete_environment('py')",
    "SELECT alineo_init()",
    "SELECT alineo_version()",
    "SELECT * FROM alineo_replay('ci', 'sb-1')",
    "SELECT * FROM alineo_replay('ci', 'sb-3')",
    "SELECT * FROM alineo_replay('ci', 'sb-1') WHERE ts > 2 AND id < 7 ORDER BY ts, id",
    "SELECT * FROM alineo_replay_cache('ci', 'sb-2')",
    "SELECT * FROM alineo_replay_cache('ci', 'sb-1', 't\xc3\xa9')",
    "SELECT * FROM alineo_execs('ci', 'sb-1')",
    "SELECT * FROM alineo_execs('ci', 'sb-3') WHERE seq = 1",
    "SELECT alineo_resume('sb-2')",
    "SELECT alineo_resume('sb-1', 't\xc3\xa9')",
    "SELECT alineo_output('ci', 'sb-1', 1)",
    "SELECT alineo_output('ci', 'sb-1', 2, 'stdin')",
    "SELECT * FROM alineo_last_checkpoint('ci', 'sb-1')",
    "SELECT * FROM alineo_list_checkpoints('ci', 'sb-1')",
    "SELECT * FROM alineo_list_sandboxes()",
    "SELECT * FROM alineo_list_sandboxes('ci', 'completed', 'sb-2', 99, 5)",
    "SELECT * FROM alineo_get_sandbox('ci', 'sb-1')",
    "SELECT * FROM alineo_get_environment('py')",
    "SELECT * FROM alineo_list_environments()",
};

/* What a call answered, kept where no allocation is needed. */
typedef struct answer {
    int rc;
    size_t len;
    char text[8192];
} answer;

static void put(answer *a, const void *at, size_t len)
{
    assert_true(a->len + len < sizeof a->text);
    memcpy(a->text + a->len, at, len);
    a->len += len;
}

/* A conversion to text may be SQLite's own allocation: integers need none. */
static void put_value(answer *a, sqlite3_stmt *statement, int column)
{
    char digits[24];
    const void *at;
    int len;

    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL: put(a, "-", 1); return;
    case SQLITE_INTEGER:
        len = snprintf(digits, sizeof digits, "%lld", sqlite3_column_int64(statement, column));
        put(a, digits, (size_t)len);
        return;
    case SQLITE_BLOB: at = sqlite3_column_blob(statement, column); break;
    default: at = sqlite3_column_text(statement, column); break;
    }
    if (at == NULL)
        a->rc = SQLITE_NOMEM;
    else
        put(a, at, (size_t)sqlite3_column_bytes(statement, column));
}

static void put_row(answer *a, sqlite3_stmt *statement)
{
    for (int i = 0; i < sqlite3_column_count(statement); i++) {
        put_value(a, statement, i);
        put(a, "|", 1);
    }
    put(a, "\n", 1);
}

static void ask(sqlite3 *db, const char *sql, answer *a)
{
    sqlite3_stmt *statement = NULL;

    a->len = 0;
    a->rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    while (a->rc == SQLITE_OK) {
        int rc = sqlite3_step(statement);
        if (rc == SQLITE_ROW) {
            put_row(a, statement);
            continue;
        }
        a->rc = rc == SQLITE_DONE ? SQLITE_OK : rc;
        break;
    }
    (void)sqlite3_finalize(statement);
}

static void assert_same(const answer *a, const answer *expected, const char *sql, long nth)
{
    if (a->rc == expected->rc && a->len == expected->len &&
        memcmp(a->text, expected->text, a->len) == 0)
        return;
    print_error("%s\nwith allocation %ld failing: code %d\n%.*s\nand not code %d\n%.*s\n", sql, nth,
                a->rc, (int)a->len, a->text, expected->rc, (int)expected->len, expected->text);
    fail();
}

static const char *const everything = "SELECT * FROM alineo_events ORDER BY id;";
static const char *const environments = "SELECT * FROM alineo_environments";

/* A failed call answers NOMEM and has stored nothing, any other is right. */
static void check_attempt(sqlite3 *db, const char *sql, long nth, const answer *got,
                          const answer *expected, const answer *events, const answer *saved)
{
    static answer now;

    if (got->rc != SQLITE_NOMEM) {
        assert_same(got, expected, sql, nth);
        return;
    }
    ask(db, everything, &now);
    assert_same(&now, events, sql, nth);
    ask(db, environments, &now);
    assert_same(&now, saved, sql, nth);
}

static void try_as_first_call(size_t image, const char *sql)
{
    static answer expected, got, events, saved;
    sqlite3 *db = open_image(image);

    ask(db, everything, &events);
    ask(db, environments, &saved);
    ask(db, sql, &expected);
    assert_int_equal(expected.rc, SQLITE_OK);
    close_ledger(db);
    sqlite3_int64 base = sqlite3_memory_used();
    for (long nth = 1;; nth += stride(37)) {
        db = open_image(image);
        arm(nth, false);
        ask(db, sql, &got);
        disarm();
        bool failed = fired;
        check_attempt(db, sql, nth, &got, &expected, &events, &saved);
        if (got.rc == SQLITE_NOMEM) {
            ask(db, sql, &got);
            assert_same(&got, &expected, sql, nth);
        }
        close_ledger(db);
        assert_int_equal(sqlite3_memory_used(), base);
        if (!failed)
            return;
    }
}

static void try_as_later_call(size_t image, const char *sql, bool on)
{
    static answer expected, got, events, saved;
    sqlite3_int64 base = sqlite3_memory_used();
    sqlite3 *db = open_image(image);

    ask(db, everything, &events);
    ask(db, environments, &saved);
    run(db, "BEGIN");
    ask(db, sql, &expected);
    assert_int_equal(expected.rc, SQLITE_OK);
    run(db, "ROLLBACK");
    for (long nth = 1;; nth += stride(5)) {
        run(db, "BEGIN");
        arm(nth, on);
        ask(db, sql, &got);
        disarm();
        bool failed = fired;
        check_attempt(db, sql, nth, &got, &expected, &events, &saved);
        /* Running out of memory may end a transaction. */
        if (!sqlite3_get_autocommit(db))
            run(db, "ROLLBACK");
        if (!failed)
            break;
    }
    close_ledger(db);
    assert_int_equal(sqlite3_memory_used(), base);
}

static void the_first_call_of_a_connection_survives_any_failing_allocation(void **state)
{
    (void)state;
    for (size_t image = 0; image < COUNT_OF(encodings); image++)
        for (size_t i = 0; i < COUNT_OF(calls); i++)
            try_as_first_call(image, calls[i]);
}

static void a_later_call_survives_any_failing_allocation(void **state)
{
    (void)state;
    for (size_t image = 0; image < COUNT_OF(encodings); image++)
        for (size_t i = 0; i < COUNT_OF(calls); i++)
            try_as_later_call(image, calls[i], false);
}

static void a_later_call_survives_memory_that_stays_out(void **state)
{
    (void)state;
    for (size_t image = 0; image < COUNT_OF(encodings); image++)
        for (size_t i = 0; i < COUNT_OF(calls); i++)
            try_as_later_call(image, calls[i], true);
}

static void the_first_append_to_an_empty_database_survives_any_failing_allocation(void **state)
{
    const char *sql = "SELECT alineo_append('ci', 'sb-1', 'x', NULL, NULL, NULL, NULL, 1)";
    static answer got;

    (void)state;
    sqlite3_int64 base = sqlite3_memory_used();
    for (long nth = 1;; nth += stride(7)) {
        sqlite3 *db = open_ledger(":memory:", 0);
        arm(nth, false);
        ask(db, sql, &got);
        disarm();
        bool failed = fired;
        if (got.rc == SQLITE_NOMEM)
            assert_int_equal(integer(db, sql), 1);
        else
            assert_int_equal(got.rc, SQLITE_OK);
        assert_rows(db, "SELECT count(*) FROM alineo_replay('ci', 'sb-1')", "1");
        close_ledger(db);
        assert_int_equal(sqlite3_memory_used(), base);
        if (!failed)
            return;
    }
}

static void loading_survives_any_failing_allocation(void **state)
{
    (void)state;
    for (int on = 0; on < 2; on++) {
        sqlite3_int64 base = sqlite3_memory_used();
        for (long nth = 1;; nth += stride(7)) {
            sqlite3 *db = open_plain(":memory:", 0);
            assert_int_equal(sqlite3_enable_load_extension(db, 1), SQLITE_OK);
            arm(nth, on == 1);
            int rc = sqlite3_load_extension(db, extension_path(), NULL, NULL);
            disarm();
            bool failed = fired;
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
            disarm();
            assert_true(got.rc == SQLITE_ERROR || got.rc == SQLITE_NOMEM);
            if (!fired)
                break;
        }
        close_ledger(db);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_call_of_a_connection_survives_any_failing_allocation),
        cmocka_unit_test(a_later_call_survives_any_failing_allocation),
        cmocka_unit_test(a_later_call_survives_memory_that_stays_out),
        cmocka_unit_test(the_first_append_to_an_empty_database_survives_any_failing_allocation),
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
