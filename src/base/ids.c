/* SPDX-License-Identifier: Apache-2.0 */
/* ids.c - see ids.h. */
#include "base/ids.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { DENSE_LIMIT = 1 << 20 };

uint32_t *hwy_ids_put(struct hwy_ids *ids, uint64_t id)
{
	if (id >= DENSE_LIMIT)
		return hwy_map_put(&ids->sparse, id, NULL);
	if (id >= ids->n) {
		uint32_t n = ids->n ? ids->n : 64;
		while (n <= id)
			n *= 2;
		ids->dense = hwy_resize(ids->dense, n, sizeof *ids->dense);
		memset(ids->dense + ids->n, 0, (n - ids->n) * sizeof *ids->dense);
		ids->n = n;
	}
	return &ids->dense[id];
}

void hwy_ids_free(struct hwy_ids *ids)
{
	free(ids->dense);
	hwy_map_free(&ids->sparse);
	*ids = (struct hwy_ids){0};
}
