/* SPDX-License-Identifier: Apache-2.0 */
/* um.c - unified memory: what migrated, by virtual address.
 *
 * Columns, order (fastest first) and the limit of ten rows are nsys's, down to the space before
 * "GPU". The trace's model has no page faults: their columns stay empty.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "stats/families.h"

enum { MOST_ROWS = 10 };

struct page { /* what migrated at one address */
	int64_t address;
	int64_t to_device, to_host; /* bytes that migrated to the device, and to the host */
	int64_t duration;           /* ns that the migrations took */
};

/* Yields bytes a second as nsys counts them: how often the migration fits a second, rounded
 * down, times its bytes. */
static int64_t rate_of(const struct page *page)
{
	int64_t runs = page->duration > 0 ? 1000000000 / page->duration : 0, rate;
	return __builtin_mul_overflow(page->to_device + page->to_host, runs, &rate) ? INT64_MAX
										    : rate;
}

static int by_rate(const void *left, const void *right)
{
	const struct page *a = left, *b = right;
	int64_t rate_a = rate_of(a), rate_b = rate_of(b);
	if (rate_a != rate_b)
		return rate_a < rate_b ? 1 : -1;
	return (a->address > b->address) - (a->address < b->address);
}

static void um_yield(struct report_run *run, const struct page *page)
{
	char address[32];
	snprintf(address, sizeof address, "0x%" PRIX64, (uint64_t)page->address);
	struct stats_cell cells[] = {
		cell_from_textz(address),
		page->to_device ? cell_number(page->to_device) : cell_empty(),
		page->to_host ? cell_number(page->to_host) : cell_empty(),
		cell_empty(),
		cell_empty(),
		cell_number(rate_of(page)),
	};
	report_row(run, cells);
}

bool make_um_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {
		{"Virtual Address", STATS_TEXT},      {"HtoD Migration size", STATS_BYTES},
		{"DtoH Migration size", STATS_BYTES}, {"CPU Page Faults", STATS_COUNT},
		{" GPU Page Faults", STATS_COUNT},    {"Migration Throughput", STATS_RATE}};
	const struct hwy_trace *trace = run->trace;
	if (!hwy_need(run->trace, HWY_KIND_BIT(HWY_COPY),
		      HWY_COL_BIT(HWY_DIRECTION) | HWY_COL_BIT(HWY_ADDRESS) |
			      HWY_COL_BIT(HWY_BYTES) | HWY_COL_BIT(HWY_DUR) |
			      filter_columns(&run->filter),
		      err))
		return false;
	report_columns(run, columns, STATS_LENGTH(columns));
	struct hwy_map map = {0};
	struct page *pages = NULL;
	uint32_t n = 0, cap = 0;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		for (uint32_t row = 0; strip->kind == HWY_COPY && row < strip->rows; row++) {
			int64_t direction = hwy_get(strip, HWY_DIRECTION, row);
			if ((direction != HWY_UM_H2D && direction != HWY_UM_D2H) ||
			    !filter_keeps(&run->filter, trace, strip, row))
				continue;
			int64_t address = hwy_get(strip, HWY_ADDRESS, row);
			bool fresh;
			uint32_t *index = hwy_map_put(&map, (uint64_t)address, &fresh);
			if (fresh) {
				HWY_GROW(pages, n, cap);
				*index = n;
				pages[n++] = (struct page){.address = address};
			}
			assert(pages);
			struct page *page = &pages[*index];
			hwy_add_saturating(&page->duration, hwy_get(strip, HWY_DUR, row));
			hwy_add_saturating(direction == HWY_UM_H2D ? &page->to_device
								   : &page->to_host,
					   hwy_get(strip, HWY_BYTES, row));
		}
	}
	if (n)
		qsort(pages, n, sizeof *pages, by_rate);
	for (uint32_t i = 0; i < n && i < MOST_ROWS; i++)
		um_yield(run, &pages[i]);
	hwy_map_free(&map);
	free(pages);
	return true;
}
