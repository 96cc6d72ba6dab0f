/*
 * memory.c - buffers over the caller's allocator. See memory.h.
 */
#include "memory.h"

#include <stdint.h>
#include <string.h>

void *alineo_allocate(const alineo_memory *memory, size_t size)
{
    return memory->resize(memory->context, NULL, size);
}

void alineo_release(const alineo_memory *memory, void *block)
{
    if (block != NULL)
        memory->release(memory->context, block);
}

void alineo_buffer_init(alineo_buffer *buffer, const alineo_memory *memory)
{
    buffer->memory = memory;
    buffer->at = NULL;
    buffer->len = 0;
    buffer->room = 0;
    buffer->failed = false;
}

void alineo_buffer_free(alineo_buffer *buffer)
{
    if (buffer->memory != NULL)
        alineo_release(buffer->memory, buffer->at);
    alineo_buffer_init(buffer, buffer->memory);
}

bool alineo_buffer_exact(alineo_buffer *buffer, size_t size)
{
    if (buffer->failed || buffer->memory == NULL)
        return false;
    if (size <= buffer->room)
        return true;
    char *grown = buffer->memory->resize(buffer->memory->context, buffer->at, size);
    if (grown == NULL) {
        buffer->failed = true;
        return false;
    }
    buffer->at = grown;
    buffer->room = size;
    return true;
}

char *alineo_buffer_reserve(alineo_buffer *buffer, size_t more)
{
    if (buffer->failed || buffer->memory == NULL)
        return NULL;
    if (more > buffer->room - buffer->len) {
        if (more > SIZE_MAX - buffer->len) {
            buffer->failed = true;
            return NULL;
        }
        size_t need = buffer->len + more;
        /* Half as much again: appends stay linear, and little is left unused. */
        size_t size = buffer->room > SIZE_MAX / 2 ? need : buffer->room + buffer->room / 2;
        if (size < need)
            size = need;
        if (size < 64)
            size = 64;
        if (!alineo_buffer_exact(buffer, size))
            return NULL;
    }
    return buffer->at + buffer->len;
}

void alineo_buffer_put(alineo_buffer *buffer, const char *bytes, size_t len)
{
    if (buffer->memory != NULL && len > 0) {
        char *to = alineo_buffer_reserve(buffer, len);
        if (to == NULL)
            return;
        memcpy(to, bytes, len);
    }
    buffer->len += len;
}

void alineo_buffer_byte(alineo_buffer *buffer, char byte)
{
    alineo_buffer_put(buffer, &byte, 1);
}

void alineo_buffer_text(alineo_buffer *buffer, const char *text)
{
    alineo_buffer_put(buffer, text, strlen(text));
}

alineo_span alineo_buffer_span(const alineo_buffer *buffer)
{
    /* An empty buffer is a present, empty text, not an absent one. */
    return (alineo_span){buffer->at != NULL ? buffer->at : "", buffer->len};
}
