/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_calls_test.c - the collector's table of calls against the roles of src/trace/roles.c.
 *
 * The two stand apart because the collector brings nothing of the library into the target. Every name that
 * CUDA 13.0 has is asked of both.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/trace.h"

/* The file itself, without the collector around it. */
#include "collect/cuda/cuda_calls.c"

struct cuda cuda;
struct rec_control *collect_control;

void *collect_reserve(enum rec_type type, unsigned slots)
{
	(void)type;
	(void)slots;
	return NULL;
}

void collect_publish(void *record)
{
	(void)record;
}

int64_t collect_now(void)
{
	return 1;
}

bool cuda_sync_uses_callbacks(void)
{
	return true;
}

uint32_t collect_string_z(const char *text)
{
	(void)text;
	return 0;
}

static void every_name(void (*look)(const char *name, unsigned flags, unsigned role))
{
	char path[4096], name[256];
	snprintf(path, sizeof path, "%s/../mock/data/callbacks.txt", getenv("DATA"));
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	unsigned n = 0;
	while (fscanf(f, "%*u %*u %255s", name) == 1) {
		look(name, cuda_calls_flags_of_name(name), hwy_role_of_name(plain_name(name)));
		n++;
	}
	fclose(f);
	assert_true(n > 1300);
}

static void look_recorded(const char *name, unsigned flags, unsigned role)
{
	bool has_role = (role & ~(unsigned)HWY_ROLE_BLOCKS) != HWY_ROLE_OTHER;
	if (has_role != !!(flags & CALL_RECORD))
		fail_msg("%s: role %u, recorded %d", name, role, !!(flags & CALL_RECORD));
}

static void a_call_is_recorded_if_it_has_a_role(void **state)
{
	every_name(look_recorded);
}

static void look_stacks(const char *name, unsigned flags, unsigned role)
{
	unsigned base = role & ~(unsigned)HWY_ROLE_BLOCKS;
	if ((role & HWY_ROLE_BLOCKS) && !(flags & (CALL_WAIT | CALL_COPY)))
		fail_msg("%s blocks, but no stack is taken of it", name);
	if ((base == HWY_ROLE_LAUNCH || base == HWY_ROLE_GRAPH_LAUNCH) && !(flags & CALL_LAUNCH))
		fail_msg("%s launches, but no stack is taken of it", name);
	if ((base == HWY_ROLE_ALLOC || base == HWY_ROLE_PIN) && !(flags & CALL_ALLOC))
		fail_msg("%s allocates, but no stack is taken of it", name);
}

static void calls_that_block_launch_or_allocate_have_stacks(void **state)
{
	every_name(look_stacks);
}

static void names_lose_versions_and_underscores(void **state)
{
	assert_int_equal(cuda_calls_flags_of_name("__cudaLaunchKernel_ptsz_v13000"),
			 CALL_RECORD | CALL_LAUNCH);
	assert_int_equal(cuda_calls_flags_of_name("cuMemcpyHtoDAsync_v2_ptsz"),
			 CALL_RECORD | CALL_COPY);
	assert_int_equal(cuda_calls_flags_of_name("cudaProfilerStop_v4000"), CALL_STOP);
	assert_int_equal(cuda_calls_flags_of_name("cudaGetDevice_v3020"), 0);
	assert_int_equal(cuda_calls_flags_of_name("cudaGraphGetNodes_v10000"), 0);
	assert_int_equal(cuda_calls_flags_of_name("cuStreamSynchronize_ptsz"),
			 CALL_RECORD | CALL_WAIT | SYNC_STREAM);
	assert_int_equal(cuda_calls_flags_of_name("cudaEventRecordWithFlags_ptsz_v11010"),
			 CALL_RECORD | SYNC_RECORD);
	assert_int_equal(cuda_calls_flags_of_name(""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_is_recorded_if_it_has_a_role),
		cmocka_unit_test(calls_that_block_launch_or_allocate_have_stacks),
		cmocka_unit_test(names_lose_versions_and_underscores),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
