/* SPDX-License-Identifier: Apache-2.0 */
/* gpm.c - GPU metrics from NVML's GPM, for GPUs from Hopper on: the source where counters cannot
 * be sampled.
 *
 * GPM needs no rights, and other hardware than CUPTI's counters, so that it works beside any
 * profiler; but it is slow: a value is the mean between two samples that are more than 100 ms
 * apart. The row's time is that of the first of the two. Metrics that a GPU does not have, such
 * as NVLink where there is none, are not a number, and make no lane.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/mem.h"
#include "run/counters/nvml_open.h"
#include "run/counters/watched.h"
#include "run/run.h"

enum { MOST_GPUS = 64, RATE_HZ = 8 };
static const int64_t EVERY_NS = 1000000000 / RATE_HZ;

/* The metrics by GPM's numbers. Rates are MiB a second in GPM. */
#define MIB 1048576.0
static const struct gpm_metric {
	uint32_t id;
	const char *lane, *unit;
	double scale;
} gpm_metrics[] = {
	{1, "GR Active [Throughput %]", "%", 1},
	{2, "SMs Active [Throughput %]", "%", 1},
	{3, "SM Occupancy [Throughput %]", "%", 1},
	{5, "Tensor Active [Throughput %]", "%", 1},
	{7, "HMMA Active [Throughput %]", "%", 1},
	{9, "IMMA Active [Throughput %]", "%", 1},
	{10, "DRAM Bandwidth [Throughput %]", "%", 1},
	{11, "FP64 Active [Throughput %]", "%", 1},
	{12, "FP32 Active [Throughput %]", "%", 1},
	{13, "FP16 Active [Throughput %]", "%", 1},
	{20, "PCIe TX", "B/s", MIB},
	{21, "PCIe RX", "B/s", MIB},
	{60, "NVLink RX", "B/s", MIB},
	{61, "NVLink TX", "B/s", MIB},
};
enum { GPM_METRICS = sizeof gpm_metrics / sizeof *gpm_metrics };

struct gpm_gpu {
	void *handle;
	uint32_t index, first_lane;
	void *before, *after;
	int64_t sampled; /* ns when 'before' was taken; 0: it was not */
	bool is_over;
};

struct gpm {
	struct watched *watched;
	struct abi_nvml nvml;
	struct gpm_gpu *gpus;
	uint32_t n;
	struct abi_nvml_gpm_query query;
};

/* ---- opening --------------------------------------------------------------------------------- */

static bool has_gpm(const struct abi_nvml *nvml)
{
	return nvml->nvmlGpmQueryDeviceSupport && nvml->nvmlGpmSampleAlloc &&
	       nvml->nvmlGpmSampleFree && nvml->nvmlGpmSampleGet && nvml->nvmlGpmMetricsGet;
}

static bool gpm_is_wanted(const struct gpm *gpm, uint32_t index)
{
	const struct pm_settings *settings = &watched_settings(gpm->watched)->metrics;
	return settings->devices != PM_DEVICES_LISTED ||
	       (index < 64 && settings->listed & UINT64_C(1) << index);
}

/* Makes the lanes of a GPU that GPM supports; the GPUs that the program does not use are left
 * out when the report is made. */
static bool gpm_open_gpu(struct gpm *gpm, uint32_t index)
{
	const struct abi_nvml *nvml = &gpm->nvml;
	struct gpm_gpu *gpu = &gpm->gpus[gpm->n];
	struct abi_nvml_gpm_support support = {.version = ABI_NVML_GPM_VERSION};
	char text[ABI_NVML_UUID_BYTES] = "", name[ABI_NVML_NAME_BYTES] = "";
	uint8_t uuid[16];
	*gpu = (struct gpm_gpu){.index = index};
	if (nvml->nvmlDeviceGetHandleByIndex_v2(index, &gpu->handle) != 0 ||
	    nvml->nvmlGpmQueryDeviceSupport(gpu->handle, &support) != 0 || !support.is_supported ||
	    nvml->nvmlDeviceGetUUID(gpu->handle, text, sizeof text) != 0 ||
	    !nvml_read_uuid(text, uuid) || nvml->nvmlGpmSampleAlloc(&gpu->before) != 0)
		return false;
	if (nvml->nvmlGpmSampleAlloc(&gpu->after) != 0) {
		nvml->nvmlGpmSampleFree(gpu->before);
		return false;
	}
	nvml->nvmlDeviceGetName(gpu->handle, name, sizeof name);
	name[sizeof name - 1] = '\0';
	struct watched_lane lanes[GPM_METRICS];
	for (uint32_t i = 0; i < GPM_METRICS; i++)
		lanes[i] = (struct watched_lane){.name = gpm_metrics[i].lane,
						 .unit = gpm_metrics[i].unit};
	uint32_t device = watched_device(gpm->watched, uuid, name);
	gpu->first_lane = watched_lanes(gpm->watched, device, lanes, GPM_METRICS);
	gpm->n++;
	return true;
}

static void gpm_free(struct gpm *gpm)
{
	for (uint32_t i = 0; i < gpm->n; i++) {
		gpm->nvml.nvmlGpmSampleFree(gpm->gpus[i].before);
		gpm->nvml.nvmlGpmSampleFree(gpm->gpus[i].after);
	}
	if (gpm->gpus)
		gpm->nvml.nvmlShutdown();
	free(gpm->gpus);
	free(gpm);
}

static void *gpm_open(struct watched *watched, struct hwy_err *err)
{
	struct gpm *gpm = hwy_zalloc(sizeof *gpm);
	unsigned count = 0;
	gpm->watched = watched;
	if (!nvml_open(&gpm->nvml, err)) {
		gpm_free(gpm);
		return NULL;
	}
	gpm->gpus = hwy_zarray(MOST_GPUS, sizeof *gpm->gpus);
	if (!has_gpm(&gpm->nvml))
		hwy_fail(err, "the driver's NVML is too old for GPM");
	else if (gpm->nvml.nvmlDeviceGetCount_v2(&count) != 0)
		hwy_fail(err, "NVML knows no GPU");
	for (unsigned i = 0; i < count && i < MOST_GPUS; i++)
		if (gpm_is_wanted(gpm, i))
			gpm_open_gpu(gpm, i);
	if (gpm->n) {
		watched_property(watched, "gpu_metrics.source", "NVML, GPM");
		watched_property(watched, "gpu_metrics.frequency_hz", "%d", RATE_HZ);
		watched_note(watched, 1,
			     "GPU metrics are those of NVML's GPM, %d samples a second: they tell "
			     "of whole steps, not of kernels",
			     RATE_HZ);
		return gpm;
	}
	if (count)
		hwy_fail(err, "no GPU that was asked for has GPM, which begins with Hopper");
	gpm_free(gpm);
	return NULL;
}

/* ---- recording ------------------------------------------------------------------------------- */

static void gpm_write_row(struct gpm *gpm, const struct gpm_gpu *gpu)
{
	struct abi_nvml_gpm_query *query = &gpm->query;
	double values[GPM_METRICS];
	query->version = ABI_NVML_GPM_VERSION;
	query->count = GPM_METRICS;
	query->before = gpu->before;
	query->after = gpu->after;
	for (uint32_t i = 0; i < GPM_METRICS; i++)
		query->metrics[i] = (struct abi_nvml_gpm_metric){.id = gpm_metrics[i].id};
	if (gpm->nvml.nvmlGpmMetricsGet(query) != ABI_NVML_SUCCESS)
		return;
	for (uint32_t i = 0; i < GPM_METRICS; i++)
		values[i] = query->metrics[i].result == ABI_NVML_SUCCESS
				    ? query->metrics[i].value * gpm_metrics[i].scale
				    : (double)NAN;
	watched_row(gpm->watched, gpu->first_lane, gpu->sampled, values, GPM_METRICS);
}

static void gpm_sample(struct gpm *gpm, struct gpm_gpu *gpu)
{
	int64_t now = run_now();
	int error = gpm->nvml.nvmlGpmSampleGet(gpu->handle, gpu->after);
	if (error != ABI_NVML_SUCCESS) {
		gpu->is_over = true;
		watched_note(gpm->watched, 2, "GPU metrics of GPU %u end early: NVML: %s (%d)",
			     gpu->index, nvml_error(&gpm->nvml, error), error);
		return;
	}
	if (gpu->sampled)
		gpm_write_row(gpm, gpu);
	void *free_sample = gpu->before;
	gpu->before = gpu->after;
	gpu->after = free_sample;
	gpu->sampled = now;
}

static void gpm_begin(void *state, int64_t now)
{
	struct gpm *gpm = state;
	(void)now;
	for (uint32_t i = 0; i < gpm->n; i++)
		gpm->gpus[i].sampled = 0;
}

static int64_t gpm_poll(void *state, int64_t now)
{
	struct gpm *gpm = state;
	bool is_over = true;
	for (uint32_t i = 0; i < gpm->n; i++) {
		if (!gpm->gpus[i].is_over)
			gpm_sample(gpm, &gpm->gpus[i]);
		is_over = is_over && gpm->gpus[i].is_over;
	}
	return is_over ? INT64_MAX : now + EVERY_NS;
}

static void gpm_finish(void *state)
{
	gpm_free(state);
}

const struct watch_source gpm_source = {
	.what = HWY_KEY("GPU metrics"),
	.open = gpm_open,
	.begin = gpm_begin,
	.poll = gpm_poll,
	.finish = gpm_finish,
	.was_asked_for = true,
};
