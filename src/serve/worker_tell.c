/* SPDX-License-Identifier: Apache-2.0 */
/* worker_tell.c - the worker's side of worker.h: writes steps, headway, edits, gaps and the
 * critical path as frames. */
#include <stdlib.h>

#include "base/json_fields.h"
#include "base/memory_text.h"
#include "serve/headway_series.h"
#include "serve/worker.h"
#include "whatif/path_cache.h"
#include "whatif/whatif.h"

enum {
	/* The most steps of a phase that are sent; the page is told the number of the other
	 * steps. */
	MOST_STEPS = 20000,
	/* The most calls and ops for a critical path: the graph of a longer recording would take
	 * gigabytes. */
	MOST_ON_PATH = 40000000,
	/* The most calls and ops times phases for the paths of all phases, some 15 s; beyond, that
	 * of the main phase is shown. */
	MOST_NODES_OF_PATHS = 2000000000,
};

void worker_tell_frame(FILE *out, enum worker_tag tag, const void *bytes, size_t n)
{
	uint8_t head[12];
	hwy_little_write(head, tag, 4);
	hwy_little_write(head + 4, n, 8);
	fwrite(head, 1, sizeof head, out);
	if (n)
		fwrite(bytes, 1, n, out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* The value of json->context for the functions in the tables below. */
struct telling {
	const struct hwy_trace *trace;
	int64_t origin; /* the view's origin: times are written as ns after the origin */
	const struct worker_job *ranks; /* or NULL */
};

static void put_time(struct hwy_json *json, const void *member)
{
	const struct telling *telling = json->context;
	json_int(json, *(const int64_t *)member - telling->origin);
}

static void put_name(struct hwy_json *json, const void *member)
{
	const struct telling *telling = json->context;
	span_names_put(json, hwy_text(telling->trace, *(const int64_t *)member));
}

static uint32_t shown_steps(const struct hwy_phase *phase)
{
	return phase->n_steps < MOST_STEPS ? phase->n_steps : MOST_STEPS;
}

static void put_left_out(struct hwy_json *json, const void *object)
{
	const struct hwy_phase *phase = object;
	json_int(json, phase->n_steps - shown_steps(phase));
}

static void put_step(struct hwy_json *json, const struct phase_step *step)
{
	json_begin_array(json);
	put_time(json, &step->device.from);
	put_time(json, &step->device.to);
	put_time(json, &step->cpu.from);
	put_time(json, &step->cpu.to);
	json_int(json, step->busy);
	json_int(json, (step->is_warm_up ? VIEW_WARM_UP : 0) |
			       (step->is_outlier ? VIEW_OUTLIER : 0) |
			       (step->is_cut ? VIEW_CUT : 0));
	put_name(json, &step->name);
	json_end_array(json);
}

/* The index of the phase's process, or -1. */
static void put_phase_process(struct hwy_json *json, const void *object)
{
	const struct hwy_phase *phase = object;
	json_int(json, phase->process == FLOW_NO_PROCESS ? -1 : (int64_t)phase->process);
}

static void put_phase_steps(struct hwy_json *json, const void *object)
{
	const struct hwy_phase *phase = object;
	json_begin_array(json);
	for (uint32_t s = 0; s < shown_steps(phase); s++)
		put_step(json, &phase->steps[s]);
	json_end_array(json);
}

static const char *const phase_sources[] = {"marks", "sequence", "waits", "one"};
static const struct json_field phase_fields[] = {
	{JSON_FIELD_CALL(struct hwy_phase, name, "name", put_name)},
	{JSON_FIELD_CALL_OBJECT("process", put_phase_process)},
	{JSON_FIELD_ENUM(struct hwy_phase, source, "source", phase_sources, 4)},
	{JSON_FIELD_INT(struct hwy_phase, mean, "mean")},
	{JSON_FIELD_INT(struct hwy_phase, median, "median")},
	{JSON_FIELD_CALL(struct hwy_phase, window.from, "from", put_time)},
	{JSON_FIELD_CALL(struct hwy_phase, window.to, "to", put_time)},
	{JSON_FIELD_INT(struct hwy_phase, first_steady, "first_steady")},
	{JSON_FIELD_INT(struct hwy_phase, n_steady, "n_steady")},
	{JSON_FIELD_CALL_OBJECT("left_out", put_left_out)},
	{JSON_FIELD_CALL_OBJECT("steps", put_phase_steps)},
};
/* Whether the gaps are those of each rank, by its own recording. */
static void put_by_rank(struct hwy_json *json, const void *object)
{
	(void)object;
	json_bool(json, ((const struct telling *)json->context)->ranks != NULL);
}

static const struct json_field phases_fields[] = {
	{JSON_FIELD_CALL_OBJECT("by_rank", put_by_rank)},
	{JSON_FIELD_INT(struct hwy_phases, main, "main")},
	{JSON_FIELD_ARRAY(struct hwy_phases, phases, n, "phases", phase_fields)},
};

static const struct json_field edit_fields[] = {
	{JSON_FIELD_TEXT(struct edit_kind, id, "id")},
	{JSON_FIELD_TEXT(struct edit_kind, arguments, "arguments")},
	{JSON_FIELD_TEXT(struct edit_kind, about, "about")},
};

/* The finding's "pin + copy-stream" is for people; the request 'whatif' takes "pin,copy-stream". */
static void put_edit_list(struct hwy_json *json, const char *edits)
{
	char list[512];
	size_t n = 0;
	for (const char *c = edits; *c && n < sizeof list - 1; c++)
		if (*c == '+')
			list[n++] = ',';
		else if (*c != ' ')
			list[n++] = *c;
	json_text(json, list, n);
}

static void put_suggestion(struct hwy_json *json, const struct hwy_finding *finding)
{
	if (!finding->predicted.is_known)
		return;
	json_begin_object(json);
	json_put_text(json, "finding", finding->kind->id);
	json_put_int(json, "phase", finding->phase);
	json_key(json, "edits");
	put_edit_list(json, finding->predicted.edits);
	json_put_int(json, "step", finding->predicted.step);
	json_put_real(json, "speedup", finding->predicted.speedup, 4);
	json_end_object(json);
}

/* Of a job, the findings about ranks together: what one rank gains alone says nothing about a job
 * that waits for others. */
static void put_suggestions(struct hwy_json *json, const struct hwy_diagnosis *diagnosis,
			    const struct worker_job *ranks)
{
	for (uint32_t i = 0; ranks && i < ranks->answer->n_findings; i++)
		if (ranks->answer->findings[i].is_joint)
			put_suggestion(json, ranks->answer->findings[i].finding);
	for (uint32_t i = 0; !ranks && i < diagnosis->n; i++)
		put_suggestion(json, &diagnosis->findings[i]);
}

static void put_edits(struct hwy_json *json, const struct hwy_diagnosis *diagnosis,
		      const struct worker_job *ranks)
{
	json_begin_object(json);
	json_key(json, "edits");
	json_begin_array(json);
	for (size_t i = 0; edit_kinds[i]; i++)
		json_put_object(json, JSON_FIELDS(edit_fields), edit_kinds[i]);
	json_end_array(json);
	json_key(json, "suggested");
	json_begin_array(json);
	put_suggestions(json, diagnosis, ranks);
	json_end_array(json);
	json_end_object(json);
}

/* ---- annotations ----------------------------------------------------------------------------- */

/* Yields the number that people see of a device of the flow; work without a device counts as device
 * 0. */
static uint8_t device_number(const struct hwy_flow *flow, uint32_t device)
{
	int64_t number = flow->devices[device].device;
	return number == HWY_NONE ? 0 : (uint8_t)number;
}

static int by_device_and_time(const void *a, const void *b)
{
	const struct annotation *x = a, *y = b;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

/* Adds an annotation and sets its padding too, because the whole struct goes through a pipe. */
static struct annotation *add_annotation(struct annotations *all, struct hwy_interval time,
					 int64_t origin)
{
	HWY_GROW(all->v, all->n, all->cap);
	struct annotation *added = &all->v[all->n++];
	memset(added, 0, sizeof *added);
	added->from = time.from - origin;
	added->to = time.to - origin;
	return added;
}

static void tell_annotations(FILE *out, enum worker_tag tag, struct annotations *all)
{
	if (all->n)
		qsort(all->v, all->n, sizeof *all->v, by_device_and_time);
	worker_tell_frame(out, tag, all->v, all->n * sizeof *all->v);
	free(all->v);
}

/* Idle time of a job is that of each rank: what keeps one rank's device idle says nothing about
 * another rank, also where both use one device. */
static void tell_gaps(FILE *out, const struct hwy_analysis *analysis, int64_t origin,
		      struct worker_job *ranks)
{
	const struct hwy_flow *flow = &analysis->flow;
	struct annotations all = {0};
	if (ranks) {
		worker_job_add_gaps(ranks, &all);
		tell_annotations(out, WORKER_GAPS, &all);
		return;
	}
	for (uint32_t p = 0; p < analysis->phases.n; p++)
		for (uint32_t i = 0; i < analysis->measures[p].gaps.n; i++) {
			const struct hwy_gap *gap = &analysis->measures[p].gaps.gaps[i];
			struct annotation *added = add_annotation(&all, gap->at, origin);
			added->cause = gap->cause;
			added->device = device_number(flow, gap->device);
			added->span_ref = gap->culprit != FLOW_NONE
						  ? hwy_ref32(flow->calls[gap->culprit].span)
						  : gap->span;
		}
	tell_annotations(out, WORKER_GAPS, &all);
}

static void tell_path(FILE *out, const struct hwy_analysis *analysis, int64_t origin)
{
	struct cached_paths paths;
	struct hwy_err err;
	struct annotations all = {0};
	struct hwy_phases phases = analysis->phases;
	uint64_t nodes = (uint64_t)analysis->flow.n_calls + analysis->flow.n_ops;
	/* The path of each phase goes through the whole graph. */
	if (phases.n > 1 && nodes * phases.n > MOST_NODES_OF_PATHS) {
		phases.phases += phases.main;
		phases.main = 0;
		phases.n = 1;
	}
	if (nodes > MOST_ON_PATH || !path_cache_open(&paths, &analysis->flow, &phases, &err))
		paths = (struct cached_paths){0};
	for (uint32_t p = 0; p < paths.n; p++)
		for (uint32_t i = 0; i < paths.by_phase[p].n; i++) {
			const struct cached_piece *piece = &paths.by_phase[p].pieces[i];
			struct annotation *added = add_annotation(&all, piece->at, origin);
			added->cause = piece->class;
			added->span_ref = hwy_ref32(piece->span);
		}
	path_cache_close(&paths);
	tell_annotations(out, WORKER_PATH, &all);
}

void worker_tell(FILE *out, const struct hwy_analysis *analysis,
		 const struct hwy_diagnosis *diagnosis, int64_t origin, struct worker_job *ranks)
{
	static const enum worker_tag tags[] = {WORKER_STEPS, WORKER_EDITS};
	const struct telling telling = {analysis->trace, origin, ranks};
	for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
		struct memory_text memory;
		memory_text_begin(&memory);
		struct hwy_json json = {.out = memory.out, .context = &telling};
		if (tags[i] == WORKER_STEPS)
			json_put_object(&json, JSON_FIELDS(phases_fields), &analysis->phases);
		else
			put_edits(&json, diagnosis, ranks);
		memory_text_end(&memory);
		worker_tell_frame(out, tags[i], memory.text, memory.length);
		free(memory.text);
	}
	struct hwy_bytes headway = {0};
	headway_series_write(analysis, &(struct headway_clock){.origin = origin}, HWY_NONE,
			     &headway);
	if (ranks)
		worker_job_add_headway(ranks, &headway);
	worker_tell_frame(out, WORKER_HEADWAY, headway.bytes, headway.n);
	hwy_bytes_free(&headway);
	struct hwy_bytes times = {0};
	step_times_write(analysis->trace, &analysis->phases, &times);
	worker_tell_frame(out, WORKER_STEP_TIMES, times.bytes, times.n);
	hwy_bytes_free(&times);
	tell_gaps(out, analysis, origin, ranks);
	tell_path(out, analysis, origin);
	worker_tell_roofline(out, analysis);
	worker_tell_frame(out, WORKER_READY, NULL, 0);
	fflush(out);
}
