/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.c - see sweep.h. */
#include "analyze/sweep.h"

#include <stdlib.h>

#include "base/mem.h"

static void sweep_sink(struct hwy_sweep *sweep, uint32_t at)
{
	struct hwy_sweep_head *heads = sweep->heads;
	struct hwy_sweep_head moving = heads[at];
	for (;;) {
		uint32_t child = 2 * at + 1;
		if (child >= sweep->n_heads)
			break;
		if (child + 1 < sweep->n_heads && heads[child + 1].start < heads[child].start)
			child++;
		if (heads[child].start >= moving.start)
			break;
		heads[at] = heads[child];
		at = child;
	}
	heads[at] = moving;
}

void sweep_add(struct hwy_sweep *sweep, const struct hwy_strip *strip, uint32_t tag)
{
	if (strip->rows == 0)
		return;
	HWY_GROW(sweep->sources, sweep->n_sources, sweep->cap_sources);
	sweep->sources[sweep->n_sources++] = (struct hwy_sweep_source){
		.strip = strip,
		.tag = tag,
		.starts = column_reader(strip->columns[HWY_START]),
		.lengths = column_reader(strip->columns[HWY_DUR]),
	};
}

static void sweep_begin(struct hwy_sweep *sweep)
{
	sweep->n_heads = sweep->n_sources;
	sweep->heads = hwy_array(sweep->n_heads, sizeof *sweep->heads);
	for (uint32_t i = 0; i < sweep->n_heads; i++)
		sweep->heads[i] =
			(struct hwy_sweep_head){reader_get(&sweep->sources[i].starts, 0), i};
	for (uint32_t i = sweep->n_heads / 2; i-- > 0;)
		sweep_sink(sweep, i);
}

/* Leaves the current span: its strip moves on to the next row, or leaves the heap. */
static void sweep_leave(struct hwy_sweep *sweep)
{
	struct hwy_sweep_head *head = &sweep->heads[0];
	struct hwy_sweep_source *source = sweep->source;
	source->next = sweep->row + 1;
	if (source->next < source->strip->rows)
		head->start = reader_get(&source->starts, source->next);
	else
		*head = sweep->heads[--sweep->n_heads];
	if (sweep->n_heads > 1)
		sweep_sink(sweep, 0);
}

bool sweep_next_of_any_source(struct hwy_sweep *sweep)
{
	if (!sweep->heads)
		sweep_begin(sweep);
	else if (sweep->n_heads)
		sweep_leave(sweep);
	if (sweep->n_heads == 0)
		return false;
	const struct hwy_sweep_head *heads = sweep->heads;
	struct hwy_sweep_source *source = &sweep->sources[heads[0].source];
	sweep->source = source;
	sweep->strip = source->strip;
	sweep->row = source->next;
	sweep->tag = source->tag;
	sweep->start = heads[0].start;
	sweep->end = heads[0].start + reader_get(&source->lengths, source->next);
	sweep->until = sweep->n_heads > 1 ? heads[1].start : INT64_MAX;
	if (sweep->n_heads > 2 && heads[2].start < sweep->until)
		sweep->until = heads[2].start;
	return true;
}

void sweep_free(struct hwy_sweep *sweep)
{
	free(sweep->sources);
	free(sweep->heads);
	*sweep = (struct hwy_sweep){0};
}
