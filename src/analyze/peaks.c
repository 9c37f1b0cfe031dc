/* SPDX-License-Identifier: Apache-2.0 */
/* peaks.c - see peaks.h. The table of known devices is peaks_table.c; here is what the rest is
 * computed from: operations that a multiprocessor of a compute capability does in a cycle
 * (CUDA's programming guide, and NVIDIA's white papers for tensor cores).
 */
#include "analyze/peaks.h"

#include <ctype.h>
#include <string.h>

#include "analyze/peaks_table.h"

/* A device with less of its model's multiprocessors than this is a part of it (MIG): its rates
 * are lower. */
#define WHOLE_SHARE 0.95
/* What a calibration of the device's own memory is called, as are those of copies
 * ("machine.copy_h2d_pinned_bandwidth"). */
#define CALIBRATED_BANDWIDTH "machine.device_memory_bandwidth"

const char *const hwy_precision_names[HWY_PRECISIONS] = {"fp64", "fp32", "tf32", "fp16",
							 "bf16", "fp8",  "fp4",  "int8"};

/* FLOP of a multiprocessor in a cycle. */
static const struct {
	int64_t major, minor; /* minor -1 fits any */
	double fp64, fp32, half, t_fp64, t_tf32, t_half, t_fp8, t_fp4, t_int8;
} per_sm[] = {
	{6, 0, 64, 128, 256, 0, 0, 0, 0, 0, 0},
	{6, -1, 8, 256, 4, 0, 0, 0, 0, 0, 0},
	{7, 5, 4, 128, 256, 0, 0, 1024, 0, 0, 2048},
	{7, -1, 64, 128, 256, 0, 0, 1024, 0, 0, 0},
	{8, 0, 64, 128, 512, 128, 1024, 2048, 0, 0, 4096},
	{8, 9, 4, 256, 256, 0, 512, 1024, 2048, 0, 2048},
	{8, -1, 4, 256, 256, 0, 512, 1024, 0, 0, 2048},
	{9, -1, 128, 256, 512, 256, 2048, 4096, 8192, 0, 8192},
	{10, 0, 128, 256, 512, 128, 4096, 8192, 16384, 32768, 16384},
	{10, -1, 4, 256, 512, 0, 4096, 8192, 16384, 49152, 512},
	{12, -1, 4, 256, 256, 0, 512, 1024, 2048, 4096, 2048},
};

/* The L2 of the largest device of a generation, in MiB (NVIDIA's white papers; H200 as its
 * driver tells it). */
static const struct {
	int64_t major, minor; /* minor -1 fits any */
	double mib;
} caches[] = {
	{6, -1, 4}, {7, -1, 6},  {8, 0, 40},    {8, 9, 96},
	{8, -1, 6}, {9, -1, 60}, {10, -1, 126}, {12, -1, 128},
};
/* AMD: the Infinity Cache of MI300 and later, the L2 of a die of MI200. */
#define MI300_CACHE_MIB 256
#define MI200_CACHE_MIB 8

static bool peaks_has_word(const char *name, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = strcasestr(name, word); at; at = strcasestr(at + 1, word))
		if ((at == name || !isalnum((unsigned char)at[-1])) &&
		    !isalnum((unsigned char)at[length]))
			return true;
	return false;
}

static const struct peaks_row *peaks_find_row(const char *name)
{
	/* Cards for laptops have the names of others, and fewer units. */
	if (peaks_has_word(name, "Laptop") || peaks_has_word(name, "Max-Q"))
		return NULL;
	for (size_t i = 0; i < peaks_n_rows; i++)
		if (peaks_has_word(name, peaks_rows[i].word) &&
		    (!peaks_rows[i].also || peaks_has_word(name, peaks_rows[i].also)))
			return &peaks_rows[i];
	return NULL;
}

static void peaks_scale(struct hwy_peaks *peaks, double by)
{
	for (unsigned p = 0; p < HWY_PRECISIONS; p++) {
		peaks->plain[p] *= by;
		peaks->tensor[p] *= by;
	}
}

static void peaks_from_row(struct hwy_peaks *peaks, const struct peaks_row *row,
			   const struct hwy_device *device)
{
	*peaks = (struct hwy_peaks){
		.plain = {[HWY_FP64] = row->fp64,
			  [HWY_FP32] = row->fp32,
			  [HWY_FP16] = row->half,
			  [HWY_BF16] = row->half},
		.tensor = {[HWY_FP64] = row->t_fp64,
			   [HWY_FP32] = row->t_fp32,
			   [HWY_TF32] = row->t_tf32,
			   [HWY_FP16] = row->t_half,
			   [HWY_BF16] = row->t_half,
			   [HWY_FP8] = row->t_fp8,
			   [HWY_FP4] = row->t_fp4,
			   [HWY_INT8] = row->t_int8},
		.bytes_per_s = row->gbytes_per_s * 1e9,
		.source = "data sheet",
		.bandwidth_source = "data sheet",
		.model = row->model,
	};
	/* Tensor cores of Volta and Turing know no bf16. */
	if (device->compute_major == 7)
		peaks->tensor[HWY_BF16] = peaks->plain[HWY_BF16] = 0;
	peaks_scale(peaks, 1e12);
	if (device->sms > 0 && row->sms > 0 && (double)device->sms < WHOLE_SHARE * row->sms) {
		peaks_scale(peaks, (double)device->sms / row->sms);
		peaks->source = "computed";
	}
}

static void peaks_compute(struct hwy_peaks *peaks, const struct hwy_device *device,
			  const char *name)
{
	*peaks = (struct hwy_peaks){0};
	if (device->sms <= 0 || device->clock_hz <= 0)
		return;
	/* Tensor cores of GeForce cards add to sums in fp32 at half their rate; int8 and fp4 are
	 * not affected. */
	double halved = strcasestr(name, "GeForce") || strcasestr(name, "TITAN") ? 0.5 : 1;
	for (size_t i = 0; i < sizeof per_sm / sizeof *per_sm; i++) {
		if (per_sm[i].major != device->compute_major ||
		    (per_sm[i].minor >= 0 && per_sm[i].minor != device->compute_minor))
			continue;
		peaks->plain[HWY_FP64] = per_sm[i].fp64;
		peaks->plain[HWY_FP32] = per_sm[i].fp32;
		peaks->plain[HWY_FP16] = per_sm[i].half;
		peaks->plain[HWY_BF16] = device->compute_major >= 8 ? per_sm[i].half : 0;
		peaks->tensor[HWY_FP64] = per_sm[i].t_fp64;
		peaks->tensor[HWY_TF32] = per_sm[i].t_tf32 * halved;
		peaks->tensor[HWY_FP16] = per_sm[i].t_half * halved;
		peaks->tensor[HWY_BF16] =
			device->compute_major >= 8 ? per_sm[i].t_half * halved : 0;
		peaks->tensor[HWY_FP8] = per_sm[i].t_fp8 * halved;
		peaks->tensor[HWY_FP4] = per_sm[i].t_fp4;
		peaks->tensor[HWY_INT8] = per_sm[i].t_int8;
		peaks_scale(peaks, (double)device->sms * (double)device->clock_hz);
		peaks->source = "computed";
		return;
	}
}

static double peaks_cache(const struct hwy_device *device, const char *name, const char *model)
{
	const double mib = 1 << 20;
	if (model && strncmp(model, "MI", 2) == 0)
		return mib * (model[2] == '3' ? MI300_CACHE_MIB : MI200_CACHE_MIB);
	if (device->l2_bytes > 0)
		return (double)device->l2_bytes;
	/* AMD's numbers of generations are others. */
	if (strcasestr(name, "AMD") || strcasestr(name, "Radeon"))
		return 0;
	for (size_t i = 0; i < sizeof caches / sizeof *caches; i++)
		if (caches[i].major == device->compute_major &&
		    (caches[i].minor < 0 || caches[i].minor == device->compute_minor))
			return mib * caches[i].mib;
	return 0;
}

bool peaks_of_device(struct hwy_peaks *peaks, const struct hwy_device *device, const char *name)
{
	const struct peaks_row *row = peaks_find_row(name);
	if (row)
		peaks_from_row(peaks, row, device);
	else
		peaks_compute(peaks, device, name);
	peaks->cache_bytes = peaks_cache(device, name, peaks->model);
	if (device->memory_bandwidth > 0) {
		peaks->bytes_per_s = (double)device->memory_bandwidth;
		peaks->bandwidth_source = "recorded";
	}
	return peaks->source || peaks->bandwidth_source;
}

bool peaks_find(struct hwy_peaks *peaks, const struct hwy_trace *trace, uint32_t device)
{
	const struct hwy_device *record = &trace->devices[device];
	peaks_of_device(peaks, record, hwy_str(trace, record->name));
	for (uint32_t i = 0; i < trace->n_calibrations; i++) {
		const struct hwy_calibration *one = &trace->calibrations[i];
		if ((one->device == device || one->device == HWY_NONE) && one->value > 0 &&
		    strcmp(hwy_str(trace, one->name), CALIBRATED_BANDWIDTH) == 0) {
			peaks->bytes_per_s = (double)one->value;
			peaks->bandwidth_source = "calibrated";
		}
	}
	return peaks->source || peaks->bandwidth_source;
}
