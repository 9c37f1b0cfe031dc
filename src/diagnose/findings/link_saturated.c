/* SPDX-License-Identifier: Apache-2.0 */
/* link_saturated.c - a link of the GPU is full for a good part of the step: counters of PCIe or
 * NVLink say so.
 *
 * Conditions: one direction of a link is at INSIDE_LINK_LIMIT percent of its rate or more for
 * FULL_SHARE of the steady steps, and that is longer than the device computes: no overlap hides
 * it. Cost: the transfers beside which nothing else runs, at most as much as the full link
 * exceeds the computing, WORTH_SHARE of the step or more. Where the transfers hide behind
 * kernels the suspect is acquitted; where they could, other findings say how. copy-bandwidth
 * says the same of copies without counters.
 */
#include "base/lang.h"
#include "base/say.h"
#include "diagnose/evidence.h"
#include "diagnose/findings/findings.h"

#define FULL_SHARE 0.2
#define WORTH_SHARE 0.05

static const char fix[] =
	"Send less over the link, or send it another way: smaller types, only what changed, compressed gradients, data that stays on the "
	"device; GPUs that talk much to each other on NVLink instead of PCIe. Overlapping helps only as long as the link is not full.";

static const struct {
	enum hwy_metric metric;
	const char *name;
} links[] = {
	{METRIC_PCIE_RX, HWY_KEY("PCIe to the GPU")},
	{METRIC_PCIE_TX, HWY_KEY("PCIe from the GPU")},
	{METRIC_NVLINK_RX, HWY_KEY("NVLink to the GPU")},
	{METRIC_NVLINK_TX, HWY_KEY("NVLink from the GPU")},
};
enum { LINKS = sizeof links / sizeof *links };

/* The ns of the window in which a link is full, and the mean level of that time. */
static int64_t full_time(struct metric_percent link, struct hwy_interval window, double *level)
{
	int64_t ns = 0;
	double weighed = 0;
	for (uint32_t i = 0; link.series && i < link.series->n; i++) {
		struct hwy_interval at = metric_holds(link.series, i);
		double value = link.factor * link.series->values[i];
		int64_t from = at.from > window.from ? at.from : window.from;
		int64_t to = at.to < window.to ? at.to : window.to;
		if (to <= from || value < INSIDE_LINK_LIMIT)
			continue;
		ns += to - from;
		weighed += value * (double)(to - from);
	}
	*level = ns > 0 ? weighed / (double)ns : 0;
	return ns;
}

struct full_link {
	struct metric_percent percent;
	unsigned link;
	int64_t ns;
	double level;
};

static struct full_link fullest_link(struct hwy_case *c)
{
	struct hwy_metrics *metrics = analysis_metrics(c->analysis);
	struct full_link fullest = {0};
	for (uint32_t d = 0; metrics->n && d < c->flow->n_devices; d++)
		for (unsigned link = 0; c->uses[d] && link < LINKS; link++) {
			struct metric_percent percent = metrics_percent(
				metrics, c->flow->devices[d].device, links[link].metric);
			double level;
			int64_t ns = full_time(percent, c->phase->window, &level);
			if (ns > fullest.ns)
				fullest = (struct full_link){percent, link, ns, level};
		}
	return fullest;
}

/* Whether the link is full while a transfer runs. */
static bool fills_link(const struct hwy_case *c, const struct full_link *full, uint32_t transfer)
{
	const struct flow_op *op = &c->flow->ops[c->transfers[transfer].op];
	int64_t ns;
	return c->flow->devices[op->device].device == full->percent.series->device &&
	       full->percent.factor *
			       metric_mean_between(full->percent.series, op->start, op->end, &ns) >=
		       INSIDE_LINK_LIMIT;
}

static void finding_link_saturated_look(struct hwy_case *c)
{
	struct full_link full = fullest_link(c);
	double window = (double)(c->phase->window.to - c->phase->window.from);
	struct claim claim = {0};
	int64_t exposed = 0;
	if (!full.percent.series || (double)full.ns < FULL_SHARE * window)
		return;
	int64_t excess = full.ns - case_states(c).compute / (int64_t)c->n_devices;
	const char *fact = hwy_arena_say(&c->diagnosis->arena,
					 "%s is full (%.0f %% of its rate) for %s of the time",
					 hwy_tr(links[full.link].name), full.level,
					 hwy_say_share((double)full.ns / window).text);
	for (uint32_t i = 0; i < c->n_transfers; i++) {
		if (!fills_link(c, &full, i))
			continue;
		exposed += c->transfers[i].exposed;
		claim_transfer(c, &claim, i, excess - claim.total,
			       c->flow->ops[c->transfers[i].op].span);
	}
	if (case_share(c, exposed) < WORTH_SHARE)
		claim_acquit(c, &claim,
			     hwy_arena_say(&c->diagnosis->arena,
					   "%s, but nearly all of that hides behind kernels.",
					   fact));
	else if (claim_share(c, &claim) >= WORTH_SHARE)
		claim_accuse(
			c, &claim, HWY_HIGH,
			hwy_arena_say(
				&c->diagnosis->arena,
				"%s, longer than the GPU computes: even beside the kernels, transfers "
				"would take %s%s more than these.",
				fact, hwy_say_time3(case_per_step(c, claim.total)).text,
				case_a_step(c)),
			fix);
	claim_drop(c, &claim);
}

const struct hwy_finding_kind finding_link_saturated = {
	.id = "link-saturated",
	.title = "a link of the GPU is full",
	.suspect = "the full link",
	.look = finding_link_saturated_look,
	.is_inside = true,
};
