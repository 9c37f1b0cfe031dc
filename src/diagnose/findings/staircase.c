/* SPDX-License-Identifier: Apache-2.0 */
/* staircase.c - CPU and GPU take turns: while one works the other waits, every step.
 *
 * Conditions: there are few waits a step (many are sync-in-model), the GPU idles after them for at
 * least IDLE_SHARE of the step, the CPU waits in them for at least WAIT_SHARE, both together cover
 * TURNS_SHARE (CPU and GPU never work side by side), and the CPU spends the idle time with its own
 * work, less than IN_CALLS_SHARE of it inside the vendor's calls. The finding takes the place of
 * sync-in-loop, because removing the wait is not enough: the CPU's work must run beside the GPU's.
 */
#include "base/lang.h"
#include "base/say.h"
#include "diagnose/findings/findings.h"
#include "diagnose/syncs.h"

#define IDLE_SHARE 0.33
#define WAIT_SHARE 0.2
#define TURNS_SHARE 0.8
#define IN_CALLS_SHARE 0.5

static const struct advice fix = {
	.any = "Launch step n+1 before looking at the results of step n, so that the CPU works while the GPU does: two "
	       "sets of buffers, an event each.\n"
	       "  launch(n + 1); cudaEventSynchronize(done[n % 2]); use(host[n % 2]);",
	.by_framework =
		{
			[HWY_PYTORCH] =
				"Launch step n+1 before looking at the results of step n; copy them with non_blocking=True to "
				"pinned memory and wait for an event only when they are used.\n"
				"  host.copy_(out, non_blocking=True); done.record(); next_step(); done.synchronize(); use(host)",
			[HWY_CUPY] =
				"Launch step n+1 before looking at the results of step n; copy them to pinned memory on a stream of their own, "
				"and work on them in another thread, or after that launch.\n"
				"  with copy_stream: x.get(out=pinned, blocking=False); done.record()\n"
				"  next_step(); done.synchronize(); save(pinned)",
			[HWY_JAX] =
				"Dispatch step n+1 before looking at the results of step n: a jitted function returns at once, only reading its result waits.\n"
				"  following = step(params, batch); use(np.asarray(result)); result = following",
			[HWY_OPENCL_C] =
				"Enqueue step n+1 before waiting for the results of step n.\n"
				"  enqueue(n + 1); clWaitForEvents(1, &done[n % 2]); use(host[n % 2]);",
		},
};

/* Yields which share of the claimed idle time the CPU spends inside calls. */
static double part_in_calls(const struct hwy_case *c, const struct claim *claim)
{
	int64_t inside = 0;
	uint32_t call = c->first_call;
	for (uint32_t i = 0; i < claim->n; i++) {
		const struct hwy_gap *gap = &c->measures->gaps.gaps[claim->items[i].index];
		/* The gaps of the next device begin: start again with the first call. */
		if (i && gap->at.from < c->measures->gaps.gaps[claim->items[i - 1].index].at.from)
			call = c->first_call;
		while (call < c->end_call && c->flow->calls[call].end <= gap->at.from)
			call++;
		for (uint32_t k = call; k < c->end_call && c->flow->calls[k].start < gap->at.to;
		     k++) {
			const struct flow_call *one = &c->flow->calls[k];
			int64_t from = one->start > gap->at.from ? one->start : gap->at.from;
			int64_t to = one->end < gap->at.to ? one->end : gap->at.to;
			if (case_call_is_ours(c, k) && to > from)
				inside += to - from;
		}
	}
	return claim->total > 0 ? (double)inside / (double)claim->total : 0;
}

static void finding_staircase_look(struct hwy_case *c)
{
	struct syncs syncs = syncs_look(c);
	double idle = claim_share(c, &syncs.claim);
	double window = (double)(c->phase->window.to - c->phase->window.from);
	double waited = window > 0 ? (double)syncs.waited / window : 0;
	double all_idle = case_share(c, case_states(c).idle);
	if (syncs.n && syncs.each >= 0.5 && syncs.each < SYNCS_MANY_PER_STEP &&
	    idle >= IDLE_SHARE && waited >= WAIT_SHARE && all_idle + waited >= TURNS_SHARE &&
	    part_in_calls(c, &syncs.claim) < IN_CALLS_SHARE) {
		const char *says = hwy_arena_say(
			&c->diagnosis->arena,
			"CPU and GPU take turns: the CPU waits %s of the step for the GPU, then the GPU idles %s of it "
			"for the CPU.%s",
			hwy_say_share(waited).text, hwy_say_share(idle).text,
			syncs_meanwhile(c, &syncs));
		claim_accuse(c, &syncs.claim, HWY_HIGH, says, case_advice(c, &fix));
	}
	syncs_free(c, &syncs);
}

const struct hwy_finding_kind finding_staircase = {
	.id = "staircase",
	.title = "CPU and GPU take turns",
	.edit = "remove-wait",
	.look = finding_staircase_look,
};
