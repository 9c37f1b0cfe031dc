/* SPDX-License-Identifier: Apache-2.0 */
/* tensorboard_steps.c - the step-time breakdown of the TensorBoard plugin (torch-tb-profiler),
 * for every ProfilerStep#N annotation.
 *
 * A step begins where its annotation does, but not before the step before it ended; it ends with
 * its annotation or with the last device work launched inside the annotation, whichever is
 * later. At every moment of a step one thing counts: kernel, else copy, else fill, else
 * communication, else a call of the vendor's library, else the data loader, else an operator or
 * annotation, else nothing. A last step with less than 80 % of the work of the one before it was
 * cut off by the end of the recording. Kernels of communication libraries count as
 * communication.
 *
 * These steps are not those of phases.h, whose time is the device's period: people who move from
 * the plugin, which is no longer developed, compare the numbers of `headway breakdown` with
 * those they know, to the microsecond (tests/cli/breakdown.sh does so too). Nothing but
 * breakdown.h uses this file.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/breakdown.h"
#include "analyze/sweep.h"
#include "base/search.h"

#define HOST_KINDS (HWY_KIND_BIT(HWY_OP) | HWY_KIND_BIT(HWY_RANGE))

/* Values of finder.parts beside those of enum hwy_step_part. */
enum { STEP_MARK = HWY_STEP_PARTS, UNASKED = 0xff };

struct finder {
	struct hwy_work *work;
	struct hwy_trace *trace;
	/* By text: the part that an annotation of this name counts for; STEP_MARK: it is a step;
	 * UNASKED: not looked at yet. */
	uint8_t *parts;
};

static bool starts_with(struct hwy_text text, const char *start)
{
	size_t n = strlen(start);
	return text.length >= n && memcmp(text.at, start, n) == 0;
}

static bool ends_with(struct hwy_text text, const char *end)
{
	size_t n = strlen(end);
	return text.length >= n && memcmp(text.at + text.length - n, end, n) == 0;
}

static uint8_t step_part_of_name(struct hwy_text name)
{
	if (starts_with(name, "ProfilerStep#"))
		return STEP_MARK;
	if ((starts_with(name, "enumerate(DataLoader)#") && ends_with(name, ".__next__")) ||
	    starts_with(name, "enumerate(DataPipe)#"))
		return HWY_STEP_LOADER;
	if (starts_with(name, "nccl:") || starts_with(name, "gloo:"))
		return HWY_STEP_COMM;
	return HWY_STEP_OP;
}

static uint8_t step_part_of_string(const struct finder *finder, int64_t name)
{
	uint8_t *part = &finder->parts[name >= 0 && name < finder->trace->strings.n ? name : 0];
	if (*part == UNASKED)
		*part = step_part_of_name(hwy_text(finder->trace, name));
	return *part;
}

static bool any_marks(const struct hwy_trace *trace)
{
	for (uint32_t i = 0; i < trace->strings.n; i++)
		if (step_part_of_name(trace->strings.texts[i]) == STEP_MARK)
			return true;
	return false;
}

/* Whether the strip holds operators or annotations of a thread. Ranges that a recorder projects
 * onto a stream do not count, nor do ranges across threads, nor those of a domain: the
 * profiler's own span over all is in a domain. */
static bool is_host_strip(const struct hwy_trace *trace, const struct hwy_strip *strip)
{
	const struct hwy_lane *lane = &trace->lanes[strip->lane];
	return (strip->kind == HWY_OP && lane->type == HWY_LANE_OP) ||
	       (strip->kind == HWY_RANGE && lane->type == HWY_LANE_RANGE && lane->name == 0);
}

static int by_process_and_time(const void *left, const void *right)
{
	const struct hwy_step *a = left, *b = right;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->cpu.from != b->cpu.from)
		return a->cpu.from < b->cpu.from ? -1 : 1;
	return a->cpu.to < b->cpu.to ? -1 : a->cpu.to > b->cpu.to;
}

static void find_steps(const struct finder *finder, struct hwy_breakdown *breakdown)
{
	const struct hwy_trace *trace = finder->trace;
	uint32_t cap = 0;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (!is_host_strip(trace, strip))
			continue;
		for (uint32_t row = 0; row < strip->rows; row++) {
			int64_t name = hwy_get(strip, HWY_NAME, row);
			if (step_part_of_string(finder, name) != STEP_MARK)
				continue;
			HWY_GROW(breakdown->steps, breakdown->n_steps, cap);
			breakdown->steps[breakdown->n_steps++] = (struct hwy_step){
				.process = trace->lanes[strip->lane].process,
				.name = name,
				.cpu = {hwy_get(strip, HWY_START, row), hwy_end(strip, row)},
				.whole = true,
			};
		}
	}
	if (breakdown->n_steps)
		qsort(breakdown->steps, breakdown->n_steps, sizeof *breakdown->steps,
		      by_process_and_time);
}

/* ---- the steps' time on the device ----------------------------------------------------------- */

struct run_of_steps { /* the steps of one process, in order of time */
	struct hwy_step *v;
	uint32_t n;
	int64_t process;
};

static bool may_belong_to(const struct hwy_trace *trace, const struct hwy_strip *strip,
			  int64_t process)
{
	int64_t owner = trace->lanes[strip->lane].process;
	return owner == process || owner == HWY_NONE;
}

/* The step in which the call lies as a whole, or NULL. */
static struct hwy_step *step_of_call(const struct run_of_steps *run, struct hwy_interval call)
{
	uint32_t after = HWY_FIRST(i, 0u, run->n, run->v[i].cpu.from > call.from);
	if (after == 0 || call.to > run->v[after - 1].cpu.to)
		return NULL;
	return &run->v[after - 1];
}

static struct hwy_sweep work_of(const struct finder *finder, const struct run_of_steps *run)
{
	const struct hwy_trace *trace = finder->trace;
	struct hwy_sweep sweep = {0};
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (work_is_on(finder->work, &trace->strips[s]) &&
		    may_belong_to(trace, &trace->strips[s], run->process))
			sweep_add(&sweep, &trace->strips[s], 0);
	return sweep;
}

static struct hwy_step *step_of_work(const struct finder *finder, const struct run_of_steps *run,
				     const struct hwy_sweep *sweep)
{
	struct hwy_call call;
	if (!work_call(finder->work, sweep->strip, sweep->row, &call))
		return NULL;
	return step_of_call(run, call.at);
}

/* Gives every op to the step that launched it; the 'at' of a step becomes the extent of the
 * step's device work. */
static void assign_work(const struct finder *finder, const struct run_of_steps *run)
{
	struct hwy_sweep sweep = work_of(finder, run);
	while (sweep_next(&sweep)) {
		struct hwy_step *step = NULL;
		if (work_is_own(finder->work, sweep.strip, sweep.row))
			step = step_of_work(finder, run, &sweep);
		if (!step)
			continue;
		if (step->n_work++ == 0)
			step->at = (struct hwy_interval){sweep.start, sweep.end};
		else if (sweep.end > step->at.to)
			step->at.to = sweep.end;
	}
	sweep_free(&sweep);
}

/* When the device was done with the work before the first step: the last end of work that no
 * step launched and that ended before the work of the first step began. */
static int64_t end_before_steps(const struct finder *finder, const struct run_of_steps *run)
{
	int64_t last = run->v[0].cpu.from;
	if (run->v[0].n_work == 0)
		return last;
	int64_t first = run->v[0].at.from;
	struct hwy_sweep sweep = work_of(finder, run);
	while (sweep_next(&sweep) && sweep.start < first)
		if (sweep.end < first && sweep.end > last && !step_of_work(finder, run, &sweep))
			last = sweep.end;
	sweep_free(&sweep);
	return last;
}

/* Turns the 'at' of the steps from the extent of their work into their time, as the head of this
 * file says. */
static void set_times(const struct run_of_steps *run, int64_t end_before)
{
	bool on_device = false;
	for (uint32_t i = 0; i < run->n; i++)
		on_device |= run->v[i].n_work != 0;
	for (uint32_t i = 0; i < run->n; i++) {
		struct hwy_step *step = &run->v[i];
		int64_t from = step->cpu.from, to = step->cpu.to;
		if (on_device && end_before > from)
			from = end_before;
		if (step->n_work && step->at.to > to)
			to = step->at.to;
		step->at = (struct hwy_interval){from, to > from ? to : from};
		end_before = step->at.to;
	}
	if (!on_device || run->n < 2)
		return;
	uint32_t last = run->n - 1;
	while (last > 0 && run->v[last].n_work == 0)
		run->v[last--].whole = false;
	if (last > 0 && run->v[last - 1].n_work * 8 > run->v[last].n_work * 10)
		run->v[last].whole = false;
}

/* ---- the parts ------------------------------------------------------------------------------- */

static unsigned part_of_span(const struct finder *finder, const struct hwy_strip *strip,
			     uint32_t row)
{
	switch (strip->kind) {
	case HWY_COPY: return HWY_STEP_COPY;
	case HWY_FILL: return HWY_STEP_FILL;
	case HWY_API: return HWY_STEP_RUNTIME;
	case HWY_OP:
	case HWY_RANGE: return step_part_of_string(finder, hwy_get(strip, HWY_NAME, row));
	default:
		return hwy_class_as_hta(finder->trace, (enum hwy_kind)strip->kind,
					hwy_get(strip, HWY_NAME, row)) == HWY_COMM
			       ? HWY_STEP_COMM
			       : HWY_STEP_KERNEL;
	}
}

/* Measures the parts with nested unions, as devices.c does: the time of a part is what the part
 * adds to the union of the parts before it. */
static void sum_parts(const struct finder *finder, const struct run_of_steps *run,
		      struct hwy_sweep *sweep)
{
	struct hwy_interval *windows = hwy_array(run->n, sizeof *windows);
	for (uint32_t i = 0; i < run->n; i++)
		windows[i] = run->v[i].at;
	struct hwy_cover nested[HWY_STEP_OTHER] = {0};
	struct hwy_bins bins[HWY_STEP_OTHER];
	for (unsigned p = 0; p < HWY_STEP_OTHER; p++)
		bins[p] = (struct hwy_bins){
			.windows = windows,
			.sums = hwy_zarray(run->n, sizeof(int64_t)),
			.n = run->n,
		};
	while (sweep_next(sweep)) {
		if (!work_is_own(finder->work, sweep->strip, sweep->row))
			continue;
		unsigned part = part_of_span(finder, sweep->strip, sweep->row);
		struct hwy_interval fresh;
		for (unsigned p = part; p < HWY_STEP_OTHER; p++)
			if (cover_add(&nested[p], sweep->start, sweep->end, &fresh))
				bins_add(&bins[p], fresh.from, fresh.to);
	}
	for (uint32_t i = 0; i < run->n; i++) {
		int64_t covered = 0;
		for (unsigned p = 0; p < HWY_STEP_OTHER; p++) {
			run->v[i].parts[p] = bins[p].sums[i] - covered;
			covered = bins[p].sums[i];
		}
		run->v[i].parts[HWY_STEP_OTHER] = windows[i].to - windows[i].from - covered;
	}
	for (unsigned p = 0; p < HWY_STEP_OTHER; p++)
		free(bins[p].sums);
	free(windows);
}

static void measure_run(const struct finder *finder, const struct run_of_steps *run)
{
	const struct hwy_trace *trace = finder->trace;
	assign_work(finder, run);
	set_times(run, end_before_steps(finder, run));
	struct hwy_sweep sweep = {0};
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		bool wanted = strip->kind == HWY_API || is_host_strip(trace, strip) ||
			      work_is_on(finder->work, strip);
		if (wanted && may_belong_to(trace, strip, run->process))
			sweep_add(&sweep, strip, 0);
	}
	sum_parts(finder, run, &sweep);
	sweep_free(&sweep);
}

static void drop_steps_outside(const struct hwy_work *work, struct hwy_breakdown *breakdown)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < breakdown->n_steps; i++)
		if (breakdown->steps[i].at.from < work->to &&
		    breakdown->steps[i].at.to > work->from)
			breakdown->steps[kept++] = breakdown->steps[i];
	breakdown->n_steps = kept;
}

bool tensorboard_steps_measure(struct hwy_work *work, struct hwy_breakdown *breakdown,
			       struct hwy_err *err)
{
	struct hwy_trace *trace = work->trace;
	if (!any_marks(trace))
		return true;
	uint64_t columns = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME);
	if (!hwy_need(trace, HOST_KINDS, columns, err))
		return false;
	struct finder finder = {.work = work, .trace = trace, .parts = hwy_alloc(trace->strings.n)};
	memset(finder.parts, UNASKED, trace->strings.n);
	find_steps(&finder, breakdown);
	for (uint32_t i = 0; i < breakdown->n_steps;) {
		struct run_of_steps run = {.v = &breakdown->steps[i],
					   .process = breakdown->steps[i].process};
		while (i < breakdown->n_steps && breakdown->steps[i].process == run.process) {
			run.n++;
			i++;
		}
		measure_run(&finder, &run);
	}
	drop_steps_outside(work, breakdown);
	free(finder.parts);
	return true;
}
