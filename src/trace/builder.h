/* builder.h - makes a trace: spans in any order in, one finished trace out.
 *
 * Readers add records (get or make an index), lanes, and spans; finishing sorts every strip, numbers the
 * spans, links device work to the calls that enqueued it (equal correlation id in the same process), and
 * turns references of edges into span ids.
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
	int64_t v[HWY_COLS]; /* columns the kind does not have are ignored */
};
struct hwy_ref { /* a span of a trace that is being built: it has no id yet */
	uint32_t strip, row;
};

struct hwy_builder *hwy_builder_new(void);
void hwy_builder_free(struct hwy_builder *b); /* gives up; finish frees by itself */
/* The trace under construction: records may be read and changed through it until finish. */
struct hwy_trace *hwy_builder_trace(struct hwy_builder *b);

uint32_t hwy_text_id(struct hwy_builder *b, const char *text); /* NULL is "" */
uint32_t hwy_text_id_n(struct hwy_builder *b, const char *text, size_t length);

/* A new record with every field HWY_NONE; yields its index: trace->processes[index].pid = …
 * (pointers into the tables move when they grow). */
#define X(type, field, section) uint32_t hwy_new_##field(struct hwy_builder *b);
HWY_RECORDS(X)
#undef X
/* Equal records share one index. Fields that are not set must be HWY_NONE (lanes) or 0 (the rest). */
uint32_t hwy_add_lane(struct hwy_builder *b, struct hwy_lane lane);
/* The lane of a stream; process and device are those of its record. Quick enough to be asked for every span. */
uint32_t hwy_add_stream_lane(struct hwy_builder *b, enum hwy_lane_type type, uint32_t stream);
/* The lane of a thread that has no name of its own; the process is that of the thread's record. As quick. */
uint32_t hwy_add_thread_lane(struct hwy_builder *b, enum hwy_lane_type type, uint32_t thread);
uint32_t hwy_add_shape(struct hwy_builder *b, const struct hwy_shape *shape);
uint32_t hwy_add_symbol(struct hwy_builder *b, struct hwy_symbol symbol);
uint32_t hwy_add_frame(struct hwy_builder *b, const struct hwy_frame *frame);
uint32_t hwy_add_stack(struct hwy_builder *b, struct hwy_stack node);
void hwy_add_property(struct hwy_builder *b, const char *name,
		      const char *value); /* NULL: nothing */
/* A lane with every field HWY_NONE but these (name: the empty text). */
struct hwy_lane hwy_lane_of(enum hwy_lane_type type, int64_t process, int64_t thread);

/* Ids of spans are 32 bits, and a reference to one too: so many spans fit one trace. */
#define HWY_MOST_SPANS (UINT32_MAX - 1)
/* Lowers the number of spans that fit, for tests. */
void hwy_builder_set_most_spans(struct hwy_builder *b, uint32_t spans);
/* CORR of any span that belongs to a call may simply be set; finish makes the links. DUR must be >= 0. */
struct hwy_ref hwy_add_span(struct hwy_builder *b, uint32_t lane, enum hwy_kind kind,
			    const struct hwy_row *row);
void hwy_add_edge(struct hwy_builder *b, enum hwy_edge_kind kind, struct hwy_ref from,
		  struct hwy_ref to, int64_t id);
/* Ends building and frees the builder. 'rebase': time 0 becomes the earliest start (the trace's wall moves with it).
 * NULL when more spans were added than fit one trace. */
struct hwy_trace *hwy_builder_finish(struct hwy_builder *b, bool rebase);

#endif
