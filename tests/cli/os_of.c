/* SPDX-License-Identifier: Apache-2.0 */
/* os_of.c - prints the calls into the operating system of a report: os_of FILE.
 *
 * A line a call: CALL, pid, thread's name, call, start, duration, nesting, flags, object in hexadecimal, and
 * " < function file:line" for each frame, the innermost first. Then a line a wake: WAKE, pid and call of who woke,
 * pid, call and start of who was woken.
 */
#include "print.h"

static void print_call(const struct hwy_trace *trace, const struct hwy_strip *strip, uint32_t row)
{
	printf("CALL %" PRId64 " %s %s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRIx64,
	       pid_of(trace, strip), hwy_str(trace, thread_of(trace, strip)->name),
	       hwy_str(trace, hwy_get(strip, HWY_NAME, row)), hwy_get(strip, HWY_START, row),
	       hwy_get(strip, HWY_DUR, row), hwy_get(strip, HWY_NESTING, row),
	       hwy_get(strip, HWY_FLAGS, row), (uint64_t)hwy_get(strip, HWY_ADDRESS, row));
	print_stack(trace, strip, row, " <");
}

static void print_wake(const struct hwy_trace *trace, const struct hwy_edge *edge)
{
	uint32_t at, woken;
	if (edge->kind != HWY_EDGE_WAKE)
		return;
	const struct hwy_strip *from = hwy_strip_of(trace, (uint32_t)edge->from, &at);
	const struct hwy_strip *to = hwy_strip_of(trace, (uint32_t)edge->to, &woken);
	if (from->kind != HWY_OS)
		return;
	printf("WAKE %" PRId64 " %s %" PRId64 " %s %" PRId64 "\n", pid_of(trace, from),
	       hwy_str(trace, hwy_get(from, HWY_NAME, at)), pid_of(trace, to),
	       hwy_str(trace, hwy_get(to, HWY_NAME, woken)), hwy_get(to, HWY_START, woken));
}

int main(int argc, char **argv)
{
	struct hwy_trace *trace = open_trace(argc, argv, HWY_KIND_BIT(HWY_OS));
	if (!trace)
		return 2;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		for (uint32_t row = 0;
		     trace->strips[s].kind == HWY_OS && row < trace->strips[s].rows; row++)
			print_call(trace, &trace->strips[s], row);
	for (uint32_t e = 0; e < trace->n_edges; e++)
		print_wake(trace, &trace->edges[e]);
	hwy_trace_free(trace);
	return 0;
}
