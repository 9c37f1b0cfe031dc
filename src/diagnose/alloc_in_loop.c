/* alloc_in_loop.c - memory is allocated, freed or pinned every step; such calls take long, and cudaFree waits
 * for the whole device.
 *
 * Condition: at least OFTEN such calls a step. Cost: gaps with the cause 'alloc', and the other idle time that
 * such calls overlap.
 */
#include "diagnose/case.h"
#include "diagnose/findings.h"
#include "diagnose/words.h"

#define OFTEN 0.5

static const struct advice fix = {
	.any = "Allocate once, before the loop, and reuse; or allocate from a pool, which does not wait.\n"
	       "  cudaMallocAsync(&p, bytes, s); … cudaFreeAsync(p, s);   // instead of cudaMalloc and cudaFree",
	.of =
		{
			[HWY_PYTORCH] =
				"PyTorch's allocator should not get here every step: avoid torch.cuda.empty_cache() in the loop, "
				"shapes that change all the time, and memory that is nearly full.\n"
				"  PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python3 …",
			[HWY_CUPY] =
				"Keep CuPy's memory pool switched on, and preallocate outputs (out=…).\n"
				"  cupy.multiply(x, y, out=z)",
			[HWY_OPENCL_C] =
				"Create buffers once, before the loop, and reuse them: clCreateBuffer in a loop may wait.",
		},
};

static void look(struct hwy_case *c)
{
	const uint32_t roles = 1u << HWY_ROLE_ALLOC | 1u << HWY_ROLE_FREE | 1u << HWY_ROLE_PIN;
	const uint64_t *calls = c->counts.calls;
	uint64_t n = calls[HWY_ROLE_ALLOC] + calls[HWY_ROLE_FREE] + calls[HWY_ROLE_PIN];
	int64_t ns = c->counts.call_ns[HWY_ROLE_ALLOC] + c->counts.call_ns[HWY_ROLE_FREE] +
		     c->counts.call_ns[HWY_ROLE_PIN];
	struct claim claim = {0};
	claim_cause(c, &claim, GAP_ALLOC);
	claim_roles(c, &claim, roles, CLAIM_CPU_CAUSES);
	if (case_each(c, n) >= OFTEN && case_is_loop(c) && claim_is_worth(c, &claim))
		hwy_accuse(
			c, &claim, HWY_HIGH,
			words_format(
				&c->diagnosis->arena,
				"%s allocations and releases a step take the CPU %s; the GPU idles %s because of "
				"them.",
				words_each(case_each(c, n)).at,
				words_time(ns / (int64_t)c->phase->n_steady).at,
				words_time(case_per_step(c, claim.total)).at),
			case_advice(c, &fix));
	claim_drop(c, &claim);
}

const struct hwy_finding_kind finding_alloc_in_loop = {
	.id = "alloc-in-loop",
	.title = "memory is allocated every step",
	.edit = "no-alloc",
	.look = look,
};
