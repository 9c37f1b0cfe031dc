/* SPDX-License-Identifier: Apache-2.0 */
/* make_trace.h - traces for tests, span by span: small ones by hand, random ones by seed, and their comparison.
 *
 * Every time is the test's. Where the times should follow from what a program does, use program.h.
 */
#ifndef HWY_TESTS_MAKE_TRACE_H
#define HWY_TESTS_MAKE_TRACE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/builder.h"
#include "trace/columns.h"
#include "trace/file.h"

/* ---- by hand: a table of spans written down in a test. One process, one thread, unless a test makes more. ---- */

#define US(us) ((int64_t)(us)*1000)
#define MS(ms) ((int64_t)(ms)*1000000)

struct small {
	struct hwy_builder *builder;
	uint32_t process, thread;
	uint32_t api, os, stream; /* lanes that small_machine makes */
	int64_t corr; /* the last correlation given by small_launch_us and small_copy_in_us */
};

static inline struct small small_new(void)
{
	struct small small = {.builder = hwy_builder_new()};
	small.process = hwy_new_processes(small.builder);
	hwy_builder_trace(small.builder)->processes[small.process].pid = 100;
	small.thread = hwy_new_threads(small.builder);
	hwy_builder_trace(small.builder)->threads[small.thread].process = small.process;
	return small;
}

static inline uint32_t small_device(struct small *small, int64_t ordinal)
{
	uint32_t device = hwy_new_devices(small->builder);
	hwy_builder_trace(small->builder)->devices[device].ordinal = ordinal;
	hwy_builder_trace(small->builder)->devices[device].name =
		hwy_text_id(small->builder, "Toy");
	return device;
}

/* The lane of a stream. */
static inline uint32_t small_stream(struct small *small, uint32_t device, int64_t number)
{
	uint32_t stream = hwy_new_streams(small->builder);
	struct hwy_stream *record = &hwy_builder_trace(small->builder)->streams[stream];
	record->device = device;
	record->process = small->process;
	record->number = number;
	struct hwy_lane lane = hwy_lane_of(HWY_LANE_STREAM, small->process, HWY_NONE);
	lane.device = device;
	lane.stream = stream;
	return hwy_add_lane(small->builder, lane);
}

static inline uint32_t small_lane(struct small *small, enum hwy_lane_type type)
{
	return hwy_add_lane(small->builder, hwy_lane_of(type, small->process, small->thread));
}

static inline void small_span(struct small *small, uint32_t lane, enum hwy_kind kind, int64_t start,
			      int64_t end, int64_t corr, const char *name)
{
	struct hwy_row row = {0};
	row.v[HWY_START] = start;
	row.v[HWY_DUR] = end - start;
	row.v[HWY_CORR] = corr;
	row.v[HWY_NAME] = hwy_text_id(small->builder, name);
	hwy_add_span(small->builder, lane, kind, &row);
}

static inline void small_call(struct small *small, int64_t start, int64_t end, int64_t corr,
			      const char *name)
{
	small_span(small, small_lane(small, HWY_LANE_API), HWY_API, start, end, corr, name);
}

static inline struct hwy_trace *small_finish(struct small *small)
{
	return hwy_builder_finish(small->builder, false);
}

/* A device with one stream, and lanes for the thread's calls: what the functions in µs below write to. */
static inline struct small small_machine(void)
{
	struct small small = small_new();
	small.stream = small_stream(&small, small_device(&small, 0), 7);
	small.api = small_lane(&small, HWY_LANE_API);
	small.os = small_lane(&small, HWY_LANE_OS);
	return small;
}

/* The thread that the next lanes belong to is another one of the same process. */
static inline void small_other_thread(struct small *small)
{
	small->thread = hwy_new_threads(small->builder);
	hwy_builder_trace(small->builder)->threads[small->thread].process = small->process;
}

static inline void small_span_us(struct small *small, uint32_t lane, enum hwy_kind kind,
				 double from, double to, int64_t corr, const char *name)
{
	small_span(small, lane, kind, (int64_t)(from * 1000), (int64_t)(to * 1000), corr, name);
}

static inline void small_call_us(struct small *small, double from, double to, const char *name)
{
	small_span_us(small, small->api, HWY_API, from, to, 0, name);
}

/* A launch [from, to) and its kernel [start, end). */
static inline void small_launch_us(struct small *small, double from, double to, double start,
				   double end)
{
	small->corr++;
	small_span_us(small, small->api, HWY_API, from, to, small->corr, "cudaLaunchKernel");
	small_span_us(small, small->stream, HWY_KERNEL, start, end, small->corr, "k");
}

/* A call [from, to) and its copy [start, end) to the device out of pinned memory. */
static inline void small_copy_in_us(struct small *small, double from, double to, double start,
				    double end)
{
	struct hwy_row row = {0};
	small->corr++;
	small_span_us(small, small->api, HWY_API, from, to, small->corr, "cudaMemcpyAsync");
	row.v[HWY_START] = (int64_t)(start * 1000);
	row.v[HWY_DUR] = (int64_t)((end - start) * 1000);
	row.v[HWY_CORR] = small->corr;
	row.v[HWY_DIRECTION] = HWY_H2D;
	row.v[HWY_BYTES] = 1 << 20;
	row.v[HWY_SRC_MEMORY] = HWY_MEM_PINNED;
	row.v[HWY_DST_MEMORY] = HWY_MEM_DEVICE;
	row.v[HWY_NAME] = hwy_text_id(small->builder, "copy");
	hwy_add_span(small->builder, small->stream, HWY_COPY, &row);
}

/* ---- random, by seed ---- */

struct dice {
	uint64_t state;
};

static inline uint64_t roll(struct dice *dice)
{
	dice->state += 0x9e3779b97f4a7c15u;
	return hwy_mix(dice->state);
}

static inline int64_t roll_below(struct dice *dice, int64_t n)
{
	return (int64_t)(roll(dice) % (uint64_t)n);
}

/* Any int64_t: small ones, wide ones and both ends, each often. */
static inline int64_t roll_any(struct dice *dice)
{
	switch (roll(dice) % 6) {
	case 0: return INT64_MIN;
	case 1: return INT64_MAX;
	case 2: return 0;
	case 3: return roll_below(dice, 200) - 100;
	case 4: return (int64_t)(roll(dice) >> 40);
	default: return (int64_t)roll(dice);
	}
}

static inline void fill_records(struct hwy_builder *b, struct dice *dice)
{
	struct hwy_trace *trace = hwy_builder_trace(b);
	for (int i = 0; i < 3; i++) {
#define X(type, field, section)                                                                    \
	if (section > 1 && section != 13 && section != 20) { /* lanes, edges, results follow */    \
		uint32_t at = hwy_new_##field(b);                                                  \
		int64_t *values = (int64_t *)&trace->field[at];                                    \
		for (size_t f = 0; f < sizeof(struct type) / sizeof(int64_t); f++)                 \
			values[f] = roll(dice) % 2 ? HWY_NONE : roll_any(dice);                    \
	}
		HWY_RECORDS(X)
#undef X
		/* References must hold. */
		trace->processes[i].host = trace->devices[i].host = trace->clocks[i].host = i % 2;
		trace->processes[i].parent = i ? 0 : HWY_NONE;
		trace->threads[i].process = trace->modules[i].process = trace->groups[i].process =
			0;
		trace->contexts[i].process = trace->streams[i].process = trace->drops[i].process =
			i;
		trace->diagnostics[i].process = i;
		trace->contexts[i].device = trace->streams[i].device = trace->clocks[i].device = 0;
		trace->calibrations[i].device = trace->drops[i].thread = HWY_NONE;
		trace->stacks[i].parent = i;
		trace->stacks[i].frame = i;
		trace->nodes[i].process = trace->nodes[i].thread = trace->node_edges[i].process = i;
		trace->measured[i].shape = trace->measured[i].device = HWY_NONE;
		trace->measures[i].measured = i;
		trace->messages[i].span = trace->messages[i].asked = trace->messages[i].done =
			HWY_NONE;
		trace->messages[i].process = trace->messages[i].group = trace->pings[i].process = i;
		trace->messages[i].kind = i % HWY_MESSAGE_KINDS;
		trace->messages[i].posted = trace->messages[i].start = HWY_NONE;
		trace->messages[i].end = trace->pings[i].time = trace->pings[i].peer_time = i;
		trace->nodes[i].stack = roll_below(dice, 3);
		trace->nodes[i].time = i ? roll_below(dice, INT64_C(1) << 40) : HWY_NONE;
	}
	trace->wall = roll_any(dice);
}

static inline int64_t roll_column(struct dice *dice, unsigned col, uint32_t n_texts, int64_t *clock)
{
	switch (col) {
	case HWY_START:
		*clock += roll(dice) % 100 ? roll_below(dice, 4000) - 500
					   : roll_below(dice, INT64_C(1) << 50);
		return *clock;
	case HWY_DUR:
		return roll(dice) % 50 ? roll_below(dice, 9000)
				       : roll_below(dice, INT64_C(1) << 61);
	case HWY_NAME:
	case HWY_CATEGORY:
	case HWY_REASON:
	case HWY_ARGS: return roll_below(dice, n_texts);
	case HWY_CORR: return roll_below(dice, 5000);
	case HWY_SHAPE:
	case HWY_SYMBOL:
	case HWY_STACK:
	case HWY_SRC_DEVICE:
	case HWY_DST_DEVICE:
	case HWY_WAITED:
	case HWY_END_THREAD:
	case HWY_STYLE: return roll_below(dice, 4);
	case HWY_DIRECTION:
	case HWY_SRC_MEMORY:
	case HWY_DST_MEMORY:
	case HWY_PAYLOAD_TYPE: return roll_below(dice, 9);
	case HWY_OPERATION:
	case HWY_CAUSE:
	case HWY_SYNC_TYPE: return roll_below(dice, 3);
	case HWY_LINK: return 0;
	default: return roll(dice) % 3 ? 0 : roll_any(dice);
	}
}

/* All kinds, all columns, all records, on 'lanes' lanes; 'spans' in all. */
static inline struct hwy_trace *random_trace(uint64_t seed, uint32_t lanes, uint32_t spans)
{
	struct dice dice = {seed};
	struct hwy_builder *b = hwy_builder_new();
	fill_records(b, &dice);
	uint32_t n_texts = 1 + (uint32_t)roll_below(&dice, 300);
	for (uint32_t i = 1; i < n_texts; i++) {
		char text[64];
		size_t length = (size_t)snprintf(text, sizeof text, "text %u", i);
		text[3] = (char)roll(&dice); /* any byte, 0 too */
		hwy_text_id_n(b, text, length);
	}
	n_texts = hwy_builder_trace(b)->strings.n;
	for (uint32_t i = 0; i < lanes; i++) {
		struct hwy_lane lane =
			hwy_lane_of((enum hwy_lane_type)(i % HWY_LANE_TYPES), i % 3, i % 3);
		lane.name = i; /* so that no two are equal */
		hwy_add_lane(b, lane);
	}
	struct hwy_ref before = {0};
	int64_t clock = roll_below(&dice, INT64_C(1) << 40) - (INT64_C(1) << 39);
	for (uint32_t i = 0; i < spans; i++) {
		struct hwy_row row = {0};
		for (unsigned c = 0; c < HWY_COLS; c++)
			row.v[c] = roll_column(&dice, c, n_texts, &clock);
		/* Most spans on few lanes, so that some have many chunks. */
		uint32_t lane =
			(uint32_t)(roll_below(&dice, lanes) * roll_below(&dice, lanes) / lanes);
		enum hwy_kind kind = (enum hwy_kind)(roll(&dice) % 4 ? lane % HWY_KINDS
								     : roll(&dice) % HWY_KINDS);
		struct hwy_ref ref = hwy_add_span(b, lane, kind, &row);
		if (i && roll(&dice) % 5 == 0)
			hwy_add_edge(b, HWY_EDGE_FORWARD, before, ref, roll_any(&dice));
		if (i && roll(&dice) % 7 == 0) {
			struct hwy_message message = hwy_message_none();
			message.kind = HWY_MESSAGE_SEND;
			hwy_message_at(&message.span, before);
			hwy_message_at(&message.done, ref);
			hwy_add_message(b, &message);
		}
		before = ref;
	}
	struct hwy_trace *trace = hwy_builder_finish(b, false);
	trace->results = hwy_alloc(2 * sizeof *trace->results);
	trace->n_results = trace->cap_results = 2;
	trace->result_bytes = hwy_zalloc(2 * sizeof *trace->result_bytes);
	for (uint32_t i = 0; i < 2; i++) {
		int64_t bytes = i ? 0 : 40;
		trace->results[i] = (struct hwy_result){.name = 0, .version = 3, .bytes = bytes};
		trace->result_bytes[i] = hwy_alloc(64);
		memset(trace->result_bytes[i], 'r', 64);
	}
	return trace;
}

/* ---- comparison ---- */

/* Loads all of 'b' and tells where it first differs from 'a'; "" when nowhere. */
static inline const char *difference(struct hwy_trace *a, struct hwy_trace *b, struct hwy_err *err)
{
	if (!hwy_need(b, UINT32_MAX, UINT64_MAX, err))
		return "needing";
	if (a->wall != b->wall || a->n_spans != b->n_spans || a->n_strips != b->n_strips)
		return "counts";
	if (a->strings.n != b->strings.n)
		return "texts";
	for (uint32_t i = 0; i < a->strings.n; i++)
		if (a->strings.texts[i].length != b->strings.texts[i].length ||
		    memcmp(a->strings.texts[i].at, b->strings.texts[i].at,
			   a->strings.texts[i].length + 1u))
			return "a text";
#define X(type, field, section)                                                                    \
	if (a->n_##field != b->n_##field ||                                                        \
	    (a->n_##field && memcmp(a->field, b->field, a->n_##field * sizeof *a->field) != 0))    \
		return #field;
	HWY_RECORDS(X)
#undef X
	for (uint32_t s = 0; s < a->n_strips; s++) {
		const struct hwy_strip *x = &a->strips[s], *y = &b->strips[s];
		if (x->lane != y->lane || x->kind != y->kind || x->rows != y->rows ||
		    x->first != y->first)
			return "a strip";
		for (unsigned c = 0; c < HWY_COLS; c++)
			for (uint32_t row = 0; row < x->rows; row++)
				if (hwy_get(x, c, row) != hwy_get(y, c, row))
					return hwy_columns[c].name;
	}
	for (uint32_t i = 0; i < a->n_results; i++) {
		const void *x = hwy_result_bytes(a, i, err), *y = hwy_result_bytes(b, i, err);
		if (!x || !y || memcmp(x, y, (size_t)a->results[i].bytes) != 0)
			return "a result";
	}
	return "";
}

/* A folder of its own for one test program; removed by drop_folder. */
static inline char *make_folder(void)
{
	static char path[] = "/tmp/hwy_test_XXXXXX";
	assert_non_null(mkdtemp(path));
	return path;
}

static inline void drop_folder(const char *path)
{
	char command[256];
	snprintf(command, sizeof command, "rm -rf '%s'", path);
	assert_int_equal(system(command), 0);
}

#endif
