/* SPDX-License-Identifier: Apache-2.0 */
/* diagnose_operators_test.c - findings that know the operators, scopes and modules of a PyTorch program: optimizer-unfused,
 * zero-grad-fills, cast-repeated, cache-grows and layout-changes, and what launch-bound and places say of who launches. */
#include "program.h"

enum { STEPS = 12 };

/* A stack of Python: train.py:LINE, then the calls of modules "path class", from the outermost to the innermost. */
static int64_t python_stack(struct program *p, int64_t line, const char *const *layers)
{
	struct hwy_frame frame = {.function = hwy_text_id(p->builder, "step"),
				  .file = hwy_text_id(p->builder, "/home/u/train.py"),
				  .line = line,
				  .flags = HWY_FRAME_PYTHON};
	struct hwy_stack node = {.frame = hwy_add_frame(p->builder, &frame)};
	int64_t stack = hwy_ref(hwy_add_stack(p->builder, node));
	for (; layers && *layers; layers++) {
		size_t n = strcspn(*layers, " ");
		char path[64];
		snprintf(path, sizeof path, "%.*s", (int)n, *layers);
		frame = (struct hwy_frame){.function = hwy_text_id(p->builder, path),
					   .module = hwy_text_id(p->builder, *layers + n + 1),
					   .line = 1,
					   .flags = HWY_FRAME_PYTHON | HWY_FRAME_LAYER};
		node = (struct hwy_stack){.parent = stack,
					  .frame = hwy_add_frame(p->builder, &frame)};
		stack = hwy_ref(hwy_add_stack(p->builder, node));
	}
	return stack;
}

/* An operator from a time in ns until now. */
static void operator_since(struct program *p, int64_t from, const char *name, int64_t stack)
{
	struct hwy_row row = {0};
	row.v[HWY_START] = from;
	row.v[HWY_DUR] = p->cpu - from;
	row.v[HWY_NAME] = hwy_text_id(p->builder, name);
	row.v[HWY_STACK] = stack;
	hwy_add_span(p->builder, p->op, HWY_OP, &row);
}

/* An operator that launches one kernel after 'us' of its own work. */
static void run_operator(struct program *p, const char *name, const char *kernel, int64_t us,
			 int64_t kernel_us, int64_t stack)
{
	int64_t from = p->cpu;
	program_compute(p, us);
	program_launch(p, 0, kernel, kernel_us);
	operator_since(p, from, name, stack);
	program_compute(p, 1);
}

/* The forward pass of two blocks, four operators each, whose kernels keep the GPU busy while the CPU runs ahead. */
static void run_blocks(struct program *p, int64_t kernel_us, const char *kernel)
{
	const char *blocks[][3] = {{"GPT GPT", "GPT.blocks.0 Block", NULL},
				   {"GPT GPT", "GPT.blocks.1 Block", NULL}};
	for (int block = 0; block < 2; block++) {
		int64_t stack = python_stack(p, 20, blocks[block]);
		for (int k = 0; k < 4; k++)
			run_operator(p, "aten::relu", kernel, 10, kernel_us, stack);
	}
}

static void run_optimizer(struct program *p, const char *scope, const char *lead, int parameters,
			  int64_t us)
{
	static const char *const updates[] = {"mul_", "addcmul_", "sqrt", "addcdiv_"};
	int64_t from = p->cpu;
	for (int i = 0; i < parameters; i++)
		for (int k = 0; k < 4; k++) {
			char name[64];
			snprintf(name, sizeof name, "%s%s", lead, updates[k]);
			run_operator(p, name, "vectorized_elementwise_kernel", us, 2,
				     python_stack(p, 41, NULL));
		}
	operator_since(p, from, scope, 0);
}

static struct diagnosed training(const char *scope, const char *lead, int parameters, int64_t us)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		run_blocks(&p, 100, "gemm");
		run_optimizer(&p, scope, lead, parameters, us);
		program_sync(&p, 0);
	}
	return program_diagnose(&p);
}

static void an_optimizer_that_goes_parameter_by_parameter_is_to_be_fused(void **state)
{
	struct diagnosed d = training("Optimizer.step#Adam.step", "aten::", 30, 20);
	ASSERT_ACCUSED(&d, "optimizer-unfused");
	const struct hwy_finding *finding = accused(&d, "optimizer-unfused");
	assert_non_null(
		strstr(finding->says, "Optimizer.step#Adam.step launches 120 of 128 kernels"));
	assert_non_null(strstr(finding->says, "parameter by parameter"));
	assert_non_null(strstr(finding->says, "30 times"));
	assert_non_null(strstr(finding->advice, "torch.optim.Adam(parameters, …, fused=True)"));
	assert_true(finding->share > 0.4);
	assert_int_equal(finding->n_places, 1);
	assert_string_equal(finding->places[0].at.file, "/home/u/train.py");
	assert_int_equal(finding->places[0].at.line, 41);
	assert_string_equal(finding->places[0].layer, "");
	ASSERT_NOT_ACCUSED(&d, "launch-bound");
	diagnosed_free(&d);
}

static void an_optimizer_over_lists_can_still_be_fused(void **state)
{
	struct diagnosed d = training("Optimizer.step#AdamW.step", "aten::_foreach_", 30, 20);
	ASSERT_ACCUSED(&d, "optimizer-unfused");
	const struct hwy_finding *finding = accused(&d, "optimizer-unfused");
	assert_non_null(strstr(finding->says, "list by list"));
	assert_non_null(strstr(finding->advice, "AdamW(parameters, …, fused=True)"));
	assert_null(strstr(finding->advice, "foreach=True"));
	diagnosed_free(&d);
}

static void no_fused_form_is_promised_for_optimizers_that_have_none(void **state)
{
	struct diagnosed d = training("Optimizer.step#RMSprop.step", "aten::", 30, 20);
	assert_non_null(strstr(accused(&d, "optimizer-unfused")->advice, "foreach=True"));
	assert_null(strstr(accused(&d, "optimizer-unfused")->advice, "fused=True"));
	diagnosed_free(&d);
	d = training("Optimizer.step#RMSprop.step", "aten::_foreach_", 30, 20);
	ASSERT_NOT_ACCUSED(&d, "optimizer-unfused");
	diagnosed_free(&d);
	d = training("Optimizer.step#Lion.step", "aten::", 30, 20);
	assert_non_null(strstr(accused(&d, "optimizer-unfused")->advice, "torch._foreach_"));
	diagnosed_free(&d);
}

static void an_optimizer_that_is_fused_few_or_computes_itself_is_left_alone(void **state)
{
	struct diagnosed d = training("Optimizer.step#Adam.step", "aten::_fused_", 30, 20);
	ASSERT_NOT_ACCUSED(&d, "optimizer-unfused");
	diagnosed_free(&d);
	d = training("Optimizer.step#Adam.step", "aten::", 4, 20);
	ASSERT_NOT_ACCUSED(&d, "optimizer-unfused");
	diagnosed_free(&d);
	/* 400 us between two launches: the optimizer computes on the CPU, and launches little. */
	d = training("Optimizer.step#Adam.step", "aten::", 10, 400);
	ASSERT_NOT_ACCUSED(&d, "optimizer-unfused");
	diagnosed_free(&d);
}

static void the_same_operators_outside_of_an_optimizer_are_launch_bound(void **state)
{
	struct diagnosed d = training("my_update", "aten::", 30, 20);
	ASSERT_NOT_ACCUSED(&d, "optimizer-unfused");
	ASSERT_ACCUSED(&d, "launch-bound");
	diagnosed_free(&d);
}

/* Operators as ranges that torch.autograd.profiler.emit_nvtx makes. */
static void operators_may_be_ranges_of_emit_nvtx(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		int64_t scope = p.cpu;
		for (int i = 0; i < 100; i++) {
			int64_t from = p.cpu;
			program_compute(&p, 20);
			program_launch(&p, 0, "void at::native::vectorized_elementwise_kernel", 2);
			program_mark(&p, from, "aten::mul_, seq = %d, op_id = 1", i);
		}
		program_mark(&p, scope, "Optimizer.step#SGD.step%.0d", 0);
		program_sync(&p, 0);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "optimizer-unfused");
	assert_non_null(strstr(accused(&d, "optimizer-unfused")->advice, "SGD(parameters"));
	diagnosed_free(&d);
}

static void launch_bound_names_the_module_that_launches_most(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int i = 0; i < 4; i++)
			run_blocks(&p, 2, "vectorized_elementwise_kernel");
		run_operator(&p, "aten::mse_loss", "loss", 10, 2, python_stack(&p, 30, NULL));
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "launch-bound");
	const struct hwy_finding *finding = accused(&d, "launch-bound");
	assert_non_null(strstr(finding->says, "Of 33 kernels a step GPT.blocks.* launches 32."));
	assert_non_null(strstr(finding->advice, "begin with GPT.blocks.*"));
	assert_non_null(strstr(finding->advice, "for part in model.blocks: part.compile()"));
	assert_int_equal(finding->places[0].at.line, 20);
	assert_string_equal(finding->places[0].layer, "GPT.blocks.*");
	diagnosed_free(&d);
}

/* ---- cures by operator -------------------------------------------------------------------------------- */

static struct diagnosed zero_grad(const char *scope, int parameters)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		int64_t from = p.cpu;
		for (int i = 0; i < parameters; i++)
			run_operator(&p, "aten::zero_", "FillFunctor", 10, 2,
				     python_stack(&p, 38, NULL));
		operator_since(&p, from, scope, 0);
		run_blocks(&p, 100, "gemm");
		run_operator(&p, "ReluBackward0", "gemm", 5, 100, 0);
		program_sync(&p, 0);
	}
	return program_diagnose(&p);
}

static void gradients_that_are_filled_with_zeros_are_to_be_dropped(void **state)
{
	struct diagnosed d = zero_grad("Optimizer.zero_grad#SGD.zero_grad", 20);
	ASSERT_ACCUSED(&d, "zero-grad-fills");
	const struct hwy_finding *finding = accused(&d, "zero-grad-fills");
	assert_non_null(strstr(finding->says, "20 kernels a step"));
	assert_non_null(strstr(finding->advice, "set_to_none=True"));
	assert_non_null(strstr(finding->places[0].at.range,
			       "Optimizer.zero_grad#SGD.zero_grad > aten::zero_"));
	assert_int_equal(finding->places[0].at.line, 38);
	diagnosed_free(&d);
	d = zero_grad("Optimizer.zero_grad#SGD.zero_grad", 4);
	ASSERT_NOT_ACCUSED(&d, "zero-grad-fills");
	diagnosed_free(&d);
	d = zero_grad("prepare buffers", 20);
	ASSERT_NOT_ACCUSED(&d, "zero-grad-fills");
	diagnosed_free(&d);
}

/* A conversion in a module: aten::to > aten::_to_copy > aten::copy_, inside of 'outer' where that is not NULL. */
static void run_cast(struct program *p, const char *module, const char *outer, int64_t us)
{
	const char *layers[] = {"GPT GPT", module, NULL};
	int64_t stack = python_stack(p, 25, layers), from = p->cpu;
	program_compute(p, 1);
	int64_t to = p->cpu;
	program_compute(p, 1);
	int64_t copy = p->cpu;
	program_compute(p, 1);
	run_operator(p, "aten::copy_", "bfloat16_copy_kernel_cuda", 1, us, 0);
	operator_since(p, copy, "aten::_to_copy", 0);
	operator_since(p, to, "aten::to", outer ? 0 : stack);
	if (outer)
		operator_since(p, from, outer, stack);
}

static struct diagnosed casting(const char *outer, int64_t us)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		run_blocks(&p, 100, "gemm");
		run_cast(&p, "GPT.blocks.1 Block", outer, us);
		program_sync(&p, 0);
	}
	return program_diagnose(&p);
}

static void a_conversion_in_every_step_is_named_with_line_and_module(void **state)
{
	struct diagnosed d = casting(NULL, 200);
	ASSERT_ACCUSED(&d, "cast-repeated");
	const struct hwy_finding *finding = accused(&d, "cast-repeated");
	assert_non_null(strstr(finding->advice, "convert it once"));
	assert_int_equal(finding->n_places, 1);
	assert_int_equal(finding->places[0].at.line, 25);
	assert_string_equal(finding->places[0].layer, "GPT.blocks.1");
	diagnosed_free(&d);
	d = casting(NULL, 20); /* 2 % of the step */
	ASSERT_NOT_ACCUSED(&d, "cast-repeated");
	diagnosed_free(&d);
}

static void a_line_of_several_modules_has_the_path_that_they_share(void **state)
{
	static const char *const modules[] = {"GPT.blocks.0.up Cast", "GPT.blocks.0.down Cast",
					      "GPT.blocks.1.up Cast", "GPT.blocks.1.down Cast"};
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int i = 0; i < 4; i++) {
			run_cast(&p, modules[i], NULL, 50);
			program_launch(&p, 0, "gemm", 50);
		}
		program_sync(&p, 0);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "cast-repeated");
	assert_string_equal(accused(&d, "cast-repeated")->places[0].layer, "GPT.blocks.*");
	diagnosed_free(&d);
}

static void what_autocast_converts_is_not_to_be_converted_by_hand(void **state)
{
	struct diagnosed d = casting("aten::linear", 200);
	ASSERT_ACCUSED(&d, "cast-repeated");
	const struct hwy_finding *finding = accused(&d, "cast-repeated");
	assert_non_null(strstr(finding->says, "by autocast"));
	assert_null(strstr(finding->advice, "convert it once"));
	assert_non_null(strstr(finding->advice, "model.to(torch.bfloat16)"));
	diagnosed_free(&d);
}

/* Decoding with keys and values that are put together in both blocks; the copies grow by 'more' ns a step. */
static struct diagnosed decoding(int64_t more, bool trains)
{
	struct program p = program_new();
	const char *layers[][3] = {{"GPT GPT", "GPT.blocks.0.attn Attention", NULL},
				   {"GPT GPT", "GPT.blocks.1.attn Attention", NULL}};
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		run_blocks(&p, 50, "gemm");
		for (int block = 0; block < 2; block++)
			for (int k = 0; k < 2; k++) {
				int64_t from = p.cpu;
				program_compute(&p, 5);
				program_launch_ns(&p, 0, "CatArrayBatchedCopy",
						  US(20) + more * step);
				operator_since(&p, from, "aten::cat",
					       python_stack(&p, 33, layers[block]));
			}
		if (trains)
			run_operator(&p, "ReluBackward0", "gemm", 5, 50, 0);
		program_sync(&p, 0);
	}
	return program_diagnose(&p);
}

static void a_cache_that_grows_is_to_be_static(void **state)
{
	struct diagnosed d = decoding(1000, false);
	ASSERT_ACCUSED(&d, "cache-grows");
	const struct hwy_finding *finding = accused(&d, "cache-grows");
	assert_non_null(strstr(finding->advice, "static"));
	assert_string_equal(finding->places[0].layer, "GPT.blocks.*.attn");
	ASSERT_NOT_ACCUSED(&d, "device-copies"); /* the same kernels are not accused twice */
	diagnosed_free(&d);
	d = decoding(0, false);
	ASSERT_NOT_ACCUSED(&d, "cache-grows");
	ASSERT_ACCUSED(&d, "device-copies");
	diagnosed_free(&d);
	d = decoding(1000, true);
	ASSERT_NOT_ACCUSED(&d, "cache-grows");
	diagnosed_free(&d);
}

/* Small kernels launched slowly, four of them by aten::cat, which take 'more' ns longer with each step. */
static struct diagnosed slow_decoding(int64_t more)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int k = 0; k < 24; k++) {
			int64_t from = p.cpu;
			program_compute(&p, 20);
			program_launch_ns(&p, 0, "k", US(2) + (k < 4 ? more * step : 0));
			operator_since(&p, from, k < 4 ? "aten::cat" : "aten::mm", 0);
		}
	}
	return program_diagnose(&p);
}

static void no_graph_is_advised_without_a_word_about_a_cache_that_grows(void **state)
{
	struct diagnosed d = slow_decoding(100);
	ASSERT_ACCUSED(&d, "launch-bound");
	assert_non_null(strstr(accused(&d, "launch-bound")->advice, "use a static cache"));
	diagnosed_free(&d);
	d = slow_decoding(0);
	assert_null(strstr(accused(&d, "launch-bound")->advice, "use a static cache"));
	diagnosed_free(&d);
}

static struct diagnosed convolving(int64_t layout_us)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int k = 0; k < 8; k++) {
			program_launch(&p, 0, "void cudnn::ops::nchwToNhwcKernel<__half>",
				       layout_us);
			program_launch(&p, 0, "sm90_xmma_fprop_implicit_gemm", 100);
		}
	}
	return program_diagnose(&p);
}

static void convolutions_that_change_their_layout_are_to_keep_it(void **state)
{
	struct diagnosed d = convolving(20);
	ASSERT_ACCUSED(&d, "layout-changes");
	assert_non_null(strstr(accused(&d, "layout-changes")->says, "8 kernels a step"));
	diagnosed_free(&d);
	d = convolving(3);
	ASSERT_NOT_ACCUSED(&d, "layout-changes");
	diagnosed_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_optimizer_that_goes_parameter_by_parameter_is_to_be_fused),
		cmocka_unit_test(an_optimizer_over_lists_can_still_be_fused),
		cmocka_unit_test(no_fused_form_is_promised_for_optimizers_that_have_none),
		cmocka_unit_test(an_optimizer_that_is_fused_few_or_computes_itself_is_left_alone),
		cmocka_unit_test(the_same_operators_outside_of_an_optimizer_are_launch_bound),
		cmocka_unit_test(operators_may_be_ranges_of_emit_nvtx),
		cmocka_unit_test(launch_bound_names_the_module_that_launches_most),
		cmocka_unit_test(gradients_that_are_filled_with_zeros_are_to_be_dropped),
		cmocka_unit_test(a_conversion_in_every_step_is_named_with_line_and_module),
		cmocka_unit_test(a_line_of_several_modules_has_the_path_that_they_share),
		cmocka_unit_test(what_autocast_converts_is_not_to_be_converted_by_hand),
		cmocka_unit_test(a_cache_that_grows_is_to_be_static),
		cmocka_unit_test(no_graph_is_advised_without_a_word_about_a_cache_that_grows),
		cmocka_unit_test(convolutions_that_change_their_layout_are_to_keep_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
