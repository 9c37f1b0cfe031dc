/* SPDX-License-Identifier: Apache-2.0 */
/* devices.c - what each device did, and all of them together, between first and last op.
 *
 * One pass over the work of all streams in order of start. Every length is that of a running
 * union, so a few counters for each device are all that is kept, however long the trace is.
 * Nested unions (compute; compute and comm; the same with copies; the same with fills) give the
 * exposed parts as differences.
 */
#include <stdlib.h>

#include "analyze/breakdown.h"
#include "analyze/sweep.h"
#include "base/index.h"

/* The classes of work in the order in which they hide each other. */
enum { COMPUTE, COMM, COPY, FILL, CLASSES };

struct tally {    /* the sums of one device, or of all devices together */
	bool any; /* the device has work in the trace */
	/* The first start and the last end of the work, inside and outside the scope. */
	struct hwy_interval extent;
	/* For each class, the union of the time of this class and of all classes before it. */
	struct hwy_cover nested[CLASSES];
	/* For each class, the union of its time; COMPUTE has its union in nested[COMPUTE]. */
	struct hwy_cover alone[CLASSES];
	struct hwy_bins cells;
	struct hwy_measures measures;
};

static unsigned devices_class_of(struct hwy_trace *trace, const struct hwy_strip *strip,
				 uint32_t row)
{
	switch (strip->kind) {
	case HWY_COPY: return COPY;
	case HWY_FILL: return FILL;
	default:
		return hwy_class_as_hta(trace, (enum hwy_kind)strip->kind,
					hwy_get(strip, HWY_NAME, row)) == HWY_COMM
			       ? COMM
			       : COMPUTE;
	}
}

static void devices_count(struct hwy_measures *measures, enum hwy_kind kind, unsigned class,
			  bool linked)
{
	measures->n_graph += kind == HWY_GRAPH;
	measures->n_kernel += kind == HWY_KERNEL && class == COMPUTE;
	measures->n_comm += class == COMM;
	measures->n_copy += class == COPY;
	measures->n_fill += class == FILL;
	measures->n_linked += linked;
}

static void count_comm_in_compute(struct hwy_measures *total, struct hwy_trace *trace,
				  const struct hwy_sweep *sweep, struct hwy_interval at)
{
	if (hwy_class(trace, (enum hwy_kind)sweep->strip->kind,
		      hwy_get(sweep->strip, HWY_NAME, sweep->row)) != HWY_COMM)
		return;
	total->n_comm_in_compute++;
	total->comm_in_compute += at.to - at.from;
}

static void cover(struct tally *tally, unsigned class, struct hwy_interval at)
{
	struct hwy_interval fresh;
	if (class != COMPUTE)
		cover_add(&tally->alone[class], at.from, at.to, &fresh);
	for (unsigned c = class; c < CLASSES; c++)
		if (cover_add(&tally->nested[c], at.from, at.to, &fresh) && c == FILL &&
		    tally->cells.n)
			bins_add(&tally->cells, fresh.from, fresh.to);
}

static void widen(struct tally *tally, int64_t from, int64_t to)
{
	if (!tally->any || from < tally->extent.from)
		tally->extent.from = from;
	if (!tally->any || to > tally->extent.to)
		tally->extent.to = to;
	tally->any = true;
}

/* The index of the lane's device among the tallies; the last tally is for work whose device was
 * not recorded. */
static uint32_t devices_slot_of(const struct hwy_trace *trace, uint32_t lane)
{
	int64_t device = trace->lanes[lane].device;
	return device >= 0 && device < trace->n_devices ? (uint32_t)device : trace->n_devices;
}

static void find_extents(const struct hwy_work *work, struct tally *tallies, struct tally *total)
{
	const struct hwy_trace *trace = work->trace;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (!work_is_on(work, strip))
			continue;
		struct tally *tally = &tallies[devices_slot_of(trace, strip->lane)];
		for (uint32_t row = 0; row < strip->rows; row++)
			if (work_is_own(work, strip, row))
				widen(tally, hwy_get(strip, HWY_START, row), hwy_end(strip, row));
	}
	for (uint32_t i = 0; i <= trace->n_devices; i++)
		if (tallies[i].any)
			widen(total, tallies[i].extent.from, tallies[i].extent.to);
}

/* Streams with one number on one device in one process are one stream, whatever their contexts.
 * What a recorder tells of a device as a whole (migrations of unified memory) is on no stream. */
static void count_streams(const struct hwy_trace *trace, const uint8_t *used, struct tally *tallies,
			  struct tally *total)
{
	struct hwy_index seen = {0};
	for (uint32_t l = 0; l < trace->n_lanes; l++) {
		const struct hwy_lane *lane = &trace->lanes[l];
		bool has_stream = lane->stream >= 0 && lane->stream < trace->n_streams;
		int64_t number = has_stream ? trace->streams[lane->stream].number : HWY_NONE;
		if (!used[l] || (has_stream && number == HWY_NONE))
			continue;
		int64_t key[] = {lane->process, lane->device, number};
		bool fresh;
		hwy_index_put(&seen, key, sizeof key, &fresh);
		tallies[devices_slot_of(trace, l)].measures.n_streams += fresh;
		total->measures.n_streams += fresh;
	}
	hwy_index_free(&seen);
}

static void set_window(const struct hwy_work *work, struct tally *tally)
{
	struct hwy_interval at = tally->extent;
	at.from = at.from > work->from ? at.from : work->from;
	at.to = at.to < work->to ? at.to : work->to;
	if (!tally->any || at.to < at.from)
		at = (struct hwy_interval){0, 0};
	tally->measures.from = at.from;
	tally->measures.to = at.to;
}

/* Cuts the window into n pieces that differ by at most 1 ns. */
static struct hwy_interval *cut(struct hwy_interval window, uint32_t n)
{
	struct hwy_interval *pieces = hwy_array(n, sizeof *pieces);
	int64_t length = window.to - window.from, at = window.from;
	for (uint32_t i = 0; i < n; i++) {
		int64_t next = window.from + length / n * (i + 1) + length % n * (i + 1) / n;
		pieces[i] = (struct hwy_interval){at, next};
		at = next;
	}
	return pieces;
}

static void sweep_work(const struct hwy_work *work, struct tally *tallies, struct tally *total)
{
	struct hwy_trace *trace = work->trace;
	struct hwy_sweep sweep = {0};
	uint8_t *used = hwy_zarray(trace->n_lanes, 1);
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (work_is_on(work, &trace->strips[s]))
			sweep_add(&sweep, &trace->strips[s],
				  devices_slot_of(trace, trace->strips[s].lane));
	while (sweep_next(&sweep)) {
		struct hwy_interval at;
		if (!work_counts(work, sweep.strip, sweep.row, sweep.start, sweep.end, &at))
			continue;
		unsigned class = devices_class_of(trace, sweep.strip, sweep.row);
		bool linked = hwy_get(sweep.strip, HWY_LINK, sweep.row) != 0;
		devices_count(&tallies[sweep.tag].measures, (enum hwy_kind)sweep.strip->kind, class,
			      linked);
		devices_count(&total->measures, (enum hwy_kind)sweep.strip->kind, class, linked);
		if (class == COMPUTE)
			count_comm_in_compute(&total->measures, trace, &sweep, at);
		cover(&tallies[sweep.tag], class, at);
		cover(total, class, at);
		used[sweep.strip->lane] = 1;
	}
	sweep_free(&sweep);
	count_streams(trace, used, tallies, total);
	free(used);
}

static void conclude(struct tally *tally)
{
	struct hwy_measures *measures = &tally->measures;
	measures->compute = tally->nested[COMPUTE].total;
	measures->comm = tally->alone[COMM].total;
	measures->copy = tally->alone[COPY].total;
	measures->fill = tally->alone[FILL].total;
	measures->exposed_comm = tally->nested[COMM].total - tally->nested[COMPUTE].total;
	measures->exposed_copy = tally->nested[COPY].total - tally->nested[COMM].total;
	measures->exposed_fill = tally->nested[FILL].total - tally->nested[COPY].total;
	measures->busy = tally->nested[FILL].total;
	measures->n_busy = tally->nested[FILL].pieces;
}

void devices_measure(const struct hwy_work *work, const struct hwy_breakdown_options *options,
		     struct hwy_breakdown *breakdown)
{
	/* The last tally is for work whose device was not recorded. */
	uint32_t n = work->trace->n_devices + 1;
	struct tally *tallies = hwy_zarray(n, sizeof *tallies), total = {0};
	find_extents(work, tallies, &total);
	set_window(work, &total);
	struct hwy_interval window = {total.measures.from, total.measures.to}, *pieces = NULL;
	if (options->cells && window.to > window.from)
		pieces = cut(window, options->cells);
	for (uint32_t i = 0; i < n; i++) {
		set_window(work, &tallies[i]);
		if (pieces && tallies[i].any)
			tallies[i].cells = (struct hwy_bins){
				.windows = pieces,
				.sums = hwy_zarray(options->cells, sizeof(int64_t)),
				.n = options->cells,
			};
	}
	sweep_work(work, tallies, &total);
	conclude(&total);
	breakdown->total = total.measures;
	breakdown->devices = hwy_array(n, sizeof *breakdown->devices);
	for (uint32_t i = 0; i < n; i++) {
		if (!tallies[i].any)
			continue;
		conclude(&tallies[i]);
		breakdown->devices[breakdown->n_devices++] = (struct hwy_device_part){
			.device = i < work->trace->n_devices ? (int64_t)i : HWY_NONE,
			.measures = tallies[i].measures,
			.cells = tallies[i].cells.sums,
		};
	}
	free(pieces);
	free(tallies);
}
