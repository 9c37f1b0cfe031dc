/* os_of.c - prints the calls into the operating system of a report: os_of FILE.
 *
 * A line a call: CALL, pid, thread's name, call, start, duration, nesting, flags, object in hexadecimal, and
 * " < function file:line" for each frame, the innermost first. Then a line a wake: WAKE, pid and call of who woke,
 * pid, call and start of who was woken.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/file.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static const struct hwy_thread *thread_of(const struct hwy_trace *trace,
					  const struct hwy_strip *strip)
{
	return &trace->threads[trace->lanes[strip->lane].thread];
}

static int64_t pid_of(const struct hwy_trace *trace, const struct hwy_strip *strip)
{
	return trace->processes[thread_of(trace, strip)->process].pid;
}

static void print_call(const struct hwy_trace *trace, const struct hwy_strip *strip, uint32_t row)
{
	printf("CALL %" PRId64 " %s %s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRIx64,
	       pid_of(trace, strip), hwy_str(trace, thread_of(trace, strip)->name),
	       hwy_str(trace, hwy_get(strip, HWY_NAME, row)), hwy_get(strip, HWY_START, row),
	       hwy_get(strip, HWY_DUR, row), hwy_get(strip, HWY_NESTING, row),
	       hwy_get(strip, HWY_FLAGS, row), (uint64_t)hwy_get(strip, HWY_ADDRESS, row));
	for (int64_t at = hwy_get(strip, HWY_STACK, row); at > 0;
	     at = trace->stacks[at - 1].parent) {
		const struct hwy_frame *frame = &trace->frames[trace->stacks[at - 1].frame];
		printf(" < %s %s:%d", hwy_str(trace, frame->function),
		       base_name(hwy_str(trace, frame->file)), (int)frame->line);
	}
	putchar('\n');
}

static const struct hwy_strip *strip_of(const struct hwy_trace *trace, int64_t span)
{
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (span >= (int64_t)trace->strips[s].first &&
		    span < (int64_t)(trace->strips[s].first + trace->strips[s].rows))
			return &trace->strips[s];
	return NULL;
}

static void print_wake(const struct hwy_trace *trace, const struct hwy_edge *edge)
{
	const struct hwy_strip *from = strip_of(trace, edge->from), *to = strip_of(trace, edge->to);
	if (edge->kind != HWY_EDGE_WAKE || !from || !to || from->kind != HWY_OS)
		return;
	uint32_t at = (uint32_t)(edge->from - (int64_t)from->first),
		 woken = (uint32_t)(edge->to - (int64_t)to->first);
	printf("WAKE %" PRId64 " %s %" PRId64 " %s %" PRId64 "\n", pid_of(trace, from),
	       hwy_str(trace, hwy_get(from, HWY_NAME, at)), pid_of(trace, to),
	       hwy_str(trace, hwy_get(to, HWY_NAME, woken)), hwy_get(to, HWY_START, woken));
}

int main(int argc, char **argv)
{
	struct hwy_err err = {""};
	struct hwy_trace *trace = argc == 2 ? hwy_file_open(argv[1], &err) : NULL;
	if (!trace || !hwy_need(trace, HWY_KIND_BIT(HWY_OS), UINT64_MAX, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 2;
	}
	for (uint32_t s = 0; s < trace->n_strips; s++)
		for (uint32_t row = 0;
		     trace->strips[s].kind == HWY_OS && row < trace->strips[s].rows; row++)
			print_call(trace, &trace->strips[s], row);
	for (uint32_t e = 0; e < trace->n_edges; e++)
		print_wake(trace, &trace->edges[e]);
	hwy_trace_free(trace);
	return 0;
}
