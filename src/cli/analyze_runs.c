/* SPDX-License-Identifier: Apache-2.0 */
/* analyze_runs.c - of several recordings that are not the ranks of one job, which one is shown, and
 * what is said of the others.
 *
 * A recording without device work has nothing to diagnose: it is shown only where there is no
 * other, and then the one with most spans. Of the rest the one whose step time is the median is
 * shown, and whether they are runs of one program is told by their commands and kernels.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/lang.h"
#include "base/memory_text.h"
#include "base/say.h"
#include "cli/analyze_print.h"
#include "compare/diff.h"

enum { NAMES = 3 };

/* By the time of a step; what has no device work, and no steps, comes last, and of that the one
 * with most spans first. */
static int compare_step_times(const void *left, const void *right)
{
	const struct analyze_run *x = left, *y = right;
	const struct hwy_phase *a = analyze_main(x), *b = analyze_main(y);
	if (!a && !b)
		return (x->trace->n_spans < y->trace->n_spans) -
		       (x->trace->n_spans > y->trace->n_spans);
	if (!a || !b)
		return (a == NULL) - (b == NULL);
	return (a->mean > b->mean) - (a->mean < b->mean);
}

static uint32_t count_worked(const struct analyze_view *view)
{
	uint32_t n = 0;
	while (n < view->n && analyze_main(&view->runs[n]))
		n++;
	return n;
}

static bool are_other_programs(struct analyze_run *one, struct analyze_run *two)
{
	struct compare_summary a, b;
	struct hwy_err ignored;
	bool made = summary_make(&a, one->path, &one->analysis, NULL, &ignored);
	bool are_other = summary_make(&b, two->path, &two->analysis, NULL, &ignored) && made &&
			 diff_are_other_programs(&a, &b);
	summary_free(&a);
	summary_free(&b);
	return are_other;
}

void analyze_choose_run(struct analyze_view *view)
{
	qsort(view->runs, view->n, sizeof *view->runs, compare_step_times);
	view->n_worked = count_worked(view);
	view->shown = view->n_worked ? (view->n_worked - 1) / 2 : 0;
	for (uint32_t i = 0; i < view->n_worked && !view->are_programs; i++)
		view->are_programs = i != view->shown &&
				     are_other_programs(&view->runs[view->shown], &view->runs[i]);
}

static void put_shown(FILE *out, const struct analyze_view *view)
{
	const char *path = view->runs[view->shown].path;
	if (view->n_worked == 0) {
		fprintf(out, hwy_tr("%" PRIu32 " recordings, all without device work; this is %s"),
			view->n, path);
	} else if (view->n_worked == 1) {
		fprintf(out,
			hwy_tr("%" PRIu32 " recordings; this is the only one with device work, %s"),
			view->n, path);
	} else if (view->are_programs) {
		fprintf(out,
			hwy_tr("%" PRIu32
			       " recordings of different programs: analyze each by itself; this is "
			       "one of them, %s"),
			view->n_worked, path);
	} else {
		const struct hwy_phase *low = analyze_main(&view->runs[0]);
		const struct hwy_phase *high = analyze_main(&view->runs[view->n_worked - 1]);
		fprintf(out,
			hwy_tr("%" PRIu32 " runs, %s to %s a step; this is the middle one, %s"),
			view->n_worked, hwy_say_time3(low->mean).text,
			hwy_say_time3(high->mean).text, path);
	}
}

static void put_left_out(FILE *out, const struct analyze_view *view)
{
	uint32_t n = view->n - view->n_worked;
	fprintf(out, hwy_tr("left out, without device work: "));
	for (uint32_t i = 0; i < n && i < NAMES; i++)
		fprintf(out, "%s%s", i ? hwy_tr(", ") : "", view->runs[view->n_worked + i].path);
	if (n > NAMES)
		fprintf(out, hwy_tr(", and %llu more"), (unsigned long long)(n - NAMES));
}

static void put_runs_line(FILE *out, const struct analyze_view *view,
			  void (*put)(FILE *, const struct analyze_view *), int indent, int width)
{
	struct memory_text memory;
	put(memory_text_begin(&memory), view);
	char *text = memory_text_end(&memory);
	fprintf(out, "%*s", indent, "");
	cli_wrap(out, text, indent, width);
	free(text);
}

void analyze_put_runs(FILE *out, const struct analyze_view *view, int indent, int width)
{
	if (view->n < 2 || view->are_ranks)
		return;
	put_runs_line(out, view, put_shown, indent, width);
	if (view->n_worked > 0 && view->n_worked < view->n)
		put_runs_line(out, view, put_left_out, indent, width);
}
