/* SPDX-License-Identifier: Apache-2.0 */
/* place.c - see place.h. */
#include "analyze/place.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/graph_nodes.h"
#include "analyze/marks.h"
#include "analyze/nest.h"
#include "analyze/xla.h"
#include "analyze/xla_lines.h"
#include "base/path.h"

#define AROUND (HWY_KIND_BIT(HWY_CALL) | HWY_KIND_BIT(HWY_OP) | HWY_KIND_BIT(HWY_RANGE))
#define STACKED                                                                                    \
	(HWY_KIND_BIT(HWY_API) | HWY_KIND_BIT(HWY_CALL) | HWY_KIND_BIT(HWY_OS) |                   \
	 HWY_KIND_BIT(HWY_SAMPLE) | HWY_KIND_BIT(HWY_RANGE))
#define TIMED (AROUND | STACKED | HWY_KIND_BIT(HWY_STATE))
#define BIT(col) HWY_COL_BIT(HWY_##col)

/* on each lane, at most so many enclosing spans of one span are examined */
enum { MOST_SPANS_AROUND = 64 };

struct hwy_places {
	struct hwy_trace *trace;
	struct hwy_nests nests;
	struct xla_lines lines;   /* where functions that XLA compiled are called */
	struct hwy_strings texts; /* the texts of places that are not texts of the trace */
	char *buffer;             /* the result of place_line */
	size_t cap;
};

struct hwy_places *places_open(struct hwy_trace *trace, struct hwy_err *err)
{
	if (!hwy_need(trace, TIMED, BIT(START) | BIT(DUR) | BIT(NAME), err) ||
	    !hwy_need(trace, STACKED, BIT(STACK), err) ||
	    !hwy_need(trace, HWY_DEVICE_KINDS, BIT(LINK) | (trace->n_nodes ? BIT(GRAPH_NODE) : 0),
		      err))
		return NULL;
	struct hwy_places *places = hwy_zalloc(sizeof *places);
	places->trace = trace;
	nests_open(&places->nests, trace, AROUND);
	hwy_strings_init(&places->texts);
	return places;
}

void places_close(struct hwy_places *places)
{
	if (!places)
		return;
	nests_close(&places->nests);
	xla_lines_free(&places->lines);
	hwy_strings_free(&places->texts);
	free(places->buffer);
	free(places);
}

static const char *place_keep(struct hwy_places *places, const char *text, size_t length)
{
	uint32_t id = hwy_intern(&places->texts, text, length);
	return places->texts.texts[id].at;
}

/* ---- what is around a span ------------------------------------------------------------------- */

struct subject { /* the span whose place is wanted; of device work, the call that enqueued it */
	const struct hwy_strip *strip;
	uint32_t row;
	int64_t thread;
	int64_t start, end;
	const struct hwy_node *node; /* of work of a CUDA graph: how its node was made; or NULL */
};

/* The moment at which the subject's node was made, as a subject: what was around it captured the
 * work. */
static struct subject capture_of(const struct subject *subject)
{
	struct subject capture = *subject;
	capture.thread = subject->node->thread;
	capture.start = capture.end = subject->node->time;
	return capture;
}

/* Finds the subject of a span. Yields false where there is no span of this id, or where spans of
 * its kind have no place. */
static bool find_subject(const struct hwy_places *places, uint32_t span, struct subject *subject)
{
	const struct hwy_trace *trace = places->trace;
	if (span >= trace->n_spans)
		return false;
	subject->strip = hwy_strip_of(trace, span, &subject->row);
	subject->node = NULL;
	if (HWY_DEVICE_KINDS & HWY_KIND_BIT(subject->strip->kind)) {
		uint32_t call;
		subject->node = graph_nodes_of_work(trace, subject->strip, subject->row);
		if (!hwy_get_index(subject->strip, HWY_LINK, subject->row, &call) ||
		    call >= trace->n_spans) {
			if (subject->node)
				*subject = capture_of(subject);
			return subject->node != NULL;
		}
		subject->strip = hwy_strip_of(trace, call, &subject->row);
	}
	if (!(TIMED & HWY_KIND_BIT(subject->strip->kind)))
		return false;
	subject->thread = trace->lanes[subject->strip->lane].thread;
	subject->start = hwy_get(subject->strip, HWY_START, subject->row);
	subject->end = hwy_end(subject->strip, subject->row);
	return true;
}

/* Whether the subject is a call that copies: XLA's own threads make such calls for the thread
 * that runs Python. */
static bool is_copy_call(struct hwy_trace *trace, const struct subject *subject)
{
	if (subject->strip->kind != HWY_API)
		return false;
	int64_t name = hwy_get(subject->strip, HWY_NAME, subject->row);
	return HWY_ROLE_OF(hwy_role(trace, name)) == HWY_ROLE_COPY;
}

/* The frame that tells most: where a node was captured, else where the call was made; without a
 * stack that of the function in whose execution the subject lies, or from where other copies
 * like it come. */
static const struct hwy_frame *frame_of_subject(struct hwy_places *places,
						const struct subject *subject)
{
	struct hwy_trace *trace = places->trace;
	const struct hwy_frame *frame =
		subject->node ? place_frame(trace, subject->node->stack) : NULL;
	if (!frame && STACKED & HWY_KIND_BIT(subject->strip->kind))
		frame = place_frame(trace, hwy_get(subject->strip, HWY_STACK, subject->row));
	if (!frame)
		frame = xla_line_around(&places->lines, &places->nests, subject->thread,
					subject->start, subject->end);
	if (!frame && is_copy_call(trace, subject))
		frame = xla_line_of_call(&places->lines, &places->nests, subject->strip,
					 subject->row);
	return frame;
}

/* Sets *first to the nests of the subject's thread, and yields their number. */
static uint32_t nests_of(const struct hwy_places *places, const struct subject *subject,
			 struct hwy_nest **first)
{
	if (subject->thread < 0 || subject->thread >= places->trace->n_threads)
		return 0;
	const uint32_t *bounds = &places->nests.first[subject->thread];
	*first = &places->nests.nests[bounds[0]];
	return bounds[1] - bounds[0];
}

/* ---- functions that a tracer recorded -------------------------------------------------------- */

/* Sets 'bare' to the function's name in a text like "<built-in method item of Tensor object at
 * 0x7f…>"; false for other texts. */
static bool builtin_name(const char *name, char *bare, size_t room)
{
	static const char *const leads[] = {"<built-in method ", "<built-in function "};
	for (unsigned i = 0; i < sizeof leads / sizeof *leads; i++)
		if (strncmp(name, leads[i], strlen(leads[i])) == 0) {
			const char *from = name + strlen(leads[i]);
			snprintf(bare, room, "%.*s()", (int)strcspn(from, " >"), from);
			return true;
		}
	return false;
}

bool place_traced_function(const char *name, size_t *file, int64_t *line, const char **function)
{
	for (const char *at = name; (at = strchr(at, '(')); at++) {
		size_t digits = strspn(at + 1, "0123456789");
		if (digits == 0 || digits > 9 || strncmp(at + 1 + digits, "): ", 3) != 0)
			continue;
		*file = (size_t)(at - name);
		*line = atol(at + 1);
		*function = at + digits + 4;
		return *file > 0;
	}
	return false;
}

struct traced { /* the traced functions around a call: rows of one lane, or NEST_NONE */
	struct hwy_nest *nest;
	uint32_t own;    /* the innermost function of the user's own code */
	uint32_t inner;  /* the innermost function */
	uint32_t caller; /* the innermost function that is no built-in */
};

static struct traced find_traced_at(struct hwy_places *places, const struct subject *subject)
{
	struct traced traced = {NULL, NEST_NONE, NEST_NONE, NEST_NONE};
	struct hwy_nest *nest = NULL;
	uint32_t n = nests_of(places, subject, &nest);
	while (n && nest->strip->kind != HWY_CALL)
		nest++, n--;
	if (n == 0)
		return traced;
	traced.nest = nest;
	uint32_t row = nest_around(nest, subject->start, subject->end);
	traced.inner = row;
	for (int i = 0; row != NEST_NONE && i < 4 * MOST_SPANS_AROUND; i++) {
		/* A function that the tracer did not see end, such as a built-in that raised,
		 * has callers that have ended. */
		if (hwy_end(nest->strip, row) < subject->start) {
			row = nest_parent(nest, row);
			continue;
		}
		const char *name = hwy_str(places->trace, hwy_get(nest->strip, HWY_NAME, row));
		const char *function;
		size_t length;
		int64_t line;
		char bare[128];
		if (traced.caller == NEST_NONE && !builtin_name(name, bare, sizeof bare))
			traced.caller = row;
		if (place_traced_function(name, &length, &line, &function) &&
		    !place_is_library(place_keep(places, name, length))) {
			traced.own = row;
			break;
		}
		row = nest_parent(nest, row);
	}
	return traced;
}

/* The traced functions around the capture of a node, else around the call. */
static struct traced find_traced(struct hwy_places *places, const struct subject *subject)
{
	if (subject->node) {
		struct subject capture = capture_of(subject);
		struct traced traced = find_traced_at(places, &capture);
		if (traced.inner != NEST_NONE)
			return traced;
	}
	return find_traced_at(places, subject);
}

static void take_traced(struct hwy_places *places, const struct traced *traced,
			struct hwy_place *place)
{
	uint32_t row = traced->own != NEST_NONE ? traced->own : traced->caller;
	size_t length;
	if (row == NEST_NONE)
		return;
	const char *name = hwy_str(places->trace, hwy_get(traced->nest->strip, HWY_NAME, row));
	if (place_traced_function(name, &length, &place->line, &place->function))
		place->file = place_keep(places, name, length);
	else
		place->function = name;
}

/* ---- ranges and operators -------------------------------------------------------------------- */

struct around {
	const struct hwy_strip *strip;
	uint32_t row;
	int64_t start, end;
};

static int from_outside_in(const void *left, const void *right)
{
	const struct around *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return (a->strip->first + a->row > b->strip->first + b->row) -
	       (a->strip->first + a->row < b->strip->first + b->row);
}

/* The ranges and the scopes of operators (marks.h) of the thread around the subject, and of
 * operators in each other the outermost one; from the outermost to the innermost. */
static uint32_t find_ranges(struct hwy_places *places, const struct subject *subject,
			    struct around *around)
{
	struct hwy_nest *nest = NULL;
	uint32_t n = nests_of(places, subject, &nest), found = 0;
	for (; n > 0; nest++, n--) {
		if (nest->strip->kind == HWY_CALL)
			continue;
		bool is_op = nest->strip->kind == HWY_OP, was_operator = false;
		uint32_t row = nest_around(nest, subject->start, subject->end);
		for (; row != NEST_NONE && found < MOST_SPANS_AROUND;
		     row = nest_parent(nest, row)) {
			bool is_operator =
				is_op &&
				!mark_is_scope(hwy_str(places->trace,
						       hwy_get(nest->strip, HWY_NAME, row)));
			found -= is_operator && was_operator;
			was_operator = is_operator;
			around[found++] = (struct around){nest->strip, row,
							  hwy_get(nest->strip, HWY_START, row),
							  hwy_end(nest->strip, row)};
		}
	}
	qsort(around, found, sizeof *around, from_outside_in);
	return found;
}

/* What a user calls the range or operator: its name; for XLA's ranges the function or the
 * operation, written into 'label'. */
static struct hwy_text name_for_user(const struct hwy_trace *trace, const struct hwy_strip *strip,
				     uint32_t row, char *label, size_t size)
{
	struct hwy_text name = hwy_text(trace, hwy_get(strip, HWY_NAME, row));
	if (strip->kind != HWY_RANGE || !xla_is_range(name))
		return name;
	xla_label(name, label, size);
	return (struct hwy_text){label, (uint32_t)strlen(label)};
}

/* Appends the names of what is around the subject to 'path', and yields the path's new length. */
static size_t put_ranges(struct hwy_places *places, const struct subject *subject, char *path,
			 size_t length, size_t room)
{
	struct around around[MOST_SPANS_AROUND];
	char label[256];
	size_t last = length; /* where the last name in the path begins */
	uint32_t n = find_ranges(places, subject, around);
	for (uint32_t i = 0; i < n; i++) {
		struct hwy_text name = name_for_user(places->trace, around[i].strip, around[i].row,
						     label, sizeof label);
		if (name.length == 0 || length + name.length + 4 > room)
			continue;
		/* The parts of one compilation have one name. */
		if (name.at == label && length - last == name.length &&
		    memcmp(path + last, label, name.length) == 0)
			continue;
		if (length) {
			memcpy(path + length, " > ", 3);
			length += 3;
		}
		last = length;
		memcpy(path + length, name.at, name.length);
		length += name.length;
	}
	return length;
}

/* What is around the call, and for work of a CUDA graph also what was around its capture. */
static const char *range_path(struct hwy_places *places, const struct subject *subject)
{
	char path[1024];
	size_t length = put_ranges(places, subject, path, 0, sizeof path);
	if (subject->node &&
	    (subject->start != subject->node->time || subject->thread != subject->node->thread)) {
		struct subject capture = capture_of(subject);
		length = put_ranges(places, &capture, path, length, sizeof path);
	}
	return place_keep(places, path, length);
}

/* ---- places ---------------------------------------------------------------------------------- */

/* A call's name without its version: "cudaMemcpyAsync" for "cudaMemcpyAsync_v3020". */
static const char *place_call_name(struct hwy_places *places, int64_t name)
{
	struct hwy_text text = hwy_text(places->trace, name);
	uint32_t n = text.length;
	while (n > 0 && isdigit((unsigned char)text.at[n - 1]))
		n--;
	if (n == text.length || n < 3 || text.at[n - 1] != 'v' || text.at[n - 2] != '_')
		return text.at;
	return place_keep(places, text.at, n - 2);
}

struct hwy_place place_of(struct hwy_places *places, uint32_t span)
{
	struct hwy_trace *trace = places->trace;
	struct hwy_place place = {"", 0, "", "", "", ""};
	struct subject subject;
	if (!find_subject(places, span, &subject))
		return place;
	unsigned kind = subject.strip->kind;
	if (kind == HWY_API || kind == HWY_OS)
		place.api = place_call_name(places, hwy_get(subject.strip, HWY_NAME, subject.row));
	const struct hwy_frame *frame = frame_of_subject(places, &subject);
	if (frame) {
		place.function = hwy_str(trace, frame->function);
		place.module = hwy_str(trace, frame->module);
		place.file = hwy_str(trace, frame->file);
		place.line = frame->line > 0 && *place.file ? frame->line : 0;
		if (!*place.file && frame->flags > 0 && (frame->flags & HWY_FRAME_PYTHON)) {
			place.file = place.module;
			place.line = frame->line > 0 ? frame->line : 0;
		}
	} else {
		struct traced traced = find_traced(places, &subject);
		take_traced(places, &traced, &place);
	}
	place.range = range_path(places, &subject);
	return place;
}

/* Whether two texts are equal but for the numbers in them. */
static bool equal_folded(const char *a, const char *b)
{
	for (;;) {
		bool number = isdigit((unsigned char)*a);
		if (number != (bool)isdigit((unsigned char)*b))
			return false;
		if (number) {
			a += strspn(a, "0123456789");
			b += strspn(b, "0123456789");
		} else if (*a != *b) {
			return false;
		} else if (*a == 0) {
			return true;
		} else {
			a++, b++;
		}
	}
}

bool place_equal(const struct hwy_place *a, const struct hwy_place *b)
{
	if (*a->file || *b->file)
		return a->line == b->line && strcmp(a->file, b->file) == 0 &&
		       (a->line > 0 || strcmp(a->function, b->function) == 0);
	if (*a->function || *b->function)
		return strcmp(a->function, b->function) == 0 && strcmp(a->module, b->module) == 0;
	return equal_folded(a->range, b->range) && strcmp(a->api, b->api) == 0;
}

/* ---- in one line ----------------------------------------------------------------------------- */

static struct hwy_text place_put(struct hwy_places *places, const char *first, const char *second,
				 int64_t line)
{
	char number[32] = "";
	if (line > 0)
		snprintf(number, sizeof number, ":%" PRId64, line);
	size_t need = strlen(first) + strlen(second) + sizeof number + 4;
	if (places->cap < need) {
		places->buffer = hwy_realloc(places->buffer, need);
		places->cap = need;
	}
	int n = snprintf(places->buffer, places->cap, "%s%s%s%s", first, number,
			 *second && (*first || *number) ? " " : "", second);
	return (struct hwy_text){places->buffer, (uint32_t)n};
}

static struct hwy_text put_frame(struct hwy_places *places, const struct hwy_frame *frame)
{
	const struct hwy_trace *trace = places->trace;
	const char *file = hwy_basename(hwy_str(trace, frame->file)),
		   *function = hwy_str(trace, frame->function);
	const char *module = hwy_basename(hwy_str(trace, frame->module));
	if (*file)
		return place_put(places, file, function, frame->line);
	if (frame->flags > 0 && (frame->flags & HWY_FRAME_PYTHON))
		return place_put(places, module, function, frame->line);
	return place_put(places, function, module, 0);
}

/* A built-in function has no file of its own, so its caller stands before it: "train.py(12):
 * step item()". */
static struct hwy_text put_traced(struct hwy_places *places, const struct traced *traced)
{
	const struct hwy_trace *trace = places->trace;
	uint32_t row = traced->own != NEST_NONE ? traced->own : traced->caller;
	char bare[128] = "";
	builtin_name(hwy_str(trace, hwy_get(traced->nest->strip, HWY_NAME, traced->inner)), bare,
		     sizeof bare);
	const char *name =
		row == NEST_NONE ? "" : hwy_str(trace, hwy_get(traced->nest->strip, HWY_NAME, row));
	return place_put(places, name, bare, 0);
}

static struct hwy_text place_put_folded(struct hwy_places *places, const char *name)
{
	place_put(places, name, "", 0);
	char *to = places->buffer;
	for (const char *from = to; *from; from++) {
		if (!isdigit((unsigned char)*from))
			*to++ = *from;
		else if (!isdigit((unsigned char)from[1]))
			*to++ = '*';
	}
	*to = 0;
	return (struct hwy_text){places->buffer, (uint32_t)(to - places->buffer)};
}

/* The innermost range or operator around the subject, of all lanes of its thread. */
static struct hwy_text put_around(struct hwy_places *places, const struct subject *subject)
{
	const struct hwy_trace *trace = places->trace;
	struct hwy_nest *nest = NULL;
	uint32_t n = nests_of(places, subject, &nest), row = NEST_NONE;
	const struct hwy_strip *inner = NULL;
	int64_t latest = INT64_MIN;
	for (; n > 0; nest++, n--) {
		uint32_t found = nest->strip->kind == HWY_CALL
					 ? NEST_NONE
					 : nest_around(nest, subject->start, subject->end);
		if (found == NEST_NONE)
			continue;
		int64_t start = hwy_get(nest->strip, HWY_START, found);
		if (inner && start <= latest)
			continue;
		inner = nest->strip;
		row = found;
		latest = start;
	}
	if (!inner)
		return (struct hwy_text){"", 0};
	char label[256];
	const char *name = name_for_user(trace, inner, row, label, sizeof label).at;
	return inner->kind == HWY_RANGE ? place_put_folded(places, name)
					: place_put(places, name, "", 0);
}

struct hwy_text place_line(struct hwy_places *places, uint32_t span)
{
	struct subject subject;
	if (!find_subject(places, span, &subject))
		return (struct hwy_text){"", 0};
	const struct hwy_frame *frame = frame_of_subject(places, &subject);
	if (frame)
		return put_frame(places, frame);
	struct traced traced = find_traced(places, &subject);
	if (traced.inner != NEST_NONE)
		return put_traced(places, &traced);
	if (subject.node) {
		struct subject capture = capture_of(&subject);
		struct hwy_text around = put_around(places, &capture);
		if (around.length > 0)
			return around;
	}
	return put_around(places, &subject);
}
