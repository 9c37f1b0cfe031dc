/* SPDX-License-Identifier: Apache-2.0 */
/* compare_names_test.c - kernels keep their name when only their instantiation changes. */
#include "make_trace.h"

#include "compare/kernel_names.h"

static void folds_to(const char *name, const char *wanted)
{
	char out[KERNEL_NAME_BYTES];
	kernel_name_fold(name, out);
	assert_string_equal(out, wanted);
}

static void template_arguments_parameters_and_types_are_dropped(void **state)
{
	folds_to("tiny", "tiny");
	folds_to("void softmax<float, 4>(float *, int)", "softmax");
	folds_to("void at::native::softmax<int, (bool)1>(T1 *, int)", "at::native::softmax");
	folds_to("std::enable_if<(bool)1, void>::type ns::fused<int>(int)", "ns::fused");
}

static void namespaces_without_a_name_are_dropped(void **state)
{
	folds_to("void at::native::(anonymous namespace)::layer_norm<float>(int)",
		 "at::native::layer_norm");
	folds_to("void at::native::<unnamed>::layer_norm<float>(int)", "at::native::layer_norm");
	folds_to("void (anonymous namespace)::with_index<int>(int)", "with_index");
}

static void a_return_type_is_not_taken_for_the_name(void **state)
{
	folds_to("std::enable_if<(((8)>(0)))&&ns::convert<c10::BFloat16>::exists, void>::type "
		 "ns::add_norm<c10::BFloat16, 8>(c10::BFloat16*, long)",
		 "ns::add_norm");
	folds_to("std::enable_if<(2<1), int>::type ns::add_norm<8>(long)", "ns::add_norm");
	folds_to("unsigned long ns::count<int>(int const*)", "ns::count");
	folds_to("void ns::compare<(a>b), ns::other<int> >(int)", "ns::compare");
}

static void counters_and_addresses_are_folded(void **state)
{
	folds_to("triton_poi_fused_add_12", "triton_poi_fused_add_#");
	folds_to("kernel_0x7f001234abcd_v", "kernel_#_v");
	folds_to("sm80_gemm_tile128x128", "sm80_gemm_tile128x128");
}

static void names_that_say_nothing_keep_what_tells_them_apart(void **state)
{
	folds_to("void cutlass::Kernel2<cutlass_simt_sgemm_nn>(T1::Params)",
		 "cutlass::Kernel2<cutlass_simt_sgemm_nn>");
	folds_to(
		"void at::native::vectorized_elementwise_kernel<(int)4, at::native::FillFunctor<int>>(int)",
		"at::native::vectorized_elementwise_kernel<at::native::FillFunctor>");
}

static void any_text_is_folded_to_something_short(void **state)
{
	struct dice dice = {7};
	static const char letters[] = "<>()[]:, _ab01x{}anonymous";
	for (int i = 0; i < 20000; i++) {
		char name[700], out[KERNEL_NAME_BYTES];
		size_t n = (size_t)roll_below(&dice, (int64_t)sizeof name - 1);
		for (size_t k = 0; k < n; k++)
			name[k] = letters[roll_below(&dice, (int64_t)sizeof letters - 1)];
		name[n] = '\0';
		kernel_name_fold(name, out);
		assert_true(strlen(out) < KERNEL_NAME_BYTES);
		assert_true(n == 0 || *out);
	}
}

static void a_re_tiled_kernel_is_a_sibling(void **state)
{
	assert_true(kernel_name_is_sibling("gemm_128x64_tn", "gemm_64x256_tn"));
	assert_false(kernel_name_is_sibling("gemm_128x64_tn", "gemm_64x256_nn"));
	assert_true(kernel_name_is_sibling("", ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(template_arguments_parameters_and_types_are_dropped),
		cmocka_unit_test(namespaces_without_a_name_are_dropped),
		cmocka_unit_test(a_return_type_is_not_taken_for_the_name),
		cmocka_unit_test(counters_and_addresses_are_folded),
		cmocka_unit_test(names_that_say_nothing_keep_what_tells_them_apart),
		cmocka_unit_test(any_text_is_folded_to_something_short),
		cmocka_unit_test(a_re_tiled_kernel_is_a_sibling),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
