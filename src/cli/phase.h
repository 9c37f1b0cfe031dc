/* phase.h - the phase of a file that a command looks at. Whatever fails ends the program with status 2. */
#ifndef HWY_CLI_PHASE_H
#define HWY_CLI_PHASE_H

#include "analyze/analysis.h"
#include "cli/kit/cli.h"

struct cli_phase {
	struct hwy_trace *trace;
	struct hwy_analysis analysis;
	uint32_t index;
};

/* The option --phase: struct options has the field 'phase', a uint64_t; phases are counted from 1, and 0 is the
 * phase that took longest. */
#define PHASE_OPTION                                                                               \
	{                                                                                          \
		0, "phase", "N", "look at phase N (default: the one that took longest)", CLI_READ, \
			CLI_AT(phase), .read = cli_phase_read                                      \
	}
void cli_phase_read(const struct cli_value *value);
/* step: the ranges that mark steps, or NULL. number: 0 for the phase that took longest. so: what follows where
 * there is no device work. */
void cli_phase_open(struct cli_phase *phase, const char *path, const char *step, uint64_t number,
		    const char *so);
/* The same of a trace that is open; it belongs to the phase from then on. False, with nothing left to close, where
 * there is no device work. */
bool cli_phase_of(struct cli_phase *phase, struct hwy_trace *trace, const char *path,
		  const char *step, uint64_t number);
void cli_phase_close(struct cli_phase *phase);

#endif
