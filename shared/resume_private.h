/*
 * resume_private.h - what the three files of a resume share: resume.c finds and
 * folds, settings.c reads egress rules and credentials, resume_write.c writes.
 */
#ifndef ALINEO_RESUME_PRIVATE_H
#define ALINEO_RESUME_PRIVATE_H

#include "resume.h"

/* Every single buffer of a resume, to start, check and free them alike. */
#define ALINEO_RESUME_BUFFERS(r)                                                                   \
    {                                                                                              \
        &(r)->name, &(r)->sandbox_id, &(r)->lineage, &(r)->texts, &(r)->snapshot, &(r)->tag,       \
            &(r)->apply, &(r)->remove, &(r)->scratch, &(r)->checkpoint_sandbox, &(r)->credentials, \
            &(r)->parent_id, &(r)->parent_name                                                     \
    }

/* A text as printf's %.*s takes it, cut at a character where it is long. */
#define ALINEO_QUOTED(span) alineo_quoted_length(span), (span).at

static inline int alineo_quoted_length(alineo_span text)
{
    size_t len = text.len;

    if (len > ALINEO_NAME_BYTES)
        for (len = ALINEO_NAME_BYTES; len > 0 && ((unsigned char)text.at[len] & 0xC0) == 0x80;)
            len--;
    return (int)len;
}

/* A text in resume->texts. */
typedef struct alineo_place {
    size_t offset, len;
} alineo_place;

/* One session of a lineage. Its events with an id below `before` count. */
typedef struct alineo_generation {
    alineo_place name, sandbox_id;
    alineo_place parent, snapshot; /* resumedFrom and snapshotId, where resumed */
    int64_t before;
    bool resumed;
} alineo_generation;

alineo_span alineo_resume_text(const alineo_resume *resume, alineo_place place);

static inline size_t alineo_resume_generations(const alineo_resume *resume)
{
    return resume->lineage.len / sizeof(alineo_generation);
}

static inline alineo_generation *alineo_resume_generation(const alineo_resume *resume, size_t index)
{
    return (alineo_generation *)(void *)resume->lineage.at + index;
}

/* Reads egress rules and credentials over the session's whole history. */
alineo_code alineo_resume_settings(alineo_resume *resume, alineo_error *error);

#endif
