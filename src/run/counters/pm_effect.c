/* SPDX-License-Identifier: Apache-2.0 */
/* pm_effect.c - see pm_effect.h. */
#include "run/counters/pm_effect.h"

#include <stdio.h>
#include <string.h>

#include "run/counters/nvml_open.h"

/* Reasons other than sampling for which a GPU is slower than it could be. */
static const uint64_t OTHER_REASONS = ABI_NVML_REASON_IDLE | ABI_NVML_REASON_POWER_CAP |
				      ABI_NVML_REASON_HW_SLOWDOWN | ABI_NVML_REASON_SYNC_BOOST |
				      ABI_NVML_REASON_SW_THERMAL | ABI_NVML_REASON_HW_THERMAL |
				      ABI_NVML_REASON_POWER_BRAKE | ABI_NVML_REASON_DISPLAY;

void pm_effect_open(struct pm_effect *effect, const uint8_t uuid[16])
{
	struct hwy_err err;
	unsigned n = 0;
	*effect = (struct pm_effect){0};
	if (!nvml_open(&effect->nvml, &err))
		return;
	if (effect->nvml.nvmlDeviceGetCount_v2(&n) != ABI_NVML_SUCCESS)
		n = 0;
	for (unsigned i = 0; i < n && !effect->device; i++) {
		char text[ABI_NVML_UUID_BYTES] = "";
		uint8_t found[16];
		void *device = NULL;
		if (effect->nvml.nvmlDeviceGetHandleByIndex_v2(i, &device) == ABI_NVML_SUCCESS &&
		    effect->nvml.nvmlDeviceGetUUID(device, text, sizeof text) == ABI_NVML_SUCCESS &&
		    nvml_read_uuid(text, found) && memcmp(found, uuid, sizeof found) == 0)
			effect->device = device;
	}
	if (!effect->device)
		effect->nvml.nvmlShutdown();
}

void pm_effect_close(struct pm_effect *effect)
{
	if (effect->device)
		effect->nvml.nvmlShutdown();
	*effect = (struct pm_effect){0};
}

struct pm_clocks pm_effect_look(const struct pm_effect *effect)
{
	const struct abi_nvml *nvml = &effect->nvml;
	struct pm_clocks clocks = {0};
	unsigned sm = 0, most = 0;
	unsigned long long reasons = 0;
	if (!effect->device)
		return clocks;
	int (*ask)(void *, unsigned long long *) =
		nvml->nvmlDeviceGetCurrentClocksEventReasons
			? nvml->nvmlDeviceGetCurrentClocksEventReasons
			: nvml->nvmlDeviceGetCurrentClocksThrottleReasons;
	clocks.is_known = ask && ask(effect->device, &reasons) == ABI_NVML_SUCCESS &&
			  nvml->nvmlDeviceGetClockInfo(effect->device, ABI_NVML_CLOCK_SM, &sm) ==
				  ABI_NVML_SUCCESS &&
			  nvml->nvmlDeviceGetMaxClockInfo &&
			  nvml->nvmlDeviceGetMaxClockInfo(effect->device, ABI_NVML_CLOCK_SM,
							  &most) == ABI_NVML_SUCCESS;
	clocks.sm_mhz = sm;
	clocks.most_mhz = most;
	clocks.reasons = reasons;
	return clocks;
}

bool pm_effect_is_change(const struct pm_clocks *before, const struct pm_clocks *after, char *text,
			 size_t size)
{
	const uint64_t set = ABI_NVML_REASON_APPLICATION_CLOCKS;
	if (!before->is_known || !after->is_known)
		return false;
	bool was_set = after->reasons & ~before->reasons & set;
	bool is_lowered = before->sm_mhz >= before->most_mhz - before->most_mhz / 20 &&
			  after->sm_mhz < before->sm_mhz - before->sm_mhz / 10 &&
			  !(after->reasons & OTHER_REASONS);
	snprintf(text, size, "%u MHz before sampling began, %u MHz after", before->sm_mhz,
		 after->sm_mhz);
	return was_set || is_lowered;
}
