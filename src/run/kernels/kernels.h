/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.h - runs a program to measure counters of chosen launches inside it.
 *
 *   struct kernels_order order = {.n_targets = n}; // and what to measure, and the program
 *   struct kernels_found found = {0};
 *   bool done = kernels_run(&order, &found, err);
 *   for (uint32_t i = 0; done && i < found.n_launches; i++)
 *           printf("%s: %g\n", order.targets[found.launches[i].target].symbol, found.launches[i].values[0]);
 *   kernels_found_free(&found);
 *
 * A launch is recognised by the kernel's symbol, its grid, block and dynamic shared memory, and
 * by how many such launches came before it in its process. Counters are read by the collector
 * inside the program (collect/kernels/) and evaluated here, in a child process, when the program
 * has ended.
 */
#ifndef HWY_RUN_KERNELS_KERNELS_H
#define HWY_RUN_KERNELS_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "run/inherited.h"

enum {
	KERNELS_MOST = 12, /* how many names and shapes are measured where nobody says a number */
	/* How many launches of each; of a kernel that is not repeated, at least so many as there
	 * are passes. */
	KERNELS_LAUNCHES = 1,
	KERNELS_LAUNCHES_APART = 16,
};

enum kernels_replay {
	/* A launch is repeated in place where that is safe. Kernels that wait for other kernels
	 * are not repeated: each of their launches gives some of the counters. */
	KERNELS_REPLAY_AUTO,
	KERNELS_REPLAY_KERNEL, /* all launches are repeated in place, in one run */
	/* No launch is repeated; the program runs again where it has too few launches. */
	KERNELS_REPLAY_APPLICATION,
};

/* The counters that are read where nobody says others, those that matter most first; NULL at the
 * end. */
extern const char *const kernels_metrics[];
/* Whether a counter places a kernel under the roof: its time, bytes, operations, occupancy and
 * how busy the units are. */
bool kernels_metric_is_of_roofline(const char *metric);
/* Fills in the values that follow from others, for a kernel whose launches are all in: 'values'
 * by the metrics. */
void kernels_metrics_complete(const char *const *metrics, uint32_t n, double *values);

struct kernels_target {                     /* launches to measure: of one symbol and shape */
	const char *symbol;                 /* the kernel's mangled name, as the driver has it */
	uint32_t grid[3], block[3], shared; /* 'shared': bytes of dynamic shared memory */
	/* The ordinals of the launches, ascending: how many launches of this symbol and shape
	 * came before in the process. */
	const uint64_t *ordinals;
	uint32_t n_ordinals;
	bool talks; /* the kernel waits for other kernels: it must not be repeated in place */
	bool plain; /* the kernel uses no tensor cores: their operations need not be counted */
};

struct kernels_order {
	const struct kernels_target *targets;
	uint32_t n_targets;
	const char *const *metrics; /* wished counters, those that matter most first */
	uint32_t n_metrics;
	/* The compute capability of the devices, 90 for 9.0, 0 at the end; it narrows which
	 * chips are prepared. */
	const uint32_t *compute;
	const char *cupti; /* path of the libcupti that the recording used, or NULL */
	enum kernels_replay replay;
	bool source; /* sample program counters too */
	char *const *program;
	/* What the program inherits: inherited_take was called first of all. */
	const struct inherited *inherited;
};

struct kernels_launch { /* a launch that was measured */
	uint32_t target;
	uint32_t device; /* the device's number in its process */
	uint32_t pid;
	uint64_t ordinal;
	/* By the metrics of the order; not a number: the chip has no such counter, or it was not
	 * read. */
	double *values;
};

struct kernels_line { /* samples of program counters on one source line */
	char *symbol; /* the kernel's mangled name */
	char *file;   /* NULL: no line information */
	uint32_t line;
	char *reason;
	uint64_t samples;
};

struct kernels_found {
	struct kernels_launch *launches;
	uint32_t n_launches, cap_launches;
	struct kernels_line *lines;
	uint32_t n_lines, cap_lines;
	char **notes; /* sentences about what could not be measured */
	uint32_t n_notes, cap_notes;
	uint32_t runs; /* how often the program ran */
	bool ran;
	int status;     /* of the last run that did not end well, else 0, as waitpid gives it */
	bool was_ended; /* by us, because a measurement did not end; a note says so */
};

bool kernels_run(const struct kernels_order *order, struct kernels_found *found,
		 struct hwy_err *err);
void kernels_found_free(struct kernels_found *found);

#endif
