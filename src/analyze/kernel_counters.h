/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_counters.h - what the counters of a measured kernel say, in words of our own instead of
 * the vendor's.
 *
 *   struct measures m;
 *   struct kernel_counters facts;
 *   measures_open(&m, trace);
 *   for (uint32_t i = 0; i < trace->n_measured; i++)
 *           kernel_counters_read(&m, i, &facts);
 *   measures_close(&m);
 *
 * A fact is not a number (isnan) where the counters that it needs were not read. Sources count
 * different things under different names (ncu, CUPTI; A100, H100, B200): kernel_counters.c lists
 * for each fact the names that it may come from, the best first.
 */
#ifndef HWY_ANALYZE_KERNEL_COUNTERS_H
#define HWY_ANALYZE_KERNEL_COUNTERS_H

#include "base/index.h"
#include "trace/trace.h"

/* ---- counters by name ------------------------------------------------------------------------ */

struct measures {
	const struct hwy_trace *trace;
	struct hwy_measure *rows; /* sorted by measured kernel, then metric */
	uint32_t n;
	struct hwy_index by_name; /* from a counter's name to its text id */
};

void measures_open(struct measures *m, const struct hwy_trace *trace);
void measures_close(struct measures *m);
/* Yields a counter of a measured kernel; not a number where it was not read. */
double measures_value(const struct measures *m, uint32_t measured, const char *metric);

/* ---- facts ----------------------------------------------------------------------------------- */

/* The units that compute, by the numbers that they take: without tensor cores, then the tensor
 * cores. */
enum counters_path {
	PATH_FP64,
	PATH_FP32,
	PATH_FP16,
	PATH_TENSOR_FP64,
	PATH_TENSOR_TF32,
	PATH_TENSOR_BF16,
	PATH_TENSOR_FP16,
	PATH_TENSOR_FP8,
	PATH_TENSOR_FP4,
	PATH_TENSOR_INT8,
	COUNTERS_PATHS
};
extern const char *const counters_path_precisions[COUNTERS_PATHS]; /* "fp64", …, "bf16", … */
static inline bool counters_path_is_tensor(enum counters_path path)
{
	return path >= PATH_TENSOR_FP64;
}

/* Why a warp did not issue an instruction. */
enum counters_stall {
	STALL_LONG_SCOREBOARD,
	STALL_SHORT_SCOREBOARD,
	STALL_BARRIER,
	STALL_MATH_PIPE,
	STALL_LG_THROTTLE,
	STALL_MIO_THROTTLE,
	STALL_WAIT,
	STALL_NOT_SELECTED,
	STALL_NO_INSTRUCTION,
	STALL_BRANCH,
	STALL_GMMA,
	STALL_MEMBAR,
	STALL_TEX_THROTTLE,
	STALL_SLEEPING,
	STALL_IMC_MISS,
	STALL_DRAIN,
	STALL_DISPATCH,
	STALL_MISC,
	STALL_SELECTED, /* not a stall: the warp issued */
	COUNTERS_STALLS
};
extern const char *const counters_stall_names[COUNTERS_STALLS]; /* "long_scoreboard", … */
extern const char
	*const counters_stall_meanings[COUNTERS_STALLS]; /* "waits for global or local memory", … */

struct kernel_counters {
	double ns; /* how long the launch took while it was measured */
	double dram_read, dram_written, dram_bytes, l2_bytes, l1_bytes;
	double flop[COUNTERS_PATHS]; /* operations; an FMA is two */
	double peak_flop_per_s
		[COUNTERS_PATHS]; /* at the clock of the measurement, where counters tell it */
	double sm_hz, dram_hz;
	/* Shares of the most that the unit can do in the time of the launch, 0 … 1. */
	double of_sm, of_dram, of_l1, of_tensor;
	/* L2's bandwidth to the SMs. Where that was not read: L2 as a whole, which the transfers
	 * from and to DRAM keep busy too (is_l2_whole is then 1). */
	double of_l2, is_l2_whole;
	double occupancy, theoretical_occupancy; /* warps an SM, of those that it can hold, 0 … 1 */
	double limit_registers, limit_shared, limit_warps, limit_blocks,
		limit_barriers; /* blocks an SM */
	double l1_hit, l2_hit;  /* shares, 0 … 1 */
	/* Shares of the time of warps, 0 … 1. Not all reasons need to be known; not a number in
	 * all of them where the time of warps, of which they would be shares, is not known. */
	double stalls[COUNTERS_STALLS];
	/* Accesses to shared memory had to be made again because of conflicts, as a share of all
	 * of them. */
	double conflicts;
	/* Sectors of 32 bytes that a request of a warp for global memory touches, 1 … 32, and
	 * the shares of their bytes that the threads asked for, 0 … 1. */
	double load_sectors, store_sectors, load_used, store_used;
	double local_bytes; /* bytes of local memory moved: spilled registers, arrays */
	double issue; /* share of cycles in which a scheduler issued an instruction, 0 … 1 */
	double threads_per_warp; /* threads that take part in an instruction, of 32 */
	double blocks, waves, sms;
	double registers;
};

/* Reads one measured kernel. */
void kernel_counters_read(const struct measures *m, uint32_t measured,
			  struct kernel_counters *facts);
/* Reads the mean of several measured kernels: launches of one kernel with one shape. */
void kernel_counters_mean(const struct measures *m, const uint32_t *measured, uint32_t n,
			  struct kernel_counters *facts);

/* The reason for which warps wait longest, other than that another warp was chosen;
 * COUNTERS_STALLS where nothing is known, or where the reasons that were not read may take
 * longer than the longest one that was. */
enum counters_stall kernel_counters_worst_stall(const struct kernel_counters *facts);

/* All operations, whatever the unit; not a number where none were counted. */
double counters_flop_sum(const double flop[COUNTERS_PATHS]);
/* The path with the most operations, for which the roofline of a kernel is drawn; COUNTERS_PATHS
 * where there are none. */
enum counters_path counters_flop_main_path(const double flop[COUNTERS_PATHS]);

#endif
