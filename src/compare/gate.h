/* SPDX-License-Identifier: Apache-2.0 */
/* gate.h - whether a run may pass: against a budget, or against a baseline.
 *
 * Against a baseline a check fails only where a regression is statistically real, above the limit,
 * and larger than half a percent of a step; where it is above the limit and may be noise, the
 * verdict is "cannot tell", as it is where records of the device are missing, so that the step of
 * a run cannot be told. Against a budget the value itself is compared with the limit.
 */
#ifndef HWY_COMPARE_GATE_H
#define HWY_COMPARE_GATE_H

#include "compare/budget.h"
#include "compare/diff.h"

enum gate_verdict { GATE_PASS, GATE_CANNOT_TELL, GATE_FAIL };
/* the verdicts in words: "pass", "cannot tell", "fail" */
extern const char *const gate_verdict_names[];

struct gate_check {
	const char *name;          /* the rule: "step.p50 <= 12ms", or the metric */
	const char *metric;        /* the metric's name alone */
	const char *value, *limit; /* the measured value and the limit, as text for people */
	/* 'value' and 'limit' as numbers: ns, shares, counts or bytes. Against a baseline both
	 * numbers are the regression as a share. */
	double number, limit_number;
	enum gate_verdict verdict;
	bool is_stable;
	const char *says; /* one more sentence for people, or "" */
};

struct compare_gate {
	const char *subject;       /* the file that is checked */
	const char *against;       /* the file with the budget or the baseline */
	struct compare_diff *diff; /* NULL where the gate is a budget */
	struct gate_check *checks;
	uint32_t n, cap;
	uint32_t n_compared; /* the first so many checks are against a baseline */
	bool strict;
	bool failed; /* a check fails, or with 'strict' a check cannot tell */
	struct hwy_arena arena;
};

/* Checks every rule. False with one sentence where a value is missing: nothing repeats, or there is
 * no such kernel. */
bool gate_budget(struct compare_gate *gate, const struct compare_budget *budget,
		 struct compare_side *side, struct hwy_err *err);
/* Checks n metrics of a finished diff: each may be worse by at most 'limit', a share of the value
 * before. */
bool gate_baseline(struct compare_gate *gate, struct compare_diff *diff,
		   const struct metric_request *requests, uint32_t n, double limit,
		   struct hwy_err *err);
/* Whether the parts of the mean step explain what is checked: the mean became faster or slower,
 * and no checked time of a step went the other way. */
bool gate_is_explained(const struct compare_gate *gate);
void gate_free(struct compare_gate *gate);

#endif
