/* SPDX-License-Identifier: Apache-2.0 */
/* measure_ranges.c - counters of one launch, through CUPTI's range profiler.
 *
 * The first measured launch of a context enables the profiler there, which costs the program a
 * good part of a second once. Each measurement has a counter data image of one range; CUPTI
 * makes the range itself around the launch (AUTO). Counter data is only copied out: what it
 * means is found out by the parent.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "collect/kernels/measure.h"
#include "collect/sys.h"

bool measure_ranges_load(void *library)
{
	bool whole = true;
#define LOOK_UP(name, parameters)                                                                  \
	*(void **)&measure.range.name = dlsym(library, #name);                                     \
	whole = whole && measure.range.name;
	CUPTI_RANGE_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
	if (!whole) {
		measure_note(0,
			     "this libcupti has no range profiler: counters of kernels need CUDA "
			     "12.6 or later");
		return false;
	}
	return true;
}

/* Inside cuInit the result is CUPTI_UNKNOWN, and the profiler works all the same (CUDA 13.0):
 * what matters is whether it can be enabled. */
static void ranges_begin(void)
{
	static bool was_here;
	struct cupti_profiler_initialize begin = {
		.size = CUPTI_SIZE(cupti_profiler_initialize, reserved)};
	if (!was_here)
		measure.range.cuptiProfilerInitialize(&begin);
	was_here = true;
}

static bool ranges_refuse(struct measure_context *c, int result, const char *what)
{
	c->is_refused = true;
	measure_note(result, "%s", what);
	return false;
}

static bool find_chip(struct measure_context *c)
{
	measure.range.cuptiGetDeviceId(c->context, &c->device);
	struct cupti_chip_name chip = {.size = CUPTI_SIZE(cupti_chip_name, name),
				       .device = c->device};
	int result = measure.range.cuptiDeviceGetChipName(&chip);
	if (result != CUPTI_OK || !chip.name)
		return ranges_refuse(c, result, "CUPTI does not tell the device's chip");
	snprintf(c->chip, sizeof c->chip, "%s", chip.name);
	c->row = UINT32_MAX;
	return true;
}

static bool enable(struct measure_context *c)
{
	ranges_begin();
	if (!find_chip(c))
		return false;
	struct cupti_range_enable on = {.size = CUPTI_SIZE(cupti_range_enable, profiler),
					.context = c->context};
	int result = measure.range.cuptiRangeProfilerEnable(&on);
	if (result != CUPTI_OK)
		return ranges_refuse(c, result, "counters cannot be read");
	c->profiler = on.profiler;
	return true;
}

/* Finds out how large the counter data of one range is, and takes memory for it. */
static bool take_image(struct measure_context *c, uint32_t row)
{
	enum { MOST = 512 };
	const struct kernels_plan_chip *chip = measure_plan_chip(row);
	const uint64_t *places = (const uint64_t *)((const char *)measure.plan + chip->metrics);
	const char *names[MOST];
	uint32_t n = chip->n_metrics < MOST ? chip->n_metrics : MOST;
	for (uint32_t i = 0; i < n; i++)
		names[i] = measure_plan_text(places[i]);
	struct cupti_range_image_size size = {
		.size = CUPTI_SIZE(cupti_range_image_size, bytes),
		.profiler = c->profiler,
		.metrics = names,
		.n_metrics = n,
		.most_ranges = 1,
		.most_nodes = 1,
	};
	int result = measure.range.cuptiRangeProfilerGetCounterDataSize(&size);
	if (result != CUPTI_OK)
		return ranges_refuse(c, result, "CUPTI does not know the size of the counters");
	if (c->image)
		sys_unmap(c->image, c->bytes);
	c->image = sys_memory(size.bytes);
	c->bytes = size.bytes;
	c->row = row;
	return c->image || ranges_refuse(c, 0, "there is no memory for counters");
}

/* Makes the image that the counters of this launch go to. */
static bool prepare_image(struct measure_context *c)
{
	uint32_t row = measure_plan_row(c->chip, measure.set);
	if (row == UINT32_MAX) {
		c->is_refused = true;
		measure_note(0, "device %u is a %s, for which no counters were prepared", c->device,
			     c->chip);
		return false;
	}
	/* CUPTI 13.0 takes another config image only after the profiler was disabled: else it
	 * goes on with the first one. */
	if (row != c->row && c->row != UINT32_MAX) {
		measure_ranges_leave(c);
		if (!enable(c))
			return false;
	}
	if (row != c->row && !take_image(c, row))
		return false;
	memset(c->image, 0, c->bytes);
	struct cupti_range_image image = {
		.size = CUPTI_SIZE(cupti_range_image, image),
		.profiler = c->profiler,
		.bytes = c->bytes,
		.image = c->image,
	};
	int result = measure.range.cuptiRangeProfilerCounterDataImageInitialize(&image);
	return result == CUPTI_OK || ranges_refuse(c, result, "counters cannot be kept");
}

static int configure(struct measure_context *c)
{
	const struct kernels_plan_chip *chip = measure_plan_chip(c->row);
	struct cupti_range_config config = {
		.size = CUPTI_SIZE(cupti_range_config, target_nesting),
		.profiler = c->profiler,
		.config_bytes = chip->config_bytes,
		.config = (const uint8_t *)measure.plan + chip->config,
		.image_bytes = c->bytes,
		.image = c->image,
		.range = CUPTI_RANGE_AUTO,
		.replay = CUPTI_REPLAY_KERNEL,
		.most_ranges = 1,
		.nesting_levels = 1,
		.least_nesting = 1,
		.target_nesting = 1,
	};
	return measure.range.cuptiRangeProfilerSetConfig(&config);
}

bool measure_ranges_start(struct measure_context *c)
{
	if (c->is_refused || (!c->profiler && !enable(c)))
		return false;
	if (!prepare_image(c))
		return false;
	int result = configure(c);
	struct cupti_range_object object = {.size = CUPTI_SIZE(cupti_range_object, profiler),
					    .profiler = c->profiler};
	if (result == CUPTI_OK)
		result = measure.range.cuptiRangeProfilerStart(&object);
	return result == CUPTI_OK || ranges_refuse(c, result, "counters cannot be configured");
}

bool measure_ranges_stop(struct measure_context *c)
{
	struct cupti_range_stop stop = {.size = CUPTI_SIZE(cupti_range_stop, is_all_submitted),
					.profiler = c->profiler};
	int result = measure.range.cuptiRangeProfilerStop(&stop);
	struct cupti_range_decode decode = {.size = CUPTI_SIZE(cupti_range_decode, dropped),
					    .profiler = c->profiler};
	if (result == CUPTI_OK)
		result = measure.range.cuptiRangeProfilerDecodeData(&decode);
	if (result != CUPTI_OK)
		return ranges_refuse(c, result, "counters of a launch cannot be read");
	struct cupti_range_info info = {
		.size = CUPTI_SIZE(cupti_range_info, ranges), .image = c->image, .bytes = c->bytes};
	result = measure.range.cuptiRangeProfilerGetCounterDataInfo(&info);
	if (result != CUPTI_OK || info.ranges != 1) {
		measure_note(result, "the counters of a launch were not those of one kernel");
		return false;
	}
	return measure_answer(KERNELS_ANSWER_IMAGE, c->device, measure.ordinal, c->row, c->image,
			      c->bytes);
}

void measure_ranges_leave(struct measure_context *c)
{
	struct cupti_range_object object = {.size = CUPTI_SIZE(cupti_range_object, profiler),
					    .profiler = c->profiler};
	if (c->profiler)
		measure.range.cuptiRangeProfilerDisable(&object);
	c->profiler = NULL;
	if (c->image)
		sys_unmap(c->image, c->bytes);
	c->image = NULL;
}
