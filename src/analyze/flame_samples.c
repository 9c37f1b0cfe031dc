/* SPDX-License-Identifier: Apache-2.0 */
/* flame_samples.c - see flame.h: stacks and threads as nodes, and the samples of the CPU. */
#include <inttypes.h>
#include <stdio.h>

#include "analyze/flame.h"
#include "analyze/place.h"
#include "base/path.h"
#include "base/ref.h"
#include "base/saturating.h"

/* Of deeper stacks the innermost frames are listed. */
enum { DEEPEST_STACK = 1024 };

/* ---- stacks ---------------------------------------------------------------------------------- */

/* What the nodes of a frame are called. Frames of one function are one node, whatever their
 * lines. */
static const struct flame_frame *frame_of(struct flame_filling *filling, int64_t number)
{
	const struct hwy_trace *trace = filling->trace;
	const struct hwy_frame *frame = &trace->frames[number];
	struct flame_frame *known = &filling->frames[number];
	struct hwy_strings *texts = &filling->flame->texts;
	if (known->is_known)
		return known;
	int64_t flags = frame->flags > 0 ? frame->flags : 0;
	struct hwy_text function = hwy_text(trace, frame->function),
			place = hwy_text(trace, frame->module);
	bool is_python = flags & HWY_FRAME_PYTHON;
	if (is_python && frame->file > 0 && !(flags & HWY_FRAME_LAYER))
		place = hwy_text(trace, frame->file);
	known->kind = flags & HWY_FRAME_LAYER      ? (uint32_t)TREE_MODULE
		      : flags & HWY_FRAME_KERNEL   ? (uint32_t)FLAME_OS
		      : !is_python                 ? (uint32_t)FLAME_NATIVE
		      : place_is_library(place.at) ? (uint32_t)FLAME_PYTHON_LIBRARY
						   : (uint32_t)FLAME_PYTHON;
	char text[300];
	/* Addresses say nothing: functions without a name are one node for each shared object. */
	snprintf(text, sizeof text, "[%.200s]", place.length ? hwy_basename(place.at) : "unknown");
	known->name = function.length ? hwy_intern(texts, function.at, function.length)
				      : hwy_intern_z(texts, text);
	known->place = place.length ? hwy_intern(texts, place.at, place.length) : 0;
	known->is_known = 1;
	return known;
}

/* A caller's index must be smaller: a damaged file could have a circle of callers. */
static int64_t caller_of(const struct hwy_trace *trace, int64_t stack)
{
	int64_t caller = trace->stacks[hwy_ref_index(stack)].parent;
	return hwy_ref_is_set(caller) && caller < stack ? caller : HWY_REF_NONE;
}

static bool stack_frame(const struct hwy_trace *trace, int64_t stack, int64_t *frame)
{
	*frame = trace->stacks[hwy_ref_index(stack)].frame;
	return *frame >= 0 && *frame < trace->n_frames;
}

static void find_python(struct flame_filling *filling)
{
	const struct hwy_trace *trace = filling->trace;
	filling->has_python = hwy_zarray(trace->n_stacks, 1);
	for (uint32_t i = 0; i < trace->n_stacks; i++) {
		int64_t frame, caller = caller_of(trace, hwy_ref(i));
		bool is_python = stack_frame(trace, hwy_ref(i), &frame) &&
				 trace->frames[frame].flags > 0 &&
				 trace->frames[frame].flags & HWY_FRAME_PYTHON;
		filling->has_python[i] = is_python || (hwy_ref_is_set(caller) &&
						       filling->has_python[hwy_ref_index(caller)]);
	}
}

uint32_t flame_put_stack(struct flame_filling *filling, uint32_t outer, int64_t stack)
{
	const struct hwy_trace *trace = filling->trace;
	if (!hwy_ref_is_set(stack) || stack > trace->n_stacks)
		return outer;
	if (!filling->has_python)
		find_python(filling);
	bool only_python =
		filling->options->only_python && filling->has_python[hwy_ref_index(stack)];
	uint64_t base = ((uint64_t)outer << 1 | only_python) << 32;
	int64_t way[DEEPEST_STACK];
	uint32_t n = 0, node = outer;
	for (; hwy_ref_is_set(stack) && n < DEEPEST_STACK; stack = caller_of(trace, stack)) {
		const uint32_t *known = hwy_map_get(&filling->stacks, base | (uint64_t)stack);
		if (known) {
			node = hwy_ref32_index(*known);
			break;
		}
		way[n++] = stack;
	}
	while (n-- > 0) {
		int64_t number;
		if (stack_frame(trace, way[n], &number)) {
			const struct flame_frame *frame = frame_of(filling, number);
			bool is_native = frame->kind == FLAME_NATIVE || frame->kind == FLAME_OS;
			if (!only_python || !is_native)
				node = flame_put(filling->flame, node,
						 (enum flame_node_kind)frame->kind, frame->name,
						 frame->place);
		}
		*hwy_map_put(&filling->stacks, base | (uint64_t)way[n], NULL) = hwy_ref32(node);
	}
	return node;
}

/* ---- threads --------------------------------------------------------------------------------- */

static uint32_t put_named(struct flame_filling *filling, uint32_t outer, enum flame_node_kind kind,
			  int64_t name, const char *what, int64_t id)
{
	char text[300];
	const char *known = name > 0 ? hwy_str(filling->trace, name) : "";
	snprintf(text, sizeof text, "%.200s (%s %" PRId64 ")", *known ? known : "?", what, id);
	return flame_put(filling->flame, outer, kind, hwy_intern_z(&filling->flame->texts, text),
			 0);
}

uint32_t flame_put_thread(struct flame_filling *filling, int64_t thread)
{
	const struct hwy_trace *trace = filling->trace;
	bool is_known = thread >= 0 && thread < trace->n_threads;
	uint32_t *node = &filling->thread_nodes[is_known ? thread : trace->n_threads], outer = 0;
	if (hwy_ref32_is_set(*node))
		return hwy_ref32_index(*node);
	if (!is_known) {
		outer = flame_put(filling->flame, 0, FLAME_THREAD,
				  hwy_intern_z(&filling->flame->texts, "thread not known"), 0);
	} else {
		const struct hwy_thread *one = &trace->threads[thread];
		if (trace->n_processes > 1 && one->process >= 0 &&
		    one->process < trace->n_processes)
			outer = put_named(filling, 0, FLAME_PROCESS,
					  trace->processes[one->process].name, "pid",
					  trace->processes[one->process].pid);
		outer = put_named(filling, outer, FLAME_THREAD, one->name, "tid", one->tid);
	}
	*node = hwy_ref32(outer);
	return outer;
}

/* ---- samples --------------------------------------------------------------------------------- */

static void fill_strip(struct flame_filling *filling, const struct hwy_strip *strip)
{
	const struct hwy_interval *at = &filling->options->cpu;
	int64_t thread = filling->trace->lanes[strip->lane].thread;
	struct hwy_flame *flame = filling->flame;
	for (uint32_t row = 0; row < strip->rows; row++) {
		int64_t start = hwy_get(strip, HWY_START, row);
		if ((at->from != HWY_NONE && start < at->from) ||
		    (at->to != HWY_NONE && start >= at->to))
			continue;
		int64_t stack = hwy_get(strip, HWY_STACK, row);
		int64_t weight = hwy_get(strip, HWY_WEIGHT, row);
		uint32_t node = flame_put_thread(filling, thread);
		node = flame_put_stack(filling, node, stack);
		flame->unknown += !hwy_ref_is_set(stack);
		hwy_add_saturating(&flame->nodes[node].self[0], 1);
		hwy_add_saturating(&flame->nodes[node].self[1], weight > 0 ? weight : 0);
		flame->nodes[node].count++;
		flame_note_span(filling, node, strip->first + row, start, 0);
	}
}

bool flame_fill_samples(struct flame_filling *filling, struct hwy_err *err)
{
	struct hwy_trace *trace = filling->trace;
	if (!hwy_need(trace, HWY_KIND_BIT(HWY_SAMPLE),
		      HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_STACK) | HWY_COL_BIT(HWY_WEIGHT),
		      err))
		return false;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (strip->kind == HWY_SAMPLE &&
		    flame_wants(filling, strip->lane, trace->lanes[strip->lane].thread))
			fill_strip(filling, strip);
	}
	return true;
}
