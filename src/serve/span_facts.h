/* SPDX-License-Identifier: Apache-2.0 */
/* span_facts.h - what is known of a span beyond its own columns, for millions of spans: its step, its call, its line.
 *
 * Values of columns that views do not hold (VIEW_COLUMNS) are read through a small cache of chunks, so that nothing that another
 * request has loaded is touched. One struct span_facts belongs to a view and stays, because lines and modules take time to find.
 * All requests share it, also while they pause: nothing in it depends on a request.
 */
#ifndef HWY_SERVE_SPAN_FACTS_H
#define HWY_SERVE_SPAN_FACTS_H

#include "analyze/owners.h"
#include "base/strings.h"
#include "serve/step_times.h"
#include "serve/view.h"

enum {
	/* Modules, and lines of work whose call has no stack, need a look at all operators of a trace: only up to so many spans. */
	SPAN_FACTS_OWNED = 1 << 20,
};

struct span_line {
	uint32_t file, function; /* ids of span_facts.texts */
	uint32_t line;
};

struct span_facts {
	struct view_trace *view;
	struct hwy_peeks peeks;
	uint32_t *
		line_of_stack; /* by stack: a reference (base/ref.h) into 'lines'; none: not looked up yet */
	uint32_t *line_of_owner; /* by owners.lines, likewise */
	struct span_line *lines; /* lines[0] is: no line is known */
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
/* ns from the begin of the call that launched device work to the work's start; -1 where no call is known, or the clocks disagree.
 * 'start' is the work's own. */
bool span_facts_latency(struct span_facts *facts, const struct hwy_strip *strip, uint32_t row,
			int64_t start, int64_t *latency, struct hwy_err *err);
/* Index into facts->lines of the place that the span was called from: its own, of device work that of its call, of work of a graph
 * that of its capture. Where no stack says it, the line of the operator around. */
bool span_facts_line(struct span_facts *facts, const struct hwy_strip *strip, uint32_t row,
		     uint32_t *line, struct hwy_err *err);
/* Whether modules can be told; opens the owners. False with a sentence where the trace is too large. */
bool span_facts_need_owners(struct span_facts *facts, struct hwy_err *err);
/* "train.py:18", with the last part of the file's path; "" for no line. */
void span_facts_line_text(const struct span_facts *facts, uint32_t line, struct hwy_bytes *out);

#endif
