/* SPDX-License-Identifier: Apache-2.0 */
/* diff_text.c - a comparison on one screen: what makes the sides hard to compare, the verdict
 * and its cause, the parts of a step, counts, findings with their predictions, kernels, the
 * critical path. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/say.h"
#include "cli/compare_print.h"
#include "cli/kit/cli.h"
#include "cli/kit/paint.h"
#include "cli/kit/table.h"
#include "whatif/path.h"

enum { MOST_PARTS = 6, MOST_ROWS = 6, MOST_FINDINGS = 6, NAME_WIDTH = 46 };

static void diff_text_put(FILE *out, const char *text)
{
	cli_put(out, text, strlen(text));
}

/* Writes a kernel's name without namespaces, which leaves room for the parts in which kernels
 * differ. */
static void put_kernel(FILE *out, const char *name)
{
	char text[256];
	size_t n = 0,
	       word = 0; /* 'word' is the offset in the text at which the current word began */
	for (; *name && n + 1 < sizeof text; name++) {
		if (name[0] == ':' && name[1] == ':') {
			n = word;
			name++;
			continue;
		}
		text[n++] = *name;
		if (*name == '<')
			word = n;
	}
	text[n] = '\0';
	compare_put_cut(out, text, NAME_WIDTH + 10);
}

static void diff_text_print_head(FILE *out, const struct compare_diff *diff, bool colour)
{
	const struct compare_summary *run = side_run(diff->after);
	fputc(' ', out);
	diff_text_put(out, *run->program ? run->program : hwy_tr("two recordings"));
	fputs(" · ", out);
	diff_text_put(out, compare_about(diff).text);
	fputc('\n', out);
	compare_put_notes(out, diff);
	if (diff_is_other_program(diff))
		fprintf(out,
			hwy_tr(" %s!%s  these look like different programs: %.0f %% of their kernels are alike\n"),
			paint(colour, PAINT_RED), paint(colour, PAINT_PLAIN),
			100 * diff->similarity);
}

static void print_verdict(FILE *out, const struct compare_diff *diff, bool colour)
{
	const struct difference *step = &diff->step;
	const char *word = step->verdict == VERDICT_SAME ? hwy_tr("the same")
							 : compare_verdict_word(step->verdict);
	const char *verdict_paint = step->verdict == VERDICT_FASTER   ? paint(colour, PAINT_GREEN)
				    : step->verdict == VERDICT_SLOWER ? paint(colour, PAINT_RED)
								      : "";
	fprintf(out, "\n   %s%s", paint(colour, PAINT_BOLD), verdict_paint);
	cli_put_column(out, word, 6);
	fputs(paint(colour, PAINT_PLAIN), out);
	fprintf(out, hwy_tr("    %s → %s a step"), hwy_say_time3_signed(diff->before->step).text,
		hwy_say_time3_signed(diff->after->step).text);
	fprintf(out, "    %s", hwy_say_share_change(step->change / step->before).text);
	if (isfinite(step->low))
		fprintf(out, " (%s … %s)", hwy_say_share_change(step->low / step->before).text,
			hwy_say_share_change(step->high / step->before).text);
	double speedup = step->before / step->after;
	if (step->verdict >= VERDICT_FASTER && speedup >= 1)
		fprintf(out, "    %.2f×", speedup);
	fputc('\n', out);
	if (step->verdict >= VERDICT_FASTER) {
		fputs(hwy_tr("   cause     "), out);
		compare_put_cause(out, diff);
		fputc('\n', out);
	}
	fputs(hwy_tr("   verdict   "), out);
	compare_put_verdicts(out, diff);
	fputc('\n', out);
	struct compare_sentence why = compare_why(diff);
	if (*why.text)
		fprintf(out, "   %s\n", why.text);
	struct compare_sentence long_steps = compare_long_steps(diff);
	if (*long_steps.text)
		fprintf(out, "   %s\n", long_steps.text);
	fprintf(out, "   %s", paint(colour, PAINT_FAINT));
	if (strcmp(step->method, "identical") == 0)
		fputs(hwy_tr("the same steps to the nanosecond"), out);
	else if (strcmp(step->method, "welch") == 0)
		fputs(hwy_tr("95 % interval by Welch's t over the runs"), out);
	else
		fputs(hwy_tr("95 % interval by a block bootstrap over the steps"), out);
	if (step->run_noise > 0)
		fprintf(out, hwy_tr(", and %.3g %% of noise assumed from run to run; %s"),
			step->run_noise < 0.1 ? round(1000 * step->run_noise) / 10
					      : round(100 * step->run_noise),
			compare_less_sure(diff));
	fprintf(out, "%s\n", paint(colour, PAINT_PLAIN));
}

static void add_split_row(struct table *table, const char *part, int64_t before, int64_t after,
			  double step_before)
{
	int64_t change = after - before;
	table_row(table, (const char *[]){part, hwy_say_time3_signed(before).text,
					  hwy_say_time3_signed(after).text,
					  hwy_say_time3_change(change).text,
					  hwy_say_share_change((double)change / step_before).text});
}

static void print_split(FILE *out, const struct compare_diff *diff)
{
	struct table table = {.columns = 5, .heads = 1, .colour = cli_colour(out), .indent = "   "};
	table_row(&table, (const char *[]){hwy_tr("a step of the GPU"), hwy_tr("before"),
					   hwy_tr("after"), hwy_tr("change"), hwy_tr("of step")});
	int64_t rest_before = diff->before->step, rest_after = diff->after->step;
	for (unsigned i = 0; i < MOST_PARTS; i++) {
		unsigned part = diff->order[i];
		int64_t before = diff->before->parts[part], after = diff->after->parts[part];
		if (before == 0 && after == 0)
			break;
		add_split_row(&table, summary_part_name(part), before, after, diff->step.before);
		rest_before -= before;
		rest_after -= after;
	}
	if (rest_before || rest_after)
		add_split_row(&table, hwy_tr("the rest"), rest_before, rest_after,
			      diff->step.before);
	add_split_row(&table, hwy_tr("together, exactly"), diff->before->step, diff->after->step,
		      diff->step.before);
	fputc('\n', out);
	table_print(&table, out);
}

static void diff_text_print_counts(FILE *out, const struct compare_diff *diff)
{
	unsigned printed = 0;
	for (unsigned i = 0; i < COUNTS; i++) {
		struct compare_count_text text;
		if (!compare_count_text(&diff->counts[i], &text) ||
		    strcmp(text.before.text, text.after.text) == 0)
			continue;
		fprintf(out, "%s%s %s → %s",
			printed == 0       ? hwy_tr("\n   beside    ")
			: printed % 4 == 0 ? "\n             "
					   : " · ",
			text.label, text.before.text, text.after.text);
		printed++;
	}
	if (printed)
		fputc('\n', out);
	if (*diff->new_wait) {
		fputs(printed ? "             " : "\n   ", out);
		cli_put(out, diff->new_wait, strlen(diff->new_wait));
		fputc('\n', out);
	}
}

static void print_findings(FILE *out, const struct compare_diff *diff, bool colour)
{
	uint32_t printed = 0;
	for (uint32_t i = 0; i < diff->n_findings && printed < MOST_FINDINGS; i++) {
		const struct diff_finding *finding = &diff->findings[i];
		const struct compare_finding *one = diff_finding_either(finding);
		char text[160];
		if (finding->change == FINDING_SAME)
			continue;
		fputs(printed == 0 ? "\n   " : "   ", out);
		cli_put_column(out, hwy_tr(diff_finding_change_names[finding->change]), 9);
		fprintf(out, " %s%s%s",
			finding->change == FINDING_GONE  ? paint(colour, PAINT_GREEN)
			: finding->change == FINDING_NEW ? paint(colour, PAINT_RED)
							 : "",
			one->id, paint(colour, PAINT_PLAIN));
		if (finding->before && finding->after)
			fprintf(out, hwy_tr("  cost %s → %s"),
				hwy_say_time3_signed(finding->before->cost).text,
				hwy_say_time3_signed(finding->after->cost).text);
		else
			fprintf(out, hwy_tr("  cost %s"), hwy_say_time3_signed(one->cost).text);
		if (*one->place) {
			fputs("  ", out);
			compare_put_cut(out, one->place, 40);
		}
		fputc('\n', out);
		compare_prediction(finding, text, sizeof text);
		if (*text && finding->change == FINDING_GONE)
			fprintf(out, "             %s\n", text);
		printed++;
	}
}

static void print_row(FILE *out, const struct diff_row *row, bool is_kernel)
{
	const char *what = row->is_renamed && row->change == ROW_SAME
				   ? HWY_KEY("renamed")
				   : diff_row_change_names[row->change];
	fputs("   ", out);
	cli_put_column(out, hwy_tr(what), 9);
	fputc(' ', out);
	/* What the word tells stands first: more or fewer times may take less or more time. */
	if (row->change == ROW_MORE || row->change == ROW_FEWER)
		fprintf(out, hwy_tr(is_kernel ? "%s → %s launches, " : "%s → %s times, "),
			hwy_say_count_2decimals(row->count_before).text,
			hwy_say_count_2decimals(row->count_after).text);
	if (row->before && row->after)
		fprintf(out, hwy_tr("%s → %s a step"), hwy_say_time3_signed(row->ns_before).text,
			hwy_say_time3_signed(row->ns_after).text);
	else
		fprintf(out, hwy_tr("%s a step"),
			hwy_say_time3_signed(row->before ? row->ns_before : row->ns_after).text);
	fputs("  ", out);
	put_kernel(out, diff_row_name(row));
	if (row->is_renamed && row->after) {
		fputs(" → ", out);
		put_kernel(out, row->after);
	}
	fputc('\n', out);
}

/* Prints the kernels that changed; modules, calls and ranges only where they changed by 1 % of
 * the step. */
static void print_tables(FILE *out, const struct compare_diff *diff)
{
	static const uint32_t most[TABLES] = {MOST_ROWS, MOST_ROWS / 2, MOST_ROWS / 2, MOST_ROWS};
	static const enum compare_table_kind order[TABLES] = {TABLE_MODULES, TABLE_KERNELS,
							      TABLE_CALLS, TABLE_RANGES};
	static const char *const titles[TABLES] = {
		[TABLE_KERNELS] = HWY_KEY("title|kernels"),
		[TABLE_CALLS] = HWY_KEY("title|calls"),
		[TABLE_RANGES] = HWY_KEY("title|ranges"),
		[TABLE_MODULES] = HWY_KEY("title|modules"),
	};
	int64_t least = diff->before->step / 100;
	for (unsigned t = 0; t < TABLES; t++) {
		enum compare_table_kind kind = order[t];
		const struct diff_table *table = &diff->tables[kind];
		uint32_t printed = 0;
		for (uint32_t i = 0; i < table->n && printed < most[kind]; i++) {
			const struct diff_row *row = &table->rows[i];
			if (kind != TABLE_KERNELS && llabs(row->ns_after - row->ns_before) < least)
				continue;
			if (printed++ == 0)
				fprintf(out, "\n   %s\n", hwy_tr_word(titles[kind]));
			print_row(out, row, kind == TABLE_KERNELS);
		}
		if (kind == TABLE_KERNELS && table->n > printed)
			fprintf(out, hwy_tr("   … and %u more: --format json\n"),
				table->n - printed);
	}
}

static void print_path(FILE *out, const struct compare_diff *diff)
{
	const struct compare_phase *a = side_phase(diff->before), *b = side_phase(diff->after);
	unsigned printed = 0;
	for (uint32_t i = 0; i < a->n_path && i < b->n_path; i++) {
		int64_t change = b->path[i].ns - a->path[i].ns;
		/* How many classes changed more than this class: only the three that changed most
		 * are printed. */
		uint32_t larger = 0;
		for (uint32_t k = 0; k < a->n_path && k < b->n_path; k++)
			larger += llabs(b->path[k].ns - a->path[k].ns) > llabs(change);
		if (llabs(change) < diff->before->step / 100 || larger >= 3)
			continue;
		fprintf(out, "%s%s %s", printed++ == 0 ? hwy_tr("\n   path      ") : " · ",
			path_class_word(a->path[i].name), hwy_say_time3_change(change).text);
	}
	if (printed)
		fputs(hwy_tr("  (what decides the step's length)\n"), out);
}

void diff_print_text(FILE *out, const struct compare_diff *diff)
{
	bool colour = cli_colour(out);
	diff_text_print_head(out, diff, colour);
	print_verdict(out, diff, colour);
	print_split(out, diff);
	diff_text_print_counts(out, diff);
	print_findings(out, diff, colour);
	print_tables(out, diff);
	print_path(out, diff);
	if (diff->jobs)
		diff_jobs_put_text(out, diff->jobs);
}
