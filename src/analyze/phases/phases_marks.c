/* SPDX-License-Identifier: Apache-2.0 */
/* phases_marks.c - phases from annotations: which marks are the steps, and where a phase of them
 * ends.
 *
 * A family of marks (marks.h) is candidate by its reach, the device work launched from its first
 * mark to the end of its last mark, and by the share of the reach that was launched inside the
 * marks. Only families with at least half of the largest reach and three tenths of the largest
 * share compete. Families whose name says "step" come first, then any regular family: 60 % of a
 * regular family's launches are in periods whose number of launches differs by at most a fifth
 * from the median. Among equals the family with the longest period that still repeats three
 * times wins, then the family that begins first.
 *
 * The marks of one family are one phase, except where
 * - more was launched between two marks than in three steps: the marks behind are another phase;
 * - the counter starts again, and the steps behind launch, wait or last differently. An earlier run that launches
 *   the same and has at most three quarters of the later run's steps is the later run's warm-up.
 * The calls before, between and behind these phases are searched again for other families.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/marks.h"
#include "analyze/xla.h"
#include "base/quantile.h"
#include "base/search.h"

enum {
	/* A phase has at least so many percent of the process's device work. */
	LEAST_PHASE_PERCENT = 2,
	MOST_PHASES = 64,
	/* A run's typical step is computed from the run's last so many steps. */
	TYPICAL_STEPS = 512,
	LEAST_STEPS = 3, /* a family with fewer marks is not regular */
};

struct stretch { /* the places [from, to) of the track */
	uint32_t from, to;
};

/* Consecutive marks of one family. */
struct run {
	const struct mark_family *family;
	uint32_t first, n; /* the run is family->marks[first … first + n - 1] */
};

/* Sorts the values and yields their median. */
static int64_t median_sorting(int64_t *values, uint32_t n)
{
	hwy_sort(values, n);
	return hwy_median_upper(values, n);
}

/* ---- judging families ------------------------------------------------------------------------ */

struct candidate { /* the marks of a family inside a stretch, and how well they would do as steps */
	struct run run;
	/* 'reach': ns of device work from the first mark to the last; 'inside': ns of device
	 * work inside the marks. */
	double reach, inside;
	int64_t period; /* ns from mark to mark */
	bool is_regular;
};

/* The number of launches from each mark to the next: run->n - 1 values, in memory that the
 * caller frees. */
static int64_t *count_launches(const struct run *run)
{
	int64_t *counts = hwy_array(run->n, sizeof *counts);
	uint32_t before = run->family->marks[run->first].place;
	for (uint32_t i = 1; i < run->n; i++) {
		uint32_t place = run->family->marks[run->first + i].place;
		counts[i - 1] = place - before;
		before = place;
	}
	return counts;
}

static bool is_regular(const struct run *run)
{
	if (run->n < LEAST_STEPS)
		return false;
	uint32_t n = run->n - 1;
	int64_t *counts = count_launches(run), typical = median_sorting(counts, n);
	int64_t alike = 0, all = 0;
	for (uint32_t i = 0; i < n; i++) {
		alike += llabs(counts[i] - typical) * 5 <= typical ? counts[i] : 0;
		all += counts[i];
	}
	free(counts);
	return alike > 0 && alike * 10 >= all * 6;
}

/* The index of the first mark of a family at or after a place. */
static uint32_t first_mark_from(const struct mark_family *family, uint32_t place)
{
	return HWY_FIRST(i, 0u, family->n, family->marks[i].place >= place);
}

static struct candidate judge_family(const struct phases_track *track,
				     const struct mark_family *family, struct stretch stretch)
{
	struct candidate candidate = {.run = {.family = family}};
	struct run *run = &candidate.run;
	run->first = first_mark_from(family, stretch.from);
	while (run->first + run->n < family->n &&
	       family->marks[run->first + run->n].place < stretch.to) {
		const struct mark *mark = &family->marks[run->first + run->n++];
		candidate.inside += track->work[mark->after] - track->work[mark->place];
	}
	if (run->n == 0)
		return candidate;
	const struct mark *first = &family->marks[run->first], *last = first + run->n - 1;
	candidate.reach = track->work[last->after] - track->work[first->place];
	candidate.period = run->n > 1 ? (last->at.from - first->at.from) / (run->n - 1)
				      : last->at.to - last->at.from;
	candidate.is_regular = is_regular(run);
	return candidate;
}

static bool is_candidate(const struct candidate *candidate, bool is_choice)
{
	if (candidate->reach <= 0 || (is_choice && !candidate->run.family->is_asked))
		return false;
	return is_choice || candidate->run.family->rank >= MARK_STEP || candidate->is_regular;
}

static bool is_better(const struct candidate *a, const struct candidate *b)
{
	const struct mark_family *x = a->run.family, *y = b->run.family;
	if (x->rank != y->rank)
		return x->rank > y->rank;
	if ((a->run.n >= LEAST_STEPS) != (b->run.n >= LEAST_STEPS))
		return a->run.n >= LEAST_STEPS;
	int64_t difference = a->period - b->period;
	if (llabs(difference) > b->period / 20)
		return difference > 0;
	return x->marks[a->run.first].at.from < y->marks[b->run.first].at.from;
}

/* The best family of the stretch, as a run of its marks there; a run of 0 marks where no family
 * will do. 'is_choice' says that only families which the user named compete. */
static struct run choose_family(const struct phases_track *track,
				const struct mark_families *families, struct stretch stretch,
				bool is_choice)
{
	struct candidate *all = hwy_array(families->n, sizeof *all), *best = NULL;
	double reach = 0, share = 0;
	for (uint32_t i = 0; i < families->n; i++) {
		all[i] = judge_family(track, &families->families[i], stretch);
		if (is_candidate(&all[i], is_choice) && all[i].reach > reach)
			reach = all[i].reach;
	}
	for (uint32_t i = 0; i < families->n; i++) {
		if (!is_candidate(&all[i], is_choice) || all[i].reach < reach / 2)
			continue;
		double inside = all[i].inside / all[i].reach;
		share = inside > share ? inside : share;
	}
	for (uint32_t i = 0; i < families->n; i++) {
		double inside = all[i].inside / (all[i].reach + 1);
		if (is_candidate(&all[i], is_choice) && all[i].reach >= reach / 2 &&
		    (is_choice || inside >= share * 0.3) && (!best || is_better(&all[i], best)))
			best = &all[i];
	}
	struct run run = best ? best->run : (struct run){0};
	free(all);
	return run;
}

/* ---- from one family to phases --------------------------------------------------------------- */

struct typical_step { /* medians over a run's last steps */
	int64_t launches, waits;
	int64_t period; /* ns from mark to mark */
};

static struct typical_step typical_step_of(const struct phases_track *track, const struct run *run)
{
	struct typical_step typical = {0};
	struct run last = *run;
	if (run->n > TYPICAL_STEPS) {
		last.n = TYPICAL_STEPS;
		last.first += run->n - TYPICAL_STEPS;
	}
	run = &last;
	uint32_t n = run->n - 1;
	if (n == 0)
		return typical;
	int64_t *counts = count_launches(run);
	typical.launches = median_sorting(counts, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct mark *mark = &run->family->marks[run->first + i];
		counts[i] = 0;
		uint32_t end = mark[1].place;
		for (uint32_t place = mark->place; place < end; place++)
			counts[i] += track_call(track, place)->blocks;
	}
	typical.waits = median_sorting(counts, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct mark *mark = &run->family->marks[run->first + i];
		counts[i] = mark[1].at.from - mark->at.from;
	}
	typical.period = median_sorting(counts, n);
	free(counts);
	return typical;
}

/* Whether a and b differ by more than this percentage of the larger one. */
static bool differ(int64_t a, int64_t b, int64_t percent)
{
	return (double)llabs(a - b) * 100 > (double)percent * (double)(a > b ? a : b);
}

/* Whether run a is short enough to be the warm-up of run b. */
static bool is_shorter_run(const struct run *a, const struct run *b)
{
	return (uint64_t)a->n * 4 <= (uint64_t)b->n * 3;
}

/* Whether the steps of run b, which follows run a, are of another kind than the steps of run a. */
static bool is_other_kind(const struct phases_track *track, const struct run *a,
			  const struct run *b)
{
	if (a->n < 2 || b->n < 2)
		return false;
	struct typical_step x = typical_step_of(track, a), y = typical_step_of(track, b);
	bool is_warm_up = is_shorter_run(a, b);
	return differ(x.launches, y.launches, 20) || (!is_warm_up && x.waits != y.waits) ||
	       (!is_warm_up && differ(x.period, y.period, 25));
}

/* Whether so much is launched between this mark and the next that a phase ends here. 'typical'
 * is the usual number of launches of a step. */
static bool is_phase_end(const struct mark *mark, int64_t typical)
{
	int64_t between = (int64_t)mark[1].place - mark->after;
	return between > 3 * typical + 8;
}

/* Whether the counter in the next mark's name is lower than in this mark's. */
static bool starts_again(const struct phases_track *track, const struct mark *mark)
{
	const struct hwy_trace *trace = track->flow->trace;
	struct hwy_text name = hwy_text(trace, mark->name);
	/* The number of a compiled program counts no steps. */
	return !mark_is_execution(name) &&
	       mark_counter(hwy_text(trace, mark[1].name)) < mark_counter(name);
}

/* The place behind the last call of a run's last step: the end of its mark; or a period after
 * its start where the other marks enclose less than nine tenths of what is launched. */
static uint32_t marks_end_of_last(const struct phases_track *track, const struct run *run,
				  uint32_t limit)
{
	const struct mark *first = &run->family->marks[run->first], *last = &first[run->n - 1];
	uint32_t end = last->after;
	uint64_t inside = 0;
	for (uint32_t i = 0; i + 1 < run->n; i++)
		inside += first[i].after - first[i].place;
	uint64_t all = last->place - first->place;
	if (run->n >= LEAST_STEPS && inside * 10 < all * 9) {
		uint32_t period_end =
			track_place_at(track, last->at.from + typical_step_of(track, run).period);
		end = period_end > end ? period_end : end;
	}
	return end < limit ? end : limit;
}

/* Adds a text to the trace, and yields its id. */
static int64_t phases_add_text(struct hwy_trace *trace, const char *text, size_t length)
{
	/* The caches of roles and of communication have an entry for each text so far: a new
	 * text makes them too short. */
	free(trace->roles);
	free(trace->comm);
	trace->roles = trace->comm = NULL;
	return hwy_intern(&trace->strings, text, length);
}

/* The text that names a phase of these marks: the common part of their names, or the name that
 * all have; the function where the marks are its executions. */
static int64_t phase_name(const struct phases_track *track, const struct mark_family *family)
{
	struct hwy_trace *trace = track->flow->trace;
	struct hwy_text text = hwy_text(trace, family->text);
	if (mark_is_execution(text)) {
		char function[256];
		xla_label(text, function, sizeof function);
		return phases_add_text(trace, function, strlen(function));
	}
	uint32_t common = mark_common_length(text);
	bool is_exact = family->is_exact && family->rank < MARK_STEP;
	if (is_exact || common == 0 || common == text.length)
		return family->text;
	return phases_add_text(trace, text.at, common);
}

static void marks_add_phase(const struct phases_track *track, const struct run *run,
			    uint32_t n_warm, uint32_t limit, struct phases_cuts *cuts)
{
	bool is_execution = mark_is_execution(hwy_text(track->flow->trace, run->family->text));
	/* A program executes many functions once or twice before its loop. */
	if (is_execution && run->n < LEAST_STEPS && !run->family->is_asked)
		return;
	struct phases_cut cut = {
		.source = PHASE_MARKS,
		.name = phase_name(track, run->family),
		.steps = hwy_array(run->n, sizeof *cut.steps),
		.n = run->n,
		.n_warm = n_warm,
		.is_certain = run->family->rank >= MARK_STEP,
	};
	for (uint32_t i = 0; i < run->n; i++) {
		const struct mark *mark = &run->family->marks[run->first + i];
		cut.steps[i] = (struct phases_cut_step){
			.cpu = mark->at,
			.name = is_execution ? cut.name : mark->name,
			.place = mark->place,
			.end = i + 1 < run->n ? mark[1].place
					      : marks_end_of_last(track, run, limit),
		};
	}
	HWY_GROW(cuts->cuts, cuts->n, cuts->cap);
	cuts->cuts[cuts->n++] = cut;
}

/* Whether the numbers in the marks' names count steps: a counter that starts again all the time
 * counts something else. */
static bool names_count_steps(const struct phases_track *track, const struct run *run)
{
	uint32_t again = 0;
	for (uint32_t i = 0; i + 1 < run->n; i++)
		again += starts_again(track, &run->family->marks[run->first + i]);
	return again * 4 <= run->n;
}

/* Takes marks from the front of 'all' up to the next end of a phase or, where names count steps,
 * the next restart of the counter. */
static struct run next_run(const struct phases_track *track, struct run *all, int64_t typical,
			   bool has_counter, bool *ends_phase)
{
	struct run run = {all->family, all->first, 1};
	*ends_phase = true;
	while (run.n < all->n) {
		const struct mark *mark = &run.family->marks[run.first + run.n - 1];
		*ends_phase = is_phase_end(mark, typical);
		if (*ends_phase || (has_counter && starts_again(track, mark)))
			break;
		run.n++;
	}
	all->first += run.n;
	all->n -= run.n;
	*ends_phase |= all->n == 0;
	return run;
}

/* Proposes the phases of the marks in 'all'. 'limit' is the place at which the last phase must
 * end. */
static void cut_family(const struct phases_track *track, struct run all, uint32_t limit,
		       struct phases_cuts *cuts)
{
	int64_t *counts = count_launches(&all);
	int64_t typical = median_sorting(counts, all.n - 1);
	bool has_counter = names_count_steps(track, &all), ends = true;
	struct run phase = {0};
	uint32_t n_warm = 0;
	free(counts);
	while (all.n) {
		bool ended = ends;
		struct run run = next_run(track, &all, typical, has_counter, &ends);
		if (phase.n && (ended || is_other_kind(track, &phase, &run))) {
			marks_add_phase(track, &phase, n_warm, run.family->marks[run.first].place,
					cuts);
			phase.n = 0;
		}
		if (phase.n) {
			n_warm = is_shorter_run(&phase, &run) ? phase.n : n_warm;
			phase.n += run.n;
		} else {
			phase = run;
			n_warm = 0;
		}
	}
	if (phase.n)
		marks_add_phase(track, &phase, n_warm, limit, cuts);
}

/* ---- all families ---------------------------------------------------------------------------- */

/* Proposes the phases of the stretch's best family, then of the stretches that its phases leave. */
static void cut_stretch(const struct phases_track *track, const struct mark_families *families,
			struct stretch stretch, bool is_choice, struct phases_cuts *cuts)
{
	double work = track->work[stretch.to] - track->work[stretch.from];
	if (stretch.from >= stretch.to || cuts->n >= MOST_PHASES ||
	    work * 100 < track->work[track->n] * LEAST_PHASE_PERCENT)
		return;
	struct run run = choose_family(track, families, stretch, is_choice);
	if (run.n == 0)
		return;
	uint32_t before = cuts->n;
	cut_family(track, run, stretch.to, cuts);
	uint32_t after = cuts->n, from = stretch.from;
	for (uint32_t i = before; i <= after; i++) {
		uint32_t to = i < after ? cuts->cuts[i].steps[0].place : stretch.to;
		if (to > from && to - from < stretch.to - stretch.from)
			cut_stretch(track, families, (struct stretch){from, to}, is_choice, cuts);
		if (i < after)
			from = cuts->cuts[i].steps[cuts->cuts[i].n - 1].end;
	}
}

/* Finds the places of all marks on the track. A family's marks are in order of start, so each
 * search begins at the last search's result. */
static void find_places(const struct phases_track *track, struct mark_families *families)
{
	for (uint32_t i = 0; i < families->n; i++) {
		uint32_t place = 0;
		for (uint32_t k = 0; k < families->families[i].n; k++) {
			struct mark *mark = &families->families[i].marks[k];
			mark->place = place = track_place_from(track, place, mark->at.from);
			mark->after = track_place_from(track, place, mark->at.to);
		}
	}
}

void phases_marks_cut(const struct phases_track *track, const char *step, struct phases_cuts *cuts)
{
	struct mark_families families = {0};
	marks_gather(track, step, &families);
	find_places(track, &families);
	cut_stretch(track, &families, (struct stretch){0, track->n}, step != NULL, cuts);
	marks_free(&families);
}
