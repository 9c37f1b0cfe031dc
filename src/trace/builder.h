/* SPDX-License-Identifier: Apache-2.0 */
/* builder.h - makes a trace: spans in any order in, one finished trace out.
 *
 * Readers add records (get or make an index), lanes, and spans; finishing sorts every strip,
 * numbers the spans, links device work to the calls that enqueued it (equal correlation id in the
 * same process), and turns references of edges into span ids.
 *
 *   struct hwy_builder *b = hwy_builder_new();
 *   uint32_t lane = hwy_add_lane(b, hwy_lane_of(HWY_LANE_API, process, thread));
 *   struct hwy_row row = {0};
 *   row.v[HWY_START] = start;
 *   struct hwy_ref ref = hwy_add_span(b, lane, HWY_API, &row);
 *   struct hwy_trace *trace = hwy_builder_finish(b, true); // the first span begins at 0
 */
#ifndef HWY_TRACE_BUILDER_H
#define HWY_TRACE_BUILDER_H

#include "trace/trace.h"

struct hwy_builder;

struct hwy_row {
	int64_t v[HWY_COLS]; /* values by column; columns that the kind does not have are ignored */
};
/* A span of a trace that is being built. The span has no id yet. */
struct hwy_ref {
	uint32_t strip, row;
};

struct hwy_builder *hwy_builder_new(void);
/* Frees a builder that is not to be finished; finishing frees the builder too. */
void hwy_builder_free(struct hwy_builder *b);
/* Yields the trace that is being built: the caller may read and change its records until it is
 * finished. */
struct hwy_trace *hwy_builder_trace(struct hwy_builder *b);

uint32_t hwy_text_id(struct hwy_builder *b, const char *text); /* NULL counts as "" */
uint32_t hwy_text_id_n(struct hwy_builder *b, const char *text, size_t length);

/* A new record with every field HWY_NONE; yields its index: trace->processes[index].pid = …
 * (pointers into the tables move when they grow). */
#define X(type, field, section) uint32_t hwy_new_##field(struct hwy_builder *b);
HWY_RECORDS(X)
#undef X
/* Add a record; equal records share one index. Unset fields must be HWY_NONE in a lane, and 0 in
 * other records. */
uint32_t hwy_add_lane(struct hwy_builder *b, struct hwy_lane lane);
/* Yields the lane of a stream, with the process and device of the stream's record. Fast enough for
 * every span. */
uint32_t hwy_add_stream_lane(struct hwy_builder *b, enum hwy_lane_type type, uint32_t stream);
/* Yields the lane of a thread, with the process of the thread's record and no name. Fast enough for
 * every span. */
uint32_t hwy_add_thread_lane(struct hwy_builder *b, enum hwy_lane_type type, uint32_t thread);
uint32_t hwy_add_shape(struct hwy_builder *b, const struct hwy_shape *shape);
uint32_t hwy_add_symbol(struct hwy_builder *b, struct hwy_symbol symbol);
uint32_t hwy_add_frame(struct hwy_builder *b, const struct hwy_frame *frame);
uint32_t hwy_add_stack(struct hwy_builder *b, struct hwy_stack node);
/* Adds a property of the recording; a value of NULL adds nothing. */
void hwy_add_property(struct hwy_builder *b, const char *name, const char *value);
/* Yields a lane in which every field but these is HWY_NONE, and the name is the empty text. */
struct hwy_lane hwy_lane_of(enum hwy_lane_type type, int64_t process, int64_t thread);

/* The most spans of one trace: span ids, and references to spans, have 32 bits. */
#define HWY_MOST_SPANS (UINT32_MAX - 1)
/* Lowers the number of spans that a trace may have, for tests. */
void hwy_builder_set_most_spans(struct hwy_builder *b, uint32_t spans);
/* Adds a span; DUR must be >= 0. CORR may be set for every span that belongs to a call: finishing
 * makes the links. */
struct hwy_ref hwy_add_span(struct hwy_builder *b, uint32_t lane, enum hwy_kind kind,
			    const struct hwy_row *row);
void hwy_add_edge(struct hwy_builder *b, enum hwy_edge_kind kind, struct hwy_ref from,
		  struct hwy_ref to, int64_t id);
/* Adds what a rank exchanged with others. Fields that are not known are HWY_NONE; span, asked
 * and done are set by hwy_message_at. */
uint32_t hwy_add_message(struct hwy_builder *b, const struct hwy_message *message);
/* A message in which every field is HWY_NONE. */
struct hwy_message hwy_message_none(void);
/* Says which span a message's field 'span', 'asked' or 'done' refers to. */
static inline void hwy_message_at(int64_t *field, struct hwy_ref span)
{
	*field = (int64_t)((uint64_t)span.strip << 32 | span.row);
}
/* Ends building and frees the builder. 'rebase': time 0 becomes the earliest start (the trace's
 * wall moves with it). NULL when more spans were added than fit one trace. */
struct hwy_trace *hwy_builder_finish(struct hwy_builder *b, bool rebase);

#endif
