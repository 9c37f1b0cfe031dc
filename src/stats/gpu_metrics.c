/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_metrics.c - GPU metrics: by device, by step, by kernel, and by the range that launched the
 * work.
 *
 * A metric is sampled at times of its own. A kernel (and the work of a range) gets the samples
 * that it covers for METRIC_PURE_SHARE of the sampled interval or more, alone or together with
 * others of its name; each weighs as much as its covered time. The column "Samples" says how
 * many these are; below METRICS_FEWEST_SAMPLES the metrics are left empty. A step gets all
 * samples of its device window.
 */
#include <stdio.h>
#include <stdlib.h>

#include "analyze/device_metrics.h"
#include "analyze/phases/phases.h"
#include "stats/families.h"
#include "stats/nvtx_sweep.h"

/* The metrics of the tables, in the order of their columns. */
static const enum hwy_metric shown[] = {
	METRIC_SMS_ACTIVE, METRIC_SM_ISSUE, METRIC_TENSOR,  METRIC_WARPS,     METRIC_DRAM_READ,
	METRIC_DRAM_WRITE, METRIC_PCIE_RX,  METRIC_PCIE_TX, METRIC_NVLINK_RX, METRIC_NVLINK_TX,
};
#define SHOWN STATS_LENGTH(shown)
#define SHOWN_COLUMNS                                                                              \
	{"Samples", STATS_COUNT}, {"SMs Active", STATS_PERCENT}, {"SM Issue", STATS_PERCENT},      \
		{"Tensor", STATS_PERCENT}, {"Warps", STATS_PERCENT}, {"DRAM Read", STATS_PERCENT}, \
		{"DRAM Write", STATS_PERCENT}, {"PCIe RX", STATS_PERCENT},                         \
		{"PCIe TX", STATS_PERCENT}, {"NVLink RX", STATS_PERCENT},                          \
	{                                                                                          \
		"NVLink TX", STATS_PERCENT                                                         \
	}

/* A stretch of time of one device that belongs to a row of the table. */
struct piece {
	uint32_t row;
	int64_t device;
	struct hwy_interval at;
};
struct pieces {
	struct piece *list;
	uint32_t n, cap;
};

struct metrics_row {
	struct metric_sum sums[SHOWN];
	uint32_t samples; /* of the metric that has most */
};

static void add_piece(struct pieces *pieces, uint32_t row, int64_t device, int64_t from, int64_t to)
{
	HWY_GROW(pieces->list, pieces->n, pieces->cap);
	pieces->list[pieces->n++] = (struct piece){row, device, {from, to}};
}

static int compare_pieces(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;
	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return (a->at.from > b->at.from) - (a->at.from < b->at.from);
}

/* Adds the samples of one device under intervals that are disjoint and in order. */
static void add_device_samples(struct hwy_metrics *metrics, int64_t device,
			       const struct hwy_interval *intervals, uint32_t n, double pure,
			       struct metrics_row *row)
{
	uint32_t most = 0;
	for (uint32_t m = 0; m < SHOWN; m++) {
		uint32_t before = row->sums[m].samples;
		metric_add_percent(&row->sums[m], metrics_percent(metrics, device, shown[m]),
				   intervals, n, pure);
		uint32_t added = row->sums[m].samples - before;
		most = added > most ? added : most;
	}
	row->samples += most;
}

/* Yields the means of each of n rows. The pieces are put in order; those of one row and device
 * may overlap. */
static struct metrics_row *rows_of_pieces(struct hwy_metrics *metrics, struct pieces *pieces,
					  uint32_t n, double pure)
{
	struct metrics_row *rows = hwy_zarray(n, sizeof *rows);
	struct hwy_interval *union_of = hwy_array(pieces->n, sizeof *union_of);
	if (pieces->n)
		qsort(pieces->list, pieces->n, sizeof *pieces->list, compare_pieces);
	for (uint32_t i = 0; i < pieces->n;) {
		const struct piece *first = &pieces->list[i];
		struct hwy_cover cover = {0};
		uint32_t parts = 0;
		for (; i < pieces->n && pieces->list[i].row == first->row &&
		       pieces->list[i].device == first->device;
		     i++)
			parts += cover_add(&cover, pieces->list[i].at.from, pieces->list[i].at.to,
					   &union_of[parts]);
		add_device_samples(metrics, first->device, union_of, parts, pure,
				   &rows[first->row]);
	}
	free(union_of);
	return rows;
}

static void put_shown(struct stats_cell *cells, const struct metrics_row *row)
{
	cells[0] = cell_number(row->samples);
	for (uint32_t m = 0; m < SHOWN; m++)
		cells[1 + m] = row->sums[m].samples >= METRICS_FEWEST_SAMPLES
				       ? cell_real(metric_mean(&row->sums[m]))
				       : cell_empty();
}

static bool has_shown(const struct hwy_metrics *metrics)
{
	for (uint32_t i = 0; i < metrics->n; i++)
		for (uint32_t m = 0; m < SHOWN; m++)
			if (metrics->list[i].metric == shown[m])
				return true;
	return false;
}

/* The part of a span that lies in the filter's window. */
static struct hwy_interval in_window(const struct report_run *run, int64_t from, int64_t to)
{
	if (run->filter.timed) {
		from = from > run->filter.from ? from : run->filter.from;
		to = to < run->filter.to ? to : run->filter.to;
	}
	return (struct hwy_interval){from, to > from ? to : from};
}

/* ---- by device ------------------------------------------------------------------------------- */

/* Yields when each device worked: pieces whose row is 0, in order of device and start. */
static bool find_busy(struct report_run *run, struct pieces *pieces, struct hwy_err *err)
{
	struct hwy_trace *trace = run->trace;
	if (!hwy_need(trace, HWY_DEVICE_KINDS,
		      HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | filter_columns(&run->filter),
		      err))
		return false;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (!(HWY_DEVICE_KINDS & HWY_KIND_BIT(strip->kind)))
			continue;
		for (uint32_t row = 0; row < strip->rows; row++) {
			if (!report_keeps(run, strip, row))
				continue;
			struct hwy_interval at =
				in_window(run, hwy_get(strip, HWY_START, row), hwy_end(strip, row));
			add_piece(pieces, 0, trace->lanes[strip->lane].device, at.from, at.to);
		}
	}
	if (pieces->n)
		qsort(pieces->list, pieces->n, sizeof *pieces->list, compare_pieces);
	return true;
}

/* Yields the union of a device's pieces; the caller frees it. */
static struct hwy_interval *busy_of_device(const struct pieces *busy, int64_t device, uint32_t *n)
{
	struct hwy_interval *intervals = hwy_array(busy->n, sizeof *intervals);
	struct hwy_cover cover = {0};
	*n = 0;
	for (uint32_t i = 0; i < busy->n; i++)
		if (busy->list[i].device == device)
			*n += cover_add(&cover, busy->list[i].at.from, busy->list[i].at.to,
					&intervals[*n]);
	return intervals;
}

static void yield_lane(struct report_run *run, uint32_t lane, const struct metric_series *series,
		       const struct hwy_interval *busy, uint32_t n_busy)
{
	const struct hwy_trace *trace = run->trace;
	struct metric_sum all = {0}, working = {0};
	struct hwy_interval whole = in_window(run, -2 * HWY_TIME_LIMIT, 2 * HWY_TIME_LIMIT);
	metric_add(&working, series, busy, n_busy, METRIC_PURE_SHARE);
	/* Inside ranges, only the work that was launched there counts. */
	metric_add(&all, series, run->filter.ranged ? busy : &whole,
		   run->filter.ranged ? n_busy : 1, 0);
	if (all.samples == 0)
		return;
	struct stats_cell cells[] = {
		cell_number_or_empty(trace->devices[trace->lanes[lane].device].ordinal),
		cell_number(all.samples),
		cell_real(metric_mean(&all)),
		cell_number(working.samples),
		working.samples >= METRICS_FEWEST_SAMPLES ? cell_real(metric_mean(&working))
							  : cell_empty(),
		cell_real(all.least),
		cell_real(all.most),
		cell_from_text(hwy_text(trace, trace->lanes[lane].unit)),
		cell_from_text(hwy_text(trace, trace->lanes[lane].name)),
	};
	report_row(run, cells);
}

bool make_gpu_metrics_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {
		{"GPU", STATS_ID},        {"Samples", STATS_COUNT},
		{"Avg", STATS_MEAN},      {"Busy Samples", STATS_COUNT},
		{"Busy Avg", STATS_MEAN}, {"Min", STATS_MEAN},
		{"Max", STATS_MEAN},      {"Unit", STATS_TEXT},
		{"Metric", STATS_TEXT}};
	struct hwy_trace *trace = run->trace;
	struct pieces busy = {0};
	bool ok = find_busy(run, &busy, err);
	int64_t device = HWY_NONE;
	struct hwy_interval *intervals = NULL;
	uint32_t n = 0;
	report_columns(run, columns, STATS_LENGTH(columns));
	for (uint32_t lane = 0; ok && lane < trace->n_lanes; lane++) {
		const struct hwy_lane *one = &trace->lanes[lane];
		struct metric_series series;
		if (one->type != HWY_LANE_COUNTER || one->device < 0 ||
		    one->device >= trace->n_devices || !hwy_strip_on(trace, lane, HWY_COUNTER) ||
		    metric_of_name(hwy_str(trace, one->name), hwy_str(trace, one->unit)) ==
			    METRIC_LIMITS) /* bits have no mean */
			continue;
		if (device != one->device) {
			free(intervals);
			device = one->device;
			intervals = busy_of_device(&busy, device, &n);
		}
		ok = metric_series_read(&series, trace, lane, err);
		if (ok)
			yield_lane(run, lane, &series, intervals, n);
		metric_series_free(&series);
	}
	free(intervals);
	free(busy.list);
	return ok;
}

/* ---- by kernel ------------------------------------------------------------------------------- */

struct named { /* a row of a table by name */
	struct hwy_text name;
	int64_t ns;
	uint64_t count;
	uint32_t row;
};

static int compare_named(const void *left, const void *right)
{
	const struct named *a = left, *b = right;
	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	return strcmp(a->name.at, b->name.at);
}

/* Yields the rows of a table by name, those with most time first. */
static void yield_named(struct report_run *run, struct hwy_metrics *metrics, struct named *names,
			uint32_t n, struct pieces *pieces)
{
	struct metrics_row *rows = rows_of_pieces(metrics, pieces, n, METRIC_PURE_SHARE);
	int64_t whole = 0;
	for (uint32_t i = 0; i < n; i++)
		hwy_add_saturating(&whole, names[i].ns);
	qsort(names, n, sizeof *names, compare_named);
	for (uint32_t i = 0; i < n; i++) {
		struct stats_cell cells[3 + 1 + SHOWN + 1] = {
			cell_share(names[i].ns, whole),
			cell_number(names[i].ns),
			cell_number((int64_t)names[i].count),
		};
		put_shown(&cells[3], &rows[names[i].row]);
		cells[STATS_LENGTH(cells) - 1] = cell_from_text(names[i].name);
		report_row(run, cells);
	}
	free(rows);
}

/* One row for each name of a kernel; 'rows' maps the text's id to the row. */
static void gather_kernels(struct report_run *run, struct pieces *pieces, struct named **names,
			   uint32_t *n)
{
	struct hwy_trace *trace = run->trace;
	uint32_t cap = 0;
	struct hwy_map rows = {0};
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		for (uint32_t i = 0; strip->kind == HWY_KERNEL && i < strip->rows; i++) {
			if (!report_keeps(run, strip, i))
				continue;
			int64_t name = hwy_get(strip, HWY_NAME, i);
			bool fresh;
			uint32_t *row = hwy_map_put(&rows, (uint64_t)name, &fresh);
			if (fresh) {
				HWY_GROW(*names, *n, cap);
				*row = *n;
				(*names)[*n] =
					(struct named){.name = hwy_text(trace, name), .row = *n};
				++*n;
			}
			struct hwy_interval at =
				in_window(run, hwy_get(strip, HWY_START, i), hwy_end(strip, i));
			struct named *named = &(*names)[*row];
			/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the row exists */
			named->count++;
			hwy_add_saturating(&named->ns, at.to - at.from);
			add_piece(pieces, *row, trace->lanes[strip->lane].device, at.from, at.to);
		}
	}
	hwy_map_free(&rows);
}

bool make_gpu_metrics_kern_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {{"Time", STATS_PERCENT},
						      {"Total Time", STATS_TIME},
						      {"Instances", STATS_COUNT},
						      SHOWN_COLUMNS,
						      {"Name", STATS_TEXT}};
	struct hwy_metrics metrics;
	struct pieces pieces = {0};
	struct named *names = NULL;
	uint32_t n = 0;
	if (!hwy_need(run->trace, HWY_KIND_BIT(HWY_KERNEL),
		      HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME) |
			      filter_columns(&run->filter),
		      err))
		return false;
	metrics_open(&metrics, run->trace);
	report_columns(run, columns, STATS_LENGTH(columns));
	if (has_shown(&metrics)) {
		gather_kernels(run, &pieces, &names, &n);
		yield_named(run, &metrics, names, n, &pieces);
	}
	free(pieces.list);
	free(names);
	metrics_close(&metrics);
	return true;
}

/* ---- by range -------------------------------------------------------------------------------- */

struct ranges {
	struct pieces pieces;
	struct named *names;
	uint32_t n, cap;
	struct hwy_strings texts;
	struct hwy_map rows;
	struct text_buffer buffer;
};

static void take_work(void *self, struct nvtx_sweep *sweep, uint32_t node,
		      const struct hwy_strip *call, struct launched work, bool own)
{
	struct ranges *ranges = self;
	struct report_run *run = sweep->run;
	(void)call;
	if (node == NVTX_NO_NODE || !own || work.n == 0 ||
	    !nvtx_tree_keeps(run, &sweep->tree.nodes[node]))
		return;
	struct hwy_text name = nvtx_tree_name(run, &sweep->tree.nodes[node], &ranges->buffer);
	uint32_t id = hwy_intern(&ranges->texts, name.at, name.length);
	bool fresh;
	uint32_t *row = hwy_map_put(&ranges->rows, id, &fresh);
	if (fresh) {
		HWY_GROW(ranges->names, ranges->n, ranges->cap);
		*row = ranges->n;
		ranges->names[ranges->n] = (struct named){.row = ranges->n};
		ranges->n++;
	}
	struct named *named = &ranges->names[*row];
	named->name = ranges->texts.texts[id];
	for (uint32_t i = 0; i < work.n; i++) {
		uint32_t at_row;
		const struct hwy_strip *strip = hwy_strip_of(run->trace, work.spans[i], &at_row);
		struct hwy_interval at =
			in_window(run, hwy_get(strip, HWY_START, at_row), hwy_end(strip, at_row));
		hwy_add_saturating(&named->ns, at.to - at.from);
		named->count++;
		add_piece(&ranges->pieces, *row, run->trace->lanes[strip->lane].device, at.from,
			  at.to);
	}
}

bool make_gpu_metrics_nvtx_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {{"Time", STATS_PERCENT},
						      {"GPU Time", STATS_TIME},
						      {"GPU Ops", STATS_COUNT},
						      SHOWN_COLUMNS,
						      {"Range", STATS_TEXT}};
	struct hwy_metrics metrics;
	struct nvtx_sweep sweep;
	struct ranges ranges = {0};
	bool ok = nvtx_sweep_open(
		&sweep, run,
		HWY_KIND_BIT(HWY_KERNEL) | HWY_KIND_BIT(HWY_COPY) | HWY_KIND_BIT(HWY_FILL), err);
	metrics_open(&metrics, run->trace);
	report_columns(run, columns, STATS_LENGTH(columns));
	if (ok && has_shown(&metrics)) {
		sweep.take = take_work;
		sweep.self = &ranges;
		nvtx_sweep_visit(&sweep);
		yield_named(run, &metrics, ranges.names, ranges.n, &ranges.pieces);
	}
	nvtx_sweep_close(&sweep);
	metrics_close(&metrics);
	hwy_map_free(&ranges.rows);
	hwy_strings_free(&ranges.texts);
	free(ranges.buffer.at);
	free(ranges.pieces.list);
	free(ranges.names);
	return ok;
}

/* ---- by step --------------------------------------------------------------------------------- */

static void yield_step(struct report_run *run, struct hwy_metrics *metrics,
		       const struct phase_step *step, uint32_t number, int64_t device)
{
	const struct hwy_trace *trace = run->trace;
	struct metrics_row row = {0};
	struct hwy_interval at = in_window(run, step->device.from, step->device.to);
	if (at.to == at.from)
		return;
	add_device_samples(metrics, device, &at, 1, 0, &row);
	char text[32];
	snprintf(text, sizeof text, "step %u", number);
	struct stats_cell cells[4 + 1 + SHOWN + 1] = {
		cell_number_or_empty(trace->devices[device].ordinal),
		cell_number(at.from),
		cell_number(at.to - at.from),
		cell_share(step->busy, step->device.to - step->device.from),
	};
	put_shown(&cells[4], &row);
	cells[STATS_LENGTH(cells) - 1] = step->name > 0
						 ? cell_from_text(hwy_text(trace, step->name))
						 : cell_from_textz(text);
	report_row(run, cells);
}

static void yield_phase(struct report_run *run, struct hwy_metrics *metrics,
			const struct hwy_flow *flow, const struct hwy_phase *phase)
{
	for (uint32_t i = 0; i < phase->n_steps; i++)
		for (uint32_t d = 0; d < flow->n_devices; d++) {
			int64_t device = flow->devices[d].device;
			if (device >= 0 && device < run->trace->n_devices)
				yield_step(run, metrics, &phase->steps[i], i, device);
		}
}

bool make_gpu_metrics_step_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {
		{"GPU", STATS_ID},       {"Start", STATS_MOMENT}, {"Duration", STATS_TIME},
		{"Busy", STATS_PERCENT}, SHOWN_COLUMNS,           {"Step", STATS_TEXT}};
	struct hwy_metrics metrics;
	struct hwy_flow flow;
	struct hwy_phases phases = {0};
	struct phases_options how = {0};
	if (!flow_open(&flow, run->trace, err))
		return false;
	bool ok = phases_find(&flow, &how, &phases, err);
	metrics_open(&metrics, run->trace);
	report_columns(run, columns, STATS_LENGTH(columns));
	for (uint32_t i = 0; ok && has_shown(&metrics) && i < phases.n; i++)
		yield_phase(run, &metrics, &flow, &phases.phases[i]);
	metrics_close(&metrics);
	if (ok)
		phases_free(&phases);
	flow_close(&flow);
	return ok;
}
