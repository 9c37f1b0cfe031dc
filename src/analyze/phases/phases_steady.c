/* SPDX-License-Identifier: Apache-2.0 */
/* phases_steady.c - the steps of a phase on the device, and which of them are steady.
 *
 * Device windows. A step's window begins with the first op that the step's calls enqueued, and
 * never before the previous step's window; it ends where the next step's window begins. The last
 * window ends with the last step's work. In a phase of fewer than four steps, the first window
 * begins with the first mark, or when the device ends what was launched before that mark; and the
 * last window ends with the last mark where that is later than the work. So the windows tile the
 * phase, and n_steps times the mean is its length.
 *
 * The last step may be cut, and is then not steady. Where its window is shorter than 97 % of the
 * other steps' median, what usually follows a step's work (the loader's turn, the read-back) is
 * missing, or the recording ended in the step. Where its window is 1.3 to 2.5 times the median,
 * and longer than nine in ten of the others, the work that several steps keep in flight runs out
 * in it. (Where it is longer still the device is far behind: only all steps together tell its
 * pace.)
 *
 * Warm-up is, in this order:
 * - a shorter run of the same marks before the run (phases_marks.c);
 * - the first step of four or more: only the first step begins with an empty queue and cold caches;
 * - the steps before a wait of a kind that hardly ever occurs (torch.cuda.synchronize() between warm-up and the timed
 *   loop), where these are at most three quarters as many as the steps behind;
 * - slow first steps. Let M, D and H be the median, the deviation (1.5 times the median distance from M) and the 80th
 *   percentile of the step lengths in the second half. A step is slow that takes longer than 1.05 M, M + 5 D and 1.1 H.
 *   Warm-up reaches to the last step of the first half up to which at least every second step is slow.
 *
 * A steady step is an outlier where its length differs from the median by more than a quarter of
 * the median and 6 D. A phase is bursty where its mean is at least 1.08 times its median: then
 * some steps pay for many.
 */
#include <stdlib.h>

#include "analyze/phases/phases_internal.h"
#include "base/quantile.h"

enum {
	RARE_WAITS = 2,            /* a kind of wait that occurs at most so often is rare */
	LEAST_STEPS_FOR_RARE = 10, /* with fewer steps every kind of wait would be rare */
	LEAST_STEPS_FOR_LOOP = 4,  /* with so many steps, starts of steps tell how long a step is */
};

static int64_t length(struct hwy_interval interval)
{
	return interval.to - interval.from;
}

/* ---- device windows -------------------------------------------------------------------------- */

/* When the first op starts that the calls [place, end) enqueued; INT64_MAX where these calls
 * enqueued nothing. */
static int64_t first_start(const struct phases_track *track, uint32_t place, uint32_t end)
{
	int64_t first = INT64_MAX;
	for (uint32_t i = place; i < end; i++) {
		const struct flow_call *call = track_call(track, i);
		if (call->op != FLOW_NONE && track->flow->ops[call->op].start < first)
			first = track->flow->ops[call->op].start;
	}
	return first;
}

/* When the last op ends that the step's calls enqueued. */
static int64_t last_end(const struct phases_track *track, const struct phase_step *step)
{
	const struct hwy_flow *flow = track->flow;
	int64_t last = step->device.from;
	for (uint32_t i = flow_op_at(flow, step->device.from); i < flow->n_ops; i++) {
		const struct flow_op *op = &flow->ops[i];
		if (op->call != FLOW_NONE && op->call - step->first_call < step->n_calls &&
		    flow->calls[op->call].process == track->process && op->end > last)
			last = op->end;
	}
	return last;
}

/* How many steps stand before the last wait of a rare kind; waits behind more than three
 * sevenths of the steps do not count. */
static uint32_t count_before_rare_wait(const struct phases_track *track,
				       const struct phases_cut *cut)
{
	struct hwy_map kinds = {0};
	uint32_t begin = cut->steps[0].place, end = cut->steps[cut->n - 1].end, warm = 0;
	for (uint32_t place = begin; place < end; place++)
		if (track_is_wait(track, place))
			++*hwy_map_put(&kinds, track_wait_kind(track, place), NULL);
	for (uint32_t i = 1; i < cut->n; i++)
		for (uint32_t place = cut->steps[i - 1].place; place < cut->steps[i].place; place++)
			if (track_is_wait(track, place) &&
			    *hwy_map_get(&kinds, track_wait_kind(track, place)) <= RARE_WAITS &&
			    (uint64_t)i * 4 <= (uint64_t)(cut->n - i) * 3)
				warm = i;
	hwy_map_free(&kinds);
	return warm;
}

/* The index in flow.calls behind the call at the place end - 1. Where that call is a wait, waits
 * that directly follow it are not on the track, but belong to the step as well. */
static uint32_t end_of_calls(const struct phases_track *track, uint32_t end)
{
	const struct hwy_flow *flow = track->flow;
	uint32_t after = track->calls[end - 1] + 1;
	if (!track_is_wait(track, end - 1))
		return after;
	uint32_t limit = end < track->n ? track->calls[end] : flow->n_calls;
	for (uint32_t i = after; i < limit; i++)
		if (flow->calls[i].process == track->process && flow->calls[i].blocks)
			after = i + 1;
	return after;
}

/* An op that starts this long after its call had returned stood in a queue: the device was not
 * waiting for the CPU. */
#define QUEUED_NS 1000000

/* An op whose launch is not known was launched before a mark where the step's first own op stood in
 * the queue behind it, or where the device works on from the mark to it with no longer pause than
 * this. */
#define UNKNOWN_PAUSE_NS 100000

/* When the device ends what was launched before the step: the latest end of such ops that begin
 * before 'start', when the step's first own op starts; the step's mark where they end before it. */
static int64_t end_of_earlier(const struct phases_track *track, const struct phases_cut_step *step,
			      int64_t start, bool is_queued)
{
	const struct hwy_flow *flow = track->flow;
	uint32_t first = track->calls[step->place];
	int64_t ended = step->cpu.from;
	for (uint32_t i = flow_op_unfinished(flow, ended);
	     i < flow->n_ops && flow->ops[i].start < start; i++) {
		const struct flow_op *op = &flow->ops[i];
		int64_t process = flow->trace->lanes[op->lane].process;
		bool is_earlier = op->call == FLOW_NONE
					  ? is_queued || op->start - ended <= UNKNOWN_PAUSE_NS
					  : op->call < first;
		if (is_earlier && (process == HWY_NONE || process == track->process) &&
		    op->end > ended)
			ended = op->end;
	}
	return ended < start ? ended : start;
}

/* Whether the op that starts at this time, an op of the step, stood in a queue before. */
static bool was_queued(const struct phases_track *track, const struct phases_cut_step *step,
		       int64_t start)
{
	for (uint32_t i = step->place; i < step->end; i++) {
		const struct flow_call *call = track_call(track, i);
		if (call->op != FLOW_NONE && track->flow->ops[call->op].start == start)
			return start - call->end >= QUEUED_NS;
	}
	return true;
}

/* When the first step's window begins; 'start' is when its first op starts. In a phase of few
 * steps the window begins with the mark, so that the CPU time before the first op counts, except
 * where the device still had work from before: that time belongs to the step before. */
static int64_t begin_of_first(const struct phases_track *track, const struct phases_cut *cut,
			      int64_t start)
{
	const struct phases_cut_step *step = &cut->steps[0];
	if (cut->n >= LEAST_STEPS_FOR_LOOP || step->cpu.from >= start ||
	    (cut->source != PHASE_MARKS && cut->source != PHASE_ONE))
		return start;
	bool is_queued = was_queued(track, step, start);
	int64_t begin = cut->source == PHASE_MARKS ? end_of_earlier(track, step, start, is_queued)
						   : step->cpu.from;
	/* What it stood behind may not be in the recording. */
	return begin == step->cpu.from && is_queued ? start : begin;
}

/* Makes the steps of the phase and their windows; *n_warm becomes the number of steps that are
 * surely warm-up. A proposed step without device work becomes part of the step before it. */
static void make_steps(const struct phases_track *track, const struct phases_cut *cut,
		       struct hwy_phase *phase, uint32_t *n_warm)
{
	phase->steps = hwy_zarray(cut->n, sizeof *phase->steps);
	*n_warm = 0;
	uint32_t end = 0, proposed_warm = cut->n_warm;
	if (proposed_warm == 0 && cut->n >= LEAST_STEPS_FOR_RARE)
		proposed_warm = count_before_rare_wait(track, cut);
	for (uint32_t i = 0; i < cut->n; i++) {
		const struct phases_cut_step *proposed = &cut->steps[i];
		int64_t start = first_start(track, proposed->place, proposed->end);
		if (proposed->end > proposed->place)
			end = end_of_calls(track, proposed->end);
		if (start == INT64_MAX)
			continue;
		struct phase_step *step = &phase->steps[phase->n_steps++];
		if (i == 0)
			start = begin_of_first(track, cut, start);
		if (phase->n_steps > 1 && start < step[-1].device.from)
			start = step[-1].device.from;
		*step = (struct phase_step){
			.cpu = proposed->cpu,
			.device = {start, start},
			.first_call = track->calls[proposed->place],
			.name = proposed->name,
		};
		*n_warm += i < proposed_warm;
	}
	for (uint32_t i = 0; i < phase->n_steps; i++) {
		struct phase_step *step = &phase->steps[i];
		bool is_last = i + 1 == phase->n_steps;
		step->n_calls = (is_last ? end : step[1].first_call) - step->first_call;
		step->device.to = is_last ? last_end(track, step) : step[1].device.from;
		if (is_last && cut->source == PHASE_MARKS && cut->n < LEAST_STEPS_FOR_LOOP &&
		    step->cpu.to > step->device.to)
			step->device.to = step->cpu.to;
	}
}

/* Sets the busy time of each step: ns of its window in which work of the process runs on any
 * device. */
static void measure_busy(const struct phases_track *track, struct hwy_phase *phase)
{
	const struct hwy_flow *flow = track->flow;
	uint32_t n = phase->n_steps;
	struct hwy_interval *windows = hwy_array(n, sizeof *windows);
	struct hwy_bins bins = {windows, hwy_zarray(n, sizeof(int64_t)), n, 0};
	for (uint32_t i = 0; i < n; i++)
		windows[i] = phase->steps[i].device;
	struct hwy_cover cover = {0};
	int64_t from = windows[0].from, to = windows[n - 1].to;
	for (uint32_t i = flow_op_at(flow, from - track->longest); i < flow->n_ops; i++) {
		const struct flow_op *op = &flow->ops[i];
		int64_t process = flow->trace->lanes[op->lane].process;
		struct hwy_interval fresh;
		if (op->start >= to)
			break;
		if (process != HWY_NONE && process != track->process)
			continue;
		if (cover_add(&cover, op->start, op->end, &fresh))
			bins_add(&bins, fresh.from, fresh.to);
	}
	for (uint32_t i = 0; i < n; i++)
		phase->steps[i].busy = bins.sums[i];
	free(bins.sums);
	free(windows);
}

/* ---- which are steady ------------------------------------------------------------------------ */

struct spread { /* quantiles and the deviation of the lengths of steps, in ns */
	int64_t median, deviation;
	int64_t low, upper, high; /* the 10th, 80th and 90th percentile */
};

static struct spread spread_of(const struct phase_step *steps, uint32_t n)
{
	int64_t *values = hwy_array(n, sizeof *values);
	for (uint32_t i = 0; i < n; i++)
		values[i] = length(steps[i].device);
	hwy_sort(values, n);
	struct spread spread = {
		.median = hwy_median_between(values, n),
		.low = hwy_nearest_rank(values, n, 10),
		.upper = hwy_nearest_rank(values, n, 80),
		.high = hwy_nearest_rank(values, n, 90),
	};
	for (uint32_t i = 0; i < n; i++)
		values[i] = llabs(values[i] - spread.median);
	hwy_sort(values, n);
	int64_t distance = hwy_median_between(values, n);
	spread.deviation = distance + distance / 2;
	free(values);
	return spread;
}

/* Yields the largest of three lengths, which are double because a multiple of a length may be
 * too large for int64_t. */
static double largest(double a, double b, double c)
{
	double ab = a > b ? a : b;
	return ab > c ? ab : c;
}

/* Yields how many of the first n steps are warm-up: 'proposed' where that is known (not 0), else
 * judged by their lengths. */
static uint32_t count_warm(struct hwy_phase *phase, uint32_t n, uint32_t proposed)
{
	if (proposed && proposed < n)
		return proposed;
	uint32_t warm = n >= 4, slow = 0;
	if (n < 3)
		return 0;
	struct spread tail = spread_of(phase->steps + n / 2, n - n / 2);
	double median = (double)tail.median;
	double limit = largest(1.05 * median, median + 5.0 * (double)tail.deviation,
			       1.1 * (double)tail.upper);
	for (uint32_t i = 0; i < n / 2; i++) {
		if ((double)length(phase->steps[i].device) <= limit)
			continue;
		if (++slow * 2 >= i + 1)
			warm = i + 1;
	}
	phase->is_first_told_apart = slow && (double)length(phase->steps[0].device) > limit;
	return warm;
}

/* Finds the cut, the warm-up and the steady steps. The first n_warm steps are surely warm-up. */
static void tell_apart(struct hwy_phase *phase, uint32_t n_warm)
{
	uint32_t n = phase->n_steps;
	if (n > 1) {
		uint32_t from = n_warm && n_warm + 1 < n ? n_warm : 0;
		struct spread others = spread_of(phase->steps + from, n - 1 - from);
		struct phase_step *last = &phase->steps[n - 1];
		double own = (double)length(last->device), usual = (double)others.median;
		last->is_cut =
			own < 0.97 * usual || (n >= LEAST_STEPS_FOR_LOOP && own > 1.3 * usual &&
					       own < 2.5 * usual && own > (double)others.high);
		n -= last->is_cut;
	}
	phase->first_steady = count_warm(phase, n, n_warm);
	phase->n_steady = n - phase->first_steady;
	if (n_warm && phase->first_steady)
		phase->is_first_told_apart = true;
	for (uint32_t i = 0; i < phase->first_steady; i++)
		phase->steps[i].is_warm_up = true;
}

/* ---- statistics ------------------------------------------------------------------------------ */

static void count_steady_calls(const struct phases_track *track, struct hwy_phase *phase)
{
	const struct hwy_flow *flow = track->flow;
	const struct phase_step *first = &phase->steps[phase->first_steady];
	const struct phase_step *last = &first[phase->n_steady - 1];
	uint64_t launches = 0, waits = 0;
	for (uint32_t i = first->first_call; i < last->first_call + last->n_calls; i++) {
		const struct flow_call *call = &flow->calls[i];
		if (call->process != track->process)
			continue;
		launches += call->op != FLOW_NONE;
		waits += call->blocks;
	}
	phase->launches_per_step = (double)launches / phase->n_steady;
	phase->waits_per_step = (double)waits / phase->n_steady;
}

static void measure_steady(struct hwy_phase *phase)
{
	struct phase_step *first = &phase->steps[phase->first_steady];
	struct spread spread = spread_of(first, phase->n_steady);
	phase->window.from = first->device.from;
	phase->window.to = first[phase->n_steady - 1].device.to;
	phase->mean = length(phase->window) / phase->n_steady;
	phase->median = spread.median;
	phase->p10 = spread.low;
	phase->p90 = spread.high;
	phase->is_bursty = (double)phase->mean >= 1.08 * (double)phase->median && phase->mean > 0;
	double far = largest(0.25 * (double)spread.median, 6.0 * (double)spread.deviation, 0);
	for (uint32_t i = 0; i < phase->n_steady; i++)
		first[i].is_outlier = (double)llabs(length(first[i].device) - spread.median) > far;
}

bool phases_steady_measure(const struct phases_track *track, const struct phases_cut *cut,
			   struct hwy_phase *phase)
{
	uint32_t n_warm;
	*phase = (struct hwy_phase){
		.source = cut->source,
		.name = cut->name,
		.process = track->process,
		.has_start_up = cut->has_start_up,
	};
	make_steps(track, cut, phase, &n_warm);
	if (phase->n_steps == 0) {
		free(phase->steps);
		return false;
	}
	measure_busy(track, phase);
	tell_apart(phase, n_warm);
	measure_steady(phase);
	count_steady_calls(track, phase);
	return true;
}
