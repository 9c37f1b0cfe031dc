/* SPDX-License-Identifier: Apache-2.0 */
/* selection.c - see selection.h: the walk over the chosen lanes, and what took the time by name. */
#include "serve/selection.h"

#include <stdlib.h>

#include "base/json_fields.h"
#include "base/saturating.h"

enum { SHOWN_NAMES = 50 };

/* The tables of names, by kinds of spans. */
enum { KERNELS, CALLS, RANGES, OPERATORS, FUNCTIONS, OS_CALLS, TABLES };
static const struct {
	const char *key;
	uint32_t kinds;
} tables[TABLES] = {
	[KERNELS] = {"kernels", HWY_DEVICE_KINDS},
	[CALLS] = {"calls", HWY_KIND_BIT(HWY_API)},
	[RANGES] = {"ranges", HWY_KIND_BIT(HWY_RANGE)},
	[OPERATORS] = {"operators", HWY_KIND_BIT(HWY_OP)},
	[FUNCTIONS] = {"functions", HWY_KIND_BIT(HWY_CALL)},
	[OS_CALLS] = {"os", HWY_KIND_BIT(HWY_OS)},
};
#define NAMED_KINDS                                                                                \
	(HWY_DEVICE_KINDS | HWY_KIND_BIT(HWY_API) | HWY_KIND_BIT(HWY_RANGE) |                      \
	 HWY_KIND_BIT(HWY_OP) | HWY_KIND_BIT(HWY_CALL) | HWY_KIND_BIT(HWY_OS))

/* All spans of one name and colour, or of one colour. */
struct sum {
	int64_t name; /* id of the name */
	uint64_t count;
	int64_t total, longest; /* ns inside the selection */
	uint8_t color;          /* enum span_color */
};
struct sums {
	struct sum *v;
	uint32_t n, cap;
	struct hwy_map by_name; /* from name and colour to the index in 'v' */
	struct sum all;
};
/* Copies of one direction: their bytes and their time inside the selection. */
struct copies {
	uint64_t count;
	int64_t bytes, ns;
};
/* What the walk adds up. */
struct summing {
	struct view_trace *view;
	const struct selection *selection;
	struct sums tables[TABLES];
	struct sum colors[COLORS]; /* API calls by colour: launches, waits */
	struct copies copies[HWY_DIRECTIONS];
};

static const struct json_field total_fields[] = {
	{JSON_FIELD_INT(struct sum, count, "count")},
	{JSON_FIELD_INT(struct sum, total, "total")},
};
static const struct json_field sum_fields[] = {
	{JSON_FIELD_INT(struct sum, name, "name_id")}, {JSON_FIELD_INT(struct sum, count, "count")},
	{JSON_FIELD_INT(struct sum, total, "total")},  {JSON_FIELD_INT(struct sum, longest, "max")},
	{JSON_FIELD_INT(struct sum, color, "look")},
};
static const struct json_field copies_fields[] = {
	{JSON_FIELD_INT(struct copies, count, "count")},
	{JSON_FIELD_INT(struct copies, bytes, "bytes")},
	{JSON_FIELD_INT(struct copies, ns, "total")},
};

/* ---- the walk -------------------------------------------------------------------------------- */

static int64_t length_inside(const struct selection *selection, const struct hwy_strip *strip,
			     uint32_t row)
{
	int64_t begin = hwy_get(strip, HWY_START, row), end = hwy_end(strip, row);
	begin = begin > selection->from ? begin : selection->from;
	end = end < selection->to ? end : selection->to;
	return end - begin;
}

bool selection_walk(struct view_trace *view, const struct selection *selection, uint32_t lane,
		    uint32_t kinds, selection_add *add, void *self, struct hwy_err *err)
{
	struct view_spans earlier = {0};
	if (!view_need(view, lane, selection->from, selection->from, 0, err))
		return false;
	view_spans_touching(view, lane, selection->from, selection->from, 0, UINT32_MAX, &earlier);
	for (uint32_t i = 0; i < earlier.n; i++) {
		const struct hwy_strip *strip = &view->trace->strips[earlier.v[i].strip];
		uint32_t row = earlier.v[i].row;
		if (kinds & HWY_KIND_BIT(strip->kind))
			add(self, strip, row, length_inside(selection, strip, row));
	}
	free(earlier.v);
	struct view_walk walk;
	bool ok = view_walk_begin(&walk, view, lane, kinds, selection->from, selection->to, err);
	while (ok && view_walk_next(&walk, &ok, err))
		add(self, walk.strip, walk.row, length_inside(selection, walk.strip, walk.row));
	return ok;
}

static void sum_add(struct sum *sum, int64_t length)
{
	sum->count++;
	hwy_add_saturating(&sum->total, length);
	sum->longest = length > sum->longest ? length : sum->longest;
}

static void sums_add(struct sums *sums, int64_t name, uint8_t color, int64_t length)
{
	bool fresh;
	uint32_t *index = hwy_map_put(&sums->by_name, (uint64_t)name << 8 | color, &fresh);
	if (fresh) {
		HWY_GROW(sums->v, sums->n, sums->cap);
		*index = sums->n;
		sums->v[sums->n++] = (struct sum){.name = name, .color = color};
	}
	sum_add(&sums->v[*index], length);
	sum_add(&sums->all, length);
}

/* Yields the bytes of a copy that were copied by 'time', as if it went on at one rate: whole bytes,
 * rounded down. Stretches that follow one another share a moment, so their bytes add up. */
static int64_t bytes_until(const struct hwy_strip *strip, uint32_t row, int64_t time)
{
	int64_t bytes = hwy_get(strip, HWY_BYTES, row), start = hwy_get(strip, HWY_START, row);
	int64_t end = hwy_end(strip, row);
	if (time >= end)
		return bytes;
	return time <= start ? 0 : (int64_t)((__int128)bytes * (time - start) / (end - start));
}

static void copies_add(struct copies *copies, const struct selection *selection,
		       const struct hwy_strip *strip, uint32_t row, int64_t length)
{
	/* What begins in the selection and takes no time was copied in it. */
	int64_t before = hwy_get(strip, HWY_START, row) >= selection->from
				 ? 0
				 : bytes_until(strip, row, selection->from);
	copies->count++;
	hwy_add_saturating(&copies->bytes, bytes_until(strip, row, selection->to) - before);
	hwy_add_saturating(&copies->ns, length);
}

static void selection_add_span(void *self, const struct hwy_strip *strip, uint32_t row,
			       int64_t length)
{
	struct summing *summing = self;
	struct hwy_trace *trace = summing->view->trace;
	uint8_t color = span_color(trace, strip->kind, hwy_get(strip, HWY_NAME, row));
	for (unsigned t = 0; t < TABLES; t++)
		if (tables[t].kinds & HWY_KIND_BIT(strip->kind))
			sums_add(&summing->tables[t], span_names_id(trace, strip, row), color,
				 length);
	if (strip->kind == HWY_API)
		sum_add(&summing->colors[color], length);
	if (strip->kind == HWY_COPY) {
		int64_t direction = hwy_get(strip, HWY_DIRECTION, row);
		bool is_known = direction > 0 && direction < HWY_DIRECTIONS;
		copies_add(&summing->copies[is_known ? direction : HWY_DIR_UNKNOWN],
			   summing->selection, strip, row, length);
	}
}

/* Loads what the walk reads besides VIEW_COLUMNS; view_trim leaves it in memory. */
static bool need_bytes(struct view_trace *view, uint32_t lane, struct hwy_err *err)
{
	const struct hwy_strip *strip = hwy_strip_on(view->trace, lane, HWY_COPY);
	return !strip || hwy_need_strip(view->trace, (uint32_t)(strip - view->trace->strips),
					HWY_COL_BIT(HWY_BYTES), err);
}

/* Ranges that the recording itself has projected onto a stream count only where their lane was
 * chosen: the same ranges stand on their threads, too. */
static bool is_walked(const struct view_trace *view, const struct selection *selection,
		      uint32_t lane)
{
	const struct view_lane *on_lane = &view->lanes[lane];
	int64_t type = view->trace->lanes[lane].type;
	return on_lane->n > 0 && type != HWY_LANE_COUNTER && on_lane->from < selection->to &&
	       on_lane->to > selection->from && lane_choice_has(selection->lanes, lane) &&
	       (type != HWY_LANE_DEVICE_RANGE || selection->lanes);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static int selection_by_total(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;
	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

static void put_table(const struct view_trace *view, struct hwy_json *json, const char *key,
		      struct sums *sums)
{
	if (sums->n)
		qsort(sums->v, sums->n, sizeof *sums->v, selection_by_total);
	json_key(json, key);
	json_begin_object(json);
	json_put_int(json, "names", sums->n);
	json_put_fields(json, JSON_FIELDS(total_fields), &sums->all);
	json_key(json, "rows");
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
	json_end_object(json);
}

static void put_copies(struct hwy_json *json, const struct copies *copies)
{
	json_key(json, "copies");
	json_begin_array(json);
	for (unsigned d = 0; d < HWY_DIRECTIONS; d++) {
		if (copies[d].count == 0)
			continue;
		json_begin_object(json);
		json_put_text(json, "direction", d ? hwy_direction_names[d] : "unknown");
		json_put_fields(json, JSON_FIELDS(copies_fields), &copies[d]);
		json_end_object(json);
	}
	json_end_array(json);
}

static bool selection_put_names(struct view_trace *view, struct hwy_json *json,
				const struct selection *selection, struct hwy_err *err)
{
	struct summing summing = {.view = view, .selection = selection};
	bool ok = true;
	for (uint32_t lane = 0; ok && lane < view->trace->n_lanes; lane++)
		if (is_walked(view, selection, lane))
			ok = need_bytes(view, lane, err) &&
			     selection_walk(view, selection, lane, NAMED_KINDS, selection_add_span,
					    &summing, err);
	for (unsigned t = 0; t < TABLES; t++) {
		put_table(view, json, tables[t].key, &summing.tables[t]);
		free(summing.tables[t].v);
		hwy_map_free(&summing.tables[t].by_name);
	}
	put_copies(json, summing.copies);
	json_key(json, "launches");
	json_put_object(json, JSON_FIELDS(total_fields), &summing.colors[COLOR_LAUNCH]);
	json_key(json, "waits");
	json_put_object(json, JSON_FIELDS(total_fields), &summing.colors[COLOR_WAIT]);
	return ok;
}

bool selection_answer(struct view_trace *view, struct hwy_json *json,
		      const struct selection *selection, struct hwy_err *err)
{
	json_begin_object(json);
	json_put_int(json, "from", selection->from - view->origin);
	json_put_int(json, "to", selection->to - view->origin);
	bool ok = selection_put_devices(view, json, selection, err) &&
		  selection_put_counters(view, json, selection, err) &&
		  selection_put_names(view, json, selection, err) &&
		  selection_put_threads(view, json, selection, err);
	json_end_object(json);
	return ok;
}
