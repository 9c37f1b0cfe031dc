/* calibrate_helper.h - what the files of the calibration helper share. */
#ifndef HWY_RUN_CALIBRATE_CALIBRATE_HELPER_H
#define HWY_RUN_CALIBRATE_CALIBRATE_HELPER_H

#include "run/abi/cuda.h"
#include "run/calibrate/calibrate.h"

enum {
	HELPER_SAMPLES = 256,
	HELPER_NODES = 256,    /* of the larger graph */
	HELPER_STAMP_LOW = 31, /* bits of an answer that are the number answered */
};

/* Both sides of a conversation with the device, each on a cache line of its own. In pinned memory. */
struct helper_mailbox {
	volatile uint32_t flag; /* by the host */
	uint8_t pad1[124];
	volatile uint64_t stamp; /* by the device */
	uint8_t pad2[120];
};

struct helper {
	struct abi_cuda cuda;
	FILE *out;
	void *stream;
	void *empty, *stamp, *spin, *pong; /* kernels */
	void *graph_1, *graph_n;           /* of one and of HELPER_NODES empty kernels */
	struct helper_mailbox *mailbox;
	uint64_t mailbox_device; /* its address there */
	uint64_t buffer;         /* device memory for copies */
	int error;               /* the driver's first, 0: none */
};

struct helper_samples {
	double at[HELPER_SAMPLES];
	uint32_t n;
};

/* True when a call of the driver went well; its error is kept. */
bool helper_ok(struct helper *helper, int result);
void helper_launch(struct helper *helper, void *kernel, void **parameters);
void helper_synchronize(struct helper *helper);

/* calibrate_helper.c: the median and half the distance of the quartiles; sorts. */
void helper_summarize(struct helper_samples *samples, double *median, double *spread);
void helper_print(struct helper *helper, const char *name, double value, double spread,
		  const char *unit);
void helper_print_samples(struct helper *helper, const char *name, struct helper_samples *samples);
/* For CPU time, which is that of a CPU nobody disturbs: the lower decile, and half the distance of the quickest
 * and the lower quartile; sorts. */
void helper_summarize_calm(struct helper_samples *samples, double *value, double *spread);

/* calibrate_cpu.c */
void helper_move_to_calm_cpu(void);

/* calibrate_ranges.c */
void helper_open_ranges(void);
void helper_push_and_pop(struct helper *helper);

/* One file each. They print what they measured, and nothing once the driver has failed. */
void helper_measure_calls(struct helper *helper);   /* calibrate_calls.c */
void helper_measure_latency(struct helper *helper); /* calibrate_latency.c */
void helper_measure_queue(struct helper *helper);   /* calibrate_calls.c */
void helper_measure_copies(struct helper *helper);  /* calibrate_copies.c */

#endif
