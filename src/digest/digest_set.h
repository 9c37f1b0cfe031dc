/* SPDX-License-Identifier: Apache-2.0 */
/* digest_set.h - the digests of a folder or of files, as a sorted set of ranks: what everything
 * that looks at thousands of ranks reads.
 *
 *   struct digest_set set = {0};
 *   if (!digest_set_add(&set, "job1", err))
 *           return false;
 *   digest_set_settle(&set);
 *   for (uint32_t i = 0; i < set.n; i++)
 *           printf("%s rank %lld\n", set.ranks[i].digest.job, (long long)set.ranks[i].digest.rank);
 *   digest_set_free(&set);
 *
 * A set has one digest for each rank of a job. Of several for one rank the one stays whose
 * recording began last, then that with more steps, then that with the larger bytes: so sets can
 * be joined in any order, and joined again, with the same result.
 */
#ifndef HWY_DIGEST_DIGEST_SET_H
#define HWY_DIGEST_DIGEST_SET_H

#include "digest/digest.h"

struct digest_set {
	struct digest_of_rank {
		struct rank_digest digest;
		struct digest_bytes record; /* its bytes in a file */
		/* The report has changed since the digest was made: the digest tells of another
		 * recording. */
		bool is_stale;
	} * ranks; /* once settled: by job, then rank */
	uint32_t n, cap;
	/* Files of digests that cannot be read: one sentence each. Only those found in folders:
	 * one that is named is an error. */
	char **problems;
	uint32_t n_problems, cap_problems;
};

/* Adds a file of digests, or all such files in a folder; false where a file that is named cannot
 * be read, or a folder has none. In a folder digests are compared with the reports beside them:
 * digests of reports that have changed are stale. */
bool digest_set_add(struct digest_set *set, const char *path, struct hwy_err *err);
/* Adds a digest made in memory, which the set then owns. */
void digest_set_put(struct digest_set *set, struct rank_digest *digest);
/* Adds the records of bytes that were a file's; for callers that have no file. */
bool digest_set_add_bytes(struct digest_set *set, const uint8_t *bytes, size_t n, const char *name,
			  struct hwy_err *err);
/* Sorts the set, and leaves one digest for each rank. */
void digest_set_settle(struct digest_set *set);
bool digest_set_write(const struct digest_set *set, const char *path, bool overwrite,
		      struct hwy_err *err);
void digest_set_free(struct digest_set *set);

/* How many files of digests a folder has; 0 where the path is no folder. */
uint32_t digest_set_count(const char *folder);

#endif
