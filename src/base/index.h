/* SPDX-License-Identifier: Apache-2.0 */
/* index.h - a map from keys of any bytes (a path, a name, a struct) to 32-bit values.
 *
 *   struct hwy_index by_path = {0};
 *   bool fresh;
 *   uint32_t *number = hwy_index_put(&by_path, path, strlen(path), &fresh);
 *   if (fresh)
 *           *number = n_files++;
 *   hwy_index_free(&by_path);
 *
 * Keys are equal where their bytes are: two keys with one hash are still two keys, so a file that
 * was made to collide can slow a reader down, but cannot mix up its names. A struct that is a key
 * must have no padding, or be zeroed before its fields are set. For keys that are one 64-bit number
 * use struct hwy_map (hash.h); for texts that are wanted back by number use struct hwy_strings
 * (strings.h).
 */
#ifndef HWY_BASE_INDEX_H
#define HWY_BASE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

/* A hash table with open addressing and a power-of-two size. Keys are never removed. Zeroed memory
 * is an empty index. */
struct hwy_index {
	struct hwy_index_slot {
		const void *key; /* NULL: the key stands in the caller's array */
		uint32_t length; /* length of the key in bytes */
		uint32_t hash;
		uint32_t value;
		uint32_t is_used;
	} * slots;
	uint32_t mask; /* number of slots - 1; 0 where there are no slots */
	uint32_t count;
	struct hwy_arena keys;
};

/* Yields a pointer to the key's value, valid until the next put; 'fresh' (may be NULL) tells
 * whether the key is new (value 0). The key (less than 4 GiB) is copied. */
uint32_t *hwy_index_put(struct hwy_index *index, const void *key, size_t length, bool *fresh);
/* hwy_index_put without a copy of the key: the key must stay in place, unchanged, as long as the
 * index. */
uint32_t *hwy_index_put_reference(struct hwy_index *index, const void *key, size_t length,
				  bool *fresh);
/* Yields a pointer to the key's value, or NULL. Not for an index that hwy_index_put_element
 * filled. */
const uint32_t *hwy_index_get(const struct hwy_index *index, const void *key, size_t length);
void hwy_index_free(struct hwy_index *index);

/* An index over an array whose elements begin with their keys; the value is the element's
 * number:
 *
 *   bool fresh;
 *   uint32_t *number = hwy_index_put_element(&by_shape, shapes, sizeof *shapes, &shape, sizeof shape, &fresh);
 *   if (fresh) {
 *           HWY_GROW(shapes, n, cap);
 *           *number = n;
 *           shapes[n++] = shape;
 *   }
 *
 * Nothing is copied, and the array may move between the calls. Where 'fresh' is true the caller
 * must set the value and the element before the next call. All keys of such an index are put in
 * by this function, with one length. */
uint32_t *hwy_index_put_element(struct hwy_index *index, const void *array, size_t element_size,
				const void *key, size_t length, bool *fresh);

#endif
