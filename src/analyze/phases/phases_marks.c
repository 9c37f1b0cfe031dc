/* phases_marks.c - phases from annotations: which marks are the steps, and where a phase of them ends.
 *
 * A family of marks is judged by the device work launched from its first mark to the end of its last (its
 * reach), and the share of that launched inside the marks. Of the families with at least half of the largest
 * reach and three tenths of the largest share, those whose name says "step" come first, then any that is
 * regular (60 % of its launches are in periods with the median's number of them, to a fifth); among equals the
 * one with the longest period that still repeats three times, then the one that begins first.
 *
 * Marks of one family are one phase, except where
 * - more was launched between two marks than in three steps: that is another phase;
 * - the counter starts again, and the steps after it launch, wait or take otherwise. A run that launches the
 *   same and has at most three quarters of the steps of the one after it is its warm-up.
 * What lies before, between and after is searched again for other families.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/marks.h"

enum {
	LEAST_SHARE = 50, /* of the process's work: 1/50 for a further phase */
	MOST_PHASES = 64,
	MOST_ALIKE = 512, /* steps of a run that tell what the others are like */
};

struct stretch { /* of the track, in places */
	uint32_t from, to;
};

/* The marks of one family inside a stretch. */
struct run {
	const struct mark_family *family;
	uint32_t first, n;
};

/* Sorts. */
static int64_t median(int64_t *values, uint32_t n)
{
	qsort(values, n, sizeof *values, hwy_ascending);
	return n ? values[n / 2] : 0;
}

/* ---- judging families ------------------------------------------------------------------------ */

struct judged {
	struct run run;
	double reach, inside; /* ns of work */
	int64_t period;
	bool is_regular;
};

/* Launches from each mark to the next; one less than marks. */
static int64_t *launches_of(const struct run *run)
{
	int64_t *counts = hwy_alloc((run->n + 1) * sizeof *counts);
	uint32_t before = run->family->v[run->first].place;
	for (uint32_t i = 1; i < run->n; i++) {
		uint32_t at = run->family->v[run->first + i].place;
		counts[i - 1] = at - before;
		before = at;
	}
	return counts;
}

static bool is_regular(const struct run *run)
{
	if (run->n < 3)
		return false;
	uint32_t n = run->n - 1;
	int64_t *counts = launches_of(run), typical = median(counts, n);
	int64_t alike = 0, all = 0;
	for (uint32_t i = 0; i < n; i++) {
		alike += llabs(counts[i] - typical) * 5 <= typical ? counts[i] : 0;
		all += counts[i];
	}
	free(counts);
	return alike > 0 && alike * 10 >= all * 6;
}

/* The first mark of a family at or after a place. */
static uint32_t first_at(const struct mark_family *family, uint32_t place)
{
	uint32_t low = 0, high = family->n;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (family->v[middle].place < place)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct judged phases_marks_judge(const struct phases_track *track,
					const struct mark_family *family, struct stretch stretch)
{
	struct judged judged = {.run = {.family = family}};
	struct run *run = &judged.run;
	run->first = first_at(family, stretch.from);
	while (run->first + run->n < family->n &&
	       family->v[run->first + run->n].place < stretch.to) {
		const struct mark *mark = &family->v[run->first + run->n++];
		judged.inside += track->work[mark->after] - track->work[mark->place];
	}
	if (run->n == 0)
		return judged;
	const struct mark *first = &family->v[run->first], *last = first + run->n - 1;
	judged.reach = track->work[last->after] - track->work[first->place];
	judged.period = run->n > 1 ? (last->at.from - first->at.from) / (run->n - 1)
				   : last->at.to - last->at.from;
	judged.is_regular = is_regular(run);
	return judged;
}

static bool is_candidate(const struct judged *judged, bool is_choice)
{
	if (judged->reach <= 0 || (is_choice && !judged->run.family->is_asked))
		return false;
	return is_choice || judged->run.family->rank >= MARK_STEP || judged->is_regular;
}

static bool is_better(const struct judged *a, const struct judged *b)
{
	const struct mark_family *x = a->run.family, *y = b->run.family;
	if (x->rank != y->rank)
		return x->rank > y->rank;
	if ((a->run.n >= 3) != (b->run.n >= 3))
		return a->run.n >= 3;
	int64_t difference = a->period - b->period;
	if (llabs(difference) > b->period / 20)
		return difference > 0;
	return x->v[a->run.first].at.from < y->v[b->run.first].at.from;
}

/* n is 0 when no family fits. */
static struct run phases_marks_choose(const struct phases_track *track,
				      const struct mark_families *families, struct stretch stretch,
				      bool is_choice)
{
	struct judged *all = hwy_alloc((families->n + 1) * sizeof *all), *best = NULL;
	double reach = 0, share = 0;
	for (uint32_t i = 0; i < families->n; i++) {
		all[i] = phases_marks_judge(track, &families->v[i], stretch);
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

struct manner { /* of a run's last steps: medians */
	int64_t launches, waits, period;
};

static struct manner manner_of(const struct phases_track *track, const struct run *run)
{
	struct manner manner = {0};
	struct run last = *run;
	if (run->n > MOST_ALIKE) {
		last.n = MOST_ALIKE;
		last.first += run->n - MOST_ALIKE;
	}
	run = &last;
	uint32_t n = run->n - 1;
	if (n == 0)
		return manner;
	int64_t *counts = launches_of(run);
	manner.launches = median(counts, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct mark *mark = &run->family->v[run->first + i];
		counts[i] = 0;
		uint32_t end = mark[1].place;
		for (uint32_t place = mark->place; place < end; place++)
			counts[i] += track_call(track, place)->blocks;
	}
	manner.waits = median(counts, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct mark *mark = &run->family->v[run->first + i];
		counts[i] = mark[1].at.from - mark->at.from;
	}
	manner.period = median(counts, n);
	free(counts);
	return manner;
}

static bool differ(int64_t a, int64_t b, int64_t percent)
{
	return (double)llabs(a - b) * 100 > (double)percent * (double)(a > b ? a : b);
}

static bool is_warm_up_of(const struct run *a, const struct run *b)
{
	return (uint64_t)a->n * 4 <= (uint64_t)b->n * 3;
}

static bool is_other_kind(const struct phases_track *track, const struct run *a,
			  const struct run *b)
{
	if (a->n < 2 || b->n < 2)
		return false;
	struct manner x = manner_of(track, a), y = manner_of(track, b);
	bool is_warm_up = is_warm_up_of(a, b);
	return differ(x.launches, y.launches, 20) || (!is_warm_up && x.waits != y.waits) ||
	       (!is_warm_up && differ(x.period, y.period, 25));
}

static bool is_phase_end(const struct mark *mark, int64_t typical)
{
	int64_t between = (int64_t)mark[1].place - mark->after;
	return between > 3 * typical + 8;
}

static bool starts_again(const struct phases_track *track, const struct mark *mark)
{
	const struct hwy_trace *trace = track->flow->trace;
	return mark_counter(hwy_text(trace, mark[1].name)) <
	       mark_counter(hwy_text(trace, mark->name));
}

/* Where its calls end: those between two marks are the first one's. The last step's own end is that of its
 * mark, or a period after its start where the marks leave out much of what is launched. */
static uint32_t end_of_last(const struct phases_track *track, const struct run *run, uint32_t limit)
{
	const struct mark *v = &run->family->v[run->first], *last = &v[run->n - 1];
	uint32_t end = last->after;
	uint64_t inside = 0;
	for (uint32_t i = 0; i + 1 < run->n; i++)
		inside += v[i].after - v[i].place;
	uint64_t all = last->place - v->place;
	if (run->n >= 3 && inside * 10 < all * 9) {
		uint32_t late = track_place_at(track, last->at.from + manner_of(track, run).period);
		end = late > end ? late : end;
	}
	return end < limit ? end : limit;
}

static int64_t phases_marks_name_of(const struct phases_track *track,
				    const struct mark_family *family)
{
	struct hwy_trace *trace = track->flow->trace;
	struct hwy_text text = hwy_text(trace, family->text);
	uint32_t common = mark_common_length(text);
	bool is_exact = family->is_exact && family->rank < MARK_STEP;
	if (is_exact || common == 0 || common == text.length)
		return family->text;
	/* The caches by text are as long as the table of texts was. */
	free(trace->roles);
	free(trace->comm);
	trace->roles = trace->comm = NULL;
	return hwy_intern(&trace->strings, text.at, common);
}

static void add_phase(const struct phases_track *track, const struct run *run, uint32_t n_warm,
		      uint32_t limit, struct phases_cuts *cuts)
{
	struct phases_cut cut = {
		.source = PHASE_MARKS,
		.name = phases_marks_name_of(track, run->family),
		.steps = hwy_alloc(run->n * sizeof *cut.steps),
		.n = run->n,
		.n_warm = n_warm,
		.is_certain = run->family->rank >= MARK_STEP,
	};
	for (uint32_t i = 0; i < run->n; i++) {
		const struct mark *mark = &run->family->v[run->first + i];
		cut.steps[i] = (struct phases_cut_step){
			.cpu = mark->at,
			.name = mark->name,
			.place = mark->place,
			.end = i + 1 < run->n ? mark[1].place : end_of_last(track, run, limit),
		};
	}
	HWY_GROW(cuts->v, cuts->n, cuts->cap);
	cuts->v[cuts->n++] = cut;
}

/* Counters that start again all the time count something else. */
static bool has_counter(const struct phases_track *track, const struct run *run)
{
	uint32_t again = 0;
	for (uint32_t i = 0; i + 1 < run->n; i++)
		again += starts_again(track, &run->family->v[run->first + i]);
	return again * 4 <= run->n;
}

/* Takes the next run of one kind of step from the front of 'all'. */
static struct run next_run(const struct phases_track *track, struct run *all, int64_t typical,
			   bool counts, bool *ends_phase)
{
	struct run run = {all->family, all->first, 1};
	*ends_phase = true;
	while (run.n < all->n) {
		const struct mark *mark = &run.family->v[run.first + run.n - 1];
		*ends_phase = is_phase_end(mark, typical);
		if (*ends_phase || (counts && starts_again(track, mark)))
			break;
		run.n++;
	}
	all->first += run.n;
	all->n -= run.n;
	*ends_phase |= all->n == 0;
	return run;
}

static void cut_family(const struct phases_track *track, struct run all, uint32_t limit,
		       struct phases_cuts *cuts)
{
	int64_t *counts = launches_of(&all);
	int64_t typical = median(counts, all.n - 1);
	bool has = has_counter(track, &all), ends = true;
	struct run phase = {0};
	uint32_t n_warm = 0;
	free(counts);
	while (all.n) {
		bool ended = ends;
		struct run run = next_run(track, &all, typical, has, &ends);
		if (phase.n && (ended || is_other_kind(track, &phase, &run))) {
			add_phase(track, &phase, n_warm, run.family->v[run.first].place, cuts);
			phase.n = 0;
		}
		if (phase.n) {
			n_warm = is_warm_up_of(&phase, &run) ? phase.n : n_warm;
			phase.n += run.n;
		} else {
			phase = run;
			n_warm = 0;
		}
	}
	if (phase.n)
		add_phase(track, &phase, n_warm, limit, cuts);
}

/* ---- */

static void cut_stretch(const struct phases_track *track, const struct mark_families *families,
			struct stretch stretch, bool is_choice, struct phases_cuts *cuts)
{
	double work = track->work[stretch.to] - track->work[stretch.from];
	if (stretch.from >= stretch.to || cuts->n >= MOST_PHASES ||
	    work < track->work[track->n] / LEAST_SHARE)
		return;
	struct run run = phases_marks_choose(track, families, stretch, is_choice);
	if (run.n == 0)
		return;
	uint32_t before = cuts->n;
	cut_family(track, run, stretch.to, cuts);
	uint32_t after = cuts->n, from = stretch.from;
	for (uint32_t i = before; i <= after; i++) {
		uint32_t to = i < after ? cuts->v[i].steps[0].place : stretch.to;
		if (to > from && to - from < stretch.to - stretch.from)
			cut_stretch(track, families, (struct stretch){from, to}, is_choice, cuts);
		if (i < after)
			from = cuts->v[i].steps[cuts->v[i].n - 1].end;
	}
}

/* Marks of a family come in order of their starts, so that each place is not far from the last. */
static void find_places(const struct phases_track *track, struct mark_families *families)
{
	for (uint32_t i = 0; i < families->n; i++) {
		uint32_t place = 0;
		for (uint32_t k = 0; k < families->v[i].n; k++) {
			struct mark *mark = &families->v[i].v[k];
			mark->place = place = track_place_from(track, place, mark->at.from);
			mark->after = track_place_from(track, place, mark->at.to);
		}
	}
}

void marks_cut(const struct phases_track *track, const char *step, struct phases_cuts *cuts)
{
	struct mark_families families = {0};
	marks_gather(track, step, &families);
	find_places(track, &families);
	cut_stretch(track, &families, (struct stretch){0, track->n}, step != NULL, cuts);
	marks_free(&families);
}
