/* SPDX-License-Identifier: Apache-2.0 */
/* analyze_markdown.c - the diagnosis as Markdown: for a pull request, an issue or a notebook. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/memory_text.h"
#include "base/say.h"
#include "cli/analyze_print.h"
#include "cli/kit/cli.h"
#include "cli/kit/table.h"

/* Yields the place of a finding as Markdown, which the caller frees. */
static char *place_markup(const struct hwy_finding *finding)
{
	struct memory_text memory;
	FILE *out = memory_text_begin(&memory);
	if (finding->n_places)
		analyze_put_finding_place(out, &finding->places[0]);
	char *place = memory_text_end(&memory);
	out = memory_text_begin(&memory);
	if (strpbrk(place, "`|")) /* Markdown's code in a table can hold neither ` nor | */
		cli_put_markdown(out, place);
	else if (finding->n_places)
		fprintf(out, "`%s`", place);
	free(place);
	return memory_text_end(&memory);
}

void analyze_markdown_put_advice(FILE *out, const char *advice)
{
	bool is_in_code = false;
	struct analyze_line line;
	while (analyze_next_line(&advice, &line)) {
		if (line.is_code != is_in_code)
			fputs(line.is_code ? "\n```\n" : "```\n\n", out);
		is_in_code = line.is_code;
		fprintf(out, "%.*s\n", line.length, line.text);
	}
	if (is_in_code)
		fputs("```\n", out);
}

/* Yields the predicted gain of a finding's fix, or "" where none was predicted; the caller frees
 * the text. */
static char *worth_text(const struct analyze_run *run, const struct hwy_finding *finding)
{
	struct memory_text memory;
	FILE *out = memory_text_begin(&memory);
	if (finding->predicted.is_known)
		analyze_put_worth(out, finding, &run->analysis.phases.phases[finding->phase]);
	return memory_text_end(&memory);
}

static void analyze_markdown_put_table(FILE *out, const struct analyze_run *run)
{
	const struct hwy_diagnosis *diagnosis = &run->diagnosis;
	if (diagnosis->n == 0)
		return;
	struct table table = {
		.format = TABLE_MARKDOWN,
		.columns = 6,
		.align = "lrrl",
		.heads = 1,
		.is_markup = true,
		.right_rule = "--:",
	};
	table_row(&table,
		  (const char *[]){hwy_tr_word("head|finding"), hwy_tr_word("head|cost a step"),
				   hwy_tr_word("head|share"),
				   hwy_tr_word("head|what the fix is worth"),
				   hwy_tr_word("head|confidence"), hwy_tr_word("head|where")});
	for (uint32_t i = 0; i < diagnosis->n; i++) {
		const struct hwy_finding *finding = &diagnosis->findings[i];
		char *worth = worth_text(run, finding), *place = place_markup(finding);
		table_row(&table,
			  (const char *[]){finding->kind->id, hwy_say_time3(finding->cost).text,
					   hwy_say_share(finding->share).text, worth,
					   hwy_tr(hwy_confidence_names[finding->confidence]), place});
		free(worth);
		free(place);
	}
	table_print(&table, out);
}

static void put_head(FILE *out, const struct analyze_run *run)
{
	const struct hwy_phase *phase = analyze_main(run);
	uint32_t n;
	fputs("# ", out);
	cli_put_markdown(out, analyze_program(run).text);
	fprintf(out, hwy_tr("\n\n**%s**: "), verdict_name(&run->diagnosis.verdict, true).text);
	cli_put_markdown(out, run->diagnosis.verdict.says);
	if (!phase) {
		fputc('\n', out);
		return;
	}
	struct gap_states states = analyze_states(run, run->analysis.phases.main, &n);
	if (phase->n_steady > 1)
		fprintf(out, hwy_tr("\n\n**%s a step** (median %s, p10 %s, p90 %s), "),
			hwy_say_time3(phase->mean).text, hwy_say_time3(phase->median).text,
			hwy_say_time3(phase->p10).text, hwy_say_time3(phase->p90).text);
	else
		fprintf(out, "\n\n**%s %s**, ", hwy_say_time3(phase->mean).text,
			analyze_of_step(phase));
	analyze_put_steps(out, run, phase);
	fputs(hwy_tr("  \nGPU: "), out);
	analyze_put_states(out, &states);
	analyze_put_causes(out, &states);
	fputc('\n', out);
}

void analyze_print_markdown(FILE *out, const struct analyze_view *view)
{
	const struct analyze_run *run = &view->runs[view->shown];
	const struct hwy_diagnosis *diagnosis = &run->diagnosis;
	put_head(out, run);
	if (view->n > 1 && !view->are_ranks) {
		fputc('\n', out);
		analyze_put_runs(out, view, 0, 0);
	}
	if (!analyze_main(run))
		return;
	const struct hwy_outlook *verdict = &diagnosis->outlooks[run->analysis.phases.main];
	analyze_markdown_put_table(out, run);
	for (uint32_t i = 0; i < diagnosis->n; i++) {
		const struct hwy_finding *finding = &diagnosis->findings[i];
		fprintf(out, hwy_tr("\n## %" PRIu32 ". %s: %s\n\n"), i + 1, finding->kind->id,
			hwy_tr(finding->kind->title));
		cli_put_markdown(out, finding->says);
		fputs("\n\n", out);
		analyze_markdown_put_advice(out, finding->advice);
	}
	for (uint32_t i = 0; i < diagnosis->n_acquitted; i++) {
		if (i == 0)
			fputs(hwy_tr("\n## Looked at, not guilty\n\n"), out);
		char *place = place_markup(&diagnosis->acquitted[i]);
		fprintf(out, hwy_tr("- **%s** %s: "), diagnosis->acquitted[i].kind->id, place);
		free(place);
		cli_put_markdown(out, diagnosis->acquitted[i].says);
		fputc('\n', out);
	}
	for (uint32_t i = 0; i < diagnosis->n_cannot; i++) {
		fprintf(out, hwy_tr("\nCannot tell: "));
		cli_put_markdown(out, diagnosis->cannot[i].what);
		fputs(hwy_tr(", because "), out);
		cli_put_markdown(out, diagnosis->cannot[i].because);
		fprintf(out, "%s\n", hwy_tr_word(HWY_KEY("stop|.")));
	}
	if (verdict->is_healthy && *verdict->ncu) {
		char *command = analyze_say_kernels(run, verdict);
		fprintf(out, hwy_tr("\nNext:\n\n```\n%s\n```\n"), command);
		free(command);
	} else if (verdict->is_healthy && *verdict->inside)
		fprintf(out, "\n%s\n", verdict->inside);
}
