/* SPDX-License-Identifier: Apache-2.0 */
/* peaks.h - what a device can do at most: operations per second by precision, and bytes per
 * second of its memory.
 *
 *   struct hwy_peaks peaks;
 *   peaks_find(&peaks, trace, device);
 *   double rate = peaks_rate(&peaks, HWY_BF16, true); // dense bf16 on the tensor cores; 0: the device has none
 *
 * Rates are dense (without structured sparsity), and for tensor cores with sums in fp32 where
 * the device is slower with them. In this order: the data sheet, where the device's name is
 * known (peaks_table.c); else the number of multiprocessors, the clock and the rate of a
 * multiprocessor of the compute capability; else nothing is known. The bandwidth is a calibrated
 * one where the recording has it, then the recorded one, then that of the data sheet.
 */
#ifndef HWY_ANALYZE_PEAKS_H
#define HWY_ANALYZE_PEAKS_H

#include "trace/trace.h"

enum hwy_precision {
	HWY_FP64,
	HWY_FP32,
	HWY_TF32,
	HWY_FP16,
	HWY_BF16,
	HWY_FP8,
	HWY_FP4,
	HWY_INT8,
	HWY_PRECISIONS,
};
extern const char *const hwy_precision_names[HWY_PRECISIONS]; /* "fp64", … */

struct hwy_peaks {
	/* FLOP (or integer operations) per second: plain[] on the ordinary units, tensor[] on
	 * the tensor cores (AMD: matrix cores). 0: the device has no such unit, or the rate is
	 * not known. */
	double plain[HWY_PRECISIONS], tensor[HWY_PRECISIONS];
	double bytes_per_s; /* of the device's memory; 0: not known */
	/* of the cache before the memory; 0: not known. Not recorded: the most that its
	 * generation has */
	double cache_bytes;
	/* Where the rates and the bandwidth come from: "data sheet", "computed", "calibrated",
	 * "recorded"; NULL: nothing is known. */
	const char *source, *bandwidth_source;
	const char *model; /* the device's name in the table: "H200 SXM"; NULL: not in the table */
};

/* Finds the peaks of a device of the trace; 'device' is an index into its devices. Always fills
 * *peaks. False: nothing at all is known of the device. */
bool peaks_find(struct hwy_peaks *peaks, const struct hwy_trace *trace, uint32_t device);
/* peaks_find for a device that is not part of a trace; 'name' is the device's name, "NVIDIA
 * H200". */
bool peaks_of_device(struct hwy_peaks *peaks, const struct hwy_device *device, const char *name);

static inline double peaks_rate(const struct hwy_peaks *peaks, enum hwy_precision precision,
				bool tensor)
{
	return tensor ? peaks->tensor[precision] : peaks->plain[precision];
}

#endif
