/* SPDX-License-Identifier: Apache-2.0 */
/* pm_watch.c - GPU metrics: a source of the watcher (watched.h) that samples counters through
 * CUPTI.
 *
 * Sampling begins when the source is opened: so its refusal is known early, and the device's
 * clock is known when the first sample counts. Each GPU has a thread that reads its samples
 * (pm_gpu.h); the source's own thread only opens, says when recording begins and ends, and waits
 * for the end of what is left.
 */
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/mem.h"
#include "run/counters/pm_devices.h"
#include "run/counters/pm_effect.h"
#include "run/counters/pm_gpu.h"
#include "run/counters/watched.h"

static const int64_t LOOK_NS = 100 * 1000 * 1000; /* how often it is looked whether GPUs go on */

struct pm_watch {
	struct watched *watched;
	struct cupti_library *library;
	struct pm pm;
	struct pm_gpu *gpus;
	uint32_t n;
};

static bool plan(struct pm_gpu *gpu, struct hwy_err *err)
{
	const struct cupti_library *library = gpu->pm->library;
	int set = watched_settings(gpu->watched)->metrics.set;
	if (!pm_set_build(library, gpu->device.chip, gpu->device.availability, set, &gpu->set, err))
		return false;
	struct cupti_host *host = cupti_host_make(library, ABI_CUPTI_PM_SAMPLING, gpu->device.chip,
						  gpu->device.availability, err);
	bool done = host && cupti_host_add(host, gpu->set.names, gpu->set.n, err) &&
		    cupti_host_config(host, &gpu->config, err);
	cupti_host_free(host);
	return done;
}

static void make_lanes(struct pm_gpu *gpu, const struct pm_devices_entry *entry)
{
	struct watched *watched = gpu->watched;
	uint32_t device = watched_device(watched, entry->uuid, entry->name);
	struct watched_lane lanes[PM_MOST_METRICS];
	for (size_t i = 0; i < gpu->set.n; i++)
		lanes[i] = (struct watched_lane){.name = gpu->set.metrics[i].lane,
						 .unit = gpu->set.metrics[i].unit,
						 .flags = REC_COUNTER_ASKED};
	gpu->first_lane = watched_lanes(watched, device, lanes, (uint32_t)gpu->set.n);
}

/* Writes down what sampling did to the clocks. */
static void tell_effect(const struct pm_gpu *gpu, const struct pm_clocks *before,
			const struct pm_clocks *after)
{
	struct watched *watched = gpu->watched;
	char text[128];
	if (pm_effect_is_change(before, after, text, sizeof text)) {
		watched_property(watched, "gpu_metrics.clocks", "%s", text);
		watched_note(watched, 2,
			     "GPU metrics: sampling changed the GPU's clocks (%s): times are not "
			     "those of the program alone",
			     text);
	}
}

/* Takes a device. False: it cannot be sampled, for the reason in err. */
static bool open_gpu(struct pm_watch *watch, const struct pm_devices_entry *entry, uint32_t devices,
		     struct hwy_err *err)
{
	struct pm_gpu *gpu = &watch->gpus[watch->n];
	struct pm_effect effect;
	int result = 0;
	*gpu = (struct pm_gpu){
		.watched = watch->watched,
		.pm = &watch->pm,
		.n_gpus = devices,
		.interval = 1000000000 / watched_settings(watch->watched)->metrics.rate_hz,
	};
	memcpy(gpu->name, entry->name, sizeof gpu->name);
	pm_effect_open(&effect, entry->uuid);
	struct pm_clocks before = pm_effect_look(&effect);
	bool done = pm_device_ask(&watch->pm, entry->index, &gpu->device, &result, err) &&
		    plan(gpu, err);
	if (done) {
		make_lanes(gpu, entry);
		done = pm_gpu_start(gpu, &result, err);
	}
	struct pm_clocks after = pm_effect_look(&effect);
	if (done)
		tell_effect(gpu, &before, &after);
	pm_effect_close(&effect);
	if (!done) {
		struct hwy_err reason = *err;
		const char *remedy = cupti_result_remedy(result);
		pm_gpu_free(gpu);
		return hwy_fail(err, "%s: %s%s%s", entry->name, reason.text, *remedy ? "; " : "",
				remedy);
	}
	watch->n++;
	return true;
}

static void tell_settings(const struct pm_watch *watch)
{
	const struct pm_settings *settings = &watched_settings(watch->watched)->metrics;
	watched_property(watch->watched, "gpu_metrics.source", "CUPTI %u, PM sampling",
			 cupti_library_version(watch->library));
	watched_property(watch->watched, "gpu_metrics.frequency_hz", "%u", settings->rate_hz);
	watched_property(watch->watched, "gpu_metrics.set", "%s: %zu metrics",
			 pm_sets[settings->set].name, watch->gpus[0].set.n);
}

static void *metrics_open(struct watched *watched, struct hwy_err *err)
{
	const struct pm_settings *settings = &watched_settings(watched)->metrics;
	struct pm_watch *watch = hwy_zalloc(sizeof *watch);
	struct pm_devices devices;
	int result;
	watch->watched = watched;
	if (!pm_devices_find(settings, &devices, err))
		goto failed;
	watch->library = cupti_library_open(NULL, err);
	if (!watch->library)
		goto failed;
	if (!pm_open(&watch->pm, watch->library, &result, err))
		goto failed;
	watch->gpus = hwy_zarray(devices.n, sizeof *watch->gpus);
	for (uint32_t i = 0; i < devices.n; i++) {
		struct hwy_err reason;
		if (open_gpu(watch, &devices.list[i], devices.n, &reason))
			continue;
		*err = reason;
		if (i + 1 < devices.n || watch->n)
			watched_note(watched, 2, hwy_tr("%s: not recorded: %s"),
				     hwy_tr("GPU metrics"), reason.text);
	}
	if (watch->n) {
		tell_settings(watch);
		return watch;
	}
failed:
	cupti_library_free(watch->library);
	free(watch->gpus);
	free(watch);
	return NULL;
}

static void metrics_begin(void *state, int64_t now)
{
	struct pm_watch *watch = state;
	for (uint32_t i = 0; i < watch->n; i++)
		pm_gpu_record(&watch->gpus[i], now);
}

static void metrics_end(void *state, int64_t now)
{
	struct pm_watch *watch = state;
	for (uint32_t i = 0; i < watch->n; i++)
		pm_gpu_record_until(&watch->gpus[i], now);
}

static int64_t metrics_poll(void *state, int64_t now)
{
	struct pm_watch *watch = state;
	bool is_over = true;
	for (uint32_t i = 0; i < watch->n; i++)
		is_over = is_over && atomic_load(&watch->gpus[i].is_over);
	return is_over ? INT64_MAX : now + LOOK_NS;
}

static void metrics_finish(void *state)
{
	struct pm_watch *watch = state;
	for (uint32_t i = 0; i < watch->n; i++)
		pm_gpu_end(&watch->gpus[i]);
	for (uint32_t i = 0; i < watch->n; i++)
		pm_gpu_free(&watch->gpus[i]);
	cupti_library_free(watch->library);
	free(watch->gpus);
	free(watch);
}

const struct watch_source pm_source = {
	.what = HWY_KEY("GPU metrics"),
	.was_asked_for = true,
	.open = metrics_open,
	.begin = metrics_begin,
	.end = metrics_end,
	.poll = metrics_poll,
	.finish = metrics_finish,
	.otherwise = &gpm_source,
};
