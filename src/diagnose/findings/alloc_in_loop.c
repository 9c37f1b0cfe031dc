/* SPDX-License-Identifier: Apache-2.0 */
/* alloc_in_loop.c - memory is allocated, freed or pinned every step; such calls take long, and
 * cudaFree waits for the whole device.
 *
 * Condition: at least OFTEN_PER_STEP such calls a step. Cost: gaps with the cause 'alloc', gaps
 * that are charged to the wait of such a call, and other idle time that such calls overlap.
 */
#include <string.h>

#include "base/lang.h"
#include "base/say.h"
#include "diagnose/case.h"
#include "diagnose/findings/findings.h"

#define OFTEN_PER_STEP 0.5
/* A framework whose allocator keeps no memory allocates for every tensor: at least once for so many
 * kernels, and releases at many places of a step. */
#define KERNELS_PER_ALLOCATION 8.0
#define MANY_RELEASES_PER_STEP 4.0

static const struct advice fix = {
	.any = "Allocate once, before the loop, and reuse; or allocate from a pool, which does not wait.\n"
	       "  cudaMallocAsync(&p, bytes, s); … cudaFreeAsync(p, s);   // instead of cudaMalloc and cudaFree",
	.by_framework =
		{
			[HWY_PYTORCH] =
				"PyTorch's allocator should not get here every step: avoid torch.cuda.empty_cache() in the loop, "
				"shapes that change all the time, and memory that is nearly full.\n"
				"  PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python3 …",
			[HWY_JAX] =
				"XLA takes its memory once, unless that is switched off: leave the preallocation on, and do not use the platform's allocator.\n"
				"  unset XLA_PYTHON_CLIENT_PREALLOCATE XLA_PYTHON_CLIENT_ALLOCATOR",
			[HWY_CUPY] =
				"Keep CuPy's memory pool switched on, and preallocate outputs (out=…).\n"
				"  cupy.multiply(x, y, out=z)",
			[HWY_OPENCL_C] =
				"Create buffers once, before the loop, and reuse them: clCreateBuffer in a loop may wait.",
		},
};

/* The advice for programs that allocate from a pool already. */
static const char once[] =
	"Allocate once, before the loop, and reuse: calls that take memory from a pool are cheaper, "
	"but each takes its time as well.";

/* The advice for PyTorch programs whose allocator keeps no memory. */
static const char uncached[] =
	"Memory is allocated for every tensor, and released with it: the caching allocator is switched off. Switch it on, or leave "
	"out what switches it off.\n"
	"  unset PYTORCH_NO_CUDA_MEMORY_CACHING       # and no torch.cuda.memory.change_current_allocator() to a plain one";
static const char uncached_rocm[] =
	"Memory is allocated for every tensor, and released with it: the caching allocator is switched off. Switch it on, or leave "
	"out what switches it off.\n"
	"  unset PYTORCH_NO_HIP_MEMORY_CACHING PYTORCH_NO_CUDA_MEMORY_CACHING";
/* The advice for PyTorch programs that release all memory at one place in a step. */
static const char emptied[] =
	"The allocator's memory is given back and asked for again in every step: leave torch.cuda.empty_cache() out of the "
	"loop. Where memory is nearly full, let its pieces grow instead.\n"
	"  PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python3 …";

static const uint32_t roles = 1u << HWY_ROLE_ALLOC | 1u << HWY_ROLE_FREE | 1u << HWY_ROLE_PIN;

/* Claims the idle time after calls that release memory and wait for the device, as cudaFree
 * does. */
static void claim_waits(struct hwy_case *c, struct claim *claim)
{
	for (uint32_t g = 0; g < c->measures->gaps.n; g++) {
		const struct hwy_gap *gap = &c->measures->gaps.gaps[g];
		if (gap->cause != GAP_BLOCKED || gap->culprit == FLOW_NONE)
			continue;
		const struct flow_call *call = &c->flow->calls[gap->culprit];
		if (1u << call->role & roles)
			claim_gap(c, claim, g, CLAIM_ALL, call->span);
	}
}

static bool uses_pool(const struct hwy_case *c, uint64_t n)
{
	uint64_t found = 0;
	for (uint32_t i = c->first_call; i < c->end_call; i++)
		if (1u << c->flow->calls[i].role & roles && case_call_is_ours(c, i))
			found += strstr(case_name(c, c->flow->calls[i].span), "Async") != NULL;
	return found * 2 > n;
}

/* The number of places in the steady steps at which memory is released: calls that release one
 * piece after the other, as empty_cache() makes them, count once. */
static uint64_t count_releases(const struct hwy_case *c)
{
	uint64_t n = 0;
	bool is_releasing = false;
	for (uint32_t i = c->first_call; i < c->end_call; i++) {
		enum hwy_role role = c->flow->calls[i].role;
		if (!case_call_is_ours(c, i))
			continue;
		if (role == HWY_ROLE_FREE) {
			n += !is_releasing;
			is_releasing = true;
		} else if (role == HWY_ROLE_LAUNCH || role == HWY_ROLE_ALLOC) {
			is_releasing = false;
		}
	}
	return n;
}

static const char *alloc_in_loop_advice(const struct hwy_case *c, uint64_t calls)
{
	if (uses_pool(c, calls))
		return once;
	double releases = case_count_per_step(c, count_releases(c));
	double allocations = (double)c->counts.calls[HWY_ROLE_ALLOC];
	if (c->diagnosis->framework != HWY_PYTORCH || releases <= 0)
		return case_advice(c, &fix);
	if (releases < MANY_RELEASES_PER_STEP)
		return emptied;
	if (allocations * KERNELS_PER_ALLOCATION < (double)c->counts.kernels)
		return case_advice(c, &fix);
	return c->diagnosis->habits.is_rocm ? uncached_rocm : uncached;
}

static void finding_alloc_in_loop_look(struct hwy_case *c)
{
	const uint64_t *calls = c->counts.calls;
	uint64_t n = calls[HWY_ROLE_ALLOC] + calls[HWY_ROLE_FREE] + calls[HWY_ROLE_PIN];
	int64_t ns = c->counts.call_ns[HWY_ROLE_ALLOC] + c->counts.call_ns[HWY_ROLE_FREE] +
		     c->counts.call_ns[HWY_ROLE_PIN];
	struct claim claim = {0};
	claim_cause(c, &claim, GAP_ALLOC);
	claim_waits(c, &claim);
	claim_roles(c, &claim, roles, CLAIM_CPU_CAUSES);
	if (case_count_per_step(c, n) >= OFTEN_PER_STEP && case_is_loop(c) &&
	    claim_is_worth(c, &claim))
		claim_accuse(
			c, &claim, HWY_HIGH,
			hwy_arena_say(
				&c->diagnosis->arena,
				"Memory is allocated or released in %s a step, which takes the CPU %s; the GPU "
				"idles %s because of it.",
				hwy_say_count_of(case_count_per_step(c, n), "call", "calls").text,
				hwy_say_time3(ns / (int64_t)c->phase->n_steady).text,
				hwy_say_time3(case_per_step(c, claim.total)).text),
			alloc_in_loop_advice(c, n));
	claim_drop(c, &claim);
}

const struct hwy_finding_kind finding_alloc_in_loop = {
	.id = "alloc-in-loop",
	.title = "memory is allocated every step",
	.edit = "no-alloc",
	.look = finding_alloc_in_loop_look,
};
