/* SPDX-License-Identifier: Apache-2.0 */
/* call_tables.c - calls into the vendor's library and into the system's: summed up, and one row
 * each. */
#include "stats/families.h"
#include "stats/merge.h"
#include "stats/nsys_labels.h"
#include "stats/tally.h"

static void group_unnamed_lanes(struct tally *tally, const struct hwy_strip *strip, uint32_t first,
				uint32_t n, uint32_t *groups)
{
	if (report_lane_is_named(tally->run->trace, strip->lane))
		tally_skip(n, groups);
	else
		tally_by_name(tally, strip, first, n, 0, groups);
}

static void name_of_call(struct tally *tally, uint64_t key, struct hwy_text names[TALLY_NAMES])
{
	names[0] = nsys_label_call(hwy_text(tally->run->trace, (uint32_t)key));
}

static void name_as_it_is(struct tally *tally, uint64_t key, struct hwy_text names[TALLY_NAMES])
{
	names[0] = hwy_text(tally->run->trace, (uint32_t)key);
}

static const struct stats_column sum_columns[] = {TALLY_TIMES("Num Calls"), {"Name", STATS_TEXT}};

/* Groups calls by the recorded name, as nsys does: a call that was recorded under two names
 * ("cudaMalloc" with its stack, and "cudaMalloc_v3020") has two rows, though both show the same
 * name. */
bool make_cuda_api_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct tally_plan plan = {sum_columns,
					       STATS_LENGTH(sum_columns),
					       HWY_KIND_BIT(HWY_API),
					       HWY_COL_BIT(HWY_NAME),
					       HWY_DUR,
					       group_unnamed_lanes,
					       name_of_call};
	return tally_make(run, &plan, err);
}

bool make_osrt_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct tally_plan plan = {
		sum_columns, STATS_LENGTH(sum_columns), HWY_KIND_BIT(HWY_OS), HWY_COL_BIT(HWY_NAME),
		HWY_DUR,     group_unnamed_lanes,       name_as_it_is};
	return tally_make(run, &plan, err);
}

bool make_cuda_api_trace(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {
		{"Start", STATS_MOMENT}, {"Duration", STATS_TIME}, {"Name", STATS_TEXT},
		{"Result", STATS_ID},    {"CorrID", STATS_ID},     {"Pid", STATS_ID},
		{"Tid", STATS_ID},       {"T-Pri", STATS_ID},      {"Thread Name", STATS_TEXT}};
	struct hwy_trace *trace = run->trace;
	if (!hwy_need(trace, HWY_KIND_BIT(HWY_API),
		      HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME) |
			      HWY_COL_BIT(HWY_RESULT) | HWY_COL_BIT(HWY_CORR),
		      err))
		return false;
	report_columns(run, columns, STATS_LENGTH(columns));
	struct merge merge;
	merge_open(&merge, run, HWY_KIND_BIT(HWY_API));
	while (merge_next(&merge)) {
		const struct hwy_strip *strip = merge.strip;
		if (report_lane_is_named(trace, strip->lane))
			continue;
		const struct hwy_thread *thread = report_lane_thread(trace, strip->lane);
		struct stats_cell cells[] = {
			cell_number(hwy_get(strip, HWY_START, merge.row)),
			cell_number(hwy_get(strip, HWY_DUR, merge.row)),
			cell_from_text(nsys_label_call(
				hwy_text(trace, hwy_get(strip, HWY_NAME, merge.row)))),
			cell_number(hwy_get(strip, HWY_RESULT, merge.row)),
			cell_number(hwy_get(strip, HWY_CORR, merge.row)),
			cell_pid(trace, strip->lane),
			cell_tid(trace, strip->lane),
			cell_number_or_empty(thread ? thread->priority : HWY_NONE),
			cell_from_text(hwy_text(trace, thread ? thread->name : HWY_NONE)),
		};
		report_row(run, cells);
	}
	merge_close(&merge);
	return true;
}
