/* SPDX-License-Identifier: Apache-2.0 */
/* stack.c - where a call came from: the Python stack, and what is needed to unwind the native
 * stack.
 *
 * Unwinding is left to the parent process, which has time and libraries for it: the collector
 * copies registers and a piece of the stack. The copy goes through the kernel, so that a stack of
 * unknown extent (a fiber's) cannot fault.
 *
 * A loop comes from the same place each time, and 8 KiB each time would be most of what is
 * recorded. A stack is the same as an earlier one if it begins at the same address and all words
 * that pointed into code then still have their values: return addresses are among these words, so
 * the chain of callers is the same. Such a stack is recorded as the earlier stack's number.
 */
#include <errno.h>
#include <string.h>

#include "collect/collect.h"
#include "collect/process.h"
#include "collect/python/python.h"
#include "collect/spool.h"
#include "collect/sys.h"

#if defined(__x86_64__)

enum { REGISTERS_BYTES = REC_STACK_REGS * 8 };
/* A distance of more bytes than this is not taken for the depth of a stack. */
static const uintptr_t deepest = (uintptr_t)1 << 30;

/* Address above the first frame of the main thread's stack; 0: unknown. */
static uintptr_t main_end;

static __attribute__((constructor)) void stack_begin(void)
{
	/* The kernel puts the environment above the main thread's frames. */
	extern char **environ;
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0), end = (uintptr_t)environ;
	if (end > frame && end - frame < deepest)
		main_end = end;
}

/* The end (highest address) of the stack that the address lies on: the main thread's, or that of a
 * thread whose thread block lies above its stack, as glibc places it. UINTPTR_MAX: unknown. */
static uintptr_t stack_end(uintptr_t address)
{
	uintptr_t block, end = UINTPTR_MAX;
	__asm__("movq %%fs:0, %0" : "=r"(block));
	if (block > address && block - address < deepest)
		end = block;
	if (main_end > address && main_end - address < deepest && main_end < end)
		end = main_end;
	return end;
}

/* ---- stacks recorded before ------------------------------------------------------------------ */

enum { KEPT_STACKS = 16, MOST_WORDS = 192, STACK_WORDS = REC_STACK_BYTES / 8 };

/* A stack that was recorded whole. A number of 0 means that this place is empty. */
struct kept_stack {
	uint64_t registers[2]; /* values of rip and rsp */
	uint32_t number;
	uint32_t size, words;
	uint16_t index[MOST_WORDS]; /* indexes of the words in the stack that point into code */
	uint64_t word[MOST_WORDS];  /* the values of the words at 'index' */
};

struct stacks {                     /* the stacks that are kept of one thread */
	uint32_t last;              /* the highest number given to a stack so far */
	uint32_t next;              /* index of the place in 'kept' that is overwritten next */
	uint64_t copy[STACK_WORDS]; /* the stack that is being recorded now */
	struct kept_stack kept[KEPT_STACKS];
	/* The value of modules_version when the kept stacks were recorded: another value means
	 * that code has moved. */
	uint64_t modules;
	/* process.generation when the kept stacks were recorded: another run lacks them */
	uint32_t generation;
};

void stack_forget(struct spool *spool)
{
	if (spool->stacks)
		sys_unmap(spool->stacks, sizeof *spool->stacks);
	spool->stacks = NULL;
}

static bool stack_is_same(const struct kept_stack *kept, const uint64_t *registers,
			  const uint64_t *copy, size_t size)
{
	if (!kept->number || kept->registers[0] != registers[0] ||
	    kept->registers[1] != registers[1] || kept->size != size)
		return false;
	for (uint32_t i = 0; i < kept->words; i++)
		if (copy[kept->index[i]] != kept->word[i])
			return false;
	return true;
}

static uint32_t stack_number_of(const struct stacks *stacks, const uint64_t *registers, size_t size)
{
	for (uint32_t i = 0; i < KEPT_STACKS; i++)
		if (stack_is_same(&stacks->kept[i], registers, stacks->copy, size))
			return stacks->kept[i].number;
	return 0;
}

/* Forgets the number of a stack that found no room in the spool. */
static void stack_forget_number(struct stacks *stacks, uint32_t number)
{
	for (uint32_t i = 0; i < KEPT_STACKS; i++)
		if (stacks->kept[i].number == number)
			stacks->kept[i].number = 0;
}

/* Keeps a new stack and yields its number; 0 if too many of its words point into code to compare
 * all. */
static uint32_t stack_keep(struct stacks *stacks, const uint64_t *registers, size_t size)
{
	struct kept_stack *place = &stacks->kept[stacks->next];
	place->number = 0;
	place->words = 0;
	for (uint32_t i = 0; i < size / 8; i++) {
		if (!modules_hold_code(stacks->copy[i]))
			continue;
		if (place->words == MOST_WORDS)
			return 0;
		place->index[place->words] = (uint16_t)i;
		place->word[place->words++] = stacks->copy[i];
	}
	memcpy(place->registers, registers, sizeof place->registers);
	place->size = (uint32_t)size;
	place->number = ++stacks->last;
	stacks->next = (stacks->next + 1) % KEPT_STACKS;
	return place->number;
}

/* Forgets the stacks that were kept while code lay elsewhere, or in another run. */
static void stack_follow(struct stacks *stacks)
{
	uint32_t generation = process.generation;
	if (stacks->modules == modules_version() && stacks->generation == generation)
		return;
	stacks->modules = modules_version();
	stacks->generation = generation;
	for (uint32_t i = 0; i < KEPT_STACKS; i++)
		stacks->kept[i].number = 0;
}

/* ---- recording ------------------------------------------------------------------------------- */

static bool put_native(const struct rec_stack *head, const uint64_t *registers, const void *bytes)
{
	size_t size = sizeof *head;
	if (head->count)
		size += REGISTERS_BYTES + head->count;
	struct rec_stack *record =
		collect_reserve(REC_NATIVE_STACK, (unsigned)((size + REC_SLOT - 1) / REC_SLOT));
	if (!record)
		return false;
	uint16_t slots = record->head.slots;
	*record = *head;
	record->head.type = REC_NATIVE_STACK;
	record->head.slots = slots;
	if (head->count) {
		memcpy(record + 1, registers, REGISTERS_BYTES);
		memcpy((char *)(record + 1) + REGISTERS_BYTES, bytes, head->count);
	}
	collect_publish(record);
	return true;
}

static __attribute__((noinline)) void native_stack(struct spool *spool, enum rec_why why,
						   int64_t start, uint32_t correlation)
{
	uint64_t registers[REC_STACK_REGS];
	__asm__ volatile("leaq 0(%%rip), %%rax\n\t"
			 "movq %%rax, 0(%[to])\n\t"
			 "movq %%rsp, 8(%[to])\n\t"
			 "movq %%rbp, 16(%[to])\n\t"
			 "movq %%rbx, 24(%[to])\n\t"
			 "movq %%r12, 32(%[to])\n\t"
			 "movq %%r13, 40(%[to])\n\t"
			 "movq %%r14, 48(%[to])\n\t"
			 "movq %%r15, 56(%[to])\n\t"
			 : "=m"(registers)
			 : [to] "r"(registers)
			 : "rax", "memory");
	struct stacks *stacks = spool->stacks;
	if (!stacks)
		spool->stacks = stacks = sys_memory(sizeof *stacks);
	if (!stacks)
		return;
	stack_follow(stacks);
	uintptr_t top = registers[1], end = stack_end(top);
	size_t size = end - top < REC_STACK_BYTES ? end - top : REC_STACK_BYTES;
	long copied = sys_peek(process.pid, stacks->copy, (const void *)top, size);
	if (copied <= 0)
		return;
	struct rec_stack head = {
		.head.flags = (uint8_t)why,
		.time = start,
		.tid = spool->tid,
		.correlation = correlation,
	};
	/* A ring may overwrite the record that a number stands for: there each stack is recorded
	 * whole. */
	if (!spool->ring)
		head.number = stack_number_of(stacks, registers, (size_t)copied);
	if (!head.number) {
		/* All modules that the stack leads through must be known before it is kept. A stack
		 * that is the same as an earlier one leads through no other modules. */
		modules_scan();
		stack_follow(stacks);
		head.count = (uint32_t)copied;
		head.number = spool->ring ? 0 : stack_keep(stacks, registers, (size_t)copied);
	}
	if (!put_native(&head, registers, stacks->copy) && head.count)
		stack_forget_number(stacks, head.number);
}

#else

void stack_forget(struct spool *spool)
{
	(void)spool;
}

static void native_stack(struct spool *spool, enum rec_why why, int64_t start, uint32_t correlation)
{
	(void)spool;
	(void)why;
	(void)start;
	(void)correlation;
	modules_scan(); /* for python_stack */
}

#endif

/* Records the time that taking the stack cost the thread: predictions subtract it. */
static void put_cost(const struct spool *spool, int64_t begin, uint32_t correlation)
{
	struct rec_overhead *cost = collect_reserve(REC_OVERHEAD, 1);
	if (!cost)
		return;
	cost->head.value = REC_OVERHEAD_STACK;
	cost->start = begin;
	cost->duration = collect_now() - begin;
	cost->tid = spool->tid;
	cost->correlation = correlation;
	collect_publish(cost);
}

void collect_stack(enum rec_why why, int64_t start, uint32_t correlation)
{
	int saved = errno;
	int64_t begin = collect_now();
	struct spool *spool = spool_own();
	if (spool && !process.sealed) {
		uint64_t signals = sys_hold_signals();
		if (python_may_be_unloaded())
			modules_scan();
		python_stack(why, start, correlation);
		native_stack(spool, why, start, correlation);
		put_cost(spool, begin, correlation);
		sys_restore_signals(signals);
	}
	errno = saved;
}
