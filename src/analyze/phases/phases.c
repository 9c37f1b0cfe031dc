/* SPDX-License-Identifier: Apache-2.0 */
/* phases.c - see phases.h.
 *
 * Each process is searched alone, for marks first (phases_marks.c). Marks whose name says "step"
 * are the user's word about what a step is: nothing else is searched then. Beside other marks,
 * the calls outside the marks are searched for a period too, but only a period with half of the
 * process's calls and device work becomes a phase. Without marks the period of the calls decides
 * (phases_sequence.c); where no period is found, or the periods cover less than half of the run,
 * the whole run is one step.
 */
#include "analyze/phases/phases.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/marks.h"
#include "analyze/phases/phases_internal.h"
#include "analyze/xla.h"
#include "base/lang.h"
#include "base/search.h"

static const struct phases_least least_alone = {10, false}, least_beside_marks = {50, true};

/* ---- tracks ---------------------------------------------------------------------------------- */

/* The first place in [from, to) whose call starts at or after a time, else 'to'. */
static uint32_t place_between(const struct phases_track *track, uint32_t from, uint32_t to,
			      int64_t time)
{
	return HWY_FIRST(place, from, to, track_call(track, place)->start >= time);
}

uint32_t track_place_at(const struct phases_track *track, int64_t time)
{
	return place_between(track, 0, track->n, time);
}

uint32_t track_place_from(const struct phases_track *track, uint32_t place, int64_t time)
{
	uint32_t low = place, length = 1;
	while (length < track->n - low && track_call(track, low + length - 1)->start < time) {
		low += length;
		length *= 2;
	}
	return place_between(track, low, length < track->n - low ? low + length : track->n, time);
}

static int64_t phases_name_of(const struct hwy_flow *flow, const struct flow_call *call)
{
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(flow->trace, call->span, &row);
	return hwy_get(strip, HWY_NAME, row);
}

uint64_t track_wait_kind(const struct phases_track *track, uint32_t place)
{
	return (uint64_t)phases_name_of(track->flow, track_call(track, place));
}

/* Whether a call belongs on its process's track. 'before' is the last call that was put there,
 * or NULL. */
static bool is_on_track(const struct hwy_flow *flow, const struct flow_call *call,
			const struct flow_call *before)
{
	if (call->op != FLOW_NONE)
		return true;
	if (call->role != HWY_ROLE_SYNC || !call->blocks)
		return false;
	return !before || before->op != FLOW_NONE ||
	       phases_name_of(flow, before) != phases_name_of(flow, call);
}

/* The track of a process. 'work' has, for each call of the flow, the ns of device work that the
 * call enqueued; 'longest' is the length of the trace's longest op in ns. */
static struct phases_track track_open(const struct hwy_flow *flow, uint32_t process,
				      const double *work, int64_t longest)
{
	struct phases_track track = {.flow = flow, .process = process, .longest = longest};
	track.calls = hwy_array(flow->n_calls, sizeof *track.calls);
	const struct flow_call *before = NULL;
	for (uint32_t i = 0; i < flow->n_calls; i++) {
		const struct flow_call *call = &flow->calls[i];
		if (call->process != process || !is_on_track(flow, call, before))
			continue;
		before = call;
		track.calls[track.n++] = i;
	}
	track.calls = hwy_resize(track.calls, track.n, sizeof *track.calls);
	track.work = hwy_array(track.n + 1, sizeof *track.work);
	track.work[0] = 0;
	for (uint32_t i = 0; i < track.n; i++)
		track.work[i + 1] = track.work[i] + work[track.calls[i]];
	return track;
}

static void track_free(struct phases_track *track)
{
	free(track->calls);
	free(track->work);
	free(track->tokens);
}

/* ---- one process ----------------------------------------------------------------------------- */

/* When the process began its first call of the vendor's API, whatever that call did: 'start' where
 * that is no later. CUDA's start-up is often a call that only asks for a number. */
static int64_t first_api_call(const struct hwy_flow *flow, uint32_t process, int64_t start)
{
	const struct hwy_trace *trace = flow->trace;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		int64_t owner = trace->lanes[strip->lane].process;
		bool has_process = owner >= 0 && owner < FLOW_NO_PROCESS;
		if (strip->kind != HWY_API || strip->rows == 0 ||
		    (has_process ? (uint32_t)owner : FLOW_NO_PROCESS) != process)
			continue;
		int64_t first = hwy_get(strip, HWY_START, 0);
		start = first < start ? first : start;
	}
	return start;
}

/* Whether code was used for the first time for longer before the run's first launch than the run
 * lasts from there to its end: then that start-up is most of what the program does. */
static bool is_mostly_start_up(const struct phases_track *track, struct hwy_interval before)
{
	const struct hwy_flow *flow = track->flow;
	uint32_t process = track->process == FLOW_NO_PROCESS ? UINT32_MAX : track->process;
	int64_t end = track_call(track, track->n - 1)->end;
	int64_t reach = flow->n_ops ? flow->reach[(flow->n_ops - 1) >> FLOW_BLOCK_BITS] : end;
	const struct first_use *longest;
	return first_uses_in(&flow->first_uses, process, before, &longest) >
	       (reach > end ? reach : end) - before.to;
}

/* Proposes the whole run as one step: from its first launch on, or from its first call of the API
 * where most of the time from there on is start-up. */
static void cut_as_one(const struct phases_track *track, struct phases_cuts *cuts)
{
	struct phases_cut_step *step = hwy_alloc(sizeof *step);
	int64_t launch = track_call(track, 0)->start;
	struct hwy_interval before = {first_api_call(track->flow, track->process, launch), launch};
	bool has_start_up = is_mostly_start_up(track, before);
	*step = (struct phases_cut_step){
		.cpu = {has_start_up ? before.from : launch, track_call(track, track->n - 1)->end},
		.name = HWY_NONE,
		.end = track->n,
	};
	HWY_GROW(cuts->cuts, cuts->n, cuts->cap);
	cuts->cuts[cuts->n++] = (struct phases_cut){.source = PHASE_ONE,
						    .name = HWY_NONE,
						    .steps = step,
						    .n = 1,
						    .has_start_up = has_start_up};
}

static int phases_by_place(const void *left, const void *right)
{
	const struct phases_cut *a = left, *b = right;
	return (a->steps[0].place > b->steps[0].place) - (a->steps[0].place < b->steps[0].place);
}

static uint32_t phases_end_of(const struct phases_cut *cut)
{
	return cut->steps[cut->n - 1].end;
}

static bool is_half(const struct phases_track *track, double calls, double work, double time)
{
	double whole = (double)(track_call(track, track->n - 1)->end - track_call(track, 0)->start);
	return calls * 2 >= track->n || work * 2 >= track->work[track->n] || time * 2 >= whole;
}

/* Whether the proposed phases hold half of the process's calls, of its device work or of its
 * time. */
static bool cuts_cover_half(const struct phases_track *track, const struct phases_cuts *cuts)
{
	double calls = 0, work = 0, time = 0;
	for (uint32_t i = 0; i < cuts->n; i++) {
		uint32_t from = cuts->cuts[i].steps[0].place;
		uint32_t to = phases_end_of(&cuts->cuts[i]);
		calls += to - from;
		work += track->work[to] - track->work[from];
		time += (double)(track_call(track, to - 1)->end - track_call(track, from)->start);
	}
	return is_half(track, calls, work, time);
}

static void free_cuts(struct phases_cuts *cuts)
{
	for (uint32_t i = 0; i < cuts->n; i++)
		free(cuts->cuts[i].steps);
	free(cuts->cuts);
	*cuts = (struct phases_cuts){0};
}

/* The mean number of calls of a step. */
static uint32_t period_of(const struct phases_cut *cut)
{
	return (cut->steps[cut->n - 1].place - cut->steps[0].place) / (cut->n > 1 ? cut->n - 1 : 1);
}

/* Whether loop 'a' is the warm-up of loop 'b': the same loop, run for fewer steps shortly before
 * 'b'. */
static bool is_warm_up_of(const struct phases_cut *a, const struct phases_cut *b)
{
	uint32_t x = period_of(a), y = period_of(b);
	uint32_t apart = x > y ? x - y : y - x;
	return a->source == b->source && a->source != PHASE_MARKS &&
	       (uint64_t)a->n * 4 <= (uint64_t)b->n * 3 && apart * 10 <= y &&
	       b->steps[0].place - phases_end_of(a) <= 2 * y;
}

/* Makes one phase of a loop that was found in two parts, because a wait or an odd step
 * interrupts the loop. */
static void join_warm_up(struct phases_cuts *cuts)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < cuts->n; i++) {
		struct phases_cut *a = kept ? &cuts->cuts[kept - 1] : NULL, *b = &cuts->cuts[i];
		if (!a || !is_warm_up_of(a, b)) {
			cuts->cuts[kept++] = *b;
			continue;
		}
		a->steps = hwy_resize(a->steps, a->n + b->n, sizeof *a->steps);
		a->steps[a->n - 1].end = b->steps[0].place;
		memcpy(a->steps + a->n, b->steps, b->n * sizeof *a->steps);
		a->n_warm = a->n;
		a->n += b->n;
		free(b->steps);
	}
	cuts->n = kept;
}

static void sort_cuts(struct phases_cuts *cuts)
{
	if (cuts->n)
		qsort(cuts->cuts, cuts->n, sizeof *cuts->cuts, phases_by_place);
}

/* A track with only the calls of the thread that makes most of them. */
static struct phases_track busiest_thread(const struct phases_track *track)
{
	const struct hwy_flow *flow = track->flow;
	uint32_t n_threads = flow->trace->n_threads, busiest = 0;
	uint32_t *counts = hwy_zarray(n_threads, sizeof *counts);
	for (uint32_t i = 0; i < track->n; i++) {
		uint32_t thread = track_call(track, i)->thread;
		if (thread < n_threads && ++counts[thread] > counts[busiest])
			busiest = thread;
	}
	free(counts);
	struct phases_track thread_track = *track;
	thread_track.tokens = NULL;
	thread_track.n = 0;
	thread_track.calls = hwy_array(track->n, sizeof *thread_track.calls);
	thread_track.work = hwy_array(track->n + 1, sizeof *thread_track.work);
	thread_track.work[0] = 0;
	for (uint32_t i = 0; i < track->n; i++) {
		if (track_call(track, i)->thread != busiest)
			continue;
		thread_track.calls[thread_track.n] = track->calls[i];
		thread_track.work[thread_track.n + 1] =
			thread_track.work[thread_track.n] + track->work[i + 1] - track->work[i];
		thread_track.n++;
	}
	return thread_track;
}

/* Searches the busiest thread's calls for a period: threads that launch at their own pace hide
 * each other's period. */
static void cut_by_thread(const struct phases_track *track, struct phases_cuts *cuts)
{
	struct phases_track thread_track = busiest_thread(track);
	if (thread_track.n && thread_track.n < track->n)
		phases_sequence_cut(&thread_track, 0, thread_track.n, least_alone, cuts);
	for (uint32_t i = 0; i < cuts->n; i++)
		for (uint32_t k = 0; k < cuts->cuts[i].n; k++) {
			struct phases_cut_step *step = &cuts->cuts[i].steps[k];
			int64_t from = track_call(&thread_track, step->place)->start;
			int64_t last = track_call(&thread_track, step->end - 1)->start;
			step->place = track_place_at(track, from);
			step->end = track_place_at(track, last + 1);
		}
	for (uint32_t i = 0; i < cuts->n; i++)
		for (uint32_t k = 0; k + 1 < cuts->cuts[i].n; k++)
			cuts->cuts[i].steps[k].end = cuts->cuts[i].steps[k + 1].place;
	track_free(&thread_track);
}

/* Searches the calls outside the marks for periods. */
static void cut_rest(struct phases_track *track, struct phases_cuts *cuts)
{
	uint32_t marked = cuts->n, from = 0;
	struct phases_least least = marked ? least_beside_marks : least_alone;
	sort_cuts(cuts);
	for (uint32_t i = 0; i < marked; i++)
		if (cuts->cuts[i].is_certain)
			return;
	for (uint32_t i = 0; i <= marked; i++) {
		uint32_t to = i < marked ? cuts->cuts[i].steps[0].place : track->n;
		if (to > from)
			phases_sequence_cut(track, from, to, least, cuts);
		if (i < marked)
			from = phases_end_of(&cuts->cuts[i]);
	}
	if (marked == 0 && !cuts_cover_half(track, cuts)) {
		free_cuts(cuts);
		cut_by_thread(track, cuts);
		if (!cuts_cover_half(track, cuts))
			free_cuts(cuts);
	}
	sort_cuts(cuts);
	join_warm_up(cuts);
}

static void add_phases(struct phases_track *track, const struct phases_cuts *cuts,
		       struct hwy_phases *phases, uint32_t *cap)
{
	for (uint32_t i = 0; i < cuts->n; i++) {
		HWY_GROW(phases->phases, phases->n, *cap);
		phases->n +=
			phases_steady_measure(track, &cuts->cuts[i], &phases->phases[phases->n]);
	}
}

/* From the first call of a proposed phase to the end of its last call, in ns. */
static int64_t time_of_cut(const struct phases_track *track, const struct phases_cut *cut)
{
	return track_call(track, cut->steps[cut->n - 1].end - 1)->end -
	       track_call(track, cut->steps[0].place)->start;
}

/* Moves the loops inside steps from the proposals to phases->inner. */
static void drop_inner_loops(const struct phases_track *track, struct phases_cuts *cuts,
			     struct hwy_phases *phases)
{
	uint32_t kept = 0;
	int64_t loops = 0,
		whole = track_call(track, track->n - 1)->end - track_call(track, 0)->start;
	for (uint32_t i = 0; i < cuts->n; i++)
		loops += time_of_cut(track, &cuts->cuts[i]);
	for (uint32_t i = 0; i < cuts->n; i++) {
		struct phases_cut *cut = &cuts->cuts[i];
		if (cut->source == PHASE_MARKS ||
		    !phases_is_inner_loop(track, cut, loops >= whole / 2)) {
			cuts->cuts[kept++] = *cut;
			continue;
		}
		const struct flow_call *first = track_call(track, cut->steps[0].place);
		const struct flow_call *last = track_call(track, cut->steps[cut->n - 1].place);
		const struct flow_op *ops = track->flow->ops;
		if (first->op != FLOW_NONE && last->op != FLOW_NONE) {
			HWY_GROW(phases->inner, phases->n_inner, phases->cap_inner);
			phases->inner[phases->n_inner++] = (struct phase_inner_loop){
				.process = track->process,
				.n = cut->n,
				.time = {ops[first->op].start, ops[last->op].start},
				.call = track->calls[cut->steps[0].place],
			};
		}
		free(cut->steps);
	}
	cuts->n = kept;
}

/* Adds the phases of one process. Returns whether the process has marks that are steps. */
static bool find_in_process(struct phases_track *track, const struct phases_options *options,
			    struct hwy_phases *phases, uint32_t *cap)
{
	struct phases_cuts cuts = {0};
	const char *step = options ? options->step : NULL;
	if (!step || *step)
		phases_marks_cut(track, step, &cuts);
	bool has_marks = cuts.n != 0;
	if (!step || !*step)
		cut_rest(track, &cuts);
	drop_inner_loops(track, &cuts, phases);
	if (cuts.n == 0)
		cut_as_one(track, &cuts);
	add_phases(track, &cuts, phases, cap);
	free_cuts(&cuts);
	return has_marks;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Adds a phase of one step with all device work, for traces in which no op has a recorded call. */
static void add_unlinked(const struct hwy_flow *flow, struct hwy_phases *phases, uint32_t *cap)
{
	struct phase_step *step = hwy_zalloc(sizeof *step);
	struct hwy_cover cover = {0};
	struct hwy_interval fresh;
	for (uint32_t i = 0; i < flow->n_ops; i++)
		cover_add(&cover, flow->ops[i].start, flow->ops[i].end, &fresh);
	step->device = (struct hwy_interval){flow->ops[0].start, cover.reach};
	step->cpu = step->device;
	step->name = HWY_NONE;
	step->busy = cover.total;
	int64_t process = flow->trace->lanes[flow->ops[0].lane].process;
	int64_t length = step->device.to - step->device.from;
	HWY_GROW(phases->phases, phases->n, *cap);
	phases->phases[phases->n++] = (struct hwy_phase){
		.source = PHASE_ONE,
		.name = HWY_NONE,
		.process = process >= 0 ? (uint32_t)process : FLOW_NO_PROCESS,
		.steps = step,
		.n_steps = 1,
		.n_steady = 1,
		.window = step->device,
		.mean = length,
		.median = length,
		.p10 = length,
		.p90 = length,
	};
}

static int phases_by_start(const void *left, const void *right)
{
	const struct hwy_phase *a = left, *b = right;
	int64_t x = a->steps[0].device.from, y = b->steps[0].device.from;
	if (x != y)
		return x < y ? -1 : 1;
	return (a->process > b->process) - (a->process < b->process);
}

/* The time of all steps of a phase in ns, as if its warm-up steps were as fast as its steady
 * ones. */
static double phases_time_of(const struct hwy_phase *phase)
{
	return (double)phase->mean * phase->n_steps;
}

static void phases_put_in_order(struct hwy_phases *phases)
{
	if (phases->n)
		qsort(phases->phases, phases->n, sizeof *phases->phases, phases_by_start);
	phases->main = phases->n;
	for (uint32_t i = 0; i < phases->n; i++)
		if (phases->main == phases->n ||
		    phases_time_of(&phases->phases[i]) >
			    phases_time_of(&phases->phases[phases->main]))
			phases->main = i;
}

/* For each process whether it launched device work, as a flag; flag FLOW_NO_PROCESS is for calls
 * without a process. Adds the ns of device work of each call to 'work', and sets *longest to the
 * length of the longest op. */
static uint8_t *find_processes(const struct hwy_flow *flow, double *work, int64_t *longest)
{
	uint8_t *has = hwy_zalloc(FLOW_NO_PROCESS + 1);
	*longest = 0;
	for (uint32_t i = 0; i < flow->n_ops; i++) {
		const struct flow_op *op = &flow->ops[i];
		int64_t length = op->end - op->start;
		*longest = length > *longest ? length : *longest;
		if (op->call == FLOW_NONE)
			continue;
		work[op->call] += (double)length;
		has[flow->calls[op->call].process] = 1;
	}
	return has;
}

/* Whether the first use is a compilation by XLA. */
static bool is_xla_compilation(const struct hwy_trace *trace, const struct first_use *use)
{
	uint32_t row;
	if (use->span >= trace->n_spans)
		return false;
	const struct hwy_strip *strip = hwy_strip_of(trace, use->span, &row);
	return strip->kind == HWY_RANGE &&
	       xla_parse(hwy_text(trace, hwy_get(strip, HWY_NAME, row))).kind == XLA_COMPILE;
}

/* Sets the work of calls to 0 that a process makes while XLA compiles: XLA tries candidates for
 * each operation on the device, and these may take longer than all steps of the program. Changes
 * nothing where no other work would be left. */
static void forget_tuning(const struct hwy_flow *flow, double *work)
{
	const struct first_uses *uses = &flow->first_uses;
	double *kept = hwy_array(flow->n_calls, sizeof *kept), left = 0;
	if (flow->n_calls)
		memcpy(kept, work, flow->n_calls * sizeof *kept);
	for (uint32_t u = 0; u < uses->n; u++) {
		const struct first_use *use = &uses->uses[u];
		if (!is_xla_compilation(flow->trace, use))
			continue;
		for (uint32_t i = flow_call_at(flow, use->time.from);
		     i < flow->n_calls && flow->calls[i].start < use->time.to; i++)
			if (flow->calls[i].process == use->process)
				kept[i] = 0;
	}
	for (uint32_t i = 0; i < flow->n_calls; i++)
		left += kept[i];
	if (left > 0)
		memcpy(work, kept, flow->n_calls * sizeof *kept);
	free(kept);
}

/* Forgets the loops that lie in no step of the main phase: a loop that repeats itself like the
 * layers of a model may also run before the first step, with turns longer than any step. */
static void keep_inner_of_steps(struct hwy_phases *phases)
{
	const struct hwy_phase *main =
		phases->main < phases->n ? &phases->phases[phases->main] : NULL;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < phases->n_inner; i++) {
		const struct phase_inner_loop *loop = &phases->inner[i];
		bool is_inside = false;
		for (uint32_t k = 0; main && k < main->n_steps; k++)
			is_inside |= main->process == loop->process &&
				     loop->time.from >= main->steps[k].device.from &&
				     loop->time.to <= main->steps[k].device.to;
		if (is_inside)
			phases->inner[kept++] = *loop;
	}
	phases->n_inner = kept;
}

bool phases_find(const struct hwy_flow *flow, const struct phases_options *options,
		 struct hwy_phases *phases, struct hwy_err *err)
{
	*phases = (struct hwy_phases){0};
	uint64_t columns = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME);
	const uint32_t kinds =
		HWY_KIND_BIT(HWY_RANGE) | HWY_KIND_BIT(HWY_OP) | HWY_KIND_BIT(HWY_CALL);
	if (!hwy_need(flow->trace, kinds, columns, err) ||
	    !hwy_need(flow->trace, HWY_KIND_BIT(HWY_OP), HWY_COL_BIT(HWY_STACK), err))
		return false;
	double *work = hwy_zarray(flow->n_calls, sizeof *work);
	int64_t longest;
	uint8_t *has = find_processes(flow, work, &longest);
	forget_tuning(flow, work);
	bool has_marks = false;
	uint32_t cap = 0;
	for (uint32_t p = 0; p <= FLOW_NO_PROCESS; p++) {
		if (!has[p])
			continue;
		struct phases_track track = track_open(flow, p, work, longest);
		has_marks |= find_in_process(&track, options, phases, &cap);
		track_free(&track);
	}
	free(has);
	free(work);
	if (phases->n == 0 && flow->n_ops)
		add_unlinked(flow, phases, &cap);
	if (options && options->step && *options->step && !has_marks && flow->n_ops) {
		phases_free(phases);
		char alike[160];
		marks_alike(flow->trace, options->step, alike, sizeof alike);
		return hwy_fail(err, "no range named '%s' launches device work%s%s", options->step,
				hwy_tr(*alike ? "; names that begin so: " : ""), alike);
	}
	phases_put_in_order(phases);
	keep_inner_of_steps(phases);
	return true;
}

void phases_free(struct hwy_phases *phases)
{
	for (uint32_t i = 0; i < phases->n; i++)
		free(phases->phases[i].steps);
	free(phases->phases);
	free(phases->inner);
	*phases = (struct hwy_phases){0};
}
