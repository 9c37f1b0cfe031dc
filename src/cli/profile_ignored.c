/* profile_ignored.c - options of nsys that are understood and have no effect.
 *
 * A command line from a tutorial must work. Where such an option asks for data that Headway does not record
 * yet, one line says so; where it asks for what is done anyway, or for nothing, there is nothing to say.
 */
#include <string.h>

#include "cli/profile.h"

#define VALUE(name, silent)                                                                        \
	{                                                                                          \
		{0, name, "VALUE", NULL}, silent                                                   \
	}
#define SWITCH(name, silent)                                                                       \
	{                                                                                          \
		{0, name, cli_boolean, NULL}, silent                                               \
	}

const struct ignored profile_ignored[] = {
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
	SWITCH("discard-environment", "*"), /* it is never kept */
	/* operating system */
	VALUE("osrt-backtrace-depth", "*"),
	VALUE("osrt-backtrace-stack-size", "*"),
	SWITCH("osrt-file-access", "false"),
	VALUE("syscall", "none"),
	VALUE("ftrace", ""),
	SWITCH("ftrace-keep-user-config", "*"),
	/* CUDA */
	VALUE("cuda-trace-scope", "process-tree"),
	VALUE("cuda-event-trace", "false|auto"),
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
	VALUE("gpu-metrics-devices", "none"),
	VALUE("gpu-metrics-device", "none"),
	VALUE("gpu-metrics-set", "*"),
	VALUE("gpu-metrics-frequency", "*"),
	VALUE("gpu-video-device", "none"),
	VALUE("nic-metrics", "none|false"),
	VALUE("ib-switch-metrics-devices", "none"),
	VALUE("ib-switch-metrics-device", "none"),
	VALUE("ib-net-info-devices", "none"),
	VALUE("storage-metrics", ""),
	VALUE("soc-metrics", "none|false"),
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
	{{'x', "stop-on-exit", cli_boolean, NULL}, "true"},
	SWITCH("auto-report-name", "*"),
	VALUE("run-as", ""),
	VALUE("after-collection-start", ""),
	VALUE("after-report-ready", ""),
};
const int profile_n_ignored = sizeof profile_ignored / sizeof *profile_ignored;

static bool is_one_of(const char *value, const char *list)
{
	size_t n = strlen(value);
	for (; *list; list += strcspn(list, "|") + (list[strcspn(list, "|")] == '|'))
		if (strcspn(list, "|") == n && strncmp(list, value, n) == 0)
			return true;
	return false;
}

void profile_ignore(const struct ignored *ignored, const char *value)
{
	if (strcmp(ignored->silent, "*") == 0 || is_one_of(value, ignored->silent))
		return;
	profile_say("--%s=%s: not built yet, ignored", ignored->option.name, value);
}
