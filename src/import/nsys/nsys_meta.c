/* SPDX-License-Identifier: Apache-2.0 */
/* nsys_meta.c - reads facts about the recording and messages of the recorder: properties, hosts,
 * diagnostics.
 *
 * Exports hold the whole environment of the recorded machine. Only the keys listed here are read;
 * environment variables, user names and file contents never are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/nsys/nsys.h"

struct named {
	const char *key, *property;
};

/* Yields a text of the current row, valid until the next row; NULL where the text is NULL or
 * empty. */
static const char *value_of(struct nsys_query *q, int column)
{
	const char *text = (const char *)sqlite3_value_text(q->values[column]);
	return text && *text ? text : NULL;
}

static const char *property_for(const struct named *table, const char *key)
{
	for (; table->key; table++) {
		if (!strcmp(table->key, key))
			return table->property;
	}
	return NULL;
}

/* ---- META_DATA_EXPORT, META_DATA_CAPTURE ---- */

static void read_export_meta(struct nsys *n, const char *table)
{
	static const struct named keys[] = {
		{"EXPORT_SCHEMA_VERSION", "source.schema"},
		{"EXPORT_PRODUCT_NAME", "source.product"},
		{"EXPORT_PRODUCT_VERSION", "source.version"},
		{"EXPORT_TIME_UTC", "source.exported"},
		{"EXPORT_PARAM_TIMES_TO_EXPORT", "source.times"},
		{"EXPORT_PARAM_TABLES_TO_EXPORT", "source.tables"},
		{0},
	};
	struct nsys_query q;
	if (!nsys_select(n, &q, table, "~name ~value", NULL))
		return;
	while (nsys_next(&q)) {
		const char *name = value_of(&q, 0);
		const char *property = name ? property_for(keys, name) : NULL;
		if (property)
			hwy_add_property(n->b, property, value_of(&q, 1));
	}
}

/* Appends a word to a command line, quoted where a shell would split it. */
static void add_word(sqlite3_str *line, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "-_./=:,@%+";
	if (sqlite3_str_length(line))
		sqlite3_str_appendchar(line, 1, ' ');
	if (*word && word[strspn(word, plain)] == '\0')
		sqlite3_str_appendall(line, word);
	else
		sqlite3_str_appendf(line, "'%s'", word);
}

static void read_capture_meta(struct nsys *n)
{
	static const struct named keys[] = {
		{"CUDA_GRAPH_TRACE_OPTIONS:MODE", "capture.graph_mode"},
		{"PROCESS_0:CUDA_GRAPH_TRACE_OPTIONS:MODE", "capture.graph_mode"},
		{"COLLECT_GPU_MEMORY_USAGE", "capture.memory_usage"},
		{"PROCESS_0:COLLECT_GPU_MEMORY_USAGE", "capture.memory_usage"},
		{"CUDA_SKIP_SOME_API_CALLS", "capture.skips_api_calls"},
		{"PROCESS_0:CUDA_SKIP_SOME_API_CALLS", "capture.skips_api_calls"},
		{"OS_RUNTIME_OPTIONS:DURATION_THRESHOLD_NS", "capture.osrt_threshold_ns"},
		{"OS_RUNTIME_OPTIONS:BACKTRACES_THRESHOLD_NS",
		 "capture.osrt_backtrace_threshold_ns"},
		{"LINUX_PERF_OPTIONS:SAMPLING_PERIOD", "capture.sampling_period"},
		{"LINUX_PERF_OPTIONS:COLLECT_CPU_CTXSW_TRACE", "capture.scheduling"},
		{"PROFILING_SESSION_UUID", "source.session"},
		{0},
	};
	struct nsys_query q;
	if (!nsys_select(n, &q, "META_DATA_CAPTURE", "~name ~value", NULL))
		return;
	sqlite3_str *command = sqlite3_str_new(n->db), *events = sqlite3_str_new(n->db);
	while (nsys_next(&q)) {
		const char *name = value_of(&q, 0), *value = value_of(&q, 1);
		if (!name || !value)
			continue;
		const char *property = property_for(keys, name);
		if (property && !hwy_property(n->trace, property))
			hwy_add_property(n->b, property, value);
		else if (!strcmp(name, "PROCESS_0:COMMAND") ||
			 !strncmp(name, "PROCESS_0:ARGUMENT_", 19))
			add_word(command, value);
		else if (!strcmp(name, "CAPTURE_EVENT_TYPE"))
			add_word(events, value);
	}
	char *text = sqlite3_str_finish(command);
	hwy_add_property(n->b, "command", text);
	sqlite3_free(text);
	text = sqlite3_str_finish(events);
	hwy_add_property(n->b, "capture.events", text);
	sqlite3_free(text);
}

/* ---- the machine ---- */

static void put_host(struct nsys *n, struct nsys_query *q, const char *key, const char *value)
{
	struct hwy_host *host = &n->trace->hosts[nsys_host(n, nsys_int(q, 0))];
	if (!strcmp(key, "Hostname"))
		host->name = hwy_text_id(n->b, value);
	else if (!strcmp(key, "CpuDescription"))
		host->cpu = hwy_text_id(n->b, value);
	else if (!strcmp(key, "CpuCores"))
		host->cpus = strtoll(value, NULL, 10);
	else if (!strcmp(key, "SoftwareReleaseVersion"))
		host->kernel = hwy_text_id(n->b, value);
	else if (!strcmp(key, "OsDescription"))
		host->os = hwy_text_id(n->b, value);
}

static void read_system(struct nsys *n)
{
	static const struct named keys[] = {
		{"Hostname", "host"},
		{"CpuDescription", "cpu"},
		{"CpuCores", "cpu.cores"},
		{"CpuArchitecture", "cpu.architecture"},
		{"OsDescription", "os"},
		{"SoftwareReleaseVersion", "kernel"},
		{"NvDriverVersion", "driver"},
		{"CudaDriverVersion", "cuda.version"},
		{0},
	};
	struct nsys_query q;
	if (!nsys_select(n, &q, "TARGET_INFO_SYSTEM_ENV", "globalVid !name ~value", NULL))
		return;
	while (nsys_next(&q)) {
		const char *name = value_of(&q, 1);
		const char *property = name ? property_for(keys, name) : NULL;
		const char *value = property ? value_of(&q, 2) : NULL;
		if (!value)
			continue;
		char version[32];
		if (!strcmp(property, "cuda.version")) { /* the value 12080 means CUDA 12.8 */
			long number = strtol(value, NULL, 10);
			snprintf(version, sizeof version, "%ld.%ld", number / 1000,
				 number % 1000 / 10);
			value = version;
		}
		if (!nsys_null(&q, 0) && hwy_map_get(&n->host_of, (uint64_t)nsys_int(&q, 0) >> 48))
			put_host(n, &q, name, value);
		if (!hwy_property(n->trace, property))
			hwy_add_property(n->b, property, value);
	}
}

static void read_clock(struct nsys *n)
{
	struct nsys_query q;
	char number[32];
	if (nsys_select(n, &q, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs", NULL)) {
		while (nsys_next(&q)) {
			if (nsys_int(&q, 0) > 0)
				n->trace->wall = nsys_int(&q, 0);
		}
	}
	if (nsys_select(n, &q, "ANALYSIS_DETAILS", "duration", NULL)) {
		while (nsys_next(&q)) {
			snprintf(number, sizeof number, "%lld", (long long)nsys_int(&q, 0));
			if (!nsys_null(&q, 0) && !hwy_property(n->trace, "recording.duration_ns"))
				hwy_add_property(n->b, "recording.duration_ns", number);
		}
	}
}

void nsys_read_meta(struct nsys *n)
{
	hwy_add_property(n->b, "source.format", "nsys-sqlite");
	read_export_meta(n, "META_DATA_EXPORT");
	/* Exports before 2024 have the table under this name. */
	read_export_meta(n, "EXPORT_META_DATA");
	read_capture_meta(n);
	read_system(n);
	read_clock(n);
}

/* ---- messages of the recorder ---- */

void nsys_read_diagnostics(struct nsys *n)
{
	static const char launched[] = "Process was launched by the profiler";
	struct nsys_query q;
	if (!nsys_select(n, &q, "DIAGNOSTIC_EVENT", "timestamp severity text globalPid", NULL))
		return;
	while (nsys_next(&q)) {
		const char *text = value_of(&q, 2);
		if (!text)
			continue;
		const uint32_t *process =
			nsys_null(&q, 3)
				? NULL
				: hwy_map_get(&n->process_of, (uint64_t)nsys_int(&q, 3) >> 24);
		int64_t severity = nsys_int(&q, 1);
		uint32_t index = hwy_new_diagnostics(n->b);
		struct hwy_diagnostic *diagnostic = &n->trace->diagnostics[index];
		diagnostic->time = nsys_int_or_none(&q, 0);
		diagnostic->severity = severity == 2 || severity == 3 ? severity : 1;
		diagnostic->process = process ? (int64_t)*process : HWY_NONE;
		diagnostic->text = hwy_text_id(n->b, text);
		const char *command = hwy_property(n->trace, "command");
		if (process && command && !strncmp(text, launched, sizeof launched - 1))
			n->trace->processes[*process].command = hwy_text_id(n->b, command);
	}
}
