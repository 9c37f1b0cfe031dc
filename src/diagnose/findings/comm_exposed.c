/* SPDX-License-Identifier: Apache-2.0 */
/* comm_exposed.c - communication that no computation covers.
 *
 * Condition: there is computation that could cover the communication. Cost: the exposed time of
 * communication kernels; or, where the CPU exchanges the data (gloo, MPI), gaps with the cause
 * 'comm', and the exposed time of copies that the transport's threads make. One rank alone does not
 * show how much of that time is waiting for other ranks; rank-straggler looks at that. The advice
 * depends on the messages: many short collectives need larger messages, a few long ones smaller
 * pieces that travel earlier.
 */
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/quantile.h"
#include "base/say.h"
#include "diagnose/case.h"
#include "diagnose/findings/findings.h"

/* A shorter collective is mostly latency: moving its bytes takes less time than the ranks need
 * to synchronise. */
#define SHORT_COLLECTIVE_NS 50000
#define MANY_PER_STEP 20.0

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
/* The advice for many short collectives. */
static const struct advice larger = {
	.any = "These messages are too small: each costs its latency, whatever its size. Put what belongs together into one "
	       "buffer and send it once.\n"
	       "  ncclGroupStart(); for (…) ncclAllReduce(…); ncclGroupEnd();   // or one buffer for all",
	.by_framework =
		{[HWY_PYTORCH] =
			 "These messages are too small: each costs its latency, whatever its size. Use fewer and larger buckets, "
			 "and let gradients be reduced once for several micro-batches.\n"
			 "  DistributedDataParallel(model, bucket_cap_mb=100, gradient_as_bucket_view=True)"},
	.inference =
		"These messages are too small: each costs its latency, whatever its size. Use a one-shot or fused "
		"all-reduce, let fewer ranks share a layer, or decode a larger batch.",
};
/* The advice where the CPU exchanges the data. */
static const struct advice by_cpu = {
	.any = "The data travels through the CPU: copied down, sent by a thread, copied up again. Let the GPUs exchange it "
	       "themselves.\n"
	       "  ncclAllReduce(…, comm_stream);   // or an MPI that knows device pointers (CUDA-aware)",
	.by_framework =
		{[HWY_PYTORCH] =
			 "The data travels through the CPU: copied down, sent by a thread of gloo or MPI, copied up again. Let "
			 "the GPUs exchange it themselves; where that cannot be, reduce less often and in larger buckets.\n"
			 "  torch.distributed.init_process_group(\"nccl\")\n"
			 "  DistributedDataParallel(model, bucket_cap_mb=100)\n"
			 "  with model.no_sync(): loss.backward()      # while gradients are accumulated"},
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

static const char *comm_exposed_advice(const struct hwy_case *c, const int64_t by_kind[KINDS])
{
	static const struct advice *const all[KINDS] = {&fix, &shards, &pairs};
	enum kind most = REDUCE;
	for (enum kind kind = SHARDS; kind < KINDS; kind++)
		most = by_kind[kind] > by_kind[most] ? kind : most;
	return case_advice(c, all[most]);
}

/* Yields the median length of the phase's communication kernels, in ns. */
static int64_t median_length(const struct hwy_case *c, uint64_t n)
{
	int64_t *lengths = hwy_array(n, sizeof *lengths);
	uint32_t found = 0;
	for (uint32_t i = 0; i < c->n_transfers && found < n; i++)
		if (c->transfers[i].is_comm) {
			const struct flow_op *op = &c->flow->ops[c->transfers[i].op];
			lengths[found++] = op->end - op->start;
		}
	hwy_sort(lengths, found);
	int64_t median = hwy_median_upper(lengths, found);
	free(lengths);
	return median;
}

static void look_at_kernels(struct hwy_case *c)
{
	struct claim claim = {0};
	struct hwy_arena *arena = &c->diagnosis->arena;
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
	if (!claim_is_worth(c, &claim) || case_states(c).compute == 0) {
		claim_drop(c, &claim);
		return;
	}
	int64_t median = median_length(c, n);
	bool is_short = median < SHORT_COLLECTIVE_NS && case_count_per_step(c, n) >= MANY_PER_STEP;
	const char *half = "";
	if (is_short)
		half = hwy_arena_say(arena, ", half of them no longer than %s,",
				     hwy_say_time3(median).text);
	const char *says = hwy_arena_say(
		arena,
		"%s%s%s take %s in all; for %s of it nothing is computed. Part of it may be waiting for slower "
		"ranks.",
		hwy_say_count_of(case_count_per_step(c, n), "collective", "collectives").text,
		case_a_step(c), half, hwy_say_time3(case_per_step(c, all)).text,
		hwy_say_time3(case_per_step(c, claim.total)).text);
	claim_accuse(c, &claim, HWY_MEDIUM, says,
		     is_short ? case_advice(c, &larger) : comm_exposed_advice(c, by_kind));
}

/* Claims what the CPU's exchange of data costs: the copies of its threads, and the gaps. */
static void look_at_transport(struct hwy_case *c)
{
	struct claim claim = {0};
	uint64_t copies = 0, bytes = 0;
	if (case_states(c).causes[GAP_COMM] == 0)
		return;
	claim_cause(c, &claim, GAP_COMM);
	int64_t idle = claim.total;
	for (uint32_t i = 0; i < c->n_transfers; i++) {
		const struct case_transfer *one = &c->transfers[i];
		uint32_t call = c->flow->ops[one->op].call;
		if (one->is_comm || call == FLOW_NONE ||
		    !gaps_thread_is_transport(c->trace, c->flow->calls[call].thread))
			continue;
		copies++;
		bytes += one->bytes;
		claim_transfer(c, &claim, i, CLAIM_ALL, c->flow->calls[call].span);
	}
	if (!claim_is_worth(c, &claim)) {
		claim_drop(c, &claim);
		return;
	}
	struct hwy_arena *arena = &c->diagnosis->arena;
	const char *moved = "";
	if (copies)
		moved = hwy_arena_say(
			arena, " Its threads copy %s%s between GPU and host, in %s.",
			hwy_say_bytes3_to_gb(bytes / c->phase->n_steady).text, case_a_step(c),
			hwy_say_count_of(case_count_per_step(c, copies), "copy", "copies").text);
	const char *says = hwy_arena_say(
		arena,
		"The CPU exchanges data with the other ranks (gloo or MPI), and the GPU idles %s%s until the data is "
		"there.%s Part of it may be waiting for slower ranks.",
		hwy_say_time3(case_per_step(c, idle)).text, case_a_step(c), moved);
	struct hwy_finding *finding =
		claim_accuse(c, &claim, HWY_HIGH, says, case_advice(c, &by_cpu));
	finding->edit = NULL; /* the edit moves communication kernels, and the phase has none */
}

static void finding_comm_exposed_look(struct hwy_case *c)
{
	look_at_transport(c);
	look_at_kernels(c);
}

const struct hwy_finding_kind finding_comm_exposed = {
	.id = "comm-exposed",
	.title = "communication that no computation hides",
	.edit = "overlap-comm",
	.look = finding_comm_exposed_look,
};
