/* SPDX-License-Identifier: Apache-2.0 */
/* digest_markdown.c - the analysis of a job from its digests as Markdown; see digest_print.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/lang.h"
#include "base/say.h"
#include "cli/digest_print.h"
#include "cli/kit/table.h"

enum { FOLDS = 50, MAP_ROWS = 24, MAP_COLUMNS = 64 };

static void put_paragraph(FILE *out, const char *text)
{
	if (!*text)
		return;
	fputc('\n', out);
	cli_put_markdown(out, text);
	fputc('\n', out);
}

static void put_digest_map(FILE *out, const struct digest_view *view)
{
	static const char *const shades[JOB_DEGREES] = {"·", "░", "▒", "▓", "█"};
	struct digest_map map;
	if (!digest_map_make(&map, view, MAP_ROWS, MAP_COLUMNS))
		return;
	fputs(hwy_tr("\n## How late ranks are\n\n```\n"), out);
	for (uint32_t i = 0; i < map.rows; i++) {
		const struct digest_map_row *row = &map.names[i];
		fprintf(out, "%6" PRId64, view->answer.ranks[row->first].digest->rank);
		if (row->is_one)
			fputs("         ", out);
		else
			fprintf(out, " – %-6" PRId64, view->answer.ranks[row->last].digest->rank);
		fputs("  ", out);
		for (uint32_t c = 0; c < map.columns; c++)
			fputs(shades[map.cells[(size_t)i * map.columns + c]], out);
		fputc('\n', out);
	}
	fputs("```\n", out);
	digest_map_free(&map);
}

static void put_findings_table(FILE *out, const struct digest_answer *answer)
{
	struct table table = {.format = TABLE_MARKDOWN,
			      .columns = 4,
			      .align = "llrl",
			      .heads = 1,
			      .right_rule = "--:"};
	if (answer->n_findings == 0)
		return;
	fputs(hwy_tr("\n## Findings\n"), out);
	table_row(&table,
		  (const char *[]){hwy_tr_word("head|finding"), hwy_tr_word("head|ranks"),
				   hwy_tr_word("head|cost a step"), hwy_tr_word("head|where")});
	for (uint32_t i = 0; i < answer->n_findings; i++) {
		const struct digest_finding *one = &answer->findings[i];
		struct hwy_arena arena = {0};
		table_row(&table,
			  (const char *[]){one->id,
					   one->n ? answer_say_ranks(&arena, &answer->job.ranks,
								     one->ranks, one->n)
						  : "",
					   hwy_say_time3(one->cost).text, one->place});
		hwy_arena_free(&arena);
	}
	table_print(&table, out);
}

void digest_print_markdown(FILE *out, const struct analyze_view *how,
			   const struct digest_view *view)
{
	const struct digest_answer *answer = &view->answer;
	struct table table = {.format = TABLE_MARKDOWN, .right_rule = "--:"};
	(void)how;
	fputs("# ", out);
	cli_put_markdown(out, *answer->program ? answer->program : answer->id);
	fputs("\n\n", out);
	digest_put_title(out, view);
	fprintf(out, hwy_tr("\n\n**%s**: "), verdict_said(answer->job.word));
	cli_put_markdown(out, answer->job.says);
	fputc('\n', out);
	if (answer->job.late_says != answer->job.says)
		put_paragraph(out, answer->job.late_says);
	put_paragraph(out, answer->gain_says);
	put_paragraph(out, answer->clock_says);
	put_paragraph(out, answer->slowing_says);
	put_paragraph(out, answer->trend_says);
	put_paragraph(out, answer->link_says);
	put_paragraph(out, answer->role_says);
	fprintf(out, hwy_tr("\n## Ranks, folded by likeness (%s a step)\n\n"),
		job_unit(&view->shell));
	uint32_t left_out = digest_fill_table(&table, view, FOLDS);
	table_print(&table, out);
	if (left_out > 0)
		fprintf(out, hwy_tr("\nand %s more ranks\n"), hwy_say_count_grouped(left_out).text);
	put_digest_map(out, view);
	put_findings_table(out, answer);
	for (uint32_t i = 0; i < answer->n_problems; i++) {
		fprintf(out, "%s- ", hwy_tr(i == 0 ? "\n## To know before\n\n" : ""));
		cli_put_markdown(out, answer->problems[i]);
		fputc('\n', out);
	}
}
