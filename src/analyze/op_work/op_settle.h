/* SPDX-License-Identifier: Apache-2.0 */
/* op_settle.h - what the sizes of inputs leave open where values are not recorded
 * (`--pytorch-shapes`, and PyTorch before 2.1), and who tells it: the name of the kernel, or
 * other calls of the recording.
 *
 *   struct op_results results = {0};
 *   op_results_learn(&results, &work);                 // of every operator that is known
 *   if (!op_settle(&work, &results, "flash_fwd_kernel<…>"))
 *           return false;                              // nobody tells
 *   op_results_free(&results);
 */
#ifndef HWY_ANALYZE_OP_SETTLE_H
#define HWY_ANALYZE_OP_SETTLE_H

#include "analyze/op_work/op_work.h"
#include "base/hash.h"

/* How many elements a convolution of these data and weights yields, as the gradients of its
 * backward tell. */
struct op_results {
	struct hwy_map of_pair; /* op_work.pair -> index in 'elements' */
	double *elements;       /* NAN: it differs, stride or padding does */
	uint32_t n, cap;
};
void op_results_learn(struct op_results *results, const struct op_work *work);
void op_results_free(struct op_results *results);

/* Completes the work; false where it stays open. */
bool op_settle(struct op_work *work, const struct op_results *results, const char *kernel);

#endif
