/* SPDX-License-Identifier: Apache-2.0 */
/* index.c - see index.h. */
#include "base/index.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* The caller's array that holds the keys of an index that was filled by hwy_index_put_element. */
struct array {
	const char *first;
	size_t element_size;
};

struct wanted {
	const void *key;
	uint32_t length, hash;
};

static struct wanted index_wanted(const void *key, size_t length)
{
	assert(length <= UINT32_MAX);
	return (struct wanted){key, (uint32_t)length, (uint32_t)hwy_hash(key, length)};
}

static bool index_slot_holds(const struct hwy_index_slot *slot, const struct wanted *wanted,
			     struct array array)
{
	if (slot->hash != wanted->hash || slot->length != wanted->length)
		return false;
	const void *key = array.first ? array.first + slot->value * array.element_size : slot->key;
	return wanted->length == 0 || memcmp(key, wanted->key, wanted->length) == 0;
}

/* Yields the slot that holds the key, or the empty slot where the key belongs. */
static struct hwy_index_slot *index_slot_of(const struct hwy_index *index,
					    const struct wanted *wanted, struct array array)
{
	uint32_t i = wanted->hash & index->mask;
	while (index->slots[i].is_used && !index_slot_holds(&index->slots[i], wanted, array))
		i = (i + 1) & index->mask;
	return &index->slots[i];
}

static void index_grow(struct hwy_index *index)
{
	enum { FIRST_SLOTS = 64 };
	struct hwy_index old = *index;
	size_t size = old.slots ? ((size_t)old.mask + 1) * 2 : FIRST_SLOTS;
	index->slots = hwy_zarray(size, sizeof *index->slots);
	index->mask = (uint32_t)(size - 1);
	for (size_t from = 0; old.slots && from <= old.mask; from++) {
		if (!old.slots[from].is_used)
			continue;
		uint32_t to = old.slots[from].hash & index->mask;
		while (index->slots[to].is_used)
			to = (to + 1) & index->mask;
		index->slots[to] = old.slots[from];
	}
	free(old.slots);
}

static struct hwy_index_slot *index_put_slot(struct hwy_index *index, const void *key,
					     size_t length, struct array array, bool *fresh)
{
	if (!index->slots || index->count >= index->mask / 4 * 3)
		index_grow(index);
	struct wanted wanted = index_wanted(key, length);
	struct hwy_index_slot *slot = index_slot_of(index, &wanted, array);
	*fresh = !slot->is_used;
	if (*fresh) {
		*slot = (struct hwy_index_slot){
			.length = wanted.length, .hash = wanted.hash, .is_used = 1};
		index->count++;
	}
	return slot;
}

uint32_t *hwy_index_put(struct hwy_index *index, const void *key, size_t length, bool *fresh)
{
	bool is_fresh;
	struct hwy_index_slot *slot =
		index_put_slot(index, key, length, (struct array){0}, &is_fresh);
	if (is_fresh)
		slot->key = hwy_arena_copy_array(&index->keys, key, length, 1);
	if (fresh)
		*fresh = is_fresh;
	return &slot->value;
}

uint32_t *hwy_index_put_reference(struct hwy_index *index, const void *key, size_t length,
				  bool *fresh)
{
	bool is_fresh;
	struct hwy_index_slot *slot =
		index_put_slot(index, key, length, (struct array){0}, &is_fresh);
	if (is_fresh)
		slot->key = key;
	if (fresh)
		*fresh = is_fresh;
	return &slot->value;
}

uint32_t *hwy_index_put_element(struct hwy_index *index, const void *array, size_t element_size,
				const void *key, size_t length, bool *fresh)
{
	assert(length <= element_size);
	return &index_put_slot(index, key, length, (struct array){array, element_size}, fresh)
			->value;
}

const uint32_t *hwy_index_get(const struct hwy_index *index, const void *key, size_t length)
{
	if (!index->slots)
		return NULL;
	struct wanted wanted = index_wanted(key, length);
	const struct hwy_index_slot *slot = index_slot_of(index, &wanted, (struct array){0});
	return slot->is_used ? &slot->value : NULL;
}

void hwy_index_free(struct hwy_index *index)
{
	free(index->slots);
	hwy_arena_free(&index->keys);
	*index = (struct hwy_index){0};
}
