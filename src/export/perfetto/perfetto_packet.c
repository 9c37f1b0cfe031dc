/* perfetto_packet.c - packets: timestamps, interned texts, events, tracks. One sequence writes them all. */
#include <stdlib.h>

#include "export/perfetto/perfetto.h"

/* Trace.packet = 1; TracePacket: timestamp 8, trusted_packet_sequence_id 10, track_event 11,
 * interned_data 12, sequence_flags 13, clock_snapshot 6, track_descriptor 60. */
enum { SEQUENCE = 1, STATE_CLEARED = 1, NEEDS_STATE = 2 };

void pb_reserve(struct pb *pb, size_t n)
{
	while (pb->n + n > pb->cap) {
		pb->cap = pb->cap ? pb->cap * 2 : 1024;
		pb->at = hwy_realloc(pb->at, pb->cap);
	}
}

/* p->packet */
static void send(struct pf *p)
{
	struct pb *packet = &p->packet;
	uint8_t head[12] = {1 << 3 | 2};
	size_t n = 1, length = packet->n;
	for (; length >= 0x80; length >>= 7)
		head[n++] = (uint8_t)(length | 0x80);
	head[n++] = (uint8_t)length;
	out_bytes(&p->out, head, n);
	out_bytes(&p->out, packet->at, packet->n);
}

static void send_timed(struct pf *p, int64_t time, uint32_t field, const void *message, size_t n)
{
	enum { HEAD = 48 };
	static const uint8_t sequence[] = {10 << 3, SEQUENCE, 13 << 3, NEEDS_STATE};
	uint8_t head[HEAD], *end = head;
	*end++ = 8 << 3;
	end = pb_put(end, (uint64_t)(time + p->shift));
	memcpy(end, sequence, sizeof sequence);
	end = pb_put(end + sizeof sequence, field << 3 | 2);
	end = pb_put(end, n);
	size_t length = (size_t)(end - head);
	uint8_t *room = (uint8_t *)out_room(&p->out, HEAD), *at = room;
	*at++ = 1 << 3 | 2;
	at = pb_put(at, length + n);
	memcpy(at, head, HEAD / 2); /* all of it, in one go; what is too much is written over */
	p->out.n += (size_t)(at - room) + length;
	out_bytes(&p->out, message, n);
}

void pf_send_untimed(struct pf *p, uint32_t field, const struct pb *message)
{
	p->packet.n = 0;
	pb_int(&p->packet, 10, SEQUENCE);
	pb_int(&p->packet, 13, NEEDS_STATE);
	pb_bytes(&p->packet, field, message->at, message->n);
	send(p);
}

void pf_send_timed(struct pf *p, int64_t time, uint32_t field, const struct pb *message)
{
	send_timed(p, time, field, message->at, message->n);
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* InternedData, fields of; each entry has iid 1 and the text 2. */
enum { EVENT_NAMES = 2, ANNOTATION_NAMES = 3, ANNOTATION_VALUES = 29 };

static void intern(struct pf *p, uint32_t field, uint64_t iid, const void *text, size_t n)
{
	struct pb entry = {0}, data = {0};
	pb_int(&entry, 1, iid);
	pb_bytes(&entry, 2, text, n);
	pb_bytes(&data, field, entry.at, entry.n);
	pf_send_untimed(p, 12, &data);
	free(entry.at);
	free(data.at);
}

/* A number that is no text's is the empty text's. */
static int64_t need_texts(struct pf *p, int64_t text)
{
	if (text < 0 || text >= (int64_t)p->x.trace->strings.n + p->x.extra.n)
		text = 0;
	if (text < p->cap_texts)
		return text;
	uint32_t cap = p->cap_texts;
	p->cap_texts = (uint32_t)text * 2 + 1024;
	p->interned = hwy_realloc(p->interned, p->cap_texts);
	memset(p->interned + cap, 0, p->cap_texts - cap);
	return text;
}

/* The iid of a text of the trace in one of these fields. */
static uint64_t iid_of(struct pf *p, uint32_t field, int64_t text)
{
	const uint8_t bit = field == EVENT_NAMES ? 1 : 2;
	text = need_texts(p, text);
	if (!(p->interned[text] & bit)) {
		struct hwy_text at = export_text(&p->x, text);
		p->interned[text] |= bit;
		intern(p, field, (uint64_t)text + 1, at.at, at.length);
	}
	return (uint64_t)text + 1;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* TrackEvent: type 9, track_uuid 11, name_iid 10, debug_annotations 4. */
void pf_event(struct pf *p, int type, uint64_t track, int64_t name)
{
	struct pb *event = &p->event;
	uint64_t iid = name >= 0 ? iid_of(p, EVENT_NAMES, name) : 0;
	event->n = 0;
	pb_reserve(event, 64);
	event->at[event->n++] = 9 << 3;
	event->at[event->n++] = (uint8_t)type;
	event->at[event->n++] = 11 << 3;
	pb_varint(event, track);
	if (iid) {
		event->at[event->n++] = 10 << 3;
		pb_varint(event, iid);
	}
}

void pf_send_event(struct pf *p, int64_t time)
{
	pf_send_timed(p, time, 11, &p->event);
}

void pf_end(struct pf *p, uint64_t track, int64_t time)
{
	uint8_t event[16] = {9 << 3, PF_END, 11 << 3};
	size_t n = (size_t)(pb_put(event + 3, track) - event);
	send_timed(p, time, 11, event, n);
}

/* DebugAnnotation: name_iid 1, int_value 4, double_value 5, string_value 6, string_value_iid 17. */
static void put_arg(struct pf *p)
{
	pb_bytes(&p->event, 4, p->part.at, p->part.n);
}

static struct pb *begin_arg(struct pf *p, enum pf_arg name)
{
	p->part.n = 0;
	pb_int(&p->part, 1, (uint64_t)name + 1);
	return &p->part;
}

void pf_arg_int(struct pf *p, enum pf_arg name, int64_t value)
{
	struct pb *event = &p->event;
	pb_reserve(event, 16);
	uint8_t *at = event->at + event->n;
	at[0] = 4 << 3 | 2;
	at[2] = 1 << 3;
	at[3] = (uint8_t)(name + 1); /* few: one byte */
	at[4] = 4 << 3;
	uint8_t *end = pb_put(at + 5, (uint64_t)value);
	at[1] = (uint8_t)(end - at - 2);
	event->n += (size_t)(end - at);
}

void pf_arg_text(struct pf *p, enum pf_arg name, int64_t text)
{
	uint64_t iid = iid_of(p, ANNOTATION_VALUES, text);
	pb_int(begin_arg(p, name), 17, iid);
	put_arg(p);
}

void pf_arg_z(struct pf *p, enum pf_arg name, const char *text)
{
	pb_text(begin_arg(p, name), 6, text);
	put_arg(p);
}

void pf_arg_double(struct pf *p, enum pf_arg name, double value)
{
	pb_double(begin_arg(p, name), 5, value);
	put_arg(p);
}

/* ---- tracks ---------------------------------------------------------------------------------- */

/* TrackDescriptor: uuid 1, name 2, parent_uuid 5, counter 8 {unit_name 6}, sibling_order_rank 12,
 * sibling_merge_behavior 15 (2: none). */
static void send_track(struct pf *p, struct pb *track)
{
	pf_send_untimed(p, 60, track);
	free(track->at);
}

uint64_t pf_track(struct pf *p, uint64_t parent, const char *name, int rank)
{
	struct pb track = {0};
	pb_int(&track, 1, ++p->last_track);
	pb_text(&track, 2, name);
	if (parent)
		pb_int(&track, 5, parent);
	pb_int(&track, 12, (uint64_t)rank);
	pb_int(&track, 15, 2);
	send_track(p, &track);
	return p->last_track;
}

uint64_t pf_counter(struct pf *p, uint64_t parent, const char *name, const char *unit)
{
	struct pb track = {0}, counter = {0};
	pb_text(&counter, 6, unit);
	pb_int(&track, 1, ++p->last_track);
	pb_text(&track, 2, name);
	if (parent)
		pb_int(&track, 5, parent);
	pb_bytes(&track, 8, counter.at, *unit ? counter.n : 0);
	free(counter.at);
	send_track(p, &track);
	return p->last_track;
}

void pf_count(struct pf *p, uint64_t track, int64_t time, int64_t value)
{
	pf_event(p, PF_COUNTER, track, -1);
	pb_int(&p->event, 30, (uint64_t)value); /* counter_value */
	pf_send_event(p, time);
}

/* ---- the beginning --------------------------------------------------------------------------- */

static const char *const argument_names[PF_ARGUMENTS] = {
	[PF_CORRELATION] = "correlation",
	[PF_GRID] = "grid",
	[PF_BLOCK] = "block",
	[PF_REGISTERS] = "registers",
	[PF_SHARED] = "shared memory",
	[PF_BYTES] = "bytes",
	[PF_RESULT] = "result",
	[PF_GRAPH] = "graph",
	[PF_GRAPH_NODE] = "graph node",
	[PF_ADDRESS] = "address",
	[PF_ARGS] = "args",
	[PF_CATEGORY] = "category",
	[PF_PAYLOAD] = "payload",
	[PF_EVENT] = "event",
	[PF_EXTERNAL] = "external id",
	[PF_SEQUENCE] = "sequence number",
	[PF_CPU] = "cpu",
	[PF_REASON] = "reason",
	[PF_STACK] = "stack",
	[PF_COST] = "cost a step (ns)",
	[PF_SHARE] = "share of the step",
	[PF_SAYS] = "seen",
	[PF_ADVICE] = "advice",
	[PF_PREDICTED] = "predicted speedup",
	[PF_PLACE] = "place",
	[PF_TIMES] = "times",
};

/* ClockSnapshot: clocks 1 {clock_id 1, timestamp 2}: where the wall clock stood at time 0. */
static void put_clocks(struct pf *p)
{
	enum { REALTIME = 1, BOOTTIME = 6 };
	const struct hwy_trace *trace = p->x.trace;
	struct pb snapshot = {0}, clock = {0};
	pb_int(&clock, 1, BOOTTIME);
	pb_int(&clock, 2, (uint64_t)p->shift);
	pb_bytes(&snapshot, 1, clock.at, clock.n);
	if (trace->wall != HWY_NONE) {
		clock.n = 0;
		pb_int(&clock, 1, REALTIME);
		pb_int(&clock, 2, (uint64_t)trace->wall);
		pb_bytes(&snapshot, 1, clock.at, clock.n);
	}
	p->packet.n = 0;
	pb_int(&p->packet, 8, (uint64_t)p->shift);
	pb_int(&p->packet, 10, SEQUENCE);
	pb_int(&p->packet, 13, STATE_CLEARED);
	pb_bytes(&p->packet, 6, snapshot.at, snapshot.n);
	send(p);
	free(snapshot.at);
	free(clock.at);
}

void pf_start(struct pf *p)
{
	put_clocks(p);
	for (uint64_t i = 0; i < PF_ARGUMENTS; i++)
		intern(p, ANNOTATION_NAMES, i + 1, argument_names[i], strlen(argument_names[i]));
}
