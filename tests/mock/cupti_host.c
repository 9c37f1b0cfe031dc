/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_host.c - CUPTI's profiler host API in the mock libcupti: plans and evaluates mock counter data.
 *
 * It knows two chips, MOCK1 and GH100, and every metric but those that begin with "no__"; "sm__throughput" and
 * "smsp__warps_issue_stalled…" need a pass of their own. An empty libnvperf_host.so lies beside the mock library.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "counter_data.h"
#include "run/abi/cupti_host.h"

#define X(name, parameters) __attribute__((visibility("default"))) int name(parameters *);
ABI_CUPTI_HOST_FUNCTIONS(X)
#undef X

struct host {
	uint32_t n, passes;
};

static const char *const chips[] = {"MOCK1", "GH100"};

double mock_counter_value(const char *metric, const struct mock_counter_range *range)
{
	double us = (double)(range->end - range->start) / 1e3;
	if (strstr(metric, ".per_second"))
		return 1.98e9;
	if (strstr(metric, "pct"))
		return strstr(metric, "gr__cycles_active") ? 75 : 25;
	return 1000 * us;
}

int cuptiProfilerHostInitialize(struct abi_cupti_host_initialize *p)
{
	if (!p->chip || (strcmp(p->chip, chips[0]) != 0 && strcmp(p->chip, chips[1]) != 0))
		return ABI_CUPTI_INVALID_CHIP_NAME;
	struct host *host = calloc(1, sizeof *host);
	p->host = host;
	return host ? ABI_CUPTI_OK : ABI_CUPTI_OUT_OF_MEMORY;
}

int cuptiProfilerHostDeinitialize(struct abi_cupti_host_deinitialize *p)
{
	free(p->host);
	return ABI_CUPTI_OK;
}

int cuptiProfilerHostGetSupportedChips(struct abi_cupti_host_chips *p)
{
	p->n = sizeof chips / sizeof *chips;
	p->names = chips;
	return ABI_CUPTI_OK;
}

int cuptiProfilerHostGetBaseMetrics(struct abi_cupti_host_base_metrics *p)
{
	static const char *names[] = {"gr__cycles_active", "sm__cycles_active", "dram__bytes"};
	p->n = p->type == ABI_CUPTI_COUNTER ? sizeof names / sizeof *names : 0;
	p->names = names;
	return ABI_CUPTI_OK;
}

int cuptiProfilerHostGetMetricProperties(struct abi_cupti_host_metric_properties *p)
{
	p->description = p->hardware_unit = p->dimension = "";
	p->type = ABI_CUPTI_COUNTER;
	return ABI_CUPTI_OK;
}

int cuptiProfilerHostConfigAddMetrics(struct abi_cupti_host_add_metrics *p)
{
	struct host *host = p->host;
	for (size_t i = 0; i < p->n_metrics; i++) {
		if (strncmp(p->metrics[i], "no__", 4) == 0)
			return ABI_CUPTI_INVALID_PARAMETER;
		host->passes += strncmp(p->metrics[i], "sm__throughput", 14) == 0 ||
				strstr(p->metrics[i], "warps_issue_stalled");
		host->n++;
	}
	return ABI_CUPTI_OK;
}

int cuptiProfilerHostGetConfigImageSize(struct abi_cupti_host_config_size *p)
{
	p->bytes = sizeof(struct host);
	return ABI_CUPTI_OK;
}

int cuptiProfilerHostGetConfigImage(struct abi_cupti_host_config *p)
{
	if (p->bytes < sizeof(struct host))
		return ABI_CUPTI_INVALID_PARAMETER;
	memcpy(p->image, p->host, sizeof(struct host));
	return ABI_CUPTI_OK;
}

int cuptiProfilerHostGetNumOfPasses(struct abi_cupti_host_passes *p)
{
	p->passes = 1 + ((const struct host *)(const void *)p->image)->passes;
	return ABI_CUPTI_OK;
}

int cuptiProfilerHostGetRangeName(struct abi_cupti_host_range_name *p)
{
	char text[24];
	size_t length = 0;
	for (size_t rest = p->range; !length || rest; rest /= 10)
		text[length++] = (char)('0' + rest % 10);
	char *name = malloc(length + 1);
	for (size_t i = 0; name && i <= length; i++)
		name[i] = i < length ? text[length - 1 - i] : '\0';
	p->name = name;
	return name ? ABI_CUPTI_OK : ABI_CUPTI_OUT_OF_MEMORY;
}

int cuptiProfilerHostEvaluateToGpuValues(struct abi_cupti_host_evaluate *p)
{
	const struct mock_counter_data *data = (const void *)p->data;
	if (p->data_bytes < sizeof *data || data->magic != MOCK_COUNTER_MAGIC ||
	    p->range >= data->n)
		return ABI_CUPTI_INVALID_PARAMETER;
	for (size_t i = 0; i < p->n_metrics; i++)
		p->values[i] = mock_counter_value(p->metrics[i], &data->ranges[p->range]);
	return ABI_CUPTI_OK;
}
