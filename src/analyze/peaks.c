/* SPDX-License-Identifier: Apache-2.0 */
/* peaks.c - see peaks.h. The table of devices is peaks_table.c. */
#include "analyze/peaks.h"

const char *const hwy_precision_names[HWY_PRECISIONS] = {"fp64", "fp32", "tf32", "fp16",
							 "bf16", "fp8",  "fp4",  "int8"};

bool peaks_of_device(struct hwy_peaks *peaks, const struct hwy_device *device, const char *name)
{
	(void)name;
	*peaks = (struct hwy_peaks){0};
	if (device->compute_major == 9) {
		peaks->plain[HWY_FP64] = 33.5e12;
		peaks->plain[HWY_FP32] = 66.9e12;
		peaks->plain[HWY_FP16] = peaks->plain[HWY_BF16] = 133.8e12;
		peaks->tensor[HWY_FP64] = 66.9e12;
		peaks->tensor[HWY_TF32] = 494.7e12;
		peaks->tensor[HWY_FP16] = peaks->tensor[HWY_BF16] = 989.4e12;
		peaks->tensor[HWY_FP8] = peaks->tensor[HWY_INT8] = 1978.9e12;
		peaks->bytes_per_s = 4.8e12;
		peaks->source = peaks->bandwidth_source = "data sheet";
	}
	return peaks->source != NULL;
}

bool peaks_find(struct hwy_peaks *peaks, const struct hwy_trace *trace, uint32_t device)
{
	return peaks_of_device(peaks, &trace->devices[device],
			       hwy_str(trace, trace->devices[device].name));
}
