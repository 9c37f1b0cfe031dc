/* SPDX-License-Identifier: Apache-2.0 */
/* op_picked.c - operators that read or write a part of a table, by numbers: gathers, embeddings,
 * their backward, losses of classes, writes to a cache of keys. Only what is picked counts. */
#include "analyze/op_work/op_models.h"

static void picked_fill(struct op_work *work, const struct op_input *like, double bytes)
{
	*work = (struct op_work){.family = OP_FAMILY_GATHER,
				 .precision = like->precision,
				 .parts = 1,
				 .bytes = bytes};
}

/* Rows or elements are picked by their numbers: they are read and written, and the numbers are
 * read. What is picked several times is read once: no more than the table. The numbers of gather
 * are often one for each row, stretched over it (so calls index_select it): where strides are
 * not recorded, they are left out. places: the table, the numbers, 1 where whole rows (last
 * dimension) are picked, the dimension of index_select or -1. */
bool op_gather_find(struct op_work *work, const struct op_args *args, const struct op_model *model)
{
	const struct op_input *table = op_args_get(args, model->places[0]),
			      *index = op_args_get(args, model->places[1]);
	double each = 1, d = 0;
	if (table->kind != OP_INPUT_TENSOR || index->kind != OP_INPUT_TENSOR || !table->n_dims)
		return false;
	if (model->places[2])
		each = table->dims[table->n_dims - 1];
	if (model->places[3] >= 0) {
		if (!op_args_numbers(args, model->places[3], &d, 1))
			return false;
		d += d < 0 ? table->n_dims : 0;
		if (d < 0 || d >= table->n_dims || table->dims[(uint32_t)d] <= 0)
			return false;
		each = table->elements / table->dims[(uint32_t)d];
	}
	double picked = index->elements * each,
	       read = picked < table->stored ? picked : table->stored;
	bool may_be_stretched = !args->has_strides && index->n_dims > 1;
	picked_fill(work, table,
		    (read + picked) * table->size +
			    (may_be_stretched ? 0 : index->stored * index->size));
	return true;
}

/* Rows are summed in bags. places: the table, the numbers, the starts of the bags. */
bool op_bags_find(struct op_work *work, const struct op_args *args, const struct op_model *model)
{
	const struct op_input *table = op_args_get(args, model->places[0]),
			      *index = op_args_get(args, model->places[1]),
			      *starts = op_args_get(args, model->places[2]);
	if (table->kind != OP_INPUT_TENSOR || table->n_dims != 2 ||
	    index->kind != OP_INPUT_TENSOR || starts->kind != OP_INPUT_TENSOR)
		return false;
	double picked = index->elements * table->dims[1],
	       read = picked < table->stored ? picked : table->stored;
	picked_fill(work, table,
		    (read + starts->elements * table->dims[1]) * table->size +
			    index->stored * index->size + starts->stored * starts->size);
	work->flop = picked;
	return true;
}

/* Rows are added to those of a table of gradients. places: the rows, their numbers, how many
 * rows the table has: a value, or -1. Rows of one number are added before they are written, so
 * no more are written than the table has. */
bool op_embedding_find_backward(struct op_work *work, const struct op_args *args,
				const struct op_model *model)
{
	const struct op_input *rows = op_args_get(args, model->places[0]),
			      *index = op_args_get(args, model->places[1]);
	double written = index->elements, table;
	if (rows->kind != OP_INPUT_TENSOR || index->kind != OP_INPUT_TENSOR || !rows->n_dims ||
	    rows->elements != index->elements * rows->dims[rows->n_dims - 1])
		return false;
	if (op_args_numbers(args, model->places[2], &table, 1) && table >= 0 && table < written)
		written = table;
	picked_fill(work, rows,
		    (rows->stored + written * rows->dims[rows->n_dims - 1]) * rows->size +
			    index->stored * index->size);
	work->flop = rows->elements;
	return true;
}

/* Elements are written to places of a table by their numbers. places: the table, the elements,
 * the numbers or -1, how often the place in the table is touched: 1 written, 2 read and written. */
bool op_scatter_find(struct op_work *work, const struct op_args *args, const struct op_model *model)
{
	const struct op_input *table = op_args_get(args, model->places[0]),
			      *values = op_args_get(args, model->places[1]),
			      *index = op_args_get(args, model->places[2]);
	/* A single value is written to as many places as there are numbers, which are not
	 * recorded. */
	if (table->kind != OP_INPUT_TENSOR || values->kind != OP_INPUT_TENSOR || !values->n_dims)
		return false;
	double elements = values->elements;
	if (index->kind == OP_INPUT_TENSOR && index->n_dims == values->n_dims)
		elements = index->elements < elements ? index->elements : elements;
	double read = elements < values->stored ? elements : values->stored;
	bool may_be_stretched = !args->has_strides && index->n_dims > 1;
	picked_fill(work, table,
		    read * values->size + elements * table->size * model->places[3] +
			    (may_be_stretched ? 0 : op_args_bytes(args, model->places[2])));
	return true;
}

/* The loss of classes reads one element of each row, its backward writes one: the rest is filled
 * by another operator. places: the rows, the classes. */
bool op_classes_find(struct op_work *work, const struct op_args *args, const struct op_model *model)
{
	const struct op_input *rows = op_args_get(args, model->places[0]),
			      *classes = op_args_get(args, model->places[1]);
	if (rows->kind != OP_INPUT_TENSOR || classes->kind != OP_INPUT_TENSOR)
		return false;
	picked_fill(work, rows, classes->elements * rows->size + classes->stored * classes->size);
	work->flop = classes->elements;
	return true;
}

/* vLLM: keys and values go to their places in a cache. Inputs: keys, values, both caches, the
 * places. */
bool op_cache_find(struct op_work *work, const struct op_args *args, const struct op_model *model)
{
	(void)model;
	const struct op_input *keys = op_args_get(args, 0), *values = op_args_get(args, 1),
			      *cache = op_args_get(args, 2);
	if (keys->kind != OP_INPUT_TENSOR || values->kind != OP_INPUT_TENSOR ||
	    cache->kind != OP_INPUT_TENSOR)
		return false;
	picked_fill(work, keys,
		    op_args_bytes(args, 0) + op_args_bytes(args, 1) + op_args_bytes(args, 4) +
			    (keys->elements + values->elements) * cache->size);
	return true;
}

/* vLLM: queries and keys are turned in place by angles of their positions. Inputs: positions,
 * queries, keys, the size of a head, cosines and sines. */
bool op_rotary_find(struct op_work *work, const struct op_args *args, const struct op_model *model)
{
	(void)model;
	const struct op_input *positions = op_args_get(args, 0), *q = op_args_get(args, 1),
			      *k = op_args_get(args, 2), *angles = op_args_get(args, 4);
	if (positions->kind != OP_INPUT_TENSOR || q->kind != OP_INPUT_TENSOR ||
	    angles->kind != OP_INPUT_TENSOR || angles->n_dims != 2)
		return false;
	double rows = positions->elements < angles->dims[0] ? positions->elements : angles->dims[0];
	double turned = q->elements + (k->kind == OP_INPUT_TENSOR ? k->elements : 0);
	picked_fill(work, q,
		    2 * (op_args_bytes(args, 1) + op_args_bytes(args, 2)) +
			    positions->stored * positions->size +
			    rows * angles->dims[1] * angles->size);
	work->flop = 3 * turned; /* two products and a sum for each element */
	return true;
}
