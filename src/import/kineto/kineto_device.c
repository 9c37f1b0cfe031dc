/* kineto_device.c - what a device did: kernels, copies, fills, the driver's waits, recorded events, and
 * annotations as Kineto projects them onto streams.
 *
 * Left out because it can be worked out: "memory bandwidth (GB/s)" is bytes over duration, "device" is the
 * pid. "shared memory" is static and dynamic together; it is kept as dynamic_shared with static_shared 0,
 * because the file does not tell them apart.
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

/* -1, as 64 or as 32 bits, is how "no stream" and "no event" are written. */
static bool is_nothing(int64_t number)
{
	return number == -1 || number == UINT32_MAX;
}

/* An argument plus one, or 0 where it is missing or says "none". */
static int64_t plus_one(struct kineto *k, enum kineto_key key)
{
	int64_t number;
	if (!kineto_arg(k, key, &number) || is_nothing(number) || number == INT64_MAX)
		return 0;
	return number + 1;
}

static int64_t context_of(struct kineto *k)
{
	int64_t context;
	return kineto_arg(k, KEY_CONTEXT, &context) ? context : HWY_NONE;
}

/* The stream's number: the argument, else the tid ("stream 7" in 2021). */
static int64_t kineto_device_stream_of(struct kineto *k)
{
	int64_t number;
	if (!kineto_arg(k, KEY_STREAM, &number))
		number = kineto_number_in(k, kineto_read_id(k, &k->event.tid)).number;
	return is_nothing(number) ? HWY_NONE : number;
}

static struct hwy_row kineto_device_row_of(struct kineto *k)
{
	struct hwy_row row = {0};
	row.v[HWY_START] = k->event.ts;
	row.v[HWY_DUR] = k->event.dur;
	row.v[HWY_NAME] = kineto_text_id(k, &k->event.name);
	row.v[HWY_EXTERNAL] = kineto_number(k, KEY_EXTERNAL);
	return row;
}

/* The process whose call it was, where there are several; else it is settled at the end. */
static int64_t owner_of(struct kineto *k, int64_t correlation)
{
	if (!k->hints->ready)
		return HWY_NONE;
	return kineto_owner(k, correlation, kineto_read_id(k, &k->event.pid));
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
	struct scan scan = scan_over(value->at, value->at + value->length);
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
		row->v[HWY_SHAPE] = hwy_add_shape(k->b, &shape) + 1;
	struct hwy_symbol symbol = {.demangled = row->v[HWY_NAME]};
	row->v[HWY_SYMBOL] = hwy_add_symbol(k->b, symbol) + 1;
}

static bool kineto_device_starts_with(struct hwy_text text, const char *start)
{
	size_t n = strlen(start);
	return text.length >= n && memcmp(text.at, start, n) == 0;
}

static int64_t kineto_device_memory_kind(struct hwy_text text)
{
	static const struct {
		const char *name;
		enum hwy_memory_kind kind;
	} kinds[] = {
		/* longer names first */
		{"Device Static", HWY_MEM_DEVICE_STATIC},
		{"Managed Static", HWY_MEM_MANAGED_STATIC},
		{"Pageable", HWY_MEM_PAGEABLE},
		{"Pinned", HWY_MEM_PINNED},
		{"Device", HWY_MEM_DEVICE},
		{"Array", HWY_MEM_ARRAY},
		{"Managed", HWY_MEM_MANAGED},
		{"Host", HWY_MEM_UNKNOWN}, /* ROCm: of either sort */
		{"Unknown", HWY_MEM_UNKNOWN},
	};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (kineto_device_starts_with(text, kinds[i].name))
			return kinds[i].kind;
	return HWY_MEM_NONE;
}

/* The rest of a text behind a word, or nothing. */
static struct hwy_text behind(struct hwy_text text, const char *word)
{
	const char *at = text.length ? memmem(text.at, text.length, word, strlen(word)) : NULL;
	if (!at)
		return (struct hwy_text){"", 0};
	at += strlen(word);
	return (struct hwy_text){at, (uint32_t)(text.at + text.length - at)};
}

static int64_t device_plus_one(struct kineto *k, enum kineto_key key)
{
	int64_t number;
	if (!kineto_arg(k, key, &number) || is_nothing(number))
		return 0;
	return kineto_device(k, (struct kineto_id){.number = number}) + 1;
}

static int64_t direction(struct hwy_text name)
{
	static const char words[][5] = {"HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
					"AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
	/* "CopyHostToDevice" of ROCm until 6, "Memcpy M2D" of Intel (M: the system's memory) */
	static const struct {
		const char *word;
		int64_t direction;
	} others[] = {
		{"CopyHostToDevice", HWY_H2D},   {"CopyDeviceToHost", HWY_D2H},
		{"CopyDeviceToDevice", HWY_D2D}, {"Memcpy M2D", HWY_H2D},
		{"Memcpy D2M", HWY_D2H},         {"Memcpy D2D", HWY_D2D},
	};
	struct hwy_text rest = behind(name, "Memcpy ");
	for (int i = 0; i < 10; i++)
		if (kineto_device_starts_with(rest, words[i]))
			return HWY_H2D + i;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (kineto_device_starts_with(name, others[i].word))
			return others[i].direction;
	return HWY_DIR_UNKNOWN;
}

/* "Memcpy HtoD (Pageable -> Device)" */
static void fill_copy(struct kineto *k, struct hwy_row *row)
{
	struct hwy_text name = k->trace->strings.texts[row->v[HWY_NAME]];
	row->v[HWY_BYTES] = kineto_number(k, KEY_BYTES);
	row->v[HWY_DIRECTION] = direction(name);
	row->v[HWY_SRC_MEMORY] = kineto_device_memory_kind(behind(name, "("));
	row->v[HWY_DST_MEMORY] = kineto_device_memory_kind(behind(name, "-> "));
	row->v[HWY_SRC_DEVICE] = device_plus_one(k, KEY_FROM_DEVICE);
	row->v[HWY_DST_DEVICE] = device_plus_one(k, KEY_TO_DEVICE);
	row->v[HWY_SRC_CONTEXT] = plus_one(k, KEY_FROM_CONTEXT);
	row->v[HWY_DST_CONTEXT] = plus_one(k, KEY_TO_CONTEXT);
}

/* "Memset (Device)" */
static void fill_fill(struct kineto *k, struct hwy_row *row)
{
	struct hwy_text name = k->trace->strings.texts[row->v[HWY_NAME]];
	row->v[HWY_BYTES] = kineto_number(k, KEY_BYTES);
	row->v[HWY_DST_MEMORY] = kineto_device_memory_kind(behind(name, "("));
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
	struct hwy_row row = kineto_device_row_of(k);
	int64_t correlation = correlation_of(k);
	if (correlation == 0)
		k->n_work_without_id++;
	row.v[HWY_CORR] = correlation;
	row.v[HWY_GRAPH_ID] = kineto_number(k, KEY_GRAPH);
	row.v[HWY_GRAPH_NODE] = kineto_number(k, KEY_GRAPH_NODE);
	row.v[HWY_CHANNEL] = plus_one(k, KEY_CHANNEL);
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
	/* "queued" was 0 in all files so far, and its clock is not said: kept as text if it is not. */
	if (kineto_number(k, KEY_QUEUED) != 0)
		taken &= ~TAKES(QUEUED);
	row.v[HWY_ARGS] = kineto_args_text(k, taken);
	uint32_t lane = kineto_device_lane(k, HWY_LANE_STREAM, owner_of(k, correlation),
					   context_of(k), kineto_device_stream_of(k));
	note_priority(k, lane);
	hwy_add_span(k->b, lane, kind, &row);
}

static int64_t sync_type(struct hwy_text kind)
{
	return kineto_device_starts_with(kind, "Event Sync")          ? HWY_SYNC_EVENT
	       : kineto_device_starts_with(kind, "Stream Wait Event") ? HWY_SYNC_STREAM_WAIT
	       : kineto_device_starts_with(kind, "Stream Sync")       ? HWY_SYNC_STREAM
	       : kineto_device_starts_with(kind, "Context Sync")      ? HWY_SYNC_CONTEXT
								      : HWY_SYNC_UNKNOWN;
}

/* Since 2026 waits for a stream stand beside its work, on a tid of their own. */
enum { SYNC_TID_OFFSET = 1000000 };

void kineto_add_sync(struct kineto *k)
{
	struct hwy_row row = kineto_device_row_of(k);
	const struct scan_value *kind = kineto_value(k, KEY_SYNC_KIND);
	int64_t stream = kineto_device_stream_of(k), context = context_of(k), number;
	int64_t owner = owner_of(k, row.v[HWY_CORR] = correlation_of(k));
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
	row.v[HWY_EVENT_ID] = plus_one(k, KEY_WAIT_EVENT);
	/* The record's correlation id is what joins a wait with it (kineto_edges.c). */
	row.v[HWY_EVENT_SYNC] = plus_one(k, KEY_WAIT_RECORD);
	row.v[HWY_ARGS] = kineto_args_text(k, taken);
	uint32_t lane = kineto_device_lane(k, HWY_LANE_SYNC, owner, context, stream);
	if (waited != HWY_NONE)
		row.v[HWY_WAITED] =
			1 + kineto_stream(k, owner, (uint32_t)k->trace->lanes[lane].device, context,
					  waited);
	hwy_add_span(k->b, lane, HWY_SYNC, &row);
}

void kineto_add_cuda_event(struct kineto *k)
{
	struct hwy_row row = kineto_device_row_of(k);
	int64_t correlation = row.v[HWY_CORR] = correlation_of(k);
	row.v[HWY_DUR] = 0; /* the nanosecond it is given makes it visible, and means nothing */
	row.v[HWY_FLAGS] = HWY_FLAG_MARK;
	row.v[HWY_EVENT_ID] = plus_one(k, KEY_EVENT);
	row.v[HWY_EVENT_SYNC] = correlation ? correlation + 1 : 0;
	row.v[HWY_ARGS] = kineto_args_text(k, WORK_ARGS | TAKES(EVENT));
	uint32_t lane = kineto_device_lane(k, HWY_LANE_STREAM, owner_of(k, correlation),
					   context_of(k), kineto_device_stream_of(k));
	hwy_add_span(k->b, lane, HWY_EVENT, &row);
}

void kineto_add_device_annotation(struct kineto *k)
{
	struct hwy_row row = kineto_device_row_of(k);
	row.v[HWY_STYLE] = HWY_PUSHPOP;
	row.v[HWY_ARGS] = kineto_args_text(k, WORK_ARGS);
	uint32_t lane = kineto_device_lane(k, HWY_LANE_DEVICE_RANGE, owner_of(k, 0), context_of(k),
					   kineto_device_stream_of(k));
	hwy_add_span(k->b, lane, HWY_RANGE, &row);
}
