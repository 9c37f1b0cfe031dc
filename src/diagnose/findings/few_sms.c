/* SPDX-License-Identifier: Apache-2.0 */
/* few_sms.c - the GPU is busy, but few of its multiprocessors have work: counters say so.
 *
 * Conditions: while kernels of a name run, fewer than FEW_SMS_PERCENT of the multiprocessors are
 * active on average, whatever their grid (a persistent kernel, a long tail, blocks that ended
 * early), and that costs WORTH_SHARE of the step or more. Cost: the kernels' time, times the
 * share of the multiprocessors that look on; with the edit fill-gpu, what the replay gains.
 * Where counters were recorded, this finding stands for grid-too-small, which only knows the
 * grid.
 */
#include "base/lang.h"
#include "base/say.h"
#include "diagnose/evidence.h"
#include "diagnose/findings/findings.h"

#define FEW_SMS_PERCENT 50
#define WORTH_SHARE 0.1
/* Kernels below this share of the kernels' time are not looked at one by one. */
#define SMALL_KERNEL_SHARE 0.02
/* One kernel that takes this share of the phase never ends: its length is not its work's. */
#define PERSISTENT_SHARE 0.9

struct few_sms {
	struct claim claim;
	int64_t ns;           /* of all kernels found */
	int64_t longest_name; /* the name with most time, its time, level and blocks */
	int64_t longest_ns, blocks, sms;
	double level;
	uint32_t samples;
	bool is_persistent;
};

static int64_t sms_of_span(const struct hwy_case *c, uint32_t span)
{
	uint32_t row;
	int64_t device = c->trace->lanes[hwy_strip_of(c->trace, span, &row)->lane].device;
	return device >= 0 && device < c->trace->n_devices ? c->trace->devices[device].sms : 0;
}

static void look_at_kernel(struct hwy_case *c, struct few_sms *found,
			   const struct case_kernel *kernel)
{
	struct evidence evidence;
	if (hwy_name_is_comm(hwy_str(c->trace, kernel->name)) ||
	    !evidence_of_kernel(c, kernel->name, &evidence) ||
	    !(evidence.levels.sms < FEW_SMS_PERCENT))
		return;
	int64_t window = c->phase->window.to - c->phase->window.from;
	found->ns += kernel->ns;
	found->samples += evidence.samples;
	found->is_persistent |= (double)kernel->longest >= PERSISTENT_SHARE * (double)window;
	if (kernel->ns > found->longest_ns) {
		found->longest_name = kernel->name;
		found->longest_ns = kernel->ns;
		found->level = evidence.levels.sms;
		found->blocks = kernel_blocks(c, kernel->span);
		found->sms = sms_of_span(c, kernel->span);
	}
	claim_kernels(c, &found->claim,
		      (int64_t)((double)kernel->ns * (1 - evidence.levels.sms / 100)),
		      kernel->span);
}

/* "; its grid has 8 blocks, the GPU 132 multiprocessors", where the grid is the reason. */
static const char *about_grid(struct hwy_case *c, const struct few_sms *found)
{
	if (found->blocks <= 0 || found->sms <= 0 || found->blocks >= found->sms)
		return "";
	return hwy_arena_say(&c->diagnosis->arena,
			     "; its grid has %lld blocks, the GPU %lld "
			     "multiprocessors",
			     (long long)found->blocks, (long long)found->sms);
}

static void accuse_few_sms(struct hwy_case *c, struct few_sms *found)
{
	const char *says = hwy_arena_say(
		&c->diagnosis->arena,
		"For %s%s kernels run that keep less than half of the multiprocessors at work: %s, with %.0f %% of them "
		"active%s (%s).%s",
		hwy_say_time3(case_time_in_step(c, found->ns)).text, case_a_step(c),
		evidence_name(c, found->longest_name), found->level, about_grid(c, found),
		hwy_say_count_of(found->samples, "sample", "samples").text,
		hwy_tr(found->is_persistent
			       ? " It never ends, so that the GPU looks busy all of the time."
			       : ""));
	struct hwy_finding *finding = claim_accuse(c, &found->claim, HWY_MEDIUM, says,
						   case_advice(c, &finding_more_blocks));
	if (found->is_persistent)
		finding->edit = NULL; /* a kernel that waits for work is not as long as its work */
}

static void finding_few_sms_look(struct hwy_case *c)
{
	struct few_sms found = {0};
	if (!evidence_is_there(c))
		return;
	for (uint32_t k = 0; k < c->n_kernels; k++)
		if ((double)c->kernels[k].ns >= SMALL_KERNEL_SHARE * (double)c->counts.kernel_ns)
			look_at_kernel(c, &found, &c->kernels[k]);
	if (found.longest_ns > 0 && claim_share(c, &found.claim) >= WORTH_SHARE)
		accuse_few_sms(c, &found);
	claim_drop(c, &found.claim);
}

const struct hwy_finding_kind finding_few_sms = {
	.id = "few-sms",
	.title = "the GPU is busy, but few multiprocessors work",
	.look = finding_few_sms_look,
	.is_inside = true,
	.edit = "fill-gpu",
};
