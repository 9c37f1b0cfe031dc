/* SPDX-License-Identifier: Apache-2.0 */
/* job_diff.c - see job_diff.h. */
#include "compare/job_diff.h"

#include <stdlib.h>

#include "base/mem.h"
#include "compare/summary.h"

static int64_t mean_parts(const struct job_ranks *ranks, int64_t parts[RANK_PARTS])
{
	int64_t totals[RANK_PARTS] = {0}, n = 0, step = 0;
	for (uint32_t r = 0; r < ranks->n; r++) {
		n += ranks->rows[r].is_judged;
		for (unsigned p = 0; p < RANK_PARTS; p++)
			totals[p] += ranks->rows[r].parts[p];
	}
	if (n > 0)
		summary_share(totals, RANK_PARTS, n, parts);
	for (unsigned p = 0; p < RANK_PARTS; p++)
		step += parts[p];
	return step;
}

struct job_diff job_diff_make(const struct job_answer *before, const struct job_answer *after)
{
	const struct job_ranks *a = &before->ranks, *b = &after->ranks;
	struct job_diff diff = {.before = before, .after = after};
	diff.rows = hwy_array((size_t)a->n + b->n, sizeof *diff.rows);
	for (uint32_t i = 0, j = 0; i < a->n || j < b->n;) {
		bool has_a = i < a->n && (j == b->n || a->rows[i].rank <= b->rows[j].rank);
		bool has_b = j < b->n && (i == a->n || b->rows[j].rank <= a->rows[i].rank);
		diff.rows[diff.n++] = (struct job_diff_row){
			has_a ? a->rows[i].rank : b->rows[j].rank,
			has_a ? &a->rows[i] : NULL,
			has_b ? &b->rows[j] : NULL,
		};
		i += has_a;
		j += has_b;
	}
	diff.step_before = mean_parts(a, diff.parts_before);
	diff.step_after = mean_parts(b, diff.parts_after);
	return diff;
}

void job_diff_free(struct job_diff *diff)
{
	free(diff->rows);
	*diff = (struct job_diff){0};
}
