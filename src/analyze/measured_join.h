/* SPDX-License-Identifier: Apache-2.0 */
/* measured_join.h - counters that another tool read, as part of a recording of the same program.
 *
 *   struct hwy_trace *counters = import_ncu("kernels.csv", NULL, err);
 *   struct joined_counters joined;
 *   if (measured_join(report, counters, &joined, err))
 *           printf("%u of %u kernels\n", joined.found, joined.kernels);
 *
 * Tools write a kernel's name in different ways: with or without parameters and template
 * arguments, with casts in them ("(int)4"), as the linker has it. A measured kernel belongs to
 * the recording's kernel of the same name once these differences are gone, and of the same grid
 * and block; where only the function's own name is the same, no other kernel may fit.
 */
#ifndef HWY_ANALYZE_MEASURED_JOIN_H
#define HWY_ANALYZE_MEASURED_JOIN_H

#include "trace/trace.h"

struct joined_counters {
	uint32_t kernels;  /* rows of 'measured' in the other trace */
	uint32_t found;    /* and those that are kernels of the recording */
	char missing[128]; /* the name of the first that is not; "" where all were found */
};

/* Adds the measured kernels of 'from' to 'report', and takes out what the same tool had measured
 * of the same kernels. */
bool measured_join(struct hwy_trace *report, const struct hwy_trace *from,
		   struct joined_counters *joined, struct hwy_err *err);

/* A name without what differs between tools: "f<4,true>(int)" and "void f<(int)4, (bool)1>(T1)"
 * both become "f<4,1>". The text is to be freed. */
char *measured_join_name(const char *name);

#endif
