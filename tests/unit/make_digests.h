/* SPDX-License-Identifier: Apache-2.0 */
/* make_digests.h - the digests of a job of any number of ranks, made from those of recorded ranks, with faults that are known.
 *
 * Each rank takes the digest of a recorded one: its kernels, findings, states and texts. Its steps are new: the own time of a step
 * is the recorded one's mean, times the rank's own speed (normal, SPEED_SHARE), and noise drawn from the recorded steps' distances from their
 * median, so that its distribution is a real one, scaled to NOISE_SHARE. All ranks meet at the end of a step: it lasts as long as the
 * longest own time and the transfer. Faults change own times, rates or clocks of ranks by what the caller says.
 *
 * Hosts have 8 ranks, leaf switches 32 hosts. A rank exchanges messages with the next rank and the same rank of the next host.
 */
#ifndef HWY_TESTS_MAKE_DIGESTS_H
#define HWY_TESTS_MAKE_DIGESTS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/quantile.h"
#include "digest/digest_set.h"

enum { FAULT_PER_HOST = 8, FAULT_HOSTS_PER_SWITCH = 32, FAULT_LISTED = 64 };
#define SPEED_SHARE 0.004
#define NOISE_SHARE 0.004

enum fault_kind {
	FAULT_LATE,      /* own time longer by 'share' in every step */
	FAULT_SOMETIMES, /* the same in every 4th step */
	FAULT_DRIFT,     /* own time longer by 'share' at the end, by nothing at the begin */
	FAULT_LINK,      /* messages to the next rank move at 'share' of the usual rate */
	FAULT_CLOCK,     /* as FAULT_LATE, with a clock that is slower by as much */
	FAULT_TREND,     /* all ranks: as FAULT_DRIFT; 'rank' does not matter */
	FAULT_INPUT,     /* as FAULT_LATE, by waiting for input instead of compute */
};
struct fault {
	enum fault_kind kind;
	uint32_t rank;
	double share;
};

enum made_noise {
	NOISE_RECORDED,
	NOISE_NORMAL,
	NOISE_LONG
}; /* long: one step of 2000 has 5 % more */

struct made_job {
	uint32_t ranks, steps;
	uint64_t seed;
	const struct fault *faults;
	uint32_t n_faults;
	enum made_noise noise;
	bool is_numbered; /* steps have marks */
};

/* ---- dice ---------------------------------------------------------------------------------------------------------- */

static inline uint64_t dice_next(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15u;
	return hwy_mix(*state);
}

static inline double dice_share(uint64_t *state) /* 0 … 1 */
{
	return (double)(dice_next(state) >> 11) / 9007199254740992.0;
}

static inline double dice_normal(uint64_t *state)
{
	double a = dice_share(state), b = dice_share(state);
	return sqrt(-2 * log(a > 0 ? a : 1e-300)) * cos(6.283185307179586 * b);
}

/* ---- one rank -------------------------------------------------------------------------------------------------------- */

static inline double fault_share(const struct made_job *job, uint32_t rank, uint32_t step)
{
	double share = 0;
	for (uint32_t i = 0; i < job->n_faults; i++) {
		const struct fault *fault = &job->faults[i];
		double time = job->steps > 1 ? (double)step / (job->steps - 1) : 0;
		if (fault->kind == FAULT_TREND)
			share += fault->share * time;
		if (fault->rank != rank)
			continue;
		if (fault->kind == FAULT_LATE || fault->kind == FAULT_CLOCK ||
		    fault->kind == FAULT_INPUT)
			share += fault->share;
		if (fault->kind == FAULT_SOMETIMES && step % 4 == 0)
			share += fault->share;
		if (fault->kind == FAULT_DRIFT)
			share += fault->share * time;
	}
	return share;
}

/* How far the recorded steps' own times lie from their median, as shares, scaled to NOISE_SHARE. */
static inline double *recorded_noise(const struct rank_digest *base, uint32_t *n)
{
	const struct digest_steps *steps = &base->steps;
	int64_t *sorted = hwy_copy_array(steps->own, steps->n_buckets, sizeof *sorted);
	double *noise = hwy_array(steps->n_buckets, sizeof *noise),
	       *sizes = hwy_array(steps->n_buckets, sizeof *sizes);
	hwy_sort(sorted, steps->n_buckets);
	double middle = (double)hwy_median_upper(sorted, steps->n_buckets);
	for (uint32_t i = 0; i < steps->n_buckets; i++) {
		noise[i] = (double)steps->own[i] / middle - 1;
		sizes[i] = fabs(noise[i]);
	}
	hwy_sort_real(sizes, steps->n_buckets);
	double usual = hwy_median_upper_real(sizes, steps->n_buckets);
	for (uint32_t i = 0; i < steps->n_buckets; i++)
		noise[i] *= usual > 0 ? NOISE_SHARE / 1.4826 / usual : 0;
	*n = steps->n_buckets;
	free(sorted);
	free(sizes);
	return noise;
}

static inline void made_exchange(struct digest_exchange *to, const char *operation, uint8_t way,
				 int64_t peer, uint64_t key, int64_t size, uint32_t steps,
				 uint64_t bytes, double rate)
{
	*to = (struct digest_exchange){
		.library = "NCCL",
		.operation = operation,
		.group = key ? "hosts" : "",
		.key = key,
		.size = size,
		.peer = peer,
		.way = way,
		.count = steps,
		.bytes = bytes * steps,
		.ns = (int64_t)((double)bytes * steps / rate * 1e9 * 1.5),
		.large = steps,
		.large_bytes = bytes,
		.typical_rate = (uint64_t)(rate / 1.5),
		.fastest_rate = (uint64_t)rate,
	};
}

static inline void made_exchanges(struct rank_digest *digest, const struct made_job *job,
				  uint32_t rank, uint64_t *dice)
{
	uint32_t peers[2] = {(rank + 1) % job->ranks, (rank + FAULT_PER_HOST) % job->ranks};
	uint64_t host = rank / FAULT_PER_HOST + 1;
	digest->exchanges = hwy_arena_array(&digest->arena, 6, sizeof *digest->exchanges);
	digest->n_exchanges = 0;
	for (uint32_t i = 0; i < 4; i++) {
		bool sends = i < 2;
		uint32_t far = i % 2;
		uint32_t peer =
			sends ? peers[far]
			      : (rank + job->ranks - (far ? FAULT_PER_HOST : 1)) % job->ranks;
		uint32_t from = sends ? rank : peer, to = sends ? peer : rank;
		bool is_one_host = from / FAULT_PER_HOST == to / FAULT_PER_HOST;
		/* The side that comes later sees what the link can do, the other one also waits. */
		bool sender_is_later = hwy_mix((uint64_t)from << 32 | to) & 1;
		double rate = (is_one_host ? 150e9 : 24e9) * (1 + 0.04 * dice_normal(dice)) *
			      (sender_is_later == sends ? 1 : 0.3 + 0.7 * dice_share(dice));
		for (uint32_t k = 0; k < job->n_faults; k++)
			if (job->faults[k].kind == FAULT_LINK && job->faults[k].rank == from &&
			    !far)
				rate *= job->faults[k].share;
		if (job->ranks > FAULT_PER_HOST)
			made_exchange(&digest->exchanges[digest->n_exchanges++],
				      sends ? "Send" : "Recv", sends ? DIGEST_SENT : DIGEST_GOT,
				      peer, 0, HWY_NONE, job->steps, 8 << 20,
				      rate > 1e6 ? rate : 1e6);
	}
	made_exchange(&digest->exchanges[digest->n_exchanges++], "AllGather", DIGEST_COLLECTIVE,
		      HWY_NONE, hwy_mix(host), FAULT_PER_HOST, job->steps, 4 << 20,
		      200e9 * (1 + 0.03 * dice_normal(dice)));
	made_exchange(&digest->exchanges[digest->n_exchanges++], "AllReduce", DIGEST_COLLECTIVE,
		      HWY_NONE, 77, job->ranks, job->steps, 64 << 20,
		      90e9 * (1 + 0.03 * dice_normal(dice)));
}

static inline void made_who(struct rank_digest *digest, const struct made_job *job, uint32_t rank)
{
	char text[64];
	uint32_t host = rank / FAULT_PER_HOST;
	digest->job = "made-1.0";
	digest->is_named = true;
	digest->rank = rank;
	digest->local_rank = rank % FAULT_PER_HOST;
	digest->world = job->ranks;
	digest->node = host;
	snprintf(text, sizeof text, "n%03u", host);
	digest->host = digest_keep(digest, text);
	snprintf(text, sizeof text, "core.leaf%02u.n%03u", host / FAULT_HOSTS_PER_SWITCH, host);
	digest->topology = digest_keep(digest, text);
	snprintf(text, sizeof text, "GPU-%016llx", (unsigned long long)hwy_mix(rank + 1));
	digest->uuid = digest_keep(digest, text);
	digest->started = INT64_C(1760000000000000000) + (int64_t)rank * 1000;
	digest->steps.wall = digest->started + 5000000000;
	snprintf(text, sizeof text, "rank%u.hwy", rank);
	digest->report = digest_keep(digest, text);
}

/* The parts of the step follow its length: own time from compute or input, the rest is communication. */
static inline void made_parts(struct rank_digest *digest, const struct made_job *job, uint32_t rank,
			      int64_t usual_own, int64_t step)
{
	struct compare_phase *phase = &digest->summary.phases[0];
	int64_t own = digest->steps.mean_own, more = own - usual_own;
	bool is_input = false;
	double slower = 1;
	for (uint32_t i = 0; i < job->n_faults; i++) {
		is_input |= job->faults[i].kind == FAULT_INPUT && job->faults[i].rank == rank;
		if (job->faults[i].kind == FAULT_CLOCK && job->faults[i].rank == rank)
			slower = 1 + job->faults[i].share;
	}
	for (uint32_t i = 0; i < phase->n_findings && phase->step > 0; i++)
		phase->findings[i].cost = llround((double)phase->findings[i].cost /
						  (double)phase->step * 0.2 * (double)step);
	for (unsigned p = 0; p < PARTS; p++)
		phase->parts[p] = 0;
	phase->parts[PART_COPY] = usual_own / 50;
	phase->parts[PART_IDLE + GAP_LAUNCH] = usual_own / 20;
	phase->parts[PART_IDLE + GAP_INPUT] = is_input && more > 0 ? more : 0;
	phase->parts[PART_COMPUTE] = own - phase->parts[PART_COPY] -
				     phase->parts[PART_IDLE + GAP_LAUNCH] -
				     phase->parts[PART_IDLE + GAP_INPUT];
	phase->parts[PART_COMM] = step - own;
	phase->step = phase->p50 = phase->p10 = phase->p90 = phase->p99 = phase->longest = step;
	phase->n_steady = phase->n_steps = job->steps;
	phase->counts[COUNT_KERNELS] = (int64_t)job->steps * 400;
	phase->counts[COUNT_COPIES] = (int64_t)job->steps * 4;
	phase->busy_clock_hz = (int64_t)(1.755e9 / slower);
	digest->threads = 1 << 24;
	double shares[VERDICTS] = {0};
	shares[VERDICT_GPU] = (double)phase->parts[PART_COMPUTE] / (double)step;
	shares[VERDICT_COMM] = (double)phase->parts[PART_COMM] / (double)step;
	shares[VERDICT_INPUT] = (double)phase->parts[PART_IDLE + GAP_INPUT] / (double)step;
	shares[VERDICT_LAUNCH] =
		1 - shares[VERDICT_GPU] - shares[VERDICT_COMM] - shares[VERDICT_INPUT];
	memcpy(digest->shares, shares, sizeof shares);
	digest->word = verdict_choose(shares);
}

/* ---- the job ------------------------------------------------------------------------------------------------------------ */

/* Makes the job's digests, from records of recorded ranks that have steps. */
static inline void make_digests(struct digest_set *set, const struct made_job *job,
				const struct digest_bytes *bases, uint32_t n_bases)
{
	size_t cells = (size_t)job->ranks * job->steps;
	int64_t *own = hwy_array(cells, sizeof *own),
		*lengths = hwy_zarray(job->steps, sizeof *lengths);
	uint64_t dice = job->seed;
	struct rank_digest base;
	struct hwy_err err;
	double usual = 0, transfer = 0;
	for (uint32_t r = 0; r < job->ranks; r++) {
		if (!digest_decode(&base, bases[r % n_bases].bytes, bases[r % n_bases].n, &err))
			abort();
		uint32_t n;
		double *noise = recorded_noise(&base, &n),
		       speed = 1 + SPEED_SHARE * dice_normal(&dice);
		usual = r == 0 ? (double)base.steps.mean_own : usual;
		transfer = usual / 4;
		for (uint32_t s = 0; s < job->steps; s++) {
			double by_chance = job->noise == NOISE_RECORDED
						   ? noise[dice_next(&dice) % n]
						   : NOISE_SHARE * dice_normal(&dice);
			by_chance +=
				job->noise == NOISE_LONG && dice_next(&dice) % 2000 == 0 ? 0.05 : 0;
			double one = usual * speed * (1 + by_chance) * (1 + fault_share(job, r, s));
			own[(size_t)r * job->steps + s] = llround(one);
			if (lengths[s] < llround(one + transfer))
				lengths[s] = llround(one + transfer);
		}
		free(noise);
		digest_free(&base);
	}
	int64_t step = 0;
	for (uint32_t s = 0; s < job->steps; s++)
		step += lengths[s] / job->steps;
	for (uint32_t r = 0; r < job->ranks; r++) {
		if (!digest_decode(&base, bases[r % n_bases].bytes, bases[r % n_bases].n, &err))
			abort();
		made_who(&base, job, r);
		digest_fill_buckets(&base, lengths, &own[(size_t)r * job->steps], job->steps, 10);
		base.steps.numbers = job->is_numbered ? DIGEST_MARKED : DIGEST_COUNTED;
		made_parts(&base, job, r, llround(usual), step);
		made_exchanges(&base, job, r, &dice);
		digest_set_put(set, &base);
	}
	free(own);
	free(lengths);
}

#endif
