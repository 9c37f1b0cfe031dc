/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_find_test.c - the short part of a kernel's name that means this kernel and no other. */
#include "make_trace.h"

#include "analyze/kernel_table.h"

static struct hwy_err err;

static struct hwy_trace *trace_of_names(const char *const *names, uint32_t n)
{
	struct hwy_builder *b = hwy_builder_new();
	struct hwy_trace *trace = hwy_builder_trace(b);
	hwy_new_devices(b);
	for (uint32_t i = 0; i < n; i++) {
		double ns = 1000;
		uint32_t row = hwy_new_measured(b), value = hwy_new_measures(b);
		trace->measured[row] = (struct hwy_measured){.kernel = hwy_text_id(b, names[i]),
							     .shape = HWY_NONE,
							     .ordinal = HWY_NONE,
							     .launches = 1,
							     .source = hwy_text_id(b, "headway")};
		trace->measures[value] = (struct hwy_measure){
			.measured = row, .metric = hwy_text_id(b, "gpu__time_duration.sum")};
		memcpy(&trace->measures[value].value, &ns, sizeof ns);
	}
	return hwy_builder_finish(b, false);
}

static void expect_part(struct kernel_table *table, const char *name, const char *wanted)
{
	const char *part;
	size_t n = kernel_table_part(table, kernel_table_find(table, name, &err), &part);
	assert_int_equal(n, strlen(wanted));
	assert_memory_equal(part, wanted, n);
}

static void a_part_that_ends_with_a_word_is_enough(void **state)
{
	static const char *const names[] = {
		"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float>(int)",
		"void at::native::vectorized_elementwise_kernel<4, Mul>(int)",
		"cudnn_generated_fort_native_sdpa_sm90",
		"sm80_xmma_gemm_f32f32",
		"sm80_xmma_gemm_f32f32_tf32f32",
		"tiny(float*)",
	};
	struct kernel_table table;
	struct hwy_trace *trace = trace_of_names(names, 6);
	assert_true(kernel_table_make(&table, trace, &err));
	expect_part(&table, names[0], "vectorized_layer");
	expect_part(&table, names[1], "vectorized_elementwise");
	expect_part(&table, names[2], "cudnn_generated");
	expect_part(&table, names[3],
		    names[3]); /* the whole name, which the other one begins with */
	expect_part(&table, names[4], "sm80_xmma_gemm_f32f32_tf32f32");
	expect_part(&table, names[5], names[5]);
	kernel_table_free(&table);
	hwy_trace_free(trace);
}

static void the_part_of_a_kernel_finds_it(void **state)
{
	static const char *const words[] = {"gemm", "layer_norm", "kernel", "float",
					    "_",    "<",          "(",      "at::"};
	struct dice dice = {11};
	for (int round = 0; round < 200; round++) {
		char texts[8][128];
		const char *names[8];
		for (int i = 0; i < 8; i++) {
			texts[i][0] = '\0';
			for (int64_t w = 1 + roll_below(&dice, 6); w > 0; w--)
				strcat(texts[i], words[roll_below(&dice, 8)]);
			names[i] = texts[i];
		}
		struct kernel_table table;
		struct hwy_trace *trace = trace_of_names(names, 8);
		assert_true(kernel_table_make(&table, trace, &err));
		for (uint32_t i = 0; i < table.n; i++) {
			const char *part;
			char text[128];
			size_t n = kernel_table_part(&table, &table.kernels[i], &part);
			snprintf(text, sizeof text, "%.*s", (int)n, part);
			const struct known_kernel *found = kernel_table_find(&table, text, &err);
			assert_non_null(found);
			assert_string_equal(found->point.name, table.kernels[i].point.name);
		}
		kernel_table_free(&table);
		hwy_trace_free(trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_part_that_ends_with_a_word_is_enough),
		cmocka_unit_test(the_part_of_a_kernel_finds_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
