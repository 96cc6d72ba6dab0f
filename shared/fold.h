/*
 * fold.h - the replay fold: recorded exec events become execs and attempts.
 *
 * Feed the events of one session with alineo_fold_event; for a resumed session
 * feed its ancestors first, root to child, with alineo_fold_settle between
 * them. docs/reference.md, "The fold".
 *
 * Events are fed in append order. As replay order is the same unless a clock
 * stepped back, an engine may first feed in the order its index gives for
 * nothing, until the fold answers ALINEO_FOLD_DISORDER; then it starts again.
 */
#ifndef ALINEO_FOLD_H
#define ALINEO_FOLD_H

#include "arguments.h"
#include "map.h"
#include "row.h"

/* One run of a command. Texts are WTF-8. */
typedef struct alineo_attempt {
    alineo_buffer command, out, err;
    alineo_buffer in;       /* the stdin texts one behind the other, not joined */
    alineo_buffer in_ends;  /* of size_t: where each of them ends in `in` */
    alineo_buffer cwd, env; /* canonical JSON; empty where absent */
    int64_t started_at, completed_at, exit_code;
    bool started, completed, has_exit_code, has_command, interactive;
} alineo_attempt;

/* All that is known of one seq. */
typedef struct alineo_exec {
    int64_t seq;
    alineo_attempt *current;   /* the open one, the latest; NULL once settled */
    alineo_attempt *completed; /* the last completed one: what the cache holds */
    alineo_attempt *pending;   /* once settled: the interactive one to go on with */
} alineo_exec;

typedef struct alineo_fold {
    const alineo_memory *memory;
    alineo_buffer execs;  /* of alineo_exec */
    alineo_map by_seq;    /* index into execs plus 1 */
    alineo_buffer opened; /* of size_t: execs with an attempt since the last settling */
    size_t last;          /* index of the exec fed last */
    bool fed;             /* an event of this session was fed: last_id */
    int64_t last_id;
    bool only; /* keep one seq only: only_seq */
    int64_t only_seq;
    alineo_buffer scratch;
} alineo_fold;

typedef enum alineo_fold_result {
    ALINEO_FOLD_OK,
    ALINEO_FOLD_DISORDER, /* this event was recorded before the one fed last */
    ALINEO_FOLD_DAMAGED,  /* a column that is needed cannot be read (alineo_row_sound) */
    ALINEO_FOLD_NO_MEMORY
} alineo_fold_result;

void alineo_fold_init(alineo_fold *fold, const alineo_memory *memory);
void alineo_fold_free(alineo_fold *fold);
/* Keeps only the exec `seq`, for whoever asks for no other. */
void alineo_fold_only(alineo_fold *fold, int64_t seq);

/* Events other than exec.started, .output and .completed are passed over. */
alineo_fold_result alineo_fold_event(alineo_fold *fold, const alineo_row *row);

/* Ends a session: completed attempts stay, an interactive one that runs becomes
 * pending, others go. What is fed next counts as the resumed session's own.
 * False where memory ran out. */
bool alineo_fold_settle(alineo_fold *fold);
/* Puts the execs in seq order, after the last event. */
void alineo_fold_sort(alineo_fold *fold);

size_t alineo_fold_count(const alineo_fold *fold);
alineo_exec *alineo_fold_exec(const alineo_fold *fold, size_t index);

/* Appends a stream of an attempt: the chunks joined, as WTF-8. */
void alineo_attempt_stream(alineo_buffer *out, const alineo_attempt *attempt, alineo_stream stream);

#endif
