/* SPDX-License-Identifier: Apache-2.0 */
/* answers.h - what the page may ask about a trace, as JSON or bytes (docs/view-protocol.md).
 *
 * Every function NAME_answer… writes one whole answer. Where it yields false, the request makes no
 * sense or the report cannot be read, and 'err' says why. Times from and to the page are ns after
 * the view's origin.
 */
#ifndef HWY_SERVE_ANSWERS_H
#define HWY_SERVE_ANSWERS_H

#include "analyze/intervals.h"
#include "base/json.h"
#include "serve/step_times.h"
#include "serve/view.h"

/* ---- annotations.c: idle gaps or the critical path, by window ---- */

struct annotation {
	int64_t from, to; /* ns after the view's origin */
	/* Reference (base/ref.h) to the span to blame for a gap, or to the span on the path. */
	uint32_t span_ref;
	uint8_t cause; /* of a gap: enum gap_cause; of a span on the path: its class */
	uint8_t device;
};
struct annotations {
	struct annotation *v; /* the annotations, sorted by device, then by time */
	uint32_t n, cap;
	bool is_mapped; /* 'v' is a mapped file; false: 'v' is malloc'ed */
	/* For each block of ANNOTATIONS_BLOCK annotations: the first begin and the last end. */
	struct hwy_interval *blocks;
};
enum { ANNOTATIONS_BLOCK = 1024 };
void annotations_index(struct annotations *all); /* computes 'blocks' from 'v' */
/* Whether the diagnosis has told them: there may be none. */
static inline bool annotations_are_known(const struct annotations *all)
{
	return all->blocks != NULL;
}
/* Writes the annotations that touch a window of n_pixels pixels; annotations that share a pixel are
 * merged. */
void annotations_answer(const struct annotations *all, int64_t from, int64_t to, uint32_t n_pixels,
			struct hwy_bytes *out);

/* ---- span_owner.c: the operator and the module to which a span belongs ----------------------- */

struct span_owner {
	bool has_op;     /* the span's call lies in an operator */
	int64_t op_name; /* id of the text that names the innermost operator */
	/* reference to the operator's stack; of a backward operator, to that of its forward
	 * operator */
	int64_t stack;
	char module[512]; /* path of the module; "" where it is not known */
};
/* 'around' is what detail_find_around finds for the span's call. */
bool span_owner_find(struct view_trace *view, const struct view_spans *around,
		     struct span_owner *owner, struct hwy_err *err);

/* ---- span_edges.c: how a span is related to other spans -------------------------------------- */

/* Writes the key "edges": recorded relations with other spans, launches left out. */
bool span_edges_put(struct view_trace *view, struct hwy_json *json, uint32_t id,
		    struct hwy_err *err);
/* Writes the key "headway": for device work, what was enqueued on its device and not finished
 * when its call began; null for other spans, and where 'call' is NULL. */
bool span_edges_put_headway(struct view_trace *view, struct hwy_json *json,
			    const struct view_span *span, const struct view_span *call,
			    struct hwy_err *err);

/* ---- span_chain.c ---- */

/* Writes the ids of the spans that a span is connected to: launch and work, forward and backward
 * operators, the thread that woke it, the work inside of a range. */
bool span_chain_answer(struct view_trace *view, struct hwy_json *json, uint32_t id,
		       struct hwy_err *err);

/* ---- lane_tree.c ---- */

bool lane_tree_answer(struct view_trace *view, struct hwy_json *json, struct hwy_err *err);

/* ---- detail.c: one span, the spans of a window, the next span of the same name ---- */

bool detail_answer_span(struct view_trace *view, struct hwy_json *json, uint32_t id,
			struct hwy_err *err);
bool detail_answer_window(struct view_trace *view, struct hwy_json *json, uint32_t lane,
			  int64_t from, int64_t to, struct hwy_err *err);
/* span_next.c: yields the next (direction 1) or previous (direction -1) span on the span's lane: of
 * the same kind and name, or any, where those that start together stand in order of id. */
bool detail_answer_next(struct view_trace *view, struct hwy_json *json, uint32_t id, int direction,
			bool any_name, struct hwy_err *err);
bool detail_find_span(struct view_trace *view, uint32_t id, struct view_span *span,
		      struct hwy_err *err);
/* Finds the spans of the thread that enclose a span, the outermost first: ranges, operators,
 * functions, calls. */
bool detail_find_around(struct view_trace *view, const struct view_span *span, int64_t thread,
			struct view_spans *around, struct hwy_err *err);
/* Writes the key "fields": all columns of a span except its times, name, link and stack. */
bool detail_put_fields(struct view_trace *view, struct hwy_json *json, uint32_t strip, uint32_t row,
		       struct hwy_err *err);
/* Writes a {span}: an object with id, lane, name, start, dur, look, row. */
bool detail_put_span(struct view_trace *view, struct hwy_json *json, uint32_t id,
		     struct hwy_err *err);

/* ---- search.c, span_names.c ---- */

struct search {
	const char *text; /* a query (query.h) */
	struct step_times steps;
	int64_t from, to; /* ns after the origin: the window that is divided into n equal parts */
	uint32_t n;
	int64_t lane;  /* only hits of this lane are listed; -1: of all */
	uint64_t skip; /* the first hits of a lane that are not listed */
};
/* Writes the spans that the query asks for, and for each of n equal parts of the window its
 * number of hits. */
bool search_answer(struct view_trace *view, struct hwy_json *json, const struct search *search,
		   struct hwy_err *err);
/* Writes for each lane in which of the n parts of the window hits start. */
bool search_answer_marks(struct view_trace *view, struct hwy_json *json,
			 const struct search *search, struct hwy_err *err);
/* Where a search goes on: behind (or before) a span; without a span (id -1), a time after the
 * origin. */
struct search_place {
	int64_t time, id;
};
/* Writes the next (direction 1) or previous (-1) hit of all lanes, by start, and which one it
 * is. */
bool search_answer_hit(struct view_trace *view, struct hwy_json *json, const char *text,
		       struct step_times steps, struct search_place from, int direction,
		       struct hwy_err *err);
/* Writes the names with these ids; each id is a number of 4 bytes. */
void span_names_answer(struct view_trace *view, struct hwy_json *json, const uint8_t *ids,
		       uint32_t n);
/* Writes a name, shortened where it is longer than VIEW_NAME bytes. */
void span_names_put(struct hwy_json *json, struct hwy_text name);

/* ---- counters.c ---- */

/* The values of a counter in an interval; the mean weighs each value by the time for which it
 * holds. NAN or infinite where there is no value. */
struct counter_range {
	double least, most, mean, last;
	uint32_t samples; /* values that hold in the interval, or in a part of it */
};
/* 'from' and 'to' are times of the trace. */
bool counters_measure(struct view_trace *view, uint32_t lane, int64_t from, int64_t to,
		      struct counter_range *range, struct hwy_err *err);

/* ---- inline_data.c: only for the self-contained page ---- */

/* Writes for each span of device work the id of the call that enqueued it. */
bool inline_data_put_links(struct view_trace *view, struct hwy_json *json, struct hwy_err *err);
void inline_data_put_stacks(const struct view_trace *view, struct hwy_json *json);
/* Writes all columns of n rows of a strip. */
bool inline_data_put_rows(struct view_trace *view, struct hwy_json *json, uint32_t strip,
			  uint32_t row, uint32_t n, struct hwy_err *err);

#endif
