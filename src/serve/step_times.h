/* SPDX-License-Identifier: Apache-2.0 */
/* step_times.h - when the steps of a recording were, to tell the step of a span.
 *
 * The worker finds the steps and sends them as a frame (worker.h, WORKER_STEP_TIMES), in order of
 * process, then of time on the device. The rule is that of the column 'step' of `headway sql`:
 * device work belongs to the step in whose time on the device it starts, everything else to the
 * step in whose time on the CPU it starts.
 */
#ifndef HWY_SERVE_STEP_TIMES_H
#define HWY_SERVE_STEP_TIMES_H

#include "analyze/phases/phases.h"
#include "base/bytes.h"

enum { STEP_TIMES_NONE = UINT32_MAX };

struct timed_step {
	struct hwy_interval cpu, device; /* ns on the trace's clock */
	uint32_t process;                /* index into processes, or FLOW_NO_PROCESS */
	uint32_t phase;
	/* The number at the end of the step's mark ("step_12"); without one, the step's place in
	 * its phase, from 0. */
	uint32_t number;
	uint32_t place; /* the place of the step in its phase, from 0 */
};

struct step_times {
	const struct timed_step *v;
	uint32_t n;
	bool is_known; /* false: the diagnosis is not ready */
};

/* Adds the steps of all phases as an array of struct timed_step. */
void step_times_write(const struct hwy_trace *trace, const struct hwy_phases *phases,
		      struct hwy_bytes *out);
/* Yields the index of the step of a span that starts at 'start', or STEP_TIMES_NONE. */
uint32_t step_times_find(const struct step_times *steps, int64_t process, bool on_device,
			 int64_t start);

#endif
