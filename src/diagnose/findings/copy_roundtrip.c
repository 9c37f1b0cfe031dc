/* SPDX-License-Identifier: Apache-2.0 */
/* copy_roundtrip.c - data that goes to the host and comes back within a step: device, host, device.
 *
 * Condition: in most steps a copy to the host is followed by a copy of the same size (TRIP_BYTES or
 * more) back, within the time of a step. A program that streams chunks through the device (in,
 * kernel, out, in …) looks alike; but its first copy goes to the device, and it copies in as often
 * as out. A round trip begins on the device, or with data that was put there once before. Cost:
 * both copies' exposed time, and the idle time between the two copies.
 */
#include <stdlib.h>

#include "base/ref.h"
#include "base/say.h"
#include "diagnose/case.h"
#include "diagnose/findings/findings.h"

#define TRIP_BYTES 4096
#define MOST_STEPS_SHARE 0.5

static const struct advice fix = {
	.any = "Do this step on the GPU too: a small kernel, even a slow one, is cheaper than two copies and a wait. If "
	       "the host must see the data, copy it without waiting and go on with what is on the device; what another "
	       "process needs can go there directly (CUDA-aware MPI, NCCL).",
	.by_framework =
		{
			[HWY_PYTORCH] =
				"Stay on the GPU: replace .cpu()/.numpy() … .cuda() by tensor operations.\n"
				"  x = torch.sort(x).values        # not: torch.from_numpy(numpy.sort(x.cpu().numpy())).cuda()",
			[HWY_CUPY] =
				"Stay on the GPU: use CuPy's function instead of NumPy's in between.\n"
				"  x = cupy.sort(x)                # not: cupy.asarray(numpy.sort(cupy.asnumpy(x)))",
		},
};

struct trip {
	uint32_t out, back; /* the two copies of the trip, as indexes of transfers */
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

static int64_t start_of(const struct hwy_case *c, uint32_t transfer)
{
	return c->flow->ops[c->transfers[transfer].op].start;
}

static uint32_t find_trips(const struct hwy_case *c, struct trip *trips)
{
	struct hwy_map open = {
		/* Maps a size in bytes to a reference to a copy to the host whose data has not come back. */
		0};
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
		uint32_t *waiting = hwy_map_put(&open, one->bytes, NULL);
		if (*stream)
			continue;
		/* The two copies must lie within the length of a step; the borders of the steps do not matter. */
		if (back && hwy_ref32_is_set(*waiting) &&
		    c->flow->ops[one->op].start - start_of(c, hwy_ref32_index(*waiting)) <=
			    c->phase->mean)
			trips[n++] = (struct trip){hwy_ref32_index(*waiting), i};
		*waiting = out ? hwy_ref32(i) : HWY_REF_NONE;
	}
	hwy_map_free(&open);
	hwy_map_free(&streams);
	return n;
}

/* Claims both copies of a trip, and the idle time between them, in which the CPU held the data. */
static void claim_trip(struct hwy_case *c, struct claim *claim, const struct trip *trip,
		       uint32_t *gap)
{
	const struct flow_op *out = &c->flow->ops[c->transfers[trip->out].op];
	const struct flow_op *back = &c->flow->ops[c->transfers[trip->back].op];
	uint32_t by = out->call == FLOW_NONE ? out->span : c->flow->calls[out->call].span;
	claim_transfer(c, claim, trip->out, CLAIM_ALL, by);
	claim_transfer(c, claim, trip->back, CLAIM_ALL, by);
	const struct hwy_gaps *gaps = &c->measures->gaps;
	while (*gap < gaps->n && gaps->gaps[*gap].at.to <= out->start)
		++*gap;
	for (uint32_t g = *gap; g < gaps->n && gaps->gaps[g].at.from < back->start; g++)
		if (gaps->gaps[g].at.from >= out->start)
			claim_gap(c, claim, g, CLAIM_ALL, by);
}

static void finding_copy_roundtrip_look(struct hwy_case *c)
{
	if (c->counts.h2d == 0 || c->counts.d2h == 0)
		return;
	struct trip *trips = hwy_array(c->n_transfers, sizeof *trips);
	int64_t *times = hwy_array(c->n_transfers, sizeof *times);
	uint32_t n = find_trips(c, trips), gap = 0;
	struct claim claim = {0};
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < n; i++) {
		claim_trip(c, &claim, &trips[i], &gap);
		times[i] = c->flow->ops[c->transfers[trips[i].out].op].start;
		bytes += c->transfers[trips[i].out].bytes;
	}
	if (n && case_steps_with(c, times, n) >= MOST_STEPS_SHARE * c->phase->n_steady &&
	    claim_is_worth(c, &claim))
		claim_accuse(
			c, &claim, HWY_MEDIUM,
			hwy_arena_format(
				&c->diagnosis->arena,
				"%s of data go to the host and come back %s a step; the two copies and "
				"the time between them keep the GPU from working for %s.",
				hwy_say_bytes3_to_gb(bytes / n).text,
				hwy_say_count_times(case_count_per_step(c, n)).text,
				hwy_say_time3(case_per_step(c, claim.total)).text),
			case_advice(c, &fix));
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
