/* SPDX-License-Identifier: Apache-2.0 */
/* perfetto.c - writes a trace in Perfetto's own format, which keeps what Perfetto loses of Chrome's
 * JSON.
 *
 * Times are exact nanoseconds, each name is written once, and every span arrives. Further tracks
 * show what Headway found out: the critical path, findings, steps, headway and utilisation.
 */
#include "export/perfetto/perfetto.h"

#include <stdlib.h>

/* Counts the device work of each call. Most calls have one piece of work; p->counts has the
 * numbers of the others. */
static void count_works(struct perfetto *p)
{
	struct hwy_trace *trace = p->x.trace;
	struct perfetto_last last = {0};
	p->works = hwy_zarray(trace->n_spans, 1);
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (!(HWY_DEVICE_KINDS & HWY_KIND_BIT(strip->kind)))
			continue;
		struct export_rows rows = export_rows(&p->x, strip, HWY_COL_BIT(HWY_LINK));
		while (export_next(&rows)) {
			uint32_t call;
			if (!hwy_get_index(strip, HWY_LINK, rows.row, &call))
				continue;
			int64_t link = hwy_ref32(call);
			uint8_t *works = &p->works[call];
			if (*works == PERFETTO_MANY)
				++*perfetto_link_value(&p->counts, &last, link);
			else if (++*works == PERFETTO_MANY)
				*perfetto_link_value(&p->counts, &last, link) = PERFETTO_MANY;
		}
	}
}

static void perfetto_write_all(struct perfetto *p)
{
	const struct hwy_trace *trace = p->x.trace;
	perfetto_start(p);
	perfetto_tracks_write(p);
	if (p->x.options->render_stages)
		perfetto_spans_write_stage_names(p);
	for (uint32_t s = 0, end; s < trace->n_strips && !p->x.failed && !p->out.error; s = end) {
		for (end = s + 1; end < trace->n_strips; end++)
			if (trace->strips[end].lane != trace->strips[s].lane)
				break;
		perfetto_spans_write_lane(p, &trace->strips[s], &trace->strips[end]);
	}
	if (!export_is_cut(&p->x) && !p->x.options->plain && !p->x.failed && !p->out.error)
		perfetto_analysis_write(p);
}

static void free_all(struct perfetto *p)
{
	for (uint32_t i = 0; i < p->x.trace->n_shapes; i++)
		hwy_bytes_free(&p->shapes[i]);
	free(p->shapes);
	free(p->packet.bytes);
	free(p->event.bytes);
	free(p->part.bytes);
	free(p->interned);
	free(p->works);
	hwy_map_free(&p->counts);
	hwy_map_free(&p->seen);
	hwy_map_free(&p->stacks);
	free(p->rank_edges);
	free(p->rows);
	nested_rows_free(&p->nest);
}

bool export_perfetto(struct hwy_trace *trace, FILE *out, bool gzip,
		     const struct export_options *options, const struct hwy_progress *progress,
		     struct export_result *result, struct hwy_err *err)
{
	struct perfetto p = {0};
	if (!export_open(&p.x, trace, options, progress, result, err))
		return false;
	out_open(&p.out, out, gzip);
	p.shapes = hwy_zarray(trace->n_shapes, sizeof *p.shapes);
	p.shift = export_shift(&p.x);
	count_works(&p);
	perfetto_messages_find_edges(&p);
	if (!p.x.failed)
		perfetto_write_all(&p);
	bool ok = out_close(&p.out, options->target, err) && !p.x.failed;
	free_all(&p);
	export_close(&p.x);
	return ok;
}
