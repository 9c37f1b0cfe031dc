/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_math.h - what the name of a kernel that multiplies matrices says about its arithmetic. */
#ifndef HWY_ANALYZE_KERNEL_MATH_H
#define HWY_ANALYZE_KERNEL_MATH_H

#include "analyze/peaks.h"

/* Whether a kernel, by its name, multiplies or convolves in fp32 without tensor cores. */
bool kernel_math_is_plain_fp32(const char *kernel);

struct kernel_math {
	enum hwy_precision precision;
	bool tensor;
	bool is_told; /* by the name; else by the inputs' type alone */
};
/* The arithmetic of a product of matrices of this precision in this kernel. fp32 becomes TF32
 * where the name tells of tensor cores. */
struct kernel_math kernel_math_find(const char *kernel, enum hwy_precision inputs);

#endif
