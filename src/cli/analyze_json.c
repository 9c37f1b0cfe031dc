/* analyze_json.c - the diagnosis as one JSON object; docs/analyze-json.md says what each key means. Keys are
 * added, never renamed. */
#include "base/json.h"
#include "cli/analyze_print.h"
#include "cli/kit/cli.h"

static void put_window(struct hwy_json *json, const char *key, struct hwy_interval at)
{
	json_key(json, key);
	json_begin_object(json);
	json_put_int(json, "start_ns", at.from);
	json_put_int(json, "end_ns", at.to);
	json_end_object(json);
}

/* ---- summary ------------------------------------------------------------------------------------- */

static void put_runs(struct hwy_json *json, const struct analyze_view *view)
{
	json_key(json, "runs");
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

static void put_kernels(struct hwy_json *json, const struct hwy_verdict *verdict)
{
	json_key(json, "top_kernels");
	json_begin_array(json);
	for (uint32_t i = 0; verdict && i < verdict->n_kernels; i++) {
		const struct hwy_top_kernel *kernel = &verdict->kernels[i];
		json_begin_object(json);
		json_put_text(json, "name", kernel->name);
		json_put_int(json, "ns_per_step", kernel->ns);
		json_put_real(json, "share_of_kernels", kernel->share, 6);
		json_put_int(json, "count", (int64_t)kernel->count);
		json_end_object(json);
	}
	json_end_array(json);
}

static void put_summary(struct hwy_json *json, const struct analyze_view *view)
{
	const struct analyze_run *run = &view->runs[view->shown];
	const struct hwy_phase *phase = analyze_main(run);
	const struct hwy_diagnosis *diagnosis = &run->diagnosis;
	const struct hwy_verdict *verdict =
		phase ? &diagnosis->verdicts[run->analysis.phases.main] : NULL;
	json_key(json, "summary");
	json_begin_object(json);
	json_put_text(json, "program", analyze_program(run).text);
	json_put_text(json, "framework", hwy_framework_names[diagnosis->framework]);
	cli_put_optional(json, "phase", phase ? (int64_t)run->analysis.phases.main : HWY_NONE);
	cli_put_optional(json, "steps", phase ? (int64_t)phase->n_steps : HWY_NONE);
	cli_put_optional(json, "step_ns", phase ? phase->mean : HWY_NONE);
	uint32_t n;
	struct gap_states states = {0};
	if (phase)
		states = analyze_states(run, run->analysis.phases.main, &n);
	json_put_real(json, "busy", states.window ? (double)states.busy / (double)states.window : 0,
		      6);
	json_put_bool(json, "healthy", verdict && verdict->is_healthy && verdict->is_known);
	json_put_real(json, "reachable", verdict ? verdict->reachable : 0, 6);
	cli_put_optional(json, "own_cost_ns_per_step", verdict ? verdict->own_cost : HWY_NONE);
	json_put_int(json, "lost_records", (int64_t)analyze_lost(run->trace));
	put_kernels(json, verdict);
	json_key(json, "ncu");
	json_textz(json, verdict && *verdict->ncu ? verdict->ncu : NULL);
	put_runs(json, view);
	json_end_object(json);
}

/* ---- trust ----------------------------------------------------------------------------------------- */

static void put_trust(struct hwy_json *json, const struct analyze_run *run)
{
	static const char *const effects[] = {"none", "weakens", "forbids"};
	json_key(json, "trust");
	json_begin_array(json);
	for (unsigned i = 0; i < HWY_LACKS; i++) {
		const struct hwy_lack *lack = &run->analysis.trust.lacks[i];
		if (lack->count == 0)
			continue;
		json_begin_object(json);
		json_put_text(json, "check", lack->name);
		json_put_int(json, "count", (int64_t)lack->count);
		json_put_int(json, "of", (int64_t)lack->total);
		json_put_text(json, "effect", effects[lack->effect]);
		json_put_text(json, "measures", lack->measures);
		json_put_text(json, "says", lack->says);
		json_end_object(json);
	}
	for (uint32_t i = 0; i < run->diagnosis.n_cannot; i++) {
		json_begin_object(json);
		json_put_text(json, "cannot_tell", run->diagnosis.cannot[i].what);
		json_put_text(json, "because", run->diagnosis.cannot[i].because);
		json_end_object(json);
	}
	json_end_array(json);
}

/* ---- phases ---------------------------------------------------------------------------------------- */

static void put_outliers(struct hwy_json *json, const struct analyze_run *run, uint32_t index)
{
	const struct hwy_phase *phase = &run->analysis.phases.phases[index];
	const struct hwy_verdict *verdict = &run->diagnosis.verdicts[index];
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

static void put_headway(struct hwy_json *json, const struct analyze_run *run, uint32_t phase)
{
	const struct hwy_lead *leads = run->analysis.measures[phase].leads;
	json_key(json, "headway");
	json_begin_array(json);
	for (uint32_t d = 0; leads && d < run->analysis.flow.n_devices; d++) {
		int64_t device = run->analysis.flow.devices[d].device;
		json_begin_object(json);
		cli_put_optional(json, "device",
				 device == HWY_NONE ? HWY_NONE
						    : run->trace->devices[device].ordinal);
		json_put_int(json, "max_ops", leads[d].max_count);
		json_put_int(json, "max_ns", leads[d].max_work);
		json_put_real(json, "mean_ops", leads[d].mean_count, 3);
		json_put_int(json, "mean_ns", leads[d].mean_work);
		json_put_int(json, "empty_ns", leads[d].empty);
		json_put_int(json, "fell_to_zero", leads[d].n_zero);
		json_put_real(json, "steps", leads[d].steps, 3);
		json_end_object(json);
	}
	json_end_array(json);
}

static void put_phase(struct hwy_json *json, const struct analyze_run *run, uint32_t index)
{
	static const char *const sources[] = {
		[PHASE_MARKS] = "marks",
		[PHASE_SEQUENCE] = "sequence",
		[PHASE_WAITS] = "waits",
		[PHASE_ONE] = "one",
	};
	const struct hwy_phase *phase = &run->analysis.phases.phases[index];
	const struct hwy_verdict *verdict = &run->diagnosis.verdicts[index];
	json_begin_object(json);
	json_put_text(json, "name", hwy_str(run->trace, phase->name));
	json_put_text(json, "source", sources[phase->source]);
	cli_put_optional(json, "pid",
			 phase->process < run->trace->n_processes
				 ? run->trace->processes[phase->process].pid
				 : HWY_NONE);
	json_put_int(json, "steps", phase->n_steps);
	json_put_int(json, "steady_steps", phase->n_steady);
	json_put_int(json, "first_steady", phase->first_steady);
	json_put_bool(json, "first_told_apart", phase->is_first_told_apart);
	json_put_int(json, "step_ns", phase->mean);
	json_put_int(json, "median_ns", phase->median);
	json_put_int(json, "p10_ns", phase->p10);
	json_put_int(json, "p90_ns", phase->p90);
	json_put_bool(json, "bursty", phase->is_bursty);
	put_window(json, "window", phase->window);
	json_put_real(json, "launches_per_step", phase->launches_per_step, 3);
	json_put_real(json, "waits_per_step", phase->waits_per_step, 3);
	json_put_bool(json, "healthy", verdict->is_healthy && verdict->is_known);
	put_headway(json, run, index);
	put_outliers(json, run, index);
	json_end_object(json);
}

static void put_phases(struct hwy_json *json, const struct analyze_run *run)
{
	json_key(json, "phases");
	json_begin_array(json);
	for (uint32_t i = 0; i < run->analysis.phases.n; i++)
		put_phase(json, run, i);
	json_end_array(json);
}

/* ---- gpu: the steady window of the phase that took longest ----------------------------------------- */

static void put_gpu(struct hwy_json *json, const struct analyze_run *run)
{
	json_key(json, "gpu");
	json_begin_array(json);
	uint32_t n = analyze_main(run) ? run->analysis.flow.n_devices : 0;
	for (uint32_t d = 0; d < n; d++) {
		const struct gap_states *states =
			&run->analysis.measures[run->analysis.phases.main].gaps.devices[d];
		int64_t device = run->analysis.flow.devices[d].device;
		json_begin_object(json);
		cli_put_optional(json, "device",
				 device == HWY_NONE ? HWY_NONE
						    : run->trace->devices[device].ordinal);
		json_put_text(json, "name",
			      device == HWY_NONE
				      ? ""
				      : hwy_str(run->trace, run->trace->devices[device].name));
		json_put_int(json, "window_ns", states->window);
		json_put_int(json, "busy_ns", states->busy);
		json_put_int(json, "idle_ns", states->idle);
		json_key(json, "states");
		json_begin_object(json);
		json_put_int(json, "compute_ns", states->compute);
		json_put_int(json, "exposed_comm_ns", states->exposed_comm);
		json_put_int(json, "exposed_copy_ns", states->exposed_copy);
		json_put_int(json, "fill_ns", states->fill);
		json_put_int(json, "idle_ns", states->idle);
		json_end_object(json);
		json_put_int(json, "copy_overlapped_ns", states->copy_overlapped);
		json_put_int(json, "comm_overlapped_ns", states->comm_overlapped);
		json_key(json, "causes");
		json_begin_object(json);
		for (unsigned cause = 0; cause < GAP_CAUSES; cause++)
			json_put_int(json, gap_cause_names[cause], states->causes[cause]);
		json_end_object(json);
		json_end_object(json);
	}
	json_end_array(json);
}

/* ---- findings -------------------------------------------------------------------------------------- */

static void analyze_json_put_place(struct hwy_json *json, const struct hwy_finding_place *place)
{
	json_begin_object(json);
	json_put_text(json, "file", place->at.file);
	cli_put_optional(json, "line", place->at.line > 0 ? place->at.line : HWY_NONE);
	json_put_text(json, "function", place->at.function);
	json_put_text(json, "range", place->at.range);
	json_put_text(json, "api", place->at.api);
	json_put_int(json, "count", (int64_t)place->count);
	json_put_int(json, "cost_ns_per_step", place->cost);
	json_end_object(json);
}

static void put_predicted(struct hwy_json *json, const struct hwy_predicted *predicted)
{
	if (!predicted->is_known)
		return;
	json_key(json, "predicted");
	json_begin_object(json);
	json_key(json, "edits");
	json_begin_array(json);
	json_textz(json, predicted->edits);
	json_end_array(json);
	json_put_int(json, "before_ns", predicted->before);
	json_put_int(json, "step_ns", predicted->step);
	json_put_int(json, "p10_ns", predicted->p10);
	json_put_int(json, "p90_ns", predicted->p90);
	json_put_real(json, "speedup", predicted->speedup, 4);
	json_put_text(json, "bound", predicted->bound);
	if (predicted->tipping)
		json_put_int(json, "tipping_ns", predicted->tipping);
	json_end_object(json);
}

static void analyze_json_put_finding(struct hwy_json *json, const struct hwy_finding *finding)
{
	json_begin_object(json);
	json_put_text(json, "id", finding->kind->id);
	json_put_text(json, "title",
		      finding->is_acquitted && finding->kind->suspect ? finding->kind->suspect
								      : finding->kind->title);
	json_put_int(json, "phase", finding->phase);
	if (finding->rank != HWY_NONE)
		json_put_int(json, "rank", finding->rank);
	json_put_text(json, "side", finding->kind->is_inside ? "device" : "program");
	json_put_int(json, "cost_ns_per_step", finding->cost);
	json_put_real(json, "share", finding->share, 6);
	json_put_text(json, "confidence", hwy_confidence_names[finding->confidence]);
	json_put_text(json, "says", finding->says);
	put_predicted(json, &finding->predicted);
	json_key(json, "places");
	json_begin_array(json);
	for (uint32_t i = 0; i < finding->n_places; i++)
		analyze_json_put_place(json, &finding->places[i]);
	json_end_array(json);
	json_key(json, "evidence");
	json_begin_array(json);
	for (uint32_t i = 0; i < finding->n_evidence; i++)
		json_int(json, finding->evidence[i]);
	json_end_array(json);
	if (!finding->is_acquitted)
		json_put_text(json, "advice", finding->advice);
	json_end_object(json);
}

void analyze_print_json(FILE *out, const struct analyze_view *view)
{
	const struct analyze_run *run = &view->runs[view->shown];
	struct hwy_json json = {.out = out, .pretty = true};
	json_begin_object(&json);
	put_summary(&json, view);
	put_trust(&json, run);
	put_phases(&json, run);
	put_gpu(&json, run);
	json_key(&json, "findings");
	json_begin_array(&json);
	for (uint32_t i = 0; i < run->diagnosis.n; i++)
		analyze_json_put_finding(&json, &run->diagnosis.findings[i]);
	json_end_array(&json);
	json_key(&json, "acquitted");
	json_begin_array(&json);
	for (uint32_t i = 0; i < run->diagnosis.n_acquitted; i++)
		analyze_json_put_finding(&json, &run->diagnosis.acquitted[i]);
	json_end_array(&json);
	json_end_object(&json);
}
