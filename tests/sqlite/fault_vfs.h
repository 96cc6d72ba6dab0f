/*
 * fault_vfs.h - the file system of the tests with failing I/O: SQLite's own,
 * with the n-th call of a kind failing, once or from then on.
 *
 * Nothing is synced: no power is lost here, and a sync that is told to fail
 * fails all the same.
 */
#ifndef ALINEO_SQLITE_TEST_FAULT_VFS_H
#define ALINEO_SQLITE_TEST_FAULT_VFS_H

#include <stdbool.h>

#define FAULT_VFS "alineo_faults"

typedef enum io_fault {
    IO_ONCE,  /* any call fails with the error of its kind */
    IO_ON,    /* the same, and all after it */
    IO_FULL,  /* a write stores half of its bytes and finds the disk full; so do all after it */
    IO_BUSY,  /* a lock is held by another */
    IO_SHORT, /* a read gives half of the bytes, and zeroes */
} io_fault;

/* Registers it, once. */
void fault_vfs_register(void);
/* Files opened from now on cannot share memory, so that WAL is not possible. */
void fault_vfs_without_shm(bool without);
/* The nth call that the fault may strike, from now on, is struck. */
void fault_vfs_arm(io_fault fault, long nth);
/* No call fails any more; whether one did. */
bool fault_vfs_disarm(void);
/* How often each kind of call was struck, all told: "xRead 5, xWrite 7". The
 * text lives to the next call. */
const char *fault_vfs_counts(long *total);

#endif
