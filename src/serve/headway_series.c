/* SPDX-License-Identifier: Apache-2.0 */
/* headway_series.c - the CPU's lead over each device, at the resolution of the page.
 *
 * A recording may have hundreds of phases, each with thousands of points, so the page asks for a
 * window and gets at most two points for each of its pixels: the largest of the pixel, and the last
 * one where that is smaller. Where a point holds for longer than a pixel, the device's lead is
 * found anew for each pixel. What the diagnosis found is kept as it came from the worker: for each
 * phase and device HEAD numbers of 64 bits, then three for each point.
 */
#include <stdlib.h>

#include "base/search.h"
#include "serve/headway_series.h"

enum { DEVICE, PHASE, MAX_COUNT, MAX_WORK, N_POINTS, HEAD };
enum { TIME, COUNT, WORK, POINT };

static void put_lead(struct hwy_bytes *out, const struct hwy_lead *lead, int64_t device,
		     uint32_t phase, const struct headway_clock *clock)
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
		const int64_t point[POINT] = {
			(clock->map ? clock->map(clock->self, at->time) : at->time) - clock->origin,
			at->count, at->work};
		hwy_bytes_put(out, point, sizeof point);
	}
}

void headway_series_write(const struct hwy_analysis *analysis, const struct headway_clock *clock,
			  int64_t device, struct hwy_bytes *out)
{
	for (uint32_t p = 0; p < analysis->phases.n; p++)
		for (uint32_t d = 0; analysis->measures[p].leads && d < analysis->flow.n_devices;
		     d++)
			put_lead(out, &analysis->measures[p].leads[d],
				 device == HWY_NONE ? analysis->flow.devices[d].device : device, p,
				 clock);
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

/* Writes points one after the other. All but the first of a series are written as differences from
 * the one before: they then compress to a third. */
struct pen {
	struct hwy_json *json;
	int64_t time, count, work; /* of the point before */
};

static struct pen pen_begin(struct hwy_json *json)
{
	json_key(json, "points");
	json_begin_array(json);
	return (struct pen){.json = json};
}

static void pen_put(struct pen *pen, int64_t time, int64_t count, int64_t work)
{
	json_begin_array(pen->json);
	json_int(pen->json, time - pen->time);
	json_int(pen->json, count - pen->count);
	json_int(pen->json, work - pen->work);
	json_end_array(pen->json);
	pen->time = time;
	pen->count = count;
	pen->work = work;
}

/* Writes the points from 'first' on that begin in the same part of the window as 'first' does, as
 * one or two; yields the number of the point after them. */
static uint32_t put_part(struct pen *pen, const int64_t *points, uint32_t first, uint32_t n,
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
	pen_put(pen, begin[TIME], count, work);
	if (last[COUNT] < count || last[WORK] < work)
		pen_put(pen, last[TIME], last[COUNT], last[WORK]);
	return i;
}

static void put_points(struct hwy_json *json, const int64_t *points, uint32_t n,
		       const struct parts *parts)
{
	uint32_t i = point_at(points, n, parts->from);
	struct pen pen = pen_begin(json);
	while (i < n && points[i * POINT + TIME] < parts->to)
		i = put_part(&pen, points, i, n, parts);
	/* The first point after the window says how long the last one holds. */
	if (i < n && i > 0)
		pen_put(&pen, points[i * POINT + TIME], points[i * POINT + COUNT],
			points[i * POINT + WORK]);
	json_end_array(json);
}

static bool touches(const int64_t *points, int64_t n, const struct parts *parts)
{
	return n > 0 && points[TIME] < parts->to && points[(n - 1) * POINT + TIME] >= parts->from;
}

/* The series of a phase and a device, one after the other. */
struct series_walk {
	const int64_t *at; /* HEAD numbers, then the points */
	size_t left;       /* numbers from 'at' on */
};

static struct series_walk walk_series(const struct hwy_bytes *series)
{
	return (struct series_walk){(const int64_t *)(const void *)series->bytes,
				    series->n / sizeof(int64_t)};
}

/* Yields the next series that touches the window, or NULL. */
static const int64_t *next_series(struct series_walk *walk, const struct parts *parts)
{
	while (walk->left >= HEAD && walk->at[N_POINTS] >= 0 &&
	       (uint64_t)walk->at[N_POINTS] <= (walk->left - HEAD) / POINT) {
		const int64_t *found = walk->at;
		size_t length = HEAD + (size_t)found[N_POINTS] * POINT;
		walk->at += length;
		walk->left -= length;
		if (touches(found + HEAD, found[N_POINTS], parts))
			return found;
	}
	return NULL;
}

/* Yields how many ns a point of the series holds for. */
static int64_t series_cell(const int64_t *series)
{
	const int64_t *points = series + HEAD, last = series[N_POINTS] - 1;
	return last > 0 ? (points[last * POINT + TIME] - points[TIME]) / last : 0;
}

static int64_t part_length(const struct parts *parts)
{
	return (parts->to - parts->from) / parts->n;
}

static void put_series(struct hwy_json *json, const int64_t *series, const struct parts *parts)
{
	json_begin_object(json);
	json_put_int(json, "device", series[DEVICE]);
	json_put_int(json, "phase", series[PHASE]);
	json_put_int(json, "max_count", series[MAX_COUNT]);
	json_put_int(json, "max_work", series[MAX_WORK]);
	int64_t cell = series_cell(series), part = part_length(parts);
	json_put_int(json, "within", cell > part ? cell : part);
	put_points(json, series + HEAD, (uint32_t)series[N_POINTS], parts);
	json_end_object(json);
}

/* Writes the parts that differ from the ones before them, and where the last one ends. */
static void put_exact(struct hwy_json *json, int64_t device, const struct parts *parts,
		      const struct device_lead *leads)
{
	struct device_lead most = {0, 0};
	int64_t written = -1;
	json_begin_object(json);
	json_put_int(json, "device", device);
	json_put_int(json, "phase", -1);
	json_put_int(json, "within", part_length(parts));
	struct pen pen = pen_begin(json);
	for (uint32_t p = 0; p < parts->n; p++) {
		int64_t time = device_lead_part(parts->from, parts->to, p, parts->n);
		most.count = leads[p].count > most.count ? leads[p].count : most.count;
		most.work = leads[p].work > most.work ? leads[p].work : most.work;
		bool is_same = written >= 0 && leads[p].count == leads[written].count &&
			       leads[p].work == leads[written].work;
		if (!is_same) {
			pen_put(&pen, time, leads[p].count, leads[p].work);
			written = p;
		}
	}
	pen_put(&pen, parts->to, leads[parts->n - 1].count, leads[parts->n - 1].work);
	json_end_array(json);
	json_put_int(json, "max_count", most.count);
	json_put_int(json, "max_work", most.work);
	json_end_object(json);
}

enum { DEVICES = 256 }; /* an annotation has a byte for its device, too */

/* Answers the devices exactly whose series are too coarse for the window, where that is possible;
 * sets 'done' of these. */
static void put_exact_devices(const struct hwy_bytes *series, const struct parts *parts,
			      const struct headway_finer *finer, bool *done, struct hwy_json *json)
{
	bool tried[DEVICES] = {0};
	struct device_lead *leads = hwy_array(parts->n, sizeof *leads);
	struct series_walk walk = walk_series(series);
	for (const int64_t *at; (at = next_series(&walk, parts));) {
		int64_t device = at[DEVICE];
		if (device < 0 || device >= DEVICES || tried[device] ||
		    series_cell(at) <= part_length(parts))
			continue;
		tried[device] = true;
		done[device] = finer->find(finer->self, device, leads);
		if (done[device])
			put_exact(json, device, parts, leads);
	}
	free(leads);
}

void headway_series_answer(const struct hwy_bytes *series, int64_t from, int64_t to, uint32_t n,
			   const struct headway_finer *finer, struct hwy_json *json)
{
	const struct parts parts = {from, to, n};
	bool done[DEVICES] = {0};
	json_begin_object(json);
	json_key(json, "devices");
	json_begin_array(json);
	if (finer)
		put_exact_devices(series, &parts, finer, done, json);
	struct series_walk walk = walk_series(series);
	for (const int64_t *at; (at = next_series(&walk, &parts));)
		if (at[DEVICE] < 0 || at[DEVICE] >= DEVICES || !done[at[DEVICE]])
			put_series(json, at, &parts);
	json_end_array(json);
	json_end_object(json);
}
