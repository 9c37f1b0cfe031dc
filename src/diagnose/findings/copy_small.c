/* SPDX-License-Identifier: Apache-2.0 */
/* copy_small.c - many small transfers: each takes its latency, whatever its size.
 *
 * Cost: the exposed time of copies below SMALL_BYTES, and the idle time right before them that no
 * other finding has claimed. Copies that the CPU waits for are not counted: their wait costs the
 * time, and other findings look at it. Condition: at least MANY_PER_STEP such copies a step; a few
 * copies for bookkeeping are normal.
 */
#include "base/lang.h"
#include "base/say.h"
#include "diagnose/case.h"
#include "diagnose/findings/findings.h"

/* At 25 GB/s 64 KiB take 2.6 us, less than the 5 to 10 us a copy takes to get going. */
#define SMALL_BYTES 65536
#define MANY_PER_STEP 8.0
#define FEARED_PER_STEP 4.0 /* with so many harmless copies a step, say that they are harmless */

static const struct advice fix = {
	.any = "Put what belongs together into one buffer and copy it once; pass single numbers as kernel arguments.\n"
	       "  cudaMemcpyAsync(device_block, host_block, sizeof *host_block, cudaMemcpyHostToDevice, s);",
	.by_framework =
		{[HWY_PYTORCH] =
			 "Make tensors on the GPU, or stack the small ones and copy once; torch.tensor(x, "
			 "device=\"cuda\") in a loop is one copy each.\n"
			 "  packed = torch.stack(small).to(\"cuda\", non_blocking=True)",
		 [HWY_JAX] =
			 "A Python number or a NumPy scalar that goes to the device is a copy of its own: compute it inside the jitted function, or make an "
			 "array of it once, before the loop.\n"
			 "  rate = jnp.float32(0.01)        # once; not 0.01 * g outside of jit in every step",
		 [HWY_CUPY] = "Collect the small arrays in one NumPy array and copy that once.\n"
			      "  packed = cupy.asarray(numpy.stack(small))"},
};

static bool is_small(const struct case_transfer *one)
{
	return !one->is_comm && (one->direction == HWY_H2D || one->direction == HWY_D2H) &&
	       one->bytes < SMALL_BYTES;
}

/* Yields the set of ops that are copies which the CPU waits for. */
static struct hwy_map find_read_backs(const struct hwy_case *c)
{
	struct hwy_map found = {0};
	struct case_pauses pauses = pauses_find(c);
	for (uint32_t i = 0; i < pauses.n; i++) {
		uint32_t op = pause_copy(c, &pauses.pauses[i]);
		if (op != FLOW_NONE)
			hwy_map_put(&found, op, NULL);
	}
	pauses_free(&pauses);
	return found;
}

static void claim_before(struct hwy_case *c, struct claim *claim, const struct hwy_map *without)
{
	const unsigned causes = CLAIM_CAUSE(GAP_LAUNCH) | CLAIM_CAUSE(GAP_DEPENDENCY);
	for (uint32_t g = 0, t = 0; g < c->measures->gaps.n; g++) {
		const struct hwy_gap *gap = &c->measures->gaps.gaps[g];
		if (gap->op == FLOW_NONE || !(causes & CLAIM_CAUSE(gap->cause)) ||
		    c->flow->ops[gap->op].kind != HWY_COPY)
			continue;
		if (t >= c->n_transfers || c->transfers[t].op > gap->op)
			t = 0;
		while (t < c->n_transfers && c->transfers[t].op < gap->op)
			t++;
		if (t < c->n_transfers && c->transfers[t].op == gap->op &&
		    is_small(&c->transfers[t]) && !hwy_map_get(without, gap->op))
			claim_gap(c, claim, g, CLAIM_ALL, c->flow->ops[gap->op].span);
	}
}

static void finding_copy_small_look(struct hwy_case *c)
{
	struct claim claim = {0};
	uint64_t n = 0, bytes = 0;
	struct hwy_map read_backs = find_read_backs(c);
	for (uint32_t i = 0; i < c->n_transfers; i++) {
		const struct case_transfer *one = &c->transfers[i];
		if (!is_small(one) || hwy_map_get(&read_backs, one->op))
			continue;
		n++;
		bytes += one->bytes;
		claim_transfer(c, &claim, i, CLAIM_ALL, c->flow->ops[one->op].span);
	}
	double each = case_count_per_step(c, n);
	if (each >= MANY_PER_STEP)
		claim_before(c, &claim, &read_backs);
	if (n > 0 && each >= MANY_PER_STEP && claim_is_worth(c, &claim))
		claim_accuse(
			c, &claim, HWY_MEDIUM,
			hwy_arena_say(
				&c->diagnosis->arena,
				"%s small copies a step, %s each on average: they take %s, nearly all of it "
				"latency.",
				hwy_say_count_mean(each).text, hwy_say_bytes3_to_gb(bytes / n).text,
				hwy_say_time3(case_per_step(c, claim.total)).text),
			case_advice(c, &fix));
	else if (each >= FEARED_PER_STEP && !claim_is_worth(c, &claim))
		claim_acquit(c, &claim,
			     hwy_arena_say(&c->diagnosis->arena,
					   "%s small copies a step take %s of it.",
					   hwy_say_count_mean(each).text,
					   hwy_say_share(claim_share(c, &claim)).text));
	claim_drop(c, &claim);
	hwy_map_free(&read_backs);
}

const struct hwy_finding_kind finding_copy_small = {
	.id = "copy-small",
	.title = "many small transfers",
	.suspect = "small copies",
	.look = finding_copy_small_look,
};
