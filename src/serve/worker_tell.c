/* worker_tell.c - the worker's side of worker.h: writes steps, headway, edits, gaps and the critical path as frames. */
#include <stdlib.h>

#include "serve/worker.h"
#include "whatif/path_cache.h"
#include "whatif/whatif.h"

enum {
	MOST_STEPS = 20000,
	MOST_ON_PATH = 40000000, /* calls and ops: the graph of more would take gigabytes */
};

void worker_tell_frame(FILE *out, enum worker_tag tag, const void *bytes, size_t n)
{
	struct hwy_bytes head = {0};
	hwy_bytes_put_little(&head, tag, 4);
	hwy_bytes_put_little(&head, n, 8);
	fwrite(head.bytes, 1, head.n, out);
	if (n)
		fwrite(bytes, 1, n, out);
	free(head.bytes);
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static void put_step(struct hwy_json *json, const struct hwy_trace *trace,
		     const struct phase_step *step, int64_t origin)
{
	json_begin_array(json);
	json_int(json, step->device.from - origin);
	json_int(json, step->device.to - origin);
	json_int(json, step->cpu.from - origin);
	json_int(json, step->cpu.to - origin);
	json_int(json, step->busy);
	json_int(json, (step->is_warm_up ? VIEW_WARM_UP : 0) |
			       (step->is_outlier ? VIEW_OUTLIER : 0) |
			       (step->is_cut ? VIEW_CUT : 0));
	span_names_put(json, hwy_text(trace, step->name));
	json_end_array(json);
}

static void put_steps(struct hwy_json *json, const struct hwy_analysis *analysis, int64_t origin)
{
	static const char *const sources[] = {"marks", "sequence", "waits", "one"};
	json_begin_object(json);
	json_put_int(json, "main", analysis->phases.main);
	json_key(json, "phases");
	json_begin_array(json);
	for (uint32_t p = 0; p < analysis->phases.n; p++) {
		const struct hwy_phase *phase = &analysis->phases.phases[p];
		uint32_t n = phase->n_steps < MOST_STEPS ? phase->n_steps : MOST_STEPS;
		json_begin_object(json);
		json_key(json, "name");
		span_names_put(json, hwy_text(analysis->trace, phase->name));
		json_put_text(json, "source", sources[phase->source]);
		json_put_int(json, "mean", phase->mean);
		json_put_int(json, "median", phase->median);
		json_put_int(json, "from", phase->window.from - origin);
		json_put_int(json, "to", phase->window.to - origin);
		json_put_int(json, "first_steady", phase->first_steady);
		json_put_int(json, "n_steady", phase->n_steady);
		json_put_int(json, "left_out", phase->n_steps - n);
		json_key(json, "steps");
		json_begin_array(json);
		for (uint32_t s = 0; s < n; s++)
			put_step(json, analysis->trace, &phase->steps[s], origin);
		json_end_array(json);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}

static void put_lead(struct hwy_json *json, const struct hwy_lead *lead, int64_t device,
		     uint32_t phase, int64_t origin)
{
	json_begin_object(json);
	json_put_int(json, "device", device == HWY_NONE ? 0 : device);
	json_put_int(json, "phase", phase);
	json_put_int(json, "max_count", lead->max_count);
	json_put_int(json, "max_work", lead->max_work);
	json_key(json, "points");
	json_begin_array(json);
	for (uint32_t i = 0; i < lead->n_series; i++) {
		json_begin_array(json);
		json_int(json, lead->series[i].time - origin);
		json_int(json, lead->series[i].count);
		json_int(json, lead->series[i].work);
		json_end_array(json);
	}
	json_end_array(json);
	json_end_object(json);
}

static void put_headway(struct hwy_json *json, const struct hwy_analysis *analysis, int64_t origin)
{
	json_begin_object(json);
	json_key(json, "devices");
	json_begin_array(json);
	for (uint32_t p = 0; p < analysis->phases.n; p++)
		for (uint32_t d = 0; analysis->measures[p].leads && d < analysis->flow.n_devices;
		     d++)
			put_lead(json, &analysis->measures[p].leads[d],
				 analysis->flow.devices[d].device, p, origin);
	json_end_array(json);
	json_end_object(json);
}

static void put_edits(struct hwy_json *json, const struct hwy_diagnosis *diagnosis)
{
	json_begin_object(json);
	json_key(json, "edits");
	json_begin_array(json);
	for (size_t i = 0; edit_kinds[i]; i++) {
		json_begin_object(json);
		json_put_text(json, "id", edit_kinds[i]->id);
		json_put_text(json, "arguments", edit_kinds[i]->arguments);
		json_put_text(json, "about", edit_kinds[i]->about);
		json_end_object(json);
	}
	json_end_array(json);
	json_key(json, "suggested");
	json_begin_array(json);
	for (uint32_t i = 0; i < diagnosis->n; i++) {
		const struct hwy_finding *finding = &diagnosis->findings[i];
		if (!finding->predicted.is_known)
			continue;
		json_begin_object(json);
		json_put_text(json, "finding", finding->kind->id);
		json_put_int(json, "phase", finding->phase);
		/* "pin + copy-stream" is for people. */
		char edits[512];
		size_t n = 0;
		for (const char *at = finding->predicted.edits; *at && n < sizeof edits - 1; at++)
			if (*at == '+')
				edits[n++] = ',';
			else if (*at != ' ')
				edits[n++] = *at;
		json_key(json, "edits");
		json_text(json, edits, n);
		json_put_int(json, "step", finding->predicted.step);
		json_key(json, "speedup");
		json_real(json, finding->predicted.speedup, 4);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}

/* ---- annotations ------------------------------------------------------------------------------------------- */

static int64_t device_of(const struct hwy_flow *flow, uint32_t device)
{
	return flow->devices[device].device == HWY_NONE ? 0 : flow->devices[device].device;
}

static int by_device(const void *a, const void *b)
{
	const struct annotation *x = a, *y = b;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

static void tell_gaps(FILE *out, const struct hwy_analysis *analysis, int64_t origin)
{
	struct annotations all = {0};
	for (uint32_t p = 0; p < analysis->phases.n; p++)
		for (uint32_t i = 0; i < analysis->measures[p].gaps.n; i++) {
			const struct hwy_gap *gap = &analysis->measures[p].gaps.gaps[i];
			HWY_GROW(all.v, all.n, all.cap);
			struct annotation *one = &all.v[all.n++];
			memset(one, 0, sizeof *one);
			one->from = gap->at.from - origin;
			one->to = gap->at.to - origin;
			one->cause = gap->cause;
			one->device = (uint8_t)device_of(&analysis->flow, gap->device);
			one->span_ref = gap->culprit != FLOW_NONE
						? hwy_ref32(analysis->flow.calls[gap->culprit].span)
						: gap->span;
		}
	if (all.n)
		qsort(all.v, all.n, sizeof *all.v, by_device);
	worker_tell_frame(out, WORKER_GAPS, all.v, all.n * sizeof *all.v);
	free(all.v);
}

static void tell_path(FILE *out, const struct hwy_analysis *analysis, int64_t origin)
{
	struct cached_paths kept;
	struct hwy_err err;
	struct annotations all = {0};
	if ((uint64_t)analysis->flow.n_calls + analysis->flow.n_ops > MOST_ON_PATH ||
	    !path_cache_open(&kept, &analysis->flow, &analysis->phases, &err))
		kept = (struct cached_paths){0};
	for (uint32_t p = 0; p < kept.n; p++)
		for (uint32_t i = 0; i < kept.by_phase[p].n; i++) {
			const struct cached_piece *from = &kept.by_phase[p].pieces[i];
			HWY_GROW(all.v, all.n, all.cap);
			struct annotation *one = &all.v[all.n++];
			memset(one, 0, sizeof *one);
			one->from = from->at.from - origin;
			one->to = from->at.to - origin;
			one->cause = from->class;
			one->span_ref = hwy_ref32(from->span);
		}
	path_cache_close(&kept);
	if (all.n)
		qsort(all.v, all.n, sizeof *all.v, by_device);
	worker_tell_frame(out, WORKER_PATH, all.v, all.n * sizeof *all.v);
	free(all.v);
}

void worker_tell(FILE *out, const struct hwy_analysis *analysis,
		 const struct hwy_diagnosis *diagnosis, int64_t origin)
{
	static const enum worker_tag tags[] = {WORKER_STEPS, WORKER_HEADWAY, WORKER_EDITS};
	for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
		char *text = NULL;
		size_t n = 0;
		struct hwy_json json = {.out = open_memstream(&text, &n)};
		if (tags[i] == WORKER_STEPS)
			put_steps(&json, analysis, origin);
		else if (tags[i] == WORKER_HEADWAY)
			put_headway(&json, analysis, origin);
		else
			put_edits(&json, diagnosis);
		fclose(json.out);
		worker_tell_frame(out, tags[i], text, n);
		free(text);
	}
	tell_gaps(out, analysis, origin);
	tell_path(out, analysis, origin);
	worker_tell_frame(out, WORKER_READY, NULL, 0);
	fflush(out);
}
