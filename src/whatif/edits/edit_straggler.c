/* SPDX-License-Identifier: Apache-2.0 */
/* edit_straggler.c - one rank comes to the collectives as its peers do.
 *
 * A rank that comes to a collective no later than half of its peers is never the last: so the other
 * ranks simply no longer wait for it. The rank's own pace then says nothing about the run.
 */
#include <stdlib.h>

#include "base/lang.h"
#include "whatif/edits/edits.h"
#include "whatif/joint.h"

static bool read_rank(const char *arguments, int64_t *rank)
{
	char *end;
	*rank = strtoll(arguments, &end, 10);
	return end > arguments && !*end && *rank >= 0;
}

static bool check(const char *arguments, struct hwy_err *err)
{
	int64_t rank;
	return !*arguments || read_rank(arguments, &rank) ||
	       hwy_fail(err, hwy_tr("straggler takes the number of a rank: straggler:3"));
}

/* The index of the named rank, or of the straggler where no rank is named; joint->n where there is
 * none. */
static uint32_t edit_straggler_find(const struct joint *joint, const char *arguments)
{
	int64_t rank;
	if (!*arguments)
		return joint_straggler(joint);
	uint32_t index = 0;
	if (!read_rank(arguments, &rank))
		return joint->n;
	while (index < joint->n && joint->numbers[index] != rank)
		index++;
	return index;
}

static bool edit_straggler_apply(struct editing *e, const char *arguments, struct hwy_err *err)
{
	const struct joint *joint = e->w->joint;
	if (!joint)
		return hwy_fail(
			err, hwy_tr("a straggler shows in the recordings of several ranks only"));
	uint32_t index = edit_straggler_find(joint, arguments);
	if (index == joint->n)
		return *arguments ? hwy_fail(err, hwy_tr("there is no recording of rank %s"),
					     arguments)
				  : hwy_fail(err,
					     hwy_tr("no rank comes clearly later than the others"));
	if (e->w->rank == index)
		e->graph->is_unwaited = true;
	return true;
}

const struct edit_kind edit_straggler = {
	.id = "straggler",
	.arguments = "[:RANK]",
	.about = HWY_KEY(
		"a rank, or the one that comes last, is as quick as its peers (several ranks)"),
	.only_removes = true,
	.needs_no_steps = true,
	.check = check,
	.apply = edit_straggler_apply,
};
