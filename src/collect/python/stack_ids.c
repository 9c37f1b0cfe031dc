/* SPDX-License-Identifier: Apache-2.0 */
/* stack_ids.c - Python stacks that are taken at every operator: each is defined once, then named
 * by number.
 *
 * A stack is told from others by a hash over its frames: code object, instruction, and the
 * module that the frame calls where it is the call of an nn.Module. The hash takes plain loads
 * of the thread's own frames, which cannot change while the thread is here (python.c says why,
 * and proves the layout first). A hash that was seen before has an id, found without a lock;
 * only a new one is read in full, and recorded.
 *
 * A code object that was freed may leave its address to another one; the addresses of its name
 * and of its file's name go into the hash too, so that another function is another place.
 */
#include "collect/python/stack_ids.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "collect/collect.h"
#include "collect/lock.h"
#include "collect/process.h"
#include "collect/python/layers.h"
#include "collect/python/python.h"
#include "collect/sys.h"
#include "spool/record_frameworks.h"

enum {
	SLOTS = 1 << 17, /* of the table of places, a power of two */
	MOST_PLACES = SLOTS / 2,
	MOST_CALLERS = 4,
};

/* A place in the table; 'hash' is stored last, with release order. */
struct place {
	_Atomic uint64_t hash; /* 0: the slot is free */
	uint32_t id;           /* 0: the place could not be recorded */
	uint32_t spare;
};
static struct place *_Atomic places;

static struct lock lock; /* guards all variables below; readers of 'callers' need no lock */
static uint32_t last_place;
static _Atomic bool is_full; /* MOST_PLACES were defined, and a note says so */
/* The addresses of the code objects that call nn.Modules. Where both kinds are known, the
 * wrapper alone counts: what it calls has its module in a cell, which is another object each
 * time. */
static struct {
	_Atomic uintptr_t code[MOST_CALLERS];
	_Atomic uint32_t count;
	bool wrapped;
} callers;

void place_after_fork(void)
{
	lock_give(&lock);
	/* Ids of the parent are not the child's. The memory is not freed: the child shares its
	 * pages. */
	atomic_store(&places, NULL);
	layers_after_fork();
}

void place_begin_again(void)
{
	/* Readers take no lock: the table is not freed. */
	atomic_store(&places, NULL);
	layers_begin_again();
}

/* ---- frames ---------------------------------------------------------------------------------- */

struct seen_frame {
	uintptr_t frame, code, layer; /* 'layer': the module that the frame calls; 0: none */
};
struct seen_stack {
	uint64_t hash;
	uint32_t count;
	struct seen_frame frames[REC_MAX_FRAMES];
};

static inline uintptr_t place_load(uintptr_t address)
{
	uintptr_t value;
	memcpy(&value, (const void *)address, sizeof value);
	return value;
}

static inline uintptr_t place_instruction(const struct python_layout *layout, uintptr_t frame)
{
	if (layout->code_bytecode)
		return place_load(frame + layout->frame_instruction);
	int32_t index; /* Python 3.10 */
	memcpy(&index, (const void *)(frame + layout->frame_instruction), sizeof index);
	return (uintptr_t)(intptr_t)index;
}

static inline bool place_is_foreign(const struct python_layout *layout, uintptr_t frame)
{
	return layout->frame_owner &&
	       *(const uint8_t *)(frame + layout->frame_owner) >= layout->foreign_owner;
}

static bool is_caller(uintptr_t code)
{
	uint32_t n = atomic_load_explicit(&callers.count, memory_order_acquire);
	for (uint32_t i = 0; i < n; i++)
		if (atomic_load_explicit(&callers.code[i], memory_order_relaxed) == code)
			return true;
	return false;
}

/* The module that a frame of PyTorch's calling functions has as its first variable; from Python
 * 3.13 on the low bits of a variable may be marks. */
static uintptr_t called_layer(const struct python_layout *layout, uintptr_t frame)
{
	return place_load(frame + layout->frame_locals) & ~(uintptr_t)7;
}

/* Reads the frames of a thread, innermost first, and their hash. */
static void see_stack(const struct python_view *view, struct seen_stack *stack)
{
	const struct python_layout *layout = view->layout;
	uint64_t hash = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t epoch = atomic_load_explicit(&layers_epoch, memory_order_relaxed);
	stack->count = 0;
	for (uintptr_t frame = view->frame; frame && stack->count < REC_MAX_FRAMES;
	     frame = place_load(frame + layout->frame_previous)) {
		if (place_is_foreign(layout, frame))
			continue;
		uintptr_t code = place_load(frame + layout->frame_code) & ~(uintptr_t)7;
		uintptr_t layer = is_caller(code) ? called_layer(layout, frame) : 0;
		/* The products do not wait for each other, only the last one does for the frame
		 * before. */
		uint64_t word = code * UINT64_C(0xff51afd7ed558ccd) ^
				place_instruction(layout, frame) * UINT64_C(0xc4ceb9fe1a85ec53) ^
				(place_load(code + layout->code_name) +
				 3 * place_load(code + layout->code_filename)) *
					UINT64_C(0x2545f4914f6cdd1d) ^
				layer * UINT64_C(0xd6e8feb86659fd93);
		if (layer)
			word ^= epoch * UINT64_C(0x9fb21c651e98df25);
		hash = (hash ^ word ^ word >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
		hash ^= hash >> 32;
		stack->frames[stack->count++] = (struct seen_frame){frame, code, layer};
	}
	stack->hash = hash | 1; /* never 0 */
}

/* ---- the table ------------------------------------------------------------------------------- */

/* The slot of a hash, or the free slot where it would go. */
static struct place *place_slot(struct place *table, uint64_t hash)
{
	uint32_t i = (uint32_t)(hash >> 20) & (SLOTS - 1);
	for (;; i = (i + 1) & (SLOTS - 1)) {
		uint64_t found = atomic_load_explicit(&table[i].hash, memory_order_acquire);
		if (found == hash || found == 0)
			return &table[i];
	}
}

/* ---- defining, all under the lock ------------------------------------------------------------ */

/* Notes code that calls nn.Modules; true if it was not known. */
static bool note_caller(uintptr_t code, enum python_caller caller)
{
	if (caller == PYTHON_CALLS_OTHER || is_caller(code) ||
	    (caller == PYTHON_CALLS_LAYER && callers.wrapped))
		return false;
	if (caller == PYTHON_CALLS_LAYER_WRAPPED && !callers.wrapped) {
		callers.wrapped = true;
		atomic_store(&callers.count, 0);
	}
	uint32_t n = atomic_load(&callers.count);
	if (n == MOST_CALLERS)
		return false;
	atomic_store_explicit(&callers.code[n], code, memory_order_relaxed);
	atomic_store_explicit(&callers.count, n + 1, memory_order_release);
	return true;
}

/* Yields the ids of the modules of a stack's frames, 0 for other frames. The type of a module is
 * read through the kernel: Python 3.11 releases the variables of a frame that ends while the
 * frame is still in the stack, and finalizers may run operators then. */
static void define_layers(const struct python_layout *layout, const struct seen_stack *stack,
			  uint32_t ids[REC_MAX_FRAMES])
{
	bool is_in_new = false;
	for (uint32_t i = stack->count; i-- > 0;) {
		uintptr_t layer = stack->frames[i].layer, type;
		const void *at = (const void *)(layer + layout->object_type);
		ids[i] = layer && sys_peek(process.pid, &type, at, sizeof type) == (long)sizeof type
				 ? layers_id(layer, type, &is_in_new)
				 : 0;
	}
}

/* Fills in the frames of a place; yields their number. *is_stale: code that calls modules became
 * known, so that the stack's hash would be another one. */
static uint32_t define_frames(const struct python_layout *layout, const struct seen_stack *stack,
			      struct rec_place_frame *into, bool *is_stale)
{
	uint32_t n = 0, layer_ids[REC_MAX_FRAMES];
	define_layers(layout, stack, layer_ids);
	for (uint32_t i = 0; i < stack->count; i++) {
		const struct seen_frame *seen = &stack->frames[i];
		struct rec_frame frame;
		enum python_caller caller;
		if (!python_define_frame(seen->frame, &frame, &caller))
			continue;
		*is_stale |= note_caller(seen->code, caller);
		into[n++] = (struct rec_place_frame){
			.code = frame.code,
			.offset = frame.offset,
			.layer = layer_ids[i],
		};
	}
	return n;
}

static bool put_place(uint32_t id, const struct rec_place_frame *frames, uint32_t count)
{
	size_t bytes = offsetof(struct rec_place, frames) + count * sizeof *frames;
	struct rec_place *record =
		collect_reserve(REC_PLACE, (unsigned)((bytes + REC_SLOT - 1) / REC_SLOT));
	if (!record)
		return false;
	record->head.value = id;
	record->count = count;
	memcpy(record->frames, frames, count * sizeof *frames);
	collect_publish(record);
	return true;
}

static uint32_t define_place(const struct python_layout *layout, struct seen_stack *stack,
			     const struct python_view *view)
{
	struct rec_place_frame frames[REC_MAX_FRAMES];
	struct place *table = atomic_load(&places);
	if (!table) {
		table = sys_memory(SLOTS * sizeof *table);
		atomic_store_explicit(&places, table, memory_order_release);
	}
	if (!table)
		return 0;
	if (last_place >= MOST_PLACES) {
		if (!atomic_exchange(&is_full, true))
			collect_note(2,
				     "more than %d places in Python call operators: the later ones "
				     "have no line",
				     (int)MOST_PLACES);
		return 0;
	}
	bool is_stale = false;
	uint32_t n = define_frames(layout, stack, frames, &is_stale);
	if (is_stale) {
		see_stack(view, stack);
		n = define_frames(layout, stack, frames, &is_stale);
	}
	struct place *place = place_slot(table, stack->hash);
	if (atomic_load(&place->hash))
		return place->id; /* another thread has just defined it */
	if (!put_place(last_place + 1, frames, n))
		return 0;
	place->id = ++last_place;
	atomic_store_explicit(&place->hash, stack->hash, memory_order_release);
	return place->id;
}

/* ---- the places ------------------------------------------------------------------------------ */

static __attribute__((noinline, cold)) uint32_t place_define(const struct python_view *view,
							     struct seen_stack *stack)
{
	uint32_t id = 0;
	int saved = errno;
	if (process_is_mute())
		return 0;
	uint64_t signals = sys_hold_signals();
	if (lock_take(&lock)) {
		id = define_place(view->layout, stack, view);
		lock_give(&lock);
	}
	sys_restore_signals(signals);
	layers_ask_paths();
	errno = saved;
	return id;
}

static uint32_t place_of_view(const struct python_view *view)
{
	struct seen_stack stack;
	see_stack(view, &stack);
	struct place *table = atomic_load_explicit(&places, memory_order_acquire);
	if (table) {
		const struct place *place = place_slot(table, stack.hash);
		if (atomic_load_explicit(&place->hash, memory_order_relaxed) == stack.hash)
			return place->id;
	}
	return atomic_load_explicit(&is_full, memory_order_relaxed) ? 0
								    : place_define(view, &stack);
}

uint32_t place_here(void)
{
	struct python_view view;
	return python_view_own(&view) ? place_of_view(&view) : 0;
}

uint32_t place_here_unless(const struct place_mark *around, struct place_mark *mark)
{
	struct python_view view;
	*mark = (struct place_mark){0};
	if (!python_view_own(&view))
		return 0;
	while (view.frame && place_is_foreign(view.layout, view.frame))
		view.frame = place_load(view.frame + view.layout->frame_previous);
	if (!view.frame)
		return 0;
	*mark = (struct place_mark){view.frame, place_instruction(view.layout, view.frame)};
	if (around && around->frame == mark->frame && around->instruction == mark->instruction)
		return 0;
	return place_of_view(&view);
}

/* Whether a frame surely holds references to its variables. Python 3.11 does not take a frame
 * that ends off the stack before it has released them. While a frame runs, or calls C code as
 * PyTorch's functions do here, the int before its variables (stacktop) is -1. */
static bool frame_is_alive(const struct python_layout *layout, uintptr_t frame)
{
	int32_t top;
	if (layout->version >> 16 != 0x030b)
		return true;
	memcpy(&top, (const void *)(frame + layout->frame_locals - 8), sizeof top);
	return top == -1;
}

uintptr_t place_outermost_layer(void)
{
	struct python_view view;
	struct seen_stack stack;
	uintptr_t outermost = 0;
	if (!python_view_own(&view))
		return 0;
	see_stack(&view, &stack);
	for (uint32_t i = 0; i < stack.count; i++)
		if (stack.frames[i].layer && frame_is_alive(view.layout, stack.frames[i].frame))
			outermost = stack.frames[i].layer;
	return outermost;
}
