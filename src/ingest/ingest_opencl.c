/* ingest_opencl.c - OpenCL's commands and the waits for them: from the devices' clocks onto ours.
 *
 * A command's four times are by its device's clock. Which clock that is, nothing tells; but a command is queued
 * while the call that enqueues it runs, and has ended when it was first seen to have. So each command bounds
 * the clock's offset from both sides. Where the system's own clocks keep within all these bounds, as the CPU's
 * runtimes do (PoCL: CLOCK_MONOTONIC_RAW), the snapshots of that clock are used; else a fit (clocks.h).
 * A runtime whose "queued" is something else is found out by bounds that contradict each other: then only
 * what must hold anyway is used (no start before the call, no end after it was seen).
 * In the end queued <= submitted <= start <= end, within the call's start and the moment it was seen to end.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ingest/clocks.h"
#include "ingest/ingest_internal.h"

static_assert(REC_STREAM_IN_ORDER == (int)HWY_STREAM_IN_ORDER &&
		      REC_STREAM_OUT_OF_ORDER == (int)HWY_STREAM_OUT_OF_ORDER,
	      "the same numbers");

enum { SLACK = 2000 }; /* ns: between two snapshots of the system's clocks, and within one */

struct command {
	const struct rec_command *record;
	uint32_t process;
	int64_t ended; /* it had by then: a wait for it returned; INT64_MAX: not known */
};
struct depends {
	const struct rec_depends *record;
	uint32_t process;
};
struct opencl_state {
	struct command *commands;
	uint32_t n, cap;
	struct depends *depends;
	uint32_t n_depends, cap_depends;
	struct hwy_map span_of; /* process, correlation id -> index of refs, plus one */
	struct hwy_ref *refs;
	uint32_t n_refs, cap_refs;
};

static struct opencl_state *ingest_opencl_state_of(struct ingest *in)
{
	if (!in->opencl)
		in->opencl = hwy_zalloc(sizeof *in->opencl);
	return in->opencl;
}

void opencl_add(struct ingest *in, uint32_t process, const struct rec_head *record)
{
	struct opencl_state *state = ingest_opencl_state_of(in);
	if (record->type == REC_COMMAND) {
		HWY_GROW(state->commands, state->n, state->cap);
		state->commands[state->n++] =
			(struct command){(const void *)record, process, INT64_MAX};
		return;
	}
	HWY_GROW(state->depends, state->n_depends, state->cap_depends);
	state->depends[state->n_depends++] = (struct depends){(const void *)record, process};
}

/* ---- clocks ---------------------------------------------------------------------------------------- */

/* Differences of these stay within what clocks.h takes. */
static const uint64_t latest = UINT64_C(1) << 61;
static const int64_t latest_ours = INT64_C(1) << 60;

static bool ingest_opencl_is_ours(const struct ingest *in, int64_t time)
{
	return ingest_is_time(in, time) && time < latest_ours;
}

static bool has_times(const struct ingest *in, const struct rec_command *c)
{
	return c->head.flags != REC_COMMAND_WAIT && c->queued < latest && c->submitted < latest &&
	       c->start && c->start < latest && c->end && c->end < latest &&
	       ingest_opencl_is_ours(in, c->before) && ingest_opencl_is_ours(in, c->after) &&
	       ingest_opencl_is_ours(in, c->seen);
}

/* The bounds that the commands of one device and process give; two for each. */
static uint32_t ingest_opencl_gather(const struct ingest *in, const struct command *commands,
				     uint32_t n, bool by_queued, struct clocks_sight *sights)
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

/* The system's clock that keeps within all the sights; NULL: none does. */
static const char *system_clock(const struct ingest *in, const struct clocks_sight *sights,
				uint32_t n, struct clocks_fit *fit)
{
	static const char *const names[] = {"CLOCK_MONOTONIC", "CLOCK_MONOTONIC_RAW",
					    "CLOCK_REALTIME"};
	if (in->clocks.n == 0)
		return NULL;
	struct clocks_knot *moments = hwy_alloc(in->clocks.n * sizeof *moments);
	for (int which = 0; which < 3; which++) {
		uint32_t count = 0;
		for (uint32_t i = 0; i < in->clocks.n; i++) {
			const struct rec_clock *c = in->clocks.at[i];
			int64_t time = which == 0   ? c->monotonic
				       : which == 1 ? c->raw
						    : c->realtime;
			if (ingest_opencl_is_ours(in, c->monotonic) && time > 0 &&
			    (uint64_t)time < latest)
				moments[count++] = (struct clocks_knot){time, c->monotonic - time};
		}
		if (!count)
			continue;
		clocks_join(fit, moments, count);
		if (clocks_misses(fit, sights, n, SLACK) == 0) {
			free(moments);
			return names[which];
		}
		clocks_free(fit);
	}
	free(moments);
	return NULL;
}

static void say_clock(struct ingest *in, const struct rec_command *first, const char *clock)
{
	char name[64];
	snprintf(name, sizeof name, "opencl.device.%u.clock", first->device - REC_OPENCL_DEVICE);
	hwy_add_property(in->b, name, clock);
}

/* False when no command has times. */
static bool find_clock(struct ingest *in, const struct command *commands, uint32_t n,
		       struct clocks_fit *fit)
{
	struct clocks_sight *sights = hwy_alloc(2 * (size_t)n * sizeof *sights);
	uint32_t count = ingest_opencl_gather(in, commands, n, true, sights);
	const char *known = count ? system_clock(in, sights, count, fit) : NULL;
	if (known) {
		say_clock(in, commands[0].record, known);
	} else if (count) {
		clocks_fit(fit, sights, count);
		if (fit->conflicts) {
			struct clocks_fit other;
			count = ingest_opencl_gather(in, commands, n, false, sights);
			clocks_fit(&other, sights, count);
			bool better = other.worst < fit->worst;
			clocks_free(better ? fit : &other);
			*fit = better ? other : *fit;
		}
		if (fit->conflicts)
			ingest_say(
				in, 2, in->processes[commands[0].process].record,
				"the clock of an OpenCL device could not be followed: times of %u of "
				"its commands are wrong by up to %lld ns",
				fit->conflicts, (long long)fit->worst);
		say_clock(in, commands[0].record, "fitted");
	}
	free(sights);
	return count != 0;
}

/* ---- spans ----------------------------------------------------------------------------------------- */

static uint64_t ingest_opencl_key_of(uint32_t process, uint32_t correlation)
{
	return (uint64_t)process << 32 | correlation;
}

static void remember(struct opencl_state *state, const struct command *command, struct hwy_ref ref)
{
	HWY_GROW(state->refs, state->n_refs, state->cap_refs);
	state->refs[state->n_refs++] = ref;
	*hwy_map_put(&state->span_of,
		     ingest_opencl_key_of(command->process, command->record->correlation), NULL) =
		state->n_refs;
}

static uint32_t ingest_opencl_stream_of(struct ingest *in, const struct command *command)
{
	const struct rec_command *c = command->record;
	return target_stream(in, &in->processes[command->process], c->device, c->context, c->queue);
}

static int64_t at_least(int64_t time, int64_t least)
{
	return time < least ? least : time;
}
static int64_t at_most(int64_t time, int64_t most)
{
	return time > most ? most : time;
}

static enum hwy_kind put_columns(struct ingest *in, struct ingest_process *process,
				 const struct rec_command *c, struct hwy_row *row)
{
	switch (c->head.flags) {
	case REC_COMMAND_KERNEL: {
		uint32_t symbol = cuda_symbol(in, process, c->head.value);
		row->v[HWY_NAME] = symbol ? in->trace->symbols[symbol - 1].demangled : 0;
		row->v[HWY_SYMBOL] = symbol;
		row->v[HWY_SHAPE] = hwy_ids_get(&process->shapes, c->shape);
		return HWY_KERNEL;
	}
	case REC_COMMAND_COPY:
		row->v[HWY_BYTES] = (int64_t)(c->bytes < latest ? c->bytes : 0);
		row->v[HWY_DIRECTION] = (c->head.value & 0xff) <= HWY_P2P
						? (int64_t)(c->head.value & 0xff)
						: HWY_DIR_UNKNOWN;
		row->v[HWY_SRC_MEMORY] = cuda_memory_kind(c->head.value >> 8 & 0xff);
		row->v[HWY_DST_MEMORY] = cuda_memory_kind(c->head.value >> 16 & 0xff);
		return HWY_COPY;
	case REC_COMMAND_FILL:
		row->v[HWY_BYTES] = (int64_t)(c->bytes < latest ? c->bytes : 0);
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
	int64_t seen = at_least(at_most(c->seen, command->ended), c->before);
	int64_t queued = c->queued ? clocks_ours(fit, (int64_t)c->queued) : c->before;
	queued = at_least(at_most(at_most(queued, c->after), seen), c->before);
	int64_t submitted = c->submitted ? clocks_ours(fit, (int64_t)c->submitted) : queued;
	int64_t end = at_least(at_most(clocks_ours(fit, (int64_t)c->end), seen), queued);
	int64_t start = at_most(at_least(clocks_ours(fit, (int64_t)c->start), queued), end);
	submitted = at_most(at_least(submitted, queued), start);
	enum hwy_kind kind = put_columns(in, &in->processes[command->process], c, &row);
	if (kind == HWY_EVENT)
		start = end;
	if (!ingest_times(in, start, end - start, &row))
		return;
	row.v[HWY_CORR] = c->correlation;
	row.v[HWY_QUEUED] = queued - in->epoch;
	row.v[HWY_SUBMITTED] = submitted - in->epoch;
	uint32_t lane = target_work_lane(in, ingest_opencl_stream_of(in, command));
	remember(in->opencl, command, hwy_add_span(in->b, lane, kind, &row));
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
	row.v[HWY_WAITED] = (int64_t)stream + 1;
	remember(in->opencl, command,
		 hwy_add_span(in->b, target_sync_lane(in, stream), HWY_SYNC, &row));
}

/* ---- what waits prove ------------------------------------------------------------------------------- */

/* A vendor's stamps may be microseconds off; a wait that has returned is proof. */
static void note_event_waits(struct opencl_state *state)
{
	struct hwy_map at = {0}; /* process, correlation id -> index, plus one */
	for (uint32_t i = 0; i < state->n; i++)
		*hwy_map_put(&at,
			     ingest_opencl_key_of(state->commands[i].process,
						  state->commands[i].record->correlation),
			     NULL) = i + 1;
	for (uint32_t d = 0; d < state->n_depends; d++) {
		const struct rec_depends *record = state->depends[d].record;
		uint32_t process = state->depends[d].process;
		const uint32_t *wait =
			hwy_map_get(&at, ingest_opencl_key_of(process, record->correlation));
		if (!wait || state->commands[*wait - 1].record->head.flags != REC_COMMAND_WAIT)
			continue;
		for (uint32_t i = 0; i < record->head.value; i++) {
			const uint32_t *on =
				hwy_map_get(&at, ingest_opencl_key_of(process, record->on[i]));
			if (on)
				state->commands[*on - 1].ended =
					at_most(state->commands[*on - 1].ended,
						state->commands[*wait - 1].record->after);
		}
	}
	hwy_map_free(&at);
}

/* clFinish: all that was enqueued before. The commands of a device, in order of their calls. */
static void note_queue_waits(struct command *commands, uint32_t n)
{
	struct hwy_map next = {0}; /* queue -> index of the next wait for it, plus one */
	for (uint32_t i = n; i-- > 0;) {
		const struct rec_command *c = commands[i].record;
		if (c->head.flags == REC_COMMAND_WAIT) {
			if (c->head.value == 0)
				*hwy_map_put(&next, c->queue, NULL) = i + 1;
			continue;
		}
		const uint32_t *wait = hwy_map_get(&next, c->queue);
		if (wait && commands[*wait - 1].record->before >= c->after)
			commands[i].ended =
				at_most(commands[i].ended, commands[*wait - 1].record->after);
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

static void add_edges(struct ingest *in, struct opencl_state *state, const struct depends *depends)
{
	const struct rec_depends *record = depends->record;
	const uint32_t *to = hwy_map_get(
		&state->span_of, ingest_opencl_key_of(depends->process, record->correlation));
	for (uint32_t i = 0; to && i < record->head.value; i++) {
		const uint32_t *from = hwy_map_get(
			&state->span_of, ingest_opencl_key_of(depends->process, record->on[i]));
		if (from)
			hwy_add_edge(in->b, HWY_EDGE_EVENT, state->refs[*from - 1],
				     state->refs[*to - 1], record->on[i]);
	}
}

void opencl_finish(struct ingest *in)
{
	struct opencl_state *state = in->opencl;
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
	free(state->refs);
	free(state->commands);
	free(state->depends);
	free(state);
	in->opencl = NULL;
}
