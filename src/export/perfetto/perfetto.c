/* perfetto.c - a trace as Perfetto's own format: nothing is lost that Chrome's JSON loses there.
 *
 * Times are exact nanoseconds, names are written once, every span arrives. Beside the recording stand what we
 * found out about it: the critical path, findings, steps, headway and utilisation.
 */
#include "export/perfetto/perfetto.h"

#include <stdlib.h>

/* How many works each call has: one, mostly; how many there are of more is in a map. */
static void count_works(struct pf *p)
{
	struct hwy_trace *trace = p->x.trace;
	struct pf_last last = {0};
	p->works = hwy_zalloc((size_t)trace->n_spans + 1);
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (!(HWY_DEVICE_KINDS & HWY_KIND_BIT(strip->kind)))
			continue;
		struct export_rows rows = export_rows(&p->x, strip, HWY_COL_BIT(HWY_LINK));
		while (export_next(&rows)) {
			int64_t link = hwy_get(strip, HWY_LINK, rows.row);
			if (link <= 0)
				continue;
			uint8_t *works = &p->works[link - 1];
			if (*works == PF_MANY)
				++*pf_of_link(&p->counts, &last, link);
			else if (++*works == PF_MANY)
				*pf_of_link(&p->counts, &last, link) = PF_MANY;
		}
	}
}

static void perfetto_write_all(struct pf *p)
{
	const struct hwy_trace *trace = p->x.trace;
	pf_start(p);
	pf_write_who(p);
	if (p->x.options->render_stages)
		pf_write_stages_head(p);
	for (uint32_t s = 0, end; s < trace->n_strips && !p->x.failed && !p->out.error; s = end) {
		for (end = s + 1; end < trace->n_strips; end++)
			if (trace->strips[end].lane != trace->strips[s].lane)
				break;
		pf_write_lane(p, &trace->strips[s], &trace->strips[end]);
	}
	if (!export_is_cut(&p->x) && !p->x.options->plain && !p->x.failed && !p->out.error)
		pf_write_analysis(p);
}

static void free_all(struct pf *p)
{
	for (uint32_t i = 0; i < p->x.trace->n_shapes; i++)
		free(p->shapes[i].at);
	free(p->shapes);
	free(p->packet.at);
	free(p->event.at);
	free(p->part.at);
	free(p->interned);
	free(p->works);
	hwy_map_free(&p->counts);
	hwy_map_free(&p->seen);
	hwy_map_free(&p->stacks);
	free(p->rows);
	nest_free(&p->nest);
}

bool export_perfetto(struct hwy_trace *trace, FILE *out, bool gzip,
		     const struct export_options *options, const struct hwy_progress *progress,
		     struct export_result *result, struct hwy_err *err)
{
	struct pf p = {0};
	if (!export_open(&p.x, trace, options, progress, result, err))
		return false;
	out_open(&p.out, out, gzip);
	p.shapes = hwy_zalloc((trace->n_shapes + 1) * sizeof *p.shapes);
	p.shift = export_shift(&p.x);
	count_works(&p);
	if (!p.x.failed)
		perfetto_write_all(&p);
	bool ok = out_close(&p.out, options->target, err) && !p.x.failed;
	free_all(&p);
	export_close(&p.x);
	return ok;
}
