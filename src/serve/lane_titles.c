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

enum { TITLE = 512 };

/* Yields the length of the title of a stream's lane. */
static size_t write_stream_title(const struct view_trace *view, const struct hwy_lane *lane,
				 char title[TITLE])
{
	const struct hwy_trace *trace = view->trace;
	const struct hwy_stream *stream =
		lane->stream == HWY_NONE ? NULL : &trace->streams[lane->stream];
	const char *what = lane->type == HWY_LANE_SYNC           ? "waits for "
			   : lane->type == HWY_LANE_DEVICE_RANGE ? "ranges on "
								 : "";
	bool has_stream = stream && stream->number != HWY_NONE;
	const char *name = has_stream ? hwy_str(trace, stream->name) : "";
	int n = snprintf(title, TITLE, "%s%.*s", what, 200, has_stream ? name : "the device");
	while (n > 0 && title[n - 1] == ' ' && *name)
		n--;
	if (has_stream && !lane_titles_has_number(name, stream->number))
		n += snprintf(title + n, TITLE - (size_t)n,
			      *name ? " (stream %lld)" : "stream %lld", (long long)stream->number);
	uint32_t rank = ranks_of_lane(view, lane);
	if (rank != RANKS_NOBODY)
		n += snprintf(title + n, TITLE - (size_t)n, " of rank %lld",
			      (long long)view->ranks[rank]);
	else if (trace->n_processes > 1 && lane->process != HWY_NONE)
		n += snprintf(title + n, TITLE - (size_t)n, " of pid %lld",
			      (long long)trace->processes[lane->process].pid);
	return (size_t)n;
}

static bool is_of_stream(const struct hwy_lane *lane)
{
	return lane->type == HWY_LANE_STREAM || lane->type == HWY_LANE_DEVICE_RANGE ||
	       lane->type == HWY_LANE_SYNC;
}

void lane_titles_write_lane(const struct view_trace *view, uint32_t number, struct hwy_bytes *out)
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
	char title[TITLE];
	size_t n;
	if (is_of_stream(lane)) {
		n = write_stream_title(view, lane, title);
		hwy_bytes_put(out, title, n < TITLE ? n : TITLE - 1);
	} else if (name.length > 0 && lane->type == HWY_LANE_OVERHEAD) {
		n = (size_t)snprintf(title, TITLE, "overhead of %.200s", name.at);
		hwy_bytes_put(out, title, n < TITLE ? n : TITLE - 1);
	} else if (name.length > 0) {
		hwy_bytes_put(out, name.at, name.length);
	} else {
		const char *usual = lane->type >= 0 && lane->type < HWY_LANE_TYPES
					    ? titles[lane->type]
					    : "other";
		hwy_bytes_put(out, usual, strlen(usual));
	}
}

void lane_titles_put_lane(const struct view_trace *view, struct hwy_json *json, uint32_t number)
{
	struct hwy_bytes title = {0};
	lane_titles_write_lane(view, number, &title);
	json_key(json, "title");
	span_names_put(json, (struct hwy_text){(const char *)title.bytes, (uint32_t)title.n});
	hwy_bytes_free(&title);
}

void lane_titles_write_thread(const struct view_trace *view, uint32_t thread, struct hwy_bytes *out)
{
	const struct hwy_thread *recorded = &view->trace->threads[thread];
	const char *name = hwy_str(view->trace, recorded->name);
	char title[TITLE];
	int n = snprintf(title, TITLE,
			 lane_titles_has_number(name, recorded->tid) ? "%.200s"
								     : "%.200s (tid %lld)",
			 *name ? name : "thread", (long long)recorded->tid);
	hwy_bytes_put(out, title, (size_t)n);
}

void lane_titles_put_thread(const struct view_trace *view, struct hwy_json *json, uint32_t thread)
{
	struct hwy_bytes title = {0};
	lane_titles_write_thread(view, thread, &title);
	json_text(json, (const char *)title.bytes, title.n);
	hwy_bytes_free(&title);
}
