/* SPDX-License-Identifier: Apache-2.0 */
/* sql_source.c - what the tables of `headway sql` read besides the trace itself: the analysis,
 * the diagnosis, the steps. Each is made when a query first asks for a table or a column that
 * needs it: a sum over kernels never pays for a diagnosis. */
#include "sql/sql_tables.h"

#include <stdlib.h>

bool sql_source_analysis(struct sql_source *source, struct hwy_err *err)
{
	if (source->analysis)
		return true;
	struct hwy_analysis *analysis = hwy_zalloc(sizeof *analysis);
	if (!analysis_make(analysis, source->trace, &(struct analysis_options){0}, err)) {
		free(analysis);
		return false;
	}
	source->analysis = analysis;
	return true;
}

bool sql_source_diagnosis(struct sql_source *source, struct hwy_err *err)
{
	if (source->diagnosis)
		return true;
	if (!sql_source_analysis(source, err))
		return false;
	struct hwy_diagnosis *diagnosis = hwy_zalloc(sizeof *diagnosis);
	if (!diagnose(source->analysis, diagnosis, err)) {
		free(diagnosis);
		return false;
	}
	source->diagnosis = diagnosis;
	return true;
}

static int compare_steps(const void *left, const void *right)
{
	const struct sql_step *a = left, *b = right;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->device.from != b->device.from)
		return a->device.from < b->device.from ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

bool sql_source_steps(struct sql_source *source, struct hwy_err *err)
{
	if (source->steps)
		return true;
	if (!sql_source_analysis(source, err))
		return false;
	const struct hwy_phases *phases = &source->analysis->phases;
	uint32_t n = 0;
	for (uint32_t p = 0; p < phases->n; p++)
		n += phases->phases[p].n_steps;
	source->steps = hwy_array(n, sizeof *source->steps);
	for (uint32_t p = 0; p < phases->n; p++)
		for (uint32_t k = 0; k < phases->phases[p].n_steps; k++) {
			const struct phase_step *step = &phases->phases[p].steps[k];
			source->steps[source->n_steps++] = (struct sql_step){
				step->cpu, step->device, phases->phases[p].process, p, k};
		}
	qsort(source->steps, n, sizeof *source->steps, compare_steps);
	return true;
}

bool sql_phase_has_device(const struct sql_source *source, uint32_t phase, uint32_t device)
{
	const struct hwy_flow *flow = &source->analysis->flow;
	uint32_t process = source->analysis->phases.phases[phase].process;
	bool has_others = false;
	for (uint32_t i = 0; i < flow->n_lanes; i++) {
		if (flow->lanes[i].device != device)
			continue;
		int64_t of = lane_process(source->trace, flow->lanes[i].lane);
		if (of == HWY_NONE || process == FLOW_NO_PROCESS || of == process)
			return true;
		has_others = true;
	}
	return !has_others;
}

void sql_source_close(struct sql_source *source)
{
	if (source->diagnosis)
		diagnosis_free(source->diagnosis);
	if (source->analysis)
		analysis_free(source->analysis);
	for (uint32_t s = 0; source->ends && s < source->trace->n_strips; s++)
		free(source->ends[s]);
	free(source->ends);
	hwy_peeks_free(&source->peeks);
	free(source->diagnosis);
	free(source->analysis);
	free(source->steps);
	free(source->gaps);
	free(source->tallies);
	free(source->counters);
	free(source->ranks);
	free(source->digest_buckets.items);
	free(source->digest_findings.items);
	free(source->digest_exchanges.items);
	hwy_arena_free(&source->arena);
}
