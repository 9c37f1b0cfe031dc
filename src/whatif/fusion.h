/* SPDX-License-Identifier: Apache-2.0 */
/* fusion.h - chains of elementwise kernels that one kernel could replace, and how long that one
 * would take.
 *
 * An elementwise kernel reads its operands from memory and writes its result; the next one of a
 * chain reads that result again. One kernel for the whole chain reads each operand and writes
 * the last result once. The kernels are taken to work on results of each other: recordings hold
 * no addresses. So a chain has kernels of one stream in a row, with nothing between, in one
 * step, and of similar length. A kernel twice in a row, and two kernels in an order that the
 * chain had before, are taken for the same work on other data: there a chain ends. So it does
 * between two kernels that a compiler has made, which would have made one of them if it could.
 */
#ifndef HWY_WHATIF_FUSION_H
#define HWY_WHATIF_FUSION_H

#include "analyze/flow.h"

struct fusion_chain {
	const uint32_t *ops; /* indexes into flow.ops, in order */
	uint32_t n;          /* two or more */
	int64_t ns;          /* of all its kernels */
	int64_t fused;       /* ns of the one kernel that replaces them */
};

/* Whether a kernel, by its name, computes each element of its result from the same element of
 * its operands. Knows the names of PyTorch, Inductor, CuPy and XLA. */
bool fusion_is_elementwise(const char *name);

/* ns of one kernel instead of n: the first one, and of each further one what it takes longer
 * than the shortest. A kernel with one operand is the shortest, and what others take longer is
 * to read operands that the fused kernel reads, too. */
int64_t fusion_time(const int64_t *lengths, uint32_t n);

/* Hands all chains among the ops first … end - 1 to 'take'. 'step' yields a number for the step
 * of an op; 0: the op is in no step, and in no chain. */
struct fusion_plan {
	const struct hwy_flow *flow;
	uint32_t first, end;
	uint32_t (*step)(void *self, uint32_t op);
	void (*take)(void *self, const struct fusion_chain *chain);
	void *self;
};
void fusion_find(const struct fusion_plan *plan);

#endif
