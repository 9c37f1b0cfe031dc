/* SPDX-License-Identifier: Apache-2.0 */
/* spool_runs_test.c - a process that joins one run after the other while its threads record (collect/self_record.c).
 *
 * The collector's sources are linked in. ThreadSanitizer is of no use here: it takes a mapping that replaces another for a
 * write of all its bytes. Threads only record what they saw, and the main thread asserts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/collect.h"
#include "collect/process.h"

enum { RUNS = 6, THREADS = 3, LEAST = 200 };

static char folder[64];
static _Atomic bool is_over;
static _Atomic uint64_t written[THREADS];

static void put_file(const char *run, const char *name, const void *bytes, size_t size)
{
	char path[128];
	snprintf(path, sizeof path, "%s/%s", run, name);
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, size, 1, file), 1);
	assert_int_equal(fclose(file), 0);
}

static void make_run(char run[96], int number)
{
	static const struct rec_control control = {.magic = REC_MAGIC,
						   .version = REC_CONTROL_VERSION,
						   .recording = 1,
						   .traces = UINT32_MAX};
	snprintf(run, 96, "%s/%d", folder, number);
	assert_int_equal(mkdir(run, 0700), 0);
	put_file(run, "control", &control, REC_CONTROL_BYTES);
	put_file(run, "state", &control.recording, REC_STATE_BYTES);
}

/* Writes a record whenever there is a run: its text, and a number of its own. */
static void *write_always(void *which)
{
	uintptr_t thread = (uintptr_t)which;
	for (uint64_t i = 1; !atomic_load(&is_over); i++) {
		if (!collect_is_on(UINT32_MAX))
			continue;
		uint32_t text = collect_string_z("said in every run");
		struct rec_drop *record = collect_reserve(REC_DROP, 1);
		if (!record)
			continue;
		record->head.value = (uint32_t)thread + 1;
		record->count = i;
		record->reason = text;
		collect_publish(record);
		atomic_fetch_add(&written[thread], 1);
	}
	return NULL;
}

struct seen {
	uint64_t records[THREADS], last[THREADS];
	uint32_t texts, processes;
};

static void look_at_record(const struct rec_head *head, struct seen *seen)
{
	const struct rec_drop *drop = (const void *)head;
	const struct rec_string *text = (const void *)head;
	seen->processes += head->type == REC_PROCESS;
	if (head->type == REC_STRING && text->length == strlen("said in every run") &&
	    memcmp(text->text, "said in every run", text->length) == 0)
		seen->texts++;
	if (head->type != REC_DROP || head->value == 0 || head->value > THREADS)
		return;
	uint32_t thread = head->value - 1;
	assert_true(drop->count > seen->last[thread]); /* in order, none twice */
	seen->last[thread] = drop->count;
	seen->records[thread]++;
}

static void look_at_file(const char *path, struct seen *seen)
{
	static _Alignas(64) char bytes[REC_CHUNK_BYTES];
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	while (fread(bytes, 1, sizeof bytes, file) > 0) {
		const struct rec_chunk *chunk = (const void *)bytes;
		for (uint32_t slot = 2; slot < chunk->used;) {
			const struct rec_head *head =
				(const void *)(bytes + (size_t)slot * REC_SLOT);
			assert_int_not_equal(head->slots, 0);
			look_at_record(head, seen);
			slot += head->slots;
		}
		memset(bytes, 0, sizeof bytes);
	}
	fclose(file);
}

static struct seen look_at_run(const char *run)
{
	struct seen seen = {0};
	DIR *listing = opendir(run);
	assert_non_null(listing);
	for (const struct dirent *entry; (entry = readdir(listing));) {
		char path[1024];
		snprintf(path, sizeof path, "%s/%s", run, entry->d_name);
		if (strstr(path, ".spool"))
			look_at_file(path, &seen);
	}
	closedir(listing);
	return seen;
}

/* Until every thread has written so many records more. */
static void await_records(void)
{
	uint64_t before[THREADS];
	for (int i = 0; i < THREADS; i++)
		before[i] = atomic_load(&written[i]);
	for (int i = 0; i < THREADS; i++)
		while (atomic_load(&written[i]) < before[i] + LEAST)
			usleep(100);
}

static void every_run_has_what_its_threads_recorded_in_it(void **state)
{
	pthread_t threads[THREADS];
	char runs[RUNS][96];
	(void)state;
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, write_always, (void *)i);
	for (int i = 0; i < RUNS; i++) {
		make_run(runs[i], i);
		assert_true(process_join(runs[i]));
		assert_false(process_join(runs[i])); /* one at a time */
		await_records();
		collect_set_recording(false);
		process_leave();
		assert_false(collect_is_on(UINT32_MAX));
		assert_null(collect_reserve(REC_DROP, 1));
	}
	atomic_store(&is_over, true);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	uint64_t all = 0, last[THREADS] = {0};
	for (int i = 0; i < RUNS; i++) {
		struct seen seen = look_at_run(runs[i]);
		assert_int_equal(seen.processes, 1);
		assert_true(seen.texts >= 1); /* defined in each run again */
		for (int j = 0; j < THREADS; j++) {
			assert_true(seen.records[j] >= LEAST);
			assert_true(seen.last[j] > last[j]);
			last[j] = seen.last[j];
			all += seen.records[j];
		}
	}
	/* A record that is reserved while the run is left may go into a file that nobody reads any more; none is there
	 * that was not written. */
	uint64_t counted = 0;
	for (int j = 0; j < THREADS; j++)
		counted += atomic_load(&written[j]);
	assert_in_range(counted, all, all + (uint64_t)RUNS * THREADS);
}

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/headway-runs-test.XXXXXX");
	return mkdtemp(folder) ? 0 : 1;
}

static int remove_folder(void **state)
{
	char command[160];
	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_run_has_what_its_threads_recorded_in_it),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
