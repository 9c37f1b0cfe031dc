/* SPDX-License-Identifier: Apache-2.0 */
/* owners_test.c - who launched device work: operator, scope, module, line. */
#include "toy_model.h"

#include "analyze/owners.h"
#include "recordings.h"

static struct hwy_owners open_owners(struct hwy_trace *trace)
{
	struct hwy_owners owners;
	struct hwy_err err;
	if (!owners_open(&owners, trace, NULL, 0, &err))
		fail_msg("%s", err.text);
	return owners;
}

/* "chain | module | line" of a kernel, with the chain from the outermost link to the innermost. */
static const char *told(const struct hwy_owners *owners, const char *kernel)
{
	static char text[1024];
	const struct hwy_owner *owner =
		owners_of_span(owners, toy_span(owners->trace, HWY_KERNEL, kernel));
	char chain[512] = "", inner[512], module[128], line[128];
	for (uint32_t link = owner->chain; link; link = owners->chain[link].outer) {
		memcpy(inner, chain, sizeof inner);
		size_t n = strlen(owners_text(owners, owners->chain[link].name));
		assert_true(n + 4 + strlen(inner) < sizeof chain);
		memcpy(chain, owners_text(owners, owners->chain[link].name), n + 1);
		if (*inner)
			strcat(strcat(chain, " > "), inner);
	}
	owners_module_path(owners, owner->module, module, sizeof module);
	owners_line_text(owners, owner->line, line, sizeof line);
	snprintf(text, sizeof text, "%s | %s | %s%s%s", chain, module, line,
		 *owner_why_texts[owner->why] ? " | " : "", owner_why_texts[owner->why]);
	return text;
}

static void forward_work_has_its_operators_module_and_line(void **state)
{
	(void)state;
	struct hwy_trace *trace = toy_training();
	struct hwy_owners owners = open_owners(trace);
	assert_string_equal(told(&owners, "gemm_0"),
			    "aten::linear > aten::addmm | Net.layers.0 | train.py:5 step()");
	/* The operator before ends when this one begins, and is not around it. */
	assert_string_equal(told(&owners, "relu_1"),
			    "aten::relu | Net.layers.1 | train.py:5 step()");
	assert_string_equal(told(&owners, "loss"), "aten::mse_loss |  | train.py:6 step()");
	owners_close(&owners);
	hwy_trace_free(trace);
}

static void backward_work_has_the_module_and_the_line_of_the_forward_operator(void **state)
{
	(void)state;
	struct hwy_trace *trace = toy_training();
	struct hwy_owners owners = open_owners(trace);
	assert_string_equal(told(&owners, "relu_back"),
			    "autograd::engine::evaluate_function: ReluBackward0 > ReluBackward0 > "
			    "aten::threshold_backward | Net.layers.1 | train.py:5 step()");
	assert_string_equal(told(&owners, "sum_of_gradients"),
			    "autograd::engine::evaluate_function: ReluBackward0 | Net.layers.1 | "
			    "train.py:5 step()");
	assert_string_equal(told(&owners, "gemm_back"),
			    "AddmmBackward0 | Net.layers.0 | train.py:5 step()");
	const struct hwy_owner *back =
		owners_of_span(&owners, toy_span(trace, HWY_KERNEL, "gemm_back"));
	assert_true(back->is_backward);
	owners_close(&owners);
	hwy_trace_free(trace);
}

static void scopes_are_in_the_chain_and_marks_of_steps_are_not(void **state)
{
	(void)state;
	struct hwy_trace *trace = toy_training();
	struct hwy_owners owners = open_owners(trace);
	assert_string_equal(told(&owners, "axpy"),
			    "Optimizer.step#SGD.step > aten::add_ |  | train.py:8 step()");
	assert_string_equal(told(&owners, "mine"), " |  |  | outside of operators");
	const struct hwy_owner *step = owners_of_span(&owners, toy_span(trace, HWY_KERNEL, "axpy"));
	uint32_t scope = owners_scope(&owners, step->chain);
	assert_string_equal(owners_text(&owners, owners.chain[scope].name),
			    "Optimizer.step#SGD.step");
	owners_close(&owners);
	hwy_trace_free(trace);
}

static void a_kernel_of_a_graph_belongs_to_who_captured_its_node(void **state)
{
	(void)state;
	struct toy_model toy = toy_model_new();
	const char *layers[] = {"Net Net", "Net.head Linear", NULL};
	uint32_t index = hwy_new_nodes(toy.small.builder);
	hwy_builder_trace(toy.small.builder)->nodes[index] =
		(struct hwy_node){.process = toy.small.process,
				  .thread = toy.small.thread,
				  .graph = 1,
				  .node = 7,
				  .time = US(12)};
	toy_op(&toy, toy.op, 10, 20, "aten::mm", toy_stack(&toy, 5, layers));
	toy_launch(&toy, toy.small.api, 100, 110, 120, "captured", 7);
	toy_launch(&toy, toy.small.api, 130, 140, 150, "unknown", 8);
	struct hwy_trace *trace = small_finish(&toy.small);
	struct hwy_owners owners = open_owners(trace);
	assert_string_equal(told(&owners, "captured"), "aten::mm | Net.head | train.py:5 step()");
	assert_true(owners_of_span(&owners, toy_span(trace, HWY_KERNEL, "captured"))->is_captured);
	assert_string_equal(told(&owners, "unknown"), " |  |  | outside of operators");
	assert_true(owners_of_span(&owners, toy_span(trace, HWY_KERNEL, "unknown"))->is_replayed);
	owners_close(&owners);
	hwy_trace_free(trace);
}

static void kinetos_functions_tell_modules_and_lines(void **state)
{
	(void)state;
	struct toy_model toy = toy_model_new();
	small_span_us(&toy.small, toy.call, HWY_CALL, 1, 90, 0, "train.py(23): step");
	small_span_us(&toy.small, toy.call, HWY_CALL, 2, 80, 0, "nn.Module: Net_0");
	small_span_us(&toy.small, toy.call, HWY_CALL, 3, 70, 0, "nn.Module: Linear_1");
	small_span_us(&toy.small, toy.call, HWY_CALL, 4, 60, 0,
		      "torch/nn/modules/linear.py(116): forward");
	toy_op(&toy, toy.op, 10, 20, "aten::mm", 0);
	toy_launch(&toy, toy.small.api, 12, 30, 40, "inside", 0);
	toy_op(&toy, toy.op, 72, 75, "aten::add", 0);
	toy_launch(&toy, toy.small.api, 73, 80, 85, "outside", 0);
	toy_launch(&toy, toy.small.api, 82, 90, 95, "bare", 0);
	struct hwy_trace *trace = small_finish(&toy.small);
	struct hwy_owners owners = open_owners(trace);
	assert_string_equal(told(&owners, "inside"),
			    "aten::mm | Net_0.Linear_1 | train.py:23 step()");
	assert_string_equal(told(&owners, "outside"), "aten::add | Net_0 | train.py:23 step()");
	assert_string_equal(told(&owners, "bare"),
			    " |  | train.py:23 step() | outside of operators");
	owners_close(&owners);
	hwy_trace_free(trace);
}

/* torch.profiler does not see the end of a built-in that raises: it lasts until something around it ends. */
static void a_function_that_was_never_closed_does_not_outlive_its_caller(void **state)
{
	(void)state;
	struct toy_model toy = toy_model_new();
	small_span_us(&toy.small, toy.call, HWY_CALL, 1, 190, 0, "train.py(23): step");
	small_span_us(&toy.small, toy.call, HWY_CALL, 2, 80, 0, "nn.Module: Net_0");
	small_span_us(&toy.small, toy.call, HWY_CALL, 5, 180, 0, "<built-in function next>");
	small_span_us(&toy.small, toy.call, HWY_CALL, 90, 120, 0, "nn.Module: Decoder_0");
	toy_op(&toy, toy.op, 10, 20, "aten::mm", 0);
	toy_launch(&toy, toy.small.api, 12, 30, 40, "inside", 0);
	toy_op(&toy, toy.op, 100, 110, "aten::add", 0);
	toy_launch(&toy, toy.small.api, 102, 120, 125, "after", 0);
	struct hwy_trace *trace = small_finish(&toy.small);
	struct hwy_owners owners = open_owners(trace);
	assert_string_equal(told(&owners, "inside"), "aten::mm | Net_0 | train.py:23 step()");
	assert_string_equal(told(&owners, "after"), "aten::add | Decoder_0 | train.py:23 step()");
	owners_close(&owners);
	hwy_trace_free(trace);
}

static void ranges_of_emit_nvtx_are_operators_where_no_operators_are(void **state)
{
	(void)state;
	struct toy_model toy = toy_model_new();
	toy.small.thread = toy.engine;
	uint32_t engine = small_lane(&toy.small, HWY_LANE_RANGE);
	small_span_us(&toy.small, toy.range, HWY_RANGE, 1, 50, 0, "encoder");
	small_span_us(&toy.small, toy.range, HWY_RANGE, 2, 20, 0, "aten::mm, seq = 3, op_id = 9");
	toy_launch(&toy, toy.small.api, 5, 10, 20, "forward", 0);
	toy_launch(&toy, toy.small.api, 30, 35, 40, "between", 0);
	small_span_us(&toy.small, engine, HWY_RANGE, 60, 80, 0, "MmBackward0, seq = 3, op_id = 30");
	toy_launch(&toy, toy.engine_api, 62, 70, 75, "backward", 0);
	struct hwy_trace *trace = small_finish(&toy.small);
	struct hwy_owners owners = open_owners(trace);
	assert_string_equal(told(&owners, "forward"), "encoder > aten::mm |  | ");
	assert_string_equal(told(&owners, "between"), "encoder |  |  | no operators were recorded");
	assert_string_equal(told(&owners, "backward"), "MmBackward0 |  | ");
	assert_true(owners_of_span(&owners, toy_span(trace, HWY_KERNEL, "backward"))->is_backward);
	owners_close(&owners);
	hwy_trace_free(trace);
}

static void a_module_called_by_another_model_is_shown_inside_of_it(void **state)
{
	(void)state;
	struct toy_model toy = toy_model_new();
	const char *layers[] = {"Student Student", "Teacher Teacher", "Teacher.fc Linear", NULL};
	const char *shared[] = {"Net Net", "Net.blocks.3 Block", "Net.rotary Rotary", NULL};
	toy_op(&toy, toy.op, 10, 20, "aten::mm", toy_stack(&toy, 5, layers));
	toy_launch(&toy, toy.small.api, 12, 30, 40, "distil", 0);
	toy_op(&toy, toy.op, 50, 60, "aten::mul", toy_stack(&toy, 5, shared));
	toy_launch(&toy, toy.small.api, 52, 60, 65, "rotate", 0);
	struct hwy_trace *trace = small_finish(&toy.small);
	struct hwy_owners owners = open_owners(trace);
	assert_string_equal(told(&owners, "distil"),
			    "aten::mm | Student.Teacher.fc | train.py:5 step()");
	assert_string_equal(told(&owners, "rotate"), "aten::mul | Net.rotary | train.py:5 step()");
	owners_close(&owners);
	hwy_trace_free(trace);
}

static void a_scope_that_is_recorded_as_an_operator_is_a_scope(void **state)
{
	(void)state;
	struct toy_model toy = toy_model_new();
	toy_op_flagged(&toy, toy.op, 10, 50, "forward", 0, HWY_FLAG_SCOPE);
	toy_op(&toy, toy.op, 20, 30, "aten::mm", toy_stack(&toy, 5, NULL));
	toy_launch(&toy, toy.small.api, 22, 30, 40, "gemm", 0);
	toy_launch(&toy, toy.small.api, 40, 45, 46, "mine", 0);
	struct hwy_trace *trace = small_finish(&toy.small);
	struct hwy_owners owners = open_owners(trace);
	assert_string_equal(told(&owners, "gemm"), "forward > aten::mm |  | train.py:5 step()");
	assert_string_equal(told(&owners, "mine"), "forward |  |  | outside of operators");
	owners_close(&owners);
	hwy_trace_free(trace);
}

static void a_module_that_runs_again_in_the_backward_pass_is_that_of_the_model(void **state)
{
	(void)state;
	struct toy_model toy = toy_model_new();
	toy.small.thread = toy.engine;
	uint32_t engine_call = small_lane(&toy.small, HWY_LANE_CALL);
	small_span_us(&toy.small, toy.call, HWY_CALL, 1, 90, 0, "nn.Module: Net_0");
	small_span_us(&toy.small, toy.call, HWY_CALL, 2, 80, 0, "nn.Module: Block_3");
	small_span_us(&toy.small, toy.call, HWY_CALL, 3, 70, 0, "nn.Module: Linear_1");
	toy_op(&toy, toy.op, 10, 20, "aten::mm", 0);
	toy_launch(&toy, toy.small.api, 12, 30, 40, "forward", 0);
	toy_op(&toy, toy.engine_op, 100, 190, "MmBackward0", 0);
	small_span_us(&toy.small, engine_call, HWY_CALL, 110, 150, 0, "nn.Module: Block_3");
	small_span_us(&toy.small, engine_call, HWY_CALL, 111, 140, 0, "nn.Module: Linear_1");
	toy_op(&toy, toy.engine_op, 115, 130, "aten::mm", 0);
	toy_launch(&toy, toy.engine_api, 116, 120, 125, "again", 0);
	struct hwy_trace *trace = small_finish(&toy.small);
	toy_edge(trace, "aten::mm", "MmBackward0");
	struct hwy_owners owners = open_owners(trace);
	assert_string_equal(told(&owners, "again"),
			    "MmBackward0 > aten::mm | Net_0.Block_3.Linear_1 | ");
	owners_close(&owners);
	hwy_trace_free(trace);
}

static void moments_have_owners_too(void **state)
{
	(void)state;
	struct hwy_trace *trace = toy_training();
	struct hwy_owners owners;
	struct hwy_err err;
	struct owner_moment moments[] = {{.time = US(115)}, {.time = US(15)}, {.time = US(1000)}};
	assert_true(owners_open(&owners, trace, moments, 3, &err));
	const char *names[3];
	for (int i = 0; i < 3; i++)
		names[i] =
			owners_text(&owners, owners.chain[owners.owners[moments[i].owner].op].name);
	assert_string_equal(names[0], "aten::add_");
	assert_string_equal(names[1], "aten::addmm");
	assert_string_equal(names[2], "");
	owners_close(&owners);
	hwy_trace_free(trace);
}

/* The owner of each kernel of a real recording, found the slow way: the operator of its call's thread with the latest start
 * that is open at the call's start. */
static void operators_are_those_that_a_search_finds(void **state)
{
	(void)state;
	struct hwy_trace *trace = recording_open("torch/mlp_sync.json.gz", NULL);
	if (!trace)
		skip();
	struct hwy_owners owners = open_owners(trace);
	uint32_t n = 0;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		for (uint32_t row = 0; strip->kind == HWY_KERNEL && row < strip->rows; row += 7) {
			uint32_t call, call_row, found = 0;
			assert_true(hwy_get_index(strip, HWY_LINK, row, &call));
			const struct hwy_strip *calls = hwy_strip_of(trace, call, &call_row);
			int64_t moment = hwy_get(calls, HWY_START, call_row);
			for (uint32_t t = 0; t < trace->n_strips; t++) {
				const struct hwy_strip *ops = &trace->strips[t];
				if (ops->kind != HWY_OP || trace->lanes[ops->lane].thread !=
								   trace->lanes[calls->lane].thread)
					continue;
				for (uint32_t op = 0; op < ops->rows; op++)
					if (hwy_get(ops, HWY_START, op) <= moment &&
					    hwy_end(ops, op) > moment)
						found = hwy_ref32(ops->first + op);
			}
			assert_int_equal(owners.op_of[s][row], found);
			n++;
		}
	}
	assert_true(n > 100);
	owners_close(&owners);
	hwy_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forward_work_has_its_operators_module_and_line),
		cmocka_unit_test(backward_work_has_the_module_and_the_line_of_the_forward_operator),
		cmocka_unit_test(scopes_are_in_the_chain_and_marks_of_steps_are_not),
		cmocka_unit_test(a_kernel_of_a_graph_belongs_to_who_captured_its_node),
		cmocka_unit_test(kinetos_functions_tell_modules_and_lines),
		cmocka_unit_test(a_function_that_was_never_closed_does_not_outlive_its_caller),
		cmocka_unit_test(ranges_of_emit_nvtx_are_operators_where_no_operators_are),
		cmocka_unit_test(a_module_called_by_another_model_is_shown_inside_of_it),
		cmocka_unit_test(a_scope_that_is_recorded_as_an_operator_is_a_scope),
		cmocka_unit_test(
			a_module_that_runs_again_in_the_backward_pass_is_that_of_the_model),
		cmocka_unit_test(moments_have_owners_too),
		cmocka_unit_test(operators_are_those_that_a_search_finds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
