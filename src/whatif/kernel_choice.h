/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_choice.h - which kernels of a recording are worth measuring, and which of their
 * launches.
 *
 *   struct kernel_choices choices;
 *   struct kernel_choice_options options = {.most = 12, .launches = 1, .launches_apart = 16};
 *   bool made = kernel_choice_make(&choices, trace, &options, err);
 *   for (uint32_t i = 0; made && i < choices.n; i++)
 *           puts(choices.list[i].symbol);
 *   kernel_choice_free(&choices);
 *
 * Kernels matter by the time that they take of the steady steps, or of the critical path through
 * them, whichever is more. A kernel is a name with a grid, a block and an amount of dynamic
 * shared memory: that is all that a launch shows before it runs. Launches are named by their
 * ordinal, which counts launches of the same kernel from the begin of their process on; they are
 * taken from the steady steps, spread evenly: those of plain kernels from the first third, of
 * others from the second, and of kernels that must not be repeated from the last, because to
 * read other counters than before costs time. Kernels that a graph launches are measured where
 * the program launches them without a graph, in its warm-up.
 */
#ifndef HWY_WHATIF_KERNEL_CHOICE_H
#define HWY_WHATIF_KERNEL_CHOICE_H

#include "analyze/phases/phases.h"

struct kernel_choice {
	int64_t name;       /* text: as HWY_NAME of the kernel's spans */
	uint32_t shape;     /* index into shapes: one of those that the kernel's spans have */
	int64_t device;     /* index into devices, or HWY_NONE */
	const char *symbol; /* the mangled name, which belongs to the trace */
	uint64_t *ordinals; /* ascending */
	uint32_t n_ordinals;
	uint64_t launches; /* how many launches lie in the steady steps */
	int64_t ns;        /* their time */
	int64_t path_ns;   /* the part of the critical path that is theirs */
	bool talks;        /* the kernel communicates: it waits for kernels of other devices */
	bool plain;        /* the kernel uses no tensor cores, by its name */
};

struct kernel_choices {
	struct kernel_choice *list; /* those that matter most first */
	uint32_t n;
	int64_t ns; /* time of all kernels in the steady steps */
	/* Time of kernels that are launched by graphs alone, and so cannot be measured. */
	int64_t graph_ns;
	/* A kernel that runs for most of the steady time in one launch, and is left out unless
	 * it is named: it may wait for the CPU, which waits for the launch while it is measured.
	 * HWY_NONE: there is none. */
	int64_t endless;
};

struct kernel_choice_options {
	const char *step;  /* the marks that are steps; NULL: found */
	const char *name;  /* only kernels whose name contains this text; NULL: any */
	uint32_t most;     /* how many kernels */
	uint32_t launches; /* how many launches of each */
	/* how many of a kernel that communicates, which must not be repeated */
	uint32_t launches_apart;
};

bool kernel_choice_make(struct kernel_choices *choices, struct hwy_trace *trace,
			const struct kernel_choice_options *options, struct hwy_err *err);
void kernel_choice_free(struct kernel_choices *choices);

#endif
