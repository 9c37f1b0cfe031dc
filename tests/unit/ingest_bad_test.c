/* SPDX-License-Identifier: Apache-2.0 */
/* ingest_bad_test.c - runs made by hand: what is lost, and what is wrong with spools after a crash. */
#include "ingest_records.h"

static void losses_and_notes_reach_the_report(void **state)
{
	struct made_run run = make_run();
	run.control.dropped = 4;
	struct made_spool spool = make_spool(&run, 80, 80, 0);
	put_process(&spool, 1, 0);
	put_string(&spool, 1, "CUPTI had no room");
	struct rec_drop *drop = put_record(&spool, REC_DROP, 0, 0, sizeof *drop);
	drop->count = 30;
	drop->reason = 1;
	put_text(&spool, REC_NOTE, 2, "another tool", 12);
	put_work(&spool, REC_KERNEL, 0, -epoch, 1, 7); /* start 0 */
	spool.chunk->head.dropped = 200;
	end_spool(&spool);
	struct hwy_trace *trace = ingest(&run);
	assert_int_equal(lost(trace), 4 + 30 + 200 + 1);
	assert_true(was_said(trace, "another tool"));
	assert_string_equal(hwy_str(trace, trace->drops[0].reason), "CUPTI had no room");
	assert_int_equal(count(trace, HWY_KERNEL), 0);
	hwy_trace_free(trace);
}

static void damaged_chunks_and_records_are_counted_and_the_rest_is_kept(void **state)
{
	struct made_run run = make_run();
	struct made_spool spool = make_spool(&run, 81, 81, 0);
	put_process(&spool, 1, 0);
	put_call(&spool, 211, 100, 1);
	/* a text that says it is longer than its record */
	struct rec_string *text = put_record(&spool, REC_STRING, 0, 1, REC_SLOT);
	text->length = 4000;
	/* a kernel in one slot, a type of the future, a record of no length */
	put_record(&spool, REC_KERNEL, 0, 0, REC_SLOT);
	put_record(&spool, 200, 0, 0, 3 * REC_SLOT);
	put_call(&spool, 211, 200, 2);
	struct rec_head *end = put_record(&spool, REC_API, 0, 0, REC_SLOT);
	end->slots = 0;
	put_call(&spool, 211, 300, 3);
	write_chunk(&spool);
	begin_chunk(&spool);
	put_call(&spool, 211, 400, 4);
	spool.chunk->head.magic++;
	write_chunk(&spool);
	begin_chunk(&spool);
	put_call(&spool, 211, 500, 5);
	spool.used = REC_CHUNK_BYTES / REC_SLOT + 1;
	write_chunk(&spool);
	begin_chunk(&spool);
	put_call(&spool, 211, 600, 6);
	end_spool(&spool);
	struct hwy_trace *trace = ingest(&run);
	const struct hwy_strip *api = only(trace, HWY_API);
	assert_int_equal(api->rows, 3);
	assert_int_equal(hwy_get(api, HWY_START, 2), 600);
	assert_string_equal(name_of(trace, api, 0), "runtime call 211");
	assert_int_equal(lost(trace), 5);
	hwy_trace_free(trace);
}

static void a_file_that_ends_early_gives_what_it_has(void **state)
{
	struct made_run run = make_run();
	struct made_spool spool = make_spool(&run, 82, 82, 0);
	put_process(&spool, 1, 0);
	put_call(&spool, 211, 100, 1);
	uint32_t used = spool.used;
	end_spool(&spool);
	char path[512];
	snprintf(path, sizeof path, "%s/82.82.0.spool", run.path);
	assert_int_equal(truncate(path, (off_t)used * REC_SLOT), 0);
	struct made_spool shorter = make_spool(&run, 83, 83, 0);
	put_process(&shorter, 1, 0);
	end_spool(&shorter);
	snprintf(path, sizeof path, "%s/83.83.0.spool", run.path);
	assert_int_equal(truncate(path, 96), 0);
	struct hwy_trace *trace = ingest(&run);
	assert_int_equal(count(trace, HWY_API), 1);
	assert_int_equal(trace->n_processes, 1);
	assert_int_equal(lost(trace), 1);
	hwy_trace_free(trace);
}

/* Reading a report refuses a trace whose references lead nowhere: what is read back is sound. Accesses beyond a
 * spool's end are found by the builds with AddressSanitizer only. */
static void ingest_and_read_back(struct made_run *run, struct made_spool *spool, const char *path,
				 int round)
{
	end_spool(spool);
	struct hwy_trace *trace = ingest(run);
	struct hwy_err err = {""};
	if (!hwy_file_write(trace, path, true, NULL, &err))
		fail_msg("round %d: %s", round, err.text);
	struct hwy_trace *back = hwy_file_open(path, &err);
	if (!back)
		fail_msg("round %d: %s", round, err.text);
	assert_string_equal(difference(trace, back, &err), "");
	hwy_trace_free(back);
	hwy_trace_free(trace);
}

static void put_garbage(struct made_spool *spool, struct dice *dice, int round)
{
	for (int i = 0; i < 200; i++) {
		size_t slots = 1 + roll(dice) % 6;
		uint64_t *words =
			put_record(spool, (enum rec_type)(roll(dice) % (REC_TYPES + 2)),
				   (uint8_t)roll(dice), (uint32_t)roll_any(dice), slots * REC_SLOT);
		for (size_t w = 1; w < slots * 4; w++)
			words[w] = (uint64_t)roll_any(dice) >> roll(dice) % 64;
	}
	for (int i = 0; i < round % 5; i++) /* and bytes anywhere */
		spool->chunk->bytes[64 + roll(dice) % (spool->used * REC_SLOT - 64)] =
			(char)roll(dice);
}

/* Operators that overlap, places that do not exist, nodes that lead to each other in circles: all numbers are small, so
 * that the records do refer to each other. */
static void put_garbage_of_frameworks(struct made_spool *spool, struct dice *dice)
{
	put_string(spool, 1, "aten::add");
	put_string(spool, 2, "GPT.blocks.3");
	for (int i = 0; i < 200; i++) {
		size_t slots = 1 + roll(dice) % 3;
		enum rec_type type = (enum rec_type)(REC_OPERATOR + roll(dice) % 5);
		uint64_t *words = put_record(spool, type, (uint8_t)(roll(dice) % 9),
					     (uint32_t)roll(dice) % 5, slots * REC_SLOT);
		for (size_t w = 1; w < slots * 4; w++)
			words[w] = (roll(dice) % 6) << 32 | roll(dice) % 6;
		if (type != REC_PLACE && type != REC_LAYER) { /* times */
			words[1] = (uint64_t)epoch + roll(dice) % 100;
			words[2] = roll(dice) % 50;
		}
	}
}

static void garbage_becomes_a_trace_that_a_report_can_hold(void **state)
{
	struct dice dice = {42};
	char path[512];
	char *folder = make_folder();
	snprintf(path, sizeof path, "%s/garbage.hwy", folder);
	for (int round = 0; round < 400; round++) {
		struct made_run run = make_run();
		struct made_spool spool = make_spool(&run, 90, 90, 0);
		put_process(&spool, 1, 0);
		put_cuda(&spool);
		if (round < 300)
			put_garbage(&spool, &dice, round);
		else
			put_garbage_of_frameworks(&spool, &dice);
		ingest_and_read_back(&run, &spool, path, round);
	}
	drop_folder(folder);
}

static void a_folder_that_is_no_run_is_refused(void **state)
{
	struct made_run run = make_run();
	struct hwy_err err;
	assert_null(ingest_run(run.path, NULL, &err));
	assert_non_null(strstr(err.text, "not a run directory"));
	remove_run(&run);
	assert_null(ingest_run(run.path, NULL, &err));
	assert_non_null(strstr(err.text, "No such file"));
}

static void keep_leaves_out_what_is_old(void **state)
{
	struct made_run run = make_run();
	run.control.keep_s = 2;
	struct made_spool spool = make_spool(&run, 84, 84, 0);
	put_process(&spool, 1, 0);
	for (int i = 0; i < 10; i++)
		put_call(&spool, 211, i * INT64_C(1000000000) + 1, (uint32_t)i + 1);
	end_spool(&spool);
	struct hwy_trace *trace = ingest(&run);
	assert_int_equal(only(trace, HWY_API)->rows, 3);
	assert_true(was_said(trace, "7 events older than the last 2 s"));
	hwy_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losses_and_notes_reach_the_report),
		cmocka_unit_test(damaged_chunks_and_records_are_counted_and_the_rest_is_kept),
		cmocka_unit_test(a_file_that_ends_early_gives_what_it_has),
		cmocka_unit_test(garbage_becomes_a_trace_that_a_report_can_hold),
		cmocka_unit_test(a_folder_that_is_no_run_is_refused),
		cmocka_unit_test(keep_leaves_out_what_is_old),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
