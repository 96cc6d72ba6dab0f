/*
 * test_io.c - I/O that fails: whichever call to the file system it is, a call of
 * ours answers right or fails with the engine's own code, in the engine's words
 * behind the function's name, and has stored nothing then; nothing leaks, the
 * next call works, and the file read without faults has just the events that it
 * must have. All of them where ALINEO_FAULTS is all.
 */
#include "fault_vfs.h"
#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file as it lies on the disk. */
typedef struct image {
    char *content; /* NULL: not there */
    sqlite3_int64 size;
} image;

/* A database and what lies beside it. */
typedef struct state_on_disk {
    image file, wal, journal;
} state_on_disk;

static state_on_disk wal_ledger, rollback_ledger, hot_wal, hot_journal, nothing;

/* A kind of database under test. */
typedef struct mode {
    const char *name;
    const state_on_disk *at_first;
    bool without_shm;   /* so that it stays with a rollback journal */
    const char *pragma; /* run on each connection */
    bool first_only;    /* it is another kind after the first call */
} mode;

/* Few pages are kept, so that later calls read the file as well. */
#define FEW_PAGES "PRAGMA cache_size = 5;"

static const mode in_wal = {"in WAL mode", &wal_ledger, false, FEW_PAGES, false};
static const mode with_journal = {"with a journal", &rollback_ledger, true, FEW_PAGES, false};
static const mode mapped = {"in WAL mode, mapped", &wal_ledger, false,
                            FEW_PAGES "PRAGMA mmap_size = 1000000", false};
static const mode checkpointing = {"in WAL mode, with a checkpoint after each write", &wal_ledger,
                                   false, FEW_PAGES "PRAGMA wal_autocheckpoint = 1", false};
static const mode cutting_journal = {"with a journal that is cut off", &rollback_ledger, true,
                                     FEW_PAGES "PRAGMA journal_mode = truncate", false};
static const mode becoming_wal = {"on its way to WAL", &rollback_ledger, false, "", true};
static const mode recovering_wal = {"with a WAL left behind", &hot_wal, false, "", true};
static const mode rolling_back = {"with a hot journal", &hot_journal, true, "", true};
static const mode absent = {"without a file", &nothing, false, "", true};
static const mode absent_without_wal = {"without a file or shared memory", &nothing, true, "",
                                        true};

static const situation first = {.name = "the first call"};
static const situation first_inside = {.name = "the first call, in a transaction", .inside = true};
static const situation later = {.name = "a later call", .cached = true};
static const situation later_inside = {
    .name = "a later call, in a transaction", .cached = true, .inside = true};
static const situation at_commit = {
    .name = "the COMMIT behind a call", .cached = true, .inside = true, .commit = true};
static const situation empty = {.name = "the first call, on no ledger", .empty = true};
static const situation empty_inside = {
    .name = "the first call, on no ledger, in a transaction", .empty = true, .inside = true};

static io_fault fault;
static bool cuts_journal;
static long came_late; /* errors of writes that were stored */
static void (*on_error)(const trial *t, long nth);
/* Of the database under test, and of a copy as a crash leaves it behind. */
static char live_path[96], crash_path[104];
static const char *path = live_path;

static const char *beside(const char *suffix)
{
    return sqlf("%s%s", path, suffix);
}

static image take_image(const char *suffix)
{
    image i = {NULL, 0};

    if (access(beside(suffix), F_OK) == 0)
        i.content = read_file(beside(suffix), &i.size);
    return i;
}

static void put_image(const char *suffix, const image *i)
{
    (void)unlink(beside(suffix));
    if (i->content == NULL)
        return;
    FILE *file = fopen(beside(suffix), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(i->content, 1, (size_t)i->size, file), i->size);
    assert_int_equal(fclose(file), 0);
}

static void restore(const state_on_disk *s)
{
    put_image("", &s->file);
    put_image("-wal", &s->wal);
    put_image("-journal", &s->journal);
    (void)unlink(beside("-shm"));
}

static state_on_disk take(void)
{
    return (state_on_disk){take_image(""), take_image("-wal"), take_image("-journal")};
}

static int make_images(void **state)
{
    fixture *f;

    if (setup_file(state) != 0)
        return -1;
    f = *state;
    (void)snprintf(live_path, sizeof live_path, "%s", f->path);
    (void)snprintf(crash_path, sizeof crash_path, "%s.crash", live_path);
    fault_vfs_register();
    run(f->db, "PRAGMA page_size = 512");
    fill_ledger(f->db);
    hot_wal = take();
    close_ledger(f->db);
    wal_ledger = take();
    f->db = open_plain(path, 0);
    run(f->db, "PRAGMA journal_mode = delete");
    rollback_ledger = take();
    run(f->db, "BEGIN; DELETE FROM alineo_events; INSERT INTO marks VALUES (7)");
    assert_int_equal(sqlite3_db_cacheflush(f->db), SQLITE_OK);
    hot_journal = take();
    run(f->db, "ROLLBACK");
    close_ledger(f->db);
    f->db = NULL;
    return hot_wal.wal.content != NULL && hot_journal.journal.content != NULL ? 0 : -1;
}

static void free_images(state_on_disk *s)
{
    sqlite3_free(s->file.content);
    sqlite3_free(s->wal.content);
    sqlite3_free(s->journal.content);
}

static int tell_and_tear_down(void **state)
{
    long total;
    const char *counts = fault_vfs_counts(&total);

    tell_count("calls of the file system made to fail", total);
    print_message("counted: %s\n", counts);
    tell_count("errors of writes that were stored", came_late);
    free_images(&wal_ledger);
    free_images(&rollback_ledger);
    free_images(&hot_wal);
    free_images(&hot_journal);
    return teardown(state);
}

static void arm(long nth)
{
    fault_vfs_arm(fault, nth);
}

static bool is_its_error(const answer *got)
{
    switch (fault) {
    case IO_FULL: return got->rc == SQLITE_FULL;
    case IO_BUSY: return (got->rc & 0xff) == SQLITE_BUSY;
    default: return (got->rc & 0xff) == SQLITE_IOERR || (got->rc & 0xff) == SQLITE_CANTOPEN;
    }
}

/* With a journal the file is unlocked, and a journal that was cut off synced,
 * when the write is stored; the failure to do so comes back as the write's. A
 * plain INSERT's does likewise. */
static bool comes_late(const answer *got)
{
    return got->rc == SQLITE_IOERR_UNLOCK || (cuts_journal && got->rc == SQLITE_IOERR_FSYNC);
}

static sqlite3 *open_on(const mode *m)
{
    sqlite3 *db;

    assert_int_equal(
        sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, FAULT_VFS),
        SQLITE_OK);
    load(db);
    run(db, m->pragma);
    return db;
}

static void look_without_faults(const trial *t, long nth)
{
    sqlite3 *db = open_plain(path, 0);

    run(db, "PRAGMA synchronous = off");
    trial_look(t, db, nth);
    close_ledger(db);
}

static void try_call(trial *t, const mode *m, long step)
{
    static long start;
    bool struck = true;
    sqlite3 *db;

    fault_vfs_without_shm(m->without_shm);
    restore(m->at_first);
    sqlite3_int64 base = sqlite3_memory_used();
    db = open_on(m);
    trial_begin(t, db);
    close_ledger(db);
    /* Starting elsewhere for each call, so that the gaps differ. */
    for (long nth = 1 + start++ % step; struck; nth += step) {
        restore(m->at_first);
        db = open_on(m);
        struck = trial_run(t, db, nth);
        close_ledger(db);
        assert_int_equal(sqlite3_memory_used(), base);
        if (!t->spoils)
            look_without_faults(t, nth);
    }
}

static void try_all(const mode *m, const situation *at, io_fault kind, int most)
{
    static const char *const names[] = {"one I/O call", "every I/O call from one on", "a full disk",
                                        "a lock held by another", "a short read"};
    static char name[64];
    static long round;
    static trial t;

    fault = kind;
    cuts_journal = m == &cutting_journal;
    (void)snprintf(name, sizeof name, "%s, %s", names[kind], m->name);
    t = (trial){.at = at,
                .fault = name,
                .arm = arm,
                .disarm = fault_vfs_disarm,
                .is_its_error = is_its_error,
                .comes_late = comes_late,
                .on_error = on_error,
                .spoils = kind == IO_SHORT};
    round++;
    for (size_t i = 0; i < call_count; i++) {
        t.call = &call_cases[i];
        if (takes_turn(i, round) && trial_applies(t.call, at) && (!at->commit || t.call->writes))
            try_call(&t, m, fault_stride(is_slow() ? 2 * most : most));
    }
    came_late += t.late;
}

/* A failing call may fail once, or be the first of many: both are tried. */
static void try_failing(const mode *m, const situation *at, int most)
{
    try_all(m, at, IO_ONCE, most);
    try_all(m, at, IO_ON, most);
}

static const mode *const lasting[] = {&in_wal, &with_journal, &mapped, &checkpointing,
                                      &cutting_journal};

static void the_first_call_of_a_connection_survives_any_failing_io(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lasting); i++) {
        try_failing(lasting[i], &first, 67);
        try_failing(lasting[i], &first_inside, 83);
    }
}

static void a_later_call_survives_any_failing_io(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lasting); i++) {
        try_failing(lasting[i], &later, 29);
        try_failing(lasting[i], &later_inside, 29);
    }
}

static void a_commit_that_fails_stores_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lasting); i++)
        try_failing(lasting[i], &at_commit, 7);
}

static long behind_errors, stored_after_all;

static void crash(const trial *t, long nth)
{
    static answer now;
    state_on_disk s = take();
    sqlite3 *db;

    path = crash_path;
    restore(&s);
    db = open_plain(path, 0);
    run(db, "PRAGMA synchronous = off");
    assert_rows(db, "PRAGMA integrity_check", "ok");
    dump(db, &now);
    behind_errors++;
    bool stored = same_answer(&now, &t->done);
    stored_after_all += stored;
    if (!stored && !same_answer(&now, t->at->inside ? &t->start : &t->ready))
        fail_msg("%s, %s, fault %ld: neither as it was nor written\n%s", t->call->sql, t->at->name,
                 nth, now.text);
    close_ledger(db);
    path = live_path;
    free_images(&s);
}

/* SQLite cannot take back what a failing commit has written already; where the
 * process ends before it can, the next to open the file may find it there. */
static void a_crash_behind_an_error_leaves_the_write_whole_or_not_at_all(void **state)
{
    static const situation *const at[] = {&first, &later, &at_commit};

    (void)state;
    on_error = crash;
    for (size_t i = 0; i < COUNT_OF(at); i++) {
        for (size_t m = 0; m < COUNT_OF(lasting); m++) {
            try_failing(lasting[m], at[i], 83);
            try_all(lasting[m], at[i], IO_FULL, 11);
        }
    }
    on_error = NULL;
    tell_count("crashes behind an error", behind_errors);
    tell_count("of them with the write there after all", stored_after_all);
}

static void the_switch_to_wal_survives_any_failing_io(void **state)
{
    (void)state;
    try_failing(&becoming_wal, &first, 31);
}

static void a_first_call_that_has_to_recover_survives_any_failing_io(void **state)
{
    (void)state;
    try_failing(&recovering_wal, &first, 41);
    try_failing(&rolling_back, &first, 41);
}

static void a_call_that_makes_the_tables_survives_any_failing_io(void **state)
{
    (void)state;
    try_failing(&absent, &empty, 41);
    try_failing(&absent, &empty_inside, 41);
    try_failing(&absent_without_wal, &empty, 41);
}

static void a_full_disk_is_an_error_and_stores_nothing(void **state)
{
    static const situation *const at[] = {&first, &first_inside, &later, &later_inside, &at_commit};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(at); i++) {
        try_all(&in_wal, at[i], IO_FULL, 5);
        try_all(&with_journal, at[i], IO_FULL, 7);
    }
    try_all(&becoming_wal, &first, IO_FULL, 7);
    try_all(&absent, &empty, IO_FULL, 11);
    try_all(&absent_without_wal, &empty, IO_FULL, 11);
}

static void a_lock_held_by_another_is_busy_and_stores_nothing(void **state)
{
    static const situation *const at[] = {&first, &first_inside, &later, &later_inside, &at_commit};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(at); i++) {
        try_all(&in_wal, at[i], IO_BUSY, 3);
        try_all(&with_journal, at[i], IO_BUSY, 3);
    }
    try_all(&becoming_wal, &first, IO_BUSY, 3);
}

/* What SQLite takes for a page cut off it may answer and write as it is; what is
 * wrong with the file is then told by integrity_check, not by a crash. */
static void a_short_read_crashes_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lasting); i++) {
        try_all(lasting[i], &first, IO_SHORT, 19);
        try_all(lasting[i], &later_inside, IO_SHORT, 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_call_of_a_connection_survives_any_failing_io),
        cmocka_unit_test(a_later_call_survives_any_failing_io),
        cmocka_unit_test(a_commit_that_fails_stores_nothing),
        cmocka_unit_test(a_crash_behind_an_error_leaves_the_write_whole_or_not_at_all),
        cmocka_unit_test(the_switch_to_wal_survives_any_failing_io),
        cmocka_unit_test(a_first_call_that_has_to_recover_survives_any_failing_io),
        cmocka_unit_test(a_call_that_makes_the_tables_survives_any_failing_io),
        cmocka_unit_test(a_full_disk_is_an_error_and_stores_nothing),
        cmocka_unit_test(a_lock_held_by_another_is_busy_and_stores_nothing),
        cmocka_unit_test(a_short_read_crashes_nothing),
    };

    return cmocka_run_group_tests(tests, make_images, tell_and_tear_down);
}
