/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_judge.c - what bounds a kernel that was measured, and how long a perfect version of it
 * would still take.
 *
 * The bound: a unit that is busy for BUSY_SHARE of the time or more is what the kernel waits
 * for; of several the busiest. Where no unit is, the kernel waits for latencies. If it has too
 * few warps to hide them, the bound is occupancy: the grid does not fill the device, or less
 * than FEW_WARPS_SHARE of the warps are resident. Kernels that use the tensor cores
 * (TENSOR_SHARE) live with few warps by design: for them it is latency. That no unit is busy is
 * said only where each was read.
 *
 * The roof: the same operations at the peak of their unit, or the same bytes of DRAM at its
 * peak, whichever takes longer; of a kernel that keeps the SMs busy also its instructions at
 * their peak; and no launch of the recording takes less than the launch floor. A better kernel
 * may move fewer bytes than this one, but it cannot do this one's work in less time.
 *
 * Operations: instructions on halves outside of the tensor cores are arithmetic only from
 * HALF_SHARE of their peak on. Below, they are how compilers write other things: HFMA2 loads a
 * constant (on H200 one or eleven for each thread of kernels without any half in their source;
 * ncu counts the same), HADD2.F32 converts a half to fp32 (two for each product of two halves).
 * Kernels that only convert reach 1 or 2 % of the peak at the memory's full speed.
 *
 * A kernel that never ends (one launch of ENDLESS_NS or more takes ENDLESS_SHARE of the time)
 * and keeps no unit busy waits for the host or for work. Neither its length nor a roof says
 * anything about it.
 */
#include <math.h>
#include <string.h>

#include "analyze/kernel_table.h"
#include "base/lang.h"
#include "base/say.h"

#define BUSY_SHARE 0.6
#define FEW_WARPS_SHARE 0.3
#define ALIKE_SHARE 0.1
/* On H200 L2 as a whole is up to 0.26 above DRAM in kernels that DRAM bounds. */
#define OWN_L2_SHARE 0.3
/* L2 carries at least so many times what DRAM does: 3.2 times on H200, by ncu. */
#define L2_OVER_DRAM 1.5
#define TENSOR_SHARE 0.1
/* So few of the SMs, by blocks of the grid, can keep neither the SMs nor the memory busy: the
 * launch alone tells the bound. */
#define FEW_BLOCKS_SHARE 0.25
#define SPARSE_FACTOR 1.5 /* clocks differ by less */
/* An empty kernel on an H200 lasts about 1 us from the begin of its launch to its end. Other
 * devices need longer: where the shortest kernels of a recording take up to SHORT_LAUNCH_NS,
 * they tell it. */
#define LEAST_LAUNCH_NS 1000
/* Launches of less are mostly begin and end. */
#define SHORT_LAUNCH_NS 2000
#define HALF_SHARE 0.05
/* With operations that would take less than this share of its time, a kernel has next to none:
 * it has no precision. */
#define NO_FLOP_SHARE 1e-4
#define ENDLESS_NS 50e6
#define ENDLESS_SHARE 0.9

static const struct {
	enum counters_path path;
	enum hwy_precision precision;
} path_precisions[COUNTERS_PATHS] = {
	{PATH_FP64, HWY_FP64},        {PATH_FP32, HWY_FP32},        {PATH_FP16, HWY_FP16},
	{PATH_TENSOR_FP64, HWY_FP64}, {PATH_TENSOR_TF32, HWY_TF32}, {PATH_TENSOR_BF16, HWY_BF16},
	{PATH_TENSOR_FP16, HWY_FP16}, {PATH_TENSOR_FP8, HWY_FP8},   {PATH_TENSOR_FP4, HWY_FP4},
	{PATH_TENSOR_INT8, HWY_INT8},
};

static double known(double value)
{
	return isnan(value) ? 0 : value;
}

/* ---- the roof -------------------------------------------------------------------------------- */

/* The peaks of units at the clock of the measurement, as counters tell them; else those of the
 * data sheet. The counters' peaks of tensor cores are those for sparse matrices (seen on H200:
 * 8192 operations a cycle of an SM, 4096 for dense ones). */
static void find_peaks(struct known_kernel *kernel, const struct hwy_peaks *peaks)
{
	for (int i = 0; i < COUNTERS_PATHS; i++) {
		bool is_tensor = counters_path_is_tensor((enum counters_path)i);
		double counted = kernel->counters.peak_flop_per_s[i];
		double sheet = peaks_rate(peaks, path_precisions[i].precision, is_tensor);
		bool is_sparse = sheet > 0 ? counted > SPARSE_FACTOR * sheet
					   : is_tensor && i != PATH_TENSOR_FP64;
		kernel->peak[i] = counted > 0 ? counted / (is_sparse ? 2 : 1) : sheet;
	}
}

/* Leaves out what the counters of operations count beside arithmetic. */
static void find_flop(struct known_kernel *kernel)
{
	const struct kernel_counters *c = &kernel->counters;
	memcpy(kernel->flop, c->flop, sizeof kernel->flop);
	double peak = kernel->peak[PATH_FP16], half = c->flop[PATH_FP16];
	bool is_little = peak > 0 && c->ns > 0 ? half < HALF_SHARE * peak * c->ns * 1e-9
					       : half < counters_flop_sum(c->flop) / 2;
	if (is_little)
		kernel->flop[PATH_FP16] = 0;
}

/* ns of one launch at the peak of the unit that needs most; not a number where a unit's peak is
 * not known. */
static double compute_ns(const struct known_kernel *kernel)
{
	double most = 0;
	bool is_known = false;
	for (int i = 0; i < COUNTERS_PATHS; i++) {
		double flop = kernel->flop[i];
		is_known |= !isnan(flop);
		if (flop > 0)
			most = kernel->peak[i] > 0 ? fmax(most, flop / kernel->peak[i] * 1e9) : NAN;
		if (isnan(most))
			return NAN;
	}
	/* Tensor cores that worked, and whose operations were not counted, hide what the kernel
	 * must do. */
	bool counts_tensor = false;
	for (int i = PATH_TENSOR_FP64; i < COUNTERS_PATHS; i++)
		counts_tensor |= !isnan(kernel->flop[i]);
	if (!counts_tensor && kernel->counters.of_tensor > TENSOR_SHARE)
		return kernel->counters.of_tensor * kernel->counters.ns;
	return is_known ? most : NAN;
}

static double memory_ns(const struct known_kernel *kernel, const struct hwy_peaks *peaks)
{
	const struct kernel_counters *c = &kernel->counters;
	if (!isnan(c->of_dram))
		return c->of_dram * c->ns;
	return peaks->bytes_per_s > 0 ? c->dram_bytes / peaks->bytes_per_s * 1e9 : NAN;
}

/* How busy the SMs are. The counter needs many passes; where it was not read, the most that the
 * units of an SM are seen to do stands in: the SMs are at least as busy as that. */
static double sm_share(const struct known_kernel *kernel)
{
	const struct kernel_counters *c = &kernel->counters;
	if (!isnan(c->of_sm))
		return c->of_sm;
	return fmax(fmax(compute_ns(kernel) / c->ns, c->of_tensor), c->issue);
}

/* Whether what was read tells how long the kernel's work needs at least: its operations, or how
 * busy the SMs are, and its bytes. */
static bool has_work(const struct known_kernel *kernel, double memory)
{
	const struct kernel_counters *c = &kernel->counters;
	/* Of a kernel that is bound by what was read, what was not read could only raise the
	 * roof. */
	bool is_told = kernel->point.bound == ROOFLINE_COMPUTE ||
		       (kernel->point.bound == ROOFLINE_MEMORY && kernel->level == LEVEL_DRAM);
	bool has_compute =
		!isnan(c->flop[PATH_FP32]) || !isnan(c->of_sm) || c->of_tensor > TENSOR_SHARE;
	return is_told || (has_compute && !isnan(memory));
}

static void find_roof(struct known_kernel *kernel, const struct hwy_peaks *peaks, int64_t floor_ns)
{
	struct roofline_point *point = &kernel->point;
	const struct kernel_counters *c = &kernel->counters;
	double compute = compute_ns(kernel), memory = memory_ns(kernel, peaks);
	/* Busy SMs compute other things than operations that count: addresses, integers,
	 * comparisons. Whether a better kernel needs them nobody can tell, so the SMs' own share
	 * is a roof too. */
	if (isnan(compute) || point->bound == ROOFLINE_COMPUTE)
		compute = fmax(compute, sm_share(kernel) * c->ns);
	double roof = fmax(compute, memory); /* fmax leaves out what is not a number */
	if (isnan(roof) || !(c->ns > 0) || point->ns <= 0 || !has_work(kernel, memory))
		return;
	/* The share is that of the measured launch, whose clock may differ; the floor is that of
	 * the recording's launches. */
	double least = (double)floor_ns * point->count;
	point->roof_ns = fmax((double)point->ns * fmin(roof / c->ns, 1), least);
	point->roof_ns = fmin(point->roof_ns, (double)point->ns);
	point->of_peak = point->roof_ns / (double)point->ns;
	point->gain_ns = (int64_t)((double)point->ns - point->roof_ns);
	kernel->has_gain = true;
}

/* Fills what a roofline shows from the counters of one launch, for all launches. */
static void fill_point(struct known_kernel *kernel)
{
	struct roofline_point *point = &kernel->point;
	const struct kernel_counters *c = &kernel->counters;
	double seconds = c->ns * 1e-9, flop = counters_flop_sum(kernel->flop);
	if (compute_ns(kernel) < NO_FLOP_SHARE * c->ns)
		flop = 0;
	enum counters_path path = flop > 0 ? counters_flop_main_path(kernel->flop) : COUNTERS_PATHS;
	point->flop = flop * point->count;
	point->bytes = c->dram_bytes * point->count;
	if (path != COUNTERS_PATHS) {
		point->precision = path_precisions[path].precision;
		point->tensor = counters_path_is_tensor(path);
	} else {
		point->precision = HWY_FP32;
	}
	point->intensity = point->bytes > 0 ? point->flop / point->bytes : NAN;
	point->flop_per_s = seconds > 0 ? flop / seconds : NAN;
	point->bytes_per_s = seconds > 0 ? c->dram_bytes / seconds : NAN;
}

/* ---- the bound ------------------------------------------------------------------------------- */

/* Blocks of the grid for each SM, below 1 where SMs have none; not a number where unknown. */
static double blocks_per_sm(const struct known_kernel *kernel)
{
	const struct kernel_counters *c = &kernel->counters;
	if (kernel->has_occupancy && kernel->occupancy.blocks > 0 && kernel->occupancy.waves > 0)
		return kernel->occupancy.waves * kernel->occupancy.blocks;
	return c->blocks > 0 && c->sms > 0 ? c->blocks / c->sms : NAN;
}

/* Whether L2 may be busy, for all that was read. Its bytes alone acquit it where they are few
 * beside what DRAM could carry. */
static bool is_l2_unread(const struct kernel_counters *c, const struct hwy_peaks *peaks)
{
	double most = L2_OVER_DRAM * peaks->bytes_per_s;
	return isnan(c->of_l2) &&
	       !(most > 0 && c->ns > 0 && c->l2_bytes / c->ns * 1e9 < BUSY_SHARE * most);
}

/* The units of which nobody read how busy they are, "the SMs, L2"; "" where all were read. */
static const char *unread_units(const struct known_kernel *kernel, const struct hwy_peaks *peaks)
{
	static const char *const texts[16] = {
		"",
		"the SMs",
		"DRAM",
		"the SMs and DRAM",
		"L2",
		"the SMs and L2",
		"DRAM and L2",
		"the SMs, DRAM and L2",
		"L1",
		"the SMs and L1",
		"DRAM and L1",
		"the SMs, DRAM and L1",
		"L2 and L1",
		"the SMs, L2 and L1",
		"DRAM, L2 and L1",
		"the SMs, DRAM, L2 and L1",
	};
	const struct kernel_counters *c = &kernel->counters;
	return texts[(isnan(c->of_sm) ? 1 : 0) + (isnan(c->of_dram) ? 2 : 0) +
		     (is_l2_unread(c, peaks) ? 4 : 0) + (isnan(c->of_l1) ? 8 : 0)];
}

/* Whether one launch takes nearly all of the time of the device. */
static bool may_be_endless(const struct known_kernel *kernel, int64_t device_ns)
{
	return (double)kernel->longest >= ENDLESS_NS &&
	       (double)kernel->longest >= ENDLESS_SHARE * (double)device_ns;
}

static enum roofline_bound find_bound(struct known_kernel *kernel, const struct hwy_peaks *peaks)
{
	const struct kernel_counters *c = &kernel->counters;
	double sm = sm_share(kernel), dram = known(c->of_dram), l2 = known(c->of_l2),
	       l1 = known(c->of_l1);
	/* L2 as a whole is as busy as DRAM keeps it: that is no bound of its own. */
	if (c->is_l2_whole > 0 && l2 < dram + OWN_L2_SHARE)
		l2 = 0;
	double memory = fmax(dram, fmax(l2, l1));
	kernel->level = dram >= memory ? LEVEL_DRAM : l2 >= memory ? LEVEL_L2 : LEVEL_L1;
	/* Tensor cores keep the memories that feed them busy: of two that are busy alike, the
	 * SMs are the bound. */
	double margin = kernel->level == LEVEL_DRAM ? 0 : ALIKE_SHARE;
	if (fmax(known(sm), memory) >= BUSY_SHARE)
		return sm > memory - margin ? ROOFLINE_COMPUTE : ROOFLINE_MEMORY;
	/* So few SMs keep no unit of the device busy: nothing needs to be read. */
	if (blocks_per_sm(kernel) < FEW_BLOCKS_SHARE)
		return ROOFLINE_OCCUPANCY;
	if (*unread_units(kernel, peaks))
		return ROOFLINE_UNKNOWN;
	double tensor = known(c->of_tensor);
	for (int i = PATH_TENSOR_FP64; i < COUNTERS_PATHS; i++)
		if (kernel->flop[i] > 0 && kernel->peak[i] > 0 && c->ns > 0)
			tensor = fmax(tensor, kernel->flop[i] / kernel->peak[i] * 1e9 / c->ns);
	if (blocks_per_sm(kernel) < 1)
		return ROOFLINE_OCCUPANCY;
	if (c->occupancy < FEW_WARPS_SHARE && tensor < TENSOR_SHARE)
		return ROOFLINE_OCCUPANCY;
	return ROOFLINE_LATENCY;
}

/* ---- the sentence ---------------------------------------------------------------------------- */

static const char *say_units(const struct known_kernel *kernel, struct hwy_arena *arena)
{
	const struct kernel_counters *c = &kernel->counters;
	return hwy_arena_say(arena, "SMs %s, DRAM %s", hwy_say_share(known(sm_share(kernel))).text,
			     hwy_say_share(known(c->of_dram)).text);
}

static const char *say_compute(const struct known_kernel *kernel, struct hwy_arena *arena)
{
	const struct kernel_counters *c = &kernel->counters;
	enum counters_path path =
		kernel->point.flop > 0 ? counters_flop_main_path(kernel->flop) : COUNTERS_PATHS;
	const char *sm = hwy_arena_say(arena, "the SMs work at %s of their peak",
				       hwy_say_share(known(sm_share(kernel))).text);
	if (path == COUNTERS_PATHS || !(kernel->peak[path] > 0) || !(c->ns > 0))
		return sm;
	return hwy_arena_say(
		arena, "%s; %s%s reaches %s of its peak", sm, counters_path_precisions[path],
		hwy_tr(counters_path_is_tensor(path) ? " on the tensor cores" : ""),
		hwy_say_share(kernel->flop[path] / kernel->peak[path] * 1e9 / c->ns).text);
}

static const char *say_memory(const struct known_kernel *kernel, struct hwy_arena *arena)
{
	const struct kernel_counters *c = &kernel->counters;
	double rates[KERNEL_LEVELS] = {c->dram_bytes, c->l2_bytes, c->l1_bytes};
	double shares[KERNEL_LEVELS] = {c->of_dram, c->of_l2, c->of_l1};
	const char *level = kernel_level_names[kernel->level];
	const char *busy = hwy_arena_say(arena, "%s works at %s of its peak", level,
					 hwy_say_share(known(shares[kernel->level])).text);
	double rate = rates[kernel->level] / c->ns * 1e9;
	/* L1's bytes leave out shared memory, which is a part of L1's work. */
	if (!(rate > 0) || kernel->level == LEVEL_L1)
		return busy;
	return rate >= 1e12 ? hwy_arena_say(arena, "%s: %.2f TB/s", busy, rate * 1e-12)
			    : hwy_arena_say(arena, "%s: %s", busy, hwy_say_rate3(rate).text);
}

static const char *say_latency(const struct known_kernel *kernel, struct hwy_arena *arena)
{
	const struct kernel_counters *c = &kernel->counters;
	enum counters_stall stall = kernel_counters_worst_stall(c);
	if (stall == COUNTERS_STALLS)
		return hwy_arena_say(arena, "no unit is busy (%s): the kernel waits",
				     say_units(kernel, arena));
	return hwy_arena_say(arena, "no unit is busy (%s): %s of the time a warp %s",
			     say_units(kernel, arena), hwy_say_share(c->stalls[stall]).text,
			     hwy_tr(counters_stall_meanings[stall]));
}

static const char *say_occupancy(const struct known_kernel *kernel, struct hwy_arena *arena)
{
	const struct kernel_counters *c = &kernel->counters;
	double per_sm = blocks_per_sm(kernel);
	if (per_sm < 1)
		return hwy_arena_say(
			arena, "the grid is too small for the device: %s of the SMs have no block",
			hwy_say_share(1 - per_sm).text);
	const char *limit = kernel->has_occupancy && kernel->occupancy.share < 0.5
				    ? occupancy_limit_names[kernel->occupancy.limit]
				    : NULL;
	return hwy_arena_say(
		arena, "%s of the warps that an SM can hold are there%s%s, too few to hide waits",
		hwy_say_share(c->occupancy).text, hwy_tr(limit ? ", limited by " : ""),
		hwy_tr(limit ? limit : ""));
}

static const char *say_endless(const struct known_kernel *kernel, struct hwy_arena *arena)
{
	const char *units = kernel->is_measured ? hwy_arena_say(arena, "no unit is busy (%s)",
								say_units(kernel, arena))
						: hwy_tr("it was not measured");
	return hwy_arena_say(
		arena,
		"one launch runs all of the time, %s, and %s: it waits for the host or for work, and a roof says nothing about it",
		hwy_say_time3(kernel->longest).text, units);
}

/* What the shapes of operators say was judged already (roofline_judge); no launch takes less
 * than the floor. */
static void judge_unmeasured(struct known_kernel *kernel, int64_t floor_ns, struct hwy_arena *arena)
{
	struct roofline_point *point = &kernel->point;
	double per_sm = blocks_per_sm(kernel);
	if (kernel->has_gain) {
		double least = fmin((double)point->count * (double)floor_ns, (double)point->ns);
		point->gain_ns = (int64_t)fmax((double)point->ns - fmax(point->roof_ns, least), 0);
	} else if (per_sm < FEW_BLOCKS_SHARE) {
		point->bound = ROOFLINE_OCCUPANCY;
		point->says = hwy_arena_say(
			arena,
			"not measured; the grid is too small for the device: %s of the SMs have no block",
			hwy_say_share(1 - per_sm).text);
	} else if (point->count > 0 && point->ns / point->count < SHORT_LAUNCH_NS) {
		point->bound = ROOFLINE_LATENCY;
		point->says = hwy_arena_say(
			arena, "not measured; a launch takes %s, hardly more than an empty one",
			hwy_say_time3(point->ns / point->count).text);
	} else if (!point->says) {
		point->says = hwy_tr(
			"not measured, and not all of its launches have operators with known shapes");
	}
}

int64_t kernel_judge_floor(int64_t shortest_ns)
{
	return shortest_ns > LEAST_LAUNCH_NS && shortest_ns <= SHORT_LAUNCH_NS ? shortest_ns
									       : LEAST_LAUNCH_NS;
}

static const char *say_bound(const struct known_kernel *kernel, const struct hwy_peaks *peaks,
			     struct hwy_arena *arena)
{
	switch (kernel->point.bound) {
	case ROOFLINE_COMPUTE: return say_compute(kernel, arena);
	case ROOFLINE_MEMORY: return say_memory(kernel, arena);
	case ROOFLINE_LATENCY: return say_latency(kernel, arena);
	case ROOFLINE_OCCUPANCY: return say_occupancy(kernel, arena);
	default:
		return hwy_arena_say(
			arena, "nothing that was read is busy, and how busy %s are was not read",
			unread_units(kernel, peaks));
	}
}

void kernel_judge(struct known_kernel *kernel, const struct hwy_peaks *peaks, int64_t device_ns,
		  int64_t floor_ns, struct hwy_arena *arena)
{
	struct roofline_point *point = &kernel->point;
	bool is_measured = kernel->is_measured;
	if (is_measured) {
		find_peaks(kernel, peaks);
		find_flop(kernel);
		fill_point(kernel);
		point->bound = find_bound(kernel, peaks);
	}
	bool is_busy = point->bound == ROOFLINE_COMPUTE || point->bound == ROOFLINE_MEMORY;
	if (may_be_endless(kernel, device_ns) && !is_busy && !kernel->has_gain &&
	    (is_measured || blocks_per_sm(kernel) < 1)) {
		kernel->is_endless = true;
		point->bound = ROOFLINE_UNKNOWN;
		point->says = say_endless(kernel, arena);
	} else if (is_measured) {
		find_roof(kernel, peaks, floor_ns);
		point->says = say_bound(kernel, peaks, arena);
	} else {
		judge_unmeasured(kernel, floor_ns, arena);
	}
}
