/* SPDX-License-Identifier: Apache-2.0 */
/* profile_ignored.c - options of nsys that are understood and have no effect.
 *
 * A command line from a tutorial of nsys must work. Where an option asks for data that Headway does
 * not record yet, one line on stderr says so; where it asks for what Headway does anyway, nothing
 * is printed.
 */
#include <string.h>

#include "base/lang.h"
#include "cli/profile.h"

static void profile_ignore(const struct cli_value *value);

/* The values listed behind an option ask for nothing that is missing, so nothing is printed; "*"
 * is any value. */
#define IGNORED(letter, name, value, ...)                                                          \
	{                                                                                          \
		letter, name, value, NULL, CLI_READ, 0,                                            \
			.words = (const char *const[]){__VA_ARGS__, NULL}, .read = profile_ignore  \
	}
#define VALUE(name, ...) IGNORED(0, name, "VALUE", __VA_ARGS__)
#define SWITCH(name, ...) IGNORED(0, name, NULL, __VA_ARGS__)

const struct cli_option profile_ignored[] = {
	/* What the headway that runs a launcher gives to those of the ranks: the job's folder. */
	{0, "job-rank", "FOLDER", NULL, CLI_TEXT, .offset = offsetof(struct profile, job.given)},
	/* nsys's name of --force. */
	{0, "force-overwrite", NULL, NULL, CLI_BOOLEAN, .offset = offsetof(struct profile, force)},
	/* CPU sampling and counters */
	VALUE("samples-per-backtrace", "*"),
	VALUE("sampling-trigger", "*"),
	VALUE("event-sample", "none"),
	VALUE("event-sampling-interval", "*"),
	VALUE("event-sampling-multiplex-interval", "*"),
	VALUE("cpu-core-events", "none"),
	VALUE("cpu-core-metrics", "none"),
	VALUE("cpu-socket-events", "none"),
	VALUE("cpu-socket-metrics", "none"),
	VALUE("os-events", "none"),
	VALUE("process-scope", "*"),
	SWITCH("clock-frequency-changes", "false"),
	SWITCH("resolve-symbols", "*"),
	VALUE("debug-symbols", ""),
	SWITCH("discard-environment", "*"), /* Headway never keeps the environment */
	/* operating system */
	VALUE("osrt-backtrace-depth", "*"),
	VALUE("osrt-backtrace-stack-size", "*"),
	SWITCH("osrt-file-access", "false"),
	VALUE("syscall", "none"),
	VALUE("ftrace", ""),
	SWITCH("ftrace-keep-user-config", "*"),
	/* CUDA */
	VALUE("cuda-trace-scope", "process-tree"),
	VALUE("cuda-event-trace", "false", "auto"),
	SWITCH("cuda-um-cpu-page-faults", "false"),
	SWITCH("cuda-um-gpu-page-faults", "false"),
	SWITCH("flush-on-cudaprofilerstop", "*"),
	SWITCH("gpuctxsw", "false"),
	/* libraries and frameworks */
	VALUE("mpi-impl", "*"),
	VALUE("nvtx-domain-include", ""),
	VALUE("nvtx-domain-exclude", ""),
	VALUE("python-backtrace", "*"), /* stacks have Python frames anyway */
	SWITCH("python-sampling", "false"),
	VALUE("python-sampling-frequency", "*"),
	VALUE("python-functions-trace", ""),
	VALUE("pytorch", "none"),
	VALUE("dask", "none"),
	/* hardware */
	/* nsys's earlier name of --gpu-metrics-devices. */
	{0, "gpu-metrics-device", "LIST", NULL, CLI_READ, 0, .read = profile_metrics_devices},
	VALUE("gpu-video-device", "none"),
	VALUE("nic-metrics", "none", "false"),
	VALUE("ib-switch-metrics-devices", "none"),
	VALUE("ib-switch-metrics-device", "none"),
	VALUE("ib-net-info-devices", "none"),
	VALUE("storage-metrics", ""),
	VALUE("soc-metrics", "none", "false"),
	SWITCH("gds-metrics", "false"),
	VALUE("accelerator-trace", "none"),
	VALUE("enable", ""),
	/* graphics */
	SWITCH("vsync", "false"),
	VALUE("opengl-gpu-workload", "*"),
	VALUE("vulkan-gpu-workload", "*"),
	VALUE("hotkey-capture", "*"),
	/* the session */
	VALUE("export", "none"),
	VALUE("session-new", "*"),
	VALUE("session", "*"),
	SWITCH("trace-fork-before-exec", "*"), /* every process is traced */
	IGNORED('x', "stop-on-exit", NULL, "true"),
	SWITCH("auto-report-name", "*"),
	VALUE("run-as", ""),
	VALUE("after-collection-start", ""),
	VALUE("after-report-ready", ""),
	CLI_END_OF_OPTIONS,
};

static void profile_ignore(const struct cli_value *value)
{
	for (const char *const *silent = value->option->words; *silent; silent++)
		if (strcmp(*silent, "*") == 0 || strcmp(*silent, value->text) == 0)
			return;
	cli_say(hwy_tr("--%s=%s: not built yet, ignored"), value->option->name, value->text);
}
