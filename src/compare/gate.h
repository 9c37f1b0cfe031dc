/* gate.h - whether a run may pass: against a budget, or against a baseline.
 *
 * Against a baseline a check fails only where a regression is statistically real, above the limit and no trifle
 * (half a percent of a step); one that is above the limit and may be noise is not told. Against a budget the value itself is held to the limit.
 */
#ifndef HWY_COMPARE_GATE_H
#define HWY_COMPARE_GATE_H

#include "compare/budget.h"
#include "compare/diff.h"

enum gate_verdict { GATE_PASS, GATE_CANNOT_TELL, GATE_FAIL };
extern const char *const gate_verdict_names[]; /* "pass", "cannot tell", "fail" */

struct gate_check {
	const char *name;          /* the rule: "step.p50 <= 12ms", or the metric */
	const char *metric;        /* its name alone */
	const char *value, *limit; /* texts */
	double number,
		limit_number; /* the same: ns, shares, counts, bytes; against a baseline both are the
				      * regression as a share */
	enum gate_verdict verdict;
	bool is_stable;
	const char *says; /* what else there is to say; "" */
};

struct compare_gate {
	const char *subject;       /* the file */
	const char *against;       /* the budget's or the baseline's */
	struct compare_diff *diff; /* against a baseline; else NULL */
	struct gate_check *checks;
	uint32_t n, cap;
	bool strict;
	bool failed; /* a check fails, or cannot be told and 'strict' */
	struct hwy_arena arena;
};

/* False with one sentence where a value is missing: nothing repeats, or no such kernel. */
bool gate_budget(struct compare_gate *gate, const struct compare_budget *budget,
		 struct compare_side *side, struct hwy_err *err);
/* 'diff' is made; at most 'limit' worse, as a share of the value before. */
bool gate_baseline(struct compare_gate *gate, struct compare_diff *diff,
		   const struct metric_wish *wishes, uint32_t n, double limit, struct hwy_err *err);
void gate_free(struct compare_gate *gate);

#endif
