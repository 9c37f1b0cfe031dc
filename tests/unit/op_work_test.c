/* SPDX-License-Identifier: Apache-2.0 */
/* FLOP and bytes of operators from what PyTorch's profiler writes about their inputs. Texts use ' where JSON has ". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/kernel_math.h"
#include "analyze/op_work/op_settle.h"

static bool work_of(struct op_work *work, const char *name, const char *text)
{
	struct hwy_arena arena = {0};
	struct op_args args;
	char *json = hwy_arena_text(&arena, text, strlen(text));
	for (char *at = json; *at; at++)
		*at = *at == '\'' ? '"' : *at;
	bool ok = op_args_read(&args, &arena, json, strlen(json)) &&
		  op_work_find(work, op_work_model(name), &args);
	hwy_arena_free(&arena);
	return ok;
}

/* With nothing but the name of a kernel to tell what is open. */
static bool settled_work_of(struct op_work *work, const char *name, const char *text,
			    const char *kernel)
{
	struct op_results none = {0};
	return work_of(work, name, text) && op_settle(work, &none, kernel);
}

#define DIMS(dims, types) "{'Input Dims': [" dims "], 'Input type': [" types "]}"
#define FULL(dims, types, values)                                                                  \
	"{'Input Dims': [" dims "], 'Input type': [" types "], 'Concrete Inputs': [" values "]}"
#define F "'float'"
#define H "'c10::Half'"
#define B "'c10::BFloat16'"
#define S "'Scalar'"

static void expect(const char *name, const char *text, double flop, double bytes)
{
	struct op_work work;
	if (!settled_work_of(&work, name, text, ""))
		fail_msg("%s is not known: %s", name, text);
	if (work.flop != flop || work.bytes != bytes)
		fail_msg("%s: %.0f FLOP, %.0f bytes, not %.0f, %.0f: %s", name, work.flop,
			 work.bytes, flop, bytes, text);
}

static void expect_unknown(const char *name, const char *text)
{
	struct op_work work;
	if (settled_work_of(&work, name, text, ""))
		fail_msg("%s is known: %s", name, text);
}

static void products_of_matrices(void **state)
{
	(void)state;
	expect("aten::mm", DIMS("[3,5],[5,7]", F "," F), 2 * 3 * 5 * 7, 4 * (15 + 35 + 21));
	expect("aten::addmm", DIMS("[7],[3,5],[5,7],[],[]", H "," H "," H "," S "," S),
	       2 * 3 * 5 * 7 + 21, 2 * (7 + 15 + 35 + 21));
	expect("aten::bmm", DIMS("[2,3,5],[2,5,7]", B "," B), 2 * 2 * 3 * 5 * 7,
	       2 * (30 + 70 + 42));
	expect("aten::baddbmm", DIMS("[2,3,7],[2,3,5],[2,5,7]", F "," F "," F),
	       2 * 2 * 3 * 5 * 7 + 42, 4 * (42 + 30 + 70 + 42));
	expect("aten::mv", DIMS("[3,5],[5]", F "," F), 30, 4 * (15 + 5 + 3));
	expect("aten::dot", DIMS("[5],[5]", F "," F), 10, 4 * 11);
	expect("aten::mm", DIMS("[3,5],[5,7]", "'c10::complex<float>','c10::complex<float>'"),
	       8 * 3 * 5 * 7, 8 * (15 + 35 + 21));
	/* fp8 with a result of bf16 (15), and of float (6) */
	expect("aten::_scaled_mm",
	       FULL("[4,8],[8,6],[],[],[],[],[],[]",
		    "'c10::Float8_e4m3fn','c10::Float8_e4m3fn'," F "," F ",'','',"
		    "'Scalar','Scalar'",
		    "'','','','','','','15','True'"),
	       2 * 4 * 8 * 6, 32 + 48 + 2 * 24);
	expect("aten::_scaled_mm",
	       FULL("[4,8],[8,6],[],[],[],[],[],[]",
		    "'c10::Float8_e4m3fn','c10::Float8_e4m3fn'," F "," F ",'','',"
		    "'Scalar','Scalar'",
		    "'','','','','','','6','True'"),
	       2 * 4 * 8 * 6, 32 + 48 + 4 * 24);
	expect("aten::_int_mm", DIMS("[4,8],[8,6]", "'signed char','signed char'"), 2 * 4 * 8 * 6,
	       32 + 48 + 4 * 24);
	/* 16 rows divided among 3 experts; and the gradient of the weights: 3 products */
	expect("aten::_grouped_mm", DIMS("[16,8],[3,8,6],[3]", B "," B ",'int'"), 2 * 16 * 8 * 6,
	       2 * (128 + 144 + 96));
	expect("aten::_grouped_mm", DIMS("[8,16],[16,6],[3]", B "," B ",'int'"), 2 * 16 * 8 * 6,
	       2 * (128 + 96 + 3 * 48));
	expect_unknown("aten::mm", DIMS("[3,5],[4,7]", F "," F));
	expect_unknown("aten::mm", DIMS("[3,5]", F));
	expect_unknown("aten::mm", DIMS("[3,5],[5,7]", "'',''"));
	expect_unknown("aten::mm", "{'External id': 7}");
	expect_unknown("aten::mm", "");
	expect_unknown("aten::mm", "not json");
	expect_unknown("aten::linear", DIMS("[3,5],[7,5]", F "," F));
}

#define LISTS "'ScalarList','ScalarList','ScalarList'"
static void convolutions(void **state)
{
	(void)state;
	/* 8 × 8 with a window of 3, stride 2, padding 1: 4 × 4 */
	expect("aten::cudnn_convolution",
	       FULL("[2,4,8,8],[6,4,3,3],[],[],[],[]", F "," F "," LISTS "," S,
		    "'','','[1, 1]','[2, 2]','[1, 1]','1'"),
	       2.0 * 2 * 6 * 16 * 4 * 9, 4 * (512 + 216 + 192));
	/* two groups: each result sees half of the channels */
	expect("aten::cudnn_convolution",
	       FULL("[2,4,8,8],[6,2,3,3],[],[],[],[]", F "," F "," LISTS "," S,
		    "'','','[1, 1]','[2, 2]','[1, 1]','2'"),
	       2.0 * 2 * 6 * 16 * 2 * 9, 4 * (512 + 108 + 192));
	/* dilation 2: a window of 3 reaches over 5: 8 - 5 + 1 = 4 */
	expect("aten::cudnn_convolution",
	       FULL("[1,1,8,8],[1,1,3,3],[],[],[],[]", F "," F "," LISTS "," S,
		    "'','','[0, 0]','[1, 1]','[2, 2]','1'"),
	       2.0 * 16 * 9, 4 * (64 + 9 + 16));
	/* transposed: (4 - 1)·2 - 2·1 + 3 + 1 = 8; weights are in × out */
	expect("aten::cudnn_convolution_transpose",
	       FULL("[2,6,4,4],[6,4,3,3],[],[],[],[],[]", F "," F "," LISTS ",'ScalarList'," S,
		    "'','','[1, 1]','[1, 1]','[2, 2]','[1, 1]','1'"),
	       2.0 * 2 * 6 * 16 * 4 * 9, 4 * (192 + 216 + 512));
	expect("aten::miopen_convolution",
	       FULL("[2,4,8,8],[6,4,3,3],[6],[],[],[],[]", F "," F "," F "," LISTS "," S,
		    "'','','','[1, 1]','[2, 2]','[1, 1]','1'"),
	       2.0 * 2 * 6 * 16 * 4 * 9 + 192, 4 * (512 + 216 + 6 + 192));
	/* without the values of stride and padding nobody knows */
	expect_unknown("aten::cudnn_convolution",
		       DIMS("[2,4,8,8],[6,4,3,3],[],[],[],[]", F "," F "," LISTS "," S));
	expect_unknown("aten::cudnn_convolution",
		       FULL("[2,4,8,8],[6,4,3,3],[],[],[],[]", F "," F "," LISTS "," S,
			    "'','','[1, 1]','[0, 0]','[1, 1]','1'"));
}

#define BACK "[2,6,4,4],[2,4,8,8],[6,4,3,3],[],[],[],[],[],[],[],[]"
#define BACK_TYPES                                                                                 \
	F "," F "," F ",'ScalarList','ScalarList','ScalarList','ScalarList'," S ",'ScalarList'," S \
	  ",'ScalarList'"
#define BACK_VALUES "'','','','[6]','[2, 2]','[1, 1]','[1, 1]','False','[0, 0]','1',"
static void convolutions_backward(void **state)
{
	(void)state;
	const double products = 2.0 * 2 * 6 * 16 * 4 * 9, bytes = 4 * (192 + 512 + 216);
	struct op_work work;
	expect("aten::convolution_backward",
	       FULL(BACK, BACK_TYPES, BACK_VALUES "'[True, True, True]'"), 2 * products, 2 * bytes);
	expect("aten::convolution_backward",
	       FULL(BACK, BACK_TYPES, BACK_VALUES "'[False, True, False]'"), products, bytes);
	/* sizes alone suffice */
	expect("aten::convolution_backward", DIMS(BACK, BACK_TYPES), 2 * products, 2 * bytes);
	assert_true(work_of(&work, "aten::convolution_backward",
			    FULL(BACK, BACK_TYPES, BACK_VALUES "'[True, True, False]'")));
	assert_int_equal(work.parts, 2);
	expect_unknown("aten::convolution_backward",
		       FULL(BACK, BACK_TYPES, BACK_VALUES "'[False, False, True]'"));
}

#define QKV "[2,4,16,8],[2,4,32,8],[2,4,32,6]"
static void attention(void **state)
{
	(void)state;
	const double pairs = 2 * 4 * 16 * 32, bytes = 2.0 * 8 * (16 * 8 + 32 * 8 + 32 * 6 + 16 * 6);
	expect("aten::_scaled_dot_product_flash_attention",
	       FULL(QKV ",[],[],[],[]", B "," B "," B "," S "," S "," S "," S,
		    "'','','','0.','False','False','0.125'"),
	       2 * pairs * (8 + 6), bytes);
	/* query i of 16 sees keys 0 … i: half of a square of 16 */
	expect("aten::_scaled_dot_product_flash_attention",
	       FULL(QKV ",[],[],[],[]", B "," B "," B "," S "," S "," S "," S,
		    "'','','','0.','True','False','0.125'"),
	       2 * (2 * 4 * 16 * 16 / 2) * (8 + 6), bytes);
	expect("aten::_scaled_dot_product_efficient_attention",
	       FULL(QKV ",[2,4,16,32],[],[],[],[]", B "," B "," B "," B "," S "," S "," S "," S,
		    "'','','','','False','0.','False',''"),
	       2 * pairs * (8 + 6), bytes + 2.0 * 2 * 4 * 16 * 32);
	expect("aten::_scaled_dot_product_flash_attention_backward",
	       FULL("[2,4,16,6]," QKV ",[2,4,16,6],[2,4,16],[],[],[],[],[],[],[],[],[]",
		    B "," B "," B "," B "," B "," F ",'',''," S "," S "," S "," S ",'',''," S,
		    "'','','','','','','','','16','32','0.','False','','',''"),
	       2 * pairs * (3 * 8 + 2 * 6), 2 * bytes);
	/* whether it is causal is not recorded; packed sequences */
	expect_unknown("aten::_scaled_dot_product_flash_attention",
		       DIMS(QKV ",[],[],[],[]", B "," B "," B "," S "," S "," S "," S));
	expect_unknown("aten::_scaled_dot_product_flash_attention",
		       FULL("[64,4,8],[64,4,8],[64,4,8],[],[],[],[]",
			    B "," B "," B "," S "," S "," S "," S,
			    "'','','','0.','True','False','0.125'"));
}

static void attention_of_other_libraries(void **state)
{
	(void)state;
	const double bytes = 2.0 * (2 * 16 * 4 * 8 * 2 + 2 * 32 * 4 * 8 * 2);
	static const char *const dims =
		"{'Input Dims': [[2,16,4,8],[2,32,4,8],[2,32,4,8],[],[],[],[],[]], 'Input type': "
		"['c10::Half','c10::Half','c10::Half','Scalar','Scalar','Scalar','Scalar','Scalar'], "
		"'Concrete Inputs': ['','','','0.','0.3','%s','%s','%s']}";
	char text[500];
	snprintf(text, sizeof text, dims, "False", "-1", "-1");
	expect("flash_attn::_flash_attn_forward", text, 2.0 * 8 * 16 * 32 * 16, bytes);
	/* the last of 16 queries sees all 32 keys, the first 17: 16·32 less half of 16·16 */
	snprintf(text, sizeof text, dims, "True", "-1", "0");
	expect("flash_attn::_flash_attn_forward", text, 2.0 * 8 * (16 * 32 - 128) * 16, bytes);
	/* a window of 4 keys, and one that is wider than the sequence */
	snprintf(text, sizeof text, dims, "True", "4", "0");
	expect_unknown("flash_attn::_flash_attn_forward", text);
	snprintf(text, sizeof text, dims, "True", "64", "0");
	expect("flash_attn::_flash_attn_forward", text, 2.0 * 8 * (16 * 32 - 128) * 16, bytes);
	/* three sequences of 16 behind each other; 48 rows of three sequences of up to 20 are not known; one sequence is */
	static const char *const packed =
		"{'Input Dims': [[48,4,8],[48,4,8],[48,4,8],[%d],[%d],[],[],[],[],[],[]], 'Input type': "
		"['c10::Half','c10::Half','c10::Half','int','int','Scalar','Scalar','Scalar','Scalar',"
		"'Scalar','Scalar'], 'Concrete Inputs': ['','','','','','%d','%d','0.','0.3','True','-1']}";
	snprintf(text, sizeof text, packed, 4, 4, 16, 16);
	expect("flash_attn::_flash_attn_varlen_forward", text, 2.0 * 12 * 16 * 16 / 2 * 16,
	       2.0 * 4 * 48 * 4 * 8);
	snprintf(text, sizeof text, packed, 4, 4, 20, 20);
	expect_unknown("flash_attn::_flash_attn_varlen_forward", text);
	snprintf(text, sizeof text, packed, 2, 2, 48, 48);
	expect("flash_attn::_flash_attn_varlen_forward", text, 2.0 * 4 * 48 * 48 / 2 * 16,
	       2.0 * 4 * 48 * 4 * 8);
	/* xformers: mask 2 lets the last query see the last key */
	static const char *const xformers =
		"{'Input Dims': [[2,16,4,8],[2,32,4,8],[2,32,4,8],[],[],[],[],[],[],[],[]], 'Input type': "
		"['c10::Half','c10::Half','c10::Half','','','','','','Scalar','Scalar','Scalar'], "
		"'Concrete Inputs': ['','','','','','','','','0.','%d','True']}";
	const double pairs[] = {8 * 16 * 32, 8 * 128, 8 * (16 * 32 - 128)};
	for (int mask = 0; mask < 3; mask++) {
		snprintf(text, sizeof text, xformers, mask);
		expect("aten::_efficient_attention_forward", text, 2 * pairs[mask] * 16, bytes);
	}
}

/* Recordings without values: the kernel's name has the mask. */
static void a_flash_kernel_tells_whether_attention_is_causal(void **state)
{
	(void)state;
	static const struct {
		const char *kernel;
		bool is_known, is_causal;
	} cases[] = {
		{"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 4, false, "
		 "T<64, 4, cutlass::bfloat16_t> >, false, true, false, false, false>(P)",
		 true, true},
		{"void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<(int)64, (bool)1>, (bool)0, (bool)0, (bool)0, "
		 "(bool)1>(P)",
		 true, false},
		{"void flash::flash_fwd_splitkv_kernel<Traits<64, true>, true, false, false>(P)",
		 true, true},
		/* a window, a kernel that does not tell, a name that was cut */
		{"void flash::flash_fwd_kernel<Traits<64>, false, false, true, false>(P)", false,
		 false},
		{"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7", false,
		 false},
		{"void flash::flash_fwd_kernel<Traits<64", false, false},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct op_work work;
		bool ok = settled_work_of(&work, "aten::_scaled_dot_product_flash_attention",
					  DIMS("[2,4,16,8],[2,4,16,8],[2,4,16,8],[],[],[],[]",
					       B "," B "," B "," S "," S "," S "," S),
					  cases[i].kernel);
		if (ok != cases[i].is_known)
			fail_msg("%s: %d", cases[i].kernel, ok);
		if (ok)
			assert_true(work.flop ==
				    2.0 * 8 * 16 * 16 * 16 / (cases[i].is_causal ? 2 : 1));
	}
}

/* Recordings without values: the gradient of a convolution's backward has the sizes of its result. */
static void a_convolution_backward_tells_the_result_of_its_forward(void **state)
{
	(void)state;
	const char *forward = DIMS("[2,4,8,8],[6,4,3,3],[],[],[],[]", F "," F "," LISTS "," S);
	struct op_results results = {0};
	struct op_work work, back;
	assert_true(work_of(&work, "aten::cudnn_convolution", forward));
	assert_false(op_settle(&work, &results, ""));
	assert_true(work_of(&back, "aten::convolution_backward", DIMS(BACK, BACK_TYPES)));
	op_results_learn(&results, &back);
	assert_true(op_settle(&work, &results, ""));
	assert_true(work.flop == 2.0 * 2 * 6 * 16 * 4 * 9);
	assert_true(work.bytes == 4 * (512 + 216 + 192));
	/* the same data and weights with another stride: nobody knows which it is */
	assert_true(work_of(
		&back, "aten::cudnn_convolution_backward",
		DIMS("[2,4,8,8],[2,6,8,8],[6,4,3,3],[],[],[],[],[],[],[],[]", F "," F "," F)));
	assert_true(back.flop == 2 * 2.0 * 2 * 6 * 64 * 4 * 9);
	op_results_learn(&results, &back);
	assert_true(work_of(&work, "aten::cudnn_convolution", forward));
	assert_false(op_settle(&work, &results, ""));
	op_results_free(&results);
	/* transposed by its channels: each element of the data takes part; or by its sizes */
	assert_true(work_of(&back, "aten::convolution_backward",
			    DIMS("[2,4,8,8],[2,6,4,4],[6,4,3,3]", F "," F "," F)));
	assert_true(back.flop == 2 * 2.0 * 2 * 6 * 16 * 4 * 9);
	assert_true(work_of(&back, "aten::convolution_backward",
			    DIMS("[2,6,8,8],[2,6,4,4],[6,6,3,3]", F "," F "," F)));
	assert_true(back.flop == 2 * 2.0 * 2 * 6 * 16 * 6 * 9 && !back.pair);
	assert_true(work_of(&back, "aten::convolution_backward",
			    DIMS("[2,6,4,4],[2,6,8,8],[6,6,3,3]", F "," F "," F)));
	assert_true(back.flop == 2 * 2.0 * 2 * 6 * 16 * 6 * 9 && back.pair);
	/* larger by one: padded, or transposed */
	assert_false(work_of(&back, "aten::convolution_backward",
			     DIMS("[2,6,9,9],[2,6,8,8],[6,6,2,2]", F "," F "," F)));
	assert_false(work_of(&back, "aten::convolution_backward",
			     DIMS("[2,6,9,9],[2,5,8,8],[7,6,2,2]", F "," F "," F)));
}

static void operators_that_move_data(void **state)
{
	(void)state;
	expect("aten::add", DIMS("[4,8],[4,8],[]", F "," F "," S), 32, 4 * 96);
	expect("aten::add_", DIMS("[4,8],[8],[]", F "," F "," S), 32, 4 * (32 + 8 + 32));
	expect("aten::mul", DIMS("[4,1],[1,8]", H "," F), 32, 4 * 2 + 8 * 4 + 32 * 4);
	/* a number of Python's does not widen the result */
	expect("aten::mul", DIMS("[4,8],[]", H ",'double'"), 32, 2 * 32 + 8 + 2 * 32);
	expect("aten::eq", DIMS("[4,8],[]", "'long int'," S), 32, 8 * 32 + 32);
	expect("aten::copy_", DIMS("[4,8],[4,8],[]", H "," F "," S), 0, 32 * 2 + 32 * 4);
	expect("aten::fill_", DIMS("[4,8],[]", F "," S), 0, 128);
	expect("aten::native_dropout", DIMS("[4,8],[],[]", F "," S "," S), 32, 128 + 128 + 32);
	/* what is stretched lies in memory once */
	expect("aten::add",
	       "{'Input Dims': [[4,8],[4,8]], 'Input type': ['float','float'], "
	       "'Input Strides': [[8,1],[0,1]]}",
	       32, 4 * (32 + 8 + 32));
	expect("aten::sum",
	       FULL("[4,8],[],[],[]", F ",'ScalarList'," S ",''", "'','[0]','True',''"), 32,
	       4 * (32 + 8));
	expect("aten::mean",
	       FULL("[4,8],[],[],[]", F ",'ScalarList'," S ",''", "'','[-1]','True',''"), 32,
	       4 * (32 + 4));
	expect("aten::_softmax", DIMS("[4,8],[],[]", F "," S "," S), 160, 256);
	expect("aten::native_layer_norm",
	       DIMS("[4,8],[],[8],[8],[]", H ",'ScalarList'," H "," H "," S), 256,
	       2 * (32 + 8 + 8 + 32));
	expect("aten::embedding", DIMS("[100,8],[5],[],[],[]", H ",'long int'," S "," S "," S), 0,
	       2 * 5 * 8 * 2 + 5 * 8);
	expect("aten::index_select", FULL("[100,8],[],[5]", H "," S ",'long int'", "'','0',''"), 0,
	       2 * 5 * 8 * 2 + 5 * 8);
	/* two rows are in the table: no more are read */
	expect("aten::embedding", DIMS("[2,8],[5],[],[],[]", H ",'long int'," S "," S "," S), 0,
	       2 * 16 + 5 * 8 * 2 + 5 * 8);
	/* one number for each of 5 rows, stretched over 8 elements; without strides nobody knows that it is */
	expect("aten::gather",
	       "{'Input Dims': [[100,8],[],[5,8]], 'Input type': ['c10::Half','Scalar','long int'], "
	       "'Input Strides': [[8,1],[],[1,0]]}",
	       0, 2 * 5 * 8 * 2 + 5 * 8);
	expect("aten::gather", DIMS("[100,8],[],[5,8]", H "," S ",'long int'"), 0, 2 * 5 * 8 * 2);
	/* the last is the place of the result */
	expect("aten::_softmax", DIMS("[4,8],[],[],[4,8]", F "," S "," S "," F), 160, 256);
	expect("aten::_foreach_add_",
	       DIMS("[[4,8],[8]],[[4,8],[8]],[]", "'TensorList','TensorList'," S), 40, 3 * 40 * 4);
	expect("aten::cat", DIMS("[[4,8],[4,8]],[]", "'TensorList'," S), 0, 2 * 64 * 4);
	expect("triton_poi_fused_add_0", DIMS("[32],[32],[32],[]", H "," H "," H "," S), 0, 192);
	expect_unknown("aten::_foreach_add_", DIMS("[],[],[]", "'TensorList','TensorList'," S));
	expect_unknown("aten::unheard_of", DIMS("[4,8]", F));
}

#define L "'long int'"
static void parts_of_tables(void **state)
{
	(void)state;
	/* 5 rows in 3 bags */
	expect("aten::_embedding_bag", DIMS("[100,8],[5],[3],[],[],[],[],[],[]", F "," L "," L),
	       5 * 8, 4 * (5 * 8 + 3 * 8) + 8 * (5 + 3));
	/* 6 rows, whose table has 4: 4 are written */
	expect("aten::embedding_dense_backward",
	       FULL("[2,3,8],[2,3],[],[],[]", F "," L "," S "," S "," S, "'','','4','-1','False'"),
	       48, 4 * (48 + 4 * 8) + 6 * 8);
	expect("aten::embedding_dense_backward",
	       FULL("[2,3,8],[2,3],[],[],[]", F "," L "," S "," S "," S, "'','','50','-1','False'"),
	       48, 4 * (48 + 48) + 6 * 8);
	expect_unknown("aten::embedding_dense_backward",
		       DIMS("[2,3,8],[2,4],[],[],[]", F "," L "," S "," S "," S));
	/* values are read, their places read and written */
	expect("aten::index_add_", DIMS("[100,8],[],[5],[5,8],[]", F "," S "," L "," F "," S), 0,
	       4 * (40 + 2 * 40) + 8 * 5);
	expect("aten::scatter_add_",
	       "{'Input Dims': [[100,8],[],[5,8],[5,8]], 'Input type': ['float','Scalar','long int','float'], "
	       "'Input Strides': [[8,1],[],[8,1],[8,1]]}",
	       0, 4 * (40 + 2 * 40) + 8 * 40);
	expect("aten::_index_put_impl_", DIMS("[100,8],[],[5,8],[],[]", H ",''," H "," S "," S), 0,
	       2 * (40 + 40));
	expect_unknown("aten::_index_put_impl_",
		       DIMS("[100,8],[],[],[],[]", H ",''," H "," S "," S));
	/* one of 10 elements of each row */
	expect("aten::nll_loss_forward", DIMS("[32,10],[32],[],[],[]", F "," L ",''," S "," S), 32,
	       32 * (4 + 8));
	expect("aten::nll_loss_backward",
	       DIMS("[],[32,10],[32],[],[],[],[]", F "," F "," L ",''," S "," S "," F), 32,
	       32 * (4 + 8));
	/* keys of bf16 into a cache of bytes */
	expect("_C_cache_ops::reshape_and_cache_flash",
	       DIMS("[7,2,8],[7,2,8],[100,16,2,8],[100,16,2,8],[7]",
		    B "," B ",'unsigned char','unsigned char'," L),
	       0, 2 * 2 * 112 + 2 * 112 + 7 * 8);
	expect("_C::rotary_embedding",
	       DIMS("[7],[7,32],[7,8],[],[1000,8],[]", L "," B "," B "," S "," B "," S), 3 * 7 * 40,
	       2 * (2 * (7 * 32 + 7 * 8) + 7 * 8) + 7 * 8);
}

static void pooling(void **state)
{
	(void)state;
	/* 8 × 8 in windows of 3, stride 2, padding 1: 4 × 4, with an index of 8 bytes for each */
	expect("aten::max_pool2d_with_indices",
	       FULL("[2,4,8,8],[],[],[],[],[]", F "," LISTS ",'ScalarList'," S,
		    "'','[3, 3]','[2, 2]','[1, 1]','[1, 1]','False'"),
	       2 * 4 * 16 * 9, 4 * 512 + (4 + 8) * 128);
	expect("aten::max_pool2d_with_indices_backward",
	       DIMS("[2,4,4,4],[2,4,8,8],[],[],[],[],[],[2,4,4,4]",
		    F "," F "," LISTS ",'ScalarList'," S "," L),
	       512, 4 * 128 + 8 * 128 + 4 * 512);
	/* an empty stride is the window; 7 in windows of 2: 3, or 4 where sizes are rounded up */
	expect("aten::avg_pool2d",
	       FULL("[1,1,7,7],[],[],[],[],[],[]", F "," LISTS "," S "," S ",''",
		    "'','[2, 2]','[]','[0, 0]','False','True',''"),
	       9 * 4, 4 * (49 + 9));
	expect("aten::avg_pool2d",
	       FULL("[1,1,7,7],[],[],[],[],[],[]", F "," LISTS "," S "," S ",''",
		    "'','[2, 2]','[]','[0, 0]','True','True',''"),
	       16 * 4, 4 * (49 + 16));
	expect("aten::_adaptive_avg_pool2d", FULL("[2,4,7,7],[]", H ",'ScalarList'", "'','[1, 1]'"),
	       392, 2 * (392 + 8));
	expect("aten::upsample_nearest2d",
	       FULL("[1,4,8,8],[],[],[]", H ",'ScalarList'," S "," S, "'','[16, 16]','2.','2.'"),
	       1024, 2 * (256 + 1024));
	/* values are not recorded */
	expect_unknown("aten::avg_pool2d", DIMS("[1,1,7,7],[],[],[],[],[],[]", F "," LISTS));
	expect_unknown("aten::max_pool2d_with_indices",
		       FULL("[2,4,8,8],[],[],[],[],[]", F "," LISTS ",'ScalarList'," S,
			    "'','[3, 3]','[0, 0]','[1, 1]','[1, 1]','False'"));
}

#define EXPERTS(t, more)                                                                           \
	DIMS("[" #t ",8],[4,12,8],[4,8,6],[" #t ",2],[" #t ",2],[]" more,                          \
	     B "," B "," B "," F ",'int'," S)
static void operators_of_vllm_and_inductor(void **state)
{
	(void)state;
	struct op_work work;
	/* one row needs its two experts; 6 of the 12 results gate the others */
	expect("vllm::inplace_fused_experts", EXPERTS(1, ""), 2 * 2 * 8 * (12 + 6),
	       2 * 2 * 8 * (12 + 6) + 2 * 2 * 8 + 2 * (4 + 4));
	/* many rows need all four */
	assert_true(work_of(&work, "sglang::outplace_fused_experts", EXPERTS(100, "")));
	assert_true(work.flop == 100 * 2 * 2 * 8 * (12 + 6));
	assert_true((int64_t)(work.bytes + 0.5) == 2 * 4 * 8 * 18 + 2 * 2 * 800 + 200 * 8);
	/* experts of other devices; packed weights */
	expect_unknown("vllm::inplace_fused_experts", DIMS("[1,8],[4,12,8],[4,8,6],[1,2],[1,2],[8]",
							   B "," B "," B "," F ",'int','int'"));
	expect_unknown("vllm::inplace_fused_experts",
		       DIMS("[1,8],[4,12,4],[4,8,3],[1,2],[1,2],[]",
			    B ",'unsigned char','unsigned char'," F ",'int'," S));
	expect("_C::silu_and_mul", DIMS("[7,8],[7,16]", B "," B), 2 * 56, 2 * (56 + 112));
	expect("_C::static_scaled_fp8_quant",
	       DIMS("[7,8],[7,8],[]", "'c10::Float8_e4m3fn'," B "," F), 56, 56 + 2 * 56 + 4);
	expect("_C::cutlass_scaled_mm",
	       DIMS("[4,6],[4,8],[8,6],[],[],[]",
		    B ",'c10::Float8_e4m3fn','c10::Float8_e4m3fn'," F "," F ",''"),
	       2 * 4 * 8 * 6, 32 + 48 + 2 * 24);
	/* five rows of a table of 100: 40 elements of it at most */
	expect("triton_poi_fused_embedding_0", DIMS("[5],[100,8],[5,8],[]", L "," F "," F "," S), 0,
	       5 * 8 + 4 * 40 + 4 * 40);
	expect("triton_poi_fused_add_0", DIMS("[100,8],[8],[100,8],[]", F "," F "," F "," S), 0,
	       4 * (800 + 8 + 800));
	expect_unknown("triton_per_fused_embedding_native_layer_norm_0",
		       DIMS("[5],[100,8],[5,8],[]", L "," F "," F "," S));
	expect_unknown("triton_tem_fused_mm_0", DIMS("[8,8],[8,8],[8,8]", F "," F "," F));
	expect("aten::_amp_foreach_non_finite_check_and_unscale_",
	       DIMS("[[4,8],[8]],[],[]", "'TensorList'," F "," F), 40, 2 * 40 * 4);
	expect("aten::_fused_rms_norm_backward",
	       DIMS("[4,8],[4,8],[],[4,1],[],[]", F "," F ",'ScalarList'," F ",'',''"), 7 * 32,
	       4 * (32 + 32 + 4 + 32));
	/* collectives have no roof of this device */
	expect_unknown("c10d::allreduce_", DIMS("[[4,8]],[]", "'TensorList',''"));
	expect_unknown("record_param_comms", DIMS("[4,8]", F));
}

static void damaged_arguments_are_no_work(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"{'Input Dims': 7}",
		"{'Input Dims': [[1e400, 5],[5,7]], 'Input type': ['float','float']}",
		"{'Input Dims': [[-3,5],[5,7]], 'Input type': ['float','float']}",
		"{'Input Dims': [['a',5],[5,7]], 'Input type': ['float']}",
		"{'Input Dims': [[1,1,1,1,1,1,1,1,1,5],[5,7]], 'Input type': ['float','float']}",
		"{'Input Dims': [[[[[5]]]],[5,7]], 'Input type': ['float','float']}",
		"{'Input Dims': [[], []], 'Input type': [1, 2]}",
		FULL("[2,4,8,8],[6,4,3,3],[],[],[],[]", F "," F "," LISTS "," S,
		     "'','','[-inf, 1]','[-nan, 2]','[1e300, 1]','-nan'"),
		FULL("[2,4,8,8],[6,4,3,3],[],[],[],[]", F "," F "," LISTS "," S,
		     "'','','[1, 1]','[-nan, -nan]','[1, 1]','1'"),
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct op_work work;
		if (work_of(&work, "aten::mm", texts[i]))
			assert_true(work.flop >= 0 && work.bytes >= 0);
		static const char *const others[] = {"aten::add",
						     "aten::cudnn_convolution",
						     "aten::convolution_backward",
						     "aten::max_pool2d_with_indices",
						     "aten::_adaptive_avg_pool2d",
						     "aten::_embedding_bag",
						     "vllm::inplace_fused_experts",
						     "flash_attn::_flash_attn_varlen_forward",
						     "triton_poi_fused_embedding_0"};
		for (size_t o = 0; o < sizeof others / sizeof *others; o++)
			if (work_of(&work, others[o], texts[i]))
				assert_true(work.flop >= 0 && work.bytes >= 0);
	}
}

/* A product's FLOP grow with each of its sizes, and it always moves at least one byte for each element of its inputs. */
static void products_grow_with_their_sizes(void **state)
{
	(void)state;
	srand(2);
	for (int i = 0; i < 500; i++) {
		int m = 1 + rand() % 5000, k = 1 + rand() % 5000, n = 1 + rand() % 5000;
		char text[200];
		struct op_work less, more;
		snprintf(text, sizeof text, DIMS("[%d,%d],[%d,%d]", B "," B), m, k, k, n);
		assert_true(work_of(&less, "aten::mm", text));
		assert_true(less.flop == 2.0 * m * k * n);
		assert_true(less.bytes == 2 * ((double)m * k + (double)k * n + (double)m * n));
		snprintf(text, sizeof text, DIMS("[%d,%d],[%d,%d]", B "," B), m, k + 1, k + 1, n);
		assert_true(work_of(&more, "aten::mm", text));
		assert_true(more.flop > less.flop && more.bytes > less.bytes);
	}
}

static void names_of_kernels_tell_the_arithmetic(void **state)
{
	static const struct {
		const char *name;
		enum hwy_precision inputs, precision;
		bool tensor;
	} cases[] = {
		{"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x256_8x4_nt_align1>", HWY_FP32,
		 HWY_FP32, false},
		{"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_ffma", HWY_FP32,
		 HWY_FP32, false},
		{"sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x16", HWY_FP32, HWY_TF32,
		 true},
		{"void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4>",
		 HWY_FP32, HWY_TF32, true},
		{"ampere_sgemm_128x64_tn", HWY_FP32, HWY_FP32, false},
		{"nvjet_sm90_hsh_64x32_64x16_4x2_h_bz_bias_NNT", HWY_FP16, HWY_FP16, true},
		{"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", HWY_BF16, HWY_BF16,
		 true},
		{"cutlass_80_tensorop_d884gemm_64x64_16x4_nn_align1", HWY_FP64, HWY_FP64, true},
		{"volta_dgemm_64x64_nn", HWY_FP64, HWY_FP64, false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct kernel_math math = kernel_math_find(cases[i].name, cases[i].inputs);
		if (math.precision != cases[i].precision || math.tensor != cases[i].tensor)
			fail_msg("%s: %s, tensor %d", cases[i].name,
				 hwy_precision_names[math.precision], math.tensor);
	}
	assert_false(kernel_math_find("gemm_kernel", HWY_FP32).is_told);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products_of_matrices),
		cmocka_unit_test(convolutions),
		cmocka_unit_test(convolutions_backward),
		cmocka_unit_test(attention),
		cmocka_unit_test(attention_of_other_libraries),
		cmocka_unit_test(a_flash_kernel_tells_whether_attention_is_causal),
		cmocka_unit_test(a_convolution_backward_tells_the_result_of_its_forward),
		cmocka_unit_test(operators_that_move_data),
		cmocka_unit_test(parts_of_tables),
		cmocka_unit_test(pooling),
		cmocka_unit_test(operators_of_vllm_and_inductor),
		cmocka_unit_test(damaged_arguments_are_no_work),
		cmocka_unit_test(products_grow_with_their_sizes),
		cmocka_unit_test(names_of_kernels_tell_the_arithmetic),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
