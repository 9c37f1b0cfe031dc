/* SPDX-License-Identifier: Apache-2.0 */
/* low_occupancy.c - long kernels with too few warps: all multiprocessors have work, but too
 * little of it to hide latency.
 *
 * Conditions: while kernels of a name run, on average LONG_NS or more each, most multiprocessors
 * are active, fewer than INSIDE_FEW_WARPS percent of the warps that they could hold are there,
 * and nothing is near its limit: pipes, memory, caches, and tensor cores below TENSOR_PERCENT
 * (kernels that feed tensor cores want few warps). Cost: what they would gain until the busiest
 * unit is at its limit, but at most MOST_GAIN_SHARE: twice the warps halve the waiting at best.
 */
#include <math.h>

#include "analyze/occupancy.h"
#include "base/lang.h"
#include "base/say.h"
#include "diagnose/evidence.h"
#include "diagnose/findings/findings.h"

#define LONG_NS 50000
#define TENSOR_PERCENT 20
#define MOST_GAIN_SHARE 0.5
#define WORTH_SHARE 0.1
/* Kernels below this share of the kernels' time are not looked at. */
#define SMALL_KERNEL_SHARE 0.05

static const struct advice fix = {
	.any = "Let more warps be resident: fewer registers (__launch_bounds__, -maxrregcount), less shared memory a block, other block "
	       "sizes; or give each thread independent work, so that few warps suffice.\n"
	       "  __global__ void __launch_bounds__(256, 4) kernel(…)   // at least 4 blocks a multiprocessor",
};

/* How much of its limit the busiest unit reaches, 0 … 1. */
static double nearest_limit(const struct inside_levels *levels)
{
	double nearest = levels->pipe / INSIDE_COMPUTE_LIMIT;
	nearest = fmax(nearest, levels->dram / INSIDE_DRAM_LIMIT);
	nearest = fmax(nearest, levels->cache / INSIDE_CACHE_LIMIT);
	return fmax(nearest, levels->link / INSIDE_LINK_LIMIT);
}

static bool has_few_warps(const struct inside_levels *levels)
{
	return levels->sms >= INSIDE_FEW_SMS && !(levels->tensor >= TENSOR_PERCENT) &&
	       levels->warps < INSIDE_FEW_WARPS / 100.0 * levels->sms && nearest_limit(levels) < 1;
}

/* "; registers let 2 blocks of 128 threads onto a multiprocessor", where the launch is the
 * reason. */
static const char *about_limit(struct hwy_case *c, uint32_t span)
{
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(c->trace, span, &row);
	const struct hwy_shape *shape = hwy_get_shape(c->trace, strip, row);
	int64_t device = c->trace->lanes[strip->lane].device;
	struct hwy_occupancy occupancy;
	if (!shape || device < 0 || device >= c->trace->n_devices ||
	    !occupancy_find(&occupancy, &c->trace->devices[device], shape) ||
	    occupancy.limit == OCCUPANCY_THREADS || occupancy.blocks == 0)
		return "";
	return hwy_arena_say(&c->diagnosis->arena,
			     "; its launch allows %.0f %%, limited by %s (%u blocks of %u warps a "
			     "multiprocessor)",
			     100 * occupancy.share, hwy_tr(occupancy_limit_names[occupancy.limit]),
			     occupancy.blocks, occupancy.warps_per_block);
}

/* ", issues instructions in 20 % of the cycles", where that is known: not every source of
 * counters has it. */
static const char *about_issue(struct hwy_case *c, double issue)
{
	return isnan(issue)
		       ? ""
		       : hwy_arena_say(&c->diagnosis->arena,
				       ", issues instructions in %.0f %% of the cycles", issue);
}

static const char *about_memory(struct hwy_case *c, double dram)
{
	return isnan(dram) ? ""
			   : hwy_arena_say(&c->diagnosis->arena,
					   " and moves %.0f %% of the memory's bandwidth", dram);
}

struct few_warps {
	struct claim claim;
	int64_t ns;
	const struct case_kernel *top;
	struct evidence of_top;
};

static void low_occupancy_look_at(struct hwy_case *c, struct few_warps *found,
				  const struct case_kernel *kernel)
{
	struct evidence evidence;
	if (kernel->ns < LONG_NS * (int64_t)kernel->n ||
	    (double)kernel->ns < SMALL_KERNEL_SHARE * (double)c->counts.kernel_ns ||
	    hwy_name_is_comm(hwy_str(c->trace, kernel->name)) ||
	    !evidence_of_kernel(c, kernel->name, &evidence) || !has_few_warps(&evidence.levels))
		return;
	double gain = fmin(1 - nearest_limit(&evidence.levels), MOST_GAIN_SHARE);
	found->ns += kernel->ns;
	if (!found->top) {
		found->top = kernel;
		found->of_top = evidence;
	}
	claim_kernels(c, &found->claim, (int64_t)((double)kernel->ns * gain), kernel->span);
}

static void finding_low_occupancy_look(struct hwy_case *c)
{
	struct few_warps found = {0};
	if (!evidence_is_there(c))
		return;
	for (uint32_t k = 0; k < c->n_kernels; k++)
		low_occupancy_look_at(c, &found, &c->kernels[k]);
	if (found.top && claim_share(c, &found.claim) >= WORTH_SHARE)
		claim_accuse(
			c, &found.claim, HWY_LOW,
			hwy_arena_say(
				&c->diagnosis->arena,
				"For %s%s kernels run with few warps, and nothing is near its limit: %s holds %.0f %% of the warps of "
				"its multiprocessors%s%s (%s)%s.",
				hwy_say_time3(case_time_in_step(c, found.ns)).text, case_a_step(c),
				evidence_name(c, found.top->name),
				100 * found.of_top.levels.warps / found.of_top.levels.sms,
				about_issue(c, found.of_top.levels.issue),
				about_memory(c, found.of_top.levels.dram),
				hwy_say_count_of(found.of_top.samples, "sample", "samples").text,
				about_limit(c, found.top->span)),
			case_advice(c, &fix));
	claim_drop(c, &found.claim);
}

const struct hwy_finding_kind finding_low_occupancy = {
	.id = "low-occupancy",
	.title = "long kernels with too few warps",
	.look = finding_low_occupancy_look,
	.is_inside = true,
};
