/* grid_too_small.c - kernels with fewer blocks than the GPU has multiprocessors: most of it looks on.
 *
 * Conditions: the kernel is longer than SHORT_NS (shorter ones are latency, whatever their grid), fills less
 * than HALF of the multiprocessors, and such kernels take WORTH of the step or more. Cost: their time times the
 * part of the GPU that is idle, as far as they run alone (the purse is the device's compute time).
 */
#include "diagnose/case.h"
#include "diagnose/findings.h"
#include "diagnose/words.h"

#define SHORT_NS 20000
#define HALF 0.5
#define WORTH 0.1

static const struct advice fix = {
	.any = "Give the kernel more blocks: smaller tiles, split the reduction (split-K), or several items in one launch; "
	       "or run independent kernels beside it on other streams.\n"
	       "  kernel<<<(n + 127) / 128, 128>>>(…);   // at least as many blocks as multiprocessors",
	.of = {[HWY_PYTORCH] =
		       "Give it more work at a time: a larger batch, several sequences together; or run independent "
		       "parts on other streams.\n"
		       "  out = model(torch.stack(inputs))        # not: [model(x) for x in inputs]"},
};

static void look(struct hwy_case *c)
{
	struct claim claim = {0};
	uint64_t n = 0;
	int64_t ns = 0, fewest = INT64_MAX, sms = 0;
	if (c->counts.longest < SHORT_NS)
		return;
	for (uint32_t i = c->first_op; i < c->end_op; i++) {
		const struct flow_op *op = &c->flow->ops[i];
		int64_t length = op->end - op->start;
		int64_t device = c->flow->devices[op->device].device;
		if (op->kind != HWY_KERNEL || op->class != HWY_COMPUTE || length < SHORT_NS ||
		    device == HWY_NONE || c->trace->devices[device].sms <= 0 ||
		    !case_op_is_ours(c, i))
			continue;
		int64_t blocks = kernel_blocks(c, op->span);
		sms = c->trace->devices[device].sms;
		if (blocks == 0 || (double)blocks >= HALF * (double)sms)
			continue;
		n++;
		ns += length;
		fewest = blocks < fewest ? blocks : fewest;
		claim_kernels(c, &claim,
			      (int64_t)((double)length * (1 - (double)blocks / (double)sms)),
			      op->span);
	}
	if (n && claim_share(c, &claim) >= WORTH)
		hwy_accuse(
			c, &claim, HWY_LOW,
			words_format(
				&c->diagnosis->arena,
				"%s a step, %s of it, with fewer blocks (as few as %lld) than half of "
				"the GPU's %lld multiprocessors: most of it looks on.",
				words_many(case_each(c, n), "kernel", "kernels").at,
				words_time(ns / (int64_t)c->phase->n_steady).at, (long long)fewest,
				(long long)sms),
			case_advice(c, &fix));
	claim_drop(c, &claim);
}

const struct hwy_finding_kind finding_grid_too_small = {
	.id = "grid-too-small",
	.title = "kernels that cannot fill the GPU",
	.look = look,
	.is_inside = true,
};
