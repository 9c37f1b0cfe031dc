/* SPDX-License-Identifier: Apache-2.0 */
/* habits.h - what the program does already, so that no advice tells it to do that. For src/diagnose
 * only. */
#ifndef HWY_DIAGNOSE_HABITS_H
#define HWY_DIAGNOSE_HABITS_H

#include "diagnose/diagnose.h"

/* Reads names of operators, ranges, kernels and calls, and which kinds of spans the recording
 * has. */
bool habits_find(const struct hwy_flow *flow, struct hwy_habits *habits, struct hwy_err *err);

#endif
