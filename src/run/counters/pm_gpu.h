/* SPDX-License-Identifier: Apache-2.0 */
/* pm_gpu.h - one GPU whose counters are sampled: its session, and the thread that reads it.
 *
 * The GPU writes its counters into a buffer in the host's memory. A thread of its own decodes
 * that buffer from the moment sampling begins until it ends, whether recording is on or not, and
 * does nothing else: evaluation is the backlog's work. It knows for which time samples are
 * wanted, and lets others go. The order of calls:
 *
 *   pm_gpu_start, { pm_gpu_record(from), pm_gpu_record_until(to) } as often as recording begins and ends, pm_gpu_end.
 *
 * Whatever goes wrong after pm_gpu_start is written down by pm_gpu_end or as it happens; a
 * recording without one sample always has a reason in it.
 */
#ifndef HWY_RUN_COUNTERS_PM_GPU_H
#define HWY_RUN_COUNTERS_PM_GPU_H

#include <pthread.h>
#include <stdatomic.h>

#include "run/counters/pm_backlog.h"
#include "run/counters/pm_clock.h"
#include "run/counters/pm_session.h"

struct watched;

struct pm_gpu {
	/* Set by who starts it. */
	struct watched *watched;
	const struct pm *pm;
	char name[96];
	struct pm_device device;
	struct pm_set set;
	struct cupti_config config;
	uint64_t interval; /* ns; grows where reading does not keep up */
	uint32_t first_lane;
	uint32_t n_gpus; /* that are sampled: they share memory and cores */

	/* For which time samples are wanted, ns of CLOCK_MONOTONIC. */
	_Atomic int64_t from, until;
	_Atomic bool is_ending, is_done; /* the thread shall end; it has, or never began */
	_Atomic bool is_over;            /* nothing more comes from it */

	/* From here on by the thread only. */
	pthread_t thread;
	struct pm_session session;
	struct pm_backlog *backlog;
	struct pm_image waste;    /* takes samples that nobody wants */
	size_t bytes, near_bytes; /* of images; of those that are read to know the device's clock */
	struct pm_clock clock;
	int64_t near_at;     /* when the clock is to be looked at again */
	uint64_t device_end; /* when the last sample ended, by the device's clock; 0: not known */
	int64_t last_end;    /* when the last sample that counts ended; 0: a gap was told */
	uint32_t n_full;     /* images that got full one after the other */
	bool was_full;       /* the backlog was full; said once */
	int last_result;     /* CUPTI's, of the last decode that failed */
	uint64_t decodes, samples, untimed, outside; /* what was read, and what of it was let go */
	int64_t last_row; /* time of the last row; by the backlog's threads, one at a time */
};

/* Starts sampling and the thread. False: it cannot be sampled, for the reason in err; '*result'
 * gets CUPTI's. */
bool pm_gpu_start(struct pm_gpu *gpu, int *result, struct hwy_err *err);
/* Samples that begin at 'from' or later are wanted, until pm_gpu_record_until says when that
 * ends. */
void pm_gpu_record(struct pm_gpu *gpu, int64_t from);
void pm_gpu_record_until(struct pm_gpu *gpu, int64_t until);
/* Reads and evaluates what is left, for a bounded time, drops the rest with a count, and writes
 * down how it went. Shows signs of life (watched_is_alive) for as long as something moves. */
void pm_gpu_end(struct pm_gpu *gpu);
/* Frees what belongs to it. */
void pm_gpu_free(struct pm_gpu *gpu);

#endif
