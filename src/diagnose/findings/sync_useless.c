/* SPDX-License-Identifier: Apache-2.0 */
/* sync_useless.c - synchronise calls while no device work is pending: they take time, and wait for
 * nothing.
 *
 * Cost: the idle time that such calls overlap. It is large only in launch-bound programs, where
 * every µs of the CPU is a µs of the GPU.
 */
#include <stdlib.h>

#include "base/lang.h"
#include "base/say.h"
#include "diagnose/case.h"
#include "diagnose/findings/findings.h"

#define OFTEN_PER_STEP 0.5

static const struct advice fix = {
	.any = "Remove these synchronise calls: there is nothing to wait for. Keep one where the host first uses a "
	       "result.",
	.by_framework =
		{[HWY_PYTORCH] =
			 "Remove torch.cuda.synchronize() from the loop: there is nothing to wait for. Timing "
			 "needs it only around the loop, or events.\n"
			 "  start.record(); loop(); end.record(); end.synchronize(); start.elapsed_time(end)"},
};

static void finding_sync_useless_look(struct hwy_case *c)
{
	struct case_pauses pauses = pauses_find(c);
	struct claim_stretch *stretches = NULL;
	uint32_t n = 0, cap = 0;
	int64_t length = 0;
	for (uint32_t i = 0; i < pauses.n; i++) {
		const struct case_pause *pause = &pauses.pauses[i];
		if (!pause->is_useless)
			continue;
		const struct flow_call *call =
			&c->flow->calls[c->measures->waits.waits[pause->wait].call];
		HWY_GROW(stretches, n, cap);
		stretches[n++] = (struct claim_stretch){{call->start, call->end}, call->span};
		length += call->end - call->start;
	}
	struct claim claim = {0};
	claim_stretches(c, &claim, stretches, n, CLAIM_CPU_CAUSES);
	if (n > 0 && claim_is_worth(c, &claim) && case_count_per_step(c, n) >= OFTEN_PER_STEP)
		claim_accuse(
			c, &claim, HWY_HIGH,
			hwy_arena_say(
				&c->diagnosis->arena,
				"The program makes %s a step with nothing pending; each takes %s all the same.",
				hwy_say_count_of(case_count_per_step(c, n), "synchronise call",
						 "synchronise calls")
					.text,
				hwy_say_time3(length / (int64_t)n).text),
			case_advice(c, &fix));
	claim_drop(c, &claim);
	free(stretches);
	pauses_free(&pauses);
}

const struct hwy_finding_kind finding_sync_useless = {
	.id = "sync-useless",
	.title = "synchronise calls with nothing to wait for",
	.edit = "remove-wait",
	.look = finding_sync_useless_look,
};
