/* no_tensor_cores.c - a GPU-bound step of fp32 matrix multiplications and convolutions that do not
 * use the tensor cores the GPU has. Judged by the names of the kernels.
 *
 * Conditions: a GPU of compute capability 7 or more (8 for TF32) computes for most of the step, and
 * such kernels take a good part of the kernel time. Cost: half of their time, a cautious promise:
 * TF32 multiplies 8 times as fast on an A100, but memory does not get faster.
 */
#include "base/say.h"
#include "diagnose/case.h"
#include "diagnose/findings/findings.h"

#define BUSY_SHARE 0.6 /* of the step in which the GPU computes */
#define DOMINATES_SHARE 0.3
#define GAIN_SHARE 0.5

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

/* The smallest major compute capability of the devices that the phase uses; 0 where not known. */
static int64_t capability(const struct hwy_case *c)
{
	int64_t least = 0;
	for (uint32_t d = 0; d < c->flow->n_devices; d++) {
		int64_t device = c->flow->devices[d].device;
		if (!c->uses[d] || device == HWY_NONE)
			continue;
		int64_t major = c->trace->devices[device].compute_major;
		if (major > 0 && (least == 0 || major < least))
			least = major;
	}
	return least;
}

static void finding_no_tensor_cores_look(struct hwy_case *c)
{
	struct gap_states states = case_states(c);
	int64_t plain = 0, major = capability(c);
	struct claim claim = {0};
	if (c->counts.kernel_ns <= 0 || case_share(c, states.compute) < BUSY_SHARE ||
	    (major > 0 && major < 7))
		return;
	for (uint32_t k = 0; k < c->n_kernels; k++) {
		const struct case_kernel *kernel = &c->kernels[k];
		if (!kernel_is_fp32_matrix(hwy_str(c->trace, kernel->name)))
			continue;
		plain += kernel->ns;
		claim_kernels(c, &claim, (int64_t)((double)kernel->ns * GAIN_SHARE), kernel->span);
	}
	double part = (double)plain / (double)c->counts.kernel_ns;
	if (part >= DOMINATES_SHARE && claim_is_worth(c, &claim))
		claim_accuse(
			c, &claim, major ? HWY_MEDIUM : HWY_LOW,
			hwy_arena_format(
				&c->diagnosis->arena,
				"%s of the kernel time is fp32 matrix multiplication or convolution without "
				"tensor cores (by the kernels' names).",
				hwy_say_share(part).text),
			case_advice(c, major == 7 ? &half : &tf32));
	claim_drop(c, &claim);
}

const struct hwy_finding_kind finding_no_tensor_cores = {
	.id = "no-tensor-cores",
	.title = "fp32 matrix kernels, tensor cores unused",
	.look = finding_no_tensor_cores_look,
	.is_inside = true,
};
