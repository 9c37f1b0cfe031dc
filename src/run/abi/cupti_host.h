/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_host.h - the part of CUPTI's profiler host API that Headway uses, under our own names,
 * from CUDA 12.6 on.
 *
 * The host API turns names of metrics into a config image (which hardware counters to collect,
 * in how many passes) and counter data back into values. It needs no GPU and no driver. NVIDIA's
 * own header is C++ only. Every parameter struct begins with its size, without the padding
 * behind the last field (ABI_CUPTI_SIZE), and a pointer that is NULL.
 * tests/collect/abi_cupti_host.cpp compares all of this with NVIDIA's headers.
 */
#ifndef HWY_RUN_ABI_CUPTI_HOST_H
#define HWY_RUN_ABI_CUPTI_HOST_H

#include <stddef.h>
#include <stdint.h>

/* Results that mean something to us; every function returns one, 0 is success. */
enum abi_cupti_result {
	ABI_CUPTI_OK = 0,
	ABI_CUPTI_INVALID_PARAMETER = 1,
	ABI_CUPTI_INVALID_DEVICE = 2,
	ABI_CUPTI_INVALID_OPERATION = 7, /* at Enable: a session is active on the device */
	ABI_CUPTI_OUT_OF_MEMORY = 8,     /* at DecodeData: the hardware buffer ran over */
	ABI_CUPTI_HARDWARE = 9,
	ABI_CUPTI_INVALID_METRIC_NAME = 17,
	ABI_CUPTI_HARDWARE_BUSY = 26,
	ABI_CUPTI_NOT_SUPPORTED = 27,
	ABI_CUPTI_VIRTUALIZED_DEVICE = 33,
	ABI_CUPTI_INSUFFICIENT_PRIVILEGES = 35,
	ABI_CUPTI_VIRTUALIZED_PRIVILEGES = 40,
	ABI_CUPTI_CONFIDENTIAL_COMPUTING = 41,
	ABI_CUPTI_MIG_DEVICE = 43,
	ABI_CUPTI_WSL_DEVICE = 45,
	ABI_CUPTI_INVALID_CHIP_NAME = 46,
	ABI_CUPTI_UNKNOWN = 999,
};

enum abi_cupti_profiler { ABI_CUPTI_RANGE_PROFILER = 0, ABI_CUPTI_PM_SAMPLING = 1 };
enum abi_cupti_metric_type { ABI_CUPTI_COUNTER = 0, ABI_CUPTI_RATIO = 1, ABI_CUPTI_THROUGHPUT = 2 };

/* The size of a parameter struct up to its last field, as CUPTI compares it. */
#define ABI_CUPTI_SIZE(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))

struct abi_cupti_initialize { /* of cuptiProfilerInitialize and cuptiProfilerDeInitialize */
	size_t size;
	void *priv;
};
struct abi_cupti_chip_name {
	size_t size;
	void *priv;
	size_t device; /* CUDA's index */
	const char *chip;
};
struct abi_cupti_host_initialize {
	size_t size;
	void *priv;
	int profiler; /* enum abi_cupti_profiler */
	const char *chip;
	const uint8_t *availability; /* may be NULL: every counter of the chip is there */
	void *host;
};
struct abi_cupti_host_deinitialize {
	size_t size;
	void *priv;
	void *host;
};
struct abi_cupti_host_chips {
	size_t size;
	void *priv;
	size_t n;
	const char *const *names;
};
struct abi_cupti_host_base_metrics {
	size_t size;
	void *priv;
	void *host;
	int type; /* enum abi_cupti_metric_type */
	const char **names;
	size_t n;
};
struct abi_cupti_host_metric_properties {
	size_t size;
	void *priv;
	void *host;
	const char *metric;
	const char *description, *hardware_unit, *dimension;
	int type;
};
struct abi_cupti_host_range_name {
	size_t size;
	void *priv;
	const uint8_t *data;
	size_t data_bytes;
	size_t range;
	const char *delimiter;
	const char *name; /* from malloc, for the caller */
};
struct abi_cupti_host_evaluate {
	size_t size;
	void *priv;
	void *host;
	const uint8_t *data;
	size_t data_bytes;
	size_t range;
	const char **metrics;
	size_t n_metrics;
	double *values;
};
struct abi_cupti_host_add_metrics {
	size_t size;
	void *priv;
	void *host;
	const char **metrics;
	size_t n_metrics;
};
struct abi_cupti_host_config_size {
	size_t size;
	void *priv;
	void *host;
	size_t bytes;
};
struct abi_cupti_host_config {
	size_t size;
	void *priv;
	void *host;
	size_t bytes;
	uint8_t *image;
};
struct abi_cupti_host_passes {
	size_t size;
	void *priv;
	size_t bytes;
	uint8_t *image;
	size_t passes;
};

/* X(name, parameters) for each function of the host API; all are in libcupti from CUDA 12.6 on. */
#define ABI_CUPTI_HOST_FUNCTIONS(X)                                                                \
	X(cuptiProfilerHostInitialize, struct abi_cupti_host_initialize)                           \
	X(cuptiProfilerHostDeinitialize, struct abi_cupti_host_deinitialize)                       \
	X(cuptiProfilerHostGetSupportedChips, struct abi_cupti_host_chips)                         \
	X(cuptiProfilerHostGetBaseMetrics, struct abi_cupti_host_base_metrics)                     \
	X(cuptiProfilerHostGetMetricProperties, struct abi_cupti_host_metric_properties)           \
	X(cuptiProfilerHostGetRangeName, struct abi_cupti_host_range_name)                         \
	X(cuptiProfilerHostEvaluateToGpuValues, struct abi_cupti_host_evaluate)                    \
	X(cuptiProfilerHostConfigAddMetrics, struct abi_cupti_host_add_metrics)                    \
	X(cuptiProfilerHostGetConfigImageSize, struct abi_cupti_host_config_size)                  \
	X(cuptiProfilerHostGetConfigImage, struct abi_cupti_host_config)                           \
	X(cuptiProfilerHostGetNumOfPasses, struct abi_cupti_host_passes)

#endif
