/* SPDX-License-Identifier: Apache-2.0 */
/* interval.c - what happened in an interval: how long the devices were busy, and the names that
 * took most time. */
#include <math.h>
#include <stdlib.h>

#include "analyze/gaps/gaps.h"
#include "base/json_fields.h"
#include "serve/answers.h"
#include "serve/lane_titles.h"
#include "serve/tiles.h"

enum { SHOWN_NAMES = 10 };

/* ---- names by time --------------------------------------------------------------------------- */

/* All spans of one name and colour. */
struct sum {
	int64_t name; /* id of the name */
	uint64_t count;
	int64_t total, longest; /* ns inside the interval */
	uint8_t color;          /* enum span_color */
};
struct sums {
	struct sum *v;
	uint32_t n, cap;
	struct hwy_map by_name; /* from name and colour to the index in 'v' */
};

static void add_sum(struct sums *sums, int64_t name, uint8_t color, int64_t length)
{
	bool fresh;
	uint32_t *index = hwy_map_put(&sums->by_name, (uint64_t)name << 8 | color, &fresh);
	if (fresh) {
		HWY_GROW(sums->v, sums->n, sums->cap);
		*index = sums->n;
		sums->v[sums->n++] = (struct sum){.name = name, .color = color};
	}
	struct sum *sum = &sums->v[*index];
	sum->count++;
	sum->total += length;
	sum->longest = length > sum->longest ? length : sum->longest;
}

static int interval_by_total(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;
	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

static const struct json_field sum_fields[] = {
	{JSON_FIELD_INT(struct sum, name, "name_id")}, {JSON_FIELD_INT(struct sum, count, "count")},
	{JSON_FIELD_INT(struct sum, total, "total")},  {JSON_FIELD_INT(struct sum, longest, "max")},
	{JSON_FIELD_INT(struct sum, color, "look")},
};

static void put_sums(const struct view_trace *view, struct hwy_json *json, const char *key,
		     struct sums *sums)
{
	if (sums->n)
		qsort(sums->v, sums->n, sizeof *sums->v, interval_by_total);
	json_key(json, key);
	json_begin_array(json);
	for (uint32_t i = 0; i < sums->n && i < SHOWN_NAMES; i++) {
		const struct sum *sum = &sums->v[i];
		json_begin_object(json);
		json_key(json, "name");
		span_names_put(json, span_names_text(view->trace, sum->name));
		json_put_fields(json, JSON_FIELDS(sum_fields), sum);
		json_end_object(json);
	}
	json_end_array(json);
	free(sums->v);
	hwy_map_free(&sums->by_name);
}

struct window {
	int64_t from, to;
};

static void interval_add_row(struct view_trace *view, struct sums *sums,
			     const struct hwy_strip *strip, uint32_t row, struct window window)
{
	int64_t name = span_names_id(view->trace, strip, row),
		begin = hwy_get(strip, HWY_START, row);
	int64_t end = begin + hwy_get(strip, HWY_DUR, row);
	begin = begin > window.from ? begin : window.from;
	end = end < window.to ? end : window.to;
	add_sum(sums, name, span_color(view->trace, strip->kind, hwy_get(strip, HWY_NAME, row)),
		end - begin);
}

/* Adds the spans of one lane: first those that began before the window, then those that begin in
 * it. */
static bool sum_lane(struct view_trace *view, uint32_t lane, uint32_t kinds, struct window window,
		     struct sums *sums, struct hwy_err *err)
{
	struct view_spans earlier = {0};
	if (!view_need(view, lane, window.from, window.from, 0, err))
		return false;
	view_spans_touching(view, lane, window.from, window.from, 0, UINT32_MAX, &earlier);
	for (uint32_t i = 0; i < earlier.n; i++) {
		const struct hwy_strip *strip = &view->trace->strips[earlier.v[i].strip];
		if (kinds & HWY_KIND_BIT(strip->kind))
			interval_add_row(view, sums, strip, earlier.v[i].row, window);
	}
	free(earlier.v);
	struct view_walk walk;
	bool ok = view_walk_begin(&walk, view, lane, kinds, window.from, window.to, err);
	while (ok && view_walk_next(&walk, &ok, err))
		interval_add_row(view, sums, walk.strip, walk.row, window);
	return ok;
}

static bool sum_up(struct view_trace *view, struct hwy_json *json, const char *key, uint32_t kinds,
		   int64_t from, int64_t to, struct hwy_err *err)
{
	struct sums sums = {0};
	bool ok = true;
	for (uint32_t lane = 0; ok && lane < view->trace->n_lanes; lane++) {
		const struct view_lane *on_lane = &view->lanes[lane];
		bool wanted = false;
		for (uint32_t s = on_lane->first; s < on_lane->first + on_lane->n; s++)
			wanted |= (kinds & HWY_KIND_BIT(view->trace->strips[s].kind)) != 0;
		if (wanted && on_lane->from < to && on_lane->to > from)
			ok = sum_lane(view, lane, kinds, (struct window){from, to}, &sums, err);
	}
	put_sums(view, json, key, &sums);
	return ok;
}

/* ---- devices --------------------------------------------------------------------------------- */

/* The time that a device worked in the interval, ns: on anything, not at all, and on each class of
 * work. */
struct device_times {
	int64_t busy, idle, classes[3];
};
static const struct json_field device_fields[] = {
	{JSON_FIELD_INT(struct device_times, busy, "busy")},
	{JSON_FIELD_INT(struct device_times, idle, "idle")},
	{JSON_FIELD_INT(struct device_times, classes[HWY_COMPUTE], "compute")},
	{JSON_FIELD_INT(struct device_times, classes[HWY_COMM], "comm")},
	{JSON_FIELD_INT(struct device_times, classes[HWY_MEMCLASS], "memory")},
};

/* Adds the time of [from, to) that spans cover, for each class of work and for all classes
 * together. */
static bool measure_stretch(struct view_trace *view, uint32_t device, int64_t from, int64_t to,
			    struct device_times *times, struct hwy_err *err)
{
	struct view_spans spans = {0};
	int64_t covered[4] = {from, from, from, from};
	if (!hardware_spans(view, device, from, to, &spans, err))
		return false;
	for (uint32_t i = 0; i < spans.n; i++) {
		const struct hwy_strip *strip = &view->trace->strips[spans.v[i].strip];
		int64_t start = spans.v[i].start, end = start + spans.v[i].dur;
		unsigned class = hwy_class(view->trace, strip->kind,
					   hwy_get(strip, HWY_NAME, spans.v[i].row));
		end = end < to ? end : to;
		for (unsigned c = class;; c = HARDWARE_ANY) {
			int64_t begin = start > covered[c] ? start : covered[c];
			int64_t length = end > begin ? end - begin : 0;
			*(c < 3 ? &times->classes[c] : &times->busy) += length;
			covered[c] = end > covered[c] ? end : covered[c];
			if (c == HARDWARE_ANY)
				break;
		}
	}
	free(spans.v);
	return true;
}

/* Adds a device's time in [from, to): from the buckets of its union that lie inside, and from
 * the spans at both ends where the interval cuts a bucket. */
static bool measure_device(struct view_trace *view, uint32_t number, int64_t from, int64_t to,
			   struct device_times *times, struct hwy_err *err)
{
	if (!hardware_wait(view, number, err))
		return false;
	const struct view_device *device = &view->devices[number];
	int64_t width = INT64_C(1) << device->level, end = device->base + device->n;
	int64_t first = (from + width - 1) >> device->level, last = to >> device->level;
	/* The window may reach far beyond the recording; there are buckets only inside it. */
	first = first > device->base ? first : device->base;
	last = last < end ? last : end;
	if (first >= last)
		return measure_stretch(view, number, from, to, times, err);
	for (int64_t i = first; i < last; i++) {
		for (unsigned c = 0; c < 3; c++)
			times->classes[c] += device->cover[c][i - device->base];
		times->busy += device->cover[HARDWARE_ANY][i - device->base];
	}
	return measure_stretch(view, number, from, first * width, times, err) &&
	       measure_stretch(view, number, last * width, to, times, err);
}

static void put_causes(struct hwy_json *json, const struct annotations *gaps, uint32_t device,
		       int64_t from, int64_t to)
{
	int64_t causes[GAP_CAUSES] = {0};
	json_key(json, "causes");
	if (!gaps) {
		json_null(json);
		return;
	}
	for (uint32_t i = 0; i < gaps->n; i++) {
		const struct annotation *gap = &gaps->v[i];
		int64_t begin = gap->from > from ? gap->from : from;
		int64_t end = gap->to < to ? gap->to : to;
		if (gap->device == device && end > begin && gap->cause < GAP_CAUSES)
			causes[gap->cause] += end - begin;
	}
	json_begin_object(json);
	for (unsigned c = 0; c < GAP_CAUSES; c++)
		if (causes[c] > 0)
			json_put_int(json, gap_cause_names[c], causes[c]);
	json_end_object(json);
}

static bool interval_put_device(struct view_trace *view, struct hwy_json *json,
				const struct annotations *gaps, uint32_t device, int64_t from,
				int64_t to, struct hwy_err *err)
{
	struct device_times times = {0};
	if (!measure_device(view, device, from, to, &times, err))
		return false;
	json_begin_object(json);
	json_put_int(json, "device", device);
	json_key(json, "title");
	lane_titles_put_device(view, json, device);
	times.idle = to - from - times.busy;
	json_put_fields(json, JSON_FIELDS(device_fields), &times);
	put_causes(json, gaps, device, from - view->origin, to - view->origin);
	json_end_object(json);
	return true;
}

static const struct json_field metric_fields[] = {
	{JSON_FIELD_REAL(struct counter_range, mean, "mean", 6)},
	{JSON_FIELD_REAL(struct counter_range, least, "least", 6)},
	{JSON_FIELD_REAL(struct counter_range, most, "most", 6)},
	{JSON_FIELD_INT(struct counter_range, samples, "samples")},
};

/* Writes what each counter of a device said in [from, to); counters without a value there are left out. */
static bool put_metrics(struct view_trace *view, struct hwy_json *json, int64_t from, int64_t to,
			struct hwy_err *err)
{
	bool ok = true;
	json_key(json, "metrics");
	json_begin_array(json);
	for (uint32_t lane = 0; ok && lane < view->trace->n_lanes; lane++) {
		const struct hwy_lane *recorded = &view->trace->lanes[lane];
		struct counter_range range;
		if (recorded->type != HWY_LANE_COUNTER || recorded->device == HWY_NONE)
			continue;
		ok = view_pause(view, err) && counters_measure(view, lane, from, to, &range, err);
		if (!ok || isnan(range.mean))
			continue;
		json_begin_object(json);
		json_put_int(json, "lane", lane);
		json_put_fields(json, JSON_FIELDS(metric_fields), &range);
		json_end_object(json);
	}
	json_end_array(json);
	return ok;
}

bool interval_answer(struct view_trace *view, struct hwy_json *json, const struct annotations *gaps,
		     int64_t from, int64_t to, struct hwy_err *err)
{
	bool ok = true;
	json_begin_object(json);
	json_put_int(json, "from", from);
	json_put_int(json, "to", to);
	from += view->origin;
	to += view->origin;
	json_key(json, "devices");
	json_begin_array(json);
	for (uint32_t d = 0; ok && d < view->trace->n_devices; d++) {
		bool is_used = false;
		for (uint32_t lane = 0; lane < view->trace->n_lanes; lane++)
			is_used |= hardware_has(view, d, lane);
		if (is_used)
			ok = interval_put_device(view, json, gaps, d, from, to, err);
	}
	json_end_array(json);
	ok = ok && put_metrics(view, json, from, to, err) &&
	     sum_up(view, json, "kernels", HWY_DEVICE_KINDS, from, to, err) &&
	     sum_up(view, json, "calls", HWY_KIND_BIT(HWY_API), from, to, err) &&
	     sum_up(view, json, "ranges", HWY_KIND_BIT(HWY_RANGE) | HWY_KIND_BIT(HWY_OP), from, to,
		    err);
	json_end_object(json);
	return ok;
}
