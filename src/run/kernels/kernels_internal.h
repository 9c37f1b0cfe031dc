/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_internal.h - what the files of run/kernels/ share.
 *
 *   kernels_run.c       the runs of the program, one after the other
 *   kernels_hang.c      ends a program that hangs in a measurement
 *   kernels_order.c     writes the plan of a run (spool/kernels_plan.h)
 *   kernels_answers.c   reads what the processes of the program answered
 *   kernels_evaluate.c  counter data into values
 *   kernels_lines.c     sampled program counters into source lines
 *   kernels_apart.c     runs NVIDIA's code in a child process, which may die
 *   kernels_metrics.c   the counters that are read where nobody says others
 */
#ifndef HWY_RUN_KERNELS_KERNELS_INTERNAL_H
#define HWY_RUN_KERNELS_KERNELS_INTERNAL_H

#include "base/bytes.h"
#include "run/kernels/kernels.h"
#include "run/run.h"
#include "spool/kernels_plan.h"

enum {
	KERNELS_ROWS = 192, /* how many pairs of a chip and a set a plan has at most */
	KERNELS_CHIP_NAME = 32,
	KERNELS_METRICS = 256, /* how many counters an order has at most */
	KERNELS_SETS = 16,     /* how many sets of one pass there are at most */
	KERNELS_RUNS =
		6, /* how often the program runs at most for kernels that cannot be repeated */
};

struct kernels_row { /* what is collected on a chip as one set (struct kernels_plan_chip) */
	char name[KERNELS_CHIP_NAME];
	bool has[KERNELS_METRICS]; /* by the metrics of the order */
	uint32_t set, passes;
};

struct kernels_rows { /* in memory that a child fills */
	struct kernels_row rows[KERNELS_ROWS];
	uint32_t n;
	uint32_t n_sets; /* the most sets of one pass that a chip has */
};

struct kernels_image { /* counter data of a launch, as a process answered */
	uint32_t target, device, rank, pid;
	uint32_t row; /* index into the rows of the plan */
	uint64_t ordinal;
	uint8_t *data;
	uint64_t bytes;
};

struct kernels_cubin {
	uint8_t *data;
	uint64_t bytes;
};

struct kernels_pc { /* the samples of one program counter */
	struct kernels_sample sample;
	char *name;
	struct kernels_sample_reason *reasons;
};

struct kernels_answers {
	struct kernels_image *images;
	uint32_t n_images, cap_images;
	struct kernels_cubin *cubins;
	uint32_t n_cubins, cap_cubins;
	struct kernels_pc *pcs;
	uint32_t n_pcs, cap_pcs;
	char *reasons[128]; /* names of the stall reasons, by number */
};

/* Calls work(argument, err) in a child process; memory that it is to change must be shared
 * (kernels_shared). False where the work failed, or the child died. */
bool kernels_apart(bool (*work)(void *argument, struct hwy_err *err), void *argument,
		   struct hwy_err *err);
/* Zeroed memory that a child of kernels_apart shares with its parent; NULL: there is none. */
void *kernels_shared(size_t bytes);
void kernels_unshare(void *memory, size_t bytes);

/* One run of the program, and what is measured in it. */
struct kernels_part {
	const struct kernels_order *order;
	enum kernels_mode mode;
	uint32_t number; /* which run this is of those that go on with further sets, from 0 */
	bool needs_sets; /* some target is measured by sets of one pass */
	/* By target: a launch that is repeated in place is not to be measured in this run. */
	const bool *leaves_out;
	const char *directory;
	struct kernels_rows *rows; /* shared memory */
};
/* Whether a target is measured without being repeated: each of its launches by one set of one
 * pass. */
bool kernels_target_is_apart(const struct kernels_order *order,
			     const struct kernels_target *target);
/* Writes the plan of a run to its directory, and fills part->rows. */
bool kernels_order_write(struct kernels_part *part, struct hwy_err *err);

/* Adds what the processes of a run answered. Notes go to 'found'. */
void kernels_answers_read(const char *directory, struct kernels_answers *answers,
			  struct kernels_found *found);
void kernels_answers_free(struct kernels_answers *answers);

/* Evaluates the images and adds a launch for each. */
bool kernels_evaluate(const struct kernels_order *order, const struct kernels_rows *rows,
		      const struct kernels_answers *answers, struct kernels_found *found,
		      struct hwy_err *err);
bool kernels_lines_find(const struct kernels_answers *answers, struct kernels_found *found,
			struct hwy_err *err);

/* kernels_metrics.c: whether a metric counts operations of the tensor cores, which take the most
 * passes. */
bool kernels_metric_is_of_tensors(const char *metric);
/* Whether a metric is not collected, because it follows from others. */
bool kernels_metric_follows(const char *metric);

/* Adds a sentence to found->notes, unless it is there already. */
void kernels_note(struct kernels_found *found, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Watches over a run from run_go on, in a thread; kernels_hang_end says whether the program was
 * ended. */
struct kernels_hang;
struct kernels_hang *kernels_hang_begin(const struct run *run);
bool kernels_hang_end(struct kernels_hang *hang, uint32_t *target);
/* Makes the file in which the targets say what they measure. */
bool kernels_hang_prepare(const struct run *run, struct hwy_err *err);

#endif
