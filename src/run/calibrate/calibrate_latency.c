/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate_latency.c - how long after a launch its kernel starts, on an idle device.
 *
 * A kernel writes the device's time when it starts. To convert that time to the host's clock, the
 * two clocks are compared as in NTP: a running kernel answers a number by its time, the quickest of
 * many answers is the one with the least waiting in it, and its time belongs in the middle between
 * question and answer. The comparison can be wrong by half of that quickest round at most, which is
 * part of the spread. Clocks are compared before and after, since they drift by some ns a
 * millisecond.
 *
 * On a slow CPU the call takes longer: the kernel starts later after the call, but sooner after the
 * return. So the time after the return is computed as the latency minus the time of a calm call,
 * and never as a low quantile of its own.
 */
#include "run/calibrate/calibrate_helper.h"
#include "run/run.h"

enum { ROUNDS = 240, ENOUGH = 20, BATCHES = 30, BATCH = 6, REST_NS = 20000, USELESS_NS = 20000 };
static_assert((int)ROUNDS <= (int)HELPER_SAMPLES, "all are kept");
static const uint64_t DEVICE_LIMIT_NS = 200 * 1000 * 1000;
static const int64_t ANSWER_LIMIT_NS = 50 * 1000 * 1000;

struct comparison {
	int64_t base;  /* ns that the device's clock is ahead of the host's, roughly */
	double offset; /* ns to be added to 'base' */
	double round;  /* ns of the quickest question and answer between host and device */
};

/* Waits until the device has answered the question with this number; false when no answer comes. */
static bool await_answer(const struct helper *helper, uint32_t number, int64_t asked,
			 uint64_t *stamp, int64_t *answered)
{
	for (;;) {
		*stamp = helper->mailbox->stamp;
		*answered = run_now();
		if ((*stamp & HELPER_STAMP_LOW) == (number & HELPER_STAMP_LOW) && *stamp)
			return true;
		if (*answered - asked > ANSWER_LIMIT_NS)
			return false;
	}
}

/* Computes the offset as the mean over the rounds that were about as quick as the quickest. The
 * device's time goes in steps of 32 ns or, on some devices, 1 µs: it is too early by half a step
 * here and in the times that are converted with it. */
static void compute_offset(struct comparison *into, const struct helper_samples *rounds,
			   const struct helper_samples *middles)
{
	double sum = 0;
	uint32_t n = 0;
	into->round = 1e18;
	for (uint32_t i = 0; i < rounds->n; i++)
		if (rounds->values[i] < into->round)
			into->round = rounds->values[i];
	for (uint32_t i = 0; i < rounds->n; i++)
		if (rounds->values[i] <= 1.1 * into->round) {
			sum += middles->values[i];
			n++;
		}
	into->offset = n ? sum / n : 0;
}

static bool compare_clocks(struct helper *helper, struct comparison *into)
{
	uint64_t from = helper->mailbox_device, to = from + offsetof(struct helper_mailbox, stamp),
		 limit = DEVICE_LIMIT_NS;
	uint32_t n = ROUNDS;
	void *parameters[] = {&from, &to, &n, &limit};
	struct helper_samples rounds = {.n = 0}, middles = {.n = 0};
	helper_move_to_calm_cpu();
	helper->mailbox->flag = 0;
	helper->mailbox->stamp = 0;
	helper_launch(helper, helper->pong, parameters);
	for (uint32_t i = 1; i <= ROUNDS && !helper->error; i++) {
		uint64_t stamp;
		int64_t answered, asked = run_now();
		helper->mailbox->flag = i;
		/* The machine is busy: the answers so far may be enough. */
		if (!await_answer(helper, i, asked, &stamp, &answered))
			break;
		int64_t ahead = (int64_t)(stamp & ~(uint64_t)HELPER_STAMP_LOW) - asked;
		if (i == 1)
			into->base = ahead;
		rounds.values[rounds.n++] = (double)(answered - asked);
		middles.values[middles.n++] =
			(double)(ahead - into->base) - (double)(answered - asked) / 2;
	}
	compute_offset(into, &rounds, &middles);
	helper_synchronize(helper);
	return rounds.n >= ENOUGH && !helper->error;
}

static void spin_between_launches(void)
{
	for (int64_t until = run_now() + REST_NS; run_now() < until;)
		;
}

/* Measures a few launches on the CPU that is calm now, and adds their means: from a call to its
 * kernel's start, which is on the device's clock minus 'base', and from the call to its return. */
static void time_launches(struct helper *helper, int64_t base, struct helper_samples *latencies,
			  struct helper_samples *calls)
{
	uint64_t to = helper->mailbox_device + offsetof(struct helper_mailbox, stamp);
	void *parameters[] = {&to};
	int64_t latency = 0, in_call = 0;
	helper_move_to_calm_cpu();
	for (int i = 0; i <= BATCH && !helper->error; i++) {
		spin_between_launches();
		int64_t call = run_now();
		helper_launch(helper, helper->stamp, parameters);
		int64_t returned = run_now();
		helper_synchronize(helper);
		if (!i)
			continue; /* the first launch only warms up the CPU */
		latency += (int64_t)helper->mailbox->stamp - base - call;
		in_call += returned - call;
	}
	latencies->values[latencies->n++] = (double)latency / BATCH;
	calls->values[calls->n++] = (double)in_call / BATCH;
}

void helper_measure_latency(struct helper *helper)
{
	struct comparison before, after;
	struct helper_samples latencies = {.n = 0}, calls = {.n = 0};
	if (!compare_clocks(helper, &before))
		return;
	for (int i = 0; i < BATCHES && !helper->error; i++)
		time_launches(helper, before.base, &latencies, &calls);
	if (!compare_clocks(helper, &after))
		return;
	double drift = after.offset - before.offset + (double)(after.base - before.base);
	for (uint32_t i = 0; i < latencies.n; i++)
		latencies.values[i] -= before.offset + drift * (i + 0.5) / latencies.n;
	double unsure = (before.round < after.round ? after.round : before.round) / 2;
	double latency, spread, call, call_spread;
	helper_print(helper, "mailbox_round",
		     before.round < after.round ? before.round : after.round, 0, "ns");
	if (unsure > USELESS_NS)
		return;
	helper_summarize_calm(&latencies, &latency, &spread);
	helper_summarize_calm(&calls, &call, &call_spread);
	helper_print(helper, "launch_latency", latency, spread + unsure, "ns");
	helper_print(helper, "launch_latency_after_return", latency - call,
		     spread + call_spread + unsure, "ns");
}
