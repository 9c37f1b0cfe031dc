/* analyze_print.h - the faces of `headway analyze`: one diagnosis, several formats. */
#ifndef HWY_CLI_ANALYZE_PRINT_H
#define HWY_CLI_ANALYZE_PRINT_H

#include <stdio.h>

#include "diagnose/diagnose.h"

struct analyze_run { /* one recording */
	const char *path;
	struct hwy_trace *trace;
	struct hwy_analysis analysis;
	struct hwy_diagnosis diagnosis;
	int64_t rank; /* or HWY_NONE */
};

struct analyze_view {
	struct analyze_run
		*runs; /* ranks in order of rank; runs of one program in order of step time */
	uint32_t n;
	uint32_t shown; /* whose diagnosis it is: the middle run, or the first rank */
	bool are_ranks; /* several, of different ranks */
	bool verbose;
	uint64_t max_mb; /* of a page; 0: the usual */
	bool utf8, colour;
	int width; /* columns; 0: any */
};

/* Points of the headway series: analysis_options.cells. */
enum { ANALYZE_POINTS = 4096 };
/* cmd_analyze.c: a recording with its diagnosis; 'step' as --step takes it, or NULL. Exits with 2 on failure. */
void analyze_open(struct analyze_run *run, const char *path, const char *step);
void analyze_close(struct analyze_run *run);

void analyze_print_text(FILE *out, const struct analyze_view *view);
void analyze_print_brief(FILE *out, const struct analyze_view *view);
void analyze_print_json(FILE *out, const struct analyze_view *view);
void analyze_print_markdown(FILE *out, const struct analyze_view *view);

/* The end of `headway profile`: the headline and the first findings, or nothing where there is no device work.
 * Never fails: a report that cannot be diagnosed is still a report. */
void analyze_print_short(FILE *out, struct hwy_trace *trace, const char *path);

/* ---- analyze_words.c: what the faces say alike; texts go to 'out' in UTF-8 ------------------------ */

const struct hwy_phase *analyze_main(const struct analyze_run *run); /* or NULL */
/* The program's name as people know it: its script, else the program, else the recording's file. */
struct analyze_name {
	char text[256];
};
struct analyze_name analyze_program(const struct analyze_run *run);
/* "train.py:18 run()", "forward > cudaStreamSynchronize", "". */
void analyze_put_place(FILE *out, const struct hwy_place *place);
/* Text of a recording: nothing in it may move a terminal's cursor. */
void analyze_put(FILE *out, const char *text);
/* "15 steps (step_N)", "12 steps, found without marks". */
void analyze_put_steps(FILE *out, const struct analyze_run *run, const struct hwy_phase *phase);
/* States of the devices of a phase, added up; *n of them. */
struct gap_states analyze_states(const struct analyze_run *run, uint32_t phase, uint32_t *n);
/* "compute 98.7 % · idle 1.3 %", and " (launch 99 %)" */
void analyze_put_states(FILE *out, const struct gap_states *states);
void analyze_put_causes(FILE *out, const struct gap_states *states);
/* One sentence on how far ahead the CPU is; "" where it is not known. */
void analyze_put_headway(FILE *out, const struct analyze_run *run, uint32_t phase);
/* A steady step as near the median as any, and the one after it where there is room; where the CPU is far
 * ahead, one that begins while it still launches, so that its lead is seen. */
struct hwy_interval analyze_typical(const struct hwy_phase *phase);
uint64_t analyze_lost(const struct hwy_trace *trace); /* records */
/* What a finding costs and its fix is worth: "10.9 → 10.4 ms (1.05×, 10.1 – 10.7)" where that was predicted, else
 * "517 µs of 10.9 ms (4.7 %)". */
void analyze_put_worth(FILE *out, const struct hwy_finding *finding, const struct hwy_phase *phase);
/* A line of advice, which is a text of several lines: prose, or code that the program could hold. */
struct analyze_line {
	const char *text; /* of 'length' bytes, without the two spaces that mark code */
	int length;
	bool is_code;
};
/* Takes the next line from an advice and moves *advice behind it; false where there is none left. */
bool analyze_next_line(const char **advice, struct analyze_line *line);
/* The sentence about a phase in which nothing starves the devices. */
void analyze_put_health(FILE *out, const struct hwy_verdict *verdict);
#endif
