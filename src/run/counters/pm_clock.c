/* SPDX-License-Identifier: Apache-2.0 */
/* pm_clock.c - see pm_clock.h. */
#include "run/counters/pm_clock.h"

/* Long enough for many decodes, short enough that a drift of 10 us a second does not matter
 * beside samples of 100 us. */
static const int64_t WINDOW = 1000000000;

void pm_clock_saw(struct pm_clock *clock, uint64_t device, int64_t host)
{
	int64_t difference = (int64_t)((uint64_t)host - device);
	if (!clock->windows || host >= clock->window_end) {
		clock->smallest[clock->windows++ % PM_CLOCK_WINDOWS] = difference;
		clock->window_end = host + WINDOW;
		return;
	}
	int64_t *smallest = &clock->smallest[(clock->windows - 1) % PM_CLOCK_WINDOWS];
	if (difference < *smallest)
		*smallest = difference;
}

bool pm_clock_is_known(const struct pm_clock *clock)
{
	return clock->windows > 0;
}

int64_t pm_clock_host(const struct pm_clock *clock, uint64_t device)
{
	uint32_t n = clock->windows < PM_CLOCK_WINDOWS ? clock->windows : PM_CLOCK_WINDOWS;
	int64_t smallest = n ? clock->smallest[0] : 0;
	for (uint32_t i = 1; i < n; i++)
		if (clock->smallest[i] < smallest)
			smallest = clock->smallest[i];
	return (int64_t)(device + (uint64_t)smallest);
}
