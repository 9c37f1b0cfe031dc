/* SPDX-License-Identifier: Apache-2.0 */
/* nvperf.h - the part of libnvperf_host that evaluates counter data, under our own names.
 *
 * CUPTI's host API evaluates through the same functions, but looks up every metric's name anew for every sample.
 * Here names are looked up once. tests/collect/abi_cupti_host.c compares this with NVIDIA's headers.
 */
#ifndef HWY_RUN_ABI_NVPERF_H
#define HWY_RUN_ABI_NVPERF_H

#include <stddef.h>
#include <stdint.h>

/* Every function returns a status; 0 is success. */
struct abi_nvperf_initialize {
	size_t size;
	void *priv;
};
struct abi_nvperf_request { /* a metric, looked up */
	size_t metric;
	uint8_t type, rollup;
	uint16_t submetric;
};
struct abi_nvperf_scratch {
	size_t size;
	void *priv;
	const char *chip;
	const uint8_t *availability;
	size_t bytes;
};
struct abi_nvperf_make {
	size_t size;
	void *priv;
	uint8_t *scratch;
	size_t scratch_bytes;
	const char *chip;
	const uint8_t *availability;
	const uint8_t *data;
	size_t data_bytes;
	void *evaluator;
};
struct abi_nvperf_destroy {
	size_t size;
	void *priv;
	void *evaluator;
};
struct abi_nvperf_convert {
	size_t size;
	void *priv;
	void *evaluator;
	const char *metric;
	struct abi_nvperf_request *request;
	size_t request_bytes;
};
struct abi_nvperf_attributes {
	size_t size;
	void *priv;
	void *evaluator;
	const uint8_t *data;
	size_t data_bytes;
};
struct abi_nvperf_evaluate {
	size_t size;
	void *priv;
	void *evaluator;
	const struct abi_nvperf_request *requests;
	size_t n_requests;
	size_t request_bytes, request_stride;
	const uint8_t *data;
	size_t data_bytes;
	size_t range;
	uint8_t isolated;
	double *values;
};

/* X(name, parameters) for each function. */
#define ABI_NVPERF_FUNCTIONS(X)                                                                    \
	X(NVPW_InitializeHost, struct abi_nvperf_initialize)                                       \
	X(NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize, struct abi_nvperf_scratch)        \
	X(NVPW_CUDA_MetricsEvaluator_Initialize, struct abi_nvperf_make)                           \
	X(NVPW_MetricsEvaluator_Destroy, struct abi_nvperf_destroy)                                \
	X(NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest, struct abi_nvperf_convert)   \
	X(NVPW_MetricsEvaluator_SetDeviceAttributes, struct abi_nvperf_attributes)                 \
	X(NVPW_MetricsEvaluator_EvaluateToGpuValues, struct abi_nvperf_evaluate)

#endif
