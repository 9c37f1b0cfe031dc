/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_table.h - the kernels of a trace with all that is known of each: counters where it was
 * measured, else what follows from its launch and from the shapes of its operator; what bounds
 * it, and what it could gain.
 *
 *   struct kernel_table table;
 *   if (!kernel_table_make(&table, trace, err))
 *           return false;
 *   for (uint32_t i = 0; i < table.n; i++)
 *           printf("%s: %s\n", table.kernels[i].point.name, table.kernels[i].point.says);
 *   kernel_table_free(&table);
 *
 * A kernel is a name and a launch shape on a device where it was measured; what was not measured
 * is one kernel for each name. The trace of a file of counters alone (ncu --csv) has no
 * launches: its kernels last as long as they did while they were measured.
 */
#ifndef HWY_ANALYZE_KERNEL_TABLE_H
#define HWY_ANALYZE_KERNEL_TABLE_H

#include "analyze/kernel_counters.h"
#include "analyze/roofline.h"

/* Which memory a kernel waits for, where memory is its bound. */
enum kernel_level { LEVEL_DRAM, LEVEL_L2, LEVEL_L1, KERNEL_LEVELS };
extern const char *const kernel_level_names[KERNEL_LEVELS]; /* "DRAM", "L2", "L1" */

enum { KERNEL_MOST_ADVICE = 5 };

struct known_kernel {
	/* Name, time, FLOP, bytes, bound, gain and a sentence. gain_ns is of all launches of the
	 * recording; 0 where nothing is known, see has_gain. */
	struct roofline_point point;
	bool has_gain;
	enum kernel_level level; /* where point.bound is ROOFLINE_MEMORY */
	int64_t shape;           /* index into shapes, or HWY_NONE */
	uint32_t n_shapes;       /* how many launch shapes the kernel has */
	bool is_measured;
	uint32_t launches_measured;
	struct kernel_counters counters; /* where is_measured */
	/* Operations of a launch by path, where is_measured: as counted, without what is no
	 * arithmetic (kernel_judge.c). */
	double flop[COUNTERS_PATHS];
	int64_t longest; /* ns of the longest launch of the recording; 0 without launches */
	/* One launch runs nearly all of the time and keeps no unit busy: its length is that of
	 * its waiting, so that it has no bound and no roof. */
	bool is_endless;
	bool has_occupancy;
	struct hwy_occupancy occupancy; /* of the shape that took most time */
	const char *advice[KERNEL_MOST_ADVICE];
	uint32_t n_advice;
	/* By path: operations a second that the device can do, at the clock of the measurement
	 * where that is known; 0: not known. */
	double peak[COUNTERS_PATHS];
};

struct kernel_table {
	struct hwy_trace *trace;
	struct hwy_roofline roofline; /* the devices and their peaks; its points are empty */
	struct hwy_roofline shapes;   /* what follows from shapes of operators */
	struct known_kernel
		*kernels; /* the greatest gain first where most are known, else by time */
	uint32_t n, cap;
	int64_t ns;          /* time of all kernels */
	int64_t measured_ns; /* and of those that were measured */
	bool has_launches;   /* the trace has launches, not only counters */
	/* no launch is taken to need less: the shortest kernels, and at least 1 us */
	int64_t floor_ns;
	struct hwy_arena arena;
};

bool kernel_table_make(struct kernel_table *table, struct hwy_trace *trace, struct hwy_err *err);
void kernel_table_free(struct kernel_table *table);

/* kernel_find.c: yields the kernel that a user means by a name or a part of one: the name
 * itself, else the only name that contains the text. Several entries may have that name
 * (shapes): the first is yielded. NULL with a sentence in err where none or several names fit. */
const struct known_kernel *kernel_table_find(const struct kernel_table *table, const char *text,
					     struct hwy_err *err);

/* kernel_find.c: a short part of the kernel's name by which kernel_table_find yields it (or
 * another entry of that name): *part points into the name, and how many bytes belong to it is
 * returned. The whole name where no part of it is its own. */
size_t kernel_table_part(const struct kernel_table *table, const struct known_kernel *kernel,
			 const char **part);

/* What bounds a kernel, in a word: "compute", "memory (L2)", "waits" (is_endless), "cannot
 * tell". */
const char *kernel_bound_name(const struct known_kernel *kernel);

/* kernel_judge.c: what the counters of a kernel mean: bound, level, gain, sentence. The point
 * has its name, time and count already. 'device_ns' is the time from the first to the last
 * kernel of the device, 'floor_ns' as in the table. */
void kernel_judge(struct known_kernel *kernel, const struct hwy_peaks *peaks, int64_t device_ns,
		  int64_t floor_ns, struct hwy_arena *arena);
/* The launch floor of kernel_judge, from the mean time of the shortest kernel of a recording; 0:
 * no recording. */
int64_t kernel_judge_floor(int64_t shortest_ns);
/* kernel_advice.c: what to do about it, for the kind of kernel that its name tells. */
void kernel_advise(struct known_kernel *kernel, struct hwy_arena *arena);

#endif
