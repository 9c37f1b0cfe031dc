/* SPDX-License-Identifier: Apache-2.0 */
/* directory.c - the run directory: where it can be, the control page in it, and its removal.
 *
 * Only the user can enter the directory (0700). It holds data only, so that it may be where nothing
 * can be executed.
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
#include <unistd.h>

#include "base/mem.h"
#include "run/host_facts.h"
#include "run/journal.h"
#include "run/run.h"
#include "run/space.h"
#include "run/step_counter.h"
#include "spool/control.h"
#include "spool/preload.h"

/* ---- making the directory -------------------------------------------------------------------- */

/* True where so many bytes can be written to a folder without touching what recordings leave
 * free. */
static bool has_room(const char *folder, uint64_t bytes, struct hwy_err *err)
{
	struct space_place place;
	if (!space_look(folder, &place))
		return hwy_fail(err, "%s: %s", folder, hwy_strerror(errno));
	return place.free >= place.keep_free + bytes ||
	       hwy_fail(err, "%s: less than %llu MiB is free, which a recording leaves alone",
			folder, (unsigned long long)((place.keep_free + bytes) >> 20));
}

/* Makes a file of the run directory and maps it at 'at'. Yields the descriptor; -1 when that
 * cannot be done, for the reason in errno. */
static int make_mapped(const char *directory, const char *file, size_t size, void *at)
{
	char path[PATH_MAX];
	if (snprintf(path, sizeof path, "%s/%s", directory, file) >= (int)sizeof path)
		return -1;
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	int failed = posix_fallocate(fd, 0, (off_t)size);
	if (!failed &&
	    mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED)
		return fd;
	failed = failed ? failed : errno;
	close(fd);
	errno = failed;
	return -1;
}

/* Makes the two files of struct rec_control and maps them as record.h says; the descriptor of
 * the settings stays open and locked. NULL when that cannot be done, for the reason in errno. */
static struct rec_control *make_control(const char *directory, int *fd)
{
	struct rec_control *control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*fd = -1;
	if (control == MAP_FAILED)
		return NULL;
	int state = make_mapped(directory, STATE_FILE, REC_STATE_BYTES, &control->recording);
	if (state >= 0) {
		close(state);
		*fd = make_mapped(directory, CONTROL_FILE, REC_CONTROL_BYTES, control);
	}
	if (*fd >= 0) {
		flock(*fd, LOCK_EX | LOCK_NB);
		return control;
	}
	int reason = errno;
	munmap(control, sizeof *control);
	errno = reason;
	return NULL;
}

/* Removes a run directory in which nothing was recorded. */
static void give_up_directory(struct run *run)
{
	run_remove(run->directory);
	free(run->directory);
	free(run->mark);
	run->directory = run->mark = NULL;
}

/* Makes an empty run directory; false with errno set. */
static bool make_empty_directory(struct run *run, const char *folder)
{
	char real[PATH_MAX], path[PATH_MAX];
	if (!realpath(folder, real) ||
	    snprintf(path, sizeof path, "%s/headway-XXXXXX", real) >= (int)sizeof path)
		return false;
	/* Memory is taken first: where there is none, no directory is left. */
	char *directory = hwy_copy(path, strlen(path) + 1), *mark = hwy_alloc(strlen(path) + 1);
	if (!mkdtemp(directory)) {
		int reason = errno;
		free(directory);
		free(mark);
		errno = reason;
		return false;
	}
	run->directory = directory;
	run->mark = strcpy(mark, directory);
	return true;
}

static bool make_run_directory_in(struct run *run, const char *folder, struct hwy_err *err)
{
	if (!make_empty_directory(run, folder))
		return hwy_fail(err, "%s: %s", folder, hwy_strerror(errno));
	run->control = make_control(run->directory, &run->lock);
	run->journal = run->control ? journal_open(run->directory) : NULL;
	int reason = errno;
	if (run->journal)
		return true;
	if (run->control) {
		munmap(run->control, sizeof *run->control);
		run->control = NULL;
		close(run->lock);
	}
	give_up_directory(run);
	return hwy_fail(err, "%s: %s", folder,
			reason == EFBIG ? "files of this size are not permitted (ulimit -f)"
					: hwy_strerror(reason));
}

static bool make_directory(struct run *run, const char *beside, struct hwy_err *err)
{
	const char *temporary = getenv("TMPDIR");
	const char *folders[] = {temporary && *temporary ? temporary : "/tmp", "/tmp",
				 beside ? beside : "."};
	enum { N = sizeof folders / sizeof *folders };
	for (int choosy = 1; choosy >= 0; choosy--)
		for (int i = 0; i < N; i++)
			if (has_room(folders[i], choosy ? RUN_ENOUGH_BYTES : RUN_LEAST_BYTES,
				     err) &&
			    make_run_directory_in(run, folders[i], err))
				return true;
	return false;
}

/* ---- what is in the directory ---------------------------------------------------------------- */

/* Makes a link in the run directory to a library of Headway; false when LD_PRELOAD could not name
 * the link either. */
static bool link_library(const struct run *run, const char *folder, size_t length, const char *file,
			 char path[PATH_MAX])
{
	char from[PATH_MAX];
	snprintf(path, PATH_MAX, "%s/%s", run->directory, file);
	return snprintf(from, sizeof from, "%.*s/%s", (int)length, folder, file) <
		       (int)sizeof from &&
	       !strpbrk(path, " :") && symlink(from, path) == 0;
}

/* Leaves out the sources whose library is not installed, and writes a note about each. */
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
		run->control->traces &= ~one->alone;
		snprintf(text, sizeof text,
			 "%s is not beside libheadway-collect.so: its source is not "
			 "recorded",
			 one->file);
		journal_note(run->journal, 3, text);
	}
}

/* Chooses the path under which targets load the collector. LD_PRELOAD cannot hold a space or a
 * colon: a link in the run directory stands for such a path. */
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
	if (settings->privacy)
		journal_property(run->journal, "capture.privacy", settings->privacy,
				 strlen(settings->privacy));
	for (const struct run_property *one = settings->properties; one && one->name; one++)
		journal_property(run->journal, one->name, one->value, strlen(one->value));
	const char *refusal = preload_refusal(settings->program[0]);
	if (refusal) {
		char text[PATH_MAX];
		snprintf(text, sizeof text, "nothing inside %s is recorded: %s",
			 settings->program[0], refusal);
		journal_note(run->journal, 2, text);
		run->control->unfit++;
	}
	host_facts_record(run->journal);
	journal_clock(run->journal);
}

/* Sets how much the recording may write, and begins to watch over it. */
static void watch_space(struct run *run)
{
	struct space_place place;
	struct rec_control *control = run->control;
	if (!space_look_at_file(run->lock, &place))
		return;
	control->keep_free = place.keep_free;
	if (!control->max_bytes)
		control->max_bytes = space_default_bound(&place, control->keep_s);
	if (place.in_memory) {
		char text[PATH_MAX + 128];
		snprintf(text, sizeof text,
			 "%s is in memory, which held up to %llu MiB of the recording while the "
			 "program ran; TMPDIR=/var/tmp puts it on a disk",
			 run->directory, (unsigned long long)(control->max_bytes >> 20));
		journal_note(run->journal, 1, text);
	}
	run->space = space_open(run->directory, run->lock, control, run->journal);
}

/* Where programs may load a CUDA driver: on Linux, on Linux under Windows, and on Tegra. */
static bool has_cuda_driver(void)
{
	static const char *const signs[] = {"/dev/nvidiactl", "/proc/driver/nvidia", "/dev/dxg",
					    "/dev/nvhost-ctrl", "/dev/nvmap"};
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (access(signs[i], F_OK) == 0)
			return true;
	return false;
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
		control->version = REC_CONTROL_VERSION;
		control->recording = settings->delay == 0 && control->capture == REC_CAPTURE_NONE;
		control->started = run_now();
		control->seccomp_filters = control_seccomp_filters();
		control->time_namespace = control_time_namespace();
		control->has_driver = has_cuda_driver();
		run->begun = control->recording ? control->started : 0;
		made = name_library(run, library, err);
		if (made) {
			begin_journal(run, settings);
			watch_space(run);
		}
	}
	free(library);
	if (!made && run->directory)
		give_up_directory(run);
	return made;
}

/* ---- the end --------------------------------------------------------------------------------- */

static bool directory_has_made(const char *name)
{
	size_t n = strlen(name);
	return strcmp(name, CONTROL_FILE) == 0 || strcmp(name, STATE_FILE) == 0 ||
	       strncmp(name, "libheadway-", 11) == 0 || strncmp(name, "kernels.", 8) == 0 ||
	       (n > 6 && strcmp(name + n - 6, ".spool") == 0);
}

/* Renames the directory before its files are removed: a process that was not waited for may be
 * about to add a spool, and does not find the directory under another name. */
bool run_remove(const char *directory)
{
	char aside[PATH_MAX];
	const char *present = directory;
	if (snprintf(aside, sizeof aside, "%s.gone", directory) < (int)sizeof aside &&
	    rename(directory, aside) == 0)
		present = aside;
	/* Not through a link, nor in a folder of somebody else, who could put one in its place. */
	int folder = open(present, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat about;
	DIR *listing = NULL;
	if (folder >= 0 && fstat(folder, &about) == 0 && about.st_uid == geteuid())
		listing = fdopendir(folder);
	if (folder >= 0 && !listing)
		close(folder);
	for (const struct dirent *entry; listing && (entry = readdir(listing));)
		if (directory_has_made(entry->d_name))
			unlinkat(dirfd(listing), entry->d_name, 0);
	if (listing)
		closedir(listing);
	if (listing && rmdir(present) == 0)
		return true;
	/* The directory holds files of somebody else, which stay there. */
	if (present == aside)
		rename(aside, directory);
	return false;
}

bool run_is_ours(const char *directory, struct hwy_err *err)
{
	struct stat about;
	if (stat(directory, &about) != 0 || about.st_uid == geteuid())
		return true; /* a directory that is not there is told of by whoever reads it */
	return hwy_fail(err, "%s: belongs to user %u; only that user can recover it", directory,
			(unsigned)about.st_uid);
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
	step_counter_close(run->step_counter);
	space_close(run->space);
	journal_close(run->journal);
	if (run->control)
		munmap(run->control, sizeof *run->control);
	if (run->lock > 0)
		close(run->lock);
	free(run->directory);
	free(run->mark);
	*run = (struct run){.lock = -1};
}
