/* profile_options.c - the options of `headway profile`: those an nsys user's fingers know.
 *
 * Options end at the first word that is not one: the program. What contradicts itself is refused before the
 * program is started.
 */
#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/profile.h"

enum {
	HEAD_OUTPUT,
	OUTPUT,
	FORCE,
	STATS,
	QUIET,
	HEAD_WHAT,
	TRACE,
	GRAPHS,
	MEMORY,
	ALL_APIS,
	FLUSH,
	LEAVE_CUPTI,
	OS_THRESHOLD,
	NO_CALIBRATION,
	HEAD_STACKS,
	THRESHOLD,
	LAUNCH_STACKS,
	OS_STACKS,
	BACKTRACE,
	HEAD_CPU,
	SAMPLE,
	FREQUENCY,
	CHAINS,
	CTXSW,
	HEAD_WHEN,
	DELAY,
	DURATION,
	CAPTURE,
	CAPTURE_END,
	NVTX_CAPTURE,
	STEPS,
	KEEP,
	HEAD_PROGRAM,
	SHOW,
	ENVIRONMENT,
	INHERIT,
	KILL,
	WAIT,
	START_LATER, /* not listed, like the next */
	PERIOD,
	N_OPTIONS
};

static const struct cli_option listed[N_OPTIONS] = {
	[HEAD_OUTPUT] = {0, "", NULL, "The report:"},
	[OUTPUT] =
		{'o', "output", "FILE",
		 "the report to write; %p is the program's pid, %h the host, %q{NAME} an environment "
		 "variable, %% a percent sign; .hwy is added (default: the next free reportN.hwy)"},
	[FORCE] = {'f', "force-overwrite", cli_boolean, "overwrite an existing report"},
	[STATS] = {0, "stats", cli_boolean,
		   "print the tables of 'headway stats' at the end, on stderr"},
	[QUIET] = {'q', "quiet", cli_boolean, "no line at the end"},
	[HEAD_WHAT] = {0, "", NULL, "What is recorded:"},
	[TRACE] =
		{'t', "trace", "LIST",
		 "cuda, nvtx, opencl, osrt (calls that block in the operating system) or none, separated by "
		 "commas (default: cuda,nvtx); other names of nsys are understood, but not built yet"},
	[GRAPHS] =
		{0, "cuda-graph-trace", "HOW",
		 "graph: one span a launch of a CUDA graph (default); node: its kernels and copies one "
		 "by one, which costs more"},
	[MEMORY] = {0, "cuda-memory-usage", cli_boolean,
		    "every allocation and release of device memory"},
	[ALL_APIS] = {0, "cuda-trace-all-apis", cli_boolean,
		      "every CUDA call, also those that only ask for something"},
	[FLUSH] = {0, "cuda-flush-interval", "MS",
		   "how often CUPTI is asked for what it has recorded (default: 100)"},
	[LEAVE_CUPTI] =
		{0, "leave-cupti", cli_boolean,
		 "leave CUPTI to the program, for a profiler it contains; CUDA is then not recorded"},
	[OS_THRESHOLD] =
		{0, "osrt-threshold", "TIME",
		 "calls into the operating system that are shorter are not kept, but for those that wake a "
		 "waiting thread (default: 1us)"},
	[NO_CALIBRATION] =
		{0, "no-calibration", cli_boolean,
		 "do not measure what recording costs; else that is done after the program's end, some seconds "
		 "long, once per GPU and driver"},
	[HEAD_STACKS] = {0, "", NULL, "Where it comes from:"},
	[THRESHOLD] = {0, "stack-threshold", "TIME",
		       "stacks of calls that block longer than this (default: 20us)"},
	[LAUNCH_STACKS] =
		{0, "launch-stacks", "N",
		 "stacks of launches and copies, at most N a second and thread (default: 100)"},
	[OS_STACKS] =
		{0, "osrt-backtrace-threshold", "TIME",
		 "stacks of calls into the operating system from this length on (default: 80us)"},
	[BACKTRACE] = {0, "cudabacktrace", "WHAT",
		       "none: no stacks at all; all else is the default"},
	[HEAD_CPU] = {0, "", NULL, "The CPU:"},
	[SAMPLE] =
		{'s', "sample", "SCOPE",
		 "where threads spend their time on the CPU, with Python's functions: of the program and all it starts "
		 "(process-tree), of the machine (system-wide), or none (default)"},
	[FREQUENCY] = {0, "sampling-frequency", "HZ",
		       "samples a second and CPU, 100 to 8000 (default: 1000)"},
	[CHAINS] =
		{'b', "backtrace", "HOW",
		 "callers of a sample: by DWARF from a copy of the stack (dwarf, the default), by frame pointers "
		 "(fp), or none"},
	[CTXSW] =
		{0, "cpuctxsw", "SCOPE",
		 "when threads run and when they wait: process-tree, system-wide or none (default: as --sample)"},
	[HEAD_WHEN] = {0, "", NULL, "When:"},
	[DELAY] = {'y', "delay", "S", "begin so many seconds after the start"},
	[DURATION] = {'d', "duration", "S",
		      "record for so many seconds, then end the program as --kill says"},
	[CAPTURE] =
		{'c', "capture-range", "WHAT",
		 "record only between cudaProfilerStart and cudaProfilerStop (cudaProfilerApi), or in a "
		 "range of NVTX (nvtx, see -p)"},
	[CAPTURE_END] =
		{0, "capture-range-end", "WHAT",
		 "at the range's end: stop, the program goes on (default); stop-shutdown, it is ended as --kill "
		 "says; repeat[:N] or repeat-shutdown:N, all ranges in one report; none, record on"},
	[NVTX_CAPTURE] =
		{'p', "nvtx-capture", "RANGE",
		 "the range for -c nvtx: its text, or text@domain, or text@* for any domain"},
	[STEPS] =
		{0, "steps", "N",
		 "stop recording after N steady steps, told by ranges of NVTX that come again and again; the "
		 "program goes on"},
	[KEEP] = {0, "keep", "S", "keep the last S seconds only"},
	[HEAD_PROGRAM] = {0, "", NULL, "The program:"},
	[SHOW] = {'w', "show-output", cli_boolean, "false: its output goes nowhere"},
	[ENVIRONMENT] = {'e', "env-var", "A=B,C=D", "environment variables for it"},
	[INHERIT] = {'n', "inherit-environment", cli_boolean, "false: no others than those"},
	[KILL] =
		{0, "kill", "SIGNAL",
		 "what ends it when recording does: sigterm (default), sigkill, a number, or none: it goes "
		 "on"},
	[WAIT] = {0, "wait", "WHOM",
		  "all: also for processes it leaves behind (default); primary: for it alone"},
	[START_LATER] = {'Y', "start-later", cli_boolean, NULL},
	[PERIOD] = {0, "sampling-period", "CYCLES", NULL},
};

/* ---- values ------------------------------------------------------------------------------------ */

static bool is_true(const char *value)
{
	return strcmp(value, "true") == 0;
}

static uint32_t profile_options_number(const struct cli *cli, const char *option, const char *text,
				       long most)
{
	char *end;
	long value = strtol(text, &end, 10);
	if (end == text || *end || value < 0 || value > most)
		cli_misuse(cli, "option '--%s': '%s' is not a number from 0 to %ld", option, text,
			   most);
	return (uint32_t)value;
}

/* A number without a unit is seconds. */
static int64_t seconds(const struct cli *cli, const char *option, const char *text)
{
	char with_unit[64];
	bool bare = *text && text[strspn(text, "0123456789.")] == '\0';
	snprintf(with_unit, sizeof with_unit, "%s%s", text, bare ? "s" : "");
	int64_t time = cli_time(cli, option, with_unit);
	if (time < 0)
		cli_misuse(cli, "option '--%s': '%s' is negative", option, text);
	return time;
}

/* The index of a word in a NULL-terminated list; refuses others with the nearest. */
static int choice(const struct cli *cli, const char *option, const char *text,
		  const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(text, words[i]) == 0)
			return i;
	const char *near = cli_nearest(text, words);
	if (near)
		cli_misuse(cli, "option '--%s': unknown '%s'; did you mean '%s'?", option, text,
			   near);
	char all[256] = "";
	for (int i = 0; words[i]; i++)
		snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "",
			 words[i]);
	cli_misuse(cli, "option '--%s': unknown '%s'; there are %s", option, text, all);
}

/* ---- what is recorded -------------------------------------------------------------------------- */

static const char *const trace_names[] = {
	"cuda",
	"cuda-hw",
	"cuda-sw",
	"nvtx",
	"osrt",
	"opencl",
	"none", /* up to here: built */
	"mpi",
	"cublas",
	"cublas-verbose",
	"cudnn",
	"cusolver",
	"cusolver-verbose",
	"cusparse",
	"cusparse-verbose",
	"cudla",
	"cudla-verbose",
	"nccl",
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
	"python-gil",
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
enum { TRACE_NONE = 6 };
static const uint32_t trace_bits[TRACE_NONE] = {
	REC_TRACE_CUDA, REC_TRACE_CUDA, REC_TRACE_CUDA,
	REC_TRACE_NVTX, REC_TRACE_OSRT, REC_TRACE_OPENCL,
};

static void read_traces(const struct cli *cli, struct profile *profile, const char *list)
{
	uint32_t traces = 0;
	bool none = false;
	char missing[512] = "";
	for (const char *at = list; *at;) {
		char word[64];
		size_t n = strcspn(at, ",");
		snprintf(word, sizeof word, "%.*s", (int)(n < 60 ? n : 60), at);
		at += n + (at[n] == ',');
		for (char *c = word; *c; c++)
			*c = (char)tolower((unsigned char)*c);
		if (!*word)
			continue;
		int which = choice(cli, "trace", word, trace_names);
		if (which < TRACE_NONE)
			traces |= trace_bits[which];
		else if (which == TRACE_NONE)
			none = true;
		else
			snprintf(missing + strlen(missing), sizeof missing - strlen(missing),
				 "%s%s", *missing ? ", " : "", word);
	}
	if (none && (traces || *missing))
		cli_misuse(cli, "option '--trace': 'none' and something else: '%s'", list);
	if (!none && !traces)
		cli_misuse(cli,
			   "option '--trace': nothing of '%s' is built yet; there are cuda, nvtx, "
			   "osrt, opencl and none",
			   list);
	if (*missing)
		profile_say("--trace: not built yet, skipped: %s", missing);
	profile->settings.control.traces = traces;
}

/* none, or kinds with ":ns" behind them: the time is the threshold. */
static void read_backtrace(const struct cli *cli, struct rec_control *control, const char *value)
{
	if (strcmp(value, "none") == 0 || strcmp(value, "false") == 0) {
		control->stack_threshold = -1;
		control->launch_stacks = 0;
		return;
	}
	const char *colon = strchr(value, ':');
	if (colon) {
		char time[32];
		snprintf(time, sizeof time, "%.*s", (int)strcspn(colon + 1, ","), colon + 1);
		control->stack_threshold = cli_time(cli, "cudabacktrace", time);
	}
}

static void read_graphs(const struct cli *cli, struct rec_control *control, const char *value)
{
	static const char *const words[] = {"graph", "node", NULL};
	char word[32]; /* newer releases add ":host-and-device" and the like */
	snprintf(word, sizeof word, "%.*s", (int)strcspn(value, ":"), value);
	control->graph_nodes = choice(cli, "cuda-graph-trace", word, words) == 1;
}

/* ---- when -------------------------------------------------------------------------------------- */

static void read_capture(const struct cli *cli, struct rec_control *control, const char *value)
{
	static const char *const words[] = {"none", "cudaProfilerApi", "nvtx", NULL};
	static_assert(REC_CAPTURE_NONE == 0 && REC_CAPTURE_PROFILER_API == 1 &&
			      REC_CAPTURE_NVTX == 2,
		      "in the order of the words");
	if (strcasecmp(value, words[REC_CAPTURE_PROFILER_API]) == 0)
		value = words[REC_CAPTURE_PROFILER_API];
	control->capture = (uint32_t)choice(cli, "capture-range", value, words);
}

static void read_capture_end(const struct cli *cli, struct run_settings *settings,
			     const char *value)
{
	static const char *const words[] = {"stop",          "repeat",          "none",
					    "stop-shutdown", "repeat-shutdown", NULL};
	char word[32];
	size_t n = strcspn(value, ":");
	snprintf(word, sizeof word, "%.*s", (int)(n < 30 ? n : 30), value);
	int which = choice(cli, "capture-range-end", word, words);
	bool counted = value[n] == ':';
	if (counted && which != REC_CAPTURE_END_REPEAT && which != 4)
		cli_misuse(cli, "option '--capture-range-end': '%s' takes no count", word);
	if (!counted && which == 4)
		cli_misuse(cli, "option '--capture-range-end': how often? write repeat-shutdown:N");
	settings->kill_at_end = which >= 3;
	settings->control.capture_end = which < 3 ? (uint32_t)which : (uint32_t)which - 3;
	settings->control.repeats =
		counted ? profile_options_number(cli, "capture-range-end", value + n + 1, INT32_MAX)
			: 0;
}

static void read_nvtx_capture(const struct cli *cli, struct rec_control *control, const char *value)
{
	if (!*value || strlen(value) >= sizeof control->nvtx_range)
		cli_misuse(cli, "option '--nvtx-capture': a range of 1 to %zu bytes",
			   sizeof control->nvtx_range - 1);
	strcpy(control->nvtx_range, value);
}

/* ---- the program ------------------------------------------------------------------------------- */

static bool begins_variable(const char *text)
{
	size_t n = 0;
	while (isalnum((unsigned char)text[n]) || text[n] == '_')
		n++;
	return n && text[n] == '=' && !isdigit((unsigned char)text[0]);
}

static void add_variable(struct profile *profile, const char *text, size_t n)
{
	char *variable = hwy_alloc(n + 1);
	memcpy(variable, text, n);
	variable[n] = '\0';
	for (int i = 0; i < 2; i++) { /* the end of the list too */
		HWY_GROW(profile->variables, profile->n_variables, profile->cap_variables);
		profile->variables[profile->n_variables++] = i ? NULL : variable;
	}
	profile->n_variables--;
}

/* A comma separates only where another NAME= follows: values may have commas. */
static void read_variables(const struct cli *cli, struct profile *profile, const char *value)
{
	if (!begins_variable(value))
		cli_misuse(cli, "option '--env-var': '%s' is not NAME=value", value);
	const char *from = value;
	for (const char *at = value;; at++)
		if (!*at || (*at == ',' && begins_variable(at + 1))) {
			add_variable(profile, from, (size_t)(at - from));
			if (!*at)
				break;
			from = at + 1;
		}
}

static int read_kill(const struct cli *cli, const char *value)
{
	static const char *const words[] = {"none", "sigterm", "sigkill", "sigint", NULL};
	static const int numbers[] = {0, SIGTERM, SIGKILL, SIGINT};
	if (isdigit((unsigned char)*value))
		return (int)profile_options_number(cli, "kill", value, SIGRTMAX);
	return numbers[choice(cli, "kill", value, words)];
}

/* ---- all of it --------------------------------------------------------------------------------- */

static void profile_options_read_option(const struct cli *cli, struct profile *profile, int option,
					const char *value)
{
	static const char *const whom[] = {"all", "primary", NULL};
	struct run_settings *settings = &profile->settings;
	struct rec_control *control = &settings->control;
	switch (option) {
	case OUTPUT: profile->output = value; break;
	case FORCE: profile->force = is_true(value); break;
	case STATS: profile->stats = is_true(value); break;
	case QUIET: profile->quiet = is_true(value); break;
	case TRACE: read_traces(cli, profile, value); break;
	case GRAPHS: read_graphs(cli, control, value); break;
	case MEMORY: control->memory_usage = is_true(value); break;
	case ALL_APIS: control->all_apis = is_true(value); break;
	case FLUSH: {
		uint32_t ms =
			profile_options_number(cli, "cuda-flush-interval", value, 3600 * 1000);
		control->flush_ms = ms ? ms : control->flush_ms;
		break;
	}
	case LEAVE_CUPTI: control->leave_cupti = is_true(value); break;
	case NO_CALIBRATION: profile->no_calibration = is_true(value); break;
	case THRESHOLD: control->stack_threshold = cli_time(cli, "stack-threshold", value); break;
	case LAUNCH_STACKS:
		control->launch_stacks =
			profile_options_number(cli, "launch-stacks", value, 1000000);
		break;
	case OS_THRESHOLD: control->os_threshold = cli_time(cli, "osrt-threshold", value); break;
	case OS_STACKS:
		control->os_stack_threshold = cli_time(cli, "osrt-backtrace-threshold", value);
		break;
	case BACKTRACE: read_backtrace(cli, control, value); break;
	case SAMPLE: profile_sample(cli, profile, value); break;
	case FREQUENCY: profile_frequency(cli, profile, value); break;
	case PERIOD: profile_period(cli, profile, value); break;
	case CHAINS: profile_chains(cli, profile, value); break;
	case CTXSW: profile_switches(cli, profile, value); break;
	case DELAY: settings->delay = seconds(cli, "delay", value); break;
	case DURATION: settings->duration = seconds(cli, "duration", value); break;
	case CAPTURE: read_capture(cli, control, value); break;
	case CAPTURE_END: read_capture_end(cli, settings, value); break;
	case NVTX_CAPTURE: read_nvtx_capture(cli, control, value); break;
	case STEPS: control->steps = profile_options_number(cli, "steps", value, INT32_MAX); break;
	case KEEP: {
		int64_t time = seconds(cli, "keep", value);
		control->keep_s = (uint32_t)((time + 999999999) / 1000000000);
		break;
	}
	case SHOW: settings->hide_output = !is_true(value); break;
	case ENVIRONMENT: read_variables(cli, profile, value); break;
	case INHERIT: settings->fresh_environment = !is_true(value); break;
	case KILL: settings->kill_signal = read_kill(cli, value); break;
	case WAIT: settings->wait_primary = choice(cli, "wait", value, whom) == 1; break;
	case START_LATER:
		if (is_true(value))
			cli_misuse(cli,
				   "there is no 'headway start': use --delay or --capture-range");
		break;
	default: break;
	}
}

/* What the options say together. */
static void check(const struct cli *cli, struct profile *profile)
{
	struct run_settings *settings = &profile->settings;
	struct rec_control *control = &settings->control;
	bool range = control->nvtx_range[0];
	if (range && control->capture == REC_CAPTURE_NONE)
		control->capture = REC_CAPTURE_NVTX;
	if (range && control->capture != REC_CAPTURE_NVTX)
		cli_misuse(cli, "-p names a range of NVTX: it goes with --capture-range=nvtx");
	if (control->capture == REC_CAPTURE_NVTX && !range)
		cli_misuse(cli, "--capture-range=nvtx: which range? name it with -p RANGE");
	if (control->capture != REC_CAPTURE_NONE && settings->delay)
		cli_misuse(cli,
			   "--delay with --capture-range: the range says when recording begins");
	if (control->capture == REC_CAPTURE_PROFILER_API && control->leave_cupti)
		cli_misuse(cli,
			   "--leave-cupti with --capture-range=cudaProfilerApi: only CUPTI tells "
			   "of that range; --capture-range=nvtx works");
	if (control->steps && !(control->traces & REC_TRACE_NVTX))
		cli_misuse(cli, "--steps counts ranges of NVTX: add nvtx to --trace");
	if (control->steps && control->keep_s)
		cli_misuse(cli,
			   "--steps with --keep: one ends the recording, the other never does");
	if (control->capture == REC_CAPTURE_NONE && settings->kill_at_end)
		cli_misuse(cli, "--capture-range-end without --capture-range");
	settings->variables = profile->variables;
}

/* Ours, then nsys's, in one table for cli_next. */
static const struct cli_option *all_options(void)
{
	struct cli_option *all =
		hwy_zalloc(((size_t)N_OPTIONS + (size_t)profile_n_ignored + 1) * sizeof *all);
	memcpy(all, listed, sizeof listed);
	for (int i = 0; i < profile_n_ignored; i++)
		all[N_OPTIONS + i] = profile_ignored[i].option;
	return all;
}

static void set_defaults(struct run_settings *settings)
{
	settings->kill_signal = SIGTERM;
	settings->perf.rate_hz = 1000;
	settings->ignore_pipe = cli_pipe_was_ignored();
	settings->control = (struct rec_control){
		.traces = REC_TRACE_CUDA | REC_TRACE_NVTX,
		.flush_ms = 100,
		.launch_stacks = 100,
		.stack_threshold = 20 * 1000,
		.os_threshold = 1000,
		.os_stack_threshold = 80 * 1000,
	};
}

void profile_read_options(struct profile *profile, int argc, char **argv)
{
	const struct cli_option *options = all_options();
	struct cli cli = {
		.command = "profile",
		.usage = "headway profile [options] PROGRAM [arguments]",
		.about =
			"Runs a program as it is and records it: CUDA, NVTX, its processes and threads, and where in the "
			"source its waits come from; OpenCL, the operating system and the CPU when asked (-t, -s). The exit "
			"status is the program's own.",
		.options = options,
		.footer =
			"Other options of 'nsys profile' are accepted; one line tells of those that ask for "
			"something\nthat is not built yet.\n"
			"\n"
			"Examples:\n"
			"  headway profile python3 train.py\n"
			"  headway profile -o run -f true ./app --size 100\n"
			"  headway profile -c cudaProfilerApi python3 train.py\n"
			"  headway profile -t cuda,nvtx,osrt python3 train.py\n"
			"  headway profile -y 10 -d 5 --kill none ./server\n",
		.argc = argc,
		.argv = argv,
	};
	set_defaults(&profile->settings);
	const char *value;
	for (int option; (option = cli_next(&cli, &value)) != CLI_END;) {
		if (option == CLI_OPERAND) {
			profile->settings.program = argv + cli.at - 1;
			break;
		}
		if (option >= N_OPTIONS)
			profile_ignore(&profile_ignored[option - N_OPTIONS], value);
		else
			profile_options_read_option(&cli, profile, option, value);
	}
	if (!profile->settings.program)
		cli_misuse(&cli, "which program?");
	check(&cli, profile);
	free((void *)(uintptr_t)options);
}
