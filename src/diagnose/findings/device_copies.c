/* SPDX-License-Identifier: Apache-2.0 */
/* device_copies.c - the program copies data from one place of the GPU's memory to another.
 *
 * Cost: the exposed time of copies between two buffers of one device, and the time of kernels
 * that only copy (PyTorch's contiguous(), clone() and cat() are kernels), by their names.
 * Condition: WORTH_SHARE of the step or more.
 */
#include <string.h>

#include "base/lang.h"
#include "base/say.h"
#include "diagnose/case.h"
#include "diagnose/findings/findings.h"

#define WORTH_SHARE 0.05

static const struct advice fix = {
	.any = "Let the producer write where the consumer reads: a kernel that takes strides or an offset, two buffers that change "
	       "their roles, one buffer for the parts that are put together.",
	.by_framework =
		{
			[HWY_PYTORCH] =
				"Leave out what copies: contiguous(), clone(), cat(), repeat() and conversions of the type. Write into "
				"parts of one tensor instead of putting parts together, use expand() and views, and keep one memory "
				"format and one type from layer to layer.\n"
				"  out = x.new_empty(n + m, d); first(x, out=out[:n]); second(x, out=out[n:])   # not: torch.cat(…)\n"
				"  model = model.to(memory_format=torch.channels_last)",
			[HWY_CUPY] =
				"Write into parts of one array instead of putting parts together, and use views.\n"
				"  cupy.add(x, y, out=z[:n])        # not: cupy.concatenate(…)",
			[HWY_JAX] =
				"headway tree names the operations that copy: transposes between layouts, parts that are put together, the state "
				"of a loop. Keep one layout, and update in place with x.at[…].set(…) inside the jitted function.",
		},
	.compiled =
		"Leave out what copies: contiguous(), clone(), cat() and conversions between compiled pieces. Keep one memory format "
		"and one type from layer to layer; inputs of captured graphs are copied in every replay.",
};

/* The advice where most of what is copied are arguments of functions that XLA compiled. */
static const char donate[] =
	"Arguments of the compiled function are copied whole, because they come back as results: do not return what does not change, and let "
	"XLA reuse an argument's memory for the result.\n"
	"  step = jax.jit(step, donate_argnums=0)";

/* Whether at least half of the bytes that are copied are arguments of functions which XLA
 * compiled. */
static bool are_arguments(const struct hwy_case *c, uint64_t bytes)
{
	uint64_t arguments = 0;
	if (c->diagnosis->framework != HWY_JAX)
		return false;
	for (uint32_t i = 0; i < c->n_transfers; i++) {
		const struct case_transfer *one = &c->transfers[i];
		if (one->is_comm || one->direction != HWY_D2D)
			continue;
		struct hwy_place place = place_of(c->analysis->places, c->flow->ops[one->op].span);
		if (strstr(place.range, " (argument)"))
			arguments += one->bytes;
	}
	return arguments > 0 && arguments >= bytes / 2;
}

/* Names of kernels that copy: PyTorch's for copy_() and cat(), and the kernel by which HIP
 * copies between buffers. */
static bool is_copy_kernel(const char *name)
{
	static const char *const parts[] = {"direct_copy_kernel", "CatArrayBatchedCopy",
					    "rocclr_copyBuffer", NULL};
	for (const char *const *part = parts; *part; part++)
		if (strstr(name, *part))
			return true;
	return false;
}

/* Claims the kernels that copy, and yields their number. */
static uint64_t claim_copy_kernels(struct hwy_case *c, struct claim *claim)
{
	uint64_t n = 0;
	struct hwy_map copying = case_kernel_names(c, is_copy_kernel);
	for (uint32_t op = c->first_op; copying.count && op < c->end_op; op++) {
		const struct flow_op *one = &c->flow->ops[op];
		if (one->kind != HWY_KERNEL || !case_op_is_ours(c, op) ||
		    c->op_is_taken[op - c->first_op] ||
		    !hwy_map_get(&copying, (uint64_t)case_get(c, one->span, HWY_NAME)))
			continue;
		claim_op(c, claim, op, one->span);
		n++;
	}
	hwy_map_free(&copying);
	return n;
}

static void finding_device_copies_look(struct hwy_case *c)
{
	struct claim claim = {0};
	uint64_t copies = 0, bytes = 0;
	for (uint32_t i = 0; i < c->n_transfers; i++) {
		const struct case_transfer *one = &c->transfers[i];
		if (one->is_comm || one->direction != HWY_D2D)
			continue;
		copies++;
		bytes += one->bytes;
		claim_transfer(c, &claim, i, CLAIM_ALL, c->flow->ops[one->op].span);
	}
	uint64_t kernels = claim_copy_kernels(c, &claim);
	if (claim_share(c, &claim) < WORTH_SHARE) {
		claim_drop(c, &claim);
		return;
	}
	struct hwy_arena *arena = &c->diagnosis->arena;
	const char *by = "";
	if (copies && bytes)
		by = hwy_arena_say(arena, ", %s of them copies of %s on average",
				   hwy_say_count_mean(case_count_per_step(c, copies)).text,
				   hwy_say_bytes3_to_gb(bytes / copies).text);
	const char *says = hwy_arena_say(
		arena, "The program copies inside the GPU: %s%s%s take %s, %s of the time.",
		hwy_say_count_of(case_count_per_step(c, copies + kernels), "copy", "copies").text,
		case_a_step(c), by, hwy_say_time3(case_per_step(c, claim.total)).text,
		hwy_say_share(claim_share(c, &claim)).text);
	claim_accuse(c, &claim, HWY_MEDIUM, says,
		     are_arguments(c, bytes) ? donate : case_advice(c, &fix));
}

const struct hwy_finding_kind finding_device_copies = {
	.id = "device-copies",
	.title = "data is copied inside the GPU",
	.look = finding_device_copies_look,
	.is_inside = true,
};
