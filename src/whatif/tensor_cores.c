/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_cores.c - see tensor_cores.h.
 *
 * The speedup is the ratio of the vendor's rates, in TFLOPS: fp32 on the ordinary units against the
 * cheapest format in which tensor cores take fp32 data: TF32, or half precision before compute capability
 * 8. Large multiplications reach REACHED_SHARE of that ratio (H200: 47.2 ms a step became 8.8, and 15.2
 * became 2.9); convolutions, which move more memory for their work, are taken to reach half of it. A short
 * kernel gains less: starting, ending and memory do not get faster.
 */
#include "whatif/tensor_cores.h"

#include <string.h>

#include "analyze/kernel_math.h"

#define REACHED_SHARE 0.8
#define REACHED_BY_CONVOLUTIONS_SHARE 0.5
/* a kernel of this length gets half of the gain: shorter kernels get less */
#define HALF_GAIN_NS 50e3

/* Rates by compute capability, without sparsity: fp32, then TF32 (or fp16 with sums in fp32 on
 * 7.x). The first entry that fits is used. */
static const struct {
	int64_t major, minor; /* the compute capability; minor -1 fits any minor number */
	double plain, tensor; /* fp32 rate without and with tensor cores, in TFLOPS */
} rates[] = {
	{7, -1, 15.7, 125}, /* V100; T4 has 8.1 and 65 */
	{8, 0, 19.5, 156},  /* A100 */
	/* A10. The L40S has 91.6 and 183; cards for games gain with half precision only. */
	{8, -1, 31.2, 62.5},
	{9, -1, 67, 494},   /* H100, H200 */
	{10, -1, 75, 1100}, /* B200 */
	{12, -1, 105, 210}, /* RTX 5090, half precision */
};

static bool tensor_cores_has_word(const char *name, const char *const *words)
{
	for (; *words; words++)
		if (strcasestr(name, *words))
			return true;
	return false;
}

bool tensor_cores_are_unused(const char *kernel)
{
	return kernel_math_is_plain_fp32(kernel);
}

double tensor_cores_speedup(const struct hwy_device *device, const char *kernel, int64_t ns)
{
	static const char *const convolutions[] = {"conv",  "cudnn",    "fft2d_", "grad",
						   "fprop", "winograd", NULL};
	double ratio = 2; /* an unknown device gets the smallest ratio in the table */
	if (device && device->compute_major > 0 && device->compute_major < rates[0].major)
		return 1;
	for (size_t i = 0; device && i < sizeof rates / sizeof *rates; i++)
		if (rates[i].major == device->compute_major &&
		    (rates[i].minor < 0 || rates[i].minor == device->compute_minor)) {
			ratio = rates[i].tensor / rates[i].plain;
			break;
		}
	double reached =
		ratio * (tensor_cores_has_word(kernel, convolutions) ? REACHED_BY_CONVOLUTIONS_SHARE
								     : REACHED_SHARE);
	double gained = (double)ns / ((double)ns + HALF_GAIN_NS);
	return reached > 1 ? 1 + (reached - 1) * gained : 1;
}
