/* SPDX-License-Identifier: Apache-2.0 */
/* view_browser.c - opens the user's browser at the viewer's address.
 *
 * The address holds the server's secret, and every user of a machine can read the arguments of
 * every process. So the browser gets the name of a page of mode 0600, in a folder of mode 0700,
 * that leads on to the address. The page is removed once the browser has asked the server for
 * something, and however Headway ends.
 */
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/kit/cli.h"
#include "cli/view_process.h"

/* The folder and the page; empty where there are none. */
static char opener_folder[PATH_MAX], opener_page[PATH_MAX + sizeof "/headway.html"];

static bool is_given(const char *value)
{
	return value && *value;
}

/* Yields the folder in which the private folder is made. Browsers that are snaps see neither the
 * folder of the user's session nor /tmp nor hidden folders, but the home folder. */
static const char *folder_that_browsers_see(void)
{
	static const char *const snaps[] = {"/snap/bin/firefox", "/snap/bin/chromium"};
	const char *home = getenv("HOME"), *session = getenv("XDG_RUNTIME_DIR"),
		   *temporary = getenv("TMPDIR");
	for (size_t i = 0; i < sizeof snaps / sizeof *snaps; i++)
		if (is_given(home) && access(snaps[i], X_OK) == 0 && access(home, W_OK) == 0)
			return home;
	if (is_given(session) && access(session, W_OK) == 0)
		return session;
	return is_given(temporary) ? temporary : "/tmp";
}

static bool write_opener(const char *address)
{
	int n = snprintf(opener_folder, sizeof opener_folder, "%s/headway-view-XXXXXX",
			 folder_that_browsers_see());
	sigset_t before;
	cli_hold_signals(&before);
	if (n < 0 || (size_t)n >= sizeof opener_folder || !mkdtemp(opener_folder)) {
		*opener_folder = 0;
		cli_release_signals(&before);
		return false;
	}
	cli_unfinished(opener_folder, true);
	snprintf(opener_page, sizeof opener_page, "%s/headway.html", opener_folder);
	int fd = open(opener_page, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		cli_unfinished(opener_page, true);
	else
		*opener_page = 0;
	cli_release_signals(&before);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out)
		return false;
	fprintf(out,
		"<!DOCTYPE html><meta charset=\"utf-8\"><title>Headway</title>"
		"<meta name=\"referrer\" content=\"no-referrer\">"
		"<meta http-equiv=\"refresh\" content=\"0;url=%s\">"
		"<p><a href=\"%s\">Headway</a></p>\n",
		address, address);
	return fclose(out) == 0;
}

void view_browser_forget(void)
{
	if (*opener_page) {
		unlink(opener_page);
		cli_unfinished(opener_page, false);
	}
	if (*opener_folder) {
		rmdir(opener_folder);
		cli_unfinished(opener_folder, false);
	}
	*opener_page = *opener_folder = 0;
}

bool view_browser_open(const char *address)
{
	extern char **environ;
	if (!is_given(getenv("DISPLAY")) && !is_given(getenv("WAYLAND_DISPLAY")))
		return false;
	if (!write_opener(address)) {
		view_browser_forget();
		return false;
	}
	char *argv[] = {"xdg-open", opener_page, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	for (int fd = 0; fd < 3; fd++)
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	pid_t pid;
	int error = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (error != 0)
		view_browser_forget();
	return error == 0;
}
