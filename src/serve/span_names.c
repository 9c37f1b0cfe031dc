/* SPDX-License-Identifier: Apache-2.0 */
/* span_names.c - names of spans, also of those that have none in a trace: copies, fills, waits and
 * allocations.
 *
 * Such spans get a made-up name. The ids of made-up names follow the ids of the trace's texts.
 */
#include "base/utf8.h"
#include "serve/answers.h"

enum {
	FILL = HWY_DIRECTIONS,
	EVENT,
	ALLOCATE,
	RELEASE,
	MEMORY,
	SYNC,
	NAMES = SYNC + HWY_SYNC_TYPES,
};
_Static_assert((int)NAMES == (int)SPAN_NAMES_MADE, "SPAN_NAMES_MADE in view.h counts these names");

static const char *const made[NAMES] = {
	[HWY_DIR_UNKNOWN] = "copy",
	[HWY_H2D] = "copy host to device",
	[HWY_D2H] = "copy device to host",
	[HWY_H2A] = "copy host to array",
	[HWY_A2H] = "copy array to host",
	[HWY_A2A] = "copy array to array",
	[HWY_A2D] = "copy array to device",
	[HWY_D2A] = "copy device to array",
	[HWY_D2D] = "copy device to device",
	[HWY_H2H] = "copy host to host",
	[HWY_P2P] = "copy peer to peer",
	[HWY_UM_H2D] = "migration host to device",
	[HWY_UM_D2H] = "migration device to host",
	[HWY_UM_D2D] = "migration device to device",
	[FILL] = "fill",
	[EVENT] = "event recorded",
	[ALLOCATE] = "allocate",
	[RELEASE] = "release",
	[MEMORY] = "memory",
	[SYNC + HWY_SYNC_UNKNOWN] = "wait",
	[SYNC + HWY_SYNC_EVENT] = "wait for an event",
	[SYNC + HWY_SYNC_STREAM_WAIT] = "stream waits for an event",
	[SYNC + HWY_SYNC_STREAM] = "wait for a stream",
	[SYNC + HWY_SYNC_CONTEXT] = "wait for the device",
};

enum hwy_col span_names_column(enum hwy_kind kind)
{
	switch (kind) {
	case HWY_COPY: return HWY_DIRECTION;
	case HWY_SYNC: return HWY_SYNC_TYPE;
	case HWY_MEMORY: return HWY_OPERATION;
	default: return HWY_NAME;
	}
}

int64_t span_names_make(const struct hwy_trace *trace, enum hwy_kind kind, int64_t name,
			int64_t column_value)
{
	int64_t first = trace->strings.n;
	if (name != 0)
		return name;
	switch (kind) {
	case HWY_COPY: return first + column_value;
	case HWY_FILL: return first + FILL;
	case HWY_EVENT: return first + EVENT;
	case HWY_SYNC: return first + SYNC + column_value;
	case HWY_MEMORY:
		return first + (column_value == HWY_ALLOCATE  ? ALLOCATE
				: column_value == HWY_RELEASE ? RELEASE
							      : MEMORY);
	default: return 0;
	}
}

int64_t span_names_id(const struct hwy_trace *trace, const struct hwy_strip *strip, uint32_t row)
{
	int64_t name = hwy_get(strip, HWY_NAME, row);
	return name != 0 ? name
			 : span_names_make(trace, strip->kind, 0,
					   hwy_get(strip, span_names_column(strip->kind), row));
}

struct hwy_text span_names_text(const struct hwy_trace *trace, int64_t id)
{
	int64_t number = id - (int64_t)trace->strings.n;
	if (number < 0 || number >= NAMES || !made[number])
		return hwy_text(trace, id);
	return (struct hwy_text){made[number], (uint32_t)strlen(made[number])};
}

void span_names_put(struct hwy_json *json, struct hwy_text name)
{
	static const char ellipsis[] = "…";
	char cut[VIEW_NAME + sizeof ellipsis];
	if (name.length <= VIEW_NAME) {
		json_text(json, name.at, name.length);
		return;
	}
	size_t n = hwy_utf8_cut_bytes(name.at, name.length, VIEW_NAME);
	memcpy(cut, name.at, n);
	memcpy(cut + n, ellipsis, sizeof ellipsis);
	json_text(json, cut, n + strlen(ellipsis));
}

void span_names_answer(struct view_trace *view, struct hwy_json *json, const uint8_t *ids,
		       uint32_t n)
{
	json_begin_array(json);
	for (uint32_t i = 0; i < n; i++)
		span_names_put(json, span_names_text(view->trace,
						     (int64_t)hwy_little_read(ids + 4 * i, 4)));
	json_end_array(json);
}
