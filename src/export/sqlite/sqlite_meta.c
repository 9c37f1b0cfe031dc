/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_meta.c - what the recording says about itself: machine, times, command, messages, and who
 * wrote the file. The schema is that of nsys 2025.3, the writer is not: it says so.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "export/sqlite/sqlite.h"

static void put_pair(struct sqlite *s, enum sqlite_table_id table, const char *name,
		     const char *value)
{
	sqlite3_stmt *row = value ? sqlite_row(s, table) : NULL;
	if (!row)
		return;
	sqlite3_bind_text(row, 1, name, -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(row, 2, value, -1, SQLITE_TRANSIENT);
	sqlite_insert(s, row);
}

static void write_export(struct sqlite *s)
{
	char now[64];
	time_t t = time(NULL);
	struct tm utc;
	gmtime_r(&t, &utc);
	strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%S", &utc);
	static const char *const pairs[][2] = {
		{"EXPORT_PRODUCT_NAME", "Headway"},    {"EXPORT_PRODUCT_VERSION", HEADWAY_VERSION},
		{"EXPORT_SCHEMA_VERSION", "3.20.3"},   {"EXPORT_SCHEMA_VERSION_MAJOR", "3"},
		{"EXPORT_SCHEMA_VERSION_MINOR", "20"}, {"EXPORT_SCHEMA_VERSION_MICRO", "3"},
		{"EXPORT_PLATFORM", "linux-desktop"},  {"EXPORT_PARAM_LAZY", "true"},
	};
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		put_pair(s, SQL_EXPORT, pairs[i][0], pairs[i][1]);
	put_pair(s, SQL_EXPORT, "EXPORT_TIME_UTC", now);
}

/* Writes the words of the command line, with quotes where the reader of nsys exports puts them. */
static void write_command(struct sqlite *s, const char *command)
{
	char name[48], word[4096];
	int n = 0;
	while (*command) {
		bool quoted = *command == '\'';
		const char *from = command + quoted;
		size_t length = strcspn(from, quoted ? "'" : " ");
		snprintf(word, sizeof word, "%.*s", (int)(length < 4000 ? length : 4000), from);
		if (n == 0)
			snprintf(name, sizeof name, "PROCESS_0:COMMAND");
		else
			snprintf(name, sizeof name, "PROCESS_0:ARGUMENT_%d", n - 1);
		n++;
		put_pair(s, SQL_CAPTURE, name, word);
		command = from + length;
		command += quoted && *command;
		command += strspn(command, " ");
	}
}

static void write_capture(struct sqlite *s)
{
	static const char *const known[][2] = {
		{"capture.graph_mode", "CUDA_GRAPH_TRACE_OPTIONS:MODE"},
		{"capture.memory_usage", "COLLECT_GPU_MEMORY_USAGE"},
		{"capture.skips_api_calls", "CUDA_SKIP_SOME_API_CALLS"},
		{"capture.osrt_threshold_ns", "OS_RUNTIME_OPTIONS:DURATION_THRESHOLD_NS"},
		{"capture.osrt_backtrace_threshold_ns",
		 "OS_RUNTIME_OPTIONS:BACKTRACES_THRESHOLD_NS"},
		{"capture.sampling_period", "LINUX_PERF_OPTIONS:SAMPLING_PERIOD"},
		{"capture.scheduling", "LINUX_PERF_OPTIONS:COLLECT_CPU_CTXSW_TRACE"},
		{"source.session", "PROFILING_SESSION_UUID"},
	};
	const struct hwy_trace *trace = s->x.trace;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		put_pair(s, SQL_CAPTURE, known[i][1], hwy_property(trace, known[i][0]));
	const char *events = hwy_property(trace, "capture.events");
	char word[128];
	for (; events && *events; events += strspn(events, " ")) {
		size_t length = strcspn(events, " ");
		snprintf(word, sizeof word, "%.*s", (int)(length < 120 ? length : 120), events);
		put_pair(s, SQL_CAPTURE, "CAPTURE_EVENT_TYPE", word);
		events += length;
	}
	const char *command = hwy_property(trace, "command");
	if (command)
		write_command(s, command);
}

static void put_system(struct sqlite *s, int64_t host, const char *name, int number,
		       const char *value)
{
	sqlite3_stmt *row = value && *value ? sqlite_row(s, SQL_ENVIRONMENT) : NULL;
	if (!row)
		return;
	sqlite3_bind_int64(row, 1, (host + 1) << 48);
	sqlite3_bind_text(row, 2, "Target", -1, SQLITE_STATIC);
	sqlite3_bind_text(row, 3, name, -1, SQLITE_STATIC);
	sqlite3_bind_int(row, 4, number);
	sqlite3_bind_text(row, 5, value, -1, SQLITE_TRANSIENT);
	sqlite_insert(s, row);
}

static void write_system(struct sqlite *s)
{
	const struct hwy_trace *trace = s->x.trace;
	char number[32];
	for (uint32_t i = 0; i < trace->n_hosts && !s->x.failed; i++) {
		const struct hwy_host *host = &trace->hosts[i];
		put_system(s, i, "Hostname", 619, hwy_str(trace, host->name));
		put_system(s, i, "CpuDescription", 13, hwy_str(trace, host->cpu));
		put_system(s, i, "OsDescription", 605, hwy_str(trace, host->os));
		put_system(s, i, "SoftwareReleaseVersion", 604, hwy_str(trace, host->kernel));
		snprintf(number, sizeof number, "%" PRId64, host->cpus);
		put_system(s, i, "CpuCores", 1, host->cpus != HWY_NONE ? number : NULL);
	}
	put_system(s, 0, "CpuArchitecture", 3, hwy_property(trace, "cpu.architecture"));
	put_system(s, 0, "NvDriverVersion", 205, hwy_property(trace, "driver"));
	const char *cuda = hwy_property(trace, "cuda.version");
	int major, minor;
	if (cuda && sscanf(cuda, "%d.%d", &major, &minor) == 2) {
		snprintf(number, sizeof number, "%d", major * 1000 + minor * 10);
		put_system(s, 0, "CudaDriverVersion", 611, number);
	}
}

static void write_times(struct sqlite *s)
{
	const struct hwy_trace *trace = s->x.trace;
	const char *told = hwy_property(trace, "recording.duration_ns");
	int64_t duration = told ? strtoll(told, NULL, 10) : 0;
	sqlite3_stmt *row = sqlite_row(s, SQL_START_TIME);
	if (!row)
		return;
	char text[64];
	if (trace->wall >= 0) {
		time_t seconds = (time_t)(trace->wall / 1000000000);
		struct tm utc;
		gmtime_r(&seconds, &utc);
		strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &utc);
		sqlite3_bind_int64(row, 1, trace->wall);
		sqlite3_bind_text(row, 2, text, -1, SQLITE_TRANSIENT);
	}
	sqlite_insert(s, row);
	int64_t v[] = {INT64_C(1) << 48, duration, 0, duration};
	if (told)
		sqlite_integers(s, SQL_DETAILS, v, 4);
}

static void write_diagnostics(struct sqlite *s)
{
	const struct hwy_trace *trace = s->x.trace;
	for (uint32_t i = 0; i < trace->n_diagnostics && !s->x.failed; i++) {
		const struct hwy_diagnostic *said = &trace->diagnostics[i];
		sqlite3_stmt *row = sqlite_row(s, SQL_DIAGNOSTIC);
		if (!row)
			return;
		int64_t v[] = {said->time != HWY_NONE ? said->time : 0, 1, 3,
			       said->severity >= 1 && said->severity <= 3 ? said->severity : 1};
		for (int c = 0; c < 4; c++)
			sqlite3_bind_int64(row, c + 1, v[c]);
		sqlite3_bind_text(row, 5, hwy_str(trace, said->text), -1, SQLITE_STATIC);
		if (export_process(trace, said->process))
			sqlite3_bind_int64(row, 6, s->pids[said->process]);
		sqlite_insert(s, row);
	}
}

void sqlite_meta_write(struct sqlite *s)
{
	write_export(s);
	write_capture(s);
	write_system(s);
	write_times(s);
	write_diagnostics(s);
}
