/* SPDX-License-Identifier: Apache-2.0 */
/* pm_watch.c - GPU metrics: a source of the watcher (watched.h) that samples counters through CUPTI.
 *
 * The GPU writes its counters into a buffer; every POLL_NS they are decoded and handed to the backlog's threads, which
 * write rows. Where the buffer runs over, or the backlog is full for so long that it does, the rate is halved and the
 * report says so. A device that stops answering is left alone; other devices go on.
 *
 * Sampling begins when the source is opened: so its refusal is known early, and the device's clock is known when the
 * first sample counts. It goes on while recording pauses; what was sampled then is thrown away, and where the buffer ran
 * over meanwhile another session is opened.
 *
 * Seen on an H200 (CUPTI 13.0): decoding and evaluating cost by the number of hardware counters, 100 and 77 us a sample
 * for 27 metrics with three composites ("throughput"), so composites are a set of their own; images of 1024 samples had
 * 120 MB, so images are small; whole images come without times (begin and end of each sample are one constant): samples
 * follow each other without a gap, so such a sample begins where the one before it ended.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "run/counters/pm_backlog.h"
#include "run/counters/pm_clock.h"
#include "run/counters/pm_devices.h"
#include "run/counters/pm_effect.h"
#include "run/counters/pm_session.h"
#include "run/counters/watched.h"
#include "run/run.h"

enum {
	LEAST_RATE_HZ = 10, /* the rate is not halved below this */
	CALIBRATIONS = 150, /* how often the device is read to know its clock */
	IMAGE_SAMPLES = 64,
	/* Decoding takes time, in which the device samples on. What few samples tell about the device's clock is near. */
	NEAR_SAMPLES = 8,
	MOST_ROUNDS = 4, /* that a poll decodes again what was sampled meanwhile */
	WAIT_MS = 50,
	MOST_THREADS = 4, /* that evaluate samples of one device */
};
static const int64_t POLL_NS = 10 * 1000 * 1000;
static const int64_t CALIBRATE_NS = 300 * 1000;
static const uint64_t HARDWARE_BYTES = UINT64_C(128) << 20;
static const uint64_t BACKLOG_BYTES = UINT64_C(256) << 20;

struct pm_gpu {
	struct pm_watch *watch;
	struct pm_device device;
	struct pm_set set;
	struct cupti_config config;
	struct pm_session session;
	struct pm_clock clock;
	struct pm_backlog *backlog;
	struct pm_image waste; /* takes samples that nobody wants */
	uint32_t first_lane;
	uint64_t interval;   /* ns */
	uint64_t device_end; /* when the last sample ended, by the device's clock; 0: not known */
	int64_t last_end;    /* when the last sample that counts ended */
	int64_t last_row;    /* time of the last row; by the backlog's threads, one at a time */
	bool is_over;        /* nothing more comes from it */
	bool was_full;       /* the backlog was full; said once */
};

struct pm_watch {
	struct watched *watched;
	struct cupti_library *library;
	struct pm pm;
	struct pm_gpu *gpus;
	uint32_t n;
};

/* ---- opening ------------------------------------------------------------------------------------ */

static void write_row(void *to, int64_t start, const double *values, size_t n)
{
	struct pm_gpu *gpu = to;
	if (start <= gpu->last_row) /* the estimate of the device's clock was corrected */
		start = gpu->last_row + 1;
	gpu->last_row = start;
	watched_row(gpu->watch->watched, gpu->first_lane, start, values, (uint32_t)n);
}

static bool plan(struct pm_gpu *gpu, struct hwy_err *err)
{
	const struct cupti_library *library = gpu->watch->library;
	int set = watched_settings(gpu->watch->watched)->metrics.set;
	if (!pm_set_build(library, gpu->device.chip, gpu->device.availability, set, &gpu->set, err))
		return false;
	struct cupti_host *host = cupti_host_make(library, ABI_CUPTI_PM_SAMPLING, gpu->device.chip,
						  gpu->device.availability, err);
	bool done = host && cupti_host_add(host, gpu->set.names, gpu->set.n, err) &&
		    cupti_host_config(host, &gpu->config, err);
	cupti_host_free(host);
	return done;
}

/* Opens a session and starts it; one that there was is closed first. */
static bool start_sampling(struct pm_gpu *gpu, int *result, struct hwy_err *err)
{
	pm_session_close(&gpu->session);
	gpu->device_end = 0;
	return pm_session_open(&gpu->session, &gpu->watch->pm, gpu->device.index, gpu->set.names,
			       gpu->set.n, &gpu->config, result, err) &&
	       pm_session_start(&gpu->session, gpu->interval, HARDWARE_BYTES, IMAGE_SAMPLES, result,
				err);
}

static uint32_t count_threads(uint32_t devices)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	long threads = cores / 4 / (long)devices;
	return threads < 1 ? 1 : threads > MOST_THREADS ? MOST_THREADS : (uint32_t)threads;
}

static bool start_backlog(struct pm_gpu *gpu, uint32_t devices, struct hwy_err *err)
{
	struct pm_backlog_settings settings = {
		.library = gpu->watch->library,
		.chip = gpu->device.chip,
		.availability = gpu->device.availability,
		.data_bytes = gpu->session.data_bytes,
		.most = IMAGE_SAMPLES,
		.set = &gpu->set,
		.most_bytes = BACKLOG_BYTES / devices,
		.threads = count_threads(devices),
		.row = write_row,
		.to = gpu,
	};
	gpu->backlog = pm_backlog_start(&settings, err);
	return gpu->backlog != NULL;
}

/* ---- samples ------------------------------------------------------------------------------------- */

/* Reads when a sample began and ended, by the device's clock; false where that cannot be known. */
static bool read_times(struct pm_gpu *gpu, const struct pm_image *image, size_t sample,
		       uint64_t *start, bool *is_told)
{
	uint64_t end;
	*is_told =
		pm_session_times(&gpu->session, image->data, sample, start, &end) && end > *start;
	if (!*is_told && !gpu->device_end)
		return false;
	if (!*is_told) {
		*start = gpu->device_end;
		end = *start + gpu->interval;
	}
	gpu->device_end = end;
	return true;
}

/* Writes down the times of an image's samples; 'now' is when they were in hand. */
static void stamp_image(struct pm_gpu *gpu, struct pm_image *image, size_t n, bool is_newest,
			int64_t now)
{
	bool is_told = false;
	for (size_t i = 0; i < n; i++) {
		uint64_t start = 0;
		bool is_known = read_times(gpu, image, i, &start, &is_told);
		uint64_t length = is_known ? gpu->device_end - start : 0;
		image->starts[i] = (int64_t)start;
		image->lengths[i] = length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
	}
	image->n = n;
	if (n && is_told && is_newest)
		pm_clock_saw(&gpu->clock, gpu->device_end, now);
	for (size_t i = 0; i < n; i++)
		image->starts[i] = pm_clock_host(&gpu->clock, (uint64_t)image->starts[i]);
	if (n && gpu->device_end)
		gpu->last_end = pm_clock_host(&gpu->clock, gpu->device_end);
}

/* Decodes into an image. '*rounds' counts the times that the device's buffer was empty; '*goes_on' says whether to decode
 * once more. Yields CUPTI's result. */
static int decode(struct pm_gpu *gpu, struct pm_image *image, uint32_t *rounds, bool *goes_on)
{
	size_t n;
	bool more;
	int result = pm_session_decode(&gpu->session, image->data, &n, &more);
	if (!result)
		stamp_image(gpu, image, n, !more && n <= NEAR_SAMPLES, run_now());
	watched_is_alive(gpu->watch->watched);
	*rounds += !more;
	*goes_on = !result && (more || (n > NEAR_SAMPLES && *rounds < MOST_ROUNDS));
	return result;
}

/* Throws away what the device has sampled until now; yields CUPTI's result. */
static int discard(struct pm_gpu *gpu)
{
	int result = ABI_CUPTI_OK;
	uint32_t rounds = 0;
	for (bool goes_on = true; goes_on;)
		result = decode(gpu, &gpu->waste, &rounds, &goes_on);
	gpu->last_end = 0;
	return result;
}

/* Reads the device some times to know its clock. */
static void calibrate(struct pm_gpu *gpu)
{
	gpu->waste = (struct pm_image){
		.data = hwy_alloc(gpu->session.data_bytes),
		.starts = hwy_array(IMAGE_SAMPLES, sizeof *gpu->waste.starts),
		.lengths = hwy_array(IMAGE_SAMPLES, sizeof *gpu->waste.lengths),
	};
	for (int i = 0; i < CALIBRATIONS && !discard(gpu); i++) {
		struct timespec pause = {.tv_nsec = CALIBRATE_NS};
		nanosleep(&pause, NULL);
	}
}

/* ---- opening and closing a device ---------------------------------------------------------------- */

static void close_gpu(struct pm_gpu *gpu)
{
	pm_backlog_free(gpu->backlog);
	pm_session_close(&gpu->session);
	cupti_config_free(&gpu->config);
	pm_device_free(&gpu->device);
	free(gpu->waste.data);
	free(gpu->waste.starts);
	free(gpu->waste.lengths);
	gpu->waste = (struct pm_image){0};
}

static void make_lanes(struct pm_gpu *gpu, const struct pm_devices_entry *entry)
{
	struct watched *watched = gpu->watch->watched;
	uint32_t device = watched_device(watched, entry->uuid, entry->name);
	struct watched_lane lanes[PM_MOST_METRICS];
	for (size_t i = 0; i < gpu->set.n; i++)
		lanes[i] = (struct watched_lane){.name = gpu->set.metrics[i].lane,
						 .unit = gpu->set.metrics[i].unit,
						 .flags = REC_COUNTER_ASKED};
	gpu->first_lane = watched_lanes(watched, device, lanes, (uint32_t)gpu->set.n);
}

static bool take_gpu(struct pm_gpu *gpu, uint32_t index, int *result, struct hwy_err *err)
{
	return pm_device_ask(&gpu->watch->pm, index, &gpu->device, result, err) && plan(gpu, err) &&
	       start_sampling(gpu, result, err);
}

/* Writes down what sampling did to the clocks. */
static void tell_effect(const struct pm_gpu *gpu, const struct pm_clocks *before,
			const struct pm_clocks *after)
{
	struct watched *watched = gpu->watch->watched;
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
	uint32_t rate_hz = watched_settings(watch->watched)->metrics.rate_hz;
	struct pm_effect effect;
	int result = 0;
	*gpu = (struct pm_gpu){.watch = watch, .interval = 1000000000 / rate_hz};
	pm_effect_open(&effect, entry->uuid);
	struct pm_clocks before = pm_effect_look(&effect);
	bool done = take_gpu(gpu, entry->index, &result, err);
	if (done) {
		calibrate(gpu);
		struct pm_clocks after = pm_effect_look(&effect);
		tell_effect(gpu, &before, &after);
		done = start_backlog(gpu, devices, err);
	}
	pm_effect_close(&effect);
	if (!done) {
		struct hwy_err reason = *err;
		const char *remedy = cupti_result_remedy(result);
		close_gpu(gpu);
		return hwy_fail(err, "%s: %s%s%s", entry->name, reason.text, *remedy ? "; " : "",
				remedy);
	}
	make_lanes(gpu, entry);
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
			watched_note(watched, 2, "GPU metrics: not recorded: %s", reason.text);
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

/* ---- recording ---------------------------------------------------------------------------------- */

/* Marks that from now on there are no values. */
static void put_gap(struct pm_gpu *gpu)
{
	struct pm_image *image = gpu->last_end ? pm_backlog_take(gpu->backlog) : NULL;
	if (!image)
		return;
	image->gap = gpu->last_end;
	gpu->last_end = 0;
	pm_backlog_put(gpu->backlog, image);
}

static void give_up(struct pm_gpu *gpu, const char *what, int result)
{
	watched_note(gpu->watch->watched, 2, "GPU metrics end early: %s: %s (CUPTI error %d)", what,
		     cupti_result_text(result), result);
	gpu->is_over = true;
	put_gap(gpu);
}

/* The device's buffer ran over: what was in it is lost. */
static void halve_rate(struct pm_gpu *gpu)
{
	struct watched *watched = gpu->watch->watched;
	struct hwy_err err;
	int result;
	uint64_t rate_hz = 1000000000 / gpu->interval;
	put_gap(gpu);
	if (rate_hz / 2 < LEAST_RATE_HZ) {
		give_up(gpu, "its buffer runs over at every rate", ABI_CUPTI_OUT_OF_MEMORY);
		return;
	}
	gpu->interval *= 2;
	watched_note(
		watched, 1,
		"GPU metrics: the GPU's buffer ran over at %llu samples a second; from here on "
		"half as many",
		(unsigned long long)rate_hz);
	watched_drop(watched, "GPU metrics: a buffer of samples", 1);
	if (!start_sampling(gpu, &result, &err))
		give_up(gpu, "sampling cannot be started again", result);
}

static void say_full(struct pm_gpu *gpu)
{
	if (!gpu->was_full)
		watched_note(
			gpu->watch->watched, 1,
			"GPU metrics: evaluating samples takes longer than sampling; they wait "
			"in the GPU's buffer");
	gpu->was_full = true;
}

/* Moves what the device has sampled into the backlog; false where the backlog is full. */
static bool drain(struct pm_gpu *gpu)
{
	uint32_t rounds = 0;
	bool is_last = watched_is_over(gpu->watch->watched);
	for (bool goes_on = !gpu->is_over; goes_on;) {
		struct pm_image *image = pm_backlog_take(gpu->backlog);
		if (!image) {
			say_full(gpu);
			return false;
		}
		int result = decode(gpu, image, &rounds, &goes_on);
		pm_backlog_put(gpu->backlog, image);
		if (result == ABI_CUPTI_OUT_OF_MEMORY && !is_last)
			halve_rate(gpu);
		else if (result)
			give_up(gpu, "samples cannot be read", result);
	}
	return true;
}

static void metrics_begin(void *state, int64_t now)
{
	struct pm_watch *watch = state;
	(void)now;
	for (uint32_t i = 0; i < watch->n; i++) {
		struct pm_gpu *gpu = &watch->gpus[i];
		struct hwy_err err;
		int result = gpu->is_over ? ABI_CUPTI_OK : discard(gpu);
		if (result == ABI_CUPTI_OUT_OF_MEMORY && start_sampling(gpu, &result, &err))
			result = ABI_CUPTI_OK;
		if (result)
			give_up(gpu, "samples cannot be read", result);
	}
}

static int64_t metrics_poll(void *state, int64_t now)
{
	struct pm_watch *watch = state;
	bool is_over = true;
	for (uint32_t i = 0; i < watch->n; i++) {
		drain(&watch->gpus[i]);
		is_over = is_over && watch->gpus[i].is_over;
	}
	return is_over ? INT64_MAX : now + POLL_NS;
}

static void metrics_end(void *state, int64_t now)
{
	struct pm_watch *watch = state;
	(void)now;
	for (uint32_t i = 0; i < watch->n; i++) {
		if (watched_is_over(watch->watched))
			pm_session_stop(&watch->gpus[i].session);
		while (!drain(&watch->gpus[i]) && watched_is_over(watch->watched)) {
			pm_backlog_wait(watch->gpus[i].backlog, WAIT_MS);
			watched_is_alive(watch->watched);
		}
		put_gap(&watch->gpus[i]);
	}
}

static void metrics_finish(void *state)
{
	struct pm_watch *watch = state;
	for (uint32_t i = 0; i < watch->n; i++) {
		struct pm_gpu *gpu = &watch->gpus[i];
		while (pm_backlog_wait(gpu->backlog, WAIT_MS))
			watched_is_alive(watch->watched);
		uint64_t rate_hz = 1000000000 / gpu->interval;
		if (rate_hz != watched_settings(watch->watched)->metrics.rate_hz)
			watched_property(watch->watched, "gpu_metrics.frequency_end_hz", "%llu",
					 (unsigned long long)rate_hz);
		uint64_t failed = pm_backlog_failed(gpu->backlog);
		if (failed)
			watched_drop(watch->watched, "GPU metrics: samples without values", failed);
		close_gpu(gpu);
	}
	cupti_library_free(watch->library);
	free(watch->gpus);
	free(watch);
}

const struct watch_source pm_source = {
	.what = "GPU metrics",
	.was_asked_for = true,
	.open = metrics_open,
	.begin = metrics_begin,
	.end = metrics_end,
	.poll = metrics_poll,
	.finish = metrics_finish,
	.otherwise = &gpm_source,
};
