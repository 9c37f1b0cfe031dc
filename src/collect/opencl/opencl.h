/* opencl.h - what the files of libheadway-opencl.so share.
 *
 * The library is an OpenCL layer (OPENCL_LAYERS), or stands in for the API's functions where the loader knows
 * no layers (LD_PRELOAD); layer.c says how it tells. Either way a call of the program comes to record_clX,
 * which calls opencl_next.clX. Everything here runs on the program's threads, inside its calls: no thread of
 * our own, no callback of ours on the runtime's threads.
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

/* What we call: the next layer, or the library itself. Some may be NULL in an old library. Written once,
 * before the first call is recorded. */
extern struct opencl_functions opencl_next;

/* One more after each fork: what was told before was told by another process. */
extern uint32_t opencl_generation;

#define RECORDER(slot, name, result, parameters, arguments) result record_##name parameters;
OPENCL_OURS(RECORDER)
#undef RECORDER

static inline bool opencl_is_on(void)
{
	return collect_is_on(REC_TRACE_OPENCL) && !*sibling_is_sealed;
}

/* ---- queues.c: queues, their contexts and devices -------------------------------------------------- */

enum { QUEUE_PROPERTIES = 16 };

struct opencl_queue {
	_Atomic(void *) handle; /* of the last queue that had this place */
	void *context, *device;
	uint32_t number;       /* of its lane */
	_Atomic uint32_t told; /* generation in which it was recorded */
	uint32_t context_id, device_id;
	bool is_profiled; /* its events have times */
	bool is_forced;   /* because of us: the program must not see it */
	bool is_in_order;
	_Atomic int32_t
		references;    /* the program's, as far as they are known; at 0 it is gone for it */
	uint32_t n_properties; /* as the program gave them, the final 0 included; 0: none */
	uint64_t properties[QUEUE_PROPERTIES];
	/* commands.c: the commands that have not been seen to end, oldest first; by 'commands.lock' */
	uint32_t first, last; /* plus one; 0: none */
	_Atomic uint32_t waiting;
	_Atomic bool is_watched; /* a thread is looking at them; only it takes commands out */
};

/* The queue of a handle; one that we did not see being made is asked about. NULL: there is no room. */
struct opencl_queue *queues_find(void *handle);
/* The same without asking: for handles of queues that may be gone. */
struct opencl_queue *queues_known(const void *handle);
/* Whether one more can be recorded. */
bool queues_have_room(void);
/* A queue that was made. 'properties': as the program gave them. */
void queues_add(void *handle, void *context, void *device, uint64_t flags, bool is_forced,
		const uint64_t *properties, uint32_t n_properties);
/* Records the queue, its context and its device, once a process. */
void queues_tell(struct opencl_queue *queue);
struct opencl_queue *queues_next(struct opencl_queue *queue); /* NULL: the first */
void queues_after_fork(void);

/* ---- commands.c: commands on their way --------------------------------------------------------------- */

struct opencl_command {
	uint32_t next;  /* plus one */
	uint8_t what;   /* REC_COMMAND_… */
	bool is_shared; /* the program has the event too */
	bool has_ended; /* the call that enqueued it has waited for it */
	void *event;    /* one reference is ours */
	int64_t before, after;
	uint32_t correlation, value, shape;
	uint64_t bytes;
};

/* Keeps a command, whose event we hold, until it has ended. False: there is no room, it is not recorded. */
bool commands_add(struct opencl_queue *queue, const struct opencl_command *command);
/* Records the commands that have ended: some of them, or all. Never waits. */
void commands_look(struct opencl_queue *queue, bool all);
/* True if one reference of this event is ours. */
bool commands_hold(const void *event);
/* Everything that ended, from an exit handler; the rest is counted. */
void commands_exit(void);
void commands_after_fork(void);

/* ---- tell.c: records --------------------------------------------------------------------------------- */

struct opencl_span { /* a call under way */
	int64_t start, end;
	uint32_t correlation;
};

void tell_begin(struct opencl_span *span);
/* The call ended: its record, and its stack where it is due. */
void tell_call(struct opencl_span *span, enum opencl_call call, bool blocks, int32_t result);
uint32_t tell_shape(uint32_t dimensions, const size_t *global, const size_t *local);
uint32_t tell_kernel(void *kernel); /* the id of its name */
/* 'events': it waited for some of the queue's commands, else for all. */
void tell_wait(struct opencl_queue *queue, const struct opencl_span *span, bool events);
/* Which command an event of the program stands for; and that a call or command waits for some of them. */
void tell_event(void *event, uint32_t correlation);
void tell_depends(uint32_t correlation, uint32_t n, void *const *events);
void tell_clock(void); /* now and then */
void tell_after_fork(void);

#endif
