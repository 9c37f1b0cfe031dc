/* SPDX-License-Identifier: Apache-2.0 */
/* hash.h - hash functions, and a map from 64-bit keys to 32-bit values. */
#ifndef HWY_BASE_HASH_H
#define HWY_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint64_t hwy_hash(const void *bytes, size_t length);

static inline uint64_t hwy_mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	return x ^ (x >> 32);
}

/* A hash map with open addressing and a power-of-two size. Keys are never removed. Zeroed memory is
 * an empty map. */
struct hwy_map {
	struct hwy_map_slot {
		uint64_t key;
		uint32_t value;
		uint32_t used;
	} * slots;
	uint32_t mask; /* number of slots - 1; 0 where there are no slots */
	uint32_t count;
};

/* Yields a pointer to the key's value. A new key gets the value 0, and *fresh (may be NULL) becomes
 * true. */
uint32_t *hwy_map_put(struct hwy_map *map, uint64_t key, bool *fresh);
/* Yields a pointer to the key's value, or NULL where the map lacks the key. */
const uint32_t *hwy_map_get(const struct hwy_map *map, uint64_t key);
void hwy_map_free(struct hwy_map *map);

#endif
