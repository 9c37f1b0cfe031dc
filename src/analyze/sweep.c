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
	HWY_GROW(sweep->heads, sweep->n, sweep->cap);
	sweep->heads[sweep->n++] = (struct hwy_sweep_head){
		.start = hwy_get(strip, HWY_START, 0),
		.strip = strip,
		.tag = tag,
	};
}

/* Past the current span: its strip moves on to its next row, or leaves the heap. */
static void step_on(struct hwy_sweep *sweep)
{
	struct hwy_sweep_head *head = &sweep->heads[0];
	if (++head->next < head->strip->rows)
		head->start = hwy_get(head->strip, HWY_START, head->next);
	else
		*head = sweep->heads[--sweep->n];
	if (sweep->n > 1)
		sink(sweep, 0);
}

bool sweep_next(struct hwy_sweep *sweep)
{
	if (sweep->begun && sweep->n) {
		step_on(sweep);
	} else {
		for (uint32_t i = sweep->n / 2; i-- > 0;)
			sink(sweep, i);
		sweep->begun = true;
	}
	if (sweep->n == 0)
		return false;
	const struct hwy_sweep_head *head = &sweep->heads[0];
	sweep->strip = head->strip;
	sweep->row = head->next;
	sweep->tag = head->tag;
	sweep->start = head->start;
	sweep->end = head->start + hwy_get(head->strip, HWY_DUR, head->next);
	return true;
}

void sweep_free(struct hwy_sweep *sweep)
{
	free(sweep->heads);
	*sweep = (struct hwy_sweep){0};
}
