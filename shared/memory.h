/*
 * memory.h - the only way the core gets memory.
 *
 * The caller hands in an allocator. It may return NULL on failure (SQLite) or
 * not return at all (PostgreSQL's palloc leaves by longjmp). Both hold because
 * the core owns nothing but such memory: a call that is left half way leaves
 * blocks behind, which the owner of the allocator drops as a whole, and a NULL
 * becomes ALINEO_NO_MEMORY on an ordinary path.
 */
#ifndef ALINEO_MEMORY_H
#define ALINEO_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct alineo_memory {
    void *context;
    /* Resizes a block, or makes one where `block` is NULL; `size` is never 0.
     * NULL means failure, the old block is then untouched. May not return. */
    void *(*resize)(void *context, void *block, size_t size);
    /* Gives a block back; NULL is fine. Always returns. */
    void (*release)(void *context, void *block);
} alineo_memory;

void *alineo_allocate(const alineo_memory *memory, size_t size);
void alineo_release(const alineo_memory *memory, void *block);

/* A run of bytes that is not owned. `at` may be NULL only where len is 0 or
 * where the comment of the holder says that NULL means "absent". */
typedef struct alineo_span {
    const char *at;
    size_t len;
} alineo_span;

/* Behind the last byte. C allows no sum with NULL, not even NULL + 0. */
static inline const char *alineo_span_end(alineo_span span)
{
    return span.len == 0 ? span.at : span.at + span.len;
}

static inline bool alineo_span_equal(alineo_span a, alineo_span b)
{
    /* Most of what is compared differs in its length or its first byte. */
    return a.len == b.len && (a.len == 0 || (a.at[0] == b.at[0] && memcmp(a.at, b.at, a.len) == 0));
}

/*
 * A growing run of bytes. A failed growth makes it `failed`, and every later
 * append is a no-op, so a writer checks once at its end. Without an allocator
 * it only counts: the same writer first measures, then writes into a block of
 * just that size.
 */
typedef struct alineo_buffer {
    const alineo_memory *memory; /* NULL: count only */
    char *at;
    size_t len;
    size_t room;
    bool failed;
} alineo_buffer;

void alineo_buffer_init(alineo_buffer *buffer, const alineo_memory *memory);
/* Releases the bytes; the buffer is empty and can be used again. */
void alineo_buffer_free(alineo_buffer *buffer);
/* Makes room for `more` bytes beyond len, for the caller to fill; returns
 * where, or NULL (failed, or counting). Does not change len. */
char *alineo_buffer_reserve(alineo_buffer *buffer, size_t more);
/* Sets the room to exactly `size` bytes, for a caller that measured. */
bool alineo_buffer_exact(alineo_buffer *buffer, size_t size);
void alineo_buffer_put(alineo_buffer *buffer, const char *bytes, size_t len);
void alineo_buffer_byte(alineo_buffer *buffer, char byte);
/* A literal or other C string, without its NUL. */
void alineo_buffer_text(alineo_buffer *buffer, const char *text);
alineo_span alineo_buffer_span(const alineo_buffer *buffer);

#endif
