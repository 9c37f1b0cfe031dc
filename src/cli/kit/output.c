/* SPDX-License-Identifier: Apache-2.0 */
/* output.c - where a command's result goes, and what happens however the program ends.
 *
 * A file appears complete under its name or not at all: it is written under a temporary name beside
 * it, which is removed when the command fails or is interrupted. stdout is checked too: a full disk
 * is an error, a reader that has gone away is not worth a word.
 */
#include "cli/kit/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Files and folders that are removed at exit and by a signal, the last one first. The program
 * writes the array, the signal handler reads it. An export to a folder has most: the folder and
 * one file for each kind of span. */
enum { MOST_UNFINISHED = 24, UNKNOWN_ERROR = 1000 /* above every errno */ };
static const char *volatile unfinished[MOST_UNFINISHED];
static int stdout_failed;
static bool pipe_was_ignored;

bool cli_pipe_was_ignored(void)
{
	return pipe_was_ignored;
}

void cli_unfinished(const char *path, bool exists)
{
	const char *old = exists ? NULL : path, *new = exists ? path : NULL;
	for (int i = 0; i < MOST_UNFINISHED; i++)
		if (unfinished[i] == old) {
			unfinished[i] = new;
			return;
		}
}

static void remove_unfinished(void)
{
	for (int i = MOST_UNFINISHED; i-- > 0;) {
		const char *path = unfinished[i];
		if (path && unlink(path) != 0)
			rmdir(path);
		unfinished[i] = NULL;
	}
}

static void on_signal(int number)
{
	remove_unfinished();
	signal(number, SIG_DFL);
	raise(number);
}

/* Yields 0, or errno of the write that failed; UNKNOWN_ERROR where an earlier write failed and
 * errno is lost. */
static int flush_error(FILE *out)
{
	errno = 0;
	bool failed = fflush(out) != 0;
	int number = errno;
	if (!failed && !ferror(out))
		return 0;
	return number ? number : UNKNOWN_ERROR;
}

static const char *reason(int number)
{
	return number == UNKNOWN_ERROR ? "cannot be written" : strerror(number);
}

/* Says why stdout cannot be written and yields the exit status. EPIPE ends the program as
 * SIGPIPE would. */
static int stdout_broke(int number)
{
	stdout_failed = 1;
	if (number == EPIPE) {
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
	fprintf(stderr, "headway: standard output: %s\n", reason(number));
	return 2;
}

static void at_exit(void)
{
	cli_progress_end();
	remove_unfinished();
	int number = stdout_failed ? 0 : flush_error(stdout);
	if (number)
		_exit(stdout_broke(number));
}

/* Where a standard stream is closed, a file that Headway opens would get its number, and printed
 * text would go into that file. /dev/null takes the number instead; it is opened for reading, so
 * that printing fails. */
static void occupy_standard_streams(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
			_exit(2);
}

void cli_start(void)
{
	occupy_standard_streams();
	/* A parent may have left SIGPIPE ignored; "headway … | head" should end without a
	 * message. */
	pipe_was_ignored = signal(SIGPIPE, SIG_DFL) == SIG_IGN;
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP,
				      SIGABRT /* raised by hwy_alloc without memory */};
	/* A signal that nohup made ignored stays ignored. */
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (signal(numbers[i], on_signal) == SIG_IGN)
			signal(numbers[i], SIG_IGN);
	atexit(at_exit);
}

/* Creates a file beside 'path' under a temporary name. Only the user may read it (mode 0600): what
 * commands write holds what was recorded. */
static FILE *open_temporary(const char *path, char **name)
{
	if (asprintf(name, "%s.XXXXXX", path) < 0)
		cli_die("%s: out of memory", path);
	/* Signals are blocked until the file is in the list of files that a signal's handler
	 * removes. */
	sigset_t all, before;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	int fd = mkstemp(*name);
	int why = errno;
	if (fd >= 0)
		cli_unfinished(*name, true);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (fd < 0)
		cli_die("%s: %s", path, strerror(why));
	FILE *out = fdopen(fd, "w");
	if (!out)
		cli_die("%s: %s", path, strerror(errno));
	return out;
}

void cli_keep_input(const char *input, const char *output)
{
	struct stat in, out;
	if (input && output && stat(input, &in) == 0 && stat(output, &out) == 0 &&
	    in.st_dev == out.st_dev && in.st_ino == out.st_ino)
		cli_die("%s: is the input itself; name another output with -o", output);
}

struct cli_output cli_output_open(const char *path, int force)
{
	struct stat status;
	struct cli_output output = {.out = stdout};
	if (!path || strcmp(path, "-") == 0)
		return output;
	if (!*path)
		cli_die("the output has an empty name");
	if (stat(path, &status) == 0) {
		if (S_ISDIR(status.st_mode))
			cli_die("%s: is a directory", path);
		if (S_ISREG(status.st_mode) && !force)
			cli_die("%s: exists and is kept; -f overwrites it", path);
		if (!S_ISREG(status.st_mode)) { /* a device or a pipe is written directly */
			output.path = strdup(path);
			output.out = fopen(path, "w");
			if (!output.out)
				cli_die("%s: %s", path, strerror(errno));
			return output;
		}
		/* Where the path is a symbolic link, the file behind the link is written and the
		 * link stays. */
		output.path = realpath(path, NULL);
	}
	if (!output.path)
		output.path = strdup(path);
	char *temporary;
	output.out = open_temporary(output.path, &temporary);
	output.temporary = temporary;
	return output;
}

void cli_output_close(struct cli_output *output)
{
	int number = flush_error(output->out);
	if (output->out == stdout) {
		if (number)
			exit(stdout_broke(number));
		return;
	}
	if (number)
		cli_die("%s: %s", output->path, reason(number));
	if (fclose(output->out) != 0)
		cli_die("%s: %s", output->path, strerror(errno));
	if (output->temporary && rename(output->temporary, output->path) != 0)
		cli_die("%s: %s", output->path, strerror(errno));
	if (output->temporary)
		cli_unfinished(output->temporary, false);
	free(output->path);
	free(output->temporary);
	*output = (struct cli_output){0};
}
