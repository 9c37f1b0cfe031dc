/* output.c - where a command's result goes, and what happens however the program ends.
 *
 * A file appears complete under its name or not at all: it is written under a temporary name beside it,
 * which is removed when the command fails or is interrupted. stdout is checked too: a full disk is an
 * error, a reader that has gone away is not worth a word.
 */
#include "cli/kit/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Removed at exit and by a signal, the last first. Written by the program, read by the handler too. */
enum { MOST_UNFINISHED = 24 }; /* a folder and a file a kind of span */
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

/* 0, or errno of the write that failed; 1000 where it is no longer known. */
static int flush_error(FILE *out)
{
	errno = 0;
	bool failed = fflush(out) != 0;
	int number = errno;
	if (!failed && !ferror(out))
		return 0;
	return number ? number : 1000;
}

static const char *reason(int number)
{
	return number == 1000 ? "cannot be written" : strerror(number);
}

/* Ends the program with what a write to stdout failed for; EPIPE as SIGPIPE would have. */
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

/* A closed standard stream must not become the number of a file we write: what is printed would go there.
 * Opened for reading, so that printing fails as it would have. */
static void occupy_standard_streams(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
			_exit(2);
}

void cli_start(void)
{
	occupy_standard_streams();
	/* A parent may have left SIGPIPE ignored; "headway … | head" should just end. */
	pipe_was_ignored = signal(SIGPIPE, SIG_DFL) == SIG_IGN;
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGABRT /* out of memory */};
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (signal(numbers[i], on_signal) == SIG_IGN)
			signal(numbers[i], SIG_IGN); /* nohup */
	atexit(at_exit);
}

/* A file beside 'path' to write to, with the mode open() would have given. */
static FILE *open_temporary(const char *path, char **name)
{
	if (asprintf(name, "%s.XXXXXX", path) < 0)
		cli_die("%s: out of memory", path);
	/* No signal between the file and its being known. */
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
	mode_t mask = umask(0);
	umask(mask);
	fchmod(fd, 0666 & ~mask);
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
		if (!S_ISREG(status.st_mode)) { /* a device or a pipe: no name to protect */
			output.path = strdup(path);
			output.out = fopen(path, "w");
			if (!output.out)
				cli_die("%s: %s", path, strerror(errno));
			return output;
		}
		/* Write where a symbolic link points to, not over the link. */
		output.path = realpath(path, NULL);
	}
	if (!output.path)
		output.path = strdup(path);
	output.out = open_temporary(output.path, &output.temporary);
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
