/* answers.h - what the page may ask about a trace, as JSON or bytes (docs/view-protocol.md).
 *
 * Every function writes one whole answer; false: the request makes no sense or the report cannot be read, and
 * 'err' says why. Times from and to the page are relative to the origin.
 */
#ifndef HWY_SERVE_ANSWERS_H
#define HWY_SERVE_ANSWERS_H

#include "analyze/intervals.h"
#include "base/json.h"
#include "serve/view.h"

void answer_lanes(struct view_trace *view, struct hwy_json *json);
bool answer_span(struct view_trace *view, struct hwy_json *json, uint32_t id, struct hwy_err *err);
bool answer_at(struct view_trace *view, struct hwy_json *json, uint32_t lane, int64_t from,
	       int64_t to, struct hwy_err *err);
bool answer_next(struct view_trace *view, struct hwy_json *json, uint32_t id, int direction,
		 struct hwy_err *err);
bool answer_search(struct view_trace *view, struct hwy_json *json, const char *text, int64_t from,
		   int64_t to, uint32_t marks, struct hwy_err *err);

/* Idle time by cause comes from the diagnosis: pieces as in 'gaps', NULL while they are not there. */
struct view_pieces;
bool answer_interval(struct view_trace *view, struct hwy_json *json, const struct view_pieces *gaps,
		     int64_t from, int64_t to, struct hwy_err *err);
bool answer_names(struct view_trace *view, struct hwy_json *json, const uint8_t *ids, uint32_t n);

/* inline_data.c: for the self-contained page. Which call enqueued each span of device work; all stacks; the columns of n rows
 * of a strip. */
bool answer_links(struct view_trace *view, struct hwy_json *json, struct hwy_err *err);
void answer_stacks(const struct view_trace *view, struct hwy_json *json);
bool answer_rows(struct view_trace *view, struct hwy_json *json, uint32_t strip, uint32_t row,
		 uint32_t n, struct hwy_err *err);

/* ---- shared ---- */

/* "fields": all columns of a span but its times, name, link and stack. */
bool json_fields(struct view_trace *view, struct hwy_json *json, uint32_t strip, uint32_t row,
		 struct hwy_err *err);

/* {span}: id, lane, name, start, dur, look, row */
bool json_span(struct view_trace *view, struct hwy_json *json, uint32_t id, struct hwy_err *err);
/* A name, cut where it is longer than VIEW_NAME. */
void json_name(struct hwy_json *json, struct hwy_text name);
/* "GPU 0 NVIDIA H200" */
void json_device_title(const struct view_trace *view, struct hwy_json *json, uint32_t device);

/* ---- annotations.c: gaps and the critical path, by window ---- */

struct view_piece {
	int64_t from, to; /* relative to the origin */
	uint32_t span;    /* id + 1, or 0 */
	uint8_t cause, device;
};
struct view_pieces {
	struct view_piece *v; /* by device, then time */
	uint32_t n, cap;
	bool is_mapped; /* 'v' is a file's, not of the heap */
	struct hwy_interval
		*spans; /* of every PIECES_BLOCK of them, from the first begin to the last end */
};
enum { PIECES_BLOCK = 1024 };
void pieces_index(struct view_pieces *pieces);
/* Those of a window, merged where they are shorter than one of n parts of it. */
void answer_pieces(const struct view_pieces *pieces, int64_t from, int64_t to, uint32_t n,
		   struct packed *out);

#endif
