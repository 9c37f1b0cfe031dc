/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_info.c - headway info: what a recording holds, and how far it can be trusted. */
#include "cli/commands.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/info_print.h"

struct options {
	const char *path;
	int format;
	bool all;
};

static const struct cli_option option_table[] = {
	CLI_TEXT_OR_JSON,
	{'a', "all", NULL,
	 "every process, property and diagnostic, not only the first or the weighty", CLI_SWITCH,
	 CLI_AT(all)},
	CLI_END_OF_OPTIONS,
};

/* Yields a + b, or INT64_MAX where the sum does not fit: times of a damaged file may be any
 * number. */
static int64_t add_saturated(int64_t a, int64_t b)
{
	int64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static void count_strips(struct info *info)
{
	struct hwy_trace *trace = info->trace;
	for (uint32_t i = 0; i < trace->n_strips; i++) {
		const struct hwy_strip *strip = &trace->strips[i];
		info->spans[strip->kind] += strip->rows;
		for (uint32_t row = 0; row < strip->rows; row++)
			info->time[strip->kind] = add_saturated(info->time[strip->kind],
								hwy_get(strip, HWY_DUR, row));
	}
}

static void gather_clocks(struct info *info)
{
	struct hwy_metrics metrics;
	info->clocks = hwy_zarray(info->trace->n_devices, sizeof *info->clocks);
	info->has_clocks = hwy_zarray(info->trace->n_devices, sizeof *info->has_clocks);
	metrics_open(&metrics, info->trace);
	for (uint32_t i = 0; i < info->trace->n_devices; i++)
		info->has_clocks[i] = device_clocks_read(&info->clocks[i], &metrics, i);
	metrics_close(&metrics);
}

static void info_gather(struct info *info)
{
	struct hwy_trace *trace = info->trace;
	struct hwy_err err;
	uint32_t kinds = HWY_KIND_BIT(HWY_KINDS) - 1;
	if (!hwy_need(trace, kinds, HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR), &err))
		cli_die("%s", err.text);
	info->has_window = hwy_extent(trace, kinds, &info->from, &info->to);
	if (__builtin_sub_overflow(info->to, info->from, &info->duration))
		info->duration = INT64_MAX;
	info->began = trace->wall == HWY_NONE ? HWY_NONE : add_saturated(trace->wall, info->from);
	count_strips(info);
	for (uint32_t i = 0; i < trace->n_lanes; i++)
		if (trace->lanes[i].type >= 0 && trace->lanes[i].type < HWY_LANE_TYPES)
			info->lanes[trace->lanes[i].type]++;
	info->threads = hwy_zarray(trace->n_processes, sizeof *info->threads);
	for (uint32_t i = 0; i < trace->n_threads; i++)
		if (trace->threads[i].process >= 0 &&
		    trace->threads[i].process < trace->n_processes)
			info->threads[trace->threads[i].process]++;
	if (!trust_measure(trace, &info->trust, &err))
		cli_die("%s", err.text);
	gather_clocks(info);
	info->ranks = job_facts_get(trace, &info->n_ranks, &info->arena);
}

static int run_info(int argc, char **argv)
{
	struct options options = {0};
	cli_read(&cmd_info, argc, argv, &options);
	if (!options.path)
		cli_misuse(&cmd_info, "which file?");
	struct info info = {.all = options.all, .trace = cli_open(options.path)};
	info_gather(&info);
	if (options.format == CLI_FORMAT_JSON)
		info_print_json(&info, stdout);
	else
		info_print_text(&info, stdout);
	free(info.threads);
	free(info.clocks);
	free(info.has_clocks);
	hwy_arena_free(&info.arena);
	hwy_trace_free(info.trace);
	return 0;
}

const struct cli_command cmd_info = {
	.name = "info",
	.summary = "what a recording holds, and how far it can be trusted",
	.usage = "headway info [options] FILE|JOB",
	.about =
		"Tells what a recording holds: where it comes from, what ran where, how many "
		"spans of which kind, what was lost, and its trust: what it lacks, and which "
		"answers that weakens or forbids. Of a job (a folder with a recording of each rank) it "
		"also tells how far the clocks of the ranks can be trusted.",
	.options = option_table,
	.footer =
		"JSON: one object with these keys; what is not known is null, times are ns.\n"
		"  source       {format, version, schema}\n"
		"  wall_ns      wall-clock time of time 0, ns since 1970 (UTC)\n"
		"  start_ns, end_ns, duration_ns   first start and last end of any span\n"
		"  command      the command line that was recorded\n"
		"  hosts        [{name, cpu, cpus, os, kernel}]\n"
		"  devices      [{ordinal, name, uuid, bus, compute, sms, memory_bytes,\n"
		"                 memory_bandwidth}]\n"
		"  calibration  [{device, name, value, spread, unit}]; device is an index of "
		"devices\n"
		"  clocks       [{device, sm_hz, memory_hz, power_w, temperature_c: {least, median,\n"
		"                 mean, most, samples}, most_sm_hz, power_limit_mw, energy_mj,\n"
		"                 lost_ns: {power_cap, sync_boost, sw_thermal, hw_thermal,\n"
		"                 power_brake}}]; only devices whose clocks were recorded\n"
		"  ranks        [{rank, file, host, clock, shift_ns, drift_ppm, error_ns, compared,\n"
		"                 repairs}]; of a job only: how the rank's clock stands to the first\n"
		"                 rank's (same clock|pings|collective ends|wall clock|unknown), what\n"
		"                 is added to its times in the middle of the recording (the\n"
		"                 drift changes that), and by how much that may be wrong\n"
		"  processes    [{pid, name, command, rank, local_rank, world, threads}]\n"
		"  lanes        {total, TYPE: lanes of it}\n"
		"  spans        {total, KIND: {count, time_ns}}; time_ns is the sum of durations\n"
		"  drops        [{source, reason, count, bytes, from_ns, to_ns}]\n"
		"  diagnostics  [{severity, time_ns, text}]\n"
		"  properties   {NAME: text}\n"
		"  trust        {verdict: good|weakened|limited,\n"
		"                lacks: [{name, count, of, effect: none|weakens|forbids, "
		"measures,\n"
		"                         says}]}\n"
		"\n"
		"Examples:\n"
		"  headway info run.sqlite\n"
		"  headway info --all run.hwy\n"
		"  headway info job1/                 how sure are the clocks of its ranks?\n"
		"  headway info --format json trace.json.gz | jq .spans.kernel.count\n",
	.operands = CLI_FILE,
	.operands_offset = offsetof(struct options, path),
	.run = run_info,
};
