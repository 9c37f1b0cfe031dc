/* lanes.c - the tree of lanes: devices with their streams, processes with their threads, the rest. */
#include <math.h>
#include <stdio.h>

#include "serve/answers.h"

static bool belongs_to_device(const struct hwy_lane *lane)
{
	return lane->device != HWY_NONE &&
	       (lane->type == HWY_LANE_STREAM || lane->type == HWY_LANE_DEVICE_RANGE ||
		lane->type == HWY_LANE_MEMORY || lane->thread == HWY_NONE);
}

/* ---- titles ---------------------------------------------------------------------------------------- */

void json_name(struct hwy_json *json, struct hwy_text name)
{
	static const char end[] = "…";
	char cut[VIEW_NAME + sizeof end];
	if (name.length <= VIEW_NAME) {
		json_text(json, name.at, name.length);
		return;
	}
	uint32_t n = VIEW_NAME;
	while (n > VIEW_NAME - 4 && ((unsigned char)name.at[n] & 0xc0) == 0x80)
		n--;
	memcpy(cut, name.at, n);
	memcpy(cut + n, end, sizeof end);
	json_text(json, cut, n + sizeof end - 1);
}

static void put_title(struct hwy_json *json, const char *format, const char *text, int64_t number)
{
	char title[512];
	int n = snprintf(title, sizeof title, format, text, (long long)number);
	json_text(json, title, n < (int)sizeof title ? (size_t)n : sizeof title - 1);
}

void json_device_title(const struct view_trace *view, struct hwy_json *json, uint32_t device)
{
	const struct hwy_device *at = &view->trace->devices[device];
	char title[512];
	snprintf(title, sizeof title, "GPU %lld %.400s",
		 (long long)(at->ordinal == HWY_NONE ? device : at->ordinal),
		 hwy_str(view->trace, at->name));
	json_textz(json, title);
}

static void put_stream_title(const struct view_trace *view, struct hwy_json *json,
			     const struct hwy_lane *lane)
{
	const struct hwy_stream *stream =
		lane->stream == HWY_NONE ? NULL : &view->trace->streams[lane->stream];
	const char *what = lane->type == HWY_LANE_STREAM ? "stream" : "projected, stream";
	if (!stream || stream->number == HWY_NONE)
		json_textz(json, lane->type == HWY_LANE_STREAM ? "whole device" : "projected");
	else if (*hwy_str(view->trace, stream->name))
		put_title(json, "%.200s (stream %lld)", hwy_str(view->trace, stream->name),
			  stream->number);
	else
		put_title(json, "%s %lld", what, stream->number);
}

static void put_lane_title(const struct view_trace *view, struct hwy_json *json, uint32_t number)
{
	static const char *const titles[HWY_LANE_TYPES] = {
		[HWY_LANE_SYNC] = "driver waits", [HWY_LANE_API] = "API calls",
		[HWY_LANE_OP] = "operators",      [HWY_LANE_CALL] = "functions",
		[HWY_LANE_OS] = "OS calls",       [HWY_LANE_STATE] = "state",
		[HWY_LANE_SAMPLES] = "samples",   [HWY_LANE_MEMORY] = "memory",
		[HWY_LANE_OVERHEAD] = "profiler",
	};
	const struct hwy_lane *lane = &view->trace->lanes[number];
	struct hwy_text name = hwy_text(view->trace, lane->name);
	json_key(json, "title");
	if (lane->type == HWY_LANE_STREAM || lane->type == HWY_LANE_DEVICE_RANGE)
		put_stream_title(view, json, lane);
	else if (name.length > 0)
		json_name(json, name);
	else
		json_textz(json,
			   lane->type >= 0 && lane->type < HWY_LANE_TYPES && titles[lane->type]
				   ? titles[lane->type]
				   : "ranges");
}

/* ---- lanes ------------------------------------------------------------------------------------------ */

static void put_looks(const struct view_trace *view, struct hwy_json *json, uint32_t lane)
{
	static const uint8_t calls[] = {LOOK_API, LOOK_LAUNCH, LOOK_WAIT, LOOK_ALLOC,
					LOOK_API_COPY};
	const struct view_lane *at = &view->lanes[lane];
	json_key(json, "looks");
	json_begin_array(json);
	for (uint32_t s = at->first; s < at->first + at->n; s++) {
		enum hwy_kind kind = view->trace->strips[s].kind;
		if (kind == HWY_API)
			for (size_t i = 0; i < sizeof calls; i++)
				json_int(json, calls[i]);
		else if (kind == HWY_STATE)
			json_int(json, LOOK_RUNNING);
		if (kind != HWY_API)
			json_int(json, look_of(view->trace, kind, 0));
		if (kind == HWY_KERNEL && at->classes >> HWY_COMM & 1)
			json_int(json, LOOK_COMM);
	}
	json_end_array(json);
}

static void put_values(struct view_trace *view, struct hwy_json *json, uint32_t lane)
{
	const struct hwy_strip *strip = hwy_strip_on(view->trace, lane, HWY_COUNTER);
	struct hwy_err err;
	double least = (double)INFINITY, most = (double)-INFINITY;
	bool is_real = view->trace->lanes[lane].value_type == HWY_PAYLOAD_DOUBLE;
	bool known = strip && hwy_need_strip(view->trace, (uint32_t)(strip - view->trace->strips),
					     HWY_COL_BIT(HWY_VALUE), &err);
	for (uint32_t row = 0; known && row < strip->rows; row++) {
		int64_t bits = hwy_get(strip, HWY_VALUE, row);
		double value = (double)bits;
		if (is_real)
			memcpy(&value, &bits, sizeof value);
		least = fmin(least, value);
		most = fmax(most, value);
	}
	json_key(json, "unit");
	json_name(json, hwy_text(view->trace, view->trace->lanes[lane].unit));
	json_key(json, "min");
	json_real(json, least, 6); /* null when there is none */
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
	const struct view_lane *at = &view->lanes[number];
	json_begin_object(json);
	json_put_int(json, "lane", number);
	json_put_text(json, "type",
		      lane->type >= 0 && lane->type < HWY_LANE_TYPES ? types[lane->type] : "other");
	put_lane_title(view, json, number);
	put_index(json, "device", lane->device);
	put_index(json, "process", lane->process);
	put_index(json, "thread", lane->thread);
	json_put_int(json, "spans", (int64_t)at->spans);
	json_put_bool(json, "nests",
		      lane->type == HWY_LANE_API || lane->type == HWY_LANE_OP ||
			      lane->type == HWY_LANE_RANGE || lane->type == HWY_LANE_CALL ||
			      lane->type == HWY_LANE_OS);
	json_put_bool(json, "marks", at->classes == 0);
	json_put_int(json, "start", at->from - view->origin);
	json_put_int(json, "end", at->to - view->origin);
	json_put_int(json, "detail", at->leaf < 0 ? VIEW_LEVELS - 1 : at->leaf);
	put_looks(view, json, number);
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
	json_int(json, LOOK_KERNEL);
	json_int(json, LOOK_COPY);
	json_end_array(json);
	json_end_object(json);
}

/* ---- groups ------------------------------------------------------------------------------------------ */

static void begin_group(struct hwy_json *json, const char *kind, const char *id, int64_t number)
{
	json_begin_object(json);
	json_key(json, "id");
	put_title(json, "%s%lld", id, number);
	json_put_text(json, "kind", kind);
	json_put_int(json, kind, number);
	json_key(json, "title");
}

static void put_lane_number(struct hwy_json *json, const struct view_trace *view, uint32_t lane)
{
	if (view->lanes[lane].n > 0)
		json_int(json, lane);
}

static bool has_streams(const struct view_trace *view, uint32_t device)
{
	for (uint32_t l = 0; l < view->trace->n_lanes; l++)
		if (view->lanes[l].n > 0 && view->trace->lanes[l].type == HWY_LANE_STREAM &&
		    view->trace->lanes[l].device == device)
			return true;
	return false;
}

static void put_device(const struct view_trace *view, struct hwy_json *json, uint32_t device)
{
	begin_group(json, "device", "gpu", device);
	json_device_title(view, json, device);
	json_key(json, "lanes");
	json_begin_array(json);
	if (has_streams(view, device))
		json_int(json, (int64_t)(VIEW_HARDWARE | device));
	for (uint32_t l = 0; l < view->trace->n_lanes; l++)
		if (belongs_to_device(&view->trace->lanes[l]) &&
		    view->trace->lanes[l].device == device)
			put_lane_number(json, view, l);
	json_end_array(json);
	json_key(json, "groups");
	json_begin_array(json);
	json_end_array(json);
	json_end_object(json);
}

static void put_thread(const struct view_trace *view, struct hwy_json *json, uint32_t thread)
{
	const struct hwy_thread *at = &view->trace->threads[thread];
	begin_group(json, "thread", "t", thread);
	const char *name = hwy_str(view->trace, at->name);
	put_title(json, "%.200s (tid %lld)", *name ? name : "thread", at->tid);
	json_key(json, "lanes");
	json_begin_array(json);
	for (uint32_t l = 0; l < view->trace->n_lanes; l++)
		if (!belongs_to_device(&view->trace->lanes[l]) &&
		    view->trace->lanes[l].thread == thread)
			put_lane_number(json, view, l);
	json_end_array(json);
	json_key(json, "groups");
	json_begin_array(json);
	json_end_array(json);
	json_end_object(json);
}

static bool thread_is_used(const struct view_trace *view, uint32_t thread)
{
	for (uint32_t l = 0; l < view->trace->n_lanes; l++)
		if (view->lanes[l].n > 0 && !belongs_to_device(&view->trace->lanes[l]) &&
		    view->trace->lanes[l].thread == thread)
			return true;
	return false;
}

/* Those of a process (HWY_NONE: of none) that belong to no thread and no device. */
static void put_lanes_of(const struct view_trace *view, struct hwy_json *json, int64_t process)
{
	json_key(json, "lanes");
	json_begin_array(json);
	for (uint32_t l = 0; l < view->trace->n_lanes; l++) {
		const struct hwy_lane *lane = &view->trace->lanes[l];
		if (!belongs_to_device(lane) && lane->thread == HWY_NONE &&
		    lane->process == process)
			put_lane_number(json, view, l);
	}
	json_end_array(json);
}

static void put_process(const struct view_trace *view, struct hwy_json *json, uint32_t process)
{
	const struct hwy_process *at = &view->trace->processes[process];
	begin_group(json, "process", "p", process);
	const char *name = hwy_str(view->trace, at->name);
	put_title(json, "%.200s (pid %lld)", *name ? name : "process", at->pid);
	put_lanes_of(view, json, process);
	json_key(json, "groups");
	json_begin_array(json);
	for (uint32_t t = 0; t < view->trace->n_threads; t++)
		if (view->trace->threads[t].process == process && thread_is_used(view, t))
			put_thread(view, json, t);
	json_end_array(json);
	json_end_object(json);
}

static void put_others(const struct view_trace *view, struct hwy_json *json)
{
	begin_group(json, "other", "o", 0);
	json_textz(json, "other");
	put_lanes_of(view, json, HWY_NONE);
	json_key(json, "groups");
	json_begin_array(json);
	json_end_array(json);
	json_end_object(json);
}

void answer_lanes(struct view_trace *view, struct hwy_json *json)
{
	json_begin_object(json);
	json_key(json, "groups");
	json_begin_array(json);
	for (uint32_t d = 0; d < view->trace->n_devices; d++)
		put_device(view, json, d);
	for (uint32_t p = 0; p < view->trace->n_processes; p++)
		put_process(view, json, p);
	put_others(view, json);
	json_end_array(json);
	json_key(json, "lanes");
	json_begin_array(json);
	for (uint32_t d = 0; d < view->trace->n_devices; d++)
		if (has_streams(view, d))
			put_hardware(view, json, d);
	for (uint32_t l = 0; l < view->trace->n_lanes; l++)
		if (view->lanes[l].n > 0)
			put_lane(view, json, l);
	json_end_array(json);
	json_end_object(json);
}
