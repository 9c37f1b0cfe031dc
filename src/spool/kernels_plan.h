/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_plan.h - what the parent asks the targets to measure of kernels, and what they answer.
 *
 * The plan is the file KERNELS_PLAN_FILE of the run directory, written before the first target
 * starts and never changed. It begins with struct kernels_plan; places in it are bytes from its
 * begin, and texts end with a 0. The last byte of the file is 0, so that every text has an end.
 *
 * Each process of the program that measures appends answers to a file of its own,
 * KERNELS_ANSWER_PREFIX and the pid: a struct kernels_answer, then 'bytes' bytes of payload. A
 * process may die at any moment: a reader stops at an answer that is not whole.
 */
#ifndef HWY_SPOOL_KERNELS_PLAN_H
#define HWY_SPOOL_KERNELS_PLAN_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNELS_PLAN_FILE "kernels.plan"
#define KERNELS_ANSWER_PREFIX "kernels.answer."
#define KERNELS_PLAN_MAGIC UINT64_C(0x316e616c706b7768) /* "hwkplan1" */

enum kernels_mode {
	KERNELS_MODE_COUNTERS = 1, /* counters of the chosen launches */
	/* Program counters are sampled from the first chosen launch on, of the chosen kernels. */
	KERNELS_MODE_SOURCE = 2,
};

struct kernels_plan {
	uint64_t magic, bytes; /* 'bytes': of the whole file */
	uint32_t mode;         /* enum kernels_mode */
	uint32_t n_targets, n_chips, reserved;
	uint64_t targets, chips; /* places of the arrays below */
};

struct kernels_plan_target { /* launches of one symbol and shape */
	uint64_t symbol;     /* place of the text */
	uint32_t grid[3], block[3], shared;
	uint32_t n_ordinals; /* how many launches are chosen */
	uint64_t ordinals;   /* place of that many uint64_t, ascending */
	/* Which set of counters the first chosen launch gets; the next ones get the following
	 * sets, and after n_sets of them the first again. n_sets 0: all get this one. */
	uint32_t first_set, n_sets;
};

/* Set 0 without the operations of the tensor cores. */
enum { KERNELS_SET_PLAIN = 1000 };

/* What is collected on devices of one chip as one set. Sets 0 and KERNELS_SET_PLAIN may take
 * several passes: CUPTI repeats the launch, and restores the memory that the kernel wrote. The
 * others take one pass: the kernel runs once. */
struct kernels_plan_chip {
	uint64_t name;   /* place of the text: "GH100" */
	uint64_t config; /* place of the config image, and its bytes */
	uint64_t config_bytes;
	uint64_t metrics; /* place of n_metrics places of texts */
	uint32_t n_metrics, set;
};

enum kernels_answer_type {
	/* Counter data of a launch; 'value' is the index into the plan's chips. */
	KERNELS_ANSWER_IMAGE = 1,
	/* A text, why something is not measured; 'value' is CUPTI's result, or 0. */
	KERNELS_ANSWER_NOTE,
	KERNELS_ANSWER_SAMPLES, /* struct kernels_sample, and what follows it */
	KERNELS_ANSWER_CUBIN,   /* the code of a module that has a chosen kernel */
	KERNELS_ANSWER_REASON,  /* the name of stall reason 'value' */
};

struct kernels_answer {
	uint32_t type;   /* enum kernels_answer_type */
	uint32_t target; /* index into the plan's targets, or UINT32_MAX */
	uint32_t device; /* the device's number in the process */
	uint32_t rank;   /* of the process in a distributed run; 0 where there is none */
	uint64_t ordinal;
	uint32_t value, reserved;
	/* of payload behind this head, without the zeros that pad it to a multiple of 8 */
	uint64_t bytes;
};

struct kernels_sample { /* payload of KERNELS_ANSWER_SAMPLES: one program counter */
	uint64_t crc, pc;
	uint32_t n_reasons, name_bytes; /* behind it: n_reasons pairs, then the function's name */
};
struct kernels_sample_reason {
	uint32_t reason, samples;
};

/* A process that measures a launch says so here, in a file of the run directory that the parent
 * maps: the parent ends a program that hangs in a measurement, since a kernel that waits for
 * another one never ends there. */
#define KERNELS_WATCH_FILE "kernels.watch"
struct kernels_watch {
	int64_t since; /* ns (CLOCK_MONOTONIC) when the measurement that runs began; 0: none runs */
	uint32_t target; /* what is measured */
	uint32_t done;   /* how many launches were measured, in all processes */
	uint32_t pid;    /* of the process that measures */
	uint32_t reserved;
};

/* The hash by which targets are found: of the symbol and the shape. */
static inline uint64_t kernels_plan_hash(const char *symbol)
{
	uint64_t hash = UINT64_C(14695981039346656037);
	for (; *symbol; symbol++)
		hash = (hash ^ (uint8_t)*symbol) * UINT64_C(1099511628211);
	return hash;
}

static inline bool kernels_plan_has(const struct kernels_plan *plan, uint64_t at, uint64_t count,
				    uint64_t size)
{
	return at <= plan->bytes && count <= (plan->bytes - at) / size && at % 8 == 0;
}

static_assert(sizeof(struct kernels_answer) == 40, "no padding");
static_assert(sizeof(struct kernels_plan) % 8 == 0, "arrays may follow");

#endif
