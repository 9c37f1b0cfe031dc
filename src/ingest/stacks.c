/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.c - the call stack of a call: its native and Python frames, joined to one stack of the
 * trace.
 *
 * Frames are kept innermost first. Where there are Python frames, the native frames from the call
 * outwards to CPython's interpreter loop are kept, and the Python frames follow; frames of the
 * interpreter itself are left out. The copied stack memory is unwound here and does not reach the
 * trace.
 */
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "ingest/ingest_internal.h"
#include "ingest/python_lines.h"
#include "ingest/unwind.h"

enum { MOST_ANCESTORS = 64 };

static uint64_t numbered_key(uint32_t file, const struct rec_stack *record)
{
	return (uint64_t)file << 32 | record->number;
}

/* The record that has the registers and bytes of a native stack: the record itself, or the earlier
 * one whose number it repeats; NULL: the earlier one is lost. */
static const struct rec_stack *native_with_bytes(struct ingest *in, struct ingest_process *process,
						 uint32_t file, const struct rec_stack *record)
{
	if (record->count || !record->number)
		return record;
	const uint32_t *ref =
		process->numbered_stacks.count
			? hwy_map_get(&process->numbered_stacks, numbered_key(file, record))
			: NULL;
	return ref ? in->stacks[hwy_ref32_index(*ref)].native : NULL;
}

/* Calls into the operating system and garbage collections have no correlation id: their stacks are
 * found by the time when they began. */
static bool is_found_by_time(enum rec_why why)
{
	return why == REC_WHY_OS || why == REC_WHY_COLLECTION;
}

/* The key of ingest_process.stacks: the correlation id, or a hash of the start.
 * Stacks with one key are told apart by is_stack_of. */
static uint64_t call_key(enum rec_why why, uint32_t correlation, int64_t time)
{
	return is_found_by_time(why) ? hwy_mix((uint64_t)time) | UINT64_C(1) << 63 : correlation;
}

static bool is_stack_of(const struct ingest_stack *stack, enum rec_why why, uint32_t tid,
			int64_t time)
{
	return (tid == 0 || stack->tid == tid) && (!is_found_by_time(why) || stack->time == time);
}

/* Searches the stacks with one key, from 'ref' on, for the stack of a call; NULL: no stack is
 * the call's. */
static struct ingest_stack *find_in_chain(struct ingest *in, uint32_t ref, enum rec_why why,
					  uint32_t tid, int64_t time)
{
	while (hwy_ref32_is_set(ref)) {
		struct ingest_stack *stack = &in->stacks[hwy_ref32_index(ref)];
		if (is_stack_of(stack, why, tid, time))
			return stack;
		ref = stack->next_ref;
	}
	return NULL;
}

void stacks_note(struct ingest *in, struct ingest_process *process, uint32_t file,
		 const struct rec_stack *record)
{
	if (in->wanted_stacks == INGEST_STACKS_NONE)
		return;
	bool is_native = record->head.type == REC_NATIVE_STACK;
	const struct rec_stack *whole =
		is_native ? native_with_bytes(in, process, file, record) : record;
	if (!whole)
		return;
	enum rec_why why = record->head.flags;
	uint64_t key = call_key(why, record->correlation, record->time);
	uint32_t *head = hwy_map_put(&process->stacks, key, NULL);
	struct ingest_stack *stack = find_in_chain(in, *head, why, record->tid, record->time);
	if (!stack) {
		HWY_GROW(in->stacks, in->n_stacks, in->cap_stacks);
		stack = &in->stacks[in->n_stacks];
		*stack = (struct ingest_stack){
			.next_ref = *head, .tid = record->tid, .time = record->time};
		*head = hwy_ref32(in->n_stacks++);
	}
	if (!is_native)
		stack->python = record;
	else
		stack->native = whole;
	if (is_native && record->count && record->number)
		*hwy_map_put(&process->numbered_stacks, numbered_key(file, record), NULL) =
			hwy_ref32((uint32_t)(stack - in->stacks));
}

/* ---- native
 * ------------------------------------------------------------------------------------ */

struct unwinder *stacks_unwinder(struct ingest *in, struct ingest_process *process)
{
	if (process->unwinder)
		return process->unwinder;
	if (!in->files)
		in->files = unwind_files_open(in->wanted_stacks == INGEST_STACKS_WHOLE);
	process->unwinder = unwind_open(in->files);
	/* A forked child has the modules of its parent, and may not have registered them itself. */
	struct ingest_process *from = process;
	for (int depth = 0; from && from->modules.n == 0 && depth < MOST_ANCESTORS; depth++)
		from = target_parent(in, from);
	for (uint32_t i = 0; from && i < from->modules.n; i++) {
		const struct rec_module *module = from->modules.items[i];
		uint32_t path = ingest_text(in, from, module->path);
		unwind_add_module(process->unwinder, module, hwy_str(in->trace, path));
	}
	task_lifetimes_add_modules(in, process);
	return process->unwinder;
}

static uint32_t text_or_none(struct ingest *in, const char *text)
{
	return text ? hwy_text_id(in->b, text) : 0;
}

void stacks_add_frame(struct ingest *in, struct ingest_frames *frames,
		      const struct hwy_frame *frame)
{
	if (frames->n < INGEST_MOST_FRAMES)
		frames->frames[frames->n++] = hwy_add_frame(in->b, frame);
}

static void add_native_frame(struct ingest *in, struct ingest_frames *frames,
			     const struct code_place *place, const struct code_line *line,
			     uint64_t address)
{
	struct hwy_frame frame = {
		.function = text_or_none(in, place->function),
		.module = text_or_none(in, place->module),
		.file = text_or_none(in, line->file),
		.line = line->line,
		/* The offset in the module is the same in every run; the address in the process is
		 * not. */
		.address = (int64_t)(place->module ? place->offset : address),
		.flags = place->function ? 0 : HWY_FRAME_UNRESOLVED,
	};
	stacks_add_frame(in, frames, &frame);
}

/* Our own libraries and CUPTI: their frames stand between the call and the place where the stack
 * was copied. */
static bool is_recorder(const struct code_place *place)
{
	const char *name = place->module ? hwy_basename(place->module) : NULL;
	return name && (strncmp(name, "libheadway-", 11) == 0 || strncmp(name, "libcupti", 8) == 0);
}

void stacks_add_native(struct ingest *in, struct ingest_process *process, const uint64_t *addresses,
		       uint32_t n, bool has_python, struct ingest_frames *frames)
{
	struct unwinder *unwinder = stacks_unwinder(in, process);
	struct code_place *places[INGEST_MOST_CHAIN];
	n = n < INGEST_MOST_CHAIN ? n : INGEST_MOST_CHAIN;
	uint32_t end = n, first = 0;
	for (uint32_t i = 0; i < n; i++) {
		places[i] = unwind_place(unwinder, addresses[i], i > 0);
		if (has_python && places[i]->interpreter) {
			end = i;
			break;
		}
	}
	/* The frames next to the interpreter loop that are in the same module as the loop are
	 * CPython's too: they call into the extension module. */
	while (has_python && end > 0 && end < n && places[end - 1]->module && places[end]->module &&
	       strcmp(places[end - 1]->module, places[end]->module) == 0)
		end--;
	while (first < end && is_recorder(places[first]))
		first++;
	for (uint32_t i = first; i < end; i++) {
		const struct code_line *line = unwind_line(
			unwinder, places[i], i > first ? places[i - 1] : NULL, frames->is_sample);
		add_native_frame(in, frames, places[i], line, addresses[i]);
	}
}

/* ---- Python
 * ------------------------------------------------------------------------------------ */

void stacks_add_python(struct ingest *in, struct ingest_process *process,
		       const struct rec_frame *list, uint32_t n, struct ingest_frames *frames)
{
	for (uint32_t i = 0; i < n && i < REC_MAX_FRAMES; i++) {
		uint32_t ref = hwy_ids_get(&process->codes, list[i].code);
		if (!hwy_ref32_is_set(ref))
			continue;
		const struct rec_code *code = process->code.items[hwy_ref32_index(ref)];
		int line = python_lines_find(code, list[i].offset);
		uint32_t file = ingest_text(in, process, code->filename);
		struct hwy_frame frame = {
			.function = ingest_text(in, process, code->name),
			.module = file,
			.file = file,
			.line = line > 0 ? line : code->first_line,
			.flags = HWY_FRAME_PYTHON,
		};
		stacks_add_frame(in, frames, &frame);
	}
}

/* ---- stacks of the trace
 * ------------------------------------------------------------------------- */

uint32_t stacks_join(struct ingest *in, const struct ingest_frames *frames)
{
	int64_t parent = HWY_REF_NONE;
	for (uint32_t i = frames->n; i-- > 0;) {
		struct hwy_stack node = {.parent = parent, .frame = frames->frames[i]};
		parent = hwy_ref(hwy_add_stack(in->b, node));
	}
	return (uint32_t)parent;
}

static uint32_t stacks_make(struct ingest *in, struct ingest_process *process,
			    const struct ingest_stack *stack)
{
	struct ingest_frames frames = {.n = 0};
	bool has_python = stack->python && stack->python->count;
	if (stack->native) {
		const uint64_t *registers = (const uint64_t *)(stack->native + 1);
		struct unwind_copy copy = {registers, (const uint8_t *)(registers + REC_STACK_REGS),
					   stack->native->count};
		uint64_t addresses[UNWIND_FRAMES];
		uint32_t n = unwind_stack(stacks_unwinder(in, process), &copy, addresses);
		stacks_add_native(in, process, addresses, n, has_python, &frames);
	}
	if (has_python)
		stacks_add_python(in, process, (const void *)(stack->python + 1),
				  stack->python->count, &frames);
	return stacks_join(in, &frames);
}

static uint32_t stacks_find(struct ingest *in, struct ingest_process *process, enum rec_why why,
			    uint64_t key, uint32_t tid, int64_t time)
{
	const uint32_t *head = process->stacks.count ? hwy_map_get(&process->stacks, key) : NULL;
	struct ingest_stack *stack = head ? find_in_chain(in, *head, why, tid, time) : NULL;
	if (!stack)
		return HWY_REF_NONE;
	if (!stack->made)
		stack->stack_ref = stacks_make(in, process, stack);
	stack->made = true;
	return stack->stack_ref;
}

uint32_t stacks_find_call(struct ingest *in, struct ingest_process *process, uint32_t tid,
			  uint32_t correlation)
{
	return stacks_find(in, process, REC_WHY_WAIT, correlation, tid, 0);
}

uint32_t stacks_find_at(struct ingest *in, struct ingest_process *process, uint32_t tid,
			int64_t start)
{
	return stacks_find(in, process, REC_WHY_OS, call_key(REC_WHY_OS, 0, start), tid, start);
}
