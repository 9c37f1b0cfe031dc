/* SPDX-License-Identifier: Apache-2.0 */
/* diff_tables.c - kernels, calls and ranges that were added or removed, or changed their time or
 * their number.
 *
 * Rows of both sides with one folded name are the same. Kernels left over are matched by their
 * place in the step: a kernel with as many launches at the same place, or with a sibling's name, is
 * the old one renamed or re-tiled. The time of a launch has changed where the change exceeds what
 * the spread of the launches and the noise from run to run can explain; with enough runs Welch's
 * t-test decides, at a level for all rows together.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/ref.h"
#include "compare/diff.h"
#include "compare/kernel_names.h"

const char *const diff_row_change_names[] = {
	HWY_KEY("same"),    HWY_KEY("slower"), HWY_KEY("faster"), HWY_KEY("added"),
	HWY_KEY("removed"), HWY_KEY("more"),   HWY_KEY("fewer")};

const struct compare_row *diff_row(const struct compare_table *table, const char *name)
{
	for (uint32_t i = 0; i < table->n; i++)
		if (strcmp(table->rows[i].name, name) == 0)
			return &table->rows[i];
	return NULL;
}

/* A row's means over the runs of a side; a run without the row counts as 0 launches. */
struct seen {
	double ns, count; /* ns of a step in this row, and launches in a step */
	double mean;      /* mean ns of one launch over all runs */
	double error;     /* squared standard error of 'mean', from the spread within the runs */
	double means[64]; /* mean ns of one launch in each run */
	uint32_t n;
};

static struct seen mean_of_side(const struct compare_side *side, enum compare_table_kind kind,
				const char *name)
{
	struct seen seen = {0};
	for (uint32_t i = 0; name && i < side->n; i++) {
		const struct compare_phase *phase = side->phases[i];
		const struct compare_row *row = diff_row(&phase->tables[kind], name);
		if (!row)
			continue;
		double mean = (double)row->ns / (double)row->count;
		seen.ns += (double)row->ns / phase->n_steady / side->n;
		seen.count += (double)row->count / phase->n_steady / side->n;
		seen.mean += mean;
		seen.error += row->deviation * row->deviation / (double)row->count;
		if (seen.n < 64)
			seen.means[seen.n++] = mean;
	}
	if (seen.n) {
		seen.mean /= seen.n;
		seen.error /= (double)seen.n * seen.n;
	}
	return seen;
}

static enum row_change judge_row(const struct seen *before, const struct seen *after,
				 double run_noise, uint32_t rows)
{
	double change = after->mean - before->mean;
	bool sure;
	if (fabs(after->count - before->count) > 0.01 * before->count + 0.01)
		return after->count > before->count ? ROW_MORE : ROW_FEWER;
	if (before->n >= STATISTICS_RUNS && after->n >= STATISTICS_RUNS) {
		sure = statistics_runs(before->means, before->n, after->means, after->n, rows, true)
			       .is_sure;
	} else {
		double a = fmax(before->mean, 1), b = fmax(after->mean, 1);
		double noise = log1p(run_noise) * sqrt(1.0 / before->n + 1.0 / after->n);
		double error = sqrt(before->error / a / a + after->error / b / b);
		sure = fabs(log(b / a)) > 1.96 * error + noise;
	}
	/* A change by a tick or two of the clock means nothing for a short kernel. */
	if (!sure || fabs(change) < 0.01 * before->mean || fabs(change) < 50)
		return ROW_SAME;
	return change > 0 ? ROW_SLOWER : ROW_FASTER;
}

/* The longest span of a row in the middle run of a side; HWY_NONE where it is not known. */
static int64_t span_of_side(const struct compare_side *side, enum compare_table_kind kind,
			    const char *name)
{
	const struct compare_row *row =
		name ? diff_row(&side_phase(side)->tables[kind], name) : NULL;
	return row && hwy_ref32_is_set(row->span) ? (int64_t)hwy_ref32_index(row->span) : HWY_NONE;
}

static void add_row(struct compare_diff *diff, enum compare_table_kind kind, const char *before,
		    const char *after, double run_noise)
{
	struct seen a = mean_of_side(diff->before, kind, before),
		    b = mean_of_side(diff->after, kind, after);
	struct diff_table *table = &diff->tables[kind];
	struct diff_row *row = &table->rows[table->n];
	*row = (struct diff_row){
		.before = before,
		.after = after,
		.is_renamed = before && after && strcmp(before, after) != 0,
		.ns_before = (int64_t)a.ns,
		.ns_after = (int64_t)b.ns,
		.count_before = a.count,
		.count_after = b.count,
		.mean_before = a.mean,
		.mean_after = b.mean,
		.span_before = span_of_side(diff->before, kind, before),
		.span_after = span_of_side(diff->after, kind, after),
	};
	uint32_t rows = side_phase(diff->before)->tables[kind].n;
	row->change = !before  ? ROW_ADDED
		      : !after ? ROW_REMOVED
			       : judge_row(&a, &b, run_noise, rows);
	if (row->change != ROW_SAME || row->is_renamed)
		table->n++;
}

/* The index of the unmatched kernel of the other side that stands where 'row' stood; UINT32_MAX
 * where there is none. */
static uint32_t find_renamed(const struct compare_row *row, const struct compare_phase *phase,
			     double launches, const bool *matched)
{
	const struct compare_table *table = &phase->tables[TABLE_KERNELS];
	uint32_t best = UINT32_MAX;
	double nearest = 0.25;
	for (uint32_t i = 0; i < table->n; i++) {
		const struct compare_row *one = &table->rows[i];
		double count = (double)one->count / phase->n_steady;
		bool sibling = kernel_name_is_sibling(row->name, one->name);
		double distance = fabs(one->place - row->place);
		if (matched[i] || (!sibling && fabs(count - launches) > 0.01 * launches))
			continue;
		if (!sibling && distance > 0.1)
			continue;
		distance -= sibling ? 0.1 : 0;
		if (distance < nearest) {
			nearest = distance;
			best = i;
		}
	}
	return best;
}

/* Whether a row may be missing only because the table was cut to its largest rows, or because
 * kernels inside graphs were not recorded. */
static bool may_be_cut(const struct compare_phase *phase, enum compare_table_kind kind,
		       double ns_a_step)
{
	const struct compare_table *table = &phase->tables[kind];
	if (kind == TABLE_KERNELS && phase->counts[COUNT_HIDDEN] > 0)
		return true;
	return table->left_out > 0 && table->n > 0 &&
	       ns_a_step <= (double)table->rows[table->n - 1].ns / phase->n_steady;
}

static int compare_changes(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;
	int64_t p = llabs(x->ns_after - x->ns_before), q = llabs(y->ns_after - y->ns_before);
	if (p != q)
		return p < q ? 1 : -1;
	return strcmp(diff_row_name(x), diff_row_name(y));
}

void diff_table(struct compare_diff *diff, enum compare_table_kind kind, double run_noise)
{
	const struct compare_phase *a = side_phase(diff->before), *b = side_phase(diff->after);
	const struct compare_table *x = &a->tables[kind], *y = &b->tables[kind];
	struct diff_table *table = &diff->tables[kind];
	bool *matched = hwy_zarray(y->n, sizeof *matched);
	table->rows = hwy_arena_array(&diff->arena, x->n + y->n, sizeof *table->rows);
	for (uint32_t i = 0; i < y->n; i++)
		matched[i] = diff_row(x, y->rows[i].name) != NULL;
	for (uint32_t i = 0; i < x->n; i++) {
		const struct compare_row *row = &x->rows[i];
		double launches = (double)row->count / a->n_steady;
		bool same = diff_row(y, row->name) != NULL;
		uint32_t other = same || kind != TABLE_KERNELS
					 ? UINT32_MAX
					 : find_renamed(row, b, launches, matched);
		if (same) {
			add_row(diff, kind, row->name, row->name, run_noise);
		} else if (other != UINT32_MAX) {
			matched[other] = true;
			add_row(diff, kind, row->name, y->rows[other].name, run_noise);
		} else if (!may_be_cut(b, kind, (double)row->ns / a->n_steady)) {
			add_row(diff, kind, row->name, NULL, run_noise);
		}
	}
	for (uint32_t i = 0; i < y->n; i++)
		if (!matched[i] && !may_be_cut(a, kind, (double)y->rows[i].ns / b->n_steady))
			add_row(diff, kind, NULL, y->rows[i].name, run_noise);
	free(matched);
	if (table->n)
		qsort(table->rows, table->n, sizeof *table->rows, compare_changes);
}
