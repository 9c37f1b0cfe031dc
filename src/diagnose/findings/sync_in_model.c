/* SPDX-License-Identifier: Apache-2.0 */
/* sync_in_model.c - waits inside the model: control flow that depends on values on the GPU.
 *
 * Condition: there are SYNCS_MANY_PER_STEP waits a step or more, or the wait that costs most is
 * in a method forward(); most of them wait for values, not for large data; and the idle time
 * after the waits is worth a finding. It takes the place of sync-in-loop: moving one wait out of
 * the loop would not help.
 */
#include "base/lang.h"
#include "base/say.h"
#include "diagnose/findings/findings.h"
#include "diagnose/syncs.h"

static const struct advice fix = {
	.any = "Let the GPU decide: compute both branches and select, or keep the condition in device memory.\n"
	       "  y = condition ? a : b;   // inside the kernel, not if (host_copy_of_condition) on the CPU",
	.by_framework =
		{
			[HWY_PYTORCH] =
				"Let the GPU decide: replace Python's if and while on tensors by torch.where, masks or clamp; "
				"avoid nonzero(), boolean indexing and .item() in forward().\n"
				"  x = torch.where(x.abs().max() > limit, x * scale, x)   # not: if x.abs().max() > limit: …",
			[HWY_JAX] =
				"Let the GPU decide: jnp.where, lax.cond and lax.while_loop inside the jitted function; Python's if and while on an array wait "
				"for its value.\n"
				"  x = jnp.where(jnp.abs(x).max() > limit, x * scale, x)   # not: if jnp.abs(x).max() > limit: …",
			[HWY_CUPY] =
				"Let the GPU decide: cupy.where and masks instead of Python's if on an array.\n"
				"  x = cupy.where(peak > limit, x * scale, x)",
		},
};

static void finding_sync_in_model_look(struct hwy_case *c)
{
	struct syncs syncs = syncs_look(c);
	if (case_is_loop(c) && claim_is_worth(c, &syncs.claim) && syncs.with_data <= syncs.n / 2 &&
	    (syncs.each >= SYNCS_MANY_PER_STEP || syncs_are_in_forward(c, &syncs))) {
		const char *says = hwy_arena_say(
			&c->diagnosis->arena,
			"The CPU stops for the GPU %s a step, and each time its lead is lost; the GPU idles %s a "
			"step after these waits.%s",
			hwy_say_count_times(syncs.each).text,
			hwy_say_time3(case_per_step(c, syncs.claim.total)).text,
			syncs_meanwhile(c, &syncs));
		const char *callback = syncs_callback_advice(c, &syncs);
		claim_accuse(c, &syncs.claim, HWY_HIGH, says,
			     callback ? callback : case_advice(c, &fix));
	}
	syncs_free(c, &syncs);
}

const struct hwy_finding_kind finding_sync_in_model = {
	.id = "sync-in-model",
	.title = "many waits a step, from decisions made on the CPU",
	.edit = "decide-on-gpu",
	.look = finding_sync_in_model_look,
};
