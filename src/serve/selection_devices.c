/* SPDX-License-Identifier: Apache-2.0 */
/* selection_devices.c - how long the devices were busy in a selection, why they were idle, how
 * far ahead of them the CPU was, and what the counters said. */
#include <math.h>
#include <stdlib.h>

#include "analyze/gaps/gaps.h"
#include "base/json_fields.h"
#include "serve/device_lead.h"
#include "serve/lane_titles.h"
#include "serve/selection.h"
#include "serve/tiles.h"
#include "serve/view_ranks.h"

enum { SLICE_SPANS = 1 << 16 }; /* spans that are held at once where some streams are chosen */

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

/* Adds the time of [from, to) that spans of the chosen lanes cover, for each class of work and
 * for all classes together. */
static bool measure_stretch(struct view_trace *view, uint32_t device, const uint8_t *chosen,
			    int64_t from, int64_t to, struct device_times *times,
			    struct hwy_err *err)
{
	struct view_spans spans = {0};
	int64_t covered[4] = {from, from, from, from};
	if (!hardware_spans(view, device, from, to, &spans, err))
		return false;
	for (uint32_t i = 0; i < spans.n; i++) {
		const struct hwy_strip *strip = &view->trace->strips[spans.v[i].strip];
		int64_t start = spans.v[i].start, end = start + spans.v[i].dur;
		if (!lane_choice_has(chosen, strip->lane))
			continue;
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
		return measure_stretch(view, number, NULL, from, to, times, err);
	for (int64_t i = first; i < last; i++) {
		for (unsigned c = 0; c < 3; c++)
			times->classes[c] += device->cover[c][i - device->base];
		times->busy += device->cover[HARDWARE_ANY][i - device->base];
	}
	return measure_stretch(view, number, NULL, from, first * width, times, err) &&
	       measure_stretch(view, number, NULL, last * width, to, times, err);
}

/* Does what measure_device does, for some of the device's streams: slice by slice, so that few
 * spans are held at once. */
static bool measure_streams(struct view_trace *view, uint32_t number,
			    const struct selection *selection, struct device_times *times,
			    struct hwy_err *err)
{
	uint64_t spans = 0;
	for (uint32_t lane = 0; lane < view->trace->n_lanes; lane++)
		spans += hardware_has(view, number, lane) ? view->lanes[lane].spans : 0;
	/* Nothing is recorded outside the view's times. */
	int64_t from = selection->from > view->from ? selection->from : view->from;
	int64_t to = selection->to < view->to ? selection->to : view->to;
	int64_t slice = (view->to - view->from) / (int64_t)(spans / SLICE_SPANS + 1) + 1;
	for (int64_t at = from; at < to; at += slice) {
		int64_t end = to - at < slice ? to : at + slice;
		if (!view_pause(view, err))
			return false;
		view_trim(view);
		if (!measure_stretch(view, number, selection->lanes, at, end, times, err))
			return false;
	}
	return true;
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

static const struct json_field lead_fields[] = {
	{JSON_FIELD_INT(struct device_lead, count, "count")},
	{JSON_FIELD_INT(struct device_lead, work, "work")},
};

/* Writes headway at the selection's begin and end, and the least of it between. */
static bool put_lead(struct view_trace *view, struct hwy_json *json, uint32_t device,
		     const struct selection *selection, struct hwy_err *err)
{
	struct device_lead begin, end, least;
	bool is_known;
	if (!device_lead_at(view, device, selection->from, &begin, err) ||
	    !device_lead_at(view, device, selection->to, &end, err) ||
	    !device_lead_least(view, device, selection->from, selection->to, &least, &is_known,
			       err))
		return false;
	json_key(json, "headway");
	json_begin_object(json);
	json_key(json, "begin");
	json_put_object(json, JSON_FIELDS(lead_fields), &begin);
	json_key(json, "end");
	json_put_object(json, JSON_FIELDS(lead_fields), &end);
	json_key(json, "least");
	if (is_known)
		json_put_object(json, JSON_FIELDS(lead_fields), &least);
	else
		json_null(json);
	json_end_object(json);
	return true;
}

/* Whether the idle time of this device is known rank by rank: the device has none of its own. */
static bool is_told_by_rank(const struct view_trace *view, const struct annotations *gaps,
			    uint32_t device)
{
	if (device >= view->trace->n_devices || gaps->n == 0 ||
	    gaps->v[gaps->n - 1].device < view->trace->n_devices)
		return false;
	uint32_t *owners = hwy_array(view->trace->n_devices, sizeof *owners);
	ranks_find_owners(view, owners);
	bool is_shared = owners[device] == RANKS_SHARED;
	free(owners);
	return is_shared;
}

/* Writes a device, or the union of a rank's streams; 'is_whole': all of its streams are chosen. */
static bool selection_put_device(struct view_trace *view, struct hwy_json *json,
				 const struct selection *selection, uint32_t device, bool is_whole,
				 struct hwy_err *err)
{
	struct device_times times = {0};
	if (is_whole ? !measure_device(view, device, selection->from, selection->to, &times, err)
		     : !measure_streams(view, device, selection, &times, err))
		return false;
	json_begin_object(json);
	json_put_int(json, "device", device);
	json_key(json, "title");
	if (device < view->trace->n_devices)
		lane_titles_put_device(view, json, device);
	else
		ranks_put_title(view, json, device - view->trace->n_devices);
	json_put_bool(json, "whole", is_whole);
	times.idle = selection->to - selection->from - times.busy;
	json_put_fields(json, JSON_FIELDS(device_fields), &times);
	/* Where only some streams are chosen, the device may work on another one: then the idle
	 * time of the chosen streams has no cause. */
	bool has_causes =
		is_whole && selection->gaps && !is_told_by_rank(view, selection->gaps, device);
	put_causes(json, has_causes ? selection->gaps : NULL, device,
		   selection->from - view->origin, selection->to - view->origin);
	bool ok = put_lead(view, json, device, selection, err);
	json_end_object(json);
	return ok;
}

bool selection_put_devices(struct view_trace *view, struct hwy_json *json,
			   const struct selection *selection, struct hwy_err *err)
{
	bool ok = true;
	json_key(json, "devices");
	json_begin_array(json);
	for (uint32_t d = 0; ok && d < view_unions(view); d++) {
		bool is_used = false, is_whole = true;
		/* A rank that has its device for itself is the device. */
		if (d >= view->trace->n_devices &&
		    !ranks_shares_device(view, d - view->trace->n_devices))
			continue;
		for (uint32_t lane = 0; lane < view->trace->n_lanes; lane++) {
			if (!hardware_has(view, d, lane))
				continue;
			is_used |= lane_choice_has(selection->lanes, lane);
			is_whole &= lane_choice_has(selection->lanes, lane);
		}
		if (is_used)
			ok = selection_put_device(view, json, selection, d, is_whole, err);
	}
	json_end_array(json);
	return ok;
}

static const struct json_field counter_fields[] = {
	{JSON_FIELD_REAL(struct counter_range, mean, "mean", 6)},
	{JSON_FIELD_REAL(struct counter_range, least, "least", 6)},
	{JSON_FIELD_REAL(struct counter_range, most, "most", 6)},
	{JSON_FIELD_REAL(struct counter_range, last, "last", 6)},
	{JSON_FIELD_INT(struct counter_range, samples, "samples")},
};

bool selection_put_counters(struct view_trace *view, struct hwy_json *json,
			    const struct selection *selection, struct hwy_err *err)
{
	bool ok = true;
	json_key(json, "counters");
	json_begin_array(json);
	for (uint32_t lane = 0; ok && lane < view->trace->n_lanes; lane++) {
		struct counter_range range;
		if (view->trace->lanes[lane].type != HWY_LANE_COUNTER ||
		    !lane_choice_has(selection->lanes, lane))
			continue;
		ok = view_pause(view, err) &&
		     counters_measure(view, lane, selection->from, selection->to, &range, err);
		if (!ok || isnan(range.mean))
			continue;
		json_begin_object(json);
		json_put_int(json, "lane", lane);
		json_put_fields(json, JSON_FIELDS(counter_fields), &range);
		json_end_object(json);
	}
	json_end_array(json);
	return ok;
}
