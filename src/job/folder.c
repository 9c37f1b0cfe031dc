/* SPDX-License-Identifier: Apache-2.0 */
/* folder.c - see folder.h.
 *
 * Ranks on many hosts write to one folder of a shared file system. Nothing here relies on locks:
 * a name is taken by link(), which succeeds for one, and a file is replaced by rename(). Who
 * reads looks at the notes first and at job.json then: a note that is gone by then is in
 * job.json.
 */
#include "job/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json_fields.h"
#include "base/lang.h"
#include "job/agreement.h"

#define FORMAT "headway job"
enum { FORMAT_VERSION = 1, MOST_FILE = 1 << 28 };

const char *const job_state_names[JOB_STATES] = {HWY_KEY("running"), HWY_KEY("recorded"),
						 HWY_KEY("recovered"), HWY_KEY("lost"),
						 HWY_KEY("elsewhere")};

static const struct json_field rank_fields[] = {
	{JSON_FIELD_OPTIONAL_INT(struct job_note, rank, "rank")},
	{JSON_FIELD_OPTIONAL_INT(struct job_note, local_rank, "local_rank")},
	{JSON_FIELD_OPTIONAL_INT(struct job_note, world, "world")},
	{JSON_FIELD_TEXT(struct job_note, host, "host")},
	{JSON_FIELD_OPTIONAL_INT(struct job_note, pid, "pid")},
	{JSON_FIELD_ENUM(struct job_note, state, "state", job_state_names, JOB_STATES)},
	{JSON_FIELD_TEXT(struct job_note, report, "report")},
	{JSON_FIELD_TEXT(struct job_note, directory, "directory")},
	{JSON_FIELD_TEXT(struct job_note, gpus, "gpus")},
	{JSON_FIELD_TEXT(struct job_note, why, "why")},
	{JSON_FIELD_OPTIONAL_INT(struct job_note, status, "status")},
	{JSON_FIELD_OPTIONAL_INT(struct job_note, started, "started_ns")},
	{JSON_FIELD_OPTIONAL_INT(struct job_note, ended, "ended_ns")},
	{JSON_FIELD_TEXT(struct job_note, version, "headway")},
};

static const struct json_field job_fields[] = {
	{JSON_FIELD_TEXT(struct job_folder, id, "id")},
	{JSON_FIELD_TEXT(struct job_folder, launcher, "launcher")},
	{JSON_FIELD_TEXT(struct job_folder, command, "command")},
	{JSON_FIELD_TEXT(struct job_folder, host, "host")},
	{JSON_FIELD_OPTIONAL_INT(struct job_folder, pid, "pid")},
	{JSON_FIELD_OPTIONAL_INT(struct job_folder, world, "world")},
	{JSON_FIELD_OPTIONAL_INT(struct job_folder, started, "started_ns")},
	{JSON_FIELD_OPTIONAL_INT(struct job_folder, ended, "ended_ns")},
	{JSON_FIELD_OPTIONAL_INT(struct job_folder, status, "status")},
	{JSON_FIELD_BOOL(struct job_folder, is_over, "over")},
	{JSON_FIELD_TEXT(struct job_folder, version, "headway")},
	{JSON_FIELD_ARRAY(struct job_folder, ranks, n_ranks, "ranks", rank_fields),
	 .on_one_line = true},
};

struct job_note job_note_none(void)
{
	return (struct job_note){HWY_NONE, HWY_NONE, HWY_NONE, HWY_NONE, "",         "", "", "", "",
				 "",       HWY_NONE, HWY_NONE, HWY_NONE, JOB_RUNNING};
}

struct job_folder job_folder_none(void)
{
	return (struct job_folder){.path = "",
				   .id = "",
				   .launcher = "",
				   .command = "",
				   .host = "",
				   .version = "",
				   .pid = HWY_NONE,
				   .started = HWY_NONE,
				   .ended = HWY_NONE,
				   .status = HWY_NONE,
				   .world = HWY_NONE};
}

void job_folder_free(struct job_folder *folder)
{
	struct hwy_arena texts = folder->texts;
	*folder = job_folder_none();
	hwy_arena_free(&texts);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Writes the path of a file in a folder; false where it is too long. */
static bool folder_file(char path[PATH_MAX], const char *folder, const char *name)
{
	return snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX;
}

/* The name that a rank's files have in common, "rank3" or "HOST-PID". */
static char *note_stem(struct hwy_arena *arena, const struct job_note *note)
{
	if (note->rank != HWY_NONE)
		return hwy_arena_format(arena, "rank%lld", (long long)note->rank);
	char *stem = hwy_arena_format(arena, "%s-%lld", *note->host ? note->host : "host",
				      (long long)note->pid);
	for (char *c = stem; *c; c++)
		*c = *c == '/' ? '_' : *c;
	return stem;
}

char *job_note_report(struct hwy_arena *arena, const struct job_note *note)
{
	return hwy_arena_format(arena, "%s.hwy", note_stem(arena, note));
}

static bool is_note(const char *name)
{
	size_t length = strlen(name);
	return name[0] == '.' && length > 5 && strcmp(name + length - 4, ".run") == 0;
}

/* rank3.hwy, and its digest, rank3.hwd */
static bool is_report(const char *name)
{
	if (strncmp(name, "rank", 4) != 0)
		return false;
	size_t digits = strspn(name + 4, "0123456789");
	const char *ending = name + 4 + digits;
	return digits > 0 && (strcmp(ending, ".hwy") == 0 || strcmp(ending, ".hwd") == 0);
}

/* The rank whose file a killed headway has left half-written, .rank3.hwy.tmp.77 or
 * .rank3.run.HOST.77.tmp; HWY_NONE: the file is something else. */
static int64_t rank_of_leftover(const char *name)
{
	if (strncmp(name, ".rank", 5) != 0 || !strstr(name, ".tmp"))
		return HWY_NONE;
	char *end;
	long number = strtol(name + 5, &end, 10);
	return end > name + 5 && *end == '.' && number >= 0 ? number : HWY_NONE;
}

static bool is_leftover(const char *name)
{
	return rank_of_leftover(name) != HWY_NONE;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Reads a JSON file of the folder into the arena; NULL with the reason in err. */
static const struct json_value *read_json(struct hwy_arena *arena, const char *path,
					  struct hwy_err *err)
{
	const struct json_value *root = NULL;
	struct stat about;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe must not hold us up */
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file || fstat(fd, &about) != 0) {
		hwy_fail(err, "%s: %s", path, hwy_strerror(errno));
		if (fd >= 0 && !file)
			close(fd);
	} else if (!S_ISREG(about.st_mode) || about.st_size > MOST_FILE) {
		hwy_fail(err, "%s: is not a file of a job", path);
	} else {
		char *text = hwy_alloc((size_t)about.st_size + 1);
		size_t length = fread(text, 1, (size_t)about.st_size, file);
		struct hwy_err inside;
		root = json_read(arena, text, length, &inside);
		if (!root)
			hwy_fail(err, "%s: %s", path, inside.text);
		free(text);
	}
	if (file)
		fclose(file);
	return root;
}

static bool same_rank(const struct job_note *a, const struct job_note *b)
{
	return a->rank == b->rank &&
	       (a->rank != HWY_NONE || (a->pid == b->pid && strcmp(a->host, b->host) == 0));
}

/* What is known about ranks, being gathered. A rank may be in it several times: what came first
 * is newer, because notes are read before job.json. */
struct gathered_note {
	struct job_note note;
	uint32_t order;
};
struct note_list {
	struct gathered_note *notes;
	uint32_t n, cap;
};

static void gather_note(struct note_list *list, const struct job_note *note)
{
	HWY_GROW(list->notes, list->n, list->cap);
	list->notes[list->n] = (struct gathered_note){*note, list->n};
	list->n++;
}

/* By rank, ranks without a number last, by host and pid; the newest first. */
static int compare_gathered(const void *left, const void *right)
{
	const struct gathered_note *a = left, *b = right;
	bool a_unknown = a->note.rank == HWY_NONE, b_unknown = b->note.rank == HWY_NONE;
	if (a_unknown != b_unknown)
		return a_unknown ? 1 : -1;
	if (!same_rank(&a->note, &b->note)) {
		if (a->note.rank != b->note.rank)
			return a->note.rank < b->note.rank ? -1 : 1;
		int by_host = strcmp(a->note.host, b->note.host);
		return by_host ? by_host : a->note.pid < b->note.pid ? -1 : 1;
	}
	return (a->order > b->order) - (a->order < b->order);
}

/* Gives the folder the newest note of each rank, in order. */
static void take_newest(struct job_folder *folder, struct note_list *list)
{
	if (list->n)
		qsort(list->notes, list->n, sizeof *list->notes, compare_gathered);
	folder->ranks = hwy_arena_array(&folder->texts, list->n, sizeof *folder->ranks);
	folder->n_ranks = 0;
	for (uint32_t i = 0; i < list->n; i++)
		if (i == 0 || !same_rank(&list->notes[i].note, &list->notes[i - 1].note))
			folder->ranks[folder->n_ranks++] = list->notes[i].note;
}

static void read_notes(const char *path, struct hwy_arena *arena, struct note_list *list)
{
	char file[PATH_MAX];
	struct hwy_err ignored;
	DIR *listing = opendir(path);
	for (const struct dirent *entry; listing && (entry = readdir(listing));) {
		struct job_note note = job_note_none();
		if (!is_note(entry->d_name) || !folder_file(file, path, entry->d_name))
			continue;
		const struct json_value *root = read_json(arena, file, &ignored);
		if (root && json_get_fields(root, JSON_FIELDS(rank_fields), &note, arena))
			gather_note(list, &note);
	}
	if (listing)
		closedir(listing);
}

bool job_folder_read(const char *path, struct job_folder *folder, struct hwy_err *err)
{
	char file[PATH_MAX];
	struct note_list list = {0};
	*folder = job_folder_none();
	if (!folder_file(file, path, JOB_FILE))
		return hwy_fail(err, "%s: the path is too long", path);
	read_notes(path, &folder->texts, &list);
	const struct json_value *root = read_json(&folder->texts, file, err);
	bool is_ours = root && strcmp(json_get_text(root, "format"), FORMAT) == 0;
	if (root && !is_ours)
		hwy_fail(err, "%s: is not the file of a job", file);
	if (is_ours) {
		json_get_fields(root, JSON_FIELDS(job_fields), folder, &folder->texts);
		for (uint32_t i = 0; i < folder->n_ranks; i++)
			gather_note(&list, &folder->ranks[i]);
		take_newest(folder, &list);
		folder->path = hwy_arena_text(&folder->texts, path, strlen(path));
	} else {
		job_folder_free(folder);
	}
	free(list.notes);
	return is_ours;
}

bool job_folder_is(const char *path)
{
	struct hwy_arena arena = {0};
	struct hwy_err ignored;
	char file[PATH_MAX];
	const struct json_value *root =
		folder_file(file, path, JOB_FILE) ? read_json(&arena, file, &ignored) : NULL;
	bool is_ours = root && strcmp(json_get_text(root, "format"), FORMAT) == 0;
	hwy_arena_free(&arena);
	return is_ours;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Writes an object to a new file beside 'path', whose name goes to 'temporary'. */
static bool write_beside(const char *path, char temporary[PATH_MAX], const char *format,
			 const struct json_field *fields, size_t n_fields, const void *object,
			 struct hwy_err *err)
{
	char host[HOST_NAME_MAX + 1] = "";
	gethostname(host, sizeof host - 1);
	/* The pid alone would not tell ranks on two hosts apart. */
	if (snprintf(temporary, PATH_MAX, "%s.%s.%d.tmp", path, host, (int)getpid()) >= PATH_MAX)
		return hwy_fail(err, "%s: the path is too long", path);
	int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out) {
		hwy_fail(err, "%s: %s", path, hwy_strerror(errno));
		if (fd >= 0)
			close(fd);
		return false;
	}
	struct hwy_json json = {.out = out, .pretty = true};
	json_begin_object(&json);
	if (format) {
		json_put_text(&json, "format", format);
		json_put_int(&json, "version", FORMAT_VERSION);
	}
	json_put_fields(&json, fields, n_fields, object);
	json_end_object(&json);
	fputc('\n', out);
	bool failed = ferror(out) != 0;
	failed = fclose(out) != 0 || failed;
	if (!failed)
		return true;
	hwy_fail(err, "%s: %s", path, hwy_strerror(errno));
	unlink(temporary);
	return false;
}

static bool replace_file(const char *path, const char *temporary, struct hwy_err *err)
{
	if (rename(temporary, path) == 0)
		return true;
	hwy_fail(err, "%s: %s", path, hwy_strerror(errno));
	unlink(temporary);
	return false;
}

/* Gives a file the name 'path' if nobody has it; *is_taken: somebody has. */
static bool take_name(const char *path, const char *temporary, bool *is_taken, struct hwy_err *err)
{
	bool done = link(temporary, path) == 0;
	*is_taken = !done && errno == EEXIST;
	if (!done &&
	    !*is_taken) { /* a file system without links; then a moment is left to chance */
		*is_taken = access(path, F_OK) == 0;
		done = !*is_taken && rename(temporary, path) == 0;
	}
	if (!done)
		hwy_fail(err, "%s: %s", path, hwy_strerror(*is_taken ? EEXIST : errno));
	unlink(temporary);
	return done;
}

/* Writes the path of a rank's note; false where it is too long. */
static bool note_file(char file[PATH_MAX], const char *path, const struct job_note *note)
{
	struct hwy_arena arena = {0};
	bool fits = folder_file(file, path,
				hwy_arena_format(&arena, ".%s.run", note_stem(&arena, note)));
	hwy_arena_free(&arena);
	return fits;
}

void job_folder_drop_note(const char *path, const struct job_note *note)
{
	char file[PATH_MAX];
	if (note_file(file, path, note))
		unlink(file);
}

bool job_folder_put_note(const char *path, const struct job_note *note, struct hwy_err *err)
{
	char file[PATH_MAX], temporary[PATH_MAX];
	if (!note_file(file, path, note))
		return hwy_fail(err, "%s: the path is too long", path);
	return write_beside(file, temporary, NULL, JSON_FIELDS(rank_fields), note, err) &&
	       replace_file(file, temporary, err);
}

static bool is_empty(const char *path)
{
	DIR *listing = opendir(path);
	bool empty = listing != NULL;
	for (const struct dirent *entry; empty && (entry = readdir(listing));)
		/* What others who want the same name write is not yet anybody's. */
		empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
			strncmp(entry->d_name, JOB_FILE ".", sizeof JOB_FILE) == 0;
	if (listing)
		closedir(listing);
	return empty;
}

bool job_folder_make(const struct job_folder *job, bool *is_taken, struct hwy_err *err)
{
	char file[PATH_MAX], temporary[PATH_MAX];
	*is_taken = false;
	if (!folder_file(file, job->path, JOB_FILE))
		return hwy_fail(err, "%s: the path is too long", job->path);
	if (mkdir(job->path, 0777) != 0) {
		if (errno != EEXIST)
			return hwy_fail(err, "%s: %s", job->path, hwy_strerror(errno));
		*is_taken = !is_empty(job->path);
		if (*is_taken)
			return hwy_fail(err, "%s: exists and is kept; -f overwrites the job in it",
					job->path);
	}
	return write_beside(file, temporary, FORMAT, JSON_FIELDS(job_fields), job, err) &&
	       take_name(file, temporary, is_taken, err);
}

static void remove_files(const char *path, bool (*which)(const char *))
{
	DIR *listing = opendir(path);
	for (const struct dirent *entry; listing && (entry = readdir(listing));)
		if (which(entry->d_name))
			unlinkat(dirfd(listing), entry->d_name, 0);
	if (listing)
		closedir(listing);
}

/* Removes half-written files of ranks that have ended; another may be writing its own still. */
static void remove_leftovers(const struct job_folder *folder)
{
	DIR *listing = opendir(folder->path);
	for (const struct dirent *entry; listing && (entry = readdir(listing));) {
		int64_t rank = rank_of_leftover(entry->d_name);
		bool runs = rank == HWY_NONE;
		for (uint32_t i = 0; i < folder->n_ranks && !runs; i++)
			runs = folder->ranks[i].rank == rank &&
			       folder->ranks[i].state == JOB_RUNNING;
		if (!runs)
			unlinkat(dirfd(listing), entry->d_name, 0);
	}
	if (listing)
		closedir(listing);
}

bool job_folder_fold(const struct job_folder *folder, struct hwy_err *err)
{
	char file[PATH_MAX], temporary[PATH_MAX];
	if (!folder_file(file, folder->path, JOB_FILE))
		return hwy_fail(err, "%s: the path is too long", folder->path);
	if (!write_beside(file, temporary, FORMAT, JSON_FIELDS(job_fields), folder, err) ||
	    !replace_file(file, temporary, err))
		return false;
	remove_files(folder->path, is_note);
	remove_leftovers(folder);
	job_agreement_forget(folder->path);
	return true;
}

/* ---- making room for another job ------------------------------------------------------------- */

/* Whether another process of this host is alive. Of other hosts nothing is known: they count as
 * ended. */
static bool is_alive_here(const char *host, int64_t pid)
{
	char here[HOST_NAME_MAX + 1] = "";
	gethostname(here, sizeof here - 1);
	return pid > 0 && pid <= INT_MAX && pid != getpid() && strcmp(host, here) == 0 &&
	       (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

bool job_folder_clear(const char *path, struct hwy_err *err)
{
	struct job_folder folder;
	char file[PATH_MAX];
	if (!job_folder_is(path))
		return hwy_fail(err,
				"%s: exists, and no job was recorded into it; choose another name",
				path);
	if (!job_folder_read(path, &folder, err))
		return false;
	bool runs = !folder.is_over && is_alive_here(folder.host, folder.pid);
	for (uint32_t i = 0; i < folder.n_ranks && !runs; i++)
		runs = folder.ranks[i].state == JOB_RUNNING &&
		       is_alive_here(folder.ranks[i].host, folder.ranks[i].pid);
	for (uint32_t i = 0; i < folder.n_ranks && !runs; i++) {
		const char *report = folder.ranks[i].report;
		if (*report && !strchr(report, '/') && folder_file(file, path, report))
			unlink(file);
	}
	job_folder_free(&folder);
	if (runs)
		return hwy_fail(err, "%s: a job is still being recorded into it", path);
	remove_files(path, is_report);
	remove_files(path, is_note);
	remove_files(path, is_leftover);
	job_agreement_forget(path);
	/* The last: whoever is stopped before can begin again. */
	return (folder_file(file, path, JOB_FILE) && unlink(file) == 0) ||
	       hwy_fail(err, "%s: %s", path, hwy_strerror(errno));
}
