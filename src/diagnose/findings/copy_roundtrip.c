/* SPDX-License-Identifier: Apache-2.0 */
/* copy_roundtrip.c - data that goes to the host and comes back within a step: device, host,
 * device.
 *
 * Condition: in most steps a copy to the host is followed by a copy of the same size (TRIP_BYTES
 * or more) back, within the time of a step. A program that streams chunks through the device
 * (in, kernel, out, in …) looks alike; but its first copy goes to the device, and it copies in
 * as often as out. A round trip begins on the device, or with data that was put there once
 * before.
 *
 * Data that is sent to another rank in between is no trip: other data comes back than went out.
 * A message or a collective of the process between the two copies shows that, of MESSAGE_SHARE
 * of the copy's bytes or more.
 *
 * Trips may nest: activations that are parked on the host in the forward pass come back last
 * first. Cost: both copies' exposed time; for a trip that holds no other one the idle time
 * between the two copies, for any other the idle time right behind the copy to the host and
 * right before the copy back.
 */
#include <stdlib.h>

#include "analyze/exchange.h"
#include "base/lang.h"
#include "base/ref.h"
#include "base/say.h"
#include "base/search.h"
#include "diagnose/case.h"
#include "diagnose/findings/findings.h"

#define TRIP_BYTES 4096
#define MOST_STEPS_SHARE 0.5
#define MESSAGE_SHARE 0.25

static const struct advice fix = {
	.any = "Do this step on the GPU too: a small kernel, even a slow one, is cheaper than two copies and a wait. If "
	       "the host must see the data, copy it without waiting and go on with what is on the device; what another "
	       "process needs can go there directly (CUDA-aware MPI, NCCL).",
	.by_framework =
		{
			[HWY_PYTORCH] =
				"Stay on the GPU: replace .cpu()/.numpy() … .cuda() by tensor operations.\n"
				"  x = torch.sort(x).values        # not: torch.from_numpy(numpy.sort(x.cpu().numpy())).cuda()",
			[HWY_JAX] =
				"Stay on the GPU: jax.numpy instead of NumPy in between, best inside the jitted function.\n"
				"  x = jnp.sort(x)                 # not: jnp.asarray(np.sort(np.asarray(x)))",
			[HWY_CUPY] =
				"Stay on the GPU: use CuPy's function instead of NumPy's in between.\n"
				"  x = cupy.sort(x)                # not: cupy.asarray(numpy.sort(cupy.asnumpy(x)))",
		},
};

/* The advice for trips that nest. */
static const struct advice parked = {
	.any = "Data is parked on the host and fetched back later in the step: keep it on the GPU where the memory suffices, compute "
	       "it again instead, or fetch it on another stream before it is needed.",
	.by_framework =
		{[HWY_PYTORCH] =
			 "Data is parked on the host and fetched back later in the step: keep it on the GPU where the memory "
			 "suffices, or compute activations again in the backward pass instead of saving them.\n"
			 "  y = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)   # not: save_on_cpu()"},
};

struct trip {
	uint32_t out, back; /* the two copies of the trip, as indexes of transfers */
	bool holds_others;  /* copies of this size went out and came back in between */
};

/* Whether copies of this size only stream through the device: the first goes in, and as many go in
 * as out. */
static bool is_stream(const struct hwy_case *c, uint64_t bytes)
{
	uint64_t in = 0, out = 0;
	bool first_in = false;
	for (uint32_t i = 0; i < c->flow->n_ops; i++) {
		const struct flow_op *op = &c->flow->ops[i];
		if (op->kind != HWY_COPY || (uint64_t)case_get(c, op->span, HWY_BYTES) != bytes)
			continue;
		int64_t direction = case_get(c, op->span, HWY_DIRECTION);
		if (in + out == 0)
			first_in = direction == HWY_H2D;
		in += direction == HWY_H2D;
		out += direction == HWY_D2H;
	}
	return first_in && in == out;
}

/* Gloo and MPI carry data to other ranks: the data that comes back is other data than went out. */
static bool is_of_transport(const struct hwy_case *c, const struct case_transfer *one)
{
	uint32_t call = c->flow->ops[one->op].call;
	return call != FLOW_NONE && gaps_thread_is_transport(c->trace, c->flow->calls[call].thread);
}

/* What the process exchanges with other ranks, by start. */
struct sendings {
	struct sending {
		int64_t from, reach; /* reach: the latest end of this one and those before it */
		uint64_t bytes;      /* UINT64_MAX: not known */
	} * items;
	uint32_t n;
};

static int by_begin(const void *a, const void *b)
{
	const struct sending *x = a, *y = b;
	return (x->from > y->from) - (x->from < y->from);
}

static struct sendings list_sendings(const struct hwy_case *c)
{
	struct sendings list = {.items = hwy_array(c->trace->n_messages, sizeof *list.items)};
	struct hwy_err err;
	bool can = c->trace->n_messages > 0 && exchange_need(c->trace, &err);
	for (uint32_t i = 0; i < c->trace->n_messages && can; i++) {
		const struct hwy_message *one = &c->trace->messages[i];
		struct exchange_times times = exchange_times(c->trace, one);
		int64_t bytes = one->sent > one->received ? one->sent : one->received;
		if (times.is_device || (one->process >= 0 && one->process != c->phase->process))
			continue;
		list.items[list.n++] = (struct sending){times.post, times.call.to,
							bytes < 0 ? UINT64_MAX : (uint64_t)bytes};
	}
	if (list.n > 0)
		qsort(list.items, list.n, sizeof *list.items, by_begin);
	for (uint32_t i = 1; i < list.n; i++)
		if (list.items[i - 1].reach > list.items[i].reach)
			list.items[i].reach = list.items[i - 1].reach;
	return list;
}

/* Whether the data of a trip goes to another rank: as much is exchanged between the copies. */
static bool is_sent(const struct hwy_case *c, const struct sendings *list, const struct trip *trip)
{
	int64_t out = c->flow->ops[c->transfers[trip->out].op].start;
	int64_t back = c->flow->ops[c->transfers[trip->back].op].start;
	uint64_t least = (uint64_t)(MESSAGE_SHARE * (double)c->transfers[trip->out].bytes);
	enum { MOST_LOOKS = 4096 };
	uint32_t looks = 0;
	for (uint32_t i = HWY_FIRST(k, 0u, list->n, list->items[k].from >= back);
	     i > 0 && list->items[i - 1].reach > out && looks++ < MOST_LOOKS; i--)
		if (list->items[i - 1].bytes >= least)
			return true;
	return false;
}

static int64_t start_of(const struct hwy_case *c, uint32_t transfer)
{
	return c->flow->ops[c->transfers[transfer].op].start;
}

/* The copies to the host of one size whose data has not come back. */
struct open_copies {
	/* Maps a size in bytes to a reference to the last of them. */
	struct hwy_map last;
	/* By transfer: a reference to the copy of the same size before it. */
	uint32_t *before;
	/* Maps a size in bytes to whether its last copy, of either direction, came back. */
	struct hwy_map came_back;
};

/* Takes the trip that the copy back ends, where its data went out no longer than a step ago; the
 * borders of the steps do not matter. */
static bool close_trip(const struct hwy_case *c, struct open_copies *open, uint32_t back,
		       struct trip *trip)
{
	const struct case_transfer *one = &c->transfers[back];
	uint32_t *last = hwy_map_put(&open->last, one->bytes, NULL);
	uint32_t *came_back = hwy_map_put(&open->came_back, one->bytes, NULL);
	*trip = (struct trip){.back = back, .holds_others = *came_back};
	*came_back = true;
	if (!hwy_ref32_is_set(*last))
		return false;
	trip->out = hwy_ref32_index(*last);
	bool is_old = c->flow->ops[one->op].start - start_of(c, trip->out) > c->phase->mean;
	*last = is_old ? HWY_REF_NONE : open->before[trip->out];
	return !is_old;
}

static void open_trip(const struct hwy_case *c, struct open_copies *open, uint32_t out)
{
	uint32_t *last = hwy_map_put(&open->last, c->transfers[out].bytes, NULL);
	open->before[out] = *last;
	*last = hwy_ref32(out);
	*hwy_map_put(&open->came_back, c->transfers[out].bytes, NULL) = false;
}

static uint32_t find_trips(const struct hwy_case *c, struct trip *trips)
{
	struct open_copies open = {.before = hwy_array(c->n_transfers, sizeof *open.before)};
	/* Maps a size in bytes to whether copies of that size only stream through. */
	struct hwy_map streams = {0};
	uint32_t n = 0;
	for (uint32_t i = 0; i < c->n_transfers; i++) {
		const struct case_transfer *one = &c->transfers[i];
		bool out = one->direction == HWY_D2H, back = one->direction == HWY_H2D;
		if (one->bytes < TRIP_BYTES || !(out || back) || is_of_transport(c, one))
			continue;
		bool fresh;
		uint32_t *stream = hwy_map_put(&streams, one->bytes, &fresh);
		if (fresh)
			*stream = is_stream(c, one->bytes);
		if (*stream)
			continue;
		if (out)
			open_trip(c, &open, i);
		else if (close_trip(c, &open, i, &trips[n]))
			n++;
	}
	hwy_map_free(&open.last);
	hwy_map_free(&open.came_back);
	free(open.before);
	hwy_map_free(&streams);
	return n;
}

/* Whether a gap ends after the op has begun, or is a gap of a later device: gaps are sorted by
 * device, then by time. */
static bool gap_is_behind(const struct hwy_gap *gap, const struct flow_op *op)
{
	return gap->device > op->device || (gap->device == op->device && gap->at.to > op->start);
}

/* Claims both copies of a trip, and the idle time in which the CPU held the data. */
static void claim_trip(struct hwy_case *c, struct claim *claim, const struct trip *trip)
{
	uint32_t back_op = c->transfers[trip->back].op;
	const struct flow_op *out = &c->flow->ops[c->transfers[trip->out].op];
	const struct flow_op *back = &c->flow->ops[back_op];
	uint32_t by = out->call == FLOW_NONE ? out->span : c->flow->calls[out->call].span;
	claim_transfer(c, claim, trip->out, CLAIM_ALL, by);
	claim_transfer(c, claim, trip->back, CLAIM_ALL, by);
	const struct hwy_gaps *gaps = &c->measures->gaps;
	uint32_t first = HWY_FIRST(g, 0, gaps->n, gap_is_behind(&gaps->gaps[g], out));
	for (uint32_t g = first; g < gaps->n && gaps->gaps[g].device == out->device &&
				 gaps->gaps[g].at.from < back->start;
	     g++)
		if (gaps->gaps[g].at.from >= out->start &&
		    (!trip->holds_others || gaps->gaps[g].at.from == out->end ||
		     gaps->gaps[g].op == back_op))
			claim_gap(c, claim, g, CLAIM_ALL, by);
}

static void finding_copy_roundtrip_look(struct hwy_case *c)
{
	if (c->counts.h2d == 0 || c->counts.d2h == 0)
		return;
	struct trip *trips = hwy_array(c->n_transfers, sizeof *trips);
	int64_t *times = hwy_array(c->n_transfers, sizeof *times);
	uint32_t found = find_trips(c, trips), holders = 0, n = 0;
	struct claim claim = {0};
	uint64_t bytes = 0;
	struct sendings sendings = list_sendings(c);
	for (uint32_t i = 0; i < found; i++)
		if (!is_sent(c, &sendings, &trips[i]))
			trips[n++] = trips[i];
	free(sendings.items);
	for (uint32_t i = 0; i < n; i++) {
		claim_trip(c, &claim, &trips[i]);
		holders += trips[i].holds_others;
		times[i] = c->flow->ops[c->transfers[trips[i].out].op].start;
		bytes += c->transfers[trips[i].out].bytes;
	}
	if (n && case_steps_with(c, times, n) >= MOST_STEPS_SHARE * c->phase->n_steady &&
	    claim_is_worth(c, &claim))
		claim_accuse(
			c, &claim, HWY_MEDIUM,
			hwy_arena_say(
				&c->diagnosis->arena,
				"%s of data go to the host and come back %s a step; the two copies and "
				"the time between them keep the GPU from working for %s.",
				hwy_say_bytes3_to_gb(bytes / n).text,
				hwy_say_count_times(case_count_per_step(c, n)).text,
				hwy_say_time3(case_per_step(c, claim.total)).text),
			case_advice(c, holders > n / 2 ? &parked : &fix));
	claim_drop(c, &claim);
	free(trips);
	free(times);
}

const struct hwy_finding_kind finding_copy_roundtrip = {
	.id = "copy-roundtrip",
	.title = "data goes to the host and comes back",
	.edit = "no-roundtrip",
	.look = finding_copy_roundtrip_look,
};
