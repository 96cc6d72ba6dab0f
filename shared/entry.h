/*
 * entry.h - one event about to be recorded: what is refused, what is filled in.
 * docs/reference.md, "alineo_append".
 */
#ifndef ALINEO_ENTRY_H
#define ALINEO_ENTRY_H

#include "arguments.h"
#include "fields.h"

/* An entry as given; after alineo_entry_check, as to be stored. In a span,
 * `at` NULL is NULL. */
typedef struct alineo_entry {
    alineo_span name, sandbox_id, event;
    alineo_span payload; /* JSON text */
    alineo_span error;
    alineo_integer step_idx, branch;
    alineo_integer ts; /* where not given: now, not below the session's latest */
    bool special;      /* the payload holds text that JSONB must escape (storage_escape.h) */
} alineo_entry;

/* What the fields are called in an error: arguments, or keys of a batch. */
typedef struct alineo_entry_names {
    const char *sandbox_id, *step_idx;
} alineo_entry_names;

extern const alineo_entry_names alineo_entry_arguments;
extern const alineo_entry_names alineo_entry_keys;

/* Memory an entry's texts may need; a checked entry lives until the next check. */
typedef struct alineo_entry_reader {
    alineo_fields_reader payload;
    alineo_buffer error;
} alineo_entry_reader;

void alineo_entry_reader_init(alineo_entry_reader *reader, const alineo_memory *memory);
void alineo_entry_reader_free(alineo_entry_reader *reader);

/* Checks an entry and completes it: event gets its current name, step_idx its
 * default, error its storable form. `payload_valid` says that the payload has
 * been scanned already. ts stays for the engine, which knows the session. */
alineo_code alineo_entry_check(alineo_entry_reader *reader, alineo_entry *entry,
                               const alineo_entry_names *names, bool payload_valid,
                               alineo_error *error);

/* The ts of an entry without one: `now`, but never below the latest of its session. */
int64_t alineo_entry_ts(int64_t now, int64_t latest);

#endif
