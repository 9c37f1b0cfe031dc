/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_cores.c - see tensor_cores.h.
 *
 * The speedup is the ratio of the vendor's rates: fp32 on the ordinary units against the
 * cheapest format in which tensor cores take fp32 data: TF32, or half precision before compute
 * capability
 * 8. Large multiplications reach REACHED_SHARE of that ratio (H200: 47.2 ms a step became 8.8, and 15.2
 * became 2.9); convolutions, which move more memory for their work, are taken to reach half of
 * it. A short kernel gains less: starting, ending and memory do not get faster.
 */
#include "whatif/tensor_cores.h"

#include <string.h>

#include "analyze/kernel_math.h"

#define REACHED_SHARE 0.8
#define REACHED_BY_CONVOLUTIONS_SHARE 0.5
/* a kernel of this length gets half of the gain: shorter kernels get less */
#define HALF_GAIN_NS 50e3

/* The device whose rates (analyze/peaks_table.c) stand for all devices of a compute capability,
 * whatever their names. The first entry that fits is used. */
static const struct {
	int64_t major, minor; /* the compute capability; minor -1 fits any minor number */
	const char *model;
} typical[] = {
	{7, -1, "V100"}, {8, 0, "A100"},   {8, -1, "A10"},
	{9, -1, "H100"}, {10, -1, "B200"}, {12, -1, "RTX 5090"},
};

/* The ratio of the rates with and without tensor cores; 2, the smallest of the known devices,
 * where the device is not. */
static double tensor_cores_ratio(const struct hwy_device *device)
{
	struct hwy_peaks peaks;
	for (size_t i = 0; device && i < sizeof typical / sizeof *typical; i++)
		if (typical[i].major == device->compute_major &&
		    (typical[i].minor < 0 || typical[i].minor == device->compute_minor) &&
		    peaks_of_device(&peaks, device, typical[i].model)) {
			double plain = peaks.plain[HWY_FP32], tensor = peaks.tensor[HWY_TF32];
			/* Cards for games gain with half precision only. */
			return (tensor > plain ? tensor : peaks.tensor[HWY_FP16]) / plain;
		}
	return 2;
}

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
	if (device && device->compute_major > 0 && device->compute_major < typical[0].major)
		return 1;
	double reached = tensor_cores_ratio(device) * (tensor_cores_has_word(kernel, convolutions)
							       ? REACHED_BY_CONVOLUTIONS_SHARE
							       : REACHED_SHARE);
	double gained = (double)ns / ((double)ns + HALF_GAIN_NS);
	return reached > 1 ? 1 + (reached - 1) * gained : 1;
}
