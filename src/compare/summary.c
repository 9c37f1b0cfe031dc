/* SPDX-License-Identifier: Apache-2.0 */
/* summary.c - see summary.h: makes a summary from an analysis and a diagnosis. */
#include "compare/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/device_clocks.h"
#include "base/lang.h"
#include "base/path.h"
#include "base/quantile.h"
#include "compare/summary_waits.h"

const char *summary_part_name(unsigned part)
{
	static const char *const busy[] = {HWY_KEY("compute"), HWY_KEY("exposed communication"),
					   HWY_KEY("exposed copies"), HWY_KEY("fills")};
	static const char *const idle[GAP_CAUSES] = {
		[GAP_BLOCKED] = HWY_KEY("idle: blocked"),
		[GAP_LAUNCH] = HWY_KEY("idle: launch"),
		[GAP_INPUT] = HWY_KEY("idle: input"),
		[GAP_OS] = HWY_KEY("idle: os"),
		[GAP_CPU] = HWY_KEY("idle: cpu"),
		[GAP_DEPENDENCY] = HWY_KEY("idle: dependency"),
		[GAP_ALLOC] = HWY_KEY("idle: alloc"),
		[GAP_MODULE] = HWY_KEY("idle: module"),
		[GAP_DRAIN] = HWY_KEY("idle: drain"),
		[GAP_UNKNOWN] = HWY_KEY("idle: unknown"),
		[GAP_FIRST_USE] = HWY_KEY("idle: first use"),
		[GAP_MISSING] = HWY_KEY("idle: records missing"),
		[GAP_COMM] = HWY_KEY("idle: communication of the CPU"),
		[GAP_GC] = HWY_KEY("idle: garbage collection"),
		[GAP_GIL] = HWY_KEY("idle: waiting for the GIL"),
	};
	return hwy_tr(part < PART_IDLE ? busy[part] : idle[part - PART_IDLE]);
}

const char *const summary_part_keys[PARTS] = {
	"compute",      "exposed_comm", "exposed_copy", "fill",         "idle_blocked",
	"idle_launch",  "idle_input",   "idle_os",      "idle_cpu",     "idle_dependency",
	"idle_alloc",   "idle_module",  "idle_drain",   "idle_unknown", "idle_first_use",
	"idle_missing", "idle_comm",    "idle_gc",      "idle_gil"};

enum verdict_word summary_verdict(const struct compare_phase *phase)
{
	double shares[VERDICTS] = {0}, step = phase->step > 0 ? (double)phase->step : 1;
	shares[VERDICT_GPU] = (double)(phase->parts[PART_COMPUTE] + phase->parts[PART_FILL]) / step;
	shares[VERDICT_COMM] = (double)phase->parts[PART_COMM] / step;
	shares[VERDICT_COPY] = (double)phase->parts[PART_COPY] / step;
	for (unsigned cause = 0; cause < GAP_CAUSES; cause++)
		shares[verdict_word_of_cause((enum gap_cause)cause)] +=
			(double)phase->parts[PART_IDLE + cause] / step;
	return verdict_choose(shares);
}

void summary_share(const int64_t *totals, uint32_t n, int64_t divisor, int64_t *shares)
{
	int64_t sum = 0, before = 0;
	for (uint32_t i = 0; i < n; i++) {
		sum += totals[i];
		int64_t now = sum / divisor;
		shares[i] = now - before;
		before = now;
	}
}

/* ---- facts ----------------------------------------------------------------------------------- */

static const char *summary_keep(struct compare_summary *summary, const char *text)
{
	return hwy_arena_text(&summary->arena, text ? text : "", text ? strlen(text) : 0);
}

/* A command without the folders of the program and its interpreter: two checkouts of a program make
 * no difference. */
static const char *without_folders(struct compare_summary *summary, const char *command)
{
	size_t length;
	const char *program = hwy_program_name(command, &length), *word = program, *first = command;
	while (word > command && word[-1] != ' ')
		word--;
	for (const char *c = command; c < word && *c != ' '; c++)
		if (*c == '/')
			first = c + 1;
	return hwy_arena_format(&summary->arena, "%.*s%s", (int)(word - first), first, program);
}

static void note_facts(struct compare_summary *summary, const struct hwy_analysis *analysis)
{
	const struct hwy_trace *trace = analysis->trace;
	const struct hwy_phase *phase = &analysis->phases.phases[analysis->phases.main];
	const char *command = phase->process < trace->n_processes
				      ? hwy_str(trace, trace->processes[phase->process].command)
				      : "";
	const char *whole = *command ? command : hwy_property(trace, "command");
	summary->command = whole ? without_folders(summary, whole) : "";
	size_t length;
	const char *program = hwy_program_name(summary->command, &length);
	summary->program = hwy_arena_text(&summary->arena, program, length);
	/* PyTorch records the version of the driver's interface (13000) instead of the driver's: it
	 * has no dot. */
	const char *driver = hwy_property(trace, "driver");
	summary->driver = summary_keep(summary, driver && strchr(driver, '.') ? driver : "");
	summary->cuda = summary_keep(summary, hwy_property(trace, "cuda.version"));
	summary->format = summary_keep(summary, hwy_property(trace, "source.format"));
	summary->traces = summary_keep(summary, hwy_property(trace, "capture.traces"));
	summary->graph_mode = summary_keep(summary, hwy_property(trace, "capture.graph_mode"));
	summary->gpu = "";
	for (uint32_t d = 0; d < analysis->flow.n_devices; d++) {
		int64_t index = analysis->flow.devices[d].device;
		if (index < 0 || index >= trace->n_devices || *summary->gpu)
			continue;
		const struct hwy_device *device = &trace->devices[index];
		summary->gpu = summary_keep(summary, hwy_str(trace, device->name));
		summary->clock_hz = device->clock_hz > 0 ? device->clock_hz : 0;
	}
	summary->n_gpus = analysis->flow.n_devices;
	for (uint32_t i = 0; i < trace->n_drops; i++)
		summary->lost += trace->drops[i].count > 0 ? (uint64_t)trace->drops[i].count : 0;
}

/* ---- steps and states ------------------------------------------------------------------------ */

static void note_steps(struct compare_summary *summary, struct compare_phase *into,
		       const struct hwy_phase *phase)
{
	uint32_t n = phase->n_steady;
	int64_t *lengths = hwy_array(n, sizeof *lengths);
	for (uint32_t i = 0; i < n; i++) {
		const struct phase_step *step = &phase->steps[phase->first_steady + i];
		lengths[i] = step->device.to - step->device.from;
	}
	into->group = (n + COMPARE_VALUES - 1) / COMPARE_VALUES;
	into->n_values = n / into->group;
	into->values = hwy_arena_array(&summary->arena, into->n_values, sizeof *into->values);
	for (uint32_t i = 0; i < into->n_values; i++) {
		int64_t sum = 0;
		for (uint32_t k = 0; k < into->group; k++)
			sum += lengths[i * into->group + k] / into->group;
		into->values[i] = sum;
	}
	hwy_sort(lengths, n);
	into->p10 = hwy_rank_below(lengths, n, 10);
	into->p50 = hwy_rank_below(lengths, n, 50);
	into->p90 = hwy_rank_below(lengths, n, 90);
	into->p99 = hwy_rank_below(lengths, n, 99);
	into->longest = lengths[n - 1];
	free(lengths);
}

/* Sets the parts of the step, as means over the devices that had work in the window. */
static void note_states(struct compare_phase *into, const struct hwy_analysis *analysis,
			const struct hwy_phase *phase, const struct hwy_gaps *gaps)
{
	int64_t totals[PARTS] = {0};
	for (uint32_t d = 0; d < analysis->flow.n_devices; d++) {
		const struct gap_states *one = &gaps->devices[d];
		if (one->busy == 0)
			continue;
		into->n_devices++;
		totals[PART_COMPUTE] += one->compute;
		totals[PART_COMM] += one->exposed_comm;
		totals[PART_COPY] += one->exposed_copy;
		totals[PART_FILL] += one->fill;
		for (unsigned cause = 0; cause < GAP_CAUSES; cause++)
			totals[PART_IDLE + cause] += one->causes[cause];
	}
	if (into->n_devices == 0) { /* no device was busy: all device work has length 0 */
		into->n_devices = 1;
		totals[PART_IDLE + GAP_UNKNOWN] = phase->window.to - phase->window.from;
	}
	summary_share(totals, PARTS, (int64_t)into->n_devices * phase->n_steady, into->parts);
	into->step = 0;
	for (unsigned i = 0; i < PARTS; i++)
		into->step += into->parts[i];
}

/* ---- findings -------------------------------------------------------------------------------- */

static const char *finding_place(struct compare_summary *summary, const struct hwy_finding *finding)
{
	char text[160] = "";
	if (finding->n_places == 0)
		return "";
	const struct hwy_place *place = &finding->places[0].at;
	if (*place->file && place->line > 0)
		snprintf(text, sizeof text, "%s:%lld", hwy_basename(place->file),
			 (long long)place->line);
	else
		snprintf(text, sizeof text, "%s", *place->function ? place->function : place->api);
	return summary_keep(summary, text);
}

static void note_findings(struct compare_summary *summary, struct compare_phase *into,
			  const struct hwy_diagnosis *diagnosis, uint32_t phase)
{
	uint32_t n = 0;
	for (uint32_t i = 0; diagnosis && i < diagnosis->n; i++)
		n += diagnosis->findings[i].phase == phase;
	into->findings = hwy_arena_array(&summary->arena, n, sizeof *into->findings);
	for (uint32_t i = 0; diagnosis && i < diagnosis->n; i++) {
		const struct hwy_finding *from = &diagnosis->findings[i];
		if (from->phase != phase)
			continue;
		struct compare_finding *to = &into->findings[into->n_findings++];
		*to = (struct compare_finding){
			.id = from->kind->id,
			.title = from->kind->title,
			.place = finding_place(summary, from),
			.cost = from->cost,
			.share = from->share,
			.is_inside = from->kind->is_inside,
		};
		to->predicted.edits = "";
		if (!from->predicted.is_known)
			continue;
		to->predicted.is_known = true;
		to->predicted.edits = summary_keep(summary, from->predicted.edits);
		to->predicted.before = from->predicted.before;
		to->predicted.step = from->predicted.step;
		to->predicted.p10 = from->predicted.p10;
		to->predicted.p90 = from->predicted.p90;
		to->predicted.speedup = from->predicted.speedup;
	}
}

/* ---- phases ---------------------------------------------------------------------------------- */

/* Damaged recordings have times of any length. Sums of times, also over hundreds of runs, must stay
 * far from the limits of 64 bits. */
static bool is_sane(const struct hwy_analysis *analysis, const struct hwy_phase *phase)
{
	const struct hwy_flow *flow = &analysis->flow;
	const uint64_t most = UINT64_C(1) << 54;
	uint64_t sum = 0;
	for (uint32_t i = 0; i < flow->n_ops && sum < most; i++)
		sum += (uint64_t)(flow->ops[i].end - flow->ops[i].start);
	for (uint32_t i = 0; i < flow->n_calls && sum < most; i++)
		sum += (uint64_t)(flow->calls[i].end - flow->calls[i].start);
	uint64_t window = (uint64_t)(phase->window.to - phase->window.from);
	return sum < most && phase->n_steady > 0 && window < most / (flow->n_devices + 1u);
}

/* No clock is so fast: a recording that says so is damaged. */
#define MOST_CLOCK_HZ 1e12

static bool note_phase(struct compare_summary *summary, struct compare_phase *into,
		       struct hwy_analysis *analysis, const struct hwy_phase *phase,
		       const struct hwy_gaps *gaps, const struct hwy_waits *waits,
		       struct hwy_err *err)
{
	*into = (struct compare_phase){.n_steps = phase->n_steps, .n_steady = phase->n_steady};
	if (!is_sane(analysis, phase))
		return hwy_fail(err, "its times cannot be true: they add up to decades");
	into->name = summary_keep(summary, hwy_str(analysis->trace, phase->name));
	into->repeats = phase->source != PHASE_ONE && phase->n_steady > 1;
	note_steps(summary, into, phase);
	note_states(into, analysis, phase, gaps);
	double clock = device_clocks_busy(&analysis->flow, NULL, phase->window);
	into->busy_clock_hz = clock < MOST_CLOCK_HZ ? llround(clock) : 0;
	return summary_count(summary, into, analysis, phase, waits, err);
}

/* Says what the recording was made with, and what would record work of a device. */
static bool fail_without_work(const struct hwy_trace *trace, struct hwy_err *err)
{
	const char *traces = hwy_property(trace, "capture.traces");
	if (!traces || !*traces)
		return hwy_fail(err, "no device work, so it has no steps");
	bool cuda = strstr(traces, "cuda"), opencl = strstr(traces, "opencl");
	return hwy_fail(
		err, "no device work, so it has no steps; it was recorded with -t %s: %s", traces,
		hwy_tr(!cuda && !opencl && trace->n_spans > 0
			       ? HWY_KEY("a program that drives a device is recorded with -t cuda or "
					 "-t opencl; of one on the CPU alone headway analyze says where "
					 "its time went")
		       : !opencl ? HWY_KEY("headway profile -t opencl records OpenCL")
		       : !cuda   ? HWY_KEY("headway profile -t cuda,nvtx records CUDA")
			       : HWY_KEY("did the program reach its device? headway info says what "
					 "ran")));
}

static bool summary_begin(struct compare_summary *summary, const char *file,
			  const struct hwy_analysis *analysis, struct hwy_err *err)
{
	*summary = (struct compare_summary){0};
	summary->file = summary_keep(summary, file);
	if (analysis->phases.n == 0 || analysis->phases.main >= analysis->phases.n)
		return fail_without_work(analysis->trace, err);
	note_facts(summary, analysis);
	summary->phases = hwy_arena_array(&summary->arena, COMPARE_PHASES, sizeof *summary->phases);
	summary->indexes =
		hwy_arena_array(&summary->arena, COMPARE_PHASES, sizeof *summary->indexes);
	return true;
}

/* The index of the longest phase that the summary does not have yet, the main phase first;
 * UINT32_MAX where none is left. */
static uint32_t next_phase(const struct compare_summary *summary, const struct hwy_phases *phases)
{
	uint32_t best = UINT32_MAX;
	double longest = -1;
	if (summary->n == 0)
		return phases->main;
	for (uint32_t i = 0; i < phases->n; i++) {
		bool taken = false;
		for (uint32_t k = 0; k < summary->n; k++)
			taken |= summary->indexes[k] == i;
		double length = (double)phases->phases[i].n_steps * (double)phases->phases[i].mean;
		if (!taken && length > longest) {
			best = i;
			longest = length;
		}
	}
	return best;
}

bool summary_make(struct compare_summary *summary, const char *file, struct hwy_analysis *analysis,
		  const struct hwy_diagnosis *diagnosis, struct hwy_err *err)
{
	if (!summary_begin(summary, file, analysis, err))
		return false;
	while (summary->n < COMPARE_PHASES) {
		uint32_t index = next_phase(summary, &analysis->phases);
		if (index == UINT32_MAX)
			break;
		const struct analysis_phase *measures = &analysis->measures[index];
		struct compare_phase *into = &summary->phases[summary->n];
		if (!note_phase(summary, into, analysis, &analysis->phases.phases[index],
				&measures->gaps, &measures->waits, err))
			return false;
		if (diagnosis &&
		    !summary_waits(into, &summary->arena, analysis, &analysis->phases.phases[index],
				   &measures->waits, err))
			return false;
		note_findings(summary, into, diagnosis, index);
		summary->indexes[summary->n++] = index;
	}
	return true;
}

bool summary_make_part(struct compare_summary *summary, const char *file,
		       struct hwy_analysis *analysis, uint32_t first, uint32_t n,
		       struct hwy_err *err)
{
	if (!summary_begin(summary, file, analysis, err))
		return false;
	struct hwy_phase part = analysis->phases.phases[analysis->phases.main];
	if (n == 0 || first > part.n_steady || n > part.n_steady - first)
		return hwy_fail(err, "has %u steady steps", part.n_steady);
	part.first_steady += first;
	part.n_steady = n;
	part.window.from = part.steps[part.first_steady].device.from;
	part.window.to = part.steps[part.first_steady + n - 1].device.to;
	struct hwy_gaps gaps;
	struct hwy_waits waits;
	if (!gaps_find(&analysis->flow, &part, &gaps, err))
		return false;
	bool done = waits_find(&analysis->flow, &part, &waits, err);
	if (done) {
		done = note_phase(summary, &summary->phases[0], analysis, &part, &gaps, &waits,
				  err);
		summary->n = 1;
		summary->indexes[0] = analysis->phases.main;
		waits_free(&waits);
	}
	gaps_free(&gaps);
	return done;
}

void summary_free(struct compare_summary *summary)
{
	hwy_arena_free(&summary->arena);
	*summary = (struct compare_summary){0};
}
