/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_clocks.c - whether NVML tells the clocks and the power of the GPUs, and whether they
 * have GPM. It is opened in a child, as the watcher of a recording opens it in a process of its
 * own. */
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "run/counters/nvml_open.h"
#include "run/doctor/doctor.h"

enum { TIMEOUT_MS = 5000, ANSWER = 1024, MOST_GPUS = 64 };

static void look_at_clocks(FILE *out, const void *with)
{
	struct abi_nvml nvml;
	struct hwy_err err;
	unsigned count = 0, clocks = 0, gpm = 0, mhz;
	(void)with;
	if (!nvml_open(&nvml, &err)) {
		fprintf(out, "%s %s\n", nvml.nvmlInit_v2 ? "refused" : "absent", err.text);
		return;
	}
	nvml.nvmlDeviceGetCount_v2(&count);
	for (unsigned i = 0; i < count && i < MOST_GPUS; i++) {
		struct abi_nvml_gpm_support support = {.version = ABI_NVML_GPM_VERSION};
		void *device;
		if (nvml.nvmlDeviceGetHandleByIndex_v2(i, &device) != 0)
			continue;
		clocks += nvml.nvmlDeviceGetClockInfo(device, ABI_NVML_CLOCK_SM, &mhz) == 0;
		gpm += nvml.nvmlGpmQueryDeviceSupport &&
		       nvml.nvmlGpmQueryDeviceSupport(device, &support) == 0 &&
		       support.is_supported;
	}
	fprintf(out, "clocks %u\ngpm %u\n", clocks, gpm);
}

void doctor_clocks(struct doctor *doctor)
{
	char answer[ANSWER], *rest = answer;
	const char *key, *value;
	unsigned long clocks = 0;
	enum doctor_probe_end end =
		doctor_probe_run(look_at_clocks, NULL, TIMEOUT_MS, answer, sizeof answer);
	doctor_say(doctor, DOCTOR_CLOCKS, DOCTOR_NO, "no NVIDIA driver");
	while (doctor_probe_line(&rest, &key, &value)) {
		if (strcmp(key, "clocks") == 0)
			clocks = strtoul(value, NULL, 10);
		else if (strcmp(key, "gpm") == 0)
			doctor->gpm = (uint32_t)strtoul(value, NULL, 10);
		else if (strcmp(key, "refused") == 0 || doctor->driver)
			doctor_say(doctor, DOCTOR_CLOCKS, DOCTOR_NO, "%s", value);
	}
	if (clocks)
		doctor_say(
			doctor, DOCTOR_CLOCKS, DOCTOR_YES,
			doctor->gpm
				? HWY_KEY("NVML tells clocks and power, and metrics without rights (GPM)")
				: HWY_KEY("NVML tells clocks and power"));
	else if (end == PROBE_LATE || end == PROBE_CRASHED)
		doctor_say(doctor, DOCTOR_CLOCKS, DOCTOR_NO,
			   end == PROBE_LATE ? HWY_KEY("libnvidia-ml.so.1 does not answer")
					     : HWY_KEY("libnvidia-ml.so.1 crashes"));
	else if (doctor->driver)
		doctor_advise(doctor, DOCTOR_CLOCKS,
			      "in a container: docker run --gpus all,capabilities=utility ...");
}
