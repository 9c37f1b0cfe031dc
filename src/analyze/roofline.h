/* SPDX-License-Identifier: Apache-2.0 */
/* roofline.h - kernels and operators as points under the roofs of their device.
 *
 * A point is all the work of one name (and device): its operations, bytes and time. A device has
 * a roof for each precision (peaks.h) and one for its memory. Where a point's FLOP and bytes
 * come from:
 *   counters, ncu   what the hardware counted: DRAM bytes as they were moved
 *   shapes          what the operator must do by its inputs: the FLOP of its definition, each operand moved once. Bytes are
 *                   a lower bound of what is moved, but not of what DRAM moves: data that lie in a cache, and inputs
 *                   that are one and the same tensor, make a point faster than the memory's roof. Such a point says
 *                   nothing about what binds it.
 *
 *   struct hwy_roofline roofline;
 *   if (!roofline_from_shapes(&roofline, trace, NULL, err))
 *           return false;
 *   for (uint32_t i = 0; i < roofline.n_points; i++)
 *           puts(roofline.points[i].says);
 *   roofline_put_json(json, &roofline);
 *   roofline_free(&roofline);
 *
 * Who has other sources adds points of his own: fill the first part of a point, call
 * roofline_judge for the rest.
 */
#ifndef HWY_ANALYZE_ROOFLINE_H
#define HWY_ANALYZE_ROOFLINE_H

#include "analyze/occupancy.h"
#include "analyze/owners.h"
#include "analyze/peaks.h"
#include "base/json.h"

enum roofline_kind { ROOFLINE_KERNEL, ROOFLINE_OPERATOR, ROOFLINE_KINDS };
enum roofline_source { ROOFLINE_COUNTERS, ROOFLINE_NCU, ROOFLINE_SHAPES, ROOFLINE_SOURCES };
enum roofline_bound {
	ROOFLINE_UNKNOWN,
	ROOFLINE_COMPUTE,
	ROOFLINE_MEMORY,
	ROOFLINE_LATENCY,
	ROOFLINE_OCCUPANCY,
	ROOFLINE_BOUNDS,
};
extern const char *const roofline_kind_names[ROOFLINE_KINDS];     /* "kernel", "operator" */
extern const char *const roofline_source_names[ROOFLINE_SOURCES]; /* "counters", "ncu", "shapes" */
extern const char *const roofline_bound_names[ROOFLINE_BOUNDS];   /* "unknown", "compute", … */

#define ROOFLINE_NO_SPAN UINT32_MAX

struct roofline_point {
	/* ---- what the maker of the point knows ---- */
	enum roofline_kind kind;
	enum roofline_source source;
	const char *name;
	/* of an operator: the sizes of its inputs, "[[64, 768], [768, 2304]]"; NULL: any */
	const char *shapes;
	uint32_t device; /* index into the trace's devices */
	uint32_t count;  /* launches, or calls of the operator */
	int64_t ns;      /* device time of all of them */
	double share;    /* of the device time of all kernels of this device */
	/* Of all launches together. flop 0: the work has no arithmetic that counts; NAN in
	 * either: not known. */
	double flop, bytes;
	enum hwy_precision precision;
	bool tensor; /* the operations ran on the tensor cores */
	/* The algorithm needs fewer operations than 'flop', which are those of the definition
	 * (Winograd, FFT): no bound and no gain can be told. */
	bool is_shortcut;
	/* Theoretical occupancy, waves, and the share of the multiprocessors that get a block:
	 * means over the launches by time; 0: not known. */
	double occupancy, waves, filled;
	uint32_t span; /* id of a typical span, to be shown; ROOFLINE_NO_SPAN: none */
	/* ---- what roofline_judge adds ---- */
	double intensity;               /* flop / bytes; NAN where unknown */
	double flop_per_s, bytes_per_s; /* reached; NAN where unknown */
	double roof_ns; /* the time that the nearer roof allows: the work cannot be faster; NAN */
	/* roof_ns / ns: 1 is at the roof; NAN: cannot tell. Above 1 the work or the roof is not
	 * what was assumed: the bound is unknown and there is no gain. */
	double of_peak;
	/* Above the memory's roof, with data that fit into the cache before it: they came from
	 * there. */
	bool is_from_cache;
	enum roofline_bound bound;
	int64_t gain_ns;  /* ns - roof_ns, at least 0; 0 where unknown */
	const char *says; /* one sentence */
	/* What to do about it, a sentence each; none where nobody has any. Not copied by
	 * roofline_add. */
	const char *const *advice;
	uint32_t n_advice;
};

struct roofline_device {
	uint32_t device; /* index into the trace's devices */
	struct hwy_peaks peaks;
	/* time of all kernels of the device that count (struct roofline_options) */
	int64_t kernel_ns;
	int64_t known_ns; /* and of those that have a point */
};

struct hwy_roofline {
	struct hwy_trace *trace;
	struct roofline_device *devices;
	struct roofline_point *points; /* the greatest gain first */
	uint32_t n_devices, cap_devices, n_points, cap_points;
	struct hwy_arena arena; /* texts of the points */
};

/* Which work counts; zeros mean all of the trace. */
struct roofline_options {
	int64_t from, to; /* only work that begins in [from, to), ns; both 0: all */
	/* NULL, or whether a piece of device work counts. */
	bool (*keeps)(const void *self, const struct hwy_strip *strip, uint32_t row);
	const void *self;
	/* NULL, or the trace's owners, where the caller has them open: finding them is most of
	 * the time. */
	const struct hwy_owners *owners;
};

/* An empty roofline with the devices that have kernels. */
bool roofline_open(struct hwy_roofline *roofline, struct hwy_trace *trace, struct hwy_err *err);
/* The device with this index in the trace; NULL where it has no kernels. */
struct roofline_device *roofline_device_of(const struct hwy_roofline *roofline, uint32_t device);
/* Points for operators whose inputs are recorded, one for each name and set of shapes, and for
 * the kernels that they launched, one for each name. 'options' may be NULL. A trace without
 * shapes yields no points, which is no error. */
bool roofline_from_shapes(struct hwy_roofline *roofline, struct hwy_trace *trace,
			  const struct roofline_options *options, struct hwy_err *err);
/* Adds a copy of the point; its name and shapes are copied into the arena. The point added is
 * judged (roofline_judge). */
struct roofline_point *roofline_add(struct hwy_roofline *roofline,
				    const struct roofline_point *point);
/* Fills the second part of a point. 'says' is made in the arena. */
void roofline_judge(struct roofline_point *point, const struct hwy_peaks *peaks,
		    struct hwy_arena *arena);
/* Sorts the points: greatest gain first, then the longest time, then the name. */
void roofline_sort(struct hwy_roofline *roofline);
void roofline_free(struct hwy_roofline *roofline);

/* Time in kernels whose points are bound by one thing, for the second word of the verdict. */
struct roofline_shares {
	int64_t kernel_ns; /* all kernels */
	/* ROOFLINE_UNKNOWN: kernels without a point or with an unknown bound */
	int64_t bound_ns[ROOFLINE_BOUNDS];
};
/* Adds up the time of the points of kind ROOFLINE_KERNEL by what bounds them. 'device' is an
 * index into the trace's devices; HWY_NONE: the points of all devices are added up. */
struct roofline_shares roofline_sum_bounds(const struct hwy_roofline *roofline, int64_t device);

/* Writes a roofline as the object {"devices":[…],"points":[…]} of docs/roofline.md. */
void roofline_put_json(struct hwy_json *json, const struct hwy_roofline *roofline);

#endif
