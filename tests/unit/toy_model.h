/* SPDX-License-Identifier: Apache-2.0 */
/* toy_model.h - a made-up recording of a model for tests: modules, operators, a backward pass on a thread of its own, an
 * optimizer. Times are µs. Operators, launches and kernels are written one by one; each launch takes 2 µs and its
 * kernel runs where the test says.
 */
#ifndef HWY_TESTS_TOY_MODEL_H
#define HWY_TESTS_TOY_MODEL_H

#include "make_trace.h"

struct toy_model {
	struct small small;                     /* small.thread is the main thread */
	uint32_t op, range, call;               /* lanes of the main thread */
	uint32_t engine, engine_op, engine_api; /* the thread of the backward pass, and its lanes */
};

static inline struct toy_model toy_model_new(void)
{
	struct toy_model toy = {.small = small_machine()};
	toy.op = small_lane(&toy.small, HWY_LANE_OP);
	toy.range = small_lane(&toy.small, HWY_LANE_RANGE);
	toy.call = small_lane(&toy.small, HWY_LANE_CALL);
	uint32_t main_thread = toy.small.thread;
	small_other_thread(&toy.small);
	toy.engine = toy.small.thread;
	toy.engine_op = small_lane(&toy.small, HWY_LANE_OP);
	toy.engine_api = small_lane(&toy.small, HWY_LANE_API);
	toy.small.thread = main_thread;
	return toy;
}

/* A stack: train.py:LINE, then calls of modules, "path class" from the outermost to the innermost, NULL at the end. */
static inline int64_t toy_stack(struct toy_model *toy, int64_t line, const char *const *layers)
{
	struct hwy_builder *b = toy->small.builder;
	struct hwy_frame frame = {.function = hwy_text_id(b, "step"),
				  .file = hwy_text_id(b, "/home/u/train.py"),
				  .line = line,
				  .flags = HWY_FRAME_PYTHON};
	struct hwy_stack node = {.frame = hwy_add_frame(b, &frame)};
	int64_t stack = hwy_ref(hwy_add_stack(b, node));
	for (; layers && *layers; layers++) {
		char path[64];
		size_t n = strcspn(*layers, " ");
		snprintf(path, sizeof path, "%.*s", (int)n, *layers);
		frame = (struct hwy_frame){.function = hwy_text_id(b, path),
					   .module = hwy_text_id(b, *layers + n + 1),
					   .line = 1,
					   .flags = HWY_FRAME_PYTHON | HWY_FRAME_LAYER};
		node = (struct hwy_stack){.parent = stack, .frame = hwy_add_frame(b, &frame)};
		stack = hwy_ref(hwy_add_stack(b, node));
	}
	return stack;
}

static inline void toy_op_flagged(struct toy_model *toy, uint32_t lane, double from, double to,
				  const char *name, int64_t stack, int64_t flags)
{
	struct hwy_row row = {0};
	row.v[HWY_START] = (int64_t)(from * 1000);
	row.v[HWY_DUR] = (int64_t)((to - from) * 1000);
	row.v[HWY_NAME] = hwy_text_id(toy->small.builder, name);
	row.v[HWY_STACK] = stack;
	row.v[HWY_FLAGS] = flags;
	hwy_add_span(toy->small.builder, lane, HWY_OP, &row);
}

static inline void toy_op(struct toy_model *toy, uint32_t lane, double from, double to,
			  const char *name, int64_t stack)
{
	toy_op_flagged(toy, lane, from, to, name, stack, 0);
}

/* A launch at a time on a lane of calls, and its kernel [start, end); 'node' is the node of a CUDA graph, or 0. */
static inline void toy_launch(struct toy_model *toy, uint32_t api, double at, double start,
			      double end, const char *kernel, int64_t node)
{
	struct hwy_row row = {0};
	small_span_us(&toy->small, api, HWY_API, at, at + 2, ++toy->small.corr,
		      node ? "cudaGraphLaunch" : "cudaLaunchKernel");
	row.v[HWY_START] = (int64_t)(start * 1000);
	row.v[HWY_DUR] = (int64_t)((end - start) * 1000);
	row.v[HWY_CORR] = toy->small.corr;
	row.v[HWY_NAME] = hwy_text_id(toy->small.builder, kernel);
	row.v[HWY_GRAPH_NODE] = node;
	hwy_add_span(toy->small.builder, toy->small.stream, HWY_KERNEL, &row);
}

/* The id of the span of a kind with this name; the first one. */
static inline uint32_t toy_span(const struct hwy_trace *trace, enum hwy_kind kind, const char *name)
{
	for (uint32_t s = 0; s < trace->n_strips; s++)
		for (uint32_t row = 0; trace->strips[s].kind == kind && row < trace->strips[s].rows;
		     row++)
			if (strcmp(hwy_str(trace, hwy_get(&trace->strips[s], HWY_NAME, row)),
				   name) == 0)
				return trace->strips[s].first + row;
	fail_msg("no span named %s", name);
	return 0;
}

/* An edge from a forward to a backward operator; the trace is finished. */
static inline void toy_edge(struct hwy_trace *trace, const char *forward, const char *backward)
{
	HWY_GROW(trace->edges, trace->n_edges, trace->cap_edges);
	trace->edges[trace->n_edges++] = (struct hwy_edge){
		.kind = HWY_EDGE_FORWARD,
		.from = toy_span(trace, HWY_OP, forward),
		.to = toy_span(trace, HWY_OP, backward),
	};
}

/* One step: two layers forward, a loss outside of modules, their backward pass on the engine's thread, the optimizer,
 * and a copy outside of operators. */
static inline struct hwy_trace *toy_training(void)
{
	struct toy_model toy = toy_model_new();
	const char *first[] = {"Net Net", "Net.layers.0 Linear", NULL};
	const char *second[] = {"Net Net", "Net.layers.1 Linear", NULL};
	small_span_us(&toy.small, toy.range, HWY_RANGE, 0, 200, 0, "ProfilerStep#7");
	toy_op(&toy, toy.op, 10, 20, "aten::linear", toy_stack(&toy, 5, first));
	toy_op(&toy, toy.op, 11, 19, "aten::addmm", 0);
	toy_launch(&toy, toy.small.api, 12, 30, 40, "gemm_0", 0);
	toy_op(&toy, toy.op, 20, 30, "aten::relu", toy_stack(&toy, 5, second));
	toy_launch(&toy, toy.small.api, 20, 40, 45, "relu_1", 0);
	toy_op(&toy, toy.op, 30, 35, "aten::mse_loss", toy_stack(&toy, 6, NULL));
	toy_launch(&toy, toy.small.api, 31, 45, 50, "loss", 0);
	toy_op(&toy, toy.engine_op, 50, 60, "autograd::engine::evaluate_function: ReluBackward0",
	       0);
	toy_op(&toy, toy.engine_op, 51, 58, "ReluBackward0", 0);
	toy_op(&toy, toy.engine_op, 52, 57, "aten::threshold_backward", 0);
	toy_launch(&toy, toy.engine_api, 53, 60, 70, "relu_back", 0);
	toy_launch(&toy, toy.engine_api, 58, 70, 71, "sum_of_gradients", 0);
	toy_op(&toy, toy.engine_op, 60, 70, "AddmmBackward0", 0);
	toy_launch(&toy, toy.engine_api, 61, 75, 85, "gemm_back", 0);
	small_span_us(&toy.small, toy.range, HWY_RANGE, 100, 150, 0, "Optimizer.step#SGD.step");
	toy_op(&toy, toy.op, 110, 120, "aten::add_", toy_stack(&toy, 8, NULL));
	toy_launch(&toy, toy.small.api, 111, 115, 120, "axpy", 0);
	toy_launch(&toy, toy.small.api, 180, 190, 195, "mine", 0);
	struct hwy_trace *trace = small_finish(&toy.small);
	toy_edge(trace, "aten::relu", "ReluBackward0");
	toy_edge(trace, "aten::addmm", "AddmmBackward0");
	return trace;
}

#endif
