/* SPDX-License-Identifier: Apache-2.0 */
/* opencl_report.c - the records of OpenCL calls: each call, its stack where that is due, which
 * command waits for which.
 *
 * A call that waits for the device because the program asked it to (a blocking read, write, map) is
 * recorded under a name of its own, "clEnqueueReadBuffer [blocking]": a trace judges by its name
 * what a call is for, and the two are for different things. A call's end is timed before anything
 * else is done.
 */
#include <errno.h>
#include <string.h>

#include "collect/opencl/opencl.h"

enum {
	SHAPES = 4096,
	EVENTS = 1 << 13,
	EVENT_WAYS = 8,
	DOMAIN_OPENCL = 3,
	/* MOST_DEPENDS: the most dependencies of one command; further ones are counted as lost. */
	MOST_DEPENDS = 1024,
	MOST_NAME = 512,
};
static const int64_t SECOND_NS = 1000 * 1000 * 1000, CLOCK_EVERY_NS = 100 * 1000 * 1000;

static const char *const call_names[OPENCL_CALLS] = {
#define NAME(slot, name, result, parameters, arguments) #name,
	OPENCL_OURS(NAME)
#undef NAME
};

static _Atomic uint32_t correlations;
/* For each call the generation in whose spools the call's name is defined;
 * each fork begins a new generation. */
static _Atomic uint32_t named[2 * OPENCL_CALLS];
static _Atomic int64_t clock_recorded; /* ns when the clocks were recorded last */

static __thread struct {
	int64_t sampled; /* ns when a launch of this thread last got a stack */
} thread __attribute__((tls_model("initial-exec")));

/* ---- calls
 * ----------------------------------------------------------------------------------------- */

void opencl_report_begin(struct opencl_span *span)
{
	span->correlation = REC_OPENCL_CORRELATION |
			    (atomic_fetch_add_explicit(&correlations, 1, memory_order_relaxed) + 1);
	span->start = collect_now();
}

static void put_call_name(uint32_t number, enum opencl_call call, bool blocks)
{
	if (atomic_exchange(&named[number], opencl_generation()) == opencl_generation())
		return;
	char name[64];
	char *end = stpcpy(name, call_names[call]);
	if (blocks)
		stpcpy(end, " [blocking]");
	uint32_t text = collect_string_z(name);
	struct rec_naming *record = collect_reserve(REC_NAME, 1);
	if (!record)
		return;
	record->head.flags = REC_NAMED_CALL;
	record->head.value = text;
	record->domain = DOMAIN_OPENCL;
	record->number = number;
	collect_publish(record);
}

enum { NO_STACK, LAUNCHES, WAITS, ALLOCATES };

static int stack_kind(enum opencl_call call, bool blocks)
{
	if (blocks)
		return WAITS;
	switch (call) {
	case CALL_clFinish:
	case CALL_clWaitForEvents:
	case CALL_clReleaseMemObject:
	case CALL_clSVMFree:
	case CALL_clBuildProgram:
	case CALL_clCompileProgram:
	case CALL_clLinkProgram: return WAITS;
	case CALL_clCreateBuffer:
	case CALL_clCreateBufferWithProperties:
	case CALL_clCreateImage:
	case CALL_clCreateImage2D:
	case CALL_clCreateImage3D:
	case CALL_clCreateImageWithProperties:
	case CALL_clSVMAlloc: return ALLOCATES;
	default: return call >= CALL_clEnqueueReadBuffer ? LAUNCHES : NO_STACK;
	}
}

static bool is_sampled(int64_t now)
{
	uint32_t rate = collect_control->launch_stacks;
	if (!rate || now - thread.sampled < SECOND_NS / rate)
		return false;
	thread.sampled = now;
	return true;
}

static void opencl_report_take_stack(const struct opencl_span *span, int kind)
{
	int64_t threshold = collect_control->stack_threshold;
	bool is_long = span->end - span->start >= threshold;
	if (kind == NO_STACK || threshold < 0)
		return;
	if (kind == WAITS && is_long)
		collect_stack(REC_WHY_WAIT, span->start, span->correlation);
	else if (kind == ALLOCATES && is_long)
		collect_stack(REC_WHY_ALLOC, span->start, span->correlation);
	else if (kind == LAUNCHES && is_sampled(span->end))
		collect_stack(REC_WHY_LAUNCH, span->start, span->correlation);
}

void opencl_report_call(struct opencl_span *span, enum opencl_call call, bool blocks,
			int32_t result)
{
	uint32_t number = 2 * (uint32_t)call + blocks;
	span->end = collect_now();
	if (atomic_load_explicit(&named[number], memory_order_relaxed) != opencl_generation())
		put_call_name(number, call, blocks);
	struct rec_api *record = collect_reserve(REC_API, 1);
	if (record) {
		record->head.flags = REC_API_OPENCL;
		record->head.value = number | (uint32_t)result << 16;
		record->start = span->start;
		record->duration = span->end - span->start;
		record->correlation = span->correlation;
		record->tid = collect_tid();
		collect_publish(record);
	}
	opencl_report_take_stack(span, stack_kind(call, blocks));
}

void opencl_report_wait(struct opencl_queue *queue, const struct opencl_span *span, bool events)
{
	if (!queue)
		return;
	opencl_queues_report(queue);
	struct rec_command *record = collect_reserve(REC_COMMAND, 3);
	if (!record)
		return;
	record->head.flags = REC_COMMAND_WAIT;
	record->head.value = events;
	record->before = span->start;
	record->after = span->end;
	record->correlation = span->correlation;
	record->queue = queue->number;
	record->context = queue->context_id;
	record->device = queue->device_id;
	collect_publish(record);
}

/* ---- kernels
 * --------------------------------------------------------------------------------------- */

uint32_t opencl_report_kernel(void *kernel)
{
	char name[MOST_NAME];
	if (opencl_next.clGetKernelInfo(kernel, ABI_CL_KERNEL_FUNCTION_NAME, sizeof name, name,
					NULL) != ABI_CL_SUCCESS)
		return collect_string_z("kernel");
	name[sizeof name - 1] = '\0';
	return collect_string_z(name);
}

static struct {
	struct shape {
		/* The generation in whose spools the shape is defined; each fork begins a new
		 * one. Written last. */
		_Atomic uint32_t reported_in;
		uint32_t size[6];
	} entries[SHAPES];
	struct lock lock;
} shapes;

static void opencl_report_put_shape(uint32_t id, const uint32_t *size)
{
	struct rec_shape *record = collect_reserve(REC_SHAPE, 3);
	if (!record)
		return;
	record->head.value = id;
	memcpy(record->grid, size, sizeof record->grid);
	memcpy(record->block, size + 3, sizeof record->block);
	collect_publish(record);
}

/* The id of a shape of six numbers; 0 when the table is full. Entries that were recorded never
 * change. */
static uint32_t shape_id(const uint32_t *size)
{
	uint64_t hash = 0;
	for (int i = 0; i < 6; i++)
		hash = (hash ^ size[i]) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t index = (uint32_t)(hash >> 48) % SHAPES;
	for (uint32_t i = 0; i < SHAPES; i++, index = (index + 1) % SHAPES) {
		struct shape *shape = &shapes.entries[index];
		if (atomic_load_explicit(&shape->reported_in, memory_order_acquire) ==
		    opencl_generation()) {
			if (memcmp(shape->size, size, sizeof shape->size) == 0)
				return REC_OPENCL_SHAPE + index;
			continue;
		}
		if (!lock_take(&shapes.lock))
			return 0;
		bool is_free = atomic_load(&shape->reported_in) != opencl_generation();
		bool is_same = is_free || memcmp(shape->size, size, sizeof shape->size) == 0;
		if (is_free) {
			memcpy(shape->size, size, sizeof shape->size);
			atomic_store_explicit(&shape->reported_in, opencl_generation(),
					      memory_order_release);
		}
		lock_give(&shapes.lock);
		if (is_free)
			opencl_report_put_shape(REC_OPENCL_SHAPE + index, size);
		if (is_same)
			return REC_OPENCL_SHAPE + index;
	}
	return 0;
}

static uint32_t clamp_to_uint32(size_t number)
{
	return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

/* The grid is in work groups, as CUDA's is in blocks. Where the runtime chooses the groups, it does
 * not say how: the grid is then in work items, and the block is 0. */
uint32_t opencl_report_shape(uint32_t dimensions, const size_t *global, const size_t *local)
{
	uint32_t size[6] = {1, 1, 1, local ? 1 : 0, local ? 1 : 0, local ? 1 : 0};
	for (uint32_t i = 0; global && i < dimensions && i < 3; i++) {
		size_t group = local && local[i] ? local[i] : 1;
		size[i] = clamp_to_uint32(global[i] / group + (global[i] % group != 0));
		if (local)
			size[3 + i] = clamp_to_uint32(group);
	}
	return shape_id(size);
}

/* ---- dependencies
 * ---------------------------------------------------------------------------------- */

/* The latest command whose event the program was given, by hash of the event's handle. A handle
 * comes again after its event was released, with another command; where more handles share a row
 * than the row has places, the older ones are forgotten. Threads that write to one place at a time
 * may lose one of their entries, no more. */
static struct event {
	_Atomic uintptr_t handle;
	_Atomic uint32_t correlation;
} events[EVENTS][EVENT_WAYS];

static struct event *event_row(const void *event)
{
	return events[(uint64_t)(uintptr_t)event * UINT64_C(0x9e3779b97f4a7c15) >> 51];
}
static_assert(EVENTS == 1 << (64 - 51), "the hash fills the rows");

static struct event *event_place(struct event *row, const void *event, uint32_t correlation)
{
	struct event *empty = NULL;
	for (uint32_t i = 0; i < EVENT_WAYS; i++) {
		uintptr_t handle = atomic_load_explicit(&row[i].handle, memory_order_relaxed);
		if (handle == (uintptr_t)event)
			return &row[i];
		empty = handle || empty ? empty : &row[i];
	}
	return empty ? empty : &row[correlation % EVENT_WAYS];
}

void opencl_report_event(void *event, uint32_t correlation)
{
	struct event *place = event_place(event_row(event), event, correlation);
	atomic_store_explicit(&place->handle, 0, memory_order_release);
	atomic_store_explicit(&place->correlation, correlation, memory_order_release);
	atomic_store_explicit(&place->handle, correlation ? (uintptr_t)event : 0,
			      memory_order_release);
}

static uint32_t correlation_of(const void *event)
{
	struct event *row = event_row(event);
	for (uint32_t i = 0; i < EVENT_WAYS; i++) {
		if (atomic_load_explicit(&row[i].handle, memory_order_acquire) != (uintptr_t)event)
			continue;
		uint32_t found = atomic_load_explicit(&row[i].correlation, memory_order_acquire);
		if (atomic_load_explicit(&row[i].handle, memory_order_acquire) == (uintptr_t)event)
			return found;
	}
	return 0;
}

void opencl_report_dependencies(uint32_t correlation, uint32_t n, void *const *waits)
{
	uint32_t on[MOST_DEPENDS], count = 0;
	for (uint32_t i = 0; waits && i < n && count < MOST_DEPENDS; i++) {
		uint32_t found = correlation_of(waits[i]);
		if (found)
			on[count++] = found;
	}
	if (n > MOST_DEPENDS)
		collect_drop("dependencies of an OpenCL command", n - MOST_DEPENDS);
	if (!count)
		return;
	size_t size = offsetof(struct rec_depends, on) + count * sizeof *on;
	struct rec_depends *record =
		collect_reserve(REC_DEPENDS, (unsigned)((size + REC_SLOT - 1) / REC_SLOT));
	if (!record)
		return;
	record->head.value = count;
	record->correlation = correlation;
	memcpy(record->on, on, count * sizeof *on);
	collect_publish(record);
}

/* ---- clocks
 * ---------------------------------------------------------------------------------------- */

static int64_t clock_of(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

/* Devices that are CPUs stamp their events with one of the system's clocks; these records show
 * which clock that is, and what it showed when. */
void opencl_report_clock(void)
{
	int64_t before = collect_now(), last = atomic_load(&clock_recorded);
	if ((last && before - last < CLOCK_EVERY_NS) ||
	    !atomic_compare_exchange_strong(&clock_recorded, &last, before))
		return;
	struct rec_clock *record = collect_reserve(REC_CLOCK, 1);
	if (!record)
		return;
	before = collect_now();
	record->raw = clock_of(CLOCK_MONOTONIC_RAW);
	record->realtime = clock_of(CLOCK_REALTIME);
	record->monotonic = before + (collect_now() - before) / 2;
	collect_publish(record);
}

void opencl_report_after_fork(void)
{
	shapes.lock = (struct lock){0};
	atomic_store(&clock_recorded, 0);
}
