/* SPDX-License-Identifier: Apache-2.0 */
/* analysis.h - all measures of one trace, made once, for the diagnosis, the viewer and the
 * exports. */
#ifndef HWY_ANALYZE_ANALYSIS_H
#define HWY_ANALYZE_ANALYSIS_H

#include "analyze/device_metrics.h"
#include "analyze/gaps/gaps.h"
#include "analyze/lead.h"
#include "analyze/owners.h"
#include "analyze/phases/phases.h"
#include "analyze/place.h"
#include "analyze/trust.h"
#include "analyze/waits.h"

/* The measures of one phase. */
struct analysis_phase {
	struct hwy_gaps gaps;
	struct hwy_waits waits;
	struct hwy_lead *leads; /* parallel to flow.devices: one element for each device */
};

struct hwy_analysis {
	struct hwy_trace *trace;
	/* From the first start to the last end of any span: the recording, as `info` says it. */
	struct hwy_interval recording;
	struct hwy_trust trust;
	struct hwy_flow flow;
	struct hwy_phases phases;
	struct analysis_phase *measures; /* parallel to phases.phases: one element for each phase */
	struct hwy_places *places;
	struct hwy_owners *owners;   /* NULL until analysis_owners is asked */
	struct hwy_metrics *metrics; /* NULL until analysis_metrics is asked */
	struct gaps_cpu *cpu;        /* NULL until analysis_cpu is asked */
};

struct analysis_options {
	const char *step; /* the marks that are steps, as in struct phases_options */
	uint32_t cells;   /* how many points the headway series gets; 0 means no series */
};

bool analysis_make(struct hwy_analysis *analysis, struct hwy_trace *trace,
		   const struct analysis_options *options, struct hwy_err *err);
/* Who launched the device work. Found when first asked for; NULL with a sentence where the trace
 * cannot be read. */
const struct hwy_owners *analysis_owners(struct hwy_analysis *analysis, struct hwy_err *err);
/* The counters of the devices over time. Found when first asked for. */
struct hwy_metrics *analysis_metrics(struct hwy_analysis *analysis);
/* The spans of threads, which tell why devices idle in any phase (gaps/gaps.h). Read when a gap
 * first needs them, and kept. */
struct gaps_cpu *analysis_cpu(struct hwy_analysis *analysis);
void analysis_free(struct hwy_analysis *analysis);

#endif
