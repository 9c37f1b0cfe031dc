/* SPDX-License-Identifier: Apache-2.0 */
/* evaluator.c - see evaluator.h. */
#include "run/counters/evaluator.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "run/abi/nvperf.h"

struct evaluator {
	const char *const *metrics;
	size_t n;
	struct cupti_host *host; /* CUPTI's way; NULL where the fast way works */
	void *fast;              /* NVIDIA's evaluator object; NULL: the slow way */
	uint8_t *scratch;        /* the memory in which 'fast' lives */
	struct abi_nvperf_request *requests;
#define X(name, parameters) int (*name)(parameters *);
	ABI_NVPERF_FUNCTIONS(X)
#undef X
};

/* Finds the functions in the libnvperf_host that cupti_library_open has opened. */
static bool find_functions(struct evaluator *e)
{
	void *handle = dlopen("libnvperf_host.so", RTLD_LAZY | RTLD_NOLOAD);
	bool whole = handle != NULL;
#define X(name, parameters) whole = whole && (*(void **)&e->name = dlsym(handle, #name));
	ABI_NVPERF_FUNCTIONS(X)
#undef X
	return whole;
}

static bool make_fast(struct evaluator *e, const char *chip, const uint8_t *data, size_t bytes)
{
	struct abi_nvperf_initialize begin = {
		.size = ABI_CUPTI_SIZE(struct abi_nvperf_initialize, priv)};
	struct abi_nvperf_scratch scratch = {
		.size = ABI_CUPTI_SIZE(struct abi_nvperf_scratch, bytes),
		.chip = chip,
	};
	if (!find_functions(e) || e->NVPW_InitializeHost(&begin) ||
	    e->NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize(&scratch))
		return false;
	e->scratch = hwy_zalloc(scratch.bytes);
	struct abi_nvperf_make make = {
		.size = ABI_CUPTI_SIZE(struct abi_nvperf_make, evaluator),
		.scratch = e->scratch,
		.scratch_bytes = scratch.bytes,
		.chip = chip,
	};
	if (e->NVPW_CUDA_MetricsEvaluator_Initialize(&make))
		return false;
	e->fast = make.evaluator;
	struct abi_nvperf_attributes attributes = {
		.size = ABI_CUPTI_SIZE(struct abi_nvperf_attributes, data_bytes),
		.evaluator = e->fast,
		.data = data,
		.data_bytes = bytes,
	};
	return !e->NVPW_MetricsEvaluator_SetDeviceAttributes(&attributes);
}

static bool look_up_metrics(struct evaluator *e)
{
	e->requests = hwy_zarray(e->n, sizeof *e->requests);
	for (size_t i = 0; i < e->n; i++) {
		struct abi_nvperf_convert p = {
			.size = ABI_CUPTI_SIZE(struct abi_nvperf_convert, request_bytes),
			.evaluator = e->fast,
			.metric = e->metrics[i],
			.request = &e->requests[i],
			.request_bytes = ABI_CUPTI_SIZE(struct abi_nvperf_request, submetric),
		};
		if (e->NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest(&p))
			return false;
	}
	return true;
}

static void free_fast(struct evaluator *e)
{
	if (e->fast) {
		struct abi_nvperf_destroy p = {
			.size = ABI_CUPTI_SIZE(struct abi_nvperf_destroy, evaluator),
			.evaluator = e->fast,
		};
		e->NVPW_MetricsEvaluator_Destroy(&p);
	}
	free(e->scratch);
	free(e->requests);
	e->fast = NULL;
	e->scratch = NULL;
	e->requests = NULL;
}

struct evaluator *evaluator_make(const struct cupti_library *library,
				 enum abi_cupti_profiler profiler, const char *chip,
				 const uint8_t *availability, const uint8_t *data, size_t bytes,
				 const char *const *metrics, size_t n, struct hwy_err *err)
{
	struct evaluator *e = hwy_zalloc(sizeof *e);
	e->metrics = metrics;
	e->n = n;
	if (make_fast(e, chip, data, bytes) && look_up_metrics(e))
		return e;
	free_fast(e);
	e->host = cupti_host_make(library, profiler, chip, availability, err);
	if (e->host)
		return e;
	free(e);
	return NULL;
}

bool evaluator_values(struct evaluator *e, const uint8_t *data, size_t bytes, size_t sample,
		      double *values, struct hwy_err *err)
{
	if (e->host)
		return cupti_host_evaluate(e->host, data, bytes, sample, e->metrics, e->n, values,
					   err);
	for (size_t i = 0; i < e->n; i++)
		values[i] = NAN;
	struct abi_nvperf_evaluate p = {
		.size = ABI_CUPTI_SIZE(struct abi_nvperf_evaluate, values),
		.evaluator = e->fast,
		.requests = e->requests,
		.n_requests = e->n,
		.request_bytes = ABI_CUPTI_SIZE(struct abi_nvperf_request, submetric),
		.request_stride = sizeof *e->requests,
		.data = data,
		.data_bytes = bytes,
		.range = sample,
		.isolated = 1,
		.values = values,
	};
	int status = e->NVPW_MetricsEvaluator_EvaluateToGpuValues(&p);
	return !status ||
	       hwy_fail(err, "counter data cannot be evaluated (NVPW status %d)", status);
}

bool evaluator_is_fast(const struct evaluator *evaluator)
{
	return evaluator->fast != NULL;
}

void evaluator_free(struct evaluator *evaluator)
{
	if (!evaluator)
		return;
	free_fast(evaluator);
	cupti_host_free(evaluator->host);
	free(evaluator);
}
