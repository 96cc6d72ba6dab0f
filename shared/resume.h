/*
 * resume.h - what a run goes on with: the checkpoint, the lineage, the replay
 * cache, the settings. docs/reference.md, "Replay and resume".
 *
 * The engine gives a store, six queries over the events of one session; every
 * decision about what they mean is made here.
 */
#ifndef ALINEO_RESUME_H
#define ALINEO_RESUME_H

#include "fold.h"

typedef enum alineo_query {
    /* sandbox.created events of a sandbox_id under any name, latest id first */
    ALINEO_QUERY_SANDBOX,
    /* sandbox.created events of a session, in append order */
    ALINEO_QUERY_CREATED,
    /* checkpoints of a session, latest id first */
    ALINEO_QUERY_CHECKPOINTS,
    /* egress and credential events of a session, in append order */
    ALINEO_QUERY_SETTINGS,
    /* events of a session with an id below `before` (INT64_MAX: all), in any order, best in one
     * that comes near to append order; events other than exec.* may be left out */
    ALINEO_QUERY_EVENTS,
    /* the same in append order */
    ALINEO_QUERY_EVENTS_BY_ID,
    ALINEO_QUERY_COUNT
} alineo_query;

/* Takes one event; false ends the scan. */
typedef bool (*alineo_visit)(void *argument, const alineo_row *row);

typedef struct alineo_store {
    void *context;
    /* Starts a query; one is open at a time. May not return. */
    alineo_code (*open)(void *context, alineo_query query, alineo_span name, alineo_span sandbox_id,
                        int64_t before, alineo_error *error);
    /* Fetches a row, which lives until the next call; `found` false at the end.
     * May not return. */
    alineo_code (*next)(void *context, alineo_row *row, bool *found, alineo_error *error);
    /* Ends the open query, also after a failed open or next. */
    void (*close)(void *context);
    /* Runs a whole query, a call of `visit` a row; an engine that can do so
     * faster than by next, and need not fill in ts for exec.output, which has no
     * use for it. NULL: there is no such way. May not return. */
    alineo_code (*each)(void *context, alineo_query query, alineo_span name, alineo_span sandbox_id,
                        int64_t before, alineo_visit visit, void *argument, alineo_error *error);
} alineo_store;

/* Settings of a session that its ancestors may provide. */
enum { ALINEO_SETTING_COUNT = 6 };

typedef struct alineo_resume {
    const alineo_memory *memory;
    const alineo_store *store;
    alineo_fold fold;
    alineo_buffer name, sandbox_id; /* the session resumed */
    alineo_buffer lineage;          /* of alineo_generation, from the session to the root */
    alineo_buffer texts;            /* what the generations point into */
    alineo_buffer settings[ALINEO_SETTING_COUNT];    /* canonical JSON, empty where absent */
    alineo_buffer snapshot, tag, checkpoint_sandbox; /* JSON strings, empty where absent */
    int64_t checkpoint_at;
    bool has_checkpoint_at;
    alineo_buffer apply, remove, credentials; /* JSON, without the brackets */
    alineo_buffer parent_id, parent_name;     /* of the generation being looked for */
    alineo_buffer scratch;
    alineo_row row;
} alineo_resume;

void alineo_resume_init(alineo_resume *resume, const alineo_memory *memory,
                        const alineo_store *store);
void alineo_resume_free(alineo_resume *resume);

/* Folds the session's replay cache, inherited execs included, as of its latest
 * checkpoint or the latest with `tag` (`at` NULL: none). ALINEO_NOT_FOUND where
 * there is no such checkpoint. The execs are then in resume->fold, by seq. */
alineo_code alineo_resume_cache(alineo_resume *resume, alineo_span name, alineo_span sandbox_id,
                                alineo_span tag, alineo_error *error);

/* The same for the session created last under this sandbox_id, with its
 * settings; alineo_resume_write then has all it writes. */
alineo_code alineo_resume_load(alineo_resume *resume, alineo_span sandbox_id, alineo_span tag,
                               alineo_error *error);
/* Appends the resume document. Works on a counting buffer too. */
void alineo_resume_write(alineo_resume *resume, alineo_buffer *out);

/* Folds a session's whole history by itself: every exec in its latest attempt. */
alineo_code alineo_resume_history(alineo_resume *resume, alineo_span name, alineo_span sandbox_id,
                                  alineo_error *error);

#endif
