/* SPDX-License-Identifier: Apache-2.0 */
/* roofline.c - see roofline.h: the points of a roofline, what is made of each, and their order.
 * Points from shapes are made in roofline_shapes.c.
 *
 * Which roof a point is under follows from its FLOP and bytes: the one that needs more time. A
 * point near its roof (NEAR_ROOF_SHARE) is bound by it. A point far from both is not: short
 * launches are latency, grids that do not fill the device occupancy, and of others we cannot
 * tell without counters. Nor can we of a point above its roof: less was moved or computed than
 * was assumed.
 */
#include "analyze/roofline.h"

#include <math.h>
#include <stdlib.h>

#include "base/lang.h"
#include "base/say.h"

#define NEAR_ROOF_SHARE 0.4
/* Work with less FLOP a byte does nothing but move data: what it reaches of the memory's roof is
 * lowered by how it moves them, and memory binds it earlier. */
#define STREAMING_FLOP_PER_BYTE 8
#define STREAMING_NEAR_ROOF_SHARE 0.3
/* Launches that take less on average are mostly start and end of the kernel. */
#define SHORT_NS 5000
/* Fewer of the multiprocessors have work. */
#define FEW_SMS_SHARE 0.5
/* Fewer of the warps that a device can hold are there. Kernels on tensor cores reach the roof
 * with fewer: not for them. */
#define FEW_WARPS_SHARE 0.25

const char *const roofline_kind_names[ROOFLINE_KINDS] = {"kernel", "operator"};
const char *const roofline_source_names[ROOFLINE_SOURCES] = {"counters", "ncu", "shapes"};
const char *const roofline_bound_names[ROOFLINE_BOUNDS] = {HWY_KEY("unknown"), HWY_KEY("compute"),
							   HWY_KEY("memory"), HWY_KEY("latency"),
							   HWY_KEY("occupancy")};

bool roofline_open(struct hwy_roofline *roofline, struct hwy_trace *trace, struct hwy_err *err)
{
	*roofline = (struct hwy_roofline){.trace = trace};
	int64_t *sums = hwy_zarray(trace->n_devices, sizeof *sums);
	bool ok = hwy_need(trace, HWY_KIND_BIT(HWY_KERNEL), HWY_COL_BIT(HWY_DUR), err);
	for (uint32_t s = 0; ok && s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		int64_t device = trace->lanes[strip->lane].device;
		if (strip->kind != HWY_KERNEL || device < 0 || device >= trace->n_devices)
			continue;
		for (uint32_t row = 0; row < strip->rows; row++)
			sums[device] += hwy_get(strip, HWY_DUR, row);
	}
	for (uint32_t d = 0; ok && d < trace->n_devices; d++) {
		if (sums[d] == 0)
			continue;
		HWY_GROW(roofline->devices, roofline->n_devices, roofline->cap_devices);
		struct roofline_device *device = &roofline->devices[roofline->n_devices++];
		*device = (struct roofline_device){.device = d, .kernel_ns = sums[d]};
		peaks_find(&device->peaks, trace, d);
	}
	free(sums);
	return ok;
}

struct roofline_device *roofline_device_of(const struct hwy_roofline *roofline, uint32_t device)
{
	for (uint32_t i = 0; i < roofline->n_devices; i++)
		if (roofline->devices[i].device == device)
			return &roofline->devices[i];
	return NULL;
}

struct roofline_point *roofline_add(struct hwy_roofline *roofline,
				    const struct roofline_point *point)
{
	static const struct hwy_peaks nothing;
	const struct roofline_device *device = roofline_device_of(roofline, point->device);
	HWY_GROW(roofline->points, roofline->n_points, roofline->cap_points);
	struct roofline_point *added = &roofline->points[roofline->n_points++];
	*added = *point;
	added->name = hwy_arena_text(&roofline->arena, point->name, strlen(point->name));
	if (point->shapes)
		added->shapes =
			hwy_arena_text(&roofline->arena, point->shapes, strlen(point->shapes));
	if (device && device->kernel_ns > 0)
		added->share = (double)point->ns / (double)device->kernel_ns;
	roofline_judge(added, device ? &device->peaks : &nothing, &roofline->arena);
	return added;
}

static int roofline_by_gain(const void *left, const void *right)
{
	const struct roofline_point *a = left, *b = right;
	if (a->gain_ns != b->gain_ns)
		return a->gain_ns < b->gain_ns ? 1 : -1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	return strcmp(a->name, b->name);
}

void roofline_sort(struct hwy_roofline *roofline)
{
	if (roofline->n_points)
		qsort(roofline->points, roofline->n_points, sizeof *roofline->points,
		      roofline_by_gain);
}

void roofline_free(struct hwy_roofline *roofline)
{
	free(roofline->devices);
	free(roofline->points);
	hwy_arena_free(&roofline->arena);
	*roofline = (struct hwy_roofline){0};
}

/* ---- what a point means ---------------------------------------------------------------------- */

static enum roofline_bound roofline_find_bound(const struct roofline_point *point,
					       bool is_by_compute)
{
	if (isnan(point->of_peak) || point->of_peak > 1)
		return ROOFLINE_UNKNOWN;
	bool streams = !is_by_compute && point->flop < STREAMING_FLOP_PER_BYTE * point->bytes;
	if (point->of_peak >= (streams ? STREAMING_NEAR_ROOF_SHARE : NEAR_ROOF_SHARE))
		return is_by_compute ? ROOFLINE_COMPUTE : ROOFLINE_MEMORY;
	if (point->count && point->ns / point->count < SHORT_NS)
		return ROOFLINE_LATENCY;
	if (point->waves > 0 &&
	    (point->filled < FEW_SMS_SHARE ||
	     (!point->tensor && fmin(point->waves, 1) * point->occupancy < FEW_WARPS_SHARE)))
		return ROOFLINE_OCCUPANCY;
	return ROOFLINE_UNKNOWN;
}

/* Of a point above its roof: which assumption does not hold. */
static const char *roofline_say_above(const struct roofline_point *point, bool is_by_compute,
				      double rate, struct hwy_arena *arena)
{
	if (is_by_compute)
		return hwy_arena_say(
			arena,
			"%.4g TFLOP/s, more than the %s roof: it computes less than its shapes tell, or with other units",
			rate, hwy_precision_names[point->precision]);
	return hwy_arena_say(
		arena,
		point->is_from_cache
			? "%.4g GB/s, more than the memory's roof: its data came from a cache, so DRAM does not bind it"
			: "%.4g GB/s, more than the memory's roof: a cache held a part of its data, or its inputs lie in less memory than their sizes tell",
		rate);
}

/* One sentence: what is reached of which roof, and why it is not more where that is known. */
static void roofline_say(struct roofline_point *point, bool is_by_compute, struct hwy_arena *arena)
{
	static const char *const whys[ROOFLINE_BOUNDS] = {
		[ROOFLINE_UNKNOWN] = HWY_KEY("; what holds it back only counters can tell"),
		[ROOFLINE_COMPUTE] = HWY_KEY(": bound by compute"),
		[ROOFLINE_MEMORY] = HWY_KEY(": bound by memory"),
		[ROOFLINE_LATENCY] = HWY_KEY("; its launches are too short to get there"),
		[ROOFLINE_OCCUPANCY] = HWY_KEY("; its grid fills too little of the device"),
	};
	if (point->is_shortcut) {
		point->says = hwy_arena_say(
			arena,
			"%.4g TFLOP/s by definition; its algorithm (Winograd or FFT) computes less, so no roof can be told",
			point->flop_per_s * 1e-12);
		return;
	}
	if (isnan(point->of_peak)) {
		point->says = hwy_tr("its FLOP, its bytes or the device's peaks are not known");
		return;
	}
	const char *roof = is_by_compute ? hwy_precision_names[point->precision] : hwy_tr("memory");
	const char *units = is_by_compute && point->tensor ? " tensor" : "";
	double rate = is_by_compute ? point->flop_per_s * 1e-12 : point->bytes_per_s * 1e-9;
	const char *unit = is_by_compute ? "TFLOP/s" : "GB/s";
	if (point->of_peak > 1)
		point->says = roofline_say_above(point, is_by_compute, rate, arena);
	else
		point->says = hwy_arena_say(arena, "%.4g %s, %s of the %s%s roof%s", rate, unit,
					    hwy_say_share(point->of_peak).text, roof, units,
					    hwy_tr(whys[point->bound]));
}

void roofline_judge(struct roofline_point *point, const struct hwy_peaks *peaks,
		    struct hwy_arena *arena)
{
	double rate = peaks_rate(peaks, point->precision, point->tensor),
	       s = (double)point->ns * 1e-9;
	double by_compute = point->flop > 0 ? (rate > 0 ? point->flop / rate : NAN) : 0;
	double by_memory = peaks->bytes_per_s > 0 ? point->bytes / peaks->bytes_per_s : NAN;
	point->intensity = point->bytes > 0 ? point->flop / point->bytes : NAN;
	point->flop_per_s = point->ns > 0 ? point->flop / s : NAN;
	point->bytes_per_s = point->ns > 0 ? point->bytes / s : NAN;
	bool is_known = !isnan(by_compute) && !isnan(by_memory) && !point->is_shortcut;
	double roof = is_known ? fmax(by_compute, by_memory) : NAN;
	point->roof_ns = roof * 1e9;
	point->of_peak = point->ns > 0 ? roof / s : NAN;
	point->is_from_cache = point->of_peak > 1 && by_memory > by_compute && point->count > 0 &&
			       point->bytes / point->count <= peaks->cache_bytes;
	point->bound = roofline_find_bound(point, by_compute >= by_memory);
	double gain = (double)point->ns - point->roof_ns;
	point->gain_ns = gain > 0 ? (int64_t)gain : 0;
	roofline_say(point, by_compute >= by_memory, arena);
}

struct roofline_shares roofline_sum_bounds(const struct hwy_roofline *roofline, int64_t device)
{
	struct roofline_shares shares = {0};
	for (uint32_t i = 0; i < roofline->n_devices; i++)
		if (device == HWY_NONE || roofline->devices[i].device == device)
			shares.kernel_ns += roofline->devices[i].kernel_ns;
	for (uint32_t i = 0; i < roofline->n_points; i++) {
		const struct roofline_point *point = &roofline->points[i];
		if (point->kind == ROOFLINE_KERNEL && point->bound != ROOFLINE_UNKNOWN &&
		    (device == HWY_NONE || point->device == device))
			shares.bound_ns[point->bound] += point->ns;
	}
	shares.bound_ns[ROOFLINE_UNKNOWN] = shares.kernel_ns;
	for (unsigned b = ROOFLINE_UNKNOWN + 1; b < ROOFLINE_BOUNDS; b++)
		shares.bound_ns[ROOFLINE_UNKNOWN] -= shares.bound_ns[b];
	return shares;
}
