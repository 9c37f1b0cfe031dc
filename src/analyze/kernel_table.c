/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_table.c - see kernel_table.h: which launches and which measured kernels are one kernel. */
#include "analyze/kernel_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/intervals.h"
#include "base/index.h"
#include "base/lang.h"
#include "base/search.h"

const char *const kernel_level_names[KERNEL_LEVELS] = {"DRAM", "L2", "L1"};

const char *kernel_bound_name(const struct known_kernel *kernel)
{
	static const char *const memories[KERNEL_LEVELS] = {
		HWY_KEY("memory (DRAM)"), HWY_KEY("memory (L2)"), HWY_KEY("memory (L1)")};
	enum roofline_bound bound = kernel->point.bound;
	if (kernel->is_endless)
		return "waits";
	return bound == ROOFLINE_MEMORY    ? memories[kernel->level]
	       : bound == ROOFLINE_UNKNOWN ? HWY_KEY("cannot tell")
					   : roofline_bound_names[bound];
}

/* Fewer launches of a kernel do not tell how short a launch can be. */
enum { FEW_LAUNCHES = 5 };

/* Launches of one name and shape on one device, or all measured kernels of them. */
struct launch_group {
	struct launch_key {
		int64_t name, device, shape; /* texts and indexes, or HWY_NONE */
	} key;
	int64_t sizes; /* of the shape, see sizes_of */
	uint32_t count;
	int64_t ns;
	uint32_t span; /* the longest launch */
	int64_t longest;
	bool is_taken;     /* part of a kernel that was measured */
	bool is_all_taken; /* and so are all groups of the name that follow */
};

/* Measured rows that are one kernel. */
struct measured_group {
	struct measured_key {
		int64_t kernel, device, source, sizes;
	} key;
	uint32_t first, last; /* rows; those between them by struct grouping.next_row */
};

#define NO_POINT UINT32_MAX

struct grouping {
	struct kernel_table *table;
	struct hwy_trace *trace;
	struct measures measures;
	struct launch_group *groups;
	uint32_t n, cap;
	struct hwy_index by_key;
	int64_t *sizes; /* by shape, see sizes_of */
	struct measured_group *measured;
	uint32_t n_measured, cap_measured;
	uint32_t *next_row;      /* by measured row: the next one of its group */
	struct hwy_index points; /* from a kernel's name to its first point of table->shapes */
	uint32_t *next_point;    /* by point: the next one of the same name; NO_POINT: none */
	/* By device: from the begin of the first kernel to the end of the last one; empty where
	 * from > to. */
	struct hwy_interval *windows;
};

/* ---- launches -------------------------------------------------------------------------------- */

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

/* ncu tells less of a shape than a recording does: shapes are one where grid and block are. */
static void list_sizes(struct grouping *g)
{
	const struct hwy_trace *trace = g->trace;
	struct hwy_index by_sizes = {0};
	g->sizes = hwy_array(trace->n_shapes, sizeof *g->sizes);
	for (uint32_t i = 0; i < trace->n_shapes; i++) {
		bool fresh;
		uint32_t *first = hwy_index_put_reference(&by_sizes, &trace->shapes[i].grid_x,
							  6 * sizeof(int64_t), &fresh);
		if (fresh)
			*first = i;
		g->sizes[i] = *first;
	}
	hwy_index_free(&by_sizes);
}

/* The first shape that has the grid and the block of this one; HWY_NONE where there is no shape. */
static int64_t sizes_of(const struct grouping *g, int64_t shape)
{
	return shape >= 0 && shape < g->trace->n_shapes ? g->sizes[shape] : HWY_NONE;
}

static int by_name_and_sizes(const void *a, const void *b)
{
	const struct launch_group *x = a, *y = b;
	if (x->key.name != y->key.name)
		return x->key.name < y->key.name ? -1 : 1;
	if (x->key.device != y->key.device)
		return x->key.device < y->key.device ? -1 : 1;
	if (x->sizes != y->sizes)
		return x->sizes < y->sizes ? -1 : 1;
	return (x->key.shape > y->key.shape) - (x->key.shape < y->key.shape);
}

/* Sorted, all groups of a name follow each other, and so do those of its sizes. */
static void sort_groups(struct grouping *g)
{
	for (uint32_t i = 0; i < g->n; i++)
		g->groups[i].sizes = sizes_of(g, g->groups[i].key.shape);
	if (g->n)
		qsort(g->groups, g->n, sizeof *g->groups, by_name_and_sizes);
}

/* ---- kernels --------------------------------------------------------------------------------- */

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

/* Adds the launches that were measured: those of the sizes, or all of the name where no shape
 * was told. */
static void take_launches(struct grouping *g, struct known_kernel *kernel,
			  const struct measured_key *key)
{
	struct launch_group like = {.key = {key->kernel, kernel->point.device, INT64_MIN},
				    .sizes = key->sizes == HWY_NONE ? INT64_MIN : key->sizes};
	uint32_t first = HWY_FIRST(i, 0, g->n, by_name_and_sizes(&g->groups[i], &like) >= 0);
	int64_t most = -1;
	for (uint32_t i = first; i < g->n; i++) {
		struct launch_group *group = &g->groups[i];
		if (group->key.name != like.key.name || group->key.device != like.key.device ||
		    (key->sizes != HWY_NONE && group->sizes != like.sizes))
			break;
		/* What one kernel took it took whole: without this many kernels of one name
		 * would look through all. */
		if (group->is_all_taken || (group->is_taken && key->sizes != HWY_NONE))
			break;
		group->is_all_taken = key->sizes == HWY_NONE;
		if (group->is_taken)
			continue;
		group->is_taken = true;
		add_launches(kernel, group, &most);
	}
}

static void add_measured(struct grouping *g, const struct measured_group *group)
{
	struct hwy_trace *trace = g->trace;
	const struct hwy_measured *like = &trace->measured[group->first];
	uint32_t device =
		like->device >= 0 && like->device < trace->n_devices ? (uint32_t)like->device : 0;
	struct known_kernel *kernel = table_add_kernel(g, like->kernel, device, like->shape);
	take_launches(g, kernel, &group->key);
	if (kernel->point.count == 0 && g->n > 0) {
		/* The recording has no such launch, or another tool measured the same one. */
		g->table->n--;
		return;
	}
	uint32_t *rows = NULL, n = 0, cap = 0;
	for (uint32_t row = group->first;; row = g->next_row[row]) {
		const struct hwy_measured *measured = &trace->measured[row];
		HWY_GROW(rows, n, cap);
		rows[n++] = row;
		kernel->launches_measured +=
			measured->launches > 0 ? (uint32_t)measured->launches : 1;
		if (row == group->last)
			break;
	}
	kernel->is_measured = true;
	kernel->point.source =
		strcmp(hwy_str(trace, like->source), "ncu") == 0 ? ROOFLINE_NCU : ROOFLINE_COUNTERS;
	kernel_counters_mean(&g->measures, rows, n, &kernel->counters);
	free(rows);
	if (kernel->point.count == 0 && kernel->counters.ns > 0 && kernel->counters.ns < 1e15) {
		kernel->point.count = kernel->launches_measured;
		kernel->point.ns = (int64_t)(kernel->counters.ns * kernel->launches_measured);
		kernel->n_shapes = 1;
	}
}

/* Brings the measured rows of one kernel together, in their order. */
static void group_measured(struct grouping *g)
{
	struct hwy_trace *trace = g->trace;
	struct hwy_index by_key = {0};
	g->next_row = hwy_array(trace->n_measured, sizeof *g->next_row);
	for (uint32_t i = 0; i < trace->n_measured; i++) {
		const struct hwy_measured *row = &trace->measured[i];
		struct measured_key key = {row->kernel, row->device, row->source,
					   sizes_of(g, row->shape)};
		bool fresh;
		uint32_t *at = hwy_index_put_element(&by_key, g->measured, sizeof *g->measured,
						     &key, sizeof key, &fresh);
		if (fresh) {
			HWY_GROW(g->measured, g->n_measured, g->cap_measured);
			*at = g->n_measured++;
			g->measured[*at] = (struct measured_group){.key = key, .first = i};
		} else {
			g->next_row[g->measured[*at].last] = i;
		}
		g->measured[*at].last = i;
	}
	hwy_index_free(&by_key);
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

static void make_kernels(struct grouping *g)
{
	list_sizes(g);
	sort_groups(g);
	group_measured(g);
	for (uint32_t i = 0; i < g->n_measured; i++)
		add_measured(g, &g->measured[i]);
	for (uint32_t i = 0; i < g->n; i++)
		if (!g->groups[i].is_taken)
			add_unmeasured(g, i);
}

/* ---- what they mean -------------------------------------------------------------------------- */

/* A point that knows the work of less of a kernel's time says nothing about the kernel. */
#define COVERED_SHARE 0.9

/* The kernel's launches do what those with known shapes do, as often and for as long as they
 * ran. */
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

/* Finds the points of shapes by their kernels' names; of one name the first comes first. */
static void list_points(struct grouping *g)
{
	const struct hwy_roofline *shapes = &g->table->shapes;
	g->next_point = hwy_array(shapes->n_points, sizeof *g->next_point);
	for (uint32_t i = shapes->n_points; i-- > 0;) {
		const struct roofline_point *point = &shapes->points[i];
		bool fresh;
		if (point->kind != ROOFLINE_KERNEL)
			continue;
		uint32_t *first = hwy_index_put_reference(&g->points, point->name,
							  strlen(point->name), &fresh);
		g->next_point[i] = fresh ? NO_POINT : *first;
		*first = i;
	}
}

/* Takes what the shapes of operators say of a kernel that was not measured. */
static void take_shapes(const struct grouping *g, struct known_kernel *kernel)
{
	const char *name = kernel->point.name;
	const uint32_t *first = hwy_index_get(&g->points, name, strlen(name));
	for (uint32_t i = first ? *first : NO_POINT; i != NO_POINT; i = g->next_point[i]) {
		const struct roofline_point *point = &g->table->shapes.points[i];
		if (point->device != kernel->point.device)
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

/* The mean time of a launch of the shortest kernel that is launched several times; 0 where none
 * is. */
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
			/* ncu rounds sizes of shared memory: by these no block may fit, although
			 * the kernel ran. */
			kernel->occupancy.blocks > 0;
	if (kernel->has_occupancy) {
		kernel->point.occupancy = kernel->occupancy.share;
		kernel->point.waves = kernel->occupancy.waves;
	}
	if (!kernel->is_measured)
		take_shapes(g, kernel);
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

static int by_length(const void *a, const void *b)
{
	const struct roofline_point *x = &((const struct known_kernel *)a)->point,
				    *y = &((const struct known_kernel *)b)->point;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

static int by_gain_then_time(const void *a, const void *b)
{
	const struct roofline_point *x = &((const struct known_kernel *)a)->point,
				    *y = &((const struct known_kernel *)b)->point;
	if (x->gain_ns != y->gain_ns)
		return x->gain_ns < y->gain_ns ? 1 : -1;
	return by_length(a, b);
}

/* Puts the kernels that matter first. What they could gain decides where it is known of most of
 * the time; else a kernel of a few us that is understood would stand before all the others. One
 * that waits without end has nothing to gain. */
static void sort_kernels(struct kernel_table *table)
{
	double known = 0, unknown = 0;
	for (uint32_t i = 0; i < table->n; i++) {
		const struct known_kernel *kernel = &table->kernels[i];
		*(kernel->has_gain || kernel->is_endless ? &known : &unknown) +=
			(double)kernel->point.ns;
	}
	if (table->n)
		qsort(table->kernels, table->n, sizeof *table->kernels,
		      known >= unknown ? by_gain_then_time : by_length);
}

static void free_grouping(struct grouping *g)
{
	measures_close(&g->measures);
	hwy_index_free(&g->by_key);
	hwy_index_free(&g->points);
	free(g->groups);
	free(g->sizes);
	free(g->measured);
	free(g->next_row);
	free(g->next_point);
	free(g->windows);
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
	list_points(&g);
	for (uint32_t i = 0; i < table->n; i++)
		if (__builtin_add_overflow(table->ns, table->kernels[i].point.ns, &table->ns))
			table->ns = INT64_MAX;
	for (uint32_t i = 0; i < table->n; i++)
		finish_kernel(&g, &table->kernels[i]);
	sort_kernels(table);
	free_grouping(&g);
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
