/* SPDX-License-Identifier: Apache-2.0 */
/* pageable_copy.c - "asynchronous" copies that block, and run at a fraction of the link's rate,
 * because their host memory is not pinned.
 *
 * Cost: the exposed time of the copies beyond what pinned memory would take, the idle time after
 * them (the CPU was blocked), and the idle time before them (the driver staged their data). Only
 * copies of LARGE_BYTES and more count: smaller ones travel with the command that enqueues them,
 * and pinning would gain nothing.
 */
#include "base/lang.h"
#include "base/say.h"
#include "diagnose/case.h"
#include "diagnose/findings/findings.h"

#define LARGE_BYTES 65536

static const struct advice fix = {
	.any = "Allocate the host side with cudaMallocHost (or pin it once with cudaHostRegister): the copy then runs at "
	       "the link's rate, and the call returns at once.\n"
	       "  cudaMallocHost(&host, bytes);   // instead of malloc; once, not in the loop\n"
	       "With pinned memory several streams can overlap copies and kernels.",
	.by_framework =
		{
			[HWY_PYTORCH] =
				"Pin the host memory: then non_blocking copies do not stop the CPU and run at the link's rate.\n"
				"  DataLoader(…, pin_memory=True); x = batch.to(\"cuda\", non_blocking=True)\n"
				"Results: copy into a pinned tensor, torch.empty(…, pin_memory=True).copy_(y, non_blocking=True).",
			[HWY_JAX] =
				"Put data on the device ahead of the step that uses it, in one piece; keep there what comes again.\n"
				"  following = jax.device_put(next(batches)); params = step(params, batch)   # device_put returns at once",
			[HWY_CUPY] =
				"Use pinned host memory for what travels.\n"
				"  host = cupyx.empty_pinned(shape, dtype); x.get(out=host, blocking=False)",
			[HWY_OPENCL_C] =
				"Let the runtime allocate the host side, so that it is pinned, and map it.\n"
				"  clCreateBuffer(ctx, CL_MEM_ALLOC_HOST_PTR, n, NULL, &err); clEnqueueMapBuffer(…)",
		},
};

static bool is_pageable(const struct case_transfer *transfer)
{
	return transfer->source == HWY_MEM_PAGEABLE || transfer->target == HWY_MEM_PAGEABLE;
}

static bool is_blamed(const struct case_pause *pause)
{
	return pause && pause->is_pageable;
}

struct seen {
	uint64_t large, small, bytes;
	int64_t ns;
	bool rate_known;
};

static uint32_t culprit(const struct hwy_case *c, const struct flow_op *op)
{
	return op->call == FLOW_NONE ? op->span : c->flow->calls[op->call].span;
}

/* Claims the time of exposed copies beyond the time that the copies would take with pinned
 * memory. */
static struct seen claim_copies(struct hwy_case *c, struct claim *claim)
{
	struct seen seen = {.rate_known = true};
	double rate[2];
	bool is_known[2];
	rate[0] = machine_limits_link_rate(c, HWY_H2D, &is_known[0]);
	rate[1] = machine_limits_link_rate(c, HWY_D2H, &is_known[1]);
	for (uint32_t i = 0; i < c->n_transfers; i++) {
		const struct case_transfer *one = &c->transfers[i];
		if (one->is_comm || !is_pageable(one))
			continue;
		if (one->bytes < LARGE_BYTES) {
			seen.small++;
			continue;
		}
		const struct flow_op *op = &c->flow->ops[one->op];
		bool back = one->direction == HWY_D2H;
		seen.large++;
		seen.bytes += one->bytes;
		seen.ns += op->end - op->start;
		seen.rate_known &= is_known[back];
		int64_t pinned = (int64_t)((double)one->bytes * 1e9 / rate[back]);
		claim_transfer(c, claim, i, one->exposed - pinned, culprit(c, op));
	}
	return seen;
}

/* Claims the idle time in front of large pageable copies: the driver staged their data. */
static void claim_staging(struct hwy_case *c, struct claim *claim)
{
	uint32_t next = 0;
	for (uint32_t g = 0; g < c->measures->gaps.n; g++) {
		const struct hwy_gap *gap = &c->measures->gaps.gaps[g];
		if (gap->op == FLOW_NONE || c->flow->ops[gap->op].kind != HWY_COPY ||
		    (gap->cause != GAP_LAUNCH && gap->cause != GAP_DEPENDENCY))
			continue;
		if (next >= c->n_transfers || c->transfers[next].op > gap->op)
			next = 0;
		while (next < c->n_transfers && c->transfers[next].op < gap->op)
			next++;
		if (next == c->n_transfers || c->transfers[next].op != gap->op ||
		    !is_pageable(&c->transfers[next]) || c->transfers[next].bytes < LARGE_BYTES)
			continue;
		claim_gap(c, claim, g, CLAIM_ALL, culprit(c, &c->flow->ops[gap->op]));
	}
}

static void acquit_copies(struct hwy_case *c, struct claim *claim, const struct seen *seen)
{
	struct hwy_arena *arena = &c->diagnosis->arena;
	const char *says;
	if (seen->large == 0) {
		claim_drop(c, claim);
		for (uint32_t i = 0; i < c->n_transfers; i++)
			if (is_pageable(&c->transfers[i]))
				claim_note(claim, culprit(c, &c->flow->ops[c->transfers[i].op]));
		says = hwy_arena_say(
			arena,
			"%s a step from or to pageable memory, all below 64 kB: those travel with the "
			"command, and pinning would gain nothing.",
			hwy_say_count_of(case_count_per_step(c, seen->small), "copy", "copies")
				.text);
	} else {
		says = hwy_arena_say(
			arena,
			"%s a step from or to pageable memory; pinned memory would gain %s of the step.",
			hwy_say_count_of(case_count_per_step(c, seen->large), "large copy",
					 "large copies")
				.text,
			hwy_say_share(claim_share(c, claim)).text);
	}
	bool any = seen->large > 0;
	struct hwy_finding *finding = claim_acquit(c, claim, says);
	/* The replay may turn the acquittal into an accusation, which needs advice; small copies
	 * wait whatever their memory is. */
	if (any)
		finding->advice = case_advice(c, &fix);
}

static void finding_pageable_copy_look(struct hwy_case *c)
{
	struct claim claim = {0};
	struct seen seen = claim_copies(c, &claim);
	struct case_pauses pauses = pauses_find(c);
	if (seen.large) {
		pauses_blame(c, &pauses, &claim, is_blamed);
		claim_staging(c, &claim);
	}
	pauses_free(&pauses);
	if (seen.large && claim_is_worth(c, &claim)) {
		double rate = seen.ns ? (double)seen.bytes * 1e9 / (double)seen.ns : 0;
		bool is_rate_known;
		double link = machine_limits_link_rate(c, HWY_H2D, &is_rate_known);
		const char *says = hwy_arena_say(
			&c->diagnosis->arena,
			"%s a step, %s in all, from or to pageable host memory: at %s%s%s, and each holds the "
			"CPU until its data is through.",
			hwy_say_count_of(case_count_per_step(c, seen.large), "copy", "copies").text,
			hwy_say_bytes3_to_gb(seen.bytes / c->phase->n_steady).text,
			hwy_say_rate3(rate).text,
			hwy_tr(is_rate_known ? " where pinned memory gives " : ""),
			is_rate_known ? hwy_say_rate3(link).text : "");
		claim_accuse(c, &claim, seen.rate_known ? HWY_HIGH : HWY_MEDIUM, says,
			     case_advice(c, &fix));
	} else if (seen.large + seen.small) {
		acquit_copies(c, &claim, &seen);
	}
	claim_drop(c, &claim);
}

const struct hwy_finding_kind finding_pageable_copy = {
	.id = "pageable-copy",
	.title = "copies from memory that is not pinned",
	.suspect = "pageable copies",
	.edit = "pin",
	.look = finding_pageable_copy_look,
};
