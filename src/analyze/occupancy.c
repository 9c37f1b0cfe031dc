/* SPDX-License-Identifier: Apache-2.0 */
/* occupancy.c - see occupancy.h.
 *
 * The rules, from NVIDIA's programming guide (its tables of compute capabilities): registers are
 * given to warps, in units of 256, and each of the four parts of a multiprocessor has its own;
 * shared memory is given to blocks, in units of 256 bytes (128 from 8.0 on), and from 8.0 on
 * each block gets 1 KiB more, which the driver uses. What the recording knows of the device
 * (warps, blocks, registers, shared memory of a multiprocessor) goes before the table here,
 * which fills what it lacks: Kineto's traces do not say how many blocks fit.
 *
 * The split between L1 cache and shared memory is taken to be the one that allows most blocks,
 * as the driver chooses it unless the program asked for another one.
 */
#include "analyze/occupancy.h"

#include "base/lang.h"

const char *const occupancy_limit_names[OCCUPANCY_LIMITS] = {
	[OCCUPANCY_THREADS] = HWY_KEY("threads"),      [OCCUPANCY_REGISTERS] = HWY_KEY("registers"),
	[OCCUPANCY_SHARED] = HWY_KEY("shared memory"), [OCCUPANCY_BLOCKS] = HWY_KEY("blocks"),
	[OCCUPANCY_BARRIERS] = HWY_KEY("barriers"),
};

enum { KIB = 1024, REGISTER_UNIT = 256, WARP_THREADS = 32 };

/* What a multiprocessor of a compute capability has. */
struct limits {
	int64_t major, minor; /* minor -1 fits any */
	uint32_t warps, blocks, shared_kib;
	uint32_t parts; /* register files */
	uint32_t shared_unit, reserved;
	uint32_t barriers_per_block; /* barriers of the multiprocessor, divided by 'blocks' */
};
static const struct limits known[] = {
	{5, 2, 64, 32, 96, 4, 256, 0, 2},      {5, -1, 64, 32, 64, 4, 256, 0, 2},
	{6, 0, 64, 32, 64, 2, 256, 0, 2},      {6, 1, 64, 32, 96, 4, 256, 0, 2},
	{6, -1, 64, 32, 64, 4, 256, 0, 2},     {7, 5, 32, 16, 64, 4, 256, 0, 2},
	{7, -1, 64, 32, 96, 4, 256, 0, 2},     {8, 0, 64, 32, 164, 4, 128, KIB, 2},
	{8, 7, 48, 16, 164, 4, 128, KIB, 1},   {8, 9, 48, 24, 100, 4, 128, KIB, 1},
	{8, -1, 48, 16, 100, 4, 128, KIB, 1},  {9, -1, 64, 32, 228, 4, 128, KIB, 2},
	{10, 1, 48, 24, 228, 4, 128, KIB, 1},  {10, -1, 64, 32, 228, 4, 128, KIB, 2},
	{11, -1, 48, 24, 228, 4, 128, KIB, 1}, {12, -1, 48, 24, 100, 4, 128, KIB, 1},
};

/* AMD's devices come with major 9 (gfx90a, gfx942) in Kineto's traces and with wavefronts of 64. */
static bool device_limits(struct limits *limits, const struct hwy_device *device)
{
	if (device->threads_per_warp != HWY_NONE && device->threads_per_warp != 0 &&
	    device->threads_per_warp != WARP_THREADS)
		return false;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (known[i].major != device->compute_major ||
		    (known[i].minor >= 0 && known[i].minor != device->compute_minor))
			continue;
		*limits = known[i];
		if (device->max_warps_per_sm > 0)
			limits->warps = (uint32_t)device->max_warps_per_sm;
		else if (device->max_threads_per_sm > 0)
			limits->warps = (uint32_t)(device->max_threads_per_sm / WARP_THREADS);
		if (device->max_blocks_per_sm > 0)
			limits->blocks = (uint32_t)device->max_blocks_per_sm;
		return true;
	}
	return false;
}

uint32_t occupancy_warps(const struct hwy_device *device)
{
	struct limits limits;
	return device_limits(&limits, device) ? limits.warps : 0;
}

static uint64_t round_up(uint64_t value, uint64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

static uint32_t blocks_by_registers(const struct limits *limits, const struct hwy_device *device,
				    const struct hwy_shape *shape, uint32_t warps)
{
	if (shape->registers <= 0)
		return OCCUPANCY_UNLIMITED;
	uint64_t file = device->registers_per_sm > 0 ? (uint64_t)device->registers_per_sm : 65536;
	uint64_t of_block =
		device->registers_per_block > 0 ? (uint64_t)device->registers_per_block : file;
	uint64_t of_warp = round_up((uint64_t)shape->registers * WARP_THREADS, REGISTER_UNIT);
	/* The hardware refuses a block by this sum, though it gives it less; 6.0 goes by the
	 * four parts of its family. */
	if (of_warp * round_up(warps, 4) > of_block)
		return 0;
	return (uint32_t)(file / limits->parts / of_warp * limits->parts / warps);
}

static uint32_t blocks_by_shared(const struct limits *limits, const struct hwy_device *device,
				 const struct hwy_shape *shape)
{
	uint64_t asked = (shape->static_shared > 0 ? (uint64_t)shape->static_shared : 0) +
			 (shape->dynamic_shared > 0 ? (uint64_t)shape->dynamic_shared : 0);
	uint64_t of_block = round_up(asked + limits->reserved, limits->shared_unit);
	uint64_t of_sm = device->shared_per_sm > 0 ? (uint64_t)device->shared_per_sm
						   : (uint64_t)limits->shared_kib * KIB;
	return of_block ? (uint32_t)(of_sm / of_block) : OCCUPANCY_UNLIMITED;
}

static void occupancy_fill_waves(struct hwy_occupancy *occupancy, const struct hwy_device *device)
{
	uint64_t together =
		device->sms > 0 ? (uint64_t)device->sms * (uint64_t)occupancy->blocks : 0;
	if (together == 0)
		return;
	double each = (double)occupancy->grid_blocks / (double)device->sms;
	occupancy->filled = each < 1 ? each : 1;
	uint64_t whole = (occupancy->grid_blocks + together - 1) / together;
	occupancy->waves = (double)occupancy->grid_blocks / (double)together;
	occupancy->tail = ((double)whole - occupancy->waves) / (double)whole;
}

static bool sizes_are_sane(const struct hwy_shape *shape)
{
	const int64_t sizes[] = {shape->grid_x,  shape->grid_y,  shape->grid_z,
				 shape->block_x, shape->block_y, shape->block_z};
	for (unsigned i = 0; i < 6; i++)
		if (sizes[i] <= 0 || sizes[i] > INT32_MAX)
			return false;
	/* CUDA allows 2^31-1 by 65535 by 65535 blocks of at most 1024 threads, and 255 registers
	 * a thread. */
	return shape->grid_y <= UINT16_MAX && shape->grid_z <= UINT16_MAX &&
	       shape->block_x <= KIB && shape->block_y <= KIB && shape->block_z <= KIB &&
	       shape->registers <= 256 && shape->static_shared <= INT32_MAX &&
	       shape->dynamic_shared <= INT32_MAX;
}

bool occupancy_find_with_barriers(struct hwy_occupancy *occupancy, const struct hwy_device *device,
				  const struct hwy_shape *shape, uint32_t barriers)
{
	struct limits limits;
	*occupancy = (struct hwy_occupancy){0};
	if (!shape || !device_limits(&limits, device) || !sizes_are_sane(shape))
		return false;
	uint64_t threads = (uint64_t)(shape->block_x * shape->block_y * shape->block_z);
	if (threads > KIB)
		return false;
	occupancy->warps_per_block = (uint32_t)((threads + WARP_THREADS - 1) / WARP_THREADS);
	occupancy->max_warps = limits.warps;
	occupancy->grid_blocks =
		(uint64_t)shape->grid_x * (uint64_t)shape->grid_y * (uint64_t)shape->grid_z;
	uint32_t *by = occupancy->blocks_by;
	by[OCCUPANCY_THREADS] = limits.warps / occupancy->warps_per_block;
	by[OCCUPANCY_REGISTERS] =
		blocks_by_registers(&limits, device, shape, occupancy->warps_per_block);
	by[OCCUPANCY_SHARED] = blocks_by_shared(&limits, device, shape);
	by[OCCUPANCY_BLOCKS] = limits.blocks;
	/* NVIDIA's own calculation has this limit from 9.0 on. */
	by[OCCUPANCY_BARRIERS] = barriers && device->compute_major >= 9
					 ? limits.blocks * limits.barriers_per_block / barriers
					 : OCCUPANCY_UNLIMITED;
	occupancy->limit = OCCUPANCY_THREADS;
	for (enum occupancy_limit i = OCCUPANCY_THREADS; i < OCCUPANCY_LIMITS; i++)
		if (by[i] < by[occupancy->limit])
			occupancy->limit = i;
	occupancy->blocks = by[occupancy->limit];
	occupancy->warps = occupancy->blocks * occupancy->warps_per_block;
	occupancy->share = (double)occupancy->warps / (double)limits.warps;
	occupancy_fill_waves(occupancy, device);
	return true;
}

bool occupancy_find(struct hwy_occupancy *occupancy, const struct hwy_device *device,
		    const struct hwy_shape *shape)
{
	return occupancy_find_with_barriers(occupancy, device, shape, 0);
}
