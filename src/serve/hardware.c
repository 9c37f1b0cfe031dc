/* SPDX-License-Identifier: Apache-2.0 */
/* hardware.c - when a device works, on whichever of its streams: the union of its streams by class
 * of work. The same is made for each rank of a job; the number of a rank's union is the number of
 * devices plus the index of the rank.
 *
 * The union is kept as busy ns in each of some hundred thousand buckets; tiles of finer levels are
 * made from the spans of their window. Where the nodes of a CUDA graph were recorded, they count
 * instead of the graph (analyze/work.h).
 */
#include <stdlib.h>

#include "analyze/sweep.h"
#include "analyze/work.h"
#include "serve/tiles.h"
#include "serve/view_ranks.h"

enum {
	MOST_BUCKETS = 1 << 19, /* the most buckets of all devices together, 32 bytes each */
	CLASSES = 3,
	SPANS_BETWEEN_PAUSES = 1 << 14,
	/* a request makes the union of fewer spans than this itself; else it waits */
	SPANS_AT_ONCE = 1 << 20,
};

bool hardware_has(const struct view_trace *view, uint32_t device, uint32_t lane)
{
	const struct hwy_lane *stream = &view->trace->lanes[lane];
	if (view->lanes[lane].n == 0 || stream->type != HWY_LANE_STREAM)
		return false;
	return device < view->trace->n_devices
		       ? stream->device == device
		       : ranks_of_lane(view, stream) == device - view->trace->n_devices;
}

static void add_cover(struct view_device *device, unsigned class, int64_t from, int64_t to)
{
	while (from < to) {
		int64_t index = from >> device->level;
		int64_t next = (int64_t)((uint64_t)(index + 1) << device->level);
		next = next < to ? next : to;
		if (index >= device->base && index - device->base < device->n)
			device->cover[class][index - device->base] += next - from;
		from = next;
	}
}

/* Makes view->work, which knows the graphs whose nodes were recorded. It stays NULL where there
 * are no graphs. */
static bool need_work(struct view_trace *view, struct hwy_err *err)
{
	bool has_graphs = false;
	for (uint32_t s = 0; s < view->trace->n_strips; s++)
		has_graphs |= view->trace->strips[s].kind == HWY_GRAPH;
	if (!has_graphs || view->work)
		return true;
	struct hwy_work *work = hwy_zalloc(sizeof *work);
	if (!work_open(work, view->trace, HWY_SCOPE_ALL, err)) {
		free(work);
		return false;
	}
	view->work = work;
	return true;
}

void hardware_close(struct view_trace *view)
{
	if (view->work)
		work_close(view->work);
	free(view->work);
	for (uint32_t d = 0; view->devices && d < view_unions(view); d++)
		for (unsigned c = 0; c <= HARDWARE_ANY; c++)
			free(view->devices[d].cover[c]);
	free(view->devices);
}

bool hardware_is_work(const struct view_trace *view, const struct hwy_strip *strip, uint32_t row)
{
	return (HWY_KIND_BIT(strip->kind) & HWY_DEVICE_KINDS) &&
	       (strip->kind != HWY_GRAPH || work_is_own(view->work, strip, row));
}

/* Whether pauses leave the columns of a device's work in memory: view_trim frees those of large
 * lanes only. */
static bool can_pause(const struct view_trace *view, uint32_t device)
{
	for (uint32_t lane = 0; lane < view->trace->n_lanes; lane++)
		if (hardware_has(view, device, lane) && view->lanes[lane].spans > view->whole_spans)
			return false;
	return true;
}

/* Adds a device's work to the buckets of 'device'. False where the request or the server has
 * ended. */
static bool sweep_device(struct view_trace *view, uint32_t number, struct view_device *device,
			 struct hwy_err *err)
{
	bool pauses = can_pause(view, number), ok = true;
	int64_t covered[] = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN};
	struct hwy_sweep sweep = {0};
	for (uint32_t s = 0; s < view->trace->n_strips; s++) {
		const struct hwy_strip *strip = &view->trace->strips[s];
		if ((HWY_KIND_BIT(strip->kind) & HWY_DEVICE_KINDS) && strip->rows > 0 &&
		    hardware_has(view, number, strip->lane))
			sweep_add(&sweep, strip, 0);
	}
	for (uint32_t i = 0; ok && sweep_next(&sweep); i++) {
		if (pauses && i % SPANS_BETWEEN_PAUSES == 0)
			ok = view_pause(view, err);
		if (!hardware_is_work(view, sweep.strip, sweep.row))
			continue;
		unsigned c = hwy_class(view->trace, sweep.strip->kind,
				       hwy_get(sweep.strip, HWY_NAME, sweep.row));
		for (;; c = HARDWARE_ANY) {
			int64_t from = sweep.start > covered[c] ? sweep.start : covered[c];
			add_cover(device, c, from, sweep.end);
			covered[c] = sweep.end > covered[c] ? sweep.end : covered[c];
			if (c == HARDWARE_ANY)
				break;
		}
	}
	sweep_free(&sweep);
	return ok;
}

static bool need_device_columns(struct view_trace *view, struct hwy_err *err)
{
	uint64_t columns = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME);
	for (uint32_t s = 0; s < view->trace->n_strips; s++)
		if (HWY_KIND_BIT(view->trace->strips[s].kind) & HWY_DEVICE_KINDS &&
		    !hwy_need_strip(view->trace, s, columns, err))
			return false;
	return need_work(view, err);
}

static void free_device(struct view_device *device)
{
	for (unsigned c = 0; c <= HARDWARE_ANY; c++)
		free(device->cover[c]);
	*device = (struct view_device){0};
}

bool hardware_need(struct view_trace *view, uint32_t number, struct hwy_err *err)
{
	/* The union is made in a variable of its own: during a pause another request may make
	 * the same one. */
	struct view_device made = {.is_ready = true};
	if (view->devices[number].is_ready)
		return true;
	if (!need_device_columns(view, err))
		return false;
	int64_t most = MOST_BUCKETS / view_unions(view);
	while ((view->to - view->from) >> made.level >= (most > 0 ? most : 1))
		made.level++;
	made.base = view->from >> made.level;
	made.n = (uint32_t)((view->to >> made.level) - made.base + 1);
	for (unsigned c = 0; c <= HARDWARE_ANY; c++)
		made.cover[c] = hwy_zarray(made.n, sizeof *made.cover[c]);
	bool ok = sweep_device(view, number, &made, err);
	if (ok && !view->devices[number].is_ready)
		view->devices[number] = made;
	else
		free_device(&made);
	return ok;
}

static uint64_t hardware_count_spans(const struct view_trace *view, uint32_t device)
{
	uint64_t spans = 0;
	for (uint32_t lane = 0; lane < view->trace->n_lanes; lane++)
		spans += hardware_has(view, device, lane) ? view->lanes[lane].spans : 0;
	return spans;
}

bool hardware_wait(struct view_trace *view, uint32_t number, struct hwy_err *err)
{
	bool is_large = hardware_count_spans(view, number) >= SPANS_AT_ONCE;
	while (is_large && view->has_read_ahead && !view->devices[number].is_ready) {
		view->wants_devices = true;
		if (!turns_sleep(view->turns, err))
			return false;
	}
	return hardware_need(view, number, err);
}

void hardware_take(struct view_trace *view, struct view_trace *from, uint32_t device)
{
	if (view->devices[device].is_ready)
		return;
	view->devices[device] = from->devices[device];
	from->devices[device] = (struct view_device){0};
}

/* ---- tiles ----------------------------------------------------------------------------------- */

static void cover_from_buckets(const struct view_device *device, struct summary *summary)
{
	int64_t first = summary->from >> device->level;
	unsigned by = summary->level - device->level;
	int64_t last = first + ((int64_t)VIEW_BUCKETS << by);
	int64_t i = first > device->base ? first : device->base;
	int64_t end = device->base + device->n;
	for (end = end < last ? end : last; i < end; i++)
		for (unsigned c = 0; c < CLASSES; c++)
			summary->cover[c][(i - first) >> by] += device->cover[c][i - device->base];
}

bool hardware_spans(struct view_trace *view, uint32_t number, int64_t from, int64_t to,
		    struct view_spans *spans, struct hwy_err *err)
{
	if (!need_work(view, err))
		return false;
	for (uint32_t lane = 0; lane < view->trace->n_lanes; lane++) {
		if (!hardware_has(view, number, lane))
			continue;
		if (!view_need(view, lane, from, to, 0, err))
			return false;
		view_spans_touching(view, lane, from, to, 0, UINT32_MAX, spans);
	}
	uint32_t kept = 0;
	for (uint32_t i = 0; i < spans->n; i++)
		if (hardware_is_work(view, &view->trace->strips[spans->v[i].strip],
				     spans->v[i].row))
			spans->v[kept++] = spans->v[i];
	spans->n = kept;
	view_spans_sort(spans);
	return true;
}

static bool cover_from_spans(struct view_trace *view, uint32_t number, struct summary *summary,
			     struct hwy_err *err)
{
	struct view_spans spans = {0};
	int64_t covered[CLASSES] = {INT64_MIN, INT64_MIN, INT64_MIN};
	bool ok = hardware_spans(view, number, summary->from,
				 summary->from + summary->width * VIEW_BUCKETS, &spans, err);
	for (uint32_t i = 0; ok && i < spans.n; i++) {
		const struct view_span *span = &spans.v[i];
		const struct hwy_strip *strip = &view->trace->strips[span->strip];
		unsigned c =
			hwy_class(view->trace, strip->kind, hwy_get(strip, HWY_NAME, span->row));
		int64_t end = span->start + span->dur;
		tiles_add_cover(summary, c, span->start > covered[c] ? span->start : covered[c],
				end);
		covered[c] = end > covered[c] ? end : covered[c];
	}
	free(spans.v);
	return ok;
}

/* While the union is not made yet: adds up the shares of the streams. Work of two streams at the
 * same time then counts twice. */
static bool cover_provisional(struct view_trace *view, uint32_t number, struct summary *summary,
			      struct hwy_err *err)
{
	int64_t origin = view->origin;
	for (uint32_t lane = 0; lane < view->trace->n_lanes; lane++) {
		if (!hardware_has(view, number, lane))
			continue;
		struct hwy_bytes out = {0};
		struct tile tile = {0, summary->level, lane,
				    (summary->from - origin) >> (summary->level + VIEW_TILE_BITS)};
		bool ok = tiles_put(view, &tile, &out, err);
		if (ok && out.bytes[VIEW_TILE_FORM_AT] == VIEW_SUMMARY) {
			uint32_t n = (uint32_t)hwy_little_read(out.bytes + VIEW_TILE_COUNT_AT, 4);
			const uint8_t *mask = out.bytes + VIEW_TILE_HEAD, *offsets = mask + 4;
			const uint8_t *share = offsets + n;
			for (unsigned c = 0; c < CLASSES; c++)
				for (uint32_t i = 0; *mask >> c & 1 && i < n; i++)
					summary->cover[c][offsets[i]] +=
						summary->width * *share++ / 255;
		}
		hwy_bytes_free(&out);
		if (!ok)
			return false;
	}
	return true;
}

bool hardware_cover(struct view_trace *view, uint32_t device, struct summary *summary,
		    bool *is_final, struct hwy_err *err)
{
	*is_final = hardware_count_spans(view, device) < SPANS_AT_ONCE ||
		    view->devices[device].is_ready;
	if (!*is_final)
		return cover_provisional(view, device, summary, err);
	if (!hardware_need(view, device, err))
		return false;
	if (summary->level < view->devices[device].level)
		return cover_from_spans(view, device, summary, err);
	cover_from_buckets(&view->devices[device], summary);
	return true;
}
