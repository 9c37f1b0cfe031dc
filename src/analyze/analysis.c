/* SPDX-License-Identifier: Apache-2.0 */
/* analysis.c - see analysis.h. Each measure is made after those it needs: flow, phases, gaps,
 * then the rest. */
#include "analyze/analysis.h"

#include <stdlib.h>

static bool measure_phase(struct hwy_analysis *analysis, uint32_t index, uint32_t cells,
			  struct hwy_err *err)
{
	const struct hwy_flow *flow = &analysis->flow;
	const struct hwy_phase *phase = &analysis->phases.phases[index];
	struct analysis_phase *measures = &analysis->measures[index];
	measures->leads = hwy_zarray(flow->n_devices, sizeof *measures->leads);
	lead_measure(flow, phase, cells, measures->leads);
	return gaps_find_next(analysis_cpu(analysis), phase, &measures->gaps, err) &&
	       waits_find(flow, phase, &measures->waits, err);
}

/* Sets the extent of the recording; empty where the trace has no spans. */
static bool measure_recording(struct hwy_analysis *analysis, struct hwy_err *err)
{
	const uint32_t kinds = HWY_KIND_BIT(HWY_KINDS) - 1;
	struct hwy_interval *recording = &analysis->recording;
	if (!hwy_need(analysis->trace, kinds, HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR), err))
		return false;
	hwy_extent(analysis->trace, kinds, &recording->from, &recording->to);
	return true;
}

static bool analysis_measure(struct hwy_analysis *analysis, const struct analysis_options *options,
			     struct hwy_err *err)
{
	struct phases_options how = {.step = options->step};
	if (!measure_recording(analysis, err) ||
	    !trust_measure(analysis->trace, &analysis->trust, err) ||
	    !flow_open(&analysis->flow, analysis->trace, err) ||
	    !phases_find(&analysis->flow, &how, &analysis->phases, err))
		return false;
	analysis->measures = hwy_zarray(analysis->phases.n, sizeof *analysis->measures);
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

const struct hwy_owners *analysis_owners(struct hwy_analysis *analysis, struct hwy_err *err)
{
	if (analysis->owners)
		return analysis->owners;
	struct hwy_owners *owners = hwy_zalloc(sizeof *owners);
	if (!owners_open(owners, analysis->trace, NULL, 0, err)) {
		free(owners);
		return NULL;
	}
	analysis->owners = owners;
	return owners;
}

struct hwy_metrics *analysis_metrics(struct hwy_analysis *analysis)
{
	if (!analysis->metrics) {
		analysis->metrics = hwy_zalloc(sizeof *analysis->metrics);
		metrics_open(analysis->metrics, analysis->trace);
	}
	return analysis->metrics;
}

struct gaps_cpu *analysis_cpu(struct hwy_analysis *analysis)
{
	if (!analysis->cpu)
		analysis->cpu = gaps_cpu_new(&analysis->flow);
	return analysis->cpu;
}

void analysis_free(struct hwy_analysis *analysis)
{
	for (uint32_t i = 0; analysis->measures && i < analysis->phases.n; i++) {
		struct analysis_phase *measures = &analysis->measures[i];
		gaps_free(&measures->gaps);
		waits_free(&measures->waits);
		for (uint32_t d = 0; measures->leads && d < analysis->flow.n_devices; d++)
			lead_free(&measures->leads[d]);
		free(measures->leads);
	}
	free(analysis->measures);
	if (analysis->places)
		places_close(analysis->places);
	if (analysis->owners)
		owners_close(analysis->owners);
	free(analysis->owners);
	if (analysis->metrics)
		metrics_close(analysis->metrics);
	free(analysis->metrics);
	if (analysis->cpu)
		gaps_cpu_free(analysis->cpu);
	phases_free(&analysis->phases);
	flow_close(&analysis->flow);
	*analysis = (struct hwy_analysis){0};
}
