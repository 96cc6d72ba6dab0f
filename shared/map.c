/*
 * map.c - an open-addressing hash table that only grows. See map.h.
 */
#include "map.h"

#include <string.h>

enum { FIRST_SLOTS = 64 };

typedef struct map_entry {
    size_t offset, len; /* the key, in map.keys */
    uint64_t hash;
    size_t value;
} map_entry;

void alineo_map_init(alineo_map *map, const alineo_memory *memory)
{
    map->memory = memory;
    alineo_buffer_init(&map->keys, memory);
    alineo_buffer_init(&map->entries, memory);
    map->slots = NULL;
    map->slot_count = 0;
}

void alineo_map_free(alineo_map *map)
{
    alineo_buffer_free(&map->keys);
    alineo_buffer_free(&map->entries);
    alineo_release(map->memory, map->slots);
    alineo_map_init(map, map->memory);
}

static map_entry *entry_at(const alineo_map *map, size_t index)
{
    return (map_entry *)(void *)map->entries.at + index;
}

/* FNV-1a, its high bits folded into the low ones that choose the slot. */
static uint64_t hash_of(alineo_span key)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);

    for (size_t i = 0; i < key.len; i++)
        hash = (hash ^ (unsigned char)key.at[i]) * UINT64_C(0x100000001B3);
    return hash ^ hash >> 32;
}

static bool grow(alineo_map *map)
{
    size_t count = map->entries.len / sizeof(map_entry);
    size_t wanted = map->slot_count == 0 ? FIRST_SLOTS : map->slot_count * 2;

    if (count < map->slot_count / 2)
        return true;
    if (wanted > SIZE_MAX / sizeof *map->slots)
        return false;
    size_t *slots = alineo_allocate(map->memory, wanted * sizeof *slots);
    if (slots == NULL)
        return false;
    memset(slots, 0, wanted * sizeof *slots);
    for (size_t i = 0; i < count; i++) {
        size_t slot = entry_at(map, i)->hash & (wanted - 1);
        while (slots[slot] != 0)
            slot = (slot + 1) & (wanted - 1);
        slots[slot] = i + 1;
    }
    alineo_release(map->memory, map->slots);
    map->slots = slots;
    map->slot_count = wanted;
    return true;
}

size_t *alineo_map_at(alineo_map *map, alineo_span key)
{
    if (!grow(map))
        return NULL;
    map_entry fresh = {map->keys.len, key.len, hash_of(key), 0};
    size_t slot = fresh.hash & (map->slot_count - 1);
    for (; map->slots[slot] != 0; slot = (slot + 1) & (map->slot_count - 1)) {
        map_entry *entry = entry_at(map, map->slots[slot] - 1);
        alineo_span known = {alineo_buffer_span(&map->keys).at + entry->offset, entry->len};
        if (entry->hash == fresh.hash && alineo_span_equal(known, key))
            return &entry->value;
    }
    alineo_buffer_put(&map->keys, key.at, key.len);
    alineo_buffer_put(&map->entries, (const char *)&fresh, sizeof fresh);
    if (map->keys.failed || map->entries.failed)
        return NULL;
    size_t count = map->entries.len / sizeof(map_entry);
    map->slots[slot] = count;
    return &entry_at(map, count - 1)->value;
}
