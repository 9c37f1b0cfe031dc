/* SPDX-License-Identifier: Apache-2.0 */
/* pm_session.c - see pm_session.h. */
#include "run/counters/pm_session.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "run/run.h"

static bool pm_refuses(struct hwy_err *err, const char *call, int *result, int got)
{
	*result = got;
	return hwy_fail(err, "%s: %s (CUPTI error %d)", call, cupti_result_text(got), got);
}

/* CUPTI's profiler works only in a process that has initialised the driver; no context is
 * needed. */
static bool init_driver(struct hwy_err *err)
{
	void *cuda = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	int (*init)(unsigned) = NULL;
	if (cuda)
		*(void **)&init = dlsym(cuda, "cuInit");
	if (!init)
		return hwy_fail(err, "no NVIDIA driver (libcuda.so.1)");
	int error = init(0);
	return !error || hwy_fail(err, "CUDA cannot be initialised (error %d)", error);
}

bool pm_open(struct pm *pm, const struct cupti_library *library, int *result, struct hwy_err *err)
{
	*pm = (struct pm){.library = library};
	*result = 0;
	bool whole = true;
#define X(name, parameters)                                                                        \
	whole = (*(void **)&pm->name = cupti_library_symbol(library, #name)) && whole;
	ABI_CUPTI_PM_FUNCTIONS(X)
#undef X
	if (!whole)
		return hwy_fail(err, "%s is older than CUDA 12.6 and cannot sample counters",
				cupti_library_path(library));
	if (!init_driver(err))
		return false;
	struct abi_cupti_initialize p = {.size = ABI_CUPTI_SIZE(struct abi_cupti_initialize, priv)};
	int got = pm->cuptiProfilerInitialize(&p);
	/* ABI_CUPTI_UNKNOWN was seen where everything worked afterwards (CUPTI 13.0). */
	return !got || got == ABI_CUPTI_UNKNOWN ||
	       pm_refuses(err, "cuptiProfilerInitialize", result, got);
}

bool pm_device_ask(const struct pm *pm, uint32_t index, struct pm_device *device, int *result,
		   struct hwy_err *err)
{
	*device = (struct pm_device){.index = index};
	*result = 0;
	struct abi_cupti_chip_name name = {
		.size = ABI_CUPTI_SIZE(struct abi_cupti_chip_name, chip),
		.device = index,
	};
	int got = pm->cuptiDeviceGetChipName(&name);
	if (got)
		return pm_refuses(err, "cuptiDeviceGetChipName", result, got);
	snprintf(device->chip, sizeof device->chip, "%s", name.chip ? name.chip : "");
	struct abi_cupti_pm_availability p = {
		.size = ABI_CUPTI_SIZE(struct abi_cupti_pm_availability, image),
		.device = index,
	};
	got = pm->cuptiPmSamplingGetCounterAvailability(&p);
	if (!got) {
		device->availability = p.image = hwy_zalloc(p.bytes);
		got = pm->cuptiPmSamplingGetCounterAvailability(&p);
	}
	if (!got)
		return true;
	pm_device_free(device);
	return pm_refuses(err, "cuptiPmSamplingGetCounterAvailability", result, got);
}

void pm_device_free(struct pm_device *device)
{
	free(device->availability);
	device->availability = NULL;
}

bool pm_session_open(struct pm_session *session, const struct pm *pm, uint32_t device,
		     const char *const *metrics, size_t n, const struct cupti_config *config,
		     int *result, struct hwy_err *err)
{
	*session = (struct pm_session){.pm = pm, .metrics = metrics, .n = n, .config = config};
	*result = 0;
	struct abi_cupti_pm_enable p = {
		.size = ABI_CUPTI_SIZE(struct abi_cupti_pm_enable, session),
		.device = device,
	};
	int got = pm->cuptiPmSamplingEnable(&p);
	if (got)
		return pm_refuses(err, "cuptiPmSamplingEnable", result, got);
	session->object = p.session;
	return true;
}

size_t pm_session_bytes(const struct pm_session *session, uint32_t samples)
{
	struct abi_cupti_pm_data_size s = {
		.size = ABI_CUPTI_SIZE(struct abi_cupti_pm_data_size, bytes),
		.session = session->object,
		.metrics = (const char **)session->metrics,
		.n_metrics = session->n,
		.samples = samples,
	};
	return session->pm->cuptiPmSamplingGetCounterDataSize(&s) ? 0 : s.bytes;
}

bool pm_session_start(struct pm_session *session, uint64_t interval, size_t hardware_bytes,
		      int *result, struct hwy_err *err)
{
	struct abi_cupti_pm_set_config c = {
		.size = ABI_CUPTI_SIZE(struct abi_cupti_pm_set_config, append),
		.session = session->object,
		.config_bytes = session->config->bytes,
		.config = session->config->image,
		.hardware_bytes = hardware_bytes,
		.interval = interval,
		.trigger = ABI_CUPTI_PM_TIME,
		.append = ABI_CUPTI_PM_KEEP_OLDEST,
	};
	*result = 0;
	session->interval = interval;
	int got = session->pm->cuptiPmSamplingSetConfig(&c);
	if (got)
		return pm_refuses(err, "cuptiPmSamplingSetConfig", result, got);
	struct abi_cupti_pm_session p = {
		.size = ABI_CUPTI_SIZE(struct abi_cupti_pm_session, session),
		.session = session->object,
	};
	got = session->pm->cuptiPmSamplingStart(&p);
	session->runs = !got;
	return !got || pm_refuses(err, "cuptiPmSamplingStart", result, got);
}

int pm_session_decode(struct pm_session *session, uint8_t *data, size_t bytes, size_t *n,
		      bool *is_full, int64_t *asked)
{
	struct abi_cupti_pm_decode d = {
		.size = ABI_CUPTI_SIZE(struct abi_cupti_pm_decode, overflow),
		.session = session->object,
		.data = data,
		.data_bytes = bytes,
	};
	struct abi_cupti_pm_data_info i = {
		.size = ABI_CUPTI_SIZE(struct abi_cupti_pm_data_info, completed),
		.data = data,
		.data_bytes = bytes,
	};
	struct abi_cupti_pm_data_initialize blank = {
		.size = ABI_CUPTI_SIZE(struct abi_cupti_pm_data_initialize, data),
		.session = session->object,
		.bytes = bytes,
		.data = data,
	};
	*n = 0;
	*is_full = false;
	int got = session->pm->cuptiPmSamplingCounterDataImageInitialize(&blank);
	*asked = run_now();
	if (!got)
		got = session->pm->cuptiPmSamplingDecodeData(&d);
	if (!got)
		got = session->pm->cuptiPmSamplingGetCounterDataInfo(&i);
	if (got)
		return got;
	*n = i.completed;
	*is_full = d.stop == ABI_CUPTI_PM_FULL;
	return d.overflow ? ABI_CUPTI_OUT_OF_MEMORY : ABI_CUPTI_OK;
}

bool pm_session_times(const struct pm_session *session, const uint8_t *data, size_t bytes,
		      size_t sample, uint64_t *start, uint64_t *end)
{
	struct abi_cupti_pm_sample_info p = {
		.size = ABI_CUPTI_SIZE(struct abi_cupti_pm_sample_info, end),
		.session = session->object,
		.data = data,
		.data_bytes = bytes,
		.sample = sample,
	};
	if (session->pm->cuptiPmSamplingCounterDataGetSampleInfo(&p))
		return false;
	*start = p.start;
	*end = p.end;
	return p.end > p.start;
}

void pm_session_stop(struct pm_session *session)
{
	struct abi_cupti_pm_session p = {
		.size = ABI_CUPTI_SIZE(struct abi_cupti_pm_session, session),
		.session = session->object,
	};
	if (session->runs)
		session->pm->cuptiPmSamplingStop(&p);
	session->runs = false;
}

void pm_session_close(struct pm_session *session)
{
	struct abi_cupti_pm_session p = {
		.size = ABI_CUPTI_SIZE(struct abi_cupti_pm_session, session),
		.session = session->object,
	};
	pm_session_stop(session);
	if (session->object)
		session->pm->cuptiPmSamplingDisable(&p);
	*session = (struct pm_session){0};
}
