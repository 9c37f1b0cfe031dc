/* SPDX-License-Identifier: Apache-2.0 */
/* op_work.c - see op_work.h: the table of operators, with the places of their inputs as PyTorch
 * declares them.
 *
 * Operators that only call others (linear, matmul, einsum, conv2d, scaled_dot_product_attention)
 * are not listed: those they call are, and the kernels belong to these.
 */
#include "analyze/op_work/op_models.h"

const char *const op_family_names[OP_FAMILIES] = {
	"",          "gemm",    "convolution",   "attention", "elementwise",
	"reduction", "softmax", "normalization", "gather",    "copy"};

#define GEMM(name, a, b, added)                                                                    \
	{                                                                                          \
		"aten::" name, op_gemm_find,                                                       \
		{                                                                                  \
			a, b, added, -1                                                            \
		}                                                                                  \
	}
#define EACH(name, inputs)                                                                         \
	{                                                                                          \
		"aten::" name, op_elementwise_find,                                                \
		{                                                                                  \
			inputs                                                                     \
		}                                                                                  \
	}
#define COMPARE(name)                                                                              \
	{                                                                                          \
		"aten::" name, op_elementwise_find,                                                \
		{                                                                                  \
			2, 1                                                                       \
		}                                                                                  \
	}
#define LIST(name, inputs, written)                                                                \
	{                                                                                          \
		"aten::" name, op_list_find,                                                       \
		{                                                                                  \
			inputs, written                                                            \
		}                                                                                  \
	}
#define REDUCE(name, dims)                                                                         \
	{                                                                                          \
		"aten::" name, op_reduction_find,                                                  \
		{                                                                                  \
			dims                                                                       \
		}                                                                                  \
	}
/* FLOP: softmax: max, difference, exponential, sum, quotient; backward product, sum, difference,
 * product. */
#define SOFTMAX(name, inputs, flop)                                                                \
	{                                                                                          \
		"aten::" name, op_rows_find,                                                       \
		{                                                                                  \
			0, 1, flop, OP_FAMILY_SOFTMAX, inputs                                      \
		}                                                                                  \
	}
/* FLOP: mean 1, variance 3, normalise 2, scale and shift 2; backward two sums 5, gradient 4. */
#define NORM(name, data, results, flop)                                                            \
	{                                                                                          \
		name, op_rows_find,                                                                \
		{                                                                                  \
			data, results, flop, OP_FAMILY_NORMALIZATION                               \
		}                                                                                  \
	}

static const struct op_model models[] = {
	GEMM("mm", 0, 1, -1),
	GEMM("addmm", 1, 2, 0),
	GEMM("_addmm_activation", 1, 2, 0),
	GEMM("bmm", 0, 1, -1),
	GEMM("baddbmm", 1, 2, 0),
	GEMM("mv", 0, 1, -1),
	GEMM("addmv", 1, 2, 0),
	GEMM("dot", 0, 1, -1),
	GEMM("_int_mm", 0, 1, -1),
	{"aten::_scaled_mm", op_gemm_find, {0, 1, 4, 6}},
	{"aten::_grouped_mm", op_gemm_find_grouped, {0, 1, 2, -1}},
	{"aten::_scaled_grouped_mm", op_gemm_find_grouped, {0, 1, 4, 7}},

	{"_C::cutlass_scaled_mm", op_gemm_find, {1, 2, 5, -1}},
	{"vllm::inplace_fused_experts", op_experts_find, {0}},
	{"vllm::outplace_fused_experts", op_experts_find, {0}},
	{"sglang::inplace_fused_experts", op_experts_find, {0}},
	{"sglang::outplace_fused_experts", op_experts_find, {0}},

	{"aten::cudnn_convolution", op_convolution_find, {-1, 3, 2, 4, -1, -1, 5}},
	{"aten::cudnn_convolution_transpose", op_convolution_find, {-1, 4, 2, 5, -2, 3, 6}},
	{"aten::cudnn_convolution_relu", op_convolution_find, {2, 3, 4, 5, -1, -1, 6}},
	{"aten::cudnn_convolution_add_relu", op_convolution_find, {4, 5, 6, 7, -1, -1, 8}},
	{"aten::miopen_convolution", op_convolution_find, {2, 4, 3, 5, -1, -1, 6}},
	{"aten::miopen_convolution_transpose", op_convolution_find, {2, 5, 3, 6, -2, 4, 7}},
	{"aten::miopen_depthwise_convolution", op_convolution_find, {2, 4, 3, 5, -1, -1, 6}},
	{"aten::_conv_depthwise2d", op_convolution_find, {3, 4, 5, 6, -1, -1, -1}},
	{"aten::conv_depthwise3d", op_convolution_find, {3, 4, 5, 6, -1, -1, -1}},
	{"aten::convolution_overrideable", op_convolution_find, {2, 3, 4, 5, 6, 7, 8}},
	{"aten::convolution_backward", op_convolution_find_backward, {10, 4, 5, 6, 7, 8, 9, 0}},
	/* PyTorch before 1.11 */
	{"aten::cudnn_convolution_backward",
	 op_convolution_find_backward,
	 {10, 4, 3, 5, -1, -1, 6, 1}},

	{"aten::_scaled_dot_product_flash_attention", op_attention_find, {0, 4, -1}},
	{"aten::_scaled_dot_product_efficient_attention", op_attention_find, {0, 6, 3}},
	{"aten::_scaled_dot_product_cudnn_attention", op_attention_find, {0, 6, 3}},
	{"aten::_scaled_dot_product_flash_attention_backward",
	 op_attention_find_backward,
	 {1, 11, -1}},
	{"aten::_scaled_dot_product_efficient_attention_backward",
	 op_attention_find_backward,
	 {1, 11, 4}},
	{"aten::_scaled_dot_product_cudnn_attention_backward",
	 op_attention_find_backward,
	 {1, 14, 8}},
	/* Those above call them, and other libraries do (xformers). */
	{"aten::_flash_attention_forward", op_attention_find, {0, 8, -1, 1, 1, 11, 3}},
	{"aten::_efficient_attention_forward", op_attention_find, {0, 9, 3, 1, 0, 13, 4}},
	{"xformers::efficient_attention_forward_cutlass",
	 op_attention_find,
	 {0, 9, 3, 1, 0, 13, 4, 11}},
	{"xformers_flash::flash_fwd", op_attention_find, {0, 10, -1, 1, 1, 11, 3, 14}},
	{"flash_attn::_flash_attn_forward", op_attention_find, {0, 5, -1, 1, 1, 6}},
	{"flash_attn::_flash_attn_varlen_forward", op_attention_find, {0, 9, -1, 1, 1, 10, 3}},
	{"flash_attn::_flash_attn_backward", op_attention_find_backward, {1, 11, -1, 1, 1, 12}},
	{"flash_attn::_flash_attn_varlen_backward",
	 op_attention_find_backward,
	 {1, 15, -1, 1, 1, 16, 9}},

	SOFTMAX("_softmax", 1, 5),
	SOFTMAX("_log_softmax", 1, 5),
	SOFTMAX("_softmax_backward_data", 2, 4),
	SOFTMAX("_log_softmax_backward_data", 2, 4),
	NORM("aten::native_layer_norm", 0, 1, 8),
	NORM("aten::native_layer_norm_backward", 0, 1, 9),
	NORM("aten::_fused_rms_norm", 0, 1, 5),
	NORM("aten::_fused_rms_norm_backward", 0, 1, 7),
	NORM("aten::native_group_norm", 0, 1, 8),
	NORM("aten::native_group_norm_backward", 0, 1, 9),
	NORM("aten::native_batch_norm", 0, 1, 8),
	NORM("aten::native_batch_norm_backward", 0, 1, 9),
	NORM("aten::cudnn_batch_norm", 0, 1, 8),
	NORM("aten::cudnn_batch_norm_backward", 0, 1, 9),
	NORM("aten::miopen_batch_norm", 0, 1, 8),
	NORM("aten::miopen_batch_norm_backward", 0, 1, 9),
	NORM("aten::_native_batch_norm_legit", 0, 1, 8),
	NORM("aten::_batch_norm_with_update", 0, 1, 8),
	NORM("aten::batch_norm_backward", 0, 1, 9),
	/* over several devices: sums, then each element */
	NORM("aten::batch_norm_stats", 0, 0, 4),
	NORM("aten::batch_norm_elemt", 0, 1, 4),
	NORM("aten::batch_norm_backward_reduce", 0, 0, 5),
	NORM("aten::batch_norm_backward_elemt", 0, 1, 4),
	NORM("aiter::_groupnorm_run", 0, 1, 8),
	/* vLLM's have the place of the result among their inputs, or write over two of them. */
	NORM("_C::rms_norm", 1, 0, 5),
	NORM("_C::fused_add_rms_norm", 0, 2, 6),

	{"aten::embedding", op_gather_find, {0, 1, 1, -1}},
	{"aten::index_select", op_gather_find, {0, 2, 0, 1}},
	{"aten::gather", op_gather_find, {0, 2, 0, -1}},

	{"aten::_embedding_bag", op_bags_find, {0, 1, 2}},
	{"aten::embedding_dense_backward", op_embedding_find_backward, {0, 1, 2}},
	{"aten::scatter", op_scatter_find, {0, 3, 2, 1}},
	{"aten::scatter_add", op_scatter_find, {0, 3, 2, 2}},
	{"aten::index_add", op_scatter_find, {0, 3, 2, 2}},
	{"aten::index_copy", op_scatter_find, {0, 3, 2, 1}},
	{"aten::_index_put_impl", op_scatter_find, {0, 2, -1, 1}},
	{"aten::nll_loss_forward", op_classes_find, {0, 1}},
	{"aten::nll_loss_backward", op_classes_find, {1, 2}},
	{"aten::nll_loss2d_forward", op_classes_find, {0, 1}},
	{"aten::nll_loss2d_backward", op_classes_find, {1, 2}},
	{"_C_cache_ops::reshape_and_cache_flash", op_cache_find, {0}},
	{"_C_cache_ops::reshape_and_cache", op_cache_find, {0}},
	{"_C::rotary_embedding", op_rotary_find, {0}},

	{"aten::max_pool2d_with_indices", op_pool_find, {1, 2, 3, 4, 5, 8}},
	{"aten::avg_pool2d", op_pool_find, {1, 2, 3, -1, 4, 0}},
	{"aten::_adaptive_avg_pool2d", op_resize_find, {1}},
	{"aten::upsample_nearest1d", op_resize_find, {1}},
	{"aten::upsample_nearest2d", op_resize_find, {1}},
	{"aten::upsample_bilinear2d", op_resize_find, {1}},
	{"aten::upsample_bicubic2d", op_resize_find, {1}},
	{"aten::max_pool2d_with_indices_backward", op_pool_find_backward, {0, 1, 7}},
	{"aten::avg_pool2d_backward", op_pool_find_backward, {0, 1, -1}},
	{"aten::_adaptive_avg_pool2d_backward", op_pool_find_backward, {0, 1, -1}},

	{"aten::normal", op_copy_find, {0, -1}},
	{"aten::uniform", op_copy_find, {0, -1}},
	{"aten::random", op_copy_find, {0, -1}},
	{"aten::bernoulli", op_copy_find, {0, -1}},
	/* vLLM: the place of the result stands among the inputs */
	{"_C::silu_and_mul", op_moved_find, {2}},
	{"_C::gelu_and_mul", op_moved_find, {2}},
	{"_C::gelu_tanh_and_mul", op_moved_find, {2}},
	{"_C::static_scaled_fp8_quant", op_moved_find, {1}},
	{"_C::dynamic_scaled_fp8_quant", op_moved_find, {1}},
	{"_C::dynamic_per_token_scaled_fp8_quant", op_moved_find, {1}},

	{"aten::copy", op_copy_find, {0, 1}},
	{"aten::fill", op_copy_find, {0, -1}},
	{"aten::zero", op_copy_find, {0, -1}},
	{"aten::cat", op_cat_find, {1, 1}},

	REDUCE("sum", 1),
	REDUCE("nansum", 1),
	REDUCE("mean", 1),
	REDUCE("amax", 1),
	REDUCE("amin", 1),
	REDUCE("argmax", 1),
	REDUCE("argmin", 1),
	REDUCE("max", 1),
	REDUCE("min", 1),
	REDUCE("prod", 1),
	REDUCE("all", 1),
	REDUCE("any", 1),
	REDUCE("logsumexp", 1),
	REDUCE("var", 1),
	REDUCE("std", 1),
	REDUCE("var_mean", 1),
	REDUCE("norm", 2),
	REDUCE("linalg_vector_norm", 2),

	EACH("abs", 1),
	EACH("add", 2),
	EACH("addcdiv", 3),
	EACH("addcmul", 3),
	EACH("atan2", 2),
	EACH("bitwise_and", 2),
	EACH("bitwise_not", 1),
	EACH("bitwise_or", 2),
	EACH("ceil", 1),
	EACH("clamp", 3),
	EACH("clamp_max", 2),
	EACH("clamp_min", 2),
	EACH("cos", 1),
	EACH("cumsum", 1),
	EACH("div", 2),
	EACH("elu", 1),
	EACH("elu_backward", 1),
	EACH("erf", 1),
	EACH("exp", 1),
	EACH("floor", 1),
	EACH("floor_divide", 2),
	EACH("fmod", 2),
	EACH("gelu", 1),
	EACH("gelu_backward", 2),
	EACH("hardswish", 1),
	EACH("hardswish_backward", 2),
	EACH("hardtanh", 1),
	EACH("leaky_relu", 1),
	EACH("leaky_relu_backward", 2),
	EACH("lerp", 3),
	EACH("log", 1),
	EACH("log1p", 1),
	EACH("log2", 1),
	EACH("logical_and", 2),
	EACH("logical_not", 1),
	EACH("masked_fill", 3),
	EACH("maximum", 2),
	EACH("minimum", 2),
	EACH("mish", 1),
	EACH("mse_loss", 2),
	EACH("mse_loss_backward", 3),
	EACH("mul", 2),
	EACH("neg", 1),
	EACH("pow", 2),
	EACH("reciprocal", 1),
	EACH("relu", 1),
	EACH("remainder", 2),
	EACH("rsqrt", 1),
	EACH("rsub", 2),
	EACH("sigmoid", 1),
	EACH("sigmoid_backward", 2),
	EACH("silu", 1),
	EACH("silu_backward", 2),
	EACH("sin", 1),
	EACH("softplus", 1),
	EACH("sqrt", 1),
	EACH("sub", 2),
	EACH("tanh", 1),
	EACH("tanh_backward", 2),
	EACH("threshold_backward", 2),
	EACH("tril", 1),
	EACH("triu", 1),
	EACH("where", 3),
	{"aten::native_dropout", op_elementwise_find, {1, 0, 1}},
	EACH("native_dropout_backward", 2),
	COMPARE("eq"),
	COMPARE("ne"),
	COMPARE("lt"),
	COMPARE("le"),
	COMPARE("gt"),
	COMPARE("ge"),
	COMPARE("isnan"),

	LIST("_foreach_add", 2, 1),
	LIST("_foreach_sub", 2, 1),
	LIST("_foreach_mul", 2, 1),
	LIST("_foreach_div", 2, 1),
	LIST("_foreach_sqrt", 1, 1),
	LIST("_foreach_neg", 1, 1),
	LIST("_foreach_lerp", 2, 1),
	LIST("_foreach_addcmul", 3, 1),
	LIST("_foreach_addcdiv", 3, 1),
	LIST("_foreach_copy", 2, 0),
	LIST("_foreach_zero", 0, 1),
	LIST("_foreach_norm", 1, 0),
	LIST("_foreach_abs", 1, 1),
	LIST("_foreach_exp", 1, 1),
	LIST("_foreach_pow", 1, 1),
	LIST("_foreach_reciprocal", 1, 1),
	LIST("_foreach_maximum", 2, 1),
	LIST("_foreach_clamp_min", 1, 1),
	LIST("_foreach_clamp_max", 1, 1),
	LIST("_amp_foreach_non_finite_check_and_unscale", 1, 1),
	/* parameters, gradients and both moments are read, all but the gradients written */
	LIST("_fused_adam", 4, 3),
	LIST("_fused_adamw", 4, 3),
	LIST("_fused_sgd", 3, 2),
	LIST("_fused_adagrad", 3, 2),
};

/* Kernels that torch.compile wrote for elementwise operations (poi) and reductions (red, per).
 * Its templates (triton_tem_…) are products whose sizes do not follow from the inputs. A kernel
 * that reads parts of its inputs is named for what picks them: an elementwise one reads no more
 * than it has results; of others nobody knows how much they read. */
static const struct op_model *op_work_triton(const char *name)
{
	static const struct op_model whole = {"triton_", op_triton_find, {0}},
				     parts = {"triton_", op_triton_find, {1}};
	static const char *const words[] = {"embedding", "index",  "gather",  "slice", "select",
					    "split",     "unbind", "scatter", "roll",  NULL};
	bool is_elementwise = strncmp(name, "triton_poi_", 11) == 0;
	if (!is_elementwise && strncmp(name, "triton_red_", 11) != 0 &&
	    strncmp(name, "triton_per_", 11) != 0)
		return NULL;
	for (unsigned i = 0; words[i]; i++)
		if (strstr(name, words[i]))
			return is_elementwise ? &parts : NULL;
	return &whole;
}

const struct op_model *op_work_model(const char *name)
{
	size_t length = strlen(name);
	if (strncmp(name, "triton_", 7) == 0)
		return op_work_triton(name);
	/* An operator whose name ends with '_' writes over its first input: as much work. */
	size_t without = length && name[length - 1] == '_' ? length - 1 : length;
	for (size_t i = 0; i < sizeof models / sizeof *models; i++)
		if (strncmp(models[i].name, name, without) == 0 && !models[i].name[without])
			return &models[i];
	return NULL;
}

bool op_work_yields(const struct op_model *model)
{
	return strcmp(model->name, "aten::_flash_attention_forward") == 0 ||
	       strcmp(model->name, "aten::_efficient_attention_forward") == 0;
}

bool op_work_find(struct op_work *work, const struct op_model *model, const struct op_args *args)
{
	*work = (struct op_work){0};
	return model && model->find(work, args, model) && work->bytes > 0;
}
