/* SPDX-License-Identifier: Apache-2.0 */
/* stream_serial.c - independent work stands in one stream, one after the other.
 *
 * Work counts as independent where different threads launch it, take turns many times a step, and
 * sometimes call at the same time. (One thread that hands over to another and back, as PyTorch does
 * for the backward pass, makes one chain of work.) Conditions: all work is in one stream, and its
 * kernels leave room on the device. Cost: the time saved if only the kernels of the busiest thread
 * stayed in sequence, and all kernels ran side by side as far as their blocks fit. There is no
 * edit: a replay cannot know how many kernels the device runs at a time.
 */
#include "base/lang.h"
#include "base/say.h"
#include "diagnose/case.h"
#include "diagnose/findings/findings.h"

/* The fewest changes of the launching thread in a step; a hand-over to another thread and back
 * has fewer changes. */
#define TURNS_PER_STEP 6.0
/* The smallest share of launches that another thread makes than the launch before. */
#define TURNS_SHARE 0.2
/* Launches made while another thread launched, as a share of all; a thread that hands over waits
 * meanwhile. */
#define TOGETHER_SHARE 0.02

static const struct advice fix = {
	.any = "Give each thread its own stream: kernels that do not fill the GPU then run side by side.\n"
	       "  cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking);   // or nvcc --default-stream per-thread",
	.by_framework =
		{[HWY_PYTORCH] = "Give each thread its own stream.\n"
				 "  with torch.cuda.stream(torch.cuda.Stream()): …",
		 [HWY_OPENCL_C] =
			 "Give each thread its own command queue, or use one that is out of order.\n"
			 "  clCreateCommandQueueWithProperties(ctx, device, out_of_order, &err);"},
};

enum { MOST_THREADS = 32 };
struct tally {
	struct {
		uint32_t thread;
		int64_t ns;
	} threads[MOST_THREADS];
	uint32_t n;
	uint64_t ops, turns, together;
	int64_t sum;     /* ns of all kernels */
	int64_t busiest; /* ns of the kernels of the thread that has most kernel time */
	double packed; /* ns that all kernels would take if their blocks always filled the device */
};

static bool add_work_of_thread(const struct hwy_case *c, struct tally *tally,
			       const struct flow_op *op)
{
	uint32_t thread = c->flow->calls[op->call].thread, index = 0;
	while (index < tally->n && tally->threads[index].thread != thread)
		index++;
	if (index == MOST_THREADS)
		return false;
	if (index == tally->n)
		tally->threads[tally->n++].thread = thread;
	if (op->kind != HWY_KERNEL)
		return true;
	int64_t ns = op->end - op->start, device = c->flow->devices[op->device].device;
	tally->threads[index].ns += ns;
	tally->sum += ns;
	tally->packed += (double)ns * (double)kernel_blocks(c, op->span) /
			 (double)c->trace->devices[device].sms;
	if (tally->threads[index].ns > tally->busiest)
		tally->busiest = tally->threads[index].ns;
	return true;
}

/* Counts the turns of the threads; false where the conditions of the finding do not hold. */
static bool count_turns(const struct hwy_case *c, struct tally *tally)
{
	uint32_t lane = FLOW_NONE;
	const struct flow_call *before = NULL;
	for (uint32_t i = c->first_op; i < c->end_op; i++) {
		const struct flow_op *op = &c->flow->ops[i];
		if (!case_op_is_ours(c, i) || op->call == FLOW_NONE || op->kind == HWY_FILL)
			continue;
		if (lane != FLOW_NONE && op->lane != lane)
			return false;
		lane = op->lane;
		if (!kernel_leaves_room(c, i))
			continue;
		const struct flow_call *call = &c->flow->calls[op->call];
		bool is_turn = before && before->thread != call->thread;
		tally->ops++;
		tally->turns += is_turn;
		tally->together +=
			is_turn && before->end > call->start && call->end > before->start;
		before = call;
		if (!add_work_of_thread(c, tally, op))
			return false;
	}
	double ops = (double)tally->ops;
	return tally->n > 1 && case_count_per_step(c, tally->turns) >= TURNS_PER_STEP &&
	       (double)tally->turns >= TURNS_SHARE * ops &&
	       (double)tally->together >= TOGETHER_SHARE * ops;
}

static void finding_stream_serial_look(struct hwy_case *c)
{
	struct tally tally = {0};
	struct claim claim = {0};
	if (case_count_per_step(c, c->counts.turns) < TURNS_PER_STEP || !count_turns(c, &tally) ||
	    tally.sum == 0)
		return;
	double left = (double)tally.busiest > tally.packed ? (double)tally.busiest : tally.packed;
	double part = 1 - left / (double)tally.sum;
	for (uint32_t i = c->first_op; i < c->end_op && part > 0; i++) {
		const struct flow_op *op = &c->flow->ops[i];
		if (op->kind == HWY_KERNEL && case_op_is_ours(c, i) && kernel_leaves_room(c, i))
			claim_kernels(c, &claim, (int64_t)((double)(op->end - op->start) * part),
				      op->span);
	}
	if (claim_is_worth(c, &claim))
		claim_accuse(
			c, &claim, HWY_LOW,
			hwy_arena_say(
				&c->diagnosis->arena,
				"%u threads launch small kernels by turns, all into one stream, where they run one "
				"after the other; side by side they would take %s less.",
				tally.n, hwy_say_time3(case_per_step(c, claim.total)).text),
			case_advice(c, &fix));
	claim_drop(c, &claim);
}

const struct hwy_finding_kind finding_stream_serial = {
	.id = "stream-serial",
	.title = "independent work in one stream",
	.look = finding_stream_serial_look,
};
