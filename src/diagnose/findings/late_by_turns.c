/* SPDX-License-Identifier: Apache-2.0 */
/* late_by_turns.c - the ranks of a job wait for each other, and another one is late each time.
 *
 * job/answer.c looks for it, because it takes all ranks of a job: it accuses where waiting costs
 * HWY_WORTH_SHARE of the step, and no rank is late often enough to be the straggler
 * (job/ranks_late.c).
 */
#include "diagnose/findings/findings.h"

const struct hwy_finding_kind finding_late_by_turns = {
	.id = "late-by-turns",
	.title = "ranks wait for each other, and another one is late each time",
};
