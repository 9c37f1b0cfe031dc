/* SPDX-License-Identifier: Apache-2.0 */
/* phase.h - the one phase of a recording that a command looks at. A failure ends the program
 * with status 2. */
#ifndef HWY_CLI_PHASE_H
#define HWY_CLI_PHASE_H

#include "analyze/analysis.h"
#include "cli/kit/cli.h"

struct chosen_phase {
	struct hwy_trace *trace;
	struct hwy_analysis analysis;
	uint32_t index;
};

/* The option --phase: struct options has the field 'phase', a uint64_t; phases are counted from
 * 1, and 0 is the phase that took longest. */
#define PHASE_OPTION                                                                               \
	{                                                                                          \
		0, "phase", "N", "look at phase N (default: the one that took longest)", CLI_READ, \
			CLI_AT(phase), .read = phase_read_number                                   \
	}
void phase_read_number(const struct cli_value *value);
/* Opens a recording and chooses its phase. 'step' is the ranges that mark steps, or NULL;
 * 'number' is counted from 1, 0 is the phase that took longest; 'consequence' ends the message
 * where there is no device work. */
void phase_open(struct chosen_phase *phase, const char *path, const char *step, uint64_t number,
		const char *consequence);
/* Chooses the phase of an open trace, which phase_close will free. Without device work the trace
 * is freed at once and the result is false. */
bool phase_choose(struct chosen_phase *phase, struct hwy_trace *trace, const char *path,
		  const char *step, uint64_t number);
void phase_close(struct chosen_phase *phase);

#endif
