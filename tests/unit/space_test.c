/* SPDX-License-Identifier: Apache-2.0 */
/* space_test.c - how much of a disk a recording takes, what it gives back, and how the report tells of it. */
#include "make_trace.h"

#include <fcntl.h>

#include "ingest_records.h"
#include "run/give_back.h"
#include "run/space.h"

enum { PER_CHUNK = (REC_CHUNK_BYTES - (int)sizeof(struct rec_chunk)) / REC_SLOT };

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

/* ---- bounds ------------------------------------------------------------------------------------- */

static void a_reserve_of_1_gib_or_5_percent_is_left_free(void **state)
{
	struct space_place place;
	assert_true(space_look("/", &place));
	assert_true(place.reserve <= GIB);
	assert_true(place.reserve == GIB || place.reserve == place.size / 20);
	assert_true(place.keep_free >= place.reserve && place.keep_free <= 2 * place.reserve);
	assert_false(space_look("/no/such/folder", &place));
}

static void the_bound_is_half_of_the_room_and_less_in_memory(void **state)
{
	struct space_place disk = {.size = 1000 * GIB, .free = 500 * GIB, .keep_free = GIB};
	assert_int_equal(space_default_bound(&disk, false), 16 * GIB);
	disk.free = 5 * GIB;
	assert_int_equal(space_default_bound(&disk, false), 2 * GIB);
	disk.in_memory = true;
	assert_int_equal(space_default_bound(&disk, false), 512 * MIB);
	disk.free = 3 * GIB;
	assert_int_equal(space_default_bound(&disk, false), 256 * MIB);
	disk.reserve = 100 * MIB;
	assert_int_equal(space_default_bound(&disk, true), 100 * MIB);
	disk.free = GIB / 2;
	assert_int_equal(space_default_bound(&disk, false), 0);
}

static void a_file_in_memory_is_told_from_one_on_a_disk(void **state)
{
	struct space_place place;
	if (space_look("/dev/shm", &place))
		assert_true(place.in_memory);
	assert_true(space_look("/proc", &place));
	assert_false(place.in_memory);
}

static void a_spool_grows_only_where_enough_stays_free(void **state)
{
	struct rec_control control = {.keep_free = 1};
	FILE *file = tmpfile();
	assert_int_equal(space_refusal(fileno(file), &control, 1), REC_FULL_NO);
	control.keep_free = UINT64_MAX / 2;
	assert_int_equal(space_refusal(fileno(file), &control, 1), REC_FULL_DISK);
	control.keep_free = 0;
	control.full = REC_FULL_BOUND;
	assert_int_equal(space_refusal(fileno(file), &control, 1), REC_FULL_BOUND);
	fclose(file);
}

/* ---- giving back --------------------------------------------------------------------------------- */

static void put_os_call(struct made_spool *spool, int64_t start)
{
	struct rec_os *call = put_record(spool, REC_OS, 0, 1, sizeof *call);
	call->start = epoch + start;
	call->duration = 1;
}

/* A spool of three chunks: texts among calls, of which call i begins at i + 1 ns. */
static void make_long_spool(const struct made_run *run, uint32_t pid)
{
	struct made_spool spool = make_spool(run, pid, pid, 0);
	put_process(&spool, 1, 0);
	put_string(&spool, 1, "read");
	for (int i = 0; i < 2 * PER_CHUNK + 100; i++) {
		if (i == PER_CHUNK / 2)
			put_string(&spool, 2, "defined in the middle");
		if (i == PER_CHUNK + 100)
			put_range(&spool, REC_MARK, 2, 50, 0);
		put_os_call(&spool, i + 1);
	}
	end_spool(&spool);
}

static long blocks_of(const struct made_run *run, uint32_t pid)
{
	char path[512];
	struct stat about;
	snprintf(path, sizeof path, "%s/%u.%u.0.spool", run->path, pid, pid);
	return stat(path, &about) == 0 ? (long)about.st_blocks * 512 : -1;
}

static const struct hwy_drop *drop_of(const struct hwy_trace *trace, const char *reason)
{
	for (uint32_t i = 0; i < trace->n_drops; i++)
		if (strstr(hwy_str(trace, trace->drops[i].reason), reason))
			return &trace->drops[i];
	return NULL;
}

static void the_oldest_events_are_given_back_and_definitions_stay(void **state)
{
	uint32_t pid = (uint32_t)getpid(); /* a process that lives: its last chunk is in use */
	struct made_run run = make_run();
	make_long_spool(&run, pid);
	int folder = open(run.path, O_RDONLY | O_DIRECTORY);
	struct give_back *give_back = give_back_open(folder);
	long before = blocks_of(&run, pid);
	uint64_t given = give_back_events(give_back, 1);
	long after = blocks_of(&run, pid);
	uint64_t more = give_back_events(give_back, UINT64_MAX);
	assert_int_equal(give_back_events(give_back, UINT64_MAX), 0);
	give_back_close(give_back);
	close(folder);
	struct hwy_trace *trace = ingest(&run);
	if (given == 0) {
		hwy_trace_free(trace);
		print_message("no holes can be made in files here\n");
		skip();
	}
	assert_true(given >= REC_CHUNK_BYTES / 2 && after <= before);
	assert_true(more > 0);
	uint32_t kept = count(trace, HWY_OS), marks = count(trace, HWY_RANGE);
	assert_true(kept > 100 && kept < 1000);
	assert_string_equal(name_of(trace, only(trace, HWY_OS), 0), "read");
	assert_int_equal(trace->n_processes, 1);
	const struct hwy_drop *drop = drop_of(trace, "given back to the disk");
	assert_non_null(drop);
	assert_int_equal(drop->count + kept + marks, 2 * PER_CHUNK + 101);
	assert_int_equal(lost(trace), drop->count); /* nothing is damaged */
	assert_true(was_said(trace, "the program needed their room on the disk"));
	hwy_trace_free(trace);
}

static void a_process_that_has_ended_gives_its_last_chunk_too(void **state)
{
	struct made_run run = make_run();
	make_long_spool(&run, 0x7fffff00); /* above every pid */
	int folder = open(run.path, O_RDONLY | O_DIRECTORY);
	struct give_back *give_back = give_back_open(folder);
	uint64_t given = give_back_events(give_back, UINT64_MAX);
	give_back_close(give_back);
	close(folder);
	struct hwy_trace *trace = ingest(&run);
	assert_true(given == 0 || count(trace, HWY_OS) < 400);
	hwy_trace_free(trace);
}

static void a_damaged_spool_is_given_back_as_far_as_it_can_be_read(void **state)
{
	struct made_run run = make_run();
	struct made_spool spool = make_spool(&run, 0x7fffff00, 1, 0);
	put_process(&spool, 1, 0);
	for (int i = 0; i < 1000; i++)
		put_os_call(&spool, i + 1);
	struct rec_head *broken = put_record(&spool, REC_OS, 0, 1, REC_SLOT);
	broken->slots = UINT16_MAX;
	for (int i = 0; i < 1000; i++)
		put_os_call(&spool, i + 1);
	end_spool(&spool);
	int folder = open(run.path, O_RDONLY | O_DIRECTORY);
	struct give_back *give_back = give_back_open(folder);
	uint64_t given = give_back_events(give_back, UINT64_MAX);
	give_back_close(give_back);
	close(folder);
	struct hwy_trace *trace = ingest(&run);
	const struct hwy_drop *drop = drop_of(trace, "given back");
	assert_int_equal(drop ? drop->count : 0, given ? 1000 : 0);
	assert_int_equal(drop_of(trace, "damaged")->count, 1);
	hwy_trace_free(trace);
}

/* ---- what the report tells ------------------------------------------------------------------------ */

static void losses_have_the_time_until_there_is_room_again_and_a_reason(void **state)
{
	struct made_run run = make_run();
	struct made_spool spool = make_spool(&run, 90, 90, 0);
	put_process(&spool, 1, 0);
	spool.chunk->head.dropped = 40;
	spool.chunk->head.full = epoch + 2500000000;
	spool.chunk->head.why = REC_FULL_DISK;
	write_chunk(&spool);
	begin_chunk(&spool);
	spool.chunk->head.opened = epoch + 4000000000;
	spool.chunk->head.dropped = 2;
	spool.chunk->head.full = epoch + 6000000000;
	spool.chunk->head.why = REC_FULL_BOUND;
	put_exit(&spool, 0, 8000000000);
	end_spool(&spool);
	struct hwy_trace *trace = ingest(&run);
	assert_int_equal(trace->n_drops, 2);
	assert_int_equal(trace->drops[0].count, 40);
	assert_int_equal(trace->drops[0].from, 2500000000);
	assert_int_equal(trace->drops[0].to, 4000000000);
	assert_int_equal(trace->drops[1].from, 6000000000);
	assert_int_equal(trace->drops[1].to, 8000000000);
	assert_true(was_said(
		trace, "40 records of 2.500 s to 4.000 s were not kept: no more than its reserve"));
	assert_true(was_said(
		trace,
		"2 records of 6.000 s to 8.000 s were not kept: the recording was as large"));
	hwy_trace_free(trace);
}

static void damaged_times_and_reasons_of_losses_are_not_believed(void **state)
{
	struct made_run run = make_run();
	struct made_spool spool = make_spool(&run, 91, 91, 0);
	put_process(&spool, 1, 0);
	spool.chunk->head.dropped = 7;
	spool.chunk->head.full = INT64_MIN;
	spool.chunk->head.why = 200;
	spool.chunk->head.given_back = UINT32_MAX;
	spool.chunk->head.opened = INT64_MAX;
	end_spool(&spool);
	struct hwy_trace *trace = ingest(&run);
	assert_int_equal(lost(trace), 7 + (uint64_t)UINT32_MAX);
	for (uint32_t i = 0; i < trace->n_drops; i++)
		assert_int_equal(trace->drops[i].from, HWY_NONE);
	hwy_trace_free(trace);
}

static void threads_without_a_file_lost_their_records_when_the_parent_saw_no_room(void **state)
{
	struct made_run run = make_run();
	run.control.dropped = 9;
	struct made_spool parent = make_spool(&run, 0, 0, 0);
	struct rec_time *room = put_record(&parent, REC_ROOM, 0, REC_FULL_DISK, sizeof *room);
	room->time = epoch + 1000000000;
	room = put_record(&parent, REC_ROOM, 0, REC_FULL_NO, sizeof *room);
	room->time = epoch + 3000000000;
	end_spool(&parent);
	struct hwy_trace *trace = ingest(&run);
	assert_true(was_said(trace, "9 records of 1.000 s to 3.000 s were not kept: no more than"));
	hwy_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reserve_of_1_gib_or_5_percent_is_left_free),
		cmocka_unit_test(the_bound_is_half_of_the_room_and_less_in_memory),
		cmocka_unit_test(a_file_in_memory_is_told_from_one_on_a_disk),
		cmocka_unit_test(a_spool_grows_only_where_enough_stays_free),
		cmocka_unit_test(the_oldest_events_are_given_back_and_definitions_stay),
		cmocka_unit_test(a_process_that_has_ended_gives_its_last_chunk_too),
		cmocka_unit_test(a_damaged_spool_is_given_back_as_far_as_it_can_be_read),
		cmocka_unit_test(losses_have_the_time_until_there_is_room_again_and_a_reason),
		cmocka_unit_test(damaged_times_and_reasons_of_losses_are_not_believed),
		cmocka_unit_test(
			threads_without_a_file_lost_their_records_when_the_parent_saw_no_room),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
