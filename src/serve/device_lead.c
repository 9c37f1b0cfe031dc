/* SPDX-License-Identifier: Apache-2.0 */
/* device_lead.c - see device_lead.h.
 *
 * A stream runs its ops in the order in which they were enqueued, so the ops that wait at a moment
 * follow those that run then.
 */
#include "serve/device_lead.h"

#include <stdlib.h>

#include "serve/tiles.h"

enum {
	/* The search in a strip ends after so many ops in a row that were enqueued after the
	 * window. One such op is not enough: where several threads enqueue, the order of a
	 * stream is not exactly the order of its calls. */
	LATER_OPS = 4096,
	MOST_OPS = 1 << 18, /* the most ops of a window in which the least headway is looked for */
	/* The same for the largest headway of each part, which is asked for whenever the page has
	 * moved: more would keep other requests waiting. */
	MOST_PART_OPS = 1 << 16,
};

struct lead_op {
	int64_t enqueued, start, end;
};
struct lead_ops {
	struct lead_op *v;
	uint32_t n, cap;
	struct hwy_peeks peeks;
};

/* Sets when an op was enqueued. */
static bool find_enqueued(struct view_trace *view, const struct hwy_strip *strip, uint32_t row,
			  struct lead_ops *ops, struct lead_op *op, struct hwy_err *err)
{
	uint32_t call, call_row;
	int64_t start, dur;
	op->enqueued = op->start;
	if (!hwy_get_index(strip, HWY_LINK, row, &call))
		return true;
	const struct hwy_strip *calls = hwy_strip_of(view->trace, call, &call_row);
	uint32_t number = (uint32_t)(calls - view->trace->strips);
	if (!hwy_peek_near(view->trace, &ops->peeks, number, HWY_START, call_row, &start, err) ||
	    !hwy_peek_near(view->trace, &ops->peeks, number, HWY_DUR, call_row, &dur, err))
		return false;
	if (start + dur < op->start)
		op->enqueued = start + dur;
	return true;
}

/* Adds an op if it is enqueued or unfinished in [from, to]. *later is the number of ops in a
 * row, this one included, that were enqueued after 'to'. */
static bool add_lead_op(struct view_trace *view, const struct hwy_strip *strip, uint32_t row,
			int64_t from, int64_t to, struct lead_ops *ops, uint32_t *later,
			struct hwy_err *err)
{
	struct lead_op op = {.start = hwy_get(strip, HWY_START, row)};
	op.end = op.start + hwy_get(strip, HWY_DUR, row);
	if (!hardware_is_work(view, strip, row))
		return true;
	if (!find_enqueued(view, strip, row, ops, &op, err))
		return false;
	*later = op.enqueued > to ? *later + 1 : 0;
	if (op.enqueued > to || op.end <= from)
		return true;
	HWY_GROW(ops->v, ops->n, ops->cap);
	ops->v[ops->n++] = op;
	return true;
}

static bool gather_strip(struct view_trace *view, uint32_t number, int64_t from, int64_t to,
			 uint32_t most, struct lead_ops *ops, struct hwy_err *err)
{
	const struct hwy_strip *strip = &view->trace->strips[number];
	uint32_t later = 0;
	/* view_trim leaves the column LINK in memory. */
	if (!hwy_need_strip(view->trace, number, HWY_COL_BIT(HWY_LINK), err))
		return false;
	uint32_t first = view_row_at(strip, from);
	for (uint32_t row = first; row < strip->rows; row++) {
		bool is_fresh = row == first || row % HWY_CHUNK_ROWS == 0;
		if (later >= LATER_OPS || ops->n > most)
			break;
		if (is_fresh && (!view_pause(view, err) ||
				 !view_need_rows(view, number, VIEW_COLUMNS, row, 1, err)))
			return false;
		if (!add_lead_op(view, strip, row, from, to, ops, &later, err))
			return false;
	}
	return true;
}

/* Adds the ops of the device that run at 'from', and those behind them that were enqueued until
 * 'to'. */
static bool gather_ops(struct view_trace *view, uint32_t device, int64_t from, int64_t to,
		       uint32_t most, struct lead_ops *ops, struct hwy_err *err)
{
	struct view_spans running = {0};
	bool ok = hardware_spans(view, device, from, from, &running, err);
	for (uint32_t i = 0; ok && i < running.n; i++) {
		const struct view_span *span = &running.v[i];
		uint32_t later = 0;
		ok = hwy_need_strip(view->trace, span->strip, HWY_COL_BIT(HWY_LINK), err) &&
		     add_lead_op(view, &view->trace->strips[span->strip], span->row, from, to, ops,
				 &later, err);
	}
	free(running.v);
	for (uint32_t s = 0; ok && s < view->trace->n_strips; s++) {
		const struct hwy_strip *strip = &view->trace->strips[s];
		if ((HWY_KIND_BIT(strip->kind) & HWY_DEVICE_KINDS) && strip->rows > 0 &&
		    hardware_has(view, device, strip->lane))
			ok = view_need(view, strip->lane, from, from, 0, err) &&
			     gather_strip(view, s, from, to, most, ops, err);
	}
	return ok;
}

static void free_ops(struct lead_ops *ops)
{
	free(ops->v);
	hwy_peeks_free(&ops->peeks);
}

bool device_lead_at(struct view_trace *view, uint32_t device, int64_t time,
		    struct device_lead *lead, struct hwy_err *err)
{
	struct lead_ops ops = {0};
	bool ok = gather_ops(view, device, time, time, UINT32_MAX - 1, &ops, err);
	*lead = (struct device_lead){0, 0};
	for (uint32_t i = 0; ok && i < ops.n; i++) {
		lead->count++;
		lead->work += ops.v[i].end - (ops.v[i].start > time ? ops.v[i].start : time);
	}
	free_ops(&ops);
	return ok;
}

/* ---- the least of a window ------------------------------------------------------------------- */

/* Times are ns after the window's begin: sums of times counted from 1970 would not fit 64 bits. */
struct lead_event {
	int64_t time;
	int64_t length; /* of an op that is enqueued or begins: its duration; else 0 */
	int8_t count;   /* 1: enqueued, -1: ended, 0: begins */
	int64_t end;    /* when the op ends */
};

static int by_event_time(const void *left, const void *right)
{
	const struct lead_event *a = left, *b = right;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	/* Among events of one moment, those that enqueue an op come first: where an op begins
	 * and another one ends at once, the count must not be too small in between. */
	return b->count - a->count;
}

/* What is enqueued and not finished at a moment. */
struct lead_state {
	int64_t count;   /* ops */
	int64_t waiting; /* ns of the ops that have not begun */
	int64_t ends;    /* the sum of the ends of the ops that run */
	int64_t running; /* ops that run */
};

static void pass_event(struct lead_state *at, const struct lead_event *event)
{
	at->count += event->count;
	if (event->count == 1) {
		at->waiting += event->length;
	} else {
		int sign = event->count == 0 ? 1 : -1;
		at->running += sign;
		at->ends += sign * event->end;
		at->waiting -= event->count == 0 ? event->length : 0;
	}
}

static int64_t lead_work_at(const struct lead_state *at, int64_t time)
{
	return at->waiting + at->ends - at->running * time;
}

/* Yields the events of ops in order of time, as ns after 'from'. */
static struct lead_event *events_of(const struct lead_ops *ops, int64_t from, uint32_t *n)
{
	struct lead_event *events = hwy_array((size_t)ops->n * 3 + 1, sizeof *events);
	*n = 0;
	for (uint32_t i = 0; i < ops->n; i++) {
		const struct lead_op *op = &ops->v[i];
		int64_t length = op->end - op->start, end = op->end - from;
		events[(*n)++] = (struct lead_event){op->enqueued - from, length, 1, end};
		events[(*n)++] = (struct lead_event){op->start - from, length, 0, end};
		events[(*n)++] = (struct lead_event){end, 0, -1, end};
	}
	qsort(events, *n, sizeof *events, by_event_time);
	return events;
}

/* Walks the events of a window of so many ns. Between two events the work falls by the number of
 * running ops each ns, so that it is least right before an event. */
static void walk_events(const struct lead_event *events, uint32_t n, int64_t window,
			struct device_lead *least)
{
	struct lead_state at = {0};
	for (uint32_t i = 0; i <= n; i++) {
		int64_t time = i < n ? events[i].time : window;
		bool is_new = i == n || i == 0 || time > events[i - 1].time;
		if (is_new && time > 0) {
			int64_t until = time < window ? time : window;
			int64_t work = lead_work_at(&at, until);
			least->count = at.count < least->count ? at.count : least->count;
			least->work = work < least->work ? work : least->work;
		}
		if (i == n || time > window)
			break;
		pass_event(&at, &events[i]);
	}
}

bool device_lead_least(struct view_trace *view, uint32_t device, int64_t from, int64_t to,
		       struct device_lead *least, bool *is_known, struct hwy_err *err)
{
	struct lead_ops ops = {0};
	bool ok = gather_ops(view, device, from, to, MOST_OPS, &ops, err);
	*is_known = ok && ops.n <= MOST_OPS;
	*least = (struct device_lead){INT64_MAX, INT64_MAX};
	if (*is_known) {
		uint32_t n;
		struct lead_event *events = events_of(&ops, from, &n);
		walk_events(events, n, to - from, least);
		free(events);
	}
	free_ops(&ops);
	return ok;
}

/* ---- the largest of each part of a window ---------------------------------------------------- */

int64_t device_lead_part(int64_t from, int64_t to, uint32_t part, uint32_t n)
{
	return from + (int64_t)((double)(to - from) / n * part);
}

static void raise_lead(struct device_lead *most, const struct lead_state *at, int64_t time)
{
	int64_t work = lead_work_at(at, time);
	most->count = at->count > most->count ? at->count : most->count;
	most->work = work > most->work ? work : most->work;
}

/* Between two events the work falls, so that it is largest at a part's begin, or right after an
 * event. All events of one moment count together: where one op ends and another one is enqueued,
 * there are never both. */
static void walk_parts(const struct lead_event *events, uint32_t n_events, int64_t window,
		       struct device_lead *parts, uint32_t n)
{
	struct lead_state at = {0};
	uint32_t i = 0;
	for (uint32_t p = 0; p < n; p++) {
		int64_t begin = device_lead_part(0, window, p, n),
			end = device_lead_part(0, window, p + 1, n);
		for (; i < n_events && events[i].time <= begin; i++)
			pass_event(&at, &events[i]);
		parts[p] = (struct device_lead){at.count, lead_work_at(&at, begin)};
		while (i < n_events && events[i].time < end) {
			int64_t time = events[i].time;
			for (; i < n_events && events[i].time == time; i++)
				pass_event(&at, &events[i]);
			raise_lead(&parts[p], &at, time);
		}
	}
}

bool device_lead_parts(struct view_trace *view, uint32_t device, int64_t from, int64_t to,
		       struct device_lead *parts, uint32_t n, bool *is_known, struct hwy_err *err)
{
	struct lead_ops ops = {0};
	bool ok = gather_ops(view, device, from, to, MOST_PART_OPS, &ops, err);
	*is_known = ok && ops.n <= MOST_PART_OPS;
	if (*is_known) {
		uint32_t n_events;
		struct lead_event *events = events_of(&ops, from, &n_events);
		walk_parts(events, n_events, to - from, parts, n);
		free(events);
	}
	free_ops(&ops);
	return ok;
}
