/* SPDX-License-Identifier: Apache-2.0 */
/* place_test.c - where a span comes from: stacks, traced functions, ranges. */
#include "make_trace.h"

#include "analyze/place.h"
#include "analyze/place_between.h"
#include "recordings.h"

struct toy_frame {
	const char *function, *module, *file;
	int64_t line, flags;
};

/* A stack, given from the innermost frame; yields its index plus one. */
static int64_t add_stack(struct small *small, const struct toy_frame *frames, uint32_t n)
{
	int64_t parent = 0;
	for (uint32_t i = n; i-- > 0;) {
		struct hwy_frame frame = {
			.function = hwy_text_id(small->builder, frames[i].function),
			.module = hwy_text_id(small->builder, frames[i].module),
			.file = hwy_text_id(small->builder, frames[i].file),
			.line = frames[i].line,
			.flags = frames[i].flags,
		};
		struct hwy_stack node = {.parent = parent,
					 .frame = hwy_add_frame(small->builder, &frame)};
		parent = 1 + (int64_t)hwy_add_stack(small->builder, node);
	}
	return parent;
}

static void add_call(struct small *small, int64_t start, int64_t end, const char *name,
		     int64_t stack)
{
	struct hwy_row row = {0};
	row.v[HWY_START] = start;
	row.v[HWY_DUR] = end - start;
	row.v[HWY_CORR] = start;
	row.v[HWY_NAME] = hwy_text_id(small->builder, name);
	row.v[HWY_STACK] = stack;
	hwy_add_span(small->builder, small_lane(small, HWY_LANE_API), HWY_API, &row);
}

struct open {
	struct hwy_trace *trace;
	struct hwy_places *places;
};

static struct open open_places(struct small *small)
{
	struct hwy_err err;
	struct open open = {.trace = small_finish(small)};
	open.places = places_open(open.trace, &err);
	assert_non_null(open.places);
	return open;
}

static void done(struct open *open)
{
	places_close(open->places);
	hwy_trace_free(open->trace);
}

/* The id of the nth span of a kind. */
static uint32_t nth(const struct hwy_trace *trace, enum hwy_kind kind, uint32_t n)
{
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (trace->strips[s].kind == kind)
			return trace->strips[s].first + n;
	fail();
	return 0;
}

static struct hwy_place place_of_stack(const struct toy_frame *frames, uint32_t n,
				       struct open *open)
{
	struct small small = small_new();
	add_call(&small, 0, 10, "cudaStreamSynchronize_v3020", add_stack(&small, frames, n));
	*open = open_places(&small);
	return place_of(open->places, nth(open->trace, HWY_API, 0));
}

static void the_innermost_python_frame_outside_of_libraries_is_the_place(void **state)
{
	static const struct toy_frame frames[] = {
		{"cudaStreamSynchronize", "/usr/lib/libcudart.so.13", "", 0, 0},
		{"at::native::item", "/x/site-packages/torch/lib/libtorch_cpu.so", "", 0, 0},
		{"item", "", "/x/lib/python3.12/site-packages/torch/_tensor.py", 9,
		 HWY_FRAME_PYTHON},
		{"step", "", "/home/u/train.py", 23, HWY_FRAME_PYTHON},
		{"main", "", "/home/u/train.py", 90, HWY_FRAME_PYTHON},
	};
	struct open open;
	struct hwy_place place = place_of_stack(frames, 5, &open);
	assert_string_equal(place.file, "/home/u/train.py");
	assert_int_equal(place.line, 23);
	assert_string_equal(place.function, "step");
	assert_string_equal(place.api, "cudaStreamSynchronize");
	assert_string_equal(place_line(open.places, 0).at, "train.py:23 step");
	done(&open);
}

static void generated_code_and_calls_of_modules_are_no_place(void **state)
{
	static const struct toy_frame frames[] = {
		{"call", "", "/tmp/torchinductor_u/ab/cab.py", 990, HWY_FRAME_PYTHON},
		{"GPT.blocks.3", "Block", "", 0, HWY_FRAME_PYTHON | HWY_FRAME_LAYER},
		{"step", "", "/home/u/train.py", 23, HWY_FRAME_PYTHON},
	};
	struct open open;
	struct hwy_place place = place_of_stack(frames, 3, &open);
	assert_string_equal(place.file, "/home/u/train.py");
	assert_int_equal(place.line, 23);
	done(&open);
	/* The thread of backward operators has generated code only. */
	place = place_of_stack(frames, 1, &open);
	assert_int_equal(place.line, 990);
	done(&open);
}

/* A kernel of a graph that was captured at 20 and is launched at 100. */
static struct hwy_place place_of_node(struct small *small, int64_t stack, struct open *open)
{
	uint32_t stream = small_stream(small, small_device(small, 0), 7);
	uint32_t ranges = small_lane(small, HWY_LANE_RANGE), node = hwy_new_nodes(small->builder);
	small_span(small, ranges, HWY_RANGE, 10, 30, 0, "layer");
	small_span(small, ranges, HWY_RANGE, 90, 200, 0, "step");
	hwy_builder_trace(small->builder)->nodes[node] =
		(struct hwy_node){.process = small->process,
				  .thread = small->thread,
				  .node = 5,
				  .time = 20,
				  .stack = stack};
	static const struct toy_frame replay[] = {
		{"replay", "", "/home/u/train.py", 50, HWY_FRAME_PYTHON}};
	add_call(small, 100, 110, "cudaGraphLaunch_v10000", add_stack(small, replay, 1));
	struct hwy_row row = {0};
	row.v[HWY_START] = 120;
	row.v[HWY_DUR] = 10;
	row.v[HWY_CORR] = 100;
	row.v[HWY_GRAPH_NODE] = 5;
	hwy_add_span(small->builder, stream, HWY_KERNEL, &row);
	*open = open_places(small);
	return place_of(open->places, nth(open->trace, HWY_KERNEL, 0));
}

static void a_kernel_of_a_graph_is_from_the_line_that_captured_it(void **state)
{
	static const struct toy_frame capture[] = {
		{"forward", "", "/home/u/model.py", 7, HWY_FRAME_PYTHON}};
	struct small small = small_new();
	struct open open;
	struct hwy_place place = place_of_node(&small, add_stack(&small, capture, 1), &open);
	assert_string_equal(place.file, "/home/u/model.py");
	assert_int_equal(place.line, 7);
	assert_string_equal(place.range, "step > layer");
	assert_string_equal(place.api, "cudaGraphLaunch");
	assert_string_equal(place_line(open.places, nth(open.trace, HWY_KERNEL, 0)).at,
			    "model.py:7 forward");
	done(&open);
}

static void without_a_stack_of_the_capture_the_launch_has_the_line(void **state)
{
	struct small small = small_new();
	struct open open;
	struct hwy_place place = place_of_node(&small, 0, &open);
	assert_string_equal(place.file, "/home/u/train.py");
	assert_string_equal(place.range, "step > layer");
	done(&open);
}

static void a_program_of_its_own_comes_before_the_libraries_it_calls(void **state)
{
	static const struct toy_frame frames[] = {
		{"cudaMemcpy", "/home/u/app", "", 0, 0},
		{"cublasGemm", "/opt/libcublas.so.13", "", 0, 0},
		{"solve(int)", "/home/u/app", "solve.cu", 40, 0},
		{"main", "/home/u/app", "main.cu", 7, 0},
		{"__libc_start_main", "/usr/lib/libc.so.6", "", 0, 0},
	};
	struct open open;
	struct hwy_place place = place_of_stack(frames, 5, &open);
	assert_string_equal(place.file, "solve.cu");
	assert_int_equal(place.line, 40);
	done(&open);
}

static void a_kernel_is_launched_where_it_is_called_not_in_its_stub(void **state)
{
	static const struct toy_frame frames[] = {
		{.function = "cudaLaunchKernel", .module = "/bin/graphs"},
		{.function = "__device_stub__Z4tinyPi(int*)",
		 .module = "/bin/graphs",
		 .file = "/usr/include/crt/device_functions.h",
		 .line = 2963},
		{.function = "tiny(int*)",
		 .module = "/bin/graphs",
		 .file = "graphs.cu",
		 .line = 12},
		{.function = "main", .module = "/bin/graphs", .file = "graphs.cu", .line = 60},
	};
	struct open open;
	struct hwy_place place = place_of_stack(frames, 4, &open);
	assert_string_equal(place.function, "main");
	assert_int_equal(place.line, 60);
	done(&open);
}

static void without_a_frame_of_its_own_it_is_the_way_python_entered_the_framework(void **state)
{
	static const struct toy_frame frames[] = {
		{"0x7f", "/usr/lib/libcuda.so.580", "", 0, HWY_FRAME_UNRESOLVED},
		{"at::native::item", "/x/site-packages/torch/lib/libtorch_cpu.so", "", 0, 0},
		{"THPVariable_item", "/x/site-packages/torch/lib/libtorch_python.so", "", 0, 0},
		{"0x55", "/usr/bin/python3.12", "", 0, HWY_FRAME_UNRESOLVED},
		{"_PyEval_EvalFrameDefault", "/usr/bin/python3.12", "", 0, 0},
		{"_start", "/usr/bin/python3.12", "", 0, 0},
	};
	struct open open;
	struct hwy_place place = place_of_stack(frames, 6, &open);
	assert_string_equal(place.file, "");
	assert_string_equal(place.function, "THPVariable_item");
	assert_string_equal(place_line(open.places, 0).at, "THPVariable_item libtorch_python.so");
	done(&open);
}

static void functions_that_a_tracer_recorded_are_a_stack(void **state)
{
	struct small small = small_new();
	uint32_t calls = small_lane(&small, HWY_LANE_CALL);
	small_span(&small, calls, HWY_CALL, 0, 100, 0, "threading.py(1032): _bootstrap");
	small_span(&small, calls, HWY_CALL, 1, 99, 0, "train.py(23): step");
	small_span(&small, calls, HWY_CALL, 2, 98, 0, "torch/_tensor.py(5): item");
	small_span(&small, calls, HWY_CALL, 3, 97, 0,
		   "<built-in method item of Tensor object at 0x7f01>");
	add_call(&small, 10, 20, "cudaStreamSynchronize", 0);
	struct open open = open_places(&small);
	uint32_t call = nth(open.trace, HWY_API, 0);
	struct hwy_place place = place_of(open.places, call);
	assert_string_equal(place.file, "train.py");
	assert_int_equal(place.line, 23);
	assert_string_equal(place.function, "step");
	assert_string_equal(place_line(open.places, call).at, "train.py(23): step item()");
	done(&open);
}

static void a_call_of_a_library_is_no_function_of_the_program(void **state)
{
	struct small small = small_new();
	struct hwy_lane lane = hwy_lane_of(HWY_LANE_CALL, small.process, small.thread);
	lane.name = hwy_text_id(small.builder, "cuBLAS");
	uint32_t library = hwy_add_lane(small.builder, lane);
	uint32_t own = small_lane(&small, HWY_LANE_CALL);
	small_span(&small, library, HWY_CALL, 2, 98, 0, "cublasSgemm_v2");
	small_span(&small, own, HWY_CALL, 1, 99, 0, "train.py(23): step");
	add_call(&small, 10, 20, "cudaLaunchKernel", 0);
	struct open open = open_places(&small);
	assert_true(hwy_lane_is_library(open.trace, library));
	assert_false(hwy_lane_is_library(open.trace, own));
	struct hwy_place place = place_of(open.places, nth(open.trace, HWY_API, 0));
	assert_string_equal(place.function, "step");
	assert_int_equal(place.line, 23);
	done(&open);
}

static void a_function_that_has_ended_is_not_around_a_call(void **state)
{
	struct small small = small_new();
	uint32_t calls = small_lane(&small, HWY_LANE_CALL);
	small_span(&small, calls, HWY_CALL, 0, 100, 0, "train.py(23): step");
	small_span(&small, calls, HWY_CALL, 1, 40, 0, "model.py(7): forward");
	/* The tracer did not see that next() raised. */
	small_span(&small, calls, HWY_CALL, 2, 90, 0, "<built-in function next>");
	add_call(&small, 50, 60, "cudaStreamSynchronize", 0);
	struct open open = open_places(&small);
	struct hwy_place place = place_of(open.places, nth(open.trace, HWY_API, 0));
	assert_string_equal(place.file, "train.py");
	assert_int_equal(place.line, 23);
	done(&open);
}

static void without_a_stack_the_ranges_around_are_the_place(void **state)
{
	struct small small = small_new();
	uint32_t ranges = small_lane(&small, HWY_LANE_RANGE), ops = small_lane(&small, HWY_LANE_OP);
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	for (int64_t i = 0; i < 2; i++) {
		int64_t at = i * 100;
		char name[16];
		snprintf(name, sizeof name, "step_%d", (int)i);
		small_span(&small, ranges, HWY_RANGE, at, at + 90, 0, name);
		small_span(&small, ranges, HWY_RANGE, at + 1, at + 5, 0, "before");
		small_span(&small, ranges, HWY_RANGE, at + 10, at + 80, 0, "forward");
		small_span(&small, ops, HWY_OP, at + 12, at + 70, 0, "aten::linear");
		small_span(&small, ops, HWY_OP, at + 13, at + 60, 0, "aten::addmm");
		add_call(&small, at + 20, at + 30, "cudaLaunchKernel_v7000", 0);
		small_span(&small, stream, HWY_KERNEL, at + 40, at + 50, at + 20, "k");
	}
	struct open open = open_places(&small);
	struct hwy_place a = place_of(open.places, nth(open.trace, HWY_API, 0));
	struct hwy_place b = place_of(open.places, nth(open.trace, HWY_KERNEL, 1));
	assert_string_equal(a.range, "step_0 > forward > aten::linear");
	assert_string_equal(b.range, "step_1 > forward > aten::linear");
	assert_string_equal(b.api, "cudaLaunchKernel"); /* of the call that enqueued it */
	assert_string_equal(a.file, "");
	assert_true(place_equal(&a, &b));
	b.api = "cudaMemcpyAsync";
	assert_false(place_equal(&a, &b));
	assert_string_equal(place_line(open.places, nth(open.trace, HWY_API, 0)).at, "aten::addmm");
	done(&open);
}

static void ranges_of_xla_are_called_as_jax_calls_them(void **state)
{
	struct small small = small_new();
	uint32_t ranges = small_lane(&small, HWY_LANE_RANGE);
	small_span(&small, ranges, HWY_RANGE, 0, 100, 0, "epoch");
	small_span(&small, ranges, HWY_RANGE, 1, 50, 0,
		   "XlaModule:#prefix=jit(step)/jvp,hlo_module=jit_step,program_id=12#");
	small_span(&small, ranges, HWY_RANGE, 2, 40, 0,
		   "Thunk:#name=jit(step)/add,hlo_op=loop_add_fusion.3,unique_hlo_op_id=1#");
	small_span(&small, ranges, HWY_RANGE, 60, 90, 0, "XlaCompile:#module=jit_step#");
	small_span(&small, ranges, HWY_RANGE, 61, 89, 0,
		   "XlaPass:#name=fusion,module=jit_step,program_id=13#");
	add_call(&small, 10, 20, "cuLaunchKernel", 0);
	add_call(&small, 70, 80, "cuModuleLoadData", 0);
	struct open open = open_places(&small);
	assert_string_equal(place_of(open.places, nth(open.trace, HWY_API, 0)).range,
			    "epoch > jit(step) > loop_add_fusion.3");
	assert_string_equal(place_of(open.places, nth(open.trace, HWY_API, 1)).range,
			    "epoch > compile jit(step)");
	assert_string_equal(place_line(open.places, nth(open.trace, HWY_API, 0)).at,
			    "loop_add_fusion.*");
	done(&open);
}

/* Stacks are recorded of some launches only. */
static void a_function_of_jax_has_the_line_that_calls_it(void **state)
{
	static const struct toy_frame step[] = {
		{"cache_miss", "", "/x/site-packages/jax/pjit.py", 7, HWY_FRAME_PYTHON},
		{"step", "", "/home/me/train.py", 12, HWY_FRAME_PYTHON}};
	static const struct toy_frame other[] = {
		{"cache_miss", "", "/x/site-packages/jax/pjit.py", 7, HWY_FRAME_PYTHON},
		{"loss", "", "/home/me/train.py", 30, HWY_FRAME_PYTHON}};
	struct small small = small_new();
	uint32_t ranges = small_lane(&small, HWY_LANE_RANGE);
	for (int64_t at = 0; at < 300; at += 100) {
		small_span(&small, ranges, HWY_RANGE, at, at + 50, 0,
			   "XlaModule:#hlo_module=jit_step,program_id=12#");
		add_call(&small, at + 10, at + 20, "cuLaunchKernel",
			 at == 100 ? add_stack(&small, step, 2) : 0);
		small_span(&small, ranges, HWY_RANGE, at + 60, at + 90, 0,
			   "XlaModule:#hlo_module=jit_mul,program_id=13#");
		add_call(&small, at + 70, at + 80, "cuLaunchKernel",
			 at < 200 ? add_stack(&small, at ? step : other, 2) : 0);
	}
	small_span(&small, ranges, HWY_RANGE, 300, 350, 0, "XlaCompile:#module=jit_step#");
	struct open open = open_places(&small);
	struct hwy_place place = place_of(open.places, nth(open.trace, HWY_API, 4));
	assert_string_equal(place.file, "/home/me/train.py");
	assert_int_equal(place.line, 12);
	assert_string_equal(place.range, "jit(step)");
	/* The compilation of a function stands where the function is called. */
	place = place_of(open.places, nth(open.trace, HWY_RANGE, 6));
	assert_int_equal(place.line, 12);
	/* jit(mul) is called at two lines. */
	place = place_of(open.places, nth(open.trace, HWY_API, 5));
	assert_string_equal(place.file, "");
	done(&open);
}

/* The recorder gives some of the copies that XLA's threads make the stack of the thread that runs Python. */
static void a_copy_of_xla_has_the_line_of_copies_like_it(void **state)
{
	static const struct toy_frame fetch[] = {
		{"__float__", "", "/x/site-packages/jax/_src/array.py", 7, HWY_FRAME_PYTHON},
		{"train", "", "/home/me/train.py", 14, HWY_FRAME_PYTHON}};
	for (int has_xla = 0; has_xla < 2; has_xla++) {
		struct small small = small_new();
		small_span(&small, small_lane(&small, HWY_LANE_RANGE), HWY_RANGE, 0, 5, 0,
			   has_xla ? "XlaModule:#hlo_module=jit_step,program_id=12#" : "step");
		add_call(&small, 10, 20, "cuMemcpyDtoHAsync_v2", add_stack(&small, fetch, 2));
		add_call(&small, 30, 40, "cuMemcpyDtoHAsync_v2", 0);
		add_call(&small, 50, 60, "cuMemcpyHtoDAsync_v2", 0);
		add_call(&small, 70, 80, "cuLaunchKernel", 0);
		struct open open = open_places(&small);
		for (uint32_t i = 1; i < 4; i++) {
			struct hwy_place place = place_of(open.places, nth(open.trace, HWY_API, i));
			assert_int_equal(place.line, has_xla && i == 1 ? 14 : 0);
		}
		done(&open);
	}
}

static void places_are_equal_by_file_and_line(void **state)
{
	struct hwy_place a = {"train.py", 12, "step", "", "step_1", "cudaMalloc"};
	struct hwy_place b = {"train.py", 12, "step", "", "step_2 > x", "cudaFree"};
	struct hwy_place c = {"train.py", 13, "step", "", "step_1", "cudaMalloc"};
	struct hwy_place d = {"", 0, "", "", "step_1", "cudaMalloc"};
	struct hwy_place e = {"", 0, "", "", "step_", "cudaMalloc"};
	assert_true(place_equal(&a, &b));
	assert_false(place_equal(&a, &c));
	assert_false(place_equal(&a, &d));
	assert_false(place_equal(&d, &e));
}

static void any_span_of_any_trace_has_a_place_or_none(void **state)
{
	for (uint64_t seed = 1; seed < 20; seed++) {
		struct hwy_trace *trace = random_trace(seed, 30, 300);
		struct hwy_err err;
		struct hwy_places *places = places_open(trace, &err);
		assert_non_null(places);
		for (uint32_t id = 0; id <= trace->n_spans; id++) {
			struct hwy_place place = place_of(places, id);
			assert_non_null(place.file);
			assert_non_null(place.range);
			assert_true(place_equal(&place, &place));
			assert_non_null(place_line(places, id).at);
		}
		places_close(places);
		hwy_trace_free(trace);
	}
}

/* nsys's call chains name no Python line, but the method that Python called. */
static void the_wait_of_a_recording_with_call_chains_is_an_item_of_a_tensor(void **state)
{
	char *folder = make_folder();
	struct hwy_trace *trace = recording_open("nsys/mlp_backtrace.sqlite.xz", folder);
	drop_folder(folder);
	if (!trace)
		skip();
	struct hwy_err err;
	struct hwy_places *places = places_open(trace, &err);
	unsigned found = 0;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		for (uint32_t row = 0;
		     trace->strips[s].kind == HWY_API && row < trace->strips[s].rows; row++) {
			struct hwy_place place = place_of(places, trace->strips[s].first + row);
			found += strcmp(place.api, "cudaStreamSynchronize") == 0 &&
				 strstr(place.function, "THPVariable_item") != NULL;
		}
	assert_true(found >= 5);
	places_close(places);
	hwy_trace_free(trace);
}

/* ---- between two calls ---------------------------------------------------------------------------- */

#define PY HWY_FRAME_PYTHON
#define TRAIN "/home/u/train.py"

/* What lies between a call with one stack and a later call with another. */
static bool between_stacks(const struct toy_frame *a, uint32_t n_a, const struct toy_frame *b,
			   uint32_t n_b, struct place_between *between, struct open *open)
{
	struct small small = small_new();
	add_call(&small, 0, 10, "cuLaunchKernel", add_stack(&small, a, n_a));
	add_call(&small, 1000, 1010, "cudaMemcpyAsync", add_stack(&small, b, n_b));
	*open = open_places(&small);
	uint32_t first = nth(open->trace, HWY_API, 0);
	return place_between(open->trace, first, first + 1, between);
}

static void work_between_two_calls_lies_between_two_lines_of_one_function(void **state)
{
	(void)state;
	static const struct toy_frame launch[] = {
		{"add", "", "/x/site-packages/cupy/core.py", 7, PY},
		{"main", "", TRAIN, 53, PY},
		{"<module>", "", TRAIN, 90, PY}};
	static const struct toy_frame copy[] = {{"cudaMemcpyAsync", "libcudart.so", "", 0, 0},
						{"exchange", "", TRAIN, 37, PY},
						{"main", "", TRAIN, 55, PY},
						{"<module>", "", TRAIN, 90, PY}};
	struct place_between between;
	struct open open;
	assert_true(between_stacks(launch, 3, copy, 4, &between, &open));
	assert_string_equal(between.file, TRAIN);
	assert_string_equal(between.function, "main");
	assert_int_equal(between.from, 53);
	assert_int_equal(between.to, 55);
	done(&open);
}

static void stacks_that_do_not_tell_what_lies_between_are_left_alone(void **state)
{
	(void)state;
	static const struct toy_frame late[] = {{"main", "", TRAIN, 55, PY}},
				      early[] = {{"main", "", TRAIN, 53, PY}},
				      other[] = {{"serve", "", TRAIN, 70, PY}},
				      library[] = {{"run", "", "/x/site-packages/torch/a.py", 5,
						    PY}},
				      further[] = {{"run", "", "/x/site-packages/torch/a.py", 9,
						    PY}},
				      native[] = {{"main", "a.out", "a.c", 3, 0}};
	static const struct {
		const struct toy_frame *before, *after;
	} cases[] = {{late, early},      {early, early}, {early, other},
		     {library, further}, {native, late}, {early, native}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct place_between between;
		struct open open;
		assert_false(
			between_stacks(cases[i].before, 1, cases[i].after, 1, &between, &open));
		done(&open);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_is_launched_where_it_is_called_not_in_its_stub),
		cmocka_unit_test(the_innermost_python_frame_outside_of_libraries_is_the_place),
		cmocka_unit_test(generated_code_and_calls_of_modules_are_no_place),
		cmocka_unit_test(a_kernel_of_a_graph_is_from_the_line_that_captured_it),
		cmocka_unit_test(without_a_stack_of_the_capture_the_launch_has_the_line),
		cmocka_unit_test(a_program_of_its_own_comes_before_the_libraries_it_calls),
		cmocka_unit_test(
			without_a_frame_of_its_own_it_is_the_way_python_entered_the_framework),
		cmocka_unit_test(functions_that_a_tracer_recorded_are_a_stack),
		cmocka_unit_test(a_call_of_a_library_is_no_function_of_the_program),
		cmocka_unit_test(a_function_that_has_ended_is_not_around_a_call),
		cmocka_unit_test(without_a_stack_the_ranges_around_are_the_place),
		cmocka_unit_test(ranges_of_xla_are_called_as_jax_calls_them),
		cmocka_unit_test(a_function_of_jax_has_the_line_that_calls_it),
		cmocka_unit_test(a_copy_of_xla_has_the_line_of_copies_like_it),
		cmocka_unit_test(places_are_equal_by_file_and_line),
		cmocka_unit_test(any_span_of_any_trace_has_a_place_or_none),
		cmocka_unit_test(the_wait_of_a_recording_with_call_chains_is_an_item_of_a_tensor),
		cmocka_unit_test(work_between_two_calls_lies_between_two_lines_of_one_function),
		cmocka_unit_test(stacks_that_do_not_tell_what_lies_between_are_left_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
