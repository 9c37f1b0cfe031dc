/* perfetto.c - a trace as Perfetto's own format: nothing is lost that Chrome's JSON loses there.
 *
 * Times are exact nanoseconds, names are written once, every span arrives. Beside the recording stand what we
 * found out about it: the critical path, findings, steps, headway and utilisation.
 */
#include "export/perfetto.h"

#include <stdlib.h>

/* Perfetto's times are not negative. */
static void find_shift(struct pf *p)
{
	struct hwy_trace *trace = p->x.trace;
	for (uint32_t s = 0; s < trace->n_strips && !p->x.failed; s++) {
		if (!export_strip(&p->x, s, HWY_COL_BIT(HWY_START)))
			continue;
		int64_t start = hwy_get(&trace->strips[s], HWY_START, 0);
		if (-start > p->shift)
			p->shift = -start;
		export_strip_done(&p->x, s);
	}
}

static bool is_work(const struct pf *p, const struct hwy_strip *strip)
{
	return (HWY_DEVICE_KINDS & HWY_KIND_BIT(strip->kind)) && export_keeps_strip(&p->x, strip);
}

/* By call, the work it enqueued: counted, then filled in. */
static void find_works(struct pf *p)
{
	struct hwy_trace *trace = p->x.trace;
	uint32_t total = 0;
	p->first_work = hwy_zalloc(((size_t)trace->n_spans + 2) * sizeof *p->first_work);
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t s = 0; s < trace->n_strips && !p->x.failed; s++) {
			const struct hwy_strip *strip = &trace->strips[s];
			if (!is_work(p, strip) || !export_strip(&p->x, s, HWY_COL_BIT(HWY_LINK)))
				continue;
			for (uint32_t row = 0; row < strip->rows; row++) {
				int64_t link = hwy_get(strip, HWY_LINK, row);
				if (link <= 0 || !export_keeps(&p->x, strip, row))
					continue;
				if (pass == 0)
					p->first_work[link + 1]++, total++;
				else
					p->works[p->first_work[link]++] = strip->first + row;
			}
		}
		if (pass == 1)
			break;
		/* [link + 1] counts the work of call link - 1: [link] becomes where it begins, and, once
		 * it is filled in, where the next one's does. */
		for (uint32_t i = 1; i <= trace->n_spans + 1; i++)
			p->first_work[i] += p->first_work[i - 1];
		p->works = hwy_alloc(((size_t)total + 1) * sizeof *p->works);
	}
}

static void write_all(struct pf *p)
{
	const struct hwy_trace *trace = p->x.trace;
	pf_start(p);
	pf_write_who(p);
	if (p->x.options->render_stages)
		pf_write_stages_head(p);
	for (uint32_t s = 0; s < trace->n_strips && !p->x.failed && !p->out.error; s++)
		if (s == 0 || trace->strips[s].lane != trace->strips[s - 1].lane)
			pf_write_lane(p, s);
	bool cut = p->x.filtered || p->x.lanes || p->x.options->kinds != UINT32_MAX;
	if (!cut && !p->x.options->plain && !p->x.failed && !p->out.error)
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
	free(p->named);
	free(p->valued);
	free(p->first_work);
	free(p->works);
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
	export_hold_calls(&p.x, HWY_COL_BIT(HWY_CORR));
	find_shift(&p);
	find_works(&p);
	if (!p.x.failed)
		write_all(&p);
	bool ok = out_close(&p.out, options->target, err) && !p.x.failed;
	free_all(&p);
	export_close(&p.x);
	return ok;
}
