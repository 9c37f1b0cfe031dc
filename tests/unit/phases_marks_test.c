/* phases_marks_test.c - the steps that marks in a program tell of, and which marks do. */
#include "toy.h"

static void marks_with_a_counter_are_the_steps(void **state)
{
	struct toy toy = toy_new();
	for (int i = 0; i < 20; i++) {
		int64_t from = toy.now;
		train_step(&toy);
		mark(&toy, from, "step_%d", i);
	}
	struct found found = find(&toy, NULL);
	const struct hwy_phase *phase = &found.phases.phases[0];
	assert_int_equal(found.phases.n, 1);
	assert_int_equal(phase->source, PHASE_MARKS);
	assert_text(&found, phase->name, "step_");
	assert_int_equal(phase->n_steps, 20);
	assert_text(&found, phase->steps[3].name, "step_3");
	assert_int_equal(phase->mean, 465 * US); /* 13 launches and the pause */
	assert_int_equal(phase->median, 465 * US);
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
		struct toy toy = toy_new();
		for (int i = 0; i < 20; i++) {
			int64_t from = toy.now;
			train_step(&toy);
			if (i % 4 == 0)
				small_call(&toy.small, toy.now - 30 * US, toy.now - 20 * US, 0,
					   "cudaMalloc");
			mark(&toy, from, "step_%d", i);
		}
		struct found found = find(&toy, marked ? NULL : "");
		const struct hwy_phase *phase = &found.phases.phases[0];
		assert_int_equal(phase->source, marked ? PHASE_MARKS : PHASE_SEQUENCE);
		assert_in_range(phase->n_steps, 19, 20);
		assert_int_equal(phase->mean, 465 * US);
		done(&found);
	}
}

static void steps_are_chosen_before_the_layers_in_them_and_epochs_around_them(void **state)
{
	struct toy toy = toy_new();
	for (int epoch = 0; epoch < 3; epoch++) {
		int64_t epoch_from = toy.now;
		for (int i = 0; i < 10; i++) {
			int64_t from = toy.now;
			for (int layer = 0; layer < 4; layer++) {
				int64_t layer_from = toy.now;
				launch(&toy, "gemm", 20 * US);
				mark(&toy, layer_from, "layer_%d", layer);
			}
			toy.now += 100 * US;
			mark(&toy, from, "iteration %d", i);
		}
		mark(&toy, epoch_from, "epoch %d", epoch);
	}
	struct found found = find(&toy, NULL);
	assert_int_equal(found.phases.n, 1);
	assert_text(&found, found.phases.phases[0].name, "iteration ");
	assert_int_equal(found.phases.phases[0].n_steps, 30);
	done(&found);
}

/* Names without "step" in them: the period decides, and the first of a turn is where it begins. */
static void a_name_that_comes_back_every_step_is_enough(void **state)
{
	struct toy toy = toy_new();
	for (int i = 0; i < 12; i++) {
		launch(&toy, "upload", 5 * US);
		for (int layer = 0; layer < 4; layer++) {
			int64_t from = toy.now;
			launch(&toy, "gemm", 20 * US);
			mark(&toy, from, "layer_%d", layer);
		}
		int64_t from = toy.now;
		launch(&toy, "update", 20 * US);
		mark(&toy, from, "opt%.0d", 0);
		toy.now += 100 * US;
	}
	struct found found = find(&toy, NULL);
	const struct hwy_phase *phase = &found.phases.phases[0];
	assert_int_equal(phase->source, PHASE_MARKS);
	assert_text(&found, phase->name, "layer_0");
	assert_int_equal(phase->n_steps, 12);
	assert_int_equal(phase->mean, 130 * US);
	assert_int_equal(phase->steps[4].n_calls, 6); /* what is launched between marks counts */
	done(&found);
}

static void a_shorter_run_of_the_same_marks_before_the_run_is_warm_up(void **state)
{
	struct toy toy = toy_new();
	for (int i = 0; i < 23; i++) {
		int64_t from = toy.now;
		train_step(&toy);
		mark(&toy, from, "Step %d", i < 3 ? i : i - 3);
		if (i == 2)
			wait(&toy, "cudaDeviceSynchronize");
	}
	struct found found = find(&toy, NULL);
	assert_int_equal(found.phases.n, 1);
	assert_int_equal(found.phases.phases[0].n_steps, 23);
	assert_int_equal(found.phases.phases[0].first_steady, 3);
	assert_true(found.phases.phases[0].is_first_told_apart);
	done(&found);
}

static void loops_of_another_kind_are_phases_of_their_own(void **state)
{
	for (int marked = 0; marked < 2; marked++) {
		struct toy toy = toy_new();
		for (int i = 0; i < 60; i++) {
			int64_t from = toy.now;
			if (i < 20)
				train_step(&toy);
			else if (i < 40)
				validate_step(&toy);
			else {
				launch(&toy, "gemv", 30 * US);
				launch(&toy, "softmax", 30 * US);
				launch(&toy, "argmax", 30 * US);
				wait(&toy, "cudaStreamSynchronize");
			}
			mark(&toy, from,
			     i < 20   ? "train_%d"
			     : i < 40 ? "validate_%d"
				      : "predict_%d",
			     i % 20);
		}
		struct found found = find(&toy, marked ? NULL : "");
		assert_int_equal(found.phases.n, 3);
		for (uint32_t p = 0; p < 3; p++)
			assert_in_range(found.phases.phases[p].n_steps, 19, 20);
		assert_int_equal(found.phases.phases[0].mean, 465 * US);
		assert_int_equal(found.phases.phases[1].median, 530 * US);
		assert_true(found.phases.phases[2].waits_per_step > 0.9);
		assert_int_equal(found.phases.main, 1);
		done(&found);
	}
}

/* Two loops of one name, the second without its waits. */
static void the_same_marks_for_other_work_are_another_phase(void **state)
{
	struct toy toy = toy_new();
	for (int i = 0; i < 40; i++) {
		int64_t from = toy.now;
		train_step(&toy);
		if (i < 20)
			wait(&toy, "cudaStreamSynchronize");
		mark(&toy, from, "step_%d", i % 20);
	}
	struct found found = find(&toy, NULL);
	assert_int_equal(found.phases.n, 2);
	assert_int_equal(found.phases.phases[0].n_steps, 20);
	assert_int_equal(found.phases.phases[1].n_steps, 20);
	done(&found);
}

static void training_and_validation_in_turn_are_told_apart(void **state)
{
	struct toy toy = toy_new();
	for (int epoch = 0; epoch < 3; epoch++) {
		for (int i = 0; i < 10; i++) {
			int64_t from = toy.now;
			train_step(&toy);
			mark(&toy, from, "train step %d", i);
		}
		for (int i = 0; i < 10; i++) {
			int64_t from = toy.now;
			validate_step(&toy);
			mark(&toy, from, "valid step %d", i);
		}
	}
	struct found found = find(&toy, NULL);
	assert_int_equal(found.phases.n, 6);
	for (uint32_t p = 0; p < 6; p++) {
		assert_int_equal(found.phases.phases[p].n_steps, 10);
		assert_text(&found, found.phases.phases[p].name,
			    p % 2 ? "valid step " : "train step ");
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
		struct toy toy = toy_new();
		for (int i = 0; i < 20; i++) {
			int64_t from = toy.now;
			for (int half = 0; half < 2; half++) {
				int64_t half_from = toy.now;
				train_step(&toy);
				mark(&toy, half_from, "half_%d", half);
			}
			mark(&toy, from, "step_%d", i);
		}
		struct found found = find(&toy, rows[r].step);
		assert_text(&found, found.phases.phases[0].name, rows[r].name);
		assert_int_equal(found.phases.phases[0].n_steps, rows[r].n);
		done(&found);
	}
}

static void a_choice_that_is_no_mark_is_refused_in_one_line(void **state)
{
	struct toy toy = toy_new();
	train_step(&toy);
	struct hwy_flow flow;
	struct hwy_phases phases;
	struct hwy_err err;
	struct hwy_trace *trace = small_finish(&toy.small);
	assert_true(flow_open(&flow, trace, &err));
	assert_false(phases_find(&flow, &(struct phases_options){"nowhere"}, &phases, &err));
	assert_non_null(strstr(err.text, "'nowhere'"));
	flow_close(&flow);
	hwy_trace_free(trace);
}

static void ranges_of_operators_are_not_steps(void **state)
{
	struct toy toy = toy_new();
	for (int i = 0; i < 20; i++) {
		int64_t from = toy.now;
		launch(&toy, "gemm", 10 * US);
		mark(&toy, from, "aten::mm, op_id = %d", i);
		launch(&toy, "relu", 10 * US);
		wait(&toy, "cudaStreamSynchronize");
	}
	struct found found = find(&toy, NULL);
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
