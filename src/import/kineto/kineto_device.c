/* SPDX-License-Identifier: Apache-2.0 */
/* kineto_device.c - adds the spans of device work: kernels, copies, fills, waits inside the driver,
 * recorded events, and annotations that Kineto projects onto streams.
 *
 * Arguments that follow from others are left out: "memory bandwidth (GB/s)" is bytes by duration,
 * "device" is the pid. "shared memory" is static and dynamic memory together; it is kept as
 * dynamic_shared with static_shared 0, because the file does not tell them apart.
 */
#include <string.h>

#include "import/kineto/kineto.h"

#define TAKES(key) KINETO_TAKES(KEY_##key)
#define WORK_ARGS                                                                                  \
	(TAKES(EXTERNAL) | TAKES(CORRELATION) | TAKES(DEVICE) | TAKES(STREAM) | TAKES(CONTEXT) |   \
	 TAKES(QUEUED) | TAKES(CHANNEL) | TAKES(CHANNEL_TYPE) | TAKES(GRAPH) | TAKES(GRAPH_NODE) | \
	 TAKES(PRIORITY) | TAKES(INDEX))
#define KERNEL_ARGS (WORK_ARGS | TAKES(GRID) | TAKES(BLOCK) | TAKES(REGISTERS) | TAKES(SHARED))
#define COPY_ARGS                                                                                  \
	(WORK_ARGS | TAKES(BYTES) | TAKES(BANDWIDTH) | TAKES(FROM_DEVICE) | TAKES(TO_DEVICE) |     \
	 TAKES(FROM_CONTEXT) | TAKES(TO_CONTEXT))

/* Kineto writes "no stream" and "no event" as -1, in 64 or in 32 bits. */
static bool is_nothing(int64_t number)
{
	return number == -1 || number == UINT32_MAX;
}

/* An argument as a ref; HWY_REF_NONE where it is missing or says "none". Not hwy_ref: it may be
 * negative. */
static int64_t arg_ref(struct kineto *k, enum kineto_key key)
{
	int64_t number;
	if (!kineto_arg(k, key, &number) || is_nothing(number) || number == INT64_MAX)
		return HWY_REF_NONE;
	return number + 1;
}

static int64_t context_or_none(struct kineto *k)
{
	int64_t context;
	return kineto_arg(k, KEY_CONTEXT, &context) ? context : HWY_NONE;
}

/* The number of the stream: the argument "stream", else the number in the tid ("stream 7" in files
 * of 2021). */
static int64_t stream_number(struct kineto *k)
{
	int64_t number;
	if (!kineto_arg(k, KEY_STREAM, &number))
		number = kineto_first_number(k, kineto_read_id(k, &k->event.tid)).number;
	return is_nothing(number) ? HWY_NONE : number;
}

static struct hwy_row device_row(struct kineto *k)
{
	struct hwy_row row = {0};
	row.v[HWY_START] = k->event.ts;
	row.v[HWY_DUR] = k->event.dur;
	row.v[HWY_NAME] = kineto_text_id(k, &k->event.name);
	row.v[HWY_EXTERNAL] = kineto_number(k, KEY_EXTERNAL);
	return row;
}

/* The process of the work, where the hints tell it; HWY_NONE: the process is assigned at the end of
 * the file. */
static int64_t owner_or_none(struct kineto *k, int64_t correlation)
{
	if (!k->hints->ready)
		return HWY_NONE;
	return kineto_owner_process(k, correlation, kineto_read_id(k, &k->event.pid));
}

static int64_t correlation_of(struct kineto *k)
{
	int64_t number = kineto_number(k, KEY_CORRELATION);
	if (number > 0 && number < INT64_MAX)
		return number;
	if (k->hints->ready)
		return kineto_flow_correlation(k);
	return 0;
}

static void read_three(const struct scan_value *value, int64_t *x, int64_t *y, int64_t *z)
{
	int64_t *numbers[] = {x, y, z};
	if (!value || value->type != SCAN_ARRAY)
		return;
	struct scan scan = scan_over(value->text, value->text + value->length);
	struct scan_value element;
	scan_enter(&scan, '[');
	for (int i = 0; i < 3 && scan_element(&scan) && scan_value(&scan, &element); i++)
		scan_integer(&element, numbers[i]);
}

static void fill_kernel(struct kineto *k, struct hwy_row *row)
{
	struct hwy_shape shape = {
		.registers = kineto_number(k, KEY_REGISTERS),
		.dynamic_shared = kineto_number(k, KEY_SHARED),
	};
	read_three(kineto_value(k, KEY_GRID), &shape.grid_x, &shape.grid_y, &shape.grid_z);
	read_three(kineto_value(k, KEY_BLOCK), &shape.block_x, &shape.block_y, &shape.block_z);
	if (kineto_value(k, KEY_GRID) || kineto_value(k, KEY_BLOCK))
		row->v[HWY_SHAPE] = hwy_ref(hwy_add_shape(k->b, &shape));
	struct hwy_symbol symbol = {.demangled = row->v[HWY_NAME]};
	row->v[HWY_SYMBOL] = hwy_ref(hwy_add_symbol(k->b, symbol));
}

static bool text_starts_with(struct hwy_text text, const char *start)
{
	size_t n = strlen(start);
	return text.length >= n && memcmp(text.at, start, n) == 0;
}

static int64_t memory_kind_by_name(struct hwy_text text)
{
	static const struct {
		const char *name;
		enum hwy_memory_kind kind;
	} kinds[] = {
		/* In this list a name that begins with another name stands before the other
		 * name. */
		{"Device Static", HWY_MEM_DEVICE_STATIC},
		{"Managed Static", HWY_MEM_MANAGED_STATIC},
		{"Pageable", HWY_MEM_PAGEABLE},
		{"Pinned", HWY_MEM_PINNED},
		{"Device", HWY_MEM_DEVICE},
		{"Array", HWY_MEM_ARRAY},
		{"Managed", HWY_MEM_MANAGED},
		/* ROCm writes "Host" for pageable and for pinned memory. */
		{"Host", HWY_MEM_UNKNOWN},
		{"Unknown", HWY_MEM_UNKNOWN},
	};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (text_starts_with(text, kinds[i].name))
			return kinds[i].kind;
	return HWY_MEM_NONE;
}

/* Yields the part of a text that follows a word; an empty text where the word does not occur. */
static struct hwy_text text_after(struct hwy_text text, const char *word)
{
	const char *rest = text.length ? memmem(text.at, text.length, word, strlen(word)) : NULL;
	if (!rest)
		return (struct hwy_text){"", 0};
	rest += strlen(word);
	return (struct hwy_text){rest, (uint32_t)(text.at + text.length - rest)};
}

static int64_t device_ref(struct kineto *k, enum kineto_key key)
{
	int64_t number;
	if (!kineto_arg(k, key, &number) || is_nothing(number))
		return HWY_REF_NONE;
	return hwy_ref(kineto_device(k, (struct kineto_id){.number = number}));
}

static int64_t direction(struct hwy_text name)
{
	static const char words[][5] = {"HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
					"AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
	/* ROCm until version 6 writes "CopyHostToDevice", Intel "Memcpy M2D" (M: the system's
	 * memory). */
	static const struct {
		const char *word;
		int64_t direction;
	} others[] = {
		{"CopyHostToDevice", HWY_H2D},   {"CopyDeviceToHost", HWY_D2H},
		{"CopyDeviceToDevice", HWY_D2D}, {"Memcpy M2D", HWY_H2D},
		{"Memcpy D2M", HWY_D2H},         {"Memcpy D2D", HWY_D2D},
	};
	struct hwy_text rest = text_after(name, "Memcpy ");
	for (int i = 0; i < 10; i++)
		if (text_starts_with(rest, words[i]))
			return HWY_H2D + i;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (text_starts_with(name, others[i].word))
			return others[i].direction;
	return HWY_DIR_UNKNOWN;
}

/* The name of a copy tells its direction and kinds of memory: "Memcpy HtoD (Pageable ->
 * Device)". */
static void fill_copy(struct kineto *k, struct hwy_row *row)
{
	struct hwy_text name = k->trace->strings.texts[row->v[HWY_NAME]];
	row->v[HWY_BYTES] = kineto_number(k, KEY_BYTES);
	row->v[HWY_DIRECTION] = direction(name);
	row->v[HWY_SRC_MEMORY] = memory_kind_by_name(text_after(name, "("));
	row->v[HWY_DST_MEMORY] = memory_kind_by_name(text_after(name, "-> "));
	row->v[HWY_SRC_DEVICE] = device_ref(k, KEY_FROM_DEVICE);
	row->v[HWY_DST_DEVICE] = device_ref(k, KEY_TO_DEVICE);
	row->v[HWY_SRC_CONTEXT] = arg_ref(k, KEY_FROM_CONTEXT);
	row->v[HWY_DST_CONTEXT] = arg_ref(k, KEY_TO_CONTEXT);
}

/* Sets the columns of a fill. The name of a fill tells the kind of memory: "Memset (Device)". */
static void fill_fill(struct kineto *k, struct hwy_row *row)
{
	struct hwy_text name = k->trace->strings.texts[row->v[HWY_NAME]];
	row->v[HWY_BYTES] = kineto_number(k, KEY_BYTES);
	row->v[HWY_DST_MEMORY] = memory_kind_by_name(text_after(name, "("));
}

static void note_priority(struct kineto *k, uint32_t lane)
{
	int64_t priority, stream = k->trace->lanes[lane].stream;
	if (stream != HWY_NONE && kineto_arg(k, KEY_PRIORITY, &priority))
		k->trace->streams[stream].priority = priority;
}

void kineto_add_work(struct kineto *k)
{
	enum kineto_category category = k->event.category;
	struct hwy_row row = device_row(k);
	int64_t correlation = correlation_of(k);
	if (correlation == 0)
		k->n_work_without_id++;
	row.v[HWY_CORR] = correlation;
	row.v[HWY_GRAPH_ID] = kineto_number(k, KEY_GRAPH);
	row.v[HWY_GRAPH_NODE] = kineto_number(k, KEY_GRAPH_NODE);
	row.v[HWY_CHANNEL] = arg_ref(k, KEY_CHANNEL);
	row.v[HWY_CHANNEL_TYPE] = kineto_number(k, KEY_CHANNEL_TYPE);
	enum hwy_kind kind = HWY_KERNEL;
	uint64_t taken = COPY_ARGS;
	if (category == CAT_COPY) {
		kind = HWY_COPY;
		fill_copy(k, &row);
	} else if (category == CAT_FILL) {
		kind = HWY_FILL;
		fill_fill(k, &row);
	} else {
		taken = KERNEL_ARGS;
		fill_kernel(k, &row);
	}
	/* "queued" was 0 in all files so far, and nothing tells its clock: another value is kept as
	 * text. */
	if (kineto_number(k, KEY_QUEUED) != 0)
		taken &= ~TAKES(QUEUED);
	row.v[HWY_ARGS] = kineto_args_text(k, taken);
	uint32_t lane = kineto_device_lane(k, HWY_LANE_STREAM, owner_or_none(k, correlation),
					   context_or_none(k), stream_number(k));
	note_priority(k, lane);
	hwy_add_span(k->b, lane, kind, &row);
}

static int64_t sync_type(struct hwy_text kind)
{
	return text_starts_with(kind, "Event Sync")          ? HWY_SYNC_EVENT
	       : text_starts_with(kind, "Stream Wait Event") ? HWY_SYNC_STREAM_WAIT
	       : text_starts_with(kind, "Stream Sync")       ? HWY_SYNC_STREAM
	       : text_starts_with(kind, "Context Sync")      ? HWY_SYNC_CONTEXT
							     : HWY_SYNC_UNKNOWN;
}

/* Since 2026 Kineto gives waits for a stream a tid of their own: the stream's number plus this
 * offset. */
enum { SYNC_TID_OFFSET = 1000000 };

void kineto_add_sync(struct kineto *k)
{
	struct hwy_row row = device_row(k);
	const struct scan_value *kind = kineto_value(k, KEY_SYNC_KIND);
	int64_t stream = stream_number(k), context = context_or_none(k), number;
	int64_t owner = owner_or_none(k, row.v[HWY_CORR] = correlation_of(k));
	if (!kineto_arg(k, KEY_STREAM, &number) && stream >= SYNC_TID_OFFSET)
		stream -= SYNC_TID_OFFSET;
	int64_t waited = stream;
	row.v[HWY_SYNC_TYPE] = sync_type(kineto_text(k, kind ? kind : &k->event.name));
	if (row.v[HWY_SYNC_TYPE] == HWY_SYNC_EVENT)
		waited = kineto_arg(k, KEY_WAIT_STREAM, &number) && !is_nothing(number) ? number
											: HWY_NONE;
	uint64_t taken = WORK_ARGS | TAKES(SYNC_KIND) | TAKES(WAIT_RECORD) | TAKES(WAIT_EVENT);
	if (row.v[HWY_SYNC_TYPE] == HWY_SYNC_EVENT)
		taken |= TAKES(WAIT_STREAM);
	row.v[HWY_EVENT_ID] = arg_ref(k, KEY_WAIT_EVENT);
	/* kineto_edges.c finds the event by the correlation id of the call that recorded it. */
	row.v[HWY_EVENT_SYNC] = arg_ref(k, KEY_WAIT_RECORD);
	row.v[HWY_ARGS] = kineto_args_text(k, taken);
	uint32_t lane = kineto_device_lane(k, HWY_LANE_SYNC, owner, context, stream);
	if (waited != HWY_NONE)
		row.v[HWY_WAITED] = hwy_ref(kineto_stream(
			k, owner, (uint32_t)k->trace->lanes[lane].device, context, waited));
	hwy_add_span(k->b, lane, HWY_SYNC, &row);
}

void kineto_add_cuda_event(struct kineto *k)
{
	struct hwy_row row = device_row(k);
	int64_t correlation = row.v[HWY_CORR] = correlation_of(k);
	row.v[HWY_DUR] = 0; /* Kineto writes 1 ns, so that Chrome draws the event */
	row.v[HWY_FLAGS] = HWY_FLAG_MARK;
	row.v[HWY_EVENT_ID] = arg_ref(k, KEY_EVENT);
	row.v[HWY_EVENT_SYNC] = correlation ? hwy_ref(correlation) : HWY_REF_NONE;
	row.v[HWY_ARGS] = kineto_args_text(k, WORK_ARGS | TAKES(EVENT));
	uint32_t lane = kineto_device_lane(k, HWY_LANE_STREAM, owner_or_none(k, correlation),
					   context_or_none(k), stream_number(k));
	hwy_add_span(k->b, lane, HWY_EVENT, &row);
}

void kineto_add_device_annotation(struct kineto *k)
{
	struct hwy_row row = device_row(k);
	row.v[HWY_STYLE] = HWY_PUSHPOP;
	row.v[HWY_ARGS] = kineto_args_text(k, WORK_ARGS);
	uint32_t lane = kineto_device_lane(k, HWY_LANE_DEVICE_RANGE, owner_or_none(k, 0),
					   context_or_none(k), stream_number(k));
	hwy_add_span(k->b, lane, HWY_RANGE, &row);
}
