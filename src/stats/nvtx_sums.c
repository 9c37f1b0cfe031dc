/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_sums.c - ranges (NVTX, or a framework's annotations), summed up by domain and name.
 *
 * Ranges that nest on a thread are push/pop ranges, the others start/end ranges. Marks, and
 * ranges whose end was not recorded, are not counted.
 */
#include "stats/families.h"
#include "stats/tally.h"

/* A group's key has this bit for start/end ranges, the id of the domain's text above bit 32, and
 * the id of the name's text below. */
#define STARTEND (UINT64_C(1) << 63)

enum { WITH_PUSHPOP = 1, WITH_STARTEND = 2 };

static void group_ranges(struct tally *tally, const struct hwy_strip *strip, uint32_t first,
			 uint32_t n, uint32_t *groups, unsigned styles)
{
	const struct hwy_lane *lane = &tally->run->trace->lanes[strip->lane];
	bool wanted = (lane->type == HWY_LANE_RANGE && (styles & WITH_PUSHPOP)) ||
		      (lane->type == HWY_LANE_STARTEND && (styles & WITH_STARTEND));
	uint64_t domain = lane->name > 0 ? (uint64_t)lane->name << 32 : 0;
	uint64_t style = lane->type == HWY_LANE_STARTEND ? STARTEND : 0, last_key = 0;
	uint32_t last_group = TALLY_SKIP;
	report_read_rows(strip, HWY_NAME, first, n, tally->rows);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t key = style | domain | (uint64_t)tally->rows[i];
		if (!wanted || (hwy_get(strip, HWY_FLAGS, first + i) & HWY_FLAGS_NO_SPAN)) {
			groups[i] = TALLY_SKIP;
			continue;
		}
		if (key != last_key || last_group == TALLY_SKIP)
			last_group = tally_group(tally, key);
		last_key = key;
		groups[i] = last_group;
	}
}

static void group_all(struct tally *tally, const struct hwy_strip *strip, uint32_t first,
		      uint32_t n, uint32_t *groups)
{
	group_ranges(tally, strip, first, n, groups, WITH_PUSHPOP | WITH_STARTEND);
}

static void group_pushpop(struct tally *tally, const struct hwy_strip *strip, uint32_t first,
			  uint32_t n, uint32_t *groups)
{
	group_ranges(tally, strip, first, n, groups, WITH_PUSHPOP);
}

static void group_startend(struct tally *tally, const struct hwy_strip *strip, uint32_t first,
			   uint32_t n, uint32_t *groups)
{
	group_ranges(tally, strip, first, n, groups, WITH_STARTEND);
}

static struct hwy_text label_of_group(struct tally *tally, uint64_t key)
{
	const struct hwy_trace *trace = tally->run->trace;
	struct text_buffer *buffer = &tally->buffer;
	struct hwy_text domain = hwy_text(trace, (int64_t)((key & ~STARTEND) >> 32));
	struct hwy_text text = nsys_label_join(domain, hwy_text(trace, (uint32_t)key), buffer);
	/* The name is interned, since the buffer is used for the next name, too, and rows are
	 * sorted before they are shown. */
	uint32_t id = hwy_intern(&tally->texts, text.at, text.length);
	return tally->texts.texts[id];
}

static void name_only(struct tally *tally, uint64_t key, struct hwy_text names[TALLY_NAMES])
{
	names[0] = label_of_group(tally, key);
}

static void style_and_name(struct tally *tally, uint64_t key, struct hwy_text names[TALLY_NAMES])
{
	const char *style = key & STARTEND ? "StartEnd" : "PushPop";
	names[0] = (struct hwy_text){style, (uint32_t)strlen(style)};
	names[1] = label_of_group(tally, key);
}

#define NEEDS (HWY_COL_BIT(HWY_NAME) | HWY_COL_BIT(HWY_FLAGS))

static const struct stats_column name_columns[] = {TALLY_TIMES("Instances"), {"Range", STATS_TEXT}};

bool make_nvtx_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {
		TALLY_TIMES("Instances"), {"Style", STATS_TEXT}, {"Range", STATS_TEXT}};
	static const struct tally_plan plan = {.columns = columns,
					       .n_columns = STATS_LENGTH(columns),
					       .kinds = HWY_KIND_BIT(HWY_RANGE),
					       .needs = NEEDS,
					       .value = HWY_DUR,
					       .group = group_all,
					       .names = style_and_name};
	return tally_make(run, &plan, err);
}

bool make_nvtx_pushpop_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct tally_plan plan = {.columns = name_columns,
					       .n_columns = STATS_LENGTH(name_columns),
					       .kinds = HWY_KIND_BIT(HWY_RANGE),
					       .needs = NEEDS,
					       .value = HWY_DUR,
					       .group = group_pushpop,
					       .names = name_only};
	return tally_make(run, &plan, err);
}

bool make_nvtx_startend_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct tally_plan plan = {.columns = name_columns,
					       .n_columns = STATS_LENGTH(name_columns),
					       .kinds = HWY_KIND_BIT(HWY_RANGE),
					       .needs = NEEDS,
					       .value = HWY_DUR,
					       .group = group_startend,
					       .names = name_only};
	return tally_make(run, &plan, err);
}
