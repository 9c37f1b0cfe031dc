/* SPDX-License-Identifier: Apache-2.0 */
/* opencl.h - what the files of libheadway-opencl.so share.
 *
 * The library is an OpenCL layer (OPENCL_LAYERS), or replaces the API's functions where the loader
 * knows no layers (LD_PRELOAD); opencl_layer.c says how it decides. Either way a call of the
 * program comes to record_clX, which calls opencl_next.clX. Everything here runs on the program's
 * threads, inside its calls: the library has no thread of its own, and no callback on the runtime's
 * threads.
 */
#ifndef HWY_COLLECT_OPENCL_OPENCL_H
#define HWY_COLLECT_OPENCL_OPENCL_H

#include "collect/lock.h"
#include "collect/opencl/abi.h"
#include "collect/share.h"

struct opencl_functions {
#define FUNCTION(slot, name, result, parameters, arguments) result(*name) parameters;
	OPENCL_ALL(FUNCTION)
#undef FUNCTION
};

enum opencl_call {
#define CALL(slot, name, result, parameters, arguments) CALL_##name,
	OPENCL_OURS(CALL)
#undef CALL
		OPENCL_CALLS
};

/* The functions that record_clX calls: those of the next layer, or of the OpenCL library itself.
 * Some may be NULL in an old library. Written once, before the first call is recorded. */
extern struct opencl_functions opencl_next;

/* What an older generation recorded is in the spools of another process, or of another run. */
static inline uint32_t opencl_generation(void)
{
	return atomic_load_explicit(sibling_generation, memory_order_acquire);
}

#define RECORDER(slot, name, result, parameters, arguments) result record_##name parameters;
OPENCL_OURS(RECORDER)
#undef RECORDER

static inline bool opencl_is_on(void)
{
	return collect_is_on(REC_TRACE_OPENCL) && !*sibling_is_sealed;
}

/* ---- opencl_queues.c: queues, their contexts and devices ------------------------------------- */

enum { QUEUE_PROPERTIES = 16 };

struct opencl_queue {
	/* handle: handle of the queue in this place; when the place is free, of the last queue
	 * in it. */
	_Atomic(void *) handle;
	void *context, *device;
	uint32_t number; /* the queue's number, from 1 on: its lane in a trace */
	/* The generation in whose spools the queue is defined;
	 * each fork begins a new generation. */
	_Atomic uint32_t reported_in;
	uint32_t context_id, device_id;
	bool is_profiled; /* profiling is on, so that events of the queue have times */
	bool is_forced;   /* the collector switched profiling on, which the program must not see */
	bool is_in_order;
	/* The program's references, as far as they are known; at 0 the queue is gone for the
	 * program. */
	_Atomic int32_t references;
	/* n_properties: length of 'properties' as the program gave them, the final 0 included;
	 * 0: the program gave none. */
	uint32_t n_properties;
	uint64_t properties[QUEUE_PROPERTIES];
	/* opencl_commands.c: the list of commands that have not been seen to end, oldest first: the
	 * places of the first and the last, numbered from 1; 0: none. Under 'commands.lock'. */
	uint32_t first, last;
	_Atomic uint32_t waiting; /* how many commands are in the queue's list */
	/* A thread is checking which of the queue's commands have ended; only that thread
	 * removes commands. */
	_Atomic bool is_watched;
};

/* The queue of a handle. OpenCL is asked about a queue whose creation was not seen. NULL: there is
 * no room for it. */
struct opencl_queue *opencl_queues_find(void *handle);
/* The queue of a handle, without asking OpenCL: for handles of queues that may be gone. NULL: not
 * recorded. */
struct opencl_queue *opencl_queues_lookup(const void *handle);
/* True if there is room to record one more queue. */
bool opencl_queues_have_room(void);
/* Adds a queue that the program made, with 'properties' as the program gave them. */
void opencl_queues_add(void *handle, void *context, void *device, uint64_t flags, bool is_forced,
		       const uint64_t *properties, uint32_t n_properties);
/* Records the queue, its context and its device, once in each process. */
void opencl_queues_report(struct opencl_queue *queue);
/* Yields the queue in the place after 'queue'; after NULL the first queue. */
struct opencl_queue *opencl_queues_next(struct opencl_queue *queue);
void opencl_queues_after_fork(void);

/* ---- opencl_commands.c: commands that have not been recorded yet ----------------------------- */

struct opencl_command {
	/* The place of the next command in the queue's list, numbered from 1; 0: this is the
	 * last. */
	uint32_t next;
	uint8_t what;   /* the kind of command: REC_COMMAND_... */
	bool is_shared; /* the program has the command's event too */
	bool has_ended; /* the call that enqueued the command has waited for the command's end */
	void *event;    /* the command's event, of which the collector holds one reference */
	int64_t before, after; /* ns when the call that enqueued the command began and ended */
	uint32_t correlation, value, shape;
	uint64_t bytes;
};

/* Keeps a command, with a reference to its event, until it has ended. False: there is no room, and
 * the command is not recorded. */
bool opencl_commands_add(struct opencl_queue *queue, const struct opencl_command *command);
/* Records commands of the queue that have ended: some of them, or all. Never waits. */
void opencl_commands_collect(struct opencl_queue *queue, bool all);
/* True if the collector holds a reference to this event of the program. */
bool opencl_commands_hold(const void *event);
void opencl_commands_after_fork(void);

/* ---- opencl_report.c: records ---------------------------------------------------------------- */

struct opencl_span { /* a call that is running or has just ended: times in ns */
	int64_t start, end;
	uint32_t correlation;
};

void opencl_report_begin(struct opencl_span *span);
/* Records a call that has ended, and the call's stack where a stack is due. */
void opencl_report_call(struct opencl_span *span, enum opencl_call call, bool blocks,
			int32_t result);
uint32_t opencl_report_shape(uint32_t dimensions, const size_t *global, const size_t *local);
uint32_t opencl_report_kernel(void *kernel); /* text id of the kernel's name */
/* Records that a call waited for all commands of a queue, or, with 'events', for some of its
 * commands. */
void opencl_report_wait(struct opencl_queue *queue, const struct opencl_span *span, bool events);
/* Remembers which command an event of the program stands for. */
void opencl_report_event(void *event, uint32_t correlation);
/* Records that a call or command waits for the commands of these events. */
void opencl_report_dependencies(uint32_t correlation, uint32_t n, void *const *events);
/* Records the times of the system's clocks, if they were last recorded long ago. */
void opencl_report_clock(void);
void opencl_report_after_fork(void);

#endif
