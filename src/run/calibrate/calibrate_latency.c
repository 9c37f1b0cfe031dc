/* calibrate_latency.c - how long after a launch its kernel starts, on an idle device.
 *
 * A kernel writes the device's time when it starts. To place that on our clock the two are compared as in NTP:
 * a running kernel answers a number by its time, the quickest of many answers is the one with the least waiting
 * in it, and its time belongs into the middle between question and answer. Half of that quickest round is the
 * most the comparison can be wrong, and is part of the spread. It is done before and after, since the clocks
 * drift by some ns a millisecond.
 *
 * A slow CPU calls longer: the kernel starts later after the call, but sooner after the return. So the time after
 * the return is what a calm call leaves of the latency, never a low quantile of its own.
 */
#include "run/calibrate/calibrate_helper.h"
#include "run/run.h"

enum { ROUNDS = 240, ENOUGH = 20, BATCHES = 30, BATCH = 6, REST_NS = 20000, USELESS = 20000 };
static_assert((int)ROUNDS <= (int)HELPER_SAMPLES, "all are kept");
static const uint64_t device_limit = 200 * 1000 * 1000; /* ns */
static const int64_t answer_limit = 50 * 1000 * 1000;   /* ns */

struct comparison {
	int64_t base;  /* device's clock minus ours, about */
	double offset; /* to be added to it */
	double round;  /* the quickest */
};

/* True when the device has answered this number. */
static bool await_answer(const struct helper *helper, uint32_t number, int64_t asked,
			 uint64_t *stamp, int64_t *answered)
{
	for (;;) {
		*stamp = helper->mailbox->stamp;
		*answered = run_now();
		if ((*stamp & HELPER_STAMP_LOW) == (number & HELPER_STAMP_LOW) && *stamp)
			return true;
		if (*answered - asked > answer_limit)
			return false;
	}
}

/* The mean over the rounds that were about as quick as the quickest. The device's time goes by steps of 32 ns
 * or, on some, 1 µs: it is too early by half a step here and in what is placed by it. */
static void calibrate_latency_settle(struct comparison *into, const struct helper_samples *rounds,
				     const struct helper_samples *middles)
{
	double sum = 0;
	uint32_t n = 0;
	into->round = 1e18;
	for (uint32_t i = 0; i < rounds->n; i++)
		if (rounds->at[i] < into->round)
			into->round = rounds->at[i];
	for (uint32_t i = 0; i < rounds->n; i++)
		if (rounds->at[i] <= 1.1 * into->round) {
			sum += middles->at[i];
			n++;
		}
	into->offset = n ? sum / n : 0;
}

static bool compare_clocks(struct helper *helper, struct comparison *into)
{
	uint64_t from = helper->mailbox_device, to = from + offsetof(struct helper_mailbox, stamp),
		 limit = device_limit;
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
		if (!await_answer(helper, i, asked, &stamp, &answered))
			break; /* a busy machine: what is there may do */
		int64_t ahead = (int64_t)(stamp & ~(uint64_t)HELPER_STAMP_LOW) - asked;
		if (i == 1)
			into->base = ahead;
		rounds.at[rounds.n++] = (double)(answered - asked);
		middles.at[middles.n++] =
			(double)(ahead - into->base) - (double)(answered - asked) / 2;
	}
	calibrate_latency_settle(into, &rounds, &middles);
	helper_synchronize(helper);
	return rounds.n >= ENOUGH && !helper->error;
}

static void rest(void)
{
	for (int64_t until = run_now() + REST_NS; run_now() < until;)
		;
}

/* Means over a few launches, on the CPU that is calm now: from a call to its kernel's start, which is on the device's
 * clock less 'base', and to its return. */
static void time_launches(struct helper *helper, int64_t base, struct helper_samples *latencies,
			  struct helper_samples *calls)
{
	uint64_t to = helper->mailbox_device + offsetof(struct helper_mailbox, stamp);
	void *parameters[] = {&to};
	int64_t latency = 0, in_call = 0;
	helper_move_to_calm_cpu();
	for (int i = 0; i <= BATCH && !helper->error; i++) {
		rest();
		int64_t call = run_now();
		helper_launch(helper, helper->stamp, parameters);
		int64_t returned = run_now();
		helper_synchronize(helper);
		if (!i)
			continue; /* the first warms up the CPU */
		latency += (int64_t)helper->mailbox->stamp - base - call;
		in_call += returned - call;
	}
	latencies->at[latencies->n++] = (double)latency / BATCH;
	calls->at[calls->n++] = (double)in_call / BATCH;
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
		latencies.at[i] -= before.offset + drift * (i + 0.5) / latencies.n;
	double unsure = (before.round < after.round ? after.round : before.round) / 2;
	double latency, spread, call, call_spread;
	helper_print(helper, "mailbox_round",
		     before.round < after.round ? before.round : after.round, 0, "ns");
	if (unsure > USELESS)
		return;
	helper_summarize_calm(&latencies, &latency, &spread);
	helper_summarize_calm(&calls, &call, &call_spread);
	helper_print(helper, "launch_latency", latency, spread + unsure, "ns");
	helper_print(helper, "launch_latency_after_return", latency - call,
		     spread + call_spread + unsure, "ns");
}
