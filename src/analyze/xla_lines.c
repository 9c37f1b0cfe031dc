/* SPDX-License-Identifier: Apache-2.0 */
/* xla_lines.c - see xla_lines.h. */
#include "analyze/xla_lines.h"

#include "analyze/place.h"
#include "analyze/xla.h"
#include "base/ref.h"

#define XLA_SEVERAL_LINES UINT32_MAX

/* The name of the module in whose execution or compilation a thread is; an empty text where it
 * is in none. The outermost range counts: inside a compilation XLA executes candidates and
 * compiles other modules. */
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

/* The key of a function, by the name of its HLO module. */
static uint64_t key_of_module(struct hwy_text module)
{
	return hwy_hash(module.at, module.length);
}

/* The key of the calls of one name that a process makes outside of functions. */
static uint64_t key_of_calls(int64_t name, int64_t process)
{
	return hwy_mix(hwy_mix((uint64_t)name) + (uint64_t)process + 1);
}

static void note_line(struct xla_lines *lines, const struct hwy_trace *trace, uint64_t key,
		      const struct hwy_frame *frame)
{
	bool fresh;
	uint32_t *known = hwy_map_put(&lines->frames, key, &fresh);
	if (fresh) {
		*known = hwy_ref32((uint32_t)(frame - trace->frames));
	} else if (*known != XLA_SEVERAL_LINES) {
		const struct hwy_frame *other = &trace->frames[hwy_ref32_index(*known)];
		if (other->line != frame->line || other->file != frame->file ||
		    other->module != frame->module)
			*known = XLA_SEVERAL_LINES;
	}
}

/* Notes the line of one call that has a stack. */
static void note_call(struct xla_lines *lines, struct hwy_nests *nests,
		      const struct hwy_strip *strip, uint32_t row)
{
	const struct hwy_trace *trace = nests->trace;
	const struct hwy_lane *lane = &trace->lanes[strip->lane];
	const struct hwy_frame *frame = own_frame(trace, hwy_get(strip, HWY_STACK, row));
	if (!frame)
		return;
	struct hwy_text module = module_around(nests, lane->thread, hwy_get(strip, HWY_START, row),
					       hwy_end(strip, row));
	note_line(lines, trace,
		  module.length ? key_of_module(module)
				: key_of_calls(hwy_get(strip, HWY_NAME, row), lane->process),
		  frame);
}

static void fill_lines(struct xla_lines *lines, struct hwy_nests *nests)
{
	const struct hwy_trace *trace = nests->trace;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		for (uint32_t row = 0; strip->kind == HWY_API && row < strip->rows; row++)
			if (hwy_ref_is_set(hwy_get(strip, HWY_STACK, row)))
				note_call(lines, nests, strip, row);
	}
	lines->is_filled = true;
}

/* Whether the trace has executions of XLA; it is looked through once. */
static bool has_executions(struct xla_lines *lines, const struct hwy_trace *trace)
{
	if (!lines->is_asked)
		lines->has_xla = xla_any_execution(&trace->strings);
	lines->is_asked = true;
	return lines->has_xla;
}

static const struct hwy_frame *line_of_key(const struct xla_lines *lines,
					   const struct hwy_trace *trace, uint64_t key)
{
	const uint32_t *known = hwy_map_get(&lines->frames, key);
	return known && *known != XLA_SEVERAL_LINES ? &trace->frames[hwy_ref32_index(*known)]
						    : NULL;
}

const struct hwy_frame *xla_line_of(struct xla_lines *lines, struct hwy_nests *nests,
				    struct hwy_text module)
{
	if (module.length == 0)
		return NULL;
	if (!lines->is_filled)
		fill_lines(lines, nests);
	return line_of_key(lines, nests->trace, key_of_module(module));
}

const struct hwy_frame *xla_line_of_call(struct xla_lines *lines, struct hwy_nests *nests,
					 const struct hwy_strip *strip, uint32_t row)
{
	const struct hwy_trace *trace = nests->trace;
	if (!has_executions(lines, trace))
		return NULL;
	if (!lines->is_filled)
		fill_lines(lines, nests);
	return line_of_key(
		lines, trace,
		key_of_calls(hwy_get(strip, HWY_NAME, row), trace->lanes[strip->lane].process));
}

const struct hwy_frame *xla_line_around(struct xla_lines *lines, struct hwy_nests *nests,
					int64_t thread, int64_t start, int64_t end)
{
	if (!has_executions(lines, nests->trace))
		return NULL; /* the ranges around are many in some traces */
	return xla_line_of(lines, nests, module_around(nests, thread, start, end));
}

void xla_lines_free(struct xla_lines *lines)
{
	hwy_map_free(&lines->frames);
	*lines = (struct xla_lines){0};
}
