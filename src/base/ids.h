/* SPDX-License-Identifier: Apache-2.0 */
/* ids.h - maps ids of a recording to our own numbers. Small ids are kept in an array, other ids in
 * a map. */
#ifndef HWY_BASE_IDS_H
#define HWY_BASE_IDS_H

#include "base/hash.h"

/* Zeroed memory is an empty table. An id that was never put has the number 0. */
struct hwy_ids {
	uint32_t *dense;
	uint32_t n;
	struct hwy_map sparse;
};

uint32_t *hwy_ids_put(struct hwy_ids *ids, uint64_t id);
void hwy_ids_free(struct hwy_ids *ids);

static inline uint32_t hwy_ids_get(const struct hwy_ids *ids, uint64_t id)
{
	if (id < ids->n)
		return ids->dense[id];
	const uint32_t *at = hwy_map_get(&ids->sparse, id);
	return at ? *at : 0;
}

#endif
