/* SPDX-License-Identifier: Apache-2.0 */
/* ingest_memory_test.c - what a report takes of memory while it is made: a call into the operating system, and a
 * process whose stacks are unwound. The bounds have room to spare, for other allocators and page sizes. */
#include "make_trace.h"

#include <link.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "ingest/spools.h"
#include "read_spool.h"

#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0 /* AddressSanitizer keeps freed memory, so that nothing could be measured */
#endif

static const int64_t epoch = SPOOL_EPOCH;

static void begin(struct made_spool *spool)
{
	struct rec_process *process = put_record(spool, REC_PROCESS, 0, 0, sizeof *process);
	process->start = epoch;
	process->pid = spool->pid;
	process->parent = 1;
	put_string(spool, 1, "read");
	put_string(spool, 2, "write");
}

static void put_os(struct made_spool *spool, uint32_t name, int64_t start, int64_t duration,
		   uint64_t object, uint8_t flags)
{
	struct rec_os *record = put_record(spool, REC_OS, flags, name, sizeof *record);
	record->start = epoch + start;
	record->duration = duration;
	record->object = object;
}

/* The most memory that a process of its own has while it makes the trace of a run, in bytes; the run is removed. */
static uint64_t peak_of(const struct made_run *run)
{
	write_control(run);
	pid_t pid = fork();
	if (pid == 0) {
		struct hwy_err err;
		_exit(ingest_run(run->path, NULL, &err) ? 0 : 1);
	}
	int status;
	struct rusage usage;
	assert_int_equal(wait4(pid, &status, 0, &usage), pid);
	assert_int_equal(status, 0);
	remove_run(run);
	return (uint64_t)usage.ru_maxrss * 1024;
}

/* ---- calls into the operating system
 * ---------------------------------------------------------------------------- */

/* Two threads, each writing to and reading from a pipe of its own, as records come: by their ends. */
static uint64_t peak_of_calls(uint32_t calls)
{
	struct made_run run = make_run();
	for (uint32_t thread = 0; thread < 2; thread++) {
		struct made_spool spool = make_spool(&run, 7, 7 + thread, 0);
		begin(&spool);
		for (uint32_t i = 0; i < calls / 2; i += 2) {
			uint64_t pipe = UINT64_C(1) << 60 | thread;
			put_os(&spool, 2, 1000 + 700 * (int64_t)i, 300, pipe, REC_OS_WAKES);
			put_os(&spool, 1, 900 + 700 * (int64_t)i, 600, pipe, 0);
		}
		end_spool(&spool);
	}
	return peak_of(&run);
}

static void a_call_into_the_system_takes_few_bytes(void **state)
{
	(void)state;
	enum { FEW = 1000, MANY = 1001000, MOST_BYTES = 80 };
	if (IS_SANITIZED)
		skip();
	uint64_t few = peak_of_calls(FEW), many = peak_of_calls(MANY);
	print_message("%.1f bytes a call\n", (double)(many - few) / (MANY - FEW));
	assert_true(many - few < (uint64_t)MOST_BYTES * (MANY - FEW));
}

/* ---- processes with stacks
 * -------------------------------------------------------------------------------------- */

enum { STACK_BYTES = 2048, MOST_MODULES = 32 };

struct own_module {
	uint64_t base, low, high;
	char path[512];
};
struct own_stack { /* a stack of this test itself, and where its code is */
	uint64_t registers[REC_STACK_REGS];
	uint64_t words[STACK_BYTES / 8];
	struct own_module modules[MOST_MODULES];
	uint32_t n_modules;
};

static int note_module(struct dl_phdr_info *info, size_t size, void *into)
{
	(void)size;
	struct own_stack *own = into;
	struct own_module module = {.base = info->dlpi_addr, .low = UINT64_MAX};
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t low = info->dlpi_addr + segment->p_vaddr, high = low + segment->p_memsz;
		if (segment->p_type != PT_LOAD)
			continue;
		module.low = low < module.low ? low : module.low;
		module.high = high > module.high ? high : module.high;
	}
	ssize_t length = own->n_modules == 0
				 ? readlink("/proc/self/exe", module.path, sizeof module.path - 1)
				 : snprintf(module.path, sizeof module.path, "%s", info->dlpi_name);
	if (length > 0 && module.path[0] == '/' && own->n_modules < MOST_MODULES)
		own->modules[own->n_modules++] = module;
	return 0;
}

__attribute__((noinline, no_sanitize_address)) static void innermost(struct own_stack *own)
{
	ucontext_t context;
	getcontext(&context);
	static const int order[REC_STACK_REGS] = {REG_RIP, REG_RSP, REG_RBP, REG_RBX,
						  REG_R12, REG_R13, REG_R14, REG_R15};
	for (int i = 0; i < REC_STACK_REGS; i++)
		own->registers[i] = (uint64_t)context.uc_mcontext.gregs[order[i]];
	const volatile uint64_t *stack = (const volatile uint64_t *)own->registers[1];
	for (uint32_t i = 0; i < STACK_BYTES / 8; i++)
		own->words[i] = stack[i];
}

__attribute__((noinline)) static void outer(struct own_stack *own)
{
	innermost(own);
	dl_iterate_phdr(note_module, own);
}

/* The address that code would have if everything had been loaded 'shift' bytes further up. */
static uint64_t shifted(const struct own_stack *own, uint64_t address, uint64_t shift)
{
	for (uint32_t i = 0; i < own->n_modules; i++)
		if (address >= own->modules[i].low && address < own->modules[i].high)
			return address + shift;
	return address;
}

static void put_own_stack(struct made_spool *spool, const struct own_stack *own, uint64_t shift)
{
	for (uint32_t i = 0; i < own->n_modules; i++) {
		put_string(spool, 10 + i, own->modules[i].path);
		struct rec_module *module = put_record(spool, REC_MODULE, 0, 0, sizeof *module);
		module->base = own->modules[i].base + shift;
		module->low = own->modules[i].low + shift;
		module->size = own->modules[i].high - own->modules[i].base;
		module->path = 10 + i;
	}
	struct rec_stack *stack =
		put_record(spool, REC_NATIVE_STACK, REC_WHY_OS, 0,
			   sizeof *stack + sizeof own->registers + sizeof own->words);
	stack->time = epoch + 1000;
	stack->tid = spool->tid;
	stack->count = sizeof own->words;
	uint64_t *to = (uint64_t *)(stack + 1);
	for (int i = 0; i < REC_STACK_REGS; i++)
		*to++ = i == 0 ? shifted(own, own->registers[i], shift) : own->registers[i];
	for (uint32_t i = 0; i < STACK_BYTES / 8; i++)
		*to++ = shifted(own, own->words[i], shift);
}

/* Ends a spool and cuts it to the size that the spool of a short process has. */
static void end_short_spool(const struct made_run *run, struct made_spool *spool)
{
	enum { BYTES = 8 * 1024 };
	char path[512];
	assert_true(spool->used * REC_SLOT <= BYTES);
	end_spool(spool);
	snprintf(path, sizeof path, "%s/%u.%u.0.spool", run->path, spool->pid, spool->tid);
	assert_int_equal(truncate(path, BYTES), 0);
}

/* A run of processes that made the same call each, loaded at another address each. */
static struct made_run processes_with_stacks(uint32_t processes)
{
	struct own_stack own = {0};
	outer(&own);
	struct made_run run = make_run();
	for (uint32_t i = 0; i < processes; i++) {
		struct made_spool spool = make_spool(&run, 100 + i, 100 + i, 0);
		begin(&spool);
		put_own_stack(&spool, &own, (uint64_t)i << 21);
		put_os(&spool, 1, 1000, 100, 0, 0);
		end_short_spool(&run, &spool);
	}
	return run;
}

static void a_process_with_stacks_takes_little(void **state)
{
	(void)state;
	enum { FEW = 10, MANY = 310, MOST_BYTES = 40 * 1024 };
	if (IS_SANITIZED)
		skip();
	struct made_run run = processes_with_stacks(FEW);
	uint64_t few = peak_of(&run);
	run = processes_with_stacks(MANY);
	uint64_t many = peak_of(&run);
	print_message("%.0f bytes a process\n", (double)(many - few) / (MANY - FEW));
	assert_true(many - few < (uint64_t)MOST_BYTES * (MANY - FEW));
}

static uint32_t own_mappings(void)
{
	uint32_t lines = 0;
	FILE *maps = fopen("/proc/self/maps", "re");
	assert_non_null(maps);
	for (int c; (c = fgetc(maps)) != EOF;)
		lines += c == '\n';
	fclose(maps);
	return lines;
}

static void a_short_process_takes_no_mapping(void **state)
{
	(void)state;
	enum { PROCESSES = 200 };
	struct made_run run = processes_with_stacks(PROCESSES);
	struct spools spools;
	struct hwy_err err;
	write_control(&run);
	uint32_t before = own_mappings();
	assert_true(spools_open(&spools, run.path, &err));
	uint32_t after = own_mappings();
	assert_int_equal(spools.n_files, PROCESSES);
	assert_int_equal(spools.damaged, 0);
	assert_true(after < before + PROCESSES / 2);
	spools_close(&spools);
	remove_run(&run);
}

/* ---- less than all
 * ---------------------------------------------------------------------------------------------- */

static const char *function_at(const struct hwy_trace *trace, int64_t stack, uint32_t depth)
{
	for (; depth && stack > 0; depth--)
		stack = trace->stacks[stack - 1].parent;
	return stack > 0 ? hwy_str(trace, trace->frames[trace->stacks[stack - 1].frame].function)
			 : "";
}

static void a_stack_is_the_same_wherever_its_code_was_loaded(void **state)
{
	(void)state;
	enum { PROCESSES = 5 };
	struct made_run run = processes_with_stacks(PROCESSES);
	struct hwy_trace *trace = ingest(&run);
	int64_t first = 0;
	uint32_t seen = 0;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		if (trace->strips[s].kind != HWY_OS)
			continue;
		int64_t stack = hwy_get(&trace->strips[s], HWY_STACK, 0);
		first = first ? first : stack;
		assert_int_equal(stack, first);
		seen++;
	}
	assert_int_equal(seen, PROCESSES);
	assert_string_equal(function_at(trace, first, 0), "innermost");
	assert_string_equal(function_at(trace, first, 1), "outer");
	assert_string_equal(function_at(trace, first, 2), "processes_with_stacks");
	hwy_trace_free(trace);
}

static bool was_said(const struct hwy_trace *trace, const char *text)
{
	for (uint32_t i = 0; i < trace->n_diagnostics; i++)
		if (strstr(hwy_str(trace, trace->diagnostics[i].text), text))
			return true;
	return false;
}

static void stacks_may_be_left_out_and_that_is_said(void **state)
{
	(void)state;
	struct hwy_err err;
	struct made_run run = processes_with_stacks(1);
	write_control(&run);
	struct hwy_trace *trace = ingest_run_with(run.path, INGEST_STACKS_NONE, NULL, &err);
	assert_int_equal(trace->n_spans, 1);
	assert_int_equal(hwy_get(&trace->strips[0], HWY_STACK, 0), 0);
	assert_true(was_said(trace, "stacks were left out"));
	hwy_trace_free(trace);
	trace = ingest_run_with(run.path, INGEST_STACKS_PLAIN, NULL, &err);
	assert_int_equal(trace->n_spans, 1);
	int64_t stack = hwy_get(&trace->strips[0], HWY_STACK, 0);
	assert_string_equal(function_at(trace, stack, 0), "innermost");
	assert_int_equal(trace->frames[trace->stacks[stack - 1].frame].line, 0);
	assert_true(was_said(trace, "found by frame pointers"));
	hwy_trace_free(trace);
	remove_run(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_into_the_system_takes_few_bytes),
		cmocka_unit_test(a_process_with_stacks_takes_little),
		cmocka_unit_test(a_short_process_takes_no_mapping),
		cmocka_unit_test(stacks_may_be_left_out_and_that_is_said),
		cmocka_unit_test(a_stack_is_the_same_wherever_its_code_was_loaded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
