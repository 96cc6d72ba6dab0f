/*
 * test_crash_points.c - a writer that is killed at any of its writes and locks
 * leaves the ledger as before or as after the call it was in, and the next
 * writer goes on from there as if nothing had been.
 *
 * SQLite lets the system calls of its file layer be replaced. Those that change
 * a file or a lock are counted in a process of its own, which kills itself at
 * the N-th, for every N until it comes to its end; a write may go half way
 * before. Some N are left out unless ALINEO_EVERY_POINT is set. (tests/crash
 * kills at random moments instead, several at once.)
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "support.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* One entry a call, or a transaction of several. All name their ts, so that
 * every run stores the same. */
#define APPEND(sandbox, event)                                                                     \
    "SELECT alineo_append('ci', '" sandbox "', '" event "', '{\"seq\":1}', NULL, NULL, NULL, 1);"
#define ENTRY(event, text)                                                                         \
    "{\"name\":\"ci\",\"sandboxId\":\"sb-1\",\"event\":\"" event                                   \
    "\",\"ts\":2,\"payload\":{\"text\":\"" text "\"}}"
#define LONG "0123456789012345678901234567890123456789012345678901234567890123456789"
#define FOUR                                                                                       \
    ENTRY("a", LONG LONG) "," ENTRY("b", LONG) "," ENTRY("exec_event", LONG) "," ENTRY("c", "")
#define BATCH "SELECT alineo_append_batch('[" FOUR "," FOUR "," FOUR "]');"
#define OLD                                                                                        \
    "INSERT INTO alineo_events(sandbox_id, name, step_idx, event, payload, ts) VALUES"             \
    " ('sb-1', 'ci', 1, 'exec_start', '{\"seq\":1}', 3),"                                          \
    " ('sb-1', 'ci', 1, 'snapshot', '\"{\\\"snapshotId\\\":\\\"x\\\"}\"', 3);"
#define DELETE "SELECT alineo_delete_sandbox('ci', 'sb-2');"

static const char *const script[] = {
    "BEGIN;" APPEND("sb-1", "sandbox.created") "COMMIT",
    BATCH,
    OLD,
    "BEGIN; SELECT alineo_init(); COMMIT",
    APPEND("sb-2", "x"),
    "BEGIN;" APPEND("sb-2", "y") "SAVEPOINT s;" APPEND("sb-2", "z") BATCH
    "ROLLBACK TO s;" APPEND("sb-2", "exec_complete") "COMMIT",
    DELETE,
    APPEND("sb-1", "x"),
    "SELECT alineo_save_environment('py', 's', 'i', 1)",
    "BEGIN IMMEDIATE;" APPEND("sb-2", "x") BATCH DELETE OLD
    "SELECT alineo_init();" APPEND("sb-1", "y") "COMMIT",
    APPEND("sb-2", "x"),
    DELETE,
    "SELECT alineo_delete_environment('py')",
    APPEND("sb-1", "z"),
};

enum { CALLS = COUNT_OF(script) };

/* Shared with the process that is killed. */
typedef struct progress {
    int done;   /* calls that were acknowledged */
    int points; /* system calls counted */
} progress;

static progress *shared;
static int fatal; /* which of them is the last */
static bool torn; /* and whether it is done by half, where it is a write */

typedef ssize_t (*pwrite_call)(int, const void *, size_t, off_t);
typedef ssize_t (*write_call)(int, const void *, size_t);

static bool is_last(void)
{
    return ++shared->points == fatal;
}

static void die(void)
{
    (void)kill(getpid(), SIGKILL);
}

static ssize_t counted_pwrite(int file, const void *data, size_t size, off_t offset)
{
    if (is_last()) {
        if (torn)
            (void)!pwrite(file, data, size / 2, offset);
        die();
    }
    return pwrite(file, data, size, offset);
}

static ssize_t counted_write(int file, const void *data, size_t size)
{
    if (is_last()) {
        if (torn)
            (void)!write(file, data, size / 2);
        die();
    }
    return write(file, data, size);
}

static int counted_ftruncate(int file, off_t size)
{
    if (is_last())
        die();
    return ftruncate(file, size);
}

static int counted_unlink(const char *path)
{
    if (is_last())
        die();
    return unlink(path);
}

static int (*system_fcntl)(int, int, ...);

static int counted_fcntl(int file, int command, ...)
{
    va_list arguments;

    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (is_last())
        die();
    return system_fcntl(file, command, argument);
}

static void replace(const char *name, sqlite3_syscall_ptr call)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

    assert_int_equal(vfs->xSetSystemCall(vfs, name, call), SQLITE_OK);
}

static void count_system_calls(void)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

    system_fcntl = (int (*)(int, int, ...))vfs->xGetSystemCall(vfs, "fcntl");
    replace("fcntl", (sqlite3_syscall_ptr)counted_fcntl);
    replace("pwrite", (sqlite3_syscall_ptr)counted_pwrite);
    replace("pwrite64", (sqlite3_syscall_ptr)counted_pwrite);
    replace("write", (sqlite3_syscall_ptr)counted_write);
    replace("ftruncate", (sqlite3_syscall_ptr)counted_ftruncate);
    replace("unlink", (sqlite3_syscall_ptr)counted_unlink);
}

static sqlite3 *open_small(const char *path, const char *mode)
{
    sqlite3 *db = open_ledger(path, 0);

    /* Pages so small and few that a transaction writes before it commits. */
    run(db, sqlf("PRAGMA page_size = 512; PRAGMA journal_mode = %s; PRAGMA cache_size = 4;"
                 "PRAGMA wal_autocheckpoint = 8; PRAGMA synchronous = OFF",
                 mode));
    return db;
}

static char *dump(sqlite3 *db)
{
    return rows_of(db,
                   "SELECT id, name, sandbox_id, step_idx, event, payload, ts FROM alineo_events"
                   " ORDER BY id; SELECT * FROM alineo_environments");
}

/* What the ledger holds before the first call and after each. */
static void dump_each(const char *path, const char *mode, char **dumps)
{
    sqlite3 *db = open_small(path, mode);

    dumps[0] = sqlite3_mprintf("");
    for (int i = 0; i < CALLS; i++) {
        run(db, script[i]);
        dumps[i + 1] = dump(db);
    }
    close_ledger(db);
}

static void remove_ledger(const char *path)
{
    (void)unlink(path);
    (void)unlink(sqlf("%s-wal", path));
    (void)unlink(sqlf("%s-shm", path));
    (void)unlink(sqlf("%s-journal", path));
}

/* Runs the script until the process dies; false where it came to its end. */
static bool is_killed(const char *path, const char *mode)
{
    int status;
    pid_t writer;

    shared->done = shared->points = 0;
    writer = fork();
    assert_true(writer >= 0);
    if (writer == 0) {
        count_system_calls();
        sqlite3 *db = open_small(path, mode);
        for (int i = 0; i < CALLS; i++) {
            if (sqlite3_exec(db, script[i], NULL, NULL, NULL) != SQLITE_OK)
                _exit(1);
            shared->done = i + 1;
        }
        (void)sqlite3_close(db);
        _exit(0);
    }
    assert_int_equal(waitpid(writer, &status, 0), writer);
    if (WIFEXITED(status))
        assert_int_equal(WEXITSTATUS(status), 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/* How many calls the ledger shows the work of. */
static int calls_stored(sqlite3 *db, char **dumps)
{
    char *got = sqlite3_table_column_metadata(db, "main", "alineo_environments", NULL, NULL, NULL,
                                              NULL, NULL, NULL) == SQLITE_OK
                    ? dump(db)
                    : sqlite3_mprintf("");
    /* A call may leave the ledger as it was; the earlier of the two counts. */
    int calls = shared->done;

    if (strcmp(got, dumps[calls]) != 0)
        calls++;
    if (calls > CALLS || strcmp(got, dumps[calls]) != 0)
        fail_msg("killed at %d, when %d calls were acknowledged, the ledger holds\n%s", fatal,
                 shared->done, got);
    sqlite3_free(got);
    return calls;
}

static void try_each_point(void **state, const char *mode)
{
    const char *path = sqlf("%s-killed", path_of(state));
    char kept[128];
    char *dumps[CALLS + 1];
    int stride = getenv("ALINEO_EVERY_POINT") != NULL ? 1 : is_slow() ? 101 : 13;
    int tried = 0, undone = 0, whole = 0;

    (void)snprintf(kept, sizeof kept, "%s", path);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    dump_each(kept, mode, dumps);
    remove_ledger(kept);
    for (fatal = 1 + (int)(time(NULL) % stride);; fatal += stride) {
        torn = fatal % 2 == 0;
        if (!is_killed(kept, mode))
            break;
        sqlite3 *db = open_small(kept, mode);
        assert_rows(db, "PRAGMA integrity_check", "ok");
        int calls = calls_stored(db, dumps);
        undone += calls == shared->done;
        whole += calls > shared->done;
        for (int i = calls; i < CALLS; i++)
            run(db, script[i]);
        char *end = dump(db);
        if (strcmp(end, dumps[CALLS]) != 0)
            fail_msg("gone on after it was killed at %d, the ledger holds\n%s", fatal, end);
        sqlite3_free(end);
        assert_rows(db, "PRAGMA integrity_check", "ok");
        close_ledger(db);
        remove_ledger(kept);
        tried++;
    }
    remove_ledger(kept);
    print_message("%s: killed at %d points; %d calls under way were found whole, %d not at all\n",
                  mode, tried, whole, undone);
    assert_true(whole > 0 && undone > 0);
    for (int i = 0; i <= CALLS; i++)
        sqlite3_free(dumps[i]);
    (void)munmap(shared, sizeof *shared);
}

static void killed_at_any_point_in_wal_mode(void **state)
{
    try_each_point(state, "WAL");
}

static void killed_at_any_point_with_a_rollback_journal(void **state)
{
    try_each_point(state, "DELETE");
}

static void killed_at_any_point_with_a_journal_that_stays(void **state)
{
    try_each_point(state, "PERSIST");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(killed_at_any_point_in_wal_mode),
        FILE_TEST(killed_at_any_point_with_a_rollback_journal),
        FILE_TEST(killed_at_any_point_with_a_journal_that_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
