/* SPDX-License-Identifier: Apache-2.0 */
/* copy_bandwidth.c - the link is the limit: large copies run at its full rate and take longer
 * than the computation.
 *
 * Conditions: large copies reach NEAR_LIMIT_SHARE of the link's rate or more, and the copies of
 * one direction alone would take longer than the kernels even with perfect overlap. Cost: the
 * time by which they exceed the kernels. Nothing but sending less helps. Where counters of the
 * link say so (link-saturated), this finding is silent.
 */
#include "base/lang.h"
#include "base/say.h"
#include "diagnose/case.h"
#include "diagnose/findings/findings.h"

#define LARGE_BYTES (1u << 20)
#define NEAR_LIMIT_SHARE 0.75
#define WORTH_SHARE 0.05

static const char fix[] =
	"Send less: smaller types (uint8 or fp16 instead of fp32, converted on the GPU), only what changed, or keep the "
	"data on the device between steps. Copies of one direction cannot overlap each other; beside kernels, and beside copies of the "
	"other direction, they still take this long.";

static bool is_calibrated(const struct hwy_case *c, enum hwy_direction direction)
{
	double rate;
	return machine_limits_calibrated(c->trace, machine_limits_link_key(direction), &rate);
}

static void finding_copy_bandwidth_look(struct hwy_case *c)
{
	int64_t ns[2] = {0};
	uint64_t bytes[2] = {0}, n[2] = {0};
	if (case_is_accused(c, "link-saturated"))
		return;
	for (uint32_t i = 0; i < c->n_transfers; i++) {
		const struct case_transfer *one = &c->transfers[i];
		int back = one->direction == HWY_D2H;
		if (one->is_comm || (one->direction != HWY_H2D && !back) ||
		    one->bytes < LARGE_BYTES)
			continue;
		const struct flow_op *op = &c->flow->ops[one->op];
		ns[back] += op->end - op->start;
		bytes[back] += one->bytes;
		n[back]++;
	}
	int way = ns[1] > ns[0];
	enum hwy_direction direction = way ? HWY_D2H : HWY_H2D;
	bool is_rate_known;
	double link = machine_limits_link_rate(c, direction, &is_rate_known);
	double rate = ns[way] ? (double)bytes[way] * 1e9 / (double)ns[way] : 0;
	int64_t excess = ns[way] - case_states(c).compute;
	if (excess <= 0 || rate < NEAR_LIMIT_SHARE * link || !is_rate_known)
		return;
	struct claim claim = {0};
	for (uint32_t i = 0; i < c->n_transfers && claim.total < excess; i++) {
		const struct case_transfer *one = &c->transfers[i];
		if (!one->is_comm && one->direction == direction && one->bytes >= LARGE_BYTES)
			claim_transfer(c, &claim, i, excess - claim.total,
				       c->flow->ops[one->op].span);
	}
	if (claim_share(c, &claim) >= WORTH_SHARE)
		claim_accuse(
			c, &claim, HWY_MEDIUM,
			hwy_arena_say(
				&c->diagnosis->arena,
				"%s a step %s the device, %s at %s, %s: even beside the kernels they would take %s "
				"longer than these.",
				hwy_say_count_of(case_count_per_step(c, n[way]), "copy", "copies")
					.text,
				hwy_tr(way ? "from" : "to"),
				hwy_say_bytes3_to_gb(bytes[way] / c->phase->n_steady).text,
				hwy_say_rate3(rate).text,
				hwy_tr(is_calibrated(c, direction) ? "the link's limit"
								   : "as fast as any copy here"),
				hwy_say_time3(case_per_step(c, claim.total)).text),
			fix);
	claim_drop(c, &claim);
}

const struct hwy_finding_kind finding_copy_bandwidth = {
	.id = "copy-bandwidth",
	.title = "the link to the GPU is full",
	.look = finding_copy_bandwidth_look,
	.is_inside = true,
};
