/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_analysis.c - the tables of what Headway found out: phases, steps, gaps, findings, the
 * verdict.
 *
 * Spans are named by the ids of the tables of spans. A recording that cannot be analysed is
 * exported without these tables; that is no error.
 */
#include <stdlib.h>

#include "diagnose/diagnose.h"
#include "export/parquet/parquet.h"

#define ID(name)                                                                                   \
	{                                                                                          \
		name, PARQUET_NUMBER, false                                                        \
	}
#define N(name)                                                                                    \
	{                                                                                          \
		name, PARQUET_NUMBER, true                                                         \
	}
#define T(name)                                                                                    \
	{                                                                                          \
		name, PARQUET_TEXT, true                                                           \
	}
#define R(name)                                                                                    \
	{                                                                                          \
		name, PARQUET_REAL, true                                                           \
	}
#define COUNT(list) (sizeof(list) / sizeof *(list))

static const struct parquet_field phase_fields[] = {
	ID("id"),    T("name"),          T("source"), N("process_id"), ID("main"),
	ID("steps"), ID("steady_steps"), ID("start"), ID("end"),       N("mean"),
	N("median"), N("p10"),           N("p90"),    ID("busy"),      ID("idle"),
};
static const struct parquet_field step_fields[] = {
	ID("id"),     ID("phase"),    ID("number"),    T("name"),     N("process_id"), ID("start"),
	ID("end"),    ID("duration"), ID("cpu_start"), ID("cpu_end"), ID("busy"),      ID("calls"),
	ID("steady"), ID("warm_up"),  ID("cut"),       ID("outlier"),
};
static const struct parquet_field gap_fields[] = {
	ID("id"),       ID("phase"), N("step"), N("device_id"), N("device"), ID("start"),
	ID("duration"), T("cause"),  N("op"),   N("call"),      N("span"),
};
static const struct parquet_field finding_fields[] = {
	ID("id"),    T("finding"),  T("title"),      ID("phase"),   ID("acquitted"),
	ID("cost"),  R("share"),    T("confidence"), T("verdict"),  T("says"),
	T("advice"), T("edit"),     N("step_after"), R("speedup"),  T("file"),
	N("line"),   T("function"), T("place"),      N("evidence"),
};
static const struct parquet_field verdict_fields[] = {
	T("verdict"), T("says"), R("share"), R("coverage"), N("recording"), N("judged"),
};
static const struct {
	const char *name;
	const struct parquet_field *fields;
	uint32_t n;
} tables[] = {
	{"phases", phase_fields, COUNT(phase_fields)},
	{"steps", step_fields, COUNT(step_fields)},
	{"gaps", gap_fields, COUNT(gap_fields)},
	{"findings", finding_fields, COUNT(finding_fields)},
	{"verdict", verdict_fields, COUNT(verdict_fields)},
};
enum { TABLE_PHASES, TABLE_STEPS, TABLE_GAPS, TABLE_FINDINGS, TABLE_VERDICT };

const char *parquet_analysis_fields(uint32_t i, struct parquet_field fields[PARQUET_MOST_FIELDS],
				    uint32_t *n)
{
	if (i >= COUNT(tables))
		return NULL;
	*n = tables[i].n;
	memcpy(fields, tables[i].fields, *n * sizeof *fields);
	return tables[i].name;
}

/* ---- cells ----------------------------------------------------------------------------------- */

struct found {
	struct hwy_analysis analysis;
	struct hwy_diagnosis diagnosis;
	/* By row of 'steps' and 'gaps': phase and number in it. */
	struct found_place {
		uint32_t phase, at;
	} * steps, *gaps;
	uint32_t n_steps, n_gaps;
	uint32_t *first_step; /* by phase: the row of its first step */
};

static bool found_number(int64_t number, int64_t *value)
{
	*value = number;
	return number != HWY_NONE;
}

static bool found_text(struct parquet *p, const char *words, int64_t *value)
{
	*value = export_text_id(&p->x, words ? words : "");
	return words && *words;
}

static bool found_text_id(const struct parquet *p, int64_t id, int64_t *value)
{
	*value = id;
	return id > 0 && export_text(&p->x, id).length > 0;
}

static bool found_real(double number, int64_t *value)
{
	memcpy(value, &number, sizeof number);
	return true;
}

static bool found_time(const struct parquet *p, int64_t time, int64_t *value)
{
	*value = parquet_time(p, time);
	return true;
}

static int64_t phase_process(const struct hwy_phase *phase)
{
	return phase->process == FLOW_NO_PROCESS ? HWY_NONE : phase->process;
}

/* The time of all devices in a phase. */
static struct gap_states phase_states(const struct found *found, uint32_t phase)
{
	struct gap_states sum = {0};
	for (uint32_t d = 0; d < found->analysis.flow.n_devices; d++)
		gap_states_add(&sum, &found->analysis.measures[phase].gaps.devices[d]);
	return sum;
}

static bool phase_cell(struct parquet *p, const void *user, uint32_t row, uint32_t field,
		       int64_t *value)
{
	static const char *const sources[] = {[PHASE_MARKS] = "marks",
					      [PHASE_SEQUENCE] = "sequence",
					      [PHASE_WAITS] = "waits",
					      [PHASE_ONE] = "one"};
	const struct found *found = user;
	const struct hwy_phase *phase = &found->analysis.phases.phases[row];
	switch (field) {
	case 0: return found_number(row, value);
	case 1: return found_text_id(p, phase->name, value);
	case 2: return found_text(p, sources[phase->source], value);
	case 3: return found_number(phase_process(phase), value);
	case 4: return found_number(row == found->analysis.phases.main, value);
	case 5: return found_number(phase->n_steps, value);
	case 6: return found_number(phase->n_steady, value);
	case 7: return found_time(p, phase->window.from, value);
	case 8: return found_time(p, phase->window.to, value);
	case 9: return found_number(phase->mean, value);
	case 10: return found_number(phase->median, value);
	case 11: return found_number(phase->p10, value);
	case 12: return found_number(phase->p90, value);
	case 13: return found_number(phase_states(found, row).busy, value);
	default: return found_number(phase_states(found, row).idle, value);
	}
}

static bool step_cell(struct parquet *p, const void *user, uint32_t row, uint32_t field,
		      int64_t *value)
{
	const struct found *found = user;
	struct found_place place = found->steps[row];
	const struct hwy_phase *phase = &found->analysis.phases.phases[place.phase];
	const struct phase_step *step = &phase->steps[place.at];
	int64_t start = parquet_time(p, step->device.from), end = parquet_time(p, step->device.to);
	switch (field) {
	case 0: return found_number(row, value);
	case 1: return found_number(place.phase, value);
	case 2: return found_number(place.at, value);
	case 3: return found_text_id(p, step->name, value);
	case 4: return found_number(phase_process(phase), value);
	case 5: return found_number(start, value);
	case 6: return found_number(end, value);
	case 7: return found_number(hwy_between(start, end), value);
	case 8: return found_time(p, step->cpu.from, value);
	case 9: return found_time(p, step->cpu.to, value);
	case 10: return found_number(step->busy, value);
	case 11: return found_number(step->n_calls, value);
	case 12:
		return found_number(place.at >= phase->first_steady &&
					    place.at < phase->first_steady + phase->n_steady,
				    value);
	case 13: return found_number(step->is_warm_up, value);
	case 14: return found_number(step->is_cut, value);
	default: return found_number(step->is_outlier, value);
	}
}

/* The row of 'steps' that a gap lies in. */
static int64_t gap_step(const struct found *found, struct found_place place,
			const struct hwy_gap *gap)
{
	bool is_step = gap->step < found->analysis.phases.phases[place.phase].n_steps;
	return is_step ? (int64_t)found->first_step[place.phase] + gap->step : HWY_NONE;
}

static bool gap_cell(struct parquet *p, const void *user, uint32_t row, uint32_t field,
		     int64_t *value)
{
	const struct found *found = user;
	const struct hwy_flow *flow = &found->analysis.flow;
	struct found_place place = found->gaps[row];
	const struct hwy_gap *gap = &found->analysis.measures[place.phase].gaps.gaps[place.at];
	int64_t start = parquet_time(p, gap->at.from), end = parquet_time(p, gap->at.to);
	int64_t device = flow->devices[gap->device].device;
	bool has_device = device != HWY_NONE, has_call = gap->culprit != FLOW_NONE;
	switch (field) {
	case 0: return found_number(row, value);
	case 1: return found_number(place.phase, value);
	case 2: return found_number(gap_step(found, place, gap), value);
	case 3: return found_number(device, value);
	case 4:
		return found_number(has_device ? p->x.trace->devices[device].ordinal : HWY_NONE,
				    value);
	case 5: return found_number(start, value);
	case 6: return found_number(hwy_between(start, end), value);
	case 7: return found_text(p, gap_cause_names[gap->cause], value);
	case 8:
		return found_number(gap->op == FLOW_NONE ? HWY_NONE : flow->ops[gap->op].span,
				    value);
	case 9: return found_number(has_call ? flow->calls[gap->culprit].span : HWY_NONE, value);
	default: return found_number(gap->span ? (int64_t)gap->span - 1 : HWY_NONE, value);
	}
}

static bool finding_place_cell(struct parquet *p, const struct hwy_finding *finding, uint32_t field,
			       int64_t *value)
{
	const struct hwy_place *at = finding->n_places ? &finding->places[0].at : NULL;
	switch (field) {
	case 14: return found_text(p, at ? at->file : "", value);
	case 15: return found_number(at && at->line ? at->line : HWY_NONE, value);
	case 16: return found_text(p, at ? at->function : "", value);
	case 17: return found_text(p, at ? at->range : "", value);
	default: return found_number(finding->n_evidence ? finding->evidence[0] : HWY_NONE, value);
	}
}

static bool finding_cell(struct parquet *p, const void *user, uint32_t row, uint32_t field,
			 int64_t *value)
{
	const struct found *found = user;
	const struct hwy_diagnosis *d = &found->diagnosis;
	const struct hwy_finding *finding =
		row < d->n ? &d->findings[row] : &d->acquitted[row - d->n];
	const struct hwy_predicted *predicted = &finding->predicted;
	switch (field) {
	case 0: return found_number(row, value);
	case 1: return found_text(p, finding->kind->id, value);
	case 2: return found_text(p, finding->kind->title, value);
	case 3: return found_number(finding->phase, value);
	case 4: return found_number(finding->is_acquitted, value);
	case 5: return found_number(finding->cost, value);
	case 6: return found_real(finding->share, value);
	case 7: return found_text(p, hwy_confidence_names[finding->confidence], value);
	case 8:
		return finding->word < VERDICTS &&
		       found_text(p, verdict_words[finding->word], value);
	case 9: return found_text(p, finding->says, value);
	case 10: return found_text(p, finding->advice, value);
	case 11:
		return found_text(p, predicted->is_known ? predicted->edits : finding->edit, value);
	case 12: return predicted->is_known && found_number(predicted->step, value);
	case 13: return predicted->is_known && found_real(predicted->speedup, value);
	default: return finding_place_cell(p, finding, field, value);
	}
}

static bool verdict_cell(struct parquet *p, const void *user, uint32_t row, uint32_t field,
			 int64_t *value)
{
	(void)row;
	const struct found *found = user;
	const struct verdict *verdict = &found->diagnosis.verdict;
	switch (field) {
	case 0: return found_text(p, verdict_name(verdict, false).text, value);
	case 1: return found_text(p, verdict->says, value);
	case 2: return found_real(verdict->shares[verdict->word], value);
	case 3: return found_real(verdict->coverage, value);
	case 4: return found_number(verdict->account.recording, value);
	default: return found_number(verdict->account.judged, value);
	}
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void list_places(struct found *found)
{
	const struct hwy_phases *phases = &found->analysis.phases;
	uint64_t steps = 0, gaps = 0;
	for (uint32_t i = 0; i < phases->n; i++) {
		steps += phases->phases[i].n_steps;
		gaps += found->analysis.measures[i].gaps.n;
	}
	found->steps = hwy_array(steps, sizeof *found->steps);
	found->gaps = hwy_array(gaps, sizeof *found->gaps);
	found->first_step = hwy_array(phases->n, sizeof *found->first_step);
	for (uint32_t i = 0; i < phases->n; i++) {
		found->first_step[i] = found->n_steps;
		for (uint32_t s = 0; s < phases->phases[i].n_steps; s++)
			found->steps[found->n_steps++] = (struct found_place){i, s};
		for (uint32_t g = 0; g < found->analysis.measures[i].gaps.n; g++)
			found->gaps[found->n_gaps++] = (struct found_place){i, g};
	}
}

static bool write_found(struct parquet *p, const struct found *found)
{
	const struct {
		uint32_t rows;
		bool (*cell)(struct parquet *, const void *, uint32_t, uint32_t, int64_t *);
	} rows[] = {
		[TABLE_PHASES] = {found->analysis.phases.n, phase_cell},
		[TABLE_STEPS] = {found->n_steps, step_cell},
		[TABLE_GAPS] = {found->n_gaps, gap_cell},
		[TABLE_FINDINGS] = {found->diagnosis.n + found->diagnosis.n_acquitted,
				    finding_cell},
		[TABLE_VERDICT] = {1, verdict_cell},
	};
	bool ok = true;
	for (uint32_t i = 0; i < COUNT(tables) && ok; i++)
		ok = parquet_cells_write(
			p, &(struct parquet_cells){tables[i].name, tables[i].fields, tables[i].n,
						   rows[i].rows, rows[i].cell, found});
	return ok;
}

bool parquet_analysis_write(struct parquet *p)
{
	struct found found = {0};
	struct hwy_err ignored;
	struct analysis_options how = {0};
	hwy_tell(p->x.progress, "analysing", 0, 0);
	if (!analysis_make(&found.analysis, p->x.trace, &how, &ignored))
		return true;
	bool ok = true;
	if (diagnose(&found.analysis, &found.diagnosis, &ignored)) {
		list_places(&found);
		ok = write_found(p, &found);
		diagnosis_free(&found.diagnosis);
	}
	free(found.steps);
	free(found.gaps);
	free(found.first_step);
	analysis_free(&found.analysis);
	return ok;
}
