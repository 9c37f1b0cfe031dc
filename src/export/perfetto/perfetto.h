/* perfetto.h - what the parts of the Perfetto export share: packets of its protobuf format, written by hand.
 *
 * Field numbers are those of perfetto/trace/trace_packet.proto and its neighbours, each named where it is used.
 */
#ifndef HWY_EXPORT_PERFETTO_PERFETTO_H
#define HWY_EXPORT_PERFETTO_PERFETTO_H

#include "export/export_internal.h"
#include "export/nested_rows.h"
#include "export/out.h"

/* ---- messages ---- */

struct pb { /* a message being put together */
	uint8_t *at;
	size_t n, cap;
};
void pb_reserve(struct pb *pb, size_t n);

static inline uint8_t *pb_put(uint8_t *at, uint64_t value) /* up to 10 bytes */
{
	while (value >= 0x80) {
		*at++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*at++ = (uint8_t)value;
	return at;
}
static inline void pb_varint(struct pb *pb, uint64_t value)
{
	pb->n = (size_t)(pb_put(pb->at + pb->n, value) - pb->at);
}
/* Each makes its own room. */
static inline void pb_int(struct pb *pb, uint32_t field, uint64_t value)
{
	if (pb->n + 16 > pb->cap)
		pb_reserve(pb, 16);
	pb_varint(pb, field << 3);
	pb_varint(pb, value);
}
static inline void pb_fixed64(struct pb *pb, uint32_t field, uint64_t value)
{
	if (pb->n + 16 > pb->cap)
		pb_reserve(pb, 16);
	pb_varint(pb, field << 3 | 1);
	memcpy(pb->at + pb->n, &value, 8);
	pb->n += 8;
}
static inline void pb_bytes(struct pb *pb, uint32_t field, const void *bytes, size_t n)
{
	if (pb->n + n + 16 > pb->cap)
		pb_reserve(pb, n + 16);
	pb_varint(pb, field << 3 | 2);
	pb_varint(pb, n);
	memcpy(pb->at + pb->n, bytes, n);
	pb->n += n;
}
static inline void pb_text(struct pb *pb, uint32_t field, const char *text)
{
	pb_bytes(pb, field, text, strlen(text));
}
static inline void pb_double(struct pb *pb, uint32_t field, double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	pb_fixed64(pb, field, bits);
}

/* ---- the trace ---- */

enum pf_arg { /* names of arguments; their iids are these plus one */
	      PF_CORRELATION,
	      PF_GRID,
	      PF_BLOCK,
	      PF_REGISTERS,
	      PF_SHARED,
	      PF_BYTES,
	      PF_RESULT,
	      PF_GRAPH,
	      PF_GRAPH_NODE,
	      PF_ADDRESS,
	      PF_ARGS,
	      PF_CATEGORY,
	      PF_PAYLOAD,
	      PF_EVENT,
	      PF_EXTERNAL,
	      PF_SEQUENCE,
	      PF_CPU,
	      PF_REASON,
	      PF_STACK,
	      PF_COST,
	      PF_SHARE,
	      PF_SAYS,
	      PF_ADVICE,
	      PF_PREDICTED,
	      PF_PLACE,
	      PF_TIMES,
	      PF_ARGUMENTS
};

struct pf {
	struct export x;
	struct out out;
	int64_t shift; /* added to every time */
	struct pb packet, event, part;
	uint8_t *
		interned; /* by text id, a bit each: known to the reader as a name, as an argument's value */
	uint32_t cap_texts;
	struct pf_shape { /* by shape: its arguments, encoded; NULL: not yet */
		uint8_t *at;
		uint32_t n;
	} * shapes;
	uint8_t *works;              /* by span, of calls: none, one or PF_MANY works */
	struct hwy_map counts, seen; /* link to a call with many -> works, those written */
	struct pf_last {             /* looked up last: works of one call come in a row */
		int64_t link;
		uint32_t *value;
	} last;
	struct hwy_map stacks; /* -> its text */
	uint64_t last_track;
	struct nest nest;
	uint64_t *rows; /* tracks of the lane's rows */
	uint32_t n_rows, cap_rows;
	uint32_t lane; /* that is being written */
};

static inline uint32_t *pf_of_link(struct hwy_map *map, struct pf_last *last, int64_t link)
{
	if (last->link != link)
		*last = (struct pf_last){link, hwy_map_put(map, (uint64_t)link, NULL)};
	return last->value;
}

/* The places of tracks that are no lane's. */
#define PF_PROCESS(i) (UINT64_C(1) << 40 | (i))
#define PF_THREAD(i) (UINT64_C(2) << 40 | (i))
#define PF_DEVICE(i) (UINT64_C(3) << 40 | (i))

/* perfetto_packet.c */
/* A packet with one message. */
void pf_send_untimed(struct pf *p, uint32_t field, const struct pb *message);
void pf_send_timed(struct pf *p, int64_t time, uint32_t field, const struct pb *message);
void pf_arg_int(struct pf *p, enum pf_arg name, int64_t value); /* into p->event */
void pf_arg_text(struct pf *p, enum pf_arg name, int64_t text);
void pf_arg_z(struct pf *p, enum pf_arg name, const char *text);
void pf_arg_double(struct pf *p, enum pf_arg name, double value);
enum { PF_MANY = 2 };
enum { PF_BEGIN = 1, PF_END = 2, PF_INSTANT = 3, PF_COUNTER = 4 };
void pf_event(struct pf *p, int type, uint64_t track, int64_t name); /* starts p->event */
void pf_send_event(struct pf *p, int64_t time);
void pf_end(struct pf *p, uint64_t track, int64_t time);
void pf_start(struct pf *p); /* clocks, and the names of arguments */
uint64_t pf_track(struct pf *p, uint64_t parent, const char *name, int rank);
uint64_t pf_counter(struct pf *p, uint64_t parent, const char *name, const char *unit);
void pf_count(struct pf *p, uint64_t track, int64_t time, int64_t value);

/* perfetto_tracks.c */
void pf_write_who(struct pf *p);
uint64_t pf_lane_track(struct pf *p, uint32_t lane, uint32_t row);
uint64_t pf_lane_counter(struct pf *p, uint32_t lane);

/* perfetto_spans.c */
void pf_write_lane(struct pf *p, const struct hwy_strip *first, const struct hwy_strip *end);
void pf_write_stages_head(struct pf *p);

/* perfetto_analysis.c: critical path, findings, steps, headway, utilisation. */
void pf_write_analysis(struct pf *p);

#endif
