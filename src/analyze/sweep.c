/* sweep.c - see sweep.h. */
#include "analyze/sweep.h"

#include <stdlib.h>

#include "base/mem.h"

static void sink(struct hwy_sweep *sweep, uint32_t at)
{
	struct hwy_sweep_head *heads = sweep->heads;
	struct hwy_sweep_head moving = heads[at];
	for (;;) {
		uint32_t child = 2 * at + 1;
		if (child >= sweep->n)
			break;
		if (child + 1 < sweep->n && heads[child + 1].start < heads[child].start)
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
	sweep->n = sweep->n_sources;
	sweep->heads = hwy_alloc((sweep->n + 1u) * sizeof *sweep->heads);
	for (uint32_t i = 0; i < sweep->n; i++)
		sweep->heads[i] = (struct hwy_sweep_head){sweep->sources[i].starts.values[0], i};
	for (uint32_t i = sweep->n / 2; i-- > 0;)
		sink(sweep, i);
}

/* Past the current span: its strip moves on to its next row, or leaves the heap. */
static void step_on(struct hwy_sweep *sweep)
{
	struct hwy_sweep_head *head = &sweep->heads[0];
	struct hwy_sweep_source *source = sweep->source;
	source->next = sweep->row + 1;
	if (source->next < source->strip->rows)
		head->start = reader_get(&source->starts, source->next);
	else
		*head = sweep->heads[--sweep->n];
	if (sweep->n > 1)
		sink(sweep, 0);
}

bool sweep_turn(struct hwy_sweep *sweep)
{
	if (!sweep->heads)
		sweep_begin(sweep);
	else if (sweep->n)
		step_on(sweep);
	if (sweep->n == 0)
		return false;
	const struct hwy_sweep_head *heads = sweep->heads;
	struct hwy_sweep_source *source = &sweep->sources[heads[0].source];
	sweep->source = source;
	sweep->strip = source->strip;
	sweep->row = source->next;
	sweep->tag = source->tag;
	sweep->start = heads[0].start;
	sweep->end = heads[0].start + reader_get(&source->lengths, source->next);
	sweep->until = sweep->n > 1 ? heads[1].start : INT64_MAX;
	if (sweep->n > 2 && heads[2].start < sweep->until)
		sweep->until = heads[2].start;
	return true;
}

void sweep_free(struct hwy_sweep *sweep)
{
	free(sweep->sources);
	free(sweep->heads);
	*sweep = (struct hwy_sweep){0};
}
