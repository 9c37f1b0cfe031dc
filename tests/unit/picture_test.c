/* SPDX-License-Identifier: Apache-2.0 */
/* picture_test.c - stretches of time as cells, and which stretch is chosen, on traces one can draw by hand. */
#include "make_trace.h"

#include "analyze/window.h"
#include "cli/picture/picture.h"

static struct hwy_picture draw(struct hwy_trace *trace, int64_t from, int64_t to, uint32_t cells)
{
	struct hwy_picture picture;
	struct hwy_err err;
	struct picture_options options = {.from = from, .to = to, .cells = cells};
	assert_true(picture_make(trace, &options, &picture, &err));
	return picture;
}

static const struct picture_row *row_of(const struct hwy_picture *picture,
					enum picture_row_type type)
{
	for (uint32_t i = 0; i < picture->n; i++)
		if (picture->rows[i].type == type)
			return &picture->rows[i];
	return NULL;
}

/* The states of a row as letters: . nothing, w wait, c call, o OS, r runs, K compute, N communication, C copy, F fill. */
static void check_cells(const struct hwy_picture *picture, enum picture_row_type type,
			const char *wanted)
{
	static const char letters[PICTURE_STATES] = {
		[PICTURE_NOTHING] = '.', [PICTURE_WAIT] = 'w', [PICTURE_CALL] = 'c',
		[PICTURE_OS] = 'o',      [PICTURE_RUN] = 'r',  [PICTURE_COMPUTE] = 'K',
		[PICTURE_COMM] = 'N',    [PICTURE_COPY] = 'C', [PICTURE_FILL] = 'F'};
	const struct picture_row *row = row_of(picture, type);
	char got[128] = "";
	assert_non_null(row);
	for (uint32_t c = 0; c < picture->cells; c++)
		got[c] = letters[row->cells[c].state];
	assert_string_equal(got, wanted);
}

static void check_sums(const struct hwy_picture *picture)
{
	for (uint32_t i = 0; i < picture->n; i++) {
		const struct picture_row *row = &picture->rows[i];
		int64_t sum = 0;
		for (int s = 0; s < PICTURE_STATES; s++) {
			assert_true(row->time[s] >= 0);
			sum += row->time[s];
		}
		if (row->cells)
			assert_true(sum == picture->to - picture->from);
		for (uint32_t l = 0; l < row->n_labels; l++) {
			assert_true(row->labels[l].at.from >= picture->from);
			assert_true(row->labels[l].at.to <= picture->to);
		}
	}
}

/* Six steps: launch, wait for a kernel of 60, think for 20. */
static struct hwy_trace *staircase(void)
{
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	uint32_t ranges = small_lane(&small, HWY_LANE_RANGE);
	for (int i = 0; i < 6; i++) {
		int64_t at = 100 * i, corr = 1 + 2 * i;
		char name[32];
		snprintf(name, sizeof name, "step_%d", i);
		small_span(&small, ranges, HWY_RANGE, at, at + 100, 0, name);
		small_call(&small, at, at + 10, corr, "cudaLaunchKernel");
		small_call(&small, at + 10, at + 80, corr + 1, "cudaDeviceSynchronize");
		small_span(&small, stream, HWY_KERNEL, at + 20, at + 80, corr, "kernel");
	}
	return small_finish(&small);
}

static void a_staircase_alternates(void **state)
{
	struct hwy_trace *trace = staircase();
	struct hwy_picture picture = draw(trace, 0, 200, 20);
	check_cells(&picture, PICTURE_THREAD, "cwwwwwww..cwwwwwww..");
	check_cells(&picture, PICTURE_DEVICE, "..KKKKKK....KKKKKK..");
	check_sums(&picture);
	assert_int_equal(row_of(&picture, PICTURE_THREAD)->time[PICTURE_WAIT], 140);
	assert_int_equal(row_of(&picture, PICTURE_DEVICE)->most_ahead, 1);
	picture_free(&picture);
	hwy_trace_free(trace);
	(void)state;
}

static void work_is_named_by_the_range_that_launched_it(void **state)
{
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	uint32_t ranges = small_lane(&small, HWY_LANE_RANGE);
	for (int i = 0; i < 3; i++) {
		char name[32];
		snprintf(name, sizeof name, "step_%d", i);
		small_span(&small, ranges, HWY_RANGE, 20 * i, 20 * i + 20, 0, name);
		small_call(&small, 20 * i, 20 * i + 5, i + 1, "cudaLaunchKernel");
		small_span(&small, stream, HWY_KERNEL, 10 + 100 * i, 110 + 100 * i, i + 1,
			   "kernel");
	}
	struct hwy_trace *trace = small_finish(&small);
	struct hwy_picture picture = draw(trace, 0, 310, 31);
	const struct picture_row *cpu = row_of(&picture, PICTURE_RANGES);
	const struct picture_row *gpu = row_of(&picture, PICTURE_DEVICE_RANGES);
	assert_int_equal(cpu->n_labels, 3);
	assert_int_equal(gpu->n_labels, 3);
	assert_string_equal(hwy_str(trace, gpu->labels[1].name), "step_1");
	assert_int_equal(gpu->labels[1].at.from, 110);
	assert_int_equal(cpu->labels[1].at.from, 20);
	assert_int_equal(row_of(&picture, PICTURE_DEVICE)->most_ahead, 3);
	picture_free(&picture);
	hwy_trace_free(trace);
	(void)state;
}

static void a_copy_that_ends_in_its_call_was_waited_for(void **state)
{
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	small_call(&small, 0, 50, 1, "cudaMemcpyAsync");
	small_span(&small, stream, HWY_COPY, 10, 40, 1, "");
	small_call(&small, 50, 60, 2, "cudaMemcpyAsync");
	small_span(&small, stream, HWY_COPY, 60, 100, 2, "");
	struct hwy_trace *trace = small_finish(&small);
	struct hwy_picture picture = draw(trace, 0, 100, 10);
	check_cells(&picture, PICTURE_THREAD, "wwwwwc....");
	check_cells(&picture, PICTURE_DEVICE, ".CCC..CCCC");
	picture_free(&picture);
	hwy_trace_free(trace);
	(void)state;
}

static void short_work_in_an_idle_cell_is_seen(void **state)
{
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	small_span(&small, stream, HWY_KERNEL, 500, 501, 0, "kernel");
	struct hwy_trace *trace = small_finish(&small);
	struct hwy_picture picture = draw(trace, 0, 1000, 10);
	check_cells(&picture, PICTURE_DEVICE, ".....K....");
	assert_true(row_of(&picture, PICTURE_DEVICE)->cells[5].part < 10);
	picture_free(&picture);
	hwy_trace_free(trace);
	(void)state;
}

/* A cell is in the OS where most of its time is. */
static void a_short_call_into_the_os_is_not_its_cell(void **state)
{
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7),
		 os = small_lane(&small, HWY_LANE_OS);
	small_call(&small, 0, 50, 1, "cudaLaunchKernel");
	small_span(&small, stream, HWY_KERNEL, 60, 90, 1, "kernel");
	small_span(&small, os, HWY_OS, 110, 120, 0, "read"); /* a tenth */
	small_span(&small, os, HWY_OS, 210, 270, 0, "read"); /* most */
	small_call(&small, 300, 305, 2, "cudaLaunchKernel");
	small_span(&small, os, HWY_OS, 310, 330, 0, "write"); /* more than the call, and little */
	small_span(&small, stream, HWY_KERNEL, 400, 500, 2, "kernel");
	small_call(&small, 400, 420, 3, "cudaDeviceSynchronize");
	small_span(&small, os, HWY_OS, 420, 450, 0, "write");
	struct hwy_trace *trace = small_finish(&small);
	struct hwy_picture picture = draw(trace, 0, 500, 5);
	check_cells(&picture, PICTURE_THREAD, "c.oc.");
	check_sums(&picture);
	assert_int_equal(row_of(&picture, PICTURE_THREAD)->time[PICTURE_OS], 120);
	picture_free(&picture);
	hwy_trace_free(trace);
	(void)state;
}

static void what_does_not_repeat_is_step_0(void **state)
{
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	small_call(&small, 0, 50, 1, "cudaLaunchKernel");
	small_span(&small, stream, HWY_KERNEL, 60, 90, 1, "kernel");
	struct hwy_trace *trace = small_finish(&small);
	struct hwy_window window;
	struct hwy_err err;
	assert_true(window_find(trace, NULL, 0, &window, &err));
	assert_int_equal(window.n_steps, 1);
	assert_int_equal(window.at.from, 0);
	assert_int_equal(window.at.to, 90);
	assert_false(window_find(trace, NULL, 1, &window, &err));
	assert_non_null(strstr(err.text, "only step 0: nothing repeats"));
	assert_true(window_find(trace, NULL, HWY_NONE, &window, &err));
	assert_int_equal(window.n_steps, 0);
	hwy_trace_free(trace);
	(void)state;
}

static void a_mark_that_is_not_there_leads_to_those_that_begin_so(void **state)
{
	struct hwy_trace *trace = staircase();
	struct hwy_window window;
	struct hwy_err err;
	assert_false(window_find(trace, "st", HWY_NONE, &window, &err));
	assert_non_null(strstr(err.text, "no range named 'st'"));
	assert_non_null(strstr(err.text, "begin so: 'step_N'"));
	assert_true(window_find(trace, "step_N", HWY_NONE, &window, &err));
	assert_int_equal(window.n_steps, 6);
	assert_false(window_find(trace, "xyz", HWY_NONE, &window, &err));
	assert_null(strstr(err.text, "begin so"));
	hwy_trace_free(trace);
	(void)state;
}

static void steps_are_found_by_their_marks_and_their_numbers(void **state)
{
	struct hwy_trace *trace = staircase();
	struct hwy_window window;
	struct hwy_err err;
	assert_true(window_find(trace, NULL, 3, &window, &err));
	assert_int_equal(window.at.from, 300);
	assert_int_equal(window.at.to, 420); /* where the next one's work begins */
	assert_int_equal(window.n_steps, 6);
	assert_string_equal(hwy_str(trace, window.first_name), "step_3");
	assert_false(window_find(trace, NULL, 7, &window, &err));
	assert_non_null(strstr(err.text, "no step 7"));
	assert_true(window_find(trace, NULL, HWY_NONE, &window, &err));
	assert_int_equal(window.last - window.first, 2);
	hwy_trace_free(trace);
	(void)state;
}

static void times_add_up_whatever_is_recorded(void **state)
{
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct hwy_trace *trace = random_trace(seed, 20, 3000);
		struct hwy_window window;
		struct hwy_err err;
		int64_t from, to;
		assert_true(hwy_extent(trace, UINT32_MAX, &from, &to));
		struct hwy_picture picture = draw(trace, from, to, 77);
		check_sums(&picture);
		picture_free(&picture);
		if (window_find(trace, NULL, HWY_NONE, &window, &err)) {
			picture = draw(trace, window.at.from, window.at.to, 3);
			check_sums(&picture);
			picture_free(&picture);
		}
		hwy_trace_free(trace);
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_staircase_alternates),
		cmocka_unit_test(work_is_named_by_the_range_that_launched_it),
		cmocka_unit_test(a_copy_that_ends_in_its_call_was_waited_for),
		cmocka_unit_test(short_work_in_an_idle_cell_is_seen),
		cmocka_unit_test(a_short_call_into_the_os_is_not_its_cell),
		cmocka_unit_test(what_does_not_repeat_is_step_0),
		cmocka_unit_test(a_mark_that_is_not_there_leads_to_those_that_begin_so),
		cmocka_unit_test(steps_are_found_by_their_marks_and_their_numbers),
		cmocka_unit_test(times_add_up_whatever_is_recorded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
