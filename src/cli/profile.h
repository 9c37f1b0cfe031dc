/* profile.h - what the files of `headway profile` share. */
#ifndef HWY_CLI_PROFILE_H
#define HWY_CLI_PROFILE_H

#include "cli/cli.h"
#include "run/run.h"

struct profile {
	struct run_settings settings;
	const char *output; /* as given; NULL: the next free reportN.hwy */
	bool force, stats, quiet;
	char **variables; /* NULL-terminated */
	uint32_t n_variables, cap_variables;
};

/* profile_options.c: reads the command line; exits on a misuse. Says what was asked for and is not built. */
void profile_read_options(struct profile *profile, int argc, char **argv);

/* profile_ignored.c: options of nsys that have no effect here. */
struct ignored {
	struct cli_option option;
	const char *silent; /* values that ask for nothing, separated by '|'; "*": all of them */
};
extern const struct ignored profile_ignored[];
extern const int profile_n_ignored;
void profile_ignore(const struct ignored *ignored, const char *value);

/* profile_output.c: where the report goes. */

/* %p, %h, %q{NAME} and %% replaced, .hwy added; exits on a misuse. To be freed. */
char *profile_expand(const char *output, pid_t pid);
/* The next free reportN.hwy. To be freed. */
char *profile_next_free(void);
/* NULL, or why no report can be written there. */
const char *profile_refusal(const char *path, bool force);
/* The folder a file is in. To be freed. */
char *profile_folder(const char *path);

/* profile_report.c: the run's directory as a report. On failure says why on stderr and yields false. */
bool profile_report(const char *directory, const char *path, bool force, bool quiet,
		    char **written);

/* One line on stderr. */
void profile_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
