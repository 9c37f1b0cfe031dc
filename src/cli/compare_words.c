/* SPDX-License-Identifier: Apache-2.0 */
/* compare_words.c - changes of numbers in words that people read; see compare_print.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/say.h"
#include "cli/compare_print.h"
#include "cli/kit/cli.h"
#include "cli/kit/paint.h"

const char *compare_verdict_word(enum compare_verdict verdict)
{
	return verdict == VERDICT_UNKNOWN ? hwy_tr_word(HWY_KEY("step|unknown"))
					  : hwy_tr(statistics_verdict_names[verdict]);
}

void compare_put_verdicts(FILE *out, const struct compare_diff *diff)
{
	enum verdict_word before = summary_verdict(side_phase(diff->before));
	enum verdict_word after = summary_verdict(side_phase(diff->after));
	if (before != after)
		fprintf(out, "%s → ", verdict_said(before));
	fputs(verdict_said(after), out);
}

void compare_put_cause(FILE *out, const struct compare_diff *diff)
{
	/* At most two parts of a change are named; each has the change's sign and is at least a
	 * tenth of the change. */
	int64_t limit = llabs(diff->change) / 10;
	const char *before = "";
	for (unsigned i = 0, written = 0; i < PARTS && written < 2; i++) {
		unsigned part = diff->order[i];
		bool along = (diff->parts[part] > 0) == (diff->change > 0);
		if (diff->parts[part] == 0 || llabs(diff->parts[part]) < limit)
			break;
		if (!along)
			continue;
		fprintf(out, "%s%s %s", before, summary_part_name(part),
			hwy_say_time3_change(diff->parts[part]).text);
		before = hwy_tr(", ");
		written++;
	}
}

struct compare_sentence compare_about(const struct compare_diff *diff)
{
	struct compare_sentence about;
	const char *gpu = side_run(diff->after)->gpu;
	char runs[64] = "";
	if (diff->before->n + diff->after->n > 2)
		snprintf(runs, sizeof runs,
			 hwy_tr(diff->before->n == 1 ? HWY_KEY("%u run before, %u after · ")
						     : HWY_KEY("%u runs before, %u after · ")),
			 diff->before->n, diff->after->n);
	snprintf(about.text, sizeof about.text, hwy_tr("%.100s%s%s%u and %u steady steps"), gpu,
		 *gpu ? " · " : "", runs, side_phase(diff->before)->n_steady,
		 side_phase(diff->after)->n_steady);
	return about;
}

struct compare_sentence compare_why(const struct compare_diff *diff)
{
	const struct difference *step = &diff->step;
	struct compare_sentence why = {""};
	double most = fmax(step->high, -step->low) / step->before;
	bool unknown = step->verdict == VERDICT_UNKNOWN;
	bool wide = step->verdict == VERDICT_SAME && most > STATISTICS_SAME_SHARE;
	if (step->is_torn)
		snprintf(
			why.text, sizeof why.text,
			hwy_tr("the mean changed by %s, but the middle half of the steps by %s: a few long steps decide the mean"),
			hwy_say_share_change(step->change / step->before).text,
			hwy_say_share_change(step->middle.change).text);
	else if (step->by_middle)
		snprintf(
			why.text, sizeof why.text,
			hwy_tr("the middle half of the steps: %s (%s … %s); a few long ones make the mean unsure"),
			hwy_say_share_change(step->middle.change).text,
			hwy_say_share_change(step->middle.low).text,
			hwy_say_share_change(step->middle.high).text);
	else if (step->is_apart && !unknown && step->low <= 0 && step->high >= 0)
		snprintf(
			why.text, sizeof why.text,
			hwy_tr("the runs of a side lie far apart, but none reaches into the other side, and those lie %.1f× apart"),
			fmax(step->after / step->before, step->before / step->after));
	else if (unknown && !isfinite(most))
		snprintf(why.text, sizeof why.text, "%s", hwy_tr("too few steps to tell"));
	else if (unknown && (step->low > 0 || step->high < 0))
		snprintf(
			why.text, sizeof why.text, "%s",
			hwy_tr("the difference is hardly more than the noise; more steps or runs would tell"));
	else if (unknown || wide)
		snprintf(
			why.text, sizeof why.text,
			hwy_tr("no difference is shown, but one of %.*f %% could hide in the noise%s"),
			most < 0.0995, 100 * most,
			unknown ? hwy_tr("; more steps or runs would tell") : "");
	return why;
}

struct compare_sentence compare_new_finding(const struct compare_diff *diff)
{
	struct compare_sentence says = {""};
	for (uint32_t i = 0; i < diff->n_findings; i++) {
		const struct compare_finding *one = diff->findings[i].after;
		if (diff->findings[i].change != FINDING_NEW || one->is_inside)
			continue;
		if (*one->place)
			snprintf(says.text, sizeof says.text, hwy_tr("new: %s at %.200s"), one->id,
				 one->place);
		else
			snprintf(says.text, sizeof says.text, hwy_tr("new: %s"), one->id);
		break;
	}
	return says;
}

/* A tenth of the steps that takes so many times the median is told. */
static const int64_t far_above = 2;

struct compare_sentence compare_long_steps(const struct compare_diff *diff)
{
	const struct compare_phase *before = side_phase(diff->before),
				   *after = side_phase(diff->after);
	struct compare_sentence says = {""};
	bool a = before->p50 > 0 && before->p90 / far_above >= before->p50;
	bool b = after->p50 > 0 && after->p90 / far_above >= after->p50;
	const struct compare_phase *one = b ? after : before;
	if (a && b)
		snprintf(
			says.text, sizeof says.text,
			hwy_tr("a tenth of the steps takes %s before and %s after, or longer; the median is %s and %s"),
			hwy_say_time3(before->p90).text, hwy_say_time3(after->p90).text,
			hwy_say_time3(before->p50).text, hwy_say_time3(after->p50).text);
	else if (a || b)
		snprintf(
			says.text, sizeof says.text,
			hwy_tr(b ? HWY_KEY("after, a tenth of the steps takes %s or longer, and the median is %s")
				 : HWY_KEY("before, a tenth of the steps takes %s or longer, and the median is %s")),
			hwy_say_time3(one->p90).text, hwy_say_time3(one->p50).text);
	return says;
}

const char *compare_less_sure(const struct compare_diff *diff)
{
	if (!(diff->step.run_noise > 0))
		return "";
	return hwy_tr(diff->before->n == 1 && diff->after->n == 1
			      ? HWY_KEY("one run a side: less sure")
			      : HWY_KEY("fewer than three runs a side: less sure"));
}

bool compare_count_text(const struct diff_count *count, struct compare_count_text *text)
{
	static const char *const labels[COUNTS] = {
		[COUNT_WAITS] = HWY_KEY("row|blocking calls"),
		[COUNT_SYNCS] = HWY_KEY("row|blocking calls that had to wait"),
		[COUNT_WAITED] = HWY_KEY("row|CPU waits for"),
		[COUNT_LAUNCHES] = HWY_KEY("row|launches"),
		[COUNT_GRAPH_LAUNCHES] = HWY_KEY("row|graph launches"),
		[COUNT_KERNELS] = HWY_KEY("row|kernels"),
		[COUNT_COPIES] = HWY_KEY("row|copies"),
		[COUNT_FILLS] = HWY_KEY("row|fills"),
		[COUNT_ALLOCS] = HWY_KEY("row|allocations"),
		[COUNT_H2D_BYTES] = HWY_KEY("row|to the GPU"),
		[COUNT_D2H_BYTES] = HWY_KEY("row|from the GPU"),
		[COUNT_PAGEABLE_BYTES] = HWY_KEY("row|pageable"),
	};
	enum compare_count which = count->count;
	if (!labels[which] || (count->before <= 0 && count->after <= 0))
		return false;
	text->label = hwy_tr_word(labels[which]);
	text->before = hwy_say_count_2decimals(count->before);
	text->after = hwy_say_count_2decimals(count->after);
	if (which == COUNT_WAITED) {
		text->before = hwy_say_time3_signed((int64_t)count->before);
		text->after = hwy_say_time3_signed((int64_t)count->after);
	}
	if (which == COUNT_H2D_BYTES || which == COUNT_D2H_BYTES || which == COUNT_PAGEABLE_BYTES) {
		text->before = hwy_say_bytes3_to_gb((uint64_t)count->before);
		text->after = hwy_say_bytes3_to_gb((uint64_t)count->after);
	}
	return true;
}

void compare_prediction(const struct diff_finding *finding, char *text, size_t size)
{
	*text = '\0';
	if (!(finding->predicted > 0))
		return;
	int n = snprintf(text, size, hwy_tr("predicted %.2f× (%.2f – %.2f)"), finding->predicted,
			 finding->low, finding->high);
	if (finding->grade == GRADE_NONE || n < 0 || (size_t)n >= size)
		return;
	if (finding->grade == GRADE_SHARED || finding->grade == GRADE_SLOWER)
		snprintf(text + n, size - (size_t)n, hwy_tr(": %s"),
			 hwy_tr(diff_grade_names[finding->grade]));
	else
		snprintf(text + n, size - (size_t)n, hwy_tr(", measured %.2f×%s: %s"),
			 finding->measured,
			 hwy_tr(finding->without_recorder ? " without the recorder" : ""),
			 hwy_tr(diff_grade_names[finding->grade]));
}

void compare_put_cut(FILE *out, const char *text, size_t most)
{
	size_t n = strlen(text);
	cli_put(out, text, n > most ? most - 3 : n);
	if (n > most)
		fputs("…", out);
}

enum { MOST_NOTES = 5, WIDTH = 46 };

/* Writes "before → after"; two long texts are written from the first word on that differs. */
static void put_both(FILE *out, const char *before, const char *after)
{
	size_t same = 0, begin = 0;
	for (; before[same] && before[same] == after[same]; same++)
		if (before[same] == ' ')
			begin = same + 1;
	if (strlen(before) <= WIDTH && strlen(after) <= WIDTH)
		begin = 0;
	const char *gap = begin ? "… " : "";
	fputs(gap, out);
	compare_put_cut(out, before + begin, WIDTH);
	fprintf(out, " → %s", gap);
	compare_put_cut(out, after + begin, WIDTH);
}

void compare_put_notes(FILE *out, const struct compare_diff *diff)
{
	bool colour = cli_colour(out);
	for (uint32_t i = 0; i < diff->n_notes && i < MOST_NOTES; i++) {
		const struct diff_note *note = &diff->notes[i];
		fprintf(out, hwy_tr(" %s!%s  %s: "), paint(colour, PAINT_RED),
			paint(colour, PAINT_PLAIN), hwy_tr(note->what));
		put_both(out, note->before, note->after);
		if (*note->so)
			fprintf(out, hwy_tr(": %s"), hwy_tr(note->so));
		fputc('\n', out);
	}
}
