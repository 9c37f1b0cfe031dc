/* SPDX-License-Identifier: Apache-2.0 */
/* samples_test.c - CPU samples and scheduling from runs made by hand: who, where, when. */
#include "make_trace.h"

#include "read_spool.h"

static const int64_t epoch = SPOOL_EPOCH;
enum { MS = 1000 * 1000 };

static struct made_run recording(void)
{
	struct made_run run = make_run();
	run.control.recording = 1;
	return run;
}

static void put_registration(struct made_spool *spool, int64_t start)
{
	put_string(spool, 900, "/usr/bin/app");
	struct rec_process *process =
		put_record(spool, REC_PROCESS, 0, 0, sizeof(struct rec_process));
	process->start = epoch + start;
	process->pid = spool->pid;
	process->exe = 900;
	process->rank = process->local_rank = process->world = -1;
}

static void put_task(struct made_spool *spool, uint8_t flags, uint32_t pid, uint32_t tid,
		     int64_t time, uint32_t name)
{
	struct rec_task *task = put_record(spool, REC_TASK, flags, pid, sizeof *task);
	task->time = epoch + time;
	task->tid = tid;
	task->name = name;
}

static void put_switch(struct made_spool *spool, uint8_t flags, uint32_t pid, uint32_t tid,
		       int64_t time, uint32_t cpu)
{
	struct rec_switch *event = put_record(spool, REC_SWITCH, flags, cpu, sizeof *event);
	event->time = epoch + time;
	event->pid = pid;
	event->tid = tid;
}

struct extra {
	const uint64_t *addresses;
	uint32_t depth, kernel;
	const uint64_t *registers;
	const uint64_t *words;
	uint32_t bytes, stack;
	const struct rec_frame *frames;
	uint32_t n_frames;
};

static void put_sample(struct made_spool *spool, uint32_t pid, uint32_t tid, int64_t time,
		       struct extra extra)
{
	size_t chain = extra.depth * sizeof(uint64_t), registers = extra.stack ? 64 : 0,
	       frames = extra.n_frames * sizeof(struct rec_frame);
	struct rec_sample *sample = put_record(
		spool, REC_SAMPLE, 0, 3, sizeof *sample + chain + registers + extra.bytes + frames);
	sample->time = epoch + time;
	sample->pid = pid;
	sample->tid = tid;
	sample->weight = MS;
	sample->depth = extra.depth;
	sample->kernel = extra.kernel;
	sample->bytes = extra.bytes;
	sample->frames = extra.n_frames;
	sample->stack = extra.stack;
	char *to = (char *)(sample + 1);
	if (chain)
		memcpy(to, extra.addresses, chain);
	if (registers)
		memcpy(to + chain, extra.registers, registers);
	if (extra.bytes)
		memcpy(to + chain + registers, extra.words, extra.bytes);
	if (frames)
		memcpy(to + chain + registers + extra.bytes, extra.frames, frames);
}

static const struct hwy_strip *strip_of(const struct hwy_trace *trace, enum hwy_kind kind,
					int64_t tid)
{
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (strip->kind == (uint32_t)kind &&
		    trace->threads[trace->lanes[strip->lane].thread].tid == tid)
			return strip;
	}
	return NULL;
}

static uint32_t depth_of(const struct hwy_trace *trace, int64_t stack)
{
	uint32_t n = 0;
	for (; stack > 0; stack = trace->stacks[stack - 1].parent)
		n++;
	return n;
}

static const struct hwy_frame *frame_of(const struct hwy_trace *trace, int64_t stack, uint32_t at)
{
	while (at-- > 0)
		stack = trace->stacks[stack - 1].parent;
	return &trace->frames[trace->stacks[stack - 1].frame];
}

static const char *state_name(const struct hwy_trace *trace, const struct hwy_strip *strip,
			      uint32_t row)
{
	return hwy_str(trace, hwy_get(strip, HWY_NAME, row));
}

/* ---- where -------------------------------------------------------------------------------------- */

static void a_sample_has_a_cpu_a_weight_and_a_stack_of_kernel_native_and_python_frames(void **state)
{
	struct made_run run = recording();
	struct made_spool app = make_spool(&run, 50, 50, 0), parent = make_spool(&run, 0, 0, 0);
	put_registration(&app, 0);
	put_string(&parent, 1000, "train.py");
	put_string(&parent, 1001, "Model.forward");
	struct rec_code *code = put_record(&parent, REC_CODE, 0, 7, sizeof *code);
	code->filename = 1000;
	code->name = 1001;
	code->first_line = 12;
	code->python = 0x030b0000;
	uint64_t addresses[] = {UINT64_C(0xffffffff81000000), 0x401000, 0x402000};
	struct rec_frame frames[] = {{7, 14}};
	put_sample(&parent, 50, 51, 5 * MS,
		   (struct extra){.addresses = addresses,
				  .depth = 3,
				  .kernel = 1,
				  .frames = frames,
				  .n_frames = 1});
	end_spool(&app);
	end_spool(&parent);
	struct hwy_trace *trace = ingest(&run);
	const struct hwy_strip *strip = strip_of(trace, HWY_SAMPLE, 51);
	assert_non_null(strip);
	assert_int_equal(strip->rows, 1);
	assert_int_equal(hwy_get(strip, HWY_START, 0), 5 * MS);
	assert_int_equal(hwy_get(strip, HWY_CPU, 0), 4);
	assert_int_equal(hwy_get(strip, HWY_WEIGHT, 0), MS);
	assert_int_equal(hwy_get(strip, HWY_FLAGS, 0), HWY_FLAG_MARK);
	int64_t stack = hwy_get(strip, HWY_STACK, 0);
	assert_int_equal(depth_of(trace, stack), 4);
	assert_string_equal(hwy_str(trace, frame_of(trace, stack, 0)->module), "[kernel]");
	assert_true(frame_of(trace, stack, 0)->flags & HWY_FRAME_KERNEL);
	assert_int_equal(frame_of(trace, stack, 1)->address, 0x401000);
	const struct hwy_frame *python = frame_of(trace, stack, 3);
	assert_string_equal(hwy_str(trace, python->function), "Model.forward");
	assert_int_equal(python->line, 14);
	assert_int_equal(python->flags, HWY_FRAME_PYTHON);
	hwy_trace_free(trace);
}

static void a_stack_that_was_told_before_is_unwound_with_the_registers_of_now(void **state)
{
	struct made_run run = recording();
	struct made_spool app = make_spool(&run, 50, 50, 0), parent = make_spool(&run, 0, 0, 0);
	put_registration(&app, 0);
	put_string(&app, 1, "/no/such/app");
	struct rec_module *module = put_record(&app, REC_MODULE, 1, 0, sizeof *module);
	module->base = 0x400000;
	module->low = 0x400000;
	module->size = 0x10000;
	module->path = 1;
	/* rsp 0x7000: a local, then the saved rbp and the caller. */
	uint64_t words[] = {1, 0x7020, 0x402222, 5, 0, 0};
	uint64_t registers[8] = {0x401111, 0x7000, 0x7008};
	struct extra extra = {
		.registers = registers, .words = words, .bytes = sizeof words, .stack = 1};
	put_sample(&parent, 50, 50, 5 * MS, extra);
	registers[0] = 0x401119;
	extra.bytes = 0;
	put_sample(&parent, 50, 50, 6 * MS, extra);
	registers[1] = 0x9000; /* elsewhere: the number cannot be meant */
	put_sample(&parent, 50, 50, 7 * MS, extra);
	end_spool(&app);
	end_spool(&parent);
	struct hwy_trace *trace = ingest(&run);
	const struct hwy_strip *strip = strip_of(trace, HWY_SAMPLE, 50);
	assert_int_equal(strip->rows, 3);
	for (uint32_t row = 0; row < 2; row++) {
		int64_t stack = hwy_get(strip, HWY_STACK, row);
		assert_int_equal(depth_of(trace, stack), 2);
		assert_int_equal(frame_of(trace, stack, 0)->address, row ? 0x1119 : 0x1111);
		assert_int_equal(frame_of(trace, stack, 1)->address, 0x2221);
	}
	assert_int_equal(depth_of(trace, hwy_get(strip, HWY_STACK, 2)), 1);
	hwy_trace_free(trace);
}

/* ---- who ---------------------------------------------------------------------------------------- */

static void a_program_that_never_registered_is_a_process_by_the_kernels_word(void **state)
{
	struct made_run run = recording();
	struct made_spool parent = make_spool(&run, 0, 0, 0);
	put_string(&parent, 1000, "static");
	put_string(&parent, 1001, "worker");
	put_task(&parent, REC_TASK_EXEC | REC_TASK_NAME, 60, 60, 1 * MS, 1000);
	struct rec_task *fork = put_record(&parent, REC_TASK, REC_TASK_PROCESS, 61, sizeof *fork);
	fork->time = epoch + 2 * MS;
	fork->tid = 61;
	fork->parent = 60;
	put_task(&parent, REC_TASK_THREAD, 60, 62, 2 * MS, 0);
	put_task(&parent, REC_TASK_NAME, 60, 62, 2 * MS + 1, 1001);
	put_task(&parent, REC_TASK_PROCESS, 63, 63, 2 * MS, 0); /* never ran */
	put_sample(&parent, 60, 62, 3 * MS, (struct extra){0});
	put_sample(&parent, 61, 61, 4 * MS, (struct extra){0});
	put_task(&parent, REC_TASK_END, 60, 60, 9 * MS, 0);
	end_spool(&parent);
	struct hwy_trace *trace = ingest(&run);
	assert_int_equal(trace->n_processes, 2);
	assert_int_equal(trace->processes[0].pid, 60);
	assert_string_equal(hwy_str(trace, trace->processes[0].name), "static");
	assert_int_equal(trace->processes[0].start, 1 * MS);
	assert_int_equal(trace->processes[0].end, 9 * MS);
	assert_int_equal(trace->processes[1].pid, 61);
	assert_int_equal(trace->processes[1].parent, 0);
	assert_string_equal(hwy_str(trace, trace->processes[1].name), "static");
	const struct hwy_strip *strip = strip_of(trace, HWY_SAMPLE, 62);
	assert_string_equal(hwy_str(trace, trace->threads[trace->lanes[strip->lane].thread].name),
			    "worker");
	assert_int_equal(trace->n_diagnostics, 0);
	hwy_trace_free(trace);
}

static void a_sample_between_exec_and_registration_is_of_the_new_program(void **state)
{
	struct made_run run = recording();
	struct made_spool shell = make_spool(&run, 20, 20, 0),
			  program = make_spool(&run, 20, 20, 1), parent = make_spool(&run, 0, 0, 0);
	program.process = shell.process + 500;
	program.chunk->head.process = program.process;
	put_registration(&shell, 1 * MS);
	struct rec_range *mark = put_record(&shell, REC_MARK, 0, 900, REC_SLOT);
	mark->time = epoch + 1 * MS;
	struct rec_time *exit = put_record(&shell, REC_EXIT, REC_EXIT_EXEC, 0, sizeof *exit);
	exit->time = epoch + 2 * MS;
	put_registration(&program, 6 * MS);
	put_string(&parent, 1000, "app");
	put_task(&parent, REC_TASK_EXEC | REC_TASK_NAME, 20, 20, 3 * MS, 1000);
	put_sample(&parent, 20, 20, 2 * MS, (struct extra){0});
	put_sample(&parent, 20, 20, 4 * MS, (struct extra){0});
	put_sample(&parent, 20, 20, 8 * MS, (struct extra){0});
	end_spool(&shell);
	end_spool(&program);
	end_spool(&parent);
	struct hwy_trace *trace = ingest(&run);
	assert_int_equal(trace->n_processes, 2);
	assert_int_equal(trace->processes[1].start, 3 * MS);
	uint32_t samples[2] = {0, 0};
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (trace->strips[s].kind == HWY_SAMPLE)
			samples[trace->lanes[trace->strips[s].lane].process] +=
				trace->strips[s].rows;
	assert_int_equal(samples[0], 1);
	assert_int_equal(samples[1], 2);
	hwy_trace_free(trace);
}

/* ---- when --------------------------------------------------------------------------------------- */

static void states_of_a_thread_cover_its_life_whatever_the_order_of_the_rings(void **state)
{
	struct made_run run = recording();
	struct made_spool parent = make_spool(&run, 0, 0, 0);
	put_switch(&parent, REC_SWITCH_IN, 60, 61, 6 * MS, 1); /* another CPU's ring */
	put_switch(&parent, 0, 60, 61, 8 * MS, 1);
	put_task(&parent, REC_TASK_EXEC | REC_TASK_NAME, 60, 60, 1 * MS, 0);
	put_task(&parent, REC_TASK_THREAD, 60, 61, 2 * MS, 0);
	put_switch(&parent, REC_SWITCH_IN, 60, 61, 3 * MS, 0);
	put_switch(&parent, REC_SWITCH_PREEMPT, 60, 61, 5 * MS, 0);
	put_switch(&parent, REC_SWITCH_IN, 60, 61, 10 * MS, 0);
	put_task(&parent, REC_TASK_END, 60, 61, 11 * MS, 0);
	put_switch(&parent, 0, 60, 61, 11 * MS + 5, 0); /* the last one */
	put_switch(&parent, 0, 60, 60, 4 * MS, 1);
	end_spool(&parent);
	struct hwy_trace *trace = ingest(&run);
	const struct hwy_strip *strip = strip_of(trace, HWY_STATE, 61);
	static const struct {
		int64_t from, to;
		const char *name, *reason;
		int cpu;
	} want[] = {{2, 3, "runnable", "starting", 0},  {3, 5, "running", "", 1},
		    {5, 6, "runnable", "preempted", 1}, {6, 8, "running", "", 2},
		    {8, 10, "waiting", "", 2},          {10, 11, "running", "", 1}};
	assert_int_equal(strip->rows, 6);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(hwy_get(strip, HWY_START, i), want[i].from * MS);
		assert_int_equal(hwy_get(strip, HWY_DUR, i), (want[i].to - want[i].from) * MS);
		assert_string_equal(state_name(trace, strip, i), want[i].name);
		assert_string_equal(hwy_str(trace, hwy_get(strip, HWY_REASON, i)), want[i].reason);
		assert_int_equal(hwy_get(strip, HWY_CPU, i), want[i].cpu);
	}
	/* The main thread ran when it became the program, and never came back. */
	strip = strip_of(trace, HWY_STATE, 60);
	assert_int_equal(strip->rows, 2);
	assert_string_equal(state_name(trace, strip, 0), "running");
	assert_int_equal(hwy_get(strip, HWY_START, 0), 1 * MS);
	assert_string_equal(state_name(trace, strip, 1), "waiting");
	assert_int_equal(hwy_get(strip, HWY_FLAGS, 1), HWY_FLAG_UNFINISHED);
	hwy_trace_free(trace);
}

static void what_was_before_or_after_the_recording_is_left_out(void **state)
{
	struct made_run run = make_run();
	struct made_spool parent = make_spool(&run, 0, 0, 0);
	put_task(&parent, REC_TASK_EXEC | REC_TASK_NAME, 60, 60, 1 * MS, 0);
	for (uint32_t i = 0; i < 2; i++) { /* on at 10 and 30, off at 20 and 40 */
		struct rec_time *on = put_record(&parent, REC_RECORDING, 0, 1, sizeof *on);
		on->time = epoch + (10 + 20 * (int64_t)i) * MS;
		struct rec_time *off = put_record(&parent, REC_RECORDING, 0, 0, sizeof *off);
		off->time = epoch + (20 + 20 * (int64_t)i) * MS;
	}
	for (int64_t ms = 5; ms < 50; ms += 10)
		put_sample(&parent, 60, 60, ms * MS, (struct extra){0});
	put_switch(&parent, 0, 60, 60, 15 * MS, 0);
	put_switch(&parent, REC_SWITCH_IN, 60, 60, 35 * MS, 0);
	end_spool(&parent);
	struct hwy_trace *trace = ingest(&run);
	const struct hwy_strip *samples = strip_of(trace, HWY_SAMPLE, 60);
	assert_int_equal(samples->rows, 2);
	assert_int_equal(hwy_get(samples, HWY_START, 0), 15 * MS);
	assert_int_equal(hwy_get(samples, HWY_START, 1), 35 * MS);
	const struct hwy_strip *states = strip_of(trace, HWY_STATE, 60);
	static const int64_t from[] = {10, 15, 30, 35}, to[] = {15, 20, 35, 40};
	assert_int_equal(states->rows, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(hwy_get(states, HWY_START, i), from[i] * MS);
		assert_int_equal(hwy_get(states, HWY_DUR, i), (to[i] - from[i]) * MS);
	}
	hwy_trace_free(trace);
}

static void a_wake_up_leads_from_who_runs_to_who_runs_next(void **state)
{
	struct made_run run = recording();
	struct made_spool parent = make_spool(&run, 0, 0, 0);
	put_task(&parent, REC_TASK_EXEC | REC_TASK_NAME, 60, 60, 1 * MS, 0);
	put_task(&parent, REC_TASK_THREAD, 60, 61, 1 * MS, 0);
	put_switch(&parent, REC_SWITCH_IN, 60, 61, 2 * MS, 1);
	put_switch(&parent, 0, 60, 61, 3 * MS, 1);
	put_switch(&parent, REC_SWITCH_IN, 60, 61, 6 * MS, 1);
	struct rec_wakeup *wakeup = put_record(&parent, REC_WAKEUP, 0, 0, sizeof *wakeup);
	wakeup->time = epoch + 5 * MS;
	wakeup->tid = 61;
	wakeup->by_pid = wakeup->by_tid = 60;
	put_task(&parent, REC_TASK_END, 60, 61, 8 * MS, 0);
	put_task(&parent, REC_TASK_END, 60, 60, 9 * MS, 0);
	end_spool(&parent);
	struct hwy_trace *trace = ingest(&run);
	assert_int_equal(trace->n_edges, 1);
	const struct hwy_strip *by = strip_of(trace, HWY_STATE, 60),
			       *woken = strip_of(trace, HWY_STATE, 61);
	assert_int_equal(trace->edges[0].kind, HWY_EDGE_WAKE);
	assert_int_equal(trace->edges[0].from, by->first);
	assert_int_equal(trace->edges[0].to, woken->first + 3);
	assert_int_equal(hwy_get(woken, HWY_START, 3), 6 * MS);
	hwy_trace_free(trace);
}

static void what_the_rings_lost_is_counted_with_its_reason(void **state)
{
	struct made_run run = recording();
	struct made_spool parent = make_spool(&run, 0, 0, 0);
	put_string(&parent, 1000, "no room in the kernel's ring");
	struct rec_drop *drop = put_record(&parent, REC_DROP, 0, 0, sizeof *drop);
	drop->count = 42;
	drop->reason = 1000;
	end_spool(&parent);
	struct hwy_trace *trace = ingest(&run);
	assert_int_equal(trace->n_drops, 1);
	assert_int_equal(trace->drops[0].count, 42);
	assert_string_equal(hwy_str(trace, trace->drops[0].reason), "no room in the kernel's ring");
	hwy_trace_free(trace);
}

static void samples_that_a_target_claims_are_not_believed(void **state)
{
	struct made_run run = recording();
	struct made_spool app = make_spool(&run, 50, 50, 0);
	put_registration(&app, 0);
	put_sample(&app, 50, 50, 5 * MS, (struct extra){0});
	end_spool(&app);
	struct hwy_trace *trace = ingest(&run);
	assert_null(strip_of(trace, HWY_SAMPLE, 50));
	hwy_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_sample_has_a_cpu_a_weight_and_a_stack_of_kernel_native_and_python_frames),
		cmocka_unit_test(a_stack_that_was_told_before_is_unwound_with_the_registers_of_now),
		cmocka_unit_test(a_program_that_never_registered_is_a_process_by_the_kernels_word),
		cmocka_unit_test(a_sample_between_exec_and_registration_is_of_the_new_program),
		cmocka_unit_test(states_of_a_thread_cover_its_life_whatever_the_order_of_the_rings),
		cmocka_unit_test(what_was_before_or_after_the_recording_is_left_out),
		cmocka_unit_test(a_wake_up_leads_from_who_runs_to_who_runs_next),
		cmocka_unit_test(what_the_rings_lost_is_counted_with_its_reason),
		cmocka_unit_test(samples_that_a_target_claims_are_not_believed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
