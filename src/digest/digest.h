/* SPDX-License-Identifier: Apache-2.0 */
/* digest.h - what one rank of a job has to say to the others, in a few kB: made where its report
 * is, read by the thousand.
 *
 *   struct rank_digest *digests;
 *   uint32_t n;
 *   if (!digest_make(&digests, &n, "job1/rank3.hwy", err))
 *           return false;
 *   printf("rank %lld on %s\n", (long long)digests[0].rank, digests[0].host);
 *   digests_free(digests, n);
 *
 * A digest holds who the rank is, the summary of its main phase as `diff` and `gate` know it
 * (compare/summary.h), the length of its steps in order, what it exchanged with whom and how
 * fast, its GPU's clocks, and what its recording lacks. docs/digest.md has the format of the
 * files, `digest_set.h` reads them.
 *
 * A rank's *own* time of a step is the step without the time in which the rank does nothing but
 * communicate: what it needs itself before it meets the others. In a job whose ranks keep one
 * pace all steps are equally long, and the rank with the longest own time is the one that the
 * others wait for.
 */
#ifndef HWY_DIGEST_DIGEST_H
#define HWY_DIGEST_DIGEST_H

#include "analyze/device_clocks.h"
#include "compare/summary.h"

/* The most elements of each list in a digest, so that it stays small. */
enum {
	DIGEST_BUCKETS = 256,
	DIGEST_KERNELS = 10,
	DIGEST_ROWS = 4,
	DIGEST_FINDINGS = 6,
	DIGEST_EXCHANGES = 24,
	DIGEST_TEXT_BYTES = 240, /* longer texts are cut */
};

/* Which number a step has. */
enum digest_numbers {
	DIGEST_NO_STEPS,
	DIGEST_MARKED, /* that of its mark: step_7 is number 7 on every rank */
	/* its place in the phase: the same on all ranks whose recordings began together */
	DIGEST_COUNTED,
	/* No device work: a step is the time between the ends of two collectives of the largest
	 * communicator, and its number is that of the collective. */
	DIGEST_COLLECTIVES,
	DIGEST_NUMBERS
};
extern const char *const digest_numbers_names[DIGEST_NUMBERS];

/* The steady steps in order, in buckets of 2^shift consecutive numbers: bucket i has the steps
 * whose number >> shift is (first >> shift) + i. The first and the last bucket may have fewer
 * steps than the others. */
struct digest_steps {
	enum digest_numbers numbers;
	int64_t first; /* the number of the first steady step */
	uint32_t n;    /* steady steps */
	uint32_t shift;
	uint32_t n_buckets; /* at most DIGEST_BUCKETS */
	/* ns a step: the mean of the bucket's steps, and of the rank's own time in them. Rounded
	 * to 1/8192 of a step. */
	int64_t *step, *own;
	int64_t wall; /* ns since 1970: when the first steady step began; HWY_NONE: not known */
	int64_t mean_own;
};

/* How many of the rank's steps a bucket holds. */
uint32_t digest_bucket_steps(const struct digest_steps *steps, uint32_t bucket);

enum digest_way { DIGEST_COLLECTIVE, DIGEST_SENT, DIGEST_GOT };
extern const char *const digest_way_names[];

/* All exchanges of one operation in one communicator, or with one other rank. */
struct digest_exchange {
	const char *library, *operation, *group; /* group: the communicator's name, or "" */
	uint64_t key; /* equal on all ranks of a communicator; 0 where none is known */
	int64_t size; /* ranks in the communicator, or HWY_NONE */
	int64_t peer; /* the other rank, or HWY_NONE */
	uint8_t way;  /* enum digest_way */
	uint64_t count, bytes;
	int64_t ns;
	/* Of those with DIGEST_LARGE_BYTES or more: how many, their mean size, and the bytes a
	 * second that half of them and that the fastest tenth reach. Waiting for the other side
	 * makes an exchange slow but never fast: the fastest show what the link can do. */
	uint64_t large, large_bytes, typical_rate, fastest_rate;
};
enum { DIGEST_LARGE_BYTES = 65536 };

struct rank_digest {
	/* ---- who ---- */
	/* what tells the job from others: its id, else the name of the report's folder */
	const char *job;
	bool is_named; /* the recording has the job's id */
	int64_t rank, local_rank, world;
	const char *host;
	int64_t node;         /* the host's number in the job (SLURM_NODEID), or HWY_NONE */
	const char *topology; /* switches and host, outermost first, "s0.s12.n17", or "" */
	const char *uuid;     /* of the first GPU, or "" */
	int64_t started;      /* ns since 1970: the recording's time 0, or HWY_NONE */
	const char *version;  /* of the headway that made the digest */
	/* ---- of which report; a digest whose report has changed is stale ---- */
	const char *report; /* its name without the folder */
	uint64_t report_bytes, report_identity;
	/* ---- what it did ---- */
	struct compare_summary summary; /* its main phase; n is 0 without device work */
	struct digest_steps steps;
	int64_t hidden;  /* ns a step of communication beside compute */
	int64_t threads; /* that kernels launch a step; 0 where it is not known */
	enum verdict_word word;
	double shares[VERDICTS];
	const char **says; /* parallel to the findings of the main phase: what was seen */
	uint8_t *words;    /* parallel: the enum verdict_word that each counts for */
	struct digest_exchange *exchanges; /* those with most time first */
	uint32_t n_exchanges;
	/* ---- the GPU; values are 0 or HWY_NONE where they are not known ---- */
	int64_t clock_median_hz, clock_least_hz, clock_most_hz; /* most: what the device can do */
	int64_t power_median_mw, temperature_most_mc;
	int64_t held_down[CLOCK_LIMITS]; /* ns in which a limit held the clocks down, or HWY_NONE */
	/* ---- what the recording lacks ---- */
	uint64_t lacks[HWY_LACKS], dropped;
	int64_t window,
		comm; /* without device work: first to last exchange, and of it in calls, ns */
	struct hwy_arena arena;
};

static inline const struct compare_phase *digest_phase(const struct rank_digest *digest)
{
	return digest->summary.n > 0 ? &digest->summary.phases[0] : NULL;
}
/* The rank's step and own time, ns; 0 where it has no steps. */
int64_t digest_step_of(const struct rank_digest *digest);

/* Makes the digests of a report, or of any recording, by analysing it: one, or where it holds
 * several ranks one for each. */
bool digest_make(struct rank_digest **digests, uint32_t *n, const char *path, struct hwy_err *err);
/* The same of one rank's recording that is open and diagnosed; digest->report… stay empty. */
bool digest_make_of(struct rank_digest *digest, struct hwy_analysis *analysis,
		    const struct hwy_diagnosis *diagnosis, const char *path, struct hwy_err *err);
void digest_free(struct rank_digest *digest);
void digests_free(struct rank_digest *digests, uint32_t n); /* the array, too */

/* ---- bytes (digest_code.c): a record is the digest, compressed ------------------------------- */

struct digest_bytes { /* zeroed memory is empty */
	uint8_t *bytes;
	size_t n;
};
/* The bytes are to be freed. The same digest has always the same bytes. */
struct digest_bytes digest_encode(const struct rank_digest *digest);
/* False with the reason, as the end of a sentence, where the bytes are damaged or of a newer
 * format. */
bool digest_decode(struct rank_digest *digest, const void *bytes, size_t n, struct hwy_err *err);

/* ---- inside this room ------------------------------------------------------------------------ */

/* digest_steps.c: fills digest->steps and hidden from the main phase; digest_exchanges.c: the
 * exchanges, and the steps of a rank without device work. */
bool digest_note_steps(struct rank_digest *digest, struct hwy_analysis *analysis,
		       struct hwy_err *err);
bool digest_note_exchanges(struct rank_digest *digest, struct hwy_analysis *analysis,
			   struct hwy_err *err);
/* Puts the steps with these lengths and own times, numbered from 'first' on, into buckets. */
void digest_fill_buckets(struct rank_digest *digest, const int64_t *lengths, const int64_t *own,
			 uint32_t n, int64_t first);
/* The name of the folder that a file lies in, in the digest's arena: the job of recordings that
 * do not name one. */
const char *digest_folder_name(struct rank_digest *digest, const char *path);
/* A copy of at most DIGEST_TEXT_BYTES of a text, in the digest's arena; cut between characters. */
const char *digest_keep(struct rank_digest *digest, const char *text);

#endif
