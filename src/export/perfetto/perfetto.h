/* SPDX-License-Identifier: Apache-2.0 */
/* perfetto.h - what the parts of the Perfetto export share: packets of its protobuf format, written
 * by hand.
 *
 * Field numbers come from perfetto/trace/trace_packet.proto and the files beside it; a comment
 * names each where it is used.
 */
#ifndef HWY_EXPORT_PERFETTO_PERFETTO_H
#define HWY_EXPORT_PERFETTO_PERFETTO_H

#include "base/bytes.h"
#include "export/export_internal.h"
#include "export/nested_rows.h"
#include "export/out.h"

/* ---- fields of a protobuf message; the message is the bytes of its fields ---- */

enum { PB_VARINT = 0, PB_FIXED64 = 1, PB_LENGTH = 2 }; /* wire types of protobuf */
enum { PB_FIELD_BYTES = 16 };                          /* room for a field's key and a number */

static inline void pb_key_and_number(struct hwy_bytes *message, uint32_t key, uint64_t number)
{
	uint8_t *end = hwy_bytes_reserve(message, PB_FIELD_BYTES);
	end = hwy_varint_write(hwy_varint_write(end, key), number);
	message->n = (size_t)(end - message->bytes);
}
static inline void pb_int(struct hwy_bytes *message, uint32_t field, uint64_t value)
{
	pb_key_and_number(message, field << 3 | PB_VARINT, value);
}
static inline void pb_fixed64(struct hwy_bytes *message, uint32_t field, uint64_t value)
{
	uint8_t *end = hwy_bytes_reserve(message, PB_FIELD_BYTES);
	end = hwy_varint_write(end, field << 3 | PB_FIXED64);
	memcpy(end, &value, 8);
	message->n = (size_t)(end + 8 - message->bytes);
}
/* Adds a field that holds a text or another message. */
static inline void pb_bytes(struct hwy_bytes *message, uint32_t field, const void *bytes, size_t n)
{
	pb_key_and_number(message, field << 3 | PB_LENGTH, n);
	hwy_bytes_put(message, bytes, n);
}
static inline void pb_text(struct hwy_bytes *message, uint32_t field, const char *text)
{
	pb_bytes(message, field, text, strlen(text));
}
static inline void pb_double(struct hwy_bytes *message, uint32_t field, double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	pb_fixed64(message, field, bits);
}

/* ---- the trace ---- */

/* Arguments of an event. The number under which a reader knows an argument's name (its iid) is
 * hwy_ref32 of this. */
enum perfetto_arg {
	PERFETTO_CORRELATION,
	PERFETTO_GRID,
	PERFETTO_BLOCK,
	PERFETTO_REGISTERS,
	PERFETTO_SHARED,
	PERFETTO_BYTES,
	PERFETTO_RESULT,
	PERFETTO_GRAPH,
	PERFETTO_GRAPH_NODE,
	PERFETTO_ADDRESS,
	PERFETTO_ARGS,
	PERFETTO_CATEGORY,
	PERFETTO_PAYLOAD,
	PERFETTO_EVENT,
	PERFETTO_EXTERNAL,
	PERFETTO_SEQUENCE,
	PERFETTO_CPU,
	PERFETTO_REASON,
	PERFETTO_STACK,
	PERFETTO_COST,
	PERFETTO_SHARE,
	PERFETTO_SAYS,
	PERFETTO_ADVICE,
	PERFETTO_PREDICTED,
	PERFETTO_PLACE,
	PERFETTO_TIMES,
	PERFETTO_OPERATION,
	PERFETTO_PEER,
	PERFETTO_TAG,
	PERFETTO_SENT,
	PERFETTO_RECEIVED,
	PERFETTO_NUMBER,
	PERFETTO_COMMUNICATOR,
	PERFETTO_MESSAGES,
	PERFETTO_ARGUMENTS
};

struct perfetto {
	struct export x;
	struct out out;
	int64_t shift; /* ns that are added to every time, so that no time is negative */
	struct hwy_bytes packet, event, part;
	/* By text id: bit 1 where the text was written as a name, bit 2 as a value. */
	uint8_t *interned;
	uint32_t cap_texts;
	/* By shape: its arguments, encoded; empty until a span has the shape. */
	struct hwy_bytes *shapes;
	/* By span id of a call: its number of spans of device work, 0, 1 or PERFETTO_MANY. */
	uint8_t *works;
	/* For calls with PERFETTO_MANY, by reference to the call: its pieces of work, and how
	 * many were written. */
	struct hwy_map counts, seen;
	/* The entry of 'seen' that was looked up last: the next span is often of the same call. */
	struct perfetto_last {
		int64_t link;
		uint32_t *value;
	} last;
	/* Edges from rank to rank, once for each of their two spans; sorted by span. */
	struct perfetto_rank_edge {
		int64_t span;
		uint32_t edge;
	} * rank_edges;
	uint32_t n_rank_edges;
	struct hwy_map stacks; /* id of the text that shows a stack, by reference to the stack */
	uint64_t last_track;
	struct nested_rows nest;
	uint64_t *rows; /* by row of the lane: the id of its track */
	uint32_t n_rows, cap_rows;
	uint32_t lane; /* the lane that is being written */
};

static inline uint32_t *perfetto_link_value(struct hwy_map *map, struct perfetto_last *last,
					    int64_t link)
{
	if (last->link != link)
		*last = (struct perfetto_last){link, hwy_map_put(map, (uint64_t)link, NULL)};
	return last->value;
}

/* Ids of the tracks of processes, threads and devices; ids of the tracks of lanes count from 1. */
#define PERFETTO_PROCESS(i) (UINT64_C(1) << 40 | (i))
#define PERFETTO_THREAD(i) (UINT64_C(2) << 40 | (i))
#define PERFETTO_DEVICE(i) (UINT64_C(3) << 40 | (i))

/* perfetto_packet.c: each function writes a packet with one message, without and with a time. */
void perfetto_send_untimed(struct perfetto *p, uint32_t field, const struct hwy_bytes *message);
void perfetto_send_timed(struct perfetto *p, int64_t time, uint32_t field,
			 const struct hwy_bytes *message);
/* Adds an argument to p->event. */
void perfetto_arg_int(struct perfetto *p, enum perfetto_arg name, int64_t value);
void perfetto_arg_text(struct perfetto *p, enum perfetto_arg name, int64_t text);
void perfetto_arg_z(struct perfetto *p, enum perfetto_arg name, const char *text);
void perfetto_arg_double(struct perfetto *p, enum perfetto_arg name, double value);
enum { PERFETTO_MANY = 2 };
enum { PERFETTO_BEGIN = 1, PERFETTO_END = 2, PERFETTO_INSTANT = 3, PERFETTO_COUNTER = 4 };
/* Begins p->event; name: text id, or -1. */
void perfetto_event(struct perfetto *p, int type, uint64_t track, int64_t name);
void perfetto_send_event(struct perfetto *p, int64_t time);
void perfetto_end(struct perfetto *p, uint64_t track, int64_t time);
void perfetto_start(struct perfetto *p); /* writes the clocks and the names of arguments */
uint64_t perfetto_track(struct perfetto *p, uint64_t parent, const char *name, int rank);
uint64_t perfetto_counter(struct perfetto *p, uint64_t parent, const char *name, const char *unit);
void perfetto_count(struct perfetto *p, uint64_t track, int64_t time, int64_t value);

/* Functions of perfetto_tracks.c: */
void perfetto_tracks_write(struct perfetto *p);
uint64_t perfetto_tracks_add_row(struct perfetto *p, uint32_t lane, uint32_t row);
uint64_t perfetto_tracks_add_counter(struct perfetto *p, uint32_t lane);

/* Functions of perfetto_spans.c: */
void perfetto_spans_write_lane(struct perfetto *p, const struct hwy_strip *first,
			       const struct hwy_strip *end);
void perfetto_spans_write_stage_names(struct perfetto *p);

/* Functions of perfetto_messages.c: what spans exchange with other ranks. */
void perfetto_messages_find_edges(struct perfetto *p);
/* Adds arrows between ranks, and arguments, to the event of a span. */
void perfetto_messages_put_flows(struct perfetto *p, int64_t span);
void perfetto_messages_put_args(struct perfetto *p, int64_t span);

/* perfetto_analysis.c: writes the critical path, the findings, the steps, the headway and the
 * utilisation. */
void perfetto_analysis_write(struct perfetto *p);

#endif
