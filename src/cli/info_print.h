/* info_print.h - what `headway info` tells, gathered once and printed as text or JSON. */
#ifndef HWY_CLI_INFO_PRINT_H
#define HWY_CLI_INFO_PRINT_H

#include <stdio.h>

#include "analyze/trust.h"
#include "trace/trace.h"

struct info {
	struct hwy_trace *trace;
	bool all;                   /* the text lists every diagnostic and every process */
	bool has_window;            /* the trace has spans */
	int64_t from, to, duration; /* ns: first start, last end, the time between */
	int64_t began;              /* wall-clock time of the first start, or HWY_NONE */
	uint32_t spans[HWY_KINDS];
	int64_t time[HWY_KINDS]; /* ns: sum of the durations of each kind */
	uint32_t lanes[HWY_LANE_TYPES];
	uint32_t *threads; /* how many threads each process has */
	struct hwy_trust trust;
};

void info_print_text(const struct info *info, FILE *out);
void info_print_json(const struct info *info, FILE *out);

/* What the spans of a kind are, in a few words. */
extern const char *const info_kind_words[HWY_KINDS];
/* "good", "weakened" or "limited": the worst effect of what is lacking. */
const char *info_verdict(const struct hwy_trust *trust);
/* The name of a diagnostic's severity: "info", "warning", "error". */
const char *info_severity(int64_t severity);

#endif
