/* SPDX-License-Identifier: Apache-2.0 */
/* place_between.c - see place_between.h. */
#include "analyze/place_between.h"

#include "analyze/place.h"
#include "base/ref.h"

/* Of deeper stacks nothing is told: their outermost frames may be missing. */
enum { MOST_FRAMES = 128 };

struct frames { /* the Python frames of a stack, from the innermost out */
	const struct hwy_frame *items[MOST_FRAMES];
	uint32_t n;
};

static bool python_frames(const struct hwy_trace *trace, uint32_t span, struct frames *frames)
{
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(trace, span, &row);
	int64_t stack = hwy_get(strip, HWY_STACK, row);
	frames->n = 0;
	for (uint32_t steps = 0; hwy_ref_is_set(stack) && stack <= trace->n_stacks; steps++) {
		const struct hwy_stack *node = &trace->stacks[hwy_ref_index(stack)];
		/* A damaged file could have a circle of callers. */
		if (steps > trace->n_stacks || frames->n == MOST_FRAMES)
			return false;
		stack = node->parent;
		if (node->frame < 0 || node->frame >= trace->n_frames)
			continue;
		const struct hwy_frame *frame = &trace->frames[node->frame];
		if (frame->flags > 0 && frame->flags & HWY_FRAME_PYTHON &&
		    !(frame->flags & HWY_FRAME_LAYER))
			frames->items[frames->n++] = frame;
	}
	return frames->n > 0;
}

bool place_between(const struct hwy_trace *trace, uint32_t before, uint32_t after,
		   struct place_between *between)
{
	struct frames a, b;
	if (!python_frames(trace, before, &a) || !python_frames(trace, after, &b))
		return false;
	while (a.n > 0 && b.n > 0 && a.items[a.n - 1] == b.items[b.n - 1]) {
		a.n--;
		b.n--;
	}
	if (a.n == 0 || b.n == 0)
		return false;
	const struct hwy_frame *from = a.items[a.n - 1], *to = b.items[b.n - 1];
	*between = (struct place_between){.file = hwy_str(trace, to->file),
					  .function = hwy_str(trace, to->function),
					  .from = from->line,
					  .to = to->line};
	return from->function == to->function && from->file == to->file && from->line > 0 &&
	       from->line < to->line && !place_is_library(between->file);
}
