/*
 * trial.h - one call with a fault in it, whatever kind of fault: it answers
 * right or fails with the fault's own error, the ledger is as it was, and the
 * next call works.
 */
#ifndef ALINEO_SQLITE_TEST_TRIAL_H
#define ALINEO_SQLITE_TEST_TRIAL_H

#include "calls.h"

/* Where in the life of a connection the fault strikes. */
typedef struct situation {
    const char *name;
    bool cached; /* a call like one made before, else the connection's first */
    bool inside; /* a transaction that has written */
    bool commit; /* not in the call, but in the COMMIT that follows; `inside` */
    bool empty;  /* on a database without tables */
} situation;

struct trial;

typedef struct trial {
    const call_case *call;
    const situation *at;
    const char *fault;                     /* its name */
    void (*arm)(long nth);                 /* the nth chance from now on is the fault's */
    bool (*disarm)(void);                  /* whether it struck */
    bool (*is_its_error)(const answer *a); /* whether it may be what a call failed with */
    /* Errors that SQLite may report of a write that is stored; NULL: none. */
    bool (*comes_late)(const answer *a);
    long late; /* how many did */
    /* Called when an error came back, before anything else happens; or NULL. */
    void (*on_error)(const struct trial *t, long nth);
    /* It may also have made an answer wrong, or the ledger: then the call, the
     * connection and the process have to survive it, and that is all. */
    bool spoils;
    /* Every row of the ledger: at first, before the call, after it. */
    answer start, ready, done;
    const answer *left; /* that of the three which the last run left behind */
} trial;

/* Whether the call can be tried in that situation. */
bool trial_applies(const call_case *call, const situation *at);
/* Learns what the ledger looks like, on a connection of its own without faults. */
void trial_begin(trial *t, sqlite3 *db);
/* Makes the call on a new connection. Returns whether the fault struck; the
 * ledger is then t->left, and the connection as good as any. */
bool trial_run(trial *t, sqlite3 *db, long nth);
/* Looks, through a connection without faults, at what is left. */
void trial_look(const trial *t, sqlite3 *db, long nth);

#endif
