/* SPDX-License-Identifier: Apache-2.0 */
/* nvml.c - a libnvidia-ml.so.1 without a GPU, which answers as NVML's reference says.
 *
 * GPU 0 has the uuid MOCK_NVML_UUID ("GPU-…"), GPU 1 another one that no program uses. The clock is 1,980 MHz while
 * nothing is wrong. MOCK_NVML is a list of words, by commas:
 *   refused       nvmlInit_v2 says that there is no permission
 *   not-loaded    nvmlInit_v2 says that the driver is not loaded
 *   throttled     1,485 MHz because of the power limit, and the counter of time lost to it runs
 *   hot           1,200 MHz because of heat, and the counters of thermal slowdowns run
 *   idle          345 MHz because nothing runs
 *   later-fields  the slowdown counters have the later numbers, and the former ones are 32-bit settings
 *   no-fields     no field can be read
 *   lost=N        the GPU is lost after N questions for its clock
 *   hang=N        the Nth question for the clock is never answered; hang=0: nvmlInit_v2 never returns
 *   crash=N       the Nth question for the clock ends the process by abort()
 *   exit=N        the Nth question for the clock ends the process by exit()
 *   noisy         every question prints on stdout and stderr
 *   no-gpm        GPM is not supported
 * MOCK_NVML_LOG: a file that gets a line for every call of nvmlInit_v2 and nvmlShutdown, with the process's pid.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "run/abi/nvml.h"

#define X(name, parameters, needed) __attribute__((visibility("default"))) int name parameters;
ABI_NVML_FUNCTIONS(X)
#undef X
__attribute__((visibility("default"))) const char *nvmlErrorString(int error);

static char gpus[2];
static unsigned asked; /* questions for the SM clock of GPU 0 */

/* The value of a word in MOCK_NVML: 1 where it stands alone, N of word=N; -1: it does not stand there. */
static long word(const char *name)
{
	const char *at = getenv("MOCK_NVML");
	size_t length = strlen(name);
	for (; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		if (strncmp(at, name, length) != 0)
			continue;
		if (at[length] == '=')
			return strtol(at + length + 1, NULL, 10);
		if (at[length] == ',' || at[length] == '\0')
			return 1;
	}
	return -1;
}

static int is(const char *name)
{
	return word(name) > 0;
}

static uint64_t now_ns(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void note(const char *what)
{
	const char *path = getenv("MOCK_NVML_LOG");
	FILE *log = path ? fopen(path, "a") : NULL;
	if (!log)
		return;
	fprintf(log, "%s %d\n", what, (int)getpid());
	fclose(log);
}

static void hang(void)
{
	for (;;)
		pause();
}

const char *nvmlErrorString(int error)
{
	switch (error) {
	case ABI_NVML_SUCCESS: return "Success";
	case ABI_NVML_NOT_SUPPORTED: return "Not Supported";
	case ABI_NVML_NO_PERMISSION: return "Insufficient Permissions";
	case ABI_NVML_DRIVER_NOT_LOADED: return "Driver Not Loaded";
	case ABI_NVML_GPU_IS_LOST: return "GPU is lost";
	default: return "Unknown Error";
	}
}

int nvmlInit_v2(void)
{
	note("init");
	if (word("hang") == 0)
		hang();
	return is("refused")      ? ABI_NVML_NO_PERMISSION
	       : is("not-loaded") ? ABI_NVML_DRIVER_NOT_LOADED
				  : ABI_NVML_SUCCESS;
}

int nvmlShutdown(void)
{
	note("shutdown");
	return ABI_NVML_SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
	*count = 2;
	return ABI_NVML_SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
	*device = &gpus[index];
	return ABI_NVML_SUCCESS;
}

int nvmlDeviceGetUUID(void *device, char *uuid, unsigned size)
{
	const char *told = getenv("MOCK_NVML_UUID");
	snprintf(uuid, size, "%s",
		 device == &gpus[0] && told ? told : "GPU-00000000-1111-2222-3333-444444444444");
	return ABI_NVML_SUCCESS;
}

int nvmlDeviceGetName(void *device, char *name, unsigned size)
{
	(void)device;
	snprintf(name, size, "NVIDIA H200");
	return ABI_NVML_SUCCESS;
}

static int is_lost(const void *device)
{
	return device == &gpus[0] && word("lost") >= 0 && asked > (unsigned)word("lost");
}

int nvmlDeviceGetClockInfo(void *device, int type, unsigned *mhz)
{
	if (type == ABI_NVML_CLOCK_SM && device == &gpus[0]) {
		asked++;
		if (is("noisy")) {
			dprintf(1, "a word on stdout\n");
			dprintf(2, "a word on stderr\n");
		}
		if (word("hang") == (long)asked)
			hang();
		if (word("crash") == (long)asked)
			abort();
		if (word("exit") == (long)asked)
			exit(3);
	}
	*mhz = type == ABI_NVML_CLOCK_MEMORY ? 3201
	       : is("throttled")             ? 1485
	       : is("hot")                   ? 1200
	       : is("idle")                  ? 345
					     : 1980;
	return is_lost(device) ? ABI_NVML_GPU_IS_LOST : ABI_NVML_SUCCESS;
}

int nvmlDeviceGetMaxClockInfo(void *device, int type, unsigned *mhz)
{
	(void)device;
	*mhz = type == ABI_NVML_CLOCK_MEMORY ? 3201 : 1980;
	return ABI_NVML_SUCCESS;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
	(void)device;
	*milliwatts = 300000;
	return is_lost(device) ? ABI_NVML_GPU_IS_LOST : ABI_NVML_SUCCESS;
}

int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts)
{
	(void)device;
	*milliwatts = 700000;
	return ABI_NVML_SUCCESS;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius)
{
	(void)device;
	*celsius = is("hot") ? 92 : 51;
	return sensor            ? ABI_NVML_NOT_SUPPORTED
	       : is_lost(device) ? ABI_NVML_GPU_IS_LOST
				 : ABI_NVML_SUCCESS;
}

int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *reasons)
{
	(void)device;
	*reasons = is("throttled") ? ABI_NVML_REASON_POWER_CAP
		   : is("hot")     ? ABI_NVML_REASON_SW_THERMAL | ABI_NVML_REASON_HW_THERMAL
		   : is("idle")    ? ABI_NVML_REASON_IDLE
				   : 0;
	return is_lost(device) ? ABI_NVML_GPU_IS_LOST : ABI_NVML_SUCCESS;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
	return nvmlDeviceGetCurrentClocksEventReasons(device, reasons);
}

/* Counts since the machine's start, of which the part since recording began is asked for. */
static void answer_field(struct abi_nvml_field *field)
{
	uint32_t slowdowns =
		is("later-fields") ? ABI_NVML_FIELD_SLOWDOWNS_LATER : ABI_NVML_FIELD_SLOWDOWNS;
	field->result = ABI_NVML_SUCCESS;
	field->type = ABI_NVML_U64;
	field->value.u64 = 1000000;
	if (field->id == ABI_NVML_FIELD_POWER_CAP)
		field->value.u64 += is("throttled") ? now_ns() : 0;
	else if (field->id == slowdowns || field->id == ABI_NVML_FIELD_THERMAL)
		field->value.u64 += is("hot") ? now_ns() : 0;
	else if (field->id == slowdowns + 1)
		field->value.u64 += is("hot") ? now_ns() / 2 : 0;
	else if (field->id == ABI_NVML_FIELD_ENERGY)
		field->value.u64 += now_ns() / 1000000 * 300; /* 300 W */
	else if (field->id == ABI_NVML_FIELD_PCIE_SENT || field->id == ABI_NVML_FIELD_PCIE_RECEIVED)
		field->value.u64 += now_ns();
	else if (field->id == ABI_NVML_FIELD_POWER_INSTANT) {
		field->type = ABI_NVML_U32;
		field->value.u32 = 300000;
	} else if (is("later-fields") && field->id >= ABI_NVML_FIELD_SLOWDOWNS &&
		   field->id < ABI_NVML_FIELD_SLOWDOWNS + 3) {
		field->type = ABI_NVML_U32;
		field->value.u32 = 1;
	} else if (field->id != ABI_NVML_FIELD_SYNC_BOOST && field->id != slowdowns + 2)
		field->result = ABI_NVML_NOT_SUPPORTED;
}

int nvmlDeviceGetFieldValues(void *device, int count, struct abi_nvml_field *fields)
{
	for (int i = 0; i < count; i++)
		if (is("no-fields"))
			fields[i].result = ABI_NVML_NOT_SUPPORTED;
		else
			answer_field(&fields[i]);
	return is_lost(device) ? ABI_NVML_GPU_IS_LOST : ABI_NVML_SUCCESS;
}

/* ---- GPM ---- */

struct sample {
	uint64_t time;
};

int nvmlGpmQueryDeviceSupport(void *device, struct abi_nvml_gpm_support *support)
{
	(void)device;
	support->is_supported = !is("no-gpm");
	return support->version == ABI_NVML_GPM_VERSION ? ABI_NVML_SUCCESS : 2;
}

int nvmlGpmSampleAlloc(void **sample)
{
	*sample = calloc(1, sizeof(struct sample));
	return *sample ? ABI_NVML_SUCCESS : 2;
}

int nvmlGpmSampleFree(void *sample)
{
	free(sample);
	return ABI_NVML_SUCCESS;
}

int nvmlGpmSampleGet(void *device, void *sample)
{
	((struct sample *)sample)->time = now_ns();
	return is_lost(device) ? ABI_NVML_GPU_IS_LOST : ABI_NVML_SUCCESS;
}

/* Percent metrics have the value of their number, rates one of MiB/s. Two samples closer than 100 ms are refused. */
int nvmlGpmMetricsGet(struct abi_nvml_gpm_query *query)
{
	const struct sample *before = query->before, *after = query->after;
	if (query->version != ABI_NVML_GPM_VERSION || after->time < before->time + 100000000)
		return 2;
	for (uint32_t i = 0; i < query->count; i++) {
		struct abi_nvml_gpm_metric *metric = &query->metrics[i];
		metric->result = metric->id == 8 ? ABI_NVML_NOT_SUPPORTED : ABI_NVML_SUCCESS;
		metric->value = metric->id;
	}
	return ABI_NVML_SUCCESS;
}
