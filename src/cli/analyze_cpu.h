/* SPDX-License-Identifier: Apache-2.0 */
/* analyze_cpu.h - where the time of a program on the CPU alone went, for analyze_contents.c. */
#ifndef HWY_CLI_ANALYZE_CPU_H
#define HWY_CLI_ANALYZE_CPU_H

#include <stdio.h>

#include "trace/trace.h"

/* Each writes a line without its end, and nothing where the recording does not tell: what the
 * thread that ran longest did, and the lines in which most samples were taken. */
void analyze_cpu_put_thread(FILE *out, struct hwy_trace *trace);
void analyze_cpu_put_lines(FILE *out, struct hwy_trace *trace);

struct analyze_collections {
	int64_t n, ns;
};
/* How often, and for how many ns, Python collected garbage. */
struct analyze_collections analyze_cpu_collections(struct hwy_trace *trace);
/* Whether a range, with its domain, is such a collection: it is recorded as one, and is none of
 * the program's. */
bool analyze_cpu_is_collection(struct hwy_text name);

#endif
