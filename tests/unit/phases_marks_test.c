/* SPDX-License-Identifier: Apache-2.0 */
/* phases_marks_test.c - the steps that marks in a program tell of, and which marks do. */
#include "found_phases.h"

static void marks_with_a_counter_are_the_steps(void **state)
{
	struct program p = steps_program();
	for (int i = 0; i < 20; i++) {
		int64_t from = p.cpu;
		train_step(&p);
		program_mark(&p, from, "step_%d", i);
	}
	struct found found = find(&p, NULL);
	const struct hwy_phase *phase = &found.phases.phases[0];
	assert_int_equal(found.phases.n, 1);
	assert_int_equal(phase->source, PHASE_MARKS);
	assert_text(&found, phase->name, "step_");
	assert_int_equal(phase->n_steps, 20);
	assert_text(&found, phase->steps[3].name, "step_3");
	assert_int_equal(phase->mean, US(465)); /* 13 launches and the pause */
	assert_int_equal(phase->median, US(465));
	assert_int_equal(phase->steps[3].n_calls, 13);
	assert_true(phase->launches_per_step == 13);
	assert_true(phase->waits_per_step == 0);
	assert_false(phase->is_bursty);
	/* The last one's window ends with its work, and is shorter than a period. */
	assert_true(phase->steps[19].is_cut);
	done(&found);
}

static void the_steps_of_marks_are_found_without_them_too(void **state)
{
	for (int marked = 0; marked < 2; marked++) {
		struct program p = steps_program();
		for (int i = 0; i < 20; i++) {
			int64_t from = p.cpu;
			train_step(&p);
			if (i % 4 == 0)
				program_span(&p, p.api[0], HWY_API, p.cpu - US(30), p.cpu - US(20),
					     "cudaMalloc");
			program_mark(&p, from, "step_%d", i);
		}
		struct found found = find(&p, marked ? NULL : "");
		const struct hwy_phase *phase = &found.phases.phases[0];
		assert_int_equal(phase->source, marked ? PHASE_MARKS : PHASE_SEQUENCE);
		assert_in_range(phase->n_steps, 19, 20);
		assert_int_equal(phase->mean, US(465));
		done(&found);
	}
}

static void steps_are_chosen_before_the_layers_in_them_and_epochs_around_them(void **state)
{
	struct program p = steps_program();
	for (int epoch = 0; epoch < 3; epoch++) {
		int64_t epoch_from = p.cpu;
		for (int i = 0; i < 10; i++) {
			int64_t from = p.cpu;
			for (int layer = 0; layer < 4; layer++) {
				int64_t layer_from = p.cpu;
				program_launch(&p, 0, "gemm", 20);
				program_mark(&p, layer_from, "layer_%d", layer);
			}
			p.cpu += US(100);
			program_mark(&p, from, "iteration %d", i);
		}
		program_mark(&p, epoch_from, "epoch %d", epoch);
	}
	struct found found = find(&p, NULL);
	assert_int_equal(found.phases.n, 1);
	assert_text(&found, found.phases.phases[0].name, "iteration ");
	assert_int_equal(found.phases.phases[0].n_steps, 30);
	done(&found);
}

/* Names without "step" in them: the period decides, and the first of a turn is where it begins. */
static void a_name_that_comes_back_every_step_is_enough(void **state)
{
	struct program p = steps_program();
	for (int i = 0; i < 12; i++) {
		program_launch(&p, 0, "upload", 5);
		for (int layer = 0; layer < 4; layer++) {
			int64_t from = p.cpu;
			program_launch(&p, 0, "gemm", 20);
			program_mark(&p, from, "part_%d", layer);
		}
		int64_t from = p.cpu;
		program_launch(&p, 0, "update", 20);
		program_mark(&p, from, "opt%.0d", 0);
		p.cpu += US(100);
	}
	struct found found = find(&p, NULL);
	const struct hwy_phase *phase = &found.phases.phases[0];
	assert_int_equal(phase->source, PHASE_MARKS);
	assert_text(&found, phase->name, "part_0");
	assert_int_equal(phase->n_steps, 12);
	assert_int_equal(phase->mean, US(130));
	assert_int_equal(phase->steps[4].n_calls, 6); /* what is launched between marks counts */
	done(&found);
}

static void a_shorter_run_of_the_same_marks_before_the_run_is_warm_up(void **state)
{
	struct program p = steps_program();
	for (int i = 0; i < 23; i++) {
		int64_t from = p.cpu;
		train_step(&p);
		program_mark(&p, from, "Step %d", i < 3 ? i : i - 3);
		if (i == 2)
			program_wait(&p, "cudaDeviceSynchronize");
	}
	struct found found = find(&p, NULL);
	assert_int_equal(found.phases.n, 1);
	assert_int_equal(found.phases.phases[0].n_steps, 23);
	assert_int_equal(found.phases.phases[0].first_steady, 3);
	assert_true(found.phases.phases[0].is_first_told_apart);
	done(&found);
}

static void loops_of_another_kind_are_phases_of_their_own(void **state)
{
	for (int marked = 0; marked < 2; marked++) {
		struct program p = steps_program();
		for (int i = 0; i < 60; i++) {
			int64_t from = p.cpu;
			if (i < 20)
				train_step(&p);
			else if (i < 40)
				validate_step(&p);
			else {
				program_launch(&p, 0, "gemv", 30);
				program_launch(&p, 0, "softmax", 30);
				program_launch(&p, 0, "argmax", 30);
				program_wait(&p, "cudaStreamSynchronize");
			}
			program_mark(&p, from,
				     i < 20   ? "train_%d"
				     : i < 40 ? "validate_%d"
					      : "predict_%d",
				     i % 20);
		}
		struct found found = find(&p, marked ? NULL : "");
		assert_int_equal(found.phases.n, 3);
		for (uint32_t i = 0; i < 3; i++)
			assert_in_range(found.phases.phases[i].n_steps, 19, 20);
		assert_int_equal(found.phases.phases[0].mean, US(465));
		assert_int_equal(found.phases.phases[1].median, US(530));
		assert_true(found.phases.phases[2].waits_per_step > 0.9);
		assert_int_equal(found.phases.main, 1);
		done(&found);
	}
}

/* Two loops of one name, the second without its waits. */
static void the_same_marks_for_other_work_are_another_phase(void **state)
{
	struct program p = steps_program();
	for (int i = 0; i < 40; i++) {
		int64_t from = p.cpu;
		train_step(&p);
		if (i < 20)
			program_wait(&p, "cudaStreamSynchronize");
		program_mark(&p, from, "step_%d", i % 20);
	}
	struct found found = find(&p, NULL);
	assert_int_equal(found.phases.n, 2);
	assert_int_equal(found.phases.phases[0].n_steps, 20);
	assert_int_equal(found.phases.phases[1].n_steps, 20);
	done(&found);
}

static void training_and_validation_in_turn_are_told_apart(void **state)
{
	struct program p = steps_program();
	for (int epoch = 0; epoch < 3; epoch++) {
		for (int i = 0; i < 10; i++) {
			int64_t from = p.cpu;
			train_step(&p);
			program_mark(&p, from, "train step %d", i);
		}
		for (int i = 0; i < 10; i++) {
			int64_t from = p.cpu;
			validate_step(&p);
			program_mark(&p, from, "valid step %d", i);
		}
	}
	struct found found = find(&p, NULL);
	assert_int_equal(found.phases.n, 6);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(found.phases.phases[i].n_steps, 10);
		assert_text(&found, found.phases.phases[i].name,
			    i % 2 ? "valid step " : "train step ");
	}
	done(&found);
}

static void the_user_chooses_the_marks(void **state)
{
	static const struct {
		const char *step, *name;
		uint32_t n;
	} rows[] = {{"half_", "half_", 40},
		    {"half_1", "half_1", 20},
		    {"step_7", "step_", 20},
		    {"step_", "step_", 20}};
	for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
		struct program p = steps_program();
		for (int i = 0; i < 20; i++) {
			int64_t from = p.cpu;
			for (int half = 0; half < 2; half++) {
				int64_t half_from = p.cpu;
				train_step(&p);
				program_mark(&p, half_from, "half_%d", half);
			}
			program_mark(&p, from, "step_%d", i);
		}
		struct found found = find(&p, rows[r].step);
		assert_text(&found, found.phases.phases[0].name, rows[r].name);
		assert_int_equal(found.phases.phases[0].n_steps, rows[r].n);
		done(&found);
	}
}

static void a_choice_that_is_no_mark_is_refused_in_one_line(void **state)
{
	struct program p = steps_program();
	train_step(&p);
	struct hwy_flow flow;
	struct hwy_phases phases;
	struct hwy_err err;
	struct hwy_trace *trace = hwy_builder_finish(p.builder, false);
	assert_true(flow_open(&flow, trace, &err));
	assert_false(phases_find(&flow, &(struct phases_options){"nowhere"}, &phases, &err));
	assert_non_null(strstr(err.text, "'nowhere'"));
	flow_close(&flow);
	hwy_trace_free(trace);
}

static void ranges_of_operators_are_not_steps(void **state)
{
	struct program p = steps_program();
	for (int i = 0; i < 20; i++) {
		int64_t from = p.cpu;
		program_launch(&p, 0, "gemm", 10);
		program_mark(&p, from, "aten::mm, op_id = %d", i);
		program_launch(&p, 0, "relu", 10);
		program_wait(&p, "cudaStreamSynchronize");
	}
	struct found found = find(&p, NULL);
	assert_int_equal(found.phases.phases[0].source, PHASE_SEQUENCE);
	done(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_with_a_counter_are_the_steps),
		cmocka_unit_test(the_steps_of_marks_are_found_without_them_too),
		cmocka_unit_test(steps_are_chosen_before_the_layers_in_them_and_epochs_around_them),
		cmocka_unit_test(a_name_that_comes_back_every_step_is_enough),
		cmocka_unit_test(a_shorter_run_of_the_same_marks_before_the_run_is_warm_up),
		cmocka_unit_test(loops_of_another_kind_are_phases_of_their_own),
		cmocka_unit_test(the_same_marks_for_other_work_are_another_phase),
		cmocka_unit_test(training_and_validation_in_turn_are_told_apart),
		cmocka_unit_test(the_user_chooses_the_marks),
		cmocka_unit_test(a_choice_that_is_no_mark_is_refused_in_one_line),
		cmocka_unit_test(ranges_of_operators_are_not_steps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
