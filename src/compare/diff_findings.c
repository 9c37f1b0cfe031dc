/* SPDX-License-Identifier: Apache-2.0 */
/* diff_findings.c - findings that are gone, new or changed, and how good the predictions of the
 * gone ones were.
 *
 * A prediction is graded when its finding is gone: somebody applied the fix, or another fix that
 * helped too. Where several findings are gone, only the costliest is graded; where the program
 * became slower, none is: something else changed, and hides what the fix gave. Nor is any where it
 * cannot be told whether it became faster: the measured speedup is noise then. A prediction is
 * about the program without a profiler; so the measured speedup, of all runs of the sides, is taken
 * without the cost of recording where each run knows that. A speedup is as predicted where it lies
 * inside the prediction's bar and has the predicted direction: a bar may reach beyond 1.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "compare/diff.h"

const char *const diff_finding_change_names[] = {HWY_KEY("gone"), HWY_KEY("new"),
						 HWY_KEY("changed"), HWY_KEY("same")};
const char *const diff_grade_names[] = {HWY_KEY("none"),
					HWY_KEY("as predicted"),
					HWY_KEY("less than predicted"),
					HWY_KEY("more than predicted"),
					HWY_KEY("not told apart from the others"),
					HWY_KEY("not checked, as the program became slower"),
					HWY_KEY("within the noise, so not checked")};
_Static_assert(sizeof diff_grade_names / sizeof *diff_grade_names == GRADES, "a name each");

static const struct compare_finding *finding_with(const struct compare_phase *phase, const char *id)
{
	for (uint32_t i = 0; i < phase->n_findings; i++)
		if (strcmp(phase->findings[i].id, id) == 0)
			return &phase->findings[i];
	return NULL;
}

/* The mean step of a side without the cost of recording; 0 where a run does not know it. */
static double plain_of(const struct compare_side *side)
{
	double sum = 0;
	for (uint32_t i = 0; i < side->n; i++) {
		if (side->phases[i]->plain <= 0)
			return 0;
		sum += (double)side->phases[i]->plain / side->n;
	}
	return sum;
}

static void measure_speedup(const struct compare_diff *diff, struct diff_finding *finding)
{
	double a = plain_of(diff->before), b = plain_of(diff->after);
	double recorded = (double)diff->before->step / (double)diff->after->step;
	finding->measured = a > 0 && b > 0 ? a / b : recorded;
	finding->without_recorder = fabs(finding->measured - recorded) > 0.005 * recorded;
}

static void grade(const struct compare_diff *diff, struct diff_finding *finding)
{
	const struct compare_finding *before = finding->before;
	if (!before || !before->predicted.is_known)
		return;
	double start = (double)before->predicted.before;
	int64_t p10 = before->predicted.p10, p90 = before->predicted.p90;
	finding->predicted = start / (double)before->predicted.step;
	finding->low = start / (double)(p90 > 0 ? p90 : before->predicted.step);
	finding->high = start / (double)(p10 > 0 ? p10 : before->predicted.step);
	measure_speedup(diff, finding);
	if (finding->change != FINDING_GONE)
		return;
	if (diff->step.verdict == VERDICT_SLOWER || diff->step.verdict == VERDICT_UNKNOWN) {
		finding->grade = diff->step.verdict == VERDICT_SLOWER ? GRADE_SLOWER : GRADE_NOISE;
		return;
	}
	bool is_gain = finding->predicted > 1, has_gained = finding->measured > 1;
	if (finding->measured < finding->low || (is_gain && !has_gained))
		finding->grade = GRADE_LESS;
	else if (finding->measured > finding->high || (!is_gain && has_gained))
		finding->grade = GRADE_MORE;
	else
		finding->grade = GRADE_RIGHT;
}

static void add_finding(struct compare_diff *diff, const struct compare_finding *before,
			const struct compare_finding *after)
{
	struct diff_finding *finding = &diff->findings[diff->n_findings++];
	*finding = (struct diff_finding){.before = before, .after = after};
	if (before && after) {
		double a = (double)before->cost, b = (double)after->cost;
		bool moved = fabs(a - b) > 0.2 * fmax(a, b) &&
			     fabs(a - b) > HWY_WORTH_SHARE * (double)diff->before->step;
		finding->change = moved ? FINDING_CHANGED : FINDING_SAME;
	} else {
		finding->change = before ? FINDING_GONE : FINDING_NEW;
	}
	grade(diff, finding);
}

static int compare_findings(const void *a, const void *b)
{
	const struct diff_finding *x = a, *y = b;
	const struct compare_finding *p = diff_finding_either(x), *q = diff_finding_either(y);
	if (x->change != y->change)
		return x->change < y->change ? -1 : 1;
	if (p->cost != q->cost)
		return p->cost < q->cost ? 1 : -1;
	return strcmp(p->id, q->id);
}

void diff_findings(struct compare_diff *diff)
{
	const struct compare_phase *a = side_phase(diff->before), *b = side_phase(diff->after);
	diff->findings = hwy_arena_array(&diff->arena, a->n_findings + b->n_findings,
					 sizeof *diff->findings);
	for (uint32_t i = 0; i < a->n_findings; i++)
		add_finding(diff, &a->findings[i], finding_with(b, a->findings[i].id));
	for (uint32_t i = 0; i < b->n_findings; i++)
		if (!finding_with(a, b->findings[i].id))
			add_finding(diff, NULL, &b->findings[i]);
	if (diff->n_findings)
		qsort(diff->findings, diff->n_findings, sizeof *diff->findings, compare_findings);
	bool graded = false;
	for (uint32_t i = 0; i < diff->n_findings; i++) {
		struct diff_finding *one = &diff->findings[i];
		bool is_graded = one->grade == GRADE_LESS || one->grade == GRADE_RIGHT ||
				 one->grade == GRADE_MORE;
		if (is_graded && graded)
			one->grade = GRADE_SHARED;
		graded |= is_graded;
	}
}
