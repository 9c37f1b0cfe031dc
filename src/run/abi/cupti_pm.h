/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_pm.h - the part of CUPTI's PM sampling API that Headway uses, under our own names, from
 * CUDA 12.6 on.
 *
 * The GPU writes its counters into a buffer at a fixed rate; DecodeData turns that buffer into
 * counter data, which the host API (cupti_host.h) evaluates. tests/collect/abi_cupti_host.c
 * compares this with NVIDIA's header.
 */
#ifndef HWY_RUN_ABI_CUPTI_PM_H
#define HWY_RUN_ABI_CUPTI_PM_H

#include <stddef.h>
#include <stdint.h>

#include "run/abi/cupti_host.h"

/* What an interval counts: cycles of the system clock, or ns (not on Turing and GA100). */
enum abi_cupti_pm_trigger { ABI_CUPTI_PM_SYSCLK = 0, ABI_CUPTI_PM_TIME = 1 };
enum abi_cupti_pm_append { ABI_CUPTI_PM_KEEP_OLDEST = 0, ABI_CUPTI_PM_KEEP_LATEST = 1 };
/* Why DecodeData came back. */
enum abi_cupti_pm_stop { ABI_CUPTI_PM_OTHER = 0, ABI_CUPTI_PM_FULL = 1, ABI_CUPTI_PM_END = 2 };

struct abi_cupti_pm_set_config {
	size_t size;
	void *priv;
	void *session;
	size_t config_bytes;
	const uint8_t *config;
	size_t hardware_bytes;
	uint64_t interval;
	int trigger; /* enum abi_cupti_pm_trigger */
	int append;  /* enum abi_cupti_pm_append */
};
struct abi_cupti_pm_enable {
	size_t size;
	void *priv;
	size_t device; /* CUDA's index */
	void *session;
};
struct abi_cupti_pm_session { /* of Disable, Start and Stop */
	size_t size;
	void *priv;
	void *session;
};
struct abi_cupti_pm_decode {
	size_t size;
	void *priv;
	void *session;
	uint8_t *data;
	size_t data_bytes;
	int stop; /* enum abi_cupti_pm_stop */
	uint8_t overflow;
};
struct abi_cupti_pm_availability {
	size_t size;
	void *priv;
	size_t device;
	size_t bytes; /* with image NULL: how many it needs */
	uint8_t *image;
};
struct abi_cupti_pm_data_size {
	size_t size;
	void *priv;
	void *session;
	const char **metrics;
	size_t n_metrics;
	uint32_t samples; /* room for so many */
	size_t bytes;
};
struct abi_cupti_pm_data_initialize {
	size_t size;
	void *priv;
	void *session;
	size_t bytes;
	uint8_t *data;
};
struct abi_cupti_pm_data_info {
	size_t size;
	void *priv;
	const uint8_t *data;
	size_t data_bytes;
	size_t total, populated, completed;
};
struct abi_cupti_pm_sample_info {
	size_t size;
	void *priv;
	void *session;
	const uint8_t *data;
	size_t data_bytes;
	size_t sample;
	uint64_t start, end; /* ns */
};

/* X(name, parameters) for each function. */
#define ABI_CUPTI_PM_FUNCTIONS(X)                                                                  \
	X(cuptiProfilerInitialize, struct abi_cupti_initialize)                                    \
	X(cuptiDeviceGetChipName, struct abi_cupti_chip_name)                                      \
	X(cuptiPmSamplingGetCounterAvailability, struct abi_cupti_pm_availability)                 \
	X(cuptiPmSamplingEnable, struct abi_cupti_pm_enable)                                       \
	X(cuptiPmSamplingDisable, struct abi_cupti_pm_session)                                     \
	X(cuptiPmSamplingSetConfig, struct abi_cupti_pm_set_config)                                \
	X(cuptiPmSamplingGetCounterDataSize, struct abi_cupti_pm_data_size)                        \
	X(cuptiPmSamplingCounterDataImageInitialize, struct abi_cupti_pm_data_initialize)          \
	X(cuptiPmSamplingStart, struct abi_cupti_pm_session)                                       \
	X(cuptiPmSamplingStop, struct abi_cupti_pm_session)                                        \
	X(cuptiPmSamplingDecodeData, struct abi_cupti_pm_decode)                                   \
	X(cuptiPmSamplingGetCounterDataInfo, struct abi_cupti_pm_data_info)                        \
	X(cuptiPmSamplingCounterDataGetSampleInfo, struct abi_cupti_pm_sample_info)

#endif
