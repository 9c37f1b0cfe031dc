/* SPDX-License-Identifier: Apache-2.0 */
/* ingest_opencl.c - adds the spans of OpenCL commands and of waits for them, with the devices'
 * times on our clock.
 *
 * The four times of a command are on its device's clock, and OpenCL does not say which clock that
 * is. But a command is queued while the call that enqueues it runs, and it has ended when the
 * recorder first saw it as complete. So each command bounds the offset between the clocks from both
 * sides. Where one of the system's clocks keeps within all these bounds, as with runtimes for CPUs
 * (PoCL uses CLOCK_MONOTONIC_RAW), the recorded snapshots of that clock are used; else a fit
 * (clocks.h). If a runtime means something else by "queued", the bounds contradict each other: then
 * only bounds that hold for every runtime are used (no start before the call, no end after the
 * command was seen as complete). In the trace queued <= submitted <= start <= end holds, between
 * the call's start and the moment the command was seen as complete.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ingest/clocks.h"
#include "ingest/ingest_internal.h"

static_assert(REC_STREAM_IN_ORDER == (int)HWY_STREAM_IN_ORDER &&
		      REC_STREAM_OUT_OF_ORDER == (int)HWY_STREAM_OUT_OF_ORDER,
	      "records and traces number the order of a queue alike");

enum { SNAPSHOT_SLACK_NS = 2000 }; /* the error in ns of a snapshot of the system's clocks */

struct command {
	const struct rec_command *record;
	uint32_t process;
	/* end_limit: ns when a wait for the command returned, which the command's end precedes;
	 * INT64_MAX: nobody waited. */
	int64_t end_limit;
};
struct depends {
	const struct rec_depends *record;
	uint32_t process;
};
struct ingest_opencl {
	struct command *commands;
	uint32_t n, cap;
	struct depends *depends;
	uint32_t n_depends, cap_depends;
	struct hwy_map span_of; /* maps a command_key to an index into 'spans' */
	struct hwy_ref *spans;
	uint32_t n_spans, cap_spans;
};

static struct ingest_opencl *ingest_opencl_state(struct ingest *in)
{
	if (!in->opencl)
		in->opencl = hwy_zalloc(sizeof *in->opencl);
	return in->opencl;
}

void ingest_opencl_add(struct ingest *in, uint32_t process, const struct rec_head *record)
{
	struct ingest_opencl *state = ingest_opencl_state(in);
	if (record->type == REC_COMMAND) {
		HWY_GROW(state->commands, state->n, state->cap);
		state->commands[state->n++] =
			(struct command){(const void *)record, process, INT64_MAX};
		return;
	}
	HWY_GROW(state->depends, state->n_depends, state->cap_depends);
	state->depends[state->n_depends++] = (struct depends){(const void *)record, process};
}

/* ---- clocks
 * ---------------------------------------------------------------------------------------- */

/* Times beyond these limits are damage; differences of times within them are small enough for
 * clocks.h. */
static const uint64_t LATEST_FOREIGN_NS = UINT64_C(1) << 61;
static const int64_t LATEST_OURS_NS = INT64_C(1) << 60;

static bool ingest_opencl_is_ours(const struct ingest *in, int64_t time)
{
	return ingest_is_time(in, time) && time < LATEST_OURS_NS;
}

static bool has_times(const struct ingest *in, const struct rec_command *c)
{
	return c->head.flags != REC_COMMAND_WAIT && c->queued < LATEST_FOREIGN_NS &&
	       c->submitted < LATEST_FOREIGN_NS && c->start && c->start < LATEST_FOREIGN_NS &&
	       c->end && c->end < LATEST_FOREIGN_NS && ingest_opencl_is_ours(in, c->before) &&
	       ingest_opencl_is_ours(in, c->after) && ingest_opencl_is_ours(in, c->seen);
}

/* Writes the bounds that the commands of one device and process give, two for each; yields their
 * number. 'by_queued': "queued" is taken to lie within the enqueuing call. */
static uint32_t gather_sights(const struct ingest *in, const struct command *commands, uint32_t n,
			      bool by_queued, struct clocks_sight *sights)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct rec_command *c = commands[i].record;
		if (!has_times(in, c))
			continue;
		int64_t queued = (int64_t)c->queued, start = (int64_t)c->start;
		if (by_queued && queued)
			sights[count++] = (struct clocks_sight){queued, c->before - queued,
								c->after - queued};
		else
			sights[count++] =
				(struct clocks_sight){start, c->before - start, CLOCKS_OPEN_HIGH};
		sights[count++] = (struct clocks_sight){(int64_t)c->end, CLOCKS_OPEN_LOW,
							c->seen - (int64_t)c->end};
	}
	return count;
}

/* Yields the name of the system clock whose times fit all observations of the device's clock,
 * and its fit; NULL: no clock fits. */
static const char *system_clock(const struct ingest *in, const struct clocks_sight *sights,
				uint32_t n, struct clocks_fit *fit)
{
	static const char *const names[] = {"CLOCK_MONOTONIC", "CLOCK_MONOTONIC_RAW",
					    "CLOCK_REALTIME"};
	if (in->clocks.n == 0)
		return NULL;
	struct clocks_knot *moments = hwy_array(in->clocks.n, sizeof *moments);
	for (int which = 0; which < 3; which++) {
		uint32_t count = 0;
		for (uint32_t i = 0; i < in->clocks.n; i++) {
			const struct rec_clock *c = in->clocks.items[i];
			int64_t time = which == 0   ? c->monotonic
				       : which == 1 ? c->raw
						    : c->realtime;
			if (ingest_opencl_is_ours(in, c->monotonic) && time > 0 &&
			    (uint64_t)time < LATEST_FOREIGN_NS)
				moments[count++] = (struct clocks_knot){time, c->monotonic - time};
		}
		if (!count)
			continue;
		clocks_join(fit, moments, count);
		if (clocks_misses(fit, sights, n, SNAPSHOT_SLACK_NS) == 0) {
			free(moments);
			return names[which];
		}
		clocks_free(fit);
	}
	free(moments);
	return NULL;
}

static void add_clock_property(struct ingest *in, const struct rec_command *first,
			       const char *clock)
{
	char name[64];
	snprintf(name, sizeof name, "opencl.device.%u.clock", first->device - REC_OPENCL_DEVICE);
	hwy_add_property(in->b, name, clock);
}

/* Finds the line from the device's clock to ours; false when no command has times. */
static bool find_clock(struct ingest *in, const struct command *commands, uint32_t n,
		       struct clocks_fit *fit)
{
	struct clocks_sight *sights = hwy_array(2 * (size_t)n, sizeof *sights);
	uint32_t count = gather_sights(in, commands, n, true, sights);
	const char *name = count ? system_clock(in, sights, count, fit) : NULL;
	if (name) {
		add_clock_property(in, commands[0].record, name);
	} else if (count) {
		clocks_fit(fit, sights, count);
		if (fit->conflicts) {
			struct clocks_fit other;
			count = gather_sights(in, commands, n, false, sights);
			clocks_fit(&other, sights, count);
			bool better = other.worst < fit->worst;
			clocks_free(better ? fit : &other);
			*fit = better ? other : *fit;
		}
		if (fit->conflicts)
			ingest_note_diagnostic(
				in, 2, in->processes[commands[0].process].record,
				"the clock of an OpenCL device could not be followed: times of %u of "
				"its commands are wrong by up to %lld ns",
				fit->conflicts, (long long)fit->worst);
		add_clock_property(in, commands[0].record, "fitted");
	}
	free(sights);
	return count != 0;
}

/* ---- spans
 * ----------------------------------------------------------------------------------------- */

static uint64_t command_key(uint32_t process, uint32_t correlation)
{
	return (uint64_t)process << 32 | correlation;
}

static void keep_span(struct ingest_opencl *state, const struct command *command,
		      struct hwy_ref span)
{
	uint64_t key = command_key(command->process, command->record->correlation);
	*hwy_map_put(&state->span_of, key, NULL) = state->n_spans;
	HWY_GROW(state->spans, state->n_spans, state->cap_spans);
	state->spans[state->n_spans++] = span;
}

static uint32_t ingest_opencl_stream_of(struct ingest *in, const struct command *command)
{
	const struct rec_command *c = command->record;
	return target_stream(in, &in->processes[command->process], c->device, c->context, c->queue);
}

static int64_t not_before(int64_t time, int64_t least)
{
	return time < least ? least : time;
}
static int64_t not_after(int64_t time, int64_t most)
{
	return time > most ? most : time;
}

static enum hwy_kind put_columns(struct ingest *in, struct ingest_process *process,
				 const struct rec_command *c, struct hwy_row *row)
{
	switch (c->head.flags) {
	case REC_COMMAND_KERNEL: {
		uint32_t symbol_ref = ingest_cuda_symbol(in, process, c->head.value), symbol;
		row->v[HWY_NAME] = hwy_ref_to_index(symbol_ref, &symbol)
					   ? in->trace->symbols[symbol].demangled
					   : 0;
		row->v[HWY_SYMBOL] = symbol_ref;
		row->v[HWY_SHAPE] = hwy_ids_get(&process->shapes, c->shape);
		return HWY_KERNEL;
	}
	case REC_COMMAND_COPY:
		row->v[HWY_BYTES] = (int64_t)(c->bytes < LATEST_FOREIGN_NS ? c->bytes : 0);
		row->v[HWY_DIRECTION] = (c->head.value & 0xff) <= HWY_P2P
						? (int64_t)(c->head.value & 0xff)
						: HWY_DIR_UNKNOWN;
		row->v[HWY_SRC_MEMORY] = ingest_cuda_memory_kind(c->head.value >> 8 & 0xff);
		row->v[HWY_DST_MEMORY] = ingest_cuda_memory_kind(c->head.value >> 16 & 0xff);
		return HWY_COPY;
	case REC_COMMAND_FILL:
		row->v[HWY_BYTES] = (int64_t)(c->bytes < LATEST_FOREIGN_NS ? c->bytes : 0);
		row->v[HWY_VALUE] = c->head.value & 0xff;
		row->v[HWY_DST_MEMORY] = HWY_MEM_DEVICE;
		return HWY_FILL;
	default: row->v[HWY_FLAGS] = HWY_FLAG_MARK; return HWY_EVENT;
	}
}

static void add_command(struct ingest *in, const struct command *command,
			const struct clocks_fit *fit)
{
	const struct rec_command *c = command->record;
	struct hwy_row row = {0};
	if (!has_times(in, c)) {
		in->no_time++;
		return;
	}
	int64_t seen = not_before(not_after(c->seen, command->end_limit), c->before);
	int64_t queued = c->queued ? clocks_to_ours(fit, (int64_t)c->queued) : c->before;
	queued = not_before(not_after(not_after(queued, c->after), seen), c->before);
	int64_t submitted = c->submitted ? clocks_to_ours(fit, (int64_t)c->submitted) : queued;
	int64_t end = not_before(not_after(clocks_to_ours(fit, (int64_t)c->end), seen), queued);
	int64_t start = not_after(not_before(clocks_to_ours(fit, (int64_t)c->start), queued), end);
	submitted = not_after(not_before(submitted, queued), start);
	enum hwy_kind kind = put_columns(in, &in->processes[command->process], c, &row);
	if (kind == HWY_EVENT)
		start = end;
	if (!ingest_times(in, start, end - start, &row))
		return;
	row.v[HWY_CORR] = c->correlation;
	row.v[HWY_QUEUED] = queued - in->epoch;
	row.v[HWY_SUBMITTED] = submitted - in->epoch;
	uint32_t lane =
		hwy_add_stream_lane(in->b, HWY_LANE_STREAM, ingest_opencl_stream_of(in, command));
	keep_span(in->opencl, command, hwy_add_span(in->b, lane, kind, &row));
}

static void ingest_opencl_add_wait(struct ingest *in, const struct command *command)
{
	const struct rec_command *c = command->record;
	struct hwy_row row = {0};
	if (!ingest_is_time(in, c->before) || !ingest_is_time(in, c->after) ||
	    !ingest_times(in, c->before, c->after - c->before, &row))
		return;
	uint32_t stream = ingest_opencl_stream_of(in, command);
	row.v[HWY_CORR] = c->correlation;
	row.v[HWY_SYNC_TYPE] = c->head.value ? HWY_SYNC_EVENT : HWY_SYNC_STREAM;
	row.v[HWY_WAITED] = hwy_ref(stream);
	uint32_t lane = hwy_add_stream_lane(in->b, HWY_LANE_SYNC, stream);
	keep_span(in->opencl, command, hwy_add_span(in->b, lane, HWY_SYNC, &row));
}

/* ---- limits that waits give
 * ------------------------------------------------------------------------- */

/* Waits for events. The times that a vendor reports may be microseconds off; but when a wait
 * returns, the commands that it waited for have ended. */
static void note_event_waits(struct ingest_opencl *state)
{
	struct hwy_map command_of = {0}; /* maps a command_key to an index into state->commands */
	for (uint32_t i = 0; i < state->n; i++) {
		const struct command *command = &state->commands[i];
		uint64_t key = command_key(command->process, command->record->correlation);
		*hwy_map_put(&command_of, key, NULL) = i;
	}
	for (uint32_t d = 0; d < state->n_depends; d++) {
		const struct rec_depends *record = state->depends[d].record;
		uint32_t process = state->depends[d].process;
		const uint32_t *wait =
			hwy_map_get(&command_of, command_key(process, record->correlation));
		if (!wait || state->commands[*wait].record->head.flags != REC_COMMAND_WAIT)
			continue;
		int64_t returned = state->commands[*wait].record->after;
		for (uint32_t i = 0; i < record->head.value; i++) {
			const uint32_t *index =
				hwy_map_get(&command_of, command_key(process, record->on[i]));
			struct command *waited = index ? &state->commands[*index] : NULL;
			if (waited)
				waited->end_limit = not_after(waited->end_limit, returned);
		}
	}
	hwy_map_free(&command_of);
}

/* clFinish waits for all commands of a queue that were enqueued before it. 'commands' are those of
 * a device, in the order of their calls. */
static void note_queue_waits(struct command *commands, uint32_t n)
{
	struct hwy_map next = {0}; /* maps a queue to the index of the next wait for the queue */
	for (uint32_t i = n; i-- > 0;) {
		const struct rec_command *c = commands[i].record;
		if (c->head.flags == REC_COMMAND_WAIT) {
			if (c->head.value == 0)
				*hwy_map_put(&next, c->queue, NULL) = i;
			continue;
		}
		const uint32_t *wait = hwy_map_get(&next, c->queue);
		if (wait && commands[*wait].record->before >= c->after)
			commands[i].end_limit =
				not_after(commands[i].end_limit, commands[*wait].record->after);
	}
	hwy_map_free(&next);
}

static int by_device(const void *left, const void *right)
{
	const struct command *a = left, *b = right;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->record->device != b->record->device)
		return a->record->device < b->record->device ? -1 : 1;
	return (a->record->before > b->record->before) - (a->record->before < b->record->before);
}

static void add_edges(struct ingest *in, struct ingest_opencl *state, const struct depends *depends)
{
	const struct rec_depends *record = depends->record;
	const uint32_t *to =
		hwy_map_get(&state->span_of, command_key(depends->process, record->correlation));
	for (uint32_t i = 0; to && i < record->head.value; i++) {
		const uint32_t *from =
			hwy_map_get(&state->span_of, command_key(depends->process, record->on[i]));
		if (from)
			hwy_add_edge(in->b, HWY_EDGE_EVENT, state->spans[*from], state->spans[*to],
				     record->on[i]);
	}
}

void ingest_opencl_finish(struct ingest *in)
{
	struct ingest_opencl *state = in->opencl;
	if (!state)
		return;
	if (state->n)
		qsort(state->commands, state->n, sizeof *state->commands, by_device);
	note_event_waits(state);
	for (uint32_t first = 0, n; first < state->n; first += n) {
		struct command *group = &state->commands[first];
		for (n = 1; first + n < state->n && group[n].process == group->process &&
			    group[n].record->device == group->record->device;)
			n++;
		note_queue_waits(group, n);
		struct clocks_fit fit = {0};
		bool has_clock = find_clock(in, group, n, &fit);
		for (uint32_t i = 0; i < n; i++)
			if (group[i].record->head.flags == REC_COMMAND_WAIT)
				ingest_opencl_add_wait(in, &group[i]);
			else if (has_clock)
				add_command(in, &group[i], &fit);
			else
				in->no_time++;
		clocks_free(&fit);
	}
	for (uint32_t i = 0; i < state->n_depends; i++)
		add_edges(in, state, &state->depends[i]);
	hwy_map_free(&state->span_of);
	free(state->spans);
	free(state->commands);
	free(state->depends);
	free(state);
	in->opencl = NULL;
}
