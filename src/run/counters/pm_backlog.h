/* SPDX-License-Identifier: Apache-2.0 */
/* pm_backlog.h - samples of one device that wait to be evaluated, and the threads that do it.
 *
 * Decoding keeps up with any rate, evaluation may not. So images of counter data wait here,
 * within a bound of memory, and a few threads of low priority evaluate them. Rows come out in
 * the order of their samples. Where the bound is reached pm_backlog_take yields NULL: the
 * samples stay in the device's buffer, and when that runs over too the rate is halved
 * (pm_gpu.c). Memory is taken as it is needed, and used again at once.
 */
#ifndef HWY_RUN_COUNTERS_PM_BACKLOG_H
#define HWY_RUN_COUNTERS_PM_BACKLOG_H

#include "run/counters/pm_set.h"

struct pm_image { /* counter data of up to 'most' samples */
	uint8_t *data;
	size_t bytes;      /* of the data; the settings' data_bytes, or less */
	int64_t *starts;   /* of each sample, ns of CLOCK_MONOTONIC */
	uint32_t *lengths; /* of each sample, ns; 0: it is left out */
	bool *after_hole;  /* there are no values between the sample before and this one */
	size_t n;
	/* behind the samples there are no values from this time on; 0: others follow */
	int64_t gap;
};

struct pm_backlog_settings {
	const struct cupti_library *library;
	const char *chip;
	const uint8_t *availability;
	size_t data_bytes; /* of an image, at most */
	uint32_t most;     /* samples an image */
	const struct pm_set *set;
	uint64_t most_bytes; /* of all images together */
	uint32_t threads;
	/* Takes a sample's values, in the order of the set, from one thread at a time; all NaN:
	 * a gap begins. */
	void (*row)(void *to, int64_t start, const double *values, size_t n);
	void *to;
};

struct pm_backlog;

/* NULL: nothing can be evaluated, for the reason in err. What the settings point to must outlive
 * the backlog. */
struct pm_backlog *pm_backlog_start(const struct pm_backlog_settings *settings,
				    struct hwy_err *err);
/* Yields an image to fill, or NULL where the bound is reached. One thread fills, and one image
 * at a time. */
struct pm_image *pm_backlog_take(struct pm_backlog *backlog);
/* Hands the image to the threads; one without samples and gap is taken back. */
void pm_backlog_put(struct pm_backlog *backlog, struct pm_image *image);
/* Waits until all is evaluated, or for 'ms'; yields how many images are left. */
uint32_t pm_backlog_wait(struct pm_backlog *backlog, int ms);
struct pm_backlog_counts {  /* of samples, until now */
	uint64_t evaluated; /* with values or without: grows as long as the threads live */
	uint64_t written;
	uint64_t failed;       /* have no values */
	uint64_t waiting;      /* are not written yet */
	uint64_t holes;        /* times that samples are missing between two that were written */
	struct hwy_err reason; /* why one that has failed did */
};
void pm_backlog_count(struct pm_backlog *backlog, struct pm_backlog_counts *counts);
/* Ends the threads; what is not evaluated is lost. */
void pm_backlog_free(struct pm_backlog *backlog);

#endif
