/* SPDX-License-Identifier: Apache-2.0 */
/* pm_effect.h - whether sampling a GPU's counters changed its clocks: NVML is asked before and
 * after sampling begins.
 *
 * The program starts at the same time, and a GPU that gets work raises its clocks: that is not
 * held against sampling.
 */
#ifndef HWY_RUN_COUNTERS_PM_EFFECT_H
#define HWY_RUN_COUNTERS_PM_EFFECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run/abi/nvml.h"

struct pm_clocks { /* at one moment */
	bool is_known;
	uint32_t sm_mhz, most_mhz; /* the SM clock, and the highest there is */
	uint64_t reasons;          /* ABI_NVML_REASON_… */
};

struct pm_effect { /* all 0: NVML cannot be asked */
	struct abi_nvml nvml;
	void *device;
};
/* Finds the device in NVML. Where that fails, the clocks are not known. */
void pm_effect_open(struct pm_effect *effect, const uint8_t uuid[16]);
struct pm_clocks pm_effect_look(const struct pm_effect *effect);
void pm_effect_close(struct pm_effect *effect);

/* True where clocks changed in a way that only sampling explains: somebody set them, or a GPU at
 * full speed runs slower without a reason. What an idle GPU's clocks do means nothing: opening
 * CUPTI raises them for a moment. 'text' says how. */
bool pm_effect_is_change(const struct pm_clocks *before, const struct pm_clocks *after, char *text,
			 size_t size);

#endif
