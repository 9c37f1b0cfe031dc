/* SPDX-License-Identifier: Apache-2.0 */
/* lane_titles.c - see lane_titles.h. */
#include "serve/lane_titles.h"

#include <ctype.h>
#include <stdio.h>

#include "serve/answers.h"
#include "serve/view_ranks.h"

void lane_titles_put(struct hwy_json *json, const char *format, const char *text, int64_t number)
{
	char title[512];
	int n = snprintf(title, sizeof title, format, text, (long long)number);
	json_text(json, title, n < (int)sizeof title ? (size_t)n : sizeof title - 1);
}

void lane_titles_put_device(const struct view_trace *view, struct hwy_json *json, uint32_t device)
{
	const struct hwy_device *recorded = &view->trace->devices[device];
	char title[512];
	const char *name = hwy_str(view->trace, recorded->name);
	snprintf(title, sizeof title, "GPU %lld%s%.400s",
		 (long long)(recorded->ordinal == HWY_NONE ? device : recorded->ordinal),
		 *name ? " " : "", name);
	json_textz(json, title);
}

bool lane_titles_has_number(const char *name, int64_t number)
{
	char text[32];
	size_t n = (size_t)snprintf(text, sizeof text, "%lld", (long long)number);
	for (const char *found = name; (found = strstr(found, text)); found++)
		if ((found == name || !isdigit((unsigned char)found[-1])) &&
		    !isdigit((unsigned char)found[n]))
			return true;
	return false;
}

static void put_stream_title(const struct view_trace *view, struct hwy_json *json,
			     const struct hwy_lane *lane)
{
	const struct hwy_trace *trace = view->trace;
	const struct hwy_stream *stream =
		lane->stream == HWY_NONE ? NULL : &trace->streams[lane->stream];
	const char *what = lane->type == HWY_LANE_SYNC           ? "waits for "
			   : lane->type == HWY_LANE_DEVICE_RANGE ? "ranges on "
								 : "";
	bool has_stream = stream && stream->number != HWY_NONE;
	const char *name = has_stream ? hwy_str(trace, stream->name) : "";
	char title[512];
	int n = snprintf(title, sizeof title, "%s%.*s", what, 200,
			 has_stream ? name : "the device");
	while (n > 0 && title[n - 1] == ' ' && *name)
		n--;
	if (has_stream && !lane_titles_has_number(name, stream->number))
		n += snprintf(title + n, sizeof title - (size_t)n,
			      *name ? " (stream %lld)" : "stream %lld", (long long)stream->number);
	uint32_t rank = ranks_of_lane(view, lane);
	if (rank != RANKS_NOBODY)
		n += snprintf(title + n, sizeof title - (size_t)n, " of rank %lld",
			      (long long)view->ranks[rank]);
	else if (trace->n_processes > 1 && lane->process != HWY_NONE)
		n += snprintf(title + n, sizeof title - (size_t)n, " of pid %lld",
			      (long long)trace->processes[lane->process].pid);
	json_text(json, title, (size_t)n);
}

void lane_titles_put_lane(const struct view_trace *view, struct hwy_json *json, uint32_t number)
{
	static const char *const titles[HWY_LANE_TYPES] = {
		[HWY_LANE_API] = "API calls",   [HWY_LANE_OP] = "operators",
		[HWY_LANE_CALL] = "functions",  [HWY_LANE_OS] = "OS calls",
		[HWY_LANE_STATE] = "state",     [HWY_LANE_SAMPLES] = "samples",
		[HWY_LANE_MEMORY] = "memory",   [HWY_LANE_OVERHEAD] = "profiler",
		[HWY_LANE_RANGE] = "ranges",    [HWY_LANE_STARTEND] = "ranges, start to end",
		[HWY_LANE_COUNTER] = "counter",
	};
	const struct hwy_lane *lane = &view->trace->lanes[number];
	struct hwy_text name = hwy_text(view->trace, lane->name);
	json_key(json, "title");
	if (lane->type == HWY_LANE_STREAM || lane->type == HWY_LANE_DEVICE_RANGE ||
	    lane->type == HWY_LANE_SYNC)
		put_stream_title(view, json, lane);
	else if (name.length > 0 && lane->type == HWY_LANE_OVERHEAD)
		lane_titles_put(json, "overhead of %.200s", hwy_str(view->trace, lane->name), 0);
	else if (name.length > 0)
		span_names_put(json, name);
	else
		json_textz(json, lane->type >= 0 && lane->type < HWY_LANE_TYPES ? titles[lane->type]
										: "other");
}
