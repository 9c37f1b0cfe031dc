/* SPDX-License-Identifier: Apache-2.0 */
/* perfetto_packet.c - writes packets: timestamps, interned texts, events, tracks. All belong to
 * one packet sequence. */
#include <stdlib.h>

#include "export/perfetto/perfetto.h"

/* Trace.packet = 1; TracePacket: timestamp 8, trusted_packet_sequence_id 10, track_event 11,
 * interned_data 12, sequence_flags 13, clock_snapshot 6, track_descriptor 60. */
enum { SEQUENCE = 1, STATE_CLEARED = 1, NEEDS_STATE = 2 };

/* Writes p->packet to the file. */
static void send(struct perfetto *p)
{
	struct hwy_bytes *packet = &p->packet;
	uint8_t head[1 + HWY_VARINT_BYTES] = {1 << 3 | PB_LENGTH};
	const uint8_t *end = hwy_varint_write(head + 1, packet->n);
	out_bytes(&p->out, head, (size_t)(end - head));
	out_bytes(&p->out, packet->bytes, packet->n);
}

static void send_timed(struct perfetto *p, int64_t time, uint32_t field, const void *message,
		       size_t n)
{
	enum { HEAD = 48 };
	static const uint8_t sequence[] = {10 << 3, SEQUENCE, 13 << 3, NEEDS_STATE};
	uint8_t head[HEAD], *end = head;
	*end++ = 8 << 3;
	end = hwy_varint_write(end, (uint64_t)(time + p->shift));
	memcpy(end, sequence, sizeof sequence);
	end = hwy_varint_write(end + sizeof sequence, field << 3 | 2);
	end = hwy_varint_write(end, n);
	size_t length = (size_t)(end - head);
	uint8_t *room = (uint8_t *)out_room(&p->out, HEAD), *at = room;
	*at++ = 1 << 3 | 2;
	at = hwy_varint_write(at, length + n);
	/* A copy of a fixed size is fast; the surplus bytes are overwritten later. */
	memcpy(at, head, HEAD / 2);
	p->out.n += (size_t)(at - room) + length;
	out_bytes(&p->out, message, n);
}

void perfetto_send_untimed(struct perfetto *p, uint32_t field, const struct hwy_bytes *message)
{
	p->packet.n = 0;
	pb_int(&p->packet, 10, SEQUENCE);
	pb_int(&p->packet, 13, NEEDS_STATE);
	pb_bytes(&p->packet, field, message->bytes, message->n);
	send(p);
}

void perfetto_send_timed(struct perfetto *p, int64_t time, uint32_t field,
			 const struct hwy_bytes *message)
{
	send_timed(p, time, field, message->bytes, message->n);
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Fields of InternedData; each entry has two fields: iid 1, text 2. */
enum { EVENT_NAMES = 2, ANNOTATION_NAMES = 3, ANNOTATION_VALUES = 29 };

static void intern(struct perfetto *p, uint32_t field, uint64_t iid, const void *text, size_t n)
{
	struct hwy_bytes entry = {0}, data = {0};
	pb_int(&entry, 1, iid);
	pb_bytes(&entry, 2, text, n);
	pb_bytes(&data, field, entry.bytes, entry.n);
	perfetto_send_untimed(p, 12, &data);
	free(entry.bytes);
	free(data.bytes);
}

/* Makes room in p->interned for a text. An id that no text has becomes 0, the empty text. */
static int64_t need_texts(struct perfetto *p, int64_t text)
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

/* Yields the iid of a text in a field of InternedData; the text is written where the reader does
 * not have it yet. */
static uint64_t iid_of(struct perfetto *p, uint32_t field, int64_t text)
{
	const uint8_t bit = field == EVENT_NAMES ? 1 : 2;
	text = need_texts(p, text);
	if (!(p->interned[text] & bit)) {
		struct hwy_text at = export_text(&p->x, text);
		p->interned[text] |= bit;
		intern(p, field, (uint64_t)hwy_ref(text), at.at, at.length);
	}
	return (uint64_t)hwy_ref(text);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Fields of TrackEvent: type 9, track_uuid 11, name_iid 10, debug_annotations 4. */
void perfetto_event(struct perfetto *p, int type, uint64_t track, int64_t name)
{
	struct hwy_bytes *event = &p->event;
	uint64_t iid = name >= 0 ? iid_of(p, EVENT_NAMES, name) : 0;
	event->n = 0;
	hwy_bytes_reserve(event, 64);
	event->bytes[event->n++] = 9 << 3;
	event->bytes[event->n++] = (uint8_t)type;
	event->bytes[event->n++] = 11 << 3;
	hwy_bytes_put_varint(event, track);
	if (iid) {
		event->bytes[event->n++] = 10 << 3;
		hwy_bytes_put_varint(event, iid);
	}
}

void perfetto_send_event(struct perfetto *p, int64_t time)
{
	perfetto_send_timed(p, time, 11, &p->event);
}

void perfetto_end(struct perfetto *p, uint64_t track, int64_t time)
{
	uint8_t event[16] = {9 << 3, PERFETTO_END, 11 << 3};
	size_t n = (size_t)(hwy_varint_write(event + 3, track) - event);
	send_timed(p, time, 11, event, n);
}

/* Fields of DebugAnnotation: name_iid 1, int_value 4, double_value 5, string_value 6,
 * string_value_iid 17. */
static void put_arg(struct perfetto *p)
{
	pb_bytes(&p->event, 4, p->part.bytes, p->part.n);
}

static struct hwy_bytes *begin_arg(struct perfetto *p, enum perfetto_arg name)
{
	p->part.n = 0;
	pb_int(&p->part, 1, hwy_ref32(name));
	return &p->part;
}

void perfetto_arg_int(struct perfetto *p, enum perfetto_arg name, int64_t value)
{
	struct hwy_bytes *event = &p->event;
	uint8_t *at = hwy_bytes_reserve(event, PB_FIELD_BYTES);
	at[0] = 4 << 3 | 2;
	at[2] = 1 << 3;
	at[3] = (uint8_t)hwy_ref32(name); /* there are so few names that one byte is enough */
	at[4] = 4 << 3;
	uint8_t *end = hwy_varint_write(at + 5, (uint64_t)value);
	at[1] = (uint8_t)(end - at - 2);
	event->n += (size_t)(end - at);
}

void perfetto_arg_text(struct perfetto *p, enum perfetto_arg name, int64_t text)
{
	uint64_t iid = iid_of(p, ANNOTATION_VALUES, text);
	pb_int(begin_arg(p, name), 17, iid);
	put_arg(p);
}

void perfetto_arg_z(struct perfetto *p, enum perfetto_arg name, const char *text)
{
	pb_text(begin_arg(p, name), 6, text);
	put_arg(p);
}

void perfetto_arg_double(struct perfetto *p, enum perfetto_arg name, double value)
{
	pb_double(begin_arg(p, name), 5, value);
	put_arg(p);
}

/* ---- tracks ---------------------------------------------------------------------------------- */

/* TrackDescriptor: uuid 1, name 2, parent_uuid 5, counter 8 {unit_name 6}, sibling_order_rank 12,
 * sibling_merge_behavior 15 (2: none). */
static void send_track(struct perfetto *p, struct hwy_bytes *track)
{
	perfetto_send_untimed(p, 60, track);
	free(track->bytes);
}

uint64_t perfetto_track(struct perfetto *p, uint64_t parent, const char *name, int rank)
{
	struct hwy_bytes track = {0};
	pb_int(&track, 1, ++p->last_track);
	pb_text(&track, 2, name);
	if (parent)
		pb_int(&track, 5, parent);
	pb_int(&track, 12, (uint64_t)rank);
	pb_int(&track, 15, 2);
	send_track(p, &track);
	return p->last_track;
}

uint64_t perfetto_counter(struct perfetto *p, uint64_t parent, const char *name, const char *unit)
{
	struct hwy_bytes track = {0}, counter = {0};
	pb_text(&counter, 6, unit);
	pb_int(&track, 1, ++p->last_track);
	pb_text(&track, 2, name);
	if (parent)
		pb_int(&track, 5, parent);
	pb_bytes(&track, 8, counter.bytes, *unit ? counter.n : 0);
	free(counter.bytes);
	send_track(p, &track);
	return p->last_track;
}

void perfetto_count(struct perfetto *p, uint64_t track, int64_t time, int64_t value)
{
	perfetto_event(p, PERFETTO_COUNTER, track, -1);
	pb_int(&p->event, 30, (uint64_t)value); /* field counter_value */
	perfetto_send_event(p, time);
}

/* ---- the beginning --------------------------------------------------------------------------- */

static const char *const argument_names[PERFETTO_ARGUMENTS] = {
	[PERFETTO_CORRELATION] = "correlation",
	[PERFETTO_GRID] = "grid",
	[PERFETTO_BLOCK] = "block",
	[PERFETTO_REGISTERS] = "registers",
	[PERFETTO_SHARED] = "shared memory",
	[PERFETTO_BYTES] = "bytes",
	[PERFETTO_RESULT] = "result",
	[PERFETTO_GRAPH] = "graph",
	[PERFETTO_GRAPH_NODE] = "graph node",
	[PERFETTO_ADDRESS] = "address",
	[PERFETTO_ARGS] = "args",
	[PERFETTO_CATEGORY] = "category",
	[PERFETTO_PAYLOAD] = "payload",
	[PERFETTO_EVENT] = "event",
	[PERFETTO_EXTERNAL] = "external id",
	[PERFETTO_SEQUENCE] = "sequence number",
	[PERFETTO_CPU] = "cpu",
	[PERFETTO_REASON] = "reason",
	[PERFETTO_STACK] = "stack",
	[PERFETTO_COST] = "cost a step (ns)",
	[PERFETTO_SHARE] = "share of the step",
	[PERFETTO_SAYS] = "seen",
	[PERFETTO_ADVICE] = "advice",
	[PERFETTO_PREDICTED] = "predicted speedup",
	[PERFETTO_PLACE] = "place",
	[PERFETTO_TIMES] = "times",
	[PERFETTO_OPERATION] = "operation",
	[PERFETTO_PEER] = "peer or root",
	[PERFETTO_TAG] = "tag",
	[PERFETTO_SENT] = "bytes sent",
	[PERFETTO_RECEIVED] = "bytes received",
	[PERFETTO_NUMBER] = "number of the collective",
	[PERFETTO_COMMUNICATOR] = "communicator",
	[PERFETTO_MESSAGES] = "messages",
};

/* Fields of ClockSnapshot: clocks 1 {clock_id 1, timestamp 2}. It tells the wall clock's time at
 * time 0. */
static void put_clocks(struct perfetto *p)
{
	enum { REALTIME = 1, BOOTTIME = 6 };
	const struct hwy_trace *trace = p->x.trace;
	struct hwy_bytes snapshot = {0}, clock = {0};
	pb_int(&clock, 1, BOOTTIME);
	pb_int(&clock, 2, (uint64_t)p->shift);
	pb_bytes(&snapshot, 1, clock.bytes, clock.n);
	if (trace->wall != HWY_NONE) {
		clock.n = 0;
		pb_int(&clock, 1, REALTIME);
		pb_int(&clock, 2, (uint64_t)trace->wall);
		pb_bytes(&snapshot, 1, clock.bytes, clock.n);
	}
	p->packet.n = 0;
	pb_int(&p->packet, 8, (uint64_t)p->shift);
	pb_int(&p->packet, 10, SEQUENCE);
	pb_int(&p->packet, 13, STATE_CLEARED);
	pb_bytes(&p->packet, 6, snapshot.bytes, snapshot.n);
	send(p);
	free(snapshot.bytes);
	free(clock.bytes);
}

void perfetto_start(struct perfetto *p)
{
	put_clocks(p);
	for (uint32_t i = 0; i < PERFETTO_ARGUMENTS; i++)
		intern(p, ANNOTATION_NAMES, hwy_ref32(i), argument_names[i],
		       strlen(argument_names[i]));
}
