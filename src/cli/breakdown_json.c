/* breakdown_json.c - the breakdown as one JSON object.
 *
 * Counts begin with n_, times end with _ns, and start_ns is on the clock of the trace.
 */
#include "cli/breakdown_print.h"

#include "base/json.h"
#include "cli/kit/cli.h"

static void put_count(struct hwy_json *json, const char *key, uint64_t value)
{
	json_put_int(json, key, (int64_t)value);
}

static void put_measures(struct hwy_json *json, const struct hwy_measures *measures)
{
	int64_t span = measures->to - measures->from;
	put_count(json, "n_kernel", measures->n_kernel);
	put_count(json, "n_comm", measures->n_comm);
	put_count(json, "n_memcpy", measures->n_copy);
	put_count(json, "n_memset", measures->n_fill);
	put_count(json, "n_streams", measures->n_streams);
	put_count(json, "gpu_events_with_launch", measures->n_linked);
	json_put_int(json, "span_ns", span);
	json_put_int(json, "busy_ns", measures->busy);
	json_put_int(json, "idle_ns", span - measures->busy);
	json_put_int(json, "compute_ns", measures->compute);
	json_put_int(json, "comm_ns", measures->comm);
	json_put_int(json, "memcpy_ns", measures->copy);
	json_put_int(json, "memset_ns", measures->fill);
	json_put_int(json, "comm_overlapping_compute_ns", measures->comm - measures->exposed_comm);
	put_count(json, "n_busy_intervals", measures->n_busy);
	put_count(json, "n_graph", measures->n_graph);
}

static void breakdown_json_put_device(struct hwy_json *json, const struct breakdown_view *view,
				      const struct hwy_device_part *part)
{
	const struct hwy_device *device =
		part->device == HWY_NONE ? NULL : &view->trace->devices[part->device];
	json_begin_object(json);
	cli_put_optional(json, "device", device ? device->ordinal : HWY_NONE);
	json_put_text(json, "name", device ? hwy_str(view->trace, device->name) : "");
	json_put_int(json, "start_ns", part->measures.from);
	put_measures(json, &part->measures);
	json_put_int(json, "exposed_comm_ns", part->measures.exposed_comm);
	json_put_int(json, "exposed_memcpy_ns", part->measures.exposed_copy);
	json_put_int(json, "exposed_memset_ns", part->measures.exposed_fill);
	json_end_object(json);
}

static void put_queue(struct hwy_json *json, const struct hwy_queue *queue)
{
	json_begin_object(json);
	put_count(json, "count", queue->n);
	json_put_int(json, "max", queue->max);
	json_put_real(json, "time_weighted_mean", queue->time_mean, 3);
	json_put_real(json, "mean", queue->mean, 3);
	json_put_real(json, "std", queue->deviation, 3);
	json_put_int(json, "min", queue->min);
	json_put_real(json, "25%", queue->quarter, 3);
	json_put_real(json, "50%", queue->median, 3);
	json_put_real(json, "75%", queue->three_quarters, 3);
	/* [time_ns, length]; where not exact, the largest length from that time on to the next */
	json_key(json, "series_exact");
	json_bool(json, queue->exact);
	json_key(json, "series");
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
	json_end_object(json);
}

static void put_delays(struct hwy_json *json, const struct queue_delays *delays)
{
	json_begin_object(json);
	put_count(json, "count", delays->n);
	json_put_int(json, "min_ns", delays->min);
	json_put_int(json, "median_ns", delays->median);
	json_put_real(json, "mean_ns", delays->mean, 3);
	json_put_int(json, "p95_ns", delays->p95);
	json_put_int(json, "max_ns", delays->max);
	put_count(json, "outliers", delays->late);
	json_end_object(json);
}

static void put_stream(struct hwy_json *json, const struct breakdown_view *view,
		       const struct hwy_stream_part *part)
{
	const struct hwy_trace *trace = view->trace;
	const struct hwy_lane *lane = &trace->lanes[part->lane];
	bool known = lane->stream >= 0 && lane->stream < trace->n_streams;
	bool has_device = lane->device >= 0 && lane->device < trace->n_devices;
	bool has_process = lane->process >= 0 && lane->process < trace->n_processes;
	json_begin_object(json);
	cli_put_optional(json, "device",
			 has_device ? trace->devices[lane->device].ordinal : HWY_NONE);
	cli_put_optional(json, "pid", has_process ? trace->processes[lane->process].pid : HWY_NONE);
	cli_put_optional(json, "context", known ? trace->streams[lane->stream].context : HWY_NONE);
	cli_put_optional(json, "stream", known ? trace->streams[lane->stream].number : HWY_NONE);
	put_count(json, "n_ops", part->n_ops);
	put_count(json, "n_kernel", part->n_kernel);
	put_count(json, "n_comm", part->n_comm);
	json_put_int(json, "start_ns", part->from);
	json_put_int(json, "span_ns", part->to - part->from);
	json_put_int(json, "busy_ns", part->busy);
	json_put_int(json, "idle_ns", part->to - part->from - part->busy);
	json_put_int(json, "host_wait_ns", part->host_wait);
	json_put_int(json, "kernel_wait_ns", part->kernel_wait);
	json_put_int(json, "other_ns", part->other);
	json_key(json, "launch_delay");
	put_delays(json, &part->delays);
	put_count(json, "short_kernels", part->delays.short_kernels);
	put_count(json, "short_ops", part->delays.short_ops);
	json_key(json, "queue");
	put_queue(json, &part->queue);
	json_end_object(json);
}

static void put_step(struct hwy_json *json, const struct breakdown_view *view,
		     const struct hwy_step *step)
{
	static const char *const keys[HWY_STEP_PARTS] = {
		"kernel_ns",  "memcpy_ns",     "memset_ns", "communication_ns",
		"runtime_ns", "dataloader_ns", "cpu_op_ns", "other_ns",
	};
	const struct hwy_trace *trace = view->trace;
	bool has_process = step->process >= 0 && step->process < trace->n_processes;
	json_begin_object(json);
	json_put_text(json, "name", hwy_str(trace, step->name));
	cli_put_optional(json, "pid", has_process ? trace->processes[step->process].pid : HWY_NONE);
	json_put_int(json, "start_ns", step->at.from);
	json_put_int(json, "span_ns", step->at.to - step->at.from);
	for (unsigned p = 0; p < HWY_STEP_PARTS; p++)
		json_put_int(json, keys[p], step->parts[p]);
	put_count(json, "n_ops", step->n_work);
	json_key(json, "complete");
	json_bool(json, step->whole);
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
		breakdown_json_put_device(&json, view, &breakdown->devices[i]);
	json_end_array(&json);
	json_key(&json, "streams");
	json_begin_array(&json);
	for (uint32_t i = 0; i < breakdown->n_streams; i++)
		put_stream(&json, view, &breakdown->streams[i]);
	json_end_array(&json);
	json_key(&json, "steps");
	json_begin_array(&json);
	for (uint32_t i = 0; i < breakdown->n_steps; i++)
		put_step(&json, view, &breakdown->steps[i]);
	json_end_array(&json);
	json_end_object(&json);
}
