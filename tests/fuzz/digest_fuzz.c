/* SPDX-License-Identifier: Apache-2.0 */
/* digest_fuzz.c - any bytes as a file of digests: refused with a line, or judged as a job; and what was read is written as it was.
 *
 * Input is a whole file, or, since chance does not find its way through zstd and its checksum, the sections of some records before they are
 * compressed: 'P', then for each record its length (two bytes, little-endian) and its bytes.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digest/digest_answer.h"
#include "digest/digest_file.h"
#include "digest/digest_summary.h"
#include "trace/codec.h"

enum { MOST_RECORDS = 48 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A record that can be read is the same after it was read and written twice. */
static void write_again(const struct rank_digest *digest)
{
	struct digest_bytes once = digest_encode(digest), twice;
	struct rank_digest again;
	struct hwy_err err;
	if (!digest_decode(&again, once.bytes, once.n, &err)) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	twice = digest_encode(&again);
	if (once.n != twice.n || memcmp(once.bytes, twice.bytes, once.n) != 0)
		abort();
	free(once.bytes);
	free(twice.bytes);
	digest_free(&again);
}

static void judge(struct digest_set *set)
{
	struct digest_answer answer;
	struct compare_summary summary;
	digest_set_settle(set);
	if (set->n == 0)
		return;
	for (uint32_t i = 0; i < set->n; i++)
		write_again(&set->ranks[i].digest);
	digest_answer_make(&answer, set);
	if (digest_summary_of(&summary, &answer, "x"))
		summary_free(&summary);
	digest_answer_free(&answer);
}

static void add_plain(struct digest_set *set, const uint8_t *plain, size_t n)
{
	struct hwy_bytes record = {0};
	struct codec *codec = codec_new();
	struct rank_digest digest;
	struct hwy_err err;
	size_t stored = 0;
	const void *packed = codec_compress(codec, 1, plain, n, &stored);
	hwy_bytes_put_varint(&record, n);
	hwy_bytes_put(&record, packed, stored);
	if (digest_decode(&digest, record.bytes, record.n, &err))
		digest_set_put(set, &digest);
	codec_free(codec);
	hwy_bytes_free(&record);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct digest_set set = {0};
	struct hwy_err err;
	if (size > 0 && bytes[0] == 'P') {
		for (size_t at = 1; at + 2 < size && set.n < MOST_RECORDS;) {
			size_t n = (size_t)(bytes[at] | bytes[at + 1] << 8);
			n = n < size - at - 2 ? n : size - at - 2;
			add_plain(&set, bytes + at + 2, n);
			at += 2 + n;
		}
	} else if (!digest_set_add_bytes(&set, bytes, size, "x", &err)) {
		assert(*err.text);
	}
	judge(&set);
	digest_set_free(&set);
	return 0;
}
