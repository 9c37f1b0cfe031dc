/* SPDX-License-Identifier: Apache-2.0 */
/* digest_set.c - see digest_set.h. */
#include "digest/digest_set.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/shell_word.h"
#include "digest/digest_file.h"

/* ---- adding ---------------------------------------------------------------------------------- */

static struct digest_of_rank *add_rank(struct digest_set *set)
{
	HWY_GROW(set->ranks, set->n, set->cap);
	struct digest_of_rank *rank = &set->ranks[set->n++];
	*rank = (struct digest_of_rank){0};
	return rank;
}

static bool add_records(struct digest_set *set, const struct digest_records *records,
			const char *path, struct hwy_err *err)
{
	uint32_t before = set->n;
	for (uint32_t i = 0; i < records->n; i++) {
		struct digest_of_rank *rank = add_rank(set);
		const struct digest_record *record = &records->records[i];
		struct hwy_err why;
		if (digest_decode(&rank->digest, record->bytes, record->n, &why)) {
			rank->record.bytes = hwy_copy(record->bytes, record->n);
			rank->record.n = record->n;
			continue;
		}
		set->n--;
		while (set->n > before) {
			free(set->ranks[--set->n].record.bytes);
			digest_free(&set->ranks[set->n].digest);
		}
		return hwy_fail(err, "%s: damaged: record %u of %u: %s", path, i + 1, records->n,
				why.text);
	}
	return true;
}

static bool add_digest_file(struct digest_set *set, const char *path, struct hwy_err *err)
{
	struct digest_records records;
	if (!digest_file_read(&records, path, err))
		return false;
	bool done = add_records(set, &records, path, err);
	digest_records_free(&records);
	return done;
}

bool digest_set_add_bytes(struct digest_set *set, const uint8_t *bytes, size_t n, const char *name,
			  struct hwy_err *err)
{
	struct digest_records records;
	if (!digest_file_take(&records, bytes, n, name, err))
		return false;
	bool done = add_records(set, &records, name, err);
	digest_records_free(&records);
	return done;
}

void digest_set_put(struct digest_set *set, struct rank_digest *digest)
{
	struct digest_of_rank *rank = add_rank(set);
	rank->digest = *digest;
	rank->record = digest_encode(digest);
	*digest = (struct rank_digest){0};
}

/* ---- folders --------------------------------------------------------------------------------- */

static bool is_digest(const char *name)
{
	size_t length = strlen(name), n = strlen(DIGEST_ENDING);
	return name[0] != '.' && length > n && strcmp(name + length - n, DIGEST_ENDING) == 0;
}

uint32_t digest_set_count(const char *folder)
{
	DIR *open = opendir(folder);
	uint32_t n = 0;
	for (const struct dirent *entry; open && (entry = readdir(open));)
		n += is_digest(entry->d_name);
	if (open)
		closedir(open);
	return n;
}

/* Whether the report beside a digest is another one than the digest was made of. A report that
 * is not there says nothing. Only where its date is later than the digest's must it be read: a
 * folder of thousands is looked through by its dates alone. */
static bool is_stale(const struct rank_digest *digest, const char *folder, const char *file)
{
	struct stat report, own;
	struct digest_source source;
	struct hwy_err err;
	char *path;
	if (!*digest->report || strchr(digest->report, '/') ||
	    asprintf(&path, "%s/%s", folder, digest->report) < 0)
		return false;
	bool stale = false;
	if (stat(path, &report) == 0 && S_ISREG(report.st_mode)) {
		bool is_later = stat(file, &own) != 0 ||
				report.st_mtim.tv_sec > own.st_mtim.tv_sec ||
				(report.st_mtim.tv_sec == own.st_mtim.tv_sec &&
				 report.st_mtim.tv_nsec > own.st_mtim.tv_nsec);
		stale = (uint64_t)report.st_size != digest->report_bytes ||
			(is_later && digest_source_of(&source, path, &err) &&
			 source.identity != digest->report_identity);
	}
	free(path);
	return stale;
}

static void add_found(struct digest_set *set, const char *folder, const char *name)
{
	char *path;
	struct hwy_err err;
	uint32_t before = set->n;
	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return;
	if (!add_digest_file(set, path, &err)) {
		HWY_GROW(set->problems, set->n_problems, set->cap_problems);
		set->problems[set->n_problems++] = hwy_copy(err.text, strlen(err.text) + 1);
	}
	for (uint32_t i = before; i < set->n; i++) {
		struct rank_digest *digest = &set->ranks[i].digest;
		set->ranks[i].is_stale = is_stale(digest, folder, path);
		if (!digest->is_named)
			digest->job = digest_folder_name(digest, path);
	}
	free(path);
}

bool digest_set_add(struct digest_set *set, const char *path, struct hwy_err *err)
{
	struct stat about;
	DIR *folder = stat(path, &about) == 0 && S_ISDIR(about.st_mode) ? opendir(path) : NULL;
	if (!folder)
		return add_digest_file(set, path, err);
	uint32_t before = set->n + set->n_problems;
	for (const struct dirent *entry; (entry = readdir(folder));)
		if (is_digest(entry->d_name))
			add_found(set, path, entry->d_name);
	closedir(folder);
	return set->n + set->n_problems > before ||
	       hwy_fail(err, "%s: no digest in this folder (*%s): headway digest %s", path,
			DIGEST_ENDING, hwy_shell_word(path).text);
}

/* ---- one for each rank ----------------------------------------------------------------------- */

static int compare_numbers(int64_t x, int64_t y)
{
	return (x > y) - (x < y);
}

static int compare_keys(const struct digest_of_rank *a, const struct digest_of_rank *b)
{
	int job = strcmp(a->digest.job, b->digest.job);
	return job ? job : compare_numbers(a->digest.rank, b->digest.rank);
}

/* By key; of one key the one that stays comes first. Fresh ones stay before stale ones, which
 * only a folder knows. */
static int by_key(const void *left, const void *right)
{
	const struct digest_of_rank *a = left, *b = right;
	int order = compare_keys(a, b);
	order = order ? order : compare_numbers(a->is_stale, b->is_stale);
	order = order ? order : compare_numbers(b->digest.started, a->digest.started);
	order = order ? order : compare_numbers(b->digest.steps.n, a->digest.steps.n);
	size_t n = a->record.n < b->record.n ? a->record.n : b->record.n;
	order = order ? order : memcmp(b->record.bytes, a->record.bytes, n);
	return order ? order : compare_numbers((int64_t)b->record.n, (int64_t)a->record.n);
}

void digest_set_settle(struct digest_set *set)
{
	uint32_t kept = 0;
	if (set->n > 0)
		qsort(set->ranks, set->n, sizeof *set->ranks, by_key);
	for (uint32_t i = 0; i < set->n; i++) {
		struct digest_of_rank *rank = &set->ranks[i];
		if (kept == 0 || compare_keys(&set->ranks[kept - 1], rank) != 0) {
			set->ranks[kept++] = *rank;
			continue;
		}
		free(rank->record.bytes);
		digest_free(&rank->digest);
	}
	set->n = kept;
}

bool digest_set_write(const struct digest_set *set, const char *path, bool overwrite,
		      struct hwy_err *err)
{
	struct digest_record *records = hwy_array(set->n, sizeof *records);
	for (uint32_t i = 0; i < set->n; i++)
		records[i] =
			(struct digest_record){set->ranks[i].record.bytes, set->ranks[i].record.n};
	bool done = digest_file_write(path, records, set->n, overwrite, err);
	free(records);
	return done;
}

void digest_set_free(struct digest_set *set)
{
	for (uint32_t i = 0; i < set->n; i++) {
		free(set->ranks[i].record.bytes);
		digest_free(&set->ranks[i].digest);
	}
	for (uint32_t i = 0; i < set->n_problems; i++)
		free(set->problems[i]);
	free(set->ranks);
	free(set->problems);
	*set = (struct digest_set){0};
}
