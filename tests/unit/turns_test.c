/* SPDX-License-Identifier: Apache-2.0 */
/* turns_test.c - the lock of the viewer's traces is held by turns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "serve/turns.h"

static struct turns turns;
static atomic_bool is_working, is_over;
static atomic_int others;

static bool client_has_gone(const void *from)
{
	return atomic_load((const atomic_bool *)from);
}

/* Works until told to end, with a pause after every slice. */
static void *work_for_long(void *argument)
{
	struct turn turn = {
		.is_abandoned = client_has_gone, .from = &is_over, .is_unlimited = true};
	struct hwy_err err;
	bool *was_ended = argument;
	if (!turns_begin(&turns, &turn, &err))
		return NULL;
	atomic_store(&is_working, true);
	do
		usleep(1000);
	while (turns_pause(&turns, &err));
	*was_ended = turn.is_ended;
	turns_end(&turns);
	return NULL;
}

static void *ask_shortly(void *argument)
{
	struct turn turn = {0};
	struct hwy_err err;
	if (turns_begin(&turns, &turn, &err)) {
		atomic_fetch_add(&others, 1);
		turns_end(&turns);
	}
	return argument;
}

static void others_have_their_turn_while_one_works_for_long(void **state)
{
	enum { ASKING = 8 };
	pthread_t worker, asking[ASKING];
	bool was_ended = false;
	turns_init(&turns);
	atomic_store(&is_over, false);
	assert_int_equal(pthread_create(&worker, NULL, work_for_long, &was_ended), 0);
	while (!atomic_load(&is_working))
		usleep(1000);
	for (int i = 0; i < ASKING; i++)
		assert_int_equal(pthread_create(&asking[i], NULL, ask_shortly, NULL), 0);
	/* The worker does not end by itself: this loop ends only if it lets the others in. */
	for (int i = 0; i < ASKING; i++)
		pthread_join(asking[i], NULL);
	assert_int_equal(atomic_load(&others), ASKING);
	assert_false(was_ended);
	atomic_store(&is_over, true);
	pthread_join(worker, NULL);
	assert_true(was_ended);
}

static void a_turn_whose_client_has_gone_is_not_begun(void **state)
{
	struct turn gone = {.is_abandoned = client_has_gone, .from = &is_over}, next = {0};
	struct hwy_err err;
	turns_init(&turns);
	atomic_store(&is_over, true);
	assert_false(turns_begin(&turns, &gone, &err));
	assert_true(turns_begin(&turns, &next, &err));
	turns_end(&turns);
}

static void a_request_that_works_too_long_is_refused(void **state)
{
	struct turn turn = {0};
	struct hwy_err err = {0};
	turns_init(&turns);
	assert_true(turns_begin(&turns, &turn, &err));
	assert_true(turns_pause(&turns, &err));
	turn.cpu_ns -= TURNS_MOST_S * INT64_C(1000000000);
	turn.since_ns -= TURNS_SLICE_MS * INT64_C(1000000);
	assert_false(turns_pause(&turns, &err));
	assert_non_null(strstr(err.text, "ask for less"));
	turns_end(&turns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_have_their_turn_while_one_works_for_long),
		cmocka_unit_test(a_turn_whose_client_has_gone_is_not_begun),
		cmocka_unit_test(a_request_that_works_too_long_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
