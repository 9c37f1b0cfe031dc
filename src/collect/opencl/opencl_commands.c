/* SPDX-License-Identifier: Apache-2.0 */
/* opencl_commands.c - commands, from the call that enqueued them until their times are known.
 *
 * Each command has an event, the program's or one that the collector asked for; the collector holds
 * one reference of it. Whether a command has ended is found by asking its event, inside later calls
 * of the program: a few events at some of the enqueues, and all of a queue where the program has
 * just waited for the queue. The alternative would be callbacks (clSetEventCallback), which have
 * drawbacks: they run on the runtime's threads, some runtimes start a thread for the first
 * callback, some hold locks while they call, and at the process's end nobody knows whether they
 * will still come. Asking never waits, and a command found to have ended is in the spool at once. A
 * command that had ended when the process died without its exit handlers, and whose event was never
 * asked again, is lost. At a regular exit all events are asked once more.
 *
 * Commands lie in a fixed number of places, in a list for each queue. 'commands.lock' guards only
 * the lists and the free places: no function of OpenCL is called under it, since a callback of the
 * program may enqueue on a thread of the runtime that holds the runtime's own locks. One thread at
 * a time looks at a queue (is_watched), and only that thread removes commands.
 */
#include <errno.h>
#include <stdlib.h>

#include "collect/opencl/opencl.h"

enum {
	PLACES = 1 << 16,
	HELD_SLOTS = 1 << 17,
	/* Asking takes the runtime's locks, which its own threads want at the same
	 * time. So commands are asked seldom, and then many. More are recorded at once than are
	 * enqueued in between, so that the list gets shorter. */
	LOOK_EVERY = 16,
	LOOK_AT_ALL_EVERY = 64 * LOOK_EVERY,
	MOST_AT_ONCE = 4 * LOOK_EVERY,
	/* MOST_UNENDED: how many commands of an out-of-order queue are asked in vain whether
	 * they ended, before asking stops. */
	MOST_UNENDED = 16,
};

static struct {
	/* places: PLACES commands; NULL: not needed yet, or memory is lacking. */
	struct opencl_command *places;
	uint32_t n; /* how many places were ever used */
	/* The first place in the list of free places, numbered from 1; 0: the list is empty. */
	uint32_t free;
	_Atomic uintptr_t *held; /* hash table of the program's events that the collector holds */
	uint64_t lost; /* how many commands found no place since the loss was last reported */
	struct lock lock;
	_Atomic uint32_t exit_set; /* 1: the exit handler is registered */
} commands;

/* ---- events of the program that the collector holds ------------------------------------------ */

static uint32_t held_slot(const void *event)
{
	return (uint32_t)((uint64_t)(uintptr_t)event * UINT64_C(0x9e3779b97f4a7c15) >> 47) %
	       HELD_SLOTS;
}

enum { HELD_WAYS = 8 };

static void hold_event(const void *event)
{
	uint32_t slot = held_slot(event);
	for (uint32_t i = 0; commands.held && i < HELD_WAYS; i++) {
		uintptr_t empty = 0;
		if (atomic_compare_exchange_strong(&commands.held[(slot + i) % HELD_SLOTS], &empty,
						   (uintptr_t)event))
			return;
	}
}

static void drop_event(const void *event)
{
	uint32_t slot = held_slot(event);
	for (uint32_t i = 0; commands.held && i < HELD_WAYS; i++) {
		uintptr_t ours = (uintptr_t)event;
		if (atomic_compare_exchange_strong(&commands.held[(slot + i) % HELD_SLOTS], &ours,
						   0))
			return;
	}
}

bool opencl_commands_hold(const void *event)
{
	uint32_t slot = held_slot(event);
	for (uint32_t i = 0; commands.held && i < HELD_WAYS; i++)
		if (atomic_load(&commands.held[(slot + i) % HELD_SLOTS]) == (uintptr_t)event)
			return true;
	return false;
}

/* ---- places
 * ---------------------------------------------------------------------------------------- */

/* Yields the command in a place. Places are numbered from 1. */
static struct opencl_command *command_in(uint32_t place)
{
	return &commands.places[place - 1];
}

static bool make_places(void)
{
	if (commands.places)
		return true;
	commands.places = sys_memory(PLACES * sizeof *commands.places);
	commands.held = sys_memory(HELD_SLOTS * sizeof *commands.held);
	return commands.places != NULL;
}

/* Takes a free place and yields its number; 0: no place is free. The caller holds the lock. */
static uint32_t take_place(void)
{
	uint32_t place = commands.free;
	if (place)
		commands.free = command_in(place)->next;
	else if (commands.n < PLACES)
		place = ++commands.n;
	return place;
}

static void commands_at_exit(void);

/* Registers the exit handler. OpenCL is in use by then, so that the handler runs before the
 * handlers and destructors of the runtime, which was initialised earlier. */
static void set_exit(void)
{
	uint32_t before = 0;
	if (atomic_compare_exchange_strong(&commands.exit_set, &before, 1))
		atexit(commands_at_exit);
}

bool opencl_commands_add(struct opencl_queue *queue, const struct opencl_command *command)
{
	set_exit();
	if (!lock_take(&commands.lock))
		return false;
	uint32_t place = make_places() ? take_place() : 0;
	if (place) {
		*command_in(place) = *command;
		command_in(place)->next = 0;
		if (queue->last)
			command_in(queue->last)->next = place;
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
		hold_event(command->event);
	atomic_fetch_add_explicit(&queue->waiting, 1, memory_order_relaxed);
	return true;
}

/* ---- commands that have ended
 * ---------------------------------------------------------------------- */

static int32_t event_status(void *event)
{
	int32_t status = 1;
	int32_t result = opencl_next.clGetEventInfo(event, ABI_CL_EVENT_STATUS, sizeof status,
						    &status, NULL);
	return result == ABI_CL_SUCCESS ? status : -1;
}

static uint64_t profiling_time(void *event, uint32_t which)
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
	uint64_t end = profiling_time(command->event, ABI_CL_PROFILING_END);
	uint64_t start = profiling_time(command->event, ABI_CL_PROFILING_START);
	if (!end || !start) {
		/* Some runtimes do not time commands that do nothing. */
		if (command->what != REC_COMMAND_MARK)
			collect_drop("OpenCL commands without times", 1);
		return;
	}
	uint64_t queued = profiling_time(command->event, ABI_CL_PROFILING_QUEUED);
	uint64_t submitted = profiling_time(command->event, ABI_CL_PROFILING_SUBMIT);
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
	collect_publish(record);
}

/* Removes the command behind the place 'before' (0: the first) from the list. Called by the thread
 * that watches the queue. */
static void remove_command(struct opencl_queue *queue, uint32_t before, uint32_t place)
{
	/* spins: no holder of the lock does more than change a few numbers. */
	while (!lock_take(&commands.lock))
		;
	uint32_t next = command_in(place)->next;
	if (before)
		command_in(before)->next = next;
	else
		queue->first = next;
	if (queue->last == place)
		queue->last = before;
	command_in(place)->next = commands.free;
	commands.free = place;
	lock_give(&commands.lock);
	atomic_fetch_sub_explicit(&queue->waiting, 1, memory_order_relaxed);
}

static uint32_t place_behind(struct opencl_queue *queue, uint32_t before)
{
	if (!lock_take(&commands.lock))
		return 0;
	uint32_t place = before ? command_in(before)->next : queue->first;
	lock_give(&commands.lock);
	return place;
}

static void collect_ended(struct opencl_queue *queue, bool all)
{
	uint32_t before = 0, place, done = 0, unended = 0;
	while ((place = place_behind(queue, before))) {
		struct opencl_command command = *command_in(place);
		int32_t status = event_status(command.event);
		if (status > ABI_CL_COMPLETE) {
			if (queue->is_in_order || (!all && ++unended == MOST_UNENDED))
				return;
			before = place;
			continue;
		}
		int64_t seen = collect_now();
		remove_command(queue, before, place);
		if (status == ABI_CL_COMPLETE)
			opencl_commands_put(queue, &command, seen);
		else
			collect_drop("OpenCL commands that failed", 1);
		if (command.is_shared)
			drop_event(command.event);
		opencl_next.clReleaseEvent(command.event);
		if (!all && ++done == MOST_AT_ONCE)
			return;
	}
}

static void report_lost(void)
{
	if (!commands.lost || !lock_take(&commands.lock))
		return;
	uint64_t lost = commands.lost;
	commands.lost = 0;
	lock_give(&commands.lock);
	if (lost)
		collect_drop("OpenCL commands beyond those that can be waited for at a time", lost);
}

void opencl_commands_collect(struct opencl_queue *queue, bool all)
{
	uint32_t waiting = atomic_load_explicit(&queue->waiting, memory_order_relaxed);
	if (!waiting || (!all && waiting % LOOK_EVERY != 0) ||
	    atomic_exchange(&queue->is_watched, true))
		return;
	/* Commands may have ended behind others that run for long. */
	all = all || waiting % LOOK_AT_ALL_EVERY == 0;
	collect_ended(queue, all);
	atomic_store(&queue->is_watched, false);
	report_lost();
	opencl_report_clock();
}

static void collect_all_queues(void)
{
	for (struct opencl_queue *queue = NULL; (queue = opencl_queues_next(queue));)
		opencl_commands_collect(queue, true);
}

/* Records all commands that have ended, and counts the other commands as lost. */
static void commands_at_exit(void)
{
	int saved = errno;
	uint64_t unended = 0;
	if (collect_control) {
		collect_all_queues();
		for (struct opencl_queue *queue = NULL; (queue = opencl_queues_next(queue));)
			unended += atomic_load(&queue->waiting);
		if (unended)
			collect_drop("OpenCL commands that had not ended when the program did",
				     unended);
	}
	errno = saved;
}

/* Forgets the commands in a forked child: they are the parent's. The exit handler stays
 * registered. */
void opencl_commands_after_fork(void)
{
	commands.lock = (struct lock){0};
	commands.n = commands.free = 0;
	commands.lost = 0;
	if (commands.held)
		sys_advise((void *)commands.held, HELD_SLOTS * sizeof *commands.held,
			   MADV_DONTNEED);
}
