/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_kernels.c - joins NCCL's operations to the kernels that did them, and finds when each
 * ran.
 *
 * NCCL launches the kernel of a plan, and then tells the operations of the plan, on one thread
 * (all releases since 2.23): the kernel is the last one of NCCL's that the thread launched
 * before, unless operations of another plan have been told since. What a CUDA graph runs is told
 * by a thread that launches nothing: its kernel is the one nearest to the time that the channels
 * of the operation name.
 *
 * Channels have times of the GPU's own clock (globaltimer). It is fitted to ours, for each
 * communicator (they are of one device), by what is known of every operation: it ran after it
 * was asked for, inside of its kernel where that is known, and before NCCL's thread saw it. A
 * kernel that does one operation gives the times of the operation; one that does several only
 * bounds them.
 */
#include <stdlib.h>

#include "base/search.h"
#include "ingest/clocks.h"
#include "ingest/ingest_nccl.h"

enum { MOST_AT_A_TIME = 64 }; /* kernels of NCCL that run in a process at one time */
static const uint64_t LATEST_GPU_NS = UINT64_C(1) << 61;
/* An operation runs at most so many ns before it is told: NCCL tells it when the call that
 * launches its kernel has returned. */
static const int64_t TOLD_LATE_NS = 100 * 1000;

/* The earliest time at which an operation can have run, by what was told about it. A graph runs
 * a host function that tells it, and then the kernel. */
static int64_t earliest_run(const struct ingest_nccl *state, const struct nccl_event *event)
{
	const struct nccl_event *call = nccl_parent(state, event);
	bool is_captured = call && (call->record->bits & REC_NCCL_CAPTURED);
	if (call && !is_captured)
		return call->record->start;
	return event->record->start - (is_captured || event->is_of_graph ? 0 : TOLD_LATE_NS);
}

/* ---- by launch ------------------------------------------------------------------------------- */

/* Finds the call that launched each kernel, by its correlation id. */
static void find_launches(struct ingest *in)
{
	struct ingest_nccl *state = in->nccl;
	struct hwy_map kernel_of = {0};
	for (uint32_t i = 0; i < state->n_kernels; i++)
		*hwy_map_put(&kernel_of,
			     nccl_key(state->kernels[i].process, state->kernels[i].correlation),
			     NULL) = i;
	for (uint32_t c = 0; c < in->spools.n_chunks && state->n_kernels; c++) {
		const struct spool_chunk *chunk = &in->spools.chunks[c];
		struct spool_cursor cursor = spools_walk(chunk);
		while (chunk->process != UINT32_MAX && spools_next(&cursor)) {
			const struct rec_api *call = (const void *)cursor.record;
			if (call->head.type != REC_API || (call->head.flags & REC_API_OPENCL))
				continue;
			const uint32_t *index = hwy_map_get(
				&kernel_of, nccl_key(chunk->process, call->correlation));
			if (index) {
				state->kernels[*index].tid = call->tid;
				state->kernels[*index].launched = call->start;
			}
		}
	}
	hwy_map_free(&kernel_of);
}

/* Where something happened on a thread: an operation was told, or a kernel launched. */
struct thread_moment {
	uint32_t process, tid;
	int64_t time;
	uint32_t index;
	bool is_kernel;
};

static int by_moment(const void *left, const void *right)
{
	const struct thread_moment *a = left, *b = right;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static uint32_t gather_moments(const struct ingest_nccl *state, struct thread_moment *moments)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < state->n; i++) {
		const struct nccl_event *event = &state->events[i];
		if (nccl_is_operation(event) && event->record->head.flags != REC_NCCL_COPIES)
			moments[n++] = (struct thread_moment){event->process, event->tid,
							      event->record->start, i, false};
	}
	for (uint32_t i = 0; i < state->n_kernels; i++) {
		const struct nccl_kernel *kernel = &state->kernels[i];
		if (kernel->tid)
			moments[n++] = (struct thread_moment){kernel->process, kernel->tid,
							      kernel->launched, i, true};
	}
	return n;
}

static void nccl_give_kernel(struct ingest_nccl *state, struct nccl_event *event, uint32_t kernel)
{
	event->kernel_ref = hwy_ref32(kernel);
	state->kernels[kernel].operations++;
}

/* A thread that tells operations and launches no kernel runs the host functions of graphs. */
static void find_graph_threads(struct ingest_nccl *state)
{
	struct hwy_map launches = {0};
	for (uint32_t i = 0; i < state->n_kernels; i++)
		if (state->kernels[i].tid)
			hwy_map_put(&launches,
				    nccl_key(state->kernels[i].process, state->kernels[i].tid),
				    NULL);
	for (uint32_t i = 0; i < state->n && launches.count; i++) {
		struct nccl_event *event = &state->events[i];
		event->is_of_graph = nccl_is_operation(event) &&
				     !hwy_map_get(&launches, nccl_key(event->process, event->tid));
	}
	hwy_map_free(&launches);
}

static void join_by_launch(struct ingest_nccl *state)
{
	struct thread_moment *moments =
		hwy_array((size_t)state->n + state->n_kernels, sizeof *moments);
	uint32_t n = gather_moments(state, moments);
	const struct thread_moment *kernel = NULL; /* the last one of the thread */
	uint64_t plan = 0;                         /* whose kernel it is; 0: nobody's yet */
	if (n)
		qsort(moments, n, sizeof *moments, by_moment);
	for (uint32_t i = 0; i < n; i++) {
		const struct thread_moment *m = &moments[i];
		if (m->is_kernel || !kernel || kernel->process != m->process ||
		    kernel->tid != m->tid) {
			kernel = m->is_kernel ? m : NULL;
			plan = 0;
		}
		if (m->is_kernel || !kernel)
			continue;
		struct nccl_event *event = &state->events[m->index];
		const struct nccl_event *call = nccl_parent(state, event);
		bool is_older = call && kernel->time < call->record->start;
		if (plan && plan != event->record->plan)
			kernel = NULL;
		else if (!is_older)
			nccl_give_kernel(state, event, kernel->index);
		plan = event->record->plan;
	}
	free(moments);
}

/* ---- the GPU's clock ------------------------------------------------------------------------- */

static bool has_gpu_times(const struct nccl_event *event)
{
	return event->gpu_start && event->gpu_end >= event->gpu_start &&
	       event->gpu_end < LATEST_GPU_NS && event->seen_end >= event->seen_start &&
	       nccl_is_operation(event);
}

static struct clocks_sight sight_of(const struct ingest_nccl *state, const struct nccl_event *event,
				    uint64_t gpu, int64_t seen)
{
	const struct nccl_event *call = nccl_parent(state, event);
	bool is_captured = call && (call->record->bits & REC_NCCL_CAPTURED);
	int64_t low =
		call && !is_captured ? call->record->start : event->record->start - TOLD_LATE_NS;
	int64_t high = seen;
	uint32_t kernel;
	if (hwy_ref_to_index(event->kernel_ref, &kernel)) {
		const struct nccl_kernel *k = &state->kernels[kernel];
		low = k->start > low ? k->start : low;
		high = k->end < high ? k->end : high;
	}
	int64_t foreign = (int64_t)gpu;
	return (struct clocks_sight){foreign, low - foreign, (high > low ? high : low) - foreign};
}

/* Sets the times of the n operations of a communicator by the GPU's clock; they are all that
 * have such times. */
static void convert_times(struct ingest_nccl *state, const uint32_t *operations, uint32_t n)
{
	struct clocks_sight *sights = hwy_array(2 * (size_t)n, sizeof *sights);
	struct clocks_fit fit;
	for (uint32_t i = 0; i < n; i++) {
		const struct nccl_event *event = &state->events[operations[i]];
		sights[2 * i] = sight_of(state, event, event->gpu_start, event->seen_start);
		sights[2 * i + 1] = sight_of(state, event, event->gpu_end, event->seen_end);
	}
	clocks_fit(&fit, sights, 2 * n);
	for (uint32_t i = 0; i < n; i++) {
		struct nccl_event *event = &state->events[operations[i]];
		event->start = clocks_to_ours(&fit, (int64_t)event->gpu_start);
		event->finish = clocks_to_ours(&fit, (int64_t)event->gpu_end);
	}
	clocks_free(&fit);
	free(sights);
}

/* Calls convert_times for each communicator with its operations. */
static void convert_all_times(struct ingest *in)
{
	struct ingest_nccl *state = in->nccl;
	uint32_t *first = hwy_zarray((size_t)state->n_comms + 2, sizeof *first);
	uint32_t *sorted = hwy_array(state->n, sizeof *sorted);
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < state->n; i++) {
			const struct nccl_event *event = &state->events[i];
			uint32_t comm;
			if (!has_gpu_times(event) || !ingest_is_time(in, event->record->start) ||
			    !hwy_ref_to_index(event->comm_ref, &comm))
				continue;
			if (pass == 0)
				first[comm + 2]++;
			else
				sorted[first[comm + 1]++] = i;
		}
		for (uint32_t c = 0; c < state->n_comms && pass == 0; c++)
			first[c + 2] += first[c + 1];
	}
	/* first[c + 1] is now where the operations of communicator c end. */
	for (uint32_t c = 0; c < state->n_comms; c++)
		if (first[c + 1] > first[c])
			convert_times(state, sorted + first[c], first[c + 1] - first[c]);
	free(first);
	free(sorted);
}

/* ---- by time --------------------------------------------------------------------------------- */

static int by_process_and_start(const void *left, const void *right)
{
	const struct nccl_kernel *a = left, *b = right;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return (a->start > b->start) - (a->start < b->start);
}

/* The kernel that ran nearest to the middle of the operation. It did not begin before the
 * operation was asked for, nor after NCCL's thread saw it begin. */
static void join_by_time(struct ingest_nccl *state, struct nccl_event *event)
{
	int64_t middle = event->start + (event->finish - event->start) / 2, best = INT64_MAX;
	uint32_t next = HWY_FIRST(i, 0u, state->n_kernels,
				  state->kernels[i].process > event->process ||
					  (state->kernels[i].process == event->process &&
					   state->kernels[i].start > event->seen_start));
	uint32_t found = UINT32_MAX;
	for (uint32_t back = 0; back < MOST_AT_A_TIME && next > 0; back++) {
		const struct nccl_kernel *kernel = &state->kernels[--next];
		if (kernel->process != event->process || kernel->start < earliest_run(state, event))
			break;
		int64_t away = (kernel->start + kernel->end - 2 * middle);
		away = away < 0 ? -away : away; /* twice the ns between the middles */
		if (away < best) {
			best = away;
			found = next;
		}
	}
	if (found != UINT32_MAX)
		nccl_give_kernel(state, event, found);
}

/* Joins what no thread launched; true if anything was joined, so that more is known about the
 * GPU's clock. */
static bool join_rest_by_time(struct ingest_nccl *state)
{
	bool is_any = false;
	for (uint32_t i = 0; i < state->n; i++) {
		struct nccl_event *event = &state->events[i];
		if (!nccl_is_operation(event) || hwy_ref32_is_set(event->kernel_ref) ||
		    event->start == HWY_NONE)
			continue;
		join_by_time(state, event);
		is_any |= hwy_ref32_is_set(event->kernel_ref);
	}
	return is_any;
}

/* ---- all ------------------------------------------------------------------------------------- */

static int64_t within(int64_t time, int64_t low, int64_t high)
{
	return time < low ? low : time > high ? high : time;
}

/* The times of an operation, by the best source there is. */
static void settle_times(struct ingest_nccl *state, struct nccl_event *event)
{
	uint32_t index;
	bool has_own = event->start != HWY_NONE;
	if (!has_own && event->seen_start) {
		event->start = event->seen_start;
		event->finish = event->seen_end;
	}
	if (hwy_ref_to_index(event->kernel_ref, &index)) {
		const struct nccl_kernel *kernel = &state->kernels[index];
		bool is_alone = kernel->operations == 1 || !has_own;
		event->start =
			is_alone ? kernel->start : within(event->start, kernel->start, kernel->end);
		event->finish =
			is_alone ? kernel->end : within(event->finish, event->start, kernel->end);
	} else if (event->start == HWY_NONE && event->last) {
		event->start = event->last->start;
		event->finish = event->last->start + ingest_duration(event->last->duration);
	}
}

void nccl_kernels_join(struct ingest *in)
{
	struct ingest_nccl *state = in->nccl;
	find_launches(in);
	if (state->n_kernels)
		qsort(state->kernels, state->n_kernels, sizeof *state->kernels,
		      by_process_and_start);
	find_graph_threads(state);
	join_by_launch(state);
	convert_all_times(in);
	if (join_rest_by_time(state))
		convert_all_times(in);
	for (uint32_t i = 0; i < state->n; i++)
		if (nccl_is_operation(&state->events[i]))
			settle_times(state, &state->events[i]);
}
