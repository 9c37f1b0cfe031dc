/* SPDX-License-Identifier: Apache-2.0 */
/* digest_summary.h - a job as one run for `diff` and `gate`: what its typical rank did, at the
 * pace of all ranks. */
#ifndef HWY_DIGEST_DIGEST_SUMMARY_H
#define HWY_DIGEST_DIGEST_SUMMARY_H

#include "digest/digest_answer.h"

/* False where no rank has device work. Texts are those of the digests, which must stay. */
bool digest_summary_of(struct compare_summary *summary, const struct digest_answer *answer,
		       const char *file);

#endif
