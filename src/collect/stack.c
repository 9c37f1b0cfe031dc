/* stack.c - where a call came from: the Python stack, and what is needed to unwind the native one.
 *
 * Unwinding is the parent's work, which has time and libraries for it: here registers and a piece of the
 * stack are copied. The copy goes through the kernel, so that a stack of unknown extent (a fiber's) cannot
 * fault.
 *
 * A loop comes from the same place each time, and 8 KiB each time would be most of what is recorded. A stack
 * is the same as an earlier one if it begins at the same address and all words that then pointed into
 * code still have their values: return addresses are among them, so the chain of callers is the same. Such
 * a stack is told by its number.
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
static const uintptr_t deepest = (uintptr_t)1 << 30; /* of a stack that we believe in */

/* Above the first frame of the main thread. */
static uintptr_t main_end;

static __attribute__((constructor)) void stack_begin(void)
{
	/* The environment that the kernel put there lies above the frames. */
	extern char **environ;
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0), end = (uintptr_t)environ;
	if (end > frame && end - frame < deepest)
		main_end = end;
}

/* The end of the stack that 'at' is on, as far as can be told: of the main thread, or of one that has its
 * thread block above its stack, as glibc puts it. */
static uintptr_t stack_end(uintptr_t at)
{
	uintptr_t block, end = UINTPTR_MAX;
	__asm__("movq %%fs:0, %0" : "=r"(block));
	if (block > at && block - at < deepest)
		end = block;
	if (main_end > at && main_end - at < deepest && main_end < end)
		end = main_end;
	return end;
}

/* ---- stacks told before ------------------------------------------------------------------------- */

enum { KNOWN = 16, MOST_WORDS = 192, STACK_WORDS = REC_STACK_BYTES / 8 };

struct known {                 /* empty: number 0 */
	uint64_t registers[2]; /* rip, rsp */
	uint32_t number;
	uint32_t size, words;
	uint16_t at[MOST_WORDS]; /* indexes of the words that point into code */
	uint64_t word[MOST_WORDS];
};

struct stacks {                     /* of one thread */
	uint32_t last;              /* number given */
	uint32_t next;              /* place to use next */
	uint64_t copy[STACK_WORDS]; /* the stack looked at */
	struct known known[KNOWN];
	const void *modules; /* modules_version of those: where code was when they were told */
};

void stack_forget(struct spool *spool)
{
	if (spool->stacks)
		sys_unmap(spool->stacks, sizeof *spool->stacks);
	spool->stacks = NULL;
}

static bool stack_is_same(const struct known *known, const uint64_t *registers,
			  const uint64_t *copy, size_t size)
{
	if (!known->number || known->registers[0] != registers[0] ||
	    known->registers[1] != registers[1] || known->size != size)
		return false;
	for (uint32_t i = 0; i < known->words; i++)
		if (copy[known->at[i]] != known->word[i])
			return false;
	return true;
}

static uint32_t stack_number_of(const struct stacks *stacks, const uint64_t *registers, size_t size)
{
	for (uint32_t i = 0; i < KNOWN; i++)
		if (stack_is_same(&stacks->known[i], registers, stacks->copy, size))
			return stacks->known[i].number;
	return 0;
}

/* A number whose stack found no room stands for nothing. */
static void unlearn(struct stacks *stacks, uint32_t number)
{
	for (uint32_t i = 0; i < KNOWN; i++)
		if (stacks->known[i].number == number)
			stacks->known[i].number = 0;
}

/* The number of a new stack; 0 if it has too many words to be told apart from others. */
static uint32_t remember(struct stacks *stacks, const uint64_t *registers, size_t size)
{
	struct known *place = &stacks->known[stacks->next];
	place->number = 0;
	place->words = 0;
	for (uint32_t i = 0; i < size / 8; i++) {
		if (!modules_hold_code(stacks->copy[i]))
			continue;
		if (place->words == MOST_WORDS)
			return 0;
		place->at[place->words] = (uint16_t)i;
		place->word[place->words++] = stacks->copy[i];
	}
	memcpy(place->registers, registers, sizeof place->registers);
	place->size = (uint32_t)size;
	place->number = ++stacks->last;
	stacks->next = (stacks->next + 1) % KNOWN;
	return place->number;
}

/* ---- telling ------------------------------------------------------------------------------------ */

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
	collect_publish();
	return true;
}

static __attribute__((noinline)) void native_stack(struct spool *spool, enum rec_why why,
						   int64_t start, uint32_t correlation)
{
	uint64_t registers[REC_STACK_REGS];
	__asm__ volatile("leaq 0(%%rip), %%rax\n\t"
			 "movq %%rax, 0(%0)\n\t"
			 "movq %%rsp, 8(%0)\n\t"
			 "movq %%rbp, 16(%0)\n\t"
			 "movq %%rbx, 24(%0)\n\t"
			 "movq %%r12, 32(%0)\n\t"
			 "movq %%r13, 40(%0)\n\t"
			 "movq %%r14, 48(%0)\n\t"
			 "movq %%r15, 56(%0)\n\t"
			 :
			 : "r"(registers)
			 : "rax", "memory");
	struct stacks *stacks = spool->stacks;
	if (!stacks)
		spool->stacks = stacks = sys_memory(sizeof *stacks);
	if (!stacks)
		return;
	if (stacks->modules != modules_version()) {
		stacks->modules = modules_version();
		for (uint32_t i = 0; i < KNOWN; i++)
			stacks->known[i].number = 0;
	}
	uintptr_t at = registers[1], end = stack_end(at);
	size_t size = end - at < REC_STACK_BYTES ? end - at : REC_STACK_BYTES;
	long copied = sys_peek(process.pid, stacks->copy, (const void *)at, size);
	if (copied <= 0)
		return;
	struct rec_stack head = {
		.head.flags = (uint8_t)why,
		.time = start,
		.tid = spool->tid,
		.correlation = correlation,
	};
	if (!spool->ring) /* what a number stands for could be overwritten there */
		head.number = stack_number_of(stacks, registers, (size_t)copied);
	if (!head.number) {
		head.count = (uint32_t)copied;
		head.number = spool->ring ? 0 : remember(stacks, registers, (size_t)copied);
	}
	if (!put_native(&head, registers, stacks->copy) && head.count)
		unlearn(stacks, head.number);
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
}

#endif

/* What it cost the thread: predictions take it out again. */
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
	collect_publish();
}

void collect_stack(enum rec_why why, int64_t start, uint32_t correlation)
{
	int saved = errno;
	int64_t begin = collect_now();
	struct spool *spool = spool_own();
	if (spool && !process.sealed) {
		uint64_t signals = sys_hold_signals();
		/* OS calls come from anywhere: osrt.c says when. */
		if (why != REC_WHY_OS)
			modules_scan();
		python_stack(why, start, correlation);
		native_stack(spool, why, start, correlation);
		put_cost(spool, begin, correlation);
		sys_restore_signals(signals);
	}
	errno = saved;
}
