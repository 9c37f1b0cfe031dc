/* SPDX-License-Identifier: Apache-2.0 */
/* api.c - the functions of include/headway.h: each only translates to the functions of other
 * folders in src/. */
#include "api/api_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "import/import.h"

/* NOLINTNEXTLINE(misc-redundant-expression): the assert states that both constants are equal */
static_assert(HEADWAY_NONE == HWY_NONE, "numbers that are not known are handed out as they are");

struct headway_cursor {
	struct hwy_trace *trace;
	struct hwy_walk walk;
	uint32_t lane, last; /* the lane walked now, and the last one to walk */
	uint32_t kinds;      /* mask of enum hwy_kind: the kinds that are read */
};

const char *headway_version(void)
{
	return HEADWAY_VERSION;
}

bool headway_use_language(const char *name)
{
	return hwy_lang_use(name);
}

void api_put_reason(char *why, size_t size, const char *text)
{
	if (why && size)
		snprintf(why, size, "%s", text);
}

struct headway_trace *headway_trace_open(const char *path, char *why, size_t why_size)
{
	struct hwy_err err;
	struct hwy_trace *inside = hwy_open(path, NULL, &err);
	if (!inside) {
		api_put_reason(why, why_size, err.text);
		return NULL;
	}
	struct headway_trace *trace = hwy_zalloc(sizeof *trace);
	trace->inside = inside;
	pthread_mutex_init(&trace->lock, NULL);
	api_trace_use(trace);
	return trace;
}

void api_trace_use(struct headway_trace *trace)
{
	atomic_fetch_add(&trace->users, 1);
}

void api_trace_leave(struct headway_trace *trace)
{
	if (atomic_fetch_sub(&trace->users, 1) != 1)
		return;
	api_columns_free(trace->columns);
	hwy_trace_free(trace->inside);
	pthread_mutex_destroy(&trace->lock);
	free(trace);
}

void headway_trace_close(struct headway_trace *trace)
{
	if (trace)
		api_trace_leave(trace);
}

uint32_t headway_trace_spans(const struct headway_trace *trace)
{
	return trace->inside->n_spans;
}

uint32_t headway_trace_lanes(const struct headway_trace *trace)
{
	return trace->inside->n_lanes;
}

const char *headway_kind_name(unsigned index)
{
	return index < HWY_KINDS ? hwy_kind_names[index] : NULL;
}

unsigned api_kind(const char *name)
{
	unsigned kind = 0;
	while (kind < HWY_KINDS && strcmp(hwy_kind_names[kind], name) != 0)
		kind++;
	return kind;
}

uint32_t headway_trace_spans_of_kind(const struct headway_trace *trace, const char *kind)
{
	unsigned wanted = api_kind(kind);
	uint32_t spans = 0;
	for (uint32_t i = 0; i < trace->inside->n_strips; i++)
		if (trace->inside->strips[i].kind == wanted)
			spans += trace->inside->strips[i].rows;
	return spans;
}

int64_t headway_trace_wall(const struct headway_trace *trace)
{
	return trace->inside->wall;
}

const char *headway_trace_property(const struct headway_trace *trace, const char *name)
{
	return hwy_property(trace->inside, name);
}

bool headway_trace_lane(const struct headway_trace *trace, uint32_t index,
			struct headway_lane_info *info)
{
	const struct hwy_trace *inside = trace->inside;
	if (index >= inside->n_lanes)
		return false;
	/* file_check.c and the importers ensure that every index is HWY_NONE or lies in its
	 * table. */
	const struct hwy_lane *lane = &inside->lanes[index];
	*info = (struct headway_lane_info){
		.type = hwy_lane_type_names[lane->type],
		.name = hwy_str(inside, lane->name),
		.thread = "",
		.device = "",
		.pid = HEADWAY_NONE,
		.tid = HEADWAY_NONE,
		.ordinal = HEADWAY_NONE,
		.stream = HEADWAY_NONE,
	};
	if (lane->process != HWY_NONE)
		info->pid = inside->processes[lane->process].pid;
	if (lane->thread != HWY_NONE) {
		info->tid = inside->threads[lane->thread].tid;
		info->thread = hwy_str(inside, inside->threads[lane->thread].name);
	}
	if (lane->device != HWY_NONE) {
		info->ordinal = inside->devices[lane->device].ordinal;
		info->device = hwy_str(inside, inside->devices[lane->device].name);
	}
	if (lane->stream != HWY_NONE)
		info->stream = inside->streams[lane->stream].number;
	for (uint32_t i = 0; i < inside->n_strips; i++)
		if (inside->strips[i].lane == index)
			info->spans += inside->strips[i].rows;
	return true;
}

/* Yields the mask of the kinds that the caller of headway_cursor_open wants; 0, and a reason, for
 * wrong arguments. */
static uint32_t api_kinds(const struct hwy_trace *trace, uint32_t lane, const char *kind, char *why,
			  size_t why_size)
{
	unsigned wanted = kind ? api_kind(kind) : 0;
	if (wanted == HWY_KINDS) {
		api_put_reason(why, why_size, "no such kind of span");
		return 0;
	}
	if (lane != HEADWAY_ALL_LANES && lane >= trace->n_lanes) {
		api_put_reason(why, why_size, "no such lane");
		return 0;
	}
	return kind ? HWY_KIND_BIT(wanted) : HWY_KIND_BIT(HWY_KINDS) - 1;
}

struct headway_cursor *headway_cursor_open(struct headway_trace *trace, uint32_t lane,
					   const char *kind, char *why, size_t why_size)
{
	struct hwy_trace *inside = trace->inside;
	uint64_t columns = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME) |
			   HWY_COL_BIT(HWY_LINK);
	uint32_t kinds = api_kinds(inside, lane, kind, why, why_size);
	struct hwy_err err;
	if (!kinds)
		return NULL;
	pthread_mutex_lock(&trace->lock);
	bool is_there = hwy_need(inside, kinds, columns, &err);
	pthread_mutex_unlock(&trace->lock);
	if (!is_there) {
		api_put_reason(why, why_size, err.text);
		return NULL;
	}
	struct headway_cursor *cursor = hwy_zalloc(sizeof *cursor);
	cursor->trace = inside;
	cursor->kinds = kinds;
	cursor->lane = lane == HEADWAY_ALL_LANES ? 0 : lane;
	cursor->last = lane == HEADWAY_ALL_LANES ? inside->n_lanes - 1 : lane;
	if (inside->n_lanes)
		cursor->walk = hwy_walk(inside, cursor->lane, kinds);
	return cursor;
}

bool headway_cursor_next(struct headway_cursor *cursor, struct headway_span_info *span)
{
	if (cursor->trace->n_lanes == 0)
		return false;
	while (!hwy_walk_next(&cursor->walk)) {
		if (cursor->lane == cursor->last)
			return false;
		cursor->walk = hwy_walk(cursor->trace, ++cursor->lane, cursor->kinds);
	}
	const struct hwy_strip *strip = cursor->walk.strip;
	uint32_t row = cursor->walk.row, call;
	*span = (struct headway_span_info){
		.id = strip->first + row,
		.lane = strip->lane,
		.start = hwy_get(strip, HWY_START, row),
		.dur = hwy_get(strip, HWY_DUR, row),
		.kind = hwy_kind_names[strip->kind],
		.name = hwy_str(cursor->trace, hwy_get(strip, HWY_NAME, row)),
		.cause = hwy_get_index(strip, HWY_LINK, row, &call) ? call : HEADWAY_NO_SPAN,
	};
	return true;
}

void headway_cursor_close(struct headway_cursor *cursor)
{
	free(cursor);
}
