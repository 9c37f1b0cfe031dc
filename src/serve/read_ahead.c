/* SPDX-License-Identifier: Apache-2.0 */
/* read_ahead.c - see read_ahead.h. The thread holds the lock of the traces for a lane or a
 * device at a time. */
#include "serve/read_ahead.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "serve/tiles.h"
#include "trace/file.h"

enum { WARMED_SPANS = 8000000 }; /* spans that are read ahead, about ten bytes each */

struct read_ahead {
	struct read_ahead_options about;
	pthread_t thread;
};

static bool read_ahead_is_over(const struct read_ahead *reader)
{
	return reader->about.is_over(reader->about.from);
}

/* Notes whether requests may wait for the thread that reads ahead to make the unions of a trace. */
static void note_read_ahead(struct read_ahead *reader, struct view_trace *view, bool comes)
{
	struct turn turn = {0};
	struct hwy_err err;
	turns_begin(reader->about.turns, &turn, &err);
	view->has_read_ahead = comes;
	turns_end(reader->about.turns);
}

/* Makes the unions of the devices. That goes through all their spans, so it is done on a second
 * view of the report: no request waits for it, and its memory is given back. */
static void read_ahead_devices(struct read_ahead *reader, uint32_t number)
{
	struct view_trace *view = &reader->about.traces[number], own;
	struct hwy_err err;
	struct hwy_trace *trace = hwy_file_open(reader->about.reports[number], &err);
	if (!trace) {
		note_read_ahead(reader, view, false);
		return;
	}
	bool ok = trace->n_spans == view->trace->n_spans && view_open(&own, trace, "", &err);
	/* Nobody else uses the second view; its lock is there to give up when the viewer ends. */
	struct turns alone;
	struct turn whole = {.is_abandoned = reader->about.is_over,
			     .from = reader->about.from,
			     .is_unlimited = true};
	turns_init(&alone);
	if (ok) {
		own.turns = &alone;
		own.whole_spans = UINT64_MAX;
		ok = turns_begin(&alone, &whole, &err);
		if (!ok)
			view_close(&own);
	}
	for (uint32_t d = 0; ok && d < view_unions(view) && !read_ahead_is_over(reader); d++) {
		if (!hardware_need(&own, d, &err))
			continue;
		struct turn turn = {.is_abandoned = reader->about.is_over,
				    .from = reader->about.from};
		if (!turns_begin(reader->about.turns, &turn, &err))
			break;
		hardware_take(view, &own, d);
		turns_end(reader->about.turns);
	}
	if (ok)
		turns_end(&alone);
	note_read_ahead(reader, view, false);
	if (ok)
		view_close(&own);
	hwy_trace_free(trace);
	malloc_trim(0);
}

/* Whether it is time to read ahead: a page has asked for its first picture, or a request waits for
 * the unions of the devices. */
static bool is_time_to_read(struct read_ahead *reader)
{
	struct turn turn = {.is_abandoned = reader->about.is_over, .from = reader->about.from};
	struct hwy_err err;
	bool is_time = reader->about.has_first_picture(reader->about.from);
	if (is_time || !turns_begin(reader->about.turns, &turn, &err))
		return is_time;
	for (uint32_t t = 0; t < reader->about.n; t++)
		is_time |= reader->about.traces[t].wants_devices;
	turns_end(reader->about.turns);
	return is_time;
}

static void read_ahead_lanes(struct read_ahead *reader, struct view_trace *view, uint64_t *warmed)
{
	struct hwy_err err;
	for (uint32_t l = 0; l < view->trace->n_lanes; l++) {
		struct turn turn = {.is_abandoned = reader->about.is_over,
				    .from = reader->about.from};
		if (view->lanes[l].n == 0 || view->trace->lanes[l].type == HWY_LANE_COUNTER ||
		    view->lanes[l].spans > view->whole_spans ||
		    *warmed + view->lanes[l].spans > WARMED_SPANS)
			continue;
		*warmed += view->lanes[l].spans;
		if (!turns_begin(reader->about.turns, &turn, &err))
			return;
		view_need(view, l, 0, 0, 0, &err);
		turns_end(reader->about.turns);
		usleep(1000);
	}
}

/* Reads ahead, lane by lane, so that no request waits for long. An error is not told here: it comes
 * again when a page asks for the same lane. */
static void *read_ahead_run(void *argument)
{
	struct read_ahead *reader = argument;
	uint64_t warmed = 0;
	while (!read_ahead_is_over(reader) && !is_time_to_read(reader))
		usleep(50000);
	for (uint32_t t = 0; t < reader->about.n && !read_ahead_is_over(reader); t++) {
		read_ahead_devices(reader, t);
		read_ahead_lanes(reader, &reader->about.traces[t], &warmed);
	}
	return NULL;
}

static void note_all(struct read_ahead *reader, bool comes)
{
	for (uint32_t t = 0; t < reader->about.n; t++)
		note_read_ahead(reader, &reader->about.traces[t], comes);
}

struct read_ahead *read_ahead_start(const struct read_ahead_options *options)
{
	struct read_ahead *reader = hwy_zalloc(sizeof *reader);
	reader->about = *options;
	note_all(reader, true);
	if (pthread_create(&reader->thread, NULL, read_ahead_run, reader) == 0)
		return reader;
	note_all(reader, false);
	free(reader);
	return NULL;
}

void read_ahead_end(struct read_ahead *reader)
{
	if (!reader)
		return;
	pthread_join(reader->thread, NULL);
	free(reader);
}
