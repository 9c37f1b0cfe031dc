/* SPDX-License-Identifier: Apache-2.0 */
/* diff_jobs.c - two jobs, rank by rank, in the formats of `headway diff`; see compare_print.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_fields.h"
#include "base/lang.h"
#include "base/mem.h"
#include "base/say.h"
#include "cli/compare_print.h"
#include "cli/kit/cli.h"
#include "cli/kit/table.h"
#include "compare/job_diff.h"

enum { MOST_RANKS = 16 };
/* A part that is below this share of the step on both sides has no row. */
#define ROW_SHARE 0.005

static const char *const lateness_words[] = {
	[RANKS_IN_TIME] = HWY_KEY("nobody is late"),
	[RANKS_TAKE_TURNS] = HWY_KEY("ranks take turns at being late"),
	[RANKS_FEW_STEPS] = HWY_KEY("too few steps to tell who is late"),
};

/* "rank 3 is late"; in the arena. */
static const char *say_lateness(const struct job_answer *answer, struct hwy_arena *arena)
{
	const struct job_ranks *ranks = &answer->ranks;
	bool is_one = ranks->n_late_ranks == 1;
	if (ranks->lateness != RANKS_REPEAT && ranks->lateness != RANKS_EARLY)
		return hwy_tr(lateness_words[ranks->lateness]);
	const char *who = answer_say_ranks(arena, ranks, ranks->late_ranks, ranks->n_late_ranks);
	if (ranks->lateness == RANKS_REPEAT)
		return hwy_arena_say(arena, is_one ? "%s is late" : "%s are late", who);
	return hwy_arena_say(arena, is_one ? "%s is early" : "%s are early", who);
}

static const char *say_change(int64_t before, int64_t after, struct hwy_arena *arena)
{
	return hwy_arena_format(arena, "%s", hwy_say_time3_change(after - before).text);
}

static void put_job_parts(FILE *out, const struct job_diff *jobs, struct table *table)
{
	struct hwy_arena arena = {0};
	table->columns = 4;
	table_row(table, (const char *[]){hwy_tr("a step, mean over ranks"), hwy_tr("before"),
					  hwy_tr("after"), hwy_tr("change")});
	for (unsigned p = 0; p < RANK_PARTS; p++) {
		int64_t a = jobs->parts_before[p], b = jobs->parts_after[p];
		if ((double)a < ROW_SHARE * (double)jobs->step_before &&
		    (double)b < ROW_SHARE * (double)jobs->step_after)
			continue;
		table_row(table,
			  (const char *[]){ranks_part_word(p), hwy_say_time3_signed(a).text,
					   hwy_say_time3_signed(b).text, say_change(a, b, &arena)});
	}
	table_row(table,
		  (const char *[]){hwy_tr("step"), hwy_say_time3_signed(jobs->step_before).text,
				   hwy_say_time3_signed(jobs->step_after).text,
				   say_change(jobs->step_before, jobs->step_after, &arena)});
	table_print(table, out);
	hwy_arena_free(&arena);
}

static void add_change(struct table *table, const struct rank_row *before,
		       const struct rank_row *after, int64_t (*of)(const struct rank_row *row))
{
	if (before && after)
		table_cell(table, "%s → %s", hwy_say_time3_signed(of(before)).text,
			   hwy_say_time3_signed(of(after)).text);
	else
		table_cell(table, before ? hwy_tr("%s → gone") : hwy_tr("new: %s"),
			   hwy_say_time3_signed(of(before ? before : after)).text);
}

static int64_t compute_of(const struct rank_row *row)
{
	return row->parts[RANK_COMPUTE];
}
static int64_t waiting_of(const struct rank_row *row)
{
	return row->parts[RANK_WAIT];
}
static int64_t blamed_of(const struct rank_row *row)
{
	return row->blamed;
}

/* By how much a rank changed, in what it computes and in what it costs the others. */
static int64_t size_of_change(const struct job_diff_row *row)
{
	if (!row->before || !row->after)
		return INT64_MAX;
	return llabs(compute_of(row->after) - compute_of(row->before)) +
	       llabs(blamed_of(row->after) - blamed_of(row->before));
}

/* Of many ranks those that changed most; rows stay in order of ranks. */
static bool *choose_changed(const struct job_diff *jobs)
{
	bool *chosen = hwy_zarray(jobs->n, sizeof *chosen);
	for (uint32_t k = 0; k < MOST_RANKS && k < jobs->n; k++) {
		uint32_t best = jobs->n;
		for (uint32_t i = 0; i < jobs->n; i++)
			if (!chosen[i] &&
			    (best == jobs->n ||
			     size_of_change(&jobs->rows[i]) > size_of_change(&jobs->rows[best])))
				best = i;
		chosen[best] = true;
	}
	return chosen;
}

static void put_job_ranks(FILE *out, const struct job_diff *jobs, struct table *table)
{
	bool *chosen = choose_changed(jobs);
	table->columns = 4;
	table_row(table,
		  (const char *[]){"rank", hwy_tr("compute"), hwy_tr_word(HWY_KEY("row|waits")),
				   hwy_tr("costs others")});
	for (uint32_t i = 0; i < jobs->n; i++) {
		if (!chosen[i])
			continue;
		const struct job_diff_row *row = &jobs->rows[i];
		table_cell(table, "%" PRId64, row->rank);
		add_change(table, row->before, row->after, compute_of);
		add_change(table, row->before, row->after, waiting_of);
		add_change(table, row->before, row->after, blamed_of);
	}
	free(chosen);
	table_print(table, out);
}

static void put_job_lines(FILE *out, const struct job_diff *jobs, const char *indent)
{
	struct hwy_arena arena = {0};
	const char *before = say_lateness(jobs->before, &arena),
		   *after = say_lateness(jobs->after, &arena);
	if (strcmp(before, after) == 0)
		fprintf(out, hwy_tr("%slate: %s, before and after\n"), indent, before);
	else
		fprintf(out, hwy_tr("%slate: %s → %s\n"), indent, before, after);
	fprintf(out, hwy_tr("%simbalance of compute: %s → %s\n"), indent,
		hwy_say_share(jobs->before->ranks.imbalance).text,
		hwy_say_share(jobs->after->ranks.imbalance).text);
	hwy_arena_free(&arena);
}

void diff_jobs_put_text(FILE *out, const struct job_diff *jobs)
{
	struct table table = {
		.heads = 1, .indent = "   ", .colour = cli_colour(out), .align = "lr"};
	fprintf(out, hwy_tr("\n   the jobs: %" PRIu32 " ranks → %" PRIu32 " ranks\n"),
		jobs->before->n, jobs->after->n);
	put_job_lines(out, jobs, "   ");
	put_job_parts(out, jobs, &table);
	fputc('\n', out);
	struct table ranks = {.heads = 1, .indent = "   ", .colour = cli_colour(out), .align = "r"};
	put_job_ranks(out, jobs, &ranks);
	if (jobs->n > MOST_RANKS)
		fprintf(out,
			hwy_tr("   … and %" PRIu32 " ranks that changed less: --format json\n"),
			jobs->n - MOST_RANKS);
}

void diff_jobs_put_tables(FILE *out, const struct job_diff *jobs, bool html)
{
	enum table_format format = html ? TABLE_HTML : TABLE_MARKDOWN;
	struct table table = {.heads = 1, .format = format, .align = "lr", .right_rule = "--:"};
	if (html)
		fputs("<pre>", out);
	put_job_lines(out, jobs, html ? "" : "- ");
	fputs(html ? "</pre>\n" : "\n", out);
	put_job_parts(out, jobs, &table);
	fputc('\n', out);
	struct table ranks = {.heads = 1, .format = format, .align = "r", .right_rule = "--:"};
	put_job_ranks(out, jobs, &ranks);
}

static void put_job_side(struct hwy_json *json, const char *key, const struct job_answer *answer,
			 const int64_t parts[RANK_PARTS], int64_t step)
{
	json_key(json, key);
	json_begin_object(json);
	json_put_int(json, "ranks", answer->n);
	json_put_text(json, "verdict", verdict_words[answer->word]);
	json_put_text(json, "says", answer->says);
	json_put_int(json, "step_ns", step);
	json_key(json, "parts");
	json_begin_object(json);
	for (unsigned p = 0; p < RANK_PARTS; p++)
		json_put_int(json, ranks_part_name(p), parts[p]);
	json_end_object(json);
	json_put_text(json, "lateness", ranks_lateness_names[answer->ranks.lateness]);
	json_key(json, "late_ranks");
	json_begin_array(json);
	for (uint32_t i = 0; i < answer->ranks.n_late_ranks; i++)
		json_int(json, answer->ranks.rows[answer->ranks.late_ranks[i]].rank);
	json_end_array(json);
	json_put_real(json, "compute_imbalance", answer->ranks.imbalance, 6);
	json_end_object(json);
}

static void put_rank_side(struct hwy_json *json, const char *key, const struct rank_row *row)
{
	json_key(json, key);
	if (!row) {
		json_null(json);
		return;
	}
	json_begin_object(json);
	json_put_int(json, "step_ns", row->step);
	json_put_int(json, "compute_ns", row->parts[RANK_COMPUTE]);
	json_put_int(json, "transfer_ns", row->parts[RANK_TRANSFER]);
	json_put_int(json, "wait_ns", row->parts[RANK_WAIT]);
	json_put_int(json, "costs_others_ns", row->blamed);
	json_put_int(json, "late_steps", row->n_late);
	json_end_object(json);
}

void diff_jobs_put_json(struct hwy_json *json, const struct job_diff *jobs)
{
	json_key(json, "job");
	json_begin_object(json);
	put_job_side(json, "before", jobs->before, jobs->parts_before, jobs->step_before);
	put_job_side(json, "after", jobs->after, jobs->parts_after, jobs->step_after);
	json_key(json, "ranks");
	json_begin_array(json);
	for (uint32_t i = 0; i < jobs->n; i++) {
		json_begin_object(json);
		json_put_int(json, "rank", jobs->rows[i].rank);
		put_rank_side(json, "before", jobs->rows[i].before);
		put_rank_side(json, "after", jobs->rows[i].after);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}
