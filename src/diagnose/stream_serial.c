/* stream_serial.c - independent work stands in one stream, one after the other.
 *
 * Independent means here: launched by different threads that take turns many times a step. (One thread handing
 * over to another and back, as PyTorch does for the backward pass, is one chain of work.) Conditions: all of it
 * is in one stream, and the kernels leave room on the device. Cost: what would be saved if only the busiest
 * thread's kernels remained in sequence.
 */
#include "diagnose/case.h"
#include "diagnose/findings.h"
#include "diagnose/words.h"

#define TURNS_EACH                                                                                 \
	6.0 /* changes of thread a step: more than a hand-over to another thread and back */
#define TURNS_PART 0.2 /* of all launches */

static const struct advice fix = {
	.any = "Give each thread its own stream: kernels that do not fill the GPU then run side by side.\n"
	       "  cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking);   // or nvcc --default-stream per-thread",
	.of = {[HWY_PYTORCH] = "Give each thread its own stream.\n"
			       "  with torch.cuda.stream(torch.cuda.Stream()): …",
	       [HWY_OPENCL_C] =
		       "Give each thread its own command queue, or use one that is out of order.\n"
		       "  clCreateCommandQueueWithProperties(ctx, device, out_of_order, &err);"},
};

enum { MOST_THREADS = 32 };
struct per_thread {
	uint32_t thread;
	int64_t ns;
};

static void look(struct hwy_case *c)
{
	struct per_thread threads[MOST_THREADS];
	uint32_t n = 0, lane = FLOW_NONE, before = FLOW_NONE;
	uint64_t turns = 0, ops = 0;
	int64_t sum = 0, busiest = 0;
	struct claim claim = {0};
	if (case_each(c, c->counts.turns) < TURNS_EACH)
		return;
	for (uint32_t i = c->first_op; i < c->end_op; i++) {
		const struct flow_op *op = &c->flow->ops[i];
		if (!case_op_is_ours(c, i) || op->call == FLOW_NONE || op->kind == HWY_FILL)
			continue;
		if (lane != FLOW_NONE && op->lane != lane)
			return;
		lane = op->lane;
		if (!kernel_leaves_room(c, i))
			continue;
		uint32_t thread = c->flow->calls[op->call].thread, at = 0;
		turns += before != FLOW_NONE && thread != before;
		before = thread;
		ops++;
		while (at < n && threads[at].thread != thread)
			at++;
		if (at == MOST_THREADS)
			return;
		if (at == n)
			threads[n++] = (struct per_thread){.thread = thread};
		threads[at].ns += op->end - op->start;
		sum += op->end - op->start;
		busiest = threads[at].ns > busiest ? threads[at].ns : busiest;
	}
	if (n < 2 || case_each(c, turns) < TURNS_EACH || (double)turns < TURNS_PART * (double)ops)
		return;
	for (uint32_t i = c->first_op; i < c->end_op && claim.total < sum - busiest; i++)
		if (case_op_is_ours(c, i) && kernel_leaves_room(c, i) &&
		    c->flow->ops[i].kind == HWY_KERNEL)
			claim_kernels(c, &claim, (c->flow->ops[i].end - c->flow->ops[i].start) / n,
				      c->flow->ops[i].span);
	if (claim_is_worth(c, &claim))
		hwy_accuse(
			c, &claim, HWY_LOW,
			words_format(
				&c->diagnosis->arena,
				"%u threads launch small kernels by turns, all into one stream, where they run one "
				"after the other.",
				n),
			case_advice(c, &fix));
	claim_drop(c, &claim);
}

const struct hwy_finding_kind finding_stream_serial = {
	.id = "stream-serial",
	.title = "independent work in one stream",
	.edit = "streams:4",
	.look = look,
};
