/* SPDX-License-Identifier: Apache-2.0 */
/* Points under the roofs: whose work a kernel is, what a point means, and its JSON. */
#include <math.h>

#include "analyze/kernel_table.h"
#include "analyze/roofline.h"
#include "make_trace.h"

/* cmocka's assert_float_equal compares floats, which hold 7 digits. */
static void assert_near(double got, double want, double by)
{
	if (!(fabs(got - want) <= by))
		fail_msg("%.17g, not %.17g", got, want);
}

static struct hwy_err err;

struct model { /* a small machine with operators */
	struct small small;
	uint32_t op;
};

static struct model model_new(void)
{
	struct model m = {.small = small_machine()};
	struct hwy_device *device = &hwy_builder_trace(m.small.builder)->devices[0];
	device->name = hwy_text_id(m.small.builder, "NVIDIA H200");
	device->compute_major = 9;
	device->compute_minor = 0;
	device->sms = 132;
	m.op = small_lane(&m.small, HWY_LANE_OP);
	return m;
}

static void model_op(struct model *m, double from, double to, const char *name, const char *args)
{
	struct hwy_row row = {0};
	char json[400];
	snprintf(json, sizeof json, "%s", args);
	for (char *at = json; *at; at++)
		*at = *at == '\'' ? '"' : *at;
	row.v[HWY_START] = (int64_t)(from * 1000);
	row.v[HWY_DUR] = (int64_t)((to - from) * 1000);
	row.v[HWY_NAME] = hwy_text_id(m->small.builder, name);
	row.v[HWY_ARGS] = hwy_text_id(m->small.builder, json);
	hwy_add_span(m->small.builder, m->op, HWY_OP, &row);
}

/* A launch at 'at' whose work of a kind takes 'us'. */
static void model_work(struct model *m, double at, enum hwy_kind kind, const char *name, double us,
		       int64_t direction)
{
	struct small *small = &m->small;
	struct hwy_row row = {0};
	small->corr++;
	small_span_us(small, small->api, HWY_API, at, at + 1, small->corr, "cudaLaunchKernel");
	row.v[HWY_START] = (int64_t)((at + 10000) * 1000);
	row.v[HWY_DUR] = (int64_t)(us * 1000);
	row.v[HWY_CORR] = small->corr;
	row.v[HWY_NAME] = hwy_text_id(small->builder, name);
	row.v[HWY_DIRECTION] = direction;
	hwy_add_span(small->builder, small->stream, kind, &row);
}

static void model_kernel(struct model *m, double at, const char *name, double us)
{
	model_work(m, at, HWY_KERNEL, name, us, 0);
}

static const struct roofline_point *point_of(const struct hwy_roofline *roofline,
					     enum roofline_kind kind, const char *name)
{
	const struct roofline_point *found = NULL;
	for (uint32_t i = 0; i < roofline->n_points; i++)
		if (roofline->points[i].kind == kind &&
		    strcmp(roofline->points[i].name, name) == 0) {
			assert_null(found);
			found = &roofline->points[i];
		}
	return found;
}

#define MM                                                                                         \
	"{'Input Dims': [[1000, 1000], [1000, 1000]], 'Input type': ['c10::BFloat16', 'c10::BFloat16']}"

static void a_product_has_a_point_and_so_has_its_kernel(void **state)
{
	(void)state;
	struct model m = model_new();
	model_op(&m, 0, 100, "aten::linear", MM);
	model_op(&m, 10, 90, "aten::mm", MM);
	model_kernel(&m, 20, "nvjet_tst_gemm", 4);
	model_op(&m, 200, 300, "aten::mm", MM);
	model_kernel(&m, 220, "nvjet_tst_gemm", 6);
	model_kernel(&m, 400, "other", 90);
	struct hwy_trace *trace = small_finish(&m.small);
	struct hwy_roofline roofline;
	assert_true(roofline_from_shapes(&roofline, trace, NULL, &err));
	assert_int_equal(roofline.n_points, 2);
	const struct roofline_point *op = point_of(&roofline, ROOFLINE_OPERATOR, "aten::mm"),
				    *kernel =
					    point_of(&roofline, ROOFLINE_KERNEL, "nvjet_tst_gemm");
	assert_int_equal(op->count, 2);
	assert_int_equal(op->ns, 10000);
	assert_near(op->share, 0.1, 1e-9);
	assert_near(op->flop, 4e9, 1);
	assert_near(op->bytes, 12e6, 1);
	assert_string_equal(op->shapes, "[[1000, 1000], [1000, 1000]]");
	assert_near(op->flop_per_s, 4e14, 1e6);
	assert_near(op->of_peak, 4e14 / 989.4e12, 1e-6);
	assert_int_equal(op->bound, ROOFLINE_COMPUTE);
	assert_int_equal(op->gain_ns, (int64_t)(10000 - 4e9 / 989.4e12 * 1e9));
	assert_true(op->tensor && op->precision == HWY_BF16);
	assert_near(kernel->flop, 4e9, 1);
	assert_int_equal(kernel->count, 2);
	assert_int_equal(roofline.devices[0].kernel_ns, 100000);
	assert_int_equal(roofline.devices[0].known_ns, 10000);
	struct roofline_shares shares = roofline_sum_bounds(&roofline, HWY_NONE);
	assert_int_equal(shares.kernel_ns, 100000);
	assert_int_equal(shares.bound_ns[ROOFLINE_COMPUTE], 10000);
	assert_int_equal(shares.bound_ns[ROOFLINE_UNKNOWN], 90000);
	assert_int_equal(roofline_sum_bounds(&roofline, 7).kernel_ns, 0);
	roofline_free(&roofline);
	hwy_trace_free(trace);
}

static void of_several_kernels_the_one_that_took_most_did_the_work(void **state)
{
	(void)state;
	struct model m = model_new();
	model_op(&m, 0, 100, "aten::mm", MM);
	model_kernel(&m, 10, "gemm_splitk", 8);
	model_kernel(&m, 20, "splitk_reduce", 2);
	model_work(&m, 30, HWY_FILL, "memset", 1, 0);
	struct hwy_trace *trace = small_finish(&m.small);
	struct hwy_roofline roofline;
	assert_true(roofline_from_shapes(&roofline, trace, NULL, &err));
	assert_int_equal(point_of(&roofline, ROOFLINE_OPERATOR, "aten::mm")->ns, 11000);
	assert_near(point_of(&roofline, ROOFLINE_KERNEL, "gemm_splitk")->flop, 2e9, 1);
	assert_null(point_of(&roofline, ROOFLINE_KERNEL, "splitk_reduce"));
	roofline_free(&roofline);
	hwy_trace_free(trace);

	m = model_new();
	model_op(&m, 0, 100, "aten::mm", MM);
	model_kernel(&m, 10, "a", 5);
	model_kernel(&m, 20, "b", 5);
	trace = small_finish(&m.small);
	assert_true(roofline_from_shapes(&roofline, trace, NULL, &err));
	assert_int_equal(roofline.n_points,
			 1); /* nobody knows which: only the operator has a point */
	roofline_free(&roofline);
	hwy_trace_free(trace);
}

static void a_copy_from_the_host_is_under_no_roof(void **state)
{
	(void)state;
	struct model m = model_new();
	const char *args = "{'Input Dims': [[1000], [1000]], 'Input type': ['float', 'float']}";
	model_op(&m, 0, 100, "aten::copy_", args);
	model_work(&m, 10, HWY_COPY, "copy", 5, HWY_H2D);
	model_op(&m, 200, 300, "aten::copy_", args);
	model_work(&m, 210, HWY_COPY, "copy", 5, HWY_D2D);
	model_kernel(&m, 500, "other", 5);
	struct hwy_trace *trace = small_finish(&m.small);
	struct hwy_roofline roofline;
	assert_true(roofline_from_shapes(&roofline, trace, NULL, &err));
	assert_int_equal(roofline.n_points, 1);
	assert_int_equal(roofline.points[0].count, 1);
	assert_near(roofline.points[0].bytes, 8000, 1e-9);
	roofline_free(&roofline);
	hwy_trace_free(trace);
}

static void ranges_of_emit_nvtx_with_sizes_are_operators(void **state)
{
	(void)state;
	struct model m = model_new();
	uint32_t range = small_lane(&m.small, HWY_LANE_RANGE);
	const char *const sizes = "[[1000, 1000], [1000, 1000]]";
	for (int i = 0; i < 3; i++) {
		char name[100];
		snprintf(name, sizeof name, "aten::mm, op_id = %d, sizes = %s", i, sizes);
		small_span_us(&m.small, range, HWY_RANGE, i * 100, i * 100 + 50, 0, name);
		model_kernel(&m, i * 100 + 10, "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn", 4);
	}
	small_span_us(&m.small, range, HWY_RANGE, 500, 550, 0, "aten::mm, seq = 7");
	model_kernel(&m, 510, "ampere_sgemm", 4);
	struct hwy_trace *trace = small_finish(&m.small);
	struct hwy_roofline roofline;
	assert_true(roofline_from_shapes(&roofline, trace, NULL, &err));
	const struct roofline_point *op = point_of(&roofline, ROOFLINE_OPERATOR, "aten::mm");
	assert_non_null(op);
	assert_int_equal(op->count, 3);
	assert_near(op->flop, 6e9, 1);
	assert_near(op->bytes, 18e6, 1); /* the kernel's name tells the type */
	assert_int_equal(op->precision, HWY_BF16);
	assert_string_equal(op->shapes, sizes);
	roofline_free(&roofline);
	hwy_trace_free(trace);
}

#define CONVOLUTION                                                                                \
	"{'Input Dims': [[2,64,8,8],[64,64,3,3],[],[],[],[]], 'Input type': ['float','float'], "   \
	"'Concrete Inputs': ['','','[1, 1]','[1, 1]','[1, 1]','1']}"
static void convolutions_by_winograd_are_bound_by_nothing_known(void **state)
{
	(void)state;
	struct model m = model_new();
	model_op(&m, 0, 100, "aten::cudnn_convolution", CONVOLUTION);
	model_kernel(&m, 10, "volta_scudnn_winograd_128x128", 0.2);
	struct hwy_trace *trace = small_finish(&m.small);
	struct hwy_roofline roofline;
	assert_true(roofline_from_shapes(&roofline, trace, NULL, &err));
	const struct roofline_point *op =
		point_of(&roofline, ROOFLINE_OPERATOR, "aten::cudnn_convolution");
	assert_near(op->flop, 2.0 * 2 * 64 * 64 * 64 * 9, 1);
	assert_true(op->is_shortcut && op->bound == ROOFLINE_UNKNOWN && op->gain_ns == 0);
	roofline_free(&roofline);
	struct kernel_table table;
	assert_true(kernel_table_make(&table, trace, &err));
	assert_int_equal(table.kernels[0].point.gain_ns, 0);
	kernel_table_free(&table);
	hwy_trace_free(trace);
}

/* Without values: the backward, which comes later, has the sizes of the forward's result. */
static void a_forward_convolution_learns_its_result_from_a_later_backward(void **state)
{
	(void)state;
	for (int has_backward = 0; has_backward < 2; has_backward++) {
		struct model m = model_new();
		model_op(
			&m, 0, 100, "aten::cudnn_convolution",
			"{'Input Dims': [[2,64,8,8],[32,64,3,3],[]], 'Input type': ['float','float','']}");
		model_kernel(&m, 10, "implicit_gemm", 20);
		if (has_backward) {
			model_op(
				&m, 200, 300, "aten::convolution_backward",
				"{'Input Dims': [[2,32,4,4],[2,64,8,8],[32,64,3,3]], 'Input type': ['float','float','float']}");
			model_kernel(&m, 210, "dgrad", 20);
		}
		struct hwy_trace *trace = small_finish(&m.small);
		struct hwy_roofline roofline;
		assert_true(roofline_from_shapes(&roofline, trace, NULL, &err));
		const struct roofline_point *op =
			point_of(&roofline, ROOFLINE_OPERATOR, "aten::cudnn_convolution");
		assert_int_equal(op != NULL, has_backward);
		if (op) {
			assert_near(op->flop, 2.0 * 2 * 32 * 16 * 64 * 9, 1);
			assert_near(op->bytes, 4.0 * (2 * 64 * 64 + 32 * 64 * 9 + 2 * 32 * 16), 1);
		}
		roofline_free(&roofline);
		hwy_trace_free(trace);
	}
}

#define FLASH                                                                                      \
	"{'Input Dims': [[2,16,4,8],[2,16,4,8],[2,16,4,8],[],[]], 'Input type': ['c10::Half',"     \
	"'c10::Half','c10::Half','','']}"
#define SDPA                                                                                       \
	"{'Input Dims': [[2,4,16,8],[2,4,16,8],[2,4,16,8],[],[]], 'Input type': ['c10::Half',"     \
	"'c10::Half','c10::Half','Scalar','Scalar']}"
static void attention_is_that_of_the_operator_that_the_program_called(void **state)
{
	(void)state;
	const char *kernel = "flash_fwd_kernel<Traits<64>, false, true, false, false>(P)";
	struct model m = model_new();
	model_op(&m, 0, 100, "aten::_scaled_dot_product_flash_attention", SDPA);
	model_op(&m, 10, 90, "aten::_flash_attention_forward", FLASH);
	model_kernel(&m, 20, kernel, 10);
	model_op(&m, 200, 300, "aten::_flash_attention_forward", FLASH);
	model_kernel(&m, 220, kernel, 10);
	struct hwy_trace *trace = small_finish(&m.small);
	struct hwy_roofline roofline;
	assert_true(roofline_from_shapes(&roofline, trace, NULL, &err));
	static const char *const names[] = {"aten::_scaled_dot_product_flash_attention",
					    "aten::_flash_attention_forward"};
	for (int i = 0; i < 2; i++) {
		const struct roofline_point *op = point_of(&roofline, ROOFLINE_OPERATOR, names[i]);
		assert_non_null(op);
		assert_int_equal(op->count, 1);
		assert_near(op->flop, 2.0 * 8 * 16 * 16 / 2 * 16, 1e-9);
	}
	roofline_free(&roofline);
	hwy_trace_free(trace);
}

/* A product of two nodes, captured once and replayed four times: its work was done four times. */
static void a_captured_product_counts_at_each_replay(void **state)
{
	(void)state;
	struct model m = model_new();
	struct hwy_builder *builder = m.small.builder;
	for (int64_t node = 7; node <= 8; node++) {
		uint32_t index = hwy_new_nodes(builder);
		hwy_builder_trace(builder)->nodes[index] =
			(struct hwy_node){.process = m.small.process,
					  .thread = m.small.thread,
					  .graph = 1,
					  .node = node,
					  .time = US(20)};
	}
	model_op(&m, 10, 50, "aten::mm", MM);
	for (int replay = 0; replay < 4; replay++) {
		m.small.corr++;
		small_span_us(&m.small, m.small.api, HWY_API, 100 + replay * 10, 105 + replay * 10,
			      m.small.corr, "cudaGraphLaunch");
		for (int64_t node = 7; node <= 8; node++) {
			struct hwy_row row = {0};
			row.v[HWY_START] = US(200 + replay * 50 + (node - 7) * 20);
			row.v[HWY_DUR] = US(node == 7 ? 8 : 2);
			row.v[HWY_CORR] = m.small.corr;
			row.v[HWY_GRAPH_NODE] = node;
			row.v[HWY_NAME] = hwy_text_id(builder, node == 7 ? "nvjet_tst" : "reduce");
			hwy_add_span(builder, m.small.stream, HWY_KERNEL, &row);
		}
	}
	struct hwy_trace *trace = small_finish(&m.small);
	struct hwy_roofline roofline;
	assert_true(roofline_from_shapes(&roofline, trace, NULL, &err));
	const struct roofline_point *op = point_of(&roofline, ROOFLINE_OPERATOR, "aten::mm"),
				    *kernel = point_of(&roofline, ROOFLINE_KERNEL, "nvjet_tst");
	assert_non_null(op);
	assert_int_equal(op->count, 4);
	assert_int_equal(op->ns, 40000);
	assert_near(op->flop, 8e9, 1);
	assert_int_equal(kernel->count, 4);
	assert_near(kernel->flop, 8e9, 1);
	roofline_free(&roofline);
	hwy_trace_free(trace);
}

/* A kernel's time is that of all its launches, however many of them have known shapes. */
static void launches_of_unknown_shapes_stay_in_the_time_of_a_kernel(void **state)
{
	(void)state;
	for (int unknown = 1; unknown <= 2; unknown++) {
		struct model m = model_new();
		for (int i = 0; i < 10; i++) {
			model_op(&m, i * 100, i * 100 + 50, "aten::mm", MM);
			model_kernel(&m, i * 100 + 10, "nvjet_tst_gemm", 10);
		}
		for (int i = 0; i < unknown; i++)
			model_kernel(&m, 2000 + i * 100, "nvjet_tst_gemm", 10);
		struct hwy_trace *trace = small_finish(&m.small);
		struct kernel_table table;
		assert_true(kernel_table_make(&table, trace, &err));
		assert_int_equal(table.n, 1);
		const struct roofline_point *point = &table.kernels[0].point;
		assert_int_equal(point->count, 10 + unknown);
		assert_int_equal(point->ns, 100000 + unknown * 10000);
		/* 10 of 11 are enough to speak for all, 10 of 12 are not. */
		assert_int_equal(table.kernels[0].has_gain, unknown == 1);
		if (unknown == 1)
			assert_near(point->flop, 11 * 2e9, 1);
		else
			assert_true(isnan(point->flop));
		kernel_table_free(&table);
		hwy_trace_free(trace);
	}
}

static void a_window_counts_what_begins_in_it(void **state)
{
	(void)state;
	struct model m = model_new();
	for (int i = 0; i < 5; i++) {
		model_op(&m, i * 100, i * 100 + 50, "aten::mm", MM);
		model_kernel(&m, i * 100 + 10, "nvjet_tst_gemm", 4);
	}
	struct hwy_trace *trace = small_finish(&m.small);
	struct hwy_roofline roofline;
	struct roofline_options options = {.from = US(10100), .to = US(10300)};
	assert_true(roofline_from_shapes(&roofline, trace, &options, &err));
	assert_int_equal(point_of(&roofline, ROOFLINE_OPERATOR, "aten::mm")->count, 2);
	roofline_free(&roofline);
	hwy_trace_free(trace);
}

static struct roofline_point judged(struct roofline_point point)
{
	static struct hwy_arena arena;
	struct hwy_peaks peaks = {.tensor[HWY_BF16] = 1e15,
				  .plain[HWY_FP32] = 5e13,
				  .bytes_per_s = 4e12,
				  .cache_bytes = 5e7};
	point.name = "k";
	roofline_judge(&point, &peaks, &arena);
	return point;
}

static void what_binds_a_point(void **state)
{
	(void)state;
	struct roofline_point p = judged(
		(struct roofline_point){.count = 1, .ns = 1000000, .flop = 1e8, .bytes = 2.4e9});
	p = judged((struct roofline_point){
		.count = 1, .ns = 1000000, .flop = 1e8, .bytes = 2.4e9, .precision = HWY_FP32});
	assert_int_equal(p.bound, ROOFLINE_MEMORY);
	assert_near(p.of_peak, 0.6, 1e-9);
	assert_int_equal(p.gain_ns, 400000);
	assert_non_null(strstr(p.says, "bound by memory"));
	/* far from both roofs: short, few blocks, or nobody knows */
	struct roofline_point far = {
		.count = 1, .ns = 1000000, .flop = 1e8, .bytes = 1e8, .precision = HWY_FP32};
	assert_int_equal(judged(far).bound, ROOFLINE_UNKNOWN);
	far.count = 1000;
	assert_int_equal(judged(far).bound, ROOFLINE_LATENCY);
	far.count = 1;
	far.waves = 0.05;
	far.filled = 0.1;
	far.occupancy = 1;
	assert_int_equal(judged(far).bound, ROOFLINE_OCCUPANCY);
	/* a product on tensor cores holds few warps by design */
	far = (struct roofline_point){.count = 1,
				      .ns = 1000000,
				      .flop = 1e11,
				      .bytes = 1e8,
				      .precision = HWY_BF16,
				      .tensor = true,
				      .waves = 3,
				      .filled = 1,
				      .occupancy = 0.125};
	assert_int_equal(judged(far).bound, ROOFLINE_UNKNOWN);
	/* a cache held the data */
	p = judged((struct roofline_point){
		.count = 1, .ns = 1000000, .flop = 0, .bytes = 5e9, .precision = HWY_FP32});
	assert_true(p.of_peak > 1 && p.gain_ns == 0);
	assert_false(p.is_from_cache);
	assert_non_null(strstr(
		p.says, "a cache held a part of its data, or its inputs lie in less memory"));
	/* an unknown peak */
	p = judged((struct roofline_point){.count = 1,
					   .ns = 1000,
					   .flop = 1,
					   .bytes = 1,
					   .precision = HWY_FP4,
					   .tensor = true});
	assert_true(isnan(p.of_peak) && p.bound == ROOFLINE_UNKNOWN && p.gain_ns == 0);
	p = judged((struct roofline_point){.flop = NAN, .bytes = NAN});
	assert_int_equal(p.bound, ROOFLINE_UNKNOWN);
}

/* Data that fit into the cache came from there; more data did so in part; more arithmetic than is possible was not done. */
static void a_point_above_its_roof_claims_no_bound(void **state)
{
	(void)state;
	struct roofline_point p = judged((struct roofline_point){
		.count = 100, .ns = 100000, .bytes = 100 * 4e7, .precision = HWY_FP32});
	assert_near(p.of_peak, 10, 1e-9);
	assert_true(p.is_from_cache);
	assert_non_null(strstr(p.says, "came from a cache"));
	assert_true(p.bound == ROOFLINE_UNKNOWN && p.gain_ns == 0);
	p.bytes = 100 * 6e7;
	p = judged(p);
	assert_true(!p.is_from_cache && p.bound == ROOFLINE_UNKNOWN && p.gain_ns == 0);
	p = judged((struct roofline_point){.count = 1,
					   .ns = 1000000,
					   .flop = 2e12,
					   .bytes = 1e6,
					   .precision = HWY_BF16,
					   .tensor = true});
	assert_near(p.of_peak, 2, 1e-9);
	assert_true(!p.is_from_cache && p.bound == ROOFLINE_UNKNOWN && p.gain_ns == 0);
	assert_non_null(strstr(p.says, "more than the bf16 roof"));
	/* the roof says nothing about convolutions by Winograd */
	p.flop = 7e11;
	p.is_shortcut = true;
	p = judged(p);
	assert_true(isnan(p.of_peak) && isnan(p.roof_ns));
	assert_true(p.bound == ROOFLINE_UNKNOWN && p.gain_ns == 0);
	assert_non_null(strstr(p.says, "700 TFLOP/s by definition"));
}

/* The roof is never above the work: gain and time at the roof add up to the time, whatever the point. */
static void gains_are_never_more_than_the_time(void **state)
{
	(void)state;
	srand(3);
	for (int i = 0; i < 10000; i++) {
		struct roofline_point p = judged((struct roofline_point){
			.count = 1 + (uint32_t)rand() % 100,
			.ns = rand() % 1000000,
			.flop = (double)rand() * (rand() % 1000),
			.bytes = rand() % 1000000000,
			.precision = rand() % 2 ? HWY_BF16 : HWY_FP32,
			.tensor = rand() % 2,
		});
		assert_true(p.gain_ns >= 0 && p.gain_ns <= p.ns);
		assert_non_null(p.says);
		assert_true(!(p.of_peak > 1) || (p.bound == ROOFLINE_UNKNOWN && p.gain_ns == 0));
		if (!isnan(p.of_peak) && p.of_peak <= 1)
			assert_true(fabs((double)p.gain_ns + p.roof_ns - (double)p.ns) <= 1);
	}
}

static void the_json_form(void **state)
{
	(void)state;
	struct model m = model_new();
	model_op(&m, 0, 100, "aten::mm", MM);
	model_kernel(&m, 10, "nvjet_tst_gemm", 4);
	struct hwy_trace *trace = small_finish(&m.small);
	struct hwy_roofline roofline;
	char *text = NULL;
	size_t length;
	struct hwy_json json = {.out = open_memstream(&text, &length)};
	assert_true(roofline_from_shapes(&roofline, trace, NULL, &err));
	roofline_add(&roofline, &(struct roofline_point){.name = "k",
							 .source = ROOFLINE_NCU,
							 .flop = NAN,
							 .bytes = NAN,
							 .span = ROOFLINE_NO_SPAN});
	roofline_put_json(&json, &roofline);
	fclose(json.out);
	static const char *const parts[] = {
		"{\"devices\":[{\"device\":0,\"name\":\"NVIDIA H200\",\"model\":\"H200 SXM\",\"bytes_per_s\":4.8e+12",
		"{\"precision\":\"bf16\",\"tensor\":true,\"flop_per_s\":9.894e+14,\"source\":\"data sheet\"}",
		"\"kind\":\"operator\",\"name\":\"aten::mm\",\"shapes\":\"[[1000, 1000], [1000, 1000]]\",\"device\":0,\"count\":1,\"ns\":4000",
		"\"bound\":\"compute\"",
		"\"source\":\"shapes\",\"says\":\"500 TFLOP/s, 51 % of the bf16 tensor roof: bound by compute\",\"span\":",
		"\"flop\":null,\"bytes\":null",
		"\"source\":\"ncu\",\"says\":\"its FLOP, its bytes or the device's peaks are not known\",\"span\":null}",
	};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (!strstr(text, parts[i]))
			fail_msg("%s is missing in %s", parts[i], text);
	free(text);
	roofline_free(&roofline);
	hwy_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_product_has_a_point_and_so_has_its_kernel),
		cmocka_unit_test(of_several_kernels_the_one_that_took_most_did_the_work),
		cmocka_unit_test(a_copy_from_the_host_is_under_no_roof),
		cmocka_unit_test(ranges_of_emit_nvtx_with_sizes_are_operators),
		cmocka_unit_test(convolutions_by_winograd_are_bound_by_nothing_known),
		cmocka_unit_test(a_forward_convolution_learns_its_result_from_a_later_backward),
		cmocka_unit_test(attention_is_that_of_the_operator_that_the_program_called),
		cmocka_unit_test(a_captured_product_counts_at_each_replay),
		cmocka_unit_test(launches_of_unknown_shapes_stay_in_the_time_of_a_kernel),
		cmocka_unit_test(a_window_counts_what_begins_in_it),
		cmocka_unit_test(what_binds_a_point),
		cmocka_unit_test(a_point_above_its_roof_claims_no_bound),
		cmocka_unit_test(gains_are_never_more_than_the_time),
		cmocka_unit_test(the_json_form),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
