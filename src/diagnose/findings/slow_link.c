/* SPDX-License-Identifier: Apache-2.0 */
/* slow_link.c - data travels slower between some ranks of a job than between others.
 *
 * job/answer.c looks for it, because it takes all ranks of a job: job/routes.c compares the
 * rates of pairs and communicators.
 */
#include "diagnose/findings/findings.h"

const struct hwy_finding_kind finding_slow_link = {
	.id = "slow-link",
	.title = "data travels slower between some ranks than between others",
};
