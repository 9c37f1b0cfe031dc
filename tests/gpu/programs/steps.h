/* SPDX-License-Identifier: Apache-2.0 */
/* steps.h - times a loop of steps, as steps.py does; each is a range. */
#pragma once
#include "example.h"

#include <nvtx3/nvToolsExt.h>

static inline bool is_fixed(int argc, char **argv)
{
	return argc > 1 && strcmp(argv[1], "--fixed") == 0;
}

static inline int multiprocessors()
{
	int n;
	check(cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, 0));
	return n;
}

/* Calls step(i), which returns when the device is done, and prints the mean time of one after the warm-up. */
template <typename Step> static void timed(int steps, int warmup, Step step)
{
	double start = now_ms();
	for (int i = 0; i < warmup + steps; i++) {
		if (i == warmup)
			start = now_ms();
		nvtxRangePushA("step");
		step(i);
		nvtxRangePop();
	}
	printf("step_ms %.4f\n", (now_ms() - start) / steps);
	fflush(stdout);
}
