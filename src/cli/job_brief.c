/* SPDX-License-Identifier: Apache-2.0 */
/* job_brief.c - the analysis of a job in under 2 kB of plain lines, for scripts and language
 * models. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/memory_text.h"
#include "base/say.h"
#include "cli/job_print.h"

enum { FINDINGS = 3, PAIRS = 3 };

static void job_brief_put_finding(FILE *out, const struct job_view *job,
				  const struct job_finding *one, uint32_t number)
{
	const struct hwy_finding *finding = one->finding;
	fprintf(out, "%" PRIu32 ". %s", number, finding->kind->id);
	if (one->n_members > 0) {
		fputs(hwy_tr_word(HWY_KEY("open| (")), out);
		job_put_finding_ranks(out, job, one);
		fputs(hwy_tr_word(HWY_KEY("close|)")), out);
	}
	fputs(hwy_tr(": "), out);
	job_put_cost(out, job, one);
	if (finding->n_places) {
		fputs(hwy_tr(" at "), out);
		analyze_put_finding_place(out, &finding->places[0]);
	}
	fprintf(out, hwy_tr(". %s Fix: %.*s\n"), finding->says, (int)strcspn(finding->advice, "\n"),
		finding->advice);
}

/* The ranks with the shortest and the longest time of a part: "compute 7.10 ms (rank 3) to 9.00
 * ms (rank 1)". */
static void put_range(FILE *out, const struct job_ranks *ranks, enum rank_part part)
{
	uint32_t least = ranks->n, most = ranks->n;
	for (uint32_t r = 0; r < ranks->n; r++) {
		if (!ranks->rows[r].is_judged)
			continue;
		if (least == ranks->n ||
		    ranks->rows[r].parts[part] < ranks->rows[least].parts[part])
			least = r;
		if (most == ranks->n || ranks->rows[r].parts[part] > ranks->rows[most].parts[part])
			most = r;
	}
	if (least < ranks->n)
		fprintf(out, hwy_tr("; %s %s (rank %" PRId64 ") to %s (rank %" PRId64 ")"),
			ranks_part_word(part), hwy_say_time3(ranks->rows[least].parts[part]).text,
			ranks->rows[least].rank, hwy_say_time3(ranks->rows[most].parts[part]).text,
			ranks->rows[most].rank);
}

/* What the steps of a job with device work are made of, who waits for whom, and what was found. */
static void job_brief_put_steps(FILE *out, const struct job_view *job)
{
	const struct job_answer *answer = &job->answer;
	const struct job_ranks *ranks = &answer->ranks;
	if (*answer->late_says && answer->late_says != answer->says)
		fprintf(out, hwy_tr("Late: %s\n"), answer->late_says);
	fprintf(out, hwy_tr("Step: %s"), hwy_say_time3(answer->step).text);
	put_range(out, ranks, RANK_COMPUTE);
	put_range(out, ranks, RANK_TRANSFER);
	put_range(out, ranks, RANK_WAIT);
	fputc('\n', out);
	uint32_t n;
	struct job_pair *pairs = job_pairs(job, PAIRS, &n);
	for (uint32_t i = 0; i < n; i++)
		fprintf(out, hwy_tr("%srank %" PRId64 " for rank %" PRId64 " %s a step%s"),
			hwy_tr(i == 0 ? "Waits: " : ", "), ranks->rows[pairs[i].waits].rank,
			ranks->rows[pairs[i].late].rank, hwy_say_time3(pairs[i].ns).text,
			i + 1 < n ? "" : "\n");
	free(pairs);
	for (uint32_t i = 0; i < answer->n_findings && i < FINDINGS; i++)
		job_brief_put_finding(out, job, &answer->findings[i], i + 1);
}

static void job_brief_put_all(FILE *out, const struct job_view *job)
{
	const struct job_answer *answer = &job->answer;
	analyze_put(out, job_program(job).text);
	fputs(hwy_tr(": "), out);
	job_put_title(out, job);
	fprintf(out, hwy_tr("\nVerdict: %s. %s\n"), verdict_said(answer->word), answer->says);
	if (answer->typical < answer->n)
		job_brief_put_steps(out, job);
	for (uint32_t i = 0; i < job->job.n_problems; i++)
		fprintf(out, hwy_tr("Note: %s\n"), job->job.problems[i]);
}

void job_print_brief(FILE *out, const struct analyze_view *view)
{
	struct memory_text memory;
	job_brief_put_all(memory_text_begin(&memory), view->job);
	analyze_write_brief(out, &memory);
}
