/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate_copies.c - copies between host and device: how long the smallest takes from call to
 * arrival, and how many bytes a second a large one moves.
 */
#include <stdlib.h>
#include <string.h>

#include "run/calibrate/calibrate_helper.h"
#include "run/run.h"

enum { SMALL = 4, SMALL_COPIES = 100, LARGE = 64 << 20, LARGE_COPIES = 5 };

static void time_copies(struct helper *helper, bool to_device, void *memory, size_t bytes,
			uint32_t copies, struct helper_samples *samples)
{
	const struct abi_cuda *cuda = &helper->cuda;
	samples->n = 0;
	/* The copies need a calm CPU, because the CPU makes the calls and moves pageable memory. */
	helper_move_to_calm_cpu();
	for (uint32_t i = 0; i <= copies && !helper->error; i++) {
		int64_t start = run_now();
		helper_ok(helper, to_device ? cuda->cuMemcpyHtoDAsync_v2(helper->buffer, memory,
									 bytes, helper->stream)
					    : cuda->cuMemcpyDtoHAsync_v2(memory, helper->buffer,
									 bytes, helper->stream));
		helper_synchronize(helper);
		if (i) /* the first copy only warms up */
			samples->values[samples->n++] = (double)(run_now() - start);
	}
}

static void measure_direction(struct helper *helper, bool to_device, const char *kind, void *memory)
{
	struct helper_samples samples;
	char name[64];
	double median, spread;
	snprintf(name, sizeof name, "copy_%s_%s_latency", to_device ? "h2d" : "d2h", kind);
	time_copies(helper, to_device, memory, SMALL, SMALL_COPIES, &samples);
	helper_print_samples(helper, name, &samples);
	snprintf(name, sizeof name, "copy_%s_%s_bandwidth", to_device ? "h2d" : "d2h", kind);
	time_copies(helper, to_device, memory, LARGE, LARGE_COPIES, &samples);
	helper_summarize(&samples, &median, &spread);
	if (median > 0)
		helper_print(helper, name, LARGE / median * 1e9,
			     LARGE / median * 1e9 * (spread / median), "B/s");
}

void helper_measure_copies(struct helper *helper)
{
	void *pinned = NULL, *pageable = malloc(LARGE);
	if (pageable && helper_ok(helper, helper->cuda.cuMemHostAlloc(&pinned, LARGE, 0))) {
		memset(pageable, 1, LARGE);
		measure_direction(helper, true, "pinned", pinned);
		measure_direction(helper, false, "pinned", pinned);
		measure_direction(helper, true, "pageable", pageable);
		measure_direction(helper, false, "pageable", pageable);
	}
	free(pageable);
}
