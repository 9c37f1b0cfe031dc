/* SPDX-License-Identifier: Apache-2.0 */
/* op_memory.c - operators whose time is that of moving their data: elementwise, copies,
 * reductions, normalisations, softmax, gathers. Their FLOP are few for each byte and stand here
 * for completeness. */
#include "analyze/op_work/op_models.h"

static void memory_fill(struct op_work *work, enum op_family family, const struct op_input *like,
			double flop, double bytes)
{
	*work = (struct op_work){.family = family,
				 .precision = like->precision,
				 .parts = 1,
				 .flop = flop,
				 .bytes = bytes};
}

static double memory_greater(double a, double b)
{
	return a > b ? a : b;
}

/* Elements of the result of inputs that are stretched to each other, dimension by dimension from
 * the last. */
static double memory_broadcast(const struct op_args *args, int inputs)
{
	double dims[OP_ARGS_DIMS], elements = 1;
	for (unsigned d = 0; d < OP_ARGS_DIMS; d++)
		dims[d] = 1;
	for (int i = 0; i < inputs; i++) {
		const struct op_input *input = op_args_get(args, i);
		for (uint32_t d = 0; input->kind == OP_INPUT_TENSOR && d < input->n_dims; d++) {
			double *of = &dims[OP_ARGS_DIMS - input->n_dims + d];
			*of = input->dims[d] == 0 ? 0 : memory_greater(*of, input->dims[d]);
		}
	}
	for (unsigned d = 0; d < OP_ARGS_DIMS; d++)
		elements *= dims[d];
	return elements;
}

/* The input that decides the type of the result: a floating tensor, else a floating number, else
 * a tensor, else any; of two the wider. */
static const struct op_input *memory_deciding(const struct op_args *args, int inputs)
{
	const struct op_input *best = NULL;
	double rank = -1;
	for (int i = 0; i < inputs; i++) {
		const struct op_input *input = op_args_get(args, i);
		double of =
			input->size + (input->n_dims ? 100 : 0) + (input->is_floating ? 1000 : 0);
		if (input->kind == OP_INPUT_TENSOR && of > rank) {
			best = input;
			rank = of;
		}
	}
	return best;
}

/* places: how many inputs count (an input behind them is the result's place), bytes of an
 * element of the result where they do not follow from the inputs, bytes of a second result for
 * each element. */
bool op_elementwise_find(struct op_work *work, const struct op_args *args,
			 const struct op_model *model)
{
	int inputs = model->places[0];
	const struct op_input *like = memory_deciding(args, inputs);
	if (!like)
		return false;
	double elements = memory_broadcast(args, inputs), bytes = 0;
	for (int i = 0; i < inputs; i++)
		bytes += op_args_bytes(args, i);
	double size = model->places[1] ? model->places[1] : like->size;
	memory_fill(work, OP_FAMILY_ELEMENTWISE, like, elements,
		    bytes + elements * (size + model->places[2]));
	return true;
}

/* places: how many inputs count, how many lists are written. The types of a list's tensors are
 * not recorded: fp32 is assumed, which the caller corrects where the kernel's name tells. */
bool op_list_find(struct op_work *work, const struct op_args *args, const struct op_model *model)
{
	static const struct op_input single = {.size = 4, .precision = HWY_FP32};
	const struct op_input *first = op_args_get(args, 0);
	if (first->kind != OP_INPUT_LIST || first->elements <= 0)
		return false;
	double elements = first->elements * model->places[1];
	for (int i = 0; i < model->places[0]; i++)
		if (op_args_get(args, i)->kind == OP_INPUT_LIST)
			elements += op_args_get(args, i)->elements;
	memory_fill(work, OP_FAMILY_ELEMENTWISE, &single, first->elements, elements * single.size);
	work->assumes_fp32 = true;
	return true;
}

/* places: where the copy goes, where it comes from; -1: a constant is written. */
bool op_copy_find(struct op_work *work, const struct op_args *args, const struct op_model *model)
{
	const struct op_input *to = op_args_get(args, model->places[0]);
	if (to->kind != OP_INPUT_TENSOR)
		return false;
	memory_fill(work, OP_FAMILY_COPY, to, 0,
		    to->stored * to->size + op_args_bytes(args, model->places[1]));
	return true;
}

bool op_cat_find(struct op_work *work, const struct op_args *args, const struct op_model *model)
{
	bool ok = op_list_find(work, args, model);
	work->family = OP_FAMILY_COPY;
	work->flop = 0;
	return ok;
}

/* places: the dimensions that disappear, or -1: all of them; how many values are found for each
 * result. */
bool op_reduction_find(struct op_work *work, const struct op_args *args,
		       const struct op_model *model)
{
	const struct op_input *input = op_args_get(args, 0);
	double dims[OP_ARGS_DIMS], results = input->elements;
	if (input->kind != OP_INPUT_TENSOR)
		return false;
	uint32_t n = op_args_numbers(args, model->places[0], dims, OP_ARGS_DIMS);
	for (uint32_t i = 0; i < n; i++) {
		double d = dims[i] < 0 ? dims[i] + input->n_dims : dims[i];
		if (d >= 0 && d < input->n_dims && input->dims[(uint32_t)d] > 0)
			results /= input->dims[(uint32_t)d];
	}
	results = n ? results : 1;
	memory_fill(work, OP_FAMILY_REDUCTION, input, input->elements,
		    input->stored * input->size + results * input->size);
	return true;
}

/* Each row is read, normed and written. places: the data, how many results of their size are
 * written, FLOP for each element, the family, how many inputs are read (0: all): tensors behind
 * them are places for results. */
bool op_rows_find(struct op_work *work, const struct op_args *args, const struct op_model *model)
{
	const struct op_input *data = op_args_get(args, model->places[0]);
	int inputs = model->places[4] ? model->places[4] : (int)args->n;
	double bytes = 0;
	if (data->kind != OP_INPUT_TENSOR)
		return false;
	for (int i = 0; i < inputs; i++)
		bytes += op_args_bytes(args, i);
	memory_fill(work, (enum op_family)model->places[3], data, data->elements * model->places[2],
		    bytes + data->elements * data->size * model->places[1]);
	return true;
}

/* A kernel that torch.compile wrote: its tensors are all that it reads and writes. places: 1
 * where it is elementwise and reads parts of its inputs, of each no more elements than it has
 * results: as many as its last tensor, which is one. */
bool op_triton_find(struct op_work *work, const struct op_args *args, const struct op_model *model)
{
	const struct op_input *like = memory_deciding(args, (int)args->n), *last = like;
	double bytes = 0;
	if (!like)
		return false;
	for (int i = 0; i < (int)args->n; i++)
		last = op_args_is_tensor(args, i) ? op_args_get(args, i) : last;
	for (int i = 0; i < (int)args->n; i++) {
		const struct op_input *input = op_args_get(args, i);
		bool is_part = model->places[0] && input->stored > last->elements;
		bytes += is_part ? last->elements * input->size : op_args_bytes(args, i);
	}
	memory_fill(work, OP_FAMILY_ELEMENTWISE, like, 0, bytes);
	return true;
}

/* All tensors are read or written once. places: FLOP for each element of the widest tensor. */
bool op_moved_find(struct op_work *work, const struct op_args *args, const struct op_model *model)
{
	const struct op_input *like = memory_deciding(args, (int)args->n);
	double bytes = 0;
	if (!like)
		return false;
	for (int i = 0; i < (int)args->n; i++)
		bytes += op_args_bytes(args, i);
	memory_fill(work, OP_FAMILY_ELEMENTWISE, like, like->elements * model->places[0], bytes);
	return true;
}
