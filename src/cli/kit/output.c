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
#include <sys/time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/lang.h"

/* Files and folders that are removed at exit and by a signal, the last one first. The program
 * writes the array, the signal handler reads it. An export to a folder has most: the folder and
 * one file for each kind of span. */
enum { MOST_UNFINISHED = 24, UNKNOWN_ERROR = 1000 /* above every errno */ };
static const char *volatile unfinished[MOST_UNFINISHED];
/* A folder that is removed with all that is in it; NULL: none. */
static const char *volatile unfinished_tree;
static int stdout_failed;
static sigset_t ignored_at_start;
/* What a signal's handler prints before the process dies of the signal; NULL: nothing. */
static const char *volatile last_words;

const sigset_t *cli_ignored_at_start(void)
{
	return &ignored_at_start;
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

void cli_hold_signals(sigset_t *before)
{
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, before);
}

void cli_release_signals(const sigset_t *before)
{
	sigprocmask(SIG_SETMASK, before, NULL);
}

void cli_unfinished_tree(const char *path)
{
	unfinished_tree = path;
}

static void remove_unfinished(void)
{
	if (unfinished_tree)
		/* NOLINTNEXTLINE(bugprone-signal-handler): system calls only */
		cli_remove_tree(unfinished_tree);
	unfinished_tree = NULL;
	for (int i = MOST_UNFINISHED; i-- > 0;) {
		const char *path = unfinished[i];
		if (path && unlink(path) != 0)
			rmdir(path);
		unfinished[i] = NULL;
	}
}

/* Makes calls only that a signal handler may make. */
static void print_last_words(int number)
{
	/* NOLINTNEXTLINE(bugprone-signal-handler): looks into a table */
	const char *name = sigabbrev_np(number);
	const char *const parts[] = {"headway: stopped by SIG", name ? name : "?", "; ", last_words,
				     "\n"};
	char line[4096 + 256];
	size_t used = 0;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		size_t n = strlen(parts[i]);
		if (n > sizeof line - used)
			n = sizeof line - used;
		memcpy(line + used, parts[i], n);
		used += n;
	}
	/* A progress bar may stand in the terminal's line. */
	/* NOLINTNEXTLINE(bugprone-signal-handler): one system call */
	if (isatty(STDERR_FILENO))
		(void)!write(STDERR_FILENO, "\r\033[K", 4);
	(void)!write(STDERR_FILENO, line, used);
}

/* What is printed when the time of cli_die_after is over. */
static const char *volatile overdue;

static void on_overdue(int number)
{
	(void)number;
	const char *text = overdue;
	remove_unfinished();
	(void)!write(STDERR_FILENO, text, strlen(text));
	_exit(2);
}

void cli_die_after(int64_t ns, const char *line)
{
	struct itimerval when = {.it_value = {ns / 1000000000, ns / 1000 % 1000000}};
	struct sigaction action = {.sa_handler = on_overdue};
	overdue = line;
	if (ns > 0)
		sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &when, NULL);
}

static void on_signal(int number)
{
	remove_unfinished();
	if (last_words)
		print_last_words(number);
	cli_die_of(number);
}

void cli_die_of(int number)
{
	sigset_t only;
	sigemptyset(&only);
	sigaddset(&only, number);
	signal(number, SIG_DFL);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &only, NULL);
	_exit(128 + number);
}

void cli_ignore(int number)
{
	sigaddset(&ignored_at_start, number);
	signal(number, SIG_IGN);
}

void cli_last_words(const char *text)
{
	/* Signals that end a process, SIGPIPE excepted: nobody reads what would be printed then. */
	static const int numbers[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGABRT,   SIGBUS,
				      SIGFPE,  SIGUSR1, SIGSEGV, SIGUSR2, SIGALRM,   SIGTERM,
				      SIGXCPU, SIGIO,   SIGPWR,  SIGSYS,  SIGVTALRM, SIGPROF};
	/* A stack that ran over cannot hold the handler's frame. */
	static char stack[64 * 1024];
	const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
	last_words = text;
	if (!text)
		return;
	sigaltstack(&alternate, NULL);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
		if (sigismember(&ignored_at_start, numbers[i]) != 1)
			sigaction(numbers[i], &action, NULL);
	}
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
	return number == UNKNOWN_ERROR ? hwy_tr("cannot be written") : hwy_strerror(number);
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
	fprintf(stderr, hwy_tr("headway: standard output: %s\n"), reason(number));
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
	sigemptyset(&ignored_at_start);
	for (int number = 1; number <= SIGRTMAX; number++) {
		struct sigaction action;
		if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			sigaddset(&ignored_at_start, number);
	}
	/* A parent may have left SIGPIPE ignored; "headway … | head" should end without a
	 * message. */
	signal(SIGPIPE, SIG_DFL);
	/* Where SIGCHLD is ignored, the kernel keeps no status of a child that ended. Setting it
	 * otherwise would lose a pending one, which the program is to get. */
	if (sigismember(&ignored_at_start, SIGCHLD) == 1)
		signal(SIGCHLD, SIG_DFL);
	/* A file above the limit (ulimit -f) is an error of the write, with a line about it. */
	if (sigismember(&ignored_at_start, SIGXFSZ) != 1)
		signal(SIGXFSZ, SIG_IGN);
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
	sigset_t before;
	cli_hold_signals(&before);
	int fd = mkstemp(*name);
	int why = errno;
	if (fd >= 0)
		cli_unfinished(*name, true);
	cli_release_signals(&before);
	if (fd < 0)
		cli_die("%s: %s", path, hwy_strerror(why));
	FILE *out = fdopen(fd, "w");
	if (!out)
		cli_die("%s: %s", path, hwy_strerror(errno));
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
				cli_die("%s: %s", path, hwy_strerror(errno));
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
		cli_die("%s: %s", output->path, hwy_strerror(errno));
	if (output->temporary && rename(output->temporary, output->path) != 0)
		cli_die("%s: %s", output->path, hwy_strerror(errno));
	if (output->temporary)
		cli_unfinished(output->temporary, false);
	free(output->path);
	free(output->temporary);
	*output = (struct cli_output){0};
}
