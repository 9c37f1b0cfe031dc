/* SPDX-License-Identifier: Apache-2.0 */
/* op_pool.c - pooling and resizing: images in, smaller or larger images out, all read and
 * written once. */
#include "analyze/op_work/op_models.h"

enum { SIZES, STRIDE, PADDING, DILATION, CEILING, INDEX_BYTES };

static void pool_fill(struct op_work *work, const struct op_input *like, double flop, double bytes)
{
	*work = (struct op_work){.family = OP_FAMILY_REDUCTION,
				 .precision = like->precision,
				 .parts = 1,
				 .flop = flop,
				 .bytes = bytes};
}

/* A list for each of the last 'n' dimensions; one number stands for all; none: 'otherwise' is
 * kept. */
static void pool_read(const struct op_args *args, int place, uint32_t n, double *into)
{
	double read[OP_ARGS_DIMS];
	uint32_t count = place >= 0 ? op_args_numbers(args, place, read, OP_ARGS_DIMS) : 0;
	for (uint32_t d = 0; d < n && (count == 1 || count >= n); d++)
		into[d] = read[count == 1 ? 0 : d];
}

/* places: window, stride, padding, dilation (-1: none), whether sizes are rounded up, bytes of
 * an index that is written beside each result. An empty stride is the window. */
bool op_pool_find(struct op_work *work, const struct op_args *args, const struct op_model *model)
{
	const struct op_input *data = op_args_get(args, 0);
	double window[OP_ARGS_DIMS], stride[OP_ARGS_DIMS],
		padding[OP_ARGS_DIMS] = {0}, dilation[OP_ARGS_DIMS], results, of_window = 1;
	uint32_t given = op_args_numbers(args, model->places[SIZES], window, OP_ARGS_DIMS);
	/* max_pool2d's lists have two numbers */
	uint32_t n = given > 1 ? given : 2;
	if (data->kind != OP_INPUT_TENSOR || !given || data->n_dims <= n)
		return false;
	pool_read(args, model->places[SIZES], n, window);
	memcpy(stride, window, sizeof stride);
	for (uint32_t d = 0; d < n; d++)
		dilation[d] = 1;
	pool_read(args, model->places[STRIDE], n, stride);
	pool_read(args, model->places[PADDING], n, padding);
	pool_read(args, model->places[DILATION], n, dilation);
	bool is_ceiling = op_args_flag(args, model->places[CEILING], false);
	results = data->elements;
	for (uint32_t d = 0; d < n; d++) {
		double in = data->dims[data->n_dims - n + d];
		double room = in + 2 * padding[d] - dilation[d] * (window[d] - 1) - 1;
		if (stride[d] < 1 || in < 1 || room < 0)
			return false;
		room += is_ceiling ? stride[d] - 1 : 0;
		double out = (double)(int64_t)(room / stride[d]) + 1;
		/* PyTorch makes no result of a window that would begin behind the data and their
		 * padding. */
		out -= is_ceiling && (out - 1) * stride[d] >= in + padding[d];
		results *= out / in;
		of_window *= window[d];
	}
	pool_fill(work, data, results * of_window,
		  data->stored * data->size + results * (data->size + model->places[INDEX_BYTES]));
	return true;
}

/* places: the list of sizes of the result. */
bool op_resize_find(struct op_work *work, const struct op_args *args, const struct op_model *model)
{
	const struct op_input *data = op_args_get(args, 0);
	double sizes[OP_ARGS_DIMS];
	uint32_t n = op_args_numbers(args, model->places[SIZES], sizes, OP_ARGS_DIMS);
	if (data->kind != OP_INPUT_TENSOR || !n || data->n_dims <= n)
		return false;
	double results = data->elements;
	for (uint32_t d = 0; d < n; d++) {
		if (sizes[d] < 1 || data->dims[data->n_dims - n + d] < 1)
			return false;
		results *= sizes[d] / data->dims[data->n_dims - n + d];
	}
	pool_fill(work, data, data->elements > results ? data->elements : results,
		  (data->stored + results) * data->size);
	return true;
}

/* The gradient of the result is read, with its indexes where there are, and that of the data
 * written. places: the gradient, the data, the indexes or -1. */
bool op_pool_find_backward(struct op_work *work, const struct op_args *args,
			   const struct op_model *model)
{
	const struct op_input *gradient = op_args_get(args, model->places[0]),
			      *data = op_args_get(args, model->places[1]);
	if (gradient->kind != OP_INPUT_TENSOR || data->kind != OP_INPUT_TENSOR)
		return false;
	pool_fill(work, data, data->elements,
		  gradient->stored * gradient->size + op_args_bytes(args, model->places[2]) +
			  data->elements * data->size);
	return true;
}
