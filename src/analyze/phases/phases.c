/* phases.c - see phases.h.
 *
 * Process by process: marks first (phases_marks.c). Marks whose name says "step" are the user's word about what a
 * step is, and settle it. What other marks leave is searched for a period too, but only one with half of the
 * process's calls and device work is a phase beside them. Without marks the period of the calls decides
 * (phases_sequence.c); where no period is found, or only in less than half of the run, all is one step.
 */
#include "analyze/phases/phases.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/phases/phases_internal.h"

static const struct phases_least least_alone = {10, false}, least_beside_marks = {50, true};

/* ---- tracks ---------------------------------------------------------------------------------- */

static uint32_t place_between(const struct phases_track *track, uint32_t low, uint32_t high,
			      int64_t time)
{
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (track_call(track, middle)->start < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
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

/* 'before': the call before it on the track, or NULL. */
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

/* 'work' is the device work of each call of the flow. */
static struct phases_track phases_track_of(const struct hwy_flow *flow, uint32_t process,
					   const double *work, int64_t longest)
{
	struct phases_track track = {.flow = flow, .process = process, .longest = longest};
	track.calls = hwy_alloc((flow->n_calls + 1) * sizeof *track.calls);
	const struct flow_call *before = NULL;
	for (uint32_t i = 0; i < flow->n_calls; i++) {
		const struct flow_call *call = &flow->calls[i];
		if (call->process != process || !is_on_track(flow, call, before))
			continue;
		before = call;
		track.calls[track.n++] = i;
	}
	track.calls = hwy_realloc(track.calls, (track.n + 1) * sizeof *track.calls);
	track.work = hwy_alloc((track.n + 1) * sizeof *track.work);
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

static void cut_as_one(const struct phases_track *track, struct phases_cuts *cuts)
{
	struct phases_cut_step *step = hwy_alloc(sizeof *step);
	*step = (struct phases_cut_step){
		.cpu = {track_call(track, 0)->start, track_call(track, track->n - 1)->end},
		.name = HWY_NONE,
		.end = track->n,
	};
	HWY_GROW(cuts->v, cuts->n, cuts->cap);
	cuts->v[cuts->n++] =
		(struct phases_cut){.source = PHASE_ONE, .name = HWY_NONE, .steps = step, .n = 1};
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

/* Whether the phases hold half of the calls, the work or the time. */
static bool tell_enough(const struct phases_track *track, const struct phases_cuts *cuts)
{
	double calls = 0, work = 0, time = 0;
	for (uint32_t i = 0; i < cuts->n; i++) {
		uint32_t from = cuts->v[i].steps[0].place;
		uint32_t to = phases_end_of(&cuts->v[i]);
		calls += to - from;
		work += track->work[to] - track->work[from];
		time += (double)(track_call(track, to - 1)->end - track_call(track, from)->start);
	}
	return is_half(track, calls, work, time);
}

static void free_cuts(struct phases_cuts *cuts)
{
	for (uint32_t i = 0; i < cuts->n; i++)
		free(cuts->v[i].steps);
	free(cuts->v);
	*cuts = (struct phases_cuts){0};
}

/* Calls of a typical step. */
static uint32_t period_of(const struct phases_cut *cut)
{
	return (cut->steps[cut->n - 1].place - cut->steps[0].place) / (cut->n > 1 ? cut->n - 1 : 1);
}

/* Whether 'a' is the same loop as 'b', run for fewer steps shortly before it. */
static bool is_warm_up_of(const struct phases_cut *a, const struct phases_cut *b)
{
	uint32_t x = period_of(a), y = period_of(b);
	uint32_t apart = x > y ? x - y : y - x;
	return a->source == b->source && a->source != PHASE_MARKS &&
	       (uint64_t)a->n * 4 <= (uint64_t)b->n * 3 && apart * 10 <= y &&
	       b->steps[0].place - phases_end_of(a) <= 2 * y;
}

/* A loop that a wait or an odd step interrupts is found in two parts. */
static void join_warm_up(struct phases_cuts *cuts)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < cuts->n; i++) {
		struct phases_cut *a = kept ? &cuts->v[kept - 1] : NULL, *b = &cuts->v[i];
		if (!a || !is_warm_up_of(a, b)) {
			cuts->v[kept++] = *b;
			continue;
		}
		a->steps = hwy_realloc(a->steps, (a->n + b->n) * sizeof *a->steps);
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
		qsort(cuts->v, cuts->n, sizeof *cuts->v, phases_by_place);
}

/* The calls of the thread that enqueued most. */
static struct phases_track busiest_thread(const struct phases_track *track)
{
	const struct hwy_flow *flow = track->flow;
	uint32_t n_threads = flow->trace->n_threads, busiest = 0;
	uint32_t *counts = hwy_zalloc((n_threads + 1) * sizeof *counts);
	for (uint32_t i = 0; i < track->n; i++) {
		uint32_t thread = track_call(track, i)->thread;
		if (thread < n_threads && ++counts[thread] > counts[busiest])
			busiest = thread;
	}
	free(counts);
	struct phases_track one = *track;
	one.tokens = NULL;
	one.n = 0;
	one.calls = hwy_alloc((track->n + 1) * sizeof *one.calls);
	one.work = hwy_alloc((track->n + 1) * sizeof *one.work);
	one.work[0] = 0;
	for (uint32_t i = 0; i < track->n; i++) {
		if (track_call(track, i)->thread != busiest)
			continue;
		one.calls[one.n] = track->calls[i];
		one.work[one.n + 1] = one.work[one.n] + track->work[i + 1] - track->work[i];
		one.n++;
	}
	return one;
}

/* Threads that launch at their own pace hide each other's period: one of them alone has it. */
static void cut_by_thread(const struct phases_track *track, struct phases_cuts *cuts)
{
	struct phases_track one = busiest_thread(track);
	if (one.n && one.n < track->n)
		sequence_cut(&one, 0, one.n, least_alone, cuts);
	for (uint32_t i = 0; i < cuts->n; i++)
		for (uint32_t k = 0; k < cuts->v[i].n; k++) {
			struct phases_cut_step *step = &cuts->v[i].steps[k];
			int64_t from = track_call(&one, step->place)->start;
			int64_t last = track_call(&one, step->end - 1)->start;
			step->place = track_place_at(track, from);
			step->end = track_place_at(track, last + 1);
		}
	for (uint32_t i = 0; i < cuts->n; i++)
		for (uint32_t k = 0; k + 1 < cuts->v[i].n; k++)
			cuts->v[i].steps[k].end = cuts->v[i].steps[k + 1].place;
	track_free(&one);
}

/* What marks leave. */
static void cut_rest(struct phases_track *track, struct phases_cuts *cuts)
{
	uint32_t marked = cuts->n, from = 0;
	struct phases_least least = marked ? least_beside_marks : least_alone;
	sort_cuts(cuts);
	for (uint32_t i = 0; i < marked; i++)
		if (cuts->v[i].is_certain)
			return;
	for (uint32_t i = 0; i <= marked; i++) {
		uint32_t to = i < marked ? cuts->v[i].steps[0].place : track->n;
		if (to > from)
			sequence_cut(track, from, to, least, cuts);
		if (i < marked)
			from = phases_end_of(&cuts->v[i]);
	}
	if (marked == 0 && !tell_enough(track, cuts)) {
		free_cuts(cuts);
		cut_by_thread(track, cuts);
		if (!tell_enough(track, cuts))
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
		phases->n += steady_measure(track, &cuts->v[i], &phases->phases[phases->n]);
	}
}

/* Yields whether there are marks. */
static bool find_in_process(struct phases_track *track, const struct phases_options *options,
			    struct hwy_phases *phases, uint32_t *cap)
{
	struct phases_cuts cuts = {0};
	const char *step = options ? options->step : NULL;
	if (!step || *step)
		marks_cut(track, step, &cuts);
	bool has_marks = cuts.n != 0;
	if (!step || !*step)
		cut_rest(track, &cuts);
	if (cuts.n == 0)
		cut_as_one(track, &cuts);
	add_phases(track, &cuts, phases, cap);
	free_cuts(&cuts);
	return has_marks;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Device work that no call enqueued is one step of its own. */
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

/* Without what start-up adds to the first steps. */
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

/* The processes that launched work, as flags by process; the last is for calls of none. */
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

bool phases_find(const struct hwy_flow *flow, const struct phases_options *options,
		 struct hwy_phases *phases, struct hwy_err *err)
{
	*phases = (struct hwy_phases){0};
	uint64_t columns = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME);
	if (!hwy_need(flow->trace, HWY_KIND_BIT(HWY_RANGE) | HWY_KIND_BIT(HWY_OP), columns, err))
		return false;
	double *work = hwy_zalloc((flow->n_calls + 1) * sizeof *work);
	int64_t longest;
	uint8_t *has = find_processes(flow, work, &longest);
	bool has_marks = false;
	uint32_t cap = 0;
	for (uint32_t p = 0; p <= FLOW_NO_PROCESS; p++) {
		if (!has[p])
			continue;
		struct phases_track track = phases_track_of(flow, p, work, longest);
		has_marks |= find_in_process(&track, options, phases, &cap);
		track_free(&track);
	}
	free(has);
	free(work);
	if (phases->n == 0 && flow->n_ops)
		add_unlinked(flow, phases, &cap);
	if (options && options->step && *options->step && !has_marks && flow->n_ops) {
		phases_free(phases);
		return hwy_fail(err, "no range named '%s' launches device work", options->step);
	}
	phases_put_in_order(phases);
	return true;
}

void phases_free(struct hwy_phases *phases)
{
	for (uint32_t i = 0; i < phases->n; i++)
		free(phases->phases[i].steps);
	free(phases->phases);
	*phases = (struct hwy_phases){0};
}
