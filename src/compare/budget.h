/* budget.h - the rules of a budget file (headway.toml): what a run is held to, whatever came before.
 *
 * A small part of TOML: tables, keys, strings, arrays of strings, comments; and rules written as they are said:
 *
 *   step.p50 <= 12ms
 *   kernel["flash_fwd"].mean <= 80us
 *   findings.forbid = ["sync-in-loop", "pageable-copy"]
 *   [gpu]
 *   busy >= 90%                       # gpu.busy
 *
 * Where a file has to stay plain TOML: rules = ["step.p50 <= 12ms"], or step.p50 = "<= 12ms". A table's name
 * stands before its keys; [budget] and [headway] add nothing. step = "NAME" names the marks of the steps.
 */
#ifndef HWY_COMPARE_BUDGET_H
#define HWY_COMPARE_BUDGET_H

#include "compare/metrics.h"

enum budget_operator { OP_LE, OP_GE, OP_LT, OP_GT, OP_EQ, OP_NE };
extern const char *const budget_operators[]; /* "<=", … */

struct budget_rule {
	struct metric_wish wish; /* unused where it forbids */
	enum budget_operator compares;
	double limit;
	const char *forbids; /* id of a finding, or NULL */
	unsigned line;
};

struct compare_budget {
	const char *step; /* NULL: not said */
	struct budget_rule *rules;
	uint32_t n, cap;
	struct hwy_arena arena;
};

/* False with one sentence: file, line and reason. */
bool budget_read(struct compare_budget *budget, const char *file, const char *text, size_t length,
		 metric_nearest *nearest, struct hwy_err *err);
void budget_free(struct compare_budget *budget);

#endif
