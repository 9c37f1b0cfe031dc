/* SPDX-License-Identifier: Apache-2.0 */
/* nvml.h - the part of NVIDIA's management library (libnvidia-ml.so.1) that headway needs, under
 * our own names.
 *
 * The facts are those of the public NVML API reference. Handles are pointers, every function
 * returns an error number. Functions that older drivers lack are looked for one by one: see X's
 * third argument.
 */
#ifndef HWY_RUN_ABI_NVML_H
#define HWY_RUN_ABI_NVML_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum abi_nvml_error {
	ABI_NVML_SUCCESS = 0,
	ABI_NVML_NOT_SUPPORTED = 3,
	ABI_NVML_NO_PERMISSION = 4,
	ABI_NVML_DRIVER_NOT_LOADED = 9,
	ABI_NVML_GPU_IS_LOST = 15,
};

enum {
	ABI_NVML_CLOCK_SM = 1,
	ABI_NVML_CLOCK_MEMORY = 2,
	ABI_NVML_TEMPERATURE_GPU = 0,
	ABI_NVML_UUID_BYTES = 96,
	ABI_NVML_NAME_BYTES = 96,
};

/* Why clocks are lower than they could be: bits, true at the moment of the question. */
enum {
	ABI_NVML_REASON_IDLE = 0x1,
	ABI_NVML_REASON_APPLICATION_CLOCKS = 0x2, /* somebody set the clocks */
	ABI_NVML_REASON_POWER_CAP = 0x4,
	ABI_NVML_REASON_HW_SLOWDOWN = 0x8,
	ABI_NVML_REASON_SYNC_BOOST = 0x10,
	ABI_NVML_REASON_SW_THERMAL = 0x20,
	ABI_NVML_REASON_HW_THERMAL = 0x40,
	ABI_NVML_REASON_POWER_BRAKE = 0x80,
	ABI_NVML_REASON_DISPLAY = 0x100,
};

/* Fields of nvmlDeviceGetFieldValues. Times are ns since the driver was loaded. */
enum {
	ABI_NVML_FIELD_POWER_CAP = 74,
	ABI_NVML_FIELD_THERMAL = 75,
	ABI_NVML_FIELD_SYNC_BOOST = 76,
	ABI_NVML_FIELD_ENERGY = 83,         /* mJ */
	ABI_NVML_FIELD_POWER_INSTANT = 186, /* mW */
	ABI_NVML_FIELD_PCIE_SENT = 197,
	ABI_NVML_FIELD_PCIE_RECEIVED = 198,
	/* Software thermal, hardware thermal and power brake, three fields in this order. Two
	 * numberings are in public headers: the one of CUDA 12.8 to 13.0, and a later one, whose
	 * numbers mean settings of power smoothing in the former. Settings are 32 bits wide,
	 * times 64. */
	ABI_NVML_FIELD_SLOWDOWNS = 269,
	ABI_NVML_FIELD_SLOWDOWNS_LATER = 251,
};
enum {
	ABI_NVML_DOUBLE,
	ABI_NVML_U32,
	ABI_NVML_UNSIGNED_LONG,
	ABI_NVML_U64,
	ABI_NVML_I64,
};
struct abi_nvml_field {
	uint32_t id, scope;
	int64_t timestamp; /* µs since 1970 */
	int64_t latency_us;
	uint32_t type; /* ABI_NVML_DOUBLE … */
	uint32_t result;
	union {
		double real;
		uint32_t u32;
		uint64_t u64;
		int64_t i64;
	} value;
};
static_assert(sizeof(struct abi_nvml_field) == 40, "nvmlFieldValue_t");

/* ---- GPM: metrics of Hopper and later ---- */

enum { ABI_NVML_GPM_VERSION = 1 };
struct abi_nvml_gpm_support {
	uint32_t version, is_supported;
};
struct abi_nvml_gpm_metric {
	uint32_t id, result;
	double value;
	char *texts[3]; /* short name, long name, unit */
};
static_assert(sizeof(struct abi_nvml_gpm_metric) == 40, "nvmlGpmMetric_t");
/* The array has 98 entries in the first release and 333 in CUDA 13; NVML looks at 'count' of
 * them. */
enum { ABI_NVML_GPM_MOST = 512 };
struct abi_nvml_gpm_query {
	uint32_t version, count;
	void *before, *after;
	struct abi_nvml_gpm_metric metrics[ABI_NVML_GPM_MOST];
};
static_assert(offsetof(struct abi_nvml_gpm_query, metrics) == 24, "nvmlGpmMetricsGet_t");

/* X(name, parameters, needed): needed 1: in every libnvidia-ml.so.1 that can be used; 0: may be
 * missing. */
#define ABI_NVML_FUNCTIONS(X)                                                                      \
	X(nvmlInit_v2, (void), 1)                                                                  \
	X(nvmlShutdown, (void), 1)                                                                 \
	X(nvmlDeviceGetCount_v2, (unsigned *count), 1)                                             \
	X(nvmlDeviceGetHandleByIndex_v2, (unsigned index, void **device), 1)                       \
	X(nvmlDeviceGetUUID, (void *device, char *uuid, unsigned size), 1)                         \
	X(nvmlDeviceGetName, (void *device, char *name, unsigned size), 1)                         \
	X(nvmlDeviceGetClockInfo, (void *device, int type, unsigned *mhz), 1)                      \
	X(nvmlDeviceGetMaxClockInfo, (void *device, int type, unsigned *mhz), 0)                   \
	X(nvmlDeviceGetPowerUsage, (void *device, unsigned *milliwatts), 0)                        \
	X(nvmlDeviceGetEnforcedPowerLimit, (void *device, unsigned *milliwatts), 0)                \
	X(nvmlDeviceGetTemperature, (void *device, int sensor, unsigned *celsius), 0)              \
	X(nvmlDeviceGetCurrentClocksEventReasons, (void *device, unsigned long long *reasons), 0)  \
	X(nvmlDeviceGetCurrentClocksThrottleReasons, (void *device, unsigned long long *reasons),  \
	  0)                                                                                       \
	X(nvmlDeviceGetFieldValues, (void *device, int count, struct abi_nvml_field *fields), 0)   \
	X(nvmlGpmQueryDeviceSupport, (void *device, struct abi_nvml_gpm_support *support), 0)      \
	X(nvmlGpmSampleAlloc, (void **sample), 0)                                                  \
	X(nvmlGpmSampleFree, (void *sample), 0)                                                    \
	X(nvmlGpmSampleGet, (void *device, void *sample), 0)                                       \
	X(nvmlGpmMetricsGet, (struct abi_nvml_gpm_query * query), 0)

struct abi_nvml {
#define X(name, parameters, needed) int(*name) parameters;
	ABI_NVML_FUNCTIONS(X)
#undef X
	/* The only function of these that does not return an error number. */
	const char *(*nvmlErrorString)(int error);
};

#endif
