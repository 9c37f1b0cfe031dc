/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate_helper.h - what the files of the calibration helper share. */
#ifndef HWY_RUN_CALIBRATE_CALIBRATE_HELPER_H
#define HWY_RUN_CALIBRATE_CALIBRATE_HELPER_H

#include "run/abi/cuda.h"
#include "run/calibrate/calibrate.h"

enum {
	HELPER_SAMPLES = 256,
	HELPER_NODES = 256, /* kernels in the larger of the two graphs */
	/* HELPER_STAMP_LOW: mask of the bits of an answer that hold the number of the question. */
	HELPER_STAMP_LOW = 31,
};

/* How host and device talk to each other: each writes to a cache line of its own, in pinned
 * memory. */
struct helper_mailbox {
	volatile uint32_t flag; /* the number of the last question, written by the host */
	uint8_t pad1[124];
	volatile uint64_t stamp; /* the device's answer, written by the device */
	uint8_t pad2[120];
};

struct helper {
	struct abi_cuda cuda;
	FILE *out;
	void *stream;
	void *empty, *stamp, *spin, *pong; /* the kernels of calibrate_kernels.h */
	void *graph_1, *graph_n;           /* graphs of one and of HELPER_NODES empty kernels */
	struct helper_mailbox *mailbox;
	uint64_t mailbox_device; /* the mailbox's address on the device */
	uint64_t buffer;         /* device memory for copies */
	int error;               /* the first error of the driver, 0: none */
};

struct helper_samples {
	double values[HELPER_SAMPLES];
	uint32_t n;
};

/* Whether a call of the driver succeeded and none has failed before; keeps the first error. */
bool helper_ok(struct helper *helper, int result);
void helper_launch(struct helper *helper, void *kernel, void **parameters);
void helper_synchronize(struct helper *helper);

/* calibrate_helper.c: yields the median of samples, and half the distance of their quartiles.
 * Sorts the samples. */
void helper_summarize(struct helper_samples *samples, double *median, double *spread);
void helper_print(struct helper *helper, const char *name, double value, double spread,
		  const char *unit);
void helper_print_samples(struct helper *helper, const char *name, struct helper_samples *samples);
/* For CPU time, which is to be that of an undisturbed CPU: the lower decile, and half the distance
 * of the quickest and the lower quartile. Sorts the samples. */
void helper_summarize_calm(struct helper_samples *samples, double *value, double *spread);

/* The following function is in calibrate_cpu.c. */
void helper_move_to_calm_cpu(void);

/* The following functions are in calibrate_ranges.c. */
void helper_open_ranges(void);
void helper_push_and_pop(struct helper *helper);

/* The measurements: each prints what it measured, or nothing once the driver has failed. */
void helper_measure_calls(struct helper *helper);   /* in calibrate_calls.c */
void helper_measure_latency(struct helper *helper); /* in calibrate_latency.c */
void helper_measure_queue(struct helper *helper);   /* in calibrate_calls.c */
void helper_measure_copies(struct helper *helper);  /* in calibrate_copies.c */

#endif
