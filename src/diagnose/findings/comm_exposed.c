/* comm_exposed.c - communication that no computation covers.
 *
 * Condition: there is computation that could cover the communication. Cost: the exposed time of
 * communication kernels. One rank alone does not show how much of that time is waiting for other
 * ranks; rank-straggler looks at that.
 */
#include <string.h>

#include "base/say.h"
#include "diagnose/case.h"
#include "diagnose/findings/findings.h"

static const struct advice fix = {
	.any = "Start communication as soon as its data is ready, on a stream of its own, and compute meanwhile; send fewer "
	       "bytes (fp16 or bf16 gradients).\n"
	       "  ncclAllReduce(…, comm_stream);   // after cudaStreamWaitEvent(comm_stream, bucket_ready, 0)",
	.by_framework =
		{[HWY_PYTORCH] =
			 "Let gradients travel while the backward pass still runs: smaller buckets, gradient_as_bucket_view, "
			 "no_sync() while accumulating, bf16 compression.\n"
			 "  DistributedDataParallel(model, bucket_cap_mb=10, gradient_as_bucket_view=True)"},
	.inference =
		"Let fewer ranks share a layer (tensor parallelism costs two all-reduces in each), use a fused or one-shot "
		"all-reduce for small messages, or let two batches take turns.",
};
/* The advice for all-gather and reduce-scatter, which move parameters and gradients in shards. */
static const struct advice shards = {
	.any = "Gather the next layer's parameters while this one computes, and reduce gradients while the backward pass "
	       "goes on: both on a stream of their own.",
	.by_framework =
		{[HWY_PYTORCH] =
			 "Gather the next layer's parameters while this one computes: prefetch, wrap layers not too finely, "
			 "shard inside a node only (HYBRID_SHARD), accumulate without reducing.\n"
			 "  FSDP(model, backward_prefetch=BackwardPrefetch.BACKWARD_PRE, forward_prefetch=True)"},
};
/* The advice for send, receive and all-to-all: pipelines, experts, embedding tables. */
static const struct advice pairs = {
	.any = "Compute what does not need the data meanwhile: another micro-batch, the dense part of the model; send "
	       "fewer bytes (bf16, fp8). In a pipeline, more micro-batches make the bubble smaller.",
};

enum kind { REDUCE, SHARDS, PAIRS, KINDS };

static enum kind kind_of_comm(const char *name)
{
	if (strcasestr(name, "AllGather") || strcasestr(name, "ReduceScatter"))
		return SHARDS;
	return strcasestr(name, "SendRecv") || strcasestr(name, "AllToAll") ? PAIRS : REDUCE;
}

static const char *advice_for(const struct hwy_case *c, const int64_t by_kind[KINDS])
{
	static const struct advice *const all[KINDS] = {&fix, &shards, &pairs};
	enum kind most = REDUCE;
	for (enum kind kind = SHARDS; kind < KINDS; kind++)
		most = by_kind[kind] > by_kind[most] ? kind : most;
	return case_advice(c, all[most]);
}

static void finding_comm_exposed_look(struct hwy_case *c)
{
	struct claim claim = {0};
	int64_t all = 0, by_kind[KINDS] = {0};
	uint64_t n = 0;
	for (uint32_t i = 0; i < c->n_transfers; i++) {
		const struct case_transfer *one = &c->transfers[i];
		const struct flow_op *op = &c->flow->ops[one->op];
		if (!one->is_comm)
			continue;
		n++;
		all += op->end - op->start;
		by_kind[kind_of_comm(case_name(c, op->span))] +=
			claim_transfer(c, &claim, i, CLAIM_ALL, op->span);
	}
	if (claim_is_worth(c, &claim) && case_states(c).compute > 0)
		claim_accuse(
			c, &claim, HWY_MEDIUM,
			hwy_arena_format(
				&c->diagnosis->arena,
				"%s a step, %s in all; for %s of it nothing is computed. Part of it may be "
				"waiting for slower ranks.",
				hwy_say_count_of(case_each(c, n), "collective", "collectives").text,
				hwy_say_time3(case_per_step(c, all)).text,
				hwy_say_time3(case_per_step(c, claim.total)).text),
			advice_for(c, by_kind));
	claim_drop(c, &claim);
}

const struct hwy_finding_kind finding_comm_exposed = {
	.id = "comm-exposed",
	.title = "communication that no computation hides",
	.edit = "overlap-comm",
	.look = finding_comm_exposed_look,
};
