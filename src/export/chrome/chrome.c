/* SPDX-License-Identifier: Apache-2.0 */
/* chrome.c - a trace as PyTorch's profiler writes it, for chrome://tracing, Perfetto, HTA and
 * TraceLens.
 *
 * The inverse of import/kineto*.c: a Kineto trace comes out as it went in, to the nanosecond (times
 * are in microseconds with three decimals, relative to baseTimeNanoseconds). Other recordings
 * become one: streams under their device, ranges as user annotations, our steps as ProfilerStep#N.
 */
#include "export/chrome/chrome.h"

#include <stdlib.h>

void chrome_next(struct chrome *c)
{
	if (c->first)
		out_literal(&c->out, "\n  ");
	else
		out_literal(&c->out, ",\n  ");
	c->first = false;
}

static int by_wait(const void *left, const void *right)
{
	const struct chrome_record *a = left, *b = right;
	return (a->wait > b->wait) - (a->wait < b->wait);
}

/* Finds the event record that each wait waits for. A trace of Kineto has this in a column of its
 * waits. */
static void find_records(struct chrome *c)
{
	struct hwy_trace *trace = c->x.trace;
	if (c->x.is_kineto || trace->n_edges == 0)
		return;
	c->records = hwy_array(trace->n_edges, sizeof *c->records);
	for (uint32_t i = 0; i < trace->n_edges; i++) {
		const struct hwy_edge *edge = &trace->edges[i];
		uint32_t row;
		if (edge->kind != HWY_EDGE_EVENT || edge->from < 0 || edge->from >= trace->n_spans)
			continue;
		const struct hwy_strip *strip = hwy_strip_of(trace, (uint32_t)edge->from, &row);
		if (strip->kind != HWY_EVENT && strip->kind != HWY_API)
			continue;
		c->records[c->n_records++] =
			(struct chrome_record){edge->to, export_corr(&c->x, strip, row)};
	}
	qsort(c->records, c->n_records, sizeof *c->records, by_wait);
}

/* Kineto writes the totals of allocated and reserved memory into each allocation. The reader
 * made counters of them; here the counters with these names go back into the allocations. */
static void find_totals(struct chrome *c)
{
	struct hwy_trace *trace = c->x.trace;
	c->totals = hwy_zarray(trace->n_strips, sizeof *c->totals);
	c->is_total = hwy_zarray(trace->n_strips, 1);
	for (uint32_t s = 0; s < trace->n_strips && c->x.is_kineto; s++) {
		if (trace->strips[s].kind != HWY_MEMORY ||
		    !export_keeps_strip(&c->x, &trace->strips[s]))
			continue;
		const struct hwy_lane *lane = &trace->lanes[trace->strips[s].lane];
		for (uint32_t t = 0; t < trace->n_strips; t++) {
			const struct hwy_lane *other = &trace->lanes[trace->strips[t].lane];
			const char *name = hwy_str(trace, other->name);
			if (trace->strips[t].kind != HWY_COUNTER ||
			    other->process != lane->process || other->device != lane->device ||
			    trace->strips[t].rows > trace->strips[s].rows)
				continue;
			bool allocated = strcmp(name, "Total Allocated") == 0;
			if (!allocated && strcmp(name, "Total Reserved") != 0)
				continue;
			*(allocated ? &c->totals[s].allocated : &c->totals[s].reserved) =
				hwy_ref32(t);
			c->is_total[t] = 1;
		}
	}
}

static void chrome_write_all(struct chrome *c)
{
	struct hwy_trace *trace = c->x.trace;
	chrome_meta_write_head(c);
	chrome_ids_write(c);
	for (uint32_t s = 0; s < trace->n_strips && !c->x.failed && !c->out.error; s++)
		if (!c->is_total[s] && export_keeps_strip(&c->x, &trace->strips[s]))
			chrome_spans_write_strip(c, s);
	chrome_arrows_write(c);
	if (!c->x.failed)
		chrome_steps_write(c);
	chrome_meta_write_tail(c);
}

bool export_chrome(struct hwy_trace *trace, FILE *out, bool gzip,
		   const struct export_options *options, const struct hwy_progress *progress,
		   struct export_result *result, struct hwy_err *err)
{
	struct chrome c = {.first = true};
	if (!export_open(&c.x, trace, options, progress, result, err))
		return false;
	out_open(&c.out, out, gzip);
	c.sources = hwy_zarray(trace->n_spans, 1);
	c.shift = export_shift(&c.x);
	find_records(&c);
	find_totals(&c);
	chrome_ids_name_lanes(&c);
	if (!c.x.failed)
		chrome_write_all(&c);
	bool ok = out_close(&c.out, options->target, err) && !c.x.failed;
	free(c.lanes);
	free(c.sources);
	free(c.records);
	free(c.totals);
	free(c.is_total);
	hwy_index_free(&c.taken);
	nested_rows_free(&c.nest);
	export_close(&c.x);
	return ok;
}
