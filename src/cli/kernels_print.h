/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_print.h - the output of `headway kernels`: text with a roofline, JSON, CSV, Markdown. */
#ifndef HWY_CLI_KERNELS_PRINT_H
#define HWY_CLI_KERNELS_PRINT_H

#include <stdio.h>

#include "analyze/kernel_table.h"

struct kernels_view {
	const char *path;
	const struct kernel_table *table;
	/* Indexes into table->kernels of those that are shown, in order. */
	const uint32_t *chosen;
	uint32_t n;
	uint32_t rows;    /* lines of the table in text and Markdown; 0: all */
	bool is_asked;    /* the user named the kernels: each is described, known or not */
	uint32_t details; /* how many kernels are described one by one; 0: all */
	/* the user named no number: kernels that hardly take time are not described */
	bool is_brief;
	/* The words that measure: "headway kernels run.hwy --run"; NULL where nothing needs to
	 * be measured. */
	const char *measure;
	/* Sentences about what could not be measured or joined. */
	char *const *notes;
	uint32_t n_notes;
};

void kernels_print_text(FILE *out, const struct kernels_view *view);
void kernels_print_markdown(FILE *out, const struct kernels_view *view);
void kernels_print_json(FILE *out, const struct kernels_view *view);
void kernels_print_csv(FILE *out, const struct kernels_view *view);

/* ---- words that the formats share (kernels_words.c) ------------------------------------------ */

struct kernels_words {
	char text[64];
};

/* "640 TFLOP/s" */
struct kernels_words kernels_say_flop_rate(double flop_per_s);
/* A rate of bytes with three digits: "4.12 TB/s". */
struct kernels_words kernels_say_byte_rate(double bytes_per_s);
/* "bf16 tensor", "fp32"; "" where the kernel has no operations that were counted. */
struct kernels_words kernels_say_precision(const struct known_kernel *kernel);
/* "88 of 100 %": achieved and theoretical occupancy; one of them where the other is not known. */
struct kernels_words kernels_say_occupancy(const struct known_kernel *kernel);
/* A line of facts, or "" where none of its facts is known: busy units, work, warps, memory,
 * launch. */
enum kernels_fact_line {
	KERNELS_UNITS,
	KERNELS_WORK,
	KERNELS_OCCUPANCY,
	KERNELS_STALLS,
	KERNELS_ACCESSES,
	KERNELS_LAUNCH,
	KERNELS_LINES
};
extern const char *const kernels_line_names[KERNELS_LINES];
/* The line's text, which the caller frees. */
char *kernels_say_line(const struct kernels_view *view, const struct known_kernel *kernel,
		       enum kernels_fact_line line);
/* The stall reasons of a kernel, the largest share first; yields how many have at least 'least'. */
uint32_t kernels_stalls(const struct known_kernel *kernel, double least,
			enum counters_stall found[COUNTERS_STALLS]);

/* The kernels that are described one by one, those with most time first: numbers of rows of the
 * view, to be freed, and how many. A kernel about which nothing is known is one of them where it
 * has a share worth advice and others are known. */
uint32_t kernels_described(const struct kernels_view *view, uint32_t **rows);
/* How much of a kernel's advice is shown: a kernel that hardly takes time gets none, unless it
 * was asked for. */
uint32_t kernels_shown_advice(const struct kernels_view *view, const struct known_kernel *kernel);

/* kernels_source.c: a source line of a kernel and how often its warps were found there. */
struct kernels_source_line {
	const char *file; /* "": the kernel has no line information */
	int64_t line;
	int64_t samples;
	const char *reason; /* why most of the waiting warps waited; "" where none waits */
	int64_t of_reason;  /* samples with that reason */
};
/* Yields how many lines the kernel has; *lines, to be freed, has most samples first, *all is the
 * sum of the samples. */
uint32_t kernels_source_lines(const struct kernels_view *view, const struct known_kernel *kernel,
			      struct kernels_source_line **lines, int64_t *all);

/* roofline_plot.c: draws the kernels that have operations and bytes under the roofs of their
 * device; the kernel at chosen[i] is drawn as the digit or letter that kernels_mark(i) yields.
 * Draws nothing where no kernel can be drawn. */
void roofline_plot(FILE *out, const struct kernels_view *view, uint32_t device);
char kernels_mark(uint32_t i); /* '1' … '9', 'a' … 'z'; ' ' for later ones */

#endif
