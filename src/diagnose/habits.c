/* SPDX-License-Identifier: Apache-2.0 */
/* habits.c - see habits.h.
 *
 * Steps repeat the same names, so the first rows of each strip are enough, and each name is
 * looked at once. A program is compiled where enough of its kernels come from compiled code, by
 * their own names or by the operator that launched them: one small compiled function does not
 * make a compiled program.
 */
#include "diagnose/habits.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/xla.h"
#include "base/search.h"

/* The names of only so many rows of each strip are examined. */
#define HABITS_ROWS 65536
/* Calls whose names tell which vendor's library the program uses. */
#define HABITS_CALLS 64
/* Of the kernels at most about so many are asked where they come from, spread evenly over the
 * recording. */
#define HABITS_KERNELS 262144
/* The share of the kernels that must come from compiled code. It is a judgement, not a measured
 * limit: well below a half, because without operators a library's matrix products that compiled
 * code calls do not count. */
#define COMPILED_SHARE 0.25

#define OPERATORS (HWY_KIND_BIT(HWY_OP) | HWY_KIND_BIT(HWY_RANGE) | HWY_KIND_BIT(HWY_CALL))
#define KERNELS HWY_KIND_BIT(HWY_KERNEL)
#define CALLS HWY_KIND_BIT(HWY_API)

static bool contains_any(const char *name, const char *const *parts)
{
	for (; *parts; parts++)
		if (strstr(name, *parts))
			return true;
	return false;
}

/* Inductor's kernels are called triton_poi_…, triton_red_…, triton_per_… and triton_tem_…; its code
 * runs inside the named operators. */
static bool runs_compiled_code(uint32_t kind_bit, const char *name)
{
	static const char *const operators[] = {"CompiledFunction", "CompiledFxGraph",
						"Torch-Compiled Region", NULL};
	static const char *const kernels[] = {"triton_poi_", "triton_red_", "triton_per_",
					      "triton_tem_", NULL};
	return contains_any(name, kind_bit & KERNELS ? kernels : operators) && !(kind_bit & CALLS);
}

static void note_name(const struct hwy_trace *trace, uint32_t kind_bit, int64_t name,
		      struct hwy_habits *habits)
{
	const char *text = hwy_str(trace, name);
	if (runs_compiled_code(kind_bit, text))
		habits->has_compiled = true;
	if (kind_bit & OPERATORS && xla_is_range(hwy_text(trace, name)))
		habits->is_xla = true;
	if (kind_bit & KERNELS && (xla_is_kernel(text) || xla_is_tuning_kernel(text)))
		habits->is_xla = true;
	if (kind_bit & CALLS && strstr(text, "BeginCapture"))
		habits->is_capturing = true;
	if (kind_bit & CALLS && strstr(text, "GraphLaunch"))
		habits->is_captured = true;
}

static bool calls_are_hip(const struct hwy_flow *flow)
{
	uint32_t seen = 0, hip = 0;
	for (uint32_t i = 0; i < flow->n_calls && seen < HABITS_CALLS; i++, seen++) {
		uint32_t row;
		const struct hwy_strip *strip =
			hwy_strip_of(flow->trace, flow->calls[i].span, &row);
		const char *name = hwy_str(flow->trace, hwy_get(strip, HWY_NAME, row));
		hip += strncmp(name, "hip", 3) == 0;
	}
	return hip * 2 > seen;
}

/* ---- how much of the program is compiled ----------------------------------------------------- */

struct compiled_span { /* when a thread ran compiled code */
	uint32_t thread;
	int64_t from, to;
};

struct compiled_spans { /* in order of thread, then of time; disjoint */
	struct compiled_span *at;
	uint32_t n, cap;
};

static int compiled_in_order(const void *a, const void *b)
{
	const struct compiled_span *x = a, *y = b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

static void add_compiled_spans(const struct hwy_trace *trace, const struct hwy_strip *strip,
			       struct compiled_spans *spans)
{
	int64_t thread = trace->lanes[strip->lane].thread;
	for (uint32_t row = 0; thread >= 0 && row < strip->rows; row++) {
		const char *name = hwy_str(trace, hwy_get(strip, HWY_NAME, row));
		if (!runs_compiled_code(HWY_KIND_BIT(strip->kind), name))
			continue;
		HWY_GROW(spans->at, spans->n, spans->cap);
		spans->at[spans->n++] = (struct compiled_span){
			(uint32_t)thread, hwy_get(strip, HWY_START, row), hwy_end(strip, row)};
	}
}

static struct compiled_spans find_compiled_spans(const struct hwy_trace *trace)
{
	struct compiled_spans spans = {0};
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (HWY_KIND_BIT(trace->strips[s].kind) & OPERATORS &&
		    !hwy_lane_is_library(trace, trace->strips[s].lane))
			add_compiled_spans(trace, &trace->strips[s], &spans);
	if (spans.n > 0)
		qsort(spans.at, spans.n, sizeof *spans.at, compiled_in_order);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < spans.n; i++) {
		struct compiled_span *last = kept > 0 ? &spans.at[kept - 1] : NULL;
		const struct compiled_span *one = &spans.at[i];
		if (last && last->thread == one->thread && one->from <= last->to)
			last->to = one->to > last->to ? one->to : last->to;
		else
			spans.at[kept++] = *one;
	}
	spans.n = kept;
	return spans;
}

static bool is_called_by_compiled_code(const struct compiled_spans *spans,
				       const struct flow_call *call)
{
	uint32_t after = HWY_FIRST(
		i, 0, spans->n,
		spans->at[i].thread > call->thread ||
			(spans->at[i].thread == call->thread && spans->at[i].from > call->start));
	return after > 0 && spans->at[after - 1].thread == call->thread &&
	       call->start < spans->at[after - 1].to;
}

static bool is_mostly_compiled(const struct hwy_flow *flow)
{
	struct compiled_spans spans = find_compiled_spans(flow->trace);
	uint32_t stride = flow->n_ops / HABITS_KERNELS + 1;
	uint64_t kernels = 0, compiled = 0;
	for (uint64_t i = 0; i < flow->n_ops; i += stride) {
		const struct flow_op *op = &flow->ops[i];
		if (op->kind != HWY_KERNEL && op->kind != HWY_GRAPH)
			continue;
		uint32_t row;
		const struct hwy_strip *strip = hwy_strip_of(flow->trace, op->span, &row);
		kernels++;
		compiled += (op->kind == HWY_KERNEL &&
			     runs_compiled_code(KERNELS, hwy_str(flow->trace,
								 hwy_get(strip, HWY_NAME, row)))) ||
			    (op->call != FLOW_NONE &&
			     is_called_by_compiled_code(&spans, &flow->calls[op->call]));
	}
	free(spans.at);
	return (double)compiled >= COMPILED_SHARE * (double)kernels && compiled > 0;
}

bool habits_find(const struct hwy_flow *flow, struct hwy_habits *habits, struct hwy_err *err)
{
	struct hwy_trace *trace = flow->trace;
	*habits = (struct hwy_habits){0};
	if (!hwy_need(trace, OPERATORS | KERNELS | CALLS, HWY_COL_BIT(HWY_NAME), err) ||
	    !hwy_need(trace, OPERATORS, HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR), err))
		return false;
	/* For each id of a name, the kinds of spans (bits) for which the name was examined
	 * already. */
	uint32_t *seen = hwy_zarray(trace->strings.n + 1u, sizeof *seen);
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		uint32_t kind_bit = HWY_KIND_BIT(strip->kind);
		habits->has_samples |= strip->kind == HWY_SAMPLE && strip->rows > 0;
		if (hwy_lane_is_library(trace, strip->lane))
			continue;
		habits->has_functions |= strip->kind == HWY_CALL && strip->rows > 0;
		if (!(kind_bit & (OPERATORS | KERNELS | CALLS)))
			continue;
		for (uint32_t row = 0; row < strip->rows && row < HABITS_ROWS; row++) {
			int64_t name = hwy_get(strip, HWY_NAME, row);
			if (name <= 0 || name >= trace->strings.n || seen[name] & kind_bit)
				continue;
			seen[name] |= kind_bit;
			note_name(trace, kind_bit, name, habits);
		}
	}
	free(seen);
	habits->is_rocm = calls_are_hip(flow);
	habits->is_compiled = habits->has_compiled && is_mostly_compiled(flow);
	return true;
}
