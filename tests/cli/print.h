/* SPDX-License-Identifier: Apache-2.0 */
/* print.h - what the programs share that print reports for CLI tests: whose a strip is, and its stacks. */
#ifndef HWY_TESTS_PRINT_H
#define HWY_TESTS_PRINT_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/file.h"

static inline const struct hwy_thread *thread_of(const struct hwy_trace *trace,
						 const struct hwy_strip *strip)
{
	return &trace->threads[trace->lanes[strip->lane].thread];
}

static inline int64_t pid_of(const struct hwy_trace *trace, const struct hwy_strip *strip)
{
	return trace->processes[thread_of(trace, strip)->process].pid;
}

/* " function file:line" for each frame of a span, the innermost first, with " <" between them. */
static inline void print_stack(const struct hwy_trace *trace, const struct hwy_strip *strip,
			       uint32_t row, const char *before)
{
	for (int64_t at = hwy_get(strip, HWY_STACK, row); at > 0;
	     at = trace->stacks[at - 1].parent) {
		const struct hwy_frame *frame = &trace->frames[trace->stacks[at - 1].frame];
		const char *file = hwy_str(trace, frame->file), *slash = strrchr(file, '/');
		printf("%s %s %s:%d", before, hwy_str(trace, frame->function),
		       slash ? slash + 1 : file, (int)frame->line);
		before = " <";
	}
	putchar('\n');
}

/* The file's trace with all columns of these kinds. */
static inline struct hwy_trace *open_trace(int argc, char **argv, uint32_t kinds)
{
	struct hwy_err err = {"which file?"};
	struct hwy_trace *trace = argc == 2 ? hwy_file_open(argv[1], &err) : NULL;
	if (trace && hwy_need(trace, kinds, UINT64_MAX, &err))
		return trace;
	fprintf(stderr, "%s\n", err.text);
	return NULL;
}

#endif
