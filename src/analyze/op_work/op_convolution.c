/* SPDX-License-Identifier: Apache-2.0 */
/* op_convolution.c - convolutions, direct and transposed, with groups, and their two products backward.
 *
 * Weights are (channels out × channels in / groups × window); transposed: (channels in × channels out / groups × window).
 * Each element of the result (transposed: of the data) takes part in one multiply-add for each weight of one channel. */
#include "analyze/op_work/op_models.h"

enum { BIAS, STRIDE, PADDING, DILATION, TRANSPOSED, OUTPUT_PADDING, GROUPS };

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

bool op_convolution_find(struct op_work *work, const struct op_args *args,
			 const struct op_model *model)
{
	const struct op_input *data = op_args_get(args, 0), *weights = op_args_get(args, 1);
	bool transposed = convolution_is_transposed(args, model);
	double results;
	if (!convolution_fits(data, weights) ||
	    !convolution_result(args, model, transposed, &results))
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
			 op_args_bytes(args, model->places[BIAS]) + results * data->size,
	};
	return true;
}

/* Inputs: gradient of the result, data, weights, then as aten::convolution from the bias' sizes on; the last says which of
 * the gradients of data, weights and bias are wanted; without these values those of data and weights. The bias' gradient is
 * a sum that PyTorch leaves to aten::sum. */
bool op_convolution_find_backward(struct op_work *work, const struct op_args *args,
				  const struct op_model *model)
{
	const struct op_input *gradient = op_args_get(args, 0), *data = op_args_get(args, 1),
			      *weights = op_args_get(args, 2);
	if (!convolution_fits(data, weights) || !convolution_fits(gradient, weights))
		return false;
	const char *mask = op_args_get(args, 10)->value;
	bool wants[2] = {true, true};
	for (unsigned i = 0; i < 2 && *mask; i++) {
		mask += strcspn(mask, "TF");
		wants[i] = *mask == 'T';
		mask += *mask != 0;
	}
	bool transposed = convolution_is_transposed(args, model);
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
		/* Each product reads two of gradient, data and weights and writes the third's like. */
		.bytes = n * bytes,
	};
	return true;
}
