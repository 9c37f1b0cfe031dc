/* SPDX-License-Identifier: Apache-2.0 */
/* digests_of.c - makes the digests of a job with many ranks from a file with digests of recorded ones.
 *
 *     digests_of BASE OUT RANKS STEPS SEED [late|sometimes|drift|link|clock|input|trend:RANK:SHARE]...
 *
 * OUT is a folder, which gets a file for each rank, or a file (its name ends with .hwd) that gets all. unit/make_digests.h says what
 * the faults are.
 */
#include "make_digests.h"

#include <sys/stat.h>

#include "digest/digest_file.h"

static const char *const kinds[] = {"late",  "sometimes", "drift", "link",
				    "clock", "trend",     "input", NULL};

static struct fault read_fault(const char *text)
{
	char name[16];
	struct fault fault = {0};
	if (sscanf(text, "%15[a-z]:%u:%lf", name, &fault.rank, &fault.share) != 3)
		exit(2);
	while (kinds[fault.kind] && strcmp(kinds[fault.kind], name) != 0)
		fault.kind++;
	if (!kinds[fault.kind])
		exit(2);
	return fault;
}

static void write_folder(const struct digest_set *set, const char *folder)
{
	struct hwy_err err;
	mkdir(folder, 0700);
	for (uint32_t i = 0; i < set->n; i++) {
		char path[4096];
		struct digest_record record = {set->ranks[i].record.bytes, set->ranks[i].record.n};
		snprintf(path, sizeof path, "%s/rank%lld.hwd", folder,
			 (long long)set->ranks[i].digest.rank);
		if (!digest_file_write(path, &record, 1, true, &err)) {
			fprintf(stderr, "%s\n", err.text);
			exit(2);
		}
	}
}

int main(int argc, char **argv)
{
	struct fault faults[FAULT_LISTED];
	struct digest_set bases = {0}, made = {0};
	struct hwy_err err;
	if (argc < 6 || argc - 6 > FAULT_LISTED)
		return 2;
	struct made_job job = {.ranks = (uint32_t)atoi(argv[3]),
			       .steps = (uint32_t)atoi(argv[4]),
			       .seed = (uint64_t)atoll(argv[5]),
			       .noise = (uint64_t)atoll(argv[5]) % 3,
			       .faults = faults,
			       .is_numbered = true};
	for (int i = 6; i < argc; i++)
		faults[job.n_faults++] = read_fault(argv[i]);
	if (!digest_set_add(&bases, argv[1], &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 2;
	}
	digest_set_settle(&bases);
	struct digest_bytes *records = hwy_array(bases.n, sizeof *records);
	for (uint32_t i = 0; i < bases.n; i++)
		records[i] = bases.ranks[i].record;
	make_digests(&made, &job, records, bases.n);
	digest_set_settle(&made);
	size_t length = strlen(argv[2]);
	if (length < 4 || strcmp(argv[2] + length - 4, DIGEST_ENDING) != 0) {
		write_folder(&made, argv[2]);
	} else if (!digest_set_write(&made, argv[2], true, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 2;
	}
	free(records);
	digest_set_free(&bases);
	digest_set_free(&made);
	return 0;
}
