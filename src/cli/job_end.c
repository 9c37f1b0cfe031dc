/* SPDX-License-Identifier: Apache-2.0 */
/* job_end.c - the end of a job: what its ranks left is gathered, completed and named.
 *
 * A launcher that gives up ends its ranks together with their headways: SIGTERM, and SIGKILL
 * soon after. What such a rank recorded is in its run directory. Where that is on this host the
 * report is made here; for other hosts the command is named that makes it there.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/lang.h"
#include "base/path.h"
#include "base/say.h"
#include "base/shell_word.h"
#include "cli/digest_print.h"
#include "cli/profile.h"
#include "digest/digest_file.h"
#include "job/agreement.h"

/* ms: how long the headway of a rank is waited for whose launcher has ended: it may be about to
 * write its report. */
enum { END_PATIENCE_MS = 20000, END_LOOK_MS = 50, MOST_NAMED = 8 };

static bool is_here(const struct job_note *note)
{
	char host[HOST_NAME_MAX + 1] = "";
	gethostname(host, sizeof host - 1);
	return strcmp(note->host, host) == 0;
}

/* ---- recovering ------------------------------------------------------------------------------ */

static void recover_rank(const char *folder, const struct job_note *note)
{
	struct hwy_err err = {0};
	struct cli_privacy as_recorded = {0};
	struct profile_job job = {.role = PROFILE_RANK, .folder = (char *)folder, .note = *note};
	char *path;
	job.note.state = JOB_RECOVERED;
	job.note.ended = profile_wall_ns();
	job.note.why =
		hwy_tr("killed together with headway; the report has what was recorded until then");
	job.note.report = job_note_report(&job.texts, &job.note);
	if (asprintf(&path, "%s/%s", folder, job.note.report) < 0)
		cli_die("out of memory");
	struct profile_making how = {.path = path,
				     .force = true,
				     .quiet = true,
				     .calibration = PROFILE_CACHED_CALIBRATION,
				     .privacy = &as_recorded,
				     .job = &job};
	bool done = run_is_ours(note->directory, &err) && recover_run(note->directory, &how);
	if (done && !run_remove(note->directory))
		cli_say("%s: is not needed any more, but cannot be removed", note->directory);
	if (!done) {
		job.note.state = JOB_LOST;
		job.note.report = "";
		job.note.why = *err.text ? err.text : HWY_KEY("its report could not be made");
		job_folder_put_note(folder, &job.note, &err);
	}
	free(path);
	hwy_arena_free(&job.texts);
}

/* Waits until nobody records into the directory any more, or patience ends. *left_ms: how long
 * that is, for all ranks together. */
static bool await_rank_end(const char *directory, int *left_ms)
{
	for (; !run_is_over(directory); *left_ms -= END_LOOK_MS) {
		if (*left_ms <= 0)
			return false;
		nanosleep(&(struct timespec){.tv_nsec = END_LOOK_MS * 1000000}, NULL);
	}
	return true;
}

/* Makes the reports of ranks whose headway was killed, as far as they ran on this host; notes in
 * the folder what has become of each. Ranks that are just ending are waited for. */
static void recover_ranks(const char *folder, int patience_ms)
{
	int left_ms = patience_ms;
	struct job_folder before, now;
	struct hwy_err err;
	if (!job_folder_read(folder, &before, &err)) {
		cli_say("%s", err.text);
		return;
	}
	for (uint32_t i = 0; i < before.n_ranks; i++) {
		const struct job_note *note = &before.ranks[i];
		bool waits = note->state == JOB_RUNNING || note->state == JOB_LOST;
		if (!waits || !*note->directory || !is_here(note) ||
		    !await_rank_end(note->directory, &left_ms))
			continue;
		/* It may have told of its end meanwhile. */
		if (!job_folder_read(folder, &now, &err))
			continue;
		bool same = false;
		for (uint32_t k = 0; k < now.n_ranks; k++)
			same = same || (now.ranks[k].state == note->state &&
					strcmp(now.ranks[k].directory, note->directory) == 0);
		if (same && access(note->directory, F_OK) == 0)
			recover_rank(folder, note);
		job_folder_free(&now);
	}
	job_folder_free(&before);
}

/* Forgets the run directories of ranks that have their reports. Where the ranks have ended for
 * good, what a rank that was killed while it removed its directory has left is removed too. */
static void forget_directories(struct job_folder *job, bool have_ended)
{
	char gone[PATH_MAX];
	for (uint32_t i = 0; i < job->n_ranks; i++) {
		struct job_note *note = &job->ranks[i];
		if (note->state == JOB_RUNNING || note->state == JOB_LOST || !*note->directory)
			continue;
		bool may = have_ended && is_here(note) && run_is_over(note->directory);
		if (may && access(note->directory, F_OK) == 0)
			run_remove(note->directory);
		if (may &&
		    snprintf(gone, sizeof gone, "%s.gone", note->directory) < (int)sizeof gone &&
		    access(gone, F_OK) == 0)
			run_remove(gone);
		note->directory = "";
	}
}

/* ---- the summary ----------------------------------------------------------------------------- */

static int64_t world_of(const struct job_folder *job)
{
	int64_t world = job->world;
	for (uint32_t i = 0; i < job->n_ranks; i++)
		if (job->ranks[i].world > world)
			world = job->ranks[i].world;
	return world;
}

/* Whether all ranks have ended, and nobody has noted that the job is over. */
static bool all_have_ended(const char *folder)
{
	struct job_folder job;
	struct hwy_err ignored;
	if (!job_folder_read(folder, &job, &ignored))
		return false;
	int64_t ended = 0;
	for (uint32_t i = 0; i < job.n_ranks; i++)
		ended += job.ranks[i].rank != HWY_NONE && job.ranks[i].state != JOB_RUNNING;
	bool is_reached = !job.is_over && ended > 0 && ended >= world_of(&job);
	job_folder_free(&job);
	return is_reached;
}

bool job_end_is_reached(const char *folder)
{
	if (!all_have_ended(folder) || !job_take_end(folder))
		return false;
	/* Another rank may have ended the job, and given the end back, after this one has
	 * looked. */
	if (all_have_ended(folder))
		return true;
	job_agreement_forget(folder);
	return false;
}

/* Whether somebody on this host still records the rank. */
static bool is_being_recorded(const struct job_note *note)
{
	return note->state == JOB_RUNNING && *note->directory && is_here(note) &&
	       !run_is_over(note->directory);
}

/* Yields what a person must know about a rank, as the end of a sentence that begins with the
 * rank; "" where there is nothing to say. Ranks with the same sentence are named together. */
static const char *sentence_of(struct hwy_arena *arena, const char *folder,
			       const struct job_note *note)
{
	bool waits = note->state == JOB_LOST || note->state == JOB_RUNNING;
	int status = note->status == HWY_NONE ? 0 : (int)note->status;
	if (note->state == JOB_ELSEWHERE)
		return hwy_arena_say(arena, "its report is %s there", note->report);
	if (note->state == JOB_RECOVERED)
		return hwy_tr(note->why);
	if (is_being_recorded(note))
		return hwy_arena_say(arena,
				     "still being recorded; when it has ended: headway recover %s",
				     hwy_shell_word(folder).text);
	if (waits && *note->directory)
		return hwy_arena_say(arena, "no report yet; there: headway recover -f -o %s %s",
				     hwy_shell_word(hwy_arena_format(arena, "%s/%s", folder,
								     job_note_report(arena, note)))
					     .text,
				     hwy_shell_word(note->directory).text);
	if (waits)
		return hwy_arena_say(arena, "not recorded: %s", hwy_tr(note->why));
	if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
		return hwy_arena_say(arena, "exit status %d", WEXITSTATUS(status));
	if (!WIFSIGNALED(status))
		return "";
	const char *name = sigabbrev_np(WTERMSIG(status));
	return hwy_arena_say(arena, "died of %s%s", name ? "SIG" : hwy_tr("signal "),
			     name ? name : hwy_arena_format(arena, "%d", WTERMSIG(status)));
}

/* A list of ranks as people write it: "0, 2-5, 9"; of many only the first ones. */
struct rank_words {
	char text[256];
	uint32_t parts;
	int64_t first, last; /* of the part that is open; HWY_NONE: none is */
};

static void close_part(struct rank_words *words)
{
	size_t used = strlen(words->text), room = sizeof words->text - used;
	const char *comma = hwy_tr(words->parts ? ", " : "");
	if (words->first == HWY_NONE)
		return;
	if (words->parts == MOST_NAMED)
		snprintf(words->text + used, room, " …");
	else if (words->parts < MOST_NAMED && words->last > words->first)
		snprintf(words->text + used, room, "%s%lld-%lld", comma, (long long)words->first,
			 (long long)words->last);
	else if (words->parts < MOST_NAMED)
		snprintf(words->text + used, room, "%s%lld", comma, (long long)words->first);
	words->parts++;
	words->first = HWY_NONE;
}

static void add_to_words(struct rank_words *words, int64_t rank)
{
	if (words->first != HWY_NONE && rank == words->last + 1) {
		words->last = rank;
		return;
	}
	close_part(words);
	words->first = words->last = rank;
}

/* Says one sentence about ranks[i] and all later ranks of which the same is to be said. */
static void say_together(const struct job_folder *job, const char *const *sentences, uint32_t i)
{
	struct rank_words words = {.first = HWY_NONE};
	uint32_t n = 0;
	const char *host = job->ranks[i].host;
	bool one_host = true;
	for (uint32_t k = i; k < job->n_ranks; k++)
		if (strcmp(sentences[k], sentences[i]) == 0) {
			if (job->ranks[k].rank != HWY_NONE)
				add_to_words(&words, job->ranks[k].rank);
			one_host = one_host && strcmp(job->ranks[k].host, host) == 0;
			n++;
		}
	close_part(&words);
	if (!*words.text)
		snprintf(words.text, sizeof words.text, "without a number");
	cli_say("rank%s %s%s%s: %s", n == 1 ? "" : "s", words.text, hwy_tr(one_host ? " on " : ""),
		one_host ? host : "", sentences[i]);
}

static void say_notes(const struct job_folder *job)
{
	struct hwy_arena arena = {0};
	const char **sentences = hwy_array(job->n_ranks, sizeof *sentences);
	uint32_t said = 0;
	for (uint32_t i = 0; i < job->n_ranks; i++)
		sentences[i] = sentence_of(&arena, job->path, &job->ranks[i]);
	for (uint32_t i = 0; i < job->n_ranks && said < MOST_NAMED; i++) {
		bool again = !*sentences[i];
		for (uint32_t k = 0; k < i && !again; k++)
			again = strcmp(sentences[k], sentences[i]) == 0;
		if (again)
			continue;
		say_together(job, sentences, i);
		said++;
	}
	free(sentences);
	hwy_arena_free(&arena);
}

/* Names the ranks that have left nothing at all. */
static void say_missing(const struct job_folder *job)
{
	struct rank_words words = {.first = HWY_NONE};
	for (int64_t rank = 0, i = 0; rank < world_of(job); rank++) {
		while (i < job->n_ranks && job->ranks[i].rank != HWY_NONE &&
		       job->ranks[i].rank < rank)
			i++;
		if (i >= job->n_ranks || job->ranks[i].rank != rank)
			add_to_words(&words, rank);
	}
	close_part(&words);
	if (*words.text)
		cli_say("nothing is here of rank %s", words.text);
}

static uint32_t count_hosts(const struct job_folder *job)
{
	uint32_t hosts = 0;
	for (uint32_t i = 0; i < job->n_ranks; i++) {
		bool again = false;
		for (uint32_t k = 0; k < i && !again; k++)
			again = strcmp(job->ranks[k].host, job->ranks[i].host) == 0;
		hosts += !again;
	}
	return hosts;
}

/* Prints the line about the job. */
static void say_job(const struct job_folder *job)
{
	uint64_t bytes = 0;
	uint32_t reports = 0;
	char here[PATH_MAX], file[PATH_MAX];
	for (uint32_t i = 0; i < job->n_ranks; i++) {
		const struct job_note *note = &job->ranks[i];
		struct stat about;
		bool is_there = *note->report && note->report[0] != '/' &&
				snprintf(file, sizeof file, "%s/%s", job->path, note->report) <
					(int)sizeof file &&
				stat(file, &about) == 0;
		reports += is_there;
		bytes += is_there ? (uint64_t)about.st_size : 0;
	}
	say_notes(job);
	say_missing(job);
	/* The folder as the user may type it. */
	const char *name = job->path;
	size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;
	if (length && strncmp(name, here, length) == 0 && name[length] == '/')
		name += length + 1;
	uint32_t hosts = count_hosts(job);
	cli_say("%s  %u rank%s on %u host%s, %u report%s, %s  %s  next: headway %s %s", name,
		job->n_ranks, job->n_ranks == 1 ? "" : "s", hosts, hosts == 1 ? "" : "s", reports,
		reports == 1 ? "" : "s", hwy_say_bytes3(bytes).text, cli_utf8() ? "\u00b7" : "-",
		reports ? "analyze" : "recover", hwy_shell_word(name).text);
}

/* Makes the digests of ranks of this host that have a report and were ended before their digest
 * was made. */
static void make_digests(const struct job_folder *job)
{
	struct profile_job late = {.role = PROFILE_RANK};
	char file[PATH_MAX];
	for (uint32_t i = 0; i < job->n_ranks; i++) {
		const struct job_note *note = &job->ranks[i];
		if (!*note->report || strchr(note->report, '/') || !is_here(note) ||
		    snprintf(file, sizeof file, "%s/%s", job->path, note->report) >=
			    (int)sizeof file)
			continue;
		char *digest = digest_path_of(file);
		if (access(digest, F_OK) != 0)
			profile_digest_later(&late, file);
		free(digest);
	}
	profile_digest(&late);
	hwy_arena_free(&late.texts);
}

/* Prints what holds the job back, in a process of its own: reading the reports takes memory, and
 * whatever happens to it must not change how headway ends. Of many ranks the digests are read. */
static void print_answer(const char *folder, uint32_t ranks)
{
	bool has_many = ranks > DIGEST_WHOLE_RANKS;
	if (has_many && digest_set_count(folder) == 0)
		return;
	pid_t parent = getpid();
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent && has_many)
			digest_print_short(stderr, folder);
		else if (getppid() == parent)
			job_print_short(stderr, folder);
		fflush(stderr);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Notes that the job is over, unless a rank of it is still being recorded, whose note is needed. */
static void note_job_over(struct job_folder *job, int64_t status)
{
	struct hwy_err err;
	for (uint32_t i = 0; i < job->n_ranks; i++)
		if (is_being_recorded(&job->ranks[i]))
			return;
	if (status != HWY_NONE)
		job->status = status;
	job->ended = profile_wall_ns();
	job->world = world_of(job);
	job->is_over = true;
	forget_directories(job, status != HWY_NONE);
	make_digests(job);
	if (!job_folder_fold(job, &err))
		cli_say("%s", err.text);
}

static void complete_job(const char *folder, int64_t status, bool quiet, int patience_ms)
{
	struct job_folder job;
	struct hwy_err err;
	char words[sizeof(struct hwy_shell_word) + 64];
	snprintf(words, sizeof words, hwy_tr("what is left of the job: headway recover %s"),
		 hwy_shell_word(folder).text);
	cli_last_words(words);
	recover_ranks(folder, patience_ms);
	cli_last_words(NULL);
	if (!job_folder_read(folder, &job, &err)) {
		cli_say("%s", err.text);
		return;
	}
	if (job.n_ranks == 0) {
		cli_say("%s started no rank: nothing is recorded",
			*job.launcher ? job.launcher : hwy_tr("the launcher"));
		job_folder_free(&job);
		if (job_folder_clear(folder, &err))
			rmdir(folder);
		return;
	}
	note_job_over(&job, status);
	if (!quiet) {
		print_answer(folder, job.n_ranks);
		say_job(&job);
	}
	job_folder_free(&job);
}

void job_end(const char *folder, int64_t status, bool quiet)
{
	complete_job(folder, status, quiet, END_PATIENCE_MS);
}

void job_recover(const char *folder)
{
	complete_job(folder, HWY_NONE, false, 0);
}
