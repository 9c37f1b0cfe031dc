/* SPDX-License-Identifier: Apache-2.0 */
/* copy_serial.c - copies and kernels that could overlap run one after the other.
 *
 * Cost: the exposed time of large copies that would fit beside the kernels. With perfect overlap
 * the device is busy for the longest of compute, copies in and copies out; busy time above that is
 * lost. pageable-copy looks before this finding and claims its part first, because copies of
 * pageable memory overlap with nothing.
 */
#include "base/lang.h"
#include "base/say.h"
#include "diagnose/case.h"
#include "diagnose/findings/findings.h"

#define LARGE_BYTES 65536
/* Where more than this share of the copies' time is hidden, the copies run in a pipeline
 * already: only the ends of the pipeline are exposed. */
#define HIDDEN_SHARE 0.5

static const struct advice fix = {
	.any = "Copy the next piece while the current one is computed: pinned memory, two or more streams, a buffer each.\n"
	       "  for (i…) { s = stream[i % 2]; copy_in(i, s); kernel<<<g, b, 0, s>>>(buffer[i % 2]); copy_out(i, s); }",
	.by_framework =
		{
			[HWY_PYTORCH] =
				"Copy the next batch on a stream of its own while this one is computed; pin_memory=True is needed "
				"for it.\n"
				"  with torch.cuda.stream(copies): following = batch.to(\"cuda\", non_blocking=True)\n"
				"  train(current); torch.cuda.current_stream().wait_stream(copies)",
			[HWY_JAX] =
				"Put the next batch on the device while this one is computed: device_put returns at once.\n"
				"  following = jax.device_put(next(batches)); params = step(params, batch); batch = following",
			[HWY_CUPY] =
				"Copy on a stream of its own, from pinned memory.\n"
				"  with cupy.cuda.Stream(non_blocking=True): following.set(pinned)",
			[HWY_OPENCL_C] =
				"Use two queues (or an out-of-order one) and events, so that transfers run beside kernels.\n"
				"  clEnqueueWriteBuffer(copy_queue, …, CL_FALSE, …, &ready); clEnqueueNDRangeKernel(q, …, 1, "
				"&ready, NULL);",
		},
};

struct totals {
	int64_t in, out, exposed;
	uint64_t n;
};

static bool is_large(const struct case_transfer *one)
{
	return !one->is_comm && (one->direction == HWY_H2D || one->direction == HWY_D2H) &&
	       one->bytes >= LARGE_BYTES;
}

static struct totals add_up(const struct hwy_case *c)
{
	struct totals totals = {0};
	for (uint32_t i = 0; i < c->n_transfers; i++) {
		const struct case_transfer *one = &c->transfers[i];
		if (!is_large(one))
			continue;
		const struct flow_op *op = &c->flow->ops[one->op];
		/* Time that pageable-copy has claimed does not count. */
		int64_t claimed = one->exposed - one->left;
		*(one->direction == HWY_H2D ? &totals.in : &totals.out) +=
			op->end - op->start - claimed;
		totals.exposed += one->left;
		totals.n++;
	}
	return totals;
}

static void finding_copy_serial_look(struct hwy_case *c)
{
	struct totals totals = add_up(c);
	int64_t compute = case_states(c).compute, longest = compute;
	longest = totals.in > longest ? totals.in : longest;
	longest = totals.out > longest ? totals.out : longest;
	int64_t gain = compute + totals.exposed - longest;
	double all = (double)(totals.in + totals.out);
	if (totals.n == 0 || compute == 0 || gain <= 0 || totals.exposed == 0 ||
	    (double)totals.exposed < (1 - HIDDEN_SHARE) * all)
		return;
	struct claim claim = {0};
	double part = (double)gain / (double)totals.exposed;
	for (uint32_t i = 0; i < c->n_transfers; i++) {
		const struct case_transfer *one = &c->transfers[i];
		const struct flow_op *op = &c->flow->ops[one->op];
		if (is_large(one))
			claim_transfer(
				c, &claim, i, (int64_t)((double)one->left * (part < 1 ? part : 1)),
				op->call == FLOW_NONE ? op->span : c->flow->calls[op->call].span);
	}
	if (claim_is_worth(c, &claim))
		claim_accuse(
			c, &claim, HWY_MEDIUM,
			hwy_arena_say(
				&c->diagnosis->arena,
				"%s a step while no kernel runs, and kernels while no copy does; side "
				"by side they would take %s less.",
				hwy_say_count_of(case_count_per_step(c, totals.n), "copy", "copies")
					.text,
				hwy_say_time3(case_per_step(c, claim.total)).text),
			case_advice(c, &fix));
	claim_drop(c, &claim);
}

const struct hwy_finding_kind finding_copy_serial = {
	.id = "copy-serial",
	.title = "copies and kernels take turns",
	.edit = "copy-stream",
	.look = finding_copy_serial_look,
};
