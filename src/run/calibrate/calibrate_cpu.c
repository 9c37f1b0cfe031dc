/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate_cpu.c - finds a CPU that nobody else slows down.
 *
 * On a machine that others use too, a CPU may be half as fast as the next one, for a tenth of a
 * second or for seconds: somebody works on the other half of its core. A launch would then seem to
 * cost that much more on one side of a comparison. So each timed piece begins, every few
 * milliseconds, on the CPU that does a small piece of work soonest; looking takes about 0.1 ms per
 * CPU. The thread is free to leave that CPU: if it were bound, threads that the driver starts
 * meanwhile would be too.
 */
#include <sched.h>

#include "run/calibrate/calibrate_helper.h"
#include "run/run.h"

enum { WORK = 20000, TRIES = 3, MOST_CPUS = 24 };

static int64_t time_work(void)
{
	int64_t best = INT64_MAX;
	for (int i = 0; i < TRIES; i++) {
		int64_t start = run_now();
		for (volatile uint32_t done = 0; done < WORK; done++)
			;
		int64_t took = run_now() - start;
		best = took < best ? took : best;
	}
	return best;
}

static bool bind_to_cpu(size_t cpu)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return sched_setaffinity(0, sizeof one, &one) == 0;
}

void helper_move_to_calm_cpu(void)
{
	cpu_set_t allowed;
	int64_t best = INT64_MAX;
	size_t calmest = CPU_SETSIZE;
	int looked_at = 0;
	if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
		return; /* the machine has more CPUs than a cpu_set_t */
	for (size_t cpu = 0; cpu < CPU_SETSIZE && looked_at < MOST_CPUS; cpu++) {
		if (!CPU_ISSET(cpu, &allowed) || !bind_to_cpu(cpu))
			continue;
		looked_at++;
		int64_t took = time_work();
		if (took < best)
			best = took, calmest = cpu;
	}
	if (calmest < CPU_SETSIZE)
		bind_to_cpu(calmest);
	sched_setaffinity(0, sizeof allowed, &allowed);
}
