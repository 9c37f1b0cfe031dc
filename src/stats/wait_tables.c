/* SPDX-License-Identifier: Apache-2.0 */
/* wait_tables.c - the calls that wait for the device: why, how long, where, and how often for
 * nothing.
 *
 * Which calls block is decided by analyze/flow.c, as for the diagnosis, `diff` and `gate`.
 * A call waits from its start until the last work it waits for has ended, but never beyond its
 * own end; what remains of the call is the vendor's library's own time. "Nothing pending" counts
 * the calls that began when that work had already ended. A synchronisation waits for what its
 * process had enqueued before, on the stream or device it names; a copy waits for what its
 * stream held, and for itself. A blocking call inside another blocking call is part of the outer
 * one and not counted.
 */
#include <stdlib.h>

#include "analyze/flow.h"
#include "analyze/place.h"
#include "base/hash.h"
#include "base/index.h"
#include "base/lang.h"
#include "stats/families.h"
#include "stats/launches.h"
#include "stats/nsys_labels.h"
#include "stats/pending.h"

struct line { /* calls of one name, reason and place */
	struct line_key {
		int64_t name;
		int64_t place;   /* id of a text in waits.place_texts */
		const char *why; /* the reason: one of the constant texts of this file */
	} key;
	int64_t calls;
	/* The ns that the calls took, that they waited, and that the longest call took. */
	int64_t total, waited, longest;
	int64_t idle; /* how many calls found nothing pending */
};
struct waits {
	struct report_run *run;
	struct launches launches;
	struct pending pending;
	/* Maps the id of a call's span to the id of the call's HWY_SYNC span. */
	struct hwy_map sync_of;
	struct hwy_map blocking; /* the keys are the ids of the spans of calls that block */
	struct hwy_strings place_texts;
	struct hwy_places *places;
	struct hwy_index by_key; /* finds the elements of 'lines' by their keys */
	struct line *lines;
	uint32_t n, cap;
};

struct wait {            /* what is known about one blocking call */
	const char *why; /* the reason for the wait; NULL where the call does not block */
	/* The device and the stream whose work the call waits for; HWY_NONE stands for any
	 * device or stream. */
	int64_t device, stream;
	/* When the work that the call enqueued ends; INT64_MIN where it enqueued none. */
	int64_t own_end;
};

/* ---- one call -------------------------------------------------------------------------------- */

static void set_wait_for_sync(const struct waits *waits, uint32_t id, struct wait *wait)
{
	const struct hwy_trace *trace = waits->run->trace;
	const uint32_t *sync = hwy_map_get(&waits->sync_of, id);
	if (!sync)
		return;
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(trace, *sync, &row);
	uint32_t stream;
	wait->device = trace->lanes[strip->lane].device;
	if (hwy_get(strip, HWY_SYNC_TYPE, row) == HWY_SYNC_STREAM &&
	    hwy_get_index(strip, HWY_WAITED, row, &stream))
		wait->stream = stream;
}

/* What a synchronising call waits for, by its name. A wait for an event is measured as one for
 * all work of the device: the event's stream is not followed. */
static const char *sync_reason(const char *name)
{
	if (strstr(name, "Stream"))
		return HWY_KEY("waits for a stream");
	if (strstr(name, "Finish"))
		return HWY_KEY("waits for a queue");
	if (strstr(name, "Event"))
		return HWY_KEY("waits for an event");
	return HWY_KEY("waits for the device");
}

/* Sets the wait of a call that enqueued copies or fills, and waits for them. */
static void set_wait_for_work(const struct waits *waits, const struct hwy_strip *call, uint32_t row,
			      struct wait *wait)
{
	const struct hwy_trace *trace = waits->run->trace;
	struct launched work = launches_by_call_or_twin(&waits->launches, trace, call, row);
	for (uint32_t i = 0; i < work.n; i++) {
		uint32_t span_row;
		const struct hwy_strip *strip = hwy_strip_of(trace, work.spans[i], &span_row);
		bool pageable = strip->kind == HWY_COPY && hwy_copies_pageable(strip, span_row);
		int64_t end = hwy_end(strip, span_row);
		wait->own_end = end > wait->own_end ? end : wait->own_end;
		wait->device = trace->lanes[strip->lane].device;
		wait->stream = trace->lanes[strip->lane].stream;
		wait->why = pageable                  ? HWY_KEY("copies pageable memory")
			    : strip->kind == HWY_FILL ? HWY_KEY("fills and waits")
						      : HWY_KEY("copies and waits");
	}
}

static struct wait wait_of(struct waits *waits, const struct hwy_strip *call, uint32_t row)
{
	struct hwy_trace *trace = waits->run->trace;
	struct wait wait = {.device = HWY_NONE, .stream = HWY_NONE, .own_end = INT64_MIN};
	int64_t name = hwy_get(call, HWY_NAME, row);
	if (!hwy_map_get(&waits->blocking, call->first + row))
		return wait;
	switch (HWY_ROLE_OF(hwy_role(trace, name))) {
	case HWY_ROLE_SYNC:
		wait.why = sync_reason(hwy_str(trace, name));
		set_wait_for_sync(waits, call->first + row, &wait);
		break;
	case HWY_ROLE_FREE: wait.why = HWY_KEY("frees memory"); break;
	case HWY_ROLE_COPY:
		wait.why = HWY_KEY("copies and waits");
		set_wait_for_work(waits, call, row, &wait);
		break;
	case HWY_ROLE_FILL:
		wait.why = HWY_KEY("fills and waits");
		set_wait_for_work(waits, call, row, &wait);
		break;
	default:
		wait.why = HWY_KEY("waits for its work");
		set_wait_for_work(waits, call, row, &wait);
	}
	return wait;
}

static struct line *wait_tables_line_of(struct waits *waits, struct line_key key)
{
	bool fresh;
	uint32_t *line = hwy_index_put_element(&waits->by_key, waits->lines, sizeof *waits->lines,
					       &key, sizeof key, &fresh);
	if (fresh) {
		HWY_GROW(waits->lines, waits->n, waits->cap);
		*line = waits->n;
		waits->lines[waits->n++] = (struct line){.key = key};
	}
	return &waits->lines[*line];
}

static void wait_tables_add(struct waits *waits, const struct hwy_strip *call, uint32_t row,
			    const struct wait *wait)
{
	const struct hwy_trace *trace = waits->run->trace;
	int64_t start = hwy_get(call, HWY_START, row), end = hwy_end(call, row);
	int64_t before = pending_end(&waits->pending, start, trace->lanes[call->lane].process,
				     wait->device, wait->stream);
	int64_t until = before > wait->own_end ? before : wait->own_end;
	int64_t waited = until <= start ? 0 : (until < end ? until : end) - start;
	struct hwy_text place = place_line(waits->places, call->first + row);
	struct line *line = wait_tables_line_of(
		waits, (struct line_key){
			       .name = hwy_get(call, HWY_NAME, row),
			       .place = hwy_intern(&waits->place_texts, place.at, place.length),
			       .why = wait->why,
		       });
	line->calls++;
	hwy_add_saturating(&line->total, end - start);
	hwy_add_saturating(&line->waited, waited);
	line->idle += before <= start;
	line->longest = end - start > line->longest ? end - start : line->longest;
}

static void wait_tables_visit_thread(struct waits *waits, const struct hwy_strip *calls)
{
	int64_t last_end = INT64_MIN; /* when the last blocking call ended */
	for (uint32_t row = 0; row < calls->rows; row++) {
		if (hwy_get(calls, HWY_START, row) < last_end ||
		    !report_keeps(waits->run, calls, row))
			continue;
		struct wait wait = wait_of(waits, calls, row);
		if (!wait.why)
			continue;
		last_end = hwy_end(calls, row);
		wait_tables_add(waits, calls, row, &wait);
	}
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int wait_tables_by_total(const void *left, const void *right, void *self)
{
	const struct line *a = left, *b = right;
	const struct waits *waits = self;
	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	int order = strcmp(hwy_str(waits->run->trace, a->key.name),
			   hwy_str(waits->run->trace, b->key.name));
	if (order == 0)
		order = strcmp(a->key.why, b->key.why);
	return order ? order : (a->key.place > b->key.place) - (a->key.place < b->key.place);
}

static void wait_tables_yield(struct waits *waits)
{
	int64_t total = 0;
	for (uint32_t i = 0; i < waits->n; i++)
		hwy_add_saturating(&total, waits->lines[i].total);
	if (waits->n)
		qsort_r(waits->lines, waits->n, sizeof *waits->lines, wait_tables_by_total, waits);
	for (uint32_t i = 0; i < waits->n; i++) {
		const struct line *line = &waits->lines[i];
		struct stats_cell cells[] = {
			cell_share(line->total, total),
			cell_number(line->total),
			cell_number(line->waited),
			cell_number(line->calls),
			cell_number(line->idle),
			cell_real((double)line->total / (double)line->calls),
			cell_number(line->longest),
			cell_from_textz(line->key.why),
			cell_from_text(
				nsys_label_call(hwy_text(waits->run->trace, line->key.name))),
			cell_from_text(waits->place_texts.texts[line->key.place]),
		};
		report_row(waits->run, cells);
	}
}

static void find_syncs(struct waits *waits)
{
	const struct hwy_trace *trace = waits->run->trace;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		for (uint32_t row = 0; strip->kind == HWY_SYNC && row < strip->rows; row++) {
			uint32_t call;
			if (hwy_get_index(strip, HWY_LINK, row, &call))
				*hwy_map_put(&waits->sync_of, call, NULL) = strip->first + row;
		}
	}
}

/* Notes which calls block. */
static bool find_blocking(struct waits *waits, struct hwy_err *err)
{
	struct hwy_flow flow;
	if (!flow_open(&flow, waits->run->trace, err))
		return false;
	for (uint32_t i = 0; i < flow.n_calls; i++)
		if (flow.calls[i].blocks)
			hwy_map_put(&waits->blocking, flow.calls[i].span, NULL);
	flow_close(&flow);
	return true;
}

static bool waits_open(struct waits *waits, struct report_run *run, struct hwy_err *err)
{
	struct hwy_trace *trace = run->trace;
	*waits = (struct waits){.run = run};
	hwy_strings_init(&waits->place_texts);
	/* The filter chooses among the waits; the work that they wait for is taken whole. */
	struct report_run all = {.trace = trace};
	return hwy_need(trace, HWY_KIND_BIT(HWY_SYNC),
			HWY_COL_BIT(HWY_LINK) | HWY_COL_BIT(HWY_WAITED) |
				HWY_COL_BIT(HWY_SYNC_TYPE),
			err) &&
	       hwy_need(trace, HWY_KIND_BIT(HWY_COPY),
			HWY_COL_BIT(HWY_SRC_MEMORY) | HWY_COL_BIT(HWY_DST_MEMORY), err) &&
	       find_blocking(waits, err) && (waits->places = places_open(trace, err)) &&
	       pending_open(&waits->pending, trace, err) &&
	       launches_open(&waits->launches, &all, HWY_DEVICE_KINDS, err);
}

bool make_wait_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {{"Time", STATS_PERCENT},
						      {"Total Time", STATS_TIME},
						      {"Waited", STATS_TIME},
						      {"Num Calls", STATS_COUNT},
						      {"Nothing Pending", STATS_COUNT},
						      {"Avg", STATS_TIME_MEAN},
						      {"Max", STATS_TIME},
						      {"Why", STATS_WORD},
						      {"Name", STATS_TEXT},
						      {"Place", STATS_TEXT}};
	struct waits waits;
	bool ok = waits_open(&waits, run, err);
	if (ok) {
		report_columns(run, columns, STATS_LENGTH(columns));
		find_syncs(&waits);
		for (uint32_t s = 0; s < run->trace->n_strips; s++)
			if (run->trace->strips[s].kind == HWY_API)
				wait_tables_visit_thread(&waits, &run->trace->strips[s]);
		wait_tables_yield(&waits);
	}
	places_close(waits.places);
	pending_close(&waits.pending);
	launches_close(&waits.launches);
	hwy_map_free(&waits.sync_of);
	hwy_map_free(&waits.blocking);
	hwy_index_free(&waits.by_key);
	hwy_strings_free(&waits.place_texts);
	free(waits.lines);
	return ok;
}
