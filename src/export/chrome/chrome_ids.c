/* SPDX-License-Identifier: Apache-2.0 */
/* chrome_ids.c - pid and tid of every lane, and the metadata events that name them.
 *
 * Kineto's convention: a device's number is the pid of its work, a stream's number the tid; waits
 * stand beside the stream on a tid of their own. Streams of several processes on one device may
 * have the same number: the second gets another tid (readers look at args.stream). Lanes without a
 * thread, and lanes whose spans do not nest in the calls of their thread, get tids that no
 * operating system gives.
 */
#include "export/chrome/chrome.h"

#include <inttypes.h>

enum { SYNC_OFFSET = 1000000, TAKEN_OFFSET = 2000000, OWN_TIDS = 500000000 };

static void chrome_ids_put_number(char text[80], int64_t number)
{
	snprintf(text, 80, "%" PRId64, number);
}

/* Writes a text as a pid or tid: cut to 77 bytes, without characters that JSON would escape. */
static void chrome_ids_put_text(char to[80], struct hwy_text text)
{
	size_t n = 0;
	to[n++] = '"';
	for (uint32_t i = 0; i < text.length && n < 77; i++)
		if (text.at[i] >= 0x20 && text.at[i] < 0x7f && text.at[i] != '"' &&
		    text.at[i] != '\\')
			to[n++] = text.at[i];
	to[n++] = '"';
	to[n] = 0;
}

static void name_process(struct chrome *c, int64_t index, struct chrome_lane *to)
{
	const struct hwy_process *process = export_process(c->x.trace, index);
	if (process && process->pid != HWY_NONE)
		chrome_ids_put_number(to->pid, process->pid);
	else if (process && process->name > 0)
		chrome_ids_put_text(to->pid, hwy_text(c->x.trace, process->name));
	else
		chrome_ids_put_number(to->pid, 0);
}

static void name_thread(struct chrome *c, int64_t index, struct chrome_lane *to)
{
	const struct hwy_thread *thread = export_thread(c->x.trace, index);
	to->number = 0;
	if (thread && thread->tid == HWY_NONE && thread->source_name > 0) {
		chrome_ids_put_text(to->tid, hwy_text(c->x.trace, thread->source_name));
		to->number = INT64_MIN;
		return;
	}
	if (thread && thread->tid != HWY_NONE)
		to->number = thread->tid;
	chrome_ids_put_number(to->tid, to->number);
}

static void name_own(struct chrome *c, uint32_t lane, struct chrome_lane *to)
{
	name_process(c, c->x.trace->lanes[lane].process, to);
	to->number = OWN_TIDS + lane;
	chrome_ids_put_number(to->tid, to->number);
}

static void name_stream(struct chrome *c, const struct hwy_lane *lane, struct chrome_lane *to)
{
	const struct hwy_device *device = export_device(c->x.trace, lane->device);
	const struct hwy_stream *stream = export_stream(c->x.trace, lane->stream);
	if (device && device->ordinal == HWY_NONE && device->name > 0)
		chrome_ids_put_text(to->pid, hwy_text(c->x.trace, device->name));
	else
		chrome_ids_put_number(to->pid,
				      device && device->ordinal != HWY_NONE ? device->ordinal : 0);
	int64_t number = stream && stream->number != HWY_NONE ? stream->number : SYNC_OFFSET - 1;
	if (lane->type == HWY_LANE_SYNC)
		number = export_add(number, SYNC_OFFSET);
	for (; lane->type != HWY_LANE_DEVICE_RANGE; number = export_add(number, TAKEN_OFFSET)) {
		struct chrome_tid {
			int64_t device, number;
		} tid = {lane->device, number};
		bool fresh;
		hwy_index_put(&c->taken, &tid, sizeof tid, &fresh);
		if (fresh)
			break;
	}
	to->number = number;
	chrome_ids_put_number(to->tid, number);
}

static void name_lane(struct chrome *c, uint32_t index)
{
	const struct hwy_trace *trace = c->x.trace;
	const struct hwy_lane *lane = &trace->lanes[index];
	struct chrome_lane *to = &c->lanes[index];
	switch (lane->type) {
	case HWY_LANE_STREAM:
	case HWY_LANE_SYNC:
	case HWY_LANE_DEVICE_RANGE: name_stream(c, lane, to); return;
	case HWY_LANE_STARTEND:
		if (c->x.is_kineto) {
			chrome_ids_put_text(to->pid, (struct hwy_text){"Spans", 5});
			chrome_ids_put_text(to->tid, (struct hwy_text){"PyTorch Profiler", 16});
			to->number = INT64_MIN;
			return;
		}
		name_own(c, index, to);
		return;
	case HWY_LANE_STATE: name_own(c, index, to); return;
	case HWY_LANE_RANGE: /* ranges of one NVTX domain need not nest in ranges of another domain */
		if (!c->x.is_kineto && *hwy_str(trace, lane->name)) {
			name_own(c, index, to);
			return;
		}
		break;
	case HWY_LANE_OVERHEAD:
		if (!export_thread(trace, lane->thread)) {
			chrome_ids_put_number(to->pid, -1);
			chrome_ids_put_number(to->tid, 0);
			return;
		}
		break;
	case HWY_LANE_COUNTER:
		if (export_device(trace, lane->device) && !export_process(trace, lane->process)) {
			int64_t ordinal = trace->devices[lane->device].ordinal;
			snprintf(to->pid, sizeof to->pid, "\"GPU %" PRId64 " Counters\"",
				 ordinal != HWY_NONE ? ordinal : lane->device);
			chrome_ids_put_number(to->tid, 0);
			return;
		}
		break;
	default: break;
	}
	name_process(c, lane->process, to);
	name_thread(c, lane->thread, to);
}

void chrome_ids_name_lanes(struct chrome *c)
{
	const struct hwy_trace *trace = c->x.trace;
	uint32_t callers = 0;
	c->lanes = hwy_zarray(trace->n_lanes, sizeof *c->lanes);
	int64_t last = HWY_NONE;
	for (uint32_t i = 0; i < trace->n_lanes; i++) {
		name_lane(c, i);
		if (trace->lanes[i].type == HWY_LANE_API && trace->lanes[i].process != last) {
			last = trace->lanes[i].process;
			callers++;
		}
	}
	c->many_processes = callers > 1;
}

/* ---- metadata events ------------------------------------------------------------------------- */

static void put_meta(struct chrome *c, const char *what, const struct chrome_lane *lane,
		     const char *key, struct hwy_text text)
{
	struct out *out = &c->out;
	chrome_next(c);
	out_literal(out, "{\"name\": \"");
	out_z(out, what);
	out_literal(out, "\", \"ph\": \"M\", \"ts\": 0, \"pid\": ");
	out_z(out, lane->pid);
	out_literal(out, ", \"tid\": ");
	out_z(out, *lane->tid ? lane->tid : "0");
	out_literal(out, ", \"args\": {\"");
	out_z(out, key);
	out_literal(out, "\": ");
	if (text.at)
		out_json(out, text);
	else
		out_int(out, text.length);
	out_literal(out, "}}");
}

static void chrome_ids_write_processes(struct chrome *c)
{
	const struct hwy_trace *trace = c->x.trace;
	for (uint32_t i = 0; i < trace->n_processes; i++) {
		struct chrome_lane track = {.tid = "0"};
		const struct hwy_process *process = &trace->processes[i];
		if (process->pid == HWY_NONE)
			continue;
		name_process(c, i, &track);
		if (process->name != HWY_NONE)
			put_meta(c, "process_name", &track, "name", hwy_text(trace, process->name));
		if (process->labels != HWY_NONE)
			put_meta(c, "process_labels", &track, "labels",
				 hwy_text(trace, process->labels));
	}
	for (uint32_t i = 0; i < trace->n_devices; i++) {
		struct chrome_lane track = {.tid = "0"};
		int64_t ordinal = trace->devices[i].ordinal;
		char text[64];
		if (ordinal == HWY_NONE)
			continue;
		chrome_ids_put_number(track.pid, ordinal);
		/* Where a process has the device's number as its pid, the name of the process
		 * stays. */
		bool clash = false;
		for (uint32_t p = 0; p < trace->n_processes; p++)
			clash |= trace->processes[p].pid == ordinal;
		if (clash)
			continue;
		int n = snprintf(text, sizeof text, "GPU %" PRId64, ordinal);
		const char *name = hwy_str(trace, trace->devices[i].name);
		put_meta(c, "process_name", &track, "name",
			 *name ? hwy_text(trace, trace->devices[i].name)
			       : (struct hwy_text){text, (uint32_t)n});
		put_meta(c, "process_labels", &track, "labels",
			 (struct hwy_text){text, (uint32_t)n});
		put_meta(c, "process_sort_index", &track, "sort_index",
			 (struct hwy_text){NULL, 5000000 + (uint32_t)ordinal});
	}
}

static void chrome_ids_write_stream(struct chrome *c, uint32_t lane)
{
	const struct hwy_trace *trace = c->x.trace;
	const struct hwy_stream *stream = export_stream(trace, trace->lanes[lane].stream);
	char text[64];
	bool sync = trace->lanes[lane].type == HWY_LANE_SYNC;
	if (stream && stream->name > 0 && !sync) {
		put_meta(c, "thread_name", &c->lanes[lane], "name", hwy_text(trace, stream->name));
		return;
	}
	/* In Kineto's file the stream had no name. */
	if (c->x.is_kineto && !sync)
		return;
	int n = stream && stream->number != HWY_NONE
			? snprintf(text, sizeof text, "stream %" PRId64 "%s", stream->number,
				   sync ? " (sync)" : "")
			: snprintf(text, sizeof text, sync ? "device (sync)" : "device");
	put_meta(c, "thread_name", &c->lanes[lane], "name", (struct hwy_text){text, (uint32_t)n});
}

static void write_lane(struct chrome *c, uint32_t lane, struct hwy_map *done)
{
	const struct hwy_trace *trace = c->x.trace;
	const struct hwy_lane *at = &trace->lanes[lane];
	const struct hwy_thread *thread = export_thread(trace, at->thread);
	bool fresh;
	char text[128];
	if (c->lanes[lane].number >= OWN_TIDS) {
		int n = snprintf(text, sizeof text, "%s %.80s",
				 at->type == HWY_LANE_STATE   ? "state of thread"
				 : at->type == HWY_LANE_RANGE ? "ranges"
							      : "start/end ranges",
				 thread && at->type == HWY_LANE_STATE ? hwy_str(trace, thread->name)
								      : hwy_str(trace, at->name));
		put_meta(c, "thread_name", &c->lanes[lane], "name",
			 (struct hwy_text){text, (uint32_t)n});
	} else if (at->type == HWY_LANE_STREAM || at->type == HWY_LANE_SYNC) {
		chrome_ids_write_stream(c, lane);
	} else if (thread && thread->name != HWY_NONE && thread->tid != HWY_NONE) {
		hwy_map_put(done, (uint64_t)at->thread, &fresh);
		if (fresh)
			put_meta(c, "thread_name", &c->lanes[lane], "name",
				 hwy_text(trace, thread->name));
	}
}

struct chrome_lane chrome_ids_own_row(struct chrome *c, int64_t process, const char *name)
{
	struct chrome_lane lane = {.number = OWN_TIDS + (int64_t)c->x.trace->n_lanes};
	name_process(c, process, &lane);
	chrome_ids_put_number(lane.tid, lane.number);
	put_meta(c, "thread_name", &lane, "name", (struct hwy_text){name, (uint32_t)strlen(name)});
	return lane;
}

void chrome_ids_write(struct chrome *c)
{
	struct hwy_map done = {0};
	chrome_ids_write_processes(c);
	for (uint32_t i = 0; i < c->x.trace->n_lanes; i++)
		if (!c->x.lanes || c->x.lanes[i])
			write_lane(c, i, &done);
	hwy_map_free(&done);
}
