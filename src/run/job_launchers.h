/* SPDX-License-Identifier: Apache-2.0 */
/* job_launchers.h - programs that start the ranks of a job, and where in their command line the
 * ranks' program begins.
 *
 *   struct launcher_found found = launchers_look(words);
 *   if (found.kind == LAUNCHER_RANKS && !found.doubt)
 *           printf("%s starts %s\n", found.name, words[found.programs[0]]);
 *
 * mpirun, srun and the like may start ranks on other hosts: what is to happen to each rank must
 * stand in front of its program. torchrun and the like start ranks of this host only, as their
 * children.
 */
#ifndef HWY_RUN_JOB_LAUNCHERS_H
#define HWY_RUN_JOB_LAUNCHERS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum launcher_kind {
	LAUNCHER_NONE,  /* a program like any other */
	LAUNCHER_RANKS, /* starts ranks, on any host */
	LAUNCHER_TREE,  /* starts the ranks of this host as its descendants */
};

enum { LAUNCHER_MOST_PROGRAMS = 64 };
struct launcher_found {
	enum launcher_kind kind;
	const char *name; /* "mpirun", "srun", "torchrun" … */
	/* Where programs begin, as indexes of words: several where a job has several programs
	 * (':'). */
	uint32_t programs[LAUNCHER_MOST_PROGRAMS];
	uint32_t n_programs;
	/* The word because of which the place of a program cannot be told; NULL: all places are
	 * known. */
	const char *doubt;
};

/* Looks at a command line, which ends with NULL. */
struct launcher_found launchers_look(char *const *words);

/* Finds the file that a command stands for, as a shell does, and follows links; false: there is
 * none. */
bool launchers_find_file(const char *command, char real[PATH_MAX]);

#endif
