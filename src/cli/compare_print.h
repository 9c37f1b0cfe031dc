/* SPDX-License-Identifier: Apache-2.0 */
/* compare_print.h - what diff, gate and baseline share: opening runs, and saying numbers that
 * changed. */
#ifndef HWY_CLI_COMPARE_PRINT_H
#define HWY_CLI_COMPARE_PRINT_H

#include <stdio.h>

#include "base/say.h"
#include "compare/diff.h"
#include "compare/gate.h"

struct analyze_view;
struct compare_runs { /* the runs of one side of a comparison */
	struct compare_summary *runs;
	uint32_t n, cap;
	/* Parallel to 'runs': the job of which the run is a typical rank, from its reports or
	 * from its digests; all are NULL where it is of none. */
	struct compared_job {
		const struct job_answer *answer;
		struct analyze_view *reports;
		struct digest_view *digests;
	} * jobs;
	uint32_t n_jobs, cap_jobs;
};

/* Adds the run of a recording, or the runs of a baseline file; exits with 2 where the file
 * cannot be read. 'step' is the value of --step, or NULL. */
void compare_open(struct compare_runs *runs, const char *path, const char *step);
/* Makes two sides of one recording: the first and the second half of its steady steps. */
void compare_open_halves(struct compare_runs *first, struct compare_runs *second, const char *path,
			 const char *step);
/* Adds the run of a recording that is analysed already; 'path' names it. False where it has no
 * device work. */
struct hwy_analysis;
bool compare_add_analysis(struct compare_runs *runs, const char *path,
			  struct hwy_analysis *analysis, const struct hwy_diagnosis *diagnosis,
			  struct hwy_err *err);
void compare_close(struct compare_runs *runs);
struct compare_side compare_side(const struct compare_runs *runs);
void compare_side_free(struct compare_side *side);

/* An option of the commands that compare runs. The command's struct options needs the field
 * 'run_noise'. */
#define COMPARE_RUN_NOISE                                                                                 \
	{                                                                                                 \
		0, "run-noise", "SHARE",                                                                  \
			"how far a run's mean commonly lies from the program's, assumed with fewer than " \
			"three runs a side (default: the drift within each run or what the runs differ "  \
			"by, 2% at least)",                                                               \
			CLI_SHARE, CLI_AT(run_noise)                                                      \
	}

/* Yields what a verdict on the step is called: "faster", "unknown". */
const char *compare_verdict_word(enum compare_verdict verdict);
/* Writes what limited the step before and after, such as "sync → gpu"; one word where both are the
 * same. */
void compare_put_verdicts(FILE *out, const struct compare_diff *diff);
/* Writes the one or two parts of the step that make up its change: "idle: blocked −811 µs"; nothing
 * where the step did not change. */
void compare_put_cause(FILE *out, const struct compare_diff *diff);

/* Writes text of a recording for a terminal, cut where it is longer than 'most' bytes. */
void compare_put_cut(FILE *out, const char *text, size_t most);
/* Writes the reasons why the sides are hard to compare, one on each line: " ! driver: 550 →
 * 580". */
void compare_put_notes(FILE *out, const struct compare_diff *diff);
/* Writes the notes of compare_put_notes as the JSON member "not_alike". */
struct hwy_json;
void compare_json_notes(struct hwy_json *json, const struct compare_diff *diff);
struct compare_sentence {
	char text[320];
};
/* Yields what is compared: "NVIDIA H200 · 3 runs before, 3 after · 14 and 15 steady steps". */
struct compare_sentence compare_about(const struct compare_diff *diff);
/* Yields why the verdict is unknown or differs from what the mean and its interval say; ""
 * otherwise. */
struct compare_sentence compare_why(const struct compare_diff *diff);

/* Yields the first new finding with its line, "new: sync-in-loop at train.py:41"; "" where there
 * is none. */
struct compare_sentence compare_new_finding(const struct compare_diff *diff);
/* Yields which side has steps far longer than its median one; "" otherwise. */
struct compare_sentence compare_long_steps(const struct compare_diff *diff);
/* Yields that there are too few runs to show the noise from run to run; "" otherwise. */
const char *compare_less_sure(const struct compare_diff *diff);

void diff_print_text(FILE *out, const struct compare_diff *diff);
void diff_print_json(FILE *out, const struct compare_diff *diff);
void diff_print_markdown(FILE *out, const struct compare_diff *diff);
void diff_print_html(FILE *out, const struct compare_diff *diff);

/* A count of a step (launches, bytes …) on both sides as text; false where it is not worth a
 * line. */
struct compare_count_text {
	const char *label;
	struct hwy_words before, after;
};
bool compare_count_text(const struct diff_count *count, struct compare_count_text *text);
/* Makes "predicted 1.08× (1.00 – 1.17), measured 1.07×: as predicted"; "" where nothing was
 * predicted. */
void compare_prediction(const struct diff_finding *finding, char *text, size_t size);

/* diff_jobs.c: two jobs, rank by rank; the JSON is the member "job". */
void diff_jobs_put_text(FILE *out, const struct job_diff *jobs);
void diff_jobs_put_tables(FILE *out, const struct job_diff *jobs, bool html);
void diff_jobs_put_json(struct hwy_json *json, const struct job_diff *jobs);

void gate_print_text(FILE *out, const struct compare_gate *gate);
void gate_print_markdown(FILE *out, const struct compare_gate *gate);
void gate_print_junit(FILE *out, const struct compare_gate *gate);
void gate_print_json(FILE *out, const struct compare_gate *gate);

#endif
