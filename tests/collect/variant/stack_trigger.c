/* SPDX-License-Identifier: Apache-2.0 */
/* stack_trigger.c - a stack is taken when the program calls getloadavg or fsync.
 *
 * Linked with the collector into a library of its own, for tests: programs of any language reach these two,
 * Python the first with the GIL held and the second without.
 */
#include <stdlib.h>
#include <unistd.h>

#include "collect/collect.h"

#define EXPORT __attribute__((visibility("default")))

static uint32_t calls;

EXPORT int getloadavg(double *loads, int count)
{
	for (int i = 0; i < count; i++)
		loads[i] = 0;
	collect_stack(REC_WHY_WAIT, collect_now(), ++calls);
	return count;
}

EXPORT int fsync(int fd)
{
	(void)fd;
	collect_stack(REC_WHY_LAUNCH, collect_now(), ++calls);
	return 0;
}
