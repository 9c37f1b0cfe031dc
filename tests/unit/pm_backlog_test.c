/* SPDX-License-Identifier: Apache-2.0 */
/* pm_backlog_test.c - samples on their way to rows: evaluated by threads, in order, within a bound; the device's clock;
 * CUPTI is the mock of tests/mock. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../mock/counter_data.h"
#include "run/counters/pm_backlog.h"
#include "run/counters/pm_clock.h"
#include "run/counters/wheel_folders.h"

enum { MOST = 8, ROWS = 4096 };

static struct cupti_library *cupti;
static struct pm_set set;
static size_t data_bytes =
	sizeof(struct mock_counter_data) + MOST * sizeof(struct mock_counter_range);

static int open_mock(void **state)
{
	(void)state;
	struct hwy_err err = {""};
	char path[4096];
	const char *folder = getenv("COLLECT");
	snprintf(path, sizeof path, "%s/mock/libcupti.so.13", folder ? folder : "tests/collect");
	setenv("HEADWAY_CUPTI", path, 1);
	cupti = cupti_library_open(NULL, &err);
	if (!cupti)
		print_message("%s\n", err.text);
	return !cupti || !pm_set_build(cupti, "MOCK1", NULL, 0, &set, &err);
}

/* What the threads wrote; read when they have ended. */
static struct rows {
	pthread_mutex_t hold; /* a row waits for it */
	size_t n;
	int64_t starts[ROWS];
	double first[ROWS];
} rows = {.hold = PTHREAD_MUTEX_INITIALIZER};

static void take_row(void *to, int64_t start, const double *values, size_t n)
{
	struct rows *r = to;
	pthread_mutex_lock(&r->hold);
	r->starts[r->n] = start;
	r->first[r->n++] = n == set.n ? values[0] : -1;
	pthread_mutex_unlock(&r->hold);
}

static struct pm_backlog *start(uint32_t threads, uint64_t most_bytes)
{
	struct hwy_err err = {""};
	struct pm_backlog_settings settings = {
		.library = cupti,
		.chip = "MOCK1",
		.data_bytes = data_bytes,
		.most = MOST,
		.set = &set,
		.most_bytes = most_bytes,
		.threads = threads,
		.row = take_row,
		.to = &rows,
	};
	rows.n = 0;
	struct pm_backlog *backlog = pm_backlog_start(&settings, &err);
	if (!backlog)
		fail_msg("%s", err.text);
	return backlog;
}

/* Fills an image with n samples of 100 us, the first of them at 'from'. */
static void fill(struct pm_image *image, uint32_t n, int64_t from)
{
	struct mock_counter_data *data = (void *)image->data;
	*data = (struct mock_counter_data){.magic = MOCK_COUNTER_MAGIC, .most = MOST, .n = n};
	for (uint32_t i = 0; i < n; i++) {
		image->starts[i] = from + i * 100000;
		image->lengths[i] = 100000;
		data->ranges[i] = (struct mock_counter_range){0, 100000};
	}
	image->n = n;
}

static void rows_come_in_the_order_of_their_samples(void **state)
{
	(void)state;
	struct pm_backlog *backlog = start(4, 1 << 20);
	int64_t from = 1000;
	for (uint32_t i = 0; i < 400; i++) {
		struct pm_image *image;
		while (!(image = pm_backlog_take(backlog)))
			usleep(100);
		fill(image, i % MOST + 1, from);
		from += (i % MOST + 1) * 100000;
		pm_backlog_put(backlog, image);
	}
	while (pm_backlog_wait(backlog, 1000))
		;
	pm_backlog_free(backlog);
	assert_int_equal(rows.n, 400 / MOST * (MOST * (MOST + 1) / 2));
	for (size_t i = 0; i < rows.n; i++) {
		assert_int_equal(rows.starts[i], 1000 + (int64_t)i * 100000);
		assert_true(rows.first[i] == 75);
	}
}

static void a_full_backlog_takes_nothing_more_until_rows_are_written(void **state)
{
	(void)state;
	struct pm_backlog *backlog = start(1, 1);
	struct pm_image *image;
	uint32_t taken = 0;
	pthread_mutex_lock(&rows.hold); /* no row can be written */
	while ((image = pm_backlog_take(backlog))) {
		fill(image, 1, 1000 + taken++ * 100000);
		pm_backlog_put(backlog, image);
	}
	assert_true(taken > 0 && taken < 100);
	assert_int_equal(pm_backlog_wait(backlog, 1), taken);
	pthread_mutex_unlock(&rows.hold);
	while (pm_backlog_wait(backlog, 1000))
		;
	image = pm_backlog_take(backlog);
	assert_non_null(image);
	pm_backlog_put(backlog, image);
	pm_backlog_free(backlog);
	assert_int_equal(rows.n, taken);
}

static void samples_that_cannot_be_evaluated_are_counted_and_leave_no_row(void **state)
{
	(void)state;
	struct pm_backlog *backlog = start(2, 1 << 20);
	struct pm_image *image = pm_backlog_take(backlog);
	fill(image, 3, 1000);
	memset(image->data, 0, data_bytes);
	pm_backlog_put(backlog, image);
	while (pm_backlog_wait(backlog, 1000))
		;
	struct pm_backlog_counts counts;
	pm_backlog_count(backlog, &counts);
	assert_int_equal(counts.failed, 3);
	assert_int_equal(counts.evaluated, 3);
	assert_int_equal(counts.written + counts.waiting, 0);
	assert_true(strlen(counts.reason.text) > 0);
	pm_backlog_free(backlog);
	assert_int_equal(rows.n, 0);
}

static void a_gap_is_a_row_without_values_behind_the_samples(void **state)
{
	(void)state;
	struct pm_backlog *backlog = start(2, 1 << 20);
	struct pm_image *image = pm_backlog_take(backlog);
	fill(image, 1, 1000);
	image->gap = 101000;
	pm_backlog_put(backlog, image);
	while (pm_backlog_wait(backlog, 1000))
		;
	pm_backlog_free(backlog);
	assert_int_equal(rows.n, 2);
	assert_int_equal(rows.starts[1], 101000);
	assert_true(isnan(rows.first[1]));
}

static void where_samples_are_missing_the_last_value_ends(void **state)
{
	(void)state;
	struct pm_backlog *backlog = start(2, 1 << 20);
	for (int i = 0; i < 2; i++) {
		struct pm_image *image = pm_backlog_take(backlog);
		fill(image, 2, 1000 + i * 700000);
		image->after_hole[0] = true; /* before the first there is nothing to end */
		pm_backlog_put(backlog, image);
	}
	while (pm_backlog_wait(backlog, 1000))
		;
	struct pm_backlog_counts counts;
	pm_backlog_count(backlog, &counts);
	pm_backlog_free(backlog);
	assert_int_equal(counts.holes, 1);
	assert_int_equal(counts.written, 4);
	assert_int_equal(rows.n, 5);
	assert_int_equal(rows.starts[2], 201000);
	assert_true(isnan(rows.first[2]));
	assert_int_equal(rows.starts[3], 701000);
}

/* Reads a device whose clock is 'offset' behind the host's and drifts, some time after each sample's end. */
static int64_t worst_error(int64_t offset, double drift, int64_t least_delay)
{
	struct pm_clock clock = {0};
	int64_t worst = 0;
	srand(7);
	for (int i = 0; i < 2000; i++) { /* 20 s, a reading every 10 ms */
		int64_t host = 5000000000 + i * INT64_C(10000000);
		int64_t device = host - offset - (int64_t)((double)i * 1e7 * drift);
		int64_t delay = least_delay + rand() % 100000;
		pm_clock_saw(&clock, (uint64_t)device, host + delay);
		int64_t error = pm_clock_host(&clock, (uint64_t)device) - host;
		if (i > 50 && llabs(error) > llabs(worst))
			worst = error;
	}
	return worst;
}

static void the_devices_clock_is_found_within_a_sample(void **state)
{
	(void)state;
	assert_in_range(worst_error(-INT64_C(1700000000000000000), 0, 0), 0, 20000);
	assert_in_range(worst_error(7000000000, 0, 10000), 10000, 30000);
	assert_in_range(llabs(worst_error(7000000000, 1e-5, 0)), 0, 60000);
	assert_in_range(llabs(worst_error(7000000000, -1e-5, 0)), 0, 60000);
}

static void folders_of_wheels_stand_beside_the_folders_of_path(void **state)
{
	(void)state;
	char root[] = "/tmp/hwy_wheels_XXXXXX", path[512], command[1024];
	assert_non_null(mkdtemp(root));
	snprintf(
		command, sizeof command,
		"mkdir -p %s/bin %s/lib/python3.12/site-packages %s/home/.local/lib/python3.11/site-packages && "
		"touch %s/bin/python3 && chmod +x %s/bin/python3",
		root, root, root, root, root);
	assert_int_equal(system(command), 0);
	snprintf(path, sizeof path, "/nowhere:%s/bin", root);
	snprintf(command, sizeof command, "%s/home", root);
	char **folders = wheel_folders_find(path, command);
	snprintf(path, sizeof path, "%s/lib/python3.12/site-packages", root);
	assert_string_equal(folders[0], path);
	assert_non_null(strstr(folders[1], "/home/.local/lib/python3.11/site-packages"));
	assert_null(folders[2]);
	wheel_folders_free(folders);
	snprintf(command, sizeof command, "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_come_in_the_order_of_their_samples),
		cmocka_unit_test(a_full_backlog_takes_nothing_more_until_rows_are_written),
		cmocka_unit_test(samples_that_cannot_be_evaluated_are_counted_and_leave_no_row),
		cmocka_unit_test(a_gap_is_a_row_without_values_behind_the_samples),
		cmocka_unit_test(where_samples_are_missing_the_last_value_ends),
		cmocka_unit_test(the_devices_clock_is_found_within_a_sample),
		cmocka_unit_test(folders_of_wheels_stand_beside_the_folders_of_path),
	};
	return cmocka_run_group_tests(tests, open_mock, NULL);
}
