/* SPDX-License-Identifier: Apache-2.0 */
/* export_tree.c - see export_tree.h. */
#include "cli/export_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "job/folder.h"
#include "job/job.h"
#include "job/job_parts.h"

/* The recordings of an export, each with its place in the tree. */
struct tree_ranks {
	const struct export_tree *tree;
	struct hwy_job job;        /* of a folder, or of a recording: one rank */
	struct hwy_trace **traces; /* by rank */
	int64_t *ranks;
	bool *is_fresh; /* by rank: is there, and stays as it is */
	uint32_t n;
	bool is_job;  /* times are on the clock of the job's first rank */
	char *folder; /* OUT/job=ID */
	const char *id;
	struct hwy_arena texts;
};

/* ---- names ----------------------------------------------------------------------------------- */

/* A name of a folder as Hive writes it: other characters than these are %XX. */
static char *escape_name(struct hwy_arena *arena, const char *name)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				    "._-";
	char *escaped = hwy_arena_array(arena, strlen(name) + 1, 3), *to = escaped;
	for (; *name; name++) {
		if (strchr(plain, *name))
			*to++ = *name;
		else
			to += sprintf(to, "%%%02X", (unsigned char)*name);
	}
	return escaped;
}

/* The name of a file or folder without its folder and endings. */
static const char *bare_name(struct hwy_arena *arena, const char *path)
{
	static const char *const endings[] = {".gz", ".json", ".nsys-rep", ".sqlite", ".hwy"};
	size_t length = strlen(path);
	while (length > 1 && path[length - 1] == '/')
		length--;
	size_t first = length;
	while (first > 0 && path[first - 1] != '/')
		first--;
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		size_t n = strlen(endings[i]);
		if (length - first > n && memcmp(path + length - n, endings[i], n) == 0)
			length -= n;
	}
	char *name = hwy_arena_text(arena, path + first, length - first);
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || !*name ? "recording" : name;
}

/* The id that the job's folder tells; NULL where it is none of a job. */
static const char *id_of_folder(struct hwy_arena *arena, const char *path)
{
	struct job_folder folder;
	struct hwy_err ignored;
	if (!job_folder_is(path) || !job_folder_read(path, &folder, &ignored))
		return NULL;
	const char *id = *folder.id ? hwy_arena_text(arena, folder.id, strlen(folder.id)) : NULL;
	job_folder_free(&folder);
	return id;
}

/* Ranks of one job must get one name, whether the folder or a rank's own report is exported. */
static const char *job_id(struct tree_ranks *r, bool is_folder)
{
	const struct export_tree *tree = r->tree;
	const char *told = hwy_property(r->traces[0], "job.id"), *id = NULL;
	if (tree->job)
		return tree->job;
	if (tree->privacy->anonymous) /* ids of jobs name hosts */
		return bare_name(&r->texts, tree->input);
	if (told && *told)
		return told;
	if (is_folder) {
		id = id_of_folder(&r->texts, tree->input);
	} else {
		const char *slash = strrchr(tree->input, '/');
		id = id_of_folder(&r->texts,
				  slash ? hwy_arena_text(&r->texts, tree->input,
							 (size_t)(slash - tree->input) + 1)
					: ".");
	}
	return id ? id : bare_name(&r->texts, tree->input);
}

/* ---- what there is to write ------------------------------------------------------------------ */

static bool path_is_folder(const char *path)
{
	struct stat about;
	return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static void open_job_ranks(struct tree_ranks *r)
{
	struct hwy_err err;
	if (!job_open(&r->job, &r->tree->input, 1, cli_progress(), &err))
		cli_die("%s", err.text);
	cli_progress_end();
	for (uint32_t i = 0; i < r->job.n_problems; i++)
		cli_say("%s: %s", r->tree->input, r->job.problems[i]);
	r->n = r->job.n;
	r->is_job = r->n > 1;
	r->traces = hwy_array(r->n, sizeof(struct hwy_trace *));
	r->ranks = hwy_array(r->n, sizeof *r->ranks);
	for (uint32_t i = 0; i < r->n; i++) {
		r->traces[i] = r->job.ranks[i].trace;
		r->ranks[i] = r->job.ranks[i].rank;
	}
}

/* Lists the different ranks of a recording's processes, in order; yields their number. */
static uint32_t different_ranks(const int64_t *owners, uint32_t n_processes, int64_t *ranks)
{
	uint32_t n = 0, different = 0;
	for (uint32_t p = 0; p < n_processes; p++)
		if (owners[p] != HWY_NONE)
			ranks[n++] = owners[p];
	qsort(ranks, n, sizeof *ranks, hwy_ascending);
	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || ranks[i] != ranks[i - 1])
			ranks[different++] = ranks[i];
	return different;
}

/* The part of a recording that is of ranks[i]. What is of no rank, as a launcher is, goes to the
 * first one. */
static struct hwy_trace *part_of_rank(struct tree_ranks *r, struct hwy_trace *trace,
				      const int64_t *owners, uint32_t i)
{
	struct hwy_err err;
	bool *keep = hwy_zarray(trace->n_processes, sizeof *keep);
	for (uint32_t p = 0; p < trace->n_processes; p++)
		keep[p] = owners[p] == r->ranks[i] || (i == 0 && owners[p] == HWY_NONE);
	struct hwy_trace *part = job_part_of(trace, keep, r->ranks[i], &err);
	if (!part)
		cli_die("%s", err.text);
	free(keep);
	return part;
}

/* A recording of several ranks is taken apart, so that each rank has a place of its own. */
static void open_recording(struct tree_ranks *r)
{
	struct hwy_trace *trace = cli_open(r->tree->input);
	int64_t *owners = job_parts_owners(trace);
	r->ranks = hwy_array((size_t)trace->n_processes + 1, sizeof *r->ranks);
	r->n = different_ranks(owners, trace->n_processes, r->ranks);
	if (r->n < 2) {
		int64_t rank = job_rank_of(trace, r->tree->input);
		r->n = 1;
		r->ranks[0] = rank == HWY_NONE ? 0 : rank;
		r->traces = hwy_array(1, sizeof(struct hwy_trace *));
		r->traces[0] = trace;
	} else {
		r->traces = hwy_array(r->n, sizeof(struct hwy_trace *));
		for (uint32_t i = 0; i < r->n; i++)
			r->traces[i] = part_of_rank(r, trace, owners, i);
		hwy_trace_free(trace);
	}
	free(owners);
}

static void close_ranks(struct tree_ranks *r)
{
	for (uint32_t i = 0; i < r->n && r->job.n == 0; i++)
		hwy_trace_free(r->traces[i]);
	free(r->traces);
	free(r->ranks);
	free(r->is_fresh);
	job_close(&r->job);
	hwy_arena_free(&r->texts);
}

/* ---- what is there already ------------------------------------------------------------------- */

/* Exits where a folder that is to be replaced holds a file that no export wrote. */
static void check_rank(const char *path, const char *inner)
{
	DIR *folder = opendir(path);
	if (!folder)
		cli_die("%s: %s", path, hwy_strerror(errno));
	for (struct dirent *entry; (entry = readdir(folder));) {
		const char *name = entry->d_name;
		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			continue;
		if (strncmp(name, inner, strlen(inner)) != 0)
			cli_die("%s: holds '%s', which no export wrote; name another folder with -o",
				path, name);
		if (strcmp(inner, "table=") == 0) {
			char *table;
			if (asprintf(&table, "%s/%s", path, name) < 0)
				cli_die("out of memory");
			check_rank(table, "part-0.parquet");
			free(table);
		}
	}
	closedir(folder);
}

static char *rank_folder(struct tree_ranks *r, const char *above, int64_t rank)
{
	return hwy_arena_format(&r->texts, "%s/rank=%" PRId64, above, rank);
}

static const char *path_of_rank(const struct tree_ranks *r, uint32_t i)
{
	return r->job.n ? r->job.ranks[i].path : r->tree->input;
}

/* Finds the ranks that are there and were written after their report. A rank's folder is whole
 * from the moment on in which it has its name, and its date is that of its last table. Yields
 * how many are to be written. */
static uint32_t find_fresh(struct tree_ranks *r)
{
	struct stat report, folder;
	uint32_t n = r->n;
	r->is_fresh = hwy_zarray(r->n, sizeof *r->is_fresh);
	for (uint32_t i = 0; i < r->n && (r->tree->missing || r->tree->check); i++) {
		if (stat(path_of_rank(r, i), &report) != 0 ||
		    stat(rank_folder(r, r->folder, r->ranks[i]), &folder) != 0)
			continue;
		const struct timespec *a = &report.st_mtim, *b = &folder.st_mtim;
		r->is_fresh[i] = b->tv_sec > a->tv_sec ||
				 (b->tv_sec == a->tv_sec && b->tv_nsec > a->tv_nsec);
		n -= r->is_fresh[i];
	}
	return n;
}

static void check_tree(struct tree_ranks *r)
{
	const struct export_tree *tree = r->tree;
	struct stat about;
	if (stat(tree->output, &about) == 0 && !S_ISDIR(about.st_mode))
		cli_die("%s: is not a folder", tree->output);
	for (uint32_t i = 0; i < r->n; i++) {
		const char *path = rank_folder(r, r->folder, r->ranks[i]);
		if (r->is_fresh[i] || lstat(path, &about) != 0)
			continue;
		if (!S_ISDIR(about.st_mode))
			cli_die("%s: is not a folder", path);
		if (!tree->force && !tree->missing)
			cli_die("%s: exists and is kept; -f replaces it", path);
		check_rank(path, "table=");
	}
}

/* ---- writing --------------------------------------------------------------------------------- */

static void make_folder(const char *path)
{
	if (mkdir(path, 0700) != 0 && (errno != EEXIST || !path_is_folder(path)))
		cli_die("%s: %s", path, hwy_strerror(errno));
}

static int64_t map_to_job(const void *clock, int64_t time)
{
	return job_clock_map(clock, time);
}

static void export_rank(struct tree_ranks *r, uint32_t i, const char *folder,
			struct export_result *sum)
{
	const struct export_tree *tree = r->tree;
	struct export_options how = *tree->how;
	struct export_result result = {0};
	struct hwy_err err;
	how.job = r->id;
	how.rank = r->ranks[i];
	how.source = hwy_basename(path_of_rank(r, i));
	if (r->is_job) {
		how.map = map_to_job;
		how.clock = &r->job.ranks[i].clock;
		how.epoch = r->traces[0]->wall;
	}
	make_folder(folder);
	bool ok = tree->type->files(r->traces[i], folder, &how, cli_progress(), &result, &err);
	cli_progress_end();
	if (!ok)
		cli_die("%s", err.text);
	sum->spans += result.spans;
	sum->files += result.files;
	sum->rows += result.rows;
	sum->bytes += result.bytes;
	if (!sum->table || (result.table && strcmp(result.table, "kernel") == 0))
		sum->table = result.table;
}

/* Puts a whole rank in its place; the one that was there goes where the new one was. */
static void move_rank(const char *from, const char *to)
{
	if (rename(from, to) == 0)
		return;
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) == 0)
		return;
	/* Not every file system can exchange two folders. */
	char *old;
	if (asprintf(&old, "%s.old", from) < 0)
		cli_die("out of memory");
	if (rename(to, old) != 0 || rename(from, to) != 0)
		cli_die("%s: %s", to, hwy_strerror(errno));
	free(old);
}

static void name_missing_ranks(struct tree_ranks *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (!r->is_fresh[i])
			cli_say("%s: %s is missing", path_of_rank(r, i),
				rank_folder(r, r->folder, r->ranks[i]));
}

/* Writes the ranks that are not fresh, all under a temporary name, then each to its place. */
static void write_ranks(struct tree_ranks *r, struct export_result *result)
{
	const char *output = r->tree->output;
	size_t length = strlen(output);
	while (length > 1 && output[length - 1] == '/')
		length--;
	char *temporary = hwy_arena_format(&r->texts, "%.*s.XXXXXX", (int)length, output);
	sigset_t before;
	cli_hold_signals(&before);
	if (!mkdtemp(temporary))
		cli_die("%s: %s", output, hwy_strerror(errno));
	cli_unfinished_tree(temporary);
	cli_release_signals(&before);
	for (uint32_t i = 0; i < r->n; i++)
		if (!r->is_fresh[i])
			export_rank(r, i, rank_folder(r, temporary, r->ranks[i]), result);
	make_folder(output);
	make_folder(r->folder);
	for (uint32_t i = 0; i < r->n; i++)
		if (!r->is_fresh[i])
			move_rank(rank_folder(r, temporary, r->ranks[i]),
				  rank_folder(r, r->folder, r->ranks[i]));
	cli_remove_tree(temporary);
	cli_unfinished_tree(NULL);
}

uint32_t export_tree_write(const struct export_tree *tree, struct export_result *result)
{
	struct tree_ranks r = {.tree = tree};
	bool is_folder = path_is_folder(tree->input);
	if (!*tree->output)
		cli_die("the output has an empty name");
	if (strcmp(tree->output, "-") == 0)
		cli_die("%s cannot go to standard output; name a folder with -o", tree->type->name);
	if (is_folder)
		open_job_ranks(&r);
	else
		open_recording(&r);
	for (uint32_t i = 0; i < r.n; i++)
		cli_privacy_apply(tree->privacy, r.traces[i]);
	r.id = job_id(&r, is_folder);
	r.folder =
		hwy_arena_format(&r.texts, "%s/job=%s", tree->output, escape_name(&r.texts, r.id));
	uint32_t missing = find_fresh(&r);
	if (tree->check) {
		name_missing_ranks(&r);
	} else {
		check_tree(&r);
		if (missing > 0)
			write_ranks(&r, result);
	}
	close_ranks(&r);
	return missing;
}
