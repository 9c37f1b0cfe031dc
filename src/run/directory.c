/* directory.c - the run directory: where it can be, the control page in it, and its removal.
 *
 * Only the user can enter it (0700). It holds data only, so that it may well be where nothing can be executed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "run/host_facts.h"
#include "run/journal.h"
#include "run/run.h"
#include "run/step_counter.h"
#include "spool/preload.h"

/* ---- making it --------------------------------------------------------------------------------- */

static uint64_t room_in(const char *folder)
{
	struct statvfs about;
	return statvfs(folder, &about) == 0 ? (uint64_t)about.f_bavail * about.f_frsize : 0;
}

/* The page of a fresh control file, its descriptor left open; NULL when there is no room. */
static struct rec_control *make_control(const char *directory, int *fd)
{
	char path[PATH_MAX];
	if (snprintf(path, sizeof path, "%s/control", directory) >= (int)sizeof path)
		return NULL;
	*fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (*fd < 0)
		return NULL;
	int failed = posix_fallocate(*fd, 0, sizeof(struct rec_control));
	void *at = failed ? MAP_FAILED
			  : mmap(NULL, sizeof(struct rec_control), PROT_READ | PROT_WRITE,
				 MAP_SHARED, *fd, 0);
	if (at != MAP_FAILED) {
		flock(*fd, LOCK_EX | LOCK_NB);
		return at;
	}
	if (failed)
		errno = failed;
	close(*fd);
	*fd = -1;
	return NULL;
}

static bool make_in(struct run *run, const char *folder, struct hwy_err *err)
{
	char real[PATH_MAX], path[PATH_MAX];
	if (!realpath(folder, real) ||
	    snprintf(path, sizeof path, "%s/headway-XXXXXX", real) >= (int)sizeof path ||
	    !mkdtemp(path))
		return hwy_fail(err, "%s: %s", folder, strerror(errno));
	run->control = make_control(path, &run->lock);
	int reason = errno;
	run->journal = run->control ? journal_open(path) : NULL;
	if (run->journal) {
		run->directory = hwy_copy(path, strlen(path) + 1);
		return true;
	}
	if (run->control) {
		reason = ENOSPC;
		munmap(run->control, sizeof *run->control);
		run->control = NULL;
		close(run->lock);
	}
	run_remove(path);
	return hwy_fail(err, "%s: %s", folder, strerror(reason));
}

static bool make_directory(struct run *run, const char *beside, struct hwy_err *err)
{
	const char *told = getenv("TMPDIR");
	const char *folders[] = {told && *told ? told : "/tmp", "/tmp", beside ? beside : "."};
	enum { N = sizeof folders / sizeof *folders };
	for (int choosy = 1; choosy >= 0; choosy--)
		for (int i = 0; i < N; i++)
			if ((!choosy || room_in(folders[i]) >= RUN_ENOUGH_BYTES) &&
			    make_in(run, folders[i], err))
				return true;
	return false;
}

/* ---- what is in it ----------------------------------------------------------------------------- */

/* A link in the run directory to a library of ours; false when that does not help. */
static bool link_library(const struct run *run, const char *folder, size_t length, const char *file,
			 char path[PATH_MAX])
{
	char from[PATH_MAX];
	snprintf(path, PATH_MAX, "%s/%s", run->directory, file);
	return snprintf(from, sizeof from, "%.*s/%s", (int)length, folder, file) <
		       (int)sizeof from &&
	       !strpbrk(path, " :") && symlink(from, path) == 0;
}

/* A source whose library is not there is not recorded. */
static void check_siblings(struct run *run, const char *library)
{
	char path[PATH_MAX], text[256];
	size_t folder = (size_t)(strrchr(library, '/') - library);
	for (const struct preload_sibling *one = preload_siblings; one->trace; one++) {
		if (!(run->control->traces & one->trace))
			continue;
		snprintf(path, sizeof path, "%.*s/%s", (int)folder, library, one->file);
		if (access(path, R_OK) == 0)
			continue;
		run->control->traces &= ~one->trace;
		snprintf(text, sizeof text,
			 "%s is not beside libheadway-collect.so: its source is not "
			 "recorded",
			 one->file);
		journal_note(run->journal, 3, text);
	}
}

/* LD_PRELOAD has no way to write a space or a colon: a link in the run directory stands for such a path. */
static bool name_library(struct run *run, char *library, struct hwy_err *err)
{
	char path[PATH_MAX];
	const char *use = library;
	check_siblings(run, library);
	if (strpbrk(library, " :")) {
		const char *file = strrchr(library, '/') + 1;
		size_t folder = (size_t)(file - library) - 1;
		bool linked = true;
		for (const struct preload_sibling *one = preload_siblings; one->trace; one++)
			if (run->control->traces & one->trace)
				linked = linked &&
					 link_library(run, library, folder, one->file, path);
		if (!linked || !link_library(run, library, folder, file, path))
			return hwy_fail(err, "%s: LD_PRELOAD takes no path with a space or a colon",
					library);
		use = path;
	}
	if (strlen(use) >= sizeof run->control->library)
		return hwy_fail(err, "%s: the path is too long", library);
	strcpy(run->control->library, use);
	return true;
}

static void begin_journal(struct run *run, const struct run_settings *settings)
{
	size_t length = 0, n = 0;
	for (; settings->program[n]; n++)
		length += strlen(settings->program[n]) + 1;
	char *words = hwy_zalloc(length + 1), *to = words;
	for (n = 0; settings->program[n]; n++)
		to = stpcpy(to, settings->program[n]) + 1;
	journal_property(run->journal, "command", words, length - 1);
	free(words);
	const char *refusal = preload_refusal(settings->program[0]);
	if (refusal) {
		char text[PATH_MAX];
		snprintf(text, sizeof text, "nothing inside %s is recorded: %s",
			 settings->program[0], refusal);
		journal_note(run->journal, 2, text);
	}
	host_facts_record(run->journal);
	journal_clock(run->journal);
}

bool run_prepare(struct run *run, struct run_settings *settings, struct hwy_err *err)
{
	run->lock = -1;
	char *library = library_find(err);
	if (!library)
		return false;
	bool made = make_directory(run, settings->beside, err);
	if (made) {
		struct rec_control *control = run->control;
		*control = settings->control;
		control->magic = REC_MAGIC;
		control->version = REC_VERSION;
		control->recording = settings->delay == 0 && control->capture == REC_CAPTURE_NONE;
		control->started = run_now();
		run->begun = control->recording ? control->started : 0;
		made = name_library(run, library, err);
		if (made)
			begin_journal(run, settings);
	}
	free(library);
	if (!made && run->directory) {
		run_remove(run->directory);
		free(run->directory);
		run->directory = NULL;
	}
	return made;
}

/* ---- its end ----------------------------------------------------------------------------------- */

static bool directory_is_ours(const char *name)
{
	size_t n = strlen(name);
	return strcmp(name, "control") == 0 || strncmp(name, "libheadway-", 11) == 0 ||
	       (n > 6 && strcmp(name + n - 6, ".spool") == 0);
}

/* Processes that were not waited for may be about to add a spool: under another name they do not find it. */
bool run_remove(const char *directory)
{
	char aside[PATH_MAX];
	const char *at = directory;
	if (snprintf(aside, sizeof aside, "%s.gone", directory) < (int)sizeof aside &&
	    rename(directory, aside) == 0)
		at = aside;
	DIR *listing = opendir(at);
	for (const struct dirent *entry; listing && (entry = readdir(listing));)
		if (directory_is_ours(entry->d_name))
			unlinkat(dirfd(listing), entry->d_name, 0);
	if (listing)
		closedir(listing);
	if (rmdir(at) == 0)
		return true;
	if (at == aside)
		rename(aside, directory); /* it holds what is not ours: that stays where it was */
	return false;
}

bool run_is_over(const char *directory)
{
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/control", directory);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool held = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	if (fd >= 0)
		close(fd);
	return !held;
}

void run_free(struct run *run)
{
	steps_close(run->steps);
	journal_close(run->journal);
	if (run->control)
		munmap(run->control, sizeof *run->control);
	if (run->lock > 0)
		close(run->lock);
	free(run->directory);
	*run = (struct run){.lock = -1};
}
