/* SPDX-License-Identifier: Apache-2.0 */
/* analyze_text.c - the diagnosis for people on one screen: what the program does with its time,
 * then each finding with its place, what its fix is worth and what to do, then suspects that are
 * innocent.
 *
 * The text is first written to memory, in UTF-8; lines.c then breaks its lines to fit the
 * terminal and replaces the characters that the terminal cannot show.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/mem.h"
#include "base/memory_text.h"
#include "base/say.h"
#include "base/shell_word.h"
#include "cli/analyze_findings.h"
#include "cli/kit/cli.h"
#include "cli/kit/drawing.h"
#include "cli/kit/lines.h"
#include "whatif/whatif.h"

enum { DEFAULT_WIDTH = 100, LEAST_WIDTH = 60, LABEL = 15, BAR = 20 }; /* widths in columns */
/* The report prints at most so many findings, phases and other items, so that it fits one screen;
 * -v prints all. */
enum { FINDINGS = 4, OTHER_PHASES = 3, PHASE_FINDINGS = 1, CANNOT = 2, INNER_LOOPS = 2 };

/* ---- the head -------------------------------------------------------------------------------- */

static void analyze_text_print_devices(const struct analyze_page *page)
{
	const struct hwy_flow *flow = &page->run->analysis.flow;
	const char *before = "";
	if (flow->n_devices > 1)
		fprintf(page->out, hwy_tr(" · %" PRIu32 " GPUs"), flow->n_devices);
	for (uint32_t d = 0; d < flow->n_devices; d++) {
		int64_t device = flow->devices[d].device;
		const char *name =
			device == HWY_NONE
				? ""
				: hwy_str(page->run->trace, page->run->trace->devices[device].name);
		if (!*name || strcmp(name, before) == 0)
			continue;
		fputs(" · ", page->out);
		analyze_put(page->out, name);
		before = name;
	}
}

static void print_title(const struct analyze_page *page)
{
	const struct hwy_phase *phase = analyze_main(page->run);
	fprintf(page->out, " %s", analyze_page_paint(page, PAINT_BOLD));
	analyze_put(page->out, analyze_program(page->run).text);
	fputs(analyze_page_paint(page, PAINT_PLAIN), page->out);
	analyze_text_print_devices(page);
	lines_may_break(page->out, 1);
	if (phase && page->run->analysis.phases.n > 1)
		fprintf(page->out, hwy_tr(" · %" PRIu32 " phases, the longest:"),
			page->run->analysis.phases.n);
	else if (phase)
		fputs(" ·", page->out);
	if (phase) {
		fputc(' ', page->out);
		analyze_put_steps(page->out, page->run, phase);
	}
	lines_may_break(page->out, 1);
	fprintf(page->out, " · %s\n", analyze_say_records(page->run).text);
	if (page->view->n > 1 && page->view->are_ranks)
		fprintf(page->out, hwy_tr(" %" PRIu32 " ranks; this is rank %" PRId64 "\n"),
			page->view->n, page->run->rank);
	analyze_put_runs(page->out, page->view, 1, page->width);
}

/* A finding with this share of the time is worth more than a tick. */
#define LARGE_SHARE 0.1

static void print_verdict(const struct analyze_page *page)
{
	const struct hwy_diagnosis *diagnosis = &page->run->diagnosis;
	/* A device that always works is well only where no finding would shorten its work by
	 * much. */
	bool is_gpu = diagnosis->verdict.word == VERDICT_GPU && !diagnosis->verdict.is_opaque &&
		      (diagnosis->n == 0 || diagnosis->findings[0].share < LARGE_SHARE);
	fprintf(page->out, " %s%s", is_gpu ? analyze_page_paint(page, PAINT_GREEN) : "",
		is_gpu ? "✓  " : "   ");
	fputs(analyze_page_paint(page, PAINT_BOLD), page->out);
	cli_wrap(page->out, page->run->diagnosis.verdict.says, 4, page->width);
	fputs(analyze_page_paint(page, PAINT_PLAIN), page->out);
	analyze_put_scope(page->out, page->run, page->width);
}

static void print_headline(const struct analyze_page *page, uint32_t index)
{
	const struct hwy_phase *phase = &page->run->analysis.phases.phases[index];
	uint32_t n;
	struct gap_states states = analyze_states(page->run, index, &n);
	double busy = states.window ? (double)states.busy / (double)states.window : 0;
	fprintf(page->out, hwy_tr("   %s%s %s%s    GPU busy %s    "),
		analyze_page_paint(page, PAINT_BOLD), hwy_say_time3(phase->mean).text,
		analyze_of_step(phase), analyze_page_paint(page, PAINT_PLAIN),
		hwy_say_share(busy).text);
	analyze_put_headway(page->out, page->run, index);
	fputc('\n', page->out);
	analyze_put_units(page->out, page->run, index);
	analyze_put_base(page->out, page->run, index);
	if (phase->n_steady > 1 && (phase->is_bursty || page->view->verbose))
		fprintf(page->out, hwy_tr("   median %s, p10 to p90 %s to %s%s\n"),
			hwy_say_time3(phase->median).text, hwy_say_time3(phase->p10).text,
			hwy_say_time3(phase->p90).text,
			hwy_tr(phase->is_bursty ? ": bursty, a few steps take much longer" : ""));
	if (phase->is_first_told_apart && phase->first_steady == 1)
		fputs(hwy_tr("   the first step carries start-up and is not counted\n"), page->out);
	else if (phase->is_first_told_apart)
		fprintf(page->out,
			hwy_tr("   the first %" PRIu32
			       " steps carry start-up and are not counted\n"),
			phase->first_steady);
}

/* ---- the picture and the bar ----------------------------------------------------------------- */

static void print_picture(const struct analyze_page *page, uint32_t index)
{
	const struct hwy_phase *phase = &page->run->analysis.phases.phases[index];
	struct hwy_interval window = analyze_typical(phase);
	struct hwy_picture picture;
	struct hwy_err err;
	struct picture_options wanted = {
		.from = window.from,
		.to = window.to,
		.cells = drawing_cells(page->width, "   "),
		.threads = 2,
		.streams = 1,
		.devices = 1,
	};
	if (window.from >= window.to || !picture_make(page->run->trace, &wanted, &picture, &err))
		return;
	/* Where a device has only one stream, a row for the stream would repeat the device's
	 * row. */
	for (uint32_t i = 0; i < picture.n; i++)
		if (picture.rows[i].type == PICTURE_STREAM && picture.rows[i].cells) {
			free(picture.rows[i].cells);
			picture.rows[i].cells = NULL;
		}
	drawing_print(&(struct drawing){
		.out = page->out,
		.trace = page->run->trace,
		.picture = &picture,
		.indent = "   ",
		.utf8 = page->view->utf8,
		.colour = page->view->colour,
	});
	picture_free(&picture);
}

static void print_bar(const struct analyze_page *page, uint32_t index)
{
	uint32_t n;
	struct gap_states states = analyze_states(page->run, index, &n);
	const struct {
		const char *block;
		enum paint paint;
		int64_t ns;
	} parts[] = {
		{"█", PAINT_GREEN, states.compute},       {"▓", PAINT_MAGENTA, states.exposed_comm},
		{"▒", PAINT_YELLOW, states.exposed_copy}, {"▚", PAINT_CYAN, states.fill},
		{"░", PAINT_FAINT, states.idle},
	};
	if (states.window <= 0)
		return;
	fprintf(page->out, "%-*s", LABEL, hwy_tr("   GPU time"));
	int64_t sum = 0, cells = 0;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		sum += parts[i].ns;
		int64_t to = (int64_t)((double)sum * BAR / (double)states.window + 0.5);
		fputs(analyze_page_paint(page, parts[i].paint), page->out);
		for (; cells < to; cells++)
			fputs(parts[i].block, page->out);
		fputs(analyze_page_paint(page, PAINT_PLAIN), page->out);
	}
	fputs("  ", page->out);
	analyze_put_states(page->out, &states);
	lines_may_break(page->out, LABEL + BAR + 2);
	analyze_put_causes(page->out, &states);
	fputc('\n', page->out);
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void print_cannot(const struct analyze_page *page)
{
	const struct hwy_diagnosis *diagnosis = &page->run->diagnosis;
	for (uint32_t i = 0; i < diagnosis->n_cannot; i++) {
		if (i == CANNOT && !page->view->verbose)
			break;
		if (i == 0)
			fputc('\n', page->out);
		fputs("   ", page->out);
		char *text;
		if (asprintf(&text, hwy_tr("Cannot tell: %s, because %s."),
			     diagnosis->cannot[i].what, diagnosis->cannot[i].because) < 0)
			cli_die("out of memory");
		cli_wrap(page->out, text, 3, page->width);
		free(text);
	}
}

static void print_causes(const struct analyze_page *page, uint32_t phase)
{
	uint32_t n;
	struct gap_states states = analyze_states(page->run, phase, &n);
	const struct hwy_phase *one = &page->run->analysis.phases.phases[phase];
	fputs(hwy_tr("\n idle time by cause, a step\n"), page->out);
	for (unsigned cause = 0; cause < GAP_CAUSES; cause++)
		if (states.causes[cause] && one->n_steady && n) {
			int64_t a_step = states.causes[cause] / one->n_steady / n;
			cli_put_right(page->out, hwy_say_time3(a_step).text, 14);
			fprintf(page->out, "  %s\n", hwy_tr(gap_cause_names[cause]));
		}
	const struct hwy_outlook *verdict = &page->run->diagnosis.outlooks[phase];
	for (uint32_t i = 0; i < verdict->n_outliers; i++) {
		const struct hwy_outlier *outlier = &verdict->outliers[i];
		if (i == 0)
			fputs(hwy_tr(" steps unlike the rest\n"), page->out);
		cli_put_right(page->out, hwy_say_time3(outlier->ns).text, 14);
		fprintf(page->out, hwy_tr("  step %" PRIu32), outlier->step);
		const char *name = hwy_str(page->run->trace, one->steps[outlier->step].name);
		if (*name) {
			fputs(hwy_tr_word(HWY_KEY("name|, ")), page->out);
			analyze_put(page->out, name);
			fputs(hwy_tr_word(HWY_KEY("name ends|")), page->out);
		}
		fprintf(page->out, hwy_tr(": %s more %s"), hwy_say_time3(outlier->excess).text,
			hwy_tr(outlier->part));
		if (*outlier->name) {
			fputs(hwy_tr_word(HWY_KEY("clause|, ")), page->out);
			analyze_put(page->out, outlier->name);
		}
		fputc('\n', page->out);
	}
}

/* A time as an option takes it, in units of which the span that is shown has many. */
static void put_option_time(FILE *out, const char *option, int64_t ns, int64_t unit,
			    const char *name)
{
	int64_t hundredth = unit / 100;
	int64_t cut = ns / hundredth - (ns % hundredth < 0);
	fprintf(out, "--%s %.2f%s ", option, (double)cut / 100, name);
}

/* Where nothing repeats, show would draw a stretch in which much happens: names the time of what
 * proves the first finding. */
static void put_evidence(FILE *out, const struct analyze_run *run)
{
	const struct hwy_finding *finding = run->diagnosis.findings;
	const struct hwy_phase *phase = analyze_main(run);
	if (!phase || phase->source != PHASE_ONE || run->diagnosis.n == 0 ||
	    finding->n_evidence == 0)
		return;
	uint32_t row;
	struct hwy_err ignored;
	const struct hwy_strip *strip = hwy_strip_of(run->trace, finding->evidence[0], &row);
	if (!hwy_need(run->trace, HWY_KIND_BIT(strip->kind),
		      HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR), &ignored))
		return;
	int64_t from = hwy_get(strip, HWY_START, row), length = hwy_get(strip, HWY_DUR, row);
	int64_t around = length / 10 + 1000, to = from + length + around;
	bool is_long = length >= 1000000000, is_short = length < 1000000;
	int64_t unit = is_long ? 1000000000 : is_short ? 1000 : 1000000;
	const char *name = is_long ? "s" : is_short ? "us" : "ms";
	put_option_time(out, "from", from - around, unit, name);
	put_option_time(out, "to", to + unit / 100, unit, name);
}

static void print_foot(const struct analyze_page *page)
{
	fprintf(page->out, hwy_tr("\n   next: headway show "));
	put_evidence(page->out, page->run);
	analyze_put(page->out, hwy_shell_word(page->run->path).text);
	fputc('\n', page->out);
}

static void print_other_phases(const struct analyze_page *page)
{
	const struct hwy_phases *phases = &page->run->analysis.phases;
	uint32_t shown = 0;
	for (uint32_t i = 0; i < phases->n; i++) {
		if (i == phases->main || phases->phases[i].n_steady == 0)
			continue;
		if (shown++ == OTHER_PHASES && !page->view->verbose) {
			fprintf(page->out, hwy_tr("\n and %" PRIu32 " more phases: -v\n"),
				phases->n - shown);
			return;
		}
		fputs(hwy_tr("\n another phase: "), page->out);
		analyze_put_steps(page->out, page->run, &phases->phases[i]);
		fputc('\n', page->out);
		print_headline(page, i);
		if (page->view->verbose)
			print_bar(page, i);
		if (analyze_findings_print(page, i, PHASE_FINDINGS) == 0)
			analyze_findings_print_health(page, i);
		if (page->view->verbose)
			analyze_findings_print_acquittals(page, i);
	}
}

static void print_page(const struct analyze_page *page)
{
	const struct hwy_phases *phases = &page->run->analysis.phases;
	print_title(page);
	if (!analyze_main(page->run)) {
		fputc('\n', page->out);
		print_verdict(page);
		print_cannot(page);
		analyze_put_contents(page->out, page->run, page->width);
		return;
	}
	fputc('\n', page->out);
	print_verdict(page);
	print_headline(page, phases->main);
	fputc('\n', page->out);
	print_picture(page, phases->main);
	print_bar(page, phases->main);
	fputc('\n', page->out);
	analyze_findings_print_health(page, phases->main);
	analyze_findings_print(page, phases->main, FINDINGS);
	analyze_findings_print_inside(page, phases->main);
	analyze_findings_print_acquittals(page, phases->main);
	if (page->view->verbose)
		print_causes(page, phases->main);
	print_cannot(page);
	print_other_phases(page);
	print_foot(page);
}

/* Calls 'print' with a stream into memory, and prints the text with characters that the terminal
 * can show. */
static void print_through_memory(FILE *out, const struct analyze_view *view,
				 void (*print)(const struct analyze_page *page))
{
	struct memory_text memory;
	struct analyze_page page = {
		.out = memory_text_begin(&memory),
		.view = view,
		.run = &view->runs[view->shown],
		.width = view->width ? view->width : DEFAULT_WIDTH,
	};
	if (page.width < LEAST_WIDTH)
		page.width = LEAST_WIDTH;
	print(&page);
	char *text = memory_text_end(&memory);
	lines_put(out, text, page.width, view->utf8);
	free(text);
}

void analyze_print_text(FILE *out, const struct analyze_view *view)
{
	print_through_memory(out, view, print_page);
}

/* ---- the end of `headway profile` ------------------------------------------------------------ */

static void print_few(const struct analyze_page *page)
{
	const struct hwy_phases *phases = &page->run->analysis.phases;
	enum { FEW = 3 };
	print_verdict(page);
	print_headline(page, phases->main);
	analyze_findings_print_health(page, phases->main);
	const struct hwy_diagnosis *diagnosis = &page->run->diagnosis;
	for (uint32_t i = 0; i < diagnosis->n && i < FEW; i++) {
		const struct hwy_finding *finding = &diagnosis->findings[i];
		fprintf(page->out, " %" PRIu32 "  %s", i + 1, finding->kind->id);
		if (finding->n_places) {
			fputs("   ", page->out);
			analyze_findings_print_place(page, &finding->places[0], 4);
		}
		lines_may_break(page->out, 4);
		fprintf(page->out, "   %s (%s)\n    ", hwy_say_time3(finding->cost).text,
			hwy_say_share(finding->share).text);
		cli_wrap(page->out, finding->says, 4, page->width);
	}
}

void analyze_print_short(FILE *out, struct hwy_trace *trace, const char *path)
{
	struct analyze_run run = {.path = path, .trace = trace, .rank = HWY_NONE};
	struct hwy_err err;
	struct analysis_options wanted = {0};
	if (!analysis_make(&run.analysis, trace, &wanted, &err))
		return;
	if (analyze_main(&run) && diagnose(&run.analysis, &run.diagnosis, &err)) {
		struct analyze_view view = {
			.runs = &run,
			.n = 1,
			.utf8 = cli_utf8(),
			.colour = cli_colour(out),
			.width = cli_width(out),
		};
		print_through_memory(out, &view, print_few);
	}
	diagnosis_free(&run.diagnosis);
	analysis_free(&run.analysis);
}
