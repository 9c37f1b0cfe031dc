/* SPDX-License-Identifier: Apache-2.0 */
/* hash.c - see hash.h. */
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

uint64_t hwy_hash(const void *bytes, size_t length)
{
	const unsigned char *at = bytes;
	uint64_t h = 0x9e3779b97f4a7c15u ^ (length * 0xff51afd7ed558ccdu);
	for (; length >= 8; at += 8, length -= 8) {
		uint64_t word;
		memcpy(&word, at, 8);
		h = (h ^ word) * 0x9fb21c651e98df25u;
		h ^= h >> 29;
	}
	uint64_t rest = 0;
	memcpy(&rest, at, length);
	return hwy_mix(h ^ rest);
}

static struct hwy_map_slot *hash_slot_of(const struct hwy_map *map, uint64_t key)
{
	uint32_t i = (uint32_t)hwy_mix(key) & map->mask;
	while (map->slots[i].used && map->slots[i].key != key)
		i = (i + 1) & map->mask;
	return &map->slots[i];
}

static void grow(struct hwy_map *map)
{
	struct hwy_map old = *map;
	uint32_t size = old.slots ? (old.mask + 1) * 2 : 64;
	map->slots = hwy_zarray(size, sizeof *map->slots);
	map->mask = size - 1;
	for (uint32_t i = 0; old.slots && i <= old.mask; i++)
		if (old.slots[i].used)
			*hash_slot_of(map, old.slots[i].key) = old.slots[i];
	free(old.slots);
}

uint32_t *hwy_map_put(struct hwy_map *map, uint64_t key, bool *fresh)
{
	if (!map->slots || map->count >= map->mask / 4 * 3)
		grow(map);
	struct hwy_map_slot *slot = hash_slot_of(map, key);
	if (fresh)
		*fresh = !slot->used;
	if (!slot->used) {
		*slot = (struct hwy_map_slot){.key = key, .used = 1};
		map->count++;
	}
	return &slot->value;
}

const uint32_t *hwy_map_get(const struct hwy_map *map, uint64_t key)
{
	if (!map->slots)
		return NULL;
	const struct hwy_map_slot *slot = hash_slot_of(map, key);
	return slot->used ? &slot->value : NULL;
}

void hwy_map_free(struct hwy_map *map)
{
	free(map->slots);
	*map = (struct hwy_map){0};
}
