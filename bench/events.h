/*
 * events.h - the events that the benchmarks record, made from their number
 * alone, so that every run and both engines record the same.
 *
 * A ledger is made of cycles of 100,000 events: one session of 20,000, then 80
 * of 1,000 in groups of four, which run at the same time and share a run id. A
 * session is created, runs an exec every 50 events (47 chunks of output to
 * each), makes a checkpoint after every fifth exec, and is closed, but for every
 * tenth. Its last exec is left running.
 */
#ifndef BENCH_EVENTS_H
#define BENCH_EVENTS_H

#include <stddef.h>

enum { PAYLOAD_ROOM = 512, ROW_ROOM = 1024 };
enum { CYCLE = 100000, LARGE = 20000, SMALL = 1000, SMALLS = 80, GROUP = 4, EXEC = 50 };

/* When the first event was recorded; one follows each millisecond. */
#define FIRST_TS 1795959628473L

/* The payload of the i-th output, about 83 bytes of text; returns its length. */
int output_payload(char *to, long seq, long i);

typedef struct session {
    long number;      /* 0 to 80 in its cycle, and so on; 0 is the large one */
    long first, step; /* the number of its first event, and of the next after it */
    long events;
    const char *name;
    char sandbox[32], run[32];
} session;

/* The names: most sessions bear one, and three of the first cycle another. */
#define COMMON_NAME "nightly-build"
#define RARE_NAME   "release"
enum { RARE_SESSIONS = 3 };

typedef struct event {
    const char *name, *event;
    char sandbox[32];
    char payload[PAYLOAD_ROOM];
    size_t payload_len;
    long step, ts;
} event;

session session_of(long number);
/* The i-th small session of a ledger. */
session small_session(long i);
event event_at(long i);

/* What the ledger has to answer about a session. */
long execs_of(const session *s); /* started */
long completed_of(const session *s);
long checkpoints_of(const session *s); /* made */
long cached_of(const session *s);      /* completed before the latest checkpoint */
long output_of_exec(void);             /* bytes of stdout */

/* An event as a line of COPY and as an entry of alineo_append_batch; both
 * return its length. */
#define COPY_INTO "COPY alineo_events (name, sandbox_id, event, payload, step_idx, ts) FROM STDIN"
size_t event_copy_line(char *to, const event *e);
size_t event_entry(char *to, const event *e);

#endif
