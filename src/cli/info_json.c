/* info_json.c - `headway info --format json`. The keys are promised in `headway info --help`. */
#include "cli/info_print.h"

#include "base/json.h"

static void put_int(struct hwy_json *json, const char *key, int64_t value)
{
	json_key(json, key);
	if (value == HWY_NONE)
		json_null(json);
	else
		json_int(json, value);
}

static void info_json_put_text(struct hwy_json *json, const char *key,
			       const struct hwy_trace *trace, int64_t id)
{
	struct hwy_text text = hwy_text(trace, id);
	json_key(json, key);
	if (text.length)
		json_text(json, text.at, text.length);
	else
		json_null(json);
}

static void print_source(struct hwy_json *json, const struct hwy_trace *trace)
{
	json_key(json, "source");
	json_begin_object(json);
	json_put_text(json, "format", hwy_property(trace, "source.format"));
	json_put_text(json, "version", hwy_property(trace, "source.version"));
	json_put_text(json, "schema", hwy_property(trace, "source.schema"));
	json_end_object(json);
}

static void print_hosts(struct hwy_json *json, const struct hwy_trace *trace)
{
	json_key(json, "hosts");
	json_begin_array(json);
	for (uint32_t i = 0; i < trace->n_hosts; i++) {
		const struct hwy_host *host = &trace->hosts[i];
		json_begin_object(json);
		info_json_put_text(json, "name", trace, host->name);
		info_json_put_text(json, "cpu", trace, host->cpu);
		put_int(json, "cpus", host->cpus);
		info_json_put_text(json, "os", trace, host->os);
		info_json_put_text(json, "kernel", trace, host->kernel);
		json_end_object(json);
	}
	json_end_array(json);
}

static void info_json_print_devices(struct hwy_json *json, const struct hwy_trace *trace)
{
	json_key(json, "devices");
	json_begin_array(json);
	for (uint32_t i = 0; i < trace->n_devices; i++) {
		const struct hwy_device *device = &trace->devices[i];
		char compute[48];
		json_begin_object(json);
		put_int(json, "ordinal", device->ordinal);
		info_json_put_text(json, "name", trace, device->name);
		info_json_put_text(json, "uuid", trace, device->uuid);
		info_json_put_text(json, "bus", trace, device->bus);
		snprintf(compute, sizeof compute, "%lld.%lld", (long long)device->compute_major,
			 (long long)device->compute_minor);
		json_put_text(json, "compute", device->compute_major == HWY_NONE ? NULL : compute);
		put_int(json, "sms", device->sms);
		put_int(json, "memory_bytes", device->memory_bytes);
		put_int(json, "memory_bandwidth", device->memory_bandwidth);
		json_end_object(json);
	}
	json_end_array(json);
}

static void print_calibrations(struct hwy_json *json, const struct hwy_trace *trace)
{
	json_key(json, "calibration");
	json_begin_array(json);
	for (uint32_t i = 0; i < trace->n_calibrations; i++) {
		const struct hwy_calibration *one = &trace->calibrations[i];
		json_begin_object(json);
		put_int(json, "device", one->device);
		info_json_put_text(json, "name", trace, one->name);
		put_int(json, "value", one->value);
		put_int(json, "spread", one->spread);
		info_json_put_text(json, "unit", trace, one->unit);
		json_end_object(json);
	}
	json_end_array(json);
}

static void print_processes(struct hwy_json *json, const struct info *info)
{
	const struct hwy_trace *trace = info->trace;
	json_key(json, "processes");
	json_begin_array(json);
	for (uint32_t i = 0; i < trace->n_processes; i++) {
		const struct hwy_process *process = &trace->processes[i];
		json_begin_object(json);
		put_int(json, "pid", process->pid);
		info_json_put_text(json, "name", trace, process->name);
		info_json_put_text(json, "command", trace, process->command);
		put_int(json, "rank", process->rank);
		put_int(json, "local_rank", process->local_rank);
		put_int(json, "world", process->world);
		put_int(json, "threads", info->threads[i]);
		json_end_object(json);
	}
	json_end_array(json);
}

static void info_json_print_counts(struct hwy_json *json, const struct info *info)
{
	json_key(json, "lanes");
	json_begin_object(json);
	put_int(json, "total", info->trace->n_lanes);
	for (unsigned i = 0; i < HWY_LANE_TYPES; i++)
		if (info->lanes[i])
			put_int(json, hwy_lane_type_names[i], info->lanes[i]);
	json_end_object(json);

	json_key(json, "spans");
	json_begin_object(json);
	put_int(json, "total", info->trace->n_spans);
	for (unsigned i = 0; i < HWY_KINDS; i++) {
		if (!info->spans[i])
			continue;
		json_key(json, hwy_kind_names[i]);
		json_begin_object(json);
		put_int(json, "count", info->spans[i]);
		put_int(json, "time_ns", info->time[i]);
		json_end_object(json);
	}
	json_end_object(json);
}

static void print_losses(struct hwy_json *json, const struct hwy_trace *trace)
{
	json_key(json, "drops");
	json_begin_array(json);
	for (uint32_t i = 0; i < trace->n_drops; i++) {
		json_begin_object(json);
		info_json_put_text(json, "source", trace, trace->drops[i].source);
		info_json_put_text(json, "reason", trace, trace->drops[i].reason);
		put_int(json, "count", trace->drops[i].count);
		put_int(json, "bytes", trace->drops[i].bytes);
		json_end_object(json);
	}
	json_end_array(json);

	json_key(json, "diagnostics");
	json_begin_array(json);
	for (uint32_t i = 0; i < trace->n_diagnostics; i++) {
		json_begin_object(json);
		json_put_text(json, "severity", info_severity(trace->diagnostics[i].severity));
		put_int(json, "time_ns", trace->diagnostics[i].time);
		info_json_put_text(json, "text", trace, trace->diagnostics[i].text);
		json_end_object(json);
	}
	json_end_array(json);
}

static void print_trust(struct hwy_json *json, const struct hwy_trust *trust)
{
	static const char *const effects[] = {"none", "weakens", "forbids"};
	json_key(json, "trust");
	json_begin_object(json);
	json_put_text(json, "verdict", info_verdict(trust));
	json_key(json, "lacks");
	json_begin_array(json);
	for (unsigned i = 0; i < HWY_LACKS; i++) {
		const struct hwy_lack *lack = &trust->lacks[i];
		json_begin_object(json);
		json_put_text(json, "name", lack->name);
		json_put_int(json, "count", (int64_t)lack->count);
		json_put_int(json, "of", (int64_t)lack->total);
		json_put_text(json, "effect",
			      effects[lack->count ? lack->effect : HWY_EFFECT_NONE]);
		json_put_text(json, "measures", lack->measures);
		json_put_text(json, "says", lack->says);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}

void info_print_json(const struct info *info, FILE *out)
{
	const struct hwy_trace *trace = info->trace;
	struct hwy_json json = {.out = out, .pretty = true};
	json_begin_object(&json);
	print_source(&json, trace);
	put_int(&json, "wall_ns", trace->wall);
	put_int(&json, "start_ns", info->has_window ? info->from : HWY_NONE);
	put_int(&json, "end_ns", info->has_window ? info->to : HWY_NONE);
	put_int(&json, "duration_ns", info->has_window ? info->duration : HWY_NONE);
	json_put_text(&json, "command", hwy_property(trace, "command"));
	print_hosts(&json, trace);
	info_json_print_devices(&json, trace);
	print_calibrations(&json, trace);
	print_processes(&json, info);
	info_json_print_counts(&json, info);
	print_losses(&json, trace);
	json_key(&json, "properties");
	json_begin_object(&json);
	for (uint32_t i = 0; i < trace->n_properties; i++)
		info_json_put_text(&json, hwy_str(trace, trace->properties[i].name), trace,
				   trace->properties[i].value);
	json_end_object(&json);
	print_trust(&json, &info->trust);
	json_end_object(&json);
	fputc('\n', out);
}
