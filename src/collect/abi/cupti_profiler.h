/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_profiler.h - the part of CUPTI's binary interface that reads counters and samples
 * program counters inside the target: the range profiler (CUDA 12.6 and later) and PC sampling.
 *
 * Declared here for the same reasons as cupti.h; tests/collect/abi_cupti.c compares it with
 * NVIDIA's headers. Every parameter struct begins with its size and a pointer that is NULL.
 * CUPTI compares the size with the end of the last field that it knows, so that CUPTI_SIZE, not
 * sizeof, must be given: sizeof may have padding behind the last field.
 */
#ifndef HWY_COLLECT_ABI_CUPTI_PROFILER_H
#define HWY_COLLECT_ABI_CUPTI_PROFILER_H

#include <stddef.h>
#include <stdint.h>

#define CUPTI_SIZE(type, last) (offsetof(struct type, last) + sizeof(((struct type *)0)->last))

enum { CUPTI_INSUFFICIENT_PRIVILEGES = 35 };
enum cupti_range { CUPTI_RANGE_AUTO = 1, CUPTI_RANGE_USER = 2 };
enum cupti_replay { CUPTI_REPLAY_APPLICATION = 1, CUPTI_REPLAY_KERNEL = 2, CUPTI_REPLAY_USER = 3 };

struct cupti_profiler_initialize {
	size_t size;
	void *reserved;
};

struct cupti_chip_name {
	size_t size;
	void *reserved;
	size_t device;
	const char *name;
};

struct cupti_range_enable {
	size_t size;
	void *reserved;
	void *context;
	void *profiler;
};

/* The parameters of Disable, Start and PopRange. */
struct cupti_range_object {
	size_t size;
	void *reserved;
	void *profiler;
};

struct cupti_range_config {
	size_t size;
	void *reserved;
	void *profiler;
	size_t config_bytes;
	const uint8_t *config;
	size_t image_bytes;
	uint8_t *image;
	uint32_t range, replay; /* enum cupti_range, enum cupti_replay */
	size_t most_ranges;
	uint16_t nesting_levels, least_nesting;
	size_t pass;
	uint16_t target_nesting;
};

struct cupti_range_stop {
	size_t size;
	void *reserved;
	void *profiler;
	size_t pass, target_nesting;
	uint8_t is_all_submitted;
};

struct cupti_range_decode {
	size_t size;
	void *reserved;
	void *profiler;
	size_t dropped;
};

struct cupti_range_image_size {
	size_t size;
	void *reserved;
	void *profiler;
	const char **metrics;
	size_t n_metrics, most_ranges;
	uint32_t most_nodes;
	size_t bytes;
};

struct cupti_range_image {
	size_t size;
	void *reserved;
	void *profiler;
	size_t bytes;
	uint8_t *image;
};

struct cupti_range_info {
	size_t size;
	void *reserved;
	const uint8_t *image;
	size_t bytes, ranges;
};

/* ---- PC sampling ---- */

enum {
	CUPTI_PC_PERIOD = 1,
	CUPTI_PC_HARDWARE_BUFFER = 4,
	CUPTI_PC_MODE = 5,
	CUPTI_PC_START_STOP = 6,
	CUPTI_PC_DATA = 8,
	CUPTI_PC_CONTINUOUS = 1,
	CUPTI_PC_SERIALIZED = 2,
	CUPTI_PC_REASON_BYTES = 128, /* the longest name of a stall reason */
};

struct cupti_pc_reason {
	uint32_t reason, samples;
} __attribute__((packed, aligned(8)));

struct cupti_pc {
	size_t size;
	uint64_t crc, offset;
	uint32_t function, pad;
	char *name;
	size_t n_reasons;
	struct cupti_pc_reason *reasons;
	uint32_t correlation;
} __attribute__((packed, aligned(8)));

struct cupti_pc_data {
	size_t size, most;
	uint64_t samples, dropped;
	size_t n, remaining;
	uint64_t range;
	struct cupti_pc *pcs;
	uint64_t not_user;
	uint8_t is_full;
} __attribute__((packed, aligned(8)));

struct cupti_pc_attribute {
	uint32_t type, status;
	union {
		uint64_t words[3];
		uint32_t number;
		size_t bytes;
		void *pointer;
	};
};

struct cupti_pc_config {
	size_t size;
	void *reserved;
	void *context;
	size_t n;
	struct cupti_pc_attribute *attributes;
};

struct cupti_pc_context { /* parameters of Enable, Disable, Start and Stop */
	size_t size;
	void *reserved;
	void *context;
};

struct cupti_pc_get {
	size_t size;
	void *reserved;
	void *context;
	void *data;
};

struct cupti_pc_count {
	size_t size;
	void *reserved;
	void *context;
	size_t *n;
};

struct cupti_pc_names {
	size_t size;
	void *reserved;
	void *context;
	size_t n;
	uint32_t *indexes;
	char **names;
};

/* ---- callbacks ---- */

enum { CUPTI_CONTEXT_DESTROY = 2, CUPTI_MODULE_LOADED = 6 }; /* of CUPTI_DOMAIN_RESOURCE */

struct cupti_module {
	uint32_t id;
	size_t bytes;
	const char *cubin;
};

/* The driver's calls that launch; the numbers never change. */
enum cupti_launch {
	CUPTI_LAUNCH_KERNEL = 307,
	CUPTI_LAUNCH_KERNEL_PTSZ = 442,
	CUPTI_LAUNCH_COOPERATIVE = 477,
	CUPTI_LAUNCH_COOPERATIVE_PTSZ = 478,
	CUPTI_LAUNCH_EX = 652,
	CUPTI_LAUNCH_EX_PTSZ = 653,
};

/* Parameters of cuLaunchKernel and cuLaunchCooperativeKernel, which has no 'extra'. */
struct cupti_launch_kernel {
	void *function;
	uint32_t grid[3], block[3], shared;
	void *stream, **parameters, **extra;
};

struct cupti_launch_config { /* the driver's CUlaunchConfig */
	uint32_t grid[3], block[3], shared;
	void *stream;
	void *attributes;
	uint32_t n_attributes;
};

struct cupti_launch_ex { /* parameters of cuLaunchKernelEx */
	const struct cupti_launch_config *config;
	void *function, **parameters, **extra;
};

/* X(name, parameters) for each function of the range profiler; all must be there. */
#define CUPTI_RANGE_FUNCTIONS(X)                                                                   \
	X(cuptiProfilerInitialize, (struct cupti_profiler_initialize *))                           \
	X(cuptiDeviceGetChipName, (struct cupti_chip_name *))                                      \
	X(cuptiGetDeviceId, (void *context, uint32_t *device))                                     \
	X(cuptiRangeProfilerEnable, (struct cupti_range_enable *))                                 \
	X(cuptiRangeProfilerDisable, (struct cupti_range_object *))                                \
	X(cuptiRangeProfilerSetConfig, (struct cupti_range_config *))                              \
	X(cuptiRangeProfilerStart, (struct cupti_range_object *))                                  \
	X(cuptiRangeProfilerStop, (struct cupti_range_stop *))                                     \
	X(cuptiRangeProfilerDecodeData, (struct cupti_range_decode *))                             \
	X(cuptiRangeProfilerGetCounterDataSize, (struct cupti_range_image_size *))                 \
	X(cuptiRangeProfilerCounterDataImageInitialize, (struct cupti_range_image *))              \
	X(cuptiRangeProfilerGetCounterDataInfo, (struct cupti_range_info *))

#define CUPTI_PC_FUNCTIONS(X)                                                                      \
	X(cuptiPCSamplingSetConfigurationAttribute, (struct cupti_pc_config *))                    \
	X(cuptiPCSamplingEnable, (struct cupti_pc_context *))                                      \
	X(cuptiPCSamplingDisable, (struct cupti_pc_context *))                                     \
	X(cuptiPCSamplingStart, (struct cupti_pc_context *))                                       \
	X(cuptiPCSamplingStop, (struct cupti_pc_context *))                                        \
	X(cuptiPCSamplingGetData, (struct cupti_pc_get *))                                         \
	X(cuptiPCSamplingGetNumStallReasons, (struct cupti_pc_count *))                            \
	X(cuptiPCSamplingGetStallReasons, (struct cupti_pc_names *))                               \
	X(cuptiGetCubinCrc, (void *))

#define CUPTI_PROFILER_POINTER(name, parameters) int(*name) parameters;
struct cupti_range_functions {
	CUPTI_RANGE_FUNCTIONS(CUPTI_PROFILER_POINTER)
};
struct cupti_pc_functions {
	CUPTI_PC_FUNCTIONS(CUPTI_PROFILER_POINTER)
};
#undef CUPTI_PROFILER_POINTER

#endif
