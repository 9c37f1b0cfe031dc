/* SPDX-License-Identifier: Apache-2.0 */
/* measure.h - what the files that measure counters of kernels share (`headway kernels`).
 *
 *   measure.c         the subscription, the callbacks on launches, which launch is measured
 *   measure_plan.c    reads the plan and finds the target of a launch
 *   measure_ranges.c  counters of a launch: CUPTI's range profiler
 *   measure_source.c  program counters of a launch: CUPTI's PC sampling, and the code of modules
 *   measure_answer.c  writes what was found to the run directory
 *
 * Nothing of this runs in `headway profile`: a process either records or measures. One launch is
 * measured at a time; the program's other launches wait meanwhile, because the profiler would
 * count them too.
 */
#ifndef HWY_COLLECT_KERNELS_MEASURE_H
#define HWY_COLLECT_KERNELS_MEASURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collect/abi/cupti.h"
#include "collect/abi/cupti_profiler.h"
#include "spool/kernels_plan.h"

struct measure_launch { /* the launch that a callback is about */
	const char *symbol;
	const uint32_t *grid, *block;
	uint32_t shared;
	void *stream, *context;
};

struct measure_context {
	void *context;   /* the driver's context; NULL: this entry is free */
	void *profiler;  /* CUPTI's object; NULL: the context is not enabled */
	char chip[32];   /* the name of the device's chip */
	uint32_t device; /* the device's number */
	uint8_t *image;  /* counter data of one range */
	size_t bytes;    /* of 'image' */
	uint32_t row;    /* the plan's chip that 'image' is for; UINT32_MAX: none yet */
	bool is_refused; /* nothing can be measured in this context; a note says why */
};

struct measure {
	struct cupti_range_functions range;
	struct cupti_pc_functions pc;
	const struct kernels_plan *plan; /* in memory of our own; never changed */
	_Atomic bool is_on;              /* false: nothing more is measured in this process */
	uint32_t rank;
	/* What is being measured: guarded by the measuring lock of measure.c. */
	uint32_t target;
	uint64_t ordinal;
	uint32_t set; /* which counters */
};
extern struct measure measure;

/* ---- measure.c ---- */
/* Begins to measure where the run asks for it: called in InitializeInjection; false: the run
 * records. */
bool measure_begin(void);
void measure_after_fork(void);

/* ---- measure_plan.c ---- */
/* Reads the plan of the run; false: there is none, or it is damaged. */
bool measure_plan_read(void);
/* The index of the launch's target in the plan, or UINT32_MAX. */
uint32_t measure_plan_find(const struct measure_launch *launch);
/* Counts a launch of a target; true where it is to be measured, with the counters of 'set'. */
bool measure_plan_count(uint32_t target, uint64_t *ordinal, uint32_t *set);
/* Says that a measurement is done; true where it was the last of the plan. */
bool measure_plan_done(uint32_t target);
bool measure_plan_has_symbol(const char *symbol);
const char *measure_plan_text(uint64_t place);
const struct kernels_plan_target *measure_plan_target(uint32_t index);
const struct kernels_plan_chip *measure_plan_chip(uint32_t index);
/* The index of what is collected on a chip as one set, or UINT32_MAX. */
uint32_t measure_plan_row(const char *chip, uint32_t set);

/* ---- measure_ranges.c ---- */
bool measure_ranges_load(void *library);
bool measure_ranges_start(struct measure_context *context);
/* Ends what measure_ranges_start began; true where the counters were read and written. */
bool measure_ranges_stop(struct measure_context *context);
void measure_ranges_leave(struct measure_context *context);

/* ---- measure_source.c ---- */
bool measure_source_load(void *library);
/* Begins to sample in a context, until measure_source_leave. */
bool measure_source_start(struct measure_context *context);
void measure_source_leave(struct measure_context *context);
/* Keeps the code of a module that holds a chosen kernel. */
void measure_source_module(const struct cupti_module *module);

/* ---- measure_answer.c ---- */
/* Appends an answer about the launch that is measured. */
bool measure_answer(enum kernels_answer_type type, uint32_t device, uint64_t number, uint32_t value,
		    const void *payload, uint64_t bytes);
/* Says once why something cannot be measured; 'result' is CUPTI's, or 0. */
void measure_note(int result, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Tells the parent that a measurement runs, or that none does any more. */
void measure_watch(bool runs);
void measure_answer_after_fork(void);

#endif
