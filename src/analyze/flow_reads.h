/* SPDX-License-Identifier: Apache-2.0 */
/* flow_reads.h - reads of results that a program waits for without a call that says so. For
 * flow.c only. */
#ifndef HWY_ANALYZE_FLOW_READS_H
#define HWY_ANALYZE_FLOW_READS_H

#include "analyze/flow.h"

/* Marks as blocking the copies to the host that programs of XLA wait for, and lets these calls
 * end with their copies. Changes nothing in traces without XLA. */
void flow_learn_reads(struct hwy_flow *flow);

#endif
