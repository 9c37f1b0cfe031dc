/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_profiler.c - the counters' side of the libcupti without a GPU: range profiler, PC sampling and host API.
 *
 * Plays a GH100 whose counters follow from the launch: the duration is the kernel's, each thread reads 4 bytes and
 * writes 8, all other counters are 50. A pass collects 16 metrics. It keeps CUPTI's rules and insists that the
 * collector does: a range is configured before it starts, one starts at a time, and every parameter has its size.
 *
 * Environment: MOCK_PROFILER_REFUSE what cuptiRangeProfilerEnable and cuptiPCSamplingEnable return;
 * MOCK_PROFILER_HANG=1 the end of a range never comes; MOCK_PROFILER_CRASH=1 the evaluation dies;
 * MOCK_PROFILER_LACKS a metric that the chip has not; MOCK_PROFILER_PASS how many metrics a pass collects;
 * MOCK_PROFILER_STUCK=1 a process goes on with the first config image; MOCK_PROFILER_ONCE=1 it can enable the profiler once.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collect/abi/cupti.h"
#include "collect/abi/cupti_profiler.h"
#include "mock.h"
#include "run/abi/cupti_host.h"
#include "run/abi/cupti_source.h"

#define EXPORT __attribute__((visibility("default")))

enum { MOST = 256, NAME_BYTES = 96 };

struct image { /* counter data: of one range */
	char magic[8];
	uint32_t ranges, passes; /* 'passes': a bit for each that was collected */
	int64_t ns;
	uint64_t threads;
};

struct config { /* a config image */
	char magic[8];
	uint32_t n;
	char names[MOST][NAME_BYTES];
};

static struct {
	bool is_enabled, is_started, is_configured;
	bool is_stuck; /* the counters are those of another config image */
	uint32_t replay, pass;
	uint32_t n_passes;
	struct image *image;
	struct image running; /* what was launched since the start */
	struct config config; /* the first since the profiler was enabled */
	struct cupti_pc_data *given;
	bool samples;
	uint64_t sampled;
} device;

static void insist(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "mock profiler: %s\n", what);
	abort();
}

static int wish_of(const char *name)
{
	const char *value = getenv(name);
	return value ? atoi(value) : 0;
}

/* How many metrics a pass collects. */
static uint32_t pass_size(void)
{
	int wish = wish_of("MOCK_PROFILER_PASS");
	return wish > 0 ? (uint32_t)wish : 16;
}

static uint32_t passes_of(const struct config *config)
{
	return (config->n + pass_size() - 1) / pass_size();
}

void mock_profiler_ran(const struct mock_launched *launched)
{
	if (device.samples)
		device.sampled++;
	if (!device.is_started)
		return;
	insist(device.running.ranges == 0, "a launch while another one is measured");
	device.running.ranges++;
	device.running.ns = launched->ns;
	device.running.threads = (uint64_t)launched->grid[0] * launched->grid[1] *
				 launched->grid[2] * launched->block[0] * launched->block[1] *
				 launched->block[2];
}

/* ---- the range profiler ---- */

EXPORT int cuptiProfilerInitialize(struct cupti_profiler_initialize *p)
{
	insist(p->size == CUPTI_SIZE(cupti_profiler_initialize, reserved), "size of Initialize");
	return CUPTI_OK;
}

EXPORT int cuptiDeviceGetChipName(struct cupti_chip_name *p)
{
	p->name = "GH100";
	return CUPTI_OK;
}

EXPORT int cuptiGetDeviceId(void *context, uint32_t *number)
{
	insist(context != NULL, "no context");
	*number = 0;
	return CUPTI_OK;
}

EXPORT int cuptiRangeProfilerEnable(struct cupti_range_enable *p)
{
	insist(p->size == CUPTI_SIZE(cupti_range_enable, profiler), "size of Enable");
	insist(!device.is_enabled, "enabled twice");
	if (getenv("MOCK_PROFILER_REFUSE"))
		return wish_of("MOCK_PROFILER_REFUSE");
	static bool was_enabled;
	if (was_enabled && getenv("MOCK_PROFILER_ONCE"))
		return CUPTI_UNKNOWN;
	was_enabled = true;
	device.is_enabled = true;
	p->profiler = &device;
	return CUPTI_OK;
}

EXPORT int cuptiRangeProfilerDisable(struct cupti_range_object *p)
{
	insist(p->profiler == &device && device.is_enabled, "disabled without being enabled");
	device.is_enabled = device.is_started = false;
	if (!getenv("MOCK_PROFILER_STUCK"))
		device.config.n = 0;
	return CUPTI_OK;
}

EXPORT int cuptiRangeProfilerSetConfig(struct cupti_range_config *p)
{
	insist(p->size == CUPTI_SIZE(cupti_range_config, target_nesting), "size of SetConfig");
	insist(p->profiler == &device && device.is_enabled && !device.is_started,
	       "configured at the wrong time");
	insist(p->config_bytes == sizeof(struct config) && memcmp(p->config, "MOCKCONF", 8) == 0,
	       "not a config image");
	insist(p->image_bytes == sizeof(struct image) && memcmp(p->image, "MOCKDATA", 8) == 0,
	       "not a counter data image");
	insist(p->range == CUPTI_RANGE_AUTO && p->most_ranges == 1 && p->nesting_levels == 1,
	       "one range a launch");
	/* CUPTI 13.0 does not take another config image while the profiler is enabled. */
	const struct config *config = (const struct config *)p->config;
	if (!device.config.n)
		device.config = *config;
	bool is_same = memcmp(&device.config, config, sizeof *config) == 0;
	insist(is_same || getenv("MOCK_PROFILER_STUCK"), "another config image");
	device.is_stuck = !is_same;
	device.replay = p->replay;
	device.pass = (uint32_t)p->pass;
	device.n_passes = passes_of(config);
	device.image = (struct image *)p->image;
	device.is_configured = true;
	return CUPTI_OK;
}

EXPORT int cuptiRangeProfilerStart(struct cupti_range_object *p)
{
	insist(p->profiler == &device && device.is_configured && !device.is_started,
	       "started at the wrong time");
	device.running = (struct image){0};
	device.is_started = true;
	/* It takes its time, in which other threads could launch. */
	nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
	return CUPTI_OK;
}

EXPORT int cuptiRangeProfilerStop(struct cupti_range_stop *p)
{
	insist(p->profiler == &device && device.is_started, "stopped without being started");
	if (getenv("MOCK_PROFILER_HANG"))
		for (;;)
			pause();
	device.is_started = false;
	p->is_all_submitted = 1;
	return CUPTI_OK;
}

EXPORT int cuptiRangeProfilerDecodeData(struct cupti_range_decode *p)
{
	insist(p->profiler == &device && !device.is_started, "decoded while started");
	struct image *image = device.image;
	uint32_t collected = device.replay == CUPTI_REPLAY_KERNEL
				     ? (uint32_t)((UINT64_C(1) << device.n_passes) - 1)
				     : 1u << device.pass;
	image->ranges = device.running.ranges;
	image->passes |= device.is_stuck ? 0 : collected;
	image->ns = device.running.ns;
	image->threads = device.running.threads;
	return CUPTI_OK;
}

EXPORT int cuptiRangeProfilerGetCounterDataSize(struct cupti_range_image_size *p)
{
	insist(p->size == CUPTI_SIZE(cupti_range_image_size, bytes) && p->most_ranges == 1,
	       "size of GetCounterDataSize");
	p->bytes = sizeof(struct image);
	return CUPTI_OK;
}

EXPORT int cuptiRangeProfilerCounterDataImageInitialize(struct cupti_range_image *p)
{
	insist(p->bytes == sizeof(struct image), "size of an image");
	*(struct image *)p->image =
		(struct image){.magic = {'M', 'O', 'C', 'K', 'D', 'A', 'T', 'A'}};
	return CUPTI_OK;
}

EXPORT int cuptiRangeProfilerGetCounterDataInfo(struct cupti_range_info *p)
{
	p->ranges = ((const struct image *)p->image)->ranges;
	return CUPTI_OK;
}

/* ---- PC sampling: each sampled kernel has two program counters, with two reasons each, of which one comes twice ---- */

/* Two program counters of a kernel that ran since the last call. */
static void fill(struct cupti_pc_data *data)
{
	static char name[] = "_Z5scalePfi";
	data->n = device.sampled ? 2 : 0;
	data->remaining = 0;
	for (size_t i = 0; i < data->n; i++) {
		struct cupti_pc *pc = &data->pcs[i];
		pc->crc = 77;
		pc->offset = 16 * i;
		pc->name = name;
		pc->n_reasons = 3;
		pc->reasons[0] = (struct cupti_pc_reason){.reason = 0, .samples = 30};
		pc->reasons[1] = (struct cupti_pc_reason){.reason = 1, .samples = 5};
		pc->reasons[2] = (struct cupti_pc_reason){.reason = 2, .samples = 30};
	}
	device.sampled = 0;
}

EXPORT int cuptiPCSamplingEnable(struct cupti_pc_context *p)
{
	insist(p->size == CUPTI_SIZE(cupti_pc_context, context), "size of PC sampling");
	device.samples = true;
	return wish_of("MOCK_PROFILER_REFUSE");
}

/* As CUPTI does: what was not fetched goes to the configured buffer. */
EXPORT int cuptiPCSamplingDisable(struct cupti_pc_context *p)
{
	(void)p;
	device.samples = false;
	device.sampled = 1;
	if (device.given)
		fill(device.given);
	return CUPTI_OK;
}

EXPORT int cuptiPCSamplingSetConfigurationAttribute(struct cupti_pc_config *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->attributes[i].type == CUPTI_PC_DATA)
			device.given = p->attributes[i].pointer;
	insist(device.given != NULL, "no buffer for samples");
	return CUPTI_OK;
}

EXPORT int cuptiPCSamplingStart(struct cupti_pc_context *p)
{
	(void)p;
	device.samples = true;
	return CUPTI_OK;
}

EXPORT int cuptiPCSamplingStop(struct cupti_pc_context *p)
{
	(void)p;
	device.samples = false;
	return CUPTI_OK;
}

EXPORT int cuptiPCSamplingGetNumStallReasons(struct cupti_pc_count *p)
{
	*p->n = 3;
	return CUPTI_OK;
}

EXPORT int cuptiPCSamplingGetStallReasons(struct cupti_pc_names *p)
{
	static const char *const names[] = {
		"smsp__pcsamp_warps_issue_stalled_long_scoreboard",
		"smsp__pcsamp_warps_issue_stalled_selected",
		"smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued",
	};
	for (uint32_t i = 0; i < 3; i++) {
		p->indexes[i] = i;
		strcpy(p->names[i], names[i]);
	}
	return CUPTI_OK;
}

EXPORT int cuptiPCSamplingGetData(struct cupti_pc_get *p)
{
	fill(p->data);
	return CUPTI_OK;
}

EXPORT int cuptiGetCubinCrc(void *parameters)
{
	((struct abi_cupti_cubin_crc *)parameters)->crc = 77;
	return CUPTI_OK;
}

EXPORT int cuptiGetSassToSourceCorrelation(struct abi_cupti_line *p)
{
	p->file = strdup("scale.cu");
	p->folder = strdup("/src");
	p->line = 10 + (uint32_t)(p->pc / 16);
	return CUPTI_OK;
}

/* ---- the host ---- */

EXPORT int cuptiProfilerHostInitialize(struct abi_cupti_host_initialize *p)
{
	struct config *config = calloc(1, sizeof *config);
	memcpy(config->magic, "MOCKCONF", 8);
	p->host = config;
	return CUPTI_OK;
}

EXPORT int cuptiProfilerHostDeinitialize(struct abi_cupti_host_deinitialize *p)
{
	free(p->host);
	return CUPTI_OK;
}

EXPORT int cuptiProfilerHostGetSupportedChips(struct abi_cupti_host_chips *p)
{
	static const char *const chips[] = {"GA100", "GH100"};
	p->n = 2;
	p->names = chips;
	return CUPTI_OK;
}

EXPORT int cuptiProfilerHostGetBaseMetrics(struct abi_cupti_host_base_metrics *p)
{
	p->n = 0;
	return CUPTI_OK;
}

EXPORT int cuptiProfilerHostGetSubMetrics(void *p)
{
	(void)p;
	return CUPTI_UNKNOWN;
}

EXPORT int cuptiProfilerHostGetMetricProperties(struct abi_cupti_host_metric_properties *p)
{
	p->description = p->hardware_unit = p->dimension = "";
	return CUPTI_OK;
}

EXPORT int cuptiProfilerHostGetMaxNumHardwareMetricsPerPass(void *p)
{
	(void)p;
	return CUPTI_UNKNOWN;
}

EXPORT int cuptiProfilerHostGetRangeName(struct abi_cupti_host_range_name *p)
{
	p->name = strdup("0");
	return CUPTI_OK;
}

EXPORT int cuptiProfilerHostConfigAddMetrics(struct abi_cupti_host_add_metrics *p)
{
	struct config *config = p->host;
	const char *lacks = getenv("MOCK_PROFILER_LACKS");
	for (size_t i = 0; i < p->n_metrics; i++) {
		if (config->n == MOST || (lacks && strcmp(lacks, p->metrics[i]) == 0))
			return ABI_CUPTI_INVALID_PARAMETER;
		snprintf(config->names[config->n++], NAME_BYTES, "%s", p->metrics[i]);
	}
	return CUPTI_OK;
}

EXPORT int cuptiProfilerHostGetConfigImageSize(struct abi_cupti_host_config_size *p)
{
	p->bytes = sizeof(struct config);
	return CUPTI_OK;
}

EXPORT int cuptiProfilerHostGetConfigImage(struct abi_cupti_host_config *p)
{
	memcpy(p->image, p->host, sizeof(struct config));
	return CUPTI_OK;
}

EXPORT int cuptiProfilerHostGetNumOfPasses(struct abi_cupti_host_passes *p)
{
	p->passes = passes_of((const struct config *)p->image);
	return CUPTI_OK;
}

static double value_of(const struct image *image, const char *metric)
{
	if (strcmp(metric, "gpu__time_duration.sum") == 0)
		return (double)image->ns;
	if (strcmp(metric, "dram__bytes_read.sum") == 0)
		return 4 * (double)image->threads;
	if (strcmp(metric, "dram__bytes_write.sum") == 0)
		return 8 * (double)image->threads;
	return 50;
}

/* The pass of a metric is its place among those that are evaluated together, as when it was configured. */
EXPORT int cuptiProfilerHostEvaluateToGpuValues(struct abi_cupti_host_evaluate *p)
{
	const struct image *image = (const struct image *)p->data;
	if (getenv("MOCK_PROFILER_CRASH"))
		abort();
	if (p->data_bytes != sizeof *image || memcmp(image->magic, "MOCKDATA", 8) != 0)
		return ABI_CUPTI_INVALID_PARAMETER;
	for (size_t i = 0; i < p->n_metrics; i++)
		p->values[i] = image->passes >> (i / pass_size()) & 1
				       ? value_of(image, p->metrics[i])
				       : NAN;
	return CUPTI_OK;
}
