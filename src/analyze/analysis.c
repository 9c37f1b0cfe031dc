/* analysis.c - see analysis.h. The order is that of the needs: flow, phases, gaps, then what stands on them. */
#include "analyze/analysis.h"

#include <stdlib.h>

static bool measure_phase(const struct hwy_analysis *analysis, uint32_t at, uint32_t cells,
			  struct hwy_err *err)
{
	const struct hwy_flow *flow = &analysis->flow;
	const struct hwy_phase *phase = &analysis->phases.phases[at];
	struct analysis_phase *of = &analysis->of[at];
	of->leads = hwy_zalloc((flow->n_devices + 1) * sizeof *of->leads);
	lead_measure(flow, phase, cells, of->leads);
	return gaps_find(flow, phase, &of->gaps, err) && waits_find(flow, phase, &of->waits, err);
}

static bool analysis_measure(struct hwy_analysis *analysis, const struct analysis_options *options,
			     struct hwy_err *err)
{
	struct phases_options how = {.step = options->step};
	if (!trust_measure(analysis->trace, &analysis->trust, err) ||
	    !flow_open(&analysis->flow, analysis->trace, err) ||
	    !phases_find(&analysis->flow, &how, &analysis->phases, err))
		return false;
	analysis->of = hwy_zalloc((analysis->phases.n + 1) * sizeof *analysis->of);
	for (uint32_t i = 0; i < analysis->phases.n; i++)
		if (!measure_phase(analysis, i, options->cells, err))
			return false;
	analysis->places = places_open(analysis->trace, err);
	return analysis->places != NULL;
}

bool analysis_make(struct hwy_analysis *analysis, struct hwy_trace *trace,
		   const struct analysis_options *options, struct hwy_err *err)
{
	*analysis = (struct hwy_analysis){.trace = trace};
	bool done = analysis_measure(analysis, options, err);
	if (!done)
		analysis_free(analysis);
	return done;
}

void analysis_free(struct hwy_analysis *analysis)
{
	for (uint32_t i = 0; analysis->of && i < analysis->phases.n; i++) {
		struct analysis_phase *of = &analysis->of[i];
		gaps_free(&of->gaps);
		waits_free(&of->waits);
		for (uint32_t d = 0; of->leads && d < analysis->flow.n_devices; d++)
			lead_free(&of->leads[d]);
		free(of->leads);
	}
	free(analysis->of);
	if (analysis->places)
		places_close(analysis->places);
	phases_free(&analysis->phases);
	flow_close(&analysis->flow);
	*analysis = (struct hwy_analysis){0};
}
