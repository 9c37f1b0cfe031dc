/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate_test.c - calibrations as lines, their differences, and the cache; the helper's lines are an H200's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "run/calibrate/calibrate_helper.h"

/* ---- lines ------------------------------------------------------------------------------------- */

static struct calibration read_recording(const char *name)
{
	char path[512], line[256];
	struct calibration calibration = {.n = 0};
	snprintf(path, sizeof path, "%s/calibration/%s", getenv("DATA"), name);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof line, file))
		calibration_read_line(&calibration, line);
	fclose(file);
	return calibration;
}

static double value_of(const struct calibration *calibration, const char *name)
{
	const struct calibration_value *value = calibration_find(calibration, name);
	assert_non_null(value);
	return value->value;
}

static void expect_near(double got, double wanted, double most)
{
	assert_true(got - wanted < most && wanted - got < most);
}

static void the_lines_of_a_helper_are_read(void **state)
{
	struct calibration plain = read_recording("h200_plain.txt");
	assert_int_equal(plain.n, 19);
	assert_true(value_of(&plain, "launch") == 3489.3);
	assert_true(value_of(&plain, "queue_depth") == 1022);
	assert_string_equal(calibration_find(&plain, "queue_depth")->unit, "launches");
	assert_null(calibration_find(&plain, "device"));
	assert_null(calibration_find(&plain, "done"));
}

static void lines_that_are_none_are_left_out(void **state)
{
	static const char *const lines[] = {
		"",
		"launch",
		"launch 1 2",
		"launch 1 2 ",
		"launch 1 2 ns more",
		"launch x 2 ns",
		"launch 1 x ns",
		"launch -1 2 ns",
		"launch nan 2 ns",
		"launch 1 inf ns",
		"launch 1e30 2 ns",
		" launch 1 2 ns",
		"LAUNCH 1 2 ns",
		"launch 1 2 a_unit_of_that_many_letters",
		"launch=1 2 ns",
		"launch 12 ns",
		"a_name_that_has_more_letters_than_there_is_room_for_in_a_calibrations_name 1 2 ns",
	};
	struct calibration calibration = {.n = 0};
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		assert_false(calibration_read_line(&calibration, lines[i]));
	assert_int_equal(calibration.n, 0);
	assert_true(calibration_read_line(&calibration, "launch 1.5 0.25 ns\n"));
	assert_true(calibration.values[0].value == 1.5 && calibration.values[0].spread == 0.25);
	assert_false(calibration_read_line(&calibration, "launch 2 0 ns")); /* once each */
}

static void no_more_values_are_read_than_there_is_room_for(void **state)
{
	struct calibration calibration = {.n = 0};
	char line[64];
	for (int i = 0; i < 2 * CALIBRATION_VALUES; i++) {
		snprintf(line, sizeof line, "value_%d 1 0 ns", i);
		assert_true(calibration_read_line(&calibration, line) == (i < CALIBRATION_VALUES));
	}
	struct calibration both;
	calibration_compare(&calibration, &calibration, &both);
	assert_int_equal(both.n, CALIBRATION_VALUES);
}

/* ---- differences ------------------------------------------------------------------------------- */

static void what_recording_adds_is_its_cost(void **state)
{
	struct calibration plain = read_recording("h200_plain.txt");
	struct calibration recorded = read_recording("h200_graph.txt"), both;
	calibration_compare(&plain, &recorded, &both);
	expect_near(value_of(&both, "cost.launch"), 1735.6, 0.05);
	expect_near(calibration_find(&both, "cost.launch")->spread, 154.2 + 133.1, 0.05);
	expect_near(value_of(&both, "cost.range"), 155.3, 0.05);
	expect_near(value_of(&both, "cost.graph_node"), 333.0, 0.05);
	expect_near(value_of(&both, "machine.launch"), 3489.3, 0.05);
	expect_near(value_of(&both, "machine.copy_h2d_pinned_bandwidth"), 54717174846.8, 1);
	assert_null(calibration_find(&both, "cost.queue_depth"));
	assert_null(calibration_find(&both, "cost.copy_h2d_pinned_latency"));
}

static void a_cost_is_never_less_than_nothing(void **state)
{
	struct calibration plain = read_recording("h200_graph.txt");
	struct calibration recorded = read_recording("h200_plain.txt"), both;
	calibration_compare(&plain, &recorded, &both);
	for (uint32_t i = 0; i < both.n; i++)
		assert_true(both.values[i].value >= 0);
	assert_true(value_of(&both, "cost.launch") == 0);
	expect_near(calibration_find(&both, "cost.launch")->spread, 154.2 + 133.1, 0.05);
}

static void what_only_one_side_measured_has_no_cost(void **state)
{
	struct calibration plain = {.n = 0}, recorded = {.n = 0}, both;
	calibration_read_line(&plain, "launch 10 1 ns");
	calibration_read_line(&plain, "sync 10 1 ns");
	calibration_read_line(&recorded, "launch 10 1 us");
	calibration_read_line(&recorded, "range 10 1 ns");
	calibration_compare(&plain, &recorded, &both);
	assert_int_equal(both.n, 2);
	assert_non_null(calibration_find(&both, "machine.launch"));
	assert_non_null(calibration_find(&both, "machine.sync"));
}

static void several_runs_give_the_least_disturbed_and_their_range(void **state)
{
	struct calibration runs[3] = {{.n = 0}}, both;
	calibration_read_line(&runs[0], "launch 3500 5 ns");
	calibration_read_line(&runs[1], "launch 3000 5 ns");
	calibration_read_line(&runs[2], "launch 3800 5 ns");
	calibration_read_line(&runs[0], "queue_depth 1022 0 launches"); /* the first alone */
	calibration_read_line(&runs[1], "sync 1 0 ns");
	calibration_read_line(&runs[0], "copy_h2d 20 0 B/s");
	calibration_read_line(&runs[2], "copy_h2d 30 0 B/s");
	calibration_combine(runs, 3, &both);
	assert_int_equal(both.n, 3);
	assert_true(value_of(&both, "launch") == 3000);
	assert_true(value_of(&both, "copy_h2d") == 30);
	assert_true(calibration_find(&both, "launch")->spread == 400);
	assert_true(value_of(&both, "queue_depth") == 1022);
}

/* ---- CPU time on a machine that others use too --------------------------------------------------- */

/* 64 batches of launches, the first 'calm' of them undisturbed: 3000 to 3063 ns, else twice that. */
static struct helper_samples batches(uint32_t calm)
{
	struct helper_samples samples = {.n = 64};
	for (uint32_t i = 0; i < samples.n; i++)
		samples.values[(i * 37) % 64] = (3000 + i) * (i < calm ? 1 : 2);
	return samples;
}

static void cpu_time_is_that_of_the_calm_batches_even_when_most_are_not(void **state)
{
	static const uint32_t calm[] = {64, 32, 17, 7};
	for (size_t i = 0; i < sizeof calm / sizeof *calm; i++) {
		struct helper_samples samples = batches(calm[i]);
		double value, spread;
		helper_summarize_calm(&samples, &value, &spread);
		assert_true(value == 3006);
		assert_true(calm[i] > 16 ? spread < 10 : spread > 1500);
	}
}

static void one_quick_batch_is_luck_and_no_cpu_time(void **state)
{
	struct helper_samples samples = batches(64), none = {.n = 0};
	double value, spread;
	for (uint32_t i = 0; i < samples.n; i++)
		if (samples.values[i] == 3000)
			samples.values[i] = 100;
	helper_summarize_calm(&samples, &value, &spread);
	assert_true(value == 3006);
	assert_true(spread > 1400); /* it is told, though */
	helper_summarize_calm(&none, &value, &spread);
	assert_true(value == 0 && spread == 0);
}

/* ---- the cache --------------------------------------------------------------------------------- */

static char folder[] = "/tmp/headway-cache-XXXXXX";
static const struct rec_control settings = {.traces = REC_TRACE_CUDA};
static const struct calibration_key the_key = {
	.gpu = "GPU-1", .driver = "580.1", .cupti = "130001", .control = &settings};

static int fresh_cache(void **state)
{
	strcpy(folder, "/tmp/headway-cache-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	return setenv("XDG_CACHE_HOME", folder, 1);
}

static int remove_cache(void **state)
{
	char command[128];
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	return system(command);
}

static void the_file(char *path, size_t size)
{
	char command[128];
	snprintf(command, sizeof command, "ls -d '%s'/headway/*", folder);
	FILE *list = popen(command, "r");
	assert_non_null(list);
	assert_non_null(fgets(path, (int)size, list));
	path[strcspn(path, "\n")] = '\0';
	assert_null(fgets(command, sizeof command, list)); /* no temporary file is left */
	pclose(list);
}

static void store_one(void)
{
	struct calibration plain = read_recording("h200_plain.txt"), both;
	calibration_compare(&plain, &plain, &both);
	calibration_store(&the_key, &both);
}

static void what_was_stored_is_found_again(void **state)
{
	struct calibration found, plain = read_recording("h200_plain.txt");
	assert_false(calibration_cached(&the_key, &found));
	store_one();
	assert_true(calibration_cached(&the_key, &found));
	for (uint32_t i = 0; i < plain.n; i++) {
		char name[128];
		snprintf(name, sizeof name, "machine.%s", plain.values[i].name);
		assert_true(value_of(&found, name) == plain.values[i].value);
	}
}

static void another_key_finds_nothing(void **state)
{
	struct rec_control nodes = {.traces = REC_TRACE_CUDA, .graph_nodes = 1};
	struct calibration_key keys[] = {the_key, the_key, the_key, the_key, the_key};
	struct calibration found;
	keys[0].gpu = "GPU-2";
	keys[1].driver = "580.2";
	keys[2].cupti = "130002";
	keys[3].control = &nodes;
	keys[4].driver = NULL;
	store_one();
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		assert_false(calibration_cached(&keys[i], &found));
	assert_true(calibration_cached(&the_key, &found));
}

/* A file under the right name whose key is another's: a collision, or a hand at work. */
static void a_file_with_another_key_in_it_is_ignored(void **state)
{
	struct calibration found;
	char path[256];
	store_one();
	the_file(path, sizeof path);
	FILE *file = fopen(path, "r+");
	assert_int_equal(fseek(file, (long)strlen("headway calibration 1\ngpu GPU-"), SEEK_SET), 0);
	fputc('7', file);
	fclose(file);
	assert_false(calibration_cached(&the_key, &found));
	store_one();
	assert_true(calibration_cached(&the_key, &found));
}

/* Cut at any byte, or with any byte changed so that a line is none: never a wrong value, never a crash. */
static void a_garbled_file_is_ignored_and_remade(void **state)
{
	struct calibration found;
	char path[256], text[8192];
	store_one();
	the_file(path, sizeof path);
	FILE *file = fopen(path, "r");
	size_t n = fread(text, 1, sizeof text, file);
	fclose(file);
	for (size_t cut = 0; cut < n; cut += 7) {
		file = fopen(path, "w");
		fwrite(text, 1, cut, file);
		fclose(file);
		assert_false(calibration_cached(&the_key, &found));
		assert_int_equal(found.n, 0);
	}
	for (size_t at = 0; at < n; at += 11) {
		char old = text[at];
		text[at] = '\0';
		file = fopen(path, "w");
		fwrite(text, 1, n, file);
		fclose(file);
		text[at] = old;
		assert_false(calibration_cached(&the_key, &found));
	}
	store_one();
	assert_true(calibration_cached(&the_key, &found));
}

static void a_cache_that_cannot_be_written_is_no_matter(void **state)
{
	struct calibration found;
	setenv("XDG_CACHE_HOME", "/proc/not-there", 1);
	store_one();
	assert_false(calibration_cached(&the_key, &found));
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	store_one();
	assert_false(calibration_cached(&the_key, &found));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_lines_of_a_helper_are_read),
		cmocka_unit_test(lines_that_are_none_are_left_out),
		cmocka_unit_test(no_more_values_are_read_than_there_is_room_for),
		cmocka_unit_test(what_recording_adds_is_its_cost),
		cmocka_unit_test(a_cost_is_never_less_than_nothing),
		cmocka_unit_test(what_only_one_side_measured_has_no_cost),
		cmocka_unit_test(several_runs_give_the_least_disturbed_and_their_range),
		cmocka_unit_test(cpu_time_is_that_of_the_calm_batches_even_when_most_are_not),
		cmocka_unit_test(one_quick_batch_is_luck_and_no_cpu_time),
		cmocka_unit_test_setup_teardown(what_was_stored_is_found_again, fresh_cache,
						remove_cache),
		cmocka_unit_test_setup_teardown(another_key_finds_nothing, fresh_cache,
						remove_cache),
		cmocka_unit_test_setup_teardown(a_file_with_another_key_in_it_is_ignored,
						fresh_cache, remove_cache),
		cmocka_unit_test_setup_teardown(a_garbled_file_is_ignored_and_remade, fresh_cache,
						remove_cache),
		cmocka_unit_test_setup_teardown(a_cache_that_cannot_be_written_is_no_matter,
						fresh_cache, remove_cache),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
