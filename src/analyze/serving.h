/* SPDX-License-Identifier: Apache-2.0 */
/* serving.h - the units of an inference server: which steps read prompts (prefill), and which
 * make tokens (decode).
 *
 * A server's steps differ by what they hold: a step with a prompt takes as long as ten without
 * one. Servers write what a step holds into the name of its mark. One mean over both says
 * little.
 */
#ifndef HWY_ANALYZE_SERVING_H
#define HWY_ANALYZE_SERVING_H

#include "analyze/phases/phases.h"

enum serving_unit {
	SERVING_NONE, /* the name does not tell */
	SERVING_PREFILL,
	SERVING_DECODE,
	SERVING_MIXED, /* prompts and tokens in one step */
	SERVING_UNITS
};
extern const char *const serving_units[SERVING_UNITS];

/* What a step whose mark has this name holds: "execute_context_1(512)_generation_0(0)",
 * "step[DECODE bs=4]", "_forward_step 7: 1 ctx reqs, 3 gen reqs", "prefill". */
enum serving_unit serving_unit_of(const char *name);

struct serving_times { /* the steady steps of a phase, by unit; lengths in ns */
	uint32_t n[SERVING_UNITS];
	int64_t total[SERVING_UNITS], median[SERVING_UNITS];
};
/* All zero where no step's name tells what the step holds. */
struct serving_times serving_times_of(const struct hwy_trace *trace, const struct hwy_phase *phase);

#endif
