/* SPDX-License-Identifier: Apache-2.0 */
/* base_mem_test.c - arrays that are never NULL and never too small. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

static void no_array_of_0_elements_is_null(void **state)
{
	struct hwy_arena arena = {0};
	void *plain = hwy_array(0, 8), *zeroed = hwy_zarray(0, 8),
	     *copy = hwy_copy_array(NULL, 0, 8);
	assert_non_null(plain);
	assert_non_null(zeroed);
	assert_non_null(copy);
	assert_non_null(hwy_arena_array(&arena, 0, 8));
	assert_non_null(hwy_arena_copy_array(&arena, NULL, 0, 8));
	plain = hwy_resize(plain, 0, 8);
	assert_non_null(plain);
	free(plain);
	free(zeroed);
	free(copy);
	hwy_arena_free(&arena);
}

static void an_array_keeps_its_elements_when_it_grows(void **state)
{
	uint32_t *values = hwy_array(100, sizeof *values);
	for (uint32_t i = 0; i < 100; i++)
		values[i] = i * i;
	values = hwy_resize(values, 100000, sizeof *values);
	uint32_t *copy = hwy_copy_array(values, 100, sizeof *values);
	struct hwy_arena arena = {0};
	uint32_t *kept = hwy_arena_copy_array(&arena, values, 100, sizeof *values);
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(values[i], i * i);
		assert_int_equal(copy[i], i * i);
		assert_int_equal(kept[i], i * i);
	}
	free(values);
	free(copy);
	hwy_arena_free(&arena);
}

static void zeroed_arrays_are_zero(void **state)
{
	struct hwy_arena arena = {0};
	unsigned char *zeroed = hwy_zarray(1000, 7), *kept = hwy_arena_array(&arena, 1000, 7);
	for (size_t i = 0; i < 7000; i++) {
		assert_int_equal(zeroed[i], 0);
		assert_int_equal(kept[i], 0);
	}
	free(zeroed);
	hwy_arena_free(&arena);
}

static void allocate(int which, volatile size_t count, volatile size_t size)
{
	struct hwy_arena arena = {0};
	switch (which) {
	case 0: free(hwy_array(count, size)); break;
	case 1: free(hwy_zarray(count, size)); break;
	case 2: free(hwy_resize(NULL, count, size)); break;
	case 3: free(hwy_copy_array("", count, size)); break;
	default: hwy_arena_array(&arena, count, size); hwy_arena_free(&arena);
	}
}

/* What a child that allocates this writes to stderr; it must end by abort. */
static void check_out_of_memory(int which, size_t count, size_t size)
{
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		signal(SIGABRT, SIG_DFL);
		dup2(ends[1], STDERR_FILENO);
		allocate(which, count, size);
		_exit(0);
	}
	close(ends[1]);
	char text[256] = "";
	ssize_t n = read(ends[0], text, sizeof text - 1);
	assert_true(n > 0);
	close(ends[0]);
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_non_null(strstr(text, "headway: out of memory"));
}

static void a_product_that_does_not_fit_ends_like_lack_of_memory(void **state)
{
	for (int which = 0; which < 5; which++) {
		check_out_of_memory(which, SIZE_MAX / 8 + 2, 8); /* wraps to 8 */
		check_out_of_memory(which, SIZE_MAX, 1);         /* a sum with it would wrap */
	}
}

/* Asks AddressSanitizer, where it is linked in, to answer a request for too much memory as libc does. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

/* Yields the number of bytes that could not be had; 0: all could. */
static size_t bytes_lacking(volatile size_t bytes)
{
	struct hwy_rescue rescue;
	if (HWY_RESCUED(&rescue))
		return rescue.asked;
	free(hwy_alloc(bytes));
	hwy_rescue_end(&rescue);
	return 0;
}

static void a_rescue_point_is_reached_where_memory_runs_out(void **state)
{
	assert_int_equal(bytes_lacking(SIZE_MAX / 2), SIZE_MAX / 2);
	assert_int_equal(bytes_lacking(1), 0);
}

static void rescue_points_nest(void **state)
{
	struct hwy_rescue outer;
	volatile bool inner_was_used = false;
	if (HWY_RESCUED(&outer)) {
		assert_true(inner_was_used);
		/* No point is left: the process ends. */
		check_out_of_memory(0, SIZE_MAX, 1);
		return;
	}
	assert_int_equal(bytes_lacking(SIZE_MAX / 2), SIZE_MAX / 2);
	inner_was_used = true;
	allocate(0, SIZE_MAX, 1);
	fail();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_array_of_0_elements_is_null),
		cmocka_unit_test(an_array_keeps_its_elements_when_it_grows),
		cmocka_unit_test(zeroed_arrays_are_zero),
		cmocka_unit_test(a_product_that_does_not_fit_ends_like_lack_of_memory),
		cmocka_unit_test(a_rescue_point_is_reached_where_memory_runs_out),
		cmocka_unit_test(rescue_points_nest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
