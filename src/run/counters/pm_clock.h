/* SPDX-License-Identifier: Apache-2.0 */
/* pm_clock.h - the device's time of a sample into CLOCK_MONOTONIC.
 *
 * Samples carry the GPU's own time, and nothing tells how that clock stands to the host's
 * without a CUDA context. But a sample has ended when it can be read: the host's time of reading
 * minus the sample's end is never smaller than the clocks' difference, and the smallest of many
 * such numbers comes near it. Clocks drift, so the smallest of the last seconds is taken.
 */
#ifndef HWY_RUN_COUNTERS_PM_CLOCK_H
#define HWY_RUN_COUNTERS_PM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum { PM_CLOCK_WINDOWS = 4 }; /* how many windows back the smallest is looked for */

struct pm_clock {                           /* all 0: nothing is known */
	int64_t smallest[PM_CLOCK_WINDOWS]; /* host minus device, the smallest of each window */
	int64_t window_end;                 /* when the current window ends, host's time */
	uint32_t windows;                   /* how many there were, the current one included */
};

/* A sample that ended at 'device' was in hand at 'host' (ns of CLOCK_MONOTONIC). */
void pm_clock_saw(struct pm_clock *clock, uint64_t device, int64_t host);
bool pm_clock_is_known(const struct pm_clock *clock);
/* The device's time as CLOCK_MONOTONIC. */
int64_t pm_clock_host(const struct pm_clock *clock, uint64_t device);

#endif
