/* SPDX-License-Identifier: Apache-2.0 */
/* attention_unfused.c - attention that writes all its scores to memory: softmax as a kernel of
 * its own between two matrix products.
 *
 * Conditions: on one stream a softmax stands between two matrix products, with at most
 * MOST_BETWEEN kernels (scale, mask, dropout) in all; that happens FEWEST_TIMES or more; and
 * these softmax kernels take WORTH_SHARE of the time of all kernels or more. Cost: the time of
 * the kernels between the two products, which a fused kernel does on the way.
 */
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/say.h"
#include "diagnose/case.h"
#include "diagnose/findings/findings.h"

#define MOST_BETWEEN 6
#define FEWEST_TIMES 3
#define WORTH_SHARE 0.15

static const struct advice fix = {
	.any = "Use a fused attention kernel, which keeps the scores on the chip: FlashAttention, or cuDNN's fused attention.",
	.by_framework =
		{
			[HWY_PYTORCH] =
				"Use a fused attention kernel, which keeps the scores on the chip; in Hugging Face's models that is "
				"an argument.\n"
				"  y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)\n"
				"  AutoModel.from_pretrained(name, attn_implementation=\"sdpa\")     # or \"flash_attention_2\"",
			[HWY_JAX] =
				"Use a fused attention kernel, which keeps the scores on the chip.\n"
				"  y = jax.nn.dot_product_attention(q, k, v, implementation=\"cudnn\")",
		},
};

enum sort { NOT_ASKED, PRODUCT, SOFTMAX, OTHER };

/* By the names of cuBLAS, CUTLASS, Tensile, Triton and XLA for products, of PyTorch and Inductor
 * for softmax. The log-softmax of a loss is another thing. */
static enum sort sort_of_name(const char *name)
{
	static const char *const products[] = {"gemm",  "Cijk_", "nvjet", "matmul",
					       "_bmm_", "_mm_",  NULL};
	if (strcasestr(name, "softmax"))
		return strcasestr(name, "logsoftmax") || strcasestr(name, "log_softmax") ||
				       strcasestr(name, "flash")
			       ? OTHER
			       : SOFTMAX;
	for (const char *const *part = products; *part; part++)
		if (strcasestr(name, *part))
			return PRODUCT;
	return OTHER;
}

struct attention {
	struct claim claim;
	uint64_t n;
	int64_t softmax; /* ns of all softmax kernels found */
	uint8_t *sorts;  /* for each id of a name its enum sort */
};

static enum sort sort_of_op(const struct hwy_case *c, struct attention *found, uint32_t op)
{
	int64_t name = case_get(c, c->flow->ops[op].span, HWY_NAME);
	if (name <= 0 || name >= c->trace->strings.n)
		return OTHER;
	if (found->sorts[name] == NOT_ASKED)
		found->sorts[name] = (uint8_t)sort_of_name(hwy_str(c->trace, name));
	return found->sorts[name];
}

/* Goes over the kernels of one stream in order of time. */
static void look_at_lane(struct hwy_case *c, struct attention *found, const struct flow_lane *lane)
{
	/* The kernels since the last matrix product; UINT32_MAX where there are too many, or no
	 * product yet. */
	uint32_t between = UINT32_MAX;
	int64_t softmax = 0;
	uint32_t kernels[MOST_BETWEEN];
	uint32_t blamed = CLAIM_NOBODY;
	for (uint32_t i = 0; i < lane->n; i++) {
		uint32_t op = c->flow->by_lane[lane->first + i];
		const struct flow_op *one = &c->flow->ops[op];
		if (op < c->first_op || op >= c->end_op || one->kind != HWY_KERNEL ||
		    !case_op_is_ours(c, op))
			continue;
		enum sort sort = sort_of_op(c, found, op);
		int64_t length = one->end - one->start;
		if (sort == PRODUCT) {
			if (softmax > 0 && between <= MOST_BETWEEN) {
				found->n++;
				found->softmax += softmax;
				for (uint32_t k = 0; k < between; k++)
					claim_op(c, &found->claim, kernels[k], blamed);
			}
			between = 0;
			softmax = 0;
			continue;
		}
		if (between >= MOST_BETWEEN) {
			between = UINT32_MAX;
			softmax = 0;
			continue;
		}
		kernels[between++] = op;
		if (sort == SOFTMAX) {
			softmax += length;
			blamed = one->span;
		}
	}
}

static void finding_attention_unfused_look(struct hwy_case *c)
{
	struct attention found = {0};
	bool any = false;
	for (uint32_t k = 0; k < c->n_kernels && !any; k++)
		any = sort_of_name(hwy_str(c->trace, c->kernels[k].name)) == SOFTMAX;
	if (!any)
		return;
	found.sorts = hwy_zalloc(c->trace->strings.n + 1u);
	for (uint32_t l = 0; l < c->flow->n_lanes; l++)
		look_at_lane(c, &found, &c->flow->lanes[l]);
	free(found.sorts);
	double part = (double)found.softmax / (double)c->counts.kernel_ns;
	if (found.n < FEWEST_TIMES || part < WORTH_SHARE || !claim_is_worth(c, &found.claim)) {
		claim_drop(c, &found.claim);
		return;
	}
	const char *says = hwy_arena_say(
		&c->diagnosis->arena,
		"Attention is not fused: %s%s a softmax stands between two matrix products; softmax takes %s of the "
		"kernel time, and what stands between the products %s%s.",
		hwy_say_count_times(case_count_per_step(c, found.n)).text, case_a_step(c),
		hwy_say_share(part).text, hwy_say_time3(case_per_step(c, found.claim.total)).text,
		case_a_step(c));
	claim_accuse(c, &found.claim, HWY_MEDIUM, says, case_advice(c, &fix));
}

const struct hwy_finding_kind finding_attention_unfused = {
	.id = "attention-unfused",
	.title = "attention is not fused",
	.look = finding_attention_unfused_look,
	.is_inside = true,
};
