/* SPDX-License-Identifier: Apache-2.0 */
/* samples_of.c - prints the CPU's side of a report: samples_of FILE.
 *
 *   sample PID THREAD function file:line < function file:line …     innermost first
 *   state PID TID THREAD START END name reason
 *   wake TID TID                                                    who woke whom
 */
#include "print.h"

static void print_sample(const struct hwy_trace *trace, const struct hwy_strip *strip, uint32_t row)
{
	printf("sample %" PRId64 " %s", pid_of(trace, strip),
	       hwy_str(trace, thread_of(trace, strip)->name));
	print_stack(trace, strip, row, "");
}

static void print_state(const struct hwy_trace *trace, const struct hwy_strip *strip, uint32_t row)
{
	int64_t start = hwy_get(strip, HWY_START, row);
	printf("state %" PRId64 " %" PRId64 " %s %" PRId64 " %" PRId64 " %s %s\n",
	       pid_of(trace, strip), thread_of(trace, strip)->tid,
	       hwy_str(trace, thread_of(trace, strip)->name), start,
	       start + hwy_get(strip, HWY_DUR, row), hwy_str(trace, hwy_get(strip, HWY_NAME, row)),
	       hwy_str(trace, hwy_get(strip, HWY_REASON, row)));
}

static int64_t tid_of_span(const struct hwy_trace *trace, int64_t span)
{
	uint32_t row;
	return thread_of(trace, hwy_strip_of(trace, (uint32_t)span, &row))->tid;
}

int main(int argc, char **argv)
{
	struct hwy_trace *trace =
		open_trace(argc, argv, HWY_KIND_BIT(HWY_SAMPLE) | HWY_KIND_BIT(HWY_STATE));
	if (!trace)
		return 2;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		for (uint32_t row = 0; row < trace->strips[s].rows; row++)
			if (trace->strips[s].kind == HWY_SAMPLE)
				print_sample(trace, &trace->strips[s], row);
			else if (trace->strips[s].kind == HWY_STATE)
				print_state(trace, &trace->strips[s], row);
	for (uint32_t e = 0; e < trace->n_edges; e++)
		if (trace->edges[e].kind == HWY_EDGE_WAKE)
			printf("wake %" PRId64 " %" PRId64 "\n",
			       tid_of_span(trace, trace->edges[e].from),
			       tid_of_span(trace, trace->edges[e].to));
	hwy_trace_free(trace);
	return 0;
}
