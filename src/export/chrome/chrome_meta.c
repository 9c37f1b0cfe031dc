/* SPDX-License-Identifier: Apache-2.0 */
/* chrome_meta.c - what the file has before and after the list of events: devices, ranks, times,
 * properties. */
#include <stdlib.h>
#include <string.h>

#include "export/chrome/chrome.h"

static void put_member(struct chrome *c, const char *key)
{
	out_json(&c->out, (struct hwy_text){key, (uint32_t)strlen(key)});
	out_literal(&c->out, ": ");
}

static void chrome_meta_put_number(struct chrome *c, const char *key, int64_t value)
{
	if (value == HWY_NONE)
		return;
	out_literal(&c->out, ", ");
	put_member(c, key);
	out_int(&c->out, value);
}

static void write_device(struct chrome *c, uint32_t index)
{
	const struct hwy_device *device = &c->x.trace->devices[index];
	out_literal(&c->out, "\n    {\"id\": ");
	out_int(&c->out, device->ordinal != HWY_NONE ? device->ordinal : index);
	if (device->name > 0) {
		out_literal(&c->out, ", \"name\": ");
		out_json(&c->out, hwy_text(c->x.trace, device->name));
	}
	chrome_meta_put_number(c, "totalGlobalMem", device->memory_bytes);
	chrome_meta_put_number(c, "computeMajor", device->compute_major);
	chrome_meta_put_number(c, "computeMinor", device->compute_minor);
	chrome_meta_put_number(c, "maxThreadsPerBlock", device->max_threads_per_block);
	chrome_meta_put_number(c, "maxThreadsPerMultiprocessor", device->max_threads_per_sm);
	chrome_meta_put_number(c, "regsPerBlock", device->registers_per_block);
	chrome_meta_put_number(c, "warpSize", device->threads_per_warp);
	chrome_meta_put_number(c, "sharedMemPerBlock", device->shared_per_block);
	chrome_meta_put_number(c, "numSms", device->sms);
	chrome_meta_put_number(c, "regsPerMultiprocessor", device->registers_per_sm);
	chrome_meta_put_number(c, "sharedMemPerBlockOptin", device->shared_per_block_optin);
	chrome_meta_put_number(c, "sharedMemPerMultiprocessor", device->shared_per_sm);
	out_char(&c->out, '}');
}

/* Writes the value of a property. The reader keeps JSON and texts alike; what looks like JSON is
 * written as JSON. */
static void put_value(struct chrome *c, struct hwy_text text)
{
	/* The importer of Kineto traces cuts values of this length, and a cut value is no JSON. */
	enum { READER_LIMIT_BYTES = 64 * 1024 };
	char *end;
	strtod(text.at, &end);
	bool number = text.length && end == text.at + text.length &&
		      (text.at[0] == '-' || (text.at[0] >= '0' && text.at[0] <= '9'));
	bool other = text.length && text.length < READER_LIMIT_BYTES &&
		     (text.at[0] == '{' || text.at[0] == '[');
	if (number || other || strcmp(text.at, "true") == 0 || strcmp(text.at, "false") == 0 ||
	    strcmp(text.at, "null") == 0)
		out_bytes(&c->out, text.at, text.length);
	else
		out_json(&c->out, text);
}

static void write_properties(struct chrome *c)
{
	static const char *const known[][2] = {
		{"cupti.version", "cupti_version"},     {"cuda.runtime", "cuda_runtime_version"},
		{"driver", "cuda_driver_version"},      {"roctracer.version", "roctracer_version"},
		{"hip.runtime", "hip_runtime_version"}, {"trace.id", "trace_id"},
	};
	const struct hwy_trace *trace = c->x.trace;
	for (uint32_t i = 0; i < trace->n_properties; i++) {
		const char *name = hwy_str(trace, trace->properties[i].name), *key = NULL;
		if (strncmp(name, "kineto.", 7) == 0 && strcmp(name, "kineto.displayTimeUnit") != 0)
			key = name + 7;
		for (size_t k = 0; k < sizeof known / sizeof *known; k++)
			if (strcmp(name, known[k][0]) == 0)
				key = known[k][1];
		if (!key)
			continue;
		out_literal(&c->out, "\n  ");
		put_member(c, key);
		put_value(c, hwy_text(trace, trace->properties[i].value));
		out_char(&c->out, ',');
	}
}

static void chrome_meta_put_text(struct chrome *c, const char *key, int64_t text)
{
	if (text == HWY_NONE)
		return;
	out_literal(&c->out, ", ");
	put_member(c, key);
	put_value(c, hwy_text(c->x.trace, text));
}

static void write_group(struct chrome *c, const struct hwy_group *group)
{
	out_literal(&c->out, "{\"pg_size\": ");
	out_int(&c->out, group->size != HWY_NONE ? group->size : 0);
	if (group->name != HWY_NONE) {
		out_literal(&c->out, ", \"pg_name\": ");
		out_json(&c->out, hwy_text(c->x.trace, group->name));
	}
	chrome_meta_put_text(c, "pg_desc", group->description);
	chrome_meta_put_text(c, "backend_config", group->backend);
	chrome_meta_put_text(c, "ranks", group->ranks);
	out_char(&c->out, '}');
}

static void write_distributed(struct chrome *c)
{
	const struct hwy_trace *trace = c->x.trace;
	const struct hwy_process *ranked = NULL;
	for (uint32_t i = 0; i < trace->n_processes && !ranked; i++)
		if (trace->processes[i].rank != HWY_NONE)
			ranked = &trace->processes[i];
	if (!ranked)
		return;
	const char *backend = hwy_property(trace, "distributed.backend");
	backend = backend ? backend : "nccl";
	out_literal(&c->out, "\n  \"distributedInfo\": {\"backend\": ");
	out_json(&c->out, (struct hwy_text){backend, (uint32_t)strlen(backend)});
	chrome_meta_put_number(c, "rank", ranked->rank);
	chrome_meta_put_number(c, "world_size", ranked->world);
	const char *nccl = hwy_property(trace, "nccl.version");
	if (nccl) {
		out_literal(&c->out, ", \"nccl_version\": ");
		out_json(&c->out, (struct hwy_text){nccl, (uint32_t)strlen(nccl)});
	}
	out_literal(&c->out, ", \"pg_config\": [");
	for (uint32_t i = 0; i < trace->n_groups; i++) {
		if (i)
			out_literal(&c->out, ", ");
		write_group(c, &trace->groups[i]);
	}
	out_literal(&c->out, "]},");
}

static void write_log(struct chrome *c, const char *key, int64_t severity)
{
	const struct hwy_trace *trace = c->x.trace;
	bool any = false;
	for (uint32_t i = 0; i < trace->n_diagnostics; i++) {
		if (trace->diagnostics[i].severity != severity)
			continue;
		if (any)
			out_literal(&c->out, ", ");
		else {
			out_literal(&c->out, "\n  ");
			put_member(c, key);
			out_char(&c->out, '[');
		}
		out_json(&c->out, hwy_text(trace, trace->diagnostics[i].text));
		any = true;
	}
	if (any)
		out_literal(&c->out, "],");
}

void chrome_meta_write_head(struct chrome *c)
{
	const struct hwy_trace *trace = c->x.trace;
	out_literal(&c->out, "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [");
	for (uint32_t i = 0; i < trace->n_devices; i++) {
		if (i)
			out_char(&c->out, ',');
		write_device(c, i);
	}
	out_literal(&c->out, "\n  ],");
	write_properties(c);
	write_distributed(c);
	write_log(c, "INFO", 1);
	write_log(c, "WARNING", 2);
	write_log(c, "ERROR", 3);
	if (trace->n_hosts && trace->hosts[0].name > 0 &&
	    !hwy_property(trace, "kineto.host_name")) {
		out_literal(&c->out, "\n  \"host_name\": ");
		out_json(&c->out, hwy_text(trace, trace->hosts[0].name));
		out_char(&c->out, ',');
	}
	if (trace->wall != HWY_NONE) {
		out_literal(&c->out, "\n  \"baseTimeNanoseconds\": ");
		out_int(&c->out, export_add(trace->wall, -c->shift));
		out_char(&c->out, ',');
	}
	out_literal(&c->out, "\n  \"displayTimeUnit\": \"ms\",\n  \"traceEvents\": [");
}

void chrome_meta_write_tail(struct chrome *c)
{
	const char *name = hwy_property(c->x.trace, "trace.name");
	name = name ? name : "headway";
	out_literal(&c->out, "\n  ],\n  \"traceName\": ");
	out_json(&c->out, (struct hwy_text){name, (uint32_t)strlen(name)});
	out_literal(&c->out, "\n}\n");
}
