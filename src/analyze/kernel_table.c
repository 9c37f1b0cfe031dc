/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_table.c - see kernel_table.h: which launches and which measured kernels are one kernel. */
#include "analyze/kernel_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/intervals.h"

const char *const kernel_level_names[KERNEL_LEVELS] = {"DRAM", "L2", "L1"};

const char *kernel_bound_name(const struct known_kernel *kernel)
{
	static const char *const memories[KERNEL_LEVELS] = {"memory (DRAM)", "memory (L2)",
							    "memory (L1)"};
	enum roofline_bound bound = kernel->point.bound;
	if (kernel->is_endless)
		return "waits";
	return bound == ROOFLINE_MEMORY    ? memories[kernel->level]
	       : bound == ROOFLINE_UNKNOWN ? "cannot tell"
					   : roofline_bound_names[bound];
}

/* Fewer launches of a kernel do not tell how short a launch can be. */
enum { FEW_LAUNCHES = 5 };

/* Launches of one name and shape on one device, or all measured kernels of them. */
struct launch_group {
	struct launch_key {
		int64_t name, device, shape; /* texts and indexes, or HWY_NONE */
	} key;
	uint32_t count;
	int64_t ns;
	uint32_t span; /* the longest launch */
	int64_t longest;
	bool is_taken; /* part of a kernel that was measured */
};

struct grouping {
	struct kernel_table *table;
	struct hwy_trace *trace;
	struct measures measures;
	struct launch_group *groups;
	uint32_t n, cap;
	struct hwy_index by_key;
	/* By device: from the begin of the first kernel to the end of the last one; empty where from > to. */
	struct hwy_interval *windows;
};

/* ---- launches ---------------------------------------------------------------------------------------------- */

/* Damaged recordings have times near the ends of int64_t. */
static int64_t end_of_launch(int64_t start, int64_t ns)
{
	int64_t end;
	return __builtin_add_overflow(start, ns, &end) ? INT64_MAX : end;
}

static void group_launches(struct grouping *g, const struct hwy_strip *strip)
{
	int64_t device = g->trace->lanes[strip->lane].device;
	if (device < 0 || device >= g->trace->n_devices)
		return;
	struct hwy_interval *window = &g->windows[device];
	for (uint32_t row = 0; row < strip->rows; row++) {
		uint32_t shape;
		bool has_shape = hwy_get_index(strip, HWY_SHAPE, row, &shape), fresh;
		struct launch_key key = {hwy_get(strip, HWY_NAME, row), device,
					 has_shape ? (int64_t)shape : HWY_NONE};
		uint32_t *at = hwy_index_put_element(&g->by_key, g->groups, sizeof *g->groups, &key,
						     sizeof key, &fresh);
		if (fresh) {
			HWY_GROW(g->groups, g->n, g->cap);
			g->groups[g->n] = (struct launch_group){.key = key, .longest = -1};
			*at = g->n++;
		}
		struct launch_group *group = &g->groups[*at];
		int64_t ns = hwy_get(strip, HWY_DUR, row), start = hwy_get(strip, HWY_START, row);
		window->from = start < window->from ? start : window->from;
		window->to = end_of_launch(start, ns) > window->to ? end_of_launch(start, ns)
								   : window->to;
		group->count++;
		if (__builtin_add_overflow(group->ns, ns, &group->ns))
			group->ns = INT64_MAX;
		if (ns > group->longest) {
			group->longest = ns;
			group->span = strip->first + row;
		}
	}
}

/* Whether a launch is one of those that were measured. ncu tells less of a shape than a recording does. */
static bool same_shape(const struct hwy_trace *trace, int64_t a, int64_t b)
{
	if (a == b)
		return true;
	if (a == HWY_NONE || b == HWY_NONE)
		return false;
	return memcmp(&trace->shapes[a].grid_x, &trace->shapes[b].grid_x, 6 * sizeof(int64_t)) == 0;
}

/* ---- kernels ------------------------------------------------------------------------------------------------ */

static struct roofline_device *table_device(struct kernel_table *table, uint32_t device)
{
	struct hwy_roofline *roofline = &table->roofline;
	for (uint32_t i = 0; i < roofline->n_devices; i++)
		if (roofline->devices[i].device == device)
			return &roofline->devices[i];
	/* A device without launches: that of a file of counters. */
	HWY_GROW(roofline->devices, roofline->n_devices, roofline->cap_devices);
	struct roofline_device *added = &roofline->devices[roofline->n_devices++];
	*added = (struct roofline_device){.device = device};
	peaks_find(&added->peaks, table->trace, device);
	return added;
}

static struct known_kernel *table_add_kernel(struct grouping *g, int64_t name, uint32_t device,
					     int64_t shape)
{
	struct kernel_table *table = g->table;
	HWY_GROW(table->kernels, table->n, table->cap);
	struct known_kernel *kernel = &table->kernels[table->n++];
	*kernel = (struct known_kernel){
		.shape = shape,
		.point = {.kind = ROOFLINE_KERNEL,
			  .source = ROOFLINE_SHAPES,
			  .name = hwy_str(g->trace, name),
			  .device = device,
			  .flop = NAN,
			  .bytes = NAN,
			  .intensity = NAN,
			  .flop_per_s = NAN,
			  .bytes_per_s = NAN,
			  .roof_ns = NAN,
			  .of_peak = NAN,
			  .span = ROOFLINE_NO_SPAN},
	};
	return kernel;
}

/* Adds a group's launches to a kernel; the group with the most time gives the shape. */
static void add_launches(struct known_kernel *kernel, const struct launch_group *group,
			 int64_t *most)
{
	kernel->point.count += group->count;
	if (__builtin_add_overflow(kernel->point.ns, group->ns, &kernel->point.ns))
		kernel->point.ns = INT64_MAX;
	kernel->n_shapes++;
	kernel->longest = group->longest > kernel->longest ? group->longest : kernel->longest;
	if (group->ns > *most) {
		*most = group->ns;
		kernel->shape = group->key.shape;
		kernel->point.span = group->span;
	}
}

/* Makes a kernel of the measured rows that have the name, device and shape of row 'first'. */
static void add_measured(struct grouping *g, uint32_t first, bool *is_done)
{
	struct hwy_trace *trace = g->trace;
	const struct hwy_measured *like = &trace->measured[first];
	uint32_t device =
		like->device >= 0 && like->device < trace->n_devices ? (uint32_t)like->device : 0;
	uint32_t *rows = hwy_array(trace->n_measured - first, sizeof *rows), n = 0;
	struct known_kernel *kernel = table_add_kernel(g, like->kernel, device, like->shape);
	for (uint32_t i = first; i < trace->n_measured; i++) {
		const struct hwy_measured *row = &trace->measured[i];
		if (is_done[i] || row->kernel != like->kernel || row->device != like->device ||
		    row->source != like->source || !same_shape(trace, row->shape, like->shape))
			continue;
		is_done[i] = true;
		rows[n++] = i;
		kernel->launches_measured += row->launches > 0 ? (uint32_t)row->launches : 1;
	}
	kernel->is_measured = true;
	kernel->point.source =
		strcmp(hwy_str(trace, like->source), "ncu") == 0 ? ROOFLINE_NCU : ROOFLINE_COUNTERS;
	kernel_counters_mean(&g->measures, rows, n, &kernel->counters);
	free(rows);
	int64_t most = -1;
	for (uint32_t i = 0; i < g->n; i++) {
		struct launch_group *group = &g->groups[i];
		if (group->is_taken || group->key.name != like->kernel ||
		    group->key.device != device ||
		    (like->shape != HWY_NONE && !same_shape(trace, group->key.shape, like->shape)))
			continue;
		group->is_taken = true;
		add_launches(kernel, group, &most);
	}
	if (kernel->point.count == 0 && g->n > 0) {
		/* The recording has no such launch, or another tool measured the same one. */
		g->table->n--;
	} else if (kernel->point.count == 0 && kernel->counters.ns > 0 &&
		   kernel->counters.ns < 1e15) {
		kernel->point.count = kernel->launches_measured;
		kernel->point.ns = (int64_t)(kernel->counters.ns * kernel->launches_measured);
		kernel->n_shapes = 1;
	}
}

static void add_unmeasured(struct grouping *g, uint32_t first)
{
	const struct launch_key like = g->groups[first].key;
	struct known_kernel *kernel =
		table_add_kernel(g, like.name, (uint32_t)like.device, like.shape);
	int64_t most = -1;
	for (uint32_t i = first; i < g->n; i++) {
		struct launch_group *group = &g->groups[i];
		if (group->key.name != like.name || group->key.device != like.device)
			break;
		if (group->is_taken)
			continue;
		group->is_taken = true;
		add_launches(kernel, group, &most);
	}
}

static int by_name_and_device(const void *a, const void *b)
{
	const struct launch_group *x = a, *y = b;
	if (x->key.name != y->key.name)
		return x->key.name < y->key.name ? -1 : 1;
	if (x->key.device != y->key.device)
		return x->key.device < y->key.device ? -1 : 1;
	return (x->key.shape > y->key.shape) - (x->key.shape < y->key.shape);
}

static void make_kernels(struct grouping *g)
{
	bool *is_done = hwy_zarray(g->trace->n_measured, sizeof *is_done);
	for (uint32_t i = 0; i < g->trace->n_measured; i++)
		if (!is_done[i])
			add_measured(g, i, is_done);
	free(is_done);
	/* Sorted, so that all groups of a name follow each other and a name is looked for once. */
	if (g->n)
		qsort(g->groups, g->n, sizeof *g->groups, by_name_and_device);
	for (uint32_t i = 0; i < g->n; i++)
		if (!g->groups[i].is_taken)
			add_unmeasured(g, i);
}

/* ---- what they mean ----------------------------------------------------------------------------------------- */

/* A point that knows the work of less of a kernel's time says nothing about the kernel. */
#define COVERED_SHARE 0.9

/* The kernel's launches do what those with known shapes do, as often and for as long as they ran. */
static void take_point(struct known_kernel *kernel, const struct roofline_point *point)
{
	struct roofline_point own = kernel->point;
	double times = point->ns > 0 ? (double)own.ns / (double)point->ns : 1;
	kernel->point = *point;
	kernel->point.span = own.span;
	kernel->point.count = own.count;
	kernel->point.ns = own.ns;
	kernel->point.flop *= times;
	kernel->point.bytes *= times;
	kernel->point.roof_ns *= times;
	kernel->has_gain = !isnan(point->roof_ns);
}

/* Takes what the shapes of operators say of a kernel that was not measured. */
static void take_shapes(const struct kernel_table *table, struct known_kernel *kernel)
{
	for (uint32_t i = 0; i < table->shapes.n_points; i++) {
		const struct roofline_point *point = &table->shapes.points[i];
		if (point->kind != ROOFLINE_KERNEL || point->device != kernel->point.device ||
		    strcmp(point->name, kernel->point.name) != 0)
			continue;
		if ((double)point->ns >= COVERED_SHARE * (double)kernel->point.ns)
			take_point(kernel, point);
		return;
	}
}

/* The time from the first to the last kernel of a device; 0 where it has none. */
static int64_t device_ns(const struct grouping *g, uint32_t device)
{
	int64_t ns;
	if (device >= g->trace->n_devices || g->windows[device].from > g->windows[device].to)
		return 0;
	return __builtin_sub_overflow(g->windows[device].to, g->windows[device].from, &ns)
		       ? INT64_MAX
		       : ns;
}

/* The mean time of a launch of the shortest kernel that is launched several times; 0 where none is. */
static int64_t shortest_launch(const struct grouping *g)
{
	int64_t shortest = 0;
	for (uint32_t i = 0; i < g->n; i++) {
		const struct launch_group *group = &g->groups[i];
		int64_t mean = group->ns / group->count;
		if (group->count >= FEW_LAUNCHES && mean > 0 && (shortest == 0 || mean < shortest))
			shortest = mean;
	}
	return shortest;
}

static void finish_kernel(const struct grouping *g, struct known_kernel *kernel)
{
	struct kernel_table *table = g->table;
	struct hwy_trace *trace = table->trace;
	struct roofline_device *device = table_device(table, kernel->point.device);
	if (kernel->shape != HWY_NONE && kernel->point.device < trace->n_devices)
		kernel->has_occupancy =
			occupancy_find(&kernel->occupancy, &trace->devices[kernel->point.device],
				       &trace->shapes[kernel->shape]) &&
			/* ncu rounds sizes of shared memory: by these no block may fit, although the kernel ran. */
			kernel->occupancy.blocks > 0;
	if (kernel->has_occupancy) {
		kernel->point.occupancy = kernel->occupancy.share;
		kernel->point.waves = kernel->occupancy.waves;
	}
	if (!kernel->is_measured)
		take_shapes(table, kernel);
	int64_t all = table->has_launches ? device->kernel_ns : table->ns;
	kernel->point.share = all > 0 ? (double)kernel->point.ns / (double)all : 0;
	kernel_judge(kernel, &device->peaks, device_ns(g, kernel->point.device), table->floor_ns,
		     &table->arena);
	kernel_advise(kernel, &table->arena);
	if (!isnan(kernel->point.of_peak))
		device->known_ns += kernel->point.ns;
	if (kernel->is_measured)
		table->measured_ns += kernel->point.ns;
}

static int by_gain_then_time(const void *a, const void *b)
{
	const struct roofline_point *x = &((const struct known_kernel *)a)->point,
				    *y = &((const struct known_kernel *)b)->point;
	if (x->gain_ns != y->gain_ns)
		return x->gain_ns < y->gain_ns ? 1 : -1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

bool kernel_table_make(struct kernel_table *table, struct hwy_trace *trace, struct hwy_err *err)
{
	*table = (struct kernel_table){.trace = trace};
	uint64_t columns = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME) |
			   HWY_COL_BIT(HWY_SHAPE);
	if (!hwy_need(trace, HWY_KIND_BIT(HWY_KERNEL), columns, err) ||
	    !roofline_open(&table->roofline, trace, err))
		return false;
	if (!roofline_from_shapes(&table->shapes, trace, NULL, err)) {
		roofline_free(&table->roofline);
		return false;
	}
	struct grouping g = {.table = table, .trace = trace};
	g.windows = hwy_array(trace->n_devices, sizeof *g.windows);
	for (uint32_t i = 0; i < trace->n_devices; i++)
		g.windows[i] = (struct hwy_interval){INT64_MAX, INT64_MIN};
	measures_open(&g.measures, trace);
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (trace->strips[s].kind == HWY_KERNEL)
			group_launches(&g, &trace->strips[s]);
	table->has_launches = g.n > 0;
	table->floor_ns = kernel_judge_floor(shortest_launch(&g));
	make_kernels(&g);
	for (uint32_t i = 0; i < table->n; i++)
		if (__builtin_add_overflow(table->ns, table->kernels[i].point.ns, &table->ns))
			table->ns = INT64_MAX;
	for (uint32_t i = 0; i < table->n; i++)
		finish_kernel(&g, &table->kernels[i]);
	if (table->n)
		qsort(table->kernels, table->n, sizeof *table->kernels, by_gain_then_time);
	measures_close(&g.measures);
	hwy_index_free(&g.by_key);
	free(g.groups);
	free(g.windows);
	return true;
}

void kernel_table_free(struct kernel_table *table)
{
	roofline_free(&table->roofline);
	roofline_free(&table->shapes);
	free(table->kernels);
	hwy_arena_free(&table->arena);
	*table = (struct kernel_table){0};
}
