/* SPDX-License-Identifier: Apache-2.0 */
/* Theoretical occupancy: cases that were calculated by hand from the programming guide's tables, and what must hold for any
 * launch. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/occupancy.h"

/* cmocka's assert_float_equal compares floats, which hold 7 digits. */
static void assert_near(double got, double want, double by)
{
	if (!(fabs(got - want) <= by))
		fail_msg("%.17g, not %.17g", got, want);
}

static struct hwy_device device_of(int64_t major, int64_t minor, int64_t sms)
{
	struct hwy_device device;
	int64_t *fields = (int64_t *)&device;
	for (size_t i = 0; i < sizeof device / sizeof *fields; i++)
		fields[i] = HWY_NONE;
	device.compute_major = major;
	device.compute_minor = minor;
	device.sms = sms;
	return device;
}

static struct hwy_shape shape_of(int64_t grid, int64_t block, int64_t registers, int64_t shared)
{
	return (struct hwy_shape){.grid_x = grid,
				  .grid_y = 1,
				  .grid_z = 1,
				  .block_x = block,
				  .block_y = 1,
				  .block_z = 1,
				  .registers = registers,
				  .dynamic_shared = shared};
}

static void cases_calculated_by_hand(void **state)
{
	static const struct {
		int64_t major, minor, block, registers, shared;
		uint32_t blocks;
		enum occupancy_limit limit;
	} cases[] = {
		/* 128 threads are 4 warps: 64 / 4 */
		{9, 0, 128, 16, 0, 16, OCCUPANCY_THREADS},
		/* 254 registers: 8128 a warp become 8192; 16384 / 8192 = 2 warps in each of 4 parts: 8 warps */
		{9, 0, 128, 254, 32768, 2, OCCUPANCY_REGISTERS},
		/* 168 registers: 5376 a warp, 3 warps in each part, 12 warps; a block of 12 fits once */
		{9, 0, 384, 168, 213460, 1, OCCUPANCY_REGISTERS},
		/* 228 KiB / (48 + 1 KiB) = 4 */
		{9, 0, 128, 32, 49152, 4, OCCUPANCY_SHARED},
		/* without the driver's 1 KiB a block: 96 KiB / 48 KiB */
		{7, 0, 128, 32, 49152, 2, OCCUPANCY_SHARED},
		/* 164 KiB / (40 + 1 KiB) = 4 exactly */
		{8, 0, 128, 32, 40 * 1024, 4, OCCUPANCY_SHARED},
		/* one byte more costs another unit of 128: 3 */
		{8, 0, 128, 32, 40 * 1024 + 1, 3, OCCUPANCY_SHARED},
		/* one warp a block: the number of blocks is the limit */
		{9, 0, 32, 16, 0, 32, OCCUPANCY_BLOCKS},
		{8, 6, 32, 16, 0, 16, OCCUPANCY_BLOCKS},
		{8, 9, 32, 16, 0, 24, OCCUPANCY_BLOCKS},
		{7, 5, 32, 16, 0, 16, OCCUPANCY_BLOCKS},
		{12, 0, 32, 16, 0, 24, OCCUPANCY_BLOCKS},
		/* 48 warps on 8.6: one block of 1024, not 1.5 */
		{8, 6, 1024, 32, 0, 1, OCCUPANCY_THREADS},
		/* 33 threads are two warps */
		{9, 0, 33, 16, 0, 32, OCCUPANCY_THREADS},
		/* 1024 threads with 72 registers: 32 warps of 2304 are more than 65536: it cannot run */
		{9, 0, 1024, 72, 0, 0, OCCUPANCY_REGISTERS},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct hwy_device device = device_of(cases[i].major, cases[i].minor, 132);
		struct hwy_shape shape =
			shape_of(1000, cases[i].block, cases[i].registers, cases[i].shared);
		struct hwy_occupancy occupancy;
		assert_true(occupancy_find(&occupancy, &device, &shape));
		if (occupancy.blocks != cases[i].blocks || occupancy.limit != cases[i].limit)
			fail_msg("case %zu: %u blocks by %s, not %u by %s", i, occupancy.blocks,
				 occupancy_limit_names[occupancy.limit], cases[i].blocks,
				 occupancy_limit_names[cases[i].limit]);
	}
}

static void waves_and_their_tail(void **state)
{
	(void)state;
	struct hwy_device device = device_of(9, 0, 100);
	struct hwy_occupancy occupancy;
	/* 16 blocks on each of 100 multiprocessors: 1600 at once */
	struct hwy_shape shape = shape_of(3600, 128, 16, 0);
	assert_true(occupancy_find(&occupancy, &device, &shape));
	assert_near(occupancy.waves, 2.25, 1e-9);
	assert_near(occupancy.tail, 0.25, 1e-9);
	assert_near(occupancy.filled, 1, 1e-9);
	shape = shape_of(40, 128, 16, 0);
	assert_true(occupancy_find(&occupancy, &device, &shape));
	assert_near(occupancy.waves, 0.025, 1e-9);
	assert_near(occupancy.filled, 0.4, 1e-9);
	shape = shape_of(1600, 128, 16, 0);
	assert_true(occupancy_find(&occupancy, &device, &shape));
	assert_near(occupancy.tail, 0, 1e-9);
	device.sms = HWY_NONE;
	assert_true(occupancy_find(&occupancy, &device, &shape));
	assert_near(occupancy.waves, 0, 0);
	assert_near(occupancy.share, 1, 1e-9);
}

static void barriers_limit_from_hopper_on(void **state)
{
	(void)state;
	struct hwy_device hopper = device_of(9, 0, 132), ampere = device_of(8, 0, 108);
	struct hwy_shape shape = shape_of(1000, 32, 16, 0);
	struct hwy_occupancy occupancy;
	assert_true(occupancy_find_with_barriers(&occupancy, &hopper, &shape, 16));
	assert_int_equal(occupancy.blocks, 4); /* 64 barriers */
	assert_int_equal(occupancy.limit, OCCUPANCY_BARRIERS);
	assert_true(occupancy_find_with_barriers(&occupancy, &ampere, &shape, 16));
	assert_int_equal(occupancy.blocks, 32);
}

static void what_the_recording_knows_goes_before_the_table(void **state)
{
	(void)state;
	struct hwy_device device = device_of(9, 0, 132);
	struct hwy_shape shape = shape_of(1000, 128, 16, 0);
	struct hwy_occupancy occupancy;
	device.max_warps_per_sm = 48;
	assert_true(occupancy_find(&occupancy, &device, &shape));
	assert_int_equal(occupancy.blocks, 12);
	device.max_blocks_per_sm = 10;
	assert_true(occupancy_find(&occupancy, &device, &shape));
	assert_int_equal(occupancy.blocks, 10);
	assert_int_equal(occupancy.limit, OCCUPANCY_BLOCKS);
}

static void unknown_devices_and_launches_are_refused(void **state)
{
	(void)state;
	struct hwy_occupancy occupancy;
	struct hwy_device none = device_of(HWY_NONE, HWY_NONE, 132), amd = device_of(9, 4, 304),
			  hopper = device_of(9, 0, 132);
	struct hwy_shape shape = shape_of(1000, 128, 16, 0);
	assert_false(occupancy_find(&occupancy, &none, &shape));
	amd.threads_per_warp = 64;
	assert_false(occupancy_find(&occupancy, &amd, &shape));
	assert_false(occupancy_find(&occupancy, &hopper, NULL));
	shape.block_x = 2048;
	assert_false(occupancy_find(&occupancy, &hopper, &shape));
	shape = shape_of(INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX);
	assert_false(occupancy_find(&occupancy, &hopper, &shape));
	shape = shape_of(HWY_NONE, HWY_NONE, HWY_NONE, HWY_NONE);
	assert_false(occupancy_find(&occupancy, &hopper, &shape));
}

/* More registers or shared memory never allow more blocks; warps never exceed the multiprocessor's. */
static void more_resources_never_raise_occupancy(void **state)
{
	static const int64_t minors[][2] = {{7, 0}, {7, 5}, {8, 0},  {8, 6},
					    {8, 9}, {9, 0}, {10, 0}, {12, 0}};
	(void)state;
	srand(1);
	for (int i = 0; i < 20000; i++) {
		const int64_t *capability = minors[rand() % 8];
		struct hwy_device device =
			device_of(capability[0], capability[1], 1 + rand() % 200);
		struct hwy_shape less = shape_of(1 + rand() % 100000, 1 + rand() % 1024,
						 1 + rand() % 255, rand() % 100000),
				 more = less;
		struct hwy_occupancy a, b;
		more.registers += rand() % (256 - (int)more.registers);
		more.dynamic_shared += rand() % 50000;
		assert_true(occupancy_find(&a, &device, &less));
		assert_true(occupancy_find(&b, &device, &more));
		assert_true(b.blocks <= a.blocks);
		assert_true(a.warps <= a.max_warps && a.share <= 1);
		assert_true(a.tail >= 0 && a.tail < 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cases_calculated_by_hand),
		cmocka_unit_test(waves_and_their_tail),
		cmocka_unit_test(barriers_limit_from_hopper_on),
		cmocka_unit_test(what_the_recording_knows_goes_before_the_table),
		cmocka_unit_test(unknown_devices_and_launches_are_refused),
		cmocka_unit_test(more_resources_never_raise_occupancy),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
