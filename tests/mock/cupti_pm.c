/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_pm.c - PM sampling in the mock libcupti: one device, whose clock is 7 s ahead of the host's.
 *
 * MOCK_PM says how it goes: "refused" only root may read counters; "taken" another profiler has the device; "overflow"
 * the buffer runs over once the session has lasted for 200 ms, unless samples are longer than 200 us; "lost" the device
 * is gone after 200 ms; "hang" and "crash" at the first decode; "no-device" no device; "silent" no sample comes; "late" no
 * sample is read for 200 ms, then more than an image holds; "stuck" decoding hangs after 200 ms; else all is well.
 * As on an H200, a session that was stopped cannot be started again, and the image behind a full one has no times.
 * It insists on the order of calls, and ends the process (abort) where it is broken.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "counter_data.h"
#include "run/abi/cupti_pm.h"

#define X(name, parameters) __attribute__((visibility("default"))) int name(parameters *);
ABI_CUPTI_PM_FUNCTIONS(X)
#undef X

enum { TROUBLE_AFTER = 200 * 1000 * 1000, SHORT = 200 * 1000 };

static struct session {
	bool is_initialized, is_enabled, is_configured, is_started;
	bool was_full, has_no_times; /* the image before got full; the times of this one are lost */
	bool was_stopped, ran_over;  /* it must be disabled before it can be started again */
	uint64_t interval;
	uint64_t started, next; /* begin of sampling, and of the next sample; the device's time */
} session;

static void insist(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "mock CUPTI: %s\n", what);
	abort();
}

static bool mode_is(const char *mode)
{
	const char *told = getenv("MOCK_PM");
	return told && strcmp(told, mode) == 0;
}

static uint64_t device_now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec + 7000000000;
}

int cuptiProfilerInitialize(struct abi_cupti_initialize *p)
{
	insist(p->size >= 16, "size of parameters");
	session.is_initialized = true;
	return ABI_CUPTI_OK;
}

int cuptiDeviceGetChipName(struct abi_cupti_chip_name *p)
{
	insist(session.is_initialized, "the profiler is not initialised");
	p->chip = "MOCK1";
	return p->device || mode_is("no-device") ? ABI_CUPTI_INVALID_DEVICE : ABI_CUPTI_OK;
}

int cuptiPmSamplingGetCounterAvailability(struct abi_cupti_pm_availability *p)
{
	insist(!session.is_enabled, "availability is asked for while a session is active");
	if (mode_is("refused"))
		return ABI_CUPTI_INSUFFICIENT_PRIVILEGES;
	if (!p->image)
		p->bytes = 64;
	return ABI_CUPTI_OK;
}

int cuptiPmSamplingEnable(struct abi_cupti_pm_enable *p)
{
	insist(session.is_initialized && !session.is_enabled, "enabled twice");
	if (mode_is("taken"))
		return ABI_CUPTI_INVALID_OPERATION;
	session.is_enabled = true;
	p->session = &session;
	return ABI_CUPTI_OK;
}

int cuptiPmSamplingDisable(struct abi_cupti_pm_session *p)
{
	insist(p->session == &session && session.is_enabled, "disabled without a session");
	session.is_enabled = session.is_configured = session.is_started = false;
	session.was_stopped = session.ran_over = false;
	return ABI_CUPTI_OK;
}

int cuptiPmSamplingSetConfig(struct abi_cupti_pm_set_config *p)
{
	insist(session.is_enabled && !session.is_started, "configured while it samples");
	insist(p->trigger == ABI_CUPTI_PM_TIME && p->interval && p->hardware_bytes, "config");
	session.interval = p->interval;
	session.is_configured = true;
	return ABI_CUPTI_OK;
}

int cuptiPmSamplingGetCounterDataSize(struct abi_cupti_pm_data_size *p)
{
	insist(session.is_configured && p->n_metrics && p->samples, "size of an image");
	p->bytes =
		sizeof(struct mock_counter_data) + p->samples * sizeof(struct mock_counter_range);
	return ABI_CUPTI_OK;
}

int cuptiPmSamplingCounterDataImageInitialize(struct abi_cupti_pm_data_initialize *p)
{
	struct mock_counter_data *data = (void *)p->data;
	*data = (struct mock_counter_data){
		.magic = MOCK_COUNTER_MAGIC,
		.most = (uint32_t)((p->bytes - sizeof *data) / sizeof *data->ranges),
	};
	return ABI_CUPTI_OK;
}

int cuptiPmSamplingStart(struct abi_cupti_pm_session *p)
{
	insist(p->session == &session && session.is_configured && !session.is_started, "start");
	if (session.was_stopped)
		return ABI_CUPTI_UNKNOWN;
	session.is_started = true;
	session.started = session.next = device_now();
	return ABI_CUPTI_OK;
}

int cuptiPmSamplingStop(struct abi_cupti_pm_session *p)
{
	insist(p->session == &session && session.is_started, "stop");
	session.is_started = false;
	session.was_stopped = true;
	return ABI_CUPTI_OK;
}

static int trouble(uint64_t now)
{
	bool is_late = now - session.started >= TROUBLE_AFTER;
	while (mode_is("hang") || (mode_is("stuck") && is_late))
		pause();
	if (mode_is("crash"))
		abort();
	if (!is_late)
		return ABI_CUPTI_OK;
	if (mode_is("lost"))
		return ABI_CUPTI_HARDWARE;
	session.ran_over |= mode_is("overflow") && session.interval < SHORT;
	return session.ran_over ? ABI_CUPTI_OUT_OF_MEMORY : ABI_CUPTI_OK;
}

int cuptiPmSamplingDecodeData(struct abi_cupti_pm_decode *p)
{
	struct mock_counter_data *data = (void *)p->data;
	uint64_t now = device_now();
	insist(session.is_enabled && data->magic == MOCK_COUNTER_MAGIC, "decode");
	int result = trouble(now);
	p->overflow = 0;
	p->stop = ABI_CUPTI_PM_END;
	session.has_no_times = session.was_full;
	session.was_full = false;
	if (mode_is("silent") || (mode_is("late") && now - session.started < TROUBLE_AFTER))
		return result;
	for (; !result && session.next + session.interval <= now;
	     session.next += session.interval) {
		if (data->n == data->most) {
			p->stop = ABI_CUPTI_PM_FULL;
			session.was_full = true;
			break;
		}
		data->ranges[data->n++] =
			(struct mock_counter_range){session.next, session.next + session.interval};
	}
	return result;
}

int cuptiPmSamplingGetCounterDataInfo(struct abi_cupti_pm_data_info *p)
{
	const struct mock_counter_data *data = (const void *)p->data;
	p->total = data->most;
	p->populated = p->completed = data->n;
	return ABI_CUPTI_OK;
}

int cuptiPmSamplingCounterDataGetSampleInfo(struct abi_cupti_pm_sample_info *p)
{
	const struct mock_counter_data *data = (const void *)p->data;
	if (p->sample >= data->n)
		return ABI_CUPTI_INVALID_PARAMETER;
	p->start = data->ranges[p->sample].start;
	p->end = data->ranges[p->sample].end;
	if (session.has_no_times)
		p->start = p->end = session.started - 1000000;
	return ABI_CUPTI_OK;
}
