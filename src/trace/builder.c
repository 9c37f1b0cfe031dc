/* SPDX-License-Identifier: Apache-2.0 */
/* builder.c - records, lanes and spans while a trace is made; see builder.h. Finishing is
 * finish.c. */
#include "trace/builder.h"

#include <stdlib.h>

#include "trace/finish.h"

/* The lanes that threads (or streams) have to themselves, by the index of the thread and the lane's
 * type: hwy_add_thread_lane and hwy_add_stream_lane are called for every span, and hashing a lane
 * takes longer than this. */
struct own_lanes {
	struct lane_refs {
		uint32_t lanes[HWY_LANE_TYPES]; /* lane index + 1; 0 until the lane was added */
	} * owners;
	uint32_t n, cap;
};

struct hwy_builder {
	struct hwy_trace *trace;
	/* The index of a record, by the hash of its bytes. */
	struct hwy_map lanes, shapes, symbols, frames, stacks;
	struct hwy_map strips; /* index of a strip, by lane << 8 | kind */
	/* The key of the last span's strip: successive spans often share one. */
	uint64_t last_strip_key;
	uint32_t last_strip;
	uint32_t n_spans, most_spans;
	bool is_overfull; /* more than HWY_MOST_SPANS spans were added */
	struct own_lanes thread_lanes, stream_lanes;
};

struct hwy_builder *hwy_builder_new(void)
{
	struct hwy_builder *b = hwy_zalloc(sizeof *b);
	b->trace = hwy_zalloc(sizeof *b->trace);
	b->trace->wall = HWY_NONE;
	b->last_strip_key = UINT64_MAX;
	b->most_spans = HWY_MOST_SPANS;
	hwy_strings_init(&b->trace->strings);
	return b;
}

static void free_all_but_trace(struct hwy_builder *b)
{
	hwy_map_free(&b->lanes);
	hwy_map_free(&b->shapes);
	hwy_map_free(&b->symbols);
	hwy_map_free(&b->frames);
	hwy_map_free(&b->stacks);
	hwy_map_free(&b->strips);
	free(b->thread_lanes.owners);
	free(b->stream_lanes.owners);
	free(b);
}

void hwy_builder_free(struct hwy_builder *b)
{
	if (!b)
		return;
	hwy_trace_free(b->trace);
	free_all_but_trace(b);
}

struct hwy_trace *hwy_builder_trace(struct hwy_builder *b)
{
	return b->trace;
}

uint32_t hwy_text_id(struct hwy_builder *b, const char *text)
{
	return hwy_intern_z(&b->trace->strings, text);
}

uint32_t hwy_text_id_n(struct hwy_builder *b, const char *text, size_t length)
{
	return hwy_intern(&b->trace->strings, text, length);
}

#define X(type, field, section)                                                                    \
	uint32_t hwy_new_##field(struct hwy_builder *b)                                            \
	{                                                                                          \
		struct hwy_trace *trace = b->trace;                                                \
		HWY_GROW(trace->field, trace->n_##field, trace->cap_##field);                      \
		int64_t *values = (int64_t *)&trace->field[trace->n_##field];                      \
		for (size_t i = 0; i < sizeof(struct type) / sizeof(int64_t); i++)                 \
			values[i] = HWY_NONE;                                                      \
		return trace->n_##field++;                                                         \
	}
HWY_RECORDS(X)
#undef X

/* The index of an equal record in 'records', or UINT32_MAX with *slot where the new index belongs.
 * Two records with one hash go to neighbouring keys, so equality is always checked on the bytes. */
static uint32_t find_equal(struct hwy_map *map, const void *records, const void *wanted,
			   size_t size, uint32_t **slot)
{
	for (uint64_t key = hwy_hash(wanted, size);; key++) {
		bool fresh;
		*slot = hwy_map_put(map, key, &fresh);
		if (fresh)
			return UINT32_MAX;
		if (memcmp((const char *)records + **slot * size, wanted, size) == 0)
			return **slot;
	}
}

#define INTERNED(function, type, field, map)                                                       \
	static uint32_t function(struct hwy_builder *b, const struct type *record)                 \
	{                                                                                          \
		uint32_t *slot;                                                                    \
		uint32_t index =                                                                   \
			find_equal(&b->map, b->trace->field, record, sizeof *record, &slot);       \
		if (index != UINT32_MAX)                                                           \
			return index;                                                              \
		*slot = hwy_new_##field(b);                                                        \
		b->trace->field[*slot] = *record;                                                  \
		return *slot;                                                                      \
	}
INTERNED(intern_lane, hwy_lane, lanes, lanes)
INTERNED(intern_shape, hwy_shape, shapes, shapes)
INTERNED(intern_symbol, hwy_symbol, symbols, symbols)
INTERNED(intern_frame, hwy_frame, frames, frames)
INTERNED(intern_stack, hwy_stack, stacks, stacks)

uint32_t hwy_add_lane(struct hwy_builder *b, struct hwy_lane lane)
{
	return intern_lane(b, &lane);
}

uint32_t hwy_add_shape(struct hwy_builder *b, const struct hwy_shape *shape)
{
	return intern_shape(b, shape);
}

uint32_t hwy_add_symbol(struct hwy_builder *b, struct hwy_symbol symbol)
{
	return intern_symbol(b, &symbol);
}

uint32_t hwy_add_frame(struct hwy_builder *b, const struct hwy_frame *frame)
{
	return intern_frame(b, frame);
}

uint32_t hwy_add_stack(struct hwy_builder *b, struct hwy_stack node)
{
	return intern_stack(b, &node);
}

void hwy_add_property(struct hwy_builder *b, const char *name, const char *value)
{
	if (!value)
		return;
	uint32_t index = hwy_new_properties(b);
	b->trace->properties[index] = (struct hwy_property){
		.name = hwy_text_id(b, name),
		.value = hwy_text_id(b, value),
	};
}

struct hwy_lane hwy_lane_of(enum hwy_lane_type type, int64_t process, int64_t thread)
{
	return (struct hwy_lane){
		.type = type,
		.process = process,
		.thread = thread,
		.device = HWY_NONE,
		.stream = HWY_NONE,
		.unit = HWY_NONE,
		.value_type = HWY_NONE,
	};
}

static uint32_t *own_lane(struct own_lanes *own, uint32_t owner, enum hwy_lane_type type)
{
	while (own->n <= owner) {
		HWY_GROW(own->owners, own->n, own->cap);
		own->owners[own->n++] = (struct lane_refs){0};
	}
	return &own->owners[owner].lanes[type];
}

uint32_t hwy_add_stream_lane(struct hwy_builder *b, enum hwy_lane_type type, uint32_t stream)
{
	uint32_t *own = own_lane(&b->stream_lanes, stream, type);
	if (!*own) {
		const struct hwy_stream *record = &b->trace->streams[stream];
		struct hwy_lane lane = hwy_lane_of(type, record->process, HWY_NONE);
		lane.device = record->device;
		lane.stream = stream;
		*own = hwy_add_lane(b, lane) + 1;
	}
	return *own - 1;
}

uint32_t hwy_add_thread_lane(struct hwy_builder *b, enum hwy_lane_type type, uint32_t thread)
{
	uint32_t *own = own_lane(&b->thread_lanes, thread, type);
	if (!*own)
		*own = 1 + hwy_add_lane(
				   b, hwy_lane_of(type, b->trace->threads[thread].process, thread));
	return *own - 1;
}

static uint32_t strip_for(struct hwy_builder *b, uint32_t lane, enum hwy_kind kind)
{
	uint64_t key = (uint64_t)lane << 8 | kind;
	if (key == b->last_strip_key)
		return b->last_strip;
	bool fresh;
	uint32_t *slot = hwy_map_put(&b->strips, key, &fresh);
	if (fresh) {
		struct hwy_trace *trace = b->trace;
		HWY_GROW(trace->strips, trace->n_strips, trace->cap_strips);
		*slot = trace->n_strips++;
		trace->strips[*slot] = (struct hwy_strip){.lane = lane, .kind = kind};
	}
	b->last_strip_key = key;
	return b->last_strip = *slot;
}

void hwy_builder_set_most_spans(struct hwy_builder *b, uint32_t spans)
{
	b->most_spans = spans;
}

struct hwy_ref hwy_add_span(struct hwy_builder *b, uint32_t lane, enum hwy_kind kind,
			    const struct hwy_row *row)
{
	struct hwy_ref ref = {.strip = strip_for(b, lane, kind)};
	struct hwy_strip *strip = &b->trace->strips[ref.strip];
	if (b->n_spans == b->most_spans) {
		b->is_overfull = true;
		return ref;
	}
	b->n_spans++;
	ref.row = strip->rows++;
	assert(row->v[HWY_DUR] >= 0);
	for (uint64_t left = hwy_kind_columns[kind]; left; left &= left - 1) {
		unsigned col = (unsigned)__builtin_ctzll(left);
		if (row->v[col] == 0)
			continue; /* 0 stands for a missing value */
		if (!strip->columns[col])
			strip->columns[col] = hwy_zalloc(sizeof *strip->columns[col]);
		column_append(strip->columns[col], ref.row, row->v[col]);
	}
	return ref;
}

void hwy_add_edge(struct hwy_builder *b, enum hwy_edge_kind kind, struct hwy_ref from,
		  struct hwy_ref to, int64_t id)
{
	uint32_t index = hwy_new_edges(b);
	b->trace->edges[index] = (struct hwy_edge){
		.kind = kind,
		.from = finish_pack_ref(from),
		.to = finish_pack_ref(to),
		.id = id,
	};
}

struct hwy_message hwy_message_none(void)
{
	struct hwy_message none;
	int64_t *fields = &none.span;
	for (size_t i = 0; i < sizeof none / sizeof *fields; i++)
		fields[i] = HWY_NONE;
	return none;
}

uint32_t hwy_add_message(struct hwy_builder *b, const struct hwy_message *message)
{
	uint32_t index = hwy_new_messages(b);
	b->trace->messages[index] = *message;
	return index;
}

struct hwy_trace *hwy_builder_finish(struct hwy_builder *b, bool rebase)
{
	struct hwy_trace *trace = b->trace;
	if (b->is_overfull) {
		hwy_builder_free(b);
		return NULL;
	}
	free_all_but_trace(b);
	finish_trace(trace, rebase);
	return trace;
}
