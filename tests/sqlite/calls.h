/*
 * calls.h - a call of every function of the surface, and a ledger for them to
 * work on: what the tests with injected faults run.
 *
 * Answers are kept without allocating, so that a fault is never met by the test
 * itself.
 */
#ifndef ALINEO_SQLITE_TEST_CALLS_H
#define ALINEO_SQLITE_TEST_CALLS_H

#include "support.h"

#include <stdbool.h>

typedef struct call_case {
    const char *sql;    /* one statement: the call */
    const char *before; /* another that prepares it, or NULL */
    const char *answer; /* on the ledger, rows as in support.h with ' for " */
    const char *empty;  /* on a database without tables; NULL: not tried */
    bool writes;
} call_case;

extern const call_case call_cases[];
extern const size_t call_count;
/* The name of the function called, up to its parenthesis; *len is its length. */
const char *call_function(const call_case *c, int *len);
/* Whether it is a table-valued function: SQLite itself then reads the schema
 * before the function is called, and says so in its own words. */
bool call_gives_rows(const call_case *c);

/* Makes the ledger: lineage, clocks that step back, legacy names, payloads
 * encoded twice, text that columns cannot hold; and a table `marks` of the host. */
void fill_ledger(sqlite3 *db);

/* What a statement answered. */
typedef struct answer {
    int rc; /* extended; SQLITE_OK after the last row */
    size_t len;
    bool cut; /* it was longer than there is room for */
    char text[8192];
    char message[3000]; /* of the error */
} answer;

void ask(sqlite3 *db, const char *sql, answer *a);
/* Every row of every table of the ledger and of marks; the time is `now`. */
void dump(sqlite3 *db, answer *a);
bool same_answer(const answer *a, const answer *b);
bool answers(const answer *a, const char *rows);

/* Of n places where a fault may be, how far apart those are that are tried: 1
 * where ALINEO_FAULTS is all, else `most`. */
int fault_stride(int most);
/* Whether the i-th call is for this round of the calls: each is, but under
 * valgrind each in one of many rounds. */
bool takes_turn(size_t i, long round);
/* Tells, with run-tests showing it, how many faults were injected. */
void tell_count(const char *what, long count);

#endif
