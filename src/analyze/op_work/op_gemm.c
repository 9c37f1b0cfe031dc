/* SPDX-License-Identifier: Apache-2.0 */
/* op_gemm.c - products of matrices: (… × m × k) times (… × k × n), two operations for each of
 * m·n·k, and one for each element that is added to the product. */
#include "analyze/op_work/op_models.h"

#include <math.h>

static double gemm_result_size(const struct op_input *left, const struct op_args *args,
			       const struct op_model *model)
{
	/* Products of bytes (fp8, fp4, int8) are kept in a wider type; the names of its types
	 * are not recorded. torch's numbers of types: 5 half, 6 float, 15 bfloat16. */
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

/* One product for each group. (t × k) · (g × k × n): the rows of the left matrix are divided
 * among the groups. (m × t) · (t × n): the inner dimension is, and there are g results. */
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

/* Experts for each row: two products with the weights of the experts that were chosen. Inputs:
 * rows (t × h), first weights (e × i × h), second weights (e × h × j), the shares and the
 * numbers (t × k) of the chosen ones. j is i, or half of it where one half gates the other. Of e
 * experts that are chosen evenly, e·(1 - (1 - k/e)^t) are needed. */
bool op_experts_find(struct op_work *work, const struct op_args *args, const struct op_model *model)
{
	(void)model;
	const struct op_input *rows = op_args_get(args, 0), *first = op_args_get(args, 1),
			      *second = op_args_get(args, 2), *chosen = op_args_get(args, 4);
	if (rows->kind != OP_INPUT_TENSOR || first->kind != OP_INPUT_TENSOR ||
	    second->kind != OP_INPUT_TENSOR || chosen->kind != OP_INPUT_TENSOR ||
	    rows->n_dims != 2 || first->n_dims != 3 || second->n_dims != 3 || chosen->n_dims != 2)
		return false;
	double t = rows->dims[0], h = rows->dims[1], e = first->dims[0], i = first->dims[1],
	       j = second->dims[2], k = chosen->dims[1];
	/* Packed weights (4 bits) have other sizes. */
	if (first->dims[2] != h || second->dims[0] != e || second->dims[1] != h || e < k ||
	    chosen->dims[0] != t || (j != i && 2 * j != i))
		return false;
	/* A list of which experts are here: rows of others are not computed. */
	for (int input = 5; input < (int)args->n; input++)
		if (op_args_get(args, input)->kind == OP_INPUT_TENSOR &&
		    !op_args_get(args, input)->is_floating)
			return false;
	double needed = e * (1 - pow(1 - k / e, t));
	gemm_fill(work, first, t * k * h * (i + j), 0);
	work->bytes = needed * (i * first->size + j * second->size) * h + 2 * t * h * rows->size +
		      chosen->elements * (chosen->size + op_args_get(args, 3)->size);
	return true;
}
