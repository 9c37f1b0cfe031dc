/* SPDX-License-Identifier: Apache-2.0 */
/* event_table.h - spans as a table: those that a query asks for, sorted by any column, or in groups
 * with their sums; a page at a time.
 *
 * All spans that fit are found and sorted once. Their ids in order (4 bytes a span) are kept for
 * the pages that follow, and what the page shows is read for its own rows only. Of each view the
 * last EVENT_KEPT results are kept.
 */
#ifndef HWY_SERVE_EVENT_TABLE_H
#define HWY_SERVE_EVENT_TABLE_H

#include "base/json.h"
#include "serve/match.h"

enum {
	/* the most spans that a table sorts; sorting takes 24 bytes a span */
	EVENT_MOST_ROWS = 1 << 25,
	EVENT_PAGE = 10000, /* the most rows of one answer */
	EVENT_KEPT = 2,
};

/* What a table is sorted by. The first ones are columns of spans. */
enum event_column {
	EVENT_START,
	EVENT_DUR,
	EVENT_NAME,
	EVENT_KIND,
	EVENT_LANE,
	EVENT_STEP,
	EVENT_LATENCY,
	EVENT_BYTES,
	EVENT_RATE,
	EVENT_LINE,
	/* Only groups can be sorted by the following. Groups are also sorted by EVENT_NAME, or
	 * by EVENT_START (the order of lanes, steps …). */
	EVENT_COUNT,
	EVENT_TOTAL,
	EVENT_MEAN,
	EVENT_LEAST,
	EVENT_MOST,
	EVENT_P50,
	EVENT_P90,
	EVENT_P99,
	EVENT_DEVIATION,
	EVENT_COLUMNS
};
enum event_group {
	EVENT_BY_NOTHING,
	EVENT_BY_NAME,
	EVENT_BY_KIND,
	EVENT_BY_LANE,
	EVENT_BY_THREAD,
	EVENT_BY_GPU,
	EVENT_BY_RANK,
	EVENT_BY_STEP,
	EVENT_BY_LINE,
	EVENT_GROUPS
};
/* The words of requests for a column and for a group. */
extern const char *const event_column_words[EVENT_COLUMNS];
extern const char *const event_group_words[EVENT_GROUPS];

struct event_request {
	const char *text; /* the query */
	bool is_whole;
	int64_t from, to;  /* ns after the origin: spans that touch this interval */
	const char *lanes; /* numbers of lanes, joined by commas; "": all lanes */
	enum event_column sort;
	bool falls;
	enum event_group group;
	uint64_t skip;
	uint32_t n;
	int64_t at; /* the id of a span whose row number is wanted; -1: none */
	struct step_times steps;
};

/* Writes the answer of the request 'table'. */
bool event_table_answer(struct view_trace *view, struct hwy_json *json,
			const struct event_request *request, struct hwy_err *err);
void event_results_free(struct view_trace *view);

/* ---- for event_*.c --------------------------------------------------------------------------- */

struct event_sums {
	uint64_t count;
	int64_t total, least, most; /* ns; the total stays at INT64_MAX where it does not fit */
};
struct event_grouped { /* one group */
	uint32_t key;
	struct event_sums sums;
	double p50, deviation;
	int64_t p90, p99;
};

/* What a request found. */
struct event_result {
	struct event_result *next; /* the result that was made before this one */
	/* the arguments of the request on which the result depends, as a text */
	char *key;
	struct event_sums sums; /* over all spans */
	/* The ids of the spans in order. The first n_known have what the table is sorted by; the
	 * others lack it and stand behind them. */
	uint32_t *ids;
	uint32_t n, n_known;
	struct event_grouped *groups;
	uint32_t n_groups;
	/* Where groups are steps, by step: the first step of the same phase and number. */
	uint32_t *same_step;
};

/* event_scan.c: finds and sorts. */
bool event_scan(struct view_trace *view, const struct event_request *request,
		struct event_result *result, struct hwy_err *err);
/* event_sort.c: sorts n ids by their keys; ids with equal keys keep their order. Both arrays
 * change. */
bool event_sort(const struct view_trace *view, uint64_t *keys, uint32_t *ids, uint32_t n,
		struct hwy_err *err);
/* event_groups.c: computes the groups of n spans from their durations and keys of groups; both
 * arrays change. */
bool event_groups_make(const struct view_trace *view, uint64_t *durations, uint32_t *keys,
		       uint32_t n, struct event_result *result, struct hwy_err *err);
/* event_groups.c: writes the groups of a page. */
void event_groups_put(struct view_trace *view, struct hwy_json *json,
		      const struct event_request *request, const struct event_result *result);

void event_sums_add(struct event_sums *sums, int64_t duration);
/* Compares two texts as people sort them: letters of any case (ASCII) are the same at first. */
int event_compare_texts(struct hwy_text a, struct hwy_text b);

#endif
