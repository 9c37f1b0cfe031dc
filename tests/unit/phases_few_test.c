/* SPDX-License-Identifier: Apache-2.0 */
/* phases_few_test.c - when the window of an only step begins, and which work is its own. */
#include "found_phases.h"

/* Launches so much work that the device is still at it when the next mark begins. */
static void earlier_work(struct program *p, int stream)
{
	for (int k = 0; k < 10; k++)
		program_launch(p, stream, "earlier", 100);
}

static struct found find_step_behind(struct program *p, int64_t from)
{
	program_mark(p, from, "ProfilerStep#%d", 6);
	struct found found = find(p, NULL);
	assert_int_equal(found.phases.phases[0].n_steps, 1);
	return found;
}

static void a_step_begins_when_the_work_launched_before_it_has_ended(void **state)
{
	struct program p = steps_program();
	earlier_work(&p, 0);
	int64_t from = p.cpu, ended = p.stream_free[0];
	program_sync(&p, 0);
	program_compute(&p, 200);
	train_step(&p);
	struct found found = find_step_behind(&p, from);
	assert_true(from < ended);
	assert_int_equal(found.phases.phases[0].steps[0].device.from, ended);
	done(&found);
}

static void it_begins_with_its_own_work_where_that_is_earlier(void **state)
{
	struct program p = steps_program();
	earlier_work(&p, 1);
	int64_t from = p.cpu;
	int64_t own = program_ready(&p, 0, LAUNCH_US);
	train_step(&p);
	struct found found = find_step_behind(&p, from);
	assert_int_equal(found.phases.phases[0].steps[0].device.from, own);
	done(&found);
}

static void work_of_unknown_launch_is_earlier_work_where_it_goes_on_from_before_the_mark(
	void **state)
{
	for (int late = 0; late < 2; late++) {
		struct program p = steps_program();
		int64_t from = p.cpu, begin = from - US(50) + late * MS(2);
		program_span(&p, p.lanes[0], HWY_KERNEL, begin, begin + US(900), "unknown");
		program_span(&p, p.lanes[0], HWY_KERNEL, begin + US(905), begin + US(2000),
			     "unknown");
		program_compute(&p, 6000);
		train_step(&p);
		struct found found = find_step_behind(&p, from);
		assert_int_equal(found.phases.phases[0].steps[0].device.from,
				 late ? from : begin + US(2000));
		done(&found);
	}
}

static void work_of_unknown_launch_is_earlier_work_where_the_step_stood_in_the_queue_behind_it(
	void **state)
{
	struct program p = steps_program();
	int64_t from = p.cpu, ended = from + US(9000);
	program_span(&p, p.lanes[0], HWY_KERNEL, from - US(50), from + US(50), "unknown");
	program_span(&p, p.lanes[0], HWY_KERNEL, from + US(4000), ended, "unknown");
	p.stream_free[0] = ended;
	train_step(&p);
	struct found found = find_step_behind(&p, from);
	assert_int_equal(found.phases.phases[0].steps[0].device.from, ended);
	done(&found);
}

static void time_of_the_cpu_before_the_first_work_counts_where_the_device_idles(void **state)
{
	struct program p = steps_program();
	earlier_work(&p, 0);
	program_sync(&p, 0);
	int64_t from = p.cpu;
	program_compute(&p, 5000);
	train_step(&p);
	struct found found = find_step_behind(&p, from);
	assert_int_equal(found.phases.phases[0].steps[0].device.from, from);
	done(&found);
}

static void what_other_steps_launched_is_not_the_work_of_an_only_step(void **state)
{
	struct program p = steps_program();
	earlier_work(&p, 1);
	int64_t from = p.cpu;
	train_step(&p);
	program_mark(&p, from, "ProfilerStep#%d", 6);
	program_launch(&p, 2, "later", 20);
	struct found found = find(&p, NULL);
	const struct hwy_phase *phase = &found.phases.phases[0];
	uint32_t own = 0, others = 0;
	for (uint32_t i = 0; i < found.flow.n_ops; i++)
		if (phase_has_call(phase, found.flow.ops[i].call))
			own++;
		else
			others++;
	assert_int_equal(own, 13);
	assert_int_equal(others, 11);
	assert_true(phase_has_call(phase, FLOW_NONE));
	done(&found);
}

static void in_a_loop_the_work_of_one_step_may_run_in_the_next(void **state)
{
	struct program p = steps_program();
	for (int i = 0; i < 20; i++) {
		int64_t from = p.cpu;
		train_step(&p);
		program_launch(&p, 1, "copy", 450);
		program_mark(&p, from, "step_%d", i);
	}
	struct found found = find(&p, NULL);
	const struct hwy_phase *phase = &found.phases.phases[0];
	assert_true(phase->first_steady > 0);
	assert_true(phase_has_call(phase, phase->steps[phase->first_steady].first_call - 1));
	done(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_begins_when_the_work_launched_before_it_has_ended),
		cmocka_unit_test(it_begins_with_its_own_work_where_that_is_earlier),
		cmocka_unit_test(
			work_of_unknown_launch_is_earlier_work_where_it_goes_on_from_before_the_mark),
		cmocka_unit_test(
			work_of_unknown_launch_is_earlier_work_where_the_step_stood_in_the_queue_behind_it),
		cmocka_unit_test(
			time_of_the_cpu_before_the_first_work_counts_where_the_device_idles),
		cmocka_unit_test(what_other_steps_launched_is_not_the_work_of_an_only_step),
		cmocka_unit_test(in_a_loop_the_work_of_one_step_may_run_in_the_next),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
