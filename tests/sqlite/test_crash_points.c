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
#include "script.h"
#include "support.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* Shared with the process that is killed. */
typedef struct progress {
    int done;   /* calls that were acknowledged */
    int points; /* system calls counted */
    bool ended; /* by itself */
} progress;

static volatile progress *shared;
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

/* Runs the script until the process dies; false where it came to its end. */
static bool is_killed(const char *path, const char *mode)
{
    int status;
    pid_t writer;

    *shared = (progress){0};
    writer = fork();
    assert_true(writer >= 0);
    if (writer == 0) {
        count_system_calls();
        sqlite3 *db = open_small(path, mode, "OFF");
        for (int i = 0; i < CALLS; i++) {
            if (sqlite3_exec(db, script[i], NULL, NULL, NULL) != SQLITE_OK)
                _exit(1);
            shared->done = i + 1;
        }
        (void)sqlite3_close(db);
        shared->ended = true;
        die(); /* valgrind takes what a forked process leaves for leaks */
    }
    assert_int_equal(waitpid(writer, &status, 0), writer);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    return !shared->ended;
}

/* How many calls the ledger shows the work of. */
static int calls_stored(sqlite3 *db, char **dumps)
{
    char *got = dump(db);
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
    int tried = 0, undone = 0, whole = 0;

    (void)snprintf(kept, sizeof kept, "%s", path);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    dump_each(kept, mode, dumps);
    remove_ledger(kept);
    for (fatal = first_point();; fatal += stride()) {
        torn = fatal % 2 == 0;
        if (!is_killed(kept, mode))
            break;
        sqlite3 *db = open_small(kept, mode, "OFF");
        assert_rows(db, "PRAGMA integrity_check", "ok");
        int calls = calls_stored(db, dumps);
        undone += calls == shared->done;
        whole += calls > shared->done;
        go_on(db, calls, dumps);
        close_ledger(db);
        remove_ledger(kept);
        tried++;
    }
    remove_ledger(kept);
    print_message("%s: killed at %d points; %d calls under way were found whole, %d not at all\n",
                  mode, tried, whole, undone);
    assert_true(stride() > 1 || (whole > 0 && undone > 0));
    for (int i = 0; i <= CALLS; i++)
        sqlite3_free(dumps[i]);
    (void)munmap((void *)shared, sizeof *shared);
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
