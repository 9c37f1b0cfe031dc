/* SPDX-License-Identifier: Apache-2.0 */
/* profile_within.c - records a program that runs already, at its own request (headway profile
 * --within).
 *
 * The program is the one that started this headway, as the Python package does: it talks to it
 * through stdin and stdout. Headway makes the run directory and prints "run DIRECTORY"; the
 * program joins the run (collect/self_record.c), leaves it, and writes "end", or just ends, also
 * by a signal: then stdin ends. Headway then makes the report and prints "report FILE". Where
 * the program could not join, it writes "forget": then there is no report, and a file of its
 * name stays as it is. What people should read goes to stderr, as with any recording.
 *
 * Headway never signals the program, stops it or waits for anything but its word: a program that
 * goes on recording for hours is watched over for disk space only.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/profile.h"
#include "run/journal.h"
#include "run/space.h"

/* Sets a field of the run's state, which the program reads. */
static void set_state(uint32_t *field, uint32_t value)
{
	atomic_store((_Atomic uint32_t *)field, value);
}

/* True once the program has said a line, or has ended; 'word' has the line's letters, as far as
 * they fit. */
static bool has_said(char word[8])
{
	char byte;
	ssize_t got = read(STDIN_FILENO, &byte, 1);
	size_t length = strlen(word);
	if (got == 1 && byte != '\n' && length < 7) {
		word[length] = byte;
		word[length + 1] = 0;
	}
	return got == 0 || (got == 1 && byte == '\n') || (got < 0 && errno != EINTR);
}

/* Waits until the program says that it has left the run, or has ended. False: nothing was
 * recorded. */
static bool await_word(struct run *run)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	char word[8] = "";
	for (;;) {
		int64_t now = run_now(), next = space_watch(run->space, now);
		int64_t ms = (next - now) / 1000000 + 1;
		if (poll(&input, 1, next == INT64_MAX || ms > INT32_MAX ? -1 : (int)ms) > 0 &&
		    has_said(word))
			return strcmp(word, "forget") != 0;
	}
}

/* Ends the recording for processes that the program forked, too. */
static void end_run(struct run *run)
{
	set_state(&run->control->recording, 0);
	set_state(&run->control->finished, 1);
	run->over = run_now();
	journal_clock(run->journal);
}

int profile_within(struct profile *profile, struct run *run, const char *path)
{
	struct hwy_err err;
	/* Who interrupts the program means the program. */
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	if (!run_prepare(run, &profile->settings, &err))
		cli_die("nothing can be recorded: %s", err.text);
	set_state(&run->control->recording, 0); /* the program begins when it has joined */
	journal_property(run->journal, "capture.within", "true", 4);
	printf("run %s\n", run->directory);
	if (fflush(stdout) != 0) {
		run_remove(run->directory);
		cli_die("nobody waits for the run's directory: %s", hwy_strerror(errno));
	}
	bool has_joined = await_word(run);
	end_run(run);
	bool done = has_joined && profile_apart(profile, run, path);
	if (done)
		printf("report %s\n", path ? path : "");
	fflush(stdout);
	char *directory = run->directory;
	run->directory = NULL;
	run_free(run);
	if (!has_joined)
		done = run_remove(directory);
	free(directory);
	return done ? 0 : 2;
}
