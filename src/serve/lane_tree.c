/* SPDX-License-Identifier: Apache-2.0 */
/* lane_tree.c - the tree of lanes: devices with their streams, processes with their threads, the
 * rest; of a job, ranks with all that is theirs. A device that several ranks use stands outside,
 * and each rank has its own streams there. */
#include <math.h>
#include <stdlib.h>

#include "analyze/device_metrics.h"
#include "serve/answers.h"
#include "serve/lane_titles.h"
#include "serve/projected.h"
#include "serve/tiles.h"
#include "serve/view_ranks.h"

static bool belongs_to_device(const struct hwy_lane *lane)
{
	return lane->device != HWY_NONE &&
	       (lane->type == HWY_LANE_STREAM || lane->type == HWY_LANE_DEVICE_RANGE ||
		lane->type == HWY_LANE_MEMORY || lane->thread == HWY_NONE);
}

/* ---- lanes ----------------------------------------------------------------------------------- */

static void put_colors(const struct view_trace *view, struct hwy_json *json, uint32_t lane)
{
	static const uint8_t calls[] = {COLOR_API, COLOR_LAUNCH, COLOR_WAIT, COLOR_ALLOC,
					COLOR_API_COPY};
	const struct view_lane *on_lane = &view->lanes[lane];
	json_key(json, "looks");
	json_begin_array(json);
	for (uint32_t s = on_lane->first; s < on_lane->first + on_lane->n; s++) {
		enum hwy_kind kind = view->trace->strips[s].kind;
		if (kind == HWY_API)
			for (size_t i = 0; i < sizeof calls; i++)
				json_int(json, calls[i]);
		else if (kind == HWY_STATE)
			json_int(json, COLOR_RUNNING);
		if (kind != HWY_API)
			json_int(json, span_color(view->trace, kind, 0));
		if (kind == HWY_KERNEL && on_lane->classes >> HWY_COMM & 1)
			json_int(json, COLOR_COMM);
	}
	json_end_array(json);
}

/* Writes what is special about a counter whose meaning is known: whether it says most about its
 * device, and, where it is a set of bits, a word for each bit. */
static void put_metric(const struct view_trace *view, struct hwy_json *json, uint32_t lane)
{
	/* By bit: REASON_IDLE … REASON_DISPLAY. */
	static const char *const reasons[] = {
		"idle",       "clocks set by somebody", "power limit", "hardware slowdown",
		"sync boost", "heat, by the driver",    "heat",        "power supply",
		"display",
	};
	const struct hwy_lane *recorded = &view->trace->lanes[lane];
	enum hwy_metric metric = recorded->device == HWY_NONE
					 ? METRICS
					 : metric_of_name(hwy_str(view->trace, recorded->name),
							  hwy_str(view->trace, recorded->unit));
	if (metric == METRIC_SMS_ACTIVE)
		json_put_bool(json, "main", true);
	if (metric != METRIC_LIMITS)
		return;
	json_key(json, "flags");
	json_begin_array(json);
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		json_textz(json, reasons[i]);
	json_end_array(json);
}

static void put_values(struct view_trace *view, struct hwy_json *json, uint32_t lane)
{
	const struct hwy_strip *strip = hwy_strip_on(view->trace, lane, HWY_COUNTER);
	struct hwy_err err;
	double least = (double)INFINITY, most = (double)-INFINITY;
	bool is_real = view->trace->lanes[lane].value_type == HWY_PAYLOAD_DOUBLE;
	bool is_read = strip && hwy_need_strip(view->trace, (uint32_t)(strip - view->trace->strips),
					       HWY_COL_BIT(HWY_VALUE), &err);
	for (uint32_t row = 0; is_read && row < strip->rows; row++) {
		int64_t bits = hwy_get(strip, HWY_VALUE, row);
		double value = (double)bits;
		if (is_real)
			memcpy(&value, &bits, sizeof value);
		least = fmin(least, value);
		most = fmax(most, value);
	}
	put_metric(view, json, lane);
	json_key(json, "unit");
	span_names_put(json, hwy_text(view->trace, view->trace->lanes[lane].unit));
	json_key(json, "min");
	/* Without a value the counter's least value is infinite, which is written as null. */
	json_real(json, least, 6);
	json_key(json, "max");
	json_real(json, most, 6);
}

static void put_index(struct hwy_json *json, const char *key, int64_t index)
{
	if (index != HWY_NONE)
		json_put_int(json, key, index);
}

static void put_lane(struct view_trace *view, struct hwy_json *json, uint32_t number)
{
	static const char *const types[HWY_LANE_TYPES] = {
		"stream", "sync",  "api",     "op",     "range",   "startend", "call",
		"os",     "state", "samples", "memory", "counter", "overhead", "device-range",
	};
	const struct hwy_lane *lane = &view->trace->lanes[number];
	const struct view_lane *on_lane = &view->lanes[number];
	json_begin_object(json);
	json_put_int(json, "lane", number);
	json_put_text(json, "type",
		      lane->type >= 0 && lane->type < HWY_LANE_TYPES ? types[lane->type] : "other");
	lane_titles_put_lane(view, json, number);
	put_index(json, "device", lane->device);
	put_index(json, "process", lane->process);
	put_index(json, "thread", lane->thread);
	if (lane->stream != HWY_NONE)
		put_index(json, "stream", view->trace->streams[lane->stream].number);
	if (lane->process != HWY_NONE)
		put_index(json, "pid", view->trace->processes[lane->process].pid);
	if (lane->device != HWY_NONE)
		put_index(json, "gpu", view->trace->devices[lane->device].ordinal);
	uint32_t rank = ranks_of_lane(view, lane);
	if (rank != RANKS_NOBODY)
		json_put_int(json, "rank", view->ranks[rank]);
	json_put_int(json, "spans", (int64_t)on_lane->spans);
	json_put_bool(json, "nests",
		      lane->type == HWY_LANE_API || lane->type == HWY_LANE_OP ||
			      lane->type == HWY_LANE_RANGE || lane->type == HWY_LANE_CALL ||
			      lane->type == HWY_LANE_OS);
	json_put_bool(json, "marks", on_lane->classes == 0);
	json_put_int(json, "start", on_lane->from - view->origin);
	json_put_int(json, "end", on_lane->to - view->origin);
	json_put_int(json, "detail", on_lane->leaf < 0 ? VIEW_LEVELS - 1 : on_lane->leaf);
	put_colors(view, json, number);
	if (lane->type == HWY_LANE_COUNTER)
		put_values(view, json, number);
	json_end_object(json);
}

/* Writes the lane that is a union of streams: of a device, or of a rank, counted after the
 * devices. */
static void put_hardware(struct view_trace *view, struct hwy_json *json, uint32_t number)
{
	uint32_t n_devices = view->trace->n_devices;
	json_begin_object(json);
	json_put_int(json, "lane", (int64_t)(VIEW_HARDWARE | number));
	json_put_text(json, "type", "hardware");
	json_put_text(json, "title", number < n_devices ? "all streams" : "its streams");
	if (number < n_devices)
		json_put_int(json, "device", number);
	else
		json_put_int(json, "rank", view->ranks[number - n_devices]);
	uint64_t spans = 0;
	for (uint32_t l = 0; l < view->trace->n_lanes; l++)
		if (hardware_has(view, number, l))
			spans += view->lanes[l].spans;
	json_put_int(json, "spans", (int64_t)spans);
	json_put_bool(json, "nests", false);
	json_put_bool(json, "marks", false);
	json_put_int(json, "start", view->from - view->origin);
	json_put_int(json, "end", view->to - view->origin);
	json_put_int(json, "detail", 0);
	json_key(json, "looks");
	json_begin_array(json);
	json_int(json, COLOR_KERNEL);
	json_int(json, COLOR_COPY);
	json_end_array(json);
	json_end_object(json);
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* Writes the keys that all groups have; the caller must write the value of the key "title" next. */
static void begin_group(struct hwy_json *json, const char *kind, const char *id, int64_t number)
{
	json_begin_object(json);
	json_key(json, "id");
	lane_titles_put(json, "%s%lld", id, number);
	json_put_text(json, "kind", kind);
	json_put_int(json, kind, number);
	json_key(json, "title");
}

static void end_group_without_groups(struct hwy_json *json)
{
	json_key(json, "groups");
	json_begin_array(json);
	json_end_array(json);
	json_end_object(json);
}

/* Lanes of a group stand in the order in which people look for them: streams, each with its
 * projected ranges, then what threads did, from outer ranges to inner calls; the profiler's own
 * work last. */
static int lane_rank(const struct hwy_lane *lane)
{
	static const uint8_t ranks[HWY_LANE_TYPES] = {
		[HWY_LANE_STREAM] = 0,   [HWY_LANE_DEVICE_RANGE] = 0, [HWY_LANE_SYNC] = 2,
		[HWY_LANE_STATE] = 3,    [HWY_LANE_SAMPLES] = 4,      [HWY_LANE_STARTEND] = 5,
		[HWY_LANE_RANGE] = 6,    [HWY_LANE_CALL] = 7,         [HWY_LANE_OP] = 8,
		[HWY_LANE_API] = 9,      [HWY_LANE_OS] = 10,          [HWY_LANE_MEMORY] = 11,
		[HWY_LANE_COUNTER] = 12, [HWY_LANE_OVERHEAD] = 13,
	};
	return lane->type >= 0 && lane->type < HWY_LANE_TYPES ? ranks[lane->type] : HWY_LANE_TYPES;
}

/* Groups that have lanes of their own are numbered: first the devices, then threads, processes
 * (for lanes that belong to no thread), one group for the rest, and ranks (for streams of
 * devices that several ranks share). With one numbering for all, the lanes are sorted by group
 * once; to search all lanes for each of 100,000 threads would take too long. */
struct tree {
	struct view_trace *view;
	struct hwy_json *json;
	uint32_t n_groups;
	uint32_t *lanes;         /* lanes with spans, group by group, in the order of the page */
	uint32_t *first;         /* by group: index of its first lane in 'lanes'; one more entry */
	uint32_t *threads;       /* threads, process by process; those of no process are left out */
	uint32_t *first_thread;  /* by process: index in 'threads'; one more entry */
	uint8_t *device_streams; /* by device, then by rank: 1 where it has streams with spans */
	uint32_t *owners;        /* by device: its rank, RANKS_SHARED or RANKS_NOBODY */
	uint32_t *strips;        /* what ranks_find_strips has found */
};

static uint32_t thread_group(const struct hwy_trace *trace, uint32_t thread)
{
	return trace->n_devices + thread;
}

/* 'process' may be n_processes: the group of lanes that belong to nobody. */
static uint32_t process_group(const struct hwy_trace *trace, uint32_t process)
{
	return trace->n_devices + trace->n_threads + process;
}

static uint32_t rank_group(const struct hwy_trace *trace, uint32_t rank)
{
	return process_group(trace, trace->n_processes) + 1 + rank;
}

static uint32_t group_of(const struct tree *tree, const struct hwy_lane *lane)
{
	const struct hwy_trace *trace = tree->view->trace;
	uint32_t rank = ranks_of_lane(tree->view, lane);
	if (belongs_to_device(lane))
		return rank != RANKS_NOBODY && tree->owners[lane->device] == RANKS_SHARED
			       ? rank_group(trace, rank)
			       : (uint32_t)lane->device;
	if (lane->thread != HWY_NONE)
		return thread_group(trace, (uint32_t)lane->thread);
	return process_group(trace, lane->process != HWY_NONE ? (uint32_t)lane->process
							      : trace->n_processes);
}

/* A lane that is listed in a group. */
struct listed {
	const struct hwy_lane *lane;
	uint32_t number, group;
};

static int by_group_and_rank(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	int rank = lane_rank(x->lane) - lane_rank(y->lane);
	if (rank == 0 && lane_rank(x->lane) == 0 && x->lane->stream != y->lane->stream)
		return x->lane->stream < y->lane->stream ? -1 : 1;
	return rank ? rank : (x->number > y->number) - (x->number < y->number);
}

static void group_lanes(struct tree *tree)
{
	const struct hwy_trace *trace = tree->view->trace;
	struct listed *all = hwy_array(trace->n_lanes, sizeof *all);
	uint32_t n = 0;
	for (uint32_t l = 0; l < trace->n_lanes; l++) {
		const struct hwy_lane *lane = &trace->lanes[l];
		if (tree->view->lanes[l].n == 0)
			continue;
		all[n++] = (struct listed){lane, l, group_of(tree, lane)};
		if (lane->type != HWY_LANE_STREAM)
			continue;
		uint32_t rank = ranks_of_lane(tree->view, lane);
		if (lane->device != HWY_NONE)
			tree->device_streams[lane->device] = 1;
		if (rank != RANKS_NOBODY)
			tree->device_streams[trace->n_devices + rank] = 1;
	}
	if (n)
		qsort(all, n, sizeof *all, by_group_and_rank);
	for (uint32_t i = 0; i < n; i++) {
		tree->lanes[i] = all[i].number;
		tree->first[all[i].group + 1]++;
	}
	for (uint32_t g = 0; g < tree->n_groups; g++)
		tree->first[g + 1] += tree->first[g];
	free(all);
}

static void group_threads(struct tree *tree)
{
	const struct hwy_trace *trace = tree->view->trace;
	uint32_t *next = hwy_zarray((size_t)trace->n_processes + 1, sizeof *next);
	for (uint32_t t = 0; t < trace->n_threads; t++)
		if (trace->threads[t].process != HWY_NONE)
			tree->first_thread[trace->threads[t].process + 1]++;
	for (uint32_t p = 0; p < trace->n_processes; p++) {
		tree->first_thread[p + 1] += tree->first_thread[p];
		next[p + 1] = tree->first_thread[p + 1];
	}
	for (uint32_t t = 0; t < trace->n_threads; t++)
		if (trace->threads[t].process != HWY_NONE)
			tree->threads[next[trace->threads[t].process]++] = t;
	free(next);
}

/* Writes the key "lanes": the numbers of the lanes of a group. A device begins with the lane
 * that is the union of its streams. */
static void put_lanes(const struct tree *tree, uint32_t group)
{
	json_key(tree->json, "lanes");
	json_begin_array(tree->json);
	if (group < tree->view->trace->n_devices && tree->device_streams[group])
		json_int(tree->json, VIEW_HARDWARE | (int64_t)group);
	for (uint32_t i = tree->first[group]; i < tree->first[group + 1]; i++)
		json_int(tree->json, tree->lanes[i]);
	for (uint32_t p = 0; p < tree->view->projected.n; p++)
		if (tree->view->projected.v[p].device == group)
			json_int(tree->json, VIEW_PROJECTED | (int64_t)p);
	json_end_array(tree->json);
}

static void lane_tree_put_device(const struct tree *tree, uint32_t device)
{
	begin_group(tree->json, "device", "gpu", device);
	lane_titles_put_device(tree->view, tree->json, device);
	put_lanes(tree, device);
	end_group_without_groups(tree->json);
}

static void put_thread(const struct tree *tree, uint32_t thread)
{
	begin_group(tree->json, "thread", "t", thread);
	lane_titles_put_thread(tree->view, tree->json, thread);
	put_lanes(tree, thread_group(tree->view->trace, thread));
	end_group_without_groups(tree->json);
}

static void put_threads(const struct tree *tree, uint32_t process)
{
	const struct hwy_trace *trace = tree->view->trace;
	for (uint32_t i = tree->first_thread[process]; i < tree->first_thread[process + 1]; i++) {
		uint32_t group = thread_group(trace, tree->threads[i]);
		if (tree->first[group] < tree->first[group + 1])
			put_thread(tree, tree->threads[i]);
	}
}

static void put_process(const struct tree *tree, uint32_t process)
{
	const struct hwy_trace *trace = tree->view->trace;
	const struct hwy_process *recorded = &trace->processes[process];
	begin_group(tree->json, "process", "p", process);
	const char *name = hwy_str(trace, recorded->name);
	lane_titles_put(tree->json, "%.200s (pid %lld)", *name ? name : "process", recorded->pid);
	put_lanes(tree, process_group(trace, process));
	json_key(tree->json, "groups");
	json_begin_array(tree->json);
	put_threads(tree, process);
	json_end_array(tree->json);
	json_end_object(tree->json);
}

/* Writes the numbers of the rank's lanes: the union of its streams; of its only process, the
 * lanes of no thread. */
static void put_rank_lanes(const struct tree *tree, uint32_t rank, int64_t only)
{
	const struct hwy_trace *trace = tree->view->trace;
	json_key(tree->json, "lanes");
	json_begin_array(tree->json);
	if (tree->device_streams[trace->n_devices + rank])
		json_int(tree->json, VIEW_HARDWARE | (int64_t)(trace->n_devices + rank));
	uint32_t group = only == HWY_NONE ? 0 : process_group(trace, (uint32_t)only);
	for (uint32_t i = tree->first[group]; only != HWY_NONE && i < tree->first[group + 1]; i++)
		json_int(tree->json, tree->lanes[i]);
	json_end_array(tree->json);
	json_key(tree->json, "messages");
	json_begin_array(tree->json);
	for (uint32_t i = 0; i < RANKS_STRIP; i++)
		if (tree->strips[rank * RANKS_STRIP + i] != RANKS_NOBODY)
			json_int(tree->json, tree->strips[rank * RANKS_STRIP + i]);
	json_end_array(tree->json);
}

static void put_rank_devices(const struct tree *tree, uint32_t rank)
{
	const struct hwy_trace *trace = tree->view->trace;
	uint32_t group = rank_group(trace, rank);
	for (uint32_t d = 0; d < trace->n_devices; d++)
		if (tree->owners[d] == rank)
			lane_tree_put_device(tree, d);
	if (tree->first[group] == tree->first[group + 1])
		return;
	begin_group(tree->json, "streams", "rs", tree->view->ranks[rank]);
	json_textz(tree->json, "its streams");
	put_lanes(tree, group);
	end_group_without_groups(tree->json);
}

/* Writes a rank with its devices or streams and its processes. The threads of an only process
 * stand in the rank itself. */
static void put_rank(const struct tree *tree, uint32_t rank)
{
	const struct view_trace *view = tree->view;
	int64_t only = HWY_NONE;
	uint32_t n = 0;
	for (uint32_t p = 0; p < view->trace->n_processes; p++)
		if (view->rank_of[p] == rank) {
			only = p;
			n++;
		}
	only = n == 1 ? only : HWY_NONE;
	begin_group(tree->json, "rank", "r", view->ranks[rank]);
	ranks_put_title(view, tree->json, rank);
	put_rank_lanes(tree, rank, only);
	json_key(tree->json, "groups");
	json_begin_array(tree->json);
	put_rank_devices(tree, rank);
	if (only != HWY_NONE)
		put_threads(tree, (uint32_t)only);
	for (uint32_t p = 0; p < view->trace->n_processes && only == HWY_NONE; p++)
		if (view->rank_of[p] == rank)
			put_process(tree, p);
	json_end_array(tree->json);
	json_end_object(tree->json);
}

static void put_others(const struct tree *tree)
{
	const struct hwy_trace *trace = tree->view->trace;
	begin_group(tree->json, "other", "o", 0);
	json_textz(tree->json, "other");
	put_lanes(tree, process_group(trace, trace->n_processes));
	end_group_without_groups(tree->json);
}

static struct tree tree_make(struct view_trace *view, struct hwy_json *json)
{
	const struct hwy_trace *trace = view->trace;
	struct tree tree = {
		.view = view,
		.json = json,
		.n_groups = rank_group(trace, view->n_ranks),
	};
	tree.lanes = hwy_array(trace->n_lanes, sizeof *tree.lanes);
	tree.first = hwy_zarray((size_t)tree.n_groups + 1, sizeof *tree.first);
	tree.threads = hwy_array(trace->n_threads, sizeof *tree.threads);
	tree.first_thread = hwy_zarray((size_t)trace->n_processes + 1, sizeof *tree.first_thread);
	tree.device_streams = hwy_zarray(view_unions(view), 1);
	tree.owners = hwy_array(trace->n_devices, sizeof *tree.owners);
	ranks_find_owners(view, tree.owners);
	tree.strips = hwy_array((size_t)view->n_ranks * RANKS_STRIP, sizeof *tree.strips);
	ranks_find_strips(view, tree.strips);
	group_lanes(&tree);
	group_threads(&tree);
	return tree;
}

static void tree_free(struct tree *tree)
{
	free(tree->lanes);
	free(tree->first);
	free(tree->threads);
	free(tree->first_thread);
	free(tree->device_streams);
	free(tree->owners);
	free(tree->strips);
}

static bool put_all_lanes(const struct tree *tree, struct hwy_err *err)
{
	struct view_trace *view = tree->view;
	bool ok = true;
	json_key(tree->json, "lanes");
	json_begin_array(tree->json);
	for (uint32_t d = 0; d < view_unions(view); d++)
		if (tree->device_streams[d])
			put_hardware(view, tree->json, d);
	for (uint32_t l = 0; ok && l < view->trace->n_lanes; l++) {
		ok = view_pause(view, err);
		if (ok && view->lanes[l].n > 0)
			put_lane(view, tree->json, l);
	}
	for (uint32_t p = 0; p < view->projected.n; p++)
		projected_put_lane(view, tree->json, p);
	json_end_array(tree->json);
	return ok;
}

bool lane_tree_answer(struct view_trace *view, struct hwy_json *json, struct hwy_err *err)
{
	if (!projected_need(view, err))
		return false;
	struct tree tree = tree_make(view, json);
	json_begin_object(json);
	json_key(json, "groups");
	json_begin_array(json);
	for (uint32_t r = 0; r < view->n_ranks; r++)
		put_rank(&tree, r);
	for (uint32_t d = 0; d < view->trace->n_devices; d++)
		if (tree.owners[d] == RANKS_NOBODY || tree.owners[d] == RANKS_SHARED)
			lane_tree_put_device(&tree, d);
	bool ok = true;
	for (uint32_t p = 0; ok && p < view->trace->n_processes; p++) {
		if (view->rank_of[p] != RANKS_NOBODY)
			continue;
		put_process(&tree, p);
		ok = view_pause(view, err);
	}
	put_others(&tree);
	json_end_array(json);
	ok = ok && put_all_lanes(&tree, err);
	json_end_object(json);
	tree_free(&tree);
	return ok;
}
