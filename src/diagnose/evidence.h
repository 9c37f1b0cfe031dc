/* SPDX-License-Identifier: Apache-2.0 */
/* evidence.h - what the device's counters say while some of a case's kernels run. For
 * src/diagnose only. */
#ifndef HWY_DIAGNOSE_EVIDENCE_H
#define HWY_DIAGNOSE_EVIDENCE_H

#include "analyze/inside_device.h"
#include "diagnose/case.h"

struct evidence {
	struct inside_levels levels; /* means, in % */
	uint32_t samples;
};

/* Levels while ops run that 'is_it' is true of: of the samples that such ops cover for
 * METRIC_PURE_SHARE or more, together. False where these are fewer than METRICS_FEWEST_SAMPLES.
 * Devices on which others work, too, do not count. */
bool evidence_of_ops(struct hwy_case *c,
		     bool (*is_it)(const struct hwy_case *c, uint32_t op, const void *what),
		     const void *what, struct evidence *evidence);
/* The same for all kernels of one name (the id of its text). */
bool evidence_of_kernel(struct hwy_case *c, int64_t name, struct evidence *evidence);
/* Whether the case has counters at all: without them findings that need them need not look. */
bool evidence_is_there(struct hwy_case *c);
/* A kernel's name, short enough for a sentence. The text is in the diagnosis' arena. */
const char *evidence_name(struct hwy_case *c, int64_t name);

#endif
