/* SPDX-License-Identifier: Apache-2.0 */
/* nvml_clocks.c - clocks, power, temperature and what holds the clocks down, of every GPU,
 * through NVML.
 *
 * A GPU is asked RATE_HZ times a second for values that are true at that moment, and once a
 * second, at the begin and at the end of recording for what it has counted: time lost to the
 * power limit and to heat, energy, bytes over PCIe. The counts miss nothing between two
 * questions; the driver advances them about ten times a second.
 *
 * A GPU that the driver has lost is not asked again. Other GPUs go on.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/mem.h"
#include "run/counters/nvml_open.h"
#include "run/counters/watched.h"
#include "run/run.h"

enum { RATE_HZ = 20, MOST_GPUS = 64 };
static const int64_t EVERY_NS = 1000000000 / RATE_HZ;
static const int64_t TOTALS_EVERY_NS = 1000000000;

enum { SM_CLOCK, MEMORY_CLOCK, POWER, TEMPERATURE, REASONS, VALUES };
static const struct watched_lane lanes[VALUES] = {
	[SM_CLOCK] = {"SM Clock", "Hz", 0},
	[MEMORY_CLOCK] = {"Memory Clock", "Hz", 0},
	[POWER] = {"Power", "W", 0},
	[TEMPERATURE] = {"Temperature", "°C", 0},
	[REASONS] = {"Throttle Reasons", "", REC_COUNTER_WHOLE},
};

struct gpu {
	void *handle;
	uint32_t number; /* the watcher's number */
	uint32_t first_lane;
	uint32_t index; /* NVML's number */
	char name[ABI_NVML_NAME_BYTES];
	bool is_lost;
	bool has_instant_power;
	bool has_failed; /* a failure was told of */
	uint32_t fields[REC_TOTALS];
};

struct clocks {
	struct watched *watched;
	struct abi_nvml nvml;
	struct gpu *gpus;
	uint32_t n;
	int64_t next_totals;
};

/* ---- opening --------------------------------------------------------------------------------- */

static bool field_is_time(const struct abi_nvml_field *field)
{
	return field->result == ABI_NVML_SUCCESS &&
	       (field->type == ABI_NVML_U64 || field->type == ABI_NVML_UNSIGNED_LONG);
}

/* Finds out which of the two numberings of the slowdown counters this driver has. */
static void choose_slowdowns(const struct clocks *clocks, struct gpu *gpu)
{
	static const uint32_t firsts[] = {ABI_NVML_FIELD_SLOWDOWNS_LATER, ABI_NVML_FIELD_SLOWDOWNS};
	for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
		struct abi_nvml_field asked[3] = {
			{.id = firsts[i]}, {.id = firsts[i] + 1}, {.id = firsts[i] + 2}};
		if (clocks->nvml.nvmlDeviceGetFieldValues(gpu->handle, 3, asked) !=
			    ABI_NVML_SUCCESS ||
		    !field_is_time(&asked[0]) || !field_is_time(&asked[1]) ||
		    !field_is_time(&asked[2]))
			continue;
		gpu->fields[REC_TOTAL_SW_THERMAL] = firsts[i];
		gpu->fields[REC_TOTAL_HW_THERMAL] = firsts[i] + 1;
		gpu->fields[REC_TOTAL_POWER_BRAKE] = firsts[i] + 2;
		return;
	}
	/* Older drivers have one counter for all that is due to heat. */
	gpu->fields[REC_TOTAL_SW_THERMAL] = ABI_NVML_FIELD_THERMAL;
}

static void choose_fields(const struct clocks *clocks, struct gpu *gpu)
{
	struct abi_nvml_field power = {.id = ABI_NVML_FIELD_POWER_INSTANT};
	if (!clocks->nvml.nvmlDeviceGetFieldValues)
		return;
	gpu->fields[REC_TOTAL_POWER_CAP] = ABI_NVML_FIELD_POWER_CAP;
	gpu->fields[REC_TOTAL_SYNC_BOOST] = ABI_NVML_FIELD_SYNC_BOOST;
	gpu->fields[REC_TOTAL_ENERGY] = ABI_NVML_FIELD_ENERGY;
	gpu->fields[REC_TOTAL_PCIE_SENT] = ABI_NVML_FIELD_PCIE_SENT;
	gpu->fields[REC_TOTAL_PCIE_RECEIVED] = ABI_NVML_FIELD_PCIE_RECEIVED;
	choose_slowdowns(clocks, gpu);
	gpu->has_instant_power =
		clocks->nvml.nvmlDeviceGetFieldValues(gpu->handle, 1, &power) == ABI_NVML_SUCCESS &&
		power.result == ABI_NVML_SUCCESS;
}

static void tell_facts(const struct clocks *clocks, const struct gpu *gpu, const uint8_t uuid[16])
{
	const struct abi_nvml *nvml = &clocks->nvml;
	struct watched_facts facts = {0};
	unsigned value;
	if (nvml->nvmlDeviceGetMaxClockInfo &&
	    nvml->nvmlDeviceGetMaxClockInfo(gpu->handle, ABI_NVML_CLOCK_SM, &value) == 0)
		facts.most_sm_mhz = value;
	if (nvml->nvmlDeviceGetMaxClockInfo &&
	    nvml->nvmlDeviceGetMaxClockInfo(gpu->handle, ABI_NVML_CLOCK_MEMORY, &value) == 0)
		facts.most_memory_mhz = value;
	if (nvml->nvmlDeviceGetEnforcedPowerLimit &&
	    nvml->nvmlDeviceGetEnforcedPowerLimit(gpu->handle, &value) == 0)
		facts.power_limit_mw = value;
	watched_tell_facts(clocks->watched, gpu->number, uuid, &facts);
}

/* Opens GPU number 'index'; yields NVML's error number. */
static int open_gpu(struct clocks *clocks, uint32_t index)
{
	const struct abi_nvml *nvml = &clocks->nvml;
	struct gpu *gpu = &clocks->gpus[clocks->n];
	char text[ABI_NVML_UUID_BYTES] = "";
	uint8_t uuid[16];
	*gpu = (struct gpu){.index = index};
	int error = nvml->nvmlDeviceGetHandleByIndex_v2(index, &gpu->handle);
	if (error == ABI_NVML_SUCCESS)
		error = nvml->nvmlDeviceGetUUID(gpu->handle, text, sizeof text);
	if (error != ABI_NVML_SUCCESS)
		return error;
	if (!nvml_read_uuid(text, uuid))
		return ABI_NVML_NOT_SUPPORTED;
	nvml->nvmlDeviceGetName(gpu->handle, gpu->name, sizeof gpu->name);
	gpu->name[sizeof gpu->name - 1] = '\0';
	gpu->number = watched_device(clocks->watched, uuid, gpu->name);
	tell_facts(clocks, gpu, uuid);
	choose_fields(clocks, gpu);
	gpu->first_lane = watched_lanes(clocks->watched, gpu->number, lanes, VALUES);
	clocks->n++;
	return ABI_NVML_SUCCESS;
}

static void *clocks_open(struct watched *watched, struct hwy_err *err)
{
	struct clocks *clocks = hwy_zalloc(sizeof *clocks);
	unsigned count = 0;
	int error = ABI_NVML_SUCCESS;
	clocks->watched = watched;
	if (!nvml_open(&clocks->nvml, err)) {
		/* Where there is no driver, nobody expects clocks. */
		if (!clocks->nvml.nvmlInit_v2 && !watched_control(watched)->has_driver)
			*err->text = '\0';
		free(clocks);
		return NULL;
	}
	error = clocks->nvml.nvmlDeviceGetCount_v2(&count);
	clocks->gpus = hwy_zarray(MOST_GPUS, sizeof *clocks->gpus);
	for (unsigned i = 0; error == ABI_NVML_SUCCESS && i < count && i < MOST_GPUS; i++) {
		int failure = open_gpu(clocks, i);
		if (failure != ABI_NVML_SUCCESS)
			watched_note(watched, 1, "GPU %u: NVML does not open it: %s (%d)", i,
				     nvml_error(&clocks->nvml, failure), failure);
	}
	if (clocks->n)
		return clocks;
	if (error == ABI_NVML_SUCCESS)
		hwy_fail(err, "NVML knows no GPU that can be asked");
	else
		hwy_fail(err, "NVML: %s (%d)", nvml_error(&clocks->nvml, error), error);
	free(clocks->gpus);
	free(clocks);
	return NULL;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Looks at an error number; true where the question was answered. */
static bool is_answer(const struct clocks *clocks, struct gpu *gpu, int error)
{
	if (error == ABI_NVML_SUCCESS)
		return true;
	if (error == ABI_NVML_GPU_IS_LOST && !gpu->is_lost) {
		gpu->is_lost = true;
		watched_note(
			clocks->watched, 2,
			"GPU %u (%s): the driver lost it %.1f s after the begin of the run (%s); its clocks "
			"and power are recorded up to then",
			gpu->index, gpu->name,
			(double)(run_now() - watched_control(clocks->watched)->started) / 1e9,
			nvml_error(&clocks->nvml, error));
	} else if (error != ABI_NVML_NOT_SUPPORTED && !gpu->has_failed) {
		gpu->has_failed = true;
		watched_note(clocks->watched, 1,
			     "GPU %u (%s): NVML does not tell all values: %s (%d)", gpu->index,
			     gpu->name, nvml_error(&clocks->nvml, error), error);
	}
	return false;
}

static double gpu_clock(const struct clocks *clocks, struct gpu *gpu, int type)
{
	unsigned mhz = 0;
	bool known = !gpu->is_lost &&
		     is_answer(clocks, gpu,
			       clocks->nvml.nvmlDeviceGetClockInfo(gpu->handle, type, &mhz));
	return known ? mhz * 1e6 : (double)NAN;
}

static double gpu_power(const struct clocks *clocks, struct gpu *gpu)
{
	const struct abi_nvml *nvml = &clocks->nvml;
	struct abi_nvml_field field = {.id = ABI_NVML_FIELD_POWER_INSTANT};
	unsigned milliwatts = 0;
	if (gpu->is_lost)
		return (double)NAN;
	if (gpu->has_instant_power &&
	    is_answer(clocks, gpu, nvml->nvmlDeviceGetFieldValues(gpu->handle, 1, &field)) &&
	    is_answer(clocks, gpu, (int)field.result))
		return field.value.u32 / 1e3;
	if (!gpu->is_lost && nvml->nvmlDeviceGetPowerUsage &&
	    is_answer(clocks, gpu, nvml->nvmlDeviceGetPowerUsage(gpu->handle, &milliwatts)))
		return milliwatts / 1e3;
	return (double)NAN;
}

static double gpu_temperature(const struct clocks *clocks, struct gpu *gpu)
{
	unsigned celsius = 0;
	bool known = !gpu->is_lost && clocks->nvml.nvmlDeviceGetTemperature &&
		     is_answer(clocks, gpu,
			       clocks->nvml.nvmlDeviceGetTemperature(
				       gpu->handle, ABI_NVML_TEMPERATURE_GPU, &celsius));
	return known ? (double)celsius : (double)NAN;
}

static double gpu_reasons(const struct clocks *clocks, struct gpu *gpu)
{
	const struct abi_nvml *nvml = &clocks->nvml;
	int (*ask)(void *, unsigned long long *) =
		nvml->nvmlDeviceGetCurrentClocksEventReasons
			? nvml->nvmlDeviceGetCurrentClocksEventReasons
			: nvml->nvmlDeviceGetCurrentClocksThrottleReasons;
	unsigned long long reasons = 0;
	bool known = !gpu->is_lost && ask && is_answer(clocks, gpu, ask(gpu->handle, &reasons));
	return known ? (double)reasons : (double)NAN;
}

static void gpu_read_values(const struct clocks *clocks, struct gpu *gpu)
{
	double values[VALUES];
	int64_t now = run_now();
	values[SM_CLOCK] = gpu_clock(clocks, gpu, ABI_NVML_CLOCK_SM);
	values[MEMORY_CLOCK] = gpu_clock(clocks, gpu, ABI_NVML_CLOCK_MEMORY);
	values[POWER] = gpu_power(clocks, gpu);
	values[TEMPERATURE] = gpu_temperature(clocks, gpu);
	values[REASONS] = gpu_reasons(clocks, gpu);
	watched_row(clocks->watched, gpu->first_lane, now, values, VALUES);
}

static uint64_t field_value(const struct abi_nvml_field *field)
{
	if (field->type == ABI_NVML_DOUBLE)
		return field->value.real > 0 ? (uint64_t)field->value.real : 0;
	return field->type == ABI_NVML_U32 ? field->value.u32 : field->value.u64;
}

static void gpu_read_totals(const struct clocks *clocks, struct gpu *gpu, bool is_first)
{
	struct abi_nvml_field asked[REC_TOTALS];
	enum rec_counter_total_kind kinds[REC_TOTALS];
	int n = 0;
	for (uint32_t kind = 0; kind < REC_TOTALS; kind++) {
		if (!gpu->fields[kind])
			continue;
		kinds[n] = (enum rec_counter_total_kind)kind;
		asked[n++] = (struct abi_nvml_field){.id = gpu->fields[kind]};
	}
	int64_t now = run_now();
	if (!n || gpu->is_lost ||
	    !is_answer(clocks, gpu, clocks->nvml.nvmlDeviceGetFieldValues(gpu->handle, n, asked)))
		return;
	for (int i = 0; i < n; i++)
		if (asked[i].result == ABI_NVML_SUCCESS)
			watched_total(clocks->watched, gpu->number, now, kinds[i],
				      field_value(&asked[i]), is_first);
		else
			is_answer(clocks, gpu, (int)asked[i].result);
}

static void clocks_read_totals(struct clocks *clocks, bool is_first)
{
	for (uint32_t i = 0; i < clocks->n; i++)
		gpu_read_totals(clocks, &clocks->gpus[i], is_first);
}

static void clocks_begin(void *state, int64_t now)
{
	struct clocks *clocks = state;
	clocks_read_totals(clocks, true);
	clocks->next_totals = now + TOTALS_EVERY_NS;
}

static int64_t clocks_poll(void *state, int64_t now)
{
	struct clocks *clocks = state;
	for (uint32_t i = 0; i < clocks->n; i++)
		if (!clocks->gpus[i].is_lost)
			gpu_read_values(clocks, &clocks->gpus[i]);
	if (now >= clocks->next_totals) {
		clocks_read_totals(clocks, false);
		clocks->next_totals = now + TOTALS_EVERY_NS;
	}
	return now + EVERY_NS;
}

static void clocks_end(void *state, int64_t now)
{
	(void)now;
	clocks_read_totals(state, false);
}

static void clocks_finish(void *state)
{
	struct clocks *clocks = state;
	clocks->nvml.nvmlShutdown();
	free(clocks->gpus);
	free(clocks);
}

const struct watch_source nvml_clocks_source = {
	.what = HWY_KEY("clocks and power of the GPU"),
	.open = clocks_open,
	.begin = clocks_begin,
	.poll = clocks_poll,
	.end = clocks_end,
	.finish = clocks_finish,
};
