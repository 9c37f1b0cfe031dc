/* SPDX-License-Identifier: Apache-2.0 */
/* op_attention.c - scaled dot products: softmax(Q·Kᵀ)·V, for each head of each sequence.
 *
 * Forward: two products, 2·n·m·(d + d_v) operations for n queries and m keys. Backward: five, because Q·Kᵀ is computed
 * again: 2·n·m·(3·d + 2·d_v). Softmax is not counted: it is small beside the products. Under a causal mask only pairs of a
 * query with earlier keys count, which is half of them where n = m. Sequences of different lengths that lie packed behind
 * each other (three dimensions) are not known: only the sum of their lengths is recorded. */
#include "analyze/op_work/op_models.h"

enum { QUERIES, CAUSAL, ADDED, HEADS_LAST, GRADIENT };

struct attention {
	double heads, n, m, d, d_v; /* heads: of all sequences */
	double q, k, v, result;     /* bytes */
};

static bool attention_read(struct attention *a, const struct op_args *args,
			   const struct op_model *model)
{
	int at = model->places[QUERIES];
	const struct op_input *q = op_args_get(args, at), *k = op_args_get(args, at + 1),
			      *v = op_args_get(args, at + 2);
	unsigned head = model->places[HEADS_LAST] > 0 ? 2 : 1, row = 3 - head;
	if (q->kind != OP_INPUT_TENSOR || k->kind != OP_INPUT_TENSOR ||
	    v->kind != OP_INPUT_TENSOR || q->n_dims != 4 || k->n_dims != 4 || v->n_dims != 4)
		return false;
	*a = (struct attention){
		.heads = q->dims[0] * q->dims[head],
		.n = q->dims[row],
		.m = k->dims[row],
		.d = q->dims[3],
		.d_v = v->dims[3],
		.q = q->stored * q->size,
		.k = k->stored * k->size,
		.v = v->stored * v->size,
	};
	a->result = a->heads * a->n * a->d_v * q->size;
	return true;
}

/* Pairs of a query with a key that it sees; query i sees keys 0 … i. */
static double attention_pairs(const struct attention *a, bool is_causal)
{
	if (!is_causal)
		return a->heads * a->n * a->m;
	double square = a->n < a->m ? a->n : a->m;
	return a->heads * (square * square / 2 + (a->n - square) * a->m);
}

static void attention_fill(struct op_work *work, const struct op_args *args,
			   const struct op_model *model)
{
	*work = (struct op_work){
		.family = OP_FAMILY_ATTENTION,
		.precision = op_args_get(args, model->places[QUERIES])->precision,
		.is_matrix = true,
		.parts = 1,
	};
}

bool op_attention_find(struct op_work *work, const struct op_args *args,
		       const struct op_model *model)
{
	struct attention a;
	if (!attention_read(&a, args, model) || !args->has_values)
		return false;
	double pairs = attention_pairs(&a, op_args_flag(args, model->places[CAUSAL], false));
	attention_fill(work, args, model);
	work->flop = 2 * pairs * (a.d + a.d_v);
	work->bytes = a.q + a.k + a.v + a.result + op_args_bytes(args, model->places[ADDED]);
	return true;
}

bool op_attention_find_backward(struct op_work *work, const struct op_args *args,
				const struct op_model *model)
{
	struct attention a;
	if (!attention_read(&a, args, model) || !args->has_values)
		return false;
	double pairs = attention_pairs(&a, op_args_flag(args, model->places[CAUSAL], false));
	attention_fill(work, args, model);
	work->flop = 2 * pairs * (3 * a.d + 2 * a.d_v);
	/* Reads the result and its gradient, too; writes the gradients of queries, keys and values. */
	work->bytes = 2 * (a.q + a.k + a.v + a.result) + op_args_bytes(args, model->places[ADDED]);
	return true;
}
