/* SPDX-License-Identifier: Apache-2.0 */
/* pm_probe.h - asks, in a child that may crash or hang, which GPUs could be sampled: for the
 * doctor and for --gpu-metrics-devices=help. */
#ifndef HWY_RUN_COUNTERS_PM_PROBE_H
#define HWY_RUN_COUNTERS_PM_PROBE_H

#include "run/counters/pm_devices.h"

struct pm_probe {
	uint32_t n;
	struct pm_probe_gpu {
		char name[96];
		char chip[32];
		uint32_t metrics; /* that can be sampled; 0: none can */
		char reason[320]; /* why none can; else "" */
		char remedy[256]; /* what would permit it; "" where nothing is known */
	} gpus[PM_MOST_DEVICES];
	char reason[320]; /* why no GPU could be asked; "" */
};

/* Looks at every GPU of the machine. Counters are asked for and not read: nothing is sampled. */
void pm_probe_look(struct pm_probe *probe);

#endif
