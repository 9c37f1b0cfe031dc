/* SPDX-License-Identifier: Apache-2.0 */
/* pm_gpu.c - see pm_gpu.h.
 *
 * Seen on an H200 (CUPTI 13.0): decoding and evaluating cost by the number of hardware counters,
 * and each counter of an SM is one of 132. An image that gets full loses samples, and those
 * after it lose their times: so images have room for many times what a pause leaves, and the
 * thread makes no pause where it lags. Samples without a time are let go and counted. Who
 * decodes until nothing is left never ends where decoding is slower than sampling: nothing here
 * waits for an empty buffer but the end, which has a bound. A session whose buffer ran over can
 * only be closed.
 *
 * A decode reads the device at its begin: the end of its newest sample is near the host's time
 * then (where the end of the decode was taken instead, times were 3 ms late). So now and then a
 * few decodes follow each other without pause, which have few samples each.
 */
#include "run/counters/pm_gpu.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "run/counters/watched.h"
#include "run/run.h"

enum {
	LEAST_RATE_HZ = 10, /* the rate is not halved below this */
	IMAGE_SAMPLES = 512,
	LEAST_NEAR_SAMPLES = 32,
	/* Images that are full one after the other: reading does not keep up. Some are full
	 * after a disturbance, and the device's buffer holds more than 20 of them. */
	MOST_FULL = 20,
	MOST_THREADS = 4, /* that evaluate samples of one device */
	NEAR_DECODES = 4, /* that follow each other to look at the device's clock */
	WAIT_MS = 20,
};
static const int64_t PAUSE_NS = 10 * 1000 * 1000; /* between decodes, at most */
static const int64_t CALIBRATE_NS = 50 * 1000 * 1000;
static const int64_t SETTLE_NS =
	1500 * 1000 * 1000; /* at most, until the samples of the start are read */
static const int64_t NEAR_EVERY_NS = 100 * 1000 * 1000;
static const int64_t NEAR_NS = 10 * 1000 * 1000;        /* what an image for the clock holds */
static const int64_t LATE_NS = 200 * 1000 * 1000;       /* samples are in hand by then */
static const int64_t END_NS = INT64_C(10) * 1000000000; /* that reading what is left may take */
static const uint64_t HARDWARE_BYTES = UINT64_C(256) << 20;
static const uint64_t BACKLOG_BYTES = UINT64_C(512) << 20;

static void write_row(void *to, int64_t start, const double *values, size_t n)
{
	struct pm_gpu *gpu = to;
	if (start <= gpu->last_row) /* the estimate of the device's clock was corrected */
		start = gpu->last_row + 1;
	gpu->last_row = start;
	watched_row(gpu->watched, gpu->first_lane, start, values, (uint32_t)n);
}

static void short_pause(int64_t ns)
{
	struct timespec pause = {.tv_nsec = ns};
	nanosleep(&pause, NULL);
}

static uint32_t near_samples(const struct pm_gpu *gpu)
{
	uint64_t n = (uint64_t)NEAR_NS / gpu->interval;
	return n < LEAST_NEAR_SAMPLES ? LEAST_NEAR_SAMPLES
	       : n > IMAGE_SAMPLES    ? IMAGE_SAMPLES
				      : (uint32_t)n;
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Looks at the device's clock: the newest sample had ended when the device was read. Of many
 * samples that says little: more may have come while they were decoded. */
static void see_clock(struct pm_gpu *gpu, const struct pm_image *image, size_t n, int64_t asked)
{
	uint64_t start, end;
	if (n > near_samples(gpu) / 2 && pm_clock_is_known(&gpu->clock))
		return;
	while (n &&
	       !pm_session_times(&gpu->session, image->data, image->bytes, n - 1, &start, &end))
		n--;
	if (n)
		pm_clock_saw(&gpu->clock, end, asked);
}

/* Writes down the times of an image's samples, and which of them are wanted. */
static void stamp_image(struct pm_gpu *gpu, struct pm_image *image, size_t n)
{
	int64_t from = atomic_load(&gpu->from), until = atomic_load(&gpu->until);
	uint64_t start, end;
	for (size_t i = 0; i < n; i++) {
		image->lengths[i] = 0;
		image->after_hole[i] = false;
		if (!pm_session_times(&gpu->session, image->data, image->bytes, i, &start, &end)) {
			gpu->untimed++;
			continue;
		}
		image->starts[i] = pm_clock_host(&gpu->clock, start);
		image->after_hole[i] = start > gpu->device_end + gpu->interval / 2;
		gpu->device_end = end;
		if (image->starts[i] < from || image->starts[i] >= until) {
			gpu->outside++;
			continue;
		}
		image->lengths[i] = end - start < UINT32_MAX ? (uint32_t)(end - start) : UINT32_MAX;
		gpu->last_end = image->starts[i] + image->lengths[i];
	}
	gpu->samples += n;
	image->n = n;
}

/* Decodes once. Yields CUPTI's result; '*n' gets how many samples came. */
static int decode_image(struct pm_gpu *gpu, struct pm_image *image, size_t bytes, size_t *n)
{
	bool is_full = false;
	int64_t asked;
	image->bytes = bytes;
	image->n = *n = 0;
	int result = pm_session_decode(&gpu->session, image->data, bytes, n, &is_full, &asked);
	gpu->decodes++;
	watched_is_alive(gpu->watched);
	if (result) {
		gpu->last_result = result;
	} else {
		see_clock(gpu, image, *n, asked);
		stamp_image(gpu, image, *n);
	}
	gpu->n_full = !result && is_full ? gpu->n_full + 1 : 0;
	return result;
}

/* Marks that from the last sample on there are no values. */
static void put_gap(struct pm_gpu *gpu)
{
	struct pm_image *image = gpu->last_end ? pm_backlog_take(gpu->backlog) : NULL;
	if (!image)
		return;
	image->gap = gpu->last_end;
	gpu->last_end = 0;
	pm_backlog_put(gpu->backlog, image);
}

/* Reads and lets go what was sampled while the session started, which takes some 0.3 s and fills
 * several images: behind them reading keeps up. Yields CUPTI's result. */
static int settle(struct pm_gpu *gpu)
{
	int64_t until = run_now() + SETTLE_NS;
	size_t n;
	int result;
	do
		result = decode_image(gpu, &gpu->waste, gpu->bytes, &n);
	while (!result && n > IMAGE_SAMPLES / 2 && run_now() < until);
	gpu->n_full = 0;
	return result;
}

/* ---- a session ------------------------------------------------------------------------------- */

/* Opens a session and starts it; one that there was is closed first. */
static bool start_sampling(struct pm_gpu *gpu, int *result, struct hwy_err *err)
{
	pm_session_close(&gpu->session);
	gpu->n_full = 0;
	if (!pm_session_open(&gpu->session, gpu->pm, gpu->device.index, gpu->set.names, gpu->set.n,
			     &gpu->config, result, err) ||
	    !pm_session_start(&gpu->session, gpu->interval, HARDWARE_BYTES, result, err))
		return false;
	gpu->bytes = pm_session_bytes(&gpu->session, IMAGE_SAMPLES);
	gpu->near_bytes = pm_session_bytes(&gpu->session, near_samples(gpu));
	return (gpu->bytes && gpu->near_bytes) || hwy_fail(err, "CUPTI tells no size for samples");
}

static void give_up(struct pm_gpu *gpu, const char *what, int result)
{
	watched_note(gpu->watched, 2, "GPU metrics end early: %s: %s (CUPTI error %d)", what,
		     cupti_result_text(result), result);
	atomic_store(&gpu->is_over, true);
	put_gap(gpu);
}

/* Reading failed, or does not keep up: another session with half the rate. What was in the
 * buffer is lost. */
static void halve_rate(struct pm_gpu *gpu, int result)
{
	struct hwy_err err;
	char why[96];
	unsigned long long rate_hz = 1000000000 / gpu->interval;
	if (rate_hz / 2 < LEAST_RATE_HZ || result == ABI_CUPTI_HARDWARE) {
		give_up(gpu, "samples cannot be read", result);
		return;
	}
	if (result == ABI_CUPTI_OUT_OF_MEMORY)
		snprintf(why, sizeof why, "the GPU's buffer ran over");
	else if (result)
		snprintf(why, sizeof why, "samples could not be read (CUPTI error %d)", result);
	else
		snprintf(why, sizeof why, "reading samples takes longer than sampling");
	watched_note(gpu->watched, 1,
		     "GPU metrics: %s at %llu samples a second; from here on half as many", why,
		     rate_hz);
	watched_drop(gpu->watched, "GPU metrics: a buffer of samples", 1);
	put_gap(gpu);
	gpu->interval *= 2;
	if (!start_sampling(gpu, &result, &err) || (result = settle(gpu)) != 0)
		give_up(gpu, "sampling cannot be started again", result);
}

/* ---- the thread ------------------------------------------------------------------------------ */

static bool wants_samples(const struct pm_gpu *gpu, int64_t now)
{
	return atomic_load(&gpu->from) <= now && now - LATE_NS < atomic_load(&gpu->until);
}

/* Decodes once, into the backlog where samples are wanted. '*n' gets how many came. False: the
 * backlog is full. */
static bool read_samples(struct pm_gpu *gpu, size_t bytes, size_t *n)
{
	int64_t now = run_now();
	bool wanted = atomic_load(&gpu->is_ending) || wants_samples(gpu, now);
	struct pm_image *image = wanted ? pm_backlog_take(gpu->backlog) : &gpu->waste;
	*n = 0;
	if (!image) {
		if (!gpu->was_full)
			watched_note(gpu->watched, 1,
				     "GPU metrics: evaluating samples takes longer than sampling; "
				     "they wait in the GPU's buffer");
		gpu->was_full = true;
		return false;
	}
	int result = decode_image(gpu, image, bytes, n);
	if (wanted) {
		if (now >= atomic_load(&gpu->until) && gpu->last_end) {
			image->gap = gpu->last_end;
			gpu->last_end = 0;
		}
		pm_backlog_put(gpu->backlog, image);
	}
	if (atomic_load(&gpu->is_ending))
		atomic_store(&gpu->is_over, result != ABI_CUPTI_OK);
	else if (result || gpu->n_full >= MOST_FULL)
		halve_rate(gpu, result);
	return true;
}

/* The size of the image that is decoded next, where the clock is looked at and the decode before
 * took so long: small, unless it could get full. */
static size_t near_image(const struct pm_gpu *gpu, int64_t took)
{
	return took < NEAR_NS / 2 && !gpu->n_full ? gpu->near_bytes : gpu->bytes;
}

/* Looks at the device's clock: decodes that follow each other are quick. */
static void look_at_clock(struct pm_gpu *gpu)
{
	size_t n;
	int64_t took = NEAR_NS;
	for (int i = 0; i < NEAR_DECODES && !atomic_load(&gpu->is_over); i++) {
		int64_t begun = run_now();
		read_samples(gpu, near_image(gpu, took), &n);
		took = run_now() - begun;
	}
	gpu->near_at = run_now() + NEAR_EVERY_NS;
}

/* Reads what is left in the device's buffer, for a bounded time. */
static void read_rest(struct pm_gpu *gpu)
{
	int64_t until = run_now() + END_NS;
	size_t n = 1;
	pm_session_stop(&gpu->session);
	while (n && !atomic_load(&gpu->is_over) && run_now() < until)
		if (!read_samples(gpu, gpu->bytes, &n)) {
			short_pause(WAIT_MS * INT64_C(1000000));
			n = 1;
		}
	if (n || atomic_load(&gpu->is_over))
		watched_drop(gpu->watched, "GPU metrics: a buffer of samples", 1);
	put_gap(gpu);
}

static void *live_gpu(void *self)
{
	struct pm_gpu *gpu = self;
	pthread_setname_np(pthread_self(), "hwy-counters");
	while (!atomic_load(&gpu->is_ending) && !atomic_load(&gpu->is_over)) {
		size_t n;
		bool has_room = read_samples(gpu, gpu->bytes, &n);
		int64_t pause = (int64_t)gpu->interval * IMAGE_SAMPLES / 4;
		if (has_room && n <= IMAGE_SAMPLES / 4 && run_now() >= gpu->near_at)
			look_at_clock(gpu);
		if (!has_room || n <= IMAGE_SAMPLES / 2)
			short_pause(pause < PAUSE_NS ? pause : PAUSE_NS);
	}
	if (!atomic_load(&gpu->is_over))
		read_rest(gpu);
	pm_session_close(&gpu->session);
	atomic_store(&gpu->is_done, true);
	return NULL;
}

/* ---- begin and end --------------------------------------------------------------------------- */

static uint32_t count_threads(uint32_t devices)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	long threads = cores / 4 / (long)devices;
	return threads < 1 ? 1 : threads > MOST_THREADS ? MOST_THREADS : (uint32_t)threads;
}

static bool start_backlog(struct pm_gpu *gpu, struct hwy_err *err)
{
	struct pm_backlog_settings settings = {
		.library = gpu->pm->library,
		.chip = gpu->device.chip,
		.availability = gpu->device.availability,
		.data_bytes = gpu->bytes,
		.most = IMAGE_SAMPLES,
		.set = &gpu->set,
		.most_bytes = BACKLOG_BYTES / gpu->n_gpus,
		.threads = count_threads(gpu->n_gpus),
		.row = write_row,
		.to = gpu,
	};
	gpu->backlog = pm_backlog_start(&settings, err);
	return gpu->backlog != NULL;
}

/* Reads the device for some time to know its clock. */
static bool calibrate(struct pm_gpu *gpu, int *result, struct hwy_err *err)
{
	size_t n;
	gpu->waste = (struct pm_image){
		.data = hwy_alloc(gpu->bytes),
		.starts = hwy_array(IMAGE_SAMPLES, sizeof *gpu->waste.starts),
		.lengths = hwy_array(IMAGE_SAMPLES, sizeof *gpu->waste.lengths),
		.after_hole = hwy_array(IMAGE_SAMPLES, sizeof *gpu->waste.after_hole),
	};
	*result = settle(gpu);
	int64_t until = run_now() + CALIBRATE_NS, took = 0;
	while (!*result && run_now() < until) {
		int64_t begun = run_now();
		*result = decode_image(gpu, &gpu->waste, near_image(gpu, took), &n);
		took = run_now() - begun;
	}
	gpu->n_full = 0;
	gpu->decodes = gpu->samples = gpu->untimed = gpu->outside = 0;
	return !*result || hwy_fail(err, "the first samples cannot be read: %s (CUPTI error %d)",
				    cupti_result_text(*result), *result);
}

bool pm_gpu_start(struct pm_gpu *gpu, int *result, struct hwy_err *err)
{
	atomic_store(&gpu->from, INT64_MAX);
	atomic_store(&gpu->until, INT64_MAX);
	atomic_store(&gpu->is_done, true);
	if (!start_sampling(gpu, result, err) || !calibrate(gpu, result, err) ||
	    !start_backlog(gpu, err))
		return false;
	atomic_store(&gpu->is_done, false);
	if (pthread_create(&gpu->thread, NULL, live_gpu, gpu) == 0)
		return true;
	atomic_store(&gpu->is_done, true);
	return hwy_fail(err, "no thread can be started to read counters");
}

void pm_gpu_record(struct pm_gpu *gpu, int64_t from)
{
	atomic_store(&gpu->from, from);
	atomic_store(&gpu->until, INT64_MAX);
}

void pm_gpu_record_until(struct pm_gpu *gpu, int64_t until)
{
	atomic_store(&gpu->until, until);
}

/* Says why there is no sample. */
static void tell_nothing(const struct pm_gpu *gpu, const struct pm_backlog_counts *counts)
{
	char why[256];
	if (atomic_load(&gpu->from) == INT64_MAX)
		snprintf(why, sizeof why, "recording did not begin before the program ended");
	else if (counts->failed)
		snprintf(why, sizeof why, "samples have no values: %.200s", counts->reason.text);
	else if (gpu->last_result)
		snprintf(why, sizeof why, "they could not be read: %s (CUPTI error %d)",
			 cupti_result_text(gpu->last_result), gpu->last_result);
	else if (gpu->untimed)
		snprintf(why, sizeof why, "%llu samples came without a time",
			 (unsigned long long)gpu->untimed);
	else
		snprintf(why, sizeof why,
			 "the GPU gave %llu samples in %llu readings, none of the time that was "
			 "recorded",
			 (unsigned long long)gpu->samples, (unsigned long long)gpu->decodes);
	watched_note(gpu->watched, 2, "GPU metrics: not one sample of %s: %s", gpu->name, why);
}

static void tell_counts(const struct pm_gpu *gpu, const struct pm_backlog_counts *counts)
{
	struct watched *watched = gpu->watched;
	if (counts->failed)
		watched_drop(watched, "GPU metrics: samples without values", counts->failed);
	if (gpu->untimed)
		watched_drop(watched, "GPU metrics: samples without a time", gpu->untimed);
	if (counts->waiting)
		watched_drop(watched, "GPU metrics: samples that were not evaluated in time",
			     counts->waiting);
	watched_property(watched, "gpu_metrics.samples", "%llu",
			 (unsigned long long)counts->written);
	watched_property(watched, "gpu_metrics.holes", "%llu", (unsigned long long)counts->holes);
	uint64_t rate_hz = 1000000000 / gpu->interval;
	if (rate_hz != watched_settings(watched)->metrics.rate_hz)
		watched_property(watched, "gpu_metrics.frequency_end_hz", "%llu",
				 (unsigned long long)rate_hz);
	if (!counts->written)
		tell_nothing(gpu, counts);
}

void pm_gpu_end(struct pm_gpu *gpu)
{
	struct pm_backlog_counts counts = {0};
	int64_t until = run_now() + END_NS;
	atomic_store(&gpu->is_ending, true);
	while (!atomic_load(&gpu->is_done)) /* it shows signs of life itself */
		poll(NULL, 0, 1);
	while (pm_backlog_wait(gpu->backlog, WAIT_MS) && run_now() < until) {
		uint64_t before = counts.evaluated;
		pm_backlog_count(gpu->backlog, &counts);
		if (counts.evaluated != before)
			watched_is_alive(gpu->watched);
	}
	pthread_join(gpu->thread, NULL);
	pm_backlog_count(gpu->backlog, &counts);
	tell_counts(gpu, &counts);
}

void pm_gpu_free(struct pm_gpu *gpu)
{
	pm_backlog_free(gpu->backlog);
	pm_session_close(&gpu->session);
	cupti_config_free(&gpu->config);
	pm_device_free(&gpu->device);
	free(gpu->waste.data);
	free(gpu->waste.starts);
	free(gpu->waste.lengths);
	free(gpu->waste.after_hole);
	gpu->waste = (struct pm_image){0};
}
