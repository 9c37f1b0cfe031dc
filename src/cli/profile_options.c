/* SPDX-License-Identifier: Apache-2.0 */
/* profile_options.c - the options of `headway profile`: the names are those of nsys.
 *
 * Options end at the first word that is not an option: the program. Options that contradict each
 * other are refused before the program is started.
 */
#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/profile.h"

/* Yields the index of 'text' in a NULL-terminated list; other texts are a misuse, which names the
 * nearest word. */
static int choice(const struct cli_value *value, const char *text, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(text, words[i]) == 0)
			return i;
	const char *near = cli_nearest(text, words), *name = value->option->name;
	if (near)
		cli_misuse(value->command, "option '--%s': unknown '%s'; did you mean '%s'?", name,
			   text, near);
	char all[256] = "";
	for (int i = 0; words[i]; i++)
		snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "",
			 words[i]);
	cli_misuse(value->command, "option '--%s': unknown '%s'; there are %s", name, text, all);
}

/* ---- what is recorded ----------------------------------------------------------------------- */

/* Each word of -t with the sources that it stands for, bits REC_TRACE_…; 0: Headway does not
 * have the collector. */
#define TRACES(X)                                                                                  \
	X("cuda", REC_TRACE_CUDA)                                                                  \
	X("cuda-hw", REC_TRACE_CUDA)                                                               \
	X("cuda-sw", REC_TRACE_CUDA)                                                               \
	X("nvtx", REC_TRACE_NVTX)                                                                  \
	X("osrt", REC_TRACE_OSRT)                                                                  \
	X("opencl", REC_TRACE_OPENCL)                                                              \
	X("pytorch", REC_TRACE_PYTORCH)                                                            \
	X("python", REC_TRACE_PYTHON)                                                              \
	X("python-gil", REC_TRACE_PYTHON)                                                          \
	X("cublas", REC_TRACE_CUBLAS)                                                              \
	X("cublas-verbose", REC_TRACE_CUBLAS | REC_TRACE_CUBLAS_SHAPES)                            \
	X("cudnn", REC_TRACE_CUDNN)                                                                \
	X("cusolver", REC_TRACE_CUSOLVER)                                                          \
	X("cusolver-verbose", REC_TRACE_CUSOLVER)                                                  \
	X("cusparse", REC_TRACE_CUSPARSE)                                                          \
	X("cusparse-verbose", REC_TRACE_CUSPARSE)                                                  \
	X("cufft", REC_TRACE_CUFFT)                                                                \
	X("mpi", REC_TRACE_MPI)                                                                    \
	X("nccl", REC_TRACE_NCCL)                                                                  \
	X("nccl-verbose", REC_TRACE_NCCL | REC_TRACE_NCCL_CHANNELS)                                \
	X("none", 0)
#define TRACE_NAME(name, bits) name,
#define TRACE_BITS(name, bits) bits,
static const uint32_t trace_bits[] = {TRACES(TRACE_BITS)};
static const char *const trace_names[] = {
	TRACES(TRACE_NAME)
	/* words of nsys whose collectors Headway does not have */
	"cudla",
	"cudla-verbose",
	"openacc",
	"openmp",
	"opengl",
	"opengl-annotations",
	"vulkan",
	"vulkan-annotations",
	"openxr",
	"openxr-annotations",
	"ucx",
	"oshmem",
	"gds",
	"nvvideo",
	"nvmedia",
	"syscall",
	"s3",
	"s3-verbose",
	"dx11",
	"dx11-annotations",
	"dx12",
	"dx12-annotations",
	"wddm",
	"tegra-accelerators",
	NULL,
};
enum { DEFAULT_FLUSH_MS = 100 };

/* The sources that a word of -t stands for; 0: the collector is not built. */
static uint32_t trace_bits_of(int which)
{
	return (size_t)which < sizeof trace_bits / sizeof *trace_bits ? trace_bits[which] : 0;
}

static void read_traces(const struct cli_value *value)
{
	uint32_t *field = value->field;
	const char *list = value->text;
	uint32_t traces = 0;
	bool none = false;
	char missing[512] = "";
	for (const char *rest = list; *rest;) {
		char word[64];
		size_t n = strcspn(rest, ",");
		snprintf(word, sizeof word, "%.*s", (int)(n < 60 ? n : 60), rest);
		rest += n + (rest[n] == ',');
		for (char *c = word; *c; c++)
			*c = (char)tolower((unsigned char)*c);
		if (!*word)
			continue;
		int which = choice(value, word, trace_names);
		if (trace_bits_of(which))
			traces |= trace_bits_of(which);
		else if (strcmp(word, "none") == 0)
			none = true;
		else
			snprintf(missing + strlen(missing), sizeof missing - strlen(missing),
				 "%s%s", *missing ? ", " : "", word);
	}
	if (none && (traces || *missing))
		cli_misuse(value->command, "option '--trace': 'none' and something else: '%s'",
			   list);
	if (!none && !traces)
		cli_misuse(
			value->command,
			"option '--trace': nothing of '%s' is built yet; there are cuda, nvtx, "
			"osrt, opencl, pytorch, python, cublas, cudnn, cusparse, cusolver, cufft, nccl, mpi and none",
			list);
	if (*missing)
		cli_say(hwy_tr("--trace: not built yet, skipped: %s"), missing);
	*field = traces;
	((struct profile *)value->options)->traces_given = true;
}

/* Reads "none", or kinds of calls, of which one may end with ":" and the threshold in ns:
 * "kernel:80000,sync". */
static void read_backtrace(const struct cli_value *value)
{
	struct profile *profile = value->options;
	int64_t *threshold = &profile->settings.control.stack_threshold;
	if (strcmp(value->text, "none") == 0 || strcmp(value->text, "false") == 0) {
		*threshold = -1;
		profile->launch_stacks = 0;
		return;
	}
	const char *colon = strchr(value->text, ':');
	if (colon) {
		char time[32];
		snprintf(time, sizeof time, "%.*s", (int)strcspn(colon + 1, ","), colon + 1);
		struct cli_value behind_colon = *value;
		behind_colon.text = time;
		*threshold = cli_time(&behind_colon);
	}
}

static const char *const graph_words[] = {"graph", "node", NULL};

static void read_graphs(const struct cli_value *value)
{
	char word[32]; /* newer releases of nsys write "node:host-and-device" */
	snprintf(word, sizeof word, "%.*s", (int)strcspn(value->text, ":"), value->text);
	*(uint32_t *)value->field = choice(value, word, graph_words) == 1;
}

/* ---- when ----------------------------------------------------------------------------------- */

static const char *const capture_words[] = {"none", "cudaProfilerApi", "nvtx", NULL};
static_assert(REC_CAPTURE_NONE == 0 && REC_CAPTURE_PROFILER_API == 1 && REC_CAPTURE_NVTX == 2,
	      "in the order of the words");

static void read_capture(const struct cli_value *value)
{
	const char *profiler_api = capture_words[REC_CAPTURE_PROFILER_API];
	bool is_profiler_api = strcasecmp(value->text, profiler_api) == 0;
	*(uint32_t *)value->field = (uint32_t)choice(
		value, is_profiler_api ? profiler_api : value->text, capture_words);
}

/* The first three words are REC_CAPTURE_END_…; the last two are "stop" and "repeat" with an end
 * of the program. */
static const char *const capture_end_words[] = {"stop",          "repeat",          "none",
						"stop-shutdown", "repeat-shutdown", NULL};
enum { STOP_SHUTDOWN = 3, REPEAT_SHUTDOWN = 4 };

static void read_capture_end(const struct cli_value *value)
{
	struct run_settings *settings = &((struct profile *)value->options)->settings;
	char word[32];
	size_t n = strcspn(value->text, ":");
	snprintf(word, sizeof word, "%.*s", (int)(n < 30 ? n : 30), value->text);
	int which = choice(value, word, capture_end_words);
	bool counted = value->text[n] == ':';
	if (counted && which != REC_CAPTURE_END_REPEAT && which != REPEAT_SHUTDOWN)
		cli_misuse(value->command, "option '--capture-range-end': '%s' takes no count",
			   word);
	if (!counted && which == REPEAT_SHUTDOWN)
		cli_misuse(value->command,
			   "option '--capture-range-end': how often? write repeat-shutdown:N");
	settings->kill_at_end = which >= STOP_SHUTDOWN;
	settings->control.capture_end = (uint32_t)which % STOP_SHUTDOWN;
	struct cli_value count = *value;
	count.text = value->text + n + 1;
	settings->control.repeats = counted ? (uint32_t)cli_count(&count) : 0;
}

static void read_nvtx_capture(const struct cli_value *value)
{
	char *range = value->field;
	size_t size = sizeof((struct rec_control *)NULL)->nvtx_range;
	if (!*value->text || strlen(value->text) >= size)
		cli_misuse(value->command, "option '--nvtx-capture': a range of 1 to %zu bytes",
			   size - 1);
	strcpy(range, value->text);
}

static const double LEAST_SIZE = 1 << 20, MOST_SIZE = 1e18;

/* Reads a number of bytes, with K, M, G or T behind it for powers of 1024. */
static void read_size(const struct cli_value *value)
{
	static const char units[] = "KMGT";
	char *end;
	double number = strtod(value->text, &end);
	number = isdigit((unsigned char)*value->text) ? number : 0; /* no sign, no "inf" */
	const char *unit = number > 0 && *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit) {
		for (const char *u = units; u <= unit; u++)
			number *= 1024;
		end++;
		end += *end == 'i';
		end += *end == 'B';
	}
	if (number < LEAST_SIZE || number > MOST_SIZE || *end)
		cli_misuse(value->command,
			   "option '--max-size': '%s' is not a size from 1M on; write 500M or 16G",
			   value->text);
	*(uint64_t *)value->field = (uint64_t)number;
}

static void refuse_start_later(const struct cli_value *value)
{
	if (strcmp(value->text, "true") == 0)
		cli_misuse(value->command,
			   "there is no 'headway start': use --delay or --capture-range");
}

/* ---- the program ---------------------------------------------------------------------------- */

static bool begins_variable(const char *text)
{
	size_t n = 0;
	while (isalnum((unsigned char)text[n]) || text[n] == '_')
		n++;
	return n && text[n] == '=' && !isdigit((unsigned char)text[0]);
}

static void profile_options_add_variable(struct profile *profile, const char *text, size_t n)
{
	char *variable = hwy_alloc(n + 1);
	memcpy(variable, text, n);
	variable[n] = '\0';
	for (int i = 0; i < 2; i++) { /* the variable, then the NULL that ends the list */
		HWY_GROW(profile->variables, profile->n_variables, profile->cap_variables);
		profile->variables[profile->n_variables++] = i ? NULL : variable;
	}
	profile->n_variables--;
}

/* "A=1,B=2": a comma separates two variables only where NAME= follows, since values may contain
 * commas. */
static void read_variables(const struct cli_value *value)
{
	struct profile *profile = value->options;
	if (!begins_variable(value->text))
		cli_misuse(value->command, "option '--env-var': '%s' is not NAME=value",
			   value->text);
	const char *from = value->text;
	for (const char *end = value->text;; end++)
		if (!*end || (*end == ',' && begins_variable(end + 1))) {
			profile_options_add_variable(profile, from, (size_t)(end - from));
			if (!*end)
				break;
			from = end + 1;
		}
}

static const char *const kill_words[] = {"none", "sigterm", "sigkill", "sigint", NULL};

static void read_kill(const struct cli_value *value)
{
	static const int numbers[] = {0, SIGTERM, SIGKILL, SIGINT};
	int *field = value->field;
	if (!isdigit((unsigned char)*value->text)) {
		*field = numbers[choice(value, value->text, kill_words)];
		return;
	}
	uint64_t number = cli_count(value);
	if (number > (uint64_t)SIGRTMAX)
		cli_misuse(value->command, "option '--kill': '%s' is not a number from 0 to %d",
			   value->text, SIGRTMAX);
	*field = (int)number;
}

static const char *const wait_words[] = {"all", "primary", NULL};
enum { WAIT_PRIMARY = 1 };

static void read_wait(const struct cli_value *value)
{
	*(int *)value->field = choice(value, value->text, wait_words);
}

/* Words for completion only; the option takes also other words of nsys. */
static const char *const trace_words[] = {"cuda",   "nvtx",   "opencl", "osrt",     "pytorch",
					  "python", "cublas", "cudnn",  "cusparse", "cusolver",
					  "cufft",  "nccl",   "mpi",    "none",     NULL};
static const char *const scope_words[] = {"process-tree", "system-wide", "none", NULL};
static const char *const backtrace_words[] = {"dwarf", "fp", "none", NULL};

/* ---- the table ------------------------------------------------------------------------------ */

#define PROFILE(field) .offset = offsetof(struct profile, field)
#define CONTROL(field) .offset = offsetof(struct profile, settings.control.field)

const struct cli_option profile_option_table[] = {
	CLI_HEAD("The report:"),
	{'o', "output", "FILE",
	 "the report to write; %p is the program's pid, %h the host, %q{NAME} an environment "
	 "variable, %% a percent sign; .hwy is added (default: the next free reportN.hwy). Of a job: the "
	 "folder (default: the next free jobN)",
	 CLI_TEXT, PROFILE(output)},
	{'f', "force", NULL, CLI_FORCE_HELP, CLI_BOOLEAN, PROFILE(force)},
	CLI_NO_ARGS(offsetof(struct profile, privacy)),
	CLI_ANONYMOUS(offsetof(struct profile, privacy)),
	{0, "stats", NULL, "print the tables of 'headway stats' at the end, on stderr", CLI_BOOLEAN,
	 PROFILE(stats)},
	{'q', "quiet", NULL, "no line at the end", CLI_BOOLEAN, PROFILE(quiet)},
	CLI_HEAD("What is recorded:"),
	{'t', "trace", "LIST",
	 "cuda, nvtx, opencl, osrt (calls that block in the operating system), pytorch (operators "
	 "and modules), python (garbage collection, waits for the GIL), cublas, cudnn, cusparse, cusolver, cufft (calls of these libraries), nccl (collectives and messages of NCCL and RCCL, and those of PyTorch over gloo), mpi (calls, messages and communicators of MPI) or none, separated by commas (default: cuda,nvtx, and mpi,nccl for the ranks of a job; where there is no driver of NVIDIA also opencl,osrt,pytorch,python, and -s process-tree); other names of nsys are understood, but not built yet",
	 CLI_READ, CONTROL(traces), .words = trace_words, .read = read_traces},
	{0, "like-nsys", NULL,
	 "what nsys records where nothing is asked for: -t cuda,nvtx,osrt -s process-tree; -t, -s "
	 "and --cpuctxsw beside it decide for themselves",
	 CLI_BOOLEAN, PROFILE(like_nsys)},
	{0, "cuda-graph-trace", "HOW",
	 "graph: one span a launch of a CUDA graph (default); node: its kernels and copies one by "
	 "one, with the Python line that captured each, which costs more",
	 CLI_READ, CONTROL(graph_nodes), .words = graph_words, .read = read_graphs},
	{0, "cuda-memory-usage", NULL, "every allocation and release of device memory", CLI_BOOLEAN,
	 PROFILE(memory_usage)},
	{0, "cuda-trace-all-apis", NULL, "every CUDA call, also those that only ask for something",
	 CLI_BOOLEAN, PROFILE(all_apis)},
	{0, "cuda-flush-interval", "MS",
	 "how often CUPTI is asked for what it has recorded (default: 100)", CLI_COUNT,
	 PROFILE(flush_ms), .most = 3600 * 1000},
	{0, "leave-cupti", NULL,
	 "leave CUPTI to the program, for a profiler it contains; CUDA is then not recorded",
	 CLI_BOOLEAN, PROFILE(leave_cupti)},
	{0, "pytorch-shapes", NULL,
	 "shapes and types of the inputs of every operator of PyTorch, which costs more; needs -t pytorch",
	 CLI_BOOLEAN, PROFILE(pytorch_shapes)},
	{0, "osrt-threshold", "TIME",
	 "calls into the operating system that are shorter are not kept, but for those that wake "
	 "a waiting thread (default: 1us)",
	 CLI_TIME, CONTROL(os_threshold)},
	{0, "no-calibration", NULL,
	 "do not measure what recording costs; else that is done after the program's end, some "
	 "seconds long, once per GPU and driver",
	 CLI_BOOLEAN, PROFILE(no_calibration)},
	CLI_HEAD("Where it comes from:"),
	{0, "stack-threshold", "TIME",
	 "stacks of calls that block longer than this (default: 20us)", CLI_TIME,
	 CONTROL(stack_threshold)},
	{0, "launch-stacks", "N",
	 "stacks of launches and copies, at most N a second and thread (default: 100)", CLI_COUNT,
	 PROFILE(launch_stacks), .most = 1000000},
	{0, "osrt-backtrace-threshold", "TIME",
	 "stacks of calls into the operating system from this length on (default: 80us)", CLI_TIME,
	 CONTROL(os_stack_threshold)},
	{0, "cudabacktrace", "WHAT", "none: no stacks at all; all else is the default", CLI_READ, 0,
	 .read = read_backtrace},
	CLI_HEAD("The CPU:"),
	{'s', "sample", "SCOPE",
	 "where threads spend their time on the CPU, with Python's functions: of the program and "
	 "all it starts (process-tree), of the machine (system-wide), or none (default)",
	 CLI_READ, 0, .words = scope_words, .read = profile_sampling_scope},
	{0, "sampling-frequency", "HZ", "samples a second and CPU, 100 to 8000 (default: 1000)",
	 CLI_READ, 0, .read = profile_sampling_frequency},
	{'b', "backtrace", "HOW",
	 "callers of a sample: by DWARF from a copy of the stack (dwarf, the default), by frame "
	 "pointers (fp), or none",
	 CLI_READ, 0, .words = backtrace_words, .read = profile_sampling_backtrace},
	{0, "cpuctxsw", "SCOPE",
	 "when threads run and when they wait: process-tree, system-wide or none (default: as "
	 "--sample)",
	 CLI_READ, 0, .words = scope_words, .read = profile_sampling_switches},
	CLI_HEAD("The GPU's counters:"),
	{0, "gpu-metrics-devices", "LIST",
	 "sample what GPUs do inside (SMs, tensor cores, DRAM, caches, links, clocks): all, "
	 "cuda-visible (those that the program sees), numbers as 0,1, none (default), or help: "
	 "list them",
	 CLI_READ, 0, .words = profile_metrics_device_words, .read = profile_metrics_devices},
	{0, "gpu-metrics-frequency", "HZ", "samples a second, 10 to 200000 (default: 10000)",
	 CLI_READ, 0, .read = profile_metrics_frequency},
	{0, "gpu-metrics-set", "NAME",
	 "which metrics: general (default), memory, throughput, pipes, or help: list them",
	 CLI_READ, 0, .words = profile_metrics_set_words, .read = profile_metrics_set},
	CLI_HEAD("When:"),
	{'y', "delay", "S", "begin so many seconds after the start", CLI_SECONDS,
	 PROFILE(settings.delay)},
	{'d', "duration", "S", "record for so many seconds, then end the program as --kill says",
	 CLI_SECONDS, PROFILE(settings.duration)},
	{'c', "capture-range", "WHAT",
	 "record only between cudaProfilerStart and cudaProfilerStop (cudaProfilerApi), or in a "
	 "range of NVTX (nvtx, see -p)",
	 CLI_READ, CONTROL(capture), .words = capture_words, .read = read_capture},
	{0, "capture-range-end", "WHAT",
	 "at the range's end: stop, the program goes on (default); stop-shutdown, it is ended as "
	 "--kill says; repeat[:N] or repeat-shutdown:N, all ranges in one report; none, record on",
	 CLI_READ, 0, .words = capture_end_words, .read = read_capture_end, .most = INT32_MAX},
	{'p', "nvtx-capture", "RANGE",
	 "the range for -c nvtx: its text, or text@domain, or text@* for any domain", CLI_READ,
	 CONTROL(nvtx_range), .read = read_nvtx_capture},
	{0, "steps", "N",
	 "stop recording after N steady steps, told by ranges of NVTX that come again and again; "
	 "the program goes on",
	 CLI_COUNT, PROFILE(steps), .most = INT32_MAX},
	{0, "keep-last", "S", "keep the last S seconds only", CLI_SECONDS, PROFILE(keep_last)},
	{0, "max-size", "SIZE",
	 "write at most so many bytes while the program runs, as 500M or 16G; later records are "
	 "left out, and the report says of which times (default: 16G or half of what is free in "
	 "TMPDIR, in memory 512M or an eighth, with --keep-last at most the reserve). A reserve of 1G, or 5 % of a smaller disk, stays "
	 "free in any case",
	 CLI_READ, CONTROL(max_bytes), .read = read_size},
	CLI_HEAD("The program:"),
	{'w', "show-output", NULL, "false: its output goes nowhere", CLI_BOOLEAN,
	 PROFILE(show_output)},
	{'e', "env-var", "A=B,C=D", "environment variables for it", CLI_READ, 0,
	 .read = read_variables},
	{'n', "inherit-environment", NULL, "false: no others than those", CLI_BOOLEAN,
	 PROFILE(inherit_environment)},
	{0, "kill", "SIGNAL",
	 "what ends it when recording does: sigterm (default), sigkill, a number, or none: it "
	 "goes on",
	 CLI_READ, PROFILE(settings.kill_signal), .words = kill_words, .read = read_kill},
	{0, "wait", "WHOM",
	 "all: also for processes it leaves behind (default); primary: for it alone", CLI_READ,
	 PROFILE(wait_for), .words = wait_words, .read = read_wait},
	/* For programs that ask for their own recording, see profile_within.c. */
	{0, "within", NULL, NULL, CLI_BOOLEAN, PROFILE(within)},
	{'Y', "start-later", NULL, NULL, CLI_READ, 0, .read = refuse_start_later},
	{0, "sampling-period", "CYCLES", NULL, CLI_READ, 0, .read = profile_sampling_period},
	CLI_OLD_NAME("keep", "keep-last"),
	CLI_END_OF_OPTIONS,
};

/* ---- reading -------------------------------------------------------------------------------- */

/* Copies the options whose field in the settings has another type or the opposite meaning. */
static void copy_to_settings(struct profile *profile)
{
	enum { NS_PER_S = 1000000000 };
	struct run_settings *settings = &profile->settings;
	struct rec_control *control = &settings->control;
	control->memory_usage = profile->memory_usage;
	control->all_apis = profile->all_apis;
	control->operator_inputs = profile->pytorch_shapes;
	control->leave_cupti = profile->leave_cupti;
	control->flush_ms = profile->flush_ms ? (uint32_t)profile->flush_ms : DEFAULT_FLUSH_MS;
	control->launch_stacks = (uint32_t)profile->launch_stacks;
	control->steps = (int64_t)profile->steps;
	control->keep_s = (uint32_t)((profile->keep_last + NS_PER_S - 1) / NS_PER_S);
	settings->hide_output = !profile->show_output;
	settings->fresh_environment = !profile->inherit_environment;
	settings->wait_primary = profile->wait_for == WAIT_PRIMARY;
	settings->program = profile->program;
	settings->variables = profile->variables;
}

/* Refuses options that contradict each other. */
static void check_together(struct profile *profile)
{
	struct run_settings *settings = &profile->settings;
	struct rec_control *control = &settings->control;
	bool range = control->nvtx_range[0];
	if (range && control->capture == REC_CAPTURE_NONE)
		control->capture = REC_CAPTURE_NVTX;
	if (range && control->capture != REC_CAPTURE_NVTX)
		cli_misuse(&cmd_profile,
			   "-p names a range of NVTX: it goes with --capture-range=nvtx");
	if (control->capture == REC_CAPTURE_NVTX && !range)
		cli_misuse(&cmd_profile,
			   "--capture-range=nvtx: which range? name it with -p RANGE");
	if (control->capture != REC_CAPTURE_NONE && settings->delay)
		cli_misuse(&cmd_profile,
			   "--delay with --capture-range: the range says when recording begins");
	if (control->capture == REC_CAPTURE_PROFILER_API && control->leave_cupti)
		cli_misuse(&cmd_profile,
			   "--leave-cupti with --capture-range=cudaProfilerApi: only CUPTI tells "
			   "of that range; --capture-range=nvtx works");
	if (control->steps && !(control->traces & REC_TRACE_NVTX))
		cli_misuse(&cmd_profile, "--steps counts ranges of NVTX: add nvtx to --trace");
	if (control->steps && control->keep_s)
		cli_misuse(
			&cmd_profile,
			"--steps with --keep-last: one ends the recording, the other never does");
	if (control->capture == REC_CAPTURE_NONE && settings->kill_at_end)
		cli_misuse(&cmd_profile, "--capture-range-end without --capture-range");
}

/* NCCL loads one plugin: the user's own one stays. */
static void say_of_plugin(const struct profile *profile)
{
	static const char name[] = "NCCL_PROFILER_PLUGIN";
	const char *value = profile->inherit_environment ? getenv(name) : NULL;
	for (uint32_t i = 0; i < profile->n_variables; i++) {
		const char *variable = profile->variables[i];
		if (variable && strncmp(variable, name, sizeof name - 1) == 0 &&
		    variable[sizeof name - 1] == '=')
			value = variable + sizeof name;
	}
	if (value && (profile->settings.control.traces & REC_TRACE_NCCL))
		cli_say("--trace=nccl: %s is set to '%s' and stays, so that NCCL is not recorded; "
			"unset it to record",
			name, value);
}

static void set_defaults(struct profile *profile)
{
	struct run_settings *settings = &profile->settings;
	profile->show_output = profile->inherit_environment = true;
	profile->flush_ms = DEFAULT_FLUSH_MS;
	profile->launch_stacks = 100;
	settings->kill_signal = SIGTERM;
	settings->perf.rate_hz = 1000;
	profile_metrics_defaults(&settings->watch.metrics);
	settings->control = (struct rec_control){
		.traces = REC_TRACE_CUDA | REC_TRACE_NVTX,
		.stack_threshold = 20 * 1000,
		.os_threshold = 1000,
		.os_stack_threshold = 80 * 1000,
	};
}

void profile_options_read(struct profile *profile, int argc, char **argv)
{
	set_defaults(profile);
	cli_read(&cmd_profile, argc, argv, profile);
	if (!profile->program)
		cli_misuse(&cmd_profile, "which program?");
	profile_default_sources(profile);
	copy_to_settings(profile);
	check_together(profile);
	say_of_plugin(profile);
	profile->settings.watch.clocks = profile->settings.control.traces & REC_TRACE_CUDA;
	profile_metrics_visible(profile);
}
