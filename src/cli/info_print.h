/* SPDX-License-Identifier: Apache-2.0 */
/* info_print.h - the facts that `headway info` prints, gathered once for text and JSON. */
#ifndef HWY_CLI_INFO_PRINT_H
#define HWY_CLI_INFO_PRINT_H

#include <stdio.h>

#include "analyze/device_clocks.h"
#include "analyze/trust.h"
#include "job/job_facts.h"
#include "trace/trace.h"

struct info {
	struct hwy_trace *trace;
	bool all;        /* list every diagnostic and every process in the text */
	bool has_window; /* the trace has spans */
	/* The first start, the last end and the time between them, in ns. */
	int64_t from, to, duration;
	int64_t began; /* wall-clock time of the first start, or HWY_NONE */
	uint32_t spans[HWY_KINDS];
	int64_t time[HWY_KINDS]; /* by kind: sum of the durations, ns */
	uint32_t lanes[HWY_LANE_TYPES];
	uint32_t *threads; /* by process: number of threads */
	struct hwy_trust trust;
	/* By device: its clocks and power; has_clocks tells whether the recording has them. */
	struct device_clocks *clocks;
	bool *has_clocks;
	/* Of a job: what is known about its ranks. */
	struct job_fact *ranks;
	uint32_t n_ranks;
	struct hwy_arena arena; /* holds 'ranks' */
};

void info_print_text(const struct info *info, FILE *out);
/* info_clocks.c: the clocks of a device in one line; and as the JSON member "clocks". */
enum { INFO_CLOCKS_BYTES = 512 };
void info_clocks_words(const struct device_clocks *clocks, char line[INFO_CLOCKS_BYTES]);
struct hwy_json;
void info_clocks_put(struct hwy_json *json, const struct info *info);
/* info_ranks.c: a rank of a job in one line; and the ranks as the JSON member "ranks", for a job
 * only. */
enum { INFO_RANK_BYTES = 256 };
void info_ranks_words(const struct info *info, uint32_t rank, char line[INFO_RANK_BYTES]);
void info_ranks_put(struct hwy_json *json, const struct info *info);
void info_print_json(const struct info *info, FILE *out);

/* Yields a description of the spans of a kind in a few words. */
extern const char *const info_kind_words[HWY_KINDS];
/* Yields "good", "weakened" or "limited": the worst effect of anything that the recording lacks. */
const char *info_verdict(const struct hwy_trust *trust);
/* Yields the name of a diagnostic's severity: "info", "warning", "error". */
const char *info_severity(int64_t severity);

#endif
