/* SPDX-License-Identifier: Apache-2.0 */
/* span_facts.h - what is known of a span beyond its own columns, for millions of spans: its step,
 * its call, its line.
 *
 * Values of columns that views do not hold (VIEW_COLUMNS) are read through a small cache of chunks,
 * so that nothing that another request has loaded is touched. One struct span_facts belongs to a
 * view and stays, because lines and modules take time to find. All requests share it, also while
 * they pause: nothing in it depends on a request.
 */
#ifndef HWY_SERVE_SPAN_FACTS_H
#define HWY_SERVE_SPAN_FACTS_H

#include "analyze/owners.h"
#include "base/strings.h"
#include "serve/step_times.h"
#include "serve/view.h"

enum {
	/* To find modules, and lines of work whose call has no stack, all operators of a trace
	 * are read: only in a trace of at most so many spans. */
	SPAN_FACTS_OWNED = 1 << 20,
};

struct span_line {
	uint32_t file, function; /* ids of span_facts.texts */
	uint32_t line;
};

struct span_facts {
	struct view_trace *view;
	struct hwy_peeks peeks;
	/* by stack: a reference (base/ref.h) into 'lines'; HWY_REF_NONE: not looked up yet */
	uint32_t *line_of_stack;
	uint32_t *line_of_owner; /* the same by index of owners->lines */
	struct span_line *lines; /* lines[0] stands for "no line is known" */
	uint32_t n_lines, cap_lines;
	struct hwy_index by_line;
	struct hwy_strings texts;
	struct hwy_owners *owners; /* NULL: not opened yet, or the trace is too large */
};

/* The facts of a view; made on the first call, freed by view_close. */
struct span_facts *span_facts_of(struct view_trace *view);
void span_facts_free(struct span_facts *facts);

/* Reads a value of any column of a span. */
bool span_facts_peek(struct span_facts *facts, const struct hwy_strip *strip, enum hwy_col col,
		     uint32_t row, int64_t *value, struct hwy_err *err);
/* Yields the index in steps->v of the step of a span that starts at 'start', or STEP_TIMES_NONE. */
uint32_t span_facts_step(const struct span_facts *facts, const struct step_times *steps,
			 const struct hwy_strip *strip, int64_t start);
/* Yields in *latency the time from the begin of the call that launched device work to the work's
 * start, ns; -1 where no call is known, or where the call is later. 'start' is when the work
 * starts. */
bool span_facts_latency(struct span_facts *facts, const struct hwy_strip *strip, uint32_t row,
			int64_t start, int64_t *latency, struct hwy_err *err);
/* Yields in *line the index in facts->lines of the place from which a span was called: for
 * device work the place of its call, for work of a CUDA graph the place of its capture. Where no
 * stack says it, the line of the operator around the call; 0 where nothing does. */
bool span_facts_line(struct span_facts *facts, const struct hwy_strip *strip, uint32_t row,
		     uint32_t *line, struct hwy_err *err);
/* Whether modules can be told; opens the owners. False with a sentence where the trace is too
 * large. */
bool span_facts_need_owners(struct span_facts *facts, struct hwy_err *err);
/* "train.py:18", with the last part of the file's path; "" for no line. */
void span_facts_line_text(const struct span_facts *facts, uint32_t line, struct hwy_bytes *out);

#endif
