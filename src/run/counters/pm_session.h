/* SPDX-License-Identifier: Apache-2.0 */
/* pm_session.h - PM sampling of one device: the GPU itself writes its counters down at a fixed
 * rate.
 *
 * The order of calls: pm_open once a process, pm_device_ask for each device, then a session:
 * pm_session_open, pm_session_start, pm_session_decode again and again, pm_session_close. One
 * session a device and machine. A session that was stopped, or whose buffer ran over, cannot be
 * started again (CUPTI 13.0 on an H200): it is closed, and another one opened. No CUDA context
 * is made. Everything here runs NVIDIA's code and may hang or die: only the watcher calls it.
 */
#ifndef HWY_RUN_COUNTERS_PM_SESSION_H
#define HWY_RUN_COUNTERS_PM_SESSION_H

#include "run/abi/cupti_pm.h"
#include "run/counters/cupti_host.h"

struct pm { /* the device's side of a libcupti */
	const struct cupti_library *library;
#define X(name, parameters) int (*name)(parameters *);
	ABI_CUPTI_PM_FUNCTIONS(X)
#undef X
};
/* Finds the functions and initialises CUPTI's profiler. '*result' gets CUPTI's number on false;
 * 0: CUPTI is too old. */
bool pm_open(struct pm *pm, const struct cupti_library *library, int *result, struct hwy_err *err);

struct pm_device {
	uint32_t index; /* CUDA's */
	char chip[32];
	uint8_t *availability; /* which counters this device has */
};
bool pm_device_ask(const struct pm *pm, uint32_t index, struct pm_device *device, int *result,
		   struct hwy_err *err);
void pm_device_free(struct pm_device *device);

struct pm_session {
	const struct pm *pm;
	void *object;
	const char *const *metrics;
	size_t n;
	const struct cupti_config *config;
	uint64_t interval; /* ns */
	bool runs;
};
/* Takes the device. The metrics, the config and 'pm' must outlive the session. */
bool pm_session_open(struct pm_session *session, const struct pm *pm, uint32_t device,
		     const char *const *metrics, size_t n, const struct cupti_config *config,
		     int *result, struct hwy_err *err);
/* Starts, with a sample every 'interval' ns; once a session. */
bool pm_session_start(struct pm_session *session, uint64_t interval, size_t hardware_bytes,
		      int *result, struct hwy_err *err);
/* The size of an image with room for so many samples; 0: it cannot be known. */
size_t pm_session_bytes(const struct pm_session *session, uint32_t samples);
void pm_session_stop(struct pm_session *session);
/* Moves samples from the device's buffer into 'data', an image of 'bytes', which is overwritten.
 * '*n' gets the number of whole samples, '*is_full' whether others wait, '*asked' when the
 * device was read: no sample that came ended later, and decoding them takes long after that.
 * Yields CUPTI's result: ABI_CUPTI_OUT_OF_MEMORY means that the buffer ran over. Seen on an H200
 * (CUPTI 13.0): where an image gets full, samples are lost, and some of those in the next image
 * have no time (begin and end are one constant). So images must not get full. */
int pm_session_decode(struct pm_session *session, uint8_t *data, size_t bytes, size_t *n,
		      bool *is_full, int64_t *asked);
/* When a sample begins and ends, in ns of the device's clock; false: it has no time. */
bool pm_session_times(const struct pm_session *session, const uint8_t *data, size_t bytes,
		      size_t sample, uint64_t *start, uint64_t *end);
void pm_session_close(struct pm_session *session);

#endif
