/* window.c - see window.h.
 *
 * Steps are marks: the ranges of one lane and one level of nesting whose names differ in numbers only, of all
 * such sets the one that covers most time; sets that count (step_1, step_2) before those that only repeat.
 */
#include "analyze/window.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analyze/sweep.h"
#include "analyze/work.h"
#include "base/mem.h"

enum { LEVELS = 6, SHOWN = 3, MOST_SHOWN = 12, LAUNCHES = 40 };

struct step {
	struct hwy_interval cpu, device; /* device: from > to where it launched nothing */
	int64_t name;
};
struct finder {
	struct hwy_trace *trace;
	struct hwy_work work;
	struct step *steps; /* in order, disjoint */
	uint32_t n, cap;
	int64_t process;
	struct hwy_interval *ops; /* all work that counts, in order of start */
	int64_t *launched;        /* when; HWY_NONE: not known */
	uint32_t n_ops, cap_ops, cap_launched;
};

/* ---- marks --------------------------------------------------------------------------------------- */

struct set { /* of ranges that may be steps */
	uint32_t strip, level;
	uint64_t pattern;
	uint32_t n;
	int64_t time;
	bool counts;
};

static uint64_t pattern_of(const struct hwy_trace *trace, int64_t name, bool *counts)
{
	struct hwy_text text = hwy_text(trace, name);
	uint64_t hash = 1469598103934665603u;
	*counts = false;
	for (uint32_t i = 0; i < text.length; i++) {
		bool digit = isdigit((unsigned char)text.at[i]);
		if (digit && i && isdigit((unsigned char)text.at[i - 1]))
			continue;
		*counts = *counts || digit;
		hash = (hash ^ (digit ? 1u : (unsigned char)text.at[i])) * 1099511628211u;
	}
	return hash;
}

/* Goes through the ranges of a strip with their level; a callback for those up to LEVELS deep. */
static void each_range(const struct hwy_strip *strip,
		       void (*see)(void *to, uint32_t row, uint32_t level), void *to)
{
	int64_t ends[LEVELS];
	uint32_t depth = 0;
	for (uint32_t row = 0; row < strip->rows; row++) {
		int64_t start = hwy_get(strip, HWY_START, row), end = hwy_end(strip, row);
		while (depth && ends[depth - 1] <= start)
			depth--;
		if (depth == LEVELS || start == end)
			continue;
		see(to, row, depth);
		ends[depth++] = end;
	}
}

struct sets {
	const struct finder *finder;
	uint32_t strip;
	struct hwy_map map; /* strip, level, pattern -> index plus one */
	struct set *sets;
	uint32_t n, cap;
};

static void count_range(void *to, uint32_t row, uint32_t level)
{
	struct sets *sets = to;
	const struct hwy_trace *trace = sets->finder->trace;
	const struct hwy_strip *strip = &trace->strips[sets->strip];
	bool counts;
	uint64_t pattern = pattern_of(trace, hwy_get(strip, HWY_NAME, row), &counts);
	uint32_t *at = hwy_map_put(
		&sets->map, hwy_mix(pattern ^ (uint64_t)sets->strip << 32 ^ (uint64_t)level << 56),
		NULL);
	if (!*at) {
		HWY_GROW(sets->sets, sets->n, sets->cap);
		sets->sets[sets->n++] = (struct set){
			.strip = sets->strip, .level = level, .pattern = pattern, .counts = counts};
		*at = sets->n;
	}
	sets->sets[*at - 1].n++;
	sets->sets[*at - 1].time += hwy_get(strip, HWY_DUR, row);
}

static const struct set *best_set(const struct sets *sets)
{
	const struct set *best = NULL;
	for (uint32_t i = 0; i < sets->n; i++) {
		const struct set *set = &sets->sets[i];
		if (set->n < 2)
			continue;
		bool better = !best ||
			      (set->counts != best->counts ? set->counts : set->time > best->time);
		if (better)
			best = set;
	}
	return best;
}

struct taker {
	struct finder *finder;
	const struct set *set;
};

static void take_range(void *to, uint32_t row, uint32_t level)
{
	struct taker *taker = to;
	struct finder *finder = taker->finder;
	const struct hwy_strip *strip = &finder->trace->strips[taker->set->strip];
	int64_t name = hwy_get(strip, HWY_NAME, row);
	bool counts;
	if (level != taker->set->level ||
	    pattern_of(finder->trace, name, &counts) != taker->set->pattern)
		return;
	HWY_GROW(finder->steps, finder->n, finder->cap);
	finder->steps[finder->n++] = (struct step){
		.cpu = {hwy_get(strip, HWY_START, row), hwy_end(strip, row)},
		.device = {INT64_MAX, INT64_MIN},
		.name = name,
	};
}

static void find_marks(struct finder *finder)
{
	struct hwy_trace *trace = finder->trace;
	struct sets sets = {.finder = finder};
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		sets.strip = s;
		if (trace->strips[s].kind == HWY_RANGE &&
		    trace->lanes[trace->strips[s].lane].type == HWY_LANE_RANGE)
			each_range(&trace->strips[s], count_range, &sets);
	}
	const struct set *best = best_set(&sets);
	if (best) {
		struct taker taker = {finder, best};
		finder->process = trace->lanes[trace->strips[best->strip].lane].process;
		each_range(&trace->strips[best->strip], take_range, &taker);
	}
	free(sets.sets);
	hwy_map_free(&sets.map);
}

/* ---- work ---------------------------------------------------------------------------------------- */

static void give_to_step(struct finder *finder, struct hwy_interval at, const struct hwy_call *call)
{
	uint32_t low = 0, high = finder->n;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (finder->steps[middle].cpu.to > call->at.from)
			high = middle;
		else
			low = middle + 1;
	}
	struct step *step = &finder->steps[low];
	if (low == finder->n || step->cpu.from > call->at.from ||
	    finder->trace->lanes[call->strip->lane].process != finder->process)
		return;
	step->device.from = at.from < step->device.from ? at.from : step->device.from;
	step->device.to = at.to > step->device.to ? at.to : step->device.to;
}

static void gather_work(struct finder *finder)
{
	struct hwy_trace *trace = finder->trace;
	struct hwy_sweep sweep = {0};
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (work_is_on(&finder->work, &trace->strips[s]))
			sweep_add(&sweep, &trace->strips[s], 0);
	while (sweep_next(&sweep)) {
		struct hwy_interval at;
		struct hwy_call call;
		if (!work_counts(&finder->work, sweep.strip, sweep.row, sweep.start, sweep.end,
				 &at))
			continue;
		bool known = work_call(&finder->work, sweep.strip, sweep.row, &call);
		HWY_GROW(finder->ops, finder->n_ops, finder->cap_ops);
		finder->ops[finder->n_ops] = at;
		HWY_GROW(finder->launched, finder->n_ops, finder->cap_launched);
		finder->launched[finder->n_ops++] = known ? call.at.from : HWY_NONE;
		if (known)
			give_to_step(finder, at, &call);
	}
	sweep_free(&sweep);
}

/* Steps without device work are not what the device repeats. */
static void keep_working_steps(struct finder *finder)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < finder->n; i++)
		if (finder->steps[i].device.from <= finder->steps[i].device.to)
			finder->steps[n++] = finder->steps[i];
	finder->n = n < 2 ? 0 : n;
}

/* ---- the window ---------------------------------------------------------------------------------- */

static void of_steps(const struct finder *finder, uint32_t from, uint32_t to,
		     struct hwy_window *window)
{
	window->at.from = finder->steps[from].cpu.from;
	window->at.to = finder->steps[to].device.to;
	if (finder->steps[to].cpu.to > window->at.to)
		window->at.to = finder->steps[to].cpu.to;
}

/* Three steps of the middle; cut where the CPU is so far ahead that there would be dozens. */
static void typical_of_steps(const struct finder *finder, struct hwy_window *window)
{
	uint32_t middle = finder->n / 2, last = middle + SHOWN - 1;
	last = last < finder->n ? last : finder->n - 1;
	uint32_t first = last + 1 > SHOWN ? last + 1 - SHOWN : 0;
	of_steps(finder, first, last, window);
	int64_t period =
		(finder->steps[finder->n - 1].device.to - finder->steps[0].device.from) / finder->n;
	if (window->at.to - window->at.from > MOST_SHOWN * period && period > 0)
		window->at.from = window->at.to - MOST_SHOWN * period;
}

static void typical_of_launches(const struct finder *finder, struct hwy_window *window)
{
	uint32_t n = finder->n_ops, many = n < LAUNCHES ? n : LAUNCHES, first = (n - many) / 2;
	window->at = finder->ops[first];
	for (uint32_t i = first; i < first + many; i++) {
		if (finder->ops[i].to > window->at.to)
			window->at.to = finder->ops[i].to;
		if (finder->launched[i] != HWY_NONE && finder->launched[i] < window->at.from &&
		    i == first)
			window->at.from = finder->launched[i];
	}
}

static void name_steps(const struct finder *finder, struct hwy_window *window)
{
	window->n_steps = finder->n;
	window->first = finder->n;
	window->first_name = window->last_name = HWY_NONE;
	for (uint32_t i = 0; i < finder->n; i++) {
		const struct step *step = &finder->steps[i];
		if (step->cpu.from < window->at.from || step->cpu.from >= window->at.to)
			continue;
		if (window->first == finder->n) {
			window->first = i;
			window->first_name = step->name;
		}
		window->last = i;
		window->last_name = step->name;
	}
}

/* The last number in a name, or -1. */
static int64_t number_in(const struct hwy_trace *trace, int64_t name)
{
	struct hwy_text text = hwy_text(trace, name);
	uint32_t end = text.length;
	while (end && !isdigit((unsigned char)text.at[end - 1]))
		end--;
	uint32_t begin = end;
	while (begin && isdigit((unsigned char)text.at[begin - 1]))
		begin--;
	int64_t number = begin < end ? 0 : -1;
	for (uint32_t i = begin; i < end && number < INT32_MAX; i++)
		number = number * 10 + (text.at[i] - '0');
	return number;
}

/* The step that calls itself 'wanted', the last where warm-up counts from 0 too; where marks have no numbers,
 * the wanted one in order. finder->n: there is none. */
static uint32_t step_called(const struct finder *finder, int64_t wanted)
{
	bool counted = false;
	for (uint32_t i = finder->n; i-- > 0;) {
		int64_t number = number_in(finder->trace, finder->steps[i].name);
		counted = counted || number >= 0;
		if (number == wanted)
			return i;
	}
	return !counted && wanted < finder->n ? (uint32_t)wanted : finder->n;
}

static bool choose(const struct finder *finder, int64_t step, struct hwy_window *window,
		   struct hwy_err *err)
{
	uint32_t index = step == HWY_NONE ? 0 : step_called(finder, step);
	if (step != HWY_NONE && !finder->n)
		return hwy_fail(err, "has no marked steps; --from and --to choose by time");
	if (step != HWY_NONE && index == finder->n)
		return hwy_fail(err, "has no step %" PRId64 "; its %" PRIu32 " steps are %s to %s",
				step, finder->n, hwy_str(finder->trace, finder->steps[0].name),
				hwy_str(finder->trace, finder->steps[finder->n - 1].name));
	if (!finder->n_ops)
		return hwy_fail(err, "no device work is recorded; --from and --to choose by time");
	if (step != HWY_NONE)
		of_steps(finder, index, index, window);
	else if (finder->n)
		typical_of_steps(finder, window);
	else
		typical_of_launches(finder, window);
	if (window->at.to <= window->at.from)
		window->at.to = window->at.from + 1;
	name_steps(finder, window);
	return true;
}

bool window_find(struct hwy_trace *trace, int64_t step, struct hwy_window *window,
		 struct hwy_err *err)
{
	struct finder finder = {.trace = trace};
	uint64_t columns = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME);
	*window = (struct hwy_window){0};
	bool done = hwy_need(trace, HWY_KIND_BIT(HWY_RANGE), columns, err) &&
		    work_open(&finder.work, trace, HWY_SCOPE_ALL, err);
	if (done) {
		find_marks(&finder);
		gather_work(&finder);
		keep_working_steps(&finder);
		done = choose(&finder, step, window, err);
	}
	work_close(&finder.work);
	free(finder.steps);
	free(finder.ops);
	free(finder.launched);
	return done;
}
