/* SPDX-License-Identifier: Apache-2.0 */
/* roofline_tables.c - operators and kernels under the roofs of their device
 * (analyze/roofline.h), and the theoretical occupancy of launches (analyze/occupancy.h).
 *
 * FLOP and bytes come from the shapes of operators, so a recording without shapes has no rows.
 * Bytes are a lower bound.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/roofline.h"
#include "base/index.h"
#include "base/lang.h"
#include "stats/families.h"
#include "stats/nsys_labels.h"

static struct stats_cell roofline_cell(double value)
{
	return isfinite(value) ? cell_real(value) : cell_empty();
}

static bool roofline_work_is_kept(const void *self, const struct hwy_strip *strip, uint32_t row)
{
	return report_keeps(self, strip, row);
}

static int roofline_by_time(const void *left, const void *right)
{
	const struct roofline_point *a = *(const struct roofline_point *const *)left,
				    *b = *(const struct roofline_point *const *)right;
	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	int order = strcmp(a->name, b->name);
	return order ? order : (a > b) - (a < b);
}

static void roofline_yield(struct report_run *run, const struct roofline_point *point)
{
	char precision[32];
	double count = point->count ? (double)point->count : 1;
	snprintf(precision, sizeof precision, "%s%s", hwy_precision_names[point->precision],
		 point->tensor ? " tensor" : "");
	struct stats_cell cells[] = {
		cell_real(100 * point->share),
		cell_number(point->ns),
		cell_number(point->count),
		roofline_cell(point->flop > 0 ? point->flop_per_s * 1e-12 : NAN),
		roofline_cell(point->bytes_per_s * 1e-9),
		roofline_cell(point->flop > 0 ? point->intensity : NAN),
		roofline_cell(100 * point->of_peak),
		cell_from_textz(point->is_from_cache ? HWY_KEY("from cache")
						     : roofline_bound_names[point->bound]),
		cell_number(point->gain_ns),
		cell_from_textz(precision),
		roofline_cell(point->flop > 0 ? point->flop / count * 1e-9 : NAN),
		roofline_cell(point->bytes / count),
		point->waves > 0 ? cell_real(100 * point->occupancy) : cell_empty(),
		point->waves > 0 ? cell_real(point->waves) : cell_empty(),
		cell_from_textz(point->name),
		cell_from_textz(point->shapes ? point->shapes : ""),
	};
	report_row(run, cells);
}

static bool roofline_make(struct report_run *run, enum roofline_kind kind,
			  const struct stats_column *columns, uint32_t n_columns,
			  struct hwy_err *err)
{
	struct hwy_roofline roofline;
	struct roofline_options options = {.keeps = roofline_work_is_kept, .self = run};
	if (!hwy_need(run->trace, HWY_DEVICE_KINDS, filter_columns(&run->filter), err) ||
	    !roofline_from_shapes(&roofline, run->trace, &options, err))
		return false;
	const struct roofline_point **order = hwy_array(roofline.n_points, sizeof *order);
	uint32_t n = 0;
	for (uint32_t i = 0; i < roofline.n_points; i++)
		if (roofline.points[i].kind == kind)
			order[n++] = &roofline.points[i];
	if (n)
		qsort(order, n, sizeof *order, roofline_by_time);
	report_columns(run, columns, n_columns);
	for (uint32_t i = 0; i < n; i++)
		roofline_yield(run, order[i]);
	free(order);
	roofline_free(&roofline);
	return true;
}

#define ROOFLINE_COLUMNS(calls)                                                                    \
	{"Time", STATS_PERCENT}, {"Total Time", STATS_TIME}, {calls, STATS_COUNT},                 \
		{"TFLOP/s", STATS_REAL}, {"GB/s", STATS_REAL}, {"FLOP/Byte", STATS_REAL},          \
		{"Of Roof", STATS_PERCENT}, {"Bound", STATS_WORD}, {"Gain", STATS_TIME},           \
		{"Precision", STATS_TEXT}, {"GFLOP", STATS_REAL}, {"Bytes", STATS_BYTES_MEAN},     \
		{"Occupancy", STATS_PERCENT}, {"Waves", STATS_REAL},                               \
	{                                                                                          \
		"Name", STATS_TEXT                                                                 \
	}

bool make_op_roofline(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {ROOFLINE_COLUMNS("Calls"),
						      {"Input Shapes", STATS_TEXT}};
	return roofline_make(run, ROOFLINE_OPERATOR, columns, STATS_LENGTH(columns), err);
}

bool make_kernel_roofline(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {ROOFLINE_COLUMNS("Instances")};
	return roofline_make(run, ROOFLINE_KERNEL, columns, STATS_LENGTH(columns), err);
}

/* ---- occupancy ------------------------------------------------------------------------------- */

struct occupancy_key { /* no padding */
	int64_t name, shape, device;
};
struct occupancy_line {
	struct occupancy_key key;
	int64_t ns, count;
	struct hwy_occupancy occupancy;
};
struct occupancy_lines {
	struct hwy_index index;
	struct occupancy_line *lines;
	uint32_t n, cap;
	int64_t ns; /* of all kernels */
};

static void occupancy_add(struct occupancy_lines *all, struct report_run *run,
			  const struct hwy_strip *strip, uint32_t row)
{
	struct hwy_trace *trace = run->trace;
	int64_t ns = hwy_get(strip, HWY_DUR, row);
	struct occupancy_key key = {.name = hwy_get(strip, HWY_NAME, row),
				    .shape = hwy_get(strip, HWY_SHAPE, row),
				    .device = trace->lanes[strip->lane].device};
	struct hwy_occupancy occupancy;
	bool fresh;
	hwy_add_saturating(&all->ns, ns);
	if (key.device < 0 || key.device >= trace->n_devices ||
	    !occupancy_find(&occupancy, &trace->devices[key.device],
			    hwy_get_shape(trace, strip, row)))
		return;
	uint32_t *index = hwy_index_put_element(&all->index, all->lines, sizeof *all->lines, &key,
						sizeof key, &fresh);
	if (fresh) {
		HWY_GROW(all->lines, all->n, all->cap);
		*index = all->n;
		all->lines[all->n++] = (struct occupancy_line){.key = key, .occupancy = occupancy};
	}
	hwy_add_saturating(&all->lines[*index].ns, ns);
	all->lines[*index].count++;
}

static int occupancy_by_time(const void *left, const void *right)
{
	const struct occupancy_line *a = left, *b = right;
	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	if (a->key.name != b->key.name)
		return a->key.name < b->key.name ? -1 : 1;
	return (a->key.shape > b->key.shape) - (a->key.shape < b->key.shape);
}

static void occupancy_yield(struct report_run *run, const struct occupancy_line *line, int64_t all)
{
	const struct hwy_shape *shape = &run->trace->shapes[hwy_ref_index(line->key.shape)];
	const struct hwy_occupancy *o = &line->occupancy;
	char grid[NSYS_LABEL_DIMENSIONS_BYTES], block[NSYS_LABEL_DIMENSIONS_BYTES];
	int64_t shared = (shape->static_shared > 0 ? shape->static_shared : 0) +
			 (shape->dynamic_shared > 0 ? shape->dynamic_shared : 0);
	struct stats_cell cells[] = {
		cell_share(line->ns, all),
		cell_number(line->ns),
		cell_number(line->count),
		cell_real(100 * o->share),
		cell_from_textz(occupancy_limit_names[o->limit]),
		cell_number(o->blocks),
		cell_number(o->warps),
		o->waves > 0 ? cell_real(o->waves) : cell_empty(),
		o->waves > 0 ? cell_real(100 * o->tail) : cell_empty(),
		cell_number_or_empty(shape->registers),
		cell_number(shared),
		cell_from_text(
			nsys_label_dimensions(shape->grid_x, shape->grid_y, shape->grid_z, grid)),
		cell_from_text(nsys_label_dimensions(shape->block_x, shape->block_y, shape->block_z,
						     block)),
		cell_from_text(hwy_text(run->trace, line->key.name)),
	};
	report_row(run, cells);
}

bool make_kernel_occupancy(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {
		{"Time", STATS_PERCENT},       {"Total Time", STATS_TIME},
		{"Instances", STATS_COUNT},    {"Occupancy", STATS_PERCENT},
		{"Limited by", STATS_WORD},    {"Blocks/SM", STATS_COUNT},
		{"Warps/SM", STATS_COUNT},     {"Waves", STATS_REAL},
		{"Tail", STATS_PERCENT},       {"Registers", STATS_COUNT},
		{"Shared Bytes", STATS_COUNT}, {"GridXYZ", STATS_TEXT},
		{"BlockXYZ", STATS_TEXT},      {"Name", STATS_TEXT}};
	struct hwy_trace *trace = run->trace;
	struct occupancy_lines all = {0};
	if (!hwy_need(trace, HWY_KIND_BIT(HWY_KERNEL),
		      HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME) | HWY_COL_BIT(HWY_SHAPE) |
			      filter_columns(&run->filter),
		      err))
		return false;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		for (uint32_t row = 0;
		     trace->strips[s].kind == HWY_KERNEL && row < trace->strips[s].rows; row++)
			if (report_keeps(run, &trace->strips[s], row))
				occupancy_add(&all, run, &trace->strips[s], row);
	if (all.n)
		qsort(all.lines, all.n, sizeof *all.lines, occupancy_by_time);
	report_columns(run, columns, STATS_LENGTH(columns));
	for (uint32_t i = 0; i < all.n; i++)
		occupancy_yield(run, &all.lines[i], all.ns);
	free(all.lines);
	hwy_index_free(&all.index);
	return true;
}
