/* SPDX-License-Identifier: Apache-2.0 */
/* summary_waits.h - the calls of a phase that wait for the device, by their lines. */
#ifndef HWY_COMPARE_SUMMARY_WAITS_H
#define HWY_COMPARE_SUMMARY_WAITS_H

#include "compare/summary.h"

/* Fills in into->waits: the calls of the phase that wait for the device, one entry a line. */
bool summary_waits(struct compare_phase *into, struct hwy_arena *arena,
		   struct hwy_analysis *analysis, const struct hwy_phase *phase,
		   const struct hwy_waits *waits, struct hwy_err *err);

/* Names the wait that a change added, or that it made more frequent: "new wait: clFinish at
 * mlp_cl.c:76"; "" where there is none, or where it cannot be told. */
const char *summary_new_wait(const struct compare_phase *before, const struct compare_phase *after,
			     struct hwy_arena *arena);

#endif
