/* SPDX-License-Identifier: Apache-2.0 */
/* budget.h - the rules of a budget file (headway.toml): what a run is held to, whatever came
 * before.
 *
 * The file holds rules, one a line, written as they are said, and keys with strings or lists of
 * strings:
 *
 *   step.p50 <= 12ms
 *   kernel["flash_fwd"].mean <= 80us
 *   findings.forbid = ["sync-in-loop", "pageable-copy"]
 *   [gpu]
 *   busy >= 90%                       # gpu.busy
 *
 * A name in brackets stands before the names below it; [budget] and [headway] add nothing. step =
 * "NAME" names the marks of the steps. Lines that begin with '#' are comments. A file that other
 * tools read as TOML can say the same so: rules = ["step.p50 <= 12ms"], or step.p50 = "<= 12ms".
 */
#ifndef HWY_COMPARE_BUDGET_H
#define HWY_COMPARE_BUDGET_H

#include "compare/metrics.h"

enum budget_operator { OP_LE, OP_GE, OP_LT, OP_GT, OP_EQ, OP_NE };
extern const char *const budget_operators[]; /* the operators as text: "<=", … */

struct budget_rule {
	struct metric_request request; /* the metric; unused in a rule that forbids a finding */
	enum budget_operator compares;
	double limit;
	const char *forbids; /* the id of the finding that is forbidden, or NULL */
	unsigned line;
};

struct compare_budget {
	const char *step; /* name of the steps' marks, or NULL */
	struct budget_rule *rules;
	uint32_t n, cap;
	struct hwy_arena arena;
};

/* Reads rules from a text. On failure yields false, with one sentence in err: file, line and
 * reason. */
bool budget_read(struct compare_budget *budget, const char *file, const char *text, size_t length,
		 metric_nearest *nearest, struct hwy_err *err);
void budget_free(struct compare_budget *budget);

#endif
