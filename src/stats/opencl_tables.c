/* SPDX-License-Identifier: Apache-2.0 */
/* opencl_tables.c - OpenCL's calls and commands, summed up: the same columns as the tables of
 * CUDA. */
#include <stdio.h>

#include "stats/families.h"
#include "stats/tally.h"

enum category { KERNELS, MEMORY };
static const char *const category_names[] = {"OPENCL_KERNEL", "MEMORY_OPER"};

static void group_opencl_calls(struct tally *tally, const struct hwy_strip *strip, uint32_t first,
			       uint32_t n, uint32_t *groups)
{
	if (hwy_lane_is_opencl(tally->run->trace, strip->lane))
		tally_by_name(tally, strip, first, n, 0, groups);
	else
		tally_skip(n, groups);
}

static void name_opencl_call(struct tally *tally, uint64_t key, struct hwy_text names[TALLY_NAMES])
{
	names[0] = hwy_text(tally->run->trace, (uint32_t)key);
}

bool make_opencl_api_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {TALLY_TIMES("Num Calls"),
						      {"Name", STATS_TEXT}};
	static const struct tally_plan plan = {
		columns, STATS_LENGTH(columns), HWY_KIND_BIT(HWY_API), HWY_COL_BIT(HWY_NAME),
		HWY_DUR, group_opencl_calls,    name_opencl_call};
	return tally_make(run, &plan, err);
}

static void group_work(struct tally *tally, const struct hwy_strip *strip, uint32_t first,
		       uint32_t n, uint32_t *groups)
{
	if (!hwy_lane_is_opencl(tally->run->trace, strip->lane))
		tally_skip(n, groups);
	else if (strip->kind == HWY_KERNEL)
		tally_by_name(tally, strip, first, n, KERNELS, groups);
	else
		tally_by_direction(tally, strip, first, n, MEMORY, groups);
}

static struct hwy_text name_of_copy(struct tally *tally, uint32_t direction)
{
	char text[64];
	int n = direction == TALLY_FILLS ? snprintf(text, sizeof text, "[OpenCL fill]")
					 : snprintf(text, sizeof text, "[OpenCL copy %s]",
						    hwy_direction_names[direction]);
	return tally->texts.texts[hwy_intern(&tally->texts, text, (size_t)n)];
}

static void name_work(struct tally *tally, uint64_t key, struct hwy_text names[TALLY_NAMES])
{
	const char *category = category_names[key >> 32];
	names[0] = (struct hwy_text){category, (uint32_t)strlen(category)};
	names[1] = key >> 32 == KERNELS ? hwy_text(tally->run->trace, (uint32_t)key)
					: name_of_copy(tally, (uint32_t)key);
}

bool make_opencl_gpu_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {
		TALLY_TIMES("Instances"), {"Category", STATS_TEXT}, {"Operation", STATS_TEXT}};
	static const struct tally_plan plan = {columns,
					       STATS_LENGTH(columns),
					       HWY_KIND_BIT(HWY_KERNEL) | HWY_KIND_BIT(HWY_COPY) |
						       HWY_KIND_BIT(HWY_FILL),
					       HWY_COL_BIT(HWY_NAME) | HWY_COL_BIT(HWY_DIRECTION),
					       HWY_DUR,
					       group_work,
					       name_work};
	return tally_make(run, &plan, err);
}
