/* SPDX-License-Identifier: Apache-2.0 */
/* headway_series.c - the CPU's lead over each device, at the resolution of the page.
 *
 * A recording may have hundreds of phases, each with thousands of points, so the page asks for a
 * window and gets at most two points for each of its pixels: the largest of the pixel, and the last
 * one where that is smaller. What the diagnosis found is kept as it came from the worker: for each
 * phase and device HEAD numbers of 64 bits, then three for each point.
 */
#include <stdlib.h>

#include "base/search.h"
#include "serve/headway_series.h"

enum { DEVICE, PHASE, MAX_COUNT, MAX_WORK, N_POINTS, HEAD };
enum { TIME, COUNT, WORK, POINT };

static void put_lead(struct hwy_bytes *out, const struct hwy_lead *lead, int64_t device,
		     uint32_t phase, int64_t origin)
{
	const int64_t head[HEAD] = {
		[DEVICE] = device == HWY_NONE ? 0 : device,
		[PHASE] = phase,
		[MAX_COUNT] = lead->max_count,
		[MAX_WORK] = lead->max_work,
		[N_POINTS] = lead->n_series,
	};
	hwy_bytes_put(out, head, sizeof head);
	for (uint32_t i = 0; i < lead->n_series; i++) {
		const struct lead_point *at = &lead->series[i];
		const int64_t point[POINT] = {at->time - origin, at->count, at->work};
		hwy_bytes_put(out, point, sizeof point);
	}
}

void headway_series_write(const struct hwy_analysis *analysis, int64_t origin,
			  struct hwy_bytes *out)
{
	for (uint32_t p = 0; p < analysis->phases.n; p++)
		for (uint32_t d = 0; analysis->measures[p].leads && d < analysis->flow.n_devices;
		     d++)
			put_lead(out, &analysis->measures[p].leads[d],
				 analysis->flow.devices[d].device, p, origin);
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* A window, which is divided into n equal parts. */
struct parts {
	int64_t from, to;
	uint32_t n;
};

static int64_t part_of(const struct parts *parts, int64_t time)
{
	return (int64_t)((double)(time - parts->from) / (double)(parts->to - parts->from) *
			 parts->n);
}

/* Yields the number of the last point that is not after a time; 0 where all points are after it. */
static uint32_t point_at(const int64_t *points, uint32_t n, int64_t time)
{
	uint32_t after = HWY_FIRST(i, 0, n, points[i * POINT + TIME] > time);
	return after > 0 ? after - 1 : 0;
}

static void headway_series_put_point(struct hwy_json *json, int64_t time, int64_t count,
				     int64_t work)
{
	json_begin_array(json);
	json_int(json, time);
	json_int(json, count);
	json_int(json, work);
	json_end_array(json);
}

/* Writes the points from 'first' on that begin in the same part of the window as 'first' does, as
 * one or two; yields the number of the point after them. */
static uint32_t put_part(struct hwy_json *json, const int64_t *points, uint32_t first, uint32_t n,
			 const struct parts *parts)
{
	const int64_t *begin = points + first * POINT, *last = begin;
	int64_t count = 0, work = 0, part = part_of(parts, begin[TIME]);
	uint32_t i = first;
	for (; i < n && part_of(parts, points[i * POINT + TIME]) == part; i++) {
		last = points + i * POINT;
		count = last[COUNT] > count ? last[COUNT] : count;
		work = last[WORK] > work ? last[WORK] : work;
	}
	headway_series_put_point(json, begin[TIME], count, work);
	if (last[COUNT] < count || last[WORK] < work)
		headway_series_put_point(json, last[TIME], last[COUNT], last[WORK]);
	return i;
}

static void put_points(struct hwy_json *json, const int64_t *points, uint32_t n,
		       const struct parts *parts)
{
	uint32_t i = point_at(points, n, parts->from);
	json_begin_array(json);
	while (i < n && points[i * POINT + TIME] < parts->to)
		i = put_part(json, points, i, n, parts);
	/* The first point after the window says how long the last one holds. */
	if (i < n && i > 0)
		headway_series_put_point(json, points[i * POINT + TIME], points[i * POINT + COUNT],
					 points[i * POINT + WORK]);
	json_end_array(json);
}

static bool touches(const int64_t *points, int64_t n, const struct parts *parts)
{
	return n > 0 && points[TIME] < parts->to && points[(n - 1) * POINT + TIME] >= parts->from;
}

void headway_series_answer(const struct hwy_bytes *series, int64_t from, int64_t to, uint32_t n,
			   struct hwy_json *json)
{
	const int64_t *at = (const int64_t *)(const void *)series->bytes;
	const struct parts parts = {from, to, n};
	size_t left = series->n / sizeof *at;
	json_begin_object(json);
	json_key(json, "devices");
	json_begin_array(json);
	while (left >= HEAD && at[N_POINTS] >= 0 &&
	       (uint64_t)at[N_POINTS] <= (left - HEAD) / POINT) {
		size_t length = HEAD + (size_t)at[N_POINTS] * POINT;
		if (touches(at + HEAD, at[N_POINTS], &parts)) {
			json_begin_object(json);
			json_put_int(json, "device", at[DEVICE]);
			json_put_int(json, "phase", at[PHASE]);
			json_put_int(json, "max_count", at[MAX_COUNT]);
			json_put_int(json, "max_work", at[MAX_WORK]);
			json_key(json, "points");
			put_points(json, at + HEAD, (uint32_t)at[N_POINTS], &parts);
			json_end_object(json);
		}
		at += length;
		left -= length;
	}
	json_end_array(json);
	json_end_object(json);
}
