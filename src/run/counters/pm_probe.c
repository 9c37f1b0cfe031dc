/* SPDX-License-Identifier: Apache-2.0 */
/* pm_probe.c - see pm_probe.h.
 *
 * The child answers in lines "key value": "gpu NAME" begins a GPU, "chip", "metrics", "reason"
 * and "remedy" belong to it, "nothing" says why no GPU could be asked.
 */
#include "run/counters/pm_probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "run/counters/pm_session.h"
#include "run/counters/pm_set.h"
#include "run/doctor/doctor.h"

enum { TIMEOUT_MS = 10000, ANSWER = 64 * 1024 };

static void ask_gpu(FILE *out, const struct pm *pm, const struct pm_devices_entry *entry)
{
	struct hwy_err err = {""};
	struct pm_device device;
	struct pm_set set;
	int result = 0;
	fprintf(out, "gpu %s\n", entry->name);
	bool done = pm_device_ask(pm, entry->index, &device, &result, &err);
	if (*device.chip)
		fprintf(out, "chip %s\n", device.chip);
	if (done && pm_set_build(pm->library, device.chip, device.availability, 0, &set, &err)) {
		fprintf(out, "metrics %zu\n", set.n);
	} else {
		fprintf(out, "reason %s\n", result ? cupti_result_text(result) : err.text);
		if (*cupti_result_remedy(result))
			fprintf(out, "remedy %s\n", cupti_result_remedy(result));
	}
	pm_device_free(&device);
}

static void ask_gpus(FILE *out, const void *with)
{
	static const struct pm_settings settings = {.devices = PM_DEVICES_ALL};
	struct hwy_err err = {""};
	struct pm_devices devices;
	struct pm pm;
	int result;
	(void)with;
	pm_devices_environment(&settings);
	struct cupti_library *library = NULL;
	if (pm_devices_find(&settings, &devices, &err))
		library = cupti_library_open(NULL, &err);
	if (!library || !pm_open(&pm, library, &result, &err)) {
		fprintf(out, "nothing %s\n", err.text);
		return;
	}
	for (uint32_t i = 0; i < devices.n; i++)
		ask_gpu(out, &pm, &devices.list[i]);
}

static void take_line(struct pm_probe *probe, const char *key, const char *value)
{
	struct pm_probe_gpu *gpu = probe->n ? &probe->gpus[probe->n - 1] : NULL;
	if (strcmp(key, "nothing") == 0)
		snprintf(probe->reason, sizeof probe->reason, "%s", value);
	else if (strcmp(key, "gpu") == 0 && probe->n < PM_MOST_DEVICES)
		snprintf(probe->gpus[probe->n++].name, sizeof gpu->name, "%s", value);
	else if (!gpu)
		return;
	else if (strcmp(key, "chip") == 0)
		snprintf(gpu->chip, sizeof gpu->chip, "%s", value);
	else if (strcmp(key, "metrics") == 0)
		gpu->metrics = (uint32_t)strtoul(value, NULL, 10);
	else if (strcmp(key, "reason") == 0)
		snprintf(gpu->reason, sizeof gpu->reason, "%s", value);
	else if (strcmp(key, "remedy") == 0)
		snprintf(gpu->remedy, sizeof gpu->remedy, "%s", value);
}

void pm_probe_look(struct pm_probe *probe)
{
	static const char *const ends[] = {
		[PROBE_DONE] = "",
		[PROBE_CRASHED] = HWY_KEY("NVIDIA's library crashed when it was asked"),
		[PROBE_LATE] = HWY_KEY("NVIDIA's library does not answer"),
		[PROBE_FAILED] = HWY_KEY("no process to ask in"),
	};
	char *answer = hwy_alloc(ANSWER), *rest = answer;
	const char *key, *value;
	*probe = (struct pm_probe){0};
	enum doctor_probe_end end = doctor_probe_run(ask_gpus, NULL, TIMEOUT_MS, answer, ANSWER);
	while (doctor_probe_line(&rest, &key, &value))
		take_line(probe, key, value);
	struct pm_probe_gpu *last = probe->n ? &probe->gpus[probe->n - 1] : NULL;
	if (end != PROBE_DONE && last && !last->metrics && !*last->reason)
		snprintf(last->reason, sizeof last->reason, "%s", ends[end]);
	else if (end != PROBE_DONE && !last)
		snprintf(probe->reason, sizeof probe->reason, "%s", ends[end]);
	free(answer);
}
