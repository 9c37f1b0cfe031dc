/* SPDX-License-Identifier: Apache-2.0 */
/* op_args.h - the inputs of an operator, as PyTorch's profiler writes them: sizes, types,
 * strides, and the values of what is no tensor.
 *
 * The text is that of the column ARGS: a JSON object with "Input Dims", "Input type" and, where
 * Kineto wrote them, "Input Strides" and "Concrete Inputs". Recordings of `--pytorch-shapes`
 * have the first two.
 */
#ifndef HWY_ANALYZE_OP_ARGS_H
#define HWY_ANALYZE_OP_ARGS_H

#include "analyze/peaks.h"

enum { OP_ARGS_INPUTS = 24, OP_ARGS_DIMS = 8 };

enum op_input_kind {
	OP_INPUT_NONE,   /* not given: None, or a value of an unknown kind */
	OP_INPUT_TENSOR, /* a tensor, possibly without dimensions */
	OP_INPUT_LIST,   /* a list of tensors, of types that the profiler does not tell */
	OP_INPUT_VALUE,  /* a number, a truth value or a list of them: see 'value' */
};

struct op_input {
	enum op_input_kind kind;
	/* Of a tensor: its sizes; of a list: how many tensors it has, in dims[0]. */
	uint32_t n_dims;
	double dims[OP_ARGS_DIMS];
	double elements; /* of a tensor or of all tensors of a list */
	/* elements that lie in memory: a dimension of stride 0 repeats the same ones */
	double stored;
	double size; /* bytes of an element; 0: not known */
	enum hwy_precision precision;
	bool is_complex, is_floating;
	const char *value; /* "[1, 1]", "True", ""; never NULL */
};

struct op_args {
	uint32_t n;
	bool has_values;  /* the values of what is no tensor were recorded */
	bool has_strides; /* else a tensor may lie in memory as less than its sizes tell */
	struct op_input inputs[OP_ARGS_INPUTS];
};

/* Reads the text; false where it has no sizes. Texts of the result live in the arena. */
bool op_args_read(struct op_args *args, struct hwy_arena *arena, const char *text, size_t length);

/* The value of "Input Dims" in an operator's arguments, as it was written; "" where they have
 * none. */
struct hwy_text op_args_shapes(struct hwy_text arguments);

/* The input at an index; an input of kind NONE beyond the last. */
const struct op_input *op_args_get(const struct op_args *args, int index);
static inline bool op_args_is_tensor(const struct op_args *args, int index)
{
	return op_args_get(args, index)->kind == OP_INPUT_TENSOR;
}
/* Bytes of a tensor as it lies in memory; 0 for what is no tensor. */
static inline double op_args_bytes(const struct op_args *args, int index)
{
	const struct op_input *input = op_args_get(args, index);
	return input->kind == OP_INPUT_TENSOR ? input->stored * input->size : 0;
}
/* Reads a list of numbers ("[1, 1]", "3"): how many there are, at most 'most'; 0 where it is not
 * recorded. */
uint32_t op_args_numbers(const struct op_args *args, int index, double *into, uint32_t most);
/* Whether a value is "True"; 'otherwise' where it was not recorded. */
bool op_args_flag(const struct op_args *args, int index, bool otherwise);

#endif
