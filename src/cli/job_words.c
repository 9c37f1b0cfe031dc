/* SPDX-License-Identifier: Apache-2.0 */
/* job_words.c - what the formats of a job's analysis say alike; see job_print.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/quantile.h"
#include "base/say.h"
#include "cli/job_print.h"
#include "cli/kit/table.h"

struct analyze_name job_program(const struct job_view *job)
{
	const struct analyze_run *run = job->runs[answer_shown(&job->answer)];
	struct analyze_name name = analyze_program(run);
	/* Where the recording does not tell the program, the name is that of its file: the job's
	 * is better. */
	if (strcmp(name.text, hwy_basename(run->path)) == 0) {
		size_t length = strlen(job->name);
		while (length > 1 && job->name[length - 1] == '/')
			length--;
		const char *slash = memrchr(job->name, '/', length);
		const char *base = slash && slash + 1 < job->name + length ? slash + 1 : job->name;
		snprintf(name.text, sizeof name.text, "%.*s",
			 (int)(length - (size_t)(base - job->name)), base);
	}
	return name;
}

/* ---- the head -------------------------------------------------------------------------------- */

static uint32_t count_hosts(const struct job_view *job)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < job->job.n; i++) {
		uint32_t k = 0;
		while (k < i && strcmp(job->members[k].host, job->members[i].host) != 0)
			k++;
		n += k == i && *job->members[i].host;
	}
	return n;
}

/* The name of the first device that a rank works on, or "". */
static const char *rank_device(const struct analyze_run *run)
{
	const struct hwy_flow *flow = &run->analysis.flow;
	for (uint32_t d = 0; d < flow->n_devices; d++)
		if (flow->devices[d].device != HWY_NONE)
			return hwy_str(run->trace,
				       run->trace->devices[flow->devices[d].device].name);
	return "";
}

void job_put_title(FILE *out, const struct job_view *job)
{
	const struct analyze_run *typical = job->runs[answer_shown(&job->answer)];
	uint32_t hosts = count_hosts(job);
	fprintf(out, hwy_tr("%" PRIu32 " ranks"), job->job.n);
	if (hosts > 0)
		fprintf(out, hwy_tr(" on %" PRIu32 " host%s"), hosts, hosts == 1 ? "" : "s");
	if (*rank_device(typical)) {
		fputs(" · ", out);
		analyze_put(out, rank_device(typical));
	}
	if (analyze_main(typical)) {
		fputs(" · ", out);
		analyze_put_steps(out, typical, analyze_main(typical));
	}
}

static bool is_less_sure(const struct job_clock *a, const struct job_clock *b)
{
	if (a->source != b->source)
		return a->source > b->source;
	return a->error == HWY_NONE || (b->error != HWY_NONE && a->error > b->error);
}

void job_put_clocks(FILE *out, const struct job_view *job)
{
	const struct job_clock *worst = &job->job.ranks[job->job.n > 1 ? 1 : 0].clock;
	for (uint32_t r = 1; r < job->job.n; r++)
		if (is_less_sure(&job->job.ranks[r].clock, worst))
			worst = &job->job.ranks[r].clock;
	fprintf(out, "%s", hwy_tr(job_clock_source_names[worst->source]));
	if (worst->error != HWY_NONE && worst->source != JOB_CLOCK_SAME)
		fprintf(out, hwy_tr(", ± %s"), hwy_say_time3(worst->error).text);
	if (job->answer.meetings.n > 0)
		fprintf(out, hwy_tr("; %s collectives end within %s of each other"),
			hwy_say_count_grouped(job->answer.meetings.n).text,
			hwy_say_time3(job->answer.meetings.uncertain).text);
}

/* ---- the table of ranks ---------------------------------------------------------------------- */

static const struct {
	const char *name;
	int64_t ns;
} units[] = {{"s", 1000000000}, {"ms", 1000000}, {"µs", 1000}};

static unsigned unit_of(const struct job_view *job)
{
	return job->answer.step >= 10 * units[0].ns ? 0 : job->answer.step >= units[1].ns ? 1 : 2;
}

const char *job_unit(const struct job_view *job)
{
	return units[unit_of(job)].name;
}

void job_add_time(struct table *table, const struct job_view *job, int64_t ns)
{
	double value = (double)ns / (double)units[unit_of(job)].ns;
	if (value < 0.005)
		table_cell(table, "%s", table->format == TABLE_TEXT ? "·" : "");
	else
		table_cell(table, "%.*f", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value);
}

/* Columns that are below 1 % of the step for every rank are left empty, and so are not printed. */
static void add_time_or_nothing(struct table *table, const struct job_view *job, int64_t ns,
				enum rank_part part)
{
	const struct job_ranks *ranks = &job->answer.ranks;
	bool any = false;
	for (uint32_t r = 0; r < ranks->n; r++)
		any |= (double)ranks->rows[r].parts[part] >= JOB_COLUMN_SHARE * (double)ranks->step;
	if (any)
		job_add_time(table, job, ns);
	else
		table_cell(table, "%s", "");
}

static int64_t idle_of(const struct rank_row *row, const char **why)
{
	int64_t idle = 0, most = 0;
	for (unsigned c = 0; c < GAP_CAUSES; c++) {
		idle += row->parts[RANK_IDLE + c];
		if (row->parts[RANK_IDLE + c] > most) {
			most = row->parts[RANK_IDLE + c];
			*why = hwy_tr(gap_cause_names[c]);
		}
	}
	return idle;
}

/* Communication beside compute, where some rank has 1 % of a step of it. */
static void add_hidden(struct table *table, const struct job_view *job, int64_t ns)
{
	bool any = false;
	for (uint32_t r = 0; r < job->answer.ranks.n; r++)
		any |= (double)job->answer.ranks.rows[r].hidden >=
		       JOB_COLUMN_SHARE * (double)job->answer.ranks.step;
	if (any)
		job_add_time(table, job, ns);
	else
		table_cell(table, "%s", "");
}

static void add_rank_row(struct table *table, const struct job_view *job, uint32_t member,
			 bool with_clocks)
{
	const struct rank_row *row = &job->answer.ranks.rows[member];
	const struct job_clock *clock = &job->job.ranks[member].clock;
	const char *why = "";
	int64_t idle = idle_of(row, &why);
	bool is_many = count_hosts(job) > 1;
	table_cell(table, "%" PRId64, row->rank);
	table_cut_text(table, is_many ? row->host : "", 20);
	if (!row->is_judged) {
		for (uint32_t i = 2; i < table->columns; i++)
			table_cell(table, "%s", i == 2 ? "–" : "");
		return;
	}
	job_add_time(table, job, row->step);
	job_add_time(table, job, row->parts[RANK_COMPUTE]);
	add_hidden(table, job, row->hidden);
	job_add_time(table, job, row->parts[RANK_TRANSFER]);
	job_add_time(table, job, row->parts[RANK_WAIT]);
	add_time_or_nothing(table, job, row->parts[RANK_START], RANK_START);
	add_time_or_nothing(table, job, row->parts[RANK_COPY], RANK_COPY);
	job_add_time(table, job, idle);
	table_cell(table, "%s", why);
	job_add_time(table, job, row->blamed);
	table_cell(table, "%" PRIu32, row->n_late);
	if (with_clocks && clock->source != JOB_CLOCK_SAME && clock->error != HWY_NONE)
		table_cell(table, "± %s", hwy_say_time3(clock->error).text);
	else
		table_cell(table, "%s", "");
}

/* For a job of many ranks: which ones a person would want to see. */
static void choose_rows(const struct job_view *job, bool *chosen)
{
	const struct job_ranks *ranks = &job->answer.ranks;
	uint32_t extremes[6] = {0};
	for (uint32_t r = 0; r < ranks->n; r++) {
		const struct rank_row *row = &ranks->rows[r];
		const struct {
			int64_t own, best;
		} measures[6] = {
			{row->parts[RANK_COMPUTE], ranks->rows[extremes[0]].parts[RANK_COMPUTE]},
			{-row->parts[RANK_COMPUTE], -ranks->rows[extremes[1]].parts[RANK_COMPUTE]},
			{row->parts[RANK_WAIT], ranks->rows[extremes[2]].parts[RANK_WAIT]},
			{-row->parts[RANK_WAIT], -ranks->rows[extremes[3]].parts[RANK_WAIT]},
			{row->blamed, ranks->rows[extremes[4]].blamed},
			{row->parts[RANK_TRANSFER], ranks->rows[extremes[5]].parts[RANK_TRANSFER]},
		};
		for (int i = 0; i < 6; i++)
			if (measures[i].own > measures[i].best)
				extremes[i] = r;
	}
	chosen[0] = true;
	for (int i = 0; i < 6; i++)
		chosen[extremes[i]] = true;
	for (uint32_t i = 0; i < ranks->n_late_ranks; i++)
		chosen[ranks->late_ranks[i]] = true;
}

/* Takes out the columns that have nothing but a heading; as text the table does that itself. */
static void drop_empty_columns(struct table *table)
{
	uint32_t rows = table->n_cells / table->columns, kept = 0;
	char *align = hwy_zalloc(table->columns + 1);
	bool *keeps = hwy_zarray(table->columns, sizeof *keeps);
	for (uint32_t c = 0; c < table->columns; c++) {
		for (uint32_t r = 1; r < rows; r++)
			keeps[c] |= *table->cells[(size_t)r * table->columns + c] != '\0';
		if (keeps[c])
			align[kept++] = table->align[c];
	}
	uint32_t n = 0;
	for (uint32_t i = 0; i < table->n_cells; i++)
		if (keeps[i % table->columns])
			table->cells[n++] = table->cells[i];
		else
			free(table->cells[i]);
	table->n_cells = n;
	table->columns = kept;
	table->align = align;
	free(keeps);
}

uint32_t job_fill_table(struct table *table, const struct job_view *job, uint32_t most,
			bool with_clocks)
{
	static const char *const heads[] = {"rank",
					    HWY_KEY("head|host"),
					    HWY_KEY("head|step"),
					    HWY_KEY("head|compute"),
					    HWY_KEY("head|hidden"),
					    HWY_KEY("head|transfer"),
					    HWY_KEY("head|waits"),
					    HWY_KEY("head|start"),
					    HWY_KEY("head|copies"),
					    HWY_KEY("head|idle"),
					    HWY_KEY("head|why"),
					    HWY_KEY("head|costs"),
					    HWY_KEY("head|late"),
					    HWY_KEY("head|clock")};
	uint32_t n = job->answer.ranks.n, left_out = 0, shown = 0;
	bool *chosen = hwy_zarray(n, sizeof *chosen);
	table->columns = sizeof heads / sizeof *heads;
	table->align = "rlrrrrrrrrlrrr";
	table->heads = 1;
	for (uint32_t i = 0; i < table->columns; i++)
		table_cell(table, "%s", hwy_tr_word(heads[i]));
	if (n > most)
		choose_rows(job, chosen);
	for (uint32_t r = 0; r < n; r++) {
		bool is_shown = n <= most || (chosen[r] && shown < most);
		if (is_shown)
			add_rank_row(table, job, r, with_clocks);
		shown += is_shown;
		left_out += !is_shown;
	}
	free(chosen);
	if (table->format != TABLE_TEXT)
		drop_empty_columns(table);
	return left_out;
}

/* ---- findings -------------------------------------------------------------------------------- */

void job_put_finding_ranks(FILE *out, const struct job_view *job, const struct job_finding *finding)
{
	struct hwy_arena arena = {0};
	if (finding->n_members > 0)
		fputs(answer_say_ranks(&arena, &job->answer.ranks, finding->members,
				       finding->n_members),
		      out);
	hwy_arena_free(&arena);
}

void job_put_cost(FILE *out, const struct job_view *job, const struct job_finding *finding)
{
	const struct hwy_predicted *predicted = &finding->finding->predicted;
	struct hwy_words least = hwy_say_time3(finding->least), most = hwy_say_time3(finding->most);
	if (finding->n_members > 1 && !finding->is_joint && strcmp(least.text, most.text) != 0)
		fprintf(out, hwy_tr("%s to "), least.text);
	fprintf(out, hwy_tr("%s of %s a step"), hwy_say_time3(finding->most).text,
		hwy_say_time3(job->answer.step).text);
	if (finding->is_joint && predicted->is_known)
		fprintf(out, " → %s (%.2f×)", hwy_say_time3(predicted->step).text,
			predicted->speedup);
	else
		fprintf(out, hwy_tr(" (%s%s)"), hwy_say_share(finding->share).text,
			finding->n_members > 1 && !finding->is_joint ? hwy_tr(" on average") : "");
}

/* ---- who waits for whom ---------------------------------------------------------------------- */

static int by_length(const void *a, const void *b)
{
	const struct job_pair *x = a, *y = b;
	return (x->ns < y->ns) - (x->ns > y->ns);
}

struct job_pair *job_pairs(const struct job_view *job, uint32_t most, uint32_t *n)
{
	const struct job_ranks *ranks = &job->answer.ranks;
	struct job_pair *pairs = NULL;
	uint32_t cap = 0;
	*n = 0;
	for (uint32_t r = 0; r < ranks->n; r++)
		for (uint32_t late = 0; late < ranks->n; late++) {
			int64_t ns = ranks->waits[(size_t)r * ranks->n + late];
			if (ns <= 0)
				continue;
			HWY_GROW(pairs, *n, cap);
			pairs[(*n)++] = (struct job_pair){r, late, ns};
		}
	if (*n > 0)
		qsort(pairs, *n, sizeof *pairs, by_length);
	*n = *n < most ? *n : most;
	return pairs;
}

/* ---- jobs without device work ---------------------------------------------------------------- */

const char *job_cpu_window(const struct job_view *job)
{
	for (uint32_t r = 0; r < job->answer.n; r++)
		if (job->answer.cpu[r].threads > 1)
			return hwy_tr(
				"from the first to the last exchange of each thread, the threads of a "
				"rank added up");
	return hwy_tr("from the first to the last exchange of each rank");
}

void job_fill_cpu_table(struct table *table, const struct job_view *job, uint32_t most)
{
	static const char *const heads[] = {
		"rank",
		HWY_KEY("head|host"),
		HWY_KEY("head|time"),
		HWY_KEY("head|communicates"),
		HWY_KEY("head|waits"),
		HWY_KEY("head|costs others"),
	};
	table->columns = sizeof heads / sizeof *heads;
	table->heads = 1;
	table->align = "rlrrrr";
	table->hides_empty = true;
	for (uint32_t i = 0; i < table->columns; i++)
		table_cell(table, "%s", hwy_tr_word(heads[i]));
	for (uint32_t r = 0; r < job->answer.n && r < most; r++) {
		const struct job_cpu_row *row = &job->answer.cpu[r];
		table_cell(table, "%" PRId64, job->members[r].rank);
		table_cut_text(table, job->members[r].host, 20);
		table_time(table, row->window);
		table_time(table, row->comm);
		table_time(table, row->waits);
		table_time(table, row->costs);
	}
}
