/* default_stream.c - the legacy default stream is a barrier: work there waits for all blocking streams, and
 * they wait for it.
 *
 * Conditions: an op was held between the null stream and a stream known to be of the blocking kind, and one of
 * the two leaves room on the device, so that they could have run together. Cost: for each pair, what would have
 * overlapped: at most the shorter of the two, and the wait.
 */
#include "diagnose/case.h"
#include "diagnose/findings.h"
#include "diagnose/words.h"

static const struct advice fix = {
	.any = "Keep work off the default stream, or create the other streams as non-blocking.\n"
	       "  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);   // or nvcc --default-stream per-thread",
	.of = {[HWY_CUPY] = "Create streams as non-blocking, and use none but those.\n"
			    "  with cupy.cuda.Stream(non_blocking=True): …"},
};

static bool is_barrier(const struct hwy_case *c, const struct held *held)
{
	const struct hwy_stream *a = case_stream(c, held->op), *b = case_stream(c, held->behind);
	if (!a || !b)
		return false;
	if (c->flow->ops[held->behind].end > c->flow->ops[held->op].start)
		return false; /* they do run together */
	bool a_null = stream_is_null(c, a), b_null = stream_is_null(c, b);
	return a_null != b_null && (a_null ? b : a)->flags == 1;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void look(struct hwy_case *c)
{
	uint32_t n, found = 0;
	const struct held *held = held_find(c, &n);
	struct claim claim = {0};
	for (uint32_t i = 0; i < n; i++) {
		const struct flow_op *op = &c->flow->ops[held[i].op];
		const struct flow_op *behind = &c->flow->ops[held[i].behind];
		if (!is_barrier(c, &held[i]) ||
		    (!kernel_leaves_room(c, held[i].op) && !kernel_leaves_room(c, held[i].behind)))
			continue;
		found++;
		int64_t gain = least(op->end - op->start, behind->end - behind->start);
		claim_kernels(c, &claim, least(gain, op->start - held[i].ready), op->span);
	}
	if (claim_is_worth(c, &claim))
		hwy_accuse(
			c, &claim, HWY_MEDIUM,
			words_format(
				&c->diagnosis->arena,
				"%s times a step work waits for the default stream's barrier though the GPU has "
				"room; together they would take %s less.",
				words_each(case_each(c, found)).at,
				words_time(case_per_step(c, claim.total)).at),
			case_advice(c, &fix));
	claim_drop(c, &claim);
}

const struct hwy_finding_kind finding_default_stream = {
	.id = "default-stream",
	.title = "the default stream makes the others wait",
	.edit = "no-barrier",
	.look = look,
};
