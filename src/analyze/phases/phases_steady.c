/* phases_steady.c - the steps of a phase on the device, and which of them are steady.
 *
 * Device windows: a step begins with the first op that its calls enqueued, never before the step before it;
 * it ends where the next begins, the last one with its work. So they tile the phase, and mean times steps is
 * the window.
 *
 * The last step has no next one: where its window is shorter than 97 % of the others' median, what follows
 * its work (the loader's turn, the read-back) is missing, or the recording ended in it. It is cut, and not
 * steady.
 *
 * Warm-up is, in this order:
 * - steps of a shorter run of the same marks before the run (phases_marks.c);
 * - the first step of four or more: it begins with an empty queue and cold caches, as no other does;
 * - what comes before a wait of a kind that hardly ever occurs (torch.cuda.synchronize() between warm-up and
 *   the timed loop), where that is at most three quarters of what comes after;
 * - slow first steps. With M, D and H the median, the deviation (1.5 times the median distance from M) and the
 *   80th percentile of the second half, a step is slow that takes more than 1.05 M, M + 5 D and 1.1 H. Warm-up
 *   reaches to the last slow step of the first half before which, itself included, at least every second one
 *   is slow.
 *
 * Outliers are steady steps further from the median than a quarter of it and 6 D. Bursty is a mean at least
 * 1.08 times the median: some steps pay for many.
 */
#include <stdlib.h>

#include "analyze/phases/phases_internal.h"

enum { RARE = 2, LEAST_FOR_RARE = 10 /* steps */ };

static int64_t length(struct hwy_interval at)
{
	return at.to - at.from;
}

/* ---- device windows -------------------------------------------------------------------------- */

/* The first device start of the calls [place, end); INT64_MAX when they enqueued nothing. */
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

/* The steps before the last wait whose kind occurs at most RARE times, where they are few enough. */
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
			    *hwy_map_get(&kinds, track_wait_kind(track, place)) <= RARE &&
			    (uint64_t)i * 4 <= (uint64_t)(cut->n - i) * 3)
				warm = i;
	hwy_map_free(&kinds);
	return warm;
}

/* The end in flow.calls of what ends before 'end' on the track: waits in a row stand for one there. */
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

/* Steps without device work belong to the one before them. */
static void make_steps(const struct phases_track *track, const struct phases_cut *cut,
		       struct hwy_phase *phase, uint32_t *n_warm)
{
	phase->steps = hwy_zalloc((cut->n + 1) * sizeof *phase->steps);
	*n_warm = 0;
	uint32_t end = 0, known = cut->n_warm;
	if (known == 0 && cut->n >= LEAST_FOR_RARE)
		known = count_before_rare_wait(track, cut);
	for (uint32_t i = 0; i < cut->n; i++) {
		const struct phases_cut_step *from = &cut->steps[i];
		int64_t start = first_start(track, from->place, from->end);
		if (from->end > from->place)
			end = end_of_calls(track, from->end);
		if (start == INT64_MAX)
			continue;
		struct phase_step *step = &phase->steps[phase->n_steps++];
		if (phase->n_steps > 1 && start < step[-1].device.from)
			start = step[-1].device.from;
		*step = (struct phase_step){
			.cpu = from->cpu,
			.device = {start, start},
			.first_call = track->calls[from->place],
			.name = from->name,
		};
		*n_warm += i < known;
	}
	for (uint32_t i = 0; i < phase->n_steps; i++) {
		struct phase_step *step = &phase->steps[i];
		bool is_last = i + 1 == phase->n_steps;
		step->n_calls = (is_last ? end : step[1].first_call) - step->first_call;
		step->device.to = is_last ? last_end(track, step) : step[1].device.from;
	}
}

/* Busy time of the process's work, device by device united. */
static void measure_busy(const struct phases_track *track, struct hwy_phase *phase)
{
	const struct hwy_flow *flow = track->flow;
	uint32_t n = phase->n_steps;
	struct hwy_interval *windows = hwy_alloc(n * sizeof *windows);
	struct hwy_bins bins = {windows, hwy_zalloc(n * sizeof(int64_t)), n, 0};
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

struct spread {
	int64_t median, deviation, low, upper, high; /* percentiles: 10, 80, 90 */
};

/* The smallest value that is at least 'tenths' tenths of them. */
static int64_t percentile(const int64_t *sorted, uint32_t n, uint32_t tenths)
{
	uint64_t rank = ((uint64_t)n * tenths + 9) / 10;
	return sorted[rank ? rank - 1 : 0];
}

static int64_t middle(const int64_t *sorted, uint32_t n)
{
	return n % 2 ? sorted[n / 2] : sorted[n / 2 - 1] + (sorted[n / 2] - sorted[n / 2 - 1]) / 2;
}

static struct spread spread_of(const struct phase_step *steps, uint32_t n)
{
	int64_t *values = hwy_alloc(n * sizeof *values);
	for (uint32_t i = 0; i < n; i++)
		values[i] = length(steps[i].device);
	qsort(values, n, sizeof *values, hwy_ascending);
	struct spread spread = {
		.median = middle(values, n),
		.low = percentile(values, n, 1),
		.upper = percentile(values, n, 8),
		.high = percentile(values, n, 9),
	};
	for (uint32_t i = 0; i < n; i++)
		values[i] = llabs(values[i] - spread.median);
	qsort(values, n, sizeof *values, hwy_ascending);
	int64_t distance = middle(values, n);
	spread.deviation = distance + distance / 2;
	free(values);
	return spread;
}

/* In double: lengths may be so large that a multiple of one is no int64_t. */
static double most(double a, double b, double c)
{
	double ab = a > b ? a : b;
	return ab > c ? ab : c;
}

/* How many of the first steps are warm-up; 'n' without the one that is cut. */
static uint32_t count_warm(struct hwy_phase *phase, uint32_t n, uint32_t known)
{
	if (known && known < n)
		return known;
	uint32_t warm = n >= 4, slow = 0;
	if (n < 3)
		return 0;
	struct spread tail = spread_of(phase->steps + n / 2, n - n / 2);
	double median = (double)tail.median;
	double limit = most(1.05 * median, median + 5.0 * (double)tail.deviation,
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

static void tell_apart(struct hwy_phase *phase, uint32_t n_warm)
{
	uint32_t n = phase->n_steps;
	if (n > 1) {
		uint32_t from = n_warm && n_warm + 1 < n ? n_warm : 0;
		struct spread others = spread_of(phase->steps + from, n - 1 - from);
		struct phase_step *last = &phase->steps[n - 1];
		last->is_cut = (double)length(last->device) < 0.97 * (double)others.median;
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

static void phases_steady_count_calls(const struct phases_track *track, struct hwy_phase *phase)
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
	double far = most(0.25 * (double)spread.median, 6.0 * (double)spread.deviation, 0);
	for (uint32_t i = 0; i < phase->n_steady; i++)
		first[i].is_outlier = (double)llabs(length(first[i].device) - spread.median) > far;
}

bool steady_measure(const struct phases_track *track, const struct phases_cut *cut,
		    struct hwy_phase *phase)
{
	uint32_t n_warm;
	*phase = (struct hwy_phase){
		.source = cut->source, .name = cut->name, .process = track->process};
	make_steps(track, cut, phase, &n_warm);
	if (phase->n_steps == 0) {
		free(phase->steps);
		return false;
	}
	measure_busy(track, phase);
	tell_apart(phase, n_warm);
	measure_steady(phase);
	phases_steady_count_calls(track, phase);
	return true;
}
