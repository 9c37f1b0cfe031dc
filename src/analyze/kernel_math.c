/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_math.c - see kernel_math.h.
 *
 * Knows the names that cuBLAS, cuDNN, CUTLASS, MAGMA and rocBLAS give. "ffma" and "simt" stand
 * for plain multiply-adds; "s1688", "s16816" and the like, "tf32" and "tensorop" for tensor-core
 * instructions. cuBLAS's "nvjet" kernels always use tensor cores.
 */
#include "analyze/kernel_math.h"

#include <string.h>

static const char *const plain_words[] = {"ffma",
					  "sgemm",
					  "simt_s",
					  "f32f32_f32f32_f32",
					  "scudnn",
					  "implicit_convolve_sgemm",
					  "explicit_convolve_sgemm",
					  "fft2d_",
					  "conv2d_grouped_direct",
					  "cf32cf32",
					  NULL};
static const char *const tensor_words[] = {"tf32", "tensorop", "s1688", "s16816", "h1688", "h16816",
					   "hmma", "gmma",     "_884",  "i8816",  "s884",  "bf16",
					   "fp16", "h884",     "f16",   "half",   NULL};

static bool kernel_math_has_word(const char *name, const char *const *words)
{
	for (; *words; words++)
		if (strcasestr(name, *words))
			return true;
	return false;
}

bool kernel_math_is_plain_fp32(const char *kernel)
{
	/* These are cuDNN's own convolutions, whose data type is a template argument. */
	static const char *const convolutions[] = {"dgrad", "wgrad", "winograd", NULL};
	bool is_plain = kernel_math_has_word(kernel, plain_words) ||
			(kernel_math_has_word(kernel, convolutions) && strstr(kernel, "<float"));
	return is_plain && !kernel_math_has_word(kernel, tensor_words);
}

struct kernel_math kernel_math_find(const char *kernel, enum hwy_precision inputs)
{
	static const char *const fp32_tensor[] = {"tf32", "tensorop", "s1688", "s16816",
						  "hmma", "gmma",     "nvjet", NULL};
	static const char *const fp64_tensor[] = {"d884", "dmma", "d16816", "tensorop", NULL};
	static const char *const any_plain[] = {"simt", "ffma", "_fp16_sliced", NULL};
	struct kernel_math math = {.precision = inputs};
	switch (inputs) {
	case HWY_FP32:
	case HWY_TF32:
		math.tensor = !kernel_math_is_plain_fp32(kernel) &&
			      kernel_math_has_word(kernel, fp32_tensor);
		math.is_told = math.tensor || kernel_math_is_plain_fp32(kernel);
		math.precision = math.tensor ? HWY_TF32 : HWY_FP32;
		break;
	case HWY_FP64:
		math.tensor = kernel_math_has_word(kernel, fp64_tensor);
		math.is_told = true;
		break;
	default:
		math.tensor = !kernel_math_has_word(kernel, any_plain);
		math.is_told = kernel_math_has_word(kernel, tensor_words);
		break;
	}
	return math;
}
