/* SPDX-License-Identifier: Apache-2.0 */
/* occupancy.h - how many warps of a kernel fit a multiprocessor at once, what forbids more, and
 * in how many waves the kernel's blocks run.
 *
 *   struct hwy_occupancy occupancy;
 *   if (occupancy_find(&occupancy, &trace->devices[0], shape))
 *           printf("%.0f %%, limited by %s\n", 100 * occupancy.share, occupancy_limit_names[occupancy.limit]);
 *
 * This is the theoretical occupancy: an upper bound that follows from the launch alone, by
 * NVIDIA's rules of allocation for each compute capability. Devices of AMD are not known
 * (false): their registers are not recorded in these units.
 */
#ifndef HWY_ANALYZE_OCCUPANCY_H
#define HWY_ANALYZE_OCCUPANCY_H

#include "trace/trace.h"

/* What forbids another block on the multiprocessor. Where several limits are equal, the first in
 * this order is named. */
enum occupancy_limit {
	/* the multiprocessor's warps are all taken: occupancy cannot be higher */
	OCCUPANCY_THREADS,
	OCCUPANCY_REGISTERS, /* registers of the multiprocessor */
	OCCUPANCY_SHARED,    /* shared memory of the multiprocessor */
	OCCUPANCY_BLOCKS,    /* the greatest number of blocks */
	OCCUPANCY_BARRIERS,  /* barriers of the multiprocessor */
	OCCUPANCY_LIMITS,
};
extern const char *const occupancy_limit_names[OCCUPANCY_LIMITS]; /* "threads", "registers", … */
#define OCCUPANCY_UNLIMITED UINT32_MAX

struct hwy_occupancy {
	uint32_t warps_per_block; /* the last warp of a block may be partly filled */
	uint32_t max_warps;       /* of a multiprocessor */
	uint32_t blocks; /* resident blocks of a multiprocessor; 0: the launch cannot run */
	uint32_t warps;  /* resident warps of a multiprocessor: blocks * warps_per_block */
	double share;    /* theoretical occupancy: warps / max_warps, 0 … 1 */
	/* The limit that gives 'blocks', and how many blocks each limit alone would allow, or
	 * OCCUPANCY_UNLIMITED. */
	enum occupancy_limit limit;
	uint32_t blocks_by[OCCUPANCY_LIMITS];
	uint64_t grid_blocks; /* blocks of the whole grid */
	/* grid_blocks / (blocks * multiprocessors): 2.25 is two full waves and a quarter; below
	 * 1 the device is not filled. 0 where the number of multiprocessors is not known. */
	double waves;
	/* the share of the multiprocessors that get a block: 1 from one block for each on; 0:
	 * not known */
	double filled;
	/* The share of the kernel's time that its last wave costs because it is not full, if all
	 * blocks take equally long: (ceil(waves) - waves) / ceil(waves): 0.25 for 2.25 waves.
	 * Says nothing of a kernel whose blocks fetch their work themselves (persistent kernels,
	 * which have at most one wave). */
	double tail;
};

/* Fills *occupancy; false where the device's compute capability or the launch is not known.
 * Recordings do not hold the number of barriers of a kernel, so that they never limit here. */
bool occupancy_find(struct hwy_occupancy *occupancy, const struct hwy_device *device,
		    const struct hwy_shape *shape);
/* The warps that a multiprocessor can hold; 0 where the device's compute capability is not
 * known. */
uint32_t occupancy_warps(const struct hwy_device *device);
/* occupancy_find for a kernel of which the number of barriers is known (0: not known). */
bool occupancy_find_with_barriers(struct hwy_occupancy *occupancy, const struct hwy_device *device,
				  const struct hwy_shape *shape, uint32_t barriers);

#endif
