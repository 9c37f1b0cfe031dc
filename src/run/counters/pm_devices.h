/* SPDX-License-Identifier: Apache-2.0 */
/* pm_devices.h - which GPUs are sampled: what --gpu-metrics-devices says, and CUDA's numbers of
 * them. */
#ifndef HWY_RUN_COUNTERS_PM_DEVICES_H
#define HWY_RUN_COUNTERS_PM_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum pm_devices_wish { PM_DEVICES_NONE, PM_DEVICES_ALL, PM_DEVICES_VISIBLE, PM_DEVICES_LISTED };
struct pm_settings {
	enum pm_devices_wish devices;
	uint64_t listed; /* PM_DEVICES_LISTED: bit i for GPU i, as nvidia-smi counts */
	uint32_t rate_hz;
	int set; /* of pm_sets */
	/* PM_DEVICES_VISIBLE: the program's CUDA_VISIBLE_DEVICES; NULL: the same as headway's. */
	const char *visible;
};

/* Sets the environment of this process so that CUDA counts GPUs as the settings do. Must be
 * called before any thread is started. */
void pm_devices_environment(const struct pm_settings *settings);

enum { PM_MOST_DEVICES = 64 };
struct pm_devices {
	uint32_t n;
	struct pm_devices_entry {
		uint32_t index; /* CUDA's */
		uint8_t uuid[16];
		char name[96];
	} list[PM_MOST_DEVICES];
};
/* Asks CUDA's driver for the GPUs that are wished for. No context is made. */
bool pm_devices_find(const struct pm_settings *settings, struct pm_devices *devices,
		     struct hwy_err *err);

#endif
