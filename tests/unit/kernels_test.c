/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_test.c - what the processes of a measured program answer, and what counter data of an H200 becomes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "real_cupti.h"
#include "run/kernels/kernels_internal.h"

static char folder[64];

static void put(FILE *file, struct kernels_answer answer, const void *payload)
{
	static const char zeros[8];
	fwrite(&answer, sizeof answer, 1, file);
	fwrite(payload, answer.bytes, 1, file);
	fwrite(zeros, (8 - answer.bytes % 8) % 8, 1, file);
}

/* Makes a file of answers, cut after so many bytes. */
static void make_answers(long bytes)
{
	char path[128];
	strcpy(folder, "/tmp/headway-kernels-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/" KERNELS_ANSWER_PREFIX "77", folder);
	FILE *file = fopen(path, "w");
	put(file, (struct kernels_answer){.type = KERNELS_ANSWER_NOTE, .value = 35, .bytes = 4},
	    "why?");
	put(file,
	    (struct kernels_answer){.type = KERNELS_ANSWER_IMAGE,
				    .target = 1,
				    .ordinal = 9,
				    .value = 2,
				    .bytes = 5},
	    "image");
	struct kernels_sample sample = {.crc = 1, .pc = 16, .n_reasons = 1000000, .name_bytes = 3};
	put(file, (struct kernels_answer){.type = KERNELS_ANSWER_SAMPLES, .bytes = sizeof sample},
	    &sample);
	fclose(file);
	if (bytes >= 0)
		assert_int_equal(truncate(path, bytes), 0);
}

static void remove_answers(void)
{
	char path[128];
	snprintf(path, sizeof path, "%s/" KERNELS_ANSWER_PREFIX "77", folder);
	unlink(path);
	rmdir(folder);
}

static void answers_are_read_and_a_refusal_names_what_permits_it(void **state)
{
	struct kernels_answers answers = {0};
	struct kernels_found found = {0};
	make_answers(-1);
	kernels_answers_read(folder, &answers, &found);
	assert_int_equal(answers.n_images, 1);
	assert_int_equal(answers.images[0].target, 1);
	assert_int_equal(answers.images[0].ordinal, 9);
	assert_int_equal(answers.images[0].row, 2);
	assert_int_equal(answers.images[0].pid, 77);
	assert_memory_equal(answers.images[0].data, "image", 5);
	assert_int_equal(found.n_notes, 1);
	assert_non_null(strstr(found.notes[0], "NVreg_RestrictProfilingToAdminUsers=0"));
	assert_int_equal(answers.n_pcs, 0); /* it claims more reasons than it has bytes */
	kernels_answers_free(&answers);
	kernels_found_free(&found);
	remove_answers();
}

static void a_file_cut_anywhere_yields_the_answers_before_the_cut(void **state)
{
	for (long bytes = 0; bytes < 160; bytes++) {
		struct kernels_answers answers = {0};
		struct kernels_found found = {0};
		make_answers(bytes);
		kernels_answers_read(folder, &answers, &found);
		assert_int_equal(found.n_notes, bytes >= 44);
		assert_int_equal(answers.n_images, bytes >= 93);
		kernels_answers_free(&answers);
		kernels_found_free(&found);
		remove_answers();
	}
}

/* Reads tests/data/counters/copy.img: a copy of 256 MiB, as CUPTI 13.0 measured it on an H200 in one pass. */
static void read_image(struct kernels_image *image)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/counters/copy.img", getenv("DATA") ? getenv("DATA") : ".");
	FILE *file = fopen(path, "rb");
	if (!file) {
		print_message("skipped: %s is not there\n", path);
		skip();
	}
	*image = (struct kernels_image){.data = hwy_alloc(1 << 16)};
	image->bytes = fread(image->data, 1, 1 << 16, file);
	fclose(file);
}

static void counter_data_of_an_h200_becomes_what_the_kernel_did(void **state)
{
	static const char *const metrics[] = {
		"gpu__time_duration.sum", "dram__bytes_read.sum", "dram__bytes_write.sum",
		"sm__warps_active.avg.pct_of_peak_sustained_active", "no__such_counter.sum"};
	struct kernels_target target = {.symbol = "copy"};
	struct kernels_order order = {
		.targets = &target, .n_targets = 1, .metrics = metrics, .n_metrics = 5};
	real_cupti();
	struct kernels_rows *rows = hwy_zalloc(sizeof *rows);
	struct kernels_image image;
	struct kernels_answers answers = {.images = &image, .n_images = 1};
	struct kernels_found found = {0};
	struct hwy_err err = {""};
	read_image(&image);
	strcpy(rows->rows[0].name, "GH100");
	memset(rows->rows[0].has, true, 4);
	rows->n = 1;
	if (!kernels_evaluate(&order, rows, &answers, &found, &err))
		fail_msg("%s", err.text);
	assert_int_equal(found.n_launches, 1);
	const double *values = found.launches[0].values;
	assert_true(values[0] > 120e3 && values[0] < 135e3); /* ns */
	assert_true(fabs(values[1] / (256 << 20) - 1) < 0.001);
	assert_true(fabs(values[2] / (256 << 20) - 1) < 0.02);
	assert_true(values[3] > 70 && values[3] < 85);
	assert_true(isnan(values[4]));
	kernels_found_free(&found);
	free(image.data);
	free(rows);
}

static uint32_t place_of(const char *metric)
{
	uint32_t i = 0;
	while (strcmp(kernels_metrics[i], metric) != 0)
		i++;
	return i;
}

static void the_speed_of_light_is_the_largest_of_its_parts(void **state)
{
	enum { MOST = 128 };
	double values[MOST];
	uint32_t n = 0;
	for (; kernels_metrics[n]; n++)
		values[n] = NAN;
	assert_in_range(n, 1, MOST);
	uint32_t sm = place_of("sm__throughput.avg.pct_of_peak_sustained_elapsed");
	kernels_metrics_complete(kernels_metrics, n, values);
	assert_true(isnan(values[sm])); /* nothing was measured */
	values[place_of("sm__issue_active.avg.pct_of_peak_sustained_elapsed")] = 20;
	values[place_of("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed")] = 93;
	values[place_of("lts__throughput.avg.pct_of_peak_sustained_elapsed")] = 99;
	kernels_metrics_complete(kernels_metrics, n, values);
	assert_true(values[sm] == 93);
	assert_true(isnan(values[place_of("sm__ops_path_tensor_src_fp8.sum")]));
	values[place_of("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed")] = 0;
	kernels_metrics_complete(kernels_metrics, n, values);
	assert_true(values[place_of("sm__ops_path_tensor_src_fp8.sum")] == 0);
}

static bool die(void *argument, struct hwy_err *err)
{
	(void)argument;
	(void)err;
	abort();
}

static bool refuse(void *argument, struct hwy_err *err)
{
	*(int *)argument = 7;
	return hwy_fail(err, "because");
}

static void what_dies_or_fails_apart_is_told_in_a_sentence(void **state)
{
	struct hwy_err err = {""};
	int *shared = kernels_shared(sizeof *shared);
	assert_non_null(shared);
	assert_false(kernels_apart(die, NULL, &err));
	assert_non_null(strstr(err.text, "crashed"));
	assert_false(kernels_apart(refuse, shared, &err));
	assert_string_equal(err.text, "because");
	assert_int_equal(*shared, 7);
	kernels_unshare(shared, sizeof *shared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_read_and_a_refusal_names_what_permits_it),
		cmocka_unit_test(a_file_cut_anywhere_yields_the_answers_before_the_cut),
		cmocka_unit_test(counter_data_of_an_h200_becomes_what_the_kernel_did),
		cmocka_unit_test(the_speed_of_light_is_the_largest_of_its_parts),
		cmocka_unit_test(what_dies_or_fails_apart_is_told_in_a_sentence),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
