/* SPDX-License-Identifier: Apache-2.0 */
/* profile.h - what the files of `headway profile` share. */
#ifndef HWY_CLI_PROFILE_H
#define HWY_CLI_PROFILE_H

#include "cli/kit/cli.h"
#include "cli/profile_job.h"
#include "ingest/ingest.h"
#include "run/run.h"

struct profile {
	struct run_settings settings;
	/* The report's path as -o gives it, still with %p and the like; NULL: the next free
	 * reportN.hwy. */
	const char *output;
	bool force, stats, quiet, no_calibration;
	/* The program runs already and asked for its recording; 'program' is only what it was
	 * started with. */
	bool within;
	bool memory_usage, all_apis, leave_cupti, pytorch_shapes, show_output, inherit_environment;
	int wait_for; /* index of the word that --wait gives */
	uint64_t flush_ms, launch_stacks, steps;
	int64_t keep_last; /* ns of the recording's end that are kept; 0: the whole recording is */
	bool switches_given; /* --cpuctxsw was given */
	bool traces_given;   /* --trace was given */
	bool samples_given;  /* --sample was given */
	bool like_nsys;      /* record what nsys records where nothing is asked for */
	struct cli_privacy privacy;
	char **program;   /* the program and its arguments */
	char **variables; /* "NAME=value" of --env-var, NULL-terminated */
	uint32_t n_variables, cap_variables;
	struct profile_job job;
	char **words; /* the launcher's command line with a headway before each program; or NULL */
	struct run_property properties[12];
	/* Of a job, what a person must know about every rank is said by the first rank alone;
	 * 'quiet' is then true for the rest, and is_quiet_job says what the user asked for. */
	bool says_warnings, is_quiet_job;
};

/* profile_options.c: reads the command line; exits on a misuse. Says which options ask for what
 * is not built. */
void profile_options_read(struct profile *profile, int argc, char **argv);

/* profile_options.c and profile_ignored.c: what --help lists, and options of nsys that it does
 * not list. */
extern const struct cli_option profile_option_table[], profile_ignored[];

/* profile_sampling.c: read the options about CPU samples and context switches; exit on a misuse. */
void profile_sampling_scope(const struct cli_value *value);
void profile_sampling_switches(const struct cli_value *value);
void profile_sampling_frequency(const struct cli_value *value);
void profile_sampling_period(const struct cli_value *value);
void profile_sampling_backtrace(const struct cli_value *value);
/* Samples threads as nsys does by default, where no option says otherwise. */
void profile_sampling_like_nsys(struct profile *profile);

/* profile_default.c: adds what is recorded where neither -t nor -s says it. */
void profile_default_sources(struct profile *profile);

/* profile_metrics.c: read the options about GPU metrics; exit on a misuse, and after "help". */
void profile_metrics_devices(const struct cli_value *value);
void profile_metrics_frequency(const struct cli_value *value);
void profile_metrics_set(const struct cli_value *value);
extern const char *const profile_metrics_device_words[], *const profile_metrics_set_words[];
/* The default rate and set. */
void profile_metrics_defaults(struct pm_settings *settings);
/* Notes which GPUs the program will see, where --env-var says so. */
void profile_metrics_visible(struct profile *profile);

/* Functions of profile_output.c, which choose the report's name: */

/* The report's name: %p, %h, %q{NAME} and %% are replaced, .hwy is added. Exits on a misuse. To
 * be freed. */
char *profile_output_name(const char *output, pid_t pid);
/* Yields the next free name reportN.hwy, which the caller frees. */
char *profile_output_next_free(void);
/* Yields the reason why no report can be written to 'path'; NULL where one can. */
const char *profile_output_refusal(const char *path, bool force);
/* Yields the folder that holds a file. The caller frees the text. */
char *profile_output_folder(const char *path);

/* How profile_calibrate.c finds the costs of recording on the trace's GPUs, which it adds to the
 * trace. */
enum profile_calibration {
	PROFILE_NO_CALIBRATION,
	PROFILE_CACHED_CALIBRATION, /* add the costs of recording only where the cache has them */
	/* measure the costs where the cache lacks them; nothing else may use the GPU */
	PROFILE_CALIBRATE,
};
void profile_calibrate(struct hwy_trace *trace, const char *directory, enum profile_calibration how,
		       bool quiet);

/* How a report is made. */
struct profile_making {
	const char *path; /* NULL: the next free reportN.hwy */
	bool force, quiet, says_warnings;
	enum profile_calibration calibration;
	enum ingest_stacks stacks;
	const struct cli_privacy *privacy;
	/* The job whose rank this is: its folder is told, and gets a report for each rank of a
	 * launcher's tree. NULL: no job. */
	struct profile_job *job;
};
/* profile_report.c: makes a report of the run's directory; *written is its path, to be freed. On
 * failure says why on stderr and yields false. A signal that ends headway meanwhile says how to
 * make the report later. Where libdw finds no memory, it ends the process with the status
 * PROFILE_NO_MEMORY. */
bool profile_report(const char *directory, const struct profile_making *how, char **written);
enum { PROFILE_NO_MEMORY = 3 };

/* cmd_profile.c: makes the report of a run, and removes the run's directory; false: there is no
 * report, and a line says why. */
bool profile_make_report(struct profile *profile, struct run *run, const char *path);
/* profile_apart.c: does the same in a process of its own. */
bool profile_apart(struct profile *profile, struct run *run, const char *path);

/* profile_within.c: records a program that runs already and joins the run itself; yields
 * headway's exit status. */
int profile_within(struct profile *profile, struct run *run, const char *path);

/* recover_run.c: makes the report of a run whose headway was killed, in a process of its own,
 * with as many stacks as there is memory for. */
bool recover_run(const char *directory, const struct profile_making *how);

/* profile_place.c: ns since 1970. */
int64_t profile_wall_ns(void);

#endif
