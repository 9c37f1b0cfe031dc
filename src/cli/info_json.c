/* SPDX-License-Identifier: Apache-2.0 */
/* info_json.c - `headway info --format json`. The keys are promised in `headway info --help`.
 *
 * The functions in the tables find the struct info in json->context.
 */
#include "cli/info_print.h"

#include "base/json_fields.h"
#include "cli/kit/cli.h"

static const struct hwy_trace *trace_of(const struct hwy_json *json)
{
	return ((const struct info *)json->context)->trace;
}

/* Writes a text of the trace by its id; null where the text is empty. */
static void put_text(struct hwy_json *json, const void *id)
{
	struct hwy_text text = hwy_text(trace_of(json), *(const int64_t *)id);
	if (text.length)
		json_text(json, text.at, text.length);
	else
		json_null(json);
}

static void put_key_and_text(struct hwy_json *json, const char *key, int64_t id)
{
	json_key(json, key);
	put_text(json, &id);
}

/* Rows of a JSON table for members of the trace's records, which are all int64_t: numbers, or ids
 * of texts. */
#define INT(type, member, key)                                                                     \
	{                                                                                          \
		JSON_FIELD_OPTIONAL_INT(type, member, key)                                         \
	}
#define TEXT(type, member, key)                                                                    \
	{                                                                                          \
		JSON_FIELD_CALL(type, member, key, put_text)                                       \
	}

static void put_source(struct hwy_json *json)
{
	json_key(json, "source");
	json_begin_object(json);
	json_put_text(json, "format", hwy_property(trace_of(json), "source.format"));
	json_put_text(json, "version", hwy_property(trace_of(json), "source.version"));
	json_put_text(json, "schema", hwy_property(trace_of(json), "source.schema"));
	json_end_object(json);
}

static const struct json_field host_fields[] = {
	TEXT(struct hwy_host, name, "name"),     TEXT(struct hwy_host, cpu, "cpu"),
	INT(struct hwy_host, cpus, "cpus"),      TEXT(struct hwy_host, os, "os"),
	TEXT(struct hwy_host, kernel, "kernel"),
};

static void put_compute(struct hwy_json *json, const void *object)
{
	const struct hwy_device *device = object;
	char compute[48];
	snprintf(compute, sizeof compute, "%lld.%lld", (long long)device->compute_major,
		 (long long)device->compute_minor);
	json_textz(json, device->compute_major == HWY_NONE ? NULL : compute);
}

static const struct json_field device_fields[] = {
	INT(struct hwy_device, ordinal, "ordinal"),
	TEXT(struct hwy_device, name, "name"),
	TEXT(struct hwy_device, uuid, "uuid"),
	TEXT(struct hwy_device, bus, "bus"),
	{JSON_FIELD_CALL_OBJECT("compute", put_compute)},
	INT(struct hwy_device, sms, "sms"),
	INT(struct hwy_device, memory_bytes, "memory_bytes"),
	INT(struct hwy_device, memory_bandwidth, "memory_bandwidth"),
};

static const struct json_field calibration_fields[] = {
	INT(struct hwy_calibration, device, "device"),
	TEXT(struct hwy_calibration, name, "name"),
	INT(struct hwy_calibration, value, "value"),
	INT(struct hwy_calibration, spread, "spread"),
	TEXT(struct hwy_calibration, unit, "unit"),
};

static void put_thread_count(struct hwy_json *json, const void *process)
{
	const struct info *info = json->context;
	json_int(json, info->threads[(const struct hwy_process *)process - info->trace->processes]);
}

static const struct json_field process_fields[] = {
	INT(struct hwy_process, pid, "pid"),
	TEXT(struct hwy_process, name, "name"),
	TEXT(struct hwy_process, command, "command"),
	INT(struct hwy_process, rank, "rank"),
	INT(struct hwy_process, local_rank, "local_rank"),
	INT(struct hwy_process, world, "world"),
	{JSON_FIELD_CALL_OBJECT("threads", put_thread_count)},
};

static const struct json_field drop_fields[] = {
	TEXT(struct hwy_drop, source, "source"), TEXT(struct hwy_drop, reason, "reason"),
	INT(struct hwy_drop, count, "count"),    INT(struct hwy_drop, bytes, "bytes"),
	INT(struct hwy_drop, from, "from_ns"),   INT(struct hwy_drop, to, "to_ns"),
};

static void put_severity(struct hwy_json *json, const void *severity)
{
	json_textz(json, info_severity(*(const int64_t *)severity));
}

static const struct json_field diagnostic_fields[] = {
	{JSON_FIELD_CALL(struct hwy_diagnostic, severity, "severity", put_severity)},
	INT(struct hwy_diagnostic, time, "time_ns"),
	TEXT(struct hwy_diagnostic, text, "text"),
};

static void put_effect(struct hwy_json *json, const void *object)
{
	static const char *const effects[] = {"none", "weakens", "forbids"};
	const struct hwy_lack *lack = object;
	json_textz(json, effects[lack->count ? lack->effect : HWY_EFFECT_NONE]);
}

static const struct json_field lack_fields[] = {
	{JSON_FIELD_TEXT(struct hwy_lack, name, "name")},
	{JSON_FIELD_INT(struct hwy_lack, count, "count")},
	{JSON_FIELD_INT(struct hwy_lack, total, "of")},
	{JSON_FIELD_CALL_OBJECT("effect", put_effect)},
	{JSON_FIELD_TEXT(struct hwy_lack, measures, "measures")},
	{JSON_FIELD_TEXT(struct hwy_lack, says, "says")},
};

static void put_counts(struct hwy_json *json, const struct info *info)
{
	json_key(json, "lanes");
	json_begin_object(json);
	json_put_int(json, "total", info->trace->n_lanes);
	for (unsigned i = 0; i < HWY_LANE_TYPES; i++)
		if (info->lanes[i])
			json_put_int(json, hwy_lane_type_names[i], info->lanes[i]);
	json_end_object(json);

	json_key(json, "spans");
	json_begin_object(json);
	json_put_int(json, "total", info->trace->n_spans);
	for (unsigned i = 0; i < HWY_KINDS; i++) {
		if (!info->spans[i])
			continue;
		json_key(json, hwy_kind_names[i]);
		json_begin_object(json);
		json_put_int(json, "count", info->spans[i]);
		cli_put_optional(json, "time_ns", info->time[i]);
		json_end_object(json);
	}
	json_end_object(json);
}

static void put_trust(struct hwy_json *json, const struct hwy_trust *trust)
{
	json_key(json, "trust");
	json_begin_object(json);
	json_put_text(json, "verdict", info_verdict(trust));
	json_key(json, "lacks");
	json_put_array(json, JSON_FIELDS(lack_fields), trust->lacks, HWY_LACKS,
		       sizeof *trust->lacks);
	json_end_object(json);
}

static const struct json_field machine_fields[] = {
	{JSON_FIELD_ARRAY(struct hwy_trace, hosts, n_hosts, "hosts", host_fields)},
	{JSON_FIELD_ARRAY(struct hwy_trace, devices, n_devices, "devices", device_fields)},
	{JSON_FIELD_ARRAY(struct hwy_trace, calibrations, n_calibrations, "calibration",
			  calibration_fields)},
	{JSON_FIELD_ARRAY(struct hwy_trace, processes, n_processes, "processes", process_fields)},
};

static const struct json_field loss_fields[] = {
	{JSON_FIELD_ARRAY(struct hwy_trace, drops, n_drops, "drops", drop_fields)},
	{JSON_FIELD_ARRAY(struct hwy_trace, diagnostics, n_diagnostics, "diagnostics",
			  diagnostic_fields)},
};

void info_print_json(const struct info *info, FILE *out)
{
	const struct hwy_trace *trace = info->trace;
	struct hwy_json json = {.out = out, .pretty = true, .context = info};
	json_begin_object(&json);
	put_source(&json);
	cli_put_optional(&json, "wall_ns", trace->wall);
	cli_put_optional(&json, "start_ns", info->has_window ? info->from : HWY_NONE);
	cli_put_optional(&json, "end_ns", info->has_window ? info->to : HWY_NONE);
	cli_put_optional(&json, "duration_ns", info->has_window ? info->duration : HWY_NONE);
	json_put_text(&json, "command", hwy_property(trace, "command"));
	json_put_fields(&json, JSON_FIELDS(machine_fields), trace);
	info_clocks_put(&json, info);
	info_ranks_put(&json, info);
	put_counts(&json, info);
	json_put_fields(&json, JSON_FIELDS(loss_fields), trace);
	json_key(&json, "properties");
	json_begin_object(&json);
	for (uint32_t i = 0; i < trace->n_properties; i++)
		put_key_and_text(&json, hwy_str(trace, trace->properties[i].name),
				 trace->properties[i].value);
	json_end_object(&json);
	put_trust(&json, &info->trust);
	json_end_object(&json);
	fputc('\n', out);
}
