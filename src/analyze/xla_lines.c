/* SPDX-License-Identifier: Apache-2.0 */
/* xla_lines.c - see xla_lines.h. */
#include "analyze/xla_lines.h"

#include "analyze/place.h"
#include "analyze/xla.h"
#include "base/ref.h"

#define XLA_SEVERAL_LINES UINT32_MAX

/* The name of the module in whose execution or compilation a thread is; an empty text where it is in none. The outermost
 * range counts: inside a compilation XLA executes candidates and compiles other modules. */
static struct hwy_text module_around(struct hwy_nests *nests, int64_t thread, int64_t start,
				     int64_t end)
{
	const struct hwy_trace *trace = nests->trace;
	struct hwy_text module = {"", 0};
	if (thread < 0 || thread >= trace->n_threads)
		return module;
	for (uint32_t n = nests->first[thread]; n < nests->first[thread + 1]; n++) {
		struct hwy_nest *nest = &nests->nests[n];
		if (nest->strip->kind != HWY_RANGE)
			continue;
		for (uint32_t row = nest_around(nest, start, end); row != NEST_NONE;
		     row = nest_parent(nest, row)) {
			struct xla_range range =
				xla_parse(hwy_text(trace, hwy_get(nest->strip, HWY_NAME, row)));
			if (range.kind == XLA_EXECUTION || range.kind == XLA_COMPILE)
				module = range.module;
		}
	}
	return module;
}

/* The frame of the user's own Python code in a stack, or NULL. */
static const struct hwy_frame *own_frame(const struct hwy_trace *trace, int64_t stack)
{
	const struct hwy_frame *frame = place_frame(trace, stack);
	if (!frame || frame->flags <= 0 || !(frame->flags & HWY_FRAME_PYTHON) || frame->line <= 0)
		return NULL;
	const char *file = hwy_str(trace, frame->file);
	return place_is_library(*file ? file : hwy_str(trace, frame->module)) ? NULL : frame;
}

static void note_line(struct xla_lines *lines, const struct hwy_trace *trace,
		      struct hwy_text module, const struct hwy_frame *frame)
{
	bool fresh;
	uint32_t *known = hwy_map_put(&lines->frames, hwy_hash(module.at, module.length), &fresh);
	if (fresh) {
		*known = hwy_ref32((uint32_t)(frame - trace->frames));
	} else if (*known != XLA_SEVERAL_LINES) {
		const struct hwy_frame *other = &trace->frames[hwy_ref32_index(*known)];
		if (other->line != frame->line || other->file != frame->file ||
		    other->module != frame->module)
			*known = XLA_SEVERAL_LINES;
	}
}

static void fill_lines(struct xla_lines *lines, struct hwy_nests *nests)
{
	const struct hwy_trace *trace = nests->trace;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		int64_t thread = trace->lanes[strip->lane].thread;
		for (uint32_t row = 0; strip->kind == HWY_API && row < strip->rows; row++) {
			int64_t stack = hwy_get(strip, HWY_STACK, row);
			if (!hwy_ref_is_set(stack))
				continue;
			struct hwy_text module = module_around(
				nests, thread, hwy_get(strip, HWY_START, row), hwy_end(strip, row));
			const struct hwy_frame *frame =
				module.length ? own_frame(trace, stack) : NULL;
			if (frame)
				note_line(lines, trace, module, frame);
		}
	}
}

const struct hwy_frame *xla_line_of(struct xla_lines *lines, struct hwy_nests *nests,
				    struct hwy_text module)
{
	if (module.length == 0)
		return NULL;
	if (!lines->is_filled)
		fill_lines(lines, nests);
	lines->is_filled = true;
	const uint32_t *known = hwy_map_get(&lines->frames, hwy_hash(module.at, module.length));
	return known && *known != XLA_SEVERAL_LINES ? &nests->trace->frames[hwy_ref32_index(*known)]
						    : NULL;
}

const struct hwy_frame *xla_line_around(struct xla_lines *lines, struct hwy_nests *nests,
					int64_t thread, int64_t start, int64_t end)
{
	return xla_line_of(lines, nests, module_around(nests, thread, start, end));
}

void xla_lines_free(struct xla_lines *lines)
{
	hwy_map_free(&lines->frames);
	*lines = (struct xla_lines){0};
}
