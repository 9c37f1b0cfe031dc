/* SPDX-License-Identifier: Apache-2.0 */
/* priority_inversion.c - an urgent kernel waits behind bulk work of another stream.
 *
 * A kernel is urgent where its stream has a higher priority than the stream of the kernel that it
 * waits behind, or where both have the same priority and the CPU waits for it (not for the whole
 * device). Conditions: the kernel waited LONG_NS or more, and longer than it runs. Cost: the wait,
 * a latency; the bulk work takes as long as before.
 */
#include <string.h>

#include "base/lang.h"
#include "base/say.h"
#include "diagnose/case.h"
#include "diagnose/findings/findings.h"

#define LONG_NS 100000
#define OFTEN_PER_STEP 0.5

static const struct advice fix = {
	.any = "Give the urgent stream the highest priority, and split bulk kernels into shorter ones: a running block is "
	       "never interrupted.\n"
	       "  cudaDeviceGetStreamPriorityRange(&low, &high); cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, "
	       "high);",
	.by_framework =
		{[HWY_PYTORCH] =
			 "Give the urgent stream a higher priority, and keep bulk kernels short.\n"
			 "  urgent = torch.cuda.Stream(priority=-1)",
		 [HWY_OPENCL_C] =
			 "Create the urgent queue with a higher priority (cl_khr_priority_hints).\n"
			 "  CL_QUEUE_PRIORITY_KHR, CL_QUEUE_PRIORITY_HIGH_KHR"},
};

/* Yields the set of ops that the CPU waits for. A wait for the whole device counts for no op. */
static struct hwy_map find_awaited(const struct hwy_case *c)
{
	struct hwy_map found = {0};
	for (uint32_t i = 0; i < c->measures->waits.n; i++) {
		const struct hwy_wait *wait = &c->measures->waits.waits[i];
		const char *name = case_name(c, c->flow->calls[wait->call].span);
		if (wait->op != FLOW_NONE && !strstr(name, "DeviceSynchronize") &&
		    !strstr(name, "CtxSynchronize"))
			hwy_map_put(&found, wait->op, NULL);
	}
	return found;
}

static bool matters(const struct hwy_case *c, const struct hwy_map *awaited,
		    const struct stream_delay *delay)
{
	const struct hwy_stream *a = case_stream_of(c, delay->op),
				*b = case_stream_of(c, delay->behind);
	if (!a || !b)
		return false;
	bool have_priorities = a->priority != HWY_NONE && b->priority != HWY_NONE;
	if (have_priorities && a->priority < b->priority)
		return true;
	/* A program whose streams wait for each other orders them on purpose. */
	return a->priority == b->priority && hwy_map_get(awaited, delay->op) &&
	       c->counts.calls[HWY_ROLE_STREAM_WAIT] == 0 && !case_stream_is_null(c, a) &&
	       !case_stream_is_null(c, b);
}

static void finding_priority_inversion_look(struct hwy_case *c)
{
	uint32_t n, found = 0;
	const struct stream_delay *delays = stream_delays_find(c, &n);
	struct hwy_map awaited = find_awaited(c);
	struct claim claim = {0};
	for (uint32_t i = 0; i < n; i++) {
		const struct flow_op *op = &c->flow->ops[delays[i].op];
		int64_t waited = op->start - delays[i].ready;
		if (op->kind != HWY_KERNEL || op->class != HWY_COMPUTE || waited < LONG_NS ||
		    waited < op->end - op->start ||
		    c->flow->ops[delays[i].behind].kind != HWY_KERNEL ||
		    !matters(c, &awaited, &delays[i]))
			continue;
		found++;
		claim_kernels(c, &claim, waited, op->span);
	}
	if (claim_is_worth(c, &claim) && case_count_per_step(c, found) >= OFTEN_PER_STEP)
		claim_accuse(
			c, &claim, HWY_MEDIUM,
			hwy_arena_say(
				&c->diagnosis->arena,
				"%s a step that somebody waits for, held up by another stream's work for "
				"%s of the step.",
				hwy_say_count_of(case_count_per_step(c, found), "kernel", "kernels")
					.text,
				hwy_say_time3(case_per_step(c, claim.total)).text),
			case_advice(c, &fix));
	claim_drop(c, &claim);
	hwy_map_free(&awaited);
}

const struct hwy_finding_kind finding_priority_inversion = {
	.id = "priority-inversion",
	.title = "urgent work waits behind bulk work",
	.look = finding_priority_inversion_look,
};
