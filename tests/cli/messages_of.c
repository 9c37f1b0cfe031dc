/* SPDX-License-Identifier: Apache-2.0 */
/* messages_of.c - prints what ranks exchanged in a report: messages_of FILE.
 *
 * A line for each name of a call: CALLS, rank, name, number of calls, their bytes. A line a message: MESSAGE, rank, operation,
 * peer, tag, bytes sent, bytes received, elements, datatype, ranks of the communicator ("?": not known). Then lines that tell
 * more about each: VIA, rank, operation, sequence, name of the communicator, call that asked, call that awaited
 * ("-": none), whether it ends not before it starts. A line a ping: PING, rank, peer, error, and by how many ns the peer's clock is
 * before this one. A line for each call with a stack: STACK, rank, name and " < function file:line" for each frame. "-" is a
 * number that is not known.
 */
#include <stdlib.h>

#include "print.h"

static void print_number(int64_t number)
{
	if (number == HWY_NONE)
		printf(" -");
	else
		printf(" %" PRId64, number);
}

static const char *text_of(const struct hwy_trace *trace, int64_t text)
{
	return text == HWY_NONE || text == 0 ? "?" : hwy_str(trace, (uint32_t)text);
}

static const char *call_of(const struct hwy_trace *trace, int64_t span)
{
	uint32_t row;
	if (span == HWY_NONE)
		return "-";
	const struct hwy_strip *strip = hwy_strip_of(trace, (uint32_t)span, &row);
	return hwy_str(trace, (uint32_t)hwy_get(strip, HWY_NAME, row));
}

static void print_message(const struct hwy_trace *trace, const struct hwy_message *m)
{
	const struct hwy_group *group = m->group == HWY_NONE ? NULL : &trace->groups[m->group];
	int64_t rank = trace->processes[m->process].rank;
	printf("MESSAGE %" PRId64 " %s", rank, text_of(trace, m->name));
	print_number(m->peer);
	print_number(m->tag);
	print_number(m->sent);
	print_number(m->received);
	print_number(m->count);
	printf(" %s %s\n", text_of(trace, m->datatype), group ? text_of(trace, group->ranks) : "?");
	printf("VIA %" PRId64 " %s", rank, text_of(trace, m->name));
	print_number(m->sequence);
	printf(" %s %s %s %s\n", group ? text_of(trace, group->name) : "?", call_of(trace, m->span),
	       call_of(trace, m->done),
	       m->end == HWY_NONE   ? "open"
	       : m->end >= m->start ? "ended"
				    : "BACKWARDS");
}

static int by_text(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Adds up the calls of one strip, by name. */
static void print_calls(const struct hwy_trace *trace, const struct hwy_strip *strip)
{
	const struct hwy_thread *thread = thread_of(trace, strip);
	int64_t rank = trace->processes[thread->process].rank;
	char **names = calloc(strip->rows + 1, sizeof *names);
	for (uint32_t row = 0; row < strip->rows; row++) {
		names[row] = (char *)hwy_str(trace, (uint32_t)hwy_get(strip, HWY_NAME, row));
		if (hwy_get(strip, HWY_STACK, row) <= 0)
			continue;
		printf("STACK %" PRId64 " %s", rank, names[row]);
		print_stack(trace, strip, row, " <");
	}
	qsort(names, strip->rows, sizeof *names, by_text);
	for (uint32_t from = 0, to; from < strip->rows; from = to) {
		int64_t bytes = 0;
		for (to = from; to < strip->rows && !strcmp(names[from], names[to]);)
			to++;
		for (uint32_t row = 0; row < strip->rows; row++)
			if (!strcmp(names[from],
				    hwy_str(trace, (uint32_t)hwy_get(strip, HWY_NAME, row))))
				bytes += hwy_get(strip, HWY_BYTES, row);
		printf("CALLS %" PRId64 " %s %u %" PRId64 "\n", rank, names[from], to - from,
		       bytes);
	}
	free(names);
}

int main(int argc, char **argv)
{
	struct hwy_trace *trace = open_trace(argc, argv, HWY_KIND_BIT(HWY_CALL));
	if (!trace)
		return 2;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (trace->strips[s].kind == HWY_CALL)
			print_calls(trace, &trace->strips[s]);
	for (uint32_t i = 0; i < trace->n_messages; i++)
		print_message(trace, &trace->messages[i]);
	const char *epoch = hwy_property(trace, "clock.epoch_ns");
	for (uint32_t i = 0; i < trace->n_pings; i++) {
		const struct hwy_ping *ping = &trace->pings[i];
		printf("PING %" PRId64 " %" PRId64 " %" PRId64 " %lld\n",
		       trace->processes[ping->process].rank, ping->peer, ping->error,
		       (long long)ping->peer_time - ping->time - (epoch ? atoll(epoch) : 0));
	}
	hwy_trace_free(trace);
	return 0;
}
