/* SPDX-License-Identifier: Apache-2.0 */
/* op_attention.c - scaled dot products: softmax(Q·Kᵀ)·V, for each head of each sequence.
 *
 * Forward: two products, 2·n·m·(d + d_v) operations for n queries and m keys. Backward: five,
 * because Q·Kᵀ is computed again: 2·n·m·(3·d + 2·d_v). Softmax is not counted: it is small
 * beside the products.
 *
 * Under a causal mask only pairs of a query with earlier keys count, half of them where n = m.
 * Where n and m differ, the last query sees the last key (flash-attn), or the first query the
 * first key (PyTorch). Whether there is a mask is a value; where values are not recorded,
 * work->open says that a kernel's name must tell (op_settle.h).
 *
 * Sequences that lie packed behind each other are known where they are all equally long: one
 * sequence, or as many as their greatest length allows. Of others only the sum of the lengths is
 * recorded. Keys in pages are not known. */
#include "analyze/op_work/op_models.h"

enum { QUERIES, CAUSAL, ADDED, HEADS_LAST, LAST_ALIGNED, WINDOW, STARTS, LEAST_INPUTS };

struct attention {
	double heads, n, m, d, d_v; /* heads: of all sequences */
	double q, k, v, result;     /* bytes */
	bool is_causal, is_last_aligned;
};

/* Sequences behind each other: their starts are a list of one more than there are; their
 * greatest lengths are two inputs behind. */
static bool attention_unpack(struct attention *a, const struct op_args *args, int starts)
{
	double sequences = op_args_get(args, starts)->elements - 1, longest[2];
	if (sequences == 1)
		return true;
	for (int i = 0; i < 2; i++)
		if (!op_args_numbers(args, starts + 2 + i, &longest[i], 1))
			return false;
	if (sequences < 1 || longest[0] * sequences != a->n || longest[1] * sequences != a->m)
		return false;
	a->heads *= sequences;
	a->n = longest[0];
	a->m = longest[1];
	return true;
}

static bool attention_read(struct attention *a, const struct op_args *args,
			   const struct op_model *model)
{
	int at = model->places[QUERIES], starts = model->places[STARTS];
	const struct op_input *q = op_args_get(args, at), *k = op_args_get(args, at + 1),
			      *v = op_args_get(args, at + 2);
	bool is_packed = starts > 0 && op_args_is_tensor(args, starts);
	unsigned n = q->n_dims, head = model->places[HEADS_LAST] > 0 ? n - 2 : n - 3,
		 row = 2 * n - 5 - head;
	if (q->kind != OP_INPUT_TENSOR || k->kind != OP_INPUT_TENSOR ||
	    v->kind != OP_INPUT_TENSOR || n != (is_packed && n == 3 ? 3 : 4) || k->n_dims != n ||
	    v->n_dims != n || (int)args->n < model->places[LEAST_INPUTS])
		return false;
	*a = (struct attention){
		.heads = (n == 4 ? q->dims[0] : 1) * q->dims[head],
		.n = q->dims[row],
		.m = k->dims[row],
		.d = q->dims[n - 1],
		.d_v = v->dims[n - 1],
		.q = q->stored * q->size,
		.k = k->stored * k->size,
		.v = v->stored * v->size,
		.is_last_aligned = model->places[LAST_ALIGNED] > 0,
	};
	a->result = a->heads * a->n * a->d_v * q->size;
	return !is_packed || attention_unpack(a, args, starts);
}

/* Lengths, pages or places of keys as lists of numbers: less than all keys are seen, and nobody
 * knows how many. */
static bool attention_has_lists(const struct op_args *args, const struct op_model *model)
{
	int starts = model->places[STARTS], added = model->places[ADDED];
	for (int i = 0; i < (int)args->n; i++) {
		const struct op_input *input = op_args_get(args, i);
		if (input->kind == OP_INPUT_TENSOR && !input->is_floating && input->n_dims &&
		    i != added && (starts <= 0 || (i != starts && i != starts + 1)))
			return true;
	}
	return false;
}

/* Pairs of a query with a key that it sees. */
static double attention_pairs(const struct attention *a, bool is_causal)
{
	double square = a->n < a->m ? a->n : a->m;
	if (!is_causal)
		return a->heads * a->n * a->m;
	if (a->is_last_aligned) /* query i sees keys 0 … i + m - n */
		return a->heads * (square * a->m - square * square / 2);
	/* query i sees keys 0 … i */
	return a->heads * (square * square / 2 + (a->n - square) * a->m);
}

/* Whether each query sees only the keys near it. */
static bool attention_has_window(const struct attention *a, const struct op_args *args, int window)
{
	double left;
	return window > 0 && op_args_numbers(args, window, &left, 1) && left >= 0 && left < a->m;
}

/* 'of_pair': FLOP for each pair of a query and a key. */
static bool attention_fill(struct op_work *work, struct attention *a, const struct op_args *args,
			   const struct op_model *model, double of_pair)
{
	double mask = 0;
	const char *causal = op_args_get(args, model->places[CAUSAL])->value;
	*work = (struct op_work){
		.family = OP_FAMILY_ATTENTION,
		.precision = op_args_get(args, model->places[QUERIES])->precision,
		.is_matrix = true,
		.parts = 1,
	};
	if (!args->has_values) {
		work->open = OP_OPEN_MASK;
		work->flop = of_pair * attention_pairs(a, false);
		work->masked_flop = of_pair * attention_pairs(a, true);
		return true;
	}
	/* xformers' numbers of masks: 1 from the first key, 2 up to the last. */
	if (op_args_numbers(args, model->places[CAUSAL], &mask, 1))
		a->is_last_aligned |= mask == 2;
	a->is_causal = mask > 0 || strcmp(causal, "True") == 0;
	if (attention_has_window(a, args, model->places[WINDOW]))
		return false;
	work->flop = of_pair * attention_pairs(a, a->is_causal);
	return true;
}

bool op_attention_find(struct op_work *work, const struct op_args *args,
		       const struct op_model *model)
{
	struct attention a;
	if (!attention_read(&a, args, model) || attention_has_lists(args, model) ||
	    !attention_fill(work, &a, args, model, 2 * (a.d + a.d_v)))
		return false;
	work->bytes = a.q + a.k + a.v + a.result + op_args_bytes(args, model->places[ADDED]);
	return true;
}

bool op_attention_find_backward(struct op_work *work, const struct op_args *args,
				const struct op_model *model)
{
	struct attention a;
	if (!attention_read(&a, args, model) ||
	    !attention_fill(work, &a, args, model, 2 * (3 * a.d + 2 * a.d_v)))
		return false;
	/* Reads the result and its gradient, too; writes the gradients of queries, keys and
	 * values. */
	work->bytes = 2 * (a.q + a.k + a.v + a.result) + op_args_bytes(args, model->places[ADDED]);
	return true;
}
