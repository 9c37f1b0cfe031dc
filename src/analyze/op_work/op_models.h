/* SPDX-License-Identifier: Apache-2.0 */
/* op_models.h - for the files of op_work/: what a row of the table of operators is, and the
 * functions that it names. */
#ifndef HWY_ANALYZE_OP_MODELS_H
#define HWY_ANALYZE_OP_MODELS_H

#include "analyze/op_work/op_work.h"

/* Numbers in places[] are indexes of inputs, -1 where the operator has no such input; each
 * function says what it takes. */
struct op_model {
	const char *name;
	bool (*find)(struct op_work *work, const struct op_args *args,
		     const struct op_model *model);
	int places[8];
};

/* op_gemm.c. places: the two matrices, what is added to their product. */
bool op_gemm_find(struct op_work *work, const struct op_args *args, const struct op_model *model);
/* op_gemm.c. places: the two matrices, the offsets of the groups. */
bool op_gemm_find_grouped(struct op_work *work, const struct op_args *args,
			  const struct op_model *model);
/* op_gemm.c: fused experts of vLLM and SGLang. */
bool op_experts_find(struct op_work *work, const struct op_args *args,
		     const struct op_model *model);
/* op_convolution.c. places: bias (backward: which gradients are wanted), stride, padding,
 * dilation, transposed (-2: always, -1: never), output padding, groups; backward: the gradient.
 * Inputs 0 and 1 are the data and the weights. */
bool op_convolution_find(struct op_work *work, const struct op_args *args,
			 const struct op_model *model);
bool op_convolution_find_backward(struct op_work *work, const struct op_args *args,
				  const struct op_model *model);
/* op_attention.c. places: queries; causal (a truth value, or xformers' number); bias; 1 where
 * the heads stand behind the sequence; 1 where a causal mask lets the last query see the last
 * key; the window to the left (0: none); the starts of packed sequences (0: never packed); how
 * many inputs the known form has at least. */
bool op_attention_find(struct op_work *work, const struct op_args *args,
		       const struct op_model *model);
bool op_attention_find_backward(struct op_work *work, const struct op_args *args,
				const struct op_model *model);
/* op_memory.c: operators whose time is that of moving their data. */
bool op_elementwise_find(struct op_work *work, const struct op_args *args,
			 const struct op_model *model);
bool op_list_find(struct op_work *work, const struct op_args *args, const struct op_model *model);
bool op_copy_find(struct op_work *work, const struct op_args *args, const struct op_model *model);
bool op_cat_find(struct op_work *work, const struct op_args *args, const struct op_model *model);
bool op_reduction_find(struct op_work *work, const struct op_args *args,
		       const struct op_model *model);
bool op_rows_find(struct op_work *work, const struct op_args *args, const struct op_model *model);
bool op_moved_find(struct op_work *work, const struct op_args *args, const struct op_model *model);
bool op_triton_find(struct op_work *work, const struct op_args *args, const struct op_model *model);
/* op_picked.c: parts of a table, by numbers. */
bool op_gather_find(struct op_work *work, const struct op_args *args, const struct op_model *model);
bool op_bags_find(struct op_work *work, const struct op_args *args, const struct op_model *model);
bool op_embedding_find_backward(struct op_work *work, const struct op_args *args,
				const struct op_model *model);
bool op_scatter_find(struct op_work *work, const struct op_args *args,
		     const struct op_model *model);
bool op_classes_find(struct op_work *work, const struct op_args *args,
		     const struct op_model *model);
bool op_cache_find(struct op_work *work, const struct op_args *args, const struct op_model *model);
bool op_rotary_find(struct op_work *work, const struct op_args *args, const struct op_model *model);
/* op_pool.c */
bool op_pool_find(struct op_work *work, const struct op_args *args, const struct op_model *model);
bool op_pool_find_backward(struct op_work *work, const struct op_args *args,
			   const struct op_model *model);
bool op_resize_find(struct op_work *work, const struct op_args *args, const struct op_model *model);

#endif
