/* SPDX-License-Identifier: Apache-2.0 */
/* profiler_cost.c - a large part of the step is the cost of recording it.
 *
 * Condition: recording takes LARGE_SHARE of the step or more. Its cost is known from the report's
 * calibration (cost of a call times the number of calls), else from the overhead that the recorder,
 * or the vendor's library, measured of itself. Cost: that much of the idle time in which the CPU
 * was launching. A run without the profiler does not have this idle time, so no other finding may
 * claim it.
 */
#include <stdlib.h>

#include "base/lang.h"
#include "base/say.h"
#include "diagnose/case.h"
#include "diagnose/findings/findings.h"

#define LARGE_SHARE 0.1

static const char fix[] =
	"Times of this step are too long by about that much. Record less (no stacks, fewer domains, --steps), or "
	"look at shares rather than at times; compare with the program's own clock.";

/* Claims the calibrated cost, spread evenly over the idle time in which the CPU was launching or
 * waiting. */
static void claim_calibrated(struct hwy_case *c, struct claim *claim, int64_t own)
{
	const unsigned causes = CLAIM_CAUSE(GAP_LAUNCH) | CLAIM_CAUSE(GAP_BLOCKED);
	struct gap_states states = case_states(c);
	int64_t idle = states.causes[GAP_LAUNCH] + states.causes[GAP_BLOCKED];
	double part = idle > 0 ? (double)own / (double)idle : 0;
	for (uint32_t g = 0; g < c->measures->gaps.n && part > 0; g++) {
		const struct hwy_gap *gap = &c->measures->gaps.gaps[g];
		if (!(causes & CLAIM_CAUSE(gap->cause)))
			continue;
		double ns = (double)(gap->at.to - gap->at.from) * (part < 1 ? part : 1);
		claim_gap(c, claim, g, (int64_t)ns, CLAIM_NOBODY);
	}
}

static int compare_starts(const void *a, const void *b)
{
	const struct claim_stretch *x = a, *y = b;
	return (x->at.from > y->at.from) - (x->at.from < y->at.from);
}

static void claim_recorded(struct hwy_case *c, struct claim *claim)
{
	struct claim_stretch *stretches = NULL;
	uint32_t n = 0, cap = 0;
	struct hwy_err err;
	if (!hwy_need(c->trace, HWY_KIND_BIT(HWY_OVERHEAD),
		      HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR), &err))
		return;
	for (uint32_t s = 0; s < c->trace->n_strips; s++) {
		const struct hwy_strip *strip = &c->trace->strips[s];
		for (uint32_t row = 0; strip->kind == HWY_OVERHEAD && row < strip->rows; row++) {
			struct hwy_interval at = {hwy_get(strip, HWY_START, row),
						  hwy_end(strip, row)};
			if (at.to <= c->phase->window.from || at.from >= c->phase->window.to)
				continue;
			HWY_GROW(stretches, n, cap);
			stretches[n++] = (struct claim_stretch){at, strip->first + row};
		}
	}
	if (n)
		qsort(stretches, n, sizeof *stretches, compare_starts);
	claim_stretches(c, claim, stretches, n, CLAIM_CPU_CAUSES);
	free(stretches);
}

static void finding_profiler_cost_look(struct hwy_case *c)
{
	struct claim claim = {0};
	int64_t own;
	bool calibrated = machine_limits_recording_cost(c, &own);
	if (calibrated)
		claim_calibrated(c, &claim, own);
	else
		claim_recorded(c, &claim);
	if (claim_share(c, &claim) >= LARGE_SHARE)
		claim_accuse(c, &claim, calibrated ? HWY_HIGH : HWY_MEDIUM,
			     hwy_arena_say(&c->diagnosis->arena,
					   "About %s of a step is the cost of recording it, %s.",
					   hwy_say_time3(case_per_step(c, claim.total)).text,
					   hwy_tr(calibrated ? "as calibrated where it was recorded"
							     : "as the recorder timed itself")),
			     fix);
	claim_drop(c, &claim);
}

const struct hwy_finding_kind finding_profiler_cost = {
	.id = "profiler-cost",
	.title = "much of this is the profiler's own cost",
	.look = finding_profiler_cost_look,
	.is_inside = true,
};
