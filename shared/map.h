/*
 * map.h - finds a number by a key of bytes. C has no such table, and the ones
 * in libraries bring their own allocation.
 */
#ifndef ALINEO_MAP_H
#define ALINEO_MAP_H

#include <stdint.h>

#include "memory.h"

typedef struct alineo_map {
    const alineo_memory *memory;
    alineo_buffer keys;    /* the bytes of all keys */
    alineo_buffer entries; /* map_entry (map.c), in order of insertion */
    size_t *slots;         /* index into entries plus 1, 0 where free */
    size_t slot_count;     /* a power of two, at least twice the entries */
} alineo_map;

void alineo_map_init(alineo_map *map, const alineo_memory *memory);
void alineo_map_free(alineo_map *map);
/* Where the number of a key is kept, 0 for a key not seen before; valid until
 * the next call. NULL where memory ran out. */
size_t *alineo_map_at(alineo_map *map, alineo_span key);

#endif
