/* SPDX-License-Identifier: Apache-2.0 */
/* ingest_test.c - runs made by hand: every record. */
#include "ingest_records.h"

#include "ingest/python_lines.h"
#include "ingest/symbol_names.h"

/* ---- who is who -------------------------------------------------------------------------------- */

static void processes_have_names_parents_lives_and_ends(void **state)
{
	struct made_run run = make_run();
	struct made_spool parent = make_spool(&run, 10, 10, 0), child = make_spool(&run, 11, 11, 0),
			  journal = make_spool(&run, 0, 0, 0);
	put_process(&parent, 1, 100);
	put_process(&child, 10, 200);
	put_exit(&child, 0, 900);
	struct rec_status *status = put_record(&journal, REC_STATUS, 0, 10, sizeof *status);
	status->time = epoch + 1000;
	status->status = 9;
	put_string(&journal, 1, "host");
	put_text(&journal, REC_PROPERTY, 1, "box", 3);
	end_spool(&parent);
	end_spool(&child);
	end_spool(&journal);
	struct hwy_trace *trace = ingest(&run);
	assert_int_equal(trace->n_processes, 2);
	const struct hwy_process *first = &trace->processes[0], *second = &trace->processes[1];
	assert_int_equal(first->pid, 10);
	assert_string_equal(hwy_str(trace, first->name), "python3.11");
	assert_string_equal(hwy_str(trace, first->command), "python3 train.py '--name=it'\\''s'");
	assert_int_equal(first->start, 100);
	assert_int_equal(first->end, 1000);
	assert_int_equal(first->exit, 9);
	assert_true(was_said(trace, "process 10 was ended by signal 9"));
	assert_int_equal(second->parent, 0);
	assert_int_equal(second->end, 900);
	assert_true(second->exit == HWY_NONE);
	assert_string_equal(hwy_str(trace, trace->hosts[0].name), "box");
	assert_string_equal(hwy_property(trace, "command"), "python3 train.py '--name=it'\\''s'");
	hwy_trace_free(trace);
}

static void an_end_without_exit_handlers_is_told_of_where_there_was_a_device(void **state)
{
	struct made_run run = make_run();
	for (uint32_t p = 0; p < 3; p++) {
		struct made_spool spool = make_spool(&run, 60 + p, 60 + p, 0);
		put_process(&spool, 1, p);
		if (p != 0)
			put_record(&spool, REC_CONTEXT, 0, 1, sizeof(struct rec_context));
		if (p == 2) /* an exit handler that calls _exit */
			put_exit(&spool, 0, 800);
		put_exit(&spool, REC_EXIT_BARE, 900);
		end_spool(&spool);
	}
	struct hwy_trace *trace = ingest(&run);
	assert_int_equal(trace->n_processes, 3);
	assert_false(was_said(trace, "process 60 left"));
	assert_true(was_said(trace, "process 61 left without exit handlers"));
	assert_false(was_said(trace, "process 62 left"));
	hwy_trace_free(trace);
}

static void what_fork_leaves_before_exec_is_the_beginning_of_the_program(void **state)
{
	struct made_run run = make_run();
	struct made_spool shell = make_spool(&run, 20, 20, 0),
			  program = make_spool(&run, 20, 20, 1),
			  child = make_spool(&run, 21, 21, 0);
	program.process = shell.process + 500;
	program.chunk->head.process = program.process;
	put_process(&shell, 1, 20);
	put_exit(&shell, REC_EXIT_EXEC, 400);
	put_process(&program, 1, 520);
	put_process(&child, 20, 100); /* forked by the shell */
	end_spool(&shell);
	end_spool(&program);
	end_spool(&child);
	struct hwy_trace *trace = ingest(&run);
	assert_int_equal(trace->n_processes, 2);
	assert_int_equal(trace->processes[0].pid, 20);
	assert_int_equal(trace->processes[0].start, 20);
	assert_int_equal(trace->processes[1].parent, 0);
	hwy_trace_free(trace);
}

static void a_device_is_one_by_its_uuid(void **state)
{
	struct made_run run = make_run();
	for (uint32_t p = 0; p < 3; p++) {
		struct made_spool spool = make_spool(&run, 30 + p, 30 + p, 0);
		put_process(&spool, 1, p);
		put_string(&spool, 1, "NVIDIA H200");
		put_string(&spool, 2, p == 1 ? "0000:03:00.0" : "0000:1a:00.0");
		struct rec_device *device =
			put_record(&spool, REC_DEVICE, 0, 0, sizeof(struct rec_device));
		device->uuid[15] = p == 1 ? 7 : 9;
		device->name = 1;
		device->bus = 2;
		device->sms = 132;
		struct rec_work *work =
			put_record(&spool, REC_KERNEL, 0, 1, sizeof(struct rec_work));
		work->start = epoch + 10;
		work->stream = 7;
		work->context = 1;
		end_spool(&spool);
	}
	struct hwy_trace *trace = ingest(&run);
	assert_int_equal(trace->n_devices, 2);
	/* All called theirs 0: the bus numbers them. */
	assert_string_equal(hwy_str(trace, trace->devices[0].uuid),
			    "GPU-00000000-0000-0000-0000-000000000009");
	assert_int_equal(trace->devices[0].ordinal, 1);
	assert_int_equal(trace->devices[1].ordinal, 0);
	assert_int_equal(trace->devices[0].sms, 132);
	assert_int_equal(trace->n_streams, 3);
	assert_int_equal(trace->streams[0].device, 0);
	assert_int_equal(trace->streams[1].device, 1);
	assert_int_equal(trace->streams[2].device, 0);
	assert_int_equal(trace->streams[2].process, 2);
	hwy_trace_free(trace);
}

static void threads_are_named_by_the_program_before_the_kernel(void **state)
{
	struct made_run run = make_run();
	struct made_spool spool = make_spool(&run, 40, 40, 0);
	put_process(&spool, 1, 0);
	put_string(&spool, 1, "loader");
	put_string(&spool, 2, "python3");
	struct rec_name *name = put_record(&spool, REC_THREAD, 1, 41, sizeof *name);
	name->name = 1;
	name = put_record(&spool, REC_THREAD, 0, 41, sizeof *name);
	name->name = 2;
	end_spool(&spool);
	struct hwy_trace *trace = ingest(&run);
	assert_int_equal(trace->n_threads, 1);
	assert_int_equal(trace->threads[0].tid, 41);
	assert_string_equal(hwy_str(trace, trace->threads[0].name), "loader");
	hwy_trace_free(trace);
}

/* ---- events ------------------------------------------------------------------------------------ */

static void device_work_is_linked_to_its_calls_and_described(void **state)
{
	struct made_run run = make_run();
	struct made_spool spool = make_spool(&run, 50, 50, 0);
	put_process(&spool, 1, 0);
	struct rec_work *kernel = put_work(&spool, REC_KERNEL, 1, 200, 1, 13);
	kernel->shape = 5;
	kernel->graph = 4;
	kernel->node = 77;
	kernel->channel = rec_ref(2);
	kernel->launch_type = 1;
	kernel->channel_type = 2;
	struct rec_work *copy = put_work(&spool, REC_COPY, 10 | 3 << 8 | 0 << 16, 300, 2, 7);
	copy->bytes = 4096;
	copy->source_device = rec_ref(0);
	copy->target_device = rec_ref(1);
	struct rec_work *fill = put_work(&spool, REC_FILL, 0xff, 400, 3, 7);
	fill->bytes = 64;
	fill->memory_kind = 3;
	struct rec_work *graph = put_work(&spool, REC_GRAPH, 0, 500, 4, 7);
	graph->graph = 8;
	graph->graph_exec = 9;
	put_call(&spool, 211, 100, 1);
	put_cuda(&spool); /* definitions may come last */
	end_spool(&spool);
	struct hwy_trace *trace = ingest(&run);
	const struct hwy_strip *k = only(trace, HWY_KERNEL), *api = only(trace, HWY_API);
	assert_int_equal(hwy_get(k, HWY_LINK, 0), api->first + 1);
	assert_int_equal(hwy_get(k, HWY_START, 0), 200);
	assert_int_equal(hwy_get(k, HWY_DUR, 0), 20);
	assert_int_equal(hwy_get(k, HWY_GRAPH_NODE, 0), 77);
	assert_int_equal(hwy_get(k, HWY_CHANNEL, 0), 3);
	assert_int_equal(hwy_get(k, HWY_CHANNEL_TYPE, 0), 2);
	assert_int_equal(hwy_get(k, HWY_LAUNCH_TYPE, 0), 2);
	const struct hwy_shape *shape = &trace->shapes[hwy_get(k, HWY_SHAPE, 0) - 1];
	assert_int_equal(shape->grid_x, 80);
	assert_int_equal(shape->block_z, 3);
	assert_int_equal(shape->local_total, 99);
	const struct hwy_symbol *symbol = &trace->symbols[hwy_get(k, HWY_SYMBOL, 0) - 1];
	assert_string_equal(hwy_str(trace, symbol->mangled), "_Z3addILi4EEvPfi");
	assert_string_equal(name_of(trace, api, 0), "cudaLaunchKernel_v7000");
	assert_int_equal(hwy_get(api, HWY_RESULT, 0), 3);
	const struct hwy_strip *c = only(trace, HWY_COPY);
	assert_int_equal(hwy_get(c, HWY_DIRECTION, 0), HWY_P2P);
	assert_int_equal(hwy_get(c, HWY_SRC_MEMORY, 0), HWY_MEM_DEVICE);
	assert_int_equal(hwy_get(c, HWY_DST_MEMORY, 0), HWY_MEM_UNKNOWN);
	assert_int_equal(hwy_get(c, HWY_SRC_DEVICE, 0), 1);
	assert_int_equal(hwy_get(c, HWY_DST_DEVICE, 0), 2);
	assert_int_equal(hwy_get(c, HWY_CORR, 0), 2);
	assert_int_equal(hwy_get(only(trace, HWY_FILL), HWY_VALUE, 0), 0xff);
	assert_int_equal(hwy_get(only(trace, HWY_GRAPH), HWY_GRAPH_EXEC, 0), 9);
	const struct hwy_stream *stream = &trace->streams[trace->lanes[k->lane].stream];
	assert_int_equal(stream->number, 13);
	assert_int_equal(stream->priority, -5);
	assert_int_equal(stream->flags, 2);
	assert_int_equal(trace->streams[trace->lanes[c->lane].stream].flags, 3);
	hwy_trace_free(trace);
}

static void waits_meet_the_events_they_wait_for(void **state)
{
	struct made_run run = make_run();
	struct made_spool spool = make_spool(&run, 60, 60, 0);
	put_process(&spool, 1, 0);
	put_cuda(&spool);
	struct rec_sync *sync = put_record(&spool, REC_SYNC, HWY_SYNC_EVENT, 0, sizeof *sync);
	sync->start = epoch + 500;
	sync->duration = 100;
	sync->stream = UINT32_MAX;
	sync->context = 1;
	sync->event = 4;
	sync->event_sync = 31;
	struct rec_sync *event = put_record(&spool, REC_EVENT, 0, 0, sizeof *event);
	event->correlation = 9; /* no time of its own */
	event->stream = 13;
	event->context = 1;
	event->event = 4;
	event->event_sync = 31;
	put_call(&spool, 119, 400, 9);
	end_spool(&spool);
	struct hwy_trace *trace = ingest(&run);
	const struct hwy_strip *e = only(trace, HWY_EVENT), *s = only(trace, HWY_SYNC);
	assert_int_equal(hwy_get(e, HWY_START, 0), 400);
	assert_int_equal(hwy_get(e, HWY_FLAGS, 0), HWY_FLAG_MARK);
	assert_int_equal(hwy_get(s, HWY_SYNC_TYPE, 0), HWY_SYNC_EVENT);
	assert_int_equal(hwy_get(s, HWY_WAITED, 0), 0);
	assert_int_equal(trace->n_edges, 1);
	assert_int_equal(trace->edges[0].from, e->first);
	assert_int_equal(trace->edges[0].to, s->first);
	assert_int_equal(trace->edges[0].id, 31);
	assert_int_equal(lost(trace), 0);
	hwy_trace_free(trace);
}

static void memory_and_overhead_have_lanes_of_their_own(void **state)
{
	struct made_run run = make_run();
	struct made_spool spool = make_spool(&run, 61, 61, 0);
	put_process(&spool, 1, 0);
	struct rec_memory *memory = put_record(&spool, REC_MEMORY, 1, 3, sizeof *memory);
	memory->time = epoch + 5;
	memory->address = 0xfff0;
	memory->bytes = 1024;
	struct rec_overhead *overhead =
		put_record(&spool, REC_OVERHEAD, 0, 6 << 16, sizeof *overhead);
	overhead->start = epoch + 7;
	overhead->duration = 3;
	overhead->tid = 61;
	end_spool(&spool);
	struct hwy_trace *trace = ingest(&run);
	const struct hwy_strip *m = only(trace, HWY_MEMORY), *o = only(trace, HWY_OVERHEAD);
	assert_int_equal(hwy_get(m, HWY_OPERATION, 0), HWY_ALLOCATE);
	assert_int_equal(hwy_get(m, HWY_BYTES, 0), 1024);
	assert_int_equal(trace->lanes[m->lane].device, 0);
	assert_string_equal(name_of(trace, o, 0), "Command buffer full");
	assert_string_equal(hwy_str(trace, trace->lanes[o->lane].name), "cuda");
	hwy_trace_free(trace);
}

/* ---- NVTX -------------------------------------------------------------------------------------- */

static void ranges_nest_by_thread_and_domain(void **state)
{
	struct made_run run = make_run();
	struct made_spool spool = make_spool(&run, 70, 70, 0);
	put_process(&spool, 1, 0);
	put_string(&spool, 1, "outer");
	put_string(&spool, 2, "inner");
	put_string(&spool, 3, "library");
	put_range(&spool, REC_PUSH, 1, 10, 0);
	put_range(&spool, REC_PUSH, 2, 20, 5); /* another domain: closes after the outer one */
	put_range(&spool, REC_PUSH, 2, 30, 0);
	put_range(&spool, REC_POP, 0, 40, 0);
	put_range(&spool, REC_POP, 0, 50, 0);
	put_range(&spool, REC_POP, 0, 60, 5);
	put_range(&spool, REC_POP, 0, 70, 5); /* one too many */
	struct rec_naming *name = put_record(&spool, REC_NAME, REC_NAMED_DOMAIN, 3, sizeof *name);
	name->domain = 5;
	end_spool(&spool);
	struct hwy_trace *trace = ingest(&run);
	assert_int_equal(count(trace, HWY_RANGE), 3);
	assert_int_equal(trace->n_strips, 2);
	const struct hwy_strip *plain = &trace->strips[0], *library = &trace->strips[1];
	if (plain->rows == 1) {
		plain = &trace->strips[1];
		library = &trace->strips[0];
	}
	assert_string_equal(name_of(trace, plain, 0), "outer");
	assert_int_equal(hwy_get(plain, HWY_DUR, 0), 40);
	assert_int_equal(hwy_get(plain, HWY_DUR, 1), 10);
	assert_int_equal(hwy_get(library, HWY_DUR, 0), 40);
	assert_string_equal(hwy_str(trace, trace->lanes[library->lane].name), "library");
	assert_true(was_said(trace, "1 NVTX ranges began before"));
	hwy_trace_free(trace);
}

static void open_ranges_end_with_the_recording_or_the_process_and_say_so(void **state)
{
	for (int cut = 0; cut < 2; cut++) {
		struct made_run run = make_run();
		struct made_spool spool = make_spool(&run, 71, 71, 0);
		put_process(&spool, 1, 0);
		put_string(&spool, 1, "never ends");
		put_range(&spool, REC_PUSH, 1, 10, 0);
		struct rec_time *time = put_record(&spool, REC_RECORDING, 0, 0, sizeof *time);
		time->time = epoch + (cut ? 500 : 5);
		if (!cut) {
			time = put_record(&spool, REC_RECORDING, 0, 1, sizeof *time);
			time->time = epoch + 6;
		}
		time = put_record(&spool, REC_EXIT, 0, 0, sizeof *time);
		time->time = epoch + 900;
		end_spool(&spool);
		struct hwy_trace *trace = ingest(&run);
		const struct hwy_strip *range = only(trace, HWY_RANGE);
		assert_int_equal(hwy_get(range, HWY_DUR, 0), cut ? 490 : 890);
		assert_int_equal(hwy_get(range, HWY_FLAGS, 0), HWY_FLAG_UNFINISHED);
		hwy_trace_free(trace);
	}
}

static void start_and_end_meet_across_threads_in_either_order(void **state)
{
	struct made_run run = make_run();
	struct made_spool one = make_spool(&run, 72, 72, 0), two = make_spool(&run, 72, 73, 0);
	put_process(&one, 1, 0);
	put_string(&one, 1, "crossing");
	struct rec_range *range = put_record(&one, REC_RANGE_END, 0, 0, REC_SLOT);
	range->time = epoch + 90;
	range->id = 5;
	range = put_record(&two, REC_RANGE_START, 1, 1, sizeof *range);
	range->time = epoch + 20;
	range->id = 5;
	range->color = 0xff000000;
	range->payload_type = HWY_PAYLOAD_I32;
	range->payload = 0xfffffffe;
	range = put_record(&two, REC_MARK, 0, 1, REC_SLOT);
	range->time = epoch + 30;
	end_spool(&one);
	end_spool(&two);
	struct hwy_trace *trace = ingest(&run);
	assert_int_equal(count(trace, HWY_RANGE), 2);
	const struct hwy_strip *strip = &trace->strips[0];
	if (trace->lanes[strip->lane].type != HWY_LANE_STARTEND)
		strip = &trace->strips[1];
	assert_int_equal(hwy_get(strip, HWY_DUR, 0), 70);
	assert_int_equal(hwy_get(strip, HWY_COLOR, 0), INT64_C(0x1ff000000));
	assert_int_equal(hwy_get(strip, HWY_PAYLOAD, 0), -2);
	int64_t end_thread = hwy_get(strip, HWY_END_THREAD, 0) - 1;
	assert_int_equal(trace->threads[end_thread].tid, 72);
	assert_int_equal(trace->threads[trace->lanes[strip->lane].thread].tid, 73);
	hwy_trace_free(trace);
}

/* ---- names and lines --------------------------------------------------------------------------- */

static void kernel_names_are_shortened(void **state)
{
	static const char *const pairs[][2] = {
		{"void at::native::vectorized_add<4, at::Func<float>, (int)3>(int, float*)",
		 "vectorized_add"},
		{"void (anonymous namespace)::step<1>(int)", "step"},
		{"std::enable_if<(((8)>(0)))&&ns::convert<float>::exists, void>::type "
		 "ns::add_norm<float, 8>(float*, long)",
		 "add_norm"},
		{"plain_name", "plain_name"},
		{"ampere_sgemm_128x64_nn", "ampere_sgemm_128x64_nn"},
		{"ns::kernel(int (*)(float))", "kernel"},
		{"void a::b<c::d>::operator()<2>(int) const", "operator()"},
		{"a::operator<<(a::b&)", "operator<<"},
		{"void x::{lambda(int)#1}::f<void (*)(int)>(char)", "f"},
	};
	char brief[128];
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		symbol_names_shorten(pairs[i][0], brief);
		assert_string_equal(brief, pairs[i][1]);
	}
}

static struct rec_code *code_with(const uint8_t *table, uint32_t length, uint32_t python)
{
	struct rec_code *code = calloc(1, sizeof *code + length);
	code->first_line = 10;
	code->table_length = length;
	code->python = python;
	memcpy(code->table, table, length);
	return code;
}

/* def f(): x = [1,\n 2]; for … as CPython 3.10 and 3.11 compiled it, by hand from their documents. */
static void python_lines_come_from_the_tables(void **state)
{
	/* 4 bytes at +1, 6 at -2, 2 without a line, 8 at +5 */
	static const uint8_t old[] = {4, 1, 6, 0xfe, 2, 0x80, 8, 5};
	struct rec_code *code = code_with(old, sizeof old, 0x030a00f0);
	assert_int_equal(python_lines_find(code, 0), 11);
	assert_int_equal(python_lines_find(code, 3), 11);
	assert_int_equal(python_lines_find(code, 4), 9);
	assert_int_equal(python_lines_find(code, 10), 0);
	assert_int_equal(python_lines_find(code, 12), 14);
	assert_int_equal(python_lines_find(code, 99), 0);
	free(code);
	/* short form, one unit; one-line form +2, two units; no columns, +35 (varint), one unit; long, -3;
	 * none */
	static const uint8_t now[] = {0x80 | 3 << 3,
				      0x11,
				      0x80 | 12 << 3 | 1,
				      1,
				      2,
				      0x80 | 13 << 3,
				      0x40 | (70 & 63),
				      70 >> 6,
				      0x80 | 14 << 3,
				      3 << 1 | 1,
				      0,
				      1,
				      2,
				      0x80 | 15 << 3};
	code = code_with(now, sizeof now, 0x030b00f0);
	assert_int_equal(python_lines_find(code, 0), 10);
	assert_int_equal(python_lines_find(code, 2), 12);
	assert_int_equal(python_lines_find(code, 5), 12);
	assert_int_equal(python_lines_find(code, 6), 47);
	assert_int_equal(python_lines_find(code, 8), 44);
	assert_int_equal(python_lines_find(code, 10), 0);
	assert_int_equal(python_lines_find(code, -1), 10);
	free(code);
	code = code_with(now, 0, 0x030b00f0);
	assert_int_equal(python_lines_find(code, 77), 77); /* no table: the line itself */
	free(code);
}

static void stacks_join_calls_by_thread_and_correlation(void **state)
{
	struct made_run run = make_run();
	struct made_spool spool = make_spool(&run, 85, 85, 0);
	put_process(&spool, 1, 0);
	put_cuda(&spool);
	put_string(&spool, 20, "/src/train.py");
	put_string(&spool, 21, "step");
	put_string(&spool, 22, "<module>");
	for (uint32_t id = 1; id <= 2; id++) {
		struct rec_code *code = put_record(&spool, REC_CODE, 0, id, 34);
		code->filename = 20;
		code->name = 20 + id;
		code->first_line = (int32_t)id * 100;
		code->table_length = 2;
		code->python = 0x030b07f0;
		code->table[0] = 0x80 | 11 << 3; /* one unit, one line on */
	}
	struct {
		struct rec_stack head;
		struct rec_frame frames[2];
	} *stack = put_record(&spool, REC_PYTHON_STACK, REC_WHY_WAIT, 2, sizeof *stack);
	stack->head.tid = 85;
	stack->head.correlation = 2;
	stack->head.count = 2;
	stack->frames[0].code = 1;
	stack->frames[1].code = 2;
	put_call(&spool, 211, 100, 1);
	put_call(&spool, 211, 200, 2);
	struct rec_api *other = put_call(&spool, 211, 300, 2);
	other->tid = 86; /* another thread's */
	end_spool(&spool);
	struct hwy_trace *trace = ingest(&run);
	const struct hwy_strip *api = &trace->strips[0];
	assert_int_equal(api->rows, 2);
	assert_int_equal(hwy_get(api, HWY_STACK, 0), 0);
	int64_t at = hwy_get(api, HWY_STACK, 1);
	assert_true(at > 0);
	const struct hwy_frame *leaf = &trace->frames[trace->stacks[at - 1].frame];
	assert_string_equal(hwy_str(trace, leaf->function), "step");
	assert_string_equal(hwy_str(trace, leaf->file), "/src/train.py");
	assert_int_equal(leaf->line, 101);
	assert_int_equal(leaf->flags, HWY_FRAME_PYTHON);
	at = trace->stacks[at - 1].parent;
	assert_int_equal(trace->frames[trace->stacks[at - 1].frame].line, 201);
	assert_int_equal(trace->stacks[at - 1].parent, 0);
	assert_int_equal(hwy_get(&trace->strips[1], HWY_STACK, 0), 0);
	hwy_trace_free(trace);
}

/* ---- a spool that went from thread to thread ------------------------------------------------- */

static void put_owner(struct made_spool *spool, uint32_t tid, int64_t time)
{
	struct rec_time *owner = put_record(spool, REC_OWNER, 0, tid, sizeof *owner);
	owner->time = epoch + time;
}

static void ranges_of_an_ended_thread_do_not_reach_the_next_thread_of_its_spool(void **state)
{
	struct made_run run = make_run();
	struct made_spool spool = make_spool(&run, 76, 77, 0);
	put_process(&spool, 1, 0);
	put_string(&spool, 1, "left open");
	put_string(&spool, 2, "whole");
	put_range(&spool, REC_PUSH, 1, 10, 0);
	put_owner(&spool, 78, 20);
	put_range(&spool, REC_PUSH, 2, 30, 0);
	put_range(&spool, REC_POP, 0, 40, 0);
	put_range(&spool, REC_POP, 0, 50, 0); /* not of the other thread's range */
	put_exit(&spool, 0, 100);
	end_spool(&spool);
	struct hwy_trace *trace = ingest(&run);
	assert_int_equal(count(trace, HWY_RANGE), 2);
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		bool is_open = strcmp(name_of(trace, strip, 0), "left open") == 0;
		const struct hwy_lane *lane = &trace->lanes[strip->lane];
		assert_int_equal(trace->threads[lane->thread].tid, is_open ? 77 : 78);
		assert_int_equal(hwy_get(strip, HWY_DUR, 0), is_open ? 90 : 10);
		assert_int_equal(hwy_get(strip, HWY_FLAGS, 0), is_open ? HWY_FLAG_UNFINISHED : 0);
	}
	assert_true(was_said(trace, "1 NVTX ranges began before"));
	hwy_trace_free(trace);
}

static void a_spool_of_an_older_version_is_read_and_one_of_a_newer_is_not(void **state)
{
	for (uint32_t version = 0; version <= REC_VERSION + 1; version++) {
		struct made_run run = make_run();
		struct made_spool spool = make_spool(&run, 79, 79, 0);
		spool.chunk->head.version = version;
		put_process(&spool, 1, 0);
		end_spool(&spool);
		struct hwy_trace *trace = ingest(&run);
		bool is_known = version >= REC_OLDEST_VERSION && version <= REC_VERSION;
		assert_int_equal(trace->n_processes, is_known);
		assert_int_equal(lost(trace), !is_known);
		hwy_trace_free(trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_have_names_parents_lives_and_ends),
		cmocka_unit_test(an_end_without_exit_handlers_is_told_of_where_there_was_a_device),
		cmocka_unit_test(what_fork_leaves_before_exec_is_the_beginning_of_the_program),
		cmocka_unit_test(a_device_is_one_by_its_uuid),
		cmocka_unit_test(threads_are_named_by_the_program_before_the_kernel),
		cmocka_unit_test(device_work_is_linked_to_its_calls_and_described),
		cmocka_unit_test(waits_meet_the_events_they_wait_for),
		cmocka_unit_test(memory_and_overhead_have_lanes_of_their_own),
		cmocka_unit_test(ranges_nest_by_thread_and_domain),
		cmocka_unit_test(open_ranges_end_with_the_recording_or_the_process_and_say_so),
		cmocka_unit_test(start_and_end_meet_across_threads_in_either_order),
		cmocka_unit_test(kernel_names_are_shortened),
		cmocka_unit_test(python_lines_come_from_the_tables),
		cmocka_unit_test(stacks_join_calls_by_thread_and_correlation),
		cmocka_unit_test(
			ranges_of_an_ended_thread_do_not_reach_the_next_thread_of_its_spool),
		cmocka_unit_test(a_spool_of_an_older_version_is_read_and_one_of_a_newer_is_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
