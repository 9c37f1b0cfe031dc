/* SPDX-License-Identifier: Apache-2.0 */
/* no_tensor_cores.c - a GPU-bound step of fp32 matrix multiplications and convolutions that do
 * not use the tensor cores the GPU has. Judged by the names of the kernels.
 *
 * Conditions: a GPU of compute capability 7 or more (8 for TF32) computes for most of the step,
 * and such kernels take a good part of the kernel time. Cost: what the rates of the device's
 * tensor cores would save (whatif/tensor_cores.h), or what the replay with them gains. Counters,
 * where there are some, have the last word: tensor pipes that are active for USED_PERCENT while
 * such kernels run acquit them.
 */
#include <math.h>

#include "base/lang.h"
#include "base/say.h"
#include "diagnose/evidence.h"
#include "diagnose/findings/findings.h"
#include "whatif/tensor_cores.h"

#define BUSY_SHARE 0.6 /* the GPU must compute in at least this share of the step */
#define DOMINATES_SHARE 0.3
#define USED_PERCENT 20 /* the tensor cores are used, whatever the names say */

static const struct advice tf32 = {
	.any = "Let the library use TF32 or half precision; it changes numerics, so compare results.\n"
	       "  cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH);",
	.by_framework =
		{
			[HWY_PYTORCH] =
				"Allow TF32, or train in bf16 with autocast; both change numerics, so compare results.\n"
				"  torch.set_float32_matmul_precision(\"high\"); torch.backends.cudnn.allow_tf32 = True\n"
				"  # or: with torch.autocast(\"cuda\", dtype=torch.bfloat16): …",
			[HWY_CUPY] =
				"Let cuBLAS use TF32: set CUPY_TF32=1; it changes numerics, so compare results.\n"
				"  CUPY_TF32=1 python3 …",
		},
	.inference =
		"Allow TF32, or run the model in bf16; both change numerics, so compare results.\n"
		"  torch.set_float32_matmul_precision(\"high\"); torch.backends.cudnn.allow_tf32 = True\n"
		"  # or: model = model.to(torch.bfloat16)",
};
static const struct advice half = {
	.any = "This GPU's tensor cores need half precision: convert what tolerates it, keep sums in fp32.\n"
	       "  cublasGemmEx(…, CUDA_R_16F, …, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT_TENSOR_OP);",
	.by_framework =
		{[HWY_PYTORCH] =
			 "This GPU's tensor cores need half precision: use autocast with a gradient scaler, and "
			 "compare results.\n"
			 "  with torch.autocast(\"cuda\", dtype=torch.float16): …"},
};

/* The device of the phase with the smallest compute capability; NULL where none is known. */
static const struct hwy_device *least_device(const struct hwy_case *c)
{
	const struct hwy_device *least = NULL;
	for (uint32_t d = 0; d < c->flow->n_devices; d++) {
		int64_t index = c->flow->devices[d].device;
		if (!c->uses[d] || index == HWY_NONE)
			continue;
		const struct hwy_device *device = &c->trace->devices[index];
		if (device->compute_major > 0 &&
		    (!least || device->compute_major < least->compute_major))
			least = device;
	}
	return least;
}

/* Yields the ns that tensor cores would save in all kernels of one name. */
static int64_t saved_by_tensor_cores(const struct hwy_case *c, const struct hwy_device *device,
				     const struct case_kernel *kernel)
{
	int64_t each = kernel->n > 0 ? kernel->ns / (int64_t)kernel->n : 0;
	double speedup = tensor_cores_speedup(device, hwy_str(c->trace, kernel->name), each);
	return (int64_t)((double)kernel->ns * (1 - 1 / speedup));
}

static bool op_is_plain(const struct hwy_case *c, uint32_t op, const void *what)
{
	(void)what;
	const struct flow_op *one = &c->flow->ops[op];
	return one->kind == HWY_KERNEL &&
	       tensor_cores_are_unused(hwy_str(c->trace, case_get(c, one->span, HWY_NAME)));
}

static void accuse_plain(struct hwy_case *c, struct claim *claim, double part, int64_t major)
{
	struct evidence evidence;
	struct hwy_arena *arena = &c->diagnosis->arena;
	enum hwy_confidence confidence = major ? HWY_MEDIUM : HWY_LOW;
	const char *proof = hwy_tr("by the kernels' names");
	if (evidence_of_ops(c, op_is_plain, NULL, &evidence) && !isnan(evidence.levels.tensor)) {
		if (evidence.levels.tensor >= USED_PERCENT) {
			claim_acquit(
				c, claim,
				hwy_arena_say(
					arena,
					"The names of kernels say fp32 without tensor cores, but "
					"these are active for %.0f %% of the cycles meanwhile.",
					evidence.levels.tensor));
			return;
		}
		confidence = HWY_HIGH;
		proof = hwy_arena_say(
			arena,
			"the tensor pipes are active for %.1f %% of the cycles meanwhile; %s",
			evidence.levels.tensor,
			hwy_say_count_of(evidence.samples, "sample", "samples").text);
	}
	claim_accuse(
		c, claim, confidence,
		hwy_arena_say(arena,
			      "%s of the kernel time is fp32 matrix multiplication or convolution "
			      "without tensor cores (%s).",
			      hwy_say_share(part).text, proof),
		case_advice(c, major == 7 ? &half : &tf32));
}

static void finding_no_tensor_cores_look(struct hwy_case *c)
{
	struct gap_states states = case_states(c);
	const struct hwy_device *device = least_device(c);
	int64_t plain = 0, major = device ? device->compute_major : 0;
	struct claim claim = {0};
	if (c->counts.kernel_ns <= 0 || case_share(c, states.compute) < BUSY_SHARE ||
	    (major > 0 && major < 7))
		return;
	for (uint32_t k = 0; k < c->n_kernels; k++) {
		const struct case_kernel *kernel = &c->kernels[k];
		if (!tensor_cores_are_unused(hwy_str(c->trace, kernel->name)))
			continue;
		plain += kernel->ns;
		claim_kernels(c, &claim, saved_by_tensor_cores(c, device, kernel), kernel->span);
	}
	double part = (double)plain / (double)c->counts.kernel_ns;
	if (part >= DOMINATES_SHARE && claim_is_worth(c, &claim))
		accuse_plain(c, &claim, part, major);
	claim_drop(c, &claim);
}

const struct hwy_finding_kind finding_no_tensor_cores = {
	.id = "no-tensor-cores",
	.title = "fp32 matrix kernels, tensor cores unused",
	.look = finding_no_tensor_cores_look,
	.is_inside = true,
	.changes_results = true,
	.edit = "tensor-cores",
};
