/* SPDX-License-Identifier: Apache-2.0 */
/* nsysrep.c - reads an .nsys-rep, which only NVIDIA's nsys can read: an installed nsys exports it
 * to SQLite first.
 *
 * nsys is run without a shell, its output is dropped, and the temporary export is removed whatever
 * happens. The environment variable NSYS may name another program or path. Without nsys the error
 * tells the command to run.
 */
#include "import/nsys/nsysrep.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "import/import.h"

/* The first line of every report tells the build of nsys that wrote it, and still has the product's
 * old name: "NVIDIA Tegra Profiler Report 2025@3@2@…". */
static const char magic[] = "NVIDIA Tegra Profiler Report";

bool nsysrep_is_report(const char *path, const void *head, size_t length)
{
	size_t name = strlen(path);
	if (length >= sizeof magic - 1 && !memcmp(head, magic, sizeof magic - 1))
		return true;
	return name > 9 && !strcmp(path + name - 9, ".nsys-rep");
}

static char *join_texts(const char *a, const char *b)
{
	char *text = hwy_alloc(strlen(a) + strlen(b) + 1);
	stpcpy(stpcpy(text, a), b);
	return text;
}

/* Yields the length of a path without its last extension: the length of "run" for "run.nsys-
 * rep". */
static size_t stem_length(const char *path)
{
	const char *dot = strrchr(path, '.');
	bool named = dot && dot != path && dot[-1] != '/' && !strchr(dot, '/');
	return named ? (size_t)(dot - path) : strlen(path);
}

static _Noreturn void become_nsys(const char *program, char **argv)
{
	int null = open("/dev/null", O_RDWR);
	if (null >= 0) {
		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
	}
	execvp(program, argv);
	_exit(errno == ENOENT ? 127 : 126);
}

/* Runs a program; yields its exit status, or 128 + the signal that ended it, or -1 when it could
 * not be started. */
static int run_program(const char *program, char **argv)
{
	int status;
	pid_t child = fork();
	if (child < 0)
		return -1;
	if (child == 0)
		become_nsys(program, argv);
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Yields a word of a shell's command line, quoted where a shell would change it; the caller
 * frees the word. */
static char *quoted(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "-_./=:,@%+";
	enum { ESCAPED_BYTES = 4 }; /* '\'' stands for a quote; the word gets two quotes and a 0 */
	char *text = hwy_array(strlen(word) + 1, ESCAPED_BYTES), *to = text;
	if (*word && word[strspn(word, plain)] == '\0') {
		stpcpy(text, word);
		return text;
	}
	*to++ = '\'';
	for (; *word; word++) {
		if (*word == '\'')
			to = stpcpy(to, "'\\''");
		else
			*to++ = *word;
	}
	stpcpy(to, "'");
	return text;
}

static void export_failed(const char *path, const char *program, int status, struct hwy_err *err)
{
	char *stem = hwy_copy(path, strlen(path) + 1);
	stem[stem_length(path)] = '\0';
	char *name = join_texts(stem, ".sqlite");
	char *out = quoted(name), *in = quoted(path);
	if (status == 127 || status == 126 || status < 0)
		hwy_fail(
			err,
			"%s: an Nsight Systems report, and there is no %s to export it; where nsys is "
			"installed, run: nsys export --type sqlite -o %s %s",
			path, program, out, in);
	else
		hwy_fail(
			err,
			"%s: %s export failed with status %d (it wants the nsys that wrote the report, or a "
			"newer one); to see why, run: nsys export --type sqlite -o %s %s",
			path, program, status, out, in);
	free(stem);
	free(name);
	free(out);
	free(in);
}

struct hwy_trace *import_nsysrep(const char *path, const struct hwy_progress *progress,
				 struct hwy_err *err)
{
	const char *program = getenv("NSYS");
	const char *tmp = getenv("TMPDIR");
	struct hwy_trace *trace = NULL;
	if (!program || !*program)
		program = "nsys";
	char *folder = join_texts(tmp && *tmp ? tmp : "/tmp", "/headway-XXXXXX");
	if (!mkdtemp(folder)) {
		hwy_fail(err, "%s: no room for a temporary export: %s: %s", path, folder,
			 hwy_strerror(errno));
		free(folder);
		return NULL;
	}
	char *out = join_texts(folder, "/export.sqlite");
	hwy_temporary(progress, folder, true);
	hwy_temporary(progress, out, true);
	char *argv[] = {
		(char *)program, "export", "--type", "sqlite", "--force-overwrite=true", "-o", out,
		(char *)path,    NULL};
	hwy_tell(progress, "running nsys export", 0, 0);
	int status = run_program(program, argv);
	struct hwy_err inner;
	if (status == 0) {
		trace = import_nsys(out, progress, &inner);
		if (!trace)
			hwy_fail(err, "%s: what nsys exported cannot be read: %s", path,
				 inner.text);
	} else {
		export_failed(path, program, status, err);
	}
	unlink(out);
	rmdir(folder);
	hwy_temporary(progress, out, false);
	hwy_temporary(progress, folder, false);
	free(out);
	free(folder);
	return trace;
}
