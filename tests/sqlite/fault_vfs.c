/*
 * fault_vfs.c - see fault_vfs.h.
 */
#include "fault_vfs.h"

#include <sqlite3.h>

#include <stdio.h>
#include <string.h>

typedef enum operation {
    OPEN,
    DELETE,
    ACCESS,
    READ,
    WRITE,
    TRUNCATE,
    SYNC,
    FILE_SIZE,
    LOCK,
    UNLOCK,
    CHECK_RESERVED_LOCK,
    SHM_MAP,
    SHM_LOCK,
    FETCH,
    OPERATION_COUNT
} operation;

static const struct {
    const char *name;
    int error;
} operations[OPERATION_COUNT] = {
    [OPEN] = {"xOpen", SQLITE_CANTOPEN},
    [DELETE] = {"xDelete", SQLITE_IOERR_DELETE},
    [ACCESS] = {"xAccess", SQLITE_IOERR_ACCESS},
    [READ] = {"xRead", SQLITE_IOERR_READ},
    [WRITE] = {"xWrite", SQLITE_IOERR_WRITE},
    [TRUNCATE] = {"xTruncate", SQLITE_IOERR_TRUNCATE},
    [SYNC] = {"xSync", SQLITE_IOERR_FSYNC},
    [FILE_SIZE] = {"xFileSize", SQLITE_IOERR_FSTAT},
    [LOCK] = {"xLock", SQLITE_IOERR_LOCK},
    [UNLOCK] = {"xUnlock", SQLITE_IOERR_UNLOCK},
    [CHECK_RESERVED_LOCK] = {"xCheckReservedLock", SQLITE_IOERR_CHECKRESERVEDLOCK},
    [SHM_MAP] = {"xShmMap", SQLITE_IOERR_SHMMAP},
    [SHM_LOCK] = {"xShmLock", SQLITE_IOERR_SHMLOCK},
    [FETCH] = {"xFetch", SQLITE_IOERR_MMAP},
};

static struct {
    io_fault fault;
    long countdown; /* calls up to the one that is struck; 0: none is */
    bool struck;
    bool without_shm;
    long counts[OPERATION_COUNT];
} state;

static bool may_strike(operation op)
{
    switch (state.fault) {
    case IO_FULL: return op == WRITE;
    case IO_BUSY: return op == LOCK || op == SHM_LOCK;
    case IO_SHORT: return op == READ;
    default: return true;
    }
}

/* The error that this call has to fail with, SQLITE_OK: none. */
static int strike(operation op)
{
    if (state.countdown == 0 || !may_strike(op))
        return SQLITE_OK;
    if (state.countdown > 1) {
        state.countdown--;
        return SQLITE_OK;
    }
    if (state.fault != IO_ON && state.fault != IO_FULL)
        state.countdown = 0;
    state.struck = true;
    state.counts[op]++;
    switch (state.fault) {
    case IO_FULL: return SQLITE_FULL;
    case IO_BUSY: return SQLITE_BUSY;
    case IO_SHORT: return SQLITE_IOERR_SHORT_READ;
    default: return operations[op].error;
    }
}

void fault_vfs_arm(io_fault fault, long nth)
{
    state.fault = fault;
    state.countdown = nth;
    state.struck = false;
}

bool fault_vfs_disarm(void)
{
    state.countdown = 0;
    return state.struck;
}

void fault_vfs_without_shm(bool without)
{
    state.without_shm = without;
}

const char *fault_vfs_counts(long *total)
{
    static char text[512];
    size_t len = 0;

    *total = 0;
    for (int op = 0; op < OPERATION_COUNT; op++) {
        *total += state.counts[op];
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s %ld", op > 0 ? ", " : "",
                                operations[op].name, state.counts[op]);
    }
    return text;
}

/* A file of ours is followed by one of the real file system. */
typedef struct fault_file {
    sqlite3_file base; /* first: SQLite sees only this */
    sqlite3_file *real;
} fault_file;

static sqlite3_vfs *real_vfs;

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((fault_file *)file)->real;
}

static int file_close(sqlite3_file *file)
{
    return real_of(file)->pMethods->xClose(real_of(file));
}

static int file_read(sqlite3_file *file, void *at, int len, sqlite3_int64 offset)
{
    int rc = strike(READ);

    if (rc == SQLITE_OK)
        return real_of(file)->pMethods->xRead(real_of(file), at, len, offset);
    if (rc == SQLITE_IOERR_SHORT_READ) {
        memset(at, 0, (size_t)len);
        (void)real_of(file)->pMethods->xRead(real_of(file), at, len / 2, offset);
    }
    return rc;
}

static int file_write(sqlite3_file *file, const void *at, int len, sqlite3_int64 offset)
{
    int rc = strike(WRITE);

    if (rc == SQLITE_FULL)
        len /= 2;
    if (rc == SQLITE_OK || rc == SQLITE_FULL) {
        int written = real_of(file)->pMethods->xWrite(real_of(file), at, len, offset);
        rc = rc == SQLITE_OK ? written : rc;
    }
    return rc;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int rc = strike(TRUNCATE);

    return rc != SQLITE_OK ? rc : real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int file_sync(sqlite3_file *file, int flags)
{
    (void)file, (void)flags;
    return strike(SYNC);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    int rc = strike(FILE_SIZE);

    return rc != SQLITE_OK ? rc : real_of(file)->pMethods->xFileSize(real_of(file), size);
}

static int file_lock(sqlite3_file *file, int level)
{
    int rc = strike(LOCK);

    return rc != SQLITE_OK ? rc : real_of(file)->pMethods->xLock(real_of(file), level);
}

/* The real file is unlocked all the same, as it is where close(2) fails. */
static int file_unlock(sqlite3_file *file, int level)
{
    int rc = real_of(file)->pMethods->xUnlock(real_of(file), level);
    int struck = strike(UNLOCK);

    return struck != SQLITE_OK ? struck : rc;
}

static int file_check_reserved_lock(sqlite3_file *file, int *held)
{
    int rc = strike(CHECK_RESERVED_LOCK);

    return rc != SQLITE_OK ? rc : real_of(file)->pMethods->xCheckReservedLock(real_of(file), held);
}

static int file_control(sqlite3_file *file, int op, void *argument)
{
    return real_of(file)->pMethods->xFileControl(real_of(file), op, argument);
}

static int file_sector_size(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int file_device(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int file_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **at)
{
    int rc = strike(SHM_MAP);

    if (rc == SQLITE_OK)
        return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, at);
    *at = NULL;
    return rc;
}

/* Giving a lock back does not fail: SQLite looks at no such failure. */
static int file_shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
    int rc = (flags & SQLITE_SHM_LOCK) != 0 ? strike(SHM_LOCK) : SQLITE_OK;

    return rc != SQLITE_OK ? rc
                           : real_of(file)->pMethods->xShmLock(real_of(file), offset, n, flags);
}

static void file_shm_barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int file_shm_unmap(sqlite3_file *file, int delete)
{
    return real_of(file)->pMethods->xShmUnmap(real_of(file), delete);
}

static int file_fetch(sqlite3_file *file, sqlite3_int64 offset, int len, void **at)
{
    int rc = strike(FETCH);

    *at = NULL;
    return rc != SQLITE_OK ? rc : real_of(file)->pMethods->xFetch(real_of(file), offset, len, at);
}

static int file_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *at)
{
    return real_of(file)->pMethods->xUnfetch(real_of(file), offset, at);
}

static const sqlite3_io_methods methods = {
    .iVersion = 3,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_reserved_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_device,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
    .xFetch = file_fetch,
    .xUnfetch = file_unfetch,
};

static sqlite3_io_methods methods_without_shm;

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *got)
{
    fault_file *f = (fault_file *)file;
    int rc = strike(OPEN);

    (void)vfs;
    f->base.pMethods = NULL;
    if (rc != SQLITE_OK)
        return rc;
    f->real = (sqlite3_file *)(f + 1);
    rc = real_vfs->xOpen(real_vfs, name, f->real, flags, got);
    if (f->real->pMethods != NULL)
        f->base.pMethods = state.without_shm ? &methods_without_shm : &methods;
    return rc;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    int rc = strike(DELETE);

    (void)vfs, (void)sync;
    return rc != SQLITE_OK ? rc : real_vfs->xDelete(real_vfs, name, 0);
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *answer)
{
    int rc = strike(ACCESS);

    (void)vfs;
    return rc != SQLITE_OK ? rc : real_vfs->xAccess(real_vfs, name, flags, answer);
}

void fault_vfs_register(void)
{
    static sqlite3_vfs vfs;

    real_vfs = sqlite3_vfs_find(NULL);
    vfs = *real_vfs;
    vfs.szOsFile = (int)sizeof(fault_file) + real_vfs->szOsFile;
    vfs.pNext = NULL;
    vfs.zName = FAULT_VFS;
    vfs.xOpen = vfs_open;
    vfs.xDelete = vfs_delete;
    vfs.xAccess = vfs_access;
    methods_without_shm = methods;
    methods_without_shm.iVersion = 1;
    (void)sqlite3_vfs_register(&vfs, 0);
}
