/* SPDX-License-Identifier: Apache-2.0 */
/* op_work.h - what an operator must compute and move, by its inputs.
 *
 * FLOP are those of the definition: a multiply-add is two. Bytes are a lower bound: each operand
 * is read once, each result written once. Convolution backward counts as its two products, which
 * cuDNN runs as two kernels: each reads its operands. docs/roofline.md has the formulas. Where
 * values were not recorded, work may stay open: op_settle() completes it.
 */
#ifndef HWY_ANALYZE_OP_WORK_H
#define HWY_ANALYZE_OP_WORK_H

#include "analyze/op_work/op_args.h"

enum op_family {
	OP_FAMILY_NONE,
	OP_FAMILY_GEMM,
	OP_FAMILY_CONVOLUTION,
	OP_FAMILY_ATTENTION,
	OP_FAMILY_ELEMENTWISE,
	OP_FAMILY_REDUCTION,
	OP_FAMILY_SOFTMAX,
	OP_FAMILY_NORMALIZATION,
	OP_FAMILY_GATHER,
	OP_FAMILY_COPY,
	OP_FAMILIES,
};
extern const char *const op_family_names[OP_FAMILIES]; /* "", "gemm", "convolution", … */

/* What values that were not recorded would tell: see op_settle.h. */
enum op_open {
	OP_OPEN_NOTHING,
	OP_OPEN_MASK, /* whether attention is causal */
	/* how many elements a convolution yields: flop is of each of them, bytes are without
	 * them */
	OP_OPEN_RESULTS,
};

struct op_work {
	enum op_family family;
	double flop, bytes;
	enum hwy_precision precision; /* of the inputs */
	bool is_matrix;               /* products of matrices, which tensor cores can do */
	/* The types of the inputs are not recorded (lists of tensors): the bytes are those of
	 * fp32. */
	bool assumes_fp32;
	enum op_open open;
	double masked_flop; /* OP_OPEN_MASK: with a causal mask; 'flop' is without one */
	double result_size; /* OP_OPEN_RESULTS: bytes of an element of the result */
	/* Of a convolution: a number for the sizes of its data and weights; 0: none. And of its
	 * backward, elements of the gradient, which are those of the forward's result. */
	uint64_t pair;
	double results;
	/* how many kernels share the work equally: 2 for both products of a convolution's
	 * backward */
	uint32_t parts;
};

struct op_model; /* an operator that is known by name */

/* The model of an operator ("aten::mm"); NULL where it is not known. Costs a search in a table:
 * keep the result. */
const struct op_model *op_work_model(const char *name);
/* Whether the work of an operator is that of a known operator around it, where there is one. */
bool op_work_yields(const struct op_model *model);
/* What the model says of these inputs; false where they do not suffice. */
bool op_work_find(struct op_work *work, const struct op_model *model, const struct op_args *args);

#endif
