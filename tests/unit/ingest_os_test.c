/* SPDX-License-Identifier: Apache-2.0 */
/* ingest_os_test.c - calls into the operating system in runs made by hand: spans, nesting, stacks, wakers. */
#include "make_trace.h"

#include "read_spool.h"

static const int64_t epoch = SPOOL_EPOCH;

enum { PIPE = 1 };
#define OBJECT(kind, number) ((uint64_t)(kind) << 60 | (number))

static void begin(struct made_spool *spool, uint32_t parent)
{
	struct rec_process *process = put_record(spool, REC_PROCESS, 0, 0, sizeof *process);
	process->start = epoch;
	process->pid = spool->pid;
	process->parent = parent;
	put_string(spool, 1, "wait");
	put_string(spool, 2, "wake");
}

static struct rec_os *put_os(struct made_spool *spool, uint32_t name, int64_t start,
			     int64_t duration, uint64_t object, uint8_t flags)
{
	struct rec_os *record = put_record(spool, REC_OS, flags, name, sizeof *record);
	record->start = epoch + start;
	record->duration = duration;
	record->object = object;
	return record;
}

/* The strip of a thread's calls. */
static const struct hwy_strip *cuda_calls_flags(const struct hwy_trace *trace, int64_t tid)
{
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_lane *lane = &trace->lanes[trace->strips[s].lane];
		if (trace->strips[s].kind == HWY_OS && lane->type == HWY_LANE_OS &&
		    trace->threads[lane->thread].tid == tid)
			return &trace->strips[s];
	}
	fail_msg("no calls of %lld", (long long)tid);
	return NULL;
}

/* When the call began that woke this one; -1: nobody knows. */
static int64_t woken_by(const struct hwy_trace *trace, const struct hwy_strip *strip, uint32_t row)
{
	for (uint32_t e = 0; e < trace->n_edges; e++) {
		if (trace->edges[e].kind != HWY_EDGE_WAKE ||
		    trace->edges[e].to != (int64_t)strip->first + row)
			continue;
		for (uint32_t s = 0; s < trace->n_strips; s++) {
			int64_t at = trace->edges[e].from - (int64_t)trace->strips[s].first;
			if (at >= 0 && at < trace->strips[s].rows)
				return hwy_get(&trace->strips[s], HWY_START, (uint32_t)at);
		}
	}
	return -1;
}

static void calls_nest_in_those_around_them(void **state)
{
	(void)state;
	struct made_run run = make_run();
	struct made_spool spool = make_spool(&run, 7, 7, 0);
	begin(&spool, 1);
	put_os(&spool, 1, 120, 10, 0, 0); /* records come when calls end: inner ones first */
	put_os(&spool, 1, 110, 30, 0, 0);
	put_os(&spool, 1, 100, 100, 0x10, 0);
	put_os(&spool, 2, 200, 5, 0, 0);
	end_spool(&spool);
	struct hwy_trace *trace = ingest(&run);
	const struct hwy_strip *os = cuda_calls_flags(trace, 7);
	assert_int_equal(os->rows, 4);
	static const int64_t starts[] = {100, 110, 120, 200}, nestings[] = {0, 1, 2, 0};
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(hwy_get(os, HWY_START, i), starts[i]);
		assert_int_equal(hwy_get(os, HWY_NESTING, i), nestings[i]);
	}
	assert_int_equal(hwy_get(os, HWY_ADDRESS, 0), 0x10);
	assert_string_equal(hwy_str(trace, hwy_get(os, HWY_NAME, 3)), "wake");
	hwy_trace_free(trace);
}

static void slices_of_a_wait_for_pythons_lock_are_one_wait(void **state)
{
	(void)state;
	const uint8_t over = REC_OS_GIL | REC_OS_TIMED_OUT;
	const int64_t ms = 1000000;
	struct made_run run = make_run();
	struct made_spool main = make_spool(&run, 7, 7, 0), other = make_spool(&run, 7, 8, 0);
	begin(&main, 1);
	/* Made to give the lock away (0x20), two slices that were over, and the one that got the lock. */
	put_os(&main, 1, 1 * ms, ms, 0x20, REC_OS_GIL);
	put_os(&main, 1, 2 * ms + 1, 5 * ms, 0x10, over);
	put_os(&main, 1, 7 * ms + 2, 5 * ms, 0x10, over);
	put_os(&main, 1, 12 * ms + 3, ms, 0x10, REC_OS_GIL);
	/* It had the lock in between: another wait. */
	put_os(&main, 1, 13 * ms + 4, ms, 0x10, REC_OS_GIL);
	/* Over, and much later another one. */
	put_os(&main, 1, 20 * ms, ms, 0x10, over);
	put_os(&main, 1, 30 * ms, ms, 0x10, REC_OS_GIL);
	put_os(&main, 1, 40 * ms, ms, 0x30, 0);
	put_os(&other, 2, 13 * ms - 5, 2, 0x10, REC_OS_WAKES);
	end_spool(&main);
	end_spool(&other);
	struct hwy_trace *trace = ingest(&run);
	const struct hwy_strip *os = cuda_calls_flags(trace, 7);
	assert_int_equal(os->rows, 5);
	assert_int_equal(hwy_get(os, HWY_START, 0), ms);
	assert_int_equal(hwy_end(os, 0), 13 * ms + 3);
	assert_int_equal(woken_by(trace, os, 0), 13 * ms - 5);
	for (uint32_t i = 0; i < 4; i++)
		assert_string_equal(hwy_str(trace, hwy_get(os, HWY_NAME, i)), HWY_GIL_NAME);
	assert_int_equal(hwy_get(os, HWY_START, 1), 13 * ms + 4);
	assert_int_equal(hwy_get(os, HWY_START, 3), 30 * ms);
	assert_string_equal(hwy_str(trace, hwy_get(os, HWY_NAME, 4)), "wait");
	hwy_trace_free(trace);
}

static void a_wait_is_joined_to_the_last_wake_while_it_lasted(void **state)
{
	(void)state;
	struct made_run run = make_run();
	struct made_spool main = make_spool(&run, 7, 7, 0), other = make_spool(&run, 7, 8, 0);
	begin(&main, 1);
	put_os(&main, 1, 100, 100, 0x10, 0);
	put_os(&main, 2, 150, 1, 0x10, REC_OS_WAKES); /* its own */
	put_os(&main, 1, 300, 100, 0x10, 0);
	put_os(&main, 1, 500, 100, 0x20, 0);
	put_os(&other, 2, 90, 5, 0x10, REC_OS_WAKES); /* too early */
	put_os(&other, 2, 120, 5, 0x10, REC_OS_WAKES);
	put_os(&other, 2, 140, 5, 0x10, REC_OS_WAKES);
	put_os(&other, 2, 199, 50, 0x10, REC_OS_WAKES); /* returns after the wait is over */
	put_os(&other, 2, 410, 5, 0x10, REC_OS_WAKES);  /* too late */
	put_os(&other, 2, 550, 5, 0x10, REC_OS_WAKES);  /* another object */
	end_spool(&main);
	end_spool(&other);
	struct hwy_trace *trace = ingest(&run);
	const struct hwy_strip *os = cuda_calls_flags(trace, 7);
	assert_int_equal(os->rows, 4);
	assert_int_equal(woken_by(trace, os, 0), 199);
	assert_int_equal(woken_by(trace, os, 1), -1); /* a wake is no wait */
	assert_int_equal(woken_by(trace, os, 2), -1);
	assert_int_equal(woken_by(trace, os, 3), -1);
	assert_int_equal(trace->n_edges, 1);
	hwy_trace_free(trace);
}

static void pipes_join_processes_and_addresses_do_not(void **state)
{
	(void)state;
	struct made_run run = make_run();
	struct made_spool one = make_spool(&run, 7, 7, 0), two = make_spool(&run, 9, 9, 0);
	begin(&one, 1);
	begin(&two, 7);
	put_os(&one, 1, 100, 100, OBJECT(PIPE, 77), 0);
	put_os(&one, 1, 300, 100, 0x10, 0);
	put_os(&two, 2, 150, 1, OBJECT(PIPE, 77), REC_OS_WAKES);
	put_os(&two, 2, 350, 1, 0x10, REC_OS_WAKES);
	end_spool(&one);
	end_spool(&two);
	struct hwy_trace *trace = ingest(&run);
	const struct hwy_strip *os = cuda_calls_flags(trace, 7);
	assert_int_equal(woken_by(trace, os, 0), 150);
	assert_int_equal(woken_by(trace, os, 1), -1);
	hwy_trace_free(trace);
}

static void an_unfinished_call_gives_way_to_its_end(void **state)
{
	(void)state;
	struct made_run run = make_run();
	struct made_spool main = make_spool(&run, 7, 7, 0), other = make_spool(&run, 7, 8, 0);
	begin(&main, 1);
	for (int i = 0; i < 2; i++) { /* told by the main thread at the end, of two others */
		struct rec_os_of *told =
			put_record(&main, REC_OS, REC_OS_UNFINISHED, 1, sizeof *told);
		told->os.start = epoch + 100;
		told->os.duration = 50;
		told->tid = 8 + (uint32_t)i;
	}
	put_os(&other, 1, 100, 60, 0, 0); /* one of them came back after all */
	end_spool(&main);
	end_spool(&other);
	struct hwy_trace *trace = ingest(&run);
	const struct hwy_strip *came = cuda_calls_flags(trace, 8),
			       *stays = cuda_calls_flags(trace, 9);
	assert_int_equal(came->rows, 1);
	assert_int_equal(hwy_get(came, HWY_DUR, 0), 60);
	assert_int_equal(hwy_get(came, HWY_FLAGS, 0), 0);
	assert_int_equal(stays->rows, 1);
	assert_int_equal(hwy_get(stays, HWY_FLAGS, 0), HWY_FLAG_UNFINISHED);
	hwy_trace_free(trace);
}

static void calls_between_fork_and_exec_stand_in_the_program(void **state)
{
	(void)state;
	struct made_run run = make_run();
	struct made_spool child = make_spool(&run, 7, 7, 0);
	begin(&child, 1);
	put_os(&child, 1, 100, 10, 0, 0);
	struct rec_time *exec = put_record(&child, REC_EXIT, REC_EXIT_EXEC, 0, sizeof *exec);
	exec->time = epoch + 200;
	end_spool(&child);
	struct made_spool program = make_spool(&run, 7, 7, 1);
	program.process++;
	program.chunk->head.process++;
	struct rec_process *process = put_record(&program, REC_PROCESS, 0, 0, sizeof *process);
	process->start = epoch + 210;
	process->pid = 7;
	process->parent = 1;
	put_string(&program, 1, "read");
	put_os(&program, 1, 300, 10, 0, 0);
	end_spool(&program);
	struct hwy_trace *trace = ingest(&run);
	assert_int_equal(trace->n_processes, 1);
	const struct hwy_strip *os = cuda_calls_flags(trace, 7);
	assert_int_equal(os->rows, 2);
	assert_string_equal(hwy_str(trace, hwy_get(os, HWY_NAME, 0)), "wait");
	assert_string_equal(hwy_str(trace, hwy_get(os, HWY_NAME, 1)), "read");
	hwy_trace_free(trace);
}

static void put_frames(struct made_spool *spool, uint32_t tid, int64_t time, uint32_t code)
{
	struct {
		struct rec_stack head;
		struct rec_frame frame;
	} *stack = put_record(spool, REC_PYTHON_STACK, REC_WHY_OS, 1, sizeof *stack);
	stack->head.time = epoch + time;
	stack->head.tid = tid;
	stack->head.count = 1;
	stack->frame.code = code;
}

static void stacks_join_calls_by_thread_and_start(void **state)
{
	(void)state;
	struct made_run run = make_run();
	struct made_spool spool = make_spool(&run, 7, 7, 0), other = make_spool(&run, 7, 8, 0);
	begin(&spool, 1);
	put_string(&spool, 3, "first");
	put_string(&spool, 4, "second");
	for (uint32_t id = 1; id <= 2; id++) {
		struct rec_code *code = put_record(&spool, REC_CODE, 0, id, 32);
		code->name = 2 + id;
		code->first_line = (int32_t)id * 10;
		code->python = 0x030b07f0;
	}
	put_frames(&spool, 7, 100, 1);
	put_os(&spool, 1, 100, 10, 0, 0);
	put_frames(&spool, 7, 200, 2);
	put_os(&spool, 1, 200, 10, 0, 0);
	put_os(&spool, 1, 300, 10, 0, 0);
	put_os(&other, 1, 100, 10, 0, 0);
	end_spool(&spool);
	end_spool(&other);
	struct hwy_trace *trace = ingest(&run);
	const struct hwy_strip *os = cuda_calls_flags(trace, 7);
	static const char *const functions[] = {"first", "second"};
	for (uint32_t i = 0; i < 2; i++) {
		int64_t at = hwy_get(os, HWY_STACK, i);
		assert_true(at > 0);
		const struct hwy_frame *frame = &trace->frames[trace->stacks[at - 1].frame];
		assert_string_equal(hwy_str(trace, frame->function), functions[i]);
	}
	assert_int_equal(hwy_get(os, HWY_STACK, 2), 0);
	assert_int_equal(hwy_get(cuda_calls_flags(trace, 8), HWY_STACK, 0), 0);
	hwy_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_nest_in_those_around_them),
		cmocka_unit_test(slices_of_a_wait_for_pythons_lock_are_one_wait),
		cmocka_unit_test(a_wait_is_joined_to_the_last_wake_while_it_lasted),
		cmocka_unit_test(pipes_join_processes_and_addresses_do_not),
		cmocka_unit_test(an_unfinished_call_gives_way_to_its_end),
		cmocka_unit_test(calls_between_fork_and_exec_stand_in_the_program),
		cmocka_unit_test(stacks_join_calls_by_thread_and_start),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
