/* SPDX-License-Identifier: Apache-2.0 */
/* analyze_json.c - the diagnosis as one JSON object; docs/analyze-json.md says what each key
 * means. Keys are added, never renamed.
 *
 * Members that stand in a struct are written by a table (base/json_fields.h); members that must
 * be computed are written by functions. These find the recording in json->context: a struct
 * analyze_view for the summary, a struct analyze_run for the rest.
 */
#include <stdlib.h>

#include "base/json_fields.h"
#include "base/lang.h"
#include "base/say.h"
#include "cli/analyze_print.h"
#include "cli/job_print.h"
#include "cli/kit/cli.h"

static void put_optional(struct hwy_json *json, int64_t value)
{
	if (value == HWY_NONE)
		json_null(json);
	else
		json_int(json, value);
}

/* Writes "device": the number that people see of the flow's device 'index', or null. */
static void put_device_number(struct hwy_json *json, const struct analyze_run *run, uint32_t index)
{
	int64_t device = run->analysis.flow.devices[index].device;
	cli_put_optional(json, "device",
			 device == HWY_NONE ? HWY_NONE : run->trace->devices[device].ordinal);
}

/* ---- summary --------------------------------------------------------------------------------- */

struct summary {
	struct analyze_name program;
	enum hwy_framework framework;
	/* The longest phase, its number of steps and the ns of a step; HWY_NONE where no device
	 * worked. */
	int64_t phase, steps, step;
	double busy; /* share of the steady steps in which a device works */
	bool is_healthy;
	double reachable;
	int64_t own_cost;         /* ns of CPU time a step that recording added, or HWY_NONE */
	uint64_t lost;            /* records that the recorder could not keep */
	struct hwy_words records; /* what is said of them */
	const struct hwy_top_kernel *kernels;
	uint32_t n_kernels;
	const char *ncu;
};

static void put_runs(struct hwy_json *json, const void *summary)
{
	(void)summary;
	const struct analyze_view *view = json->context;
	json_begin_array(json);
	for (uint32_t i = 0; i < view->n; i++) {
		const struct analyze_run *run = &view->runs[i];
		const struct hwy_phase *phase = analyze_main(run);
		json_begin_object(json);
		json_put_text(json, "file", run->path);
		cli_put_optional(json, "rank", run->rank);
		cli_put_optional(json, "step_ns", phase ? phase->mean : HWY_NONE);
		json_put_bool(json, "shown", i == view->shown);
		json_end_object(json);
	}
	json_end_array(json);
}

/* The command that looks into the kernels with most time. */
static void put_kernels_command(struct hwy_json *json, const void *summary)
{
	(void)summary;
	const struct analyze_view *view = json->context;
	const struct analyze_run *run = &view->runs[view->shown];
	if (!analyze_main(run)) {
		json_null(json);
		return;
	}
	char *command =
		analyze_say_kernels(run, &run->diagnosis.outlooks[run->analysis.phases.main]);
	if (*command)
		json_textz(json, command);
	else
		json_null(json);
	free(command);
}

static const struct json_field kernel_fields[] = {
	{JSON_FIELD_TEXT(struct hwy_top_kernel, name, "name")},
	{JSON_FIELD_INT(struct hwy_top_kernel, ns, "ns_per_step")},
	{JSON_FIELD_REAL(struct hwy_top_kernel, share, "share_of_kernels", 6)},
	{JSON_FIELD_INT(struct hwy_top_kernel, count, "count")},
	{JSON_FIELD_TEXT_OR_NULL(struct hwy_top_kernel, bound, "bound")},
	{JSON_FIELD_REAL(struct hwy_top_kernel, of_roof, "of_roof", 6)},
};

static const struct json_field summary_fields[] = {
	{JSON_FIELD_TEXT(struct summary, program.text, "program")},
	{JSON_FIELD_ENUM(struct summary, framework, "framework", hwy_framework_names,
			 HWY_FRAMEWORKS)},
	{JSON_FIELD_OPTIONAL_INT(struct summary, phase, "phase")},
	{JSON_FIELD_OPTIONAL_INT(struct summary, steps, "steps")},
	{JSON_FIELD_OPTIONAL_INT(struct summary, step, "step_ns")},
	{JSON_FIELD_REAL(struct summary, busy, "busy", 6)},
	{JSON_FIELD_BOOL(struct summary, is_healthy, "healthy")},
	{JSON_FIELD_REAL(struct summary, reachable, "reachable", 6)},
	{JSON_FIELD_OPTIONAL_INT(struct summary, own_cost, "own_cost_ns_per_step")},
	{JSON_FIELD_INT(struct summary, lost, "lost_records")},
	{JSON_FIELD_TEXT(struct summary, records.text, "records_say")},
	{JSON_FIELD_ARRAY(struct summary, kernels, n_kernels, "top_kernels", kernel_fields)},
	{JSON_FIELD_CALL_OBJECT("kernels_command", put_kernels_command)},
	{JSON_FIELD_TEXT_OR_NULL(struct summary, ncu, "ncu")},
	{JSON_FIELD_CALL_OBJECT("runs", put_runs)},
};

static struct summary summarize(const struct analyze_run *run)
{
	struct summary summary = {
		.program = analyze_program(run),
		.framework = run->diagnosis.framework,
		.phase = HWY_NONE,
		.steps = HWY_NONE,
		.step = HWY_NONE,
		.own_cost = HWY_NONE,
		.lost = analyze_lost(run->trace),
		.records = analyze_say_records(run),
	};
	const struct hwy_phase *phase = analyze_main(run);
	if (!phase)
		return summary;
	uint32_t index = run->analysis.phases.main, n_devices;
	const struct hwy_outlook *verdict = &run->diagnosis.outlooks[index];
	struct gap_states states = analyze_states(run, index, &n_devices);
	summary.phase = index;
	summary.steps = phase->n_steps;
	summary.step = phase->mean;
	summary.busy = states.window ? (double)states.busy / (double)states.window : 0;
	summary.is_healthy = verdict->is_healthy && verdict->is_known;
	summary.reachable = verdict->reachable;
	summary.own_cost = verdict->own_cost;
	summary.kernels = verdict->kernels;
	summary.n_kernels = verdict->n_kernels;
	summary.ncu = verdict->ncu;
	return summary;
}

/* ---- trust ----------------------------------------------------------------------------------- */

static const char *const effect_names[] = {"none", "weakens", "forbids"};

static const struct json_field lack_fields[] = {
	{JSON_FIELD_TEXT(struct hwy_lack, name, "check")},
	{JSON_FIELD_INT(struct hwy_lack, count, "count")},
	{JSON_FIELD_INT(struct hwy_lack, total, "of")},
	{JSON_FIELD_ENUM(struct hwy_lack, effect, "effect", effect_names, 3)},
	{JSON_FIELD_TEXT(struct hwy_lack, measures, "measures")},
	{JSON_FIELD_TEXT(struct hwy_lack, says, "says")},
};

static const struct json_field cannot_fields[] = {
	{JSON_FIELD_TEXT(struct hwy_cannot, what, "cannot_tell")},
	{JSON_FIELD_TEXT(struct hwy_cannot, because, "because")},
};

static void put_trust(struct hwy_json *json, const struct analyze_run *run)
{
	json_key(json, "trust");
	json_begin_array(json);
	for (unsigned i = 0; i < HWY_LACKS; i++)
		if (run->analysis.trust.lacks[i].count)
			json_put_object(json, JSON_FIELDS(lack_fields),
					&run->analysis.trust.lacks[i]);
	for (uint32_t i = 0; i < run->diagnosis.n_cannot; i++)
		json_put_object(json, JSON_FIELDS(cannot_fields), &run->diagnosis.cannot[i]);
	json_end_array(json);
}

/* ---- phases ---------------------------------------------------------------------------------- */

static void put_outliers(struct hwy_json *json, const struct analyze_run *run, uint32_t index)
{
	const struct hwy_phase *phase = &run->analysis.phases.phases[index];
	const struct hwy_outlook *verdict = &run->diagnosis.outlooks[index];
	json_key(json, "outliers");
	json_begin_array(json);
	for (uint32_t i = 0; i < verdict->n_outliers; i++) {
		const struct hwy_outlier *outlier = &verdict->outliers[i];
		const struct phase_step *step = &phase->steps[outlier->step];
		json_begin_object(json);
		json_put_int(json, "step", outlier->step);
		json_put_text(json, "name", hwy_str(run->trace, step->name));
		json_put_int(json, "step_ns", outlier->ns);
		json_put_int(json, "busy_ns", step->busy);
		json_put_text(json, "differs_by", outlier->part);
		json_put_int(json, "excess_ns", outlier->excess);
		json_put_text(json, "because_of", outlier->name);
		json_end_object(json);
	}
	json_end_array(json);
}

static const struct json_field lead_fields[] = {
	{JSON_FIELD_INT(struct hwy_lead, max_count, "max_ops")},
	{JSON_FIELD_INT(struct hwy_lead, max_work, "max_ns")},
	{JSON_FIELD_REAL(struct hwy_lead, mean_count, "mean_ops", 3)},
	{JSON_FIELD_INT(struct hwy_lead, mean_work, "mean_ns")},
	{JSON_FIELD_INT(struct hwy_lead, empty, "empty_ns")},
	{JSON_FIELD_INT(struct hwy_lead, n_zero, "fell_to_zero")},
	{JSON_FIELD_REAL(struct hwy_lead, steps, "steps", 3)},
};

static void put_headway(struct hwy_json *json, const struct analyze_run *run, uint32_t phase)
{
	const struct hwy_lead *leads = run->analysis.measures[phase].leads;
	json_key(json, "headway");
	json_begin_array(json);
	for (uint32_t d = 0; leads && d < run->analysis.flow.n_devices; d++) {
		json_begin_object(json);
		put_device_number(json, run, d);
		json_put_fields(json, JSON_FIELDS(lead_fields), &leads[d]);
		json_end_object(json);
	}
	json_end_array(json);
}

static void put_mark(struct hwy_json *json, const void *name)
{
	const struct analyze_run *run = json->context;
	json_textz(json, hwy_str(run->trace, *(const int64_t *)name));
}

static void put_pid(struct hwy_json *json, const void *process)
{
	const struct analyze_run *run = json->context;
	uint32_t index = *(const uint32_t *)process;
	put_optional(json,
		     index < run->trace->n_processes ? run->trace->processes[index].pid : HWY_NONE);
}

static const char *const source_names[] = {
	[PHASE_MARKS] = "marks",
	[PHASE_SEQUENCE] = "sequence",
	[PHASE_WAITS] = "waits",
	[PHASE_ONE] = "one",
};

static const struct json_field window_fields[] = {
	{JSON_FIELD_INT(struct hwy_interval, from, "start_ns")},
	{JSON_FIELD_INT(struct hwy_interval, to, "end_ns")},
};

static const struct json_field phase_fields[] = {
	{JSON_FIELD_CALL(struct hwy_phase, name, "name", put_mark)},
	{JSON_FIELD_ENUM(struct hwy_phase, source, "source", source_names, PHASE_ONE + 1)},
	{JSON_FIELD_CALL(struct hwy_phase, process, "pid", put_pid)},
	{JSON_FIELD_INT(struct hwy_phase, n_steps, "steps")},
	{JSON_FIELD_INT(struct hwy_phase, n_steady, "steady_steps")},
	{JSON_FIELD_INT(struct hwy_phase, first_steady, "first_steady")},
	{JSON_FIELD_BOOL(struct hwy_phase, is_first_told_apart, "first_told_apart")},
	{JSON_FIELD_INT(struct hwy_phase, mean, "step_ns")},
	{JSON_FIELD_INT(struct hwy_phase, median, "median_ns")},
	{JSON_FIELD_INT(struct hwy_phase, p10, "p10_ns")},
	{JSON_FIELD_INT(struct hwy_phase, p90, "p90_ns")},
	{JSON_FIELD_BOOL(struct hwy_phase, is_bursty, "bursty")},
	{JSON_FIELD_OBJECT(struct hwy_phase, window, "window", window_fields)},
	{JSON_FIELD_REAL(struct hwy_phase, launches_per_step, "launches_per_step", 3)},
	{JSON_FIELD_REAL(struct hwy_phase, waits_per_step, "waits_per_step", 3)},
};

static void put_phases(struct hwy_json *json, const struct analyze_run *run)
{
	json_key(json, "phases");
	json_begin_array(json);
	for (uint32_t i = 0; i < run->analysis.phases.n; i++) {
		const struct hwy_outlook *verdict = &run->diagnosis.outlooks[i];
		json_begin_object(json);
		json_put_fields(json, JSON_FIELDS(phase_fields), &run->analysis.phases.phases[i]);
		json_put_bool(json, "healthy", verdict->is_healthy && verdict->is_known);
		put_headway(json, run, i);
		put_outliers(json, run, i);
		json_end_object(json);
	}
	json_end_array(json);
}

/* ---- gpu: the steady window of the phase that took longest ----------------------------------- */

static const struct json_field state_fields[] = {
	{JSON_FIELD_INT(struct gap_states, compute, "compute_ns")},
	{JSON_FIELD_INT(struct gap_states, exposed_comm, "exposed_comm_ns")},
	{JSON_FIELD_INT(struct gap_states, exposed_copy, "exposed_copy_ns")},
	{JSON_FIELD_INT(struct gap_states, fill, "fill_ns")},
	{JSON_FIELD_INT(struct gap_states, idle, "idle_ns")},
};

static void put_states(struct hwy_json *json, const void *states)
{
	json_put_object(json, JSON_FIELDS(state_fields), states);
}

static const struct json_field gpu_fields[] = {
	{JSON_FIELD_INT(struct gap_states, window, "window_ns")},
	{JSON_FIELD_INT(struct gap_states, busy, "busy_ns")},
	{JSON_FIELD_INT(struct gap_states, idle, "idle_ns")},
	{JSON_FIELD_CALL_OBJECT("states", put_states)},
	{JSON_FIELD_INT(struct gap_states, copy_overlapped, "copy_overlapped_ns")},
	{JSON_FIELD_INT(struct gap_states, comm_overlapped, "comm_overlapped_ns")},
	{JSON_FIELD_NAMED_INTS(struct gap_states, causes, "causes", gap_cause_names)},
};

static void put_gpus(struct hwy_json *json, const struct analyze_run *run)
{
	json_key(json, "gpu");
	json_begin_array(json);
	uint32_t n = analyze_main(run) ? run->analysis.flow.n_devices : 0;
	for (uint32_t d = 0; d < n; d++) {
		int64_t device = run->analysis.flow.devices[d].device;
		json_begin_object(json);
		put_device_number(json, run, d);
		json_put_text(json, "name",
			      device == HWY_NONE
				      ? ""
				      : hwy_str(run->trace, run->trace->devices[device].name));
		json_put_fields(json, JSON_FIELDS(gpu_fields),
				&run->analysis.measures[run->analysis.phases.main].gaps.devices[d]);
		json_end_object(json);
	}
	json_end_array(json);
}

/* ---- findings -------------------------------------------------------------------------------- */

static void put_line(struct hwy_json *json, const void *line)
{
	int64_t number = *(const int64_t *)line;
	put_optional(json, number > 0 ? number : HWY_NONE);
}

static const struct json_field place_fields[] = {
	{JSON_FIELD_TEXT(struct hwy_finding_place, at.file, "file")},
	{JSON_FIELD_CALL(struct hwy_finding_place, at.line, "line", put_line)},
	{JSON_FIELD_TEXT(struct hwy_finding_place, at.function, "function")},
	{JSON_FIELD_TEXT(struct hwy_finding_place, at.range, "range")},
	{JSON_FIELD_TEXT(struct hwy_finding_place, at.api, "api")},
	{JSON_FIELD_TEXT(struct hwy_finding_place, layer, "module")},
	{JSON_FIELD_INT(struct hwy_finding_place, count, "count")},
	{JSON_FIELD_INT(struct hwy_finding_place, cost, "cost_ns_per_step")},
};

/* The key "edits" is documented as an array, although a prediction has one text for all its
 * edits. */
static void put_edits(struct hwy_json *json, const void *edits)
{
	json_begin_array(json);
	json_textz(json, *(const char *const *)edits);
	json_end_array(json);
}

static bool has_tipping(const void *predicted)
{
	return ((const struct hwy_predicted *)predicted)->tipping != 0;
}

static const struct json_field predicted_fields[] = {
	{JSON_FIELD_CALL(struct hwy_predicted, edits, "edits", put_edits)},
	{JSON_FIELD_INT(struct hwy_predicted, before, "before_ns")},
	{JSON_FIELD_INT(struct hwy_predicted, step, "step_ns")},
	{JSON_FIELD_INT(struct hwy_predicted, p10, "p10_ns")},
	{JSON_FIELD_INT(struct hwy_predicted, p90, "p90_ns")},
	{JSON_FIELD_REAL(struct hwy_predicted, speedup, "speedup", 4)},
	{JSON_FIELD_TEXT(struct hwy_predicted, bound, "bound")},
	{JSON_FIELD_INT(struct hwy_predicted, tipping, "tipping_ns"), .when = has_tipping},
};

void analyze_json_put_predicted(struct hwy_json *json, const struct hwy_predicted *predicted)
{
	json_put_object(json, JSON_FIELDS(predicted_fields), predicted);
}

static bool has_prediction(const void *finding)
{
	return ((const struct hwy_finding *)finding)->predicted.is_known;
}

static const struct json_field finding_fields[] = {
	{JSON_FIELD_INT(struct hwy_finding, cost, "cost_ns_per_step")},
	{JSON_FIELD_REAL(struct hwy_finding, share, "share", 6)},
	{JSON_FIELD_ENUM(struct hwy_finding, confidence, "confidence", hwy_confidence_names,
			 HWY_HIGH + 1)},
	{JSON_FIELD_TEXT(struct hwy_finding, says, "says")},
	{JSON_FIELD_OBJECT(struct hwy_finding, predicted, "predicted", predicted_fields),
	 .when = has_prediction},
	{JSON_FIELD_ARRAY(struct hwy_finding, places, n_places, "places", place_fields)},
};

static void put_finding(struct hwy_json *json, const struct hwy_finding *finding)
{
	const struct hwy_finding_kind *kind = finding->kind;
	json_begin_object(json);
	json_put_text(json, "id", kind->id);
	json_put_text(json, "title",
		      finding->is_acquitted && kind->suspect ? hwy_tr(kind->suspect)
							     : hwy_tr(kind->title));
	json_put_int(json, "phase", finding->phase);
	if (finding->rank != HWY_NONE)
		json_put_int(json, "rank", finding->rank);
	json_put_text(json, "side", kind->is_inside ? "device" : "program");
	json_put_fields(json, JSON_FIELDS(finding_fields), finding);
	json_key(json, "evidence");
	json_begin_array(json);
	for (uint32_t i = 0; i < finding->n_evidence; i++)
		json_int(json, finding->evidence[i]);
	json_end_array(json);
	if (!finding->is_acquitted)
		json_put_text(json, "advice", finding->advice);
	json_end_object(json);
}

static void put_findings(struct hwy_json *json, const char *key, const struct hwy_finding *findings,
			 uint32_t n)
{
	json_key(json, key);
	json_begin_array(json);
	for (uint32_t i = 0; i < n; i++)
		put_finding(json, &findings[i]);
	json_end_array(json);
}

void analyze_print_json(FILE *out, const struct analyze_view *view)
{
	const struct analyze_run *run = &view->runs[view->shown];
	const struct hwy_diagnosis *diagnosis = &run->diagnosis;
	struct hwy_json json = {.out = out, .pretty = true, .context = view};
	struct summary summary = summarize(run);
	json_begin_object(&json);
	json_key(&json, "summary");
	json_begin_object(&json);
	analyze_json_put_verdict(&json, run);
	json_put_fields(&json, JSON_FIELDS(summary_fields), &summary);
	json_end_object(&json);
	json.context = run;
	put_trust(&json, run);
	put_phases(&json, run);
	put_gpus(&json, run);
	put_findings(&json, "findings", diagnosis->findings, diagnosis->n);
	put_findings(&json, "acquitted", diagnosis->acquitted, diagnosis->n_acquitted);
	if (view->job)
		job_json_put(&json, view->job);
	json_end_object(&json);
}
