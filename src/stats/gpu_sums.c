/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_sums.c - device work, summed up by kernel, by kernel and launch dimensions, by memory
 * operation. */
#include "base/ref.h"
#include "stats/families.h"
#include "stats/nsys_labels.h"
#include "stats/tally.h"

/* ---- groups ---------------------------------------------------------------------------------- */

/* The categories in the order of their names, because nsys lists rows with equal totals in this
 * order. */
enum category { CALLS, KERNELS, MEMORY };
static const char *const category_names[] = {"CUDA_API", "CUDA_KERNEL", "MEMORY_OPER"};

static void group_kernels(struct tally *tally, const struct hwy_strip *strip, uint32_t first,
			  uint32_t n, uint32_t *groups)
{
	if (hwy_lane_is_opencl(tally->run->trace, strip->lane))
		tally_skip(n, groups);
	else
		tally_by_name(tally, strip, first, n, KERNELS, groups);
}

static void group_memory(struct tally *tally, const struct hwy_strip *strip, uint32_t first,
			 uint32_t n, uint32_t *groups)
{
	if (hwy_lane_is_opencl(tally->run->trace, strip->lane))
		tally_skip(n, groups);
	else
		tally_by_direction(tally, strip, first, n, MEMORY, groups);
}

/* Calls whose shown names are equal are one group: where a call was recorded twice, nsys counts
 * both together. */
static void group_calls(struct tally *tally, const struct hwy_strip *strip, uint32_t first,
			uint32_t n, uint32_t *groups)
{
	const struct hwy_trace *trace = tally->run->trace;
	if (report_lane_is_named(trace, strip->lane)) {
		tally_skip(n, groups);
		return;
	}
	if (!tally->interned)
		tally->interned = hwy_zarray(trace->strings.n, sizeof *tally->interned);
	report_read_rows(strip, HWY_NAME, first, n, tally->rows);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t name = (uint64_t)tally->rows[i];
		name = name < trace->strings.n ? name : 0;
		if (tally->interned[name] == 0) {
			struct hwy_text label = nsys_label_call(hwy_text(trace, (int64_t)name));
			uint32_t text = hwy_intern(&tally->texts, label.at, label.length);
			tally->interned[name] =
				hwy_ref32(tally_group(tally, (uint64_t)CALLS << 32 | text));
		}
		groups[i] = hwy_ref32_index(tally->interned[name]);
	}
}

static void group_all(struct tally *tally, const struct hwy_strip *strip, uint32_t first,
		      uint32_t n, uint32_t *groups)
{
	if (strip->kind == HWY_API)
		group_calls(tally, strip, first, n, groups);
	else if (strip->kind == HWY_KERNEL)
		group_kernels(tally, strip, first, n, groups);
	else
		group_memory(tally, strip, first, n, groups);
}

/* Yields the grid and the block of a launch as one text, with a 0 byte between them. */
static uint32_t intern_dimensions(struct tally *tally, const struct hwy_shape *shape)
{
	char text[2 * NSYS_LABEL_DIMENSIONS_BYTES], second[NSYS_LABEL_DIMENSIONS_BYTES];
	struct hwy_text grid =
		nsys_label_dimensions(shape->grid_x, shape->grid_y, shape->grid_z, text);
	struct hwy_text block =
		nsys_label_dimensions(shape->block_x, shape->block_y, shape->block_z, second);
	memcpy(text + grid.length + 1, block.at, block.length);
	return hwy_intern(&tally->texts, text, grid.length + 1 + block.length);
}

/* Groups kernels by name and dimensions. Shapes with equal dimensions may differ (in registers,
 * for example): the dimensions are interned as texts, and those are the key. */
static void group_by_dimensions(struct tally *tally, const struct hwy_strip *strip, uint32_t first,
				uint32_t n, uint32_t *groups)
{
	const struct hwy_trace *trace = tally->run->trace;
	if (hwy_lane_is_opencl(trace, strip->lane)) {
		tally_skip(n, groups);
		return;
	}
	/* The first element is for work without a shape. */
	if (!tally->interned)
		tally->interned = hwy_zarray((size_t)trace->n_shapes + 1, sizeof *tally->interned);
	report_read_rows(strip, HWY_SHAPE, first, n, tally->rows);
	uint64_t last_key = 0;
	uint32_t last_group = TALLY_SKIP;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t shape = (uint64_t)tally->rows[i];
		shape = shape <= trace->n_shapes ? shape : 0;
		if (tally->interned[shape] == 0) {
			static const struct hwy_shape none;
			tally->interned[shape] = hwy_ref32(intern_dimensions(
				tally, shape ? &trace->shapes[shape - 1] : &none));
		}
		uint64_t name = (uint64_t)hwy_get(strip, HWY_NAME, first + i);
		uint64_t key = (uint64_t)hwy_ref32_index(tally->interned[shape]) << 32 | name;
		if (key != last_key || last_group == TALLY_SKIP)
			last_group = tally_group(tally, key);
		last_key = key;
		groups[i] = last_group;
	}
}

/* ---- names ----------------------------------------------------------------------------------- */

static struct hwy_text name_of_group(const struct tally *tally, uint64_t key)
{
	uint32_t id = (uint32_t)key;
	switch ((enum category)(key >> 32)) {
	case CALLS: return tally->texts.texts[id];
	case KERNELS: return hwy_text(tally->run->trace, id);
	case MEMORY: break;
	}
	return id == TALLY_FILLS ? nsys_label_fill() : nsys_label_copy(id);
}

static void name_only(struct tally *tally, uint64_t key, struct hwy_text names[TALLY_NAMES])
{
	names[0] = name_of_group(tally, key);
}

static void name_and_category(struct tally *tally, uint64_t key, struct hwy_text names[TALLY_NAMES])
{
	const char *category = category_names[key >> 32];
	names[0] = (struct hwy_text){category, (uint32_t)strlen(category)};
	names[1] = name_of_group(tally, key);
}

static void name_and_dimensions(struct tally *tally, uint64_t key,
				struct hwy_text names[TALLY_NAMES])
{
	struct hwy_text both = tally->texts.texts[key >> 32];
	names[0] = (struct hwy_text){both.at, (uint32_t)strlen(both.at)};
	names[1] =
		(struct hwy_text){both.at + names[0].length + 1, both.length - names[0].length - 1};
	names[2] = hwy_text(tally->run->trace, (uint32_t)key);
}

/* ---- reports --------------------------------------------------------------------------------- */

#define NAME HWY_COL_BIT(HWY_NAME)
#define DIRECTION HWY_COL_BIT(HWY_DIRECTION)
#define MEMORY_KINDS (HWY_KIND_BIT(HWY_COPY) | HWY_KIND_BIT(HWY_FILL))

bool make_cuda_gpu_kern_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {TALLY_TIMES("Instances"),
						      {"Name", STATS_TEXT}};
	static const struct tally_plan plan = {columns,
					       STATS_LENGTH(columns),
					       HWY_KIND_BIT(HWY_KERNEL),
					       NAME,
					       HWY_DUR,
					       group_kernels,
					       name_only};
	return tally_make(run, &plan, err);
}

bool make_cuda_gpu_kern_gb_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {TALLY_TIMES("Instances"),
						      {"GridXYZ", STATS_TEXT},
						      {"BlockXYZ", STATS_TEXT},
						      {"Name", STATS_TEXT}};
	static const struct tally_plan plan = {columns,
					       STATS_LENGTH(columns),
					       HWY_KIND_BIT(HWY_KERNEL),
					       NAME | HWY_COL_BIT(HWY_SHAPE),
					       HWY_DUR,
					       group_by_dimensions,
					       name_and_dimensions};
	return tally_make(run, &plan, err);
}

bool make_cuda_gpu_mem_time_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {TALLY_TIMES("Count"),
						      {"Operation", STATS_TEXT}};
	static const struct tally_plan plan = {
		columns, STATS_LENGTH(columns), MEMORY_KINDS, DIRECTION,
		HWY_DUR, group_memory,          name_only};
	return tally_make(run, &plan, err);
}

bool make_cuda_gpu_mem_size_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {
		{"Total", STATS_BYTES},       {"Count", STATS_COUNT},   {"Avg", STATS_BYTES_MEAN},
		{"Med", STATS_BYTES_MEAN},    {"Min", STATS_BYTES},     {"Max", STATS_BYTES},
		{"StdDev", STATS_BYTES_MEAN}, {"Operation", STATS_TEXT}};
	static const struct tally_plan plan = {
		columns,   STATS_LENGTH(columns), MEMORY_KINDS, DIRECTION,
		HWY_BYTES, group_memory,          name_only};
	return tally_make(run, &plan, err);
}

static const struct stats_column with_category[] = {
	TALLY_TIMES("Instances"), {"Category", STATS_TEXT}, {"Operation", STATS_TEXT}};

bool make_cuda_gpu_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct tally_plan plan = {with_category,
					       STATS_LENGTH(with_category),
					       HWY_KIND_BIT(HWY_KERNEL) | MEMORY_KINDS,
					       NAME | DIRECTION,
					       HWY_DUR,
					       group_all,
					       name_and_category};
	return tally_make(run, &plan, err);
}

bool make_cuda_api_gpu_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct tally_plan plan = {with_category,
					       STATS_LENGTH(with_category),
					       HWY_KIND_BIT(HWY_API) | HWY_KIND_BIT(HWY_KERNEL) |
						       MEMORY_KINDS,
					       NAME | DIRECTION,
					       HWY_DUR,
					       group_all,
					       name_and_category};
	return tally_make(run, &plan, err);
}
