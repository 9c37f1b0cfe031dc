/* SPDX-License-Identifier: Apache-2.0 */
/* profile_place.c - the folder of a job: made by whoever runs the launcher, or joined by its
 * ranks.
 *
 * Ranks that were started without a headway above them find one another by the job's identity,
 * which is in job.json: the first makes the folder, the others join. A folder of another job is
 * never joined. An identity that comes again (mpirun counts from a number that repeats) is told
 * by a rank that is there already.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/path.h"
#include "cli/profile.h"

/* ms: how long a rank waits for another rank to clear the folder. */
enum { PATIENCE_MS = 10000, LOOK_MS = 20 };

static void sleep_ms(int64_t ms)
{
	nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

int64_t profile_wall_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Yields the words of the command as one line; only the program where arguments are to be left
 * out. */
static char *command_line(struct profile *profile)
{
	struct hwy_arena *texts = &profile->job.texts;
	bool is_short = profile->privacy.no_args || profile->privacy.anonymous;
	char *line = hwy_arena_format(
		texts, "%s", is_short ? hwy_basename(profile->program[0]) : profile->program[0]);
	for (char **word = profile->program + 1; *word && !is_short; word++)
		line = hwy_arena_format(texts, "%s %s", line, *word);
	return line;
}

/* Tries to make the folder for this job. */
static bool make_folder(struct profile *profile, const char *path, bool *is_taken,
			struct hwy_err *err)
{
	struct profile_job *job = &profile->job;
	struct job_folder folder = job_folder_none();
	folder.path = path;
	folder.id = job->id;
	folder.launcher = job->launcher.name ? job->launcher.name : job->ranks.launcher;
	folder.command = command_line(profile);
	folder.host = job->note.host;
	folder.version = HEADWAY_VERSION;
	folder.started = profile_wall_ns();
	if (job->role == PROFILE_LAUNCHER)
		folder.pid = getpid();
	else if (job->role == PROFILE_RANK && job->ranks.world > 0)
		folder.world = job->ranks.world;
	return job_folder_make(&folder, is_taken, err);
}

/* Whether the folder is of this job, and nobody else has this rank in it. */
static bool may_join(const struct profile_job *job, const char *path)
{
	struct job_folder folder;
	struct hwy_err ignored;
	if (!job_folder_read(path, &folder, &ignored))
		return false;
	bool may = strcmp(folder.id, job->id) == 0 && !folder.is_over;
	for (uint32_t i = 0; i < folder.n_ranks && may; i++)
		may = job->note.rank == HWY_NONE || folder.ranks[i].rank != job->note.rank;
	job_folder_free(&folder);
	return may;
}

/* Replaces the job in a folder by this one. Of several ranks that want this one does it, and the
 * others wait. */
static bool replace_job(struct profile *profile, const char *path, struct hwy_err *err)
{
	struct profile_job *job = &profile->job;
	const char *lock = hwy_arena_format(&job->texts, "%s/" JOB_FILE ".%s", path, job->id);
	bool is_taken, done = false;
	if (mkdir(lock, 0700) == 0) {
		/* Another rank may have done it before, or may make the folder once it is
		 * cleared. */
		done = may_join(job, path) ||
		       (job_folder_clear(path, err) &&
			make_folder(profile, path, &is_taken, err)) ||
		       may_join(job, path);
		rmdir(lock);
		return done;
	}
	if (errno != EEXIST)
		return hwy_fail(err, "%s: %s", path, hwy_strerror(errno));
	for (int waited = 0; waited < PATIENCE_MS && !done; waited += LOOK_MS) {
		sleep_ms(LOOK_MS);
		done = may_join(job, path);
	}
	return done || hwy_fail(err, "%s: another rank was to make this folder, and has not", path);
}

/* The folder's name as -o gives it: what a report would be called, without the ending. */
static char *given_name(const struct profile *profile)
{
	char *name = profile_output_name(profile->output, getpid());
	name[strlen(name) - strlen(".hwy")] = '\0';
	size_t length = strlen(name);
	while (length > 1 && name[length - 1] == '/')
		name[--length] = '\0';
	return name;
}

/* The n-th name to try, where the user gave none: job1, job2 …, or job-ID, job-ID-2 … */
static char *tried_name(const struct profile_job *job, bool joins, int n)
{
	char *name;
	int length = !joins   ? asprintf(&name, "job%d", n)
		     : n == 1 ? asprintf(&name, "job-%s", job->id)
			      : asprintf(&name, "job-%s-%d", job->id, n);
	if (length < 0)
		cli_die("out of memory");
	return name;
}

static bool take_or_join(struct profile *profile, const char *path, bool joins, struct hwy_err *err)
{
	bool is_taken;
	if (make_folder(profile, path, &is_taken, err))
		return true;
	if (!is_taken)
		cli_die("%s", err->text);
	if (joins && may_join(&profile->job, path))
		return true;
	return profile->output && profile->force && replace_job(profile, path, err);
}

void profile_place(struct profile *profile)
{
	struct profile_job *job = &profile->job;
	struct hwy_err err = {0};
	bool joins = job->joins, done = false;
	char real[PATH_MAX], *name = NULL;
	for (int n = 1; !done; n++) {
		free(name);
		name = profile->output ? given_name(profile) : tried_name(job, joins, n);
		done = take_or_join(profile, name, joins, &err);
		if (!done && profile->output)
			cli_die("%s", err.text);
	}
	if (!realpath(name, real))
		cli_die("%s: %s", name, hwy_strerror(errno));
	free(name);
	job->folder = hwy_arena_text(&job->texts, real, strlen(real));
}
