/* SPDX-License-Identifier: Apache-2.0 */
/* diff.c - see diff.h: matches phases, judges the change of the step, and splits it into parts. */
#include "compare/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/summary_waits.h"

/* ---- which phase ----------------------------------------------------------------------------- */

static double launches_of(const struct compare_phase *phase, const char *name)
{
	const struct compare_row *row = diff_row(&phase->tables[TABLE_KERNELS], name);
	return row ? (double)row->count / phase->n_steady : 0;
}

/* Yields which share (0 … 1) of the kernels that the steps of two phases launch is the same, by
 * folded name. */
static double similarity(const struct compare_phase *a, const struct compare_phase *b)
{
	const struct compare_table *x = &a->tables[TABLE_KERNELS], *y = &b->tables[TABLE_KERNELS];
	double common = 0, all = 0;
	for (uint32_t i = 0; i < x->n; i++) {
		double before = launches_of(a, x->rows[i].name),
		       after = launches_of(b, x->rows[i].name);
		common += before < after ? before : after;
		all += before > after ? before : after;
	}
	for (uint32_t i = 0; i < y->n; i++)
		if (!diff_row(x, y->rows[i].name))
			all += launches_of(b, y->rows[i].name);
	return all > 0 ? common / all : 0;
}

/* How likely two phases are the same loop: marks of one name count most, then the same kernels,
 * then as many steps. */
static double affinity(const struct compare_phase *a, const struct compare_phase *b)
{
	double steps = a->n_steps < b->n_steps ? (double)a->n_steps / b->n_steps
					       : (double)b->n_steps / a->n_steps;
	bool same_marks = *a->name && strcmp(a->name, b->name) == 0;
	return (same_marks ? 2 : 0) + similarity(a, b) + 0.3 * steps;
}

/* The phase of a run that is most like 'wanted'. */
static const struct compare_phase *match(const struct compare_phase *wanted,
					 const struct compare_summary *run)
{
	const struct compare_phase *best = &run->phases[0];
	double most = -1;
	for (uint32_t i = 0; i < run->n; i++) {
		double one = affinity(wanted, &run->phases[i]);
		if (one > most) {
			best = &run->phases[i];
			most = one;
		}
	}
	return best;
}

/* ---- a side ---------------------------------------------------------------------------------- */

static uint32_t find_middle(const struct compare_side *side)
{
	for (uint32_t i = 0; i < side->n; i++) {
		uint32_t below = 0;
		for (uint32_t k = 0; k < side->n; k++)
			below += side->phases[k]->step < side->phases[i]->step ||
				 (side->phases[k]->step == side->phases[i]->step && k < i);
		if (below == (side->n - 1) / 2)
			return i;
	}
	return 0;
}

void diff_prepare_side(struct compare_side *side, const struct compare_phase *wanted,
		       struct hwy_arena *arena)
{
	int64_t totals[PARTS] = {0};
	side->phases = hwy_arena_array(arena, side->n, sizeof *side->phases);
	for (uint32_t i = 0; i < side->n; i++) {
		side->phases[i] = match(wanted, side->runs[i]);
		for (unsigned k = 0; k < PARTS; k++)
			totals[k] += side->phases[i]->parts[k];
	}
	side->middle = find_middle(side);
	summary_share(totals, PARTS, side->n, side->parts);
	side->step = 0;
	for (unsigned k = 0; k < PARTS; k++)
		side->step += side->parts[k];
}

static struct sample *samples_of(struct compare_diff *diff, const struct compare_side *side)
{
	struct sample *samples = hwy_arena_array(&diff->arena, side->n, sizeof *samples);
	for (uint32_t i = 0; i < side->n; i++) {
		const struct compare_phase *phase = side->phases[i];
		samples[i] = (struct sample){phase->values, phase->n_values, (double)phase->step};
	}
	return samples;
}

/* ---- the change ------------------------------------------------------------------------------ */

static bool check_side(const struct compare_side *side, const struct compare_side *other,
		       struct hwy_err *err)
{
	bool runs_speak = side->n >= STATISTICS_RUNS && other->n >= STATISTICS_RUNS;
	for (uint32_t i = 0; i < side->n && !runs_speak; i++)
		if (!side->phases[i]->repeats)
			return hwy_fail(
				err,
				"%s: no steps: nothing repeats, so its spread is not known; record "
				"%d or more runs a side",
				side->runs[i]->file, STATISTICS_RUNS);
	for (uint32_t i = 0; i < side->n; i++)
		if (side->phases[i]->step <= 0)
			return hwy_fail(err, "%s: its steps have no length", side->runs[i]->file);
	return true;
}

/* Whether both sides have the same steps to the nanosecond: they are one recording, and differ in
 * nothing. */
static bool are_identical(const struct compare_side *a, const struct compare_side *b)
{
	if (a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++) {
		const struct compare_phase *x = a->phases[i], *y = b->phases[i];
		if (x->n_values != y->n_values || x->step != y->step || x->n_values < 2 ||
		    memcmp(x->values, y->values, x->n_values * sizeof *x->values) != 0)
			return false;
	}
	return true;
}

/* Whether a part of the step is listed before another part: by the size of its change, then by
 * its own size. */
static bool part_leads(const struct compare_diff *diff, unsigned part, unsigned other)
{
	int64_t a = llabs(diff->parts[part]), b = llabs(diff->parts[other]);
	return a != b ? a > b : diff->before->parts[part] > diff->before->parts[other];
}

static void split(struct compare_diff *diff)
{
	for (unsigned i = 0; i < PARTS; i++) {
		diff->parts[i] = diff->after->parts[i] - diff->before->parts[i];
		unsigned place = i;
		for (; place > 0 && part_leads(diff, i, diff->order[place - 1]); place--)
			diff->order[place] = diff->order[place - 1];
		diff->order[place] = i;
	}
	diff->change = diff->after->step - diff->before->step;
}

static double count_of(const struct compare_side *side, enum compare_count count)
{
	double sum = 0;
	for (uint32_t i = 0; i < side->n; i++)
		sum += summary_count_per_step(side->phases[i], count);
	return sum / side->n;
}

bool diff_make(struct compare_diff *diff, struct compare_side *before, struct compare_side *after,
	       double run_noise, struct hwy_err *err)
{
	*diff = (struct compare_diff){.before = before, .after = after};
	const struct compare_phase *wanted = &before->runs[0]->phases[0];
	diff_prepare_side(before, wanted, &diff->arena);
	diff_prepare_side(after, wanted, &diff->arena);
	if (!check_side(before, after, err) || !check_side(after, before, err))
		return false;
	diff->step = statistics_compare(samples_of(diff, before), before->n,
					samples_of(diff, after), after->n, run_noise);
	if (are_identical(before, after))
		diff->step = (struct difference){.before = diff->step.before,
						 .after = diff->step.after,
						 .method = "identical",
						 .verdict = VERDICT_SAME};
	split(diff);
	for (unsigned i = 0; i < COUNTS; i++)
		diff->counts[i] = (struct diff_count){i, count_of(before, i), count_of(after, i)};
	diff->similarity = similarity(side_phase(before), side_phase(after));
	/* A kernel moves from run to run as much as the step does. */
	double noise =
		run_noise < 0 ? fmax(diff->step.run_noise, STATISTICS_RUN_NOISE_SHARE) : run_noise;
	for (unsigned kind = 0; kind < TABLES; kind++)
		diff_table(diff, kind, noise);
	diff_findings(diff);
	diff->new_wait = summary_new_wait(side_phase(before), side_phase(after), &diff->arena);
	diff_notes(diff);
	return true;
}

/* Whether two halves of a run count as the same: they differ by no more than two runs usually do,
 * and the interval of the change is no wider than ten times that. */
static bool is_steady(struct interval change, double run_noise)
{
	double floor = run_noise * sqrt(2);
	return fabs(change.change) <= floor && change.high - change.low <= 2 * 5 * floor;
}

bool diff_make_halves(struct compare_diff *diff, struct compare_side *first,
		      struct compare_side *second, double run_noise, struct hwy_err *err)
{
	if (!diff_make(diff, first, second, 0, err))
		return false;
	if (run_noise < 0)
		run_noise = STATISTICS_RUN_NOISE_SHARE;
	struct difference *step = &diff->step;
	struct interval mean = {step->change / step->before, step->low / step->before,
				step->high / step->before, step->doubt};
	bool untold =
		step->verdict == VERDICT_UNKNOWN && fabs(mean.change) <= STATISTICS_SAME_SHARE;
	if (is_steady(mean, run_noise) || (untold && is_steady(step->middle, run_noise))) {
		step->verdict = VERDICT_SAME;
		step->by_middle = step->is_torn = false;
	}
	return true;
}

void diff_free(struct compare_diff *diff)
{
	hwy_arena_free(&diff->arena);
	*diff = (struct compare_diff){0};
}

/* A program may change its name or its kernels; where both differ, it is another program. */
static bool are_other(const struct compare_summary *a, const struct compare_phase *x,
		      const struct compare_summary *b, const struct compare_phase *y, double alike)
{
	bool have_kernels = x->tables[TABLE_KERNELS].n > 0 && y->tables[TABLE_KERNELS].n > 0;
	if (*a->program && *b->program)
		return strcmp(a->program, b->program) != 0 && (!have_kernels || alike < 0.2);
	return have_kernels && alike < 0.05;
}

bool diff_is_other_program(const struct compare_diff *diff)
{
	return are_other(side_run(diff->before), side_phase(diff->before), side_run(diff->after),
			 side_phase(diff->after), diff->similarity);
}

bool diff_are_other_programs(const struct compare_summary *a, const struct compare_summary *b)
{
	const struct compare_phase *x = &a->phases[0], *y = &b->phases[0];
	return are_other(a, x, b, y, similarity(x, y));
}
