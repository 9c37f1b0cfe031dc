/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_idle.c - matrix kernels during which the tensor cores sleep, although their names do
 * not say so: counters do.
 *
 * Conditions: kernels that multiply or convolve, by their names, take DOMINATES_SHARE of the
 * kernel time or more; while one of them runs the tensor pipes are active for less than
 * IDLE_PERCENT, and neither memory nor too few multiprocessors hold it back. Kernels whose names
 * tell fp32 without tensor cores belong to no-tensor-cores, those in fp64 need none. Cost: what
 * the rates of the device's tensor cores would save, or what the replay with them gains.
 */
#include <math.h>
#include <string.h>

#include "base/lang.h"
#include "base/say.h"
#include "diagnose/evidence.h"
#include "diagnose/findings/findings.h"
#include "whatif/tensor_cores.h"

#define DOMINATES_SHARE 0.3
#define IDLE_PERCENT 5
/* Kernels below this share of the kernels' time are not looked at. */
#define SMALL_KERNEL_SHARE 0.05

static const struct advice fix = {
	.any = "Let the product use the tensor cores: half precision or TF32 as input, sums in fp32, and sizes that are multiples of 8 "
	       "(fp16, bf16) or 4 (TF32); or call cuBLAS or CUTLASS instead of a kernel of your own.\n"
	       "  cublasGemmEx(…, CUDA_R_16BF, …, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT_TENSOR_OP);",
	.by_framework =
		{[HWY_PYTORCH] =
			 "Let the product use the tensor cores: autocast, and sizes that are multiples of 8; in a Triton kernel "
			 "use tl.dot on half precision or TF32. It changes numerics, so compare results.\n"
			 "  with torch.autocast(\"cuda\", dtype=torch.bfloat16): …"},
};

static bool is_product(const char *name)
{
	static const char *const products[] = {"gemm",  "Cijk_",  "nvjet",  "matmul",
					       "_bmm_", "_mm_",   "fprop",  "dgrad",
					       "wgrad", "conv2d", "conv3d", NULL};
	static const char *const doubles[] = {"dgemm", "f64", "double", NULL};
	bool is_it = false;
	for (const char *const *part = products; *part && !is_it; part++)
		is_it = strcasestr(name, *part) != NULL;
	for (const char *const *part = doubles; *part && is_it; part++)
		is_it = strcasestr(name, *part) == NULL;
	return is_it;
}

static const struct hwy_device *device_of_span(const struct hwy_case *c, uint32_t span)
{
	uint32_t row;
	int64_t device = c->trace->lanes[hwy_strip_of(c->trace, span, &row)->lane].device;
	return device >= 0 && device < c->trace->n_devices ? &c->trace->devices[device] : NULL;
}

/* Whether counters show that the tensor cores sleep while such kernels compute. */
static bool sleeps(struct hwy_case *c, const struct case_kernel *kernel, struct evidence *evidence)
{
	return evidence_of_kernel(c, kernel->name, evidence) &&
	       evidence->levels.tensor < IDLE_PERCENT &&
	       evidence->levels.dram < INSIDE_DRAM_LIMIT && evidence->levels.sms >= INSIDE_FEW_SMS;
}

static void finding_tensor_idle_look(struct hwy_case *c)
{
	struct claim claim = {0};
	struct evidence evidence, of_top = {0};
	const struct case_kernel *top = NULL;
	int64_t idle = 0;
	if (!evidence_is_there(c) || c->counts.kernel_ns <= 0)
		return;
	for (uint32_t k = 0; k < c->n_kernels; k++) {
		const struct case_kernel *kernel = &c->kernels[k];
		const char *name = hwy_str(c->trace, kernel->name);
		const struct hwy_device *device = device_of_span(c, kernel->span);
		if ((double)kernel->ns < SMALL_KERNEL_SHARE * (double)c->counts.kernel_ns ||
		    !is_product(name) || tensor_cores_are_unused(name) || !device ||
		    device->compute_major < 7 || !sleeps(c, kernel, &evidence))
			continue;
		idle += kernel->ns;
		if (!top) {
			top = kernel;
			of_top = evidence;
		}
		double speedup =
			tensor_cores_speedup(device, name, kernel->ns / (int64_t)kernel->n);
		claim_kernels(c, &claim, (int64_t)((double)kernel->ns * (1 - 1 / speedup)),
			      kernel->span);
	}
	double part = (double)idle / (double)c->counts.kernel_ns;
	if (top && part >= DOMINATES_SHARE && claim_is_worth(c, &claim)) {
		const char *issue = isnan(of_top.levels.issue)
					    ? ""
					    : hwy_arena_say(&c->diagnosis->arena,
							    " and instructions issued for %.0f %%",
							    of_top.levels.issue);
		const char *says = hwy_arena_say(
			&c->diagnosis->arena,
			"%s of the kernel time are matrix kernels during which the tensor cores sleep: %s, with the tensor pipes "
			"active for %.1f %%%s of the cycles (%s).",
			hwy_say_share(part).text, evidence_name(c, top->name), of_top.levels.tensor,
			issue, hwy_say_count_of(of_top.samples, "sample", "samples").text);
		struct hwy_finding *finding =
			claim_accuse(c, &claim, HWY_MEDIUM, says, case_advice(c, &fix));
		finding->edit = hwy_arena_say(&c->diagnosis->arena, "tensor-cores:%s",
					      hwy_str(c->trace, top->name));
	}
	claim_drop(c, &claim);
}

const struct hwy_finding_kind finding_tensor_idle = {
	.id = "tensor-idle",
	.title = "matrix kernels, tensor cores asleep",
	.look = finding_tensor_idle_look,
	.is_inside = true,
	.changes_results = true,
	.edit = "tensor-cores",
};
