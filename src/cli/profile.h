/* profile.h - what the files of `headway profile` share. */
#ifndef HWY_CLI_PROFILE_H
#define HWY_CLI_PROFILE_H

#include "cli/kit/cli.h"
#include "run/run.h"

struct profile {
	struct run_settings settings;
	const char *output; /* as given; NULL: the next free reportN.hwy */
	bool force, stats, quiet, no_calibration;
	bool memory_usage, all_apis, leave_cupti, show_output, inherit_environment;
	int wait_for; /* index of the word of --wait */
	uint64_t flush_ms, launch_stacks, steps;
	int64_t keep_last;   /* ns; 0: everything */
	bool switches_given; /* --cpuctxsw was given */
	char **program;      /* the program and its arguments */
	char **variables;    /* NULL-terminated */
	uint32_t n_variables, cap_variables;
};

/* profile_options.c: reads the command line; exits on a misuse. Says what was asked for and is not built. */
void profile_read_options(struct profile *profile, int argc, char **argv);

/* profile_options.c and profile_ignored.c: what --help lists, and options of nsys that it does not list. */
extern const struct cli_option profile_option_table[], profile_ignored[];

/* profile_sampling.c: the CPU's side; each exits on a misuse. */
void profile_sample(const struct cli_value *value);
void profile_switches(const struct cli_value *value);
void profile_frequency(const struct cli_value *value);
void profile_period(const struct cli_value *value);
void profile_chains(const struct cli_value *value);

/* profile_output.c: where the report goes. */

/* %p, %h, %q{NAME} and %% replaced, .hwy added; exits on a misuse. To be freed. */
char *profile_expand(const char *output, pid_t pid);
/* The next free reportN.hwy. To be freed. */
char *profile_next_free(void);
/* NULL, or why no report can be written there. */
const char *profile_refusal(const char *path, bool force);
/* The folder a file is in. To be freed. */
char *profile_folder(const char *path);

/* profile_calibrate.c: adds what recording costs on the trace's GPUs. */
enum profile_calibration {
	PROFILE_NO_CALIBRATION,
	PROFILE_CACHED_CALIBRATION, /* where it was measured before */
	PROFILE_CALIBRATE,          /* measured where it was not: nothing else may run on the GPU */
};
void profile_calibrate(struct hwy_trace *trace, const char *directory, enum profile_calibration how,
		       bool quiet);

/* profile_report.c: the run's directory as a report. On failure says why on stderr and yields false. */
bool profile_report(const char *directory, const char *path, bool force, bool quiet,
		    enum profile_calibration how, char **written);

/* One line on stderr. */
void profile_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
