/* SPDX-License-Identifier: Apache-2.0 */
/* habits.c - see habits.h.
 *
 * Steps repeat the same names, so the first rows of each strip are enough, and each name is looked
 * at once.
 */
#include "diagnose/habits.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/xla.h"

/* The names of only so many rows of each strip are examined. */
#define HABITS_ROWS 65536
/* Calls whose names tell which vendor's library the program uses. */
#define HABITS_CALLS 64

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
		habits->is_compiled = true;
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

bool habits_find(const struct hwy_flow *flow, struct hwy_habits *habits, struct hwy_err *err)
{
	struct hwy_trace *trace = flow->trace;
	*habits = (struct hwy_habits){0};
	if (!hwy_need(trace, OPERATORS | KERNELS | CALLS, HWY_COL_BIT(HWY_NAME), err))
		return false;
	/* For each id of a name, the kinds of spans (bits) for which the name was examined already. */
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
	return true;
}
