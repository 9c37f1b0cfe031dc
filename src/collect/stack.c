/* stack.c - where a call came from: the Python stack, and what is needed to unwind the native one.
 *
 * Unwinding is the parent's work, which has time and libraries for it: here registers and a piece of the
 * stack are copied. The copy goes through the kernel, so that a stack of unknown extent (a fiber's) cannot
 * fault.
 */
#include <errno.h>
#include <string.h>

#include "collect/collect.h"
#include "collect/process.h"
#include "collect/python.h"
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

static __attribute__((noinline)) void native_stack(enum rec_why why, int64_t start,
						   uint32_t correlation)
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
	uintptr_t at = registers[1], end = stack_end(at);
	size_t size = end - at < REC_STACK_BYTES ? end - at : REC_STACK_BYTES;
	size_t bytes = sizeof(struct rec_stack) + REGISTERS_BYTES + size;
	struct rec_stack *record =
		collect_reserve(REC_NATIVE_STACK, (unsigned)((bytes + REC_SLOT - 1) / REC_SLOT));
	if (!record)
		return;
	record->head.flags = (uint8_t)why;
	record->time = start;
	record->tid = collect_tid();
	record->correlation = correlation;
	memcpy(record + 1, registers, REGISTERS_BYTES);
	long copied = sys_peek(process.pid, (char *)(record + 1) + REGISTERS_BYTES,
			       (const void *)at, size);
	record->count = copied > 0 ? (uint32_t)copied : 0;
	collect_publish();
}

#else

static void native_stack(enum rec_why why, int64_t start, uint32_t correlation)
{
	(void)why;
	(void)start;
	(void)correlation;
}

#endif

void collect_stack(enum rec_why why, int64_t start, uint32_t correlation)
{
	int saved = errno;
	if (spool_own()) {
		modules_scan();
		python_stack(why, start, correlation);
		native_stack(why, start, correlation);
	}
	errno = saved;
}
