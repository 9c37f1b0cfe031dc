/* SPDX-License-Identifier: Apache-2.0 */
/* too_many_workers.c - the loader has more worker processes than there are processors: they take
 * time from each other and from the loop.
 *
 * Conditions: the GPU waits for input, the loop's process has more workers than the host has
 * processors and, where the states of threads were recorded, the workers are ready to run and
 * lack a processor for PREEMPTED_SHARE of the time or more. Cost: gaps with the cause 'input'.
 * The finding takes the place of input-starved, whose advice would be more workers.
 */
#include <math.h>

#include "base/lang.h"
#include "base/say.h"
#include "diagnose/findings/findings.h"
#include "diagnose/workers.h"

/* The number that would do: as many as ran at the same time, at most one less than processors,
 * so that one is left for the loop. */
static uint32_t enough(const struct workers *workers)
{
	int64_t most = workers->cpus > 1 ? workers->cpus - 1 : 1;
	int64_t ran = workers->has_states ? (int64_t)ceil(workers->running) : most;
	return (uint32_t)(ran < 1 ? 1 : ran < most ? ran : most);
}

static const char *too_many_workers_advice(struct hwy_case *c, uint32_t number)
{
	struct hwy_arena *arena = &c->diagnosis->arena;
	if (c->diagnosis->framework == HWY_PYTORCH)
		return hwy_arena_say(
			arena,
			"Use %u workers, with one thread in each; then make a batch cheaper: decode smaller images, "
			"store the data preprocessed, augment on the GPU.\n"
			"  DataLoader(…, num_workers=%u, worker_init_fn=lambda i: torch.set_num_threads(1))",
			number, number);
	return hwy_arena_say(
		arena,
		"Use %u workers, with one thread in each; then make a batch cheaper: store the data preprocessed, or "
		"do part of it on the GPU.",
		number);
}

static void finding_too_many_workers_look(struct hwy_case *c)
{
	struct claim claim = {0};
	struct hwy_arena *arena = &c->diagnosis->arena;
	if (case_states(c).causes[GAP_INPUT] == 0)
		return;
	struct workers workers = workers_find(c);
	if (!workers_are_too_many(&workers))
		return;
	claim_cause(c, &claim, GAP_INPUT);
	if (!claim_is_worth(c, &claim)) {
		claim_drop(c, &claim);
		return;
	}
	const char *lack = "";
	if (workers.has_states)
		lack = hwy_arena_say(
			arena, " Each is ready to run and has no processor for %s of the time.",
			hwy_say_share(workers.preempted).text);
	const char *says = hwy_arena_say(
		arena,
		"%u worker processes share %lld processors, and the GPU waits %s%s for the next batch.%s",
		workers.n, (long long)workers.cpus,
		hwy_say_time3(case_per_step(c, claim.total)).text, case_a_step(c), lack);
	claim_accuse(c, &claim, workers.has_states ? HWY_HIGH : HWY_MEDIUM, says,
		     too_many_workers_advice(c, enough(&workers)));
}

const struct hwy_finding_kind finding_too_many_workers = {
	.id = "too-many-workers",
	.title = "more loader workers than processors",
	.look = finding_too_many_workers_look,
};
