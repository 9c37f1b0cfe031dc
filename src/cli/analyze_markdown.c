/* analyze_markdown.c - the diagnosis as Markdown: for a pull request, an issue or a notebook. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze_print.h"
#include "cli/kit/cli.h"

static void analyze_markdown_put_place(FILE *out, const struct hwy_finding *finding)
{
	if (!finding->n_places)
		return;
	char *place = NULL;
	size_t n = 0;
	FILE *memory = open_memstream(&place, &n);
	if (!memory)
		cli_die("out of memory");
	analyze_put_place(memory, &finding->places[0].at);
	fclose(memory);
	if (strpbrk(place, "`|")) /* code can hold neither in a table */
		cli_put_markdown(out, place);
	else
		fprintf(out, "`%s`", place);
	free(place);
}

/* Prose as it is, code lines as a block. */
static void put_advice(FILE *out, const char *advice)
{
	bool code = false;
	while (*advice) {
		size_t n = strcspn(advice, "\n");
		bool is_code = n > 2 && advice[0] == ' ' && advice[1] == ' ';
		if (is_code != code)
			fputs(is_code ? "\n```\n" : "```\n\n", out);
		code = is_code;
		if (code)
			fprintf(out, "%.*s\n", (int)n - 2, advice + 2);
		else
			fprintf(out, "%.*s\n", (int)n, advice);
		advice += n + (advice[n] == '\n');
	}
	if (code)
		fputs("```\n", out);
}

static void analyze_markdown_put_table(FILE *out, const struct analyze_run *run)
{
	const struct hwy_diagnosis *diagnosis = &run->diagnosis;
	if (diagnosis->n == 0)
		return;
	fputs("\n| finding | cost a step | share | what the fix is worth | confidence | where |\n"
	      "|---|--:|--:|---|---|---|\n",
	      out);
	for (uint32_t i = 0; i < diagnosis->n; i++) {
		const struct hwy_finding *finding = &diagnosis->findings[i];
		fprintf(out, "| %s | %s | %s | ", finding->kind->id, analyze_time(finding->cost).at,
			analyze_percent(finding->share).at);
		if (finding->predicted.is_known)
			analyze_put_worth(out, finding,
					  &run->analysis.phases.phases[finding->phase]);
		fprintf(out, " | %s | ", hwy_confidence_names[finding->confidence]);
		analyze_markdown_put_place(out, finding);
		fputs(" |\n", out);
	}
}

static void put_head(FILE *out, const struct analyze_run *run)
{
	const struct hwy_phase *phase = analyze_main(run);
	uint32_t n;
	fputs("# ", out);
	cli_put_markdown(out, analyze_program(run));
	if (!phase) {
		fputs("\n\nNo device work in this recording.\n", out);
		return;
	}
	struct gap_states states = analyze_states(run, run->analysis.phases.main, &n);
	fprintf(out, "\n\n**%s a step** (median %s, p10 %s, p90 %s), ",
		analyze_time(phase->mean).at, analyze_time(phase->median).at,
		analyze_time(phase->p10).at, analyze_time(phase->p90).at);
	analyze_put_steps(out, run, phase);
	fputs("  \nGPU: ", out);
	analyze_put_states(out, &states);
	analyze_put_causes(out, &states);
	fputc('\n', out);
}

void analyze_print_markdown(FILE *out, const struct analyze_view *view)
{
	const struct analyze_run *run = &view->runs[view->shown];
	const struct hwy_diagnosis *diagnosis = &run->diagnosis;
	put_head(out, run);
	if (!analyze_main(run))
		return;
	const struct hwy_verdict *verdict = &diagnosis->verdicts[run->analysis.phases.main];
	if (verdict->is_healthy && verdict->is_known) {
		fputc('\n', out);
		analyze_put_health(out, verdict);
		fputc('\n', out);
	}
	analyze_markdown_put_table(out, run);
	for (uint32_t i = 0; i < diagnosis->n; i++) {
		const struct hwy_finding *finding = &diagnosis->findings[i];
		fprintf(out, "\n## %" PRIu32 ". %s: %s\n\n", i + 1, finding->kind->id,
			finding->kind->title);
		cli_put_markdown(out, finding->says);
		fputs("\n\n", out);
		put_advice(out, finding->advice);
	}
	for (uint32_t i = 0; i < diagnosis->n_acquitted; i++) {
		if (i == 0)
			fputs("\n## Looked at, not guilty\n\n", out);
		fprintf(out, "- **%s** ", diagnosis->acquitted[i].kind->id);
		analyze_markdown_put_place(out, &diagnosis->acquitted[i]);
		fputs(": ", out);
		cli_put_markdown(out, diagnosis->acquitted[i].says);
		fputc('\n', out);
	}
	for (uint32_t i = 0; i < diagnosis->n_cannot; i++) {
		fprintf(out, "\nCannot tell: ");
		cli_put_markdown(out, diagnosis->cannot[i].what);
		fputs(", because ", out);
		cli_put_markdown(out, diagnosis->cannot[i].because);
		fputs(".\n", out);
	}
	if (verdict->is_healthy && *verdict->ncu)
		fprintf(out, "\nNext:\n\n```\n%s\n```\n", verdict->ncu);
	else if (verdict->is_healthy && *verdict->inside)
		fprintf(out, "\n%s\n", verdict->inside);
}
