/* SPDX-License-Identifier: Apache-2.0 */
/* trust.h - what a trace lacks, and which measures that weakens or forbids. */
#ifndef HWY_ANALYZE_TRUST_H
#define HWY_ANALYZE_TRUST_H

#include "trace/trace.h"

enum hwy_lack_id {
	HWY_LACK_WORK,   /* some launches have no device work */
	HWY_LACK_LAUNCH, /* some device work has no launch */
	HWY_LACK_NODES,  /* some graph launches have no recorded nodes */
	HWY_LACK_SYNC,   /* there are blocking calls, but no record of what the calls waited for */
	HWY_LACK_DROPS,  /* the recorder lost records */
	HWY_LACK_ENDS,   /* some ranges have no recorded end */
	HWY_LACK_CLOCK,  /* some work starts before the call that launched it: clocks disagree */
	HWY_LACK_PROGRAMS, /* some programs of the run recorded nothing */
	HWY_LACK_CLOCKS,   /* sampling the GPU's counters changed its clocks */
	HWY_LACKS
};

enum hwy_effect { HWY_EFFECT_NONE, HWY_EFFECT_WEAKENS, HWY_EFFECT_FORBIDS };

struct hwy_lack {
	const char *name; /* "launch-without-work": for machines */
	const char *what; /* "launches without device work": follows "12 of 340" */
	/* 'count' of 'total' objects have the lack; 'total' is 0 where the trace has no such
	 * objects. */
	uint64_t count, total;
	enum hwy_effect effect;
	const char *measures; /* the measures that suffer, a list for machines and people */
	const char *says; /* one sentence on what the lack means for a reader; "" when count is 0 */
	/* The times [from, to) in ns in which records were lost; HWY_NONE: not known, or another
	 * lack. */
	int64_t from, to;
};

struct hwy_trust {
	struct hwy_lack lacks[HWY_LACKS];
};

/* Counts what the trace lacks in its links, calls, ranges, graph spans and drops; loads the
 * columns that this takes. */
bool trust_measure(struct hwy_trace *trace, struct hwy_trust *trust, struct hwy_err *err);

#endif
