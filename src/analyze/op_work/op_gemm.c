/* SPDX-License-Identifier: Apache-2.0 */
/* op_gemm.c - products of matrices: (… × m × k) times (… × k × n), two operations for each of m·n·k, and one for each
 * element that is added to the product. */
#include "analyze/op_work/op_models.h"

static double gemm_result_size(const struct op_input *left, const struct op_args *args,
			       const struct op_model *model)
{
	/* Products of bytes (fp8, fp4, int8) are kept in a wider type; the names of its types are not recorded. torch's
	 * numbers of types: 5 half, 6 float, 15 bfloat16. */
	double type;
	if (left->size > 1)
		return left->size;
	if (left->precision == HWY_INT8)
		return 4;
	return op_args_numbers(args, model->places[3], &type, 1) && type == 6 ? 4 : 2;
}

static void gemm_fill(struct op_work *work, const struct op_input *left, double products,
		      double added)
{
	*work = (struct op_work){.family = OP_FAMILY_GEMM,
				 .precision = left->precision,
				 .is_matrix = true,
				 .parts = 1,
				 /* a complex multiply-add is eight operations on numbers */
				 .flop = (left->is_complex ? 8 : 2) * products + added};
}

/* Bytes of two fp4 numbers are one element of the recorded sizes. */
static double gemm_inner(const struct op_input *left, double k)
{
	return left->precision == HWY_FP4 ? 2 * k : k;
}

bool op_gemm_find(struct op_work *work, const struct op_args *args, const struct op_model *model)
{
	const struct op_input *a = op_args_get(args, model->places[0]),
			      *b = op_args_get(args, model->places[1]);
	if (a->kind != OP_INPUT_TENSOR || b->kind != OP_INPUT_TENSOR || a->n_dims < 1 ||
	    b->n_dims < 1)
		return false;
	double k = a->dims[a->n_dims - 1];
	double k_of_b = b->dims[b->n_dims > 1 ? b->n_dims - 2 : 0];
	if (k != k_of_b || k <= 0)
		return false;
	/* (batch × m × k) · (k × n), (batch × m × k) · (batch × k × n), and vectors. */
	double rows = a->elements / k, n = b->n_dims > 1 ? b->dims[b->n_dims - 1] : 1;
	double results = rows * n;
	bool has_added = op_args_is_tensor(args, model->places[2]);
	gemm_fill(work, a, results * gemm_inner(a, k), has_added ? results : 0);
	work->bytes = a->stored * a->size + b->stored * b->size +
		      op_args_bytes(args, model->places[2]) +
		      results * gemm_result_size(a, args, model);
	return true;
}

/* One product for each group. (t × k) · (g × k × n): the rows of the left matrix are divided among the groups. (m × t) · (t ×
 * n): the inner dimension is, and there are g results. */
bool op_gemm_find_grouped(struct op_work *work, const struct op_args *args,
			  const struct op_model *model)
{
	const struct op_input *a = op_args_get(args, model->places[0]),
			      *b = op_args_get(args, model->places[1]),
			      *offsets = op_args_get(args, model->places[2]);
	if (a->kind != OP_INPUT_TENSOR || b->kind != OP_INPUT_TENSOR || a->n_dims < 2 ||
	    b->n_dims < 2)
		return false;
	double k = a->dims[a->n_dims - 1], n = b->dims[b->n_dims - 1], results;
	if (k != b->dims[b->n_dims - 2] || k <= 0)
		return false;
	if (a->n_dims == 3 && b->n_dims == 3)
		return op_gemm_find(work, args, model);
	results = a->elements / k * n;
	gemm_fill(work, a, results * gemm_inner(a, k), 0);
	if (a->n_dims == 2 && b->n_dims == 2)
		results *= offsets->n_dims == 1 ? offsets->dims[0] : 1;
	work->bytes = a->stored * a->size + b->stored * b->size +
		      results * gemm_result_size(a, args, model);
	return true;
}
