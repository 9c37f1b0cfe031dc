/* SPDX-License-Identifier: Apache-2.0 */
/* flow_first.h - which slow launches are no first use of code: those of kernels that were launched
 * before. */
#ifndef HWY_ANALYZE_FLOW_FIRST_H
#define HWY_ANALYZE_FLOW_FIRST_H

#include "analyze/flow.h"

/* Forgets the first uses that are launches of a kernel which the same process launched before: its
 * code was there, and the call was slow for another reason. */
void flow_forget_launched(struct hwy_flow *flow);

#endif
