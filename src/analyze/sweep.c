/* sweep.c - see sweep.h. */
#include "analyze/sweep.h"

#include <stdlib.h>

#include "base/mem.h"

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
	sweep->is_begun = true;
	for (uint32_t i = 0; i < sweep->n_sources; i++)
		hwy_heap_add(&sweep->heads, sweep->sources[i].starts.values[0], i);
}

/* Leaves the current span: its strip moves on to the next row, or leaves the heap. */
static void sweep_leave(struct hwy_sweep *sweep)
{
	struct hwy_sweep_source *source = sweep->source;
	source->next = sweep->row + 1;
	if (source->next < source->strip->rows) {
		sweep->heads.at[0].time = reader_get(&source->starts, source->next);
		hwy_heap_sink(&sweep->heads);
	} else {
		hwy_heap_drop(&sweep->heads);
	}
}

bool sweep_turn(struct hwy_sweep *sweep)
{
	if (!sweep->is_begun)
		sweep_begin(sweep);
	else if (sweep->heads.n)
		sweep_leave(sweep);
	if (sweep->heads.n == 0)
		return false;
	const struct hwy_heap_entry *heads = sweep->heads.at;
	struct hwy_sweep_source *source = &sweep->sources[heads[0].what];
	sweep->source = source;
	sweep->strip = source->strip;
	sweep->row = source->next;
	sweep->tag = source->tag;
	sweep->start = heads[0].time;
	sweep->end = heads[0].time + reader_get(&source->lengths, source->next);
	sweep->until = sweep->heads.n > 1 ? heads[1].time : INT64_MAX;
	if (sweep->heads.n > 2 && heads[2].time < sweep->until)
		sweep->until = heads[2].time;
	return true;
}

void sweep_free(struct hwy_sweep *sweep)
{
	free(sweep->sources);
	free(sweep->heads.at);
	*sweep = (struct hwy_sweep){0};
}
