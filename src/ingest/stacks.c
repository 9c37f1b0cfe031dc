/* stacks.c - what a call came from: Python and native frames as one stack of the trace.
 *
 * Innermost first. Where there are Python frames, the native ones are kept from the call outwards to the
 * interpreter, and the Python frames follow; what of the interpreter's own machinery lies between is left
 * out. Stack memory is unwound here and goes no further.
 */
#include <stdlib.h>
#include <string.h>

#include "ingest/binaries.h"
#include "ingest/ingest_internal.h"
#include "ingest/python_lines.h"
#include "ingest/unwind.h"

enum { MOST_PARENTS = 64 };

static uint64_t told_key(const struct rec_stack *record)
{
	return (uint64_t)record->tid << 32 | record->number;
}

/* The record that has the bytes of a native stack: this one, or the one that it names; NULL if that is lost. */
static const struct rec_stack *native_told(struct ingest *in, struct ingest_process *process,
					   const struct rec_stack *record)
{
	if (record->count || !record->number)
		return record;
	const uint32_t *at =
		process->told.count ? hwy_map_get(&process->told, told_key(record)) : NULL;
	return at ? in->stacks[*at - 1].native : NULL;
}

/* Under which a stack is found. OS calls have no correlation id. */
static uint64_t call_key(enum rec_why why, uint32_t correlation, int64_t time)
{
	return why == REC_WHY_OS ? hwy_mix((uint64_t)time) | UINT64_C(1) << 63 : correlation;
}

static bool is_of(const struct ingest_stack *stack, enum rec_why why, uint32_t tid, int64_t time)
{
	const struct rec_stack *known = stack->python ? stack->python : stack->native;
	return (tid == 0 || known->tid == tid) && (why != REC_WHY_OS || stack->time == time);
}

void stacks_note(struct ingest *in, struct ingest_process *process, const struct rec_stack *record)
{
	bool is_native = record->head.type == REC_NATIVE_STACK;
	const struct rec_stack *told = is_native ? native_told(in, process, record) : record;
	if (!told)
		return;
	enum rec_why why = record->head.flags;
	uint64_t key = call_key(why, record->correlation, record->time);
	uint32_t *head = hwy_map_put(&process->stacks, key, NULL);
	uint32_t at = *head;
	struct ingest_stack *stack = NULL;
	while (at && !stack) {
		struct ingest_stack *one = &in->stacks[at - 1];
		if (is_of(one, why, record->tid, record->time))
			stack = one;
		at = one->next;
	}
	if (!stack) {
		HWY_GROW(in->stacks, in->n_stacks, in->cap_stacks);
		stack = &in->stacks[in->n_stacks++];
		*stack = (struct ingest_stack){.next = *head, .time = record->time};
		*head = in->n_stacks;
	}
	if (!is_native)
		stack->python = record;
	else
		stack->native = told;
	if (is_native && record->count && record->number)
		*hwy_map_put(&process->told, told_key(record), NULL) =
			(uint32_t)(stack - in->stacks) + 1;
}

/* ---- native ------------------------------------------------------------------------------------ */

struct unwinder *stacks_unwinder(struct ingest *in, struct ingest_process *process)
{
	if (process->unwinder)
		return process->unwinder;
	if (!in->binaries)
		in->binaries = binaries_open();
	process->unwinder = unwind_open(in->binaries);
	/* A forked child has what its parent had, and may not have said so. */
	struct ingest_process *from = process;
	for (int depth = 0; from && from->modules.n == 0 && depth < MOST_PARENTS; depth++)
		from = target_parent(in, from);
	for (uint32_t i = 0; from && i < from->modules.n; i++) {
		const struct rec_module *module = from->modules.at[i];
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
		frames->at[frames->n++] = hwy_add_frame(in->b, frame);
}

static void add_native_frame(struct ingest *in, struct ingest_frames *frames,
			     const struct unwind_place *place, uint64_t address)
{
	struct hwy_frame frame = {
		.function = text_or_none(in, place->function),
		.module = text_or_none(in, place->module),
		.file = text_or_none(in, place->file),
		.line = place->line,
		/* Addresses differ from run to run: the place in the module does not. */
		.address = (int64_t)(place->module ? place->offset : address),
		.flags = place->function ? 0 : HWY_FRAME_UNRESOLVED,
	};
	stacks_add_frame(in, frames, &frame);
}

/* Our own library, CUPTI and the injected rest stand between the call and us. */
static bool is_recorder(const struct unwind_place *place)
{
	const char *name = place->module ? strrchr(place->module, '/') : NULL;
	name = name ? name + 1 : place->module;
	return name && (strncmp(name, "libheadway-", 11) == 0 || strncmp(name, "libcupti", 8) == 0);
}

void stacks_add_native(struct ingest *in, struct ingest_process *process, const uint64_t *addresses,
		       uint32_t n, bool has_python, struct ingest_frames *frames)
{
	struct unwinder *unwinder = stacks_unwinder(in, process);
	struct unwind_place *places[INGEST_MOST_CHAIN];
	n = n < INGEST_MOST_CHAIN ? n : INGEST_MOST_CHAIN;
	uint32_t end = n, first = 0;
	for (uint32_t i = 0; i < n; i++) {
		places[i] = unwind_place(unwinder, addresses[i], i > 0);
		if (has_python && places[i]->interpreter) {
			end = i;
			break;
		}
	}
	/* Of the interpreter too: what calls into the extension module. */
	while (has_python && end > 0 && end < n && places[end - 1]->module && places[end]->module &&
	       strcmp(places[end - 1]->module, places[end]->module) == 0)
		end--;
	while (first < end && is_recorder(places[first]))
		first++;
	for (uint32_t i = first; i < end; i++) {
		unwind_line(unwinder, places[i], i > first ? places[i - 1] : NULL,
			    frames->is_sample);
		add_native_frame(in, frames, places[i], addresses[i]);
	}
}

/* ---- Python ------------------------------------------------------------------------------------ */

void stacks_add_python(struct ingest *in, struct ingest_process *process,
		       const struct rec_frame *list, uint32_t n, struct ingest_frames *frames)
{
	for (uint32_t i = 0; i < n && i < REC_MAX_FRAMES; i++) {
		uint32_t at = hwy_ids_get(&process->codes, list[i].code);
		if (!at)
			continue;
		const struct rec_code *code = process->code.at[at - 1];
		int line = python_line(code, list[i].offset);
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

/* ---- together ---------------------------------------------------------------------------------- */

uint32_t stacks_join(struct ingest *in, const struct ingest_frames *frames)
{
	int64_t parent = 0;
	for (uint32_t i = frames->n; i-- > 0;)
		parent = 1 + (int64_t)hwy_add_stack(in->b, (struct hwy_stack){
								   .parent = parent,
								   .frame = frames->at[i],
							   });
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
	for (uint32_t at = head ? *head : 0; at;) {
		struct ingest_stack *stack = &in->stacks[at - 1];
		if (is_of(stack, why, tid, time)) {
			if (!stack->made)
				stack->stack = stacks_make(in, process, stack);
			stack->made = true;
			return stack->stack;
		}
		at = stack->next;
	}
	return 0;
}

uint32_t stacks_of(struct ingest *in, struct ingest_process *process, uint32_t tid,
		   uint32_t correlation)
{
	return stacks_find(in, process, REC_WHY_WAIT, correlation, tid, 0);
}

uint32_t stacks_of_os(struct ingest *in, struct ingest_process *process, uint32_t tid,
		      int64_t start)
{
	return stacks_find(in, process, REC_WHY_OS, call_key(REC_WHY_OS, 0, start), tid, start);
}
