/* SPDX-License-Identifier: Apache-2.0 */
/* lane_facts.c - whose spans a lane has: process, thread, device, stream, rank. All spans of a
 * lane have the same facts, so that a query for one of them skips whole lanes. The first eight
 * have the names and the values of the CSV export. */
#include "sql/sql_tables.h"

const struct sql_column lane_facts[LANE_FACTS] = {
	[LANE_PID] = {"pid", SQL_NUMBER, .description = "the id of the process"},
	[LANE_TID] = {"tid", SQL_NUMBER, .description = "the id of the thread"},
	[LANE_THREAD] = {"thread", SQL_TEXT, .description = "the name of the thread"},
	[LANE_DEVICE] = {"device", SQL_NUMBER, .description = "the number of the device"},
	[LANE_CONTEXT] = {"context", SQL_NUMBER,
			  .description = "the number of the stream's context"},
	[LANE_STREAM] = {"stream", SQL_NUMBER, .description = "the number of the stream"},
	[LANE_TYPE] = {"lane", SQL_TEXT,
		       .description = "what the span's lane is: stream, api, op, range, os …"},
	[LANE_DOMAIN] = {"domain", SQL_TEXT,
			 .description =
				 "the name of the lane: the NVTX domain, the counter, the library"},
	[LANE_RANK] = {"rank", SQL_NUMBER, .description = "the rank of the process in its job"},
	[LANE_ID] = {"lane_id", SQL_ROW, .description = "lanes.id"},
	[LANE_PROCESS_ID] = {"process_id", SQL_ROW, .description = "processes.id"},
	[LANE_THREAD_ID] = {"thread_id", SQL_ROW, .description = "threads.id"},
	[LANE_DEVICE_ID] = {"device_id", SQL_ROW, .description = "devices.id"},
	[LANE_STREAM_ID] = {"stream_id", SQL_ROW, .description = "streams.id"},
};

const struct hwy_process *sql_process(const struct hwy_trace *trace, int64_t index)
{
	return index >= 0 && index < trace->n_processes ? &trace->processes[index] : NULL;
}

static const struct hwy_thread *sql_thread(const struct hwy_trace *trace, int64_t index)
{
	return index >= 0 && index < trace->n_threads ? &trace->threads[index] : NULL;
}

static const struct hwy_stream *sql_stream(const struct hwy_trace *trace, int64_t index)
{
	return index >= 0 && index < trace->n_streams ? &trace->streams[index] : NULL;
}

int64_t lane_process(const struct hwy_trace *trace, uint32_t lane)
{
	const struct hwy_lane *at = &trace->lanes[lane];
	const struct hwy_thread *thread = sql_thread(trace, at->thread);
	const struct hwy_stream *stream = sql_stream(trace, at->stream);
	if (at->process != HWY_NONE)
		return at->process;
	return thread ? thread->process : stream ? stream->process : HWY_NONE;
}

struct hwy_cell lane_fact(const struct hwy_trace *trace, uint32_t lane, enum lane_fact fact)
{
	const struct hwy_lane *at = &trace->lanes[lane];
	const struct hwy_process *process = sql_process(trace, lane_process(trace, lane));
	const struct hwy_thread *thread = sql_thread(trace, at->thread);
	const struct hwy_stream *stream = sql_stream(trace, at->stream);
	bool has_device = at->device >= 0 && at->device < trace->n_devices;
	switch (fact) {
	case LANE_PID: return sql_known(process ? process->pid : HWY_NONE);
	case LANE_TID: return sql_known(thread ? thread->tid : HWY_NONE);
	case LANE_THREAD: return sql_text(hwy_text(trace, thread ? thread->name : 0));
	case LANE_DEVICE:
		return sql_known(has_device ? trace->devices[at->device].ordinal : HWY_NONE);
	case LANE_CONTEXT: return sql_known(stream ? stream->context : HWY_NONE);
	case LANE_STREAM: return sql_known(stream ? stream->number : HWY_NONE);
	case LANE_TYPE:
		return at->type >= 0 && at->type < HWY_LANE_TYPES
			       ? sql_textz(hwy_lane_type_names[at->type])
			       : sql_none();
	case LANE_DOMAIN: return sql_text(hwy_text(trace, at->name));
	case LANE_RANK: return sql_known(process ? process->rank : HWY_NONE);
	case LANE_ID: return sql_int(lane);
	case LANE_PROCESS_ID: return sql_known(lane_process(trace, lane));
	case LANE_THREAD_ID: return sql_known(at->thread);
	case LANE_DEVICE_ID: return sql_known(at->device);
	case LANE_STREAM_ID: return sql_known(at->stream);
	case LANE_FACTS: break;
	}
	return sql_none();
}
