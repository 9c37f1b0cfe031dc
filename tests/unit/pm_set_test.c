/* SPDX-License-Identifier: Apache-2.0 */
/* pm_set_test.c - the sets of metrics that are sampled, for chips of several generations, where libcupti is. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/device_metrics.h"
#include "real_cupti.h"
#include "run/counters/pm_set.h"

static struct pm_set built(const char *chip, const char *name)
{
	struct hwy_err err = {""};
	struct pm_set set;
	if (!pm_set_build(real_cupti(), chip, NULL, pm_set_find(name), &set, &err))
		fail_msg("%s", err.text);
	return set;
}

static bool has(const struct pm_set *set, const char *lane)
{
	for (size_t i = 0; i < set->n; i++)
		if (strcmp(set->metrics[i].lane, lane) == 0)
			return true;
	return false;
}

static void every_set_fits_one_pass_and_has_a_lane_once(void **state)
{
	(void)state;
	static const char *const chips[] = {"TU102", "GA100", "GA102", "AD102",
					    "GH100", "GB100", "GB202"};
	for (size_t c = 0; c < sizeof chips / sizeof *chips; c++) {
		struct pm_set set = built(chips[c], "general");
		assert_int_equal(cupti_host_passes(real_cupti(), ABI_CUPTI_PM_SAMPLING, chips[c],
						   NULL, set.names, set.n),
				 1);
		assert_true(set.n > 10);
		for (size_t i = 0; i < set.n; i++)
			for (size_t j = 0; j < i; j++)
				assert_string_not_equal(set.metrics[i].lane, set.metrics[j].lane);
	}
}

static void every_chip_shows_whether_it_works_and_what_dram_does(void **state)
{
	(void)state;
	static const char *const chips[] = {"GA100", "GA102", "AD102", "GH100", "GB100", "GB202"};
	for (size_t c = 0; c < sizeof chips / sizeof *chips; c++) {
		struct pm_set set = built(chips[c], "general");
		assert_true(has(&set, "GR Active [Throughput %]"));
		assert_true(has(&set, "SMs Active [Throughput %]"));
		assert_true(has(&set, "GPC Clock Frequency [MHz]"));
	}
}

static void hopper_shows_all_lanes(void **state)
{
	(void)state;
	static const char *const lanes[] = {
		"SM Issue [Throughput %]",
		"Tensor Active [Throughput %]",
		"Compute Warps in Flight [Throughput %]",
		"DRAM Read Bandwidth [Throughput %]",
		"DRAM Read",
		"NVLink RX",
		"PCIe Read",
		"Copy Engine Active",
		"Front End Idle",
		"DRAM Clock",
	};
	struct pm_set set = built("GH100", "general");
	for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++)
		assert_true(has(&set, lanes[i]));
	/* Each counter of an SM is 132 values a sample. */
	assert_false(has(&set, "FMA Pipe Active") || has(&set, "HMMA Active"));
	struct pm_set pipes = built("GH100", "pipes");
	assert_true(has(&pipes, "FP64 Active") && has(&pipes, "FMA Pipe Active") &&
		    has(&pipes, "HMMA Active") && has(&pipes, "SM Issue [Throughput %]"));
	/* Composites of many counters cost more than all others together. */
	assert_false(has(&set, "SM Throughput") || has(&set, "L1 Throughput"));
	set = built("GH100", "throughput");
	assert_true(has(&set, "SM Throughput") && has(&set, "L1 Throughput") &&
		    has(&set, "L2 Throughput"));
}

static void the_set_for_memory_is_a_part_of_the_general_one_but_for_the_cache(void **state)
{
	(void)state;
	struct pm_set all = built("GH100", "general"), some = built("GH100", "memory");
	assert_true(some.n < all.n);
	for (size_t i = 0; i < some.n; i++)
		assert_true(has(&all, some.metrics[i].lane) ||
			    strcmp(some.metrics[i].lane, "L2 Hit Rate") == 0);
}

/* Opens a file of tests/data/counters. */
static FILE *open_data(const char *name)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/counters/%s", getenv("DATA") ? getenv("DATA") : ".", name);
	FILE *file = fopen(path, "r");
	if (!file)
		fail_msg("%s is missing", path);
	return file;
}

/* Splits a line at its commas; yields the number of fields. */
static size_t split_line(char *line, char **fields, size_t most)
{
	size_t n = 0;
	char *at = line;
	for (char *field; n < most && (field = strtok_r(at, ",\n", &at));)
		fields[n++] = field;
	return n;
}

/* Eight samples of 100 us beside copies in DRAM: CUPTI 13.0 on an H200 decoded them (samples.img), and evaluated them
 * there (samples.csv). */
static void samples_of_an_h200_evaluate_here_as_they_did_there(void **state)
{
	(void)state;
	static uint8_t image[1 << 18];
	char names_line[4096], line[4096], *names[PM_MOST_METRICS], *fields[PM_MOST_METRICS];
	double values[PM_MOST_METRICS];
	struct hwy_err err = {""};
	struct cupti_host *host =
		cupti_host_make(real_cupti(), ABI_CUPTI_PM_SAMPLING, "GH100", NULL, &err);
	assert_non_null(host);
	FILE *data = open_data("samples.img"), *csv = open_data("samples.csv");
	size_t bytes = fread(image, 1, sizeof image, data), samples = 0;
	assert_non_null(fgets(names_line, sizeof names_line, csv));
	size_t n = split_line(names_line, names, PM_MOST_METRICS);
	for (; fgets(line, sizeof line, csv); samples++) {
		assert_int_equal(split_line(line, fields, PM_MOST_METRICS), n);
		if (!cupti_host_evaluate(host, image, bytes, samples, (const char *const *)names, n,
					 values, &err))
			fail_msg("%s", err.text);
		for (size_t m = 0; m < n; m++) {
			double there = strtod(fields[m], NULL);
			assert_true(fabs(values[m] - there) <= 1e-9 * fabs(there));
		}
	}
	assert_int_equal(samples, 8);
	fclose(data);
	fclose(csv);
	cupti_host_free(host);
}

static void sums_become_rates_and_an_empty_sample_has_none(void **state)
{
	(void)state;
	struct pm_metric sum = {.scale = PM_PER_SECOND}, plain = {.scale = PM_AS_IS};
	assert_true(pm_set_scaled(&sum, 5000, 100000) == 5e7);
	assert_true(isnan(pm_set_scaled(&sum, 5000, 0)));
	assert_true(pm_set_scaled(&plain, 42.5, 0) == 42.5);
}

static void sets_are_found_by_name(void **state)
{
	(void)state;
	assert_int_equal(pm_set_find("general"), 0);
	assert_int_equal(pm_set_find("nothing"), -1);
}

static void every_lane_is_a_metric_that_analyses_know(void **state)
{
	(void)state;
	for (size_t i = 0; pm_set_entry(i); i++)
		if (!strstr(pm_set_entry(i)->lane, "(in order)") && /* shown, and not analysed */
		    metric_of_name(pm_set_entry(i)->lane, pm_set_entry(i)->unit) == METRICS)
			fail_msg("no analysis knows '%s' in '%s'", pm_set_entry(i)->lane,
				 pm_set_entry(i)->unit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_set_fits_one_pass_and_has_a_lane_once),
		cmocka_unit_test(every_chip_shows_whether_it_works_and_what_dram_does),
		cmocka_unit_test(hopper_shows_all_lanes),
		cmocka_unit_test(the_set_for_memory_is_a_part_of_the_general_one_but_for_the_cache),
		cmocka_unit_test(samples_of_an_h200_evaluate_here_as_they_did_there),
		cmocka_unit_test(sums_become_rates_and_an_empty_sample_has_none),
		cmocka_unit_test(sets_are_found_by_name),
		cmocka_unit_test(every_lane_is_a_metric_that_analyses_know),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
