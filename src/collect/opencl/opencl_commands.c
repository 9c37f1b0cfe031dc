/* opencl_commands.c - commands on their way: from the call that enqueued them until their times are known.
 *
 * Each command has an event, the program's or one we asked for, of which one reference is ours. A command that
 * has ended is found by asking its event, inside later calls of the program: at most a few at each enqueue, and
 * all of a queue where the program has just waited for it. That is chosen over callbacks (clSetEventCallback):
 * those run on the runtime's threads, some runtimes start one for the first callback, some hold locks while
 * they call, and at the process's end nobody knows whether they will still come. Asking never waits, and what
 * it finds ended is in the spool at once; what had ended when the process died without its exit handlers, and
 * was never asked for again, is lost. At a regular exit everything is asked once more.
 *
 * Commands lie in a fixed number of places, in a list for each queue. 'lock' is for the lists and the free
 * places only: no function of OpenCL is called under it, since a callback of the program may enqueue on a
 * thread of the runtime that holds the runtime's own locks. One thread at a time looks at a queue
 * (is_watched), and only that one takes commands out.
 */
#include <errno.h>
#include <stdlib.h>

#include "collect/opencl/opencl.h"

enum {
	PLACES = 1 << 16,
	HELD_SLOTS = 1 << 17,
	/* Asking takes the runtime's locks, which its own threads want at the same time: so seldom, and then for
	 * many. More are recorded at once than come in between, so that the list gets shorter. */
	LOOK_EVERY = 16,
	LOOK_AT_ALL_EVERY = 64 * LOOK_EVERY,
	MOST_AT_ONCE = 4 * LOOK_EVERY,
	MOST_UNENDED = 16, /* of an out-of-order queue asked in vain */
};

static struct {
	struct opencl_command *at; /* PLACES of them; NULL: not needed yet, or no memory */
	uint32_t n;                /* ever used */
	uint32_t free;             /* list of places, plus one */
	_Atomic uintptr_t *held;   /* by hash: the program's events that we hold */
	uint64_t lost;             /* commands that found no place, not yet told */
	struct lock lock;
	_Atomic uint32_t exit_set; /* generation in which the exit handler was registered */
} commands;

/* ---- events of the program that we hold ------------------------------------------------------------ */

static uint32_t held_slot(const void *event)
{
	return (uint32_t)((uint64_t)(uintptr_t)event * UINT64_C(0x9e3779b97f4a7c15) >> 47) %
	       HELD_SLOTS;
}

enum { HELD_WAYS = 8 };

static void hold(const void *event)
{
	uint32_t slot = held_slot(event);
	for (uint32_t i = 0; commands.held && i < HELD_WAYS; i++) {
		uintptr_t empty = 0;
		if (atomic_compare_exchange_strong(&commands.held[(slot + i) % HELD_SLOTS], &empty,
						   (uintptr_t)event))
			return;
	}
}

static void let_go(const void *event)
{
	uint32_t slot = held_slot(event);
	for (uint32_t i = 0; commands.held && i < HELD_WAYS; i++) {
		uintptr_t ours = (uintptr_t)event;
		if (atomic_compare_exchange_strong(&commands.held[(slot + i) % HELD_SLOTS], &ours,
						   0))
			return;
	}
}

bool commands_hold(const void *event)
{
	uint32_t slot = held_slot(event);
	for (uint32_t i = 0; commands.held && i < HELD_WAYS; i++)
		if (atomic_load(&commands.held[(slot + i) % HELD_SLOTS]) == (uintptr_t)event)
			return true;
	return false;
}

/* ---- places ---------------------------------------------------------------------------------------- */

static bool make_places(void)
{
	if (commands.at)
		return true;
	commands.at = sys_memory(PLACES * sizeof *commands.at);
	commands.held = sys_memory(HELD_SLOTS * sizeof *commands.held);
	return commands.at != NULL;
}

/* Under the lock; plus one, 0: none. */
static uint32_t take_place(void)
{
	uint32_t place = commands.free;
	if (place)
		commands.free = commands.at[place - 1].next;
	else if (commands.n < PLACES)
		place = ++commands.n;
	return place;
}

static void forget_on_exit(void)
{
	commands_exit();
}

/* Registered when OpenCL is in use: so it runs before the handlers and destructors of the runtime, which was
 * initialised earlier. */
static void set_exit(void)
{
	uint32_t before = 0;
	if (atomic_compare_exchange_strong(&commands.exit_set, &before, 1))
		atexit(forget_on_exit);
}

bool commands_add(struct opencl_queue *queue, const struct opencl_command *command)
{
	set_exit();
	if (!lock_take(&commands.lock))
		return false;
	uint32_t place = make_places() ? take_place() : 0;
	if (place) {
		commands.at[place - 1] = *command;
		commands.at[place - 1].next = 0;
		if (queue->last)
			commands.at[queue->last - 1].next = place;
		else
			queue->first = place;
		queue->last = place;
	} else {
		commands.lost++;
	}
	lock_give(&commands.lock);
	if (!place)
		return false;
	if (command->is_shared)
		hold(command->event);
	atomic_fetch_add_explicit(&queue->waiting, 1, memory_order_relaxed);
	return true;
}

/* ---- commands that have ended ---------------------------------------------------------------------- */

static int32_t status_of(void *event)
{
	int32_t status = 1;
	int32_t result = opencl_next.clGetEventInfo(event, ABI_CL_EVENT_STATUS, sizeof status,
						    &status, NULL);
	return result == ABI_CL_SUCCESS ? status : -1;
}

static uint64_t opencl_commands_time_of(void *event, uint32_t which)
{
	uint64_t time = 0;
	if (opencl_next.clGetEventProfilingInfo(event, which, sizeof time, &time, NULL) !=
	    ABI_CL_SUCCESS)
		return 0;
	return time;
}

static void opencl_commands_put(const struct opencl_queue *queue,
				const struct opencl_command *command, int64_t seen)
{
	uint64_t end = opencl_commands_time_of(command->event, ABI_CL_PROFILING_END);
	uint64_t start = opencl_commands_time_of(command->event, ABI_CL_PROFILING_START);
	if (!end || !start) {
		if (command->what !=
		    REC_COMMAND_MARK) /* some runtimes do not time what does nothing */
			collect_drop("OpenCL commands without times", 1);
		return;
	}
	uint64_t queued = opencl_commands_time_of(command->event, ABI_CL_PROFILING_QUEUED);
	uint64_t submitted = opencl_commands_time_of(command->event, ABI_CL_PROFILING_SUBMIT);
	struct rec_command *record = collect_reserve(REC_COMMAND, 3);
	if (!record)
		return;
	record->head.flags = command->what;
	record->head.value = command->value;
	record->before = command->before;
	record->after = command->after;
	record->queued = queued;
	record->submitted = submitted;
	record->start = start;
	record->end = end;
	record->seen = command->has_ended ? command->after : seen;
	record->correlation = command->correlation;
	record->queue = queue->number;
	record->context = queue->context_id;
	record->device = queue->device_id;
	record->shape = command->shape;
	record->bytes = command->bytes;
	collect_publish();
}

/* Takes the command behind 'before' (0: the first) out of the list; by the one who watches. */
static void take_out(struct opencl_queue *queue, uint32_t before, uint32_t place)
{
	while (!lock_take(&commands.lock))
		; /* holders only move numbers */
	uint32_t next = commands.at[place - 1].next;
	if (before)
		commands.at[before - 1].next = next;
	else
		queue->first = next;
	if (queue->last == place)
		queue->last = before;
	commands.at[place - 1].next = commands.free;
	commands.free = place;
	lock_give(&commands.lock);
	atomic_fetch_sub_explicit(&queue->waiting, 1, memory_order_relaxed);
}

static uint32_t place_behind(struct opencl_queue *queue, uint32_t before)
{
	if (!lock_take(&commands.lock))
		return 0;
	uint32_t place = before ? commands.at[before - 1].next : queue->first;
	lock_give(&commands.lock);
	return place;
}

static void opencl_commands_look(struct opencl_queue *queue, bool all)
{
	uint32_t before = 0, place, done = 0, unended = 0;
	while ((place = place_behind(queue, before))) {
		struct opencl_command command = commands.at[place - 1];
		int32_t status = status_of(command.event);
		if (status > ABI_CL_COMPLETE) {
			if (queue->is_in_order || (!all && ++unended == MOST_UNENDED))
				return;
			before = place;
			continue;
		}
		int64_t seen = collect_now();
		take_out(queue, before, place);
		if (status == ABI_CL_COMPLETE)
			opencl_commands_put(queue, &command, seen);
		else
			collect_drop("OpenCL commands that failed", 1);
		if (command.is_shared)
			let_go(command.event);
		opencl_next.clReleaseEvent(command.event);
		if (!all && ++done == MOST_AT_ONCE)
			return;
	}
}

static void tell_lost(void)
{
	if (!commands.lost || !lock_take(&commands.lock))
		return;
	uint64_t lost = commands.lost;
	commands.lost = 0;
	lock_give(&commands.lock);
	if (lost)
		collect_drop("OpenCL commands beyond those that can be waited for at a time", lost);
}

void commands_look(struct opencl_queue *queue, bool all)
{
	uint32_t waiting = atomic_load_explicit(&queue->waiting, memory_order_relaxed);
	if (!waiting || (!all && waiting % LOOK_EVERY != 0) ||
	    atomic_exchange(&queue->is_watched, true))
		return;
	all = all ||
	      waiting % LOOK_AT_ALL_EVERY == 0; /* some may have ended behind those that do not */
	opencl_commands_look(queue, all);
	atomic_store(&queue->is_watched, false);
	tell_lost();
	tell_clock();
}

static void look_everywhere(void)
{
	for (struct opencl_queue *queue = NULL; (queue = queues_next(queue));)
		commands_look(queue, true);
}

void commands_exit(void)
{
	int saved = errno;
	uint64_t unended = 0;
	if (collect_control) {
		look_everywhere();
		for (struct opencl_queue *queue = NULL; (queue = queues_next(queue));)
			unended += atomic_load(&queue->waiting);
		if (unended)
			collect_drop("OpenCL commands that had not ended when the program did",
				     unended);
	}
	errno = saved;
}

/* The commands are the parent's. The handler stays registered. */
void commands_after_fork(void)
{
	commands.lock = (struct lock){0};
	commands.n = commands.free = 0;
	commands.lost = 0;
	if (commands.held)
		sys_advise((void *)commands.held, HELD_SLOTS * sizeof *commands.held,
			   MADV_DONTNEED);
}
