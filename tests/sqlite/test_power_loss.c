/*
 * test_power_loss.c - what PRAGMA synchronous promises holds for the ledger's
 * functions: after a power cut the ledger is sound, no call is there by half,
 * and where the setting says so, every acknowledged call is there.
 *
 * A writer runs the script in a process of its own, and what it does to its
 * files is written down: writes, truncations, removals, and syncs, which are not
 * done. From that the files are made again as a power cut at any point may leave
 * them: what was synced is there; of what came later all, none, or a choice
 * made at random, a write perhaps by half.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "script.h"
#include "support.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>

typedef enum kind { WRITE, TRUNCATE, UNLINK, SYNC, ACKNOWLEDGED } kind;
typedef enum file { DATABASE, WAL, JOURNAL, FILES, DIRECTORY = FILES, NONE } file;
static const char *const suffix[FILES] = {"", "-wal", "-journal"};

typedef struct record {
    kind kind;
    file file;
    off_t at;         /* where it writes, or the new length */
    size_t len, data; /* the latter in the log's bytes */
} record;

enum { RECORDS = 20000, BYTES = 16 << 20, DESCRIPTORS = 1024 };

/* Written by the process of the writer, read by the test. */
typedef struct history {
    int count;
    size_t used;
    record all[RECORDS];
    char bytes[BYTES];
} history;

static history *past;
static bool recording;
static const char *database;
static file file_of[DESCRIPTORS];

static void note(kind kind, file file, off_t at, const void *data, size_t len)
{
    record *r = &past->all[past->count];

    if (past->count == RECORDS - 1 || past->used + len > BYTES)
        _exit(2);
    *r = (record){kind, file, at, len, past->used};
    if (data != NULL)
        memcpy(past->bytes + past->used, data, len);
    past->used += data != NULL ? len : 0;
    past->count++;
}

static file file_named(const char *path)
{
    size_t len = strlen(database);
    struct stat status;

    for (file f = DATABASE; strncmp(path, database, len) == 0 && f < FILES; f++)
        if (strcmp(path + len, suffix[f]) == 0)
            return f;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode) ? DIRECTORY : NONE;
}

static int noted_open(const char *path, int flags, int mode)
{
    int descriptor = open(path, flags, mode);

    if (descriptor >= 0 && descriptor < DESCRIPTORS)
        file_of[descriptor] = file_named(path);
    return descriptor;
}

static ssize_t noted_pwrite(int descriptor, const void *data, size_t size, off_t offset)
{
    if (file_of[descriptor] < FILES)
        note(WRITE, file_of[descriptor], offset, data, size);
    return pwrite(descriptor, data, size, offset);
}

static ssize_t noted_write(int descriptor, const void *data, size_t size)
{
    if (file_of[descriptor] < FILES)
        note(WRITE, file_of[descriptor], lseek(descriptor, 0, SEEK_CUR), data, size);
    return write(descriptor, data, size);
}

static int noted_ftruncate(int descriptor, off_t size)
{
    if (file_of[descriptor] < FILES)
        note(TRUNCATE, file_of[descriptor], size, NULL, 0);
    return ftruncate(descriptor, size);
}

static int noted_unlink(const char *path)
{
    if (file_named(path) < FILES)
        note(UNLINK, file_named(path), 0, NULL, 0);
    return unlink(path);
}

/* In place of the C library's, which SQLite calls by name. */
int fdatasync(int descriptor)
{
    if (recording)
        note(SYNC, file_of[descriptor], 0, NULL, 0);
    return 0;
}

int fsync(int descriptor)
{
    return fdatasync(descriptor);
}

static void replace(const char *name, sqlite3_syscall_ptr call)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

    assert_int_equal(vfs->xSetSystemCall(vfs, name, call), SQLITE_OK);
}

/* Runs the script, and leaves its history in `past`. */
static void record_script(const char *path, const char *mode, const char *synchronous)
{
    int status;
    pid_t writer = fork();

    assert_true(writer >= 0);
    if (writer == 0) {
        database = path;
        recording = true;
        replace("open", (sqlite3_syscall_ptr)noted_open);
        replace("pwrite", (sqlite3_syscall_ptr)noted_pwrite);
        replace("pwrite64", (sqlite3_syscall_ptr)noted_pwrite);
        replace("write", (sqlite3_syscall_ptr)noted_write);
        replace("ftruncate", (sqlite3_syscall_ptr)noted_ftruncate);
        replace("unlink", (sqlite3_syscall_ptr)noted_unlink);
        sqlite3 *db = open_small(path, mode, synchronous);
        for (int i = 0; i < CALLS; i++) {
            if (sqlite3_exec(db, script[i], NULL, NULL, NULL) != SQLITE_OK)
                _exit(1);
            note(ACKNOWLEDGED, NONE, 0, NULL, 0);
        }
        (void)kill(getpid(), SIGKILL); /* valgrind would look for leaks */
    }
    assert_int_equal(waitpid(writer, &status, 0), writer);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    remove_ledger(path);
}

typedef enum choice { NOTHING, EVERYTHING, AT_RANDOM, CHOICES } choice;

/* Whether what was not synced has come to the disk. */
static bool is_kept(choice chosen, unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return chosen == EVERYTHING || (chosen == AT_RANDOM && (*seed >> 16) % 2 == 0);
}

/* Makes the files again as a power cut behind so many records leaves them. */
static void make_files(const char *path, int records, choice chosen, unsigned seed)
{
    int last_sync[FILES + 1] = {0}, descriptor[FILES] = {-1, -1, -1};
    bool stays[FILES] = {false}; /* not removed: what was made in its place is not there */

    for (int i = 0; i < records; i++)
        if (past->all[i].kind == SYNC && past->all[i].file <= DIRECTORY)
            last_sync[past->all[i].file] = i;
    remove_ledger(path);
    for (int i = 0; i < records; i++) {
        const record *r = &past->all[i];
        if (r->kind >= SYNC)
            continue;
        bool synced = i < last_sync[r->kind == UNLINK ? DIRECTORY : r->file];
        if (!synced && !is_kept(chosen, &seed)) {
            stays[r->file] |= r->kind == UNLINK;
            continue;
        }
        if (stays[r->file])
            continue;
        const char *name = sqlf("%s%s", path, suffix[r->file]);
        int *open_file = &descriptor[r->file];
        if (r->kind == UNLINK) {
            (void)close(*open_file);
            *open_file = -1;
            (void)unlink(name);
            continue;
        }
        if (*open_file < 0)
            *open_file = open(name, O_RDWR | O_CREAT, 0600);
        assert_true(*open_file >= 0);
        size_t len = r->len;
        if (!synced && chosen == AT_RANDOM && seed % 5 == 0)
            len /= 2;
        if (r->kind == TRUNCATE)
            assert_int_equal(ftruncate(*open_file, r->at), 0);
        else
            assert_int_equal(pwrite(*open_file, past->bytes + r->data, len, r->at), len);
    }
    for (int i = 0; i < FILES; i++)
        if (descriptor[i] >= 0)
            (void)close(descriptor[i]);
}

/* How many calls the ledger shows the work of, `most` at most; -1 for none of
 * the states that there were. */
static int calls_stored(sqlite3 *db, char **dumps, int most)
{
    char *got = dump(db);
    int calls = most;

    while (calls >= 0 && strcmp(got, dumps[calls]) != 0)
        calls--;
    sqlite3_free(got);
    return calls;
}

/* `durable`: what was acknowledged must be there. Returns how often it was not. */
static int cut_power(void **state, const char *mode, const char *synchronous, bool durable)
{
    char path[128];
    char *dumps[CALLS + 1];
    int cuts = 0, lost = 0, records = 0, acknowledged = 0;

    (void)snprintf(path, sizeof path, "%s-power", path_of(state));
    dump_each(path, mode, dumps);
    remove_ledger(path);
    past = mmap(NULL, sizeof *past, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(past != MAP_FAILED);
    record_script(path, mode, synchronous);
    for (int point = first_point(); point <= past->count; point += stride()) {
        for (; records < point; records++)
            acknowledged += past->all[records].kind == ACKNOWLEDGED;
        for (choice chosen = NOTHING; chosen < CHOICES; chosen++) {
            make_files(path, point, chosen, (unsigned)point);
            sqlite3 *db = open_small(path, mode, "OFF");
            assert_rows(db, "PRAGMA integrity_check", "ok");
            int most = acknowledged < CALLS ? acknowledged + 1 : CALLS;
            int calls = calls_stored(db, dumps, most);
            if (calls < 0 || (durable && calls < acknowledged))
                fail_msg("power cut behind %d of %d records, choice %d: %d calls are there where "
                         "%d were acknowledged",
                         point, past->count, (int)chosen, calls, acknowledged);
            lost += calls < acknowledged;
            go_on(db, calls, dumps);
            close_ledger(db);
            cuts++;
        }
    }
    remove_ledger(path);
    print_message("%s, synchronous = %s: %d power cuts, in %d of them acknowledged calls lost\n",
                  mode, synchronous, cuts, lost);
    for (int i = 0; i <= CALLS; i++)
        sqlite3_free(dumps[i]);
    (void)munmap(past, sizeof *past);
    return lost;
}

static void in_wal_mode_with_full_nothing_is_lost(void **state)
{
    assert_int_equal(cut_power(state, "WAL", "FULL", true), 0);
}

/* The latest calls may be, whole; that some are shows that the test can tell. */
static void in_wal_mode_with_normal_the_ledger_is_sound(void **state)
{
    assert_true(cut_power(state, "WAL", "NORMAL", false) > 0 || is_slow());
}

static void with_a_rollback_journal_and_extra_nothing_is_lost(void **state)
{
    assert_int_equal(cut_power(state, "DELETE", "EXTRA", true), 0);
}

/* FULL does not see to it that the removal of the journal lasts. */
static void with_a_rollback_journal_and_full_the_ledger_is_sound(void **state)
{
    assert_true(cut_power(state, "DELETE", "FULL", false) > 0 || is_slow());
}

static void with_a_truncated_journal_and_full_nothing_is_lost(void **state)
{
    assert_int_equal(cut_power(state, "TRUNCATE", "FULL", true), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(in_wal_mode_with_full_nothing_is_lost),
        FILE_TEST(in_wal_mode_with_normal_the_ledger_is_sound),
        FILE_TEST(with_a_rollback_journal_and_extra_nothing_is_lost),
        FILE_TEST(with_a_rollback_journal_and_full_the_ledger_is_sound),
        FILE_TEST(with_a_truncated_journal_and_full_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
