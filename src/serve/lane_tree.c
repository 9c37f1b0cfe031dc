/* SPDX-License-Identifier: Apache-2.0 */
/* lane_tree.c - the tree of lanes: devices with their streams, processes with their threads, the
 * rest. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/device_metrics.h"
#include "serve/answers.h"

static bool belongs_to_device(const struct hwy_lane *lane)
{
	return lane->device != HWY_NONE &&
	       (lane->type == HWY_LANE_STREAM || lane->type == HWY_LANE_DEVICE_RANGE ||
		lane->type == HWY_LANE_MEMORY || lane->thread == HWY_NONE);
}

/* ---- titles ---------------------------------------------------------------------------------- */

static void put_title(struct hwy_json *json, const char *format, const char *text, int64_t number)
{
	char title[512];
	int n = snprintf(title, sizeof title, format, text, (long long)number);
	json_text(json, title, n < (int)sizeof title ? (size_t)n : sizeof title - 1);
}

void lane_tree_put_device_title(const struct view_trace *view, struct hwy_json *json,
				uint32_t device)
{
	const struct hwy_device *recorded = &view->trace->devices[device];
	char title[512];
	const char *name = hwy_str(view->trace, recorded->name);
	snprintf(title, sizeof title, "GPU %lld%s%.400s",
		 (long long)(recorded->ordinal == HWY_NONE ? device : recorded->ordinal),
		 *name ? " " : "", name);
	json_textz(json, title);
}

/* Whether a name contains a number as a word of its own: the title of "stream 7" need not repeat
 * that it is 7. */
static bool has_number(const char *name, int64_t number)
{
	char text[32];
	size_t n = (size_t)snprintf(text, sizeof text, "%lld", (long long)number);
	for (const char *found = name; (found = strstr(found, text)); found++)
		if ((found == name || !isdigit((unsigned char)found[-1])) &&
		    !isdigit((unsigned char)found[n]))
			return true;
	return false;
}

static void put_stream_title(const struct view_trace *view, struct hwy_json *json,
			     const struct hwy_lane *lane)
{
	const struct hwy_trace *trace = view->trace;
	const struct hwy_stream *stream =
		lane->stream == HWY_NONE ? NULL : &trace->streams[lane->stream];
	const char *what = lane->type == HWY_LANE_SYNC           ? "waits for "
			   : lane->type == HWY_LANE_DEVICE_RANGE ? "ranges on "
								 : "";
	bool has_stream = stream && stream->number != HWY_NONE;
	const char *name = has_stream ? hwy_str(trace, stream->name) : "";
	char title[512];
	int n = snprintf(title, sizeof title, "%s%.*s", what, 200,
			 has_stream ? name : "the device");
	while (n > 0 && title[n - 1] == ' ' && *name)
		n--;
	if (has_stream && !has_number(name, stream->number))
		n += snprintf(title + n, sizeof title - (size_t)n,
			      *name ? " (stream %lld)" : "stream %lld", (long long)stream->number);
	if (trace->n_processes > 1 && lane->process != HWY_NONE)
		n += snprintf(title + n, sizeof title - (size_t)n, " of pid %lld",
			      (long long)trace->processes[lane->process].pid);
	json_text(json, title, (size_t)n);
}

static void put_lane_title(const struct view_trace *view, struct hwy_json *json, uint32_t number)
{
	static const char *const titles[HWY_LANE_TYPES] = {
		[HWY_LANE_API] = "API calls",   [HWY_LANE_OP] = "operators",
		[HWY_LANE_CALL] = "functions",  [HWY_LANE_OS] = "OS calls",
		[HWY_LANE_STATE] = "state",     [HWY_LANE_SAMPLES] = "samples",
		[HWY_LANE_MEMORY] = "memory",   [HWY_LANE_OVERHEAD] = "profiler",
		[HWY_LANE_RANGE] = "ranges",    [HWY_LANE_STARTEND] = "ranges, start to end",
		[HWY_LANE_COUNTER] = "counter",
	};
	const struct hwy_lane *lane = &view->trace->lanes[number];
	struct hwy_text name = hwy_text(view->trace, lane->name);
	json_key(json, "title");
	if (lane->type == HWY_LANE_STREAM || lane->type == HWY_LANE_DEVICE_RANGE ||
	    lane->type == HWY_LANE_SYNC)
		put_stream_title(view, json, lane);
	else if (name.length > 0 && lane->type == HWY_LANE_OVERHEAD)
		put_title(json, "overhead of %.200s", hwy_str(view->trace, lane->name), 0);
	else if (name.length > 0)
		span_names_put(json, name);
	else
		json_textz(json, lane->type >= 0 && lane->type < HWY_LANE_TYPES ? titles[lane->type]
										: "other");
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

/* Writes what is special about a counter whose meaning is known: the one that says most about its device, and the words for
 * the bits of the one that is a set. */
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
	put_lane_title(view, json, number);
	put_index(json, "device", lane->device);
	put_index(json, "process", lane->process);
	put_index(json, "thread", lane->thread);
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

static void put_hardware(struct view_trace *view, struct hwy_json *json, uint32_t device)
{
	json_begin_object(json);
	json_put_int(json, "lane", (int64_t)(VIEW_HARDWARE | device));
	json_put_text(json, "type", "hardware");
	json_put_text(json, "title", "all streams");
	json_put_int(json, "device", device);
	uint64_t spans = 0;
	for (uint32_t l = 0; l < view->trace->n_lanes; l++)
		if (view->trace->lanes[l].type == HWY_LANE_STREAM &&
		    view->trace->lanes[l].device == device)
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
	put_title(json, "%s%lld", id, number);
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

/* The groups that have lanes of their own, in the order of their numbers: devices, threads,
 * processes (for lanes of no thread), and the rest. A number counts through all groups, so that
 * 100,000 lanes of 100,000 threads are sorted once instead of searched for each thread. */
struct tree {
	struct view_trace *view;
	struct hwy_json *json;
	uint32_t n_groups;
	uint32_t *lanes;         /* lanes with spans, group by group, in the order of the page */
	uint32_t *first;         /* by group: index of its first lane in 'lanes'; one more entry */
	uint32_t *threads;       /* threads, process by process; those of no process are left out */
	uint32_t *first_thread;  /* by process: index in 'threads'; one more entry */
	uint8_t *device_streams; /* by device: 1 where the device has streams with spans */
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

static uint32_t group_of(const struct hwy_trace *trace, const struct hwy_lane *lane)
{
	if (belongs_to_device(lane))
		return (uint32_t)lane->device;
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
		all[n++] = (struct listed){lane, l, group_of(trace, lane)};
		if (lane->type == HWY_LANE_STREAM && lane->device != HWY_NONE)
			tree->device_streams[lane->device] = 1;
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

/* Writes the key "lanes": the numbers of the lanes of a group. A device begins with the lane that is
 * the union of its streams. */
static void put_lanes(const struct tree *tree, uint32_t group)
{
	json_key(tree->json, "lanes");
	json_begin_array(tree->json);
	if (group < tree->view->trace->n_devices && tree->device_streams[group])
		json_int(tree->json, VIEW_HARDWARE | (int64_t)group);
	for (uint32_t i = tree->first[group]; i < tree->first[group + 1]; i++)
		json_int(tree->json, tree->lanes[i]);
	json_end_array(tree->json);
}

static void lane_tree_put_device(const struct tree *tree, uint32_t device)
{
	begin_group(tree->json, "device", "gpu", device);
	lane_tree_put_device_title(tree->view, tree->json, device);
	put_lanes(tree, device);
	end_group_without_groups(tree->json);
}

static void put_thread(const struct tree *tree, uint32_t thread)
{
	const struct hwy_trace *trace = tree->view->trace;
	const struct hwy_thread *recorded = &trace->threads[thread];
	begin_group(tree->json, "thread", "t", thread);
	const char *name = hwy_str(trace, recorded->name);
	put_title(tree->json, has_number(name, recorded->tid) ? "%.200s" : "%.200s (tid %lld)",
		  *name ? name : "thread", recorded->tid);
	put_lanes(tree, thread_group(trace, thread));
	end_group_without_groups(tree->json);
}

static void put_process(const struct tree *tree, uint32_t process)
{
	const struct hwy_trace *trace = tree->view->trace;
	const struct hwy_process *recorded = &trace->processes[process];
	begin_group(tree->json, "process", "p", process);
	const char *name = hwy_str(trace, recorded->name);
	put_title(tree->json, "%.200s (pid %lld)", *name ? name : "process", recorded->pid);
	put_lanes(tree, process_group(trace, process));
	json_key(tree->json, "groups");
	json_begin_array(tree->json);
	for (uint32_t i = tree->first_thread[process]; i < tree->first_thread[process + 1]; i++) {
		uint32_t group = thread_group(trace, tree->threads[i]);
		if (tree->first[group] < tree->first[group + 1])
			put_thread(tree, tree->threads[i]);
	}
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
		.n_groups = process_group(trace, trace->n_processes) + 1,
	};
	tree.lanes = hwy_array(trace->n_lanes, sizeof *tree.lanes);
	tree.first = hwy_zarray((size_t)tree.n_groups + 1, sizeof *tree.first);
	tree.threads = hwy_array(trace->n_threads, sizeof *tree.threads);
	tree.first_thread = hwy_zarray((size_t)trace->n_processes + 1, sizeof *tree.first_thread);
	tree.device_streams = hwy_zarray(trace->n_devices, 1);
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
}

static bool put_all_lanes(const struct tree *tree, struct hwy_err *err)
{
	struct view_trace *view = tree->view;
	bool ok = true;
	json_key(tree->json, "lanes");
	json_begin_array(tree->json);
	for (uint32_t d = 0; d < view->trace->n_devices; d++)
		if (tree->device_streams[d])
			put_hardware(view, tree->json, d);
	for (uint32_t l = 0; ok && l < view->trace->n_lanes; l++) {
		ok = view_pause(view, err);
		if (ok && view->lanes[l].n > 0)
			put_lane(view, tree->json, l);
	}
	json_end_array(tree->json);
	return ok;
}

bool lane_tree_answer(struct view_trace *view, struct hwy_json *json, struct hwy_err *err)
{
	struct tree tree = tree_make(view, json);
	json_begin_object(json);
	json_key(json, "groups");
	json_begin_array(json);
	for (uint32_t d = 0; d < view->trace->n_devices; d++)
		lane_tree_put_device(&tree, d);
	bool ok = true;
	for (uint32_t p = 0; ok && p < view->trace->n_processes; p++) {
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
