/* SPDX-License-Identifier: Apache-2.0 */
/* job_print.h - the output formats of `headway analyze` for a job, and what they share. */
#ifndef HWY_CLI_JOB_PRINT_H
#define HWY_CLI_JOB_PRINT_H

#include "cli/analyze_print.h"
#include "job/answer.h"
#include "job/job.h"

struct table;

struct job_view {
	const char *name;   /* the folder, or the first file */
	struct hwy_job job; /* its traces belong to the runs */
	/* Parallel: the member and the run that each rank of the job is. */
	struct ranks_member *members;
	const struct analyze_run **runs;
	struct job_answer answer;
	/* Where the job is shown as one trace: yields the id there of a span of a member's
	 * recording, or HWY_NONE. NULL: evidence is told by the ids of its own recording. */
	int64_t (*span_of)(void *self, uint32_t member, uint32_t span);
	void *self;
};

/* Compares the runs, which are ranks of one job in order of their ranks; of several with one
 * rank only the first counts. NULL where a recording cannot be read. */
struct job_view *job_view_open(struct analyze_view *view, const char *name, struct hwy_err *err);
void job_view_close(struct job_view *job);
/* Opens and compares the recordings of a folder, which must be ranks of one job. Files that
 * cannot be read or judged are problems of the job. 'step' is the value of --step, or NULL. */
bool job_view_of_folder(struct analyze_view *view, const char *folder, const char *step,
			struct hwy_err *err);
/* The same of some files; 'name' is that of their job. */
bool job_view_of_files(struct analyze_view *view, const char *name, const char *const *paths,
		       uint32_t n, const char *step, struct hwy_err *err);
void job_view_free(struct analyze_view *view); /* closes the job and its runs */
struct worker_job;
struct view_trace;
/* Lets the viewer, which shows the ranks as one trace, know each rank's own recording; evidence
 * is then told by the spans of that trace. */
bool job_view_open_worker(struct job_view *job, struct worker_job *ranks,
			  const struct view_trace *view, struct hwy_err *err);

void job_print_text(FILE *out, const struct analyze_view *view);
/* Only the verdict, and the first findings without what to do. */
void job_print_few(FILE *out, const struct analyze_view *view);
void job_print_brief(FILE *out, const struct analyze_view *view);
void job_print_markdown(FILE *out, const struct analyze_view *view);
struct hwy_json;
/* Writes the member "job" of the object. */
void job_json_put(struct hwy_json *json, const struct job_view *job);

/* Prints verdict, late ranks and first findings at the end of `headway profile` of a job;
 * nothing where no rank has device work. Never fails: a folder that cannot be judged still has
 * its reports. */
void job_print_short(FILE *out, const char *folder);

/* ---- what the formats say alike (job_words.c) ------------------------------------------------ */

/* Yields the program, or the job, as people know it. */
struct analyze_name job_program(const struct job_view *job);
/* Writes "8 ranks on 2 hosts · NVIDIA H200 · 48 steps (step_…)". */
void job_put_title(FILE *out, const struct job_view *job);
/* Writes how the clocks were brought together: "clocks: collective ends, ± 7 µs"; of ranks that
 * differ, the least sure. */
void job_put_clocks(FILE *out, const struct job_view *job);
/* Columns that have less than this share of a step for every rank are left out. */
#define JOB_COLUMN_SHARE 0.01
/* Fills a table with a row for each rank that is worth one: all of at most 'most' ranks; else
 * those that are late, wait longest, compute most and least, and the median of all. Yields how
 * many ranks have no row. In Markdown, table->align is to be freed afterwards. */
uint32_t job_fill_table(struct table *table, const struct job_view *job, uint32_t most,
			bool with_clocks);
/* A job without device work: over which time its ranks are measured, "from the first to …"; and
 * the table of it, with at most 'most' ranks. */
const char *job_cpu_window(const struct job_view *job);
void job_fill_cpu_table(struct table *table, const struct job_view *job, uint32_t most);
/* Adds a time in the unit of the job's table, with three digits; a dot for what is too little to
 * show. */
void job_add_time(struct table *table, const struct job_view *job, int64_t ns);
/* The unit in which the table has its times: "ms". */
const char *job_unit(const struct job_view *job);
/* Writes "ranks 0 – 7", and the range of the costs of a finding: "3.11 – 5.54 ms of 14.5 ms (31
 * %) a step". */
void job_put_finding_ranks(FILE *out, const struct job_view *job,
			   const struct job_finding *finding);
void job_put_cost(FILE *out, const struct job_view *job, const struct job_finding *finding);

/* The pairs of ranks that wait longest for each other, the longest first; at most 'most'. To be
 * freed. */
struct job_pair {
	uint32_t waits, late; /* members */
	int64_t ns;           /* a step */
};
struct job_pair *job_pairs(const struct job_view *job, uint32_t most, uint32_t *n);

/* ---- the heat map (job_map.c) ---------------------------------------------------------------- */

/* How late a rank is in a step or in a few neighbours, in five degrees, by the share of a step. */
enum { JOB_DEGREES = 5 };
extern const double job_degrees[JOB_DEGREES]; /* where each degree begins; the first is 0 */
struct job_map {
	uint32_t rows, columns;
	uint32_t group;    /* steps in a column */
	uint32_t *members; /* of each row */
	uint8_t *cells;    /* degrees, row by row */
	uint32_t left_out; /* ranks without a row, because they are never late */
};
/* At most so many rows and columns. A cell is as late as the latest of its steps. False where
 * nobody is ever late. */
bool job_map_make(struct job_map *map, const struct job_view *job, uint32_t rows, uint32_t columns);
void job_map_free(struct job_map *map);

#endif
