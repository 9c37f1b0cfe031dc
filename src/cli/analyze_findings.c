/* SPDX-License-Identifier: Apache-2.0 */
/* analyze_findings.c - see analyze_findings.h: each finding with its place, what its fix is worth
 * and what to do; then what a phase without findings spends its time on, and suspects that are
 * innocent. */
#include "cli/analyze_findings.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/lang.h"
#include "base/say.h"
#include "base/utf8.h"
#include "cli/kit/cli.h"
#include "cli/kit/lines.h"

enum { ACQUITTALS = 3 }; /* innocent suspects of a phase that are printed; -v prints all */

void analyze_findings_print_place(const struct analyze_page *page,
				  const struct hwy_finding_place *place, int indent)
{
	analyze_put_place(page->out, &place->at);
	if (*place->layer) {
		lines_may_break(page->out, indent);
		fputs(hwy_tr(" in "), page->out);
		analyze_put(page->out, place->layer);
	}
}

static void print_places(const struct analyze_page *page, const struct hwy_finding *finding)
{
	if (finding->n_places) {
		cli_put_right(page->out, hwy_tr("lost a step"), 16);
		fprintf(page->out, "  %s\n", hwy_tr("at (calls the steady steps make there)"));
	}
	for (uint32_t i = 0; i < finding->n_places; i++) {
		const struct hwy_finding_place *place = &finding->places[i];
		cli_put_right(page->out, hwy_say_time3(place->cost).text, 16);
		fputs("  ", page->out);
		analyze_findings_print_place(page, place, 18);
		if (*place->at.file && *place->at.range) {
			lines_may_break(page->out, 18);
			fputs(hwy_tr(*place->layer ? "  · " : "  in "), page->out);
			analyze_put(page->out, place->at.range);
		}
		if (place->count)
			fprintf(page->out, "  (%s)", hwy_say_count_grouped(place->count).text);
		fputc('\n', page->out);
	}
	if (finding->n_evidence) {
		fprintf(page->out, hwy_tr("      evidence, confidence %s: spans"),
			hwy_tr(hwy_confidence_names[finding->confidence]));
		for (uint32_t i = 0; i < finding->n_evidence; i++)
			fprintf(page->out, " %" PRIu32, finding->evidence[i]);
		fputc('\n', page->out);
	}
}

/* Prints an advice; only its first line where 'all' is false. */
static void print_advice(const struct analyze_page *page, const char *advice, bool all)
{
	struct analyze_line line;
	while (analyze_next_line(&advice, &line)) {
		char *text;
		if (asprintf(&text, "%s%.*s", line.is_code ? "  " : "", line.length, line.text) < 0)
			cli_die("out of memory");
		fputs(line.is_code ? "      " : "    ▸ ", page->out);
		fputs(line.is_code ? analyze_page_paint(page, PAINT_FAINT) : "", page->out);
		cli_wrap(page->out, text, 6, page->width);
		fputs(line.is_code ? analyze_page_paint(page, PAINT_PLAIN) : "", page->out);
		free(text);
		if (!all)
			break;
	}
}

/* Whether an already printed finding of another phase gives the same advice. */
static bool is_repeated(const struct hwy_diagnosis *diagnosis, const struct hwy_finding *finding)
{
	for (const struct hwy_finding *one = diagnosis->findings; one < finding; one++)
		if (one->phase != finding->phase && one->advice == finding->advice)
			return true;
	return false;
}

static void print_finding(const struct analyze_page *page, const struct hwy_finding *finding,
			  uint32_t number, bool all)
{
	const struct hwy_phase *phase = &page->run->analysis.phases.phases[finding->phase];
	fprintf(page->out, " %s%" PRIu32 "  %s%s", analyze_page_paint(page, PAINT_BOLD), number,
		finding->kind->id, analyze_page_paint(page, PAINT_PLAIN));
	if (finding->n_places) {
		fputs("   ", page->out);
		analyze_findings_print_place(page, &finding->places[0], 4);
		lines_may_break(page->out, 4);
		if (finding->n_places > 1)
			fprintf(page->out, hwy_tr(" and %" PRIu32 " more"), finding->n_places - 1);
	}
	lines_may_break(page->out, 4);
	fprintf(page->out, "   %s", analyze_page_paint(page, PAINT_RED));
	analyze_put_worth(page->out, finding, phase);
	fprintf(page->out, "%s\n    ", analyze_page_paint(page, PAINT_PLAIN));
	cli_wrap(page->out, finding->says, 4, page->width);
	if (all || !is_repeated(&page->run->diagnosis, finding))
		print_advice(page, finding->advice, all);
	if (page->view->verbose)
		print_places(page, finding);
}

uint32_t analyze_findings_print(const struct analyze_page *page, uint32_t phase, uint32_t most)
{
	const struct hwy_diagnosis *diagnosis = &page->run->diagnosis;
	bool is_main = phase == page->run->analysis.phases.main;
	uint32_t n = 0, left_out = 0;
	for (uint32_t i = 0; i < diagnosis->n; i++) {
		if (diagnosis->findings[i].phase != phase)
			continue;
		if (n >= most && !page->view->verbose)
			left_out++;
		else
			print_finding(page, &diagnosis->findings[i], n + 1,
				      (n == 0 && is_main) || page->view->verbose);
		n++;
	}
	if (left_out)
		fprintf(page->out, hwy_tr("    and %" PRIu32 " more: -v\n"), left_out);
	return n;
}

static bool phase_has_findings(const struct analyze_page *page, uint32_t phase)
{
	for (uint32_t i = 0; i < page->run->diagnosis.n; i++)
		if (page->run->diagnosis.findings[i].phase == phase)
			return true;
	return false;
}

void analyze_findings_print_health(const struct analyze_page *page, uint32_t phase)
{
	const struct hwy_outlook *verdict = &page->run->diagnosis.outlooks[phase];
	bool found = phase_has_findings(page, phase);
	bool repeats = page->run->analysis.phases.phases[phase].source != PHASE_ONE;
	if (!verdict->is_healthy && !found)
		fprintf(page->out, hwy_tr("    The GPU idles %s of the time; %s.\n"),
			hwy_say_share(verdict->reachable).text,
			hwy_tr(repeats ? "no single fix is worth 2 %"
				       : "nothing repeats: start-up and the program's own pace look alike"));
	/* For the main phase, the verdict has already said that nothing starves the devices. */
	if (!verdict->is_healthy || !verdict->is_known || phase == page->run->analysis.phases.main)
		return;
	fprintf(page->out, " %s✓%s  ", analyze_page_paint(page, PAINT_GREEN),
		analyze_page_paint(page, PAINT_PLAIN));
	analyze_put_health(page->out, verdict);
	fputc('\n', page->out);
}

/* A command that is too wide goes on in a second line, as a shell reads it. */
static void print_command(const struct analyze_page *page, const char *command)
{
	enum { INDENT = 6 };
	const char *rest = strstr(command, " --");
	int columns = INDENT + hwy_utf8_columns(command, strlen(command));
	fputs("    ▸ ", page->out);
	if (rest && columns > page->width) {
		cli_put(page->out, command, (size_t)(rest - command));
		fprintf(page->out, " \\\n%*s", INDENT + 2, "");
		command = rest + 1;
	}
	analyze_put(page->out, command);
}

void analyze_findings_print_inside(const struct analyze_page *page, uint32_t phase)
{
	const struct hwy_outlook *verdict = &page->run->diagnosis.outlooks[phase];
	if (!verdict->is_healthy || !verdict->is_known || verdict->n_kernels == 0)
		return;
	bool is_first =
		phase == page->run->analysis.phases.main && !phase_has_findings(page, phase);
	fprintf(page->out, "%s\n",
		hwy_tr(is_first ? " what is left is inside the kernels"
				: "\n the kernels that take most of the GPU's time"));
	for (uint32_t i = 0; i < verdict->n_kernels; i++)
		analyze_put_top_kernel(page->out, &verdict->kernels[i]);
	print_advice(page, verdict->inside, true);
	if (!*verdict->ncu)
		return;
	char *command = analyze_say_kernels(page->run, verdict);
	print_command(page, command);
	free(command);
	if (page->view->verbose) {
		fputs("\n    ▸ ", page->out);
		analyze_put(page->out, verdict->ncu);
	}
	fputc('\n', page->out);
}

void analyze_findings_print_acquittals(const struct analyze_page *page, uint32_t phase)
{
	const struct hwy_diagnosis *diagnosis = &page->run->diagnosis;
	uint32_t n = 0;
	for (uint32_t i = 0; i < diagnosis->n_acquitted; i++) {
		const struct hwy_finding *finding = &diagnosis->acquitted[i];
		if (finding->phase != phase || (n == ACQUITTALS && !page->view->verbose))
			continue;
		if (n++ == 0)
			fputs(hwy_tr("\n looked at, not guilty\n"), page->out);
		fprintf(page->out, " %s✓%s  %s", analyze_page_paint(page, PAINT_GREEN),
			analyze_page_paint(page, PAINT_PLAIN), finding->kind->id);
		if (finding->n_places) {
			fputs("   ", page->out);
			analyze_findings_print_place(page, &finding->places[0], 4);
		}
		if (finding->predicted.is_known) {
			lines_may_break(page->out, 4);
			fputs("   ", page->out);
			analyze_put_worth(page->out, finding,
					  &page->run->analysis.phases.phases[phase]);
		}
		fputs("\n    ", page->out);
		cli_wrap(page->out, finding->says, 4, page->width);
		if (finding->predicted.tipping)
			fprintf(page->out,
				hwy_tr("    It starts to cost above ≈ %s of GPU work a step.\n"),
				hwy_say_time3(finding->predicted.tipping).text);
		if (page->view->verbose)
			print_places(page, finding);
	}
}
