/* api.c - include/headway.h over the rooms inside: nothing here but translation. */
#include "headway.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/import.h"
#include "trace/trace.h"

const char *hwy_version(void)
{
	return HEADWAY_VERSION;
}

static void tell_why(char *why, size_t size, const char *text)
{
	if (why && size)
		snprintf(why, size, "%s", text);
}

struct hwy_trace *hwy_trace_open(const char *path, char *why, size_t why_size)
{
	struct hwy_err err;
	struct hwy_trace *trace = hwy_open(path, NULL, &err);
	if (!trace)
		tell_why(why, why_size, err.text);
	return trace;
}

void hwy_trace_close(struct hwy_trace *trace)
{
	if (trace)
		hwy_trace_free(trace);
}

uint32_t hwy_trace_spans(const struct hwy_trace *trace)
{
	return trace->n_spans;
}

uint32_t hwy_trace_lanes(const struct hwy_trace *trace)
{
	return trace->n_lanes;
}

const char *hwy_kind_name(unsigned index)
{
	return index < HWY_KINDS ? hwy_kind_names[index] : NULL;
}

/* HWY_KINDS for a name that is none. */
static unsigned api_kind_of(const char *name)
{
	unsigned kind = 0;
	while (kind < HWY_KINDS && strcmp(hwy_kind_names[kind], name) != 0)
		kind++;
	return kind;
}

uint32_t hwy_trace_spans_of_kind(const struct hwy_trace *trace, const char *kind)
{
	unsigned wanted = api_kind_of(kind);
	uint32_t spans = 0;
	for (uint32_t i = 0; i < trace->n_strips; i++)
		if (trace->strips[i].kind == wanted)
			spans += trace->strips[i].rows;
	return spans;
}

int64_t hwy_trace_wall(const struct hwy_trace *trace)
{
	return trace->wall;
}

const char *hwy_trace_property(const struct hwy_trace *trace, const char *name)
{
	return hwy_property(trace, name);
}

/* Indexes come from files: HWY_NONE and what is out of range are both "none". */
static bool is_index(int64_t index, uint32_t n)
{
	return index >= 0 && index < n;
}

bool hwy_trace_lane(const struct hwy_trace *trace, uint32_t index, struct hwy_lane_info *info)
{
	if (index >= trace->n_lanes)
		return false;
	const struct hwy_lane *lane = &trace->lanes[index];
	*info = (struct hwy_lane_info){
		.type = lane->type >= 0 && lane->type < HWY_LANE_TYPES
				? hwy_lane_type_names[lane->type]
				: "",
		.name = hwy_str(trace, lane->name),
		.thread = "",
		.device = "",
		.pid = HWY_NONE,
		.tid = HWY_NONE,
		.ordinal = HWY_NONE,
		.stream = HWY_NONE,
	};
	if (is_index(lane->process, trace->n_processes))
		info->pid = trace->processes[lane->process].pid;
	if (is_index(lane->thread, trace->n_threads)) {
		info->tid = trace->threads[lane->thread].tid;
		info->thread = hwy_str(trace, trace->threads[lane->thread].name);
	}
	if (is_index(lane->device, trace->n_devices)) {
		info->ordinal = trace->devices[lane->device].ordinal;
		info->device = hwy_str(trace, trace->devices[lane->device].name);
	}
	if (is_index(lane->stream, trace->n_streams))
		info->stream = trace->streams[lane->stream].number;
	for (uint32_t i = 0; i < trace->n_strips; i++)
		if (trace->strips[i].lane == index)
			info->spans += trace->strips[i].rows;
	return true;
}

struct hwy_cursor {
	struct hwy_trace *trace;
	struct hwy_walk walk;
	uint32_t lane, last; /* the lane walked now, and the last one to walk */
	uint32_t kinds;
};

struct hwy_cursor *hwy_cursor_open(struct hwy_trace *trace, uint32_t lane, const char *kind,
				   char *why, size_t why_size)
{
	uint32_t kinds = HWY_KIND_BIT(HWY_KINDS) - 1;
	if (kind) {
		unsigned wanted = api_kind_of(kind);
		if (wanted == HWY_KINDS) {
			tell_why(why, why_size, "no such kind of span");
			return NULL;
		}
		kinds = HWY_KIND_BIT(wanted);
	}
	if (lane != HWY_ALL_LANES && lane >= trace->n_lanes) {
		tell_why(why, why_size, "no such lane");
		return NULL;
	}
	struct hwy_err err;
	if (!hwy_need(trace, kinds,
		      HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME) |
			      HWY_COL_BIT(HWY_LINK),
		      &err)) {
		tell_why(why, why_size, err.text);
		return NULL;
	}
	struct hwy_cursor *cursor = hwy_zalloc(sizeof *cursor);
	cursor->trace = trace;
	cursor->kinds = kinds;
	cursor->lane = lane == HWY_ALL_LANES ? 0 : lane;
	cursor->last = lane == HWY_ALL_LANES ? trace->n_lanes - 1 : lane;
	if (trace->n_lanes)
		cursor->walk = hwy_walk(trace, cursor->lane, kinds);
	return cursor;
}

bool hwy_cursor_next(struct hwy_cursor *cursor, struct hwy_span_info *span)
{
	if (cursor->trace->n_lanes == 0)
		return false;
	while (!hwy_walk_next(&cursor->walk)) {
		if (cursor->lane == cursor->last)
			return false;
		cursor->walk = hwy_walk(cursor->trace, ++cursor->lane, cursor->kinds);
	}
	const struct hwy_strip *strip = cursor->walk.strip;
	uint32_t row = cursor->walk.row;
	int64_t link = hwy_get(strip, HWY_LINK, row);
	*span = (struct hwy_span_info){
		.id = strip->first + row,
		.lane = strip->lane,
		.start = hwy_get(strip, HWY_START, row),
		.dur = hwy_get(strip, HWY_DUR, row),
		.kind = hwy_kind_names[strip->kind],
		.name = hwy_str(cursor->trace, hwy_get(strip, HWY_NAME, row)),
		.cause = link > 0 ? (uint32_t)(link - 1) : HWY_NO_SPAN,
	};
	return true;
}

void hwy_cursor_close(struct hwy_cursor *cursor)
{
	free(cursor);
}
