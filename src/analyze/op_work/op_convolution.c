/* SPDX-License-Identifier: Apache-2.0 */
/* op_convolution.c - convolutions, direct and transposed, with groups, and their two products
 * backward.
 *
 * Weights are (channels out × channels in / groups × window); transposed: (channels in ×
 * channels out / groups × window). Each element of the result (transposed: of the data) takes
 * part in one multiply-add for each weight of one channel.
 *
 * Where stride and padding are not recorded, the forward's result is open: the gradient of a
 * backward of the same data and weights has its sizes (op_settle.h). */
#include "analyze/op_work/op_models.h"
#include "base/hash.h"

enum { BIAS, STRIDE, PADDING, DILATION, TRANSPOSED, OUTPUT_PADDING, GROUPS, GRADIENT };

struct window { /* by spatial dimension */
	double stride[OP_ARGS_DIMS], padding[OP_ARGS_DIMS], dilation[OP_ARGS_DIMS],
		output_padding[OP_ARGS_DIMS];
};

/* One number stands for all dimensions. False where the list is not recorded. */
static bool convolution_read(const struct op_args *args, int place, uint32_t n, double *into)
{
	uint32_t read = op_args_numbers(args, place, into, OP_ARGS_DIMS);
	for (uint32_t d = 1; d < n && read == 1; d++)
		into[d] = into[0];
	return read == 1 || read >= n;
}

static bool convolution_result(const struct op_args *args, const struct op_model *model,
			       bool transposed, double *results)
{
	const struct op_input *data = op_args_get(args, 0), *weights = op_args_get(args, 1);
	struct window w = {0};
	uint32_t n = data->n_dims - 2;
	double groups = 1;
	if (!convolution_read(args, model->places[STRIDE], n, w.stride) ||
	    !convolution_read(args, model->places[PADDING], n, w.padding) ||
	    !convolution_read(args, model->places[DILATION], n, w.dilation))
		return false;
	convolution_read(args, model->places[OUTPUT_PADDING], n, w.output_padding);
	op_args_numbers(args, model->places[GROUPS], &groups, 1);
	*results = data->dims[0] * (transposed ? weights->dims[1] * groups : weights->dims[0]);
	for (uint32_t d = 0; d < n; d++) {
		double in = data->dims[2 + d],
		       reach = w.dilation[d] * (weights->dims[2 + d] - 1) + 1;
		if (w.stride[d] < 1)
			return false;
		double steps = (in + 2 * w.padding[d] - reach) / w.stride[d];
		double out = transposed ? (in - 1) * w.stride[d] - 2 * w.padding[d] + reach +
						  w.output_padding[d]
					: (steps >= 0 ? (double)(int64_t)steps + 1 : 0);
		*results *= out > 0 ? out : 0;
	}
	return *results > 0;
}

static bool convolution_fits(const struct op_input *data, const struct op_input *weights)
{
	return data->kind == OP_INPUT_TENSOR && weights->kind == OP_INPUT_TENSOR &&
	       data->n_dims >= 3 && data->n_dims == weights->n_dims && weights->dims[0] > 0;
}

static bool convolution_is_transposed(const struct op_args *args, const struct op_model *model)
{
	return model->places[TRANSPOSED] == -2 ||
	       op_args_flag(args, model->places[TRANSPOSED], false);
}

static uint64_t convolution_pair(const struct op_input *data, const struct op_input *weights)
{
	double sizes[2 * OP_ARGS_DIMS] = {0};
	memcpy(sizes, data->dims, data->n_dims * sizeof *sizes);
	memcpy(sizes + OP_ARGS_DIMS, weights->dims, weights->n_dims * sizeof *sizes);
	uint64_t hash = hwy_hash(sizes, sizeof sizes);
	return hash ? hash : 1;
}

bool op_convolution_find(struct op_work *work, const struct op_args *args,
			 const struct op_model *model)
{
	const struct op_input *data = op_args_get(args, 0), *weights = op_args_get(args, 1);
	bool transposed = convolution_is_transposed(args, model);
	double results = 1;
	if (!convolution_fits(data, weights))
		return false;
	bool is_open = !args->has_values && !transposed;
	if (!is_open && !convolution_result(args, model, transposed, &results))
		return false;
	double of_channel = weights->elements / weights->dims[0];
	bool has_bias = op_args_is_tensor(args, model->places[BIAS]);
	*work = (struct op_work){
		.family = OP_FAMILY_CONVOLUTION,
		.precision = data->precision,
		.is_matrix = true,
		.parts = 1,
		.flop = (data->is_complex ? 8 : 2) * of_channel *
				(transposed ? data->elements : results) +
			(has_bias ? results : 0),
		.bytes = data->stored * data->size + weights->stored * weights->size +
			 op_args_bytes(args, model->places[BIAS]) +
			 (is_open ? 0 : results * data->size),
		.open = is_open ? OP_OPEN_RESULTS : OP_OPEN_NOTHING,
		.result_size = data->size,
		.pair = is_open ? convolution_pair(data, weights) : 0,
	};
	return true;
}

/* Whether a backward is that of a transposed convolution: by the value, else by the sizes. 1
 * yes, 0 no, -1 nobody knows. */
static int convolution_backward_direction(const struct op_args *args, const struct op_model *model,
					  const struct op_input *gradient,
					  const struct op_input *data,
					  const struct op_input *weights)
{
	if (args->has_values || model->places[TRANSPOSED] == -1)
		return convolution_is_transposed(args, model);
	bool direct = gradient->dims[1] == weights->dims[0],
	     transposed = data->dims[1] == weights->dims[0];
	if (direct != transposed)
		return transposed;
	/* As many channels on both sides: a convolution makes images smaller, or larger by its
	 * padding, which is smaller than its window; a transposed one makes them larger. */
	int grown = 0, shrunk = 0, grown_far = 0;
	for (uint32_t d = 2; d < data->n_dims; d++) {
		double by = gradient->dims[d] - data->dims[d];
		grown += by > 0;
		shrunk += by < 0;
		grown_far += by > weights->dims[d] - 1;
	}
	if (!direct || (grown && (shrunk || !grown_far)))
		return -1;
	return grown > 0;
}

/* Inputs: gradient of the result, data, weights (before PyTorch 1.11: data, gradient, weights),
 * then as aten::convolution from the bias' sizes on. The value at places[BIAS] says which of the
 * gradients of data, weights and bias are wanted; without it those of data and weights. The
 * bias' gradient is a sum that PyTorch leaves to aten::sum. */
bool op_convolution_find_backward(struct op_work *work, const struct op_args *args,
				  const struct op_model *model)
{
	int first = model->places[GRADIENT];
	const struct op_input *gradient = op_args_get(args, first),
			      *data = op_args_get(args, 1 - first), *weights = op_args_get(args, 2);
	if (!convolution_fits(data, weights) || !convolution_fits(gradient, weights))
		return false;
	int transposed = convolution_backward_direction(args, model, gradient, data, weights);
	if (transposed < 0)
		return false;
	const char *mask = op_args_get(args, model->places[BIAS])->value;
	bool wants[2] = {true, true};
	for (unsigned i = 0; i < 2 && *mask; i++) {
		mask += strcspn(mask, "TF");
		wants[i] = *mask == 'T';
		mask += *mask != 0;
	}
	double products = weights->elements / weights->dims[0] *
			  (transposed ? data->elements : gradient->elements);
	double bytes = gradient->stored * gradient->size + data->stored * data->size +
		       weights->stored * weights->size;
	double n = wants[0] + wants[1];
	*work = (struct op_work){
		.family = OP_FAMILY_CONVOLUTION,
		.precision = data->precision,
		.is_matrix = true,
		.parts = n > 1 ? 2 : 1,
		.flop = n * 2 * products,
		/* Each product reads two of gradient, data and weights and writes the third's
		 * like. */
		.bytes = n * bytes,
		.pair = transposed ? 0 : convolution_pair(data, weights),
		.results = gradient->elements,
	};
	return true;
}
