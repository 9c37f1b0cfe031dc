/* SPDX-License-Identifier: Apache-2.0 */
/* grid_too_small.c - kernels with far fewer blocks than the GPU has multiprocessors: most of the
 * GPU is idle.
 *
 * Conditions: the kernel is longer than SHORT_NS (shorter ones are latency, whatever their
 * grid), its blocks fill less than SMALL_GRID_SHARE of the multiprocessors, and such kernels
 * take WORTH_SHARE of the step or more. Cost: the time in which such a kernel runs alone on its
 * device, times the share of the GPU that is idle; with the edit fill-gpu, what the replay
 * gains. Where counters tell how many multiprocessors have work while such kernels run, they
 * decide: few-sms has said so, or the suspect is acquitted.
 */
#include <stdlib.h>

#include "base/lang.h"
#include "base/say.h"
#include "diagnose/evidence.h"
#include "diagnose/findings/findings.h"

#define SHORT_NS 20000
#define SMALL_GRID_SHARE 0.5
#define WORTH_SHARE 0.1

const struct advice finding_more_blocks = {
	.any = "Give the kernel more blocks: smaller tiles, split the reduction (split-K), or several items in one launch; "
	       "or run independent kernels beside it on other streams.\n"
	       "  kernel<<<(n + 127) / 128, 128>>>(…);   // at least as many blocks as multiprocessors",
	.by_framework =
		{[HWY_PYTORCH] =
			 "Give it more work at a time: a larger batch, several sequences together; or run independent "
			 "parts on other streams.\n"
			 "  out = model(torch.stack(inputs))        # not: [model(x) for x in inputs]"},
};

struct found {
	struct claim claim;
	uint64_t n;
	int64_t ns, fewest, sms;
};

/* Of the ops of a device that have begun, the op that will end last, and how long this op has
 * run alone. */
struct sole {
	uint32_t op;
	int64_t end;    /* when the op 'op' ends */
	int64_t others; /* when the last of the other ops ends */
	int64_t seen;   /* when the most recently visited op began */
	int64_t alone;  /* ns so far in which 'op' was the only op that ran */
};

/* Yields the number of blocks of a kernel that is too small for its device; 0 for any other op. */
static int64_t small_blocks(const struct hwy_case *c, uint32_t index)
{
	const struct flow_op *op = &c->flow->ops[index];
	int64_t device = c->flow->devices[op->device].device;
	if (op->kind != HWY_KERNEL || op->class != HWY_COMPUTE || op->end - op->start < SHORT_NS ||
	    device == HWY_NONE || c->trace->devices[device].sms <= 0 || !case_op_is_ours(c, index))
		return 0;
	int64_t blocks = kernel_blocks(c, op->span);
	return (double)blocks < SMALL_GRID_SHARE * (double)c->trace->devices[device].sms ? blocks
											 : 0;
}

/* Claims the time for which a small kernel was alone, once that time is complete. */
static void claim_alone(struct hwy_case *c, struct found *found, const struct sole *sole)
{
	int64_t blocks = sole->op == FLOW_NONE ? 0 : small_blocks(c, sole->op);
	if (blocks == 0)
		return;
	const struct flow_op *op = &c->flow->ops[sole->op];
	int64_t sms = c->trace->devices[c->flow->devices[op->device].device].sms;
	claim_kernels(c, &found->claim,
		      (int64_t)((double)sole->alone * (1 - (double)blocks / (double)sms)),
		      op->span);
}

/* Adds the time up to 'now' in which the op that ends last runs alone, after all others have
 * ended. */
static void pass(struct sole *sole, int64_t now)
{
	int64_t from = sole->others > sole->seen ? sole->others : sole->seen;
	int64_t to = sole->end < now ? sole->end : now;
	sole->alone += to > from ? to - from : 0;
	sole->seen = now;
}

static void see_op(struct hwy_case *c, struct found *found, struct sole *sole, uint32_t index)
{
	const struct flow_op *op = &c->flow->ops[index];
	int64_t blocks = small_blocks(c, index);
	if (blocks) {
		found->n++;
		found->ns += op->end - op->start;
		found->fewest = blocks < found->fewest ? blocks : found->fewest;
		found->sms = c->trace->devices[c->flow->devices[op->device].device].sms;
	}
	pass(sole, op->start);
	if (op->end <= sole->end) {
		sole->others = op->end > sole->others ? op->end : sole->others;
		return;
	}
	claim_alone(c, found, sole);
	*sole = (struct sole){index, op->end, sole->end, op->start, 0};
}

static bool op_is_small(const struct hwy_case *c, uint32_t op, const void *what)
{
	(void)what;
	return small_blocks(c, op) > 0;
}

/* Whether counters have the last word about these kernels: acquits them where most
 * multiprocessors have work all the same. */
static bool counters_decide(struct hwy_case *c, struct claim *claim)
{
	struct evidence evidence;
	if (!evidence_of_ops(c, op_is_small, NULL, &evidence))
		return false;
	if (evidence.levels.sms / 100 < SMALL_GRID_SHARE)
		return true; /* few-sms has looked at them */
	claim_acquit(
		c, claim,
		hwy_arena_say(
			&c->diagnosis->arena,
			"Kernels with few blocks run, but %.0f %% of the multiprocessors are active meanwhile (%s): others run "
			"beside them.",
			evidence.levels.sms,
			hwy_say_count_of(evidence.samples, "sample", "samples").text));
	return true;
}

static void finding_grid_too_small_look(struct hwy_case *c)
{
	struct found found = {.fewest = INT64_MAX};
	if (c->counts.longest < SHORT_NS)
		return;
	struct sole *soles = hwy_array(c->flow->n_devices, sizeof *soles);
	for (uint32_t d = 0; d < c->flow->n_devices; d++)
		soles[d] = (struct sole){FLOW_NONE, INT64_MIN, INT64_MIN, INT64_MIN, 0};
	for (uint32_t i = c->first_op; i < c->end_op; i++)
		see_op(c, &found, &soles[c->flow->ops[i].device], i);
	for (uint32_t d = 0; d < c->flow->n_devices; d++) {
		pass(&soles[d], INT64_MAX);
		claim_alone(c, &found, &soles[d]);
	}
	free(soles);
	bool is_worth = found.n && claim_share(c, &found.claim) >= WORTH_SHARE;
	if (is_worth && !counters_decide(c, &found.claim))
		claim_accuse(
			c, &found.claim, HWY_LOW,
			hwy_arena_say(
				&c->diagnosis->arena,
				"%s a step, %s of it, with fewer blocks (as few as %lld) than half of "
				"the GPU's %lld multiprocessors: most of it looks on.",
				hwy_say_count_of(case_count_per_step(c, found.n), "kernel",
						 "kernels")
					.text,
				hwy_say_time3(found.ns / (int64_t)c->phase->n_steady).text,
				(long long)found.fewest, (long long)found.sms),
			case_advice(c, &finding_more_blocks));
	claim_drop(c, &found.claim);
}

const struct hwy_finding_kind finding_grid_too_small = {
	.id = "grid-too-small",
	.title = "kernels that cannot fill the GPU",
	.look = finding_grid_too_small_look,
	.is_inside = true,
	.edit = "fill-gpu",
};
