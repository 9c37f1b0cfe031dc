/* SPDX-License-Identifier: Apache-2.0 */
/* job_markdown.c - the analysis of a job as Markdown: for a pull request, an issue or a
 * notebook. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/memory_text.h"
#include "base/say.h"
#include "cli/job_print.h"
#include "cli/kit/table.h"

enum { ROWS = 64, MAP_ROWS = 32, MAP_COLUMNS = 64, PAIRS = 8 };

static void put_ranks(FILE *out, const struct job_view *job)
{
	struct table table = {.format = TABLE_MARKDOWN, .right_rule = "--:"};
	if (job->answer.ranks.n_steps == 0)
		return;
	fprintf(out,
		hwy_tr("\n## Ranks\n\nA step of each rank, in %s. *hidden*: communication beside compute. *waits*: for other ranks, "
		       "and nothing else. *costs*: what one other rank waits for this one. *late*: steps in which it is.\n"),
		job_unit(job));
	uint32_t left_out = job_fill_table(&table, job, ROWS, true);
	table_print(&table, out);
	free((char *)table.align);
	if (left_out > 0)
		fprintf(out, hwy_tr("\n%" PRIu32 " more ranks lie between these.\n"), left_out);
	fputs(hwy_tr("\nClocks: "), out);
	job_put_clocks(out, job);
	fprintf(out, "%s\n", hwy_tr_word(HWY_KEY("stop|.")));
}

/* A job without device work. */
static void put_exchanges(FILE *out, const struct job_view *job)
{
	struct table table = {.format = TABLE_MARKDOWN, .right_rule = "--:"};
	fprintf(out, hwy_tr("\n## Ranks\n\nTimes are %s.\n"), job_cpu_window(job));
	job_fill_cpu_table(&table, job, ROWS);
	table_print(&table, out);
	if (job->answer.n > ROWS)
		fprintf(out, hwy_tr("\nand %" PRIu32 " more ranks.\n"), job->answer.n - ROWS);
}

static void put_map(FILE *out, const struct job_view *job)
{
	static const char *const shades[JOB_DEGREES] = {"·", "░", "▒", "▓", "█"};
	struct job_map map;
	if (!job_map_make(&map, job, MAP_ROWS, MAP_COLUMNS))
		return;
	fprintf(out,
		hwy_tr("\n## How late each rank is, step by step\n\n`·` less than 2 %% of a step, `░` to 5 %%, `▒` to 15 %%, `▓` to "
		       "30 %%, `█` more; %" PRIu32 " step%s a cell.\n\n```\n"),
		map.group, map.group == 1 ? "" : "s");
	for (uint32_t r = 0; r < map.rows; r++) {
		fprintf(out, "%4" PRId64 "  ", job->answer.ranks.rows[map.members[r]].rank);
		for (uint32_t c = 0; c < map.columns; c++)
			fputs(shades[map.cells[(size_t)r * map.columns + c]], out);
		fputc('\n', out);
	}
	fputs("```\n", out);
	job_map_free(&map);
}

static void put_waits(FILE *out, const struct job_view *job)
{
	uint32_t n;
	struct job_pair *pairs = job_pairs(job, PAIRS, &n);
	for (uint32_t i = 0; i < n; i++) {
		if (i == 0)
			fputs(hwy_tr("\n## Who waits for whom\n\n"), out);
		fprintf(out, hwy_tr("- rank %" PRId64 " for rank %" PRId64 ": %s a step\n"),
			job->answer.ranks.rows[pairs[i].waits].rank,
			job->answer.ranks.rows[pairs[i].late].rank,
			hwy_say_time3(pairs[i].ns).text);
	}
	free(pairs);
}

static char *in_memory(void (*put)(FILE *, const struct job_view *, const struct job_finding *),
		       const struct job_view *job, const struct job_finding *finding)
{
	struct memory_text memory;
	put(memory_text_begin(&memory), job, finding);
	return memory_text_end(&memory);
}

static void job_markdown_place(FILE *out, const struct job_view *job, const struct job_finding *one)
{
	(void)job;
	if (one->finding->n_places)
		analyze_put_finding_place(out, &one->finding->places[0]);
}

static void job_markdown_findings(FILE *out, const struct job_view *job)
{
	const struct job_answer *answer = &job->answer;
	struct table table = {.format = TABLE_MARKDOWN,
			      .columns = 4,
			      .align = "llrl",
			      .heads = 1,
			      .right_rule = "--:"};
	if (answer->n_findings == 0)
		return;
	fputs(hwy_tr("\n## Findings\n"), out);
	table_row(&table, (const char *[]){hwy_tr_word("head|finding"), hwy_tr_word("head|ranks"),
					   hwy_tr_word("head|cost"), hwy_tr_word("head|where")});
	for (uint32_t i = 0; i < answer->n_findings; i++) {
		const struct job_finding *one = &answer->findings[i];
		char *ranks = in_memory(job_put_finding_ranks, job, one),
		     *cost = in_memory(job_put_cost, job, one),
		     *place = in_memory(job_markdown_place, job, one);
		table_row(&table, (const char *[]){one->finding->kind->id, ranks, cost, place});
		free(ranks);
		free(cost);
		free(place);
	}
	table_print(&table, out);
	for (uint32_t i = 0; i < answer->n_findings; i++) {
		const struct hwy_finding *finding = answer->findings[i].finding;
		fprintf(out, hwy_tr("\n### %" PRIu32 ". %s: %s\n\n"), i + 1, finding->kind->id,
			hwy_tr(finding->kind->title));
		cli_put_markdown(out, finding->says);
		fputs("\n\n", out);
		analyze_markdown_put_advice(out, finding->advice);
	}
}

void job_print_markdown(FILE *out, const struct analyze_view *view)
{
	const struct job_view *job = view->job;
	const struct job_answer *answer = &job->answer;
	fputs("# ", out);
	cli_put_markdown(out, job_program(job).text);
	fputs("\n\n", out);
	job_put_title(out, job);
	fprintf(out, hwy_tr("\n\n**%s**: "), verdict_said(answer->word));
	cli_put_markdown(out, answer->says);
	fputc('\n', out);
	if (*answer->late_says && answer->late_says != answer->says) {
		fputc('\n', out);
		cli_put_markdown(out, answer->late_says);
		fputc('\n', out);
	}
	if (answer->typical < answer->n) {
		put_ranks(out, job);
		put_map(out, job);
		put_waits(out, job);
		job_markdown_findings(out, job);
	} else if (answer->cpu) {
		put_exchanges(out, job);
	}
	for (uint32_t i = 0; i < job->job.n_problems; i++) {
		fprintf(out, "%s- ", hwy_tr(i == 0 ? "\n## To know before\n\n" : ""));
		cli_put_markdown(out, job->job.problems[i]);
		fputc('\n', out);
	}
}
