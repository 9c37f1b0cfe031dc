/* SPDX-License-Identifier: Apache-2.0 */
/* profile_default.c - what is recorded where -t does not say it.
 *
 * With a driver of NVIDIA that is CUDA and NVTX. Without one there is no GPU's side but OpenCL's,
 * and a report of most programs would be empty: so that the first recording never is, it also has
 * operators of PyTorch, what Python's collector and its lock cost, calls into the operating system,
 * and samples of the program's processes, as far as each can be had here. Nobody asked for these,
 * so nobody is told of what cannot be had. Who names a CUPTI (HEADWAY_CUPTI) means CUDA.
 */
#include <stdlib.h>
#include <sys/resource.h>

#include "cli/profile.h"
#include "run/host_facts.h"
#include "run/perf/perf.h"

/* Whether there is the stack that unwinding takes, by the limit that headway shares with the
 * program. */
static bool has_stack(void)
{
	enum { ENOUGH = 1 << 20 };
	struct rlimit limit;
	return getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= ENOUGH;
}

void profile_default_sources(struct profile *profile)
{
	struct rec_control *control = &profile->settings.control;
	if (profile->like_nsys && !profile->traces_given)
		control->traces |= REC_TRACE_OSRT;
	if (profile->like_nsys)
		profile_sampling_like_nsys(profile);
	if (profile->like_nsys || profile->traces_given)
		return;
	char driver[64];
	if (host_facts_driver_version(driver, sizeof driver))
		return;
	control->traces |= run_installed_sources(REC_TRACE_OPENCL);
	if (getenv("HEADWAY_CUPTI") || profile->within || !has_stack())
		return;
	control->traces |=
		REC_TRACE_PYTORCH | REC_TRACE_PYTHON | run_installed_sources(REC_TRACE_OSRT);
	if (!profile->samples_given && !profile->switches_given && perf_is_permitted())
		profile_sampling_like_nsys(profile);
}
