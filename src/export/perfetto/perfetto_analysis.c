/* SPDX-License-Identifier: Apache-2.0 */
/* perfetto_analysis.c - what Headway found out, beside what was recorded: steps, the critical path,
 * findings, headway (work enqueued and not finished) and utilisation.
 *
 * A recording that cannot be analysed is exported without these tracks; that is no error.
 */
#include <stdlib.h>

#include "diagnose/diagnose.h"
#include "export/perfetto/perfetto.h"
#include "whatif/path_cache.h"

enum { CELLS = 2000 };

static void put_slice(struct perfetto *p, uint64_t track, int64_t from, int64_t to)
{
	perfetto_send_event(p, from);
	perfetto_end(p, track, to > from ? to : from);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void write_steps(struct perfetto *p, uint64_t parent, const struct hwy_analysis *analysis)
{
	char text[64];
	for (uint32_t i = 0; i < analysis->phases.n; i++) {
		const struct hwy_phase *phase = &analysis->phases.phases[i];
		if (phase->source == PHASE_ONE)
			continue;
		uint64_t track = perfetto_track(p, parent, "steps (on the device)", 0);
		for (uint32_t s = 0; s < phase->n_steps; s++) {
			const struct phase_step *step = &phase->steps[s];
			snprintf(text, sizeof text, "step %u", s);
			perfetto_event(p, PERFETTO_BEGIN, track,
				       step->name > 0 ? step->name : export_text_id(&p->x, text));
			put_slice(p, track, step->device.from, step->device.to);
		}
	}
}

/* ---- the critical path ----------------------------------------------------------------------- */

struct drawing {
	struct perfetto *p;
	uint64_t track;
	const struct hwy_strip *strip; /* the strip of the span that was asked for last, or NULL */
	struct hwy_map made; /* id of the text "compute: gemm", by class and id of a name */
	/* The slice that is being drawn: its end is written, its begin is not. */
	int64_t begin, name;
	uint32_t pieces; /* pieces of the path in the slice; 0: there is no slice yet */
	uint8_t class;
};

/* Reads the names of calls and kernels, and for other work the columns that a name can be made
 * of. */
static bool need_names(struct hwy_trace *trace)
{
	uint32_t named = HWY_KIND_BIT(HWY_API) | HWY_KIND_BIT(HWY_KERNEL);
	struct hwy_err ignored;
	return hwy_need(trace, named, HWY_COL_BIT(HWY_NAME), &ignored) &&
	       hwy_need(trace, HWY_DEVICE_KINDS & ~named, EXPORT_NAME_COLUMNS, &ignored);
}

static int64_t perfetto_analysis_name_of(struct drawing *d, uint32_t span)
{
	uint32_t row;
	/* Most spans lie in the same strip as the span of the previous request. */
	if (!d->strip || span < d->strip->first || span - d->strip->first >= d->strip->rows)
		d->strip = hwy_strip_of(d->p->x.trace, span, &row);
	return export_name(&d->p->x, d->strip, span - d->strip->first);
}

/* Yields the id of a text such as "compute: gemm". Few of these texts differ, so each is made
 * once. */
static int64_t class_and_name(struct drawing *d)
{
	bool fresh;
	uint32_t *at = hwy_map_put(&d->made, (uint64_t)d->name << 8 | d->class, &fresh);
	if (fresh) {
		struct hwy_text whole = export_text(&d->p->x, d->name);
		char text[300];
		snprintf(text, sizeof text, "%s: %.*s", path_class_names[d->class],
			 (int)(whole.length < 200 ? whole.length : 200), whole.at);
		*at = export_text_id(&d->p->x, text);
	}
	return *at;
}

static void write_begin(struct drawing *d)
{
	if (d->pieces == 0)
		return;
	perfetto_event(d->p, PERFETTO_BEGIN, d->track, class_and_name(d));
	if (d->pieces > 1)
		perfetto_arg_int(d->p, PERFETTO_TIMES, d->pieces);
	perfetto_send_event(d->p, d->begin);
}

/* Pieces of the path come from the last to the first. Pieces of one class and name that follow
 * each other are one slice. The piece PATH_NEXT, from one op to the next, is not drawn. Where
 * two slices touch, the end of the earlier slice must be written before the begin of the later
 * one. */
static void draw_piece(void *user, const struct cached_piece *piece)
{
	struct drawing *d = user;
	if (piece->class == PATH_NEXT)
		return;
	int64_t name = perfetto_analysis_name_of(d, piece->span);
	if (d->pieces == 0 || name != d->name || piece->class != d->class) {
		perfetto_end(d->p, d->track, piece->at.to);
		write_begin(d);
		d->name = name;
		d->class = piece->class;
		d->pieces = 0;
	}
	d->begin = piece->at.from;
	d->pieces++;
}

static void write_path(struct perfetto *p, uint64_t parent, const struct hwy_analysis *analysis)
{
	struct hwy_err ignored;
	uint32_t phase = analysis->phases.main;
	if (analysis->phases.phases[phase].n_steady == 0 || !need_names(p->x.trace))
		return;
	struct drawing d = {.p = p, .track = perfetto_track(p, parent, "critical path", 1)};
	path_cache_visit(&analysis->flow, &analysis->phases, phase, draw_piece, &d, &ignored);
	write_begin(&d);
	hwy_map_free(&d.made);
}

/* ---- findings -------------------------------------------------------------------------------- */

static void write_finding(struct perfetto *p, uint64_t parent, const struct hwy_analysis *analysis,
			  const struct hwy_finding *finding, int rank)
{
	const struct hwy_phase *phase = &analysis->phases.phases[finding->phase];
	char text[200];
	snprintf(text, sizeof text, "finding: %.100s", finding->kind->id);
	uint64_t track = perfetto_track(p, parent, text, rank);
	snprintf(text, sizeof text, "%.150s (%.1f %%)", finding->kind->title, 100 * finding->share);
	perfetto_event(p, PERFETTO_BEGIN, track, export_text_id(&p->x, text));
	perfetto_arg_int(p, PERFETTO_COST, finding->cost);
	perfetto_arg_double(p, PERFETTO_SHARE, finding->share);
	perfetto_arg_z(p, PERFETTO_SAYS, finding->says ? finding->says : "");
	perfetto_arg_z(p, PERFETTO_ADVICE, finding->advice ? finding->advice : "");
	if (finding->predicted.is_known)
		perfetto_arg_double(p, PERFETTO_PREDICTED, finding->predicted.speedup);
	if (finding->n_places) {
		const struct hwy_place *at = &finding->places[0].at;
		if (*at->file)
			snprintf(text, sizeof text, "%.120s:%lld", at->file, (long long)at->line);
		else
			snprintf(text, sizeof text, "%.150s", at->range);
		perfetto_arg_z(p, PERFETTO_PLACE, text);
	}
	perfetto_send_event(p, phase->window.from);
	/* The finding's evidence is drawn inside the finding's slice, so that users find the
	 * evidence there. */
	for (uint32_t i = 0; i < finding->n_evidence; i++) {
		uint32_t row;
		struct hwy_err ignored;
		const struct hwy_strip *strip =
			hwy_strip_of(p->x.trace, finding->evidence[i], &row);
		int64_t start = export_peek(&p->x, strip, HWY_START, row);
		if (start < phase->window.from || start >= phase->window.to ||
		    !hwy_need_chunk(p->x.trace, (uint32_t)(strip - p->x.trace->strips),
				    row >> HWY_CHUNK_BITS, EXPORT_NAME_COLUMNS, &ignored))
			continue;
		perfetto_event(p, PERFETTO_INSTANT, track, export_name(&p->x, strip, row));
		perfetto_send_event(p, start);
	}
	perfetto_end(p, track, phase->window.to);
}

static void write_findings(struct perfetto *p, uint64_t parent, struct hwy_analysis *analysis)
{
	struct hwy_diagnosis diagnosis;
	struct hwy_err ignored;
	if (!diagnose(analysis, &diagnosis, &ignored))
		return;
	for (uint32_t i = 0; i < diagnosis.n && i < 50; i++)
		write_finding(p, parent, analysis, &diagnosis.findings[i], 2 + (int)i);
	diagnosis_free(&diagnosis);
}

/* ---- counters -------------------------------------------------------------------------------- */

static void write_lead(struct perfetto *p, uint64_t parent, const struct hwy_analysis *analysis)
{
	for (uint32_t i = 0; i < analysis->phases.n; i++) {
		for (uint32_t d = 0; d < analysis->flow.n_devices; d++) {
			const struct hwy_lead *lead = &analysis->measures[i].leads[d];
			if (lead->n_series == 0)
				continue;
			uint64_t count =
				perfetto_counter(p, parent, "headway: work enqueued", "ops");
			for (uint32_t s = 0; s < lead->n_series; s++)
				perfetto_count(p, count, lead->series[s].time,
					       lead->series[s].count);
			uint64_t work = perfetto_counter(p, parent, "headway: time of it", "ns");
			for (uint32_t s = 0; s < lead->n_series; s++)
				perfetto_count(p, work, lead->series[s].time, lead->series[s].work);
		}
	}
}

struct cells {
	int64_t from, width;
	int64_t busy[CELLS];
};

static void add_busy(struct cells *cells, int64_t from, int64_t to)
{
	for (int64_t at = (from - cells->from) / cells->width; at < CELLS && from < to; at++) {
		int64_t end = cells->from + (at + 1) * cells->width;
		int64_t part = end < to ? end : to;
		cells->busy[at] += part - from;
		from = part;
	}
}

/* Writes, for each of CELLS equal parts of the time, the percentage in which the device had
 * work. */
static void write_utilisation(struct perfetto *p, uint64_t parent, const struct hwy_flow *flow,
			      uint32_t d)
{
	const struct flow_device *device = &flow->devices[d];
	struct cells *cells = hwy_zalloc(sizeof *cells);
	int64_t reach = INT64_MIN, last = INT64_MIN;
	for (uint32_t i = 0; i < device->n; i++) {
		uint32_t op = flow->by_device ? flow->by_device[device->first + i] : i;
		last = flow->ops[op].end > last ? flow->ops[op].end : last;
	}
	for (uint32_t i = 0; i < device->n; i++) {
		const struct flow_op *op =
			&flow->ops[flow->by_device ? flow->by_device[device->first + i] : i];
		if (i == 0) {
			cells->from = op->start;
			cells->width = (last - op->start) / CELLS + 1;
		}
		int64_t from = op->start > reach ? op->start : reach;
		if (op->end > from) {
			add_busy(cells, from, op->end);
			reach = op->end;
		}
	}
	uint64_t track = perfetto_counter(p, parent, "utilisation", "%");
	for (int i = 0; i < CELLS && device->n; i++) {
		perfetto_event(p, PERFETTO_COUNTER, track, -1);
		pb_double(&p->event, 44, 100.0 * (double)cells->busy[i] / (double)cells->width);
		perfetto_send_event(p, cells->from + i * cells->width);
	}
	free(cells);
}

void perfetto_analysis_write(struct perfetto *p)
{
	struct hwy_analysis analysis;
	struct hwy_err ignored;
	struct analysis_options how = {.cells = CELLS};
	if (!analysis_make(&analysis, p->x.trace, &how, &ignored))
		return;
	if (analysis.phases.n && analysis.phases.main < analysis.phases.n) {
		uint64_t root = perfetto_track(p, 0, "Headway", 0);
		write_steps(p, root, &analysis);
		write_path(p, root, &analysis);
		write_findings(p, root, &analysis);
		write_lead(p, root, &analysis);
	}
	for (uint32_t d = 0; d < analysis.flow.n_devices; d++) {
		int64_t device = analysis.flow.devices[d].device;
		write_utilisation(p, device != HWY_NONE ? PERFETTO_DEVICE((uint64_t)device) : 0,
				  &analysis.flow, d);
	}
	analysis_free(&analysis);
}
