/* SPDX-License-Identifier: Apache-2.0 */
/* breakdown_json.c - the breakdown as one JSON object.
 *
 * Counts begin with n_, times end with _ns, and start_ns is on the clock of the trace.
 */
#include "cli/breakdown_print.h"

#include "base/json_fields.h"
#include "cli/kit/cli.h"

static const struct json_field count_fields[] = {
	{JSON_FIELD_INT(struct hwy_measures, n_kernel, "n_kernel")},
	{JSON_FIELD_INT(struct hwy_measures, n_comm, "n_comm")},
	{JSON_FIELD_INT(struct hwy_measures, n_copy, "n_memcpy")},
	{JSON_FIELD_INT(struct hwy_measures, n_fill, "n_memset")},
	{JSON_FIELD_INT(struct hwy_measures, n_streams, "n_streams")},
	{JSON_FIELD_INT(struct hwy_measures, n_linked, "gpu_events_with_launch")},
};

static const struct json_field time_fields[] = {
	{JSON_FIELD_INT(struct hwy_measures, compute, "compute_ns")},
	{JSON_FIELD_INT(struct hwy_measures, comm, "comm_ns")},
	{JSON_FIELD_INT(struct hwy_measures, copy, "memcpy_ns")},
	{JSON_FIELD_INT(struct hwy_measures, fill, "memset_ns")},
};

static void put_measures(struct hwy_json *json, const struct hwy_measures *measures)
{
	int64_t span = measures->to - measures->from;
	json_put_fields(json, JSON_FIELDS(count_fields), measures);
	json_put_int(json, "span_ns", span);
	json_put_int(json, "busy_ns", measures->busy);
	json_put_int(json, "idle_ns", span - measures->busy);
	json_put_fields(json, JSON_FIELDS(time_fields), measures);
	json_put_int(json, "comm_overlapping_compute_ns", measures->comm - measures->exposed_comm);
	json_put_int(json, "n_busy_intervals", (int64_t)measures->n_busy);
	json_put_int(json, "n_graph", (int64_t)measures->n_graph);
}

static void put_device(struct hwy_json *json, const struct hwy_trace *trace,
		       const struct hwy_device_part *part)
{
	const struct hwy_device *device =
		part->device == HWY_NONE ? NULL : &trace->devices[part->device];
	json_begin_object(json);
	cli_put_optional(json, "device", device ? device->ordinal : HWY_NONE);
	json_put_text(json, "name", device ? hwy_str(trace, device->name) : "");
	json_put_int(json, "start_ns", part->measures.from);
	put_measures(json, &part->measures);
	json_put_int(json, "exposed_comm_ns", part->measures.exposed_comm);
	json_put_int(json, "exposed_memcpy_ns", part->measures.exposed_copy);
	json_put_int(json, "exposed_memset_ns", part->measures.exposed_fill);
	json_end_object(json);
}

/* ---- streams --------------------------------------------------------------------------------- */

/* Writes [[time_ns, length], …] on one line. Where the series is not exact, a length is the largest
 * one from its time on to the next time. */
static void put_series(struct hwy_json *json, const void *object)
{
	const struct hwy_queue *queue = object;
	json->pretty = false;
	json_begin_array(json);
	for (uint32_t i = 0; i < queue->n_series; i++) {
		json_begin_array(json);
		json_int(json, queue->series[i].time);
		json_int(json, queue->series[i].length);
		json_end_array(json);
	}
	json_end_array(json);
	json->pretty = true;
}

static const struct json_field queue_fields[] = {
	{JSON_FIELD_INT(struct hwy_queue, n, "count")},
	{JSON_FIELD_INT(struct hwy_queue, max, "max")},
	{JSON_FIELD_REAL(struct hwy_queue, time_mean, "time_weighted_mean", 3)},
	{JSON_FIELD_REAL(struct hwy_queue, mean, "mean", 3)},
	{JSON_FIELD_REAL(struct hwy_queue, deviation, "std", 3)},
	{JSON_FIELD_INT(struct hwy_queue, min, "min")},
	{JSON_FIELD_REAL(struct hwy_queue, quarter, "25%", 3)},
	{JSON_FIELD_REAL(struct hwy_queue, median, "50%", 3)},
	{JSON_FIELD_REAL(struct hwy_queue, three_quarters, "75%", 3)},
	{JSON_FIELD_BOOL(struct hwy_queue, exact, "series_exact")},
	{JSON_FIELD_CALL_OBJECT("series", put_series)},
};

static const struct json_field delay_fields[] = {
	{JSON_FIELD_INT(struct queue_delays, n, "count")},
	{JSON_FIELD_INT(struct queue_delays, min, "min_ns")},
	{JSON_FIELD_INT(struct queue_delays, median, "median_ns")},
	{JSON_FIELD_REAL(struct queue_delays, mean, "mean_ns", 3)},
	{JSON_FIELD_INT(struct queue_delays, p95, "p95_ns")},
	{JSON_FIELD_INT(struct queue_delays, max, "max_ns")},
	{JSON_FIELD_INT(struct queue_delays, late, "outliers")},
};

static const struct json_field stream_fields[] = {
	{JSON_FIELD_INT(struct hwy_stream_part, host_wait, "host_wait_ns")},
	{JSON_FIELD_INT(struct hwy_stream_part, kernel_wait, "kernel_wait_ns")},
	{JSON_FIELD_INT(struct hwy_stream_part, other, "other_ns")},
	{JSON_FIELD_OBJECT(struct hwy_stream_part, delays, "launch_delay", delay_fields)},
	{JSON_FIELD_INT(struct hwy_stream_part, delays.short_kernels, "short_kernels")},
	{JSON_FIELD_INT(struct hwy_stream_part, delays.short_ops, "short_ops")},
	{JSON_FIELD_OBJECT(struct hwy_stream_part, queue, "queue", queue_fields)},
};

static void put_stream(struct hwy_json *json, const struct hwy_trace *trace,
		       const struct hwy_stream_part *part)
{
	const struct hwy_lane *lane = &trace->lanes[part->lane];
	bool has_stream = lane->stream >= 0 && lane->stream < trace->n_streams;
	bool has_device = lane->device >= 0 && lane->device < trace->n_devices;
	bool has_process = lane->process >= 0 && lane->process < trace->n_processes;
	const struct hwy_stream *stream = has_stream ? &trace->streams[lane->stream] : NULL;
	json_begin_object(json);
	cli_put_optional(json, "device",
			 has_device ? trace->devices[lane->device].ordinal : HWY_NONE);
	cli_put_optional(json, "pid", has_process ? trace->processes[lane->process].pid : HWY_NONE);
	if (has_process && trace->processes[lane->process].rank != HWY_NONE)
		json_put_int(json, "rank", trace->processes[lane->process].rank);
	cli_put_optional(json, "context", stream ? stream->context : HWY_NONE);
	cli_put_optional(json, "stream", stream ? stream->number : HWY_NONE);
	json_put_int(json, "n_ops", (int64_t)part->n_ops);
	json_put_int(json, "n_kernel", (int64_t)part->n_kernel);
	json_put_int(json, "n_comm", (int64_t)part->n_comm);
	json_put_int(json, "start_ns", part->from);
	json_put_int(json, "span_ns", part->to - part->from);
	json_put_int(json, "busy_ns", part->busy);
	json_put_int(json, "idle_ns", part->to - part->from - part->busy);
	json_put_fields(json, JSON_FIELDS(stream_fields), part);
	json_end_object(json);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static const struct json_field step_fields[] = {
	{JSON_FIELD_INT(struct hwy_step, parts[HWY_STEP_KERNEL], "kernel_ns")},
	{JSON_FIELD_INT(struct hwy_step, parts[HWY_STEP_COPY], "memcpy_ns")},
	{JSON_FIELD_INT(struct hwy_step, parts[HWY_STEP_FILL], "memset_ns")},
	{JSON_FIELD_INT(struct hwy_step, parts[HWY_STEP_COMM], "communication_ns")},
	{JSON_FIELD_INT(struct hwy_step, parts[HWY_STEP_RUNTIME], "runtime_ns")},
	{JSON_FIELD_INT(struct hwy_step, parts[HWY_STEP_LOADER], "dataloader_ns")},
	{JSON_FIELD_INT(struct hwy_step, parts[HWY_STEP_OP], "cpu_op_ns")},
	{JSON_FIELD_INT(struct hwy_step, parts[HWY_STEP_OTHER], "other_ns")},
	{JSON_FIELD_INT(struct hwy_step, n_work, "n_ops")},
	{JSON_FIELD_BOOL(struct hwy_step, whole, "complete")},
};

static void put_step(struct hwy_json *json, const struct hwy_trace *trace,
		     const struct hwy_step *step)
{
	bool has_process = step->process >= 0 && step->process < trace->n_processes;
	json_begin_object(json);
	json_put_text(json, "name", hwy_str(trace, step->name));
	cli_put_optional(json, "pid", has_process ? trace->processes[step->process].pid : HWY_NONE);
	if (has_process && trace->processes[step->process].rank != HWY_NONE)
		json_put_int(json, "rank", trace->processes[step->process].rank);
	json_put_int(json, "start_ns", step->at.from);
	json_put_int(json, "span_ns", step->at.to - step->at.from);
	json_put_fields(json, JSON_FIELDS(step_fields), step);
	json_end_object(json);
}

void breakdown_print_json(FILE *out, const struct breakdown_view *view)
{
	const struct hwy_breakdown *breakdown = view->breakdown;
	struct hwy_json json = {.out = out, .pretty = true};
	json_begin_object(&json);
	put_measures(&json, &breakdown->total);
	json_key(&json, "devices");
	json_begin_array(&json);
	for (uint32_t i = 0; i < breakdown->n_devices; i++)
		put_device(&json, view->trace, &breakdown->devices[i]);
	json_end_array(&json);
	json_key(&json, "streams");
	json_begin_array(&json);
	for (uint32_t i = 0; i < breakdown->n_streams; i++)
		put_stream(&json, view->trace, &breakdown->streams[i]);
	json_end_array(&json);
	json_key(&json, "steps");
	json_begin_array(&json);
	for (uint32_t i = 0; i < breakdown->n_steps; i++)
		put_step(&json, view->trace, &breakdown->steps[i]);
	json_end_array(&json);
	json_end_object(&json);
}
