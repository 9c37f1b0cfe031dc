/* SPDX-License-Identifier: Apache-2.0 */
/* sync_in_loop.c - a blocking read or wait every step: .item(), print, .cpu(), a synchronise call.
 *
 * Cost: the idle time after the waits, until the CPU has refilled the queue. Waits that cost less
 * than HWY_WORTH_SHARE are acquitted, and the user is told from how much device work on they would
 * cost.
 */
#include "base/lang.h"
#include "base/say.h"
#include "diagnose/findings/findings.h"
#include "diagnose/syncs.h"

/* With fewer waits than this in all, waiting is no habit of the loop. */
#define FEWEST_WAITS 2
/* Where so many percent of the waits found the GPU done, a fix gains the calls' own time, not the
 * waiting. */
#define FOR_NOTHING_PERCENT 90

static const struct advice fix = {
	.any = "Read results back every N steps, or let the copy run asynchronously and look at it a step later.\n"
	       "Order work with events (cudaStreamWaitEvent) instead of stopping the CPU.\n"
	       "  cudaEventRecord(done, s); cudaStreamWaitEvent(next, done, 0);  // not cudaStreamSynchronize(s)",
	.by_framework =
		{
			[HWY_PYTORCH] =
				"Keep the value on the GPU and read it every N steps, not every step.\n"
				"  total += loss.detach()               # no wait\n"
				"  if step % 100 == 0: print(total.item() / 100); total.zero_()",
			[HWY_CUPY] =
				"Read the result back every N steps, or copy it to pinned memory on its own stream and use it "
				"one step later.\n"
				"  if step % 100 == 0: print(float(residual))",
			[HWY_JAX] =
				"float(), np.asarray(), print() and block_until_ready() wait until the step is done: keep the value on "
				"the device and fetch it every N steps; then the next step is dispatched while this one runs.\n"
				"  losses.append(loss)                  # no wait\n"
				"  if i % 100 == 0: print(float(sum(losses)) / len(losses)); losses.clear()",
			[HWY_OPENCL_C] =
				"Enqueue reads without blocking and wait for their event when the data is used; clFinish only at "
				"the end.\n"
				"  clEnqueueReadBuffer(q, buf, CL_FALSE, 0, n, host, 0, NULL, &done); … clWaitForEvents(1, &done);",
		},
	.inference =
		"Launch the next step before looking at this one's result: copy it to pinned memory without waiting, and "
		"read it while the GPU is busy.\n"
		"  host.copy_(tokens, non_blocking=True); done.record(); launch_next(); done.synchronize(); use(host)",
};

/* The advice where the CPU waits while it copies to the device. */
static const struct advice send = {
	.any = "These waits are for copies to the device: keep there what does not change, and copy what does from pinned memory, which "
	       "returns at once.\n"
	       "  cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, stream);",
	.by_framework =
		{
			[HWY_PYTORCH] =
				"These waits are for copies to the device: keep there what does not change (register_buffer), and copy what does "
				"from pinned memory, which returns at once.\n"
				"  self.register_buffer(\"bias\", bias)   # not: bias.to(x.device) in forward()\n"
				"  x = x.pin_memory().to(device, non_blocking=True)",
			[HWY_OPENCL_C] =
				"These waits are for copies to the device: keep there what does not change, and enqueue writes of what does without "
				"blocking, from memory that stays as it is until their event.\n"
				"  clEnqueueWriteBuffer(q, buf, CL_FALSE, 0, n, host, 0, NULL, &written);",
		},
};

static const char *sync_in_loop_accusation(struct hwy_case *c, const struct syncs *syncs)
{
	struct hwy_arena *arena = &c->diagnosis->arena;
	int64_t cost = case_per_step(c, syncs->claim.total);
	return hwy_arena_say(
		arena,
		"The CPU stops for the GPU %s a step and waits %s; by then the queue is empty, and the GPU "
		"idles %s until new work arrives.%s",
		hwy_say_count_times(syncs->each).text,
		hwy_say_time3(syncs->waited / (int64_t)c->phase->n_steady).text,
		hwy_say_time3(cost).text, syncs_meanwhile(c, syncs));
}

static const char *sync_in_loop_advice(const struct hwy_case *c, const struct syncs *syncs)
{
	const char *callback = syncs_callback_advice(c, syncs);
	return callback ? callback : case_advice(c, syncs_send(c, syncs) ? &send : &fix);
}

static const char *excuse(struct hwy_case *c, const struct syncs *syncs)
{
	struct hwy_arena *arena = &c->diagnosis->arena;
	double finished = (double)syncs->finished / (double)syncs->n;
	struct hwy_words each = hwy_say_count_of(syncs->each, "wait", "waits"),
			 cost = hwy_say_share(claim_share(c, &syncs->claim));
	if (finished >= 0.5)
		return hwy_arena_say(
			arena,
			"%s%s; the GPU loses %s of the time by them: it had already finished at %s of them.",
			each.text, case_a_step(c), cost.text, hwy_say_share(finished).text);
	if (case_share(c, case_states(c).idle) >= 0.1)
		return hwy_arena_say(
			arena,
			"%s%s; the GPU loses %s of the time by them, and idles for other reasons.",
			each.text, case_a_step(c), cost.text);
	return hwy_arena_say(
		arena,
		"%s%s; the GPU loses %s of the time by them: it idles %s after them and works the rest of the "
		"time.",
		each.text, case_a_step(c), cost.text,
		hwy_say_time3(case_per_step(c, syncs->claim.total)).text);
}

static void finding_sync_in_loop_look(struct hwy_case *c)
{
	struct syncs syncs = syncs_look(c);
	/* Waits for data that another finding accuses are no waits for values. */
	bool is_for_data = syncs.with_data > syncs.n / 2 && syncs_are_accused(c);
	if (claim_is_worth(c, &syncs.claim) && !is_for_data)
		claim_accuse(c, &syncs.claim, syncs.n >= FEWEST_WAITS ? HWY_HIGH : HWY_LOW,
			     sync_in_loop_accusation(c, &syncs), sync_in_loop_advice(c, &syncs));
	/* What a wait costs a thread that another thread waits for cannot be replayed: no
	 * acquittal. */
	else if (!syncs_are_accused(c) && syncs.for_others <= syncs.n / 2 &&
		 (syncs.n >= FEWEST_WAITS || (syncs.n && c->phase->n_steady < 20))) {
		const char *says = excuse(c, &syncs);
		bool for_nothing = syncs.finished >= syncs.n * FOR_NOTHING_PERCENT / 100;
		const char *advice = sync_in_loop_advice(c, &syncs);
		struct claim claim = syncs.claim;
		syncs.claim = (struct claim){0};
		syncs_note(c, &syncs, &claim);
		struct hwy_finding *acquitted = claim_acquit(c, &claim, says);
		/* The replay may turn the acquittal into an accusation, which needs advice. */
		acquitted->advice = advice;
		if (for_nothing)
			acquitted->even_so = HWY_KEY("The calls cost the CPU time all the same");
	}
	syncs_free(c, &syncs);
}

const struct hwy_finding_kind finding_sync_in_loop = {
	.id = "sync-in-loop",
	.title = "the CPU waits for the GPU every step",
	.suspect = "waits every step",
	.edit = "remove-wait",
	.look = finding_sync_in_loop_look,
};
