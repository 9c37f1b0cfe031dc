/* SPDX-License-Identifier: Apache-2.0 */
/* profile_calibrate.c - adds to a trace what recording costs on its GPUs; what is not in the cache
 * is measured.
 *
 * Only GPUs that the program used through CUDA are measured. GPUs of one model share what was
 * measured on the first. Where a cost cannot be measured the report gets a note, and profiling goes
 * on.
 */
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/lang.h"
#include "cli/profile.h"
#include "ingest/ingest.h"
#include "run/calibrate/calibrate.h"
#include "spool/control.h"

static bool read_control(const char *directory, struct rec_control *control)
{
	*control = (struct rec_control){0};
	int folder = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool read_all = folder >= 0 && control_read(folder, control);
	if (folder >= 0)
		close(folder);
	return read_all;
}

static bool is_used(const struct hwy_trace *trace, uint32_t device)
{
	for (uint32_t i = 0; i < trace->n_lanes; i++)
		if (trace->lanes[i].type == HWY_LANE_STREAM &&
		    trace->lanes[i].device == (int64_t)device && !hwy_lane_is_opencl(trace, i))
			return true;
	return false;
}

/* ---- measuring ------------------------------------------------------------------------------ */

struct measuring {
	const struct hwy_trace *trace;
	bool quiet;
};

static void say_wait(void *listener)
{
	const struct measuring *measuring = listener;
	if (!measuring->quiet)
		cli_say("%s",
			hwy_tr("waiting for another headway that measures what recording costs here …"));
}

static void say_begin(void *listener)
{
	const struct measuring *measuring = listener;
	if (!measuring->quiet)
		cli_say("%s",
			hwy_tr("measuring what recording costs here, once per GPU and driver …"));
}

/* Whether the helper process that measured was recorded as the program was: its kernels are
 * in the recording, and it used the same version of CUPTI. Else its measurements would say that
 * recording costs nothing. */
static bool is_recorded(void *listener, const char *directory)
{
	const struct measuring *measuring = listener;
	struct hwy_err err;
	struct hwy_trace *trace = ingest_run(directory, NULL, &err);
	uint64_t kernels = 0;
	if (!trace)
		return false;
	for (uint32_t i = 0; i < trace->n_strips; i++)
		if (trace->strips[i].kind == HWY_KERNEL)
			kernels += trace->strips[i].rows;
	const char *cupti = hwy_property(trace, "cupti.version");
	const char *wanted = hwy_property(measuring->trace, "cupti.version");
	bool same = cupti && wanted && strcmp(cupti, wanted) == 0;
	hwy_trace_free(trace);
	return same && kernels > 0;
}

/* ---- storing -------------------------------------------------------------------------------- */

static void profile_calibrate_store(struct hwy_trace *trace, uint32_t device,
				    const struct calibration *calibration)
{
	for (uint32_t i = 0; i < calibration->n; i++) {
		const struct calibration_value *value = &calibration->values[i];
		struct hwy_calibration record = {
			.device = device,
			.value = llround(value->value),
			.spread = llround(value->spread),
		};
		ingest_calibration(trace, &record, value->name, value->unit);
	}
}

/* Copies the values of an earlier device of the same model. Yields false where there is no such
 * device. */
static bool profile_calibrate_share(struct hwy_trace *trace, uint32_t device)
{
	const int64_t model = trace->devices[device].name;
	uint32_t n = trace->n_calibrations, from = UINT32_MAX;
	for (uint32_t i = 0; i < n && model != HWY_NONE; i++) {
		struct hwy_calibration record = trace->calibrations[i];
		if (trace->devices[record.device].name != model ||
		    (from != UINT32_MAX && from != record.device))
			continue;
		from = (uint32_t)record.device;
		record.device = device;
		ingest_calibration(trace, &record, hwy_str(trace, record.name),
				   hwy_str(trace, record.unit));
	}
	return from != UINT32_MAX;
}

void profile_calibrate(struct hwy_trace *trace, const char *directory, enum profile_calibration how,
		       bool quiet)
{
	/* Static, since it is larger than the stack that a tiny limit (ulimit -s) leaves. */
	static struct rec_control control;
	struct measuring measuring = {.trace = trace, .quiet = quiet};
	struct calibration_listener listener = {say_wait, say_begin, is_recorded, &measuring};
	if (how == PROFILE_NO_CALIBRATION || !read_control(directory, &control))
		return;
	for (uint32_t i = 0; i < trace->n_devices; i++) {
		struct calibration_key key = {
			.gpu = hwy_str(trace, trace->devices[i].uuid),
			.driver = hwy_property(trace, "driver"),
			.cupti = hwy_property(trace, "cupti.version"),
			.cupti_path = hwy_property(trace, "cupti.path"),
			.control = &control,
		};
		struct calibration calibration;
		struct hwy_err err;
		char note[1200];
		if (!is_used(trace, i))
			continue;
		bool is_cached = calibration_cached(&key, &calibration);
		if (!is_cached && (how != PROFILE_CALIBRATE || profile_calibrate_share(trace, i)))
			continue;
		if (!is_cached && !calibration_measure(&key, &listener, &calibration, &err)) {
			snprintf(note, sizeof note, "what recording costs was not measured: %s",
				 err.text);
			ingest_note(trace, 1, note);
			return;
		}
		profile_calibrate_store(trace, i, &calibration);
	}
}
