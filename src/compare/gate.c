/* SPDX-License-Identifier: Apache-2.0 */
/* gate.c - see gate.h. */
#include "compare/gate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/say.h"

const char *const gate_verdict_names[] = {HWY_KEY("pass"), HWY_KEY("cannot tell"), HWY_KEY("fail")};

static struct gate_check *gate_add(struct compare_gate *gate)
{
	HWY_GROW(gate->checks, gate->n, gate->cap);
	struct gate_check *check = &gate->checks[gate->n++];
	*check = (struct gate_check){.says = ""};
	return check;
}

static const char *gate_keep(struct compare_gate *gate, const char *text)
{
	return hwy_arena_text(&gate->arena, text, strlen(text));
}

static void close_check(struct compare_gate *gate, const struct gate_check *check)
{
	gate->failed |=
		check->verdict == GATE_FAIL || (gate->strict && check->verdict == GATE_CANNOT_TELL);
}

static bool side_values(const struct compare_side *side, const struct metric_request *request,
			double *values, double *mean, struct hwy_err *err)
{
	*mean = 0;
	for (uint32_t i = 0; i < side->n; i++) {
		if (!metric_value(request, side->runs[i], side->phases[i], &values[i], err))
			return false;
		*mean += values[i] / side->n;
	}
	return true;
}

/* ---- a budget -------------------------------------------------------------------------------- */

static bool holds(enum budget_operator op, double value, double limit)
{
	/* Decimal limits such as 0.9 have no exact binary form. */
	double slack = 1e-9 * fmax(fabs(limit), 1e-6);
	switch (op) {
	case OP_LE: return value <= limit + slack;
	case OP_GE: return value >= limit - slack;
	case OP_LT: return value < limit;
	case OP_GT: return value > limit;
	case OP_EQ: return fabs(value - limit) <= slack;
	case OP_NE: return fabs(value - limit) > slack;
	}
	return false;
}

static void check_forbidden(struct compare_gate *gate, const struct budget_rule *rule,
			    const struct compare_side *side)
{
	struct gate_check *check = gate_add(gate);
	const struct compare_phase *phase = side_phase(side);
	check->name = hwy_arena_say(&gate->arena, "no %s", rule->forbids);
	check->metric = gate_keep(gate, rule->forbids);
	check->value = hwy_tr("not found");
	check->limit = hwy_tr("forbidden");
	check->is_stable = true;
	for (uint32_t i = 0; i < phase->n_findings; i++) {
		const struct compare_finding *finding = &phase->findings[i];
		if (strcmp(finding->id, rule->forbids) != 0)
			continue;
		check->verdict = GATE_FAIL;
		check->number = (double)finding->cost;
		check->value =
			hwy_arena_say(&gate->arena, "costs %s", hwy_say_time3(finding->cost).text);
		check->says = *finding->place
				      ? hwy_arena_say(&gate->arena, "%s, at %s",
						      hwy_tr(finding->title), finding->place)
				      : hwy_tr(finding->title);
	}
	close_check(gate, check);
}

static bool check_rule(struct compare_gate *gate, const struct budget_rule *rule,
		       const struct compare_side *side, struct hwy_err *err)
{
	double *values = hwy_arena_array(&gate->arena, side->n, sizeof *values), mean;
	if (!side_values(side, &rule->request, values, &mean, err))
		return false;
	struct gate_check *check = gate_add(gate);
	enum metric_kind kind = rule->request.metric->kind;
	const char *op = budget_operators[rule->compares];
	check->metric = gate_keep(gate, rule->request.text);
	check->limit =
		hwy_arena_format(&gate->arena, "%s %s", op, metric_text(kind, rule->limit).text);
	check->name = hwy_arena_format(&gate->arena, "%s %s", rule->request.text, check->limit);
	check->value = gate_keep(gate, metric_text(kind, mean).text);
	check->number = mean;
	check->limit_number = rule->limit;
	check->is_stable = rule->request.metric->is_stable;
	check->verdict = holds(rule->compares, mean, rule->limit) ? GATE_PASS : GATE_FAIL;
	close_check(gate, check);
	return true;
}

bool gate_budget(struct compare_gate *gate, const struct compare_budget *budget,
		 struct compare_side *side, struct hwy_err *err)
{
	diff_prepare_side(side, &side->runs[0]->phases[0], &gate->arena);
	for (uint32_t i = 0; i < side->n; i++)
		if (!side->phases[i]->repeats)
			return hwy_fail(err,
					"%s: no steps: nothing repeats, so no rule of a step holds",
					side->runs[i]->file);
	for (uint32_t i = 0; i < budget->n; i++)
		if (budget->rules[i].forbids)
			check_forbidden(gate, &budget->rules[i], side);
		else if (!check_rule(gate, &budget->rules[i], side, err))
			return false;
	return true;
}

/* ---- a baseline ------------------------------------------------------------------------------ */

/* Whether the runs of one side all lie beyond those of the other. */
static bool are_separate(const double *before, uint32_t n_before, const double *after,
			 uint32_t n_after)
{
	double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
	for (uint32_t i = 0; i < n_before + n_after; i++) {
		bool late = i >= n_before;
		double value = late ? after[i - n_before] : before[i];
		low[late] = fmin(low[late], value);
		high[late] = fmax(high[late], value);
	}
	return high[0] < low[1] || high[1] < low[0];
}

/* Whether the change of a metric is more than chance explains, where there are too few runs to
 * ask them. The doubt about the step stands in for that about the metric (for the median step that
 * about the middle half of the steps); a share may hold all of the step's doubt, or none of it. */
static bool is_sure_of_few(const struct difference *step, const struct metric_request *request,
			   double a, double b)
{
	bool median = strcmp(request->metric->name, "step.p50") == 0;
	switch (request->metric->kind) {
	case METRIC_COUNT:
	case METRIC_BYTES: return true;
	case METRIC_SHARE: return fabs(b - a) > step->doubt * fmax(fmax(a, b), 1 - fmin(a, b));
	case METRIC_TIME: break;
	}
	return fabs(log(fmax(b, 1) / fmax(a, 1))) > (median ? step->middle.doubt : step->doubt);
}

/* The change of one metric, and whether it is real. The mean step has its own statistics; with
 * enough runs the runs decide; counts and bytes are exact. Where the step became slower, so did
 * its median: diff and gate do not contradict each other. */
static struct difference compare_values(const struct compare_diff *diff,
					const struct metric_request *request, const double *before,
					const double *after, double a, double b)
{
	const struct difference *step = &diff->step;
	uint32_t n = diff->before->n, m = diff->after->n;
	bool is_time = request->metric->kind == METRIC_TIME;
	bool exact = request->metric->kind == METRIC_COUNT || request->metric->kind == METRIC_BYTES;
	struct difference d = {.before = a, .after = b, .change = b - a, .doubt = step->doubt};
	if (!request->kernel && strcmp(request->metric->name, "step.mean") == 0) {
		d = *step;
		d.is_sure |= d.by_middle && d.verdict == VERDICT_SLOWER;
	} else if (n >= STATISTICS_RUNS && m >= STATISTICS_RUNS) {
		d = statistics_runs(before, n, after, m, 1, is_time);
		d.is_sure |= exact && are_separate(before, n, after, m);
	} else {
		d.is_sure = is_sure_of_few(step, request, a, b);
	}
	d.is_sure |=
		strcmp(request->metric->name, "step.p50") == 0 && step->verdict == VERDICT_SLOWER;
	return d;
}

/* Two steps of a noisy run that are taken for one move a count a step: 1 → 1.035 in recordings
 * of one program. */
static const double least_count = 0.05;

/* A regression of no more than this, in the metric's unit, is a trifle, however sure it is. Kernels
 * are compared with their own time, not with the step. */
static double trifle_of(const struct compare_diff *diff, const struct metric_request *request)
{
	if (request->metric->kind == METRIC_SHARE)
		return STATISTICS_LEAST_SHARE;
	if (request->metric->kind == METRIC_COUNT)
		return least_count;
	return request->metric->kind == METRIC_TIME && !request->kernel
		       ? STATISTICS_LEAST_SHARE * diff->step.before
		       : 0;
}

/* The first run of a side whose step cannot be told, as records of the device are missing; NULL:
 * none. What is lost by a recorder moves steps and their parts. */
static const char *untold_run(const struct compare_side *side)
{
	for (uint32_t i = 0; i < side->n; i++) {
		const int64_t *parts = side->phases[i]->parts;
		if (summary_verdict(side->phases[i]) == VERDICT_CANNOT_TELL &&
		    parts[PART_IDLE + GAP_MISSING] > parts[PART_IDLE + GAP_UNKNOWN])
			return side->runs[i]->file;
	}
	return NULL;
}

/* The run because of which a metric says nothing; NULL: none. Missing records make no count larger
 * than it is: after a change only times and shares are in doubt. */
static const char *who_cannot_tell(const struct compare_diff *diff,
				   const struct metric_request *request)
{
	bool is_count =
		request->metric->kind == METRIC_COUNT || request->metric->kind == METRIC_BYTES;
	const char *before = untold_run(diff->before);
	if (strcmp(request->metric->name, "idle.missing") == 0)
		return NULL;
	return before || is_count ? before : untold_run(diff->after);
}

/* Names the wait that a change added beside the count of waits that rose. */
static void name_wait(struct compare_gate *gate, struct gate_check *check)
{
	if (strcmp(check->metric, "syncs_per_step") != 0 || check->number <= 0 ||
	    check->verdict == GATE_PASS || *check->says)
		return;
	check->says = gate->diff->new_wait;
}

/* A regression of a run whose step cannot be told is none that was seen. */
static void doubt_untold(struct compare_gate *gate, struct gate_check *check, const char *untold)
{
	if (!untold || check->verdict == GATE_PASS)
		return;
	check->verdict = GATE_CANNOT_TELL;
	check->says = hwy_arena_say(
		&gate->arena,
		"records of the device are missing in %s, so that its step cannot be told; record it again",
		untold);
}

static void gate_judge(struct gate_check *check, const struct difference *d, bool more_is_better,
		       double trifle, double limit)
{
	double sign = more_is_better ? -1 : 1;
	double worse = sign * d->change;
	double share = d->before > 0 ? worse / d->before : worse > 0 ? INFINITY : 0;
	bool real = worse > 0 && d->is_sure;
	check->number = share;
	if (worse > trifle && share > limit)
		check->verdict = real ? GATE_FAIL : GATE_CANNOT_TELL;
	else if (!d->is_sure && !isfinite(d->doubt))
		check->verdict = GATE_CANNOT_TELL;
	if (check->verdict == GATE_CANNOT_TELL)
		check->says = hwy_tr(
			"above the limit, but not more than noise can do; more runs would tell");
	if (worse > trifle && check->verdict == GATE_PASS && real)
		check->says = hwy_tr("worse, within the limit");
}

bool gate_baseline(struct compare_gate *gate, struct compare_diff *diff,
		   const struct metric_request *requests, uint32_t n, double limit,
		   struct hwy_err *err)
{
	double *before = hwy_arena_array(&gate->arena, diff->before->n, sizeof *before);
	double *after = hwy_arena_array(&gate->arena, diff->after->n, sizeof *after);
	gate->diff = diff;
	for (uint32_t i = 0; i < n; i++) {
		const struct metric *metric = requests[i].metric;
		double a, b;
		if (!side_values(diff->before, &requests[i], before, &a, err) ||
		    !side_values(diff->after, &requests[i], after, &b, err))
			return false;
		struct difference d = compare_values(diff, &requests[i], before, after, a, b);
		struct gate_check *check = gate_add(gate);
		check->name = check->metric = gate_keep(gate, requests[i].text);
		check->value =
			hwy_arena_format(&gate->arena, "%s → %s", metric_text(metric->kind, a).text,
					 metric_text(metric->kind, b).text);
		if (a > 0)
			check->value =
				hwy_arena_format(&gate->arena, "%s (%s%.1f %%)", check->value,
						 b < a ? "−" : "+", 100 * fabs(b - a) / a);
		check->limit = hwy_arena_say(
			&gate->arena, metric->more_is_better ? "%s %% less" : "%s %% more",
			hwy_arena_format(&gate->arena, limit < 9.995 ? "%.3g" : "%.0f",
					 100 * limit));
		check->limit_number = limit;
		check->is_stable = metric->is_stable;
		gate_judge(check, &d, metric->more_is_better, trifle_of(diff, &requests[i]), limit);
		doubt_untold(gate, check, who_cannot_tell(diff, &requests[i]));
		name_wait(gate, check);
		close_check(gate, check);
	}
	gate->n_compared = gate->n;
	return true;
}

bool gate_is_explained(const struct compare_gate *gate)
{
	if (!gate->diff || gate->diff->step.verdict < VERDICT_FASTER)
		return false;
	bool slower = gate->diff->step.verdict == VERDICT_SLOWER;
	for (uint32_t i = 0; i < gate->n_compared; i++)
		if (strncmp(gate->checks[i].metric, "step.", 5) == 0 &&
		    (slower ? gate->checks[i].number < 0 : gate->checks[i].number > 0))
			return false;
	return true;
}

void gate_free(struct compare_gate *gate)
{
	free(gate->checks);
	hwy_arena_free(&gate->arena);
}
