/* SPDX-License-Identifier: Apache-2.0 */
/* spool_test.c - spools and string ids, written by many threads and read back from the files.
 *
 * The collector's sources are linked in; each test sees only what it wrote itself (its records carry its own
 * numbers). The same program runs under ThreadSanitizer. Threads only record what they saw: an assertion that
 * fails must do so on the main thread, where cmocka can name the test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/collect.h"
#include "collect/process.h"
#include "collect/spool.h"
#include "collect/text_ids.h"

static char run[64];

/* The linker puts this in the place of collect_now (unit.cmake). 0: the real time. */
static _Atomic int64_t test_time_ns;
int64_t __real_collect_now(void);
int64_t __wrap_collect_now(void);

int64_t __wrap_collect_now(void)
{
	int64_t time = atomic_load(&test_time_ns);
	return time ? time : __real_collect_now();
}

/* ---- writing and reading ------------------------------------------------------------------------ */

/* A record of a test: some event of 'slots' slots, full of a pattern that its numbers decide. */
#define PATTERN REC_OVERHEAD
struct pattern {
	struct rec_head head; /* value: test << 24 | thread << 16 */
	uint64_t number;
	uint64_t words[];
};

static uint64_t word_of(uint64_t number, size_t i)
{
	return (number + 1) * UINT64_C(0x9e3779b97f4a7c15) + i;
}

static bool write_pattern(uint32_t value, uint64_t number, unsigned slots)
{
	struct pattern *record = collect_reserve(PATTERN, slots);
	if (!record)
		return false;
	record->head.value = value;
	record->number = number;
	for (size_t i = 0; i < slots * 4 - 2; i++)
		record->words[i] = word_of(number, i);
	collect_publish(record);
	return true;
}

static void check_pattern(const struct pattern *record)
{
	for (size_t i = 0; i < (size_t)record->head.slots * 4 - 2; i++)
		assert_int_equal(record->words[i], word_of(record->number, i));
}

struct seen {
	uint32_t value; /* of the records that count */
	uint64_t records, next, dropped, chunks;
	uint32_t type;
	/* owners: by a pattern's number, the thread that must have written it; NULL: any. Patterns then may
	 * come in any order. */
	const uint32_t *owners;
};

static void look_at_chunk(const struct rec_chunk *chunk, size_t size, struct seen *seen)
{
	uint32_t used = atomic_load_explicit((_Atomic uint32_t *)(uintptr_t)&chunk->used,
					     memory_order_acquire);
	if (used < 2)
		return;
	assert_int_equal(chunk->magic, REC_MAGIC);
	assert_true((size_t)used * REC_SLOT <= size);
	seen->chunks++;
	seen->dropped += chunk->dropped;
	uint32_t owner = chunk->tid;
	for (uint32_t slot = 2; slot < used;) {
		const struct rec_head *head = (const void *)((const char *)chunk + slot * REC_SLOT);
		assert_int_not_equal(head->slots, 0);
		assert_true(head->type < REC_TYPES);
		if (head->type == REC_OWNER)
			owner = head->value;
		if (head->type == seen->type && head->value == seen->value) {
			seen->records++;
			if (head->type == PATTERN) {
				const struct pattern *pattern = (const void *)head;
				check_pattern(pattern);
				assert_int_equal(seen->owners ? seen->owners[pattern->number]
							      : pattern->number,
						 seen->owners ? owner : seen->next);
				seen->next++;
			}
		}
		slot += head->slots;
	}
}

static void look_at_file(const char *path, struct seen *seen)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat about;
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &about), 0);
	size_t size = (size_t)about.st_size;
	char *bytes = mmap(NULL, size ? size : 1, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	for (size_t at = 0; at < size; at += REC_CHUNK_BYTES)
		look_at_chunk((const void *)(bytes + at),
			      size - at < REC_CHUNK_BYTES ? size - at : REC_CHUNK_BYTES, seen);
	munmap(bytes, size ? size : 1);
}

static struct seen look_for_owners(enum rec_type type, uint32_t value, const uint32_t *owners)
{
	struct seen seen = {.type = type, .value = value, .owners = owners};
	DIR *folder = opendir(run);
	assert_non_null(folder);
	for (struct dirent *entry; (entry = readdir(folder));) {
		char path[512];
		snprintf(path, sizeof path, "%s/%s", run, entry->d_name);
		if (strstr(path, ".spool"))
			look_at_file(path, &seen);
	}
	closedir(folder);
	return seen;
}

/* All records of a type and value, over all spools; patterns must come whole and in order. */
static struct seen look(enum rec_type type, uint32_t value)
{
	return look_for_owners(type, value, NULL);
}

static unsigned count_spools(void)
{
	unsigned n = 0;
	DIR *folder = opendir(run);
	for (const struct dirent *entry; (entry = readdir(folder));)
		n += strstr(entry->d_name, ".spool") != NULL;
	closedir(folder);
	return n;
}

/* ---- tests -------------------------------------------------------------------------------------- */

enum { THREADS = 4, EACH = 30000 };
#ifdef __SANITIZE_THREAD__
enum { MANY = EACH / 10 };
#else
enum { MANY = EACH };
#endif

static void *write_many(void *which)
{
	uint32_t value = (uint32_t)(uintptr_t)which;
	for (uint64_t i = 0; i < MANY; i++)
		write_pattern(value, i, 1 + (unsigned)(i % 7));
	return NULL;
}

static void what_threads_record_is_there_in_order(void **state)
{
	pthread_t threads[THREADS];
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, write_many, (void *)(1 << 24 | i << 16));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (uint32_t i = 0; i < THREADS; i++) {
		struct seen seen = look(PATTERN, 1 << 24 | i << 16);
		assert_int_equal(seen.records, MANY);
		assert_int_equal(seen.dropped, 0);
	}
}

static _Atomic bool writing;

static void *write_while_read(void *which)
{
	write_many(which);
	atomic_store(&writing, false);
	return NULL;
}

static void a_reader_sees_whole_records_at_any_time(void **state)
{
	pthread_t thread;
	atomic_store(&writing, true);
	pthread_create(&thread, NULL, write_while_read, (void *)(uintptr_t)(2 << 24));
	uint64_t last = 0;
	while (atomic_load(&writing)) {
		struct seen seen = look(PATTERN, 2 << 24);
		assert_true(seen.records >= last);
		last = seen.records;
	}
	pthread_join(thread, NULL);
	assert_int_equal(look(PATTERN, 2 << 24).records, MANY);
}

static void fill_pattern(struct pattern *record, uint32_t value)
{
	record->head.value = value;
	for (size_t i = 0; i < 2; i++)
		record->words[i] = word_of(0, i);
}

/* As a signal handler does that interrupts a record. */
static void a_record_inside_another_is_kept_and_so_is_the_other(void **state)
{
	uint64_t before = look(REC_INTERRUPTED, 0).records;
	struct pattern *outer = collect_reserve(PATTERN, 1);
	assert_non_null(outer);
	assert_true(write_pattern(12 << 24, 0, 1));
	uint32_t id = collect_string("in the middle of a record", 25);
	assert_int_equal(look(PATTERN, 12 << 24).records, 1);
	assert_int_equal(look(REC_INTERRUPTED, 0).records, before + 1);
	fill_pattern(outer, 3 << 24);
	collect_publish(outer);
	assert_int_equal(look(PATTERN, 3 << 24).records, 1);
	assert_int_equal(look(REC_INTERRUPTED, 0).records, before);
	assert_int_equal(look(REC_STRING, id).records, 1);
}

/* As after a longjmp out of a signal handler. */
static void a_record_that_is_never_published_is_stepped_over(void **state)
{
	uint64_t before = look(REC_INTERRUPTED, 0).records;
	assert_non_null(collect_reserve(PATTERN, 2));
	for (uint32_t i = 0; i < 10; i++)
		assert_true(write_pattern(13 << 24, i, 1));
	assert_int_equal(look(PATTERN, 13 << 24).records, 10);
	assert_int_equal(look(REC_INTERRUPTED, 0).records, before + 1);
}

static void a_record_may_be_filled_after_its_chunk_was_left(void **state)
{
	struct pattern *outer = collect_reserve(PATTERN, 1);
	assert_non_null(outer);
	const uint32_t chunks = 3, slots = 1000;
	uint32_t n = chunks * REC_CHUNK_BYTES / REC_SLOT / slots;
	for (uint32_t i = 0; i < n; i++)
		assert_true(write_pattern(14 << 24, i, slots));
	fill_pattern(outer, 15 << 24); /* a fault, if its memory is gone */
	collect_publish(outer);
	assert_int_equal(look(PATTERN, 14 << 24).records, n);
	assert_int_equal(look(PATTERN, 15 << 24).records, 0);
	assert_true(write_pattern(15 << 24, 0, 1));
	assert_int_equal(look(PATTERN, 15 << 24).records, 1);
}

static void a_record_larger_than_a_chunk_is_refused_and_counted(void **state)
{
	uint64_t before = look(PATTERN, 0).dropped;
	assert_null(collect_reserve(PATTERN, REC_CHUNK_BYTES / REC_SLOT - 1));
	assert_null(collect_reserve(PATTERN, 0));
	assert_true(write_pattern(4 << 24, 0, REC_CHUNK_BYTES / REC_SLOT - 2));
	assert_true(write_pattern(4 << 24, 1, 1));
	struct seen seen = look(PATTERN, 4 << 24);
	assert_int_equal(seen.records, 2);
	assert_int_equal(seen.dropped - before, 2);
}

enum { TEXTS = 3000 };

static void *ask_for_ids(void *ids)
{
	uint32_t *mine = ids;
	char text[32];
	for (int i = 0; i < TEXTS; i++) {
		int length = snprintf(text, sizeof text, "text number %d", i);
		mine[i] = collect_string(text, (size_t)length);
	}
	return NULL;
}

static void a_text_has_one_id_whoever_asks_and_is_defined_once(void **state)
{
	static uint32_t ids[THREADS][TEXTS];
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, ask_for_ids, ids[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < TEXTS; i++) {
		char text[32];
		size_t length;
		snprintf(text, sizeof text, "text number %d", i);
		assert_int_not_equal(ids[0][i], 0);
		for (int t = 1; t < THREADS; t++)
			assert_int_equal(ids[t][i], ids[0][i]);
		const char *kept = text_ids_text(ids[0][i], &length);
		assert_int_equal(length, strlen(text));
		assert_memory_equal(kept, text, length);
	}
	for (int i = 0; i < TEXTS; i += 500)
		assert_int_equal(look(REC_STRING, ids[0][i]).records, 1);
}

static void no_text_has_the_id_0_and_long_ones_are_cut(void **state)
{
	static char longest[REC_MAX_TEXT + 100];
	memset(longest, 'x', sizeof longest);
	size_t length;
	assert_int_equal(collect_string("", 0), 0);
	assert_int_equal(collect_string_z(NULL), 0);
	text_ids_text(collect_string(longest, sizeof longest), &length);
	assert_int_equal(length, REC_MAX_TEXT);
	assert_int_equal(text_ids_define_again(12345678), 0);
}

static void *write_against_a_limit(void *unused)
{
	uint64_t written = 0;
	for (uint64_t i = 0; i < EACH; i++)
		if (write_pattern(5 << 24, written, 1))
			written++;
	*(uint64_t *)unused = written;
	return NULL;
}

/* The limit on the size of files stands in for a full disk; both are found when a chunk is allocated. */
static void what_finds_no_room_is_counted_and_nothing_else_happens(void **state)
{
	uint64_t before = look(PATTERN, 5 << 24).dropped, written = 0;
	struct rlimit old, tight = {.rlim_cur = REC_CHUNK_BYTES};
	getrlimit(RLIMIT_FSIZE, &old);
	tight.rlim_max = old.rlim_max;
	setrlimit(RLIMIT_FSIZE, &tight);
	pthread_t thread;
	pthread_create(&thread, NULL, write_against_a_limit, &written);
	pthread_join(thread, NULL);
	setrlimit(RLIMIT_FSIZE, &old);
	struct seen seen = look(PATTERN, 5 << 24);
	assert_true(written > 0 && written < EACH);
	assert_int_equal(seen.records, written);
	assert_int_equal(seen.dropped - before, EACH - written);
}

struct ring_written {
	uint32_t text;               /* id of a text defined between the two rounds */
	uint64_t kept;               /* records that found room */
	off_t size_first, size_last; /* bytes of the spool after each round, -1: no spool */
};

static off_t own_spool_size(void)
{
	struct stat about;
	char path[128];
	snprintf(path, sizeof path, "%s/%u.%u.0.spool", run, process.pid, collect_tid());
	return stat(path, &about) == 0 ? about.st_size : -1;
}

static void *write_ring(void *result)
{
	struct ring_written *written = result;
	for (uint64_t i = 0; i < EACH; i++)
		written->kept += write_pattern(6 << 24, i, 1);
	written->text = collect_string_z("defined in a ring");
	written->size_first = own_spool_size();
	atomic_fetch_add(&test_time_ns, INT64_C(1100) * 1000 * 1000);
	for (uint64_t i = 0; i < EACH / 2; i++)
		written->kept += write_pattern(7 << 24, i, 1);
	written->size_last = own_spool_size();
	return NULL;
}

/* A forked child has no spools of earlier tests, so that the thread's spool is made for a ring. */
static void a_ring_takes_its_oldest_chunks_again_and_keeps_definitions(void **state)
{
	struct ring_written *written = mmap(NULL, sizeof *written, PROT_READ | PROT_WRITE,
					    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child = fork();
	if (child == 0) {
		atomic_store(&test_time_ns, __real_collect_now());
		/* The settings are read-only in a process of a run. */
		mprotect(collect_control, REC_STATE_OFFSET, PROT_READ | PROT_WRITE);
		collect_control->keep_s = 1;
		pthread_t thread;
		pthread_create(&thread, NULL, write_ring, written);
		pthread_join(thread, NULL);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	assert_int_equal(written->kept, EACH + EACH / 2);
	assert_true(written->size_first > REC_CHUNK_BYTES);
	assert_int_equal(written->size_last, written->size_first);
	assert_int_equal(look(REC_STRING, written->text).records, 1);
	munmap(written, sizeof *written);
}

/* ---- spools that go from thread to thread ------------------------------------------------------- */

enum { SHORT_THREADS = 200, SPAWNERS = 4 };
static uint32_t short_tids[SPAWNERS * SHORT_THREADS];

struct short_thread {
	uint32_t value;
	uint64_t number;
};

static void *write_one(void *which)
{
	const struct short_thread *thread = which;
	short_tids[thread->number] = collect_tid();
	write_pattern(thread->value, thread->number, 1);
	return NULL;
}

static void a_short_thread_goes_on_in_the_spool_of_one_that_ended(void **state)
{
	unsigned before = count_spools();
	for (uint64_t i = 0; i < SHORT_THREADS; i++) {
		struct short_thread one = {8 << 24, i};
		pthread_t thread;
		pthread_create(&thread, NULL, write_one, &one);
		pthread_join(thread, NULL);
	}
	assert_true(count_spools() <= before + 1);
	struct seen seen = look_for_owners(PATTERN, 8 << 24, short_tids);
	assert_int_equal(seen.records, SHORT_THREADS);
	assert_int_equal(look(REC_THREAD, short_tids[SHORT_THREADS - 1]).records, 1);
}

static void *spawn_short_threads(void *which)
{
	for (uint64_t i = 0; i < SHORT_THREADS; i++) {
		struct short_thread one = {9 << 24, (uintptr_t)which * SHORT_THREADS + i};
		pthread_t thread;
		pthread_create(&thread, NULL, write_one, &one);
		pthread_join(thread, NULL);
	}
	return NULL;
}

enum { FILLERS = 32 };
static pthread_barrier_t all_there;

/* Fills the thread's chunk to the last slot, if it is a small one that would grow. */
static void *fill_small_chunk(void *unused)
{
	const struct spool *spool = spool_own();
	pthread_barrier_wait(&all_there);
	for (uint64_t i = 0;
	     spool->events.limit < SPOOL_FILE_SLOTS && spool->events.used < spool->events.limit;
	     i++)
		write_pattern(16 << 24, 0, 1);
	return unused;
}

static void *write_one_together(void *which)
{
	spool_own();
	pthread_barrier_wait(&all_there);
	return write_one(which);
}

static void the_thread_after_one_that_filled_its_chunk_owns_its_records(void **state)
{
	pthread_t threads[FILLERS];
	struct short_thread which[FILLERS];
	pthread_barrier_init(&all_there, NULL, FILLERS);
	for (int i = 0; i < FILLERS; i++)
		pthread_create(&threads[i], NULL, fill_small_chunk, NULL);
	for (int i = 0; i < FILLERS; i++)
		pthread_join(threads[i], NULL);
	for (uint32_t i = 0; i < FILLERS; i++) {
		which[i] = (struct short_thread){17 << 24, i};
		pthread_create(&threads[i], NULL, write_one_together, &which[i]);
	}
	for (int i = 0; i < FILLERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(look_for_owners(PATTERN, 17 << 24, short_tids).records, FILLERS);
}

static void threads_that_live_at_the_same_time_never_share_a_spool(void **state)
{
	unsigned before = count_spools();
	pthread_t spawners[SPAWNERS];
	for (uintptr_t i = 0; i < SPAWNERS; i++)
		pthread_create(&spawners[i], NULL, spawn_short_threads, (void *)i);
	for (int i = 0; i < SPAWNERS; i++)
		pthread_join(spawners[i], NULL);
	assert_int_equal(look_for_owners(PATTERN, 9 << 24, short_tids).records,
			 SPAWNERS * SHORT_THREADS);
	/* A spawner and a thread of its each, at most. */
	assert_true(count_spools() <= before + 2 * SPAWNERS);
}

static void a_child_does_not_write_to_the_spools_its_parent_keeps(void **state)
{
	struct short_thread one = {10 << 24, 0};
	pid_t child = fork();
	if (child == 0) {
		pthread_t thread;
		pthread_create(&thread, NULL, write_one, &one);
		pthread_join(thread, NULL);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	char path[128];
	snprintf(path, sizeof path, "%s/%u.", run, (unsigned)child);
	DIR *folder = opendir(run);
	unsigned files = 0;
	for (const struct dirent *entry; (entry = readdir(folder));)
		files += strncmp(entry->d_name, strrchr(path, '/') + 1,
				 strlen(strrchr(path, '/') + 1)) == 0;
	closedir(folder);
	assert_int_equal(look(PATTERN, 10 << 24).records, 1);
	assert_int_equal(files, 2); /* the child's first thread, which registered, and the other */
}

/* ---- a disk that runs short --------------------------------------------------------------------- */

struct full_written {
	uint64_t kept, asked;
	struct rec_chunk chunk; /* the head of the thread's chunk at the end */
};

static void *write_until_full(void *result)
{
	struct full_written *written = result;
	for (; written->asked < EACH; written->asked++)
		written->kept += write_pattern(11 << 24, written->kept, 1);
	written->chunk = *spool_own()->events.chunk;
	return NULL;
}

/* In a forked child, whose spools are its own: the limits of the control page are set before its first record. */
static struct full_written write_in_child(uint64_t keep_free, uint64_t max_bytes)
{
	struct full_written *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child = fork();
	if (child == 0) {
		write_pattern(12 << 24, 0, 1); /* the child's first spool has its room */
		mprotect(collect_control, REC_STATE_OFFSET, PROT_READ | PROT_WRITE);
		collect_control->keep_free = keep_free;
		collect_control->max_bytes = max_bytes;
		write_until_full(shared);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	struct full_written written = *shared;
	munmap(shared, sizeof *shared);
	return written;
}

static void a_spool_stops_where_the_reserve_of_the_disk_begins(void **state)
{
	struct full_written written = write_in_child(UINT64_MAX / 2, 0);
	assert_true(written.kept > 0 && written.kept < EACH);
	assert_int_equal(written.chunk.why, REC_FULL_DISK);
	assert_true(written.chunk.full > 0);
	assert_int_equal(written.chunk.dropped, EACH - written.kept);
}

static void a_spool_stops_at_the_bound_of_the_run(void **state)
{
	struct full_written written = write_in_child(0, 2 * REC_CHUNK_BYTES);
	assert_true(written.kept * REC_SLOT > REC_CHUNK_BYTES);
	assert_true(written.kept * REC_SLOT <= 2 * REC_CHUNK_BYTES);
	assert_int_equal(written.chunk.why, REC_FULL_BOUND);
	assert_int_equal(written.chunk.dropped, EACH - written.kept);
}

static void *write_ring_on_a_short_disk(void *result)
{
	struct ring_written *written = result;
	char path[128];
	struct stat about;
	snprintf(path, sizeof path, "%s/%u.%u.0.spool", run, process.pid, collect_tid());
	for (uint64_t i = 0; i < EACH; i++)
		written->kept += write_pattern(13 << 24, i, 1);
	written->size_first = stat(path, &about) == 0 ? about.st_blocks * 512 : -1;
	/* The parent says that the disk is short: the ring shrinks, and goes on in what it has. */
	collect_control->full = REC_FULL_DISK;
	for (uint64_t i = 0; i < EACH; i++)
		written->kept += write_pattern(14 << 24, i, 1);
	written->size_last = stat(path, &about) == 0 ? about.st_blocks * 512 : -1;
	return NULL;
}

static void a_ring_on_a_short_disk_loses_its_oldest_chunks_and_no_new_record(void **state)
{
	struct ring_written *written = mmap(NULL, sizeof *written, PROT_READ | PROT_WRITE,
					    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child = fork();
	if (child == 0) {
		mprotect(collect_control, REC_STATE_OFFSET, PROT_READ | PROT_WRITE);
		collect_control->keep_s = 1000;
		pthread_t thread;
		pthread_create(&thread, NULL, write_ring_on_a_short_disk, written);
		pthread_join(thread, NULL);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	collect_control->full = REC_FULL_NO;
	assert_int_equal(written->kept, 2 * EACH);
	assert_true(written->size_last <= written->size_first);
	munmap(written, sizeof *written);
}

/* ---- a run of its own --------------------------------------------------------------------------- */

static bool write_file(const char *name, const void *bytes, size_t size)
{
	char path[128];
	snprintf(path, sizeof path, "%s/%s", run, name);
	FILE *file = fopen(path, "wb");
	return file && fwrite(bytes, size, 1, file) == 1 && fclose(file) == 0;
}

static int make_run(void **state)
{
	static const struct rec_control control = {.magic = REC_MAGIC,
						   .version = REC_CONTROL_VERSION,
						   .recording = 1,
						   .traces = UINT32_MAX};
	snprintf(run, sizeof run, "/tmp/headway-spool-test.XXXXXX");
	if (!mkdtemp(run))
		return 1;
	if (!write_file("control", &control, REC_CONTROL_BYTES) ||
	    !write_file("state", &control.recording, REC_STATE_BYTES))
		return 1;
	return process_join(run) ? 0 : 1;
}

static int remove_run(void **state)
{
	DIR *folder = opendir(run);
	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		char path[512];
		snprintf(path, sizeof path, "%s/%s", run, entry->d_name);
		unlink(path);
	}
	if (folder)
		closedir(folder);
	return rmdir(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_threads_record_is_there_in_order),
		cmocka_unit_test(a_reader_sees_whole_records_at_any_time),
		cmocka_unit_test(a_record_inside_another_is_kept_and_so_is_the_other),
		cmocka_unit_test(a_record_that_is_never_published_is_stepped_over),
		cmocka_unit_test(a_record_may_be_filled_after_its_chunk_was_left),
		cmocka_unit_test(a_record_larger_than_a_chunk_is_refused_and_counted),
		cmocka_unit_test(a_text_has_one_id_whoever_asks_and_is_defined_once),
		cmocka_unit_test(no_text_has_the_id_0_and_long_ones_are_cut),
		cmocka_unit_test(what_finds_no_room_is_counted_and_nothing_else_happens),
		cmocka_unit_test(a_ring_takes_its_oldest_chunks_again_and_keeps_definitions),
		cmocka_unit_test(a_short_thread_goes_on_in_the_spool_of_one_that_ended),
		cmocka_unit_test(threads_that_live_at_the_same_time_never_share_a_spool),
		cmocka_unit_test(the_thread_after_one_that_filled_its_chunk_owns_its_records),
		cmocka_unit_test(a_child_does_not_write_to_the_spools_its_parent_keeps),
		cmocka_unit_test(a_spool_stops_where_the_reserve_of_the_disk_begins),
		cmocka_unit_test(a_spool_stops_at_the_bound_of_the_run),
		cmocka_unit_test(a_ring_on_a_short_disk_loses_its_oldest_chunks_and_no_new_record),
	};
	return cmocka_run_group_tests(tests, make_run, remove_run);
}
