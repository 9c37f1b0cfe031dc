/* module_load_late.c - kernels are loaded or compiled inside the steady steps: lazy loading, or
 * JIT.
 *
 * Cost: gaps with the cause 'module', and other idle time that such calls overlap. Warm-up steps,
 * and programs in which nothing repeats, are not looked at: that is where loading belongs.
 */
#include "base/say.h"
#include "diagnose/case.h"
#include "diagnose/findings/findings.h"

static const struct advice fix = {
	.any = "Run every kernel once before the part that counts, or load them all at the start; ship code for this GPU, so "
	       "that the driver need not compile PTX.\n"
	       "  CUDA_MODULE_LOADING=EAGER ./program     # and nvcc -arch=native",
	.by_framework =
		{
			[HWY_PYTORCH] =
				"Warm up with every input shape before measuring; mark changing sizes as dynamic, so that "
				"nothing is compiled again.\n"
				"  torch.compile(model, dynamic=True)",
			[HWY_CUPY] =
				"Run every kernel once before the loop; CuPy compiles at first use and keeps the result in "
				"~/.cupy/kernel_cache.",
			[HWY_OPENCL_C] =
				"Build programs once, before the loop, and keep their binaries.\n"
				"  clCreateProgramWithBinary(…)   # instead of clBuildProgram in the loop",
		},
};

static void finding_module_load_late_look(struct hwy_case *c)
{
	struct claim claim = {0};
	claim_cause(c, &claim, GAP_MODULE);
	claim_roles(c, &claim, 1u << HWY_ROLE_MODULE, CLAIM_CPU_CAUSES);
	if (case_is_loop(c) && claim_is_worth(c, &claim))
		claim_accuse(
			c, &claim, HWY_HIGH,
			hwy_arena_format(
				&c->diagnosis->arena,
				"Kernels are loaded or compiled inside the measured steps: %s in all; the "
				"GPU idles %s a step for it.",
				hwy_say_count_of((double)c->counts.calls[HWY_ROLE_MODULE], "call",
						 "calls")
					.text,
				hwy_say_time3(case_per_step(c, claim.total)).text),
			case_advice(c, &fix));
	claim_drop(c, &claim);
}

const struct hwy_finding_kind finding_module_load_late = {
	.id = "module-load-late",
	.title = "kernels are loaded inside the loop",
	.edit = "no-module",
	.look = finding_module_load_late_look,
};
