/* SPDX-License-Identifier: Apache-2.0 */
/* ingest_counters_test.c - what the watcher wrote about GPUs, from its records to lanes and properties of a trace. */
#include "ingest_records.h"

#include <math.h>

#include "spool/record_counters.h"

enum { PID = 40, TEXT = REC_COUNTER_FIRST_TEXT };
static const uint8_t used[16] = {1, 2, 3}, unused[16] = {9};
#define SECOND INT64_C(1000000000)

struct made {
	struct made_run run;
	struct made_spool program, watcher;
};

static void put_device(struct made_spool *spool, uint32_t number, const uint8_t uuid[16])
{
	struct rec_counter_device *device =
		put_record(spool, REC_COUNTER_DEVICE, 0, number, sizeof *device);
	memcpy(device->uuid, uuid, 16);
	device->most_sm_mhz = 1980;
}

static void put_lane(struct made_spool *spool, uint32_t number, uint32_t device, uint8_t flags)
{
	struct rec_counter_lane *lane =
		put_record(spool, REC_COUNTER_LANE, flags, number, sizeof *lane);
	lane->device = device;
	lane->name = TEXT;
	lane->unit = TEXT + 1;
}

static void put_value(struct made_spool *spool, uint32_t lane, int64_t time, double value)
{
	struct rec_counter_value *record =
		put_record(spool, REC_COUNTER_VALUE, 0, lane, sizeof *record);
	record->time = epoch + time;
	record->value = value;
}

static void put_total(struct made_spool *spool, uint32_t device, int64_t time, uint64_t value,
		      bool is_first)
{
	struct rec_counter_total *record = put_record(
		spool, REC_COUNTER_TOTAL, is_first ? REC_TOTAL_FIRST : 0, device, sizeof *record);
	record->time = epoch + time;
	record->kind = REC_TOTAL_POWER_CAP;
	record->value = value;
}

/* A program with one kernel on the device 'used' that ends after 100 s. */
static struct made begin(void)
{
	struct made made = {.run = make_run()};
	made.program = make_spool(&made.run, PID, PID, 0);
	made.watcher = make_spool(&made.run, 0, 0, 0);
	put_process(&made.program, 1, 5);
	put_cuda(&made.program);
	struct rec_device *device =
		put_record(&made.program, REC_DEVICE, 0, 0, sizeof(struct rec_device));
	memcpy(device->uuid, used, 16);
	put_work(&made.program, REC_KERNEL, 1, 1000, 9, 13);
	put_exit(&made.program, 0, 100 * SECOND);
	put_string(&made.watcher, TEXT, "SM Clock");
	put_string(&made.watcher, TEXT + 1, "Hz");
	put_device(&made.watcher, 0, unused);
	put_device(&made.watcher, 1, used);
	return made;
}

static struct hwy_trace *end(struct made *made)
{
	end_spool(&made->program);
	end_spool(&made->watcher);
	return ingest(&made->run);
}

/* The strip of the only counter lane; NULL where there is none. */
static const struct hwy_strip *counter(const struct hwy_trace *trace)
{
	const struct hwy_strip *found = NULL;
	for (uint32_t i = 0; i < trace->n_strips; i++)
		if (trace->strips[i].kind == HWY_COUNTER) {
			assert_null(found);
			found = &trace->strips[i];
		}
	return found;
}

static double value_at(const struct hwy_strip *strip, uint32_t row)
{
	double value;
	int64_t bits = hwy_get(strip, HWY_VALUE, row);
	memcpy(&value, &bits, sizeof value);
	return value;
}

static void values_of_a_used_device_are_a_lane_of_it(void **state)
{
	(void)state;
	struct made made = begin();
	put_lane(&made.watcher, 0, 1, 0);
	put_value(&made.watcher, 0, 10, 1.5);
	put_value(&made.watcher, 0, 20, -2.25);
	struct hwy_trace *trace = end(&made);
	const struct hwy_strip *strip = counter(trace);
	assert_non_null(strip);
	const struct hwy_lane *lane = &trace->lanes[strip->lane];
	assert_string_equal(hwy_str(trace, lane->name), "SM Clock");
	assert_string_equal(hwy_str(trace, lane->unit), "Hz");
	assert_int_equal(lane->device, 0);
	assert_int_equal(lane->process, HWY_NONE);
	assert_int_equal(lane->value_type, HWY_PAYLOAD_DOUBLE);
	assert_int_equal(strip->rows, 2);
	assert_true(value_at(strip, 0) == 1.5 && value_at(strip, 1) == -2.25);
	assert_int_equal(hwy_get(strip, HWY_START, 1), 20);
	hwy_trace_free(trace);
}

static void a_device_that_the_program_does_not_use_has_no_lane_and_no_property(void **state)
{
	(void)state;
	struct made made = begin();
	put_lane(&made.watcher, 0, 0, 0);
	put_value(&made.watcher, 0, 10, 1);
	put_total(&made.watcher, 0, 10, 1, true);
	put_total(&made.watcher, 0, 20, 9, false);
	struct hwy_trace *trace = end(&made);
	assert_null(counter(trace));
	assert_null(hwy_property(trace, "gpu.0.lost.power_cap_ns"));
	assert_string_equal(hwy_property(trace, "gpu.0.most_sm_clock_hz"), "1980000000");
	hwy_trace_free(trace);
}

static void a_row_has_the_values_of_lanes_with_numbers_in_a_row(void **state)
{
	(void)state;
	struct made made = begin();
	for (uint32_t lane = 3; lane < 6; lane++)
		put_lane(&made.watcher, lane, 1, lane == 4 ? REC_COUNTER_WHOLE : 0);
	struct rec_counter_row *row =
		put_record(&made.watcher, REC_COUNTER_ROW, 0, 3, 24 + 4 * sizeof(double));
	row->time = epoch + 7;
	row->count = 4; /* the fourth lane is not defined */
	row->values[0] = (double)NAN;
	row->values[1] = 36;
	row->values[2] = (double)NAN;
	row->values[3] = 1;
	struct hwy_trace *trace = end(&made);
	const struct hwy_strip *strip = counter(trace);
	assert_non_null(strip);
	assert_int_equal(trace->lanes[strip->lane].value_type, HWY_PAYLOAD_I64);
	assert_int_equal(strip->rows, 1);
	assert_int_equal(hwy_get(strip, HWY_VALUE, 0), 36);
	hwy_trace_free(trace);
}

static void a_value_that_stays_is_kept_each_time(void **state)
{
	(void)state;
	struct made made = begin();
	put_lane(&made.watcher, 0, 1, 0);
	for (int i = 0; i < 50; i++) /* 2.45 s */
		put_value(&made.watcher, 0, i * SECOND / 20, 1980e6);
	put_value(&made.watcher, 0, 101 * SECOND, 5); /* after the program's last record */
	struct hwy_trace *trace = end(&made);
	assert_int_equal(counter(trace)->rows, 50);
	assert_int_equal(hwy_get(counter(trace), HWY_START, 40), 2 * SECOND);
	hwy_trace_free(trace);
}

/* A run of a program whose CUDA calls were not recorded, with values of a device. */
static struct hwy_trace *without_cuda(uint8_t flags)
{
	struct made made = {.run = make_run()};
	made.program = make_spool(&made.run, PID, PID, 0);
	made.watcher = make_spool(&made.run, 0, 0, 0);
	put_process(&made.program, 1, 5);
	put_exit(&made.program, 0, 100 * SECOND);
	put_string(&made.watcher, TEXT, "GR Active");
	put_string(&made.watcher, TEXT + 1, "%");
	put_device(&made.watcher, 0, used);
	put_lane(&made.watcher, 0, 0, flags);
	put_value(&made.watcher, 0, 10, 1.5);
	return end(&made);
}

static void without_device_work_the_devices_that_the_user_named_are_kept(void **state)
{
	(void)state;
	struct hwy_trace *trace = without_cuda(REC_COUNTER_ASKED);
	assert_non_null(counter(trace));
	assert_int_equal(trace->n_devices, 1);
	assert_int_equal(trace->lanes[counter(trace)->lane].device, 0);
	hwy_trace_free(trace);
	trace = without_cuda(0);
	assert_null(counter(trace));
	assert_int_equal(trace->n_devices, 0);
	hwy_trace_free(trace);
}

static void totals_are_the_sum_of_what_was_counted_while_recording(void **state)
{
	(void)state;
	struct made made = begin();
	put_total(&made.watcher, 1, 10, 1000, true);
	put_total(&made.watcher, 1, 20, 1007, false);
	put_total(&made.watcher, 1, 30, 1010, false);
	put_total(&made.watcher, 1, 40, 5000, true); /* recording had stopped in between */
	put_total(&made.watcher, 1, 50, 5100, false);
	put_total(&made.watcher, 1, 60, 3, false); /* the driver was loaded anew */
	put_total(&made.watcher, 1, 70, 4, false);
	struct hwy_trace *trace = end(&made);
	assert_string_equal(hwy_property(trace, "gpu.0.lost.power_cap_ns"), "111");
	hwy_trace_free(trace);
}

static void one_reading_tells_nothing(void **state)
{
	(void)state;
	struct made made = begin();
	put_total(&made.watcher, 1, 10, 1000, true);
	struct hwy_trace *trace = end(&made);
	assert_null(hwy_property(trace, "gpu.0.lost.power_cap_ns"));
	hwy_trace_free(trace);
}

static void records_of_the_program_itself_are_not_believed(void **state)
{
	(void)state;
	struct made made = begin();
	put_lane(&made.program, 0, 1, 0);
	put_value(&made.program, 0, 10, 1);
	struct hwy_trace *trace = end(&made);
	assert_null(counter(trace));
	hwy_trace_free(trace);
}

/* Numbers are small, so that the records refer to each other, and now and then any number at all. */
static void garbage_makes_a_trace(void **state)
{
	(void)state;
	struct dice dice = {7};
	for (int round = 0; round < 60; round++) {
		struct made made = begin();
		for (int i = 0; i < 300; i++) {
			size_t slots = 1 + roll(&dice) % 4;
			bool is_wild = roll(&dice) % 8 == 0;
			uint64_t *words = put_record(
				&made.watcher,
				(enum rec_type)(REC_COUNTER_DEVICE + roll(&dice) % 5),
				(uint8_t)roll(&dice),
				is_wild ? (uint32_t)roll_any(&dice) : (uint32_t)(roll(&dice) % 6),
				slots * REC_SLOT);
			for (size_t w = 1; w < slots * 4; w++)
				words[w] = is_wild  ? (uint64_t)roll_any(&dice)
					   : w == 1 ? (uint64_t)epoch + roll(&dice) % 1000
						    : roll(&dice) % 4;
		}
		hwy_trace_free(end(&made));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_a_used_device_are_a_lane_of_it),
		cmocka_unit_test(
			a_device_that_the_program_does_not_use_has_no_lane_and_no_property),
		cmocka_unit_test(a_row_has_the_values_of_lanes_with_numbers_in_a_row),
		cmocka_unit_test(a_value_that_stays_is_kept_each_time),
		cmocka_unit_test(without_device_work_the_devices_that_the_user_named_are_kept),
		cmocka_unit_test(totals_are_the_sum_of_what_was_counted_while_recording),
		cmocka_unit_test(one_reading_tells_nothing),
		cmocka_unit_test(records_of_the_program_itself_are_not_believed),
		cmocka_unit_test(garbage_makes_a_trace),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
