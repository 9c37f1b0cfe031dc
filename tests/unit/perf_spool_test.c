/* SPDX-License-Identifier: Apache-2.0 */
/* perf_spool_test.c - the spools of samples: what a full disk does, and what --keep-last uses again. */
#include "make_trace.h"

#include <signal.h>
#include <sys/resource.h>

#include "read_spool.h"
#include "run/perf/perf_internal.h"

enum {
	PER_CHUNK =
		(REC_CHUNK_BYTES - (int)sizeof(struct rec_chunk)) / (int)sizeof(struct rec_switch)
};

/* The time that the spools see, in ns: it moves only where a test moves it. */
static int64_t test_time;

static int64_t test_clock(void)
{
	return test_time;
}

static long size_of(const struct made_run *run)
{
	char path[512];
	struct stat about;
	snprintf(path, sizeof path, "%s/perf.0.spool", run->path);
	return stat(path, &about) == 0 ? (long)about.st_size : -1;
}

/* The number of records that found room. */
static int fill(struct perf_spool *spool, int records)
{
	int kept = 0;
	for (int i = 0; i < records; i++) {
		struct rec_switch *record = perf_spool_reserve(spool, REC_SWITCH, sizeof *record);
		if (!record)
			continue;
		record->time = i + 1;
		perf_spool_publish(spool);
		kept++;
	}
	return kept;
}

static void a_full_disk_drops_records_and_counts_them(void **state)
{
	struct made_run run = make_run();
	struct rlimit before, little = {2 * REC_CHUNK_BYTES, 2 * REC_CHUNK_BYTES};
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	little.rlim_max = before.rlim_max;
	setrlimit(RLIMIT_FSIZE, &little);
	struct perf_spool *spool = perf_spool_open(run.path, "perf.0.spool", 0, test_clock);
	int kept = spool ? fill(spool, 3 * PER_CHUNK) : 0;
	perf_spool_close(spool);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(kept, 2 * PER_CHUNK);
	char path[512];
	struct rec_chunk chunk;
	snprintf(path, sizeof path, "%s/perf.0.spool", run.path);
	FILE *file = fopen(path, "rb");
	assert_int_equal(fseek(file, REC_CHUNK_BYTES, SEEK_SET), 0);
	assert_int_equal(fread(&chunk, sizeof chunk, 1, file), 1);
	fclose(file);
	assert_int_equal(chunk.dropped, PER_CHUNK);
	assert_int_equal(chunk.index, 1);
	remove_run(&run);
}

static void old_chunks_are_used_again_where_only_the_last_seconds_are_kept(void **state)
{
	struct made_run run = make_run();
	test_time = INT64_C(1000000000);
	struct perf_spool *spool = perf_spool_open(run.path, "perf.0.spool", 1, test_clock);
	assert_non_null(spool);
	assert_int_equal(fill(spool, 3 * PER_CHUNK), 3 * PER_CHUNK);
	assert_int_equal(size_of(&run), 3 * REC_CHUNK_BYTES);
	test_time += 1100 * 1000000;
	assert_int_equal(fill(spool, 2 * PER_CHUNK), 2 * PER_CHUNK); /* two chunks are old */
	assert_int_equal(size_of(&run), 3 * REC_CHUNK_BYTES);
	/* The third chunk was left at the present time: it is kept, and the file grows. */
	assert_int_equal(fill(spool, 2 * PER_CHUNK), 2 * PER_CHUNK);
	assert_int_equal(size_of(&run), 5 * REC_CHUNK_BYTES);
	perf_spool_close(spool);
	remove_run(&run);
}

static long blocks_of(const struct made_run *run)
{
	char path[512];
	struct stat about;
	snprintf(path, sizeof path, "%s/perf.0.spool", run->path);
	return stat(path, &about) == 0 ? (long)about.st_blocks * 512 : -1;
}

static void a_ring_on_a_short_disk_gives_its_oldest_chunks_back_and_uses_their_places_again(
	void **state)
{
	struct made_run run = make_run();
	test_time = INT64_C(1000000000);
	struct perf_spool *spool = perf_spool_open(run.path, "perf.0.spool", 1000, test_clock);
	assert_non_null(spool);
	perf_spool_limit(spool, &run.control);
	assert_int_equal(fill(spool, 20 * PER_CHUNK), 20 * PER_CHUNK);
	long before = blocks_of(&run);
	run.control.full = REC_FULL_DISK;
	assert_int_equal(fill(spool, 5 * PER_CHUNK), 5 * PER_CHUNK);
	assert_int_equal(size_of(&run), 20 * REC_CHUNK_BYTES);
	assert_true(blocks_of(&run) <= before);
	run.control.full = REC_FULL_NO;
	assert_int_equal(fill(spool, 18 * PER_CHUNK), 18 * PER_CHUNK);
	assert_int_equal(size_of(&run), 20 * REC_CHUNK_BYTES);
	assert_int_equal(fill(spool, 2 * PER_CHUNK), 2 * PER_CHUNK);
	assert_true(size_of(&run) > 20 * REC_CHUNK_BYTES);
	perf_spool_close(spool);
	remove_run(&run);
}

static void a_spool_that_may_not_grow_counts_and_says_since_when(void **state)
{
	struct made_run run = make_run();
	struct rec_chunk chunk;
	char path[512];
	test_time = INT64_C(1000000000);
	struct perf_spool *spool = perf_spool_open(run.path, "perf.0.spool", 0, test_clock);
	run.control.full = REC_FULL_BOUND;
	perf_spool_limit(spool, &run.control);
	assert_int_equal(fill(spool, 2 * PER_CHUNK), PER_CHUNK);
	perf_spool_close(spool);
	snprintf(path, sizeof path, "%s/perf.0.spool", run.path);
	FILE *file = fopen(path, "rb");
	assert_int_equal(fread(&chunk, sizeof chunk, 1, file), 1);
	fclose(file);
	assert_int_equal(chunk.dropped, PER_CHUNK);
	assert_int_equal(chunk.full, test_time);
	assert_int_equal(chunk.why, REC_FULL_BOUND);
	remove_run(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_disk_drops_records_and_counts_them),
		cmocka_unit_test(old_chunks_are_used_again_where_only_the_last_seconds_are_kept),
		cmocka_unit_test(
			a_ring_on_a_short_disk_gives_its_oldest_chunks_back_and_uses_their_places_again),
		cmocka_unit_test(a_spool_that_may_not_grow_counts_and_says_since_when),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
