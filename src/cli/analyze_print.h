/* SPDX-License-Identifier: Apache-2.0 */
/* analyze_print.h - the output formats of `headway analyze`, and the sentences that they share. */
#ifndef HWY_CLI_ANALYZE_PRINT_H
#define HWY_CLI_ANALYZE_PRINT_H

#include <stdio.h>

#include "base/memory_text.h"
#include "cli/kit/cli.h"
#include "diagnose/diagnose.h"

struct analyze_run { /* one recording with its diagnosis */
	const char *path;
	struct hwy_trace *trace;
	struct hwy_analysis analysis;
	struct hwy_diagnosis diagnosis;
	int64_t rank; /* the process's rank in a run of several, or HWY_NONE */
};

struct job_view;
struct analyze_view {
	/* Recordings of several ranks are in order of rank, others in order of their step time. */
	struct analyze_run *runs;
	uint32_t n;
	/* Index of the run whose diagnosis is printed: the middle one of those with device work,
	 * or the first rank. */
	uint32_t shown;
	uint32_t n_worked;    /* the first runs, which have device work; unless these are ranks */
	bool are_programs;    /* runs with device work are of different programs */
	bool are_ranks;       /* there are several runs, and they are the ranks of one program */
	struct job_view *job; /* job_print.h: where they are, the ranks compared; else NULL */
	uint32_t cells;       /* for analysis_options.cells, where the ranks of a job are opened */
	bool verbose;
	uint64_t max_mb; /* the largest size of an HTML page in MB; 0: the usual limit */
	bool utf8, colour;
	int width; /* columns of the terminal; 0: there is no limit */
};

/* The most points in the series of the CPU's lead, for analysis_options.cells. */
enum { ANALYZE_POINTS = 4096 };
/* cmd_analyze.c: opens a recording and diagnoses it. 'step' is the value of --step, or NULL. Exits
 * with 2 on failure. */
void analyze_open(struct analyze_run *run, const char *path, const char *step,
		  const struct cli_privacy *privacy);
/* The same of a trace that is open, which the run then owns; 'path' is its name. */
void analyze_open_trace(struct analyze_run *run, struct hwy_trace *trace, const char *path,
			const char *step, const struct cli_privacy *privacy);
void analyze_close(struct analyze_run *run);

void analyze_print_text(FILE *out, const struct analyze_view *view);
void analyze_print_brief(FILE *out, const struct analyze_view *view);
/* Ends a text in memory and writes its lines, as many whole ones as fit into 2 kB. */
void analyze_write_brief(FILE *out, struct memory_text *memory);
void analyze_print_json(FILE *out, const struct analyze_view *view);
/* Writes what a fix would be worth as an object. */
void analyze_json_put_predicted(struct hwy_json *json, const struct hwy_predicted *predicted);
void analyze_print_markdown(FILE *out, const struct analyze_view *view);
/* Prints an advice as Markdown: prose unchanged, and successive lines of code as one block. */
void analyze_markdown_put_advice(FILE *out, const char *advice);

/* Prints the headline and the first findings at the end of `headway profile`; nothing where the
 * recording has no device work. Never fails: a report that cannot be diagnosed is still a
 * report. */
void analyze_print_short(FILE *out, struct hwy_trace *trace, const char *path);

/* ---- analyze_words.c: what the faces say alike; texts go to 'out' in UTF-8 ------------------- */

/* Yields the phase that took longest; NULL where no device worked. */
const struct hwy_phase *analyze_main(const struct analyze_run *run);
/* Yields the program's name as people know it: its script, else the program, else the recording's
 * file. */
struct analyze_name {
	char text[256];
};
struct analyze_name analyze_program(const struct analyze_run *run);
/* Writes a place as "train.py:18 run()" or "forward > cudaStreamSynchronize"; "" where nothing
 * is known of it. */
void analyze_put_place(FILE *out, const struct hwy_place *place);
/* Prints a finding's place with the module that launches there: "train.py:41 forward() in
 * GPT.blocks.3.attn". */
void analyze_put_finding_place(FILE *out, const struct hwy_finding_place *place);
/* Writes text of a recording, with '?' in place of characters that could move a terminal's
 * cursor. */
void analyze_put(FILE *out, const char *text);
/* Writes how many steps a phase has: "15 steps (step_…)", "12 steps, found without marks". */
void analyze_put_steps(FILE *out, const struct analyze_run *run, const struct hwy_phase *phase);
/* Adds up the states of the devices that worked in a phase; *n is the number of these devices. */
struct gap_states analyze_states(const struct analyze_run *run, uint32_t phase, uint32_t *n);
/* Writes what the devices did, "compute 98.7 % · idle 1.3 %", and why they were idle,
 * " (launch 99 %)". */
void analyze_put_states(FILE *out, const struct gap_states *states);
void analyze_put_causes(FILE *out, const struct gap_states *states);
/* What the time of a step is said to be: "a step", or "in all" where nothing repeats. */
const char *analyze_of_step(const struct hwy_phase *phase);
/* Writes how far the CPU is ahead of the devices; writes nothing where the lead is not known. */
void analyze_put_headway(FILE *out, const struct analyze_run *run, uint32_t phase);
/* Finds the time to draw: the steady step whose length is nearest the median, and the step
 * after it where there is one. Where the CPU is far ahead, only steps count that begin on the
 * device while the CPU still launches: the drawing then shows the CPU's lead. */
struct hwy_interval analyze_typical(const struct hwy_phase *phase);
/* Yields how many records the recorder could not keep. */
uint64_t analyze_lost(const struct hwy_trace *trace);
/* Writes what the fix of a finding is worth, "10.9 → 10.4 ms (1.05×, 10.1 – 10.7)", where that was
 * predicted; else what the finding costs, "517 µs of 10.9 ms (4.7 %)". */
void analyze_put_worth(FILE *out, const struct hwy_finding *finding, const struct hwy_phase *phase);
/* A line of advice, which is a text of several lines: prose, or code that the program could
 * hold. */
struct analyze_line {
	const char *text; /* 'length' bytes, without the two spaces that mark code */
	int length;
	bool is_code;
};
/* Takes the next line from an advice and moves *advice behind it; false where there is none
 * left. */
bool analyze_next_line(const char **advice, struct analyze_line *line);
/* Writes the sentence about a phase in which nothing starves the devices. */
/* The command that looks into the kernels with most time: `headway kernels`, which measures
 * unless all of them are; "" where they are not CUDA's. To be freed. */
char *analyze_say_kernels(const struct analyze_run *run, const struct hwy_outlook *verdict);
/* A line for a kernel with its share of the kernels' time; where it was measured, what bounds it
 * and how near it is to the roof. */
void analyze_put_top_kernel(FILE *out, const struct hwy_top_kernel *kernel);
void analyze_put_health(FILE *out, const struct hwy_outlook *verdict);

/* Says what the headlines of the text and of the page say of the records: how many are lost, that
 * they are incomplete, or "nothing lost". */
struct hwy_words analyze_say_records(const struct analyze_run *run);

/* ---- analyze_runs.c -------------------------------------------------------------------------- */

/* Puts recordings that are no ranks of one job in order, and chooses the one to show. */
void analyze_choose_run(struct analyze_view *view);
/* Writes, as lines, which of several recordings is shown and which are left out; nothing of a
 * single one and of ranks. */
void analyze_put_runs(FILE *out, const struct analyze_view *view, int indent, int width);

/* ---- analyze_contents.c ---------------------------------------------------------------------- */

/* Writes what a recording without device work holds instead: of each table of `headway stats`
 * that has rows the first few names, with their shares, and the command that shows all. 'width':
 * the columns of a line, 0 for no limit. */
void analyze_put_contents(FILE *out, const struct analyze_run *run, int width);

/* ---- analyze_verdict.c: the verdict, what it is about, and the loops inside a step ----------- */

struct hwy_json;
void analyze_put_verdict(FILE *out, const struct analyze_run *run);
/* Writes what the verdict is about, as indented lines: the loops inside a step, and what the rest
 * of the recording is where the judged steps cover little of it. */
void analyze_put_scope(FILE *out, const struct analyze_run *run, int width);
/* Says how long a server's steps take by what they hold; nothing where the names of the steps do
 * not tell. */
void analyze_put_units(FILE *out, const struct analyze_run *run, uint32_t phase);
/* Says what the recorder adds to the phase's step, and that predictions begin without it;
 * nothing where it adds 1 % or less. */
void analyze_put_base(FILE *out, const struct analyze_run *run, uint32_t phase);
/* Writes the verdict's members of the JSON object 'summary'. */
void analyze_json_put_verdict(struct hwy_json *json, const struct analyze_run *run);

#endif
